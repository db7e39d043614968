/**
 * The records of one call: what was decided, and what became of it. Each is built in one piece and in one shape, since this is
 * done twice on the way of every governed call.
 */

/**
 * @typedef {import('./host-types.js').Exec} Exec
 * @typedef {import('./position.js').Place} Place
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
