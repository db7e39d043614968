/**
 * Where records go. A sink is anything with `record(record)`; it must not throw or wait, and if it throws, the record is
 * counted as lost and nothing else changes. The durable sink is a capability of its own; until it is there, the last
 * records are kept in memory.
 */

/**
 * @typedef {object} DecisionRecord what the policy said of one call
 * @property {'decision'} kind
 * @property {number} seq order of the records of this load
 * @property {string | null} session null for a call without an agent
 * @property {number | null} turn the host's number; null where the host gave none
 * @property {number | null} countedTurn the number that was counted instead; null where the host gave one
 * @property {number | null} step
 * @property {string} call the host's id of the call; not unique
 * @property {string} tool
 * @property {string} class `control`, `read`, `search`, `write`, `destructive`, `unknown`
 * @property {'allow' | 'deny'} decision
 * @property {string} code
 * @property {string[]} observations
 * @property {string} enforcement `allowed`, `denied`, `asked`, `overridden`
 * @property {string} classification
 * @property {string} lookup
 * @property {'pre-execute' | 'guard' | 'execute' | 'result'} at the stage that took the decision
 * @property {string} mode
 * @property {string} profile
 *
 * @typedef {object} SettlementRecord what became of one call
 * @property {'settlement'} kind
 * @property {number} seq
 * @property {string | null} session
 * @property {number | null} turn
 * @property {number | null} countedTurn
 * @property {number | null} step
 * @property {string} call
 * @property {string} tool
 * @property {string} class
 * @property {string | null} outcome `not-reached`, `failed`, `succeeded`; null where the turn had ended
 * @property {string[]} observations
 *
 * @typedef {DecisionRecord | SettlementRecord} AuditRecord
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

export class Recorder {
  #sink
  #onLost
  #seq = 0
  /** Records that the sink did not take. */
  lost = 0

  /**
   * @param {Sink} sink
   * @param {(lost: number) => void} onLost
   */
  constructor(sink, onLost) {
    this.#sink = sink
    this.#onLost = onLost
  }

  /**
   * Total: whatever the sink does, the call that is recorded goes on.
   * @param {Omit<DecisionRecord, 'seq'> | Omit<SettlementRecord, 'seq'>} record
   */
  record(record) {
    this.#seq += 1
    // Everybody gets the same object, so that it must say the same to everybody.
    Object.freeze(record.observations)
    const numbered = /** @type {AuditRecord} */ (Object.freeze({ seq: this.#seq, ...record }))
    attempt(
      () => this.#sink.record(numbered),
      () => {
        this.lost += 1
        this.#onLost(this.lost)
      },
    )
    // An observer's fault is not the gate's.
    for (const listener of listeners) attempt(() => listener(numbered), ignore)
  }
}
