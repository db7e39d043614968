// Builds the addon with the napi-rs command line.
//
//   npm run build               dsh-bmpp.<platform>.node and index.d.ts in the root
//   npm run build -- --faults   target/faults/dsh-bmpp.node: the same crate with an entry that panics on demand, for the tests
//
// Whether there is anything to compile is cargo's to know: it is asked each time, and a test never sees a stale build.
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { entry, run } from './lib/proc.mjs'
import { commandOf, inRoot, projectNode } from './lib/project.mjs'
import { setup } from './setup.mjs'

const generatedTypes = inRoot('target', 'napi', 'index.d.ts')
export const committedTypes = inRoot('index.d.ts')

/**
 * @param {string[]} options
 * @param {string} outputDir
 * @param {boolean} [show] cargo's own progress
 */
async function napiBuild(options, outputDir, show = false) {
  mkdirSync(outputDir, { recursive: true })
  // --no-js: the loader is js/native.js, which is ours.
  await run(
    projectNode(),
    [commandOf('@napi-rs/cli', 'napi'), 'build', '--no-js', '--output-dir', outputDir, ...options],
    { show },
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
 * @param {{ writeTypes?: boolean, show?: boolean }} [options]
 */
export async function buildAddon({ writeTypes = false, show = false } = {}) {
  const output = inRoot('target', 'napi')
  await napiBuild(['--platform', '--release', '--features', 'node'], output, show)
  for (const file of readdirSync(output)) if (file.endsWith('.node')) replace(join(output, file), inRoot(file))
  if (writeTypes) replace(generatedTypes, committedTypes)
}

/** The addon that can be made to panic. @param {{ show?: boolean }} [options] */
export async function buildFaults({ show = false } = {}) {
  // Neither --release nor --profile: cargo's dev profile, which the tool does not find under its own name.
  const targetDir = inRoot('target', 'faults-build')
  await napiBuild(['--features', 'faults', '--target-dir', targetDir], inRoot('target', 'faults'), show)
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
    const { values } = parseArgs({ options: { faults: { type: 'boolean', default: false } } })
    await setup()
    if (values.faults) await buildFaults({ show: true })
    else await buildAddon({ writeTypes: true, show: true })
  })
}
