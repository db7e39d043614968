// Measures ways of doing something side by side: they take turns in batches, so that a mood of the machine or of the collector
// meets all of them. Of a round's batches the fastest counts, and of the rounds the median. What is counted is the time that our
// thread had the processor, so that a neighbour who takes it away does not count.
import { Bench } from 'tinybench'

/**
 * @typedef {object} Way
 * @property {(index: number) => unknown} call
 * @property {number} [times] how many times as many calls a batch has: for what is over too soon to be measured
 * @property {(from: number) => void} [prepare] before each batch, not measured
 */

/** How often: rounds with the collector run in between, and batches of each way in a round. */
export const ROUNDS = 9
const BATCHES = 5

/** The one loop that everything is called from. @param {(index: number) => unknown} call @param {number} from @param {number} calls */
function loop(call, from, calls) {
  for (let index = from; index < from + calls; index += 1) call(index)
}

/** @param {readonly number[]} values */
export function median(values) {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Milliseconds that this process has had the processor. Its collector runs in our thread: see the flags in run.mjs. */
export function processorTime() {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}

/** Runs the collector, which `--expose-gc` gives. */
export function collect() {
  if (typeof globalThis.gc !== 'function') throw new Error('benchmarks need node --expose-gc')
  globalThis.gc()
}

/**
 * Nanoseconds for each call, by way and round.
 * @template {string} Name
 * @param {Record<Name, Way>} ways
 * @param {{ calls?: number, rounds?: number, batches?: number }} [options] `calls` in a batch
 * @returns {Record<Name, number[]>}
 */
export function measure(ways, { calls = 1000, rounds = ROUNDS, batches = BATCHES } = {}) {
  const names = /** @type {Name[]} */ (Object.keys(ways))
  /** @type {any} */
  const all = Object.fromEntries(names.map(name => [name, []]))
  // The first round warms up: it is not kept.
  for (let round = -1; round < rounds; round += 1) {
    collect()
    const least = new Map(names.map(name => [name, Number.POSITIVE_INFINITY]))
    for (let batch = 0; batch < batches; batch += 1) {
      const bench = new Bench({ iterations: 1, time: 0, warmup: false, now: processorTime })
      const from = ((round + 1) * batches + batch) * calls
      for (const name of names) {
        const { call, prepare, times = 1 } = ways[name]
        bench.add(name, () => loop(call, from, calls * times), { beforeEach: () => prepare?.(from) })
      }
      bench.runSync()
      for (const task of bench.tasks) {
        const { result } = task
        if (!('latency' in result)) throw 'error' in result ? result.error : new Error(`${task.name} was not measured`)
        const name = /** @type {Name} */ (task.name)
        least.set(name, Math.min(least.get(name) ?? 0, (result.latency.min * 1e6) / (calls * (ways[name].times ?? 1))))
      }
    }
    if (round >= 0) for (const name of names) all[name].push(least.get(name) ?? Number.NaN)
  }
  return all
}

/**
 * The ratio of two ways: that of each round, and of these the median.
 * @param {readonly number[]} of
 * @param {readonly number[]} to
 */
export const ratio = (of, to) => median(of.map((value, round) => value / (to[round] ?? Number.NaN)))
