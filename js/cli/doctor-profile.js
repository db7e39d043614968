/**
 * What there is to say of one profile: whether the gate is in it, as what, and whether it can do its work there.
 */
import { addon } from './command.js'
import { packageOf } from './doctor-host.js'

/** @typedef {import('./doctor.js').Finding} Finding */
/** @typedef {import('./doctor-host.js').Profile} Profile */

/** The defaults of the keys that are asked here. */
const SERVERS = ['basic-memory']
const WRITES = ['write_note', 'edit_note', 'move_note', 'create_memory_project', 'delete_note', 'delete_project']
const CONTROL = 'bmpp__classify'

/** @param {Profile} profile @returns {Finding[]} */
export function findingsOf(profile) {
  const { name, row, problem, rows, skipped, overriddenBy, from } = profile
  /** @type {(what: string, mend: string) => Finding} */
  const warning = (what, mend) => ({ level: 'warning', what: `profile ${name}${what}`, mend })
  if (problem !== undefined) return [warning(`: ${problem}`, 'correct the file; dsh says more of it')]
  const left = skipped.map(what => warning(`: ${what}: dsh skips it`, 'give the id and the name that the row has'))
  if (row === undefined) return [{ level: 'note', what: `profile ${name} does not load dsh-bmpp` }, ...left]
  if (rows > 1) {
    const what = `profile ${name}: ${rows} rows are ours, and dsh does not boot with one id twice`
    return [{ level: 'error', what, mend: 'keep the bundle, or the row of your own, not both' }, ...left]
  }
  const package_ = packageOf(profile)
  if (package_ !== undefined && package_ !== 'dsh-bmpp') {
    const what =
      package_ === null ? `${row.name}, which is not there` : `the package ${package_}, which is not dsh-bmpp`
    return [
      { level: 'error', what: `profile ${name}: the row bmpp names ${what}`, mend: `correct it in ${from}` },
      ...left,
    ]
  }
  if (row.disabled === true) {
    const mend = `remove "disabled" from the row bmpp, or from the group around it, in ${overriddenBy.at(-1) ?? from}`
    return [warning(' has the row bmpp disabled: nothing is gated', mend), ...left]
  }
  return [...configured(profile), ...left, ...servers(profile), ...filters(profile), ...storage(profile)]
}

/** Whether a configuration holds what only the host evaluates. @param {unknown} config */
const isDynamic = config => JSON.stringify(config)?.includes('"!!js"') === true

/** A value of a row, which may be an expression that only the host evaluates. @param {unknown} value */
const told = value => (typeof value === 'string' ? value : '(set by an expression)')

/** What the row says of itself. @param {Profile} profile @returns {Finding[]} */
function configured({ name, row, from, overriddenBy, released }) {
  const config = row?.config ?? {}
  const { ok, problems } = isDynamic(config) ? { ok: true, problems: [] } : addon().readConfig(config)
  if (!ok) {
    return problems.map(({ path, code, message }) => ({
      level: 'error',
      what: `profile ${name}: ${path.join('.') || 'configuration'}: ${code}: ${message}`,
      mend: `dsh does not boot with this row; correct it in ${overriddenBy.at(-1) ?? from}`,
    }))
  }
  const { mode = 'audit', profile = 'compat' } = config
  const layers = overriddenBy.length > 0 ? `, overridden by ${overriddenBy.join(', ')}` : ''
  /** @type {Finding[]} */
  const findings = [
    { level: 'ok', what: `profile ${name}: mode ${told(mode)}, profile ${told(profile)}, from ${from}${layers}` },
  ]
  if (mode === 'off') {
    const what = `profile ${name}: mode off decides and records nothing`
    findings.push({ level: 'warning', what, mend: 'set mode: audit' })
  }
  if (released !== undefined) {
    findings.push({
      level: 'warning',
      what: `profile ${name}: ${released} takes mode enforce away, which an earlier layer sets`,
      mend: `a layer replaces the row's config as a whole: where that was not meant, write mode: enforce there too`,
    })
  }
  return findings
}

/** @param {Profile} profile @returns {string[] | undefined} undefined where an expression says it */
function governed({ row }) {
  const names = row?.config?.serverNames ?? SERVERS
  return Array.isArray(names) && names.every(name => typeof name === 'string') ? names : undefined
}

/** Whether what should be governed is, and is there. @param {Profile} profile @returns {Finding[]} */
function servers(profile) {
  const { name } = profile
  const names = governed(profile)
  if (names === undefined) return []
  /** @type {Finding[]} */
  const findings = profile.servers
    .filter(server => server.isMemory && !server.disabled && !names.includes(server.name))
    .map(server => ({
      level: 'error',
      what: `profile ${name}: the memory server "${server.name}" is not governed`,
      mend: `add "${server.name}" to serverNames`,
    }))
  const known = profile.servers.filter(server => names.includes(server.name))
  if (known.length === 0) {
    findings.push({
      level: 'warning',
      what: `profile ${name}: no MCP server is called ${names.join(' or ')}, so nothing is governed`,
      mend: 'set serverNames to what the MCP row calls the memory server (its serverName), or add such a row',
    })
  } else if (known.every(({ disabled }) => disabled)) {
    findings.push({
      level: 'warning',
      what: `profile ${name}: the row of the MCP server ${known[0]?.name} is disabled, so there are no memory tools`,
      mend: 'remove "disabled" from it',
    })
  }
  for (const server of known) {
    if (server.missing === undefined || server.disabled) continue
    findings.push({
      level: 'warning',
      what: `profile ${name}: the memory server "${server.name}" is started with "${server.missing}", which is not there, so that its tools will be missing`,
      mend: 'install it, or correct the command of its row',
    })
  }
  return findings
}

/** Agents that may write and not classify. @param {Profile} profile @returns {Finding[]} */
function filters(profile) {
  const listed = profile.row?.config?.mutatingTools
  const raws = Array.isArray(listed) ? listed : WRITES
  const writes = (governed(profile) ?? SERVERS).flatMap(server => raws.map(raw => `mcp__${server}__${raw}`))
  return profile.filters.flatMap(({ row, filter: { allow, deny } }) => {
    const passes = (/** @type {string} */ tool) =>
      !(Array.isArray(allow) && !allow.includes(tool)) && !(Array.isArray(deny) && deny.includes(tool))
    if (passes(CONTROL) || !writes.some(passes)) return []
    return [
      /** @type {Finding} */ ({
        level: 'warning',
        what: `profile ${profile.name}: the tool filter of the row ${row} hides ${CONTROL} from agents that may write memory, so that enforce denies their writes`,
        mend: `let ${CONTROL} pass it, or keep the writes from them too`,
      }),
    ]
  })
}

/** @param {Profile} profile @returns {Finding[]} */
function storage({ name, row, storage: there }) {
  if (there || row?.config?.auditLevel === 'off') return []
  return [
    {
      level: 'warning',
      what: `profile ${name} has no storage, so the trail is lost with each process`,
      mend: 'add the rows storage, storage-json and storage-domain (docs/AUDIT.md has them), or set auditLevel: off',
    },
  ]
}
