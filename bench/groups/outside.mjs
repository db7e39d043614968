// A call outside the namespace: what our listeners add to it, compared with what empty ones add, on the host's own event dispatch.
import { hostPackage } from '../../__test__/support/inprocess.js'
import { countedAddon, MinimalHost } from '../lib/gate.mjs'
import { median, processorTime, ROUNDS } from '../lib/rounds.mjs'

const CALLS = 2000
const BATCHES = 5

/** Milliseconds of the processor for each call of one that is awaited. @param {() => Promise<unknown>} call */
async function batch(call) {
  const started = processorTime()
  for (let index = 0; index < CALLS; index += 1) await call()
  return (processorTime() - started) / CALLS
}

/** @param {{ rounds?: number }} options @returns {Promise<import('../lib/figure.mjs').Figure[]>} */
export async function figures({ rounds = ROUNDS }) {
  const { Context } = await hostPackage('cordis')
  const { addon, crossings } = countedAddon()
  const host = new MinimalHost({}, addon)
  const seat = host.open('s')
  host.turn(seat)
  const exec = { callId: 'c', name: 'bash', arguments: Object.freeze({ command: 'ls' }), agent: seat.agent }
  const empty = async (/** @type {unknown} */ _exec, /** @type {() => unknown} */ next) => next()
  /** The stages of a call that have listeners of ours; the guard is a function that the host calls. */
  const stages = ['tools/pre-execute', 'tools/execute']
  /** @param {Record<string, any>} listeners @param {(exec: any) => unknown} guard */
  const chain = (listeners, guard) => {
    const ctx = new Context()
    for (const [stage, listener] of Object.entries(listeners)) ctx.on(stage, listener)
    return async () => {
      await ctx.waterfall('tools/pre-execute', exec, () => Promise.resolve({ kind: 'allow' }))
      guard(exec)
      await ctx.waterfall('tools/execute', exec, () => Promise.resolve(undefined))
    }
  }
  const ways = {
    none: chain({}, () => undefined),
    empty: chain(Object.fromEntries(stages.map(stage => [stage, empty])), () => undefined),
    ours: chain({ 'tools/pre-execute': host.gate.preExecute, 'tools/execute': host.gate.execute }, host.gate.guard),
  }
  const before = { ...crossings }
  /** @type {number[]} */
  const ratios = []
  for (let round = -1; round < rounds; round += 1) {
    globalThis.gc?.()
    const least = { none: Number.POSITIVE_INFINITY, empty: Number.POSITIVE_INFINITY, ours: Number.POSITIVE_INFINITY }
    for (let turn = 0; turn < BATCHES; turn += 1) {
      for (const name of /** @type {const} */ (['none', 'empty', 'ours'])) {
        least[name] = Math.min(least[name], await batch(ways[name]))
      }
    }
    if (round >= 0) ratios.push((least.ours - least.none) / (least.empty - least.none))
  }
  const made = Object.values(crossings).reduce((sum, count) => sum + count, 0)
  const known = Object.values(before).reduce((sum, count) => sum + count, 0)
  return [
    { name: 'listeners on a call outside the namespace', value: median(ratios), bar: 2, unit: '× empty listeners' },
    { name: 'crossings into Rust for it', value: made - known, bar: 0, unit: 'calls of the addon' },
  ]
}
