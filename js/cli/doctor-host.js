/**
 * What a home says of its host and its profiles. The layers are composed as the host does it: bundles in order, the profile's
 * patch, the home's patch; overlays of a single run cannot be known.
 */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { addon, nearest } from './command.js'
import { findings } from './findings.js'

const APPLICATION = ['@deepseek-ai', 'dsh']
/** The package of the host that reads the layers, and with what it reads YAML. */
const READER = ['@deepseek-ai', 'dsh-app-boot']
const PATCH = 'cordis.patch.yml'
const OWN = 'dsh-bmpp'
const DEPTH_MAX = 12
/** The keys that the host's loader reads of a row, and of an entry of a layer besides. */
const ROW_KEYS = ['id', 'name', 'config', 'group', 'disabled', 'inject', 'intercept', 'isolate']
const ENTRY_KEYS = [...ROW_KEYS, 'insert']

/**
 * @typedef {{ id?: string, name?: string, config?: any, disabled?: boolean, group?: boolean }} Row
 * @typedef {object} Server an MCP server
 * @property {string} name
 * @property {boolean} isMemory whether it looks like Basic Memory
 * @property {boolean} disabled
 * @property {string | undefined} missing the command that starts it, where that is not there
 * @property {boolean} mustStart whether the host does not boot without it
 *
 * @typedef {object} Profile
 * @property {string} name
 * @property {string} folder
 * @property {Row | undefined} row ours, as all layers leave it; `disabled` also where a group around it is
 * @property {number} rows how many rows have our id
 * @property {string} from the layer that brings it
 * @property {string[]} overriddenBy layers that change it
 * @property {import('./findings.js').Finding[]} skipped what the host leaves out of the layers, as far as it is about our row
 * @property {Left[]} left changes of our row before any layer brought it
 * @property {string | undefined} released the layer that took `mode: enforce` away
 * @property {Server[]} servers
 * @property {Array<{ row: string, filter: { allow?: unknown, deny?: unknown } }>} filters tool filters of subagents
 * @property {boolean} storage whether it offers storage
 * @property {{ layer: string, file: string, why: string }} [problem] a file of it that the host cannot read
 *
 * @typedef {{ layer: string, shared: boolean }} Left `shared`: the layer is that of all profiles
 *
 * @typedef {object} Host
 * @property {string} version
 * @property {string} how it was found
 * @property {string} folder its package
 */

/**
 * The Harness of a home: the one that booted it last, else the one on PATH.
 * @param {string} home
 * @param {string | undefined} [path]
 * @returns {Host | undefined}
 */
export function findHost(home, path = process.env.PATH) {
  const link = join(home, 'profiles', 'node_modules', ...APPLICATION)
  const linked = manifest(link)
  if (linked?.version !== undefined) {
    return { version: linked.version, how: 'the last that booted this home', folder: realpathSync(link) }
  }
  for (const folder of (path ?? '').split(delimiter).filter(Boolean)) {
    const file = join(folder, 'dsh')
    if (!existsSync(file)) continue
    const found = packageAbove(file) ?? packageBehind(file)
    if (found !== undefined) return { ...found, how: 'dsh on PATH' }
  }
  return undefined
}

/** The Harness's package that a file is in. @param {string} file */
function packageAbove(file) {
  try {
    let folder = dirname(realpathSync(file))
    for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
      const found = manifest(folder)
      if (found?.name === APPLICATION.join('/')) return { version: String(found.version), folder }
      folder = dirname(folder)
    }
  } catch {
    // A link that leads nowhere is no Harness.
  }
  return undefined
}

/** A script that starts another is no longer than this, in bytes. */
const WRAPPER_MAX = 1 << 16

/**
 * The package that a package manager's shell script starts: it names the file by `$basedir`, which is where the script lies, or by
 * its whole path.
 * @param {string} file
 */
function packageBehind(file) {
  try {
    if (statSync(file).size > WRAPPER_MAX) return undefined
    const text = readFileSync(file, 'utf8')
    if (!text.startsWith('#!')) return undefined
    for (const [, quoted = ''] of text.matchAll(/["']([^"'\n]+)["']/g)) {
      for (const basedir of new Set([dirname(file), dirname(realpathSync(file))])) {
        const path = quoted.replace(/^\$(?:basedir|\{basedir\})/, () => basedir)
        const found = isAbsolute(path) && existsSync(path) ? packageAbove(path) : undefined
        if (found !== undefined) return found
      }
    }
  } catch {
    // What cannot be read is no Harness.
  }
  return undefined
}

/** @param {string} folder @returns {any} */
function manifest(folder) {
  try {
    return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  } catch {
    return undefined
  }
}

/**
 * @param {string} home
 * @param {Host | undefined} host reads the layers where none that booted the home is there
 * @returns {Profile[] | undefined} undefined where no host is there to read them
 */
export function profilesOf(home, host) {
  const root = join(home, 'profiles')
  if (!existsSync(root)) return []
  const read = yamlOf(root, host)
  if (read === undefined) return undefined
  const names = readdirSync(root).filter(name => existsSync(join(root, name, 'package.json')))
  return names.sort().flatMap(name => {
    const { why, value } = jsonOf(join(root, name, 'package.json'))
    return why === undefined && value?.dsh?.profile === undefined ? [] : [profileOf(home, name, read, why)]
  })
}

/** A manifest as the host reads one. @param {string} file @returns {{ value?: any, why?: string }} */
function jsonOf(file) {
  try {
    const value = JSON.parse(readFileSync(file, 'utf8'))
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? { value } : { why: 'it holds no JSON object' }
  } catch (error) {
    return { why: firstLine(error) }
  }
}

/** @param {unknown} error */
const firstLine = error => (error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error))

/**
 * @param {string} home
 * @param {string} name
 * @param {(file: string) => unknown} read
 * @param {string} [why] its manifest cannot be read
 * @returns {Profile}
 */
function profileOf(home, name, read, why) {
  const folder = join(home, 'profiles', name)
  /** @type {Profile} */
  const profile = {
    name,
    folder,
    row: undefined,
    rows: 0,
    from: '',
    overriddenBy: [],
    skipped: [],
    left: [],
    released: undefined,
    servers: [],
    filters: [],
    storage: false,
  }
  if (why !== undefined) {
    profile.problem = { layer: `profiles/${name}/package.json`, file: join(folder, 'package.json'), why }
    return profile
  }
  /** @type {Row[]} */
  const rows = []
  for (const { layer, file } of layersOf(home, folder)) {
    try {
      for (const patch of patchesOf(read(file))) apply(patch, rows, layer, profile)
    } catch (error) {
      profile.problem = { layer, file, why: firstLine(error) }
      return profile
    }
  }
  const all = flat(rows)
  const ours = all.filter(row => isOurs(row, profile))
  profile.row = ours[0]
  profile.rows = ours.length
  profile.servers = all.flatMap(serverOf)
  const running = all.filter(row => row.disabled !== true)
  profile.filters = running.flatMap(({ id, name: of, config }) =>
    config?.toolFilter === undefined ? [] : [{ row: id ?? of ?? '', filter: config.toolFilter ?? {} }],
  )
  profile.storage = running.some(({ name: of }) => of === '@deepseek-ai/dsh-storage-domain')
  return profile
}

/** What a layer holds, by the host's own rule: a list of mappings. @param {unknown} value @returns {any[]} */
function patchesOf(value) {
  if (!Array.isArray(value))
    throw new Error(
      value === undefined || value === null ? 'it is empty; write [] for no row' : 'it is no list of rows',
    )
  for (const [index, entry] of value.entries()) {
    const isMapping = typeof entry === 'object' && entry !== null && !Array.isArray(entry)
    if (!isMapping) throw new Error(`entry ${index + 1} of it is no mapping`)
  }
  return value
}

/**
 * Rows and what is in their groups; a group that is disabled disables them.
 * @param {Row[]} rows
 * @param {boolean} [disabled]
 * @returns {Row[]}
 */
function flat(rows, disabled = false) {
  return rows.flatMap(row => {
    const off = disabled || row.disabled === true
    const own = off ? { ...row, disabled: true } : row
    return row.group && Array.isArray(row.config) ? [own, ...flat(row.config, off)] : [own]
  })
}

/** @param {string} home @param {string} folder */
function layersOf(home, folder) {
  const bundles = manifest(folder)?.dsh?.profile?.bundles ?? []
  const layers = bundles.flatMap((/** @type {string} */ bundle) => {
    const places = [join(folder, 'node_modules'), join(home, 'profiles', 'node_modules')]
    const at = places.map(place => join(place, ...bundle.split('/'))).find(place => existsSync(place))
    const patch = at === undefined ? undefined : manifest(at)?.dsh?.bundle?.patch
    return at === undefined || patch === undefined ? [] : [{ layer: `bundle ${bundle}`, file: join(at, patch) }]
  })
  const own = [
    { layer: `profiles/${folder.split(/[\\/]/).at(-1)}/${PATCH}`, file: join(folder, PATCH) },
    { layer: PATCH, file: join(home, PATCH) },
  ]
  return [...layers, ...own.filter(({ file }) => existsSync(file))]
}

/**
 * One entry of a patch list, as the host applies it: `insert` adds rows, an id changes one. A row's config is replaced as a whole.
 * @param {any} patch
 * @param {Row[]} rows
 * @param {string} layer
 * @param {Profile} profile
 */
function apply(patch, rows, layer, profile) {
  const { id, insert, name, ...changes } = patch ?? {}
  const target = typeof id === 'string' ? flatOf(rows).find(row => row.id === id) : undefined
  if (Array.isArray(insert)) {
    const into = id === undefined ? rows : target?.group ? contents(target) : undefined
    into?.push(...insert.map(row => ({ ...row })))
    const ours = flatOf(insert).filter(row => isOurs(row, profile))
    for (const row of ours) profile.skipped.push(...strange(row, ROW_KEYS, layer, profile))
    if (ours.length === 0) return
    if (into !== undefined) profile.from = layer
    else profile.skipped.push(findings.changesNoRow(profile.name, layer, String(id)))
    return
  }
  const about = id === 'bmpp' || name === OWN || (target === undefined && isMeantAsOurs(id, changes.config))
  const named = Object.values(patch).some(value => speaksOfUs(value, profile))
  if (about || named || (target !== undefined && isOurs(target, profile)))
    profile.skipped.push(...strange(patch, ENTRY_KEYS, layer, profile))
  if (target === undefined) {
    if (id === 'bmpp') profile.left.push({ layer, shared: layer === PATCH })
    else if (about) profile.skipped.push(findings.changesNoRow(profile.name, layer, id ?? '(without an id)'))
    return
  }
  if (name !== undefined && name !== target.name) {
    if (about || isOurs(target, profile)) profile.skipped.push(findings.changesOtherName(profile.name, layer, id, name))
    return
  }
  if (isOurs(target, profile)) {
    profile.overriddenBy.push(layer)
    const enforced = target.config?.mode === 'enforce'
    if (changes.config !== undefined && enforced !== (changes.config?.mode === 'enforce')) {
      profile.released = enforced ? layer : undefined
    }
  }
  Object.assign(target, changes)
}

/** Whether a value under a key that nobody reads was meant for our row. @param {unknown} value @param {Profile} profile */
const speaksOfUs = (value, profile) =>
  value === 'bmpp' ||
  value === OWN ||
  (Array.isArray(value) && value.some(row => typeof row === 'object' && row !== null && isOurs(row, profile)))

/**
 * Keys of an entry for our row that the host passes over in silence, and that were probably meant to say something.
 * @param {Row} entry
 * @param {readonly string[]} known
 * @param {string} layer
 * @param {Profile} profile
 */
function strange(entry, known, layer, { name }) {
  return Object.entries(entry).flatMap(([key, value]) => {
    if (known.includes(key)) return []
    const near = nearest(key, known)
    const own = addon().readConfig({ [key]: value })
    const isOwn = own.problems.every(({ code }) => code !== 'UNKNOWN_KEY')
    return isOwn || near !== undefined ? [findings.strangeKey(name, layer, key, isOwn ? undefined : near)] : []
  })
}

/** The rows themselves, to be changed, and those in groups. @param {Row[]} rows @returns {Row[]} */
const flatOf = rows =>
  rows.flatMap(row => (row.group && Array.isArray(row.config) ? [row, ...flatOf(row.config)] : [row]))

/** What a group holds. @param {Row} group @returns {Row[]} */
function contents(group) {
  if (!Array.isArray(group.config)) group.config = []
  return group.config
}

/** @param {Row} row @param {Profile} profile */
const isOurs = (row, { folder }) => row.id === 'bmpp' || packageOf({ folder, row }) === OWN

/**
 * Whether a change of a row that is not there was probably meant for ours: a typo of its id, or keys that are ours.
 * @param {unknown} id
 * @param {unknown} config
 */
function isMeantAsOurs(id, config) {
  if (typeof id === 'string' && nearest(id, ['bmpp', OWN]) !== undefined) return true
  if (typeof config !== 'object' || config === null || Object.keys(config).length === 0) return false
  return addon()
    .readConfig(config)
    .problems.every(({ code }) => code !== 'UNKNOWN_KEY' && code !== 'NOT_AN_OBJECT')
}

/** @param {Row} row @returns {Server[]} */
function serverOf({ config, disabled }) {
  const name = config?.serverName
  if (typeof name !== 'string') return []
  const { command, args, url, cwd, env, failOnStartupError } = config
  const isMemory = /basic[-_ ]?memory/i.test(JSON.stringify([command, args, url, name]))
  const missing = typeof command === 'string' && !isThere(command, cwd, env) ? command : undefined
  return [{ name, isMemory, disabled: disabled === true, missing, mustStart: failOnStartupError === true }]
}

/**
 * Whether a command can be found. What only the host can tell counts as there.
 * @param {string} command
 * @param {unknown} cwd where a relative path starts from
 * @param {any} env variables of its own
 */
function isThere(command, cwd, env) {
  if (process.platform === 'win32') return true
  if (isAbsolute(command)) return existsSync(command)
  if (command.includes('/')) return typeof cwd !== 'string' || existsSync(join(cwd, command))
  const path = env?.PATH ?? process.env.PATH ?? ''
  if (isExpression(env) || typeof path !== 'string') return true
  return path.split(delimiter).some(folder => folder !== '' && existsSync(join(folder, command)))
}

/**
 * The package that a row's name leads to: its name, or null where the name is a path and nothing is there.
 * @param {Pick<Profile, 'folder' | 'row'>} profile
 * @returns {string | null | undefined} undefined where it cannot be told
 */
export function packageOf({ folder, row }) {
  const name = row?.name
  if (typeof name !== 'string') return undefined
  if (!/^(?:\.|\/|file:|[A-Za-z]:[\\/])/.test(name)) {
    return name
      .split('/')
      .slice(0, name.startsWith('@') ? 2 : 1)
      .join('/')
  }
  try {
    const file = name.startsWith('file:') ? fileURLToPath(name) : isAbsolute(name) ? name : join(folder, name)
    if (!existsSync(file)) return null
    let at = dirname(realpathSync(file))
    for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
      const found = manifest(at)?.name
      if (typeof found === 'string') return found
      at = dirname(at)
    }
  } catch {
    // What cannot be followed is said nothing of.
  }
  return undefined
}

/**
 * Reads YAML as the home's host does, with the host's own reader; expressions stay unevaluated.
 * @param {string} profiles
 * @param {Host | undefined} host
 * @returns {((file: string) => unknown) | undefined}
 */
function yamlOf(profiles, host) {
  const places = [join(profiles, 'node_modules', ...READER)]
  // Beside the application, as one package manager lays it out, or below it, as another does.
  if (host !== undefined)
    places.push(join(host.folder, '..', '..', ...READER), join(host.folder, 'node_modules', ...READER))
  for (const place of places) {
    try {
      return yamlWith(createRequire(realpathSync(join(place, 'package.json')))('js-yaml'))
    } catch {
      // It is not there.
    }
  }
  return undefined
}

/** Whether a value of a layer is an expression, which only the host evaluates. @param {any} value */
export const isExpression = value => typeof value === 'object' && value !== null && '!!js' in value

/** @param {any} yaml @returns {(file: string) => unknown} */
function yamlWith(yaml) {
  const kinds = ['scalar', 'mapping', 'sequence']
  const types = kinds.map(
    kind =>
      new yaml.Type('tag:yaml.org,2002:js', {
        kind,
        construct: (/** @type {unknown} */ value) => ({ '!!js': value }),
      }),
  )
  const schema = yaml.DEFAULT_SCHEMA.extend(types)
  return file => yaml.load(readFileSync(file, 'utf8'), { schema })
}
