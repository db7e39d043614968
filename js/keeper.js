/**
 * The door while the gate is exchanged. When a row's configuration is edited the host unloads the plugin and loads it again, and
 * in between nothing of ours is registered. What is registered in the context above the row's stays: so a guard is put there,
 * which does nothing while a gate is up, and refuses governed writes from the moment that one goes until the next is up.
 *
 * It stays for a reload only. A row that is disabled or removed takes it along: its fiber, the host's word for the life of a
 * plugin, has then lost its number, before anything of it is disposed of.
 */

/**
 * @typedef {import('./host-types.js').Context} Context
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {'up' | 'reloading' | 'failed'} GateState whether a gate is up, on its way, or could not be put up again
 * @typedef {{ state: GateState, refused: number, dismiss: () => void }} Keeper
 */

/** The keepers of rows that are loaded or being reloaded. @type {WeakMap<object, Keeper>} */
const keepers = new WeakMap()

/** The row's life, where the host shows it. @param {Context} ctx */
function fiberOf(ctx) {
  try {
    return ctx.fiber
  } catch {
    return undefined
  }
}

/**
 * Puts a keeper behind a gate that has just been put up. On a host that has no place for one there is none, and the gap of a
 * reload is open.
 * @param {Context} ctx the row's
 * @param {(exec: Exec, state: GateState) => string | undefined} refusal why a call is not let pass without a gate
 * @returns {() => void} to be called when the gate goes
 */
export function keepDoor(ctx, refusal) {
  const fiber = fiberOf(ctx)
  const above = fiber?.parent
  if (fiber === undefined || typeof fiber.uid !== 'number' || typeof above?.get !== 'function') return () => {}
  const isOver = () => fiber.uid === null
  /** @type {Keeper} */
  const keeper = { state: 'up', refused: 0, dismiss: () => {} }
  try {
    const tools = /** @type {import('./host-types.js').Tools | undefined} */ (above.get('tools'))
    const remove = tools?.guard(exec => {
      if (keeper.state === 'up' || isOver()) return undefined
      const why = refusal(exec, keeper.state)
      if (why !== undefined) keeper.refused += 1
      return why
    })
    if (typeof remove !== 'function') return () => {}
    keeper.dismiss = () => void remove()
  } catch {
    return () => {}
  }
  keepers.set(fiber, keeper)
  return () => {
    keeper.state = 'reloading'
    if (isOver()) keeper.dismiss()
  }
}

/**
 * The gate that was to be put up could not be: its keeper stays at the door until a later one is up or the row is gone.
 * @param {Context} ctx
 * @returns {boolean} whether there is a keeper, so that writes are refused from now on
 */
export function keepClosed(ctx) {
  const fiber = fiberOf(ctx)
  const keeper = fiber === undefined ? undefined : keepers.get(fiber)
  if (keeper === undefined) return false
  keeper.state = 'failed'
  return true
}

/**
 * Dismisses the keeper that the row's gate before this one left behind, if there is one. Call it when the new gate is up, or
 * when there is to be none, before {@link keepDoor}.
 * @param {Context} ctx
 * @returns {number | undefined} how many calls it refused; undefined where there was none
 */
export function relieveKeeper(ctx) {
  const fiber = fiberOf(ctx)
  const keeper = fiber === undefined ? undefined : keepers.get(fiber)
  if (fiber === undefined || keeper === undefined) return undefined
  keepers.delete(fiber)
  keeper.dismiss()
  return keeper.refused
}
