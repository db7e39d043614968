/**
 * Where a call stands: session, turn and step.
 *
 * The turn is the host's `turnBoundary` projection where it answers, else that of the session's own events; where neither
 * ever says a number, one is counted and marked as counted. The step is that of the `tool/call` event with the call's root
 * call id. Nothing here keys durable state by a call id: ids come from the model and come again.
 *
 * The events also say which call was announced in which session, which is how a call that another plugin moved to another
 * session, or made agentless, is told from one that was made there.
 */

/** Root calls of one turn whose own step is remembered, in a session that never announces its calls. */
const OWN_STEPS_MAX = 1024

/** Events that announce a call of a `run_code` program, under the names of the host's versions. */
const SUB_CALLS = new Set(['tool/code-dispatch-start', 'tool/ptc-dispatch-start'])

/**
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {import('./host-types.js').Session} Session
 * @typedef {import('./host-types.js').SessionEvent} SessionEvent
 * @typedef {{ name: string, step: number, by: Exec | undefined }} Announced a call that the session's events told of
 * @typedef {{ track: Track, turn: number, counted: boolean, step: number }} Place
 */

/** What is known of one session. */
export class Track {
  /** Number in the core, or undefined while nothing of the session was judged. @type {number | undefined} */
  number = undefined
  /** Sequence number of the last event. */
  seq = -1
  /** The turn by the events, if they ever said. @type {number | undefined} */
  turn = undefined
  /** Turns counted because the events gave no number. */
  counted = 1
  step = 0
  /** Whether the session ever announced a call. */
  announces = false
  /** Calls of the current turn by call id. @type {Map<string, Announced>} */
  calls = new Map()
  /** Calls of `run_code` programs of the current turn by call id. @type {Map<string, Announced>} */
  subCalls = new Map()
  /** Own steps of root calls, where none is announced. @type {Map<string, number>} */
  ownSteps = new Map()
  ownStep = 0
  /** Whether an ask of this session came back because nobody could answer. */
  askUnavailable = false
  /** Whether the control tool is hidden from the agent, looked at once a turn. @type {boolean | undefined} */
  controlHidden = undefined

  /** @param {string} id @param {object} session */
  constructor(id, session) {
    this.id = id
    this.session = session
  }
}

export class Position {
  /** @type {Map<string, Track>} */
  #tracks = new Map()
  /** Announced governed calls that no execution has claimed yet. @type {Set<Announced>} */
  #unclaimed = new Set()
  #governs
  #projections
  #onTurn
  #onClose

  /**
   * @param {object} host
   * @param {(name: unknown) => boolean} host.governs
   * @param {() => unknown} host.projections the `sessionProjections` service, if there is one now
   * @param {(track: Track) => void} host.onTurn a turn began or ended
   * @param {(track: Track) => void} host.onClose a session is gone
   */
  constructor({ governs, projections, onTurn, onClose }) {
    this.#governs = governs
    this.#projections = projections
    this.#onTurn = onTurn
    this.#onClose = onClose
  }

  /** Sessions that are followed. */
  get size() {
    return this.#tracks.size
  }

  /** A session began, or a stored one was resumed: whatever was known under its id is of another life. @param {Session} session */
  created(session) {
    const id = idOf(session)
    if (id === undefined) return
    this.#drop(id)
    this.#tracks.set(id, new Track(id, session))
  }

  /** @param {Session} session */
  disposed(session) {
    const id = idOf(session)
    // An id can come back: the end of an earlier life must not end the present one.
    if (id !== undefined && this.#tracks.get(id)?.session === session) this.#drop(id)
  }

  /** Forgets every session. */
  clear() {
    for (const id of [...this.#tracks.keys()]) this.#drop(id)
  }

  /** @param {string} id */
  #drop(id) {
    const track = this.#tracks.get(id)
    if (track === undefined) return
    this.#tracks.delete(id)
    this.#forgetCalls(track)
    this.#onClose(track)
  }

  /** @param {Session} session @returns {Track | undefined} */
  track(session) {
    const id = idOf(session)
    if (id === undefined) return undefined
    let track = this.#tracks.get(id)
    if (track === undefined) {
      track = new Track(id, session)
      this.#tracks.set(id, track)
    }
    return track
  }

  /**
   * Takes note of an event of a session's log.
   * @param {Session} session
   * @param {SessionEvent} event
   * @returns {Track | undefined} the session's track; undefined for an event that cannot be of the log
   */
  event(session, event) {
    const track = this.track(session)
    if (track === undefined) return undefined
    const { type, seq, data } = event
    if (Number.isSafeInteger(seq)) {
      // The log's events arrive once, in order, when they are appended. What does not fit was not appended.
      const next = session.seq
      if (seq <= track.seq || (next !== undefined && seq >= next)) return undefined
      track.seq = seq
    }
    if (type === 'tool/call') {
      this.#turn(track, data?.turn)
      track.announces = true
      if (isNumber(data?.step)) track.step = data.step
      if (typeof data?.callId === 'string') this.#announce(track, track.calls, data.callId, data.name)
    } else if (type === 'step/start') {
      this.#turn(track, data?.turn)
      if (isNumber(data?.step)) track.step = data.step
      // Calls of a message are over when the next begins.
      this.#forgetClaims(track)
    } else if (type === 'turn/start' || type === 'turn/end') {
      if (isNumber(data?.turn)) track.turn = data.turn
      else track.counted += 1
      this.#turnover(track)
    } else if (SUB_CALLS.has(type) && typeof data?.subCallId === 'string') {
      this.#announce(track, track.subCalls, data.subCallId, data.name)
    }
    return track
  }

  /** A number of an event inside a turn: it tells the turn where the turn's own start was not seen. @param {Track} track @param {unknown} turn */
  #turn(track, turn) {
    if (!isNumber(turn) || track.turn === turn) return
    track.turn = turn
    this.#turnover(track)
  }

  /** @param {Track} track */
  #turnover(track) {
    this.#forgetCalls(track)
    track.ownSteps.clear()
    track.controlHidden = undefined
    this.#onTurn(track)
  }

  /** @param {Track} track @param {Map<string, Announced>} calls @param {string} id @param {unknown} name */
  #announce(track, calls, id, name) {
    const before = calls.get(id)
    if (before !== undefined) this.#unclaimed.delete(before)
    const announced = { name: typeof name === 'string' ? name : '', step: track.step, by: undefined }
    calls.set(id, announced)
    if (this.#governs(name)) this.#unclaimed.add(announced)
  }

  /** @param {Track} track */
  #forgetClaims(track) {
    if (this.#unclaimed.size === 0) return
    for (const calls of [track.calls, track.subCalls]) for (const call of calls.values()) this.#unclaimed.delete(call)
  }

  /** @param {Track} track */
  #forgetCalls(track) {
    this.#forgetClaims(track)
    track.calls.clear()
    track.subCalls.clear()
  }

  /**
   * Where a call stands.
   * @param {Exec} exec
   * @returns {Place | 'no-agent' | 'unknown'}
   */
  of(exec) {
    if (exec.agent === undefined || exec.agent === null) return 'no-agent'
    const track = this.trackOf(exec)
    if (track === undefined) return 'unknown'
    const projected = this.#projected(exec.agent.session)
    const turn = projected ?? track.turn
    return {
      track,
      turn: turn ?? track.counted,
      counted: turn === undefined,
      step: this.#step(track, exec),
    }
  }

  /** The session that a call is of now, if it is known. @param {Exec} exec */
  trackOf(exec) {
    const session = exec.agent?.session
    return session === undefined || session === null ? undefined : this.track(session)
  }

  /** The session's step now. @param {Track} track */
  stepNow(track) {
    return track.announces ? track.step : track.ownStep
  }

  /**
   * Whether the call is where the events announced it. A call that no event announced is another plugin's own, unless a
   * call of this tool was announced and has not come: then that one was moved.
   * @param {Place | 'no-agent' | 'unknown'} place
   * @param {Exec} exec
   */
  isInPlace(place, exec) {
    if (typeof place === 'object') {
      const calls = exec.parent === undefined ? place.track.calls : place.track.subCalls
      const announced = calls.get(exec.callId)
      if (announced !== undefined && announced.name === exec.name && (announced.by ?? exec) === exec) {
        announced.by = exec
        this.#unclaimed.delete(announced)
        return true
      }
    }
    for (const announced of this.#unclaimed) if (announced.name === exec.name) return false
    return true
  }

  /** The call came to its end. @param {Exec} exec */
  ended(exec) {
    if (this.#unclaimed.size === 0) return
    const track = this.trackOf(exec)
    const announced = track?.calls.get(exec.callId) ?? track?.subCalls.get(exec.callId)
    if (announced !== undefined) this.#unclaimed.delete(announced)
  }

  /**
   * The turn by the host's projection. A service that is there and cannot answer counts as none.
   * @param {Session} session
   * @returns {number | undefined}
   */
  #projected(session) {
    try {
      const service =
        /** @type {{ stateOf?: (session: unknown, name: string) => { lastTurn?: unknown } | undefined } | undefined} */ (
          this.#projections()
        )
      const turn = service?.stateOf?.(session, 'turnBoundary')?.lastTurn
      return isNumber(turn) ? turn : undefined
    } catch {
      return undefined
    }
  }

  /** @param {Track} track @param {Exec} exec */
  #step(track, exec) {
    const root = exec.rootCallId ?? exec.callId
    if (track.announces) return track.calls.get(root)?.step ?? track.step
    // Calls of one root call are of one step; each root call is its own.
    const own = exec.parent === undefined ? undefined : track.ownSteps.get(root)
    if (own !== undefined) return own
    track.ownStep += 1
    if (track.ownSteps.size >= OWN_STEPS_MAX) track.ownSteps.clear()
    track.ownSteps.set(root, track.ownStep)
    return track.ownStep
  }
}

/** @param {Session} session @returns {string | undefined} */
function idOf(session) {
  const id = session.id
  return typeof id === 'string' ? id : undefined
}

/** A turn or step number that fits the core's. @param {unknown} value @returns {value is number} */
function isNumber(value) {
  return Number.isInteger(value) && /** @type {number} */ (value) >= 0 && /** @type {number} */ (value) <= 0xffffffff
}
