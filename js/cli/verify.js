/**
 * `dsh-bmpp verify`: whether the trail follows from itself by the rules.
 */
import { addon, EXIT, parse, storagesFrom, whereHelp, whereOptions } from './command.js'
import { count, shown, tellBroken, when, wrap } from './terminal.js'

/** @type {import('./command.js').Command} */
export const verify = {
  about: 'replays the trail by the rules and names what does not follow',
  help: `dsh-bmpp verify: replays the trail by the rules and names what does not follow

Usage: dsh-bmpp verify [--json]

Every load of the plugin is replayed by the same Rust rules that decided: every decision and settlement must follow from
the records before it. What depended on arguments, which are not kept, is a recorded input. Records that are not there
are named as gaps; a gap is no contradiction, and what stands behind it is replayed again from the session's next turn.
A trail in which a record cannot be read is not verified: what that record said is not known. Nor is one in which a
record of this version holds a word that this version does not have: it is damaged.

  --json              the result as JSON
${whereHelp}

Examples:
  dsh-bmpp verify
  dsh-bmpp verify --home /srv/agent/.dsh --json

Exit codes: 0 everything follows · 1 a contradiction · 2 wrong usage · 3 the trail, or a record of it, cannot be read, or a
            record is damaged
`,
  run(argv, terminal) {
    const { values } = parse(argv, { ...whereOptions, json: { type: 'boolean' } })
    const storages = storagesFrom(values)
    const found = JSON.parse(addon().auditVerify(storages, terminal.progress('replaying')))
    if (values.json) terminal.out(`${JSON.stringify(found, null, 2)}\n`)
    else tell(found, storages, terminal, whereOf(values))
    if (found.contradictions > 0) return EXIT.found
    return unread(found) === undefined ? EXIT.well : EXIT.unreadable
  },
}

/**
 * Why a trail is not verified although nothing in it contradicts: what was not read was not replayed.
 * @param {{ damaged: number, tally: { layouts: string[], records: number, broken: number, later: number } }} found
 */
function unread({ damaged, tally: { layouts, records, broken, later } }) {
  const cannot = `${count(broken, 'record')} of it cannot be read`
  const newer = `${count(later, 'record')} of it ${later === 1 ? 'is' : 'are'} of a later version`
  if (layouts.length > 0 && records === 0 && broken + later > 0)
    return `Not verified: the trail has no record that can be read; ${broken > 0 ? cannot : newer}.`
  const why = [
    ...(broken > 0 ? [cannot] : []),
    ...(damaged > 0 ? [`${count(damaged, 'record')} of it ${damaged === 1 ? 'is' : 'are'} damaged`] : []),
  ]
  return why.length > 0 ? `Not verified: ${why.join(', ')}. What can be read does not contradict itself.` : undefined
}

/**
 * What there is to do after a contradiction, or where a record is damaged: the words of docs/AUDIT.md.
 * @param {any} found
 * @param {string} storages
 * @param {string} home the options that name it, for the commands that are named
 */
function advice({ first, damaged, damagedAt, tally }, storages, home) {
  const place = first ?? damagedAt[0]
  const session = place?.session ?? undefined
  const where = session === undefined ? '' : ` --session ${quoted(session)}`
  const turn = session === undefined || place.turn === null ? '' : ` --turn ${place.turn}`
  const damage = damaged + tally.broken > 0
  return [
    `Keep a copy first: all that is named bmpp_audit in ${storages}. Retention and prune take records away.`,
    ...(place === undefined
      ? []
      : [
          `Look at the calls around it: dsh-bmpp audit${where}${turn} --limit 0${home}, with --json for the whole records.`,
        ]),
    ...(first === null
      ? []
      : [
          'Ask who wrote to the file: nothing but the host does. If nobody else did, it is a fault of this plugin: report it with these lines.',
        ]),
    ...(damage
      ? ['Look for what damages files: a full or failing disk, a process that was killed, an editor, a copy of a home.']
      : []),
    ...(damage && tally.layouts.includes('per-record')
      ? ['A broken file of the folder bmpp_audit/events can be moved away while no host runs: it is a gap then.']
      : []),
    ...(damage && tally.layouts.includes('single')
      ? ['If the host cannot read bmpp_audit.json either, move it away while no host runs: the host begins a new one.']
      : []),
    `To go on, take out what lies up to it, while no host runs: dsh-bmpp prune --since T${home}, with a time after it. What cannot be read stays.`,
  ]
}

/** The options that were given, as they are given again. @param {{ home?: string, storages?: string }} values */
const whereOf = ({ home, storages }) =>
  [
    ...(home === undefined ? [] : [` --home ${quoted(home)}`]),
    ...(storages === undefined ? [] : [` --storages ${quoted(storages)}`]),
  ].join('')

/** A word for a shell. @param {string} text */
const quoted = text => (/^[\w./:~-]+$/.test(text) ? text : `'${shown(text).replaceAll("'", `'\\''`)}'`)

/**
 * @param {any} found
 * @param {string} storages
 * @param {import('./terminal.js').Terminal} terminal
 * @param {string} home
 */
function tell(found, storages, terminal, home) {
  const { tally, first } = found
  if (tally.layouts.length === 0) terminal.error(`no trail in ${storages}\n`)
  tellBroken(tally, terminal)
  const lines = [
    `${count(tally.records, 'record')} of ${count(found.loads, 'load')}, layout ${tally.layouts.join(' and ') || 'none'}`,
    `${count(found.followed, 'decision or settlement', 'decisions and settlements')} replayed${found.onFindings > 0 ? `, ${found.onFindings} of them on guard findings` : ''}`,
    ...Object.entries(found.notReplayed).map(([why, number]) => `${number} not replayed: ${why}`),
    ...(found.withoutEnd > 0
      ? [`${count(found.withoutEnd, 'load')} without an end: running, killed, or the last record was not stored`]
      : []),
    ...(found.repeated > 0 ? [`${count(found.repeated, 'record')} stored more than once`] : []),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  if (found.gaps > 0) {
    terminal.out(
      `${terminal.paint('yellow', `${count(found.gaps, 'gap')}, ${count(found.missing, 'record')} missing`)}\n`,
    )
    for (const { load, from, to, why } of found.gapsAt)
      terminal.out(`  load ${shown(load)}: ${from} to ${to} (${WHY[why] ?? shown(why)})\n`)
    if (found.gaps > found.gapsAt.length) terminal.out(`  … and ${found.gaps - found.gapsAt.length} more\n`)
  }
  if (found.damaged > 0) {
    terminal.out(`${terminal.paint('red', `${count(found.damaged, 'record')} damaged:`)}\n`)
    for (const at of found.damagedAt) terminal.out(`  ${shown(damageAt(at))}\n`)
    if (found.damaged > found.damagedAt.length) terminal.out(`  … and ${found.damaged - found.damagedAt.length} more\n`)
  }
  const mend = () =>
    `What to do:\n${advice(found, storages, home)
      .map(line => `${wrap(shown(line))}\n`)
      .join('')}`
  if (first === null) {
    const why = unread(found)
    const skipped = Object.keys(found.notReplayed).length > 0 || tally.later > 0
    const well =
      tally.records === 0
        ? 'Nothing to verify: there is no record.'
        : `No contradiction: every record${skipped ? ' that could be replayed' : ''} follows from those before it.`
    terminal.out(`${why === undefined ? terminal.paint('green', well) : terminal.paint('red', why)}\n`)
    if (found.damaged + tally.broken > 0) terminal.out(mend())
    return
  }
  const where = [
    `load ${first.load}, record ${first.seq}, ${when(first.time)}`,
    first.session === null ? 'no session' : `session ${first.session}, turn ${first.turn ?? '-'}`,
    ...(first.tool === null ? [] : [first.tool]),
  ]
  terminal.out(
    `${terminal.paint('red', `${count(found.contradictions, 'contradiction')}. The first:`)}\n${where
      .map(line => `  ${shown(line)}\n`)
      .join(
        '',
      )}  ${first.field} in the record: ${shown(first.recorded) || 'nothing'}\n  ${first.field} by the rules:  ${shown(first.replayed) || 'nothing'}\n`,
  )
  terminal.out(mend())
}

/** @param {any} at */
function damageAt({ load, seq, time, session, turn, field, word }) {
  const where = session === null ? '' : `, session ${session}, turn ${turn ?? '-'}`
  const what =
    field === 'config'
      ? `its configuration is none of this version: ${word ?? 'it cannot be read'}`
      : word === null
        ? `it has no ${field}`
        : `its ${field} is "${word}", a word that its version does not have`
  return `load ${load}, record ${seq}, ${when(time)}${where}: ${what}`
}

/** @type {Record<string, string>} */
const WHY = {
  beginning: 'from the beginning: pruned, or lost',
  'back-pressure': 'the storage did not keep up',
  storage: 'there was no storage, or it failed',
  unknown: 'nothing says why',
}
