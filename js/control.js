/**
 * The control tool `bmpp__classify`. It only says what was declared: the declaration counts when the body has run and its
 * result is a success, which the gate finds out when the result arrives.
 */

/**
 * @param {import('./core.js').Core} core
 * @param {(exec: object, task: 'simple' | 'complex') => void} declared called when the body runs with a usable declaration
 */
export function controlTool(core, declared) {
  const { name, description, malformed, simple, complex } = core.controlTool
  const answers = { simple, complex }
  return {
    name,
    description,
    parameters: {
      type: 'object',
      properties: {
        task: {
          type: 'string',
          enum: Object.keys(answers),
          description: 'simple: the write needs no lookup. complex: memory must be searched first.',
        },
      },
      required: ['task'],
      additionalProperties: false,
    },
    output: {
      schema: {
        type: 'object',
        properties: { task: { type: 'string' } },
        required: ['task'],
        additionalProperties: false,
      },
      /** @param {unknown} _args @param {{ task: 'simple' | 'complex' }} value */
      render: (_args, value) => [{ type: 'text', text: answers[value.task] }],
    },
    // No isConcurrencySafe: it runs alone, so that a write behind it in the same message finds the turn classified.
    /** @param {unknown} args @param {object} exec */
    async execute(args, exec) {
      const task = /** @type {{ task?: unknown } | null | undefined} */ (args)?.task
      if (task !== 'simple' && task !== 'complex') throw new Error(malformed)
      declared(exec, task)
      return { task }
    },
  }
}
