// Everything this project checks, in the order of cost: `npm test`. Prints a line for each stage, and stops at the first that
// fails, with its output.
//
//   npm test -- --only lint,typecheck     some stages only; set-up always runs
//   npm test -- --only vitest inprocess   words are passed on to Vitest, which takes them as file filters
//   npm test -- --project headless        as are all other options
import { buildAddon, buildFaults, checkTypes } from './build.mjs'
import { entry, run, since } from './lib/proc.mjs'
import { commandOf, inRoot, projectNode } from './lib/project.mjs'
import { setup } from './setup.mjs'

const cargo = (/** @type {string[]} */ ...args) => run('cargo', args)
const clippy = (/** @type {string[]} */ ...what) => cargo('clippy', ...what, '--', '-D', 'warnings')

/** Vitest's report goes to the terminal, and to a file for whoever wants its totals. @param {string[]} words */
const vitest = words => {
  const report = inRoot('target', 'vitest.json')
  const reporters = ['--reporter', 'default', '--reporter', 'json', `--outputFile.json=${report}`]
  return run(projectNode(), [commandOf('vitest', 'vitest'), 'run', ...reporters, ...words], { show: true })
}

/** @type {Record<string, (words: string[]) => unknown>} */
const stages = {
  fmt: () => cargo('fmt', '--check'),
  // The core with its tests, then the binding; not both at once, since under `cfg(test)` the napi macros export nothing and
  // all of the binding looks unused.
  clippy: async () => {
    await clippy('--all-targets')
    await clippy('--all-features')
  },
  cargo: () => cargo('test'),
  build: () => buildAddon(),
  faults: () => buildFaults(),
  types: () => checkTypes(),
  lint: () => run(projectNode(), [commandOf('@biomejs/biome', 'biome'), 'check', '--error-on-warnings', '.']),
  typecheck: () => run(projectNode(), [commandOf('typescript', 'tsc'), '--noEmit']),
  vitest,
}

/** Takes our one option out of the arguments; the rest is Vitest's. @param {string[]} args */
function parse(args) {
  const at = args.indexOf('--only')
  if (at < 0) return { wanted: Object.keys(stages), words: args }
  const wanted = (args[at + 1] ?? '').split(',')
  const unknown = wanted.filter(name => !Object.hasOwn(stages, name))
  if (unknown.length > 0) {
    throw new Error(
      `--only knows ${Object.keys(stages).join(', ')}; not ${unknown.map(name => `"${name}"`).join(', ')}`,
    )
  }
  return { wanted, words: args.toSpliced(at, 2) }
}

entry(async () => {
  const { wanted, words } = parse(process.argv.slice(2))
  const started = performance.now()
  const { basicMemory } = await setup()
  // Without it the tests on the real server would skip themselves, and a broken set-up would look like a machine without Python.
  if (!basicMemory.ready && !basicMemory.absent) throw new Error(basicMemory.reason)
  for (const [name, stage] of Object.entries(stages)) {
    if (!wanted.includes(name)) continue
    const begun = performance.now()
    try {
      await stage(words)
    } catch (error) {
      process.stdout.write(`failed  ${name}  ${since(begun)}\n`)
      throw error
    }
    process.stdout.write(`ok  ${name}  ${since(begun)}\n`)
  }
  process.stdout.write(`done in ${since(started)}\n`)
})
