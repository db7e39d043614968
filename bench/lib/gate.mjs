// The whole gate with its three doors on minimal execution objects, without a host: what js/gate.js itself costs.
import { Core } from '../../js/core.js'
import { Gate } from '../../js/gate.js'
import { Position } from '../../js/position.js'
import { Recorder } from '../../js/records.js'
import { Operator } from '../../js/report.js'
import { addon, CLASSIFY, FOUND, memory } from './stage.mjs'

/** The addon with every function counted, under the names that are called. */
export function countedAddon() {
  /** @type {Record<string, number>} */
  const crossings = {}
  const counted = Object.fromEntries(
    Object.entries(addon).map(([name, value]) => [
      name,
      typeof value === 'function'
        ? (/** @type {any[]} */ ...args) => {
            crossings[name] = (crossings[name] ?? 0) + 1
            return /** @type {any} */ (value)(...args)
          }
        : value,
    ]),
  )
  return { crossings, addon: /** @type {typeof addon} */ (counted) }
}

/** A host's side of sessions: a log that grows, and a store that knows them. */
export class MinimalHost {
  /** @type {Map<string, any>} */
  sessions = new Map()
  calls = 0

  /** @param {object} [config] @param {typeof addon} [native] */
  constructor(config = {}, native = addon) {
    this.core = new Core(native, { mode: 'enforce', ...config })
    const gate = () => this.gate
    this.position = new Position({
      governs: name => this.core.governs(name),
      projections: () => undefined,
      sessions: () => this.sessions,
      onTurn: (track, event) => gate().turnover(track, event),
      onClose: track => gate().closed(track),
    })
    this.gate = new Gate({
      core: this.core,
      position: this.position,
      recorder: new Recorder({ record() {} }, () => {}),
      operator: new Operator(undefined, () => {}),
      approval: () => undefined,
      controlHidden: () => false,
      onCounted: () => {},
    })
  }

  /** @param {string} id */
  open(id) {
    /** @type {any} */
    const session = { id, seq: 0, eventAt: () => undefined, header: {} }
    this.sessions.set(id, session)
    this.position.created(session)
    return { agent: { session }, turn: 0, step: 0 }
  }

  /** @typedef {ReturnType<MinimalHost['open']>} Seat */

  /** @param {Seat} seat */
  close({ agent: { session } }) {
    this.sessions.delete(session.id)
    this.position.disposed(session)
  }

  /** @param {Pick<Seat, 'agent'>} seat @param {string} type @param {object} data */
  event({ agent: { session } }, type, data) {
    const event = { type, seq: session.seq, data }
    session.seq += 1
    this.gate.sessionEvent(session, event)
  }

  /** @param {Seat} seat */
  turn(seat) {
    seat.turn += 1
    seat.step = 0
    this.event(seat, 'turn/start', { turn: seat.turn })
    this.step(seat)
  }

  /** @param {Seat} seat */
  step(seat) {
    seat.step += 1
    this.event(seat, 'step/start', { turn: seat.turn, step: seat.step })
  }

  /**
   * One call from its announcement to its result, as the host takes it.
   * @param {Seat} seat
   * @param {string} name
   * @param {unknown} args
   * @param {unknown} value what the body answers
   * @returns {string | undefined} why it was refused
   */
  call(seat, name, args, value) {
    this.calls += 1
    const callId = `call_${this.calls}`
    this.event(seat, 'tool/call', { turn: seat.turn, step: seat.step, callId, name })
    /** @type {any} */
    const exec = { callId, name, arguments: args, agent: seat.agent, parent: undefined, signal: undefined }
    const result = { isError: false, value }
    let denied
    const decision = this.gate.preExecute(exec, () => undefined)
    if (decision !== undefined) denied = 'denied'
    denied ??= this.gate.guard(exec)
    if (denied === undefined) {
      if (name === CLASSIFY) this.gate.declared(exec, 'complex')
      this.gate.execute(exec, () => result)
    }
    return denied
      ? this.finish(exec, { isError: true, error: { message: denied } }, denied)
      : this.finish(exec, result, undefined)
  }

  /** @param {any} exec @param {any} result @param {string | undefined} denied */
  finish(exec, result, denied) {
    this.#done.push([Object.freeze(exec), result])
    return denied
  }

  /** @type {Array<[any, any]>} */
  #done = []

  /** Announces the results of the calls so far. The gate learns in a microtask what came out of a body, so wait for one before. */
  settle() {
    for (const [exec, result] of this.#done) {
      this.gate.result(exec, result)
      this.event(exec, 'tool/result', { message: { source: { callId: exec.callId } } })
    }
    this.#done = []
  }

  /** A turn that is complex and has looked memory up. @param {Seat} seat */
  async earn(seat) {
    this.turn(seat)
    this.call(seat, CLASSIFY, Object.freeze({ task: 'complex' }), FOUND)
    await undefined
    this.settle()
    this.call(seat, memory('search_notes'), Object.freeze({ query: 'releases' }), FOUND)
    await undefined
    this.settle()
    this.step(seat)
  }
}
