// Builds the addon with the napi-rs command line.
//
//   npm run build               dsh-bmpp.<platform>.node and index.d.ts in the root
//   npm run build -- --target x86_64-apple-darwin
//                               the same for another platform, where this system can build for it
//   npm run build -- --types    types/ alone, without the addon
//   npm run build -- --faults   target/faults/dsh-bmpp.node: the same crate with an entry that panics on demand, for the tests
//
// Whether there is anything to compile is cargo's to know: it is asked each time, and a test never sees a stale build.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { entry, run } from './lib/proc.mjs'
import { commandOf, inRoot, isGlibc, linkerOf, linksOld, projectNode, root, toolchains } from './lib/project.mjs'
import { setupBuild } from './setup.mjs'

const generatedTypes = inRoot('target', 'napi', 'index.d.ts')
export const committedTypes = inRoot('index.d.ts')

/**
 * What makes the shipped addon the same on every machine that builds it: no path of this one in it, and, for Linux with glibc,
 * an old C library to link against (hosts/toolchain). Where that is not unpacked the system's own serves, for a build that stays
 * here; `npm run pack` refuses to pack it.
 * @param {string} [target]
 */
function shippedEnv(target) {
  const cargoHome = process.env.CARGO_HOME || join(homedir(), '.cargo')
  const sources = join(cargoHome, 'registry', 'src')
  const registries = existsSync(sources) ? readdirSync(sources).map(name => join(sources, name)) : []
  const remapped = [...registries.map(path => `${path}=/cargo`), `${cargoHome}=/cargo`, `${root}=/dsh-bmpp`]
  const given = process.env.CARGO_ENCODED_RUSTFLAGS?.split('\x1f') ?? process.env.RUSTFLAGS?.split(/ +/) ?? []
  const flags = [...given.filter(Boolean), ...remapped.map(pair => `--remap-path-prefix=${pair}`)]
  // A library that Node loads is never linked statically, which for musl is Rust's default.
  if (process.platform === 'linux' && (target?.endsWith('musl') ?? !isGlibc)) flags.push('-Ctarget-feature=-crt-static')
  /** @type {Record<string, string>} */
  const env = { CARGO_ENCODED_RUSTFLAGS: flags.join('\x1f') }
  for (const triple of /** @type {(keyof typeof toolchains)[]} */ (Object.keys(toolchains))) {
    if (!linksOld || !existsSync(linkerOf(triple))) continue
    env[`CARGO_TARGET_${triple.toUpperCase().replaceAll('-', '_')}_LINKER`] = linkerOf(triple)
  }
  return env
}

/**
 * @param {string[]} options
 * @param {string} outputDir
 * @param {{ show?: boolean, env?: Record<string, string> }} [how] `show`: cargo's own progress
 */
async function napiBuild(options, outputDir, { show = false, env = {} } = {}) {
  mkdirSync(outputDir, { recursive: true })
  // --no-js: the loader is js/native.js, which is ours.
  await run(
    projectNode(),
    [commandOf('@napi-rs/cli', 'napi'), 'build', '--no-js', '--output-dir', outputDir, ...options],
    { show, env },
  )
}

/** Puts a file in place by renaming: a process that has the old one mapped keeps it. @param {string} from @param {string} to */
function replace(from, to) {
  if (existsSync(to) && readFileSync(from).equals(readFileSync(to))) return
  const fresh = `${to}.${process.pid}.fresh`
  copyFileSync(from, fresh)
  renameSync(fresh, to)
}

/**
 * The addon that ships, in the root. Leaves index.d.ts alone unless told to write it.
 * @param {{ writeTypes?: boolean, show?: boolean, target?: string }} [options] `target`: a Rust triple, for another platform
 */
export async function buildAddon({ writeTypes = false, show = false, target } = {}) {
  const output = target === undefined ? inRoot('target', 'napi') : inRoot('target', 'napi', target)
  const options = [
    '--platform',
    '--release',
    '--features',
    'node',
    ...(target === undefined ? [] : ['--target', target]),
  ]
  await napiBuild(options, output, { show, env: shippedEnv(target) })
  for (const file of readdirSync(output)) if (file.endsWith('.node')) replace(join(output, file), inRoot(file))
  if (writeTypes) replace(generatedTypes, committedTypes)
  await buildTypes()
}

/** The types of what package.json exports. @returns {string[]} below types/ */
function typeEntries() {
  const { exports } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  return Object.values(exports).flatMap(({ types }) => (types ? [types.replace('./types/', '')] : []))
}

/**
 * Declarations, and all that they refer to: what a user of them can see.
 * @param {string} folder
 * @param {string[]} entries
 */
function reachable(folder, entries) {
  const found = new Set(entries.map(entry => normalize(entry)))
  for (const file of found) {
    const text = readFileSync(join(folder, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)) {
      const target = join(dirname(file), path.replace(/\.js$/, ''))
      found.add(`${target}.d.ts`)
    }
  }
  return [...found]
}

/**
 * What TypeScript reads of the package: types/, made from the JSDoc of the shim, with the declarations that are written by hand.
 * Not committed, so that it cannot differ from the code. Of the shim's insides it has what the exports refer to.
 */
export async function buildTypes() {
  const output = inRoot('target', 'types')
  rmSync(output, { recursive: true, force: true })
  await run(projectNode(), [commandOf('typescript', 'tsc'), '--project', inRoot('tsconfig.types.json')])
  const written = readdirSync(inRoot('js')).filter(name => name.endsWith('.d.ts'))
  for (const file of ['index.d.ts', ...written.map(name => join('js', name))]) {
    copyFileSync(inRoot(file), join(output, file))
  }
  const fresh = reachable(output, typeEntries())
  mkdirSync(inRoot('types', 'js'), { recursive: true })
  for (const file of readdirSync(inRoot('types'), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.d.ts') && !fresh.includes(file)) rmSync(inRoot('types', file))
  }
  for (const file of fresh) replace(join(output, file), inRoot('types', file))
}

/** The addon that can be made to panic. @param {{ show?: boolean }} [options] */
export async function buildFaults({ show = false } = {}) {
  // Neither --release nor --profile: cargo's dev profile, which the tool does not find under its own name.
  const targetDir = inRoot('target', 'faults-build')
  await napiBuild(['--features', 'faults', '--target-dir', targetDir], inRoot('target', 'faults'), { show })
}

/** Throws when index.d.ts is not what the last build generated. */
export function checkTypes() {
  const committed = existsSync(committedTypes) ? readFileSync(committedTypes, 'utf8') : ''
  if (committed === readFileSync(generatedTypes, 'utf8')) return
  throw new Error(
    'index.d.ts is not what the crate now exports. Run `npm run build`, look at the change, and commit it.',
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values } = parseArgs({
      options: {
        faults: { type: 'boolean', default: false },
        types: { type: 'boolean', default: false },
        target: { type: 'string' },
      },
    })
    await setupBuild(values.target)
    if (values.faults) await buildFaults({ show: true })
    else if (values.types) await buildTypes()
    else await buildAddon({ writeTypes: values.target === undefined, show: true, target: values.target })
  })
}
