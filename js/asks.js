/**
 * The approvals that the gate asks for: who can be asked, what the host has raised of it, and what was answered. An approval is
 * one call's and counts once.
 */

/**
 * @typedef {import('./gate.js').Ticket} Ticket
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {import('./host-types.js').Session} Session
 * @typedef {import('./position.js').Fact} Fact
 * @typedef {import('./position.js').Place} Place
 * @typedef {import('./position.js').Track} Track
 */

/**
 * An approval that was asked for.
 * @typedef {object} Ask
 * @property {Exec} exec
 * @property {string} callId as it was when the approval was asked for
 * @property {string} reason
 * @property {string | undefined} id the host's id of the request, once it was raised
 * @property {boolean} approved answered with allowed-once, and not used yet
 */

export class Asks {
  /** Asks that the host has not raised or answered yet. @type {Map<Track, Set<Ticket>>} */
  #open = new Map()
  #service
  #raised

  /**
   * @param {() => unknown} service the host's approval service, if there is one now
   * @param {(ticket: Ticket, exec: Exec) => void} raised the host has taken a call as far as whoever answers
   */
  constructor(service, raised) {
    this.#service = service
    this.#raised = raised
  }

  /** Whether a human can be asked about a call that stands there. @param {Place | 'no-agent' | 'unknown'} place */
  canAsk(place) {
    if (typeof place !== 'object' || place.track.askUnavailable) return false
    const session = /** @type {Session} */ (place.track.session)
    try {
      const header = session.header
      if (header?.origin === 'subagent' || (header?.delegationDepth ?? 0) > 0) return false
      const service = /** @type {{ effectivePolicy?: (session: Session) => unknown } | undefined} */ (this.#service())
      if (service === undefined || service === null) return false
      return typeof service.effectivePolicy !== 'function' || service.effectivePolicy(session) !== 'never'
    } catch {
      return false
    }
  }

  /** A call is asked about. @param {Exec} exec @param {Ticket} ticket @param {string} reason what the human is told */
  add(exec, ticket, reason) {
    ticket.ask = { exec, callId: exec.callId, reason, id: undefined, approved: false }
    if (typeof ticket.place !== 'object') return
    const { track } = ticket.place
    this.#open.set(track, (this.#open.get(track) ?? new Set()).add(ticket))
  }

  /** The host raised or answered a request. @param {Fact} fact */
  event({ track, type, data }) {
    if (type === 'approval/decided' && data.outcome === 'unavailable') track.askUnavailable = true
    for (const ticket of this.#open.get(track) ?? []) {
      const ask = ticket.ask
      if (ask === undefined) continue
      if (type === 'approval/asked') {
        const same = data.callId === ask.callId && data.toolName === ticket.name && data.reason === ask.reason
        if (ask.id !== undefined || !same) continue
        ask.id = data.id
        // The host itself has taken it this far; whoever answers may take long.
        this.#raised(ticket, ask.exec)
        // One request is one call's, even where two look the same to whoever answers.
        return
      }
      if (ask.id !== undefined && data.id === ask.id) {
        ask.approved = data.outcome === 'allowed-once'
        this.#open.get(track)?.delete(ticket)
      }
    }
  }

  /** A call has its result: no answer to it counts any more. @param {Track} track @param {Ticket} ticket */
  settled(track, ticket) {
    this.#open.get(track)?.delete(ticket)
  }

  /** A turn of the session ended. @param {Track} track */
  forget(track) {
    this.#open.delete(track)
  }
}

/** The approval of a call, used up. @param {Ticket} ticket @returns {boolean} whether there was one */
export function takeApproval(ticket) {
  const { ask } = ticket
  const approved = ask?.approved === true
  if (ask !== undefined) ask.approved = false
  ticket.approved ||= approved
  return approved
}
