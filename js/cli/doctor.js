/**
 * `dsh-bmpp doctor`: looks at what is around the plugin, and says for each finding how to mend it.
 */
import { addon, EXIT, parse, storagesFrom, version, whereHelp, whereOptions } from './command.js'
import { findHost, profilesOf } from './doctor-host.js'
import { dshHome } from './home.js'
import { shown } from './terminal.js'

/** @typedef {{ level: 'ok' | 'note' | 'warning' | 'error', what: string, mend?: string }} Finding */

/** @type {import('./command.js').Command} */
export const doctor = {
  about: 'looks at Node, the addon, the host, the profiles and the trail',
  help: `dsh-bmpp doctor: looks at what is around the plugin, and says how to mend what is wrong

Usage: dsh-bmpp doctor [--json]

Looks at Node.js, the addon and the platform; the host and its version against the supported range; the profiles that
load the plugin, with what configuration, and rows that override or disable it; the names of memory servers against
serverNames; and the trail, which is replayed.

  --json              the findings as JSON
${whereHelp}

Examples:
  dsh-bmpp doctor
  dsh-bmpp doctor --home /srv/agent/.dsh

Exit codes: 0 nothing wrong · 1 an error · 2 wrong usage · 3 a file cannot be read · 4 only warnings
`,
  run(argv, terminal) {
    const { values } = parse(argv, { ...whereOptions, json: { type: 'boolean' } })
    const home = dshHome(values.home)
    /** @type {Finding[]} */
    const findings = [...runtime(), ...around(home), ...trail(storagesFrom(values), terminal)]
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
      mend: 'the plugin cannot load here; dsh refuses to boot with it, so nothing passes ungated',
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
  const findings = found.flatMap(profile)
  if (found.some(({ row }) => row !== undefined)) return findings
  return [
    ...findings,
    { level: 'warning', what: 'no profile loads dsh-bmpp', mend: 'dsh plugin --profile NAME add dsh-bmpp' },
  ]
}

/** @param {import('./doctor-host.js').Profile} profile @returns {Finding[]} */
function profile({ name, row, from, overriddenBy, servers, storage, problem }) {
  if (problem !== undefined) return [{ level: 'warning', what: `profile ${name}: ${problem}` }]
  if (row === undefined) return [{ level: 'note', what: `profile ${name} does not load dsh-bmpp` }]
  if (row.disabled === true) {
    const mend = `remove "disabled" from the row bmpp in ${overriddenBy.at(-1) ?? from}`
    return [{ level: 'warning', what: `profile ${name} has the row bmpp disabled: nothing is gated`, mend }]
  }
  /** @type {Finding[]} */
  const findings = []
  const config = row.config ?? {}
  const dynamic = JSON.stringify(config)?.includes('"!!js"') === true
  const { ok, problems } = dynamic ? { ok: true, problems: [] } : addon().readConfig(config)
  const layers = overriddenBy.length > 0 ? `, overridden by ${overriddenBy.join(', ')}` : ''
  const mode = /** @type {any} */ (config).mode ?? 'audit'
  const names = /** @type {any} */ (config).profile ?? 'compat'
  if (ok)
    findings.push({
      level: 'ok',
      what: `profile ${name}: mode ${told(mode)}, profile ${told(names)}, from ${from}${layers}`,
    })
  for (const { path, code, message } of problems) {
    findings.push({
      level: 'error',
      what: `profile ${name}: ${path.join('.') || 'configuration'}: ${code}: ${message}`,
      mend: 'dsh does not boot with this row; correct it',
    })
  }
  if (ok && mode === 'off') {
    findings.push({
      level: 'warning',
      what: `profile ${name}: mode off decides and records nothing`,
      mend: 'set mode: audit',
    })
  }
  const governed = /** @type {any} */ (config).serverNames ?? ['basic-memory']
  for (const server of servers) {
    if (!server.isMemory || (Array.isArray(governed) && governed.includes(server.name))) continue
    findings.push({
      level: 'error',
      what: `profile ${name}: the memory server "${server.name}" is not governed`,
      mend: `add "${server.name}" to serverNames`,
    })
  }
  if (servers.length > 0 && Array.isArray(governed) && !servers.some(({ name: known }) => governed.includes(known))) {
    findings.push({
      level: 'warning',
      what: `profile ${name}: no MCP server is called ${governed.join(' or ')}, so nothing is governed`,
      mend: 'set serverNames to what the MCP row calls the memory server (its serverName)',
    })
  }
  if (!storage && ok && /** @type {any} */ (config).auditLevel !== 'off') {
    findings.push({
      level: 'warning',
      what: `profile ${name} has no storage, so the trail is lost with each process`,
      mend: 'add the rows storage, storage-json and storage-domain (docs/AUDIT.md has them), or set auditLevel: off',
    })
  }
  return findings
}

/** A value of a row, which may be an expression that only the host evaluates. @param {unknown} value */
const told = value => (typeof value === 'string' ? value : '(set by an expression)')

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
  return findings
}
