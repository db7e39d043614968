/**
 * Where a call stands: session, turn and step.
 *
 * The turn is the host's `turnBoundary` projection where it answers, else that of the session's own events; where neither
 * ever says a number, one is counted and marked as counted. The step is that of the `tool/call` event with the call's root
 * call id. Nothing here keys durable state by a call id: ids come from the model and come again.
 *
 * A call that another plugin moved to another session, or made agentless, is told from one that was made there by how the host
 * made it, where the framework shows that, and by the events, which say which call was announced in which session.
 */

import { lastOf, readEvent } from './log.js'

/** Root calls of one turn whose own step is remembered, in a session that never announces its calls. */
const OWN_STEPS_MAX = 1024

/** Announced calls of one turn that are remembered, those of the current step not counted. Beyond it the oldest are forgotten. */
const CALLS_MAX = 4096

/** Stands for the execution of a call that is over: nothing of it is held, and no other can claim its announcement. */
const OVER = Object.freeze({})

/**
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {import('./host-types.js').Session} Session
 * @typedef {import('./host-types.js').SessionEvent} SessionEvent
 * @typedef {'start' | 'seen' | 'end'} TurnEvent `seen`: under way when it was first seen
 * @typedef {{ track: Track, name: string, step: number, by: object | undefined }} Announced a call that the session's events told of
 * @typedef {{ track: Track, turn: number, counted: boolean, step: number, epoch: number }} Place
 * @typedef {{ track: Track, type: string, data: any }} Fact an event of a session's log
 */

/** What is known of one session. */
export class Track {
  /** Number in the core, or undefined while nothing of the session was judged. @type {number | undefined} */
  number = undefined
  /** Sequence number of the last event that was taken note of, or that lies before all of them. */
  seq
  /** Counts the turns' beginnings and ends, and the end of the session. */
  epoch = 0
  /** The turn by the events, if they ever said. @type {number | undefined} */
  turn = undefined
  /** Turns counted because the events gave no number. */
  counted = 1
  step = 0
  /** Whether the session ever announced a call. */
  announces = false
  /** Calls of the current turn by call id. Most sessions have none, most of the time. @type {Map<string, Announced> | undefined} */
  calls = undefined
  /** Calls of `run_code` programs of the current turn by call id. @type {Map<string, Announced> | undefined} */
  subCalls = undefined
  /** Own steps of root calls, where none is announced. @type {Map<string, number> | undefined} */
  ownSteps = undefined
  ownStep = 0
  /** Whether calls of the current turn were forgotten. */
  forgot = false
  /** Whether an ask of this session came back because nobody could answer. */
  askUnavailable = false
  /** Whether a call of the current turn was judged. */
  judged = false
  /** Whether the control tool is hidden from the agent, looked at once a turn. @type {boolean | undefined} */
  controlHidden = undefined

  /** @param {string} id @param {Session} session @param {number} seq */
  constructor(id, session, seq) {
    this.id = id
    this.session = session
    this.seq = seq
  }
}

export class Position {
  /** By the session itself: an id is known to everybody, and anything can bear it. @type {Map<object, Track>} */
  #tracks = new Map()
  /** Announced governed calls that have not come to the gate's door yet. @type {Set<Announced>} */
  #unclaimed = new Set()
  /** The agents that calls began with, undefined for none. @type {WeakMap<Exec, Exec['agent']>} */
  #began = new WeakMap()
  /** Whether the host's store was seen to know a session: then it knows every session that there is. */
  #storeKnows = false
  #governs
  #projections
  #sessions
  #onTurn
  #onClose

  /**
   * @param {object} host
   * @param {(name: unknown) => boolean} host.governs
   * @param {() => unknown} host.projections the `sessionProjections` service, if there is one now
   * @param {() => unknown} [host.sessions] the `sessions` service
   * @param {(track: Track, event: TurnEvent) => void} host.onTurn a turn began or ended
   * @param {(track: Track) => void} host.onClose a session is gone
   */
  constructor({ governs, projections, sessions = () => undefined, onTurn, onClose }) {
    this.#governs = governs
    this.#projections = projections
    this.#sessions = sessions
    this.#onTurn = onTurn
    this.#onClose = onClose
  }

  /** Sessions that are followed. */
  get size() {
    return this.#tracks.size
  }

  /** A session began, or a stored one was resumed. @param {Session} session */
  created(session) {
    this.track(session)
  }

  /** @param {Session} session */
  disposed(session) {
    // Anybody can say so; the store has let go of a session before it does.
    if (!this.#inStore(session)) this.#drop(session)
  }

  /** Forgets every session. */
  clear() {
    for (const session of [...this.#tracks.keys()]) this.#drop(session)
  }

  /** @param {object} session */
  #drop(session) {
    const track = this.#tracks.get(session)
    if (track === undefined) return
    this.#tracks.delete(session)
    track.epoch += 1
    this.#forgetCalls(track)
    this.#onClose(track)
  }

  /** @param {Session} session @returns {Track | undefined} undefined for what is no session of the host's */
  track(session) {
    const known = this.#tracks.get(session)
    if (known !== undefined) return known
    const id = idOf(session)
    if (id === undefined) return undefined
    if (this.#inStore(session)) this.#storeKnows = true
    else if (this.#storeKnows) return undefined
    // What is in the log by now is past, and will not be announced.
    const track = new Track(id, session, lastOf(session))
    this.#tracks.set(session, track)
    return track
  }

  /** @param {Session} session */
  #inStore(session) {
    try {
      const store = /** @type {{ get?: (id: string) => unknown } | undefined} */ (this.#sessions())
      return store?.get?.(session.id) === session
    } catch {
      return false
    }
  }

  /**
   * Takes note of an event of a session's log.
   * @param {Session} session
   * @param {SessionEvent} event
   * @returns {Fact | undefined} undefined for an event that is not followed or not of the log
   */
  event(session, event) {
    const known = this.#tracks.has(session)
    const track = this.track(session)
    if (track === undefined) return undefined
    // The first event that is seen of a session is in its log already.
    if (!known) track.seq -= 1
    const read = readEvent(session, event, track.seq)
    if (read === undefined) return undefined
    const { type, seq, data } = read
    if (seq !== undefined) track.seq = seq
    if (type === 'tool/call') {
      this.#turn(track, data.turn)
      track.announces = true
      if (isNumber(data.step)) track.step = data.step
      if (typeof data.callId === 'string') this.#announce(track, 'calls', data.callId, data.name)
    } else if (type === 'step/start') {
      this.#turn(track, data.turn)
      if (isNumber(data.step)) track.step = data.step
      // Calls of a message are over when the next begins.
      this.#forgetClaims(track)
    } else if (type === 'turn/start' || type === 'turn/end') {
      if (isNumber(data.turn)) track.turn = data.turn
      else track.counted += 1
      this.#turnover(track, type === 'turn/start' ? 'start' : 'end')
    } else if (type === 'tool/result') {
      this.#ended(track.calls?.get(data.callId))
    } else if (typeof data.subCallId === 'string') {
      if (type.endsWith('-start')) this.#announce(track, 'subCalls', data.subCallId, data.name)
      else this.#ended(track.subCalls?.get(data.subCallId))
    }
    return { track, type, data }
  }

  /** A number of an event inside a turn: it tells the turn where the turn's own start was not seen. @param {Track} track @param {unknown} turn */
  #turn(track, turn) {
    if (!isNumber(turn) || track.turn === turn) return
    track.turn = turn
    this.#turnover(track, 'seen')
  }

  /** @param {Track} track @param {TurnEvent} event */
  #turnover(track, event) {
    track.epoch += 1
    this.#forgetCalls(track)
    track.ownSteps = undefined
    track.controlHidden = undefined
    this.#onTurn(track, event)
  }

  /** @param {Track} track @param {'calls' | 'subCalls'} which @param {string} id @param {unknown} name */
  #announce(track, which, id, name) {
    const calls = track[which] ?? new Map()
    track[which] = calls
    const before = calls.get(id)
    if (before !== undefined) this.#unclaimed.delete(before)
    if (calls.size >= CALLS_MAX) this.#forgetOldest(track, calls)
    const announced = { track, name: typeof name === 'string' ? name : '', step: track.step, by: undefined }
    calls.set(id, announced)
    if (this.#governs(name)) this.#unclaimed.add(announced)
  }

  /** A turn of many calls must not hold all of them. @param {Track} track @param {Map<string, Announced>} calls */
  #forgetOldest(track, calls) {
    for (const [id, oldest] of calls) {
      if (oldest.step >= track.step) return
      this.#unclaimed.delete(oldest)
      calls.delete(id)
      track.forgot = true
      return
    }
  }

  /** The call has come, or will not come any more. @param {Announced | undefined} announced */
  #over(announced) {
    if (announced !== undefined) this.#unclaimed.delete(announced)
  }

  /** The call's result is there. @param {Announced | undefined} announced */
  #ended(announced) {
    this.#over(announced)
    if (announced?.by !== undefined) announced.by = OVER
  }

  /** @param {Track} track */
  #forgetClaims(track) {
    if (this.#unclaimed.size === 0) return
    for (const calls of [track.calls, track.subCalls]) {
      if (calls !== undefined) for (const call of calls.values()) this.#unclaimed.delete(call)
    }
  }

  /** @param {Track} track */
  #forgetCalls(track) {
    this.#forgetClaims(track)
    track.calls = undefined
    track.subCalls = undefined
    track.forgot = false
  }

  /**
   * Where a call stands.
   * @param {Exec} exec
   * @returns {Place | 'no-agent' | 'unknown'}
   */
  of(exec) {
    const { agent } = exec
    if (agent === undefined || agent === null) return 'no-agent'
    const { session } = agent
    const track = isObject(session) ? this.track(session) : undefined
    if (track === undefined) return 'unknown'
    return { track, ...this.turnOf(track), step: this.#step(track, exec), epoch: track.epoch }
  }

  /** The session's turn now. @param {Track} track */
  turnOf(track) {
    const turn = this.#projected(track.session) ?? track.turn
    return { turn: turn ?? track.counted, counted: turn === undefined }
  }

  /** Whether the turn in which a call was judged is still the session's turn. @param {Place | 'no-agent' | 'unknown'} place */
  isPresent(place) {
    if (typeof place !== 'object') return true
    const { turn, counted } = this.turnOf(place.track)
    return place.epoch === place.track.epoch && place.turn === turn && place.counted === counted
  }

  /** The session that a call is of now, if it is known. @param {Exec} exec */
  trackOf(exec) {
    const session = exec.agent?.session
    return isObject(session) ? this.track(session) : undefined
  }

  /** The session's step now. @param {Track} track */
  stepNow(track) {
    return track.announces ? track.step : track.ownStep
  }

  /** The host has made a call, and nobody has seen it yet. @param {Exec} exec */
  began(exec) {
    // Whoever dispatches it once more may have changed it.
    if (!this.#began.has(exec)) this.#began.set(exec, exec.agent)
  }

  /** Whether the call began in another session than it is of now, or in none. @param {Exec} exec */
  #isMoved(exec) {
    if (!this.#began.has(exec)) return false
    const began = this.#began.get(exec)
    return began !== exec.agent && began?.session !== exec.agent?.session
  }

  /**
   * Whether the call is where it began and where the events announced it. A call that no event announced is another plugin's
   * own, unless a governed call was announced in another session and has not come: then that one may have been moved.
   * @param {Place | 'no-agent' | 'unknown'} place
   * @param {Exec} exec
   */
  isInPlace(place, exec) {
    if (this.#isMoved(exec)) return false
    const track = typeof place === 'object' ? place.track : undefined
    const announced = track === undefined ? undefined : this.#announced(track, exec)
    if (announced !== undefined) {
      announced.by = exec
      return true
    }
    for (const other of this.#unclaimed) if (other.track !== track) return false
    return true
  }

  /** The call has come to the gate's door, which only the host leads to. @param {Place | 'no-agent' | 'unknown'} place @param {Exec} exec */
  arrived(place, exec) {
    if (typeof place === 'object' && this.#unclaimed.size > 0) this.#over(this.#announced(place.track, exec))
  }

  /** Whether a call that is not governed as it stands was announced as one that is. @param {Exec} exec */
  isRenamed(exec) {
    const session = exec.agent?.session
    const track = isObject(session) ? this.#tracks.get(session) : undefined
    return track !== undefined && this.#governs(this.#announced(track, exec)?.name)
  }

  /** What announced this call in the session, if no other call has claimed it. @param {Track} track @param {Exec} exec */
  #announced(track, exec) {
    const calls = exec.parent === undefined ? track.calls : track.subCalls
    const announced = calls?.get(exec.callId)
    return announced === undefined || (announced.by ?? exec) === exec ? announced : undefined
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
    // Before all others where it may be one that was forgotten: nothing was seen then.
    if (track.announces) return track.calls?.get(root)?.step ?? (track.forgot ? 0 : track.step)
    // Calls of one root call are of one step; each root call is its own.
    const own = exec.parent === undefined ? undefined : track.ownSteps?.get(root)
    if (own !== undefined) return own
    track.ownStep += 1
    if (track.ownSteps === undefined || track.ownSteps.size >= OWN_STEPS_MAX) track.ownSteps = new Map()
    track.ownSteps.set(root, track.ownStep)
    return track.ownStep
  }
}

/** @param {Session} session @returns {string | undefined} */
function idOf(session) {
  const id = session.id
  return typeof id === 'string' ? id : undefined
}

/** @param {unknown} value @returns {value is Session} */
const isObject = value => typeof value === 'object' && value !== null

/** A turn or step number that fits the core's. @param {unknown} value @returns {value is number} */
function isNumber(value) {
  return Number.isInteger(value) && /** @type {number} */ (value) >= 0 && /** @type {number} */ (value) <= 0xffffffff
}
