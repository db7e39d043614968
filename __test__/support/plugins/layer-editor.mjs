// Edits a layer of the configuration in the middle of a turn: when the scripted model calls its tool `edit_layer`, or on the way
// to the body of another tool. The call goes on when the Harness has made of the edit what it should: the control tool is `gone`,
// or another instance of it stands in its place (`reloaded`), or the edit was `refused`.
//
// config: { file: string, edits: { text: string, until: 'gone' | 'reloaded' | 'refused', during?: string }[] }
import { writeFileSync } from 'node:fs'

export const name = 'layer-editor'
export const inject = ['tools']

/**
 * @param {any} ctx
 * @param {{ file: string, edits: { text: string, until: 'gone' | 'reloaded' | 'refused', during?: string }[] }} config
 */
export function apply(ctx, { file, edits }) {
  const waiting = [...edits]
  const control = () => ctx.tools.get('bmpp__classify')
  /** @type {Record<string, (before: unknown) => boolean>} */
  const reached = {
    gone: () => control() === undefined,
    reloaded: before => control() !== undefined && control() !== before,
    refused: () => refusals > 0,
  }
  let refusals = 0
  let wake = () => {}
  ctx.on('tools/change', () => wake())
  ctx.on('hmr/config-update-failed', () => {
    refusals += 1
    wake()
  })
  async function edit() {
    const { text, until } = waiting.shift() ?? { text: '', until: 'gone' }
    const before = control()
    refusals = 0
    writeFileSync(file, text)
    // The Harness's watcher drops a change that follows another within 50 ms: said again until it was heard.
    const again = setInterval(() => writeFileSync(file, text), 60)
    try {
      while (!reached[until]?.(before)) {
        await new Promise(resolve => {
          wake = () => resolve(undefined)
        })
      }
    } finally {
      clearInterval(again)
    }
    return until
  }
  ctx.on('tools/execute', async (/** @type {any} */ exec, /** @type {() => any} */ next) => {
    if (waiting[0]?.during === exec.name) await edit()
    return next()
  })
  ctx.tools.register({
    name: 'edit_layer',
    description: 'Makes the next edit.',
    parameters: { type: 'object', properties: {} },
    output: {
      schema: { type: 'string' },
      render: (/** @type {any} */ _args, /** @type {string} */ text) => [{ type: 'text', text }],
    },
    execute: edit,
  })
}
