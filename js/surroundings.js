/**
 * What an operator must know of the tools around the gate, and cannot see: a memory server that passes it by, one that is not
 * there, an agent that cannot classify. Each is told once for as long as the row is loaded. No timers: the host's own events say
 * when to look.
 */
import { ungovernedServers } from './neighbours.js'
import { notices } from './notices.js'

/**
 * @typedef {import('./host-types.js').Context} Context
 * @typedef {import('./host-types.js').SessionEvent} SessionEvent
 * @typedef {import('./core.js').Core} Core
 * @typedef {import('./report.js').Operator} Operator
 */

/**
 * Tells of a memory server under a name that is not governed, when the host's tools change. Looked at once for each burst of
 * changes, outside any call.
 * @param {Context} ctx
 * @param {Core} core
 * @param {Operator} operator
 */
export function watchNeighbours(ctx, core, operator) {
  const told = new Set()
  let due = false
  const look = () => {
    due = false
    try {
      for (const server of ungovernedServers(namesOf(ctx), name => core.governs(name))) {
        if (told.has(server)) continue
        told.add(server)
        operator.notice(notices.neighbour(server))
      }
    } catch {
      // The list of tools is not to be had right now, as while the plugin unloads.
    }
  }
  const soon = () => {
    if (due) return
    due = true
    setImmediate(look).unref()
  }
  ctx.on('tools/change', soon)
  soon()
}

/**
 * Tells of governed servers of which not one tool is there by the end of the first turn that is seen to end. Until then a slow
 * server may still come; from then on its coming is no news.
 * @param {Context} ctx
 * @param {Core} core
 * @param {Operator} operator
 */
export function watchServers(ctx, core, operator) {
  let looked = false
  ctx.on('session/event', (/** @type {unknown} */ _session, /** @type {SessionEvent | undefined} */ event) => {
    if (looked) return
    try {
      if (event?.type !== 'turn/end') return
      looked = true
      const names = [...namesOf(ctx)]
      const missing = core.missingServers(names)
      // Where one goes by another name, the operator is told so, and which.
      if (missing.length === 0 || ungovernedServers(names, name => core.governs(name)).length > 0) return
      operator.notice(notices.noServer(missing))
    } catch {
      // The list of tools is not to be had right now.
    }
  })
}

/**
 * Whether an agent does not see the control tool, which keeps it from writing. The first time, the operator is told.
 * @param {Context} ctx
 * @param {{ name: string }} tool ours
 * @param {Operator} operator
 */
export function hiddenTool(ctx, tool, operator) {
  let told = false
  return (/** @type {unknown} */ agent) => {
    try {
      const seen = ctx.tools.get(tool.name, agent)
      if (seen === tool) return false
      if (!told) {
        told = true
        operator.notice(seen === undefined ? notices.controlFiltered(tool.name) : notices.controlShadowed(tool.name))
      }
      return true
    } catch {
      return false
    }
  }
}

/** @param {Context} ctx */
function* namesOf(ctx) {
  for (const { name } of ctx.tools.schemas()) yield name
}
