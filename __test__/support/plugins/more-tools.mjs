// Registers tools that say their own name: what a newer memory server would publish.
//
// config: { names: string[] }
export const name = 'more-tools'
export const inject = ['tools']

/**
 * @param {any} ctx
 * @param {{ names: string[] }} config
 */
export function apply(ctx, { names }) {
  for (const name of names) {
    ctx.tools.register({
      name,
      description: 'Says its name.',
      parameters: { type: 'object', properties: {} },
      output: {
        schema: { type: 'string' },
        render: (/** @type {any} */ _args, /** @type {string} */ text) => [{ type: 'text', text }],
      },
      execute: async () => `${name} ran`,
    })
  }
}
