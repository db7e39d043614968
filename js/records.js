/**
 * What is recorded, and where records go first. The recorder numbers them; a sink takes them. A sink is anything with
 * `record(record)`: it must not wait, and if it throws, the record is counted as lost and nothing else changes. The durable
 * one is audit-store.js. docs/AUDIT.md has the schema that is stored.
 */

/**
 * @typedef {'pre-execute' | 'guard' | 'execute' | 'result'} Stage
 * @typedef {'judged' | 'refused' | 'unapproved' | 'otherwise' | 'failed' | 'out-of-scope'} By what took a decision: the policy; a
 *   door behind it that found another call, or no approval; the result of a call that ran otherwise; a fault of ours; nothing,
 *   for a call that is not governed
 *
 * @typedef {object} Placed where a call or turn stands
 * @property {string | null} session null for a call without an agent
 * @property {number | null} life tells lives of a session in one load apart: a resumed id has another
 * @property {number | null} turn the host's number; null where the host gave none
 * @property {number | null} countedTurn the number that was counted instead; null where the host gave one
 *
 * @typedef {Placed & { place: 'agent' | 'no-agent' | 'unknown', step: number | null }} PlacedCall
 *
 * @typedef {object} Called which call it was
 * @property {number | null} number the call's number in this load; null for one that was never judged
 * @property {string} call the host's id of the call; not unique
 * @property {string} tool
 * @property {string} class `control`, `read`, `search`, `write`, `destructive`, `unknown`, `out-of-scope`
 * @property {string | null} target a hash of the note that the call names, with `pathRedaction: hash`
 * @property {string} mode
 * @property {string} profile
 *
 * @typedef {object} Decided what the policy said of one call, and what it was told
 * @property {'decision'} kind
 * @property {string | null} facts of a write's arguments: `malformed`, `creates`, `changes`
 * @property {boolean} controlHidden
 * @property {ReadonlyArray<{ code: string, level: string }>} findings of the integrity guards
 * @property {string | null} argument the argument at fault, by the server's name of it; never its value
 * @property {string | null} secretClass the class of a secret that was found; never the secret
 * @property {'allow' | 'deny'} decision
 * @property {string} code
 * @property {readonly string[]} observations
 * @property {string} enforcement `allowed`, `denied`, `asked`, `overridden`
 * @property {boolean} canAsk whether a human could be asked
 * @property {string} classification
 * @property {string} lookup
 * @property {Stage} at the stage that took the decision
 * @property {By} by
 *
 * @typedef {object} Settled what became of one call
 * @property {'settlement'} kind
 * @property {boolean} reached the body was reached with what was judged
 * @property {boolean} isError
 * @property {'simple' | 'complex' | null} declared
 * @property {number | null} arrived the session's step when the result arrived
 * @property {string | null} outcome `not-reached`, `failed`, `succeeded`, `unknown`; null where the turn had ended
 * @property {readonly string[]} observations
 * @property {Happened} happened
 * @property {boolean} approved a human approved it
 *
 * @typedef {object} Turned a turn of a session began (`seen`: was under way when first seen) or ended, or the session ended
 * @property {'turn'} kind
 * @property {'start' | 'seen' | 'end' | 'closed'} event
 *
 * @typedef {object} Loaded
 * @property {'load'} kind
 * @property {string} mode
 * @property {string} profile
 * @property {unknown} config as it was given
 * @property {string} standing of the host's version
 * @property {number} pid
 * @property {string} node
 * @property {string} platform
 * @property {number | null} reloadGapMs
 *
 * @typedef {{ kind: 'unload' }} Unloaded
 *
 * @typedef {'ran' | 'failed' | 'refused' | 'not-known'} Happened
 * @typedef {(Decided & PlacedCall & Called) | (Settled & PlacedCall & Called) | (Turned & Placed) | Loaded | Unloaded} Unnumbered
 * @typedef {Unnumbered & { seq: number, time: number }} AuditRecord `seq`: its position in this load; `time`: ms since 1970
 * @typedef {{ seq: number, time: number }} Numbered
 * @typedef {Decided & PlacedCall & Called & Numbered} DecisionRecord
 * @typedef {Settled & PlacedCall & Called & Numbered} SettlementRecord
 * @typedef {{ record(record: AuditRecord): void }} Sink
 */

/** @type {Set<(record: AuditRecord) => void>} */
const listeners = new Set()

/**
 * Calls the listener with each record from now on, of every loaded row in this process. For observers and tests; a listener
 * that throws is ignored.
 * @param {(record: AuditRecord) => void} listener
 * @returns {() => void} ends it
 */
export function onRecord(listener) {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/**
 * Keeps the last records in memory.
 * @param {number} [limit]
 */
export function memorySink(limit = 1000) {
  /** @type {AuditRecord[]} */
  const records = []
  return {
    records,
    /** @param {AuditRecord} record */
    record(record) {
      if (records.push(record) > limit) records.shift()
    },
  }
}

const ignore = () => {}

/**
 * Does something of another's. It may turn out to be asynchronous, and a rejection that nobody takes ends the process.
 * @param {() => unknown} act
 * @param {() => void} onFault
 */
function attempt(act, onFault) {
  try {
    const outcome = act()
    if (typeof outcome === 'object' && outcome !== null) Promise.resolve(outcome).catch(onFault)
  } catch {
    onFault()
  }
}

/**
 * What happened to a call, in one word for people.
 * @param {boolean} reached
 * @param {boolean} otherwise it ran, but not as it was judged
 * @param {boolean} isError
 * @param {string | null} outcome
 * @returns {Happened}
 */
export function happened(reached, otherwise, isError, outcome) {
  if (otherwise || outcome === 'unknown') return 'not-known'
  if (!reached) return 'refused'
  return isError || outcome === 'failed' ? 'failed' : 'ran'
}

export class Recorder {
  #sink
  #onLost
  #now
  #seq = 0
  #ended = false
  /** Records that the sink did not take. */
  lost = 0

  /**
   * @param {Sink} sink
   * @param {(lost: number) => void} onLost
   * @param {() => number} [now] milliseconds since 1970
   */
  constructor(sink, onLost, now = Date.now) {
    this.#sink = sink
    this.#onLost = onLost
    this.#now = now
  }

  /** The number of the next record. */
  next() {
    this.#seq += 1
    return this.#seq
  }

  /** The time of a record that is made now. */
  now() {
    return this.#now()
  }

  /**
   * Numbers a record and hands it on. What the caller does with its own afterwards does not change the one that is kept.
   * @param {Unnumbered} record
   */
  record(record) {
    // The end of the load ends every turn; a call that is still under way is told of all the same.
    if (this.#ended && record.kind === 'turn') return
    this.#ended ||= record.kind === 'unload'
    if ('observations' in record) Object.freeze(record.observations)
    this.keep(/** @type {AuditRecord} */ ({ seq: this.next(), time: this.now(), ...record }))
  }

  /**
   * Hands on a record that has its number and that nobody else holds. Total: whatever the sink does, the call that is recorded
   * goes on.
   * @param {AuditRecord} record
   */
  keep(record) {
    // Everybody gets the same object, so that it must say the same to everybody; where the sink is everybody, it need not.
    if (listeners.size > 0) Object.freeze(record)
    try {
      const outcome = /** @type {unknown} */ (this.#sink.record(record))
      if (outcome !== undefined) attempt(() => outcome, this.#lose)
    } catch {
      this.#lose()
    }
    if (listeners.size === 0) return
    // An observer's fault is not the gate's.
    for (const listener of listeners) attempt(() => listener(record), ignore)
  }

  #lose = () => {
    this.lost += 1
    this.#onLost(this.lost)
  }
}
