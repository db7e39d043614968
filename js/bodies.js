/**
 * The place right around a tool's body. Wrappers of `tools/execute` stand in a row: one in front of ours goes past ours when it
 * calls `next()` once more, and one behind ours comes after what ours let pass. The framework tells its own hook
 * `internal/dispatch` of each dispatch before it calls anybody, with the arguments in hand, and the last of them is what runs
 * the body. What is put in its place is asked each time that a body is about to run, whoever called `next()` and however often.
 *
 * By the same hook an execution is seen as the host made it, before any listener can have changed it.
 */

/**
 * @typedef {import('./host-types.js').Context} Context
 * @typedef {import('./host-types.js').Exec} Exec
 */

const HOOK = 'internal/dispatch'
/** An event of our own, to find out whether the framework lets the last argument be replaced. */
const TRIAL = 'dsh-bmpp/trial'
/** The key under which what an event is about says which contexts hear of it. The framework's own, known to everybody. */
const FILTER = Symbol.for('cordis.filter')

/**
 * Has `door` called around each body that is about to run, of the calls whose events this context hears of, and `first` with
 * each of these calls before its first listener.
 * @param {Context} ctx
 * @param {(exec: Exec, run: () => unknown) => unknown} door
 * @param {(exec: Exec) => void} first
 * @returns {boolean} whether this framework lets it be done; if not, nothing is
 */
export function followBodies(ctx, door, first) {
  if (!isReplaceable(ctx)) return false
  ctx.on(
    HOOK,
    (type, event, args, about) => {
      // Nobody judges a call or runs a body by any other way of dispatching.
      if ((event !== 'tools/execute' && event !== 'tools/pre-execute') || type !== 'waterfall') return
      try {
        const run = args.at(-1)
        if (args.length < 2 || typeof run !== 'function' || !hears(ctx, about)) return
        const [exec] = args
        if (event === 'tools/pre-execute') {
          first(exec)
          return
        }
        args[args.length - 1] = (/** @type {unknown[]} */ ...given) => door(exec, () => run(...given))
      } catch {
        // The wrapper of `tools/execute` is still there.
      }
    },
    // In front of other hooks, which may hand the listeners something else.
    { prepend: true },
  )
  return true
}

/** Tries it on an event that nobody else knows. @param {Context} ctx */
function isReplaceable(ctx) {
  try {
    const end = ctx.on(HOOK, (type, event, args) => {
      if (event === TRIAL && type === 'waterfall') args[args.length - 1] = () => true
    })
    try {
      return ctx.waterfall?.(TRIAL, {}, () => false) === true
    } finally {
      if (typeof end === 'function') end()
    }
  } catch {
    return false
  }
}

/** Whether listeners of this context are called, by the framework's own rule. @param {Context} ctx @param {any} about */
function hears(ctx, about) {
  const filter = about?.[FILTER]
  return typeof filter !== 'function' || Boolean(filter.call(about, ctx))
}
