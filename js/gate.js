/**
 * Host events → core → host decisions, and the door that closes the ways round.
 *
 * `tools/pre-execute` decides, but any listener in front of it can override what it decides, and a decision that the host
 * does not know skips the guards. So the same call is looked at again where it can no longer be overridden: in a synchronous
 * guard, and once more where it is dispatched. Both let a governed call pass only as it was judged, judge what reaches them
 * unjudged or changed, and make the name and the arguments of what passes unwritable. Where the framework allows it, the last
 * of the doors is right around the body (bodies.js), so that no wrapper stands behind it and none goes past it.
 *
 * Every listener is total. A call outside the namespace is passed on before anything else is touched.
 */
import { plain } from './arguments.js'
import { Asks, takeApproval } from './asks.js'
import { Entries, publicName } from './entries.js'
import { notices } from './notices.js'
import { happened } from './records.js'
import { nameOf, seal, shut } from './seal.js'

/**
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {import('./host-types.js').ExecResult} ExecResult
 * @typedef {import('./host-types.js').Session} Session
 * @typedef {import('./host-types.js').SessionEvent} SessionEvent
 * @typedef {import('./host-types.js').Decision} Decision
 * @typedef {import('./position.js').Track} Track
 * @typedef {import('./position.js').Place} Place
 * @typedef {import('./core.js').Core} Core
 * @typedef {import('./core.js').Tool} Tool
 * @typedef {import('./asks.js').Ask} Ask
 * @typedef {import('./records.js').Stage} Stage
 */

/**
 * One judged call, from judging to its result.
 * @typedef {object} Ticket
 * @property {number} call the number under which the core follows it
 * @property {string} name as judged
 * @property {unknown} args as judged: the very object
 * @property {Tool} tool
 * @property {Place | 'no-agent' | 'unknown'} place
 * @property {number} word
 * @property {string} enforcement
 * @property {string} text what the model is told if it is denied
 * @property {string | null} facts what was read of a write's arguments, as a record keeps it
 * @property {string | null} secretClass the class of a secret that was found in them; never the secret
 * @property {string | null} target a hash of the note that the call names, where the operator asked for one
 * @property {boolean} canAsk whether a human could be asked
 * @property {Ask | undefined} ask
 * @property {boolean} approved a human approved it
 * @property {boolean} sure its arguments cannot become others any more
 * @property {boolean} dispatched the call was let through to its body
 * @property {boolean} reached the call came to its body, or where we are not asked there, as far as our own wrapper
 * @property {Outcome | undefined} outcome what came out of the body there, once it has ended
 * @property {'simple' | 'complex' | undefined} declared
 */

/**
 * What came out of a tool's body.
 * @typedef {object} Outcome
 * @property {boolean} isError
 * @property {unknown} value
 * @property {string | undefined} message of an error
 */

/** Of a call that has no turn any more. @type {import('./core.js').Settlement} */
const NOT_SETTLED = Object.freeze({ outcome: null, observations: Object.freeze([]) })

/** What the host says of a body that it did not run after all. */
const NOT_RUN = new Set(['ABORTED_BEFORE_DISPATCH', 'UNKNOWN_TOOL'])

/** What refuses a dispatch: an error result, since a wrapper in front may not wait for a rejection. @param {string} text */
const refused = text => ({
  isError: true,
  error: { message: text },
  content: [{ type: 'text', text: `Error: ${text}` }],
})

export class Gate {
  /** @type {WeakMap<Exec, Ticket>} */
  #tickets = new WeakMap()
  /**
   * What is accounted for without a ticket: it has had its result, or a fault of ours kept it from being judged. Its result is
   * no news of a call that went past the gate.
   * @type {WeakSet<Exec>}
   */
  #accounted = new WeakSet()
  /** What the bodies of writes gave that ran in `enforce`: one verdict is one write. @type {WeakMap<Exec, Promise<unknown>>} */
  #ran = new WeakMap()
  /** Whether {@link body} is asked at each body. */
  #followsBodies = false
  #calls = 0
  #unloaded = false
  #core
  #position
  #entries
  #operator
  #asks
  #controlHidden
  #enforces
  #onCounted
  /** Whether calls that are not governed are recorded too. */
  #verbose

  /**
   * @param {object} parts
   * @param {Core} parts.core
   * @param {import('./position.js').Position} parts.position
   * @param {import('./records.js').Recorder} parts.recorder
   * @param {import('./report.js').Operator} parts.operator
   * @param {() => unknown} parts.approval the host's approval service, if there is one now
   * @param {(agent: unknown) => boolean} parts.controlHidden whether an agent does not see the control tool
   * @param {(track: Track) => void} parts.onCounted the host gave no turn number for a session
   */
  constructor({ core, position, recorder, operator, approval, controlHidden, onCounted }) {
    this.#core = core
    this.#position = position
    this.#entries = new Entries(recorder, core)
    this.#operator = operator
    this.#asks = new Asks(approval, (ticket, exec) => position.arrived(ticket.place, exec))
    this.#controlHidden = controlHidden
    this.#onCounted = onCounted
    this.#enforces = core.info.mode === 'enforce'
    this.#verbose = core.info.auditLevel === 'verbose'
  }

  /** A call as the host made it, before anybody was asked about it. @param {Exec} exec */
  first = exec => this.#position.began(exec)

  /** @param {Exec} exec @param {() => unknown} next */
  preExecute = (exec, next) => {
    const name = nameOf(exec)
    if (!this.#core.governs(name)) {
      if (this.#verbose) this.#entries.outside(exec, name, this.#position)
      return next()
    }
    /** @type {Decision | undefined} */
    let decision
    try {
      decision = this.#decide(exec, name)
    } catch (error) {
      decision = this.#failed('pre-execute', name, error, exec) ? this.#deny(this.#unjudgedText) : undefined
    }
    // A promise, since a listener in front may chain on what `next` gives it.
    return decision === undefined ? next() : Promise.resolve(decision)
  }

  /** @param {Exec} exec @returns {string | undefined} */
  guard = exec => {
    const name = nameOf(exec)
    if (!this.#core.governs(name)) return this.#outside(exec, name)
    try {
      return this.#door(exec, name, 'guard')
    } catch (error) {
      return this.#unjudgeable('guard', exec, name, error)
    }
  }

  /** @param {Exec} exec @param {() => unknown} next */
  execute = (exec, next) => {
    const name = nameOf(exec)
    const governed = this.#core.governs(name)
    /** @type {string | undefined} */
    let refusal
    try {
      refusal = governed ? this.#dispatch(exec, name, !this.#followsBodies) : this.#outside(exec, name)
    } catch (error) {
      refusal = this.#unjudgeable('execute', exec, name, error)
    }
    if (refusal !== undefined) {
      if (!this.#followsBodies) shut(exec, refusal)
      return Promise.resolve(refused(refusal))
    }
    const outcome = next()
    if (governed && !this.#followsBodies) void this.#watch(exec, outcome)
    return outcome
  }

  /** From now on {@link body} is asked at each body. */
  followBodies() {
    this.#followsBodies = true
  }

  /**
   * A body is about to run.
   * @param {Exec} exec
   * @param {() => unknown} run
   */
  body = (exec, run) => {
    const name = nameOf(exec)
    if (!this.#core.governs(name)) return run()
    /** @type {string | undefined} */
    let refusal
    try {
      const again = this.#ran.get(exec)
      if (again !== undefined && !this.#runsAgain(exec, name)) return again
      if (again === undefined) refusal = this.#dispatch(exec, name, true)
    } catch (error) {
      refusal = this.#unjudgeable('execute', exec, name, error)
    }
    if (refusal !== undefined) return Promise.resolve(refused(refusal))
    const outcome = Promise.resolve(run())
    if (this.#enforces && !this.#core.isFree(name)) this.#ran.set(exec, outcome)
    void this.#watch(exec, outcome)
    return outcome
  }

  /**
   * Whether a write whose body has run runs once more. What it gave is settled; only after a failure is it judged again, as a
   * call of its own, and otherwise whoever asked gets what it gave.
   * @param {Exec} exec
   * @param {string} name
   */
  #runsAgain(exec, name) {
    const ticket = this.#tickets.get(exec)
    // It still runs, or its turn has ended.
    if (ticket?.outcome === undefined) return this.#toldAgain(name)
    const { isError, value, message = '' } = ticket.outcome
    const given = isError ? { isError, error: { message } } : { isError, value }
    if (this.#settled(exec, ticket, given) !== 'failed') return this.#toldAgain(name)
    const refusal = this.#dispatch(exec, name, true)
    const next = this.#tickets.get(exec)
    if (refusal === undefined || next === undefined) return refusal === undefined
    this.#settled(exec, next, refused(refusal))
    return this.#toldAgain(name)
  }

  /** @param {string} name */
  #toldAgain(name) {
    this.#operator.notice(notices.again(publicName(name)))
    return false
  }

  /** A call has its result. @param {Exec} exec @param {Ticket} ticket @param {ExecResult} result @returns {string | null} its outcome */
  #settled(exec, ticket, result) {
    this.#tickets.delete(exec)
    this.#accounted.add(exec)
    return this.#settle(ticket, exec, result)
  }

  /** @param {Exec} exec @param {ExecResult} result */
  result = (exec, result) => {
    try {
      const ticket = this.#tickets.get(exec)
      // The host freezes an execution before it announces the result; what is not frozen was announced by somebody else.
      if (ticket !== undefined && Object.isFrozen(exec)) {
        this.#settled(exec, ticket, result)
      } else if (ticket === undefined && !this.#accounted.has(exec) && this.#core.governs(exec.name)) {
        this.#unjudged(exec, result)
      }
    } catch (error) {
      this.#failed('result', nameOf(exec), error)
    }
  }

  /** @param {Session} session @param {SessionEvent} event */
  sessionEvent = (session, event) => {
    try {
      const fact = this.#position.event(session, event)
      if (fact?.type.startsWith('approval/')) this.#asks.event(fact)
    } catch (error) {
      this.#failed('session event', '', error)
    }
  }

  /** The control tool's body ran. @param {object} exec @param {'simple' | 'complex'} task */
  declared = (exec, task) => {
    const ticket = this.#tickets.get(/** @type {Exec} */ (exec))
    if (ticket !== undefined) ticket.declared = task
  }

  /**
   * What is left of the door once this gate has gone and until the next is up. It judges nothing: no core is asked.
   * @param {Exec} exec
   * @param {import('./keeper.js').GateState} state
   * @returns {string | undefined} why a call may not pass
   */
  closedDoor(exec, state) {
    const name = nameOf(exec)
    if (!this.#core.governs(name) || this.#core.isFree(name)) return undefined
    return state === 'failed' ? this.#core.notLoadedText : this.#core.reloadingText
  }

  /** What a call is told that this gate cannot judge: for a fault of ours, or because the gate has gone. */
  get #unjudgedText() {
    return this.#unloaded ? this.#core.reloadingText : this.#core.internalErrorText
  }

  /** The row goes, and the core with it. A call that is under way meets this gate once more, and cannot be judged by it. */
  unload() {
    this.#unloaded = true
  }

  /** A turn of the session began or ended. @param {Track} track @param {import('./position.js').TurnEvent} event */
  turnover = (track, event) => {
    this.#asks.forget(track)
    try {
      if (track.number !== undefined) this.#core.addon.endTurn(this.#core.handle, track.number)
    } catch (error) {
      this.#failed('turn', '', error)
    }
    // The end of a turn in which nothing was judged says nothing that the next beginning does not.
    if (event !== 'end' || track.judged) this.#entries.turn(track, event)
    track.judged = false
  }

  /** The session is gone. @param {Track} track */
  closed = track => {
    this.#asks.forget(track)
    if (track.number === undefined) return
    try {
      this.#core.addon.closeSession(this.#core.handle, track.number)
    } catch (error) {
      this.#failed('session', '', error)
    }
    this.#entries.turn(track, 'closed')
    track.number = undefined
  }

  /**
   * @param {Exec} exec
   * @param {string} name
   * @returns {Decision | undefined} undefined: let the others decide
   */
  #decide(exec, name) {
    let args = exec.arguments
    if (this.#enforces && this.#core.tool(name).class !== 'control') {
      // What a plugin in front put in place of the host's frozen arguments could still change after it was judged.
      const fixed = plain(args)
      // Where it cannot be put in, the door will find so.
      if (fixed !== undefined && fixed !== args && Reflect.set(exec, 'arguments', fixed)) args = exec.arguments
    }
    const ticket = this.#judge(exec, name, args, 'pre-execute')
    if (ticket.enforcement === 'denied') return this.#deny(ticket.text)
    if (ticket.enforcement !== 'asked') return undefined
    const reason = this.#core.addon.approvalReason(name, ticket.tool.id, ticket.word, plain(args))
    this.#asks.add(exec, ticket, reason)
    return { kind: 'ask', reason }
  }

  /** @param {string} reason @returns {Decision} */
  #deny(reason) {
    return { kind: 'deny', reason }
  }

  /**
   * Judges a call as it stands and records the decision. A call that was judged before keeps its number.
   * @param {Exec} exec
   * @param {string} name
   * @param {unknown} args
   * @param {Stage} at
   * @returns {Ticket}
   */
  #judge(exec, name, args, at) {
    const core = this.#core
    const before = this.#tickets.get(exec)
    const tool = core.tool(name)
    // Where a read stands that nobody made was not asked; it must be if it has become a write.
    const isKnown = before !== undefined && !(before.place === 'no-agent' && tool.writes && !before.tool.writes)
    const place = isKnown ? before.place : this.#placeOf(exec, tool)
    const word = this.#word(exec, before?.call ?? this.#nextCall(), tool, place, args)
    const facts = tool.writes ? core.judgedFacts() : null
    // Before anybody else is asked, who may have other calls judged.
    const secretClass = core.secretClass(word)
    const canAsk = at === 'pre-execute' && this.#canAsk(tool, place)
    const enforcement = core.enforcement(word, canAsk)
    /** @type {Ticket} */
    const ticket = {
      call: before?.call ?? this.#calls,
      name,
      args,
      tool,
      place,
      word,
      enforcement,
      text: enforcement === 'denied' ? core.denialText(word, tool.id) : '',
      facts,
      secretClass,
      target: core.target(tool.id, args),
      canAsk,
      ask: undefined,
      approved: false,
      sure: before?.sure ?? true,
      dispatched: before?.dispatched ?? false,
      reached: before?.reached ?? false,
      outcome: before?.outcome,
      declared: undefined,
    }
    this.#tickets.set(exec, ticket)
    if (typeof place === 'object') place.track.judged = true
    this.#entries.judged(exec, ticket, at, 'judged')
    return ticket
  }

  /**
   * Where a call stands. Where the host announced it in another session than it now claims to be of, that is not known.
   * @param {Exec} exec
   * @param {Tool} tool
   */
  #placeOf(exec, tool) {
    const place = this.#position.of(exec)
    if (place === 'unknown' || (place === 'no-agent' && !tool.writes)) return place
    return this.#position.isInPlace(place, exec) ? place : 'unknown'
  }

  #nextCall() {
    this.#calls = (this.#calls + 1) >>> 0
    return this.#calls
  }

  /**
   * @param {Exec} exec
   * @param {number} call
   * @param {Tool} tool
   * @param {Place | 'no-agent' | 'unknown'} place
   * @param {unknown} args
   */
  #word(exec, call, tool, place, args) {
    const core = this.#core
    const { PLACE_NO_AGENT, PLACE_UNKNOWN, PLACE_COUNTED_TURN, PLACE_HOST_TURN, PLACE_CONTROL_HIDDEN } = core.constants
    // Only what cannot change or run code of its own crosses over.
    const read = tool.class === 'control' ? undefined : plain(args)
    if (place === 'no-agent') return core.judge(call, tool.id, PLACE_NO_AGENT, 0, 0, 0, read)
    if (place === 'unknown') return core.judge(call, tool.id, PLACE_UNKNOWN, 0, 0, 0, read)
    const { track, turn, counted, step } = place
    track.number ??= core.openSession()
    if (counted) this.#onCounted(track)
    let where = counted ? PLACE_COUNTED_TURN : PLACE_HOST_TURN
    if (tool.writes) {
      track.controlHidden ??= this.#controlHidden(exec.agent)
      if (track.controlHidden) where += PLACE_CONTROL_HIDDEN
    }
    return core.judge(call, tool.id, where, track.number, turn, step, read)
  }

  /** @param {Tool} tool @param {Place | 'no-agent' | 'unknown'} place */
  #canAsk(tool, place) {
    if (!this.#enforces || !this.#core.info.destructiveAsks || tool.class !== 'destructive') return false
    return this.#asks.canAsk(place)
  }

  /**
   * The door: whether a governed call may pass as it now stands.
   * @param {Exec} exec
   * @param {string} name
   * @param {Stage} at
   * @returns {string | undefined} why not
   */
  #door(exec, name, at) {
    const before = this.#before(exec)
    const args = exec.arguments
    if (!this.#enforces) {
      const as = before !== undefined && before.name === name && before.args === args
      this.#position.arrived((as ? before : this.#judge(exec, name, args, at)).place, exec)
      return undefined
    }
    const { writes } = this.#core.tool(name)
    // What the host made cannot change any more; what a plugin put in its place is copied, so that it cannot either.
    const fixed = plain(args) ?? (writes ? null : args)
    const same = before !== undefined && before.name === name && before.args === args && fixed === args
    const ticket = same ? before : this.#judge(exec, name, fixed, at)
    this.#position.arrived(ticket.place, exec)
    if (ticket.enforcement === 'denied') return ticket.text
    if (!this.#isAtHome(exec, ticket)) return this.#refuse(exec, ticket, at)
    if (ticket.enforcement === 'asked' && !takeApproval(ticket)) return this.#unapproved(exec, ticket, at)
    // Whatever a read is given to read, it is a read; but it must stay one, and what it read is known only if that is fixed.
    ticket.sure = seal(exec, 'arguments', fixed)
    if (!seal(exec, 'name', name) || (writes && !ticket.sure)) return this.#refuse(exec, ticket, at)
    ticket.args = fixed
    ticket.dispatched = true
    return undefined
  }

  /** A write judged in one session must not run as one of another. @param {Exec} exec @param {Ticket} ticket */
  #isAtHome(exec, { tool, place }) {
    return !tool.writes || this.#position.trackOf(exec) === trackIn(place)
  }

  /**
   * How a call was judged, if its turn is still the same: what a turn allowed is not allowed in another.
   * @param {Exec} exec
   */
  #before(exec) {
    const before = this.#tickets.get(exec)
    if (before === undefined || this.#position.isPresent(before.place)) return before
    this.#tickets.delete(exec)
    return undefined
  }

  /**
   * A call that is not governed as it stands. One that was governed stays what it has become: were it renamed again behind us,
   * it would be a governed call that nobody judged.
   * @param {Exec} exec
   * @param {string} name
   * @returns {string | undefined} why it may not pass
   */
  #outside(exec, name) {
    if (!this.#enforces) return undefined
    try {
      if (!this.#tickets.has(exec) && !this.#position.isRenamed(exec)) return undefined
      return seal(exec, 'name', name) ? undefined : this.#core.notJudgedText
    } catch {
      return undefined
    }
  }

  /**
   * A governed call that could not be judged for a bug of ours. What goes on all the same must stay what it is.
   * @param {Stage} at
   * @param {Exec} exec
   * @param {string} name
   * @param {unknown} error
   * @returns {string | undefined} why it may not pass
   */
  #unjudgeable(at, exec, name, error) {
    if (this.#failed(at, name, error, exec)) return this.#unjudgedText
    return this.#enforces && !seal(exec, 'name', name) ? this.#unjudgedText : undefined
  }

  /**
   * Keeps what came out of the body: plugins further out may show another result, and what they show proves nothing.
   * @param {Exec} exec
   * @param {unknown} outcome
   */
  async #watch(exec, outcome) {
    const ticket = this.#tickets.get(exec)
    if (ticket === undefined) return
    try {
      const { isError, value, error } = /** @type {ExecResult} */ (await outcome)
      if (this.#followsBodies && NOT_RUN.has(error?.info?.code ?? '')) {
        ticket.reached = false
        this.#ran.delete(exec)
        return
      }
      ticket.outcome = { isError: Boolean(isError), value, message: error?.message }
    } catch {
      ticket.outcome = { isError: true, value: undefined, message: undefined }
    }
  }

  /**
   * The last door, around the body. A call that came by the guard passes once; one that came round it is judged here.
   * @param {Exec} exec
   * @param {string} name
   * @param {boolean} reaches whether nothing of ours comes between here and the body
   * @returns {string | undefined} why not
   */
  #dispatch(exec, name, reaches) {
    const before = this.#before(exec)
    const same = before !== undefined && before.name === name && before.args === exec.arguments
    if (!(same && before.dispatched && this.#isAtHome(exec, before))) {
      const refusal = this.#door(exec, name, 'execute')
      if (refusal !== undefined) return refusal
    }
    const ticket = this.#tickets.get(exec)
    if (ticket === undefined) return undefined
    // One judged write is one write: a wrapper that dispatches it again would write twice on one verdict.
    if (ticket.reached && ticket.tool.writes && this.#enforces) return this.#refuse(exec, ticket, 'execute')
    ticket.reached ||= reaches
    return undefined
  }

  /**
   * A human was to be asked, and the call arrives without their approval: another plugin took the answer's place.
   * @param {Exec} exec
   * @param {Ticket} ticket
   * @param {Stage} at
   */
  #unapproved(exec, ticket, at) {
    ticket.enforcement = 'denied'
    ticket.text = this.#core.denialText(ticket.word, ticket.tool.id)
    this.#entries.judged(exec, ticket, at, 'unapproved')
    return ticket.text
  }

  /**
   * Refuses a call that is not, or not surely, what was judged.
   * @param {Exec} exec
   * @param {Ticket} ticket
   * @param {Stage} at
   */
  #refuse(exec, ticket, at) {
    ticket.word = this.#core.notJudged
    ticket.enforcement = 'denied'
    ticket.text = this.#core.denialText(ticket.word, ticket.tool.id)
    this.#entries.judged(exec, ticket, at, 'refused')
    return ticket.text
  }

  /** @param {Ticket} ticket @param {Exec} exec @param {ExecResult} result */
  #settle(ticket, exec, result) {
    const core = this.#core
    const { FACT_REACHED, FACT_ERROR, FACT_DECLARED_SIMPLE, FACT_DECLARED_COMPLEX } = core.constants
    // What ran under another name or with other arguments than were judged proves nothing of what was judged; and what was
    // denied and has succeeded did not run by the verdict.
    const changed = ticket.reached && (exec.name !== ticket.name || exec.arguments !== ticket.args)
    const otherwise = changed || (ticket.enforcement === 'denied' && result.isError === false)
    if (otherwise) this.#ranOtherwise(exec, ticket.place)
    let facts = 0
    if (ticket.reached && ticket.sure && !otherwise) facts |= FACT_REACHED
    // A success is one that came out of the body and that the model is shown. Before the body has ended there is none.
    if (result.isError !== false || ticket.outcome?.isError !== false) facts |= FACT_ERROR
    if (ticket.declared === 'simple') facts |= FACT_DECLARED_SIMPLE
    if (ticket.declared === 'complex') facts |= FACT_DECLARED_COMPLEX
    const { place, tool } = ticket
    let settled = NOT_SETTLED
    let arrived = typeof place === 'object' ? place.step : null
    if (typeof place === 'object' && place.track.number !== undefined) {
      const { track } = place
      arrived = Math.max(place.step, this.#position.stepNow(track))
      const value = shown(ticket.outcome, result)
      const number = /** @type {number} */ (track.number)
      settled = core.describeSettlement(core.settle(number, ticket.call, tool.id, facts, arrived, value))
      this.#asks.settled(track, ticket)
    }
    const reached = (facts & FACT_REACHED) !== 0
    const isError = (facts & FACT_ERROR) !== 0
    const fate = {
      reached,
      isError,
      declared: ticket.declared ?? null,
      arrived,
      happened: happened(ticket.reached, otherwise, isError, settled.outcome),
    }
    this.#entries.settled(exec, ticket, settled, fate)
    return settled.outcome
  }

  /** A governed call whose result is the first that is seen of it. @param {Exec} exec @param {ExecResult} result */
  #unjudged(exec, result) {
    // The host refuses some calls before anybody can judge them; only what succeeded surely ran.
    if (result.isError !== false) return
    this.#operator.notice(notices.unjudged(publicName(exec.name)))
    this.#entries.otherwise(exec, this.#position.of(exec))
  }

  /** Something governed ran that was not judged so. @param {Exec} exec @param {Place | 'no-agent' | 'unknown'} place */
  #ranOtherwise(exec, place) {
    if (!this.#core.governs(exec.name)) return
    this.#operator.notice(notices.ranOtherwise(publicName(exec.name)))
    this.#entries.otherwise(exec, place)
  }

  /**
   * A bug of ours, or a gate that is gone. It is told, and nothing of a message that may quote what must not be repeated.
   * @param {string} stage
   * @param {string} name
   * @param {unknown} error
   * @param {Exec} [exec] the call, if it was one
   * @returns {boolean} whether the call must be denied for it: only a governed write, and only in enforce
   */
  #failed(stage, name, error, exec) {
    if (exec !== undefined) this.#accounted.add(exec)
    const fault = panicOf(error) ?? `POLICY_INTERNAL_ERROR in ${stage}`
    this.#operator.notice(this.#unloaded ? notices.unloaded(stage) : notices.internal(stage, fault))
    const denied = this.#enforces && this.#core.governs(name) && !this.#core.isFree(name)
    const ticket = denied && exec !== undefined ? this.#tickets.get(exec) : undefined
    // What was found before the fault counts no more: another plugin can turn the denial, and the door looks here.
    if (ticket !== undefined)
      Object.assign(ticket, { enforcement: 'denied', text: this.#unjudgedText, dispatched: false })
    if (exec !== undefined && this.#core.governs(name)) this.#recordFailure(exec, name, denied, stage)
    return denied
  }

  /**
   * Records a call that a fault of ours, or the end of the gate, kept from being judged, as far as that lets it.
   * @param {Exec} exec
   * @param {string} name
   * @param {boolean} denied
   * @param {string} stage
   */
  #recordFailure(exec, name, denied, stage) {
    try {
      const enforcement = denied ? 'denied' : 'overridden'
      const at = /** @type {Stage} */ (stage)
      // The core may be what failed, so it is not asked what the tool is.
      const free = this.#core.isFree(name)
      const tool = { id: 0, class: free ? 'read' : 'unknown', writes: !free }
      const word = this.#unloaded ? this.#core.reloading : this.#core.internalError
      this.#entries.decided(exec, name, tool, 'unknown', word, enforcement, at, 'failed')
    } catch {
      // It has been told on standard error; there is nothing more that can be done.
    }
  }
}

/** @param {Place | 'no-agent' | 'unknown'} place */
const trackIn = place => (typeof place === 'object' ? place.track : undefined)

/** What the addon says of a panic, and no more than that. */
const PANIC = /^POLICY_INTERNAL_ERROR: \w+ panicked(?: at src\/[\w/.]+:\d+)?$/

/**
 * The message of a panic of the core. What else is thrown may be of another plugin's making: it may quote anything, and looking
 * at it may throw again.
 * @param {unknown} error
 */
function panicOf(error) {
  try {
    const { message } = /** @type {{ message?: unknown }} */ (error)
    return typeof message === 'string' && PANIC.test(message) ? message : undefined
  } catch {
    return undefined
  }
}

/**
 * What a settlement may look at: the value of a body that succeeded, or what the server said of its failure, which tells a
 * refusal from a call that may have run. Where the model is shown a failure in place of a success, nothing tells.
 * @param {Outcome | undefined} outcome
 * @param {ExecResult} result
 */
function shown(outcome, result) {
  if (outcome === undefined) return undefined
  if (outcome.isError) return typeof outcome.message === 'string' ? outcome.message : undefined
  return result.isError === false ? plain(outcome.value) : undefined
}
