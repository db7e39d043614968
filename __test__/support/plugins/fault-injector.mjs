// Makes the addon's entries panic, in the build that can (target/faults). The addon is the very instance that BMPP runs: both
// load the file that DSH_BMPP_NATIVE names.
//
// config: { atLoad?: entry }
//   `atLoad` panics at its next call, which is BMPP's if this row is listed before BMPP's
//   a call with the id `<entry>:<anything>` makes that entry panic at its next call, from in front of every listener
import { createRequire } from 'node:module'

export const name = 'fault-injector'
export const inject = ['tools']

/**
 * @param {any} ctx
 * @param {{ atLoad?: string }} config
 */
export function apply(ctx, { atLoad }) {
  const addon = createRequire(import.meta.url)(/** @type {string} */ (process.env.DSH_BMPP_NATIVE))
  if (atLoad) addon.injectPanic(atLoad)
  const stop = ctx.on('session/created', () => {
    stop()
    const arm = (/** @type {any} */ exec, /** @type {() => any} */ next) => {
      const [entry, rest] = exec.callId.split(':')
      if (rest !== undefined) addon.injectPanic(entry)
      return next()
    }
    ctx.on('tools/pre-execute', arm, { prepend: true })
  })
}
