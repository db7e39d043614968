/**
 * What the plugin must know of its host before it gates anything: which application runs and at which version, and
 * whether what the host hands over has the members that the gate uses. Nothing here decides: the version envelope is
 * the core's, a missing member is refused by the entry.
 *
 * Every function is total. It runs while the host boots, where a throw ends the process, so whatever the file system
 * or a proxy does comes back as data with a reason in words.
 */
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { basename, dirname, isAbsolute, join, resolve as resolvePath } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The application whose versions the compatibility range is written in. */
const APPLICATION = '@deepseek-ai/dsh'

/** Our own package: its dependencies say nothing of the host. */
const OWN_NAME = 'dsh-bmpp'

/**
 * Packages that stand for the Harness where the entry point is another launcher (`dsh-acp-demo`, `dsh-jsonrpc-agent`,
 * an embedding script). A release publishes all `@deepseek-ai/dsh*` packages under one version (all 187 of them in
 * 0.1.0-rc.8), so any would do; listed are those without which there is no agent to gate, and which launchers depend
 * on directly: `dsh-acp-demo` on dsh-app-boot and dsh-tools, the JSON-RPC launcher on dsh-app-boot alone. Left out is
 * what keeps its own version line (cordis and its plugins, schemastery, cosmokit, node-addon-*) and every optional
 * feature.
 */
const IDENTITY = Object.freeze([
  APPLICATION,
  '@deepseek-ai/dsh-app-boot',
  '@deepseek-ai/dsh-tools',
  '@deepseek-ai/dsh-agent-loop',
  '@deepseek-ai/dsh-agent',
  '@deepseek-ai/dsh-session',
  '@deepseek-ai/dsh-base',
])

/** A manifest is a few kilobytes; what is larger is none, and is not read at boot. */
const MANIFEST_LIMIT = 1 << 20

/**
 * @typedef {object} Host
 * @property {string | null} name the package that `version` belongs to; without a version, the launcher's package if
 *   it has one
 * @property {string | null} version as written in that package's manifest, not parsed; null if it cannot be told
 * @property {'entry' | 'identity' | 'none'} source the entry point's own manifest, a Harness package resolved from
 *   it, or neither
 * @property {string} why one line for the operator: how the version was found, or why it was not
 */

/**
 * @typedef {object} Files the file system as far as it is needed; each may throw
 * @property {(path: string) => string} realpath
 * @property {(path: string) => { isFile(): boolean, isDirectory(): boolean, size: number } | undefined} stat undefined where
 *   nothing is there, which may be thrown too
 * @property {(path: string) => string} read
 */

/**
 * @typedef {object} HostProcess the process to look at; what is left out comes from the real one
 * @property {readonly unknown[]} [argv]
 * @property {readonly string[]} [execArgv]
 * @property {string} [execPath]
 * @property {string} [cwd] what a relative entry point is relative to
 * @property {unknown} [pkg] `process.pkg`, set in a packaged single-file executable
 * @property {boolean} [electronApp] true in the main process of a packaged Electron application, whose arguments
 *   start at index 1
 * @property {string} [dshHome] `$DSH_HOME`
 * @property {string} [ownRoot] the folder of our own package
 * @property {(path: string) => string} [resolve] an absolute path as given to `node` → the file that Node runs for it
 * @property {Files} [files]
 */

/** @type {Files} */
const diskFiles = {
  realpath: path => realpathSync(path),
  // Making an error takes longer than the rest of the look.
  stat: path => statSync(path, { throwIfNoEntry: false }),
  read: path => readFileSync(path, 'utf8'),
}

/**
 * The version of the application hosting this process: the manifest of the running entry point, else of a Harness
 * identity package resolved from that entry. Never throws; an unknown host is an answer.
 * @param {HostProcess} [host]
 * @returns {Host}
 */
export function detectHost(host = {}) {
  try {
    return detect(host)
  } catch (error) {
    return unknown(null, `looking for the host failed (${describe(error)})`)
  }
}

/**
 * @param {HostProcess} host
 * @returns {Host}
 */
function detect(host) {
  const files = host.files ?? diskFiles
  const entry = findEntry(host, files)
  if (entry.folder === null) return unknown(null, entry.why)

  const launcher = findLauncher(entry.folder, files)
  if (launcher.name === APPLICATION && launcher.version !== null) {
    return {
      name: APPLICATION,
      version: launcher.version,
      source: 'entry',
      why: `the running entry point ${quote(entry.path)} belongs to ${APPLICATION}`,
    }
  }
  if (launcher.name === OWN_NAME) {
    return unknown(OWN_NAME, `the running entry point ${quote(entry.path)} is ${OWN_NAME}'s own, not a Harness`)
  }

  const { found, problem } = findIdentity(entry.folder, ignoredModules(host, files), files)
  const about = `the running entry point ${quote(entry.path)} ${launcher.why}`
  const [identity] = found
  if (identity) {
    const others = found.filter(other => other.version !== identity.version)
    const dispute = others.map(other => `, though ${other.name} beside it is ${quote(other.version)}`).join('')
    return { ...identity, source: 'identity', why: `${about}; ${identity.name} resolves from it${dispute}` }
  }
  const met = problem === null ? '' : ` (met ${problem})`
  return unknown(launcher.name, `${about}, and no Harness package resolves from it${met}`)
}

/**
 * The folder that holds the running entry point, symlinks resolved: an `npm -g` style launcher is a symlink in a bin
 * folder, far from its package.
 * @param {HostProcess} host
 * @param {Files} files
 * @returns {{ folder: string, path: string } | { folder: null, why: string }}
 */
function findEntry(host, files) {
  const argv = host.argv ?? process.argv
  const execArgv = host.execArgv ?? process.execArgv
  const pkg = host.pkg ?? Reflect.get(process, 'pkg')
  const electronApp =
    host.electronApp ?? (Reflect.get(process, 'type') === 'browser' && !Reflect.get(process, 'defaultApp'))

  // Where Node was given no file to run, argv[1] is the user's own first argument and would lead to the user's own
  // folders.
  if (electronApp) return { folder: null, why: 'a packaged Electron application names no entry point' }
  if (execArgv.some(flag => /^(-e|-p|-pe|--eval|--print)($|=)/.test(flag))) {
    return { folder: null, why: 'the process runs code from its command line, so there is no entry point' }
  }

  const given = [argv[1]]
  if (isObject(pkg)) given.push(Reflect.get(pkg, 'entrypoint'), Reflect.get(pkg, 'defaultEntrypoint'))
  const executable = attempt(() => files.realpath(host.execPath ?? process.execPath))
  let why = 'the process names no entry point'
  for (const path of given) {
    if (typeof path !== 'string' || path === '' || path === '-') continue
    try {
      const file = runnable(toAbsolute(path, host), host, files)
      const stat = files.stat(file)
      // Some single-file executables give themselves as argv[1]; what lies beside such a file is not what runs in it.
      if (file === executable) why = 'the process is a single-file executable that names no entry point'
      else if (stat?.isDirectory()) return { folder: file, path: file }
      else if (stat?.isFile()) return { folder: dirname(file), path: file }
      else why = `the running entry point ${quote(path)} is no file`
    } catch (error) {
      why = `the running entry point ${quote(path)} cannot be found (${describe(error)})`
    }
  }
  return { folder: null, why: isObject(pkg) ? `${why} (packaged executable)` : why }
}

/**
 * @param {string} path
 * @param {HostProcess} host
 */
function toAbsolute(path, host) {
  if (path.startsWith('file:')) return fileURLToPath(path)
  return isAbsolute(path) ? path : resolvePath(host.cwd ?? process.cwd(), path)
}

/**
 * The file that Node runs for a path, so also for `node lib/bin` and `node .`, where argv[1] is not the file itself.
 * @param {string} path absolute
 * @param {HostProcess} host
 * @param {Files} files
 */
function runnable(path, host, files) {
  // What is a file is what runs, whatever else lies beside it.
  if (attempt(() => files.stat(path)?.isFile()) === true) return files.realpath(path)
  const resolve = host.resolve ?? createRequire(import.meta.url).resolve
  return files.realpath(attempt(() => resolve(path)) ?? path)
}

/**
 * The package that the entry point belongs to: the first manifest with a name on the way up. A nameless one only
 * marks a folder's module type and is walked past. A named or unreadable one ends the walk, as does the edge of
 * `node_modules`: beyond these lies another package, which may well be a Harness but is not what runs.
 * @param {string} folder
 * @param {Files} files
 * @returns {{ name: string | null, version: string | null, why: string }}
 */
function findLauncher(folder, files) {
  for (const dir of upwards(folder)) {
    if (basename(dir) === 'node_modules') break
    const manifest = readManifest(join(dir, 'package.json'), files)
    if (manifest.problem !== null) return { name: null, version: null, why: `has ${manifest.problem}` }
    const { name, version } = manifest
    if (name === null) continue
    const lacks = name === APPLICATION && version === null ? ', whose manifest has no version' : ''
    return { name, version, why: `belongs to ${quote(name)}${lacks}` }
  }
  return { name: null, version: null, why: 'belongs to no package' }
}

/**
 * The Harness packages that Node would resolve from a folder, all from the nearest `node_modules` that has one.
 * Walked by hand and not with `require.resolve`, which also looks into NODE_PATH and the home folder, obeys
 * `exports`, and starts at us.
 * @param {string} folder
 * @param {Set<string>} ignored `node_modules` folders to pass over, with all that is below them
 * @param {Files} files
 * @returns {{ found: { name: string, version: string }[], problem: string | null }} with the first unusable manifest
 *   met
 */
function findIdentity(folder, ignored, files) {
  let problem = null
  for (const dir of upwards(folder)) {
    const modules = join(dir, 'node_modules')
    if (basename(dir) === 'node_modules' || upwards(modules).some(part => ignored.has(part))) continue
    const found = []
    for (const name of IDENTITY) {
      const manifest = readManifest(join(modules, name, 'package.json'), files)
      problem ??= manifest.problem
      if (manifest.name === name && manifest.version !== null) found.push({ name, version: manifest.version })
    }
    if (found.length > 0) return { found, problem }
  }
  return { found: [], problem }
}

/**
 * Our own dependencies are not the host's. And what lies in `$DSH_HOME/profiles/node_modules` is a set of links that
 * the last boot of any installation on this home left behind, not necessarily of the one that runs.
 * @param {HostProcess} host
 * @param {Files} files
 */
function ignoredModules(host, files) {
  const ignored = new Set()
  const add = (/** @type {() => string} */ folder) => {
    const real = attempt(() => files.realpath(folder()))
    if (real !== undefined) ignored.add(join(real, 'node_modules'))
  }
  add(() => host.ownRoot ?? fileURLToPath(new URL('..', import.meta.url)))
  add(() => join(host.dshHome || process.env.DSH_HOME || join(homedir(), '.dsh'), 'profiles'))
  return ignored
}

/**
 * @param {string} path
 * @param {Files} files
 * @returns {{ name: string | null, version: string | null, problem: string | null }} all null if there is no such file
 */
function readManifest(path, files) {
  const nothing = { name: null, version: null, problem: null }
  const broken = (/** @type {string} */ problem) => ({
    ...nothing,
    problem: `a manifest ${quote(path)} that ${problem}`,
  })
  let text
  try {
    const stat = files.stat(path)
    if (stat === undefined) return nothing
    // Reading a pipe or a device would hang the boot.
    if (!stat.isFile()) return broken('is no file')
    if (stat.size > MANIFEST_LIMIT) return broken('is too large to be one')
    text = files.read(path)
  } catch (error) {
    const code = isObject(error) ? attempt(() => Reflect.get(error, 'code')) : undefined
    return code === 'ENOENT' || code === 'ENOTDIR' ? nothing : broken(`cannot be read (${describe(error)})`)
  }
  // The parser's own message quotes the file, which is none of our business to log.
  const manifest = attempt(() => /** @type {unknown} */ (JSON.parse(text.replace(/^\uFEFF/, ''))))
  if (!isObject(manifest) || Array.isArray(manifest)) return broken('is not a JSON object')
  const field = (/** @type {string} */ key) => {
    const value = Reflect.get(manifest, key)
    return typeof value === 'string' && value.trim() !== '' ? value : null
  }
  return { name: field('name'), version: field('version'), problem: null }
}

/**
 * @param {string} folder absolute
 * @returns {string[]} it and its parents, up to the root of the file system
 */
function upwards(folder) {
  const dirs = [folder]
  for (let dir = folder, up = dirname(dir); up !== dir; dir = up, up = dirname(dir)) dirs.push(up)
  return dirs
}

/**
 * @param {string | null} name
 * @param {string} why
 * @returns {Host}
 */
function unknown(name, why) {
  return { name, version: null, source: 'none', why }
}

/** What the shim uses of the `tools` service, each a function, and what for. */
export const TOOLS_MEMBERS = Object.freeze({
  register: 'publishes the control tool',
  guard: 'closes the door behind the decision',
  get: 'tells whether an agent has the control tool',
  schemas: 'tells which tools an agent is shown',
})

/** What the shim uses of the plugin context, and what for. */
export const CONTEXT_MEMBERS = Object.freeze({
  on: 'listens to calls, results and session events',
  effect: 'undoes everything at unload',
  get: 'reaches optional services',
  logger: 'carries the load report',
})

/**
 * @typedef {object} Probe
 * @property {string[]} missing member names, in the table's order
 * @property {Record<string, string>} why for each missing member one phrase: what was found in its place, and what it
 *   is needed for
 */

/**
 * Checks that the injected `tools` service has the exact members that the shim uses.
 * @param {unknown} tools
 * @returns {Probe}
 */
export function probeTools(tools) {
  return probe(tools, TOOLS_MEMBERS)
}

/**
 * The same for the plugin context, where reading an unknown member throws.
 * @param {unknown} ctx
 * @returns {Probe}
 */
export function probeContext(ctx) {
  return probe(ctx, CONTEXT_MEMBERS)
}

/**
 * @param {unknown} target
 * @param {Readonly<Record<string, string>>} members
 * @returns {Probe}
 */
function probe(target, members) {
  /** @type {Probe} */
  const result = { missing: [], why: {} }
  for (const [name, use] of Object.entries(members)) {
    const problem = memberProblem(target, name)
    if (problem === null) continue
    result.missing.push(name)
    result.why[name] = `${problem}; it ${use}`
  }
  return result
}

/**
 * @param {unknown} target
 * @param {string} name
 * @returns {string | null}
 */
function memberProblem(target, name) {
  if (!isObject(target)) return `there is nothing to read it from (${target === null ? 'null' : typeof target})`
  try {
    const type = typeof Reflect.get(target, name)
    return type === 'function' ? null : `a function was expected, not ${type}`
  } catch (error) {
    return `reading it throws ${quote(describe(error))}`
  }
}

/**
 * @param {unknown} value
 * @returns {value is object} functions included: a service may be callable
 */
function isObject(value) {
  return (typeof value === 'object' && value !== null) || typeof value === 'function'
}

/**
 * @template T
 * @param {() => T} action
 * @returns {T | undefined}
 */
function attempt(action) {
  try {
    return action()
  } catch {
    return undefined
  }
}

/**
 * Names in a report come from the file system; quoted, they cannot break its one line or forge another.
 * @param {string} text
 */
function quote(text) {
  const escaped = (/** @type {string} */ char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
  // JSON leaves the controls above ASCII and the bidirectional ones as they are.
  return JSON.stringify(text.length > 300 ? `${text.slice(0, 300)}…` : text).replace(
    /[\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g,
    escaped,
  )
}

/**
 * @param {unknown} error anything thrown, which may itself throw when it is read
 * @returns {string}
 */
function describe(error) {
  const read = (/** @type {string} */ key) => attempt(() => (isObject(error) ? Reflect.get(error, key) : undefined))
  const text = [read('code'), read('message'), error].find(value => typeof value === 'string' && value !== '')
  return typeof text === 'string' ? text.replace(/\s+/g, ' ') : 'an error without a message'
}
