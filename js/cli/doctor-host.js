/**
 * What a home says of its host and its profiles. The layers are composed as the host does it: bundles in order, the profile's
 * patch, the home's patch; overlays of a single run cannot be known.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findings } from './findings.js'

const APPLICATION = ['@deepseek-ai', 'dsh']
/** The package of the host that reads the layers, and with what it reads YAML. */
const READER = ['@deepseek-ai', 'dsh-app-boot']
const PATCH = 'cordis.patch.yml'
const OWN = 'dsh-bmpp'
const DEPTH_MAX = 12

/**
 * @typedef {{ id?: string, name?: string, config?: any, disabled?: boolean, group?: boolean }} Row
 * @typedef {object} Server an MCP server
 * @property {string} name
 * @property {boolean} isMemory whether it looks like Basic Memory
 * @property {boolean} disabled
 * @property {string | undefined} missing the command that starts it, where that is not there
 *
 * @typedef {object} Profile
 * @property {string} name
 * @property {string} folder
 * @property {Row | undefined} row ours, as all layers leave it; `disabled` also where a group around it is
 * @property {number} rows how many rows have our id
 * @property {string} from the layer that brings it
 * @property {string[]} overriddenBy layers that change it
 * @property {import('./findings.js').Finding[]} skipped what the host leaves out of the layers, as far as it is about our row
 * @property {string | undefined} released the layer that took `mode: enforce` away
 * @property {Server[]} servers
 * @property {Array<{ row: string, filter: { allow?: unknown, deny?: unknown } }>} filters tool filters of subagents
 * @property {boolean} storage whether it offers storage
 * @property {string} [problem] why its layers cannot be read
 */

/**
 * The Harness of a home: the one that booted it last, else the one on PATH.
 * @param {string} home
 * @param {string | undefined} [path]
 * @returns {{ version: string, how: string } | undefined}
 */
export function findHost(home, path = process.env.PATH) {
  const linked = manifest(join(home, 'profiles', 'node_modules', ...APPLICATION))
  if (linked?.version !== undefined) return { version: linked.version, how: 'the last that booted this home' }
  for (const folder of (path ?? '').split(delimiter).filter(Boolean)) {
    const file = join(folder, 'dsh')
    if (!existsSync(file)) continue
    const version = versionAbove(file)
    if (version !== undefined) return { version, how: 'dsh on PATH' }
  }
  return undefined
}

/** @param {string} file */
function versionAbove(file) {
  try {
    let folder = dirname(realpathSync(file))
    for (let depth = 0; depth < DEPTH_MAX; depth += 1) {
      const found = manifest(folder)
      if (found?.name === APPLICATION.join('/')) return found.version
      folder = dirname(folder)
    }
  } catch {
    // A link that leads nowhere is no Harness.
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
 * @returns {Profile[] | undefined} undefined where the host that reads them is not there any more
 */
export function profilesOf(home) {
  const root = join(home, 'profiles')
  if (!existsSync(root)) return []
  const read = yamlOf(root)
  if (read === undefined) return undefined
  const names = readdirSync(root).filter(name => manifest(join(root, name))?.dsh?.profile !== undefined)
  return names.sort().map(name => profileOf(home, name, read))
}

/** @param {string} home @param {string} name @param {(file: string) => unknown} read @returns {Profile} */
function profileOf(home, name, read) {
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
    released: undefined,
    servers: [],
    filters: [],
    storage: false,
  }
  try {
    /** @type {Row[]} */
    const rows = []
    for (const { layer, file } of layersOf(home, folder)) {
      const patches = read(file)
      for (const patch of Array.isArray(patches) ? patches : []) apply(patch, rows, layer, profile)
    }
    const all = flat(rows)
    const ours = all.filter(isOurs)
    profile.row = ours[0]
    profile.rows = ours.length
    profile.servers = all.flatMap(serverOf)
    const running = all.filter(row => row.disabled !== true)
    profile.filters = running.flatMap(({ id, name: of, config }) =>
      config?.toolFilter === undefined ? [] : [{ row: id ?? of ?? '', filter: config.toolFilter ?? {} }],
    )
    profile.storage = running.some(({ name: of }) => of === '@deepseek-ai/dsh-storage-domain')
  } catch (error) {
    profile.problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
  }
  return profile
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
    if (into !== undefined && flatOf(insert).some(isOurs)) profile.from = layer
    return
  }
  const about = id === 'bmpp' || name === OWN
  if (target === undefined) {
    if (about) profile.skipped.push(findings.changesNoRow(profile.name, layer, id ?? '(without an id)'))
    return
  }
  if (name !== undefined && name !== target.name) {
    if (about || isOurs(target)) profile.skipped.push(findings.changesOtherName(profile.name, layer, id, name))
    return
  }
  if (isOurs(target)) {
    profile.overriddenBy.push(layer)
    const enforced = target.config?.mode === 'enforce'
    if (changes.config !== undefined && enforced !== (changes.config?.mode === 'enforce')) {
      profile.released = enforced ? layer : undefined
    }
  }
  Object.assign(target, changes)
}

/** The rows themselves, to be changed, and those in groups. @param {Row[]} rows @returns {Row[]} */
const flatOf = rows =>
  rows.flatMap(row => (row.group && Array.isArray(row.config) ? [row, ...flatOf(row.config)] : [row]))

/** What a group holds. @param {Row} group @returns {Row[]} */
function contents(group) {
  if (!Array.isArray(group.config)) group.config = []
  return group.config
}

/** @param {Row} row */
const isOurs = ({ id, name }) => id === 'bmpp' || name === OWN

/** @param {Row} row @returns {Server[]} */
function serverOf({ config, disabled }) {
  const name = config?.serverName
  if (typeof name !== 'string') return []
  const { command, args, url, cwd } = config
  const isMemory = /basic[-_ ]?memory/i.test(JSON.stringify([command, args, url, name]))
  const missing = typeof command === 'string' && !isThere(command, cwd) ? command : undefined
  return [{ name, isMemory, disabled: disabled === true, missing }]
}

/**
 * Whether a command can be found. What only the host can tell counts as there.
 * @param {string} command
 * @param {unknown} cwd where a relative path starts from
 */
function isThere(command, cwd) {
  if (process.platform === 'win32') return true
  if (isAbsolute(command)) return existsSync(command)
  if (command.includes('/')) return typeof cwd !== 'string' || existsSync(join(cwd, command))
  return (process.env.PATH ?? '').split(delimiter).some(folder => folder !== '' && existsSync(join(folder, command)))
}

/**
 * The package that a row's name leads to, where it is a path: its name, or null where nothing is there.
 * @param {Profile} profile
 * @returns {string | null | undefined} undefined for a name that is no path
 */
export function packageOf({ folder, row }) {
  const name = row?.name
  if (typeof name !== 'string' || !/^(?:\.|\/|file:|[A-Za-z]:[\\/])/.test(name)) return undefined
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
 * @returns {((file: string) => unknown) | undefined}
 */
function yamlOf(profiles) {
  try {
    const from = createRequire(realpathSync(join(profiles, 'node_modules', ...READER, 'package.json')))
    const yaml = from('js-yaml')
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
  } catch {
    return undefined
  }
}
