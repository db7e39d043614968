// Registers a tool with which a scripted model edits a layer of the configuration in the middle of a turn, and reads when the
// Harness has made of it what it should: the control tool is `gone`, or another instance of it stands in its place (`reloaded`).
//
// config: { file: string, edits: { text: string, until: 'gone' | 'reloaded' }[] }   one edit for each call
import { writeFileSync } from 'node:fs'

export const name = 'layer-editor'
export const inject = ['tools']

/**
 * @param {any} ctx
 * @param {{ file: string, edits: { text: string, until: 'gone' | 'reloaded' }[] }} config
 */
export function apply(ctx, { file, edits }) {
  const waiting = [...edits]
  const control = () => ctx.tools.get('bmpp__classify')
  const changed = () =>
    new Promise(resolve => {
      const stop = ctx.on('tools/change', () => {
        stop()
        resolve(undefined)
      })
    })
  ctx.tools.register({
    name: 'edit_layer',
    description: 'Makes the next edit.',
    parameters: { type: 'object', properties: {} },
    output: {
      schema: { type: 'string' },
      render: (/** @type {any} */ _args, /** @type {string} */ text) => [{ type: 'text', text }],
    },
    async execute() {
      const { text, until } = waiting.shift() ?? { text: '', until: 'gone' }
      const before = control()
      const done = () => (until === 'gone' ? control() === undefined : control() !== undefined && control() !== before)
      writeFileSync(file, text)
      // The Harness's watcher drops a change that follows another within 50 ms: said again until it was heard.
      const again = setInterval(() => writeFileSync(file, text), 60)
      try {
        while (!done()) await changed()
      } finally {
        clearInterval(again)
      }
      return until
    },
  })
}
