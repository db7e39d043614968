// A million governed calls through the real Harness packages in one process, among random plugins: `npm run soak`. An oracle of
// its own looks at what the tools' bodies saw. Prints what was done and found, and exits with 1 for a violation, or where memory
// grew.
//
//   npm run soak -- --calls 20000 --workers 1 --seed 7
//
// Each worker is a process with a seed of its own, counted on from --seed; a seed and a number of calls make the same run again.
// An epoch that a violation names is played alone with --seed, --from EPOCH, --calls 1000 and --workers 1.
//
// Violations are printed as they are found and memory with each tenth, so that of a run that is cut off these are known.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { median } from '../bench/lib/rounds.mjs'
import { buildAddon } from './build.mjs'
import { projectNode } from './lib/project.mjs'
import { setup } from './setup.mjs'

/** Memory in the last tenth may be this many times what it was in the second. */
const GROWTH_MAX = 1.05
/** Samples of memory in each tenth, of which the median counts: single ones differ by more than a leak would add. */
const SAMPLES = 10
/** A worker that makes no call for so long hangs. */
const SILENCE_MS = 300_000

const number = (/** @type {string} */ name, /** @type {string} */ text) => {
  const value = Number(text)
  if (!Number.isSafeInteger(value) || value < 1) throw new Error(`--${name} takes a whole number from 1, not "${text}"`)
  return value
}

/** @typedef {{ heap: number, rss: number }} Sample bytes, after garbage collection */

/** NaN where there is none: an epoch of a short run can be longer than a tenth. @param {Sample[]} samples @returns {Sample} */
const medians = samples => ({
  heap: median(samples.map(({ heap }) => heap)),
  rss: median(samples.map(({ rss }) => rss)),
})

/** @param {number} seed @param {number} calls @param {number} from */
async function work(seed, calls, from) {
  const { soak } = await import('../__test__/soak/world.js')
  const collect = /** @type {{ gc?: () => void }} */ (globalThis).gc
  /** Of each tenth. */
  const samples = Array.from({ length: 10 }, () => /** @type {Sample[]} */ ([]))
  let taken = 0
  const say = (/** @type {object} */ line) => process.stdout.write(`${JSON.stringify(line)}\n`)
  const seen = await soak({
    seed,
    calls,
    from,
    onViolation: violation => say({ violation }),
    async onProgress(done) {
      say({ done })
      if (done < ((taken + 1) * calls) / (10 * SAMPLES)) return
      const part = Math.min(10 * SAMPLES, Math.floor((done * 10 * SAMPLES) / calls))
      const tenth = Math.min(9, Math.floor((part - 1) / SAMPLES))
      taken = part
      for (let time = 0; time < 3; time++) {
        await new Promise(resolve => setImmediate(resolve))
        collect?.()
      }
      const { heapUsed, external, rss } = process.memoryUsage()
      samples[tenth]?.push({ heap: heapUsed + external, rss })
      if (part % SAMPLES === 0) say({ done, sample: medians(samples[tenth] ?? []), tenth: tenth + 1 })
    },
  })
  say({ seen, samples: samples.map(medians) })
}

/**
 * @param {number} seed
 * @param {number} calls
 * @param {number} from
 * @param {(done: number) => void} onDone
 * @returns {Promise<any>}
 */
async function worker(seed, calls, from, onDone) {
  const options = ['--seed', `${seed}`, '--calls', `${calls}`, '--from', `${from}`]
  const args = ['--expose-gc', fileURLToPath(import.meta.url), '--worker', ...options]
  const child = spawn(projectNode(), args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let last = 0
  let timer = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS)
  let report
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line)
    if (said.seen !== undefined) report = said
    else if (said.violation !== undefined) print(`seed ${seed}, ${said.violation}`)
    else if (said.sample !== undefined) {
      const { heap, rss } = said.sample
      print(
        `seed ${seed}: tenth ${said.tenth}, ${said.done} calls, heap and external ${megabytes(heap)}, resident ${megabytes(rss)}`,
      )
    } else if (said.done > last) {
      last = said.done
      onDone(last)
      clearTimeout(timer)
      timer = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS)
    }
  }
  clearTimeout(timer)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  if (report === undefined) throw new Error(`the worker with seed ${seed} ended after ${last} calls without a report`)
  return report
}

/** Adds numbers of the same name up. @param {Record<string, number>[]} lists */
function sum(lists) {
  /** @type {Record<string, number>} */
  const total = {}
  for (const list of lists) for (const [name, count] of Object.entries(list)) total[name] = (total[name] ?? 0) + count
  return total
}

const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1048576).toFixed(1)} MiB`
const print = (/** @type {string} */ line) => void process.stdout.write(`${line}\n`)
/** @param {string} title @param {Record<string, number>} counts */
function table(title, counts) {
  print(`\n${title}`)
  for (const [name, count] of Object.entries(counts).toSorted(([, a], [, b]) => b - a)) {
    print(`  ${name.padEnd(36)} ${`${count}`.padStart(9)}`)
  }
}

/** @param {number} first @param {number} calls @param {number} workers @param {number} from */
async function main(first, calls, workers, from) {
  await setup()
  await buildAddon()
  const seeds = Array.from({ length: workers }, (_, index) => first + index)
  const each = Math.ceil(calls / workers)
  const done = new Map(seeds.map(seed => [seed, 0]))
  let told = 0
  const reports = await Promise.all(
    seeds.map(seed =>
      worker(seed, each, from, count => {
        done.set(seed, count)
        const all = [...done.values()].reduce((a, b) => a + b)
        if (all - told < calls / 100) return
        told = all
        process.stderr.write(`soak: ${all} of ${calls} calls\n`)
      }),
    ),
  )
  const seen = reports.map(report => report.seen)
  const total = sum(
    seen.map(({ calls, off, outside, sessions, turns, epochs, writes, denied }) => ({
      'governed calls, gate loaded': calls - off,
      'the same with mode off': off,
      'calls outside the namespace': outside,
      sessions,
      turns,
      'loads of the gate': epochs,
      'bodies of writes that ran in enforce': writes,
      'calls that the gate denied': denied,
    })),
  )
  table(`seeds ${seeds.join(', ')}`, total)
  table('calls that a plugin meddled with, by kind', sum(seen.map(({ deeds }) => deeds)))
  table('decisions', sum(seen.map(({ codes }) => codes)))
  table('epochs by mode', sum(seen.map(({ modes }) => modes)))
  print('\nmemory after garbage collection, the median of the second and of the last tenth')
  let grew = false
  for (const [index, { samples }] of reports.entries()) {
    const [second, last] = [samples[1], samples.at(-1)]
    const growth = last.heap / second.heap
    grew ||= growth > GROWTH_MAX
    // What is no number has become null on its way here.
    if (second.heap === null || last.heap === null) print(`  seed ${seeds[index]}: too few calls to say`)
    else
      print(
        `  seed ${`${seeds[index]}`.padEnd(6)} heap and external ${megabytes(second.heap)} → ${megabytes(last.heap)}, × ${growth.toFixed(3)} (at most ${GROWTH_MAX}); resident ${megabytes(second.rss)} → ${megabytes(last.rss)}, × ${(last.rss / second.rss).toFixed(3)}`,
      )
  }
  const violations = seen.flatMap(({ seed, violations }) =>
    violations.map((/** @type {string} */ text) => `seed ${seed}, ${text}`),
  )
  print(`\nviolations: ${violations.length}`)
  for (const text of violations) print(`  ${text}`)
  process.exitCode = violations.length > 0 || grew ? 1 : 0
}

const { values } = parseArgs({
  options: {
    calls: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    workers: { type: 'string', default: '2' },
    from: { type: 'string', default: '1' },
    worker: { type: 'boolean', default: false },
  },
})
const [calls, seed, from] = [number('calls', values.calls), number('seed', values.seed), number('from', values.from)]
if (values.worker) await work(seed, calls, from)
else await main(seed, calls, number('workers', values.workers), from)
