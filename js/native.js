/**
 * Finds and loads the native addon. There is no fallback to run without it: a gate that cannot decide must not
 * pretend to, so a missing or wrong binary is one error, written for the person who has to mend it.
 *
 * Only this file knows where binaries lie and what they are called. It is loaded anew for each worker thread and for
 * each query-string import; Node's own module cache makes these share one addon per thread.
 */
import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Base name of the binary and of the platform packages. */
const NAME = 'dsh-bmpp'

/** Environment variable that names one addon to load, and no other. Node's own loader decides what the file is. */
const OVERRIDE = 'DSH_BMPP_NATIVE'

/** @typedef {typeof import('../index.js')} Addon the exports that index.d.ts describes */

/**
 * @typedef {object} NativeOptions what is left out comes from the running process
 * @property {string} [root] our package's folder, which holds package.json and a local build
 * @property {string} [platform]
 * @property {string} [arch]
 * @property {Libc} [libc] of a Linux system
 * @property {Record<string, string | undefined>} [env]
 * @property {{ node?: string, modules?: string, napi?: string }} [versions]
 * @property {(path: string) => unknown} [load] loads the binary at an absolute path
 */

/** @typedef {{ kind: 'gnu' | 'musl' | null, version: string | null }} Libc kind null: cannot be told */

/**
 * A place where the addon may be.
 * @typedef {object} Candidate
 * @property {string} label names the place in the error
 * @property {() => string | null} find absolute path, or null if nothing is there
 * @property {string} absent says so
 */

/**
 * Loads the addon from the first place that has one which loads: `DSH_BMPP_NATIVE`, which excludes every other; a
 * build in the package's folder; the optional package of this platform.
 * @param {NativeOptions} [options]
 * @returns {Addon} whose version is that of our package.json
 * @throws {Error} one line: the platform, every place looked at with what went wrong there, and the mend. A binary
 *   that loads but is of another version ends the search, so that a stale build is never replaced in silence, nor
 *   used
 */
export function loadAddon(options = {}) {
  const root = options.root ?? fileURLToPath(new URL('..', import.meta.url))
  const platform = options.platform ?? process.platform
  const arch = options.arch ?? process.arch
  const isLinux = platform === 'linux'
  const libcKind = isLinux ? (options.libc ?? { kind: programLibc() ?? detectLibc().kind }).kind : null
  const versions = options.versions ?? process.versions
  const override = (options.env ?? process.env)[OVERRIDE]
  const { require, version } = ownPackage(root)
  const load = options.load ?? require

  const triples = platformTriples(platform, arch, libcKind)
  const candidates = override
    ? [overrideCandidate(override)]
    : [
        ...triples.map(triple => localCandidate(root, triple)),
        ...triples.map(triple => packageCandidate(require, triple)),
      ]

  /** @type {string[]} */
  const tried = []
  /** @type {unknown[]} */
  const errors = []
  for (const { label, find, absent } of candidates) {
    let path = null
    try {
      path = find()
      if (path !== null) return checked(load(path), path, version)
      tried.push(`${label} (${absent})`)
    } catch (error) {
      if (error instanceof WrongAddon) throw new Error(error.message)
      const file = path === null ? null : wrongFile(path, platform, arch)
      tried.push(`${label} (${line(error)}${file === null ? '' : `; the file ${file}`})`)
      errors.push(error)
    }
  }

  const libc = isLinux ? (options.libc ?? detectLibc()) : { kind: null, version: null }
  const system = [
    `${platform} ${arch}`,
    ...(isLinux ? [libcName(libc)] : []),
    `Node ${versions.node}`,
    `ABI ${versions.modules}`,
    `N-API ${versions.napi}`,
  ]
  const places = tried.join(', then ')
  const cure = mend(errors, libc, override ? null : `${NAME}-${triples[0]}`)
  throw new Error(`${NAME} cannot load its native addon (${system.join(', ')}). Looked for ${places}. ${cure}`, {
    cause: errors.length > 1 ? new AggregateError(errors) : errors[0],
  })
}

/** Says that a file loaded, but is not the addon of this package. */
class WrongAddon extends Error {}

/**
 * @param {unknown} addon
 * @param {string} path
 * @param {string} expected
 * @returns {Addon}
 */
function checked(addon, path, expected) {
  const refuse = (/** @type {string} */ reason) => {
    const mend = 'Rebuild it with `npm run build` in a checkout, or reinstall the package.'
    return new WrongAddon(`${NAME} ${expected} does not use the native addon ${path}: ${reason}. ${mend}`)
  }
  const candidate = /** @type {Partial<Addon> | null | undefined} */ (addon)
  if (typeof candidate?.addonVersion !== 'function') {
    throw refuse('it exports no addonVersion, so it is not the addon of this package')
  }
  const { addonVersion } = candidate
  const found = attempt(() => addonVersion())
  if (found !== expected) {
    throw refuse(typeof found === 'string' ? `it was built for version ${found}` : 'it does not tell its version')
  }
  return /** @type {Addon} */ (candidate)
}

/**
 * @param {string} root
 */
function ownPackage(root) {
  const path = join(root, 'package.json')
  try {
    const { version } = JSON.parse(readFileSync(path, 'utf8'))
    if (typeof version !== 'string') throw new Error('it has no version')
    return { require: createRequire(path), version }
  } catch (error) {
    const problem = `cannot read its own manifest ${path} (${line(error)})`
    throw new Error(`${NAME} ${problem}, so it cannot tell which native addon is its own. Reinstall the package.`, {
      cause: error,
    })
  }
}

/**
 * @param {string} path
 * @returns {Candidate}
 */
function overrideCandidate(path) {
  const label = `${path}, named by ${OVERRIDE}`
  if (isAbsolute(path)) return { label, find: () => existing(path), absent: 'no such file' }
  return { label, find: () => null, absent: 'not an absolute path' }
}

/**
 * @param {string} root
 * @param {string} triple
 * @returns {Candidate}
 */
function localCandidate(root, triple) {
  const path = join(root, `${NAME}.${triple}.node`)
  return { label: `the build ${path}`, find: () => existing(path), absent: 'no such file' }
}

/**
 * @param {NodeJS.Require} require
 * @param {string} triple
 * @returns {Candidate}
 */
function packageCandidate(require, triple) {
  const id = `${NAME}-${triple}`
  return {
    label: `the package ${id}`,
    absent: 'not installed',
    find: () => {
      // The manifest tells a package that is not installed from one that is, but incomplete: for both, resolving the
      // binary reports no more than a module that was not found.
      if (!resolves(require, `${id}/package.json`)) return null
      return require.resolve(id)
    },
  }
}

/**
 * @param {NodeJS.Require} require
 * @param {string} request
 */
function resolves(require, request) {
  try {
    require.resolve(request)
    return true
  } catch (error) {
    return field(error, 'code') !== 'MODULE_NOT_FOUND'
  }
}

/**
 * @param {string} path
 * @returns {string | null}
 */
function existing(path) {
  return statSync(path, { throwIfNoEntry: false }) ? path : null
}

/**
 * napi-rs's names for a system. Two where the libc cannot be told: the loader refuses the wrong one.
 * @param {string} platform
 * @param {string} arch
 * @param {'gnu' | 'musl' | null} libc
 * @returns {string[]}
 */
export function platformTriples(platform, arch, libc) {
  if (platform === 'linux') {
    const suffix = arch === 'arm' ? 'eabihf' : ''
    return (libc === null ? ['gnu', 'musl'] : [libc]).map(kind => `linux-${arch}-${kind}${suffix}`)
  }
  if (platform === 'win32') return [`win32-${arch}-msvc`]
  if (platform === 'android' && arch === 'arm') return ['android-arm-eabi']
  return [`${platform}-${arch}`]
}

/** Of an ELF program, the part that names its dynamic loader; this many bytes from its start hold that name. */
const PT_INTERP = 3
const PROGRAM_START = 4096

/**
 * Which C library a Linux program was linked with, by the dynamic loader that it names. Takes a fraction of the time of Node's
 * own report, so it is asked first.
 * @param {string} [path] the running Node
 * @returns {'gnu' | 'musl' | null} null where it cannot be told, as of a program without a loader
 */
export function programLibc(path = process.execPath) {
  return (
    attempt(() => {
      const bytes = firstBytes(path, PROGRAM_START)
      // The 64-bit little-endian ELF format; no other is promised.
      if (bytes.readUInt32BE(0) !== 0x7f454c46 || bytes[4] !== 2 || bytes[5] !== 1) return null
      // Offsets and lengths have 64 bits, of which the upper half says nothing within these bytes.
      const at = bytes.readUInt32LE(32)
      const size = bytes.readUInt16LE(54)
      for (let index = 0; index < bytes.readUInt16LE(56); index += 1) {
        const header = at + index * size
        if (bytes.readUInt32LE(header) !== PT_INTERP) continue
        const offset = bytes.readUInt32LE(header + 8)
        const named = bytes.toString('latin1', offset, offset + bytes.readUInt32LE(header + 32))
        const loader = named.slice(named.lastIndexOf('/') + 1)
        if (loader.startsWith('ld-musl-')) return 'musl'
        return loader.startsWith('ld-linux') || loader.startsWith('ld64.so.') ? 'gnu' : null
      }
      return null
    }) ?? null
  )
}

/**
 * Which C library the running Node was linked with. Its own report knows; files only tell what is installed, which on a
 * system with both need not be what runs.
 * @param {{ report?: () => unknown, read?: (path: string) => string, list?: (folder: string) => string[] }} [sources]
 * @returns {Libc}
 */
export function detectLibc(sources = {}) {
  const {
    report = nodeReport,
    read = path => readFileSync(path, 'utf8'),
    list = folder => readdirSync(folder),
  } = sources

  const document = attempt(report)
  const version = field(field(document, 'header'), 'glibcVersionRuntime')
  if (typeof version === 'string') return { kind: 'gnu', version }
  const objects = field(document, 'sharedObjects')
  if (Array.isArray(objects) && objects.some(object => /ld-musl-|libc\.musl-/.test(String(object)))) {
    return { kind: 'musl', version: null }
  }

  const ldd = attempt(() => read('/usr/bin/ldd')) ?? ''
  if (ldd.includes('musl')) return { kind: 'musl', version: null }
  if (/GNU C Library|GLIBC/.test(ldd)) return { kind: 'gnu', version: null }
  const loaders = attempt(() => list('/lib')) ?? []
  if (loaders.some(name => name.startsWith('ld-musl-'))) return { kind: 'musl', version: null }
  return { kind: null, version: null }
}

function nodeReport() {
  const report = /** @type {NodeJS.ProcessReport & { excludeNetwork?: boolean }} */ (process.report)
  const before = report.excludeNetwork
  // Without this the report looks up the host name of every open connection, which can take seconds.
  report.excludeNetwork = true
  try {
    return report.getReport()
  } finally {
    report.excludeNetwork = before
  }
}

/** @param {Libc} libc */
function libcName({ kind, version }) {
  if (kind === null) return 'unknown libc'
  return kind === 'musl' ? 'musl libc' : `glibc${version === null ? '' : ` ${version}`}`
}

/**
 * @param {unknown[]} errors of the loader
 * @param {Libc} libc
 * @param {string | null} packageName of this system's platform package; null if the environment named one file
 */
function mend(errors, libc, packageName) {
  const build = 'build it in a checkout with `npm run build`, which needs cargo'
  if (errors.some(error => field(error, 'code') === 'ERR_DLOPEN_DISABLED')) {
    return 'Start Node without --no-addons, and under the permission model with --allow-addons.'
  }
  const needed = errors.map(error => /GLIBC_[\d.]+/.exec(line(error))?.[0]).find(Boolean)
  if (needed)
    return `The binary needs ${needed}, and this system has ${libcName(libc)}: use a newer system, or ${build}.`
  if (packageName === null) return `Point ${OVERRIDE} at an addon that was built for this system, or unset it.`
  if (errors.length > 0) return `Reinstall ${NAME} on this system, or ${build}.`
  const reinstall = `Reinstall ${NAME} with its optional dependencies (no --omit=optional)`
  return `${reinstall}, which brings ${packageName} where that is published; else ${build}.`
}

/** ELF e_machine and Mach-O cputype → Node's name of the architecture. */
const ELF_MACHINES = new Map([
  [0x03, 'ia32'],
  [0x15, 'ppc64'],
  [0x16, 's390x'],
  [0x28, 'arm'],
  [0x3e, 'x64'],
  [0xb7, 'arm64'],
  [0xf3, 'riscv64'],
  [0x102, 'loong64'],
])
const MACHO_CPUS = new Map([
  [0x01000007, 'x64'],
  [0x0100000c, 'arm64'],
])

/**
 * What is wrong with a file that did not load, as far as its first bytes tell. Loaders report a binary of another
 * system as "no such file" or "invalid header", which sends people looking in the wrong place.
 * @param {string} path
 * @param {string} platform
 * @param {string} arch
 * @returns {string | null} a phrase, or null if nothing is wrong at this depth
 */
function wrongFile(path, platform, arch) {
  const bytes = attempt(() => firstBytes(path, 64))
  if (bytes === undefined) return null
  if (bytes.length === 0) return 'is empty'
  const [system, machine] = binaryKind(bytes)
  if (system === null) return 'is no native library'
  const native = platform === 'win32' || platform === 'darwin' ? platform : 'elf'
  if (system === native && (machine === null || machine === arch)) return null
  const names = { elf: 'an ELF binary', darwin: 'a macOS binary', win32: 'a Windows binary' }
  return `is ${names[system]}${machine === null ? '' : ` for ${machine}`}`
}

/**
 * @param {Buffer} bytes
 * @returns {['elf' | 'darwin' | 'win32' | null, string | null]} system and architecture
 */
function binaryKind(bytes) {
  const magic = bytes.length < 20 ? 0 : bytes.readUInt32BE(0)
  if (magic === 0x7f454c46) {
    const machine = bytes[5] === 2 ? bytes.readUInt16BE(18) : bytes.readUInt16LE(18)
    return ['elf', ELF_MACHINES.get(machine) ?? `machine ${machine}`]
  }
  if (magic === 0xcffaedfe) return ['darwin', MACHO_CPUS.get(bytes.readUInt32LE(4)) ?? null]
  if (magic === 0xcafebabe) return ['darwin', null]
  return bytes.subarray(0, 2).toString('latin1') === 'MZ' ? ['win32', null] : [null, null]
}

/**
 * @param {string} path
 * @param {number} count
 */
function firstBytes(path, count) {
  const file = openSync(path, 'r')
  try {
    const buffer = Buffer.alloc(count)
    return buffer.subarray(0, readSync(file, buffer, 0, count, 0))
  } finally {
    closeSync(file)
  }
}

/**
 * @param {unknown} error
 * @returns {string} its message on one line, without the list of requiring modules
 */
function line(error) {
  const message = field(error, 'message')
  return (typeof message === 'string' ? message : 'an error without a message')
    .replace(/\nRequire stack:.*/s, '')
    .replace(/\s+/g, ' ')
    .replace(/[. ]+$/, '')
}

/**
 * @param {unknown} value
 * @param {string} key
 * @returns {unknown}
 */
function field(value, key) {
  return typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined
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
