/**
 * `dsh-bmpp doctor`: looks at what is around the plugin, and says for each finding how to mend it.
 */
import {
  addon,
  EXIT,
  filterFrom,
  homeFrom,
  messageOf,
  parse,
  storagesFrom,
  version,
  whereHelp,
  whereOptions,
} from './command.js'
import { findHost, isExpression, profilesOf } from './doctor-host.js'
import { findingsOf } from './doctor-profile.js'
import { findings } from './findings.js'
import { shown } from './terminal.js'

/** @typedef {import('./findings.js').Finding} Finding */

/** @type {import('./command.js').Command} */
export const doctor = {
  about: 'looks at Node, the addon, the host, the profiles and the trail',
  help: `dsh-bmpp doctor: looks at what is around the plugin, and says how to mend what is wrong

Usage: dsh-bmpp doctor [--json]

Looks at Node.js, the addon and the platform; the host and its version against the supported range; the profiles that
load the plugin, with what configuration, and rows that override or disable it; the memory servers, their names against
serverNames, and whether their commands are there; filters that hide the control tool from an agent that may write; and
the trail, which is replayed, and whose last days are looked at. Overlays of a single run (--patch) cannot be seen.

  --json              the findings as JSON
${whereHelp}

Examples:
  dsh-bmpp doctor
  dsh-bmpp doctor --home /srv/agent/.dsh

Exit codes: 0 nothing wrong · 1 an error · 2 wrong usage · 3 a file cannot be read · 4 only warnings
`,
  run(argv, terminal) {
    const { values } = parse(argv, { ...whereOptions, json: { type: 'boolean' } })
    const storages = storagesFrom(values)
    const home = homeFrom(values)
    const first = runtime()
    // Without the addon nobody can tell what a row or a record means.
    const rest = first.some(({ level }) => level === 'error') ? [] : [...around(home), ...trail(storages, terminal)]
    const found = [...first, ...rest]
    if (values.json) terminal.out(`${JSON.stringify(found, null, 2)}\n`)
    else for (const finding of found) terminal.out(line(finding, terminal))
    const worst = (/** @type {Finding['level']} */ level) => found.some(finding => finding.level === level)
    if (worst('error')) return EXIT.found
    return worst('warning') ? EXIT.warned : EXIT.well
  },
}

/** @type {Record<Finding['level'], { word: string, colour: 'green' | 'blue' | 'yellow' | 'red' }>} */
const LOOK = {
  ok: { word: 'ok     ', colour: 'green' },
  note: { word: 'note   ', colour: 'blue' },
  warning: { word: 'warning', colour: 'yellow' },
  error: { word: 'error  ', colour: 'red' },
}

/** @param {Finding} finding @param {import('./terminal.js').Terminal} terminal */
function line({ level, what, mend }, terminal) {
  const { word, colour } = LOOK[level]
  return `${terminal.paint(colour, word)}  ${shown(what)}\n${mend === undefined ? '' : `         → ${shown(mend)}\n`}`
}

/** @returns {Finding[]} */
function runtime() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  const hosts = (major === 22 && minor >= 19) || major >= 24
  return [hosts ? findings.node(process.version) : findings.nodeTooOld(process.version), ours()]
}

/** The addon. @returns {Finding} */
function ours() {
  try {
    const native = addon().addonVersion()
    return native === version
      ? findings.addon(native, `${process.platform}-${process.arch}`)
      : findings.addonOfOtherVersion(native, version)
  } catch (error) {
    return findings.noAddon(messageOf(error))
  }
}

/** @param {string} home @returns {Finding[]} */
function around(home) {
  const host = findHost(home)
  const found = profilesOf(home, host)
  return [harness(host, found ?? []), ...profiles(home, found)]
}

/**
 * @param {import('./doctor-host.js').Host | undefined} host
 * @param {import('./doctor-host.js').Profile[]} found
 * @returns {Finding}
 */
function harness(host, found) {
  if (host === undefined) return findings.noHarness()
  const rows = found.flatMap(({ row }) => (row === undefined ? [] : [row]))
  const asking = rows.filter(asks)
  const allows = asking.map(allowing)
  const allowed = allows.length > 0 && allows.every(allow => allow === true)
  const { activate, loud, verified, reason } = addon().compatibility(host.version, allowed)
  // What a row that cannot be read allows nobody knows.
  const unread = asking.length === 0 && found.some(({ problem }) => problem !== undefined)
  if (!activate && unread) return findings.harnessNotJudged(host.how, reason)
  if (!activate && asking.length > 0 && !allows.includes(false)) return findings.harnessByExpression(host.how, reason)
  if (!activate && rows.length > 0 && asking.length === 0) return findings.harnessUnasked(host.how, host.version)
  if (!activate) return findings.harnessRefused(host.how, reason)
  return loud && !verified ? findings.harnessAllowed(host.how, reason) : findings.harness(host.how, reason, verified)
}

/** Whether the plugin looks at the host's version for a row: not in mode off, nor where the row does not run. @param {import('./doctor-host.js').Row} row */
const asks = ({ config, disabled }) => disabled !== true && config?.mode !== 'off'

/**
 * Whether a row allows a host outside the range.
 * @param {import('./doctor-host.js').Row} row
 * @returns {boolean | undefined} undefined where an expression says it, or says whether the row asks at all
 */
function allowing({ config, disabled }) {
  const { mode, allowUnverifiedHarness: allow } = config ?? {}
  return allow === true || ([config, mode, allow, disabled].some(isExpression) ? undefined : false)
}

/**
 * @param {string} home
 * @param {import('./doctor-host.js').Profile[] | undefined} found
 * @returns {Finding[]}
 */
function profiles(home, found) {
  if (found === undefined) return [findings.profilesUnread()]
  if (found.length === 0) return [findings.noProfile(home)]
  const loaded = found.some(({ row }) => row !== undefined)
  const said = found.flatMap(profile => findingsOf(profile, loaded))
  // Of a profile that cannot be read nobody knows what it loads.
  const known = found.every(({ problem }) => problem === undefined)
  return loaded || !known ? said : [...said, findings.notLoadedAnywhere()]
}

/** How far back a trail tells of the surroundings as they are. */
const LATELY = '7d'

/** @param {string} storages @param {import('./terminal.js').Terminal} terminal @returns {Finding[]} */
function trail(storages, terminal) {
  const { tally, loads, contradictions, damaged, gapsAt } = JSON.parse(
    addon().auditVerify(storages, terminal.progress('replaying the trail')),
  )
  if (tally.layouts.length === 0) return [findings.noTrail(storages)]
  if (tally.records === 0 && tally.broken > 0) return [findings.unreadable(storages, tally.brokenAt[0])]
  const lost = gapsAt.filter((/** @type {any} */ gap) => gap.why !== 'beginning')
  return [
    findings.trail(tally.records, loads, tally.layouts),
    ...(contradictions > 0 ? [findings.contradictions(contradictions)] : []),
    ...(damaged > 0 ? [findings.damaged(damaged)] : []),
    ...(tally.broken > 0 ? [findings.broken(tally.broken, tally.brokenAt[0])] : []),
    ...(lost.length > 0 ? [findings.gaps(lost.length)] : []),
    ...lately(storages, terminal),
  ]
}

/** What the last days of a trail tell of the surroundings. @param {string} storages @param {import('./terminal.js').Terminal} terminal @returns {Finding[]} */
function lately(storages, terminal) {
  const progress = terminal.progress('adding up')
  const sum = JSON.parse(addon().auditReport(storages, filterFrom({ since: LATELY }), '{}', progress))
  const hidden = sum.observed.CONTROL_HIDDEN ?? 0
  return [
    ...(hidden > 0 ? [findings.hidden(LATELY, hidden)] : []),
    ...(sum.readiness.step === 'mend' ? [findings.mendFirst(LATELY, sum.readiness.sentence)] : []),
  ]
}
