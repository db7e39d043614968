// Set-up of a fresh clone, and nothing to do in one that is set up: the development tools, a Node.js that can run the Harness,
// the Harness itself, Basic Memory, and on Linux x64 a linker for an addon that runs on older systems too. Only Node built-ins, since this runs before anything is installed.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { CommandFailed, entry, run, since } from './lib/proc.mjs'
import { commandOf, hosts, inRoot, linksOld, ownNodeWillDo, root, toolchains } from './lib/project.mjs'

/**
 * A part is up to date when its stamp, which lies in the folder that it fills, holds the digest of what it was made from.
 * Removing the folder thus removes the stamp.
 * @typedef {{ name: string, inputs: string[], folder: string, install: () => Promise<unknown> }} Part
 */

/** @param {keyof typeof toolchains} target @returns {Part} */
function toolchainPart(target) {
  const folder = toolchains[target]
  const unpack = inRoot('hosts', 'toolchain', 'unpack.mjs')
  return {
    name: `a linker for ${target}`,
    inputs: [join(folder, 'package-lock.json'), unpack],
    folder: join(folder, 'node_modules'),
    install: async () => {
      await run('npm', ['ci'], { cwd: folder })
      await run(process.execPath, [unpack, folder])
    },
  }
}

/** @type {Record<'tools' | 'node' | 'toolchain' | 'toolchain-aarch64' | 'dsh' | 'basic-memory', Part>} */
const parts = {
  tools: {
    name: 'development tools',
    inputs: [inRoot('package-lock.json')],
    folder: inRoot('node_modules'),
    install: () => run('npm', ['ci']),
  },
  node: {
    name: 'Node.js for the Harness',
    inputs: [join(hosts.node, 'package-lock.json')],
    folder: join(hosts.node, 'node_modules'),
    install: () => run('npm', ['ci'], { cwd: hosts.node }),
  },
  toolchain: toolchainPart('x86_64-unknown-linux-gnu'),
  'toolchain-aarch64': toolchainPart('aarch64-unknown-linux-gnu'),
  dsh: {
    name: 'the DeepSeek Harness',
    inputs: [join(hosts.dsh, 'package.json'), join(hosts.dsh, 'pnpm-lock.yaml')],
    folder: join(hosts.dsh, 'node_modules'),
    // npm's own resolver needs more than ten minutes for this tree of peers, pnpm fifteen seconds. CI=true keeps pnpm from
    // asking whether it may replace an older node_modules.
    install: () =>
      run(process.execPath, [commandOf('pnpm', 'pnpm'), 'install', '--frozen-lockfile', '--ignore-scripts'], {
        cwd: hosts.dsh,
        env: { CI: 'true' },
      }),
  },
  'basic-memory': {
    name: 'Basic Memory',
    inputs: ['install.sh', 'requirements.txt', 'constraints.txt'].map(file => join(hosts.basicMemory, file)),
    folder: join(hosts.basicMemory, '.root'),
    install: () => run('bash', [join(hosts.basicMemory, 'install.sh')]),
  },
}

/** @param {Part} part */
function digest({ inputs }) {
  const hash = createHash('sha256')
  // The platform, because the folder holds binaries; the root, because a Python environment knows its own path.
  hash.update(`${process.platform}-${process.arch} ${root}`)
  for (const file of inputs) hash.update(readFileSync(file))
  return hash.digest('hex')
}

const progress = (/** @type {string} */ line) => process.stderr.write(`setup: ${line}\n`)

/** What is being installed, or was looked at: of two who need a part, the second waits for the first. @type {Map<Part, Promise<void>>} */
const ensured = new Map()

/** @param {Part} part @returns {Promise<void>} */
function ensure(part) {
  const before = ensured.get(part) ?? install(part)
  ensured.set(part, before)
  return before
}

/** @param {Part} part */
async function install(part) {
  const stamp = join(part.folder, '.dsh-bmpp-stamp')
  const wanted = digest(part)
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  rmSync(stamp, { force: true })
  const started = performance.now()
  progress(`installing ${part.name} …`)
  await part.install()
  writeFileSync(stamp, wanted)
  progress(`${part.name}: ready after ${since(started)}`)
}

/**
 * Whether the real Basic Memory is there, and if not, why. `absent` is no fault of the set-up: this machine cannot have it.
 * @typedef {{ ready: true } | { ready: false, absent: boolean, reason: string }} MemoryServer
 */

/** @returns {Promise<MemoryServer>} */
async function ensureBasicMemory() {
  if (process.platform === 'win32') {
    return {
      ready: false,
      absent: true,
      reason: 'Basic Memory is set up by a shell script, which Windows does not run.',
    }
  }
  try {
    await ensure(parts['basic-memory'])
    return { ready: true }
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    // With 3 install.sh says that there is no suitable Python.
    const absent = error.code === 3
    const reason = absent ? error.output.trim() : `Basic Memory could not be installed.\n${error.output.trim()}`
    progress(reason)
    return { ready: false, absent, reason }
  }
}

/**
 * Installs what building the addon takes, and no Harness.
 * @param {string} [target] a Rust triple, where it is not built for this system
 */
export async function setupBuild(target) {
  const cross = target === 'aarch64-unknown-linux-gnu' && linksOld
  await allOf([
    ensure(parts.tools),
    ...(ownNodeWillDo ? [] : [ensure(parts.node)]),
    ...(linksOld ? [ensure(parts.toolchain)] : []),
    ...(cross ? [ensure(parts['toolchain-aarch64'])] : []),
  ])
}

/**
 * Installs what is missing or out of date. Of all parts only Basic Memory may fail: whether that matters is the caller's to say.
 * @returns {Promise<{ basicMemory: MemoryServer }>}
 */
export async function setup() {
  const memory = ensureBasicMemory()
  // The Harness comes after the tools, since pnpm is one of them.
  await allOf([memory, setupBuild(), ensure(parts.tools).then(() => ensure(parts.dsh))])
  return { basicMemory: await memory }
}

/**
 * Everything at once, since the parts fill different folders and mostly wait for the network; and all to its end, so that a
 * failure leaves none half-way.
 * @param {Promise<unknown>[]} work
 */
async function allOf(work) {
  for (const outcome of await Promise.allSettled(work)) if (outcome.status === 'rejected') throw outcome.reason
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { basicMemory } = await setup()
    progress(basicMemory.ready ? 'all there' : 'all there but Basic Memory')
  })
}
