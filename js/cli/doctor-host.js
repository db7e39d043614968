/**
 * What a home says of its host and its profiles. The layers are composed as the host does it: bundles in order, the profile's
 * patch, the home's patch; overlays of a single run cannot be known.
 */
import { existsSync, readdirSync, readFileSync, realpathSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'

const APPLICATION = ['@deepseek-ai', 'dsh']
/** The package of the host that reads the layers, and with what it reads YAML. */
const READER = ['@deepseek-ai', 'dsh-app-boot']
const PATCH = 'cordis.patch.yml'
const OWN = 'dsh-bmpp'
const DEPTH_MAX = 12

/**
 * @typedef {{ id?: string, name?: string, config?: any, disabled?: boolean }} Row
 * @typedef {object} Profile
 * @property {string} name
 * @property {Row | undefined} row ours, as all layers leave it
 * @property {string} from the layer that brings it
 * @property {string[]} overriddenBy layers that change it
 * @property {Array<{ name: string, isMemory: boolean }>} servers MCP servers; whether it looks like Basic Memory
 * @property {boolean} storage whether it offers storage
 * @property {string} [problem] why it cannot be told
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
 * @returns {{ profiles: Profile[], problem?: string }}
 */
export function profilesOf(home) {
  const root = join(home, 'profiles')
  if (!existsSync(root)) return { profiles: [] }
  const read = yamlOf(root)
  if (read === undefined) {
    return {
      profiles: [],
      problem: 'the profiles cannot be read: the Harness that booted this home is not there any more',
    }
  }
  const names = readdirSync(root).filter(name => manifest(join(root, name))?.dsh?.profile !== undefined)
  return { profiles: names.sort().map(name => profileOf(home, name, read)) }
}

/** @param {string} home @param {string} name @param {(file: string) => unknown} read @returns {Profile} */
function profileOf(home, name, read) {
  const folder = join(home, 'profiles', name)
  /** @type {Profile} */
  const profile = { name, row: undefined, from: '', overriddenBy: [], servers: [], storage: false }
  try {
    /** @type {Row[]} */
    const rows = []
    for (const { layer, file } of layersOf(home, folder)) {
      const patches = read(file)
      for (const patch of Array.isArray(patches) ? patches : []) apply(patch, rows, layer, profile)
    }
    profile.row = rows.find(isOurs)
    profile.servers = rows.filter(row => row.disabled !== true).flatMap(serverOf)
    profile.storage = rows.some(
      ({ name: of, disabled }) => of === '@deepseek-ai/dsh-storage-domain' && disabled !== true,
    )
  } catch (error) {
    profile.problem = `its layers cannot be read (${error instanceof Error ? error.message.split('\n')[0] : error})`
  }
  return profile
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
 * One entry of a patch list: `insert` adds rows, an id changes one.
 * @param {any} patch
 * @param {Row[]} rows
 * @param {string} layer
 * @param {Profile} profile
 */
function apply(patch, rows, layer, profile) {
  for (const row of patch?.insert ?? []) {
    rows.push({ ...row })
    if (isOurs(row)) profile.from = layer
  }
  const row = typeof patch?.id === 'string' ? rows.find(({ id }) => id === patch.id) : undefined
  if (row === undefined) return
  Object.assign(row, patch)
  if (isOurs(row)) profile.overriddenBy.push(layer)
}

/** @param {Row} row */
const isOurs = ({ id, name }) => id === 'bmpp' || name === OWN

/** @param {Row} row */
function serverOf({ config }) {
  const name = config?.serverName
  if (typeof name !== 'string') return []
  return [
    { name, isMemory: /basic[-_ ]?memory/i.test(JSON.stringify([config.command, config.args, config.url, name])) },
  ]
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
