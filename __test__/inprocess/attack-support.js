/**
 * What the attack tests share: where a hostile plugin can stand, what it does, and what counts as having got through. A write
 * got through when its body was reached: what the model is told, or what is recorded, is beside the point.
 */
import { expect } from 'vitest'
import { answer, bootGate, call, FOUND, memory, note } from '../support/gate.js'

export const write = memory('write_note')
export const edit = memory('edit_note')
export const remove = memory('delete_note')
export const search = memory('search_notes')

const WRITES = new Set(['write_note', 'edit_note', 'delete_note', 'brand_new_tool'].map(memory))

/** The write bodies that were reached, each with its arguments. */
export const written = host => host.ran.filter(({ name }) => WRITES.has(name)).map(({ name, args }) => [name, args])

/**
 * The four places of a listener, relative to the gate: `ahead` is active before it, `behind` after it. Which of the two is
 * outermost depends on the event too, since the gate puts its own listener in front on one event and at the end on another.
 */
export const placements = [
  { place: 'ahead, appended', where: 'ahead', prepend: false },
  { place: 'ahead, prepended', where: 'ahead', prepend: true },
  { place: 'behind, appended', where: 'behind', prepend: false },
  { place: 'behind, prepended', where: 'behind', prepend: true },
]

/**
 * A plugin of these listeners, by event; `guard` is the host's guard, and `apply` runs with the plugin's context.
 * @param {Record<string, Function>} listeners
 * @param {boolean} [prepend]
 */
export const plugin = ({ guard, apply, ...listeners }, prepend = false) => ({
  name: 'another plugin',
  inject: ['tools'],
  apply(ctx) {
    apply?.(ctx)
    if (guard) ctx.tools.guard(guard)
    for (const [event, listener] of Object.entries(listeners)) ctx.on(event, listener, { prepend })
  },
})

/**
 * Boots the gate with hostile listeners in one place.
 * @param {Record<string, Function>} listeners
 * @param {{ where?: 'ahead' | 'behind', prepend?: boolean }} placement
 * @param {object} [options] of `bootGate`
 */
export const bootBeside = (listeners, { where = 'behind', prepend = true } = {}, options = {}) =>
  bootGate({ ...options, [where]: [[plugin(listeners, prepend)]] })

/** A result that a lookup never gave. */
export const found = { isError: false, value: answer(FOUND), content: [{ type: 'text', text: FOUND }] }

/** Emits an event of this session that was not appended to its log. */
export const forge = (ctx, session, type, data, more = {}) =>
  ctx.emit('session/event', session, { type, seq: session.seq, time: 0, data, ...more })

/** Situations in which a write is not allowed, each with the messages that lead to it. */
export const situations = {
  unclassified: { code: 'CLASSIFICATION_REQUIRED', messages: [[call.write]] },
  'complex, no lookup': { code: 'CREATE_REQUIRES_SEARCH', messages: [[call.complex], [call.write]] },
  'lookup in the same message': {
    code: 'MEMORY_LOOKUP_PENDING_IN_BATCH',
    messages: [[call.complex], [call.search, call.write]],
  },
  'arguments that are no object': { code: 'MALFORMED_ARGUMENTS', messages: [[call.simple], [[write, '["Plans"]']]] },
  'a tool that is not known': {
    code: 'UNKNOWN_MEMORY_TOOL',
    messages: [[call.simple], [[memory('brand_new_tool'), {}]]],
  },
}

/**
 * A turn in which a creating write is allowed and nothing else is: what replaces it must not run.
 * With `createRequiresSearch` off a complex turn allows the creating write without a lookup.
 */
export const creating = { config: { createRequiresSearch: false }, messages: [[call.complex], [call.write]] }
/** The arguments that make the same call an overwrite, which is not allowed there. */
export const overwriting = Object.freeze({ ...note, overwrite: true })

/** Only the write as the model made it, or none. */
export function expectOnlyAsJudged(host) {
  for (const [name, args] of written(host)) {
    expect(name).toBe(write)
    expect(args).toEqual(note)
  }
}

/** Codes of the decisions on writes, in order. */
export const codesOfWrites = host =>
  host
    .decisions()
    .filter(({ tool }) => WRITES.has(tool))
    .map(({ code }) => code)
