/**
 * What a session's log says. `session/event` announces what was appended, and anybody can emit it too: an event counts only
 * if it was appended, in its order, and says nothing else than the log does. It may say less.
 */

/**
 * @typedef {import('./host-types.js').Session} Session
 * @typedef {import('./host-types.js').SessionEvent} SessionEvent
 */

/** Events that are followed, with what is read of them. @type {Record<string, (data: any) => Record<string, unknown>>} */
const READ = {
  'turn/start': ({ turn }) => ({ turn }),
  'turn/end': ({ turn }) => ({ turn }),
  'step/start': ({ turn, step }) => ({ turn, step }),
  'tool/call': ({ turn, step, callId, name }) => ({ turn, step, callId, name }),
  'tool/result': ({ message }) => ({ callId: message?.source?.callId }),
  // Calls of a `run_code` program, under the names of the host's versions.
  'tool/code-dispatch-start': ({ subCallId, name }) => ({ subCallId, name }),
  'tool/ptc-dispatch-start': ({ subCallId, name }) => ({ subCallId, name }),
  'tool/code-dispatch': ({ subCallId }) => ({ subCallId }),
  'tool/ptc-dispatch': ({ subCallId }) => ({ subCallId }),
  'approval/asked': ({ id, callId, toolName, reason }) => ({ id, callId, toolName, reason }),
  'approval/decided': ({ id, outcome }) => ({ id, outcome }),
}

/**
 * Reads an event of the log that comes after the one with sequence number `last`. Everything is read once, so that it cannot
 * read otherwise the next time.
 * @param {Session} session
 * @param {SessionEvent} event
 * @param {number} last
 * @returns {{ type: string, seq: number | undefined, data: any } | undefined} undefined for what is not followed, or not of the log
 */
export function readEvent(session, event, last) {
  const { type, seq, data } = event
  if (typeof type !== 'string' || !Object.hasOwn(READ, type)) return undefined
  const length = session.seq
  const numbered = Number.isSafeInteger(seq)
  if (numbered ? seq <= last || (length !== undefined && seq >= length) : length !== undefined) return undefined
  const read = /** @type {(data: any) => Record<string, unknown>} */ (READ[type])
  const said = read(data ?? {})
  const entry = numbered ? logged(session, seq) : undefined
  if (entry !== undefined && entry !== event) {
    if (entry.type !== type) return undefined
    const appended = read(entry.data ?? {})
    for (const key of Object.keys(said)) if (said[key] !== undefined && said[key] !== appended[key]) return undefined
  }
  return { type, seq: numbered ? seq : undefined, data: said }
}

/**
 * The log's own event, where the host lets it be read. Newer hosts have `eventAt`; older ones copy the whole log for `events`,
 * which they make of a list that can be asked for one event: a long session must not make each of its events dear.
 * @param {Session} session
 * @param {number} seq
 * @returns {SessionEvent | undefined}
 */
function logged(session, seq) {
  try {
    if (typeof session.eventAt === 'function') return session.eventAt(seq)
    const { log } = session
    return Array.isArray(log) && log.length === session.seq ? log[seq] : session.events?.[seq]
  } catch {
    return undefined
  }
}

/** The number of the last event that was appended; -1 for none. @param {Session} session */
export function lastOf({ seq }) {
  return Number.isSafeInteger(seq) ? /** @type {number} */ (seq) - 1 : -1
}
