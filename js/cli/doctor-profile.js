/**
 * What there is to say of one profile: whether the gate is in it, as what, and whether it can do its work there.
 */
import { addon } from './command.js'
import { packageOf } from './doctor-host.js'
import { findings } from './findings.js'

/** @typedef {import('./findings.js').Finding} Finding */
/** @typedef {import('./doctor-host.js').Profile} Profile */

/** The defaults of the keys that are asked here. */
const SERVERS = ['basic-memory']
const WRITES = ['write_note', 'edit_note', 'move_note', 'create_memory_project', 'delete_note', 'delete_project']
const CONTROL = 'bmpp__classify'

/**
 * @param {Profile} profile
 * @param {boolean} elsewhere whether another profile has our row
 * @returns {Finding[]}
 */
export function findingsOf(profile, elsewhere) {
  const { name, row, problem, rows, overriddenBy, from } = profile
  const skipped = [...profile.skipped, ...left(profile, elsewhere)]
  if (problem !== undefined) return [findings.layerUnread(name, problem.layer, problem.why, problem.file)]
  if (row === undefined) return [findings.notLoaded(name), ...skipped]
  if (rows > 1) return [findings.rowsTwice(name, rows), ...skipped]
  const package_ = packageOf(profile)
  if (package_ === null) return [findings.rowLeadsNowhere(name, row.name ?? '', from), ...skipped]
  if (package_ !== undefined && package_ !== 'dsh-bmpp') {
    return [findings.rowOfOther(name, package_, from), ...skipped]
  }
  if (row.disabled === true) return [findings.disabled(name, overriddenBy.at(-1) ?? from), ...skipped]
  return [...configured(profile), ...skipped, ...servers(profile), ...filters(profile), ...storage(profile)]
}

/** Changes of our row that came before it, or to no row. @param {Profile} profile @param {boolean} elsewhere @returns {Finding[]} */
function left({ name, row, left: changes }, elsewhere) {
  return changes.flatMap(({ layer, shared }) => {
    if (row !== undefined) return [findings.changesBeforeRow(name, layer)]
    return shared && elsewhere ? [] : [findings.leftOver(name, layer)]
  })
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
    const layer = overriddenBy.at(-1) ?? from
    return problems.map(({ path, code, message }) =>
      findings.problem(name, path.join('.') || 'configuration', code, message, layer),
    )
  }
  const { mode = 'audit', profile = 'compat' } = config
  return [
    findings.configured(name, told(mode), told(profile), from, overriddenBy),
    ...(mode === 'off' ? [findings.off(name)] : []),
    ...(released === undefined ? [] : [findings.released(name, released)]),
  ]
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
  const running = profile.servers.filter(({ disabled }) => !disabled)
  const fatal = running.flatMap(({ name: server, missing, mustStart }) =>
    missing === undefined || !mustStart ? [] : [findings.commandMissingAtBoot(name, server, missing)],
  )
  if (names === undefined) return fatal
  const known = profile.servers.filter(server => names.includes(server.name))
  const off = known.length > 0 && known.every(({ disabled }) => disabled)
  return [
    ...running
      .filter(server => server.isMemory && !names.includes(server.name))
      .map(server => findings.ungoverned(name, server.name)),
    ...(known.length === 0 ? [findings.noServer(name, names)] : []),
    ...(off ? known.map(server => findings.serverDisabled(name, server.name)) : []),
    ...fatal,
    ...known.flatMap(({ name: server, missing, disabled, mustStart }) =>
      missing === undefined || disabled || mustStart ? [] : [findings.commandMissing(name, server, missing)],
    ),
  ]
}

/** Agents that may write and not classify. @param {Profile} profile @returns {Finding[]} */
function filters(profile) {
  const listed = profile.row?.config?.mutatingTools
  const raws = Array.isArray(listed) ? listed : WRITES
  const writes = (governed(profile) ?? SERVERS).flatMap(server => raws.map(raw => `mcp__${server}__${raw}`))
  return profile.filters.flatMap(({ row, filter: { allow, deny } }) => {
    const passes = (/** @type {string} */ tool) =>
      !(Array.isArray(allow) && !allow.includes(tool)) && !(Array.isArray(deny) && deny.includes(tool))
    return passes(CONTROL) || !writes.some(passes) ? [] : [findings.filterHides(profile.name, row)]
  })
}

/** @param {Profile} profile @returns {Finding[]} */
function storage({ name, row, storage: there }) {
  return there || row?.config?.auditLevel === 'off' ? [] : [findings.noStorage(name)]
}
