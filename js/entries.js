/**
 * The gate's records: what was decided of a call, what became of it, and the turns around it. Those of a call are built in one
 * piece and in one shape, since this is done twice on the way of every governed call.
 */

/**
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {import('./position.js').Place} Place
 * @typedef {import('./position.js').Track} Track
 * @typedef {import('./core.js').Core} Core
 * @typedef {import('./core.js').Tool} Tool
 * @typedef {import('./core.js').Described} Described
 * @typedef {import('./core.js').Settlement} Settlement
 * @typedef {import('./records.js').Stage} Stage
 * @typedef {import('./records.js').By} By
 * @typedef {{ mode: string, profile: string }} Row what every record of one row has
 */

/**
 * What a record keeps of a call that was judged.
 * @typedef {object} Judged
 * @property {number} call
 * @property {string} name as judged
 * @property {Tool} tool
 * @property {Place | 'no-agent' | 'unknown'} place
 * @property {string | null} facts
 * @property {string | null} secretClass
 * @property {string | null} target
 * @property {boolean} canAsk
 * @property {boolean} approved
 */

/**
 * What became of a call.
 * @typedef {object} Fate
 * @property {boolean} reached the body was reached with what was judged
 * @property {boolean} isError
 * @property {'simple' | 'complex' | null} declared
 * @property {number | null} arrived the session's step when the result arrived
 * @property {import('./records.js').Happened} happened
 */

/**
 * @param {import('./records.js').Recorder} recorder gives the number and the time
 * @param {Row} row
 * @param {Exec} exec
 * @param {string} name
 * @param {Tool} tool
 * @param {Place | 'no-agent' | 'unknown'} place
 * @param {Described} verdict
 * @param {string} enforcement
 * @param {Stage} at
 * @param {By} by
 * @param {Judged | undefined} judged
 * @returns {import('./records.js').DecisionRecord}
 */
export function decisionRecord(recorder, row, exec, name, tool, place, verdict, enforcement, at, by, judged) {
  const agent = typeof place === 'object'
  const track = agent ? place.track : undefined
  return {
    seq: recorder.next(),
    time: recorder.now(),
    kind: 'decision',
    place: agent ? 'agent' : place,
    session: track === undefined ? null : track.id,
    life: track?.number ?? null,
    // A turn number that the host did not give is not written as if it had.
    turn: agent && !place.counted ? place.turn : null,
    countedTurn: agent && place.counted ? place.turn : null,
    step: agent ? place.step : null,
    number: judged === undefined ? null : judged.call,
    call: exec.callId,
    tool: publicName(name),
    class: tool.class,
    facts: judged === undefined ? null : judged.facts,
    controlHidden: tool.writes && track !== undefined && track.controlHidden === true,
    findings: verdict.findings,
    argument: verdict.argument,
    secretClass: judged === undefined ? null : judged.secretClass,
    decision: verdict.decision,
    code: verdict.code,
    observations: verdict.observations,
    enforcement,
    canAsk: judged?.canAsk ?? false,
    classification: verdict.classification,
    lookup: verdict.lookup,
    at,
    by,
    target: judged === undefined ? null : judged.target,
    mode: row.mode,
    profile: row.profile,
  }
}

/**
 * @param {import('./records.js').Recorder} recorder gives the number and the time
 * @param {Row} row
 * @param {Exec} exec
 * @param {Judged} judged
 * @param {Settlement} settlement
 * @param {Fate} fate
 * @returns {import('./records.js').SettlementRecord}
 */
export function settlementRecord(recorder, row, exec, judged, settlement, fate) {
  const { place } = judged
  const agent = typeof place === 'object'
  const track = agent ? place.track : undefined
  return {
    seq: recorder.next(),
    time: recorder.now(),
    kind: 'settlement',
    place: agent ? 'agent' : place,
    session: track === undefined ? null : track.id,
    life: track?.number ?? null,
    turn: agent && !place.counted ? place.turn : null,
    countedTurn: agent && place.counted ? place.turn : null,
    step: agent ? place.step : null,
    number: judged.call,
    call: exec.callId,
    tool: publicName(judged.name),
    class: judged.tool.class,
    reached: fate.reached,
    isError: fate.isError,
    declared: fate.declared,
    arrived: fate.arrived,
    outcome: settlement.outcome,
    observations: settlement.observations,
    happened: fate.happened,
    approved: judged.approved,
    target: judged.target,
    mode: row.mode,
    profile: row.profile,
  }
}

/** Records of one row, into its recorder. */
export class Entries {
  #recorder
  #core
  /** What every record of this row has. */
  #row

  /** @param {import('./records.js').Recorder} recorder @param {Core} core */
  constructor(recorder, core) {
    this.#recorder = recorder
    this.#core = core
    this.#row = { mode: core.info.mode, profile: core.info.profile }
  }

  /**
   * A decision of a call.
   * @param {Exec} exec
   * @param {string} name
   * @param {Tool} tool
   * @param {Place | 'no-agent' | 'unknown'} place
   * @param {number} word
   * @param {string} enforcement
   * @param {Stage} at
   * @param {By} by
   * @param {Judged} [judged] what is known of a call that was judged
   */
  decided(exec, name, tool, place, word, enforcement, at, by, judged) {
    const [recorder, row, verdict] = [this.#recorder, this.#row, this.#core.describe(word)]
    recorder.keep(decisionRecord(recorder, row, exec, name, tool, place, verdict, enforcement, at, by, judged))
  }

  /**
   * What a call's ticket says now.
   * @param {Exec} exec
   * @param {Judged & { word: number, enforcement: string }} ticket
   * @param {Stage} at
   * @param {By} by
   */
  judged(exec, ticket, at, by) {
    this.decided(exec, ticket.name, ticket.tool, ticket.place, ticket.word, ticket.enforcement, at, by, ticket)
  }

  /** A governed call that ran and was not judged so. @param {Exec} exec @param {Place | 'no-agent' | 'unknown'} place */
  otherwise(exec, place) {
    const tool = this.#core.tool(exec.name)
    this.decided(exec, exec.name, tool, place, this.#core.notJudged, 'overridden', 'result', 'otherwise')
  }

  /**
   * A call that is not governed. Nothing of it is looked at but its name and its session's; where it stands in its turn is not
   * asked, since asking could count a step.
   * @param {Exec} exec
   * @param {string} name
   * @param {import('./position.js').Position} position
   */
  outside(exec, name, position) {
    try {
      const track = position.trackOf(exec)
      const without = exec.agent === undefined || exec.agent === null ? 'no-agent' : 'unknown'
      this.#recorder.record({
        kind: 'decision',
        ...placeOf(track === undefined ? without : { track, ...position.turnOf(track), step: 0, epoch: 0 }),
        step: null,
        number: null,
        call: exec.callId,
        tool: publicName(name),
        class: 'out-of-scope',
        facts: null,
        controlHidden: false,
        secretClass: null,
        ...this.#core.outside,
        enforcement: 'allowed',
        canAsk: false,
        at: 'pre-execute',
        by: 'out-of-scope',
        target: null,
        ...this.#row,
      })
    } catch {
      // A call that is not governed goes on, whatever the audit does.
    }
  }

  /** What became of a call. @param {Exec} exec @param {Judged} judged @param {Settlement} settlement @param {Fate} fate */
  settled(exec, judged, settlement, fate) {
    this.#recorder.keep(settlementRecord(this.#recorder, this.#row, exec, judged, settlement, fate))
  }

  /** A turn of a session began or ended, or the session did. @param {Track} track @param {import('./position.js').TurnEvent | 'closed'} event */
  turn({ id, number, turn, counted }, event) {
    const numbers = { turn: turn ?? null, countedTurn: turn === undefined ? counted : null }
    this.#recorder.record({ kind: 'turn', session: id, life: number ?? null, ...numbers, event })
  }
}

/**
 * The place as a record has it: a turn number that the host did not give is not written as if it had.
 * @param {Place | 'no-agent' | 'unknown'} place
 */
function placeOf(place) {
  if (typeof place !== 'object') {
    return { place, session: null, life: null, turn: null, countedTurn: null, step: null }
  }
  const { track, turn, counted, step } = place
  const turns = counted ? { turn: null, countedTurn: turn } : { turn, countedTurn: null }
  return { place: /** @type {const} */ ('agent'), session: track.id, life: track.number ?? null, ...turns, step }
}

/** A name in the host's own alphabet and length. */
const PUBLIC = /^[A-Za-z0-9_-]{0,64}$/

/** The last name that was found to be one, since the same few come again and again. */
let known = ''

/** A tool's name in the host's own alphabet and length. What goes beyond them is no name but text that a model made up. @param {string} name */
export function publicName(name) {
  if (name === known) return name
  if (!PUBLIC.test(name)) return name.slice(0, 64).replace(/[^A-Za-z0-9_-]/g, '_')
  known = name
  return name
}
