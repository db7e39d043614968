/**
 * `dsh-bmpp doctor`: looks at what is around the plugin, and says for each finding how to mend it.
 */
import { addon, EXIT, filterFrom, homeFrom, parse, storagesFrom, version, whereHelp, whereOptions } from './command.js'
import { findHost, profilesOf } from './doctor-host.js'
import { findingsOf } from './doctor-profile.js'
import { shown } from './terminal.js'

/** @typedef {{ level: 'ok' | 'note' | 'warning' | 'error', what: string, mend?: string }} Finding */

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
    const findings = [...first, ...rest]
    if (values.json) terminal.out(`${JSON.stringify(findings, null, 2)}\n`)
    else for (const finding of findings) terminal.out(line(finding, terminal))
    const worst = (/** @type {Finding['level']} */ level) => findings.some(finding => finding.level === level)
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
  /** @type {Finding[]} */
  const findings = [
    hosts
      ? { level: 'ok', what: `Node.js ${process.version}` }
      : {
          level: 'warning',
          what: `Node.js ${process.version} runs this command, but not the Harness`,
          mend: 'run the Harness with Node.js 22.19 or newer, or 24',
        },
  ]
  try {
    const native = addon().addonVersion()
    findings.push(
      native === version
        ? { level: 'ok', what: `addon ${native} on ${process.platform}-${process.arch}` }
        : {
            level: 'error',
            what: `the addon is ${native}, the package ${version}`,
            mend: 'install the package again, or build the addon anew',
          },
    )
  } catch (error) {
    findings.push({
      level: 'error',
      what: error instanceof Error ? error.message : String(error),
      mend: 'until then dsh refuses to boot with the plugin, and doctor looks at nothing else',
    })
  }
  return findings
}

/** @param {string} home @returns {Finding[]} */
function around(home) {
  const { profiles: found, problem } = profilesOf(home)
  const rows = found.flatMap(({ row }) => (row === undefined ? [] : [row]))
  const allowed = rows.length > 0 && rows.every(({ config }) => config?.allowUnverifiedHarness === true)
  return [...harness(home, allowed), ...profiles(home, found, problem)]
}

/** @param {string} home @param {boolean} allowed every row allows a host outside the range @returns {Finding[]} */
function harness(home, allowed) {
  const host = findHost(home)
  if (host === undefined) {
    return [
      {
        level: 'warning',
        what: 'no Harness was found: neither one that booted this home, nor dsh on PATH',
        mend: 'start dsh once, or give its home with --home',
      },
    ]
  }
  const { activate, verified, reason } = addon().compatibility(host.version, allowed)
  if (activate && allowed)
    return [{ level: 'warning', what: `Harness (${host.how}): ${reason}`, mend: 'use a supported version' }]
  if (activate) return [{ level: verified ? 'ok' : 'note', what: `Harness (${host.how}): ${reason}` }]
  return [
    {
      level: 'error',
      what: `Harness (${host.how}): ${reason}`,
      mend: 'without allowUnverifiedHarness: true in the row, dsh does not boot with the plugin',
    },
  ]
}

/**
 * @param {string} home
 * @param {import('./doctor-host.js').Profile[]} found
 * @param {string | undefined} problem
 * @returns {Finding[]}
 */
function profiles(home, found, problem) {
  if (problem !== undefined)
    return [{ level: 'warning', what: problem, mend: 'look at dsh --profile NAME --dump-config' }]
  if (found.length === 0) {
    return [{ level: 'warning', what: `no profile in ${home}`, mend: 'dsh plugin --profile NAME add dsh-bmpp' }]
  }
  const findings = found.flatMap(profile => findingsOf(profile))
  if (found.some(({ row }) => row !== undefined)) return findings
  return [
    ...findings,
    { level: 'warning', what: 'no profile loads dsh-bmpp', mend: 'dsh plugin --profile NAME add dsh-bmpp' },
  ]
}

/** @param {string} storages @param {import('./terminal.js').Terminal} terminal @returns {Finding[]} */
function trail(storages, terminal) {
  const found = JSON.parse(addon().auditVerify(storages, terminal.progress('replaying the trail')))
  const { tally } = found
  if (tally.layouts.length === 0) {
    const mend = 'it begins with the first governed call in a profile with storage'
    return [{ level: 'note', what: `no trail in ${storages}`, mend }]
  }
  /** @type {Finding[]} */
  const findings = [
    {
      level: 'ok',
      what: `trail: ${tally.records} records of ${found.loads} loads, layout ${tally.layouts.join(' and ')}`,
    },
  ]
  if (found.contradictions > 0) {
    findings.push({
      level: 'error',
      what: `trail: ${found.contradictions} records do not follow from those before them`,
      mend: 'dsh-bmpp verify names the first',
    })
  }
  if (tally.broken > 0) {
    const mend = 'they are skipped; a cut file ends the reading where it is cut'
    findings.push({
      level: 'warning',
      what: `trail: ${tally.broken} records cannot be read: ${tally.brokenAt[0]}`,
      mend,
    })
  }
  const lost = found.gapsAt.filter((/** @type {any} */ gap) => gap.why !== 'beginning')
  if (lost.length > 0) {
    const mend = 'look at standard error of the host for what it said of its storage'
    findings.push({ level: 'warning', what: `trail: ${lost.length} gaps that no pruning explains`, mend })
  }
  return [...findings, ...lately(storages, terminal)]
}

/** What the last days of a trail tell of the surroundings. */
const LATELY = '7d'

/** @param {string} storages @param {import('./terminal.js').Terminal} terminal @returns {Finding[]} */
function lately(storages, terminal) {
  const progress = terminal.progress('adding up')
  const sum = JSON.parse(addon().auditReport(storages, filterFrom({ since: LATELY }), '{}', progress))
  /** @type {Finding[]} */
  const findings = []
  const hidden = sum.observed.CONTROL_HIDDEN ?? 0
  if (hidden > 0) {
    findings.push({
      level: 'warning',
      what: `trail: in the last ${LATELY}, ${hidden} writes were tried by agents that do not see bmpp__classify: their tools are filtered, or another plugin's tool has its name`,
      mend: 'let bmpp__classify pass their filters, or have their parents write; dsh-bmpp audit --code CONTROL_HIDDEN shows the calls',
    })
  }
  if (sum.readiness.step === 'mend') {
    findings.push({
      level: 'warning',
      what: `trail: in the last ${LATELY}: ${sum.readiness.sentence}`,
      mend: 'dsh-bmpp report has the counts',
    })
  }
  return findings
}
