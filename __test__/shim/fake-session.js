/** A position without a host: sessions whose logs are written by hand, and what the position tells. */
import { Position } from '../../js/position.js'

export const WRITE = 'mcp__basic-memory__write_note'
export const EDIT = 'mcp__basic-memory__edit_note'

/** A session as the host's: its log, and the number of the next event. */
export class FakeSession {
  events = []
  /** @param {string} id */
  constructor(id) {
    this.id = id
  }
  get seq() {
    return this.events.length
  }
  append(type, data = {}) {
    const event = { type, seq: this.events.length, data }
    this.events.push(event)
    return event
  }
}

/** A position with what it tells, and sessions whose events it gets. */
export function positioned(host = {}) {
  const turns = []
  const closed = []
  const position = new Position({
    governs: name => typeof name === 'string' && name.startsWith('mcp__basic-memory__'),
    projections: () => undefined,
    onTurn: track => turns.push(track.id),
    onClose: track => closed.push(track.id),
    ...host,
  })
  const open = id => {
    const session = new FakeSession(id)
    position.created(session)
    return session
  }
  const tell = (session, type, data) => position.event(session, session.append(type, data))
  const exec = (session, callId, name = WRITE, more = {}) => ({ callId, name, agent: { session }, ...more })
  const announce = (session, callId, { turn = 1, step = 1, name = WRITE } = {}) =>
    tell(session, 'tool/call', { turn, step, callId, name })
  return { position, turns, closed, open, tell, exec, announce }
}
