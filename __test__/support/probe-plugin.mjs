// A plugin that observes and denies, for tests of the test support; loaded by dsh as a file.
//
// config: { log?: file of JSON lines, deny?: raw tool names, throw?: what to fail with at load }
import { appendFileSync } from 'node:fs'

export const name = 'probe'
export const inject = ['tools']

/**
 * @param {any} ctx
 * @param {{ log?: string, deny?: string[], throw?: string }} config
 */
export function apply(ctx, { log, deny = [], throw: problem }) {
  if (problem) throw new Error(problem)
  ctx.on('tools/pre-execute', async (/** @type {any} */ exec, /** @type {() => any} */ next) => {
    const raw = exec.name.split('__').at(-1)
    return deny.includes(raw) ? { kind: 'deny', reason: `probe: ${raw} is denied` } : next()
  })
  ctx.on('session/event', (/** @type {any} */ _session, /** @type {any} */ { type, data }) => {
    if (log && type === 'tool/call') appendFileSync(log, `${JSON.stringify(data)}\n`)
  })
}
