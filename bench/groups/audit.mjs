// What the trail costs: handing a record to the sink, and reading 10 000, 100 000 and 1 000 000 records back, and a home of 100 000
// files. Reading is measured from outside, each time in a process of its own.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { perRecordHome, singleHome } from '../../__test__/support/generate-trail.js'
import { AuditStore } from '../../js/audit-store.js'
import { inRoot } from '../../scripts/lib/project.mjs'

/**
 * The least time of some rounds of each way, in nanoseconds for each call. The ways take turns, so that a mood of the collector
 * is a mood of both.
 * @param {Array<() => (index: number) => void>} ways
 * @param {number} calls
 */
function nanoseconds(ways, calls) {
  const least = ways.map(() => Number.POSITIVE_INFINITY)
  for (let round = 0; round < 60; round += 1) {
    for (const [way, prepare] of ways.entries()) {
      const call = prepare()
      const started = process.hrtime.bigint()
      for (let index = 0; index < calls; index += 1) call(index)
      least[way] = Math.min(least[way] ?? 0, Number(process.hrtime.bigint() - started) / calls)
    }
  }
  return least
}

/** An object of the size of a decision record, new each time. @param {number} seq */
const record = seq => ({
  seq,
  time: 1_800_000_000_000,
  kind: 'decision',
  place: 'agent',
  session: 'session-70afea79-84a9-48fc-b07b-ccc4392f83b7',
  life: 1,
  turn: 3,
  countedTurn: null,
  step: 2,
  number: seq,
  call: 'call_3',
  tool: 'mcp__basic-memory__write_note',
  class: 'write',
  facts: 'creates',
  controlHidden: false,
  findings: [],
  decision: 'deny',
  code: 'CREATE_REQUIRES_SEARCH',
  observations: [],
  enforcement: 'denied',
  canAsk: false,
  classification: 'complex',
  lookup: 'none',
  at: 'pre-execute',
  by: 'judged',
  target: null,
  mode: 'enforce',
  profile: 'compat',
})

function handing() {
  /** What was handed over is held for a while, as it is in a queue. @type {object[]} */
  const held = []
  const hold = (/** @type {object} */ one) => {
    held.push(one)
    if (held.length > 20) held.shift()
  }
  const [push = 1, hand = 1] = nanoseconds(
    [
      () => {
        /** @type {object[]} */
        const list = []
        hold(list)
        return index => void list.push(record(index))
      },
      () => {
        const store = new AuditStore({ stamp: {}, maxRecords: 0, notice() {} })
        hold(store)
        return index => store.record(/** @type {any} */ (record(index)))
      },
    ],
    5000,
  )
  return hand / push
}

/** Runs a command on a trail and measures it from outside. @param {string} name @param {string} storages */
function measure(name, storages) {
  const script = `
    import { run } from ${JSON.stringify(inRoot('js', 'cli', 'main.js'))}
    import { Terminal } from ${JSON.stringify(inRoot('js', 'cli', 'terminal.js'))}
    let out = ''
    const terminal = new Terminal({ write: (fd, text) => { out += text }, bar: false })
    const started = performance.now()
    const code = await run(['${name}', '--json', '--storages', ${JSON.stringify(storages)}], terminal)
    const seconds = (performance.now() - started) / 1000
    const { tally, contradictions } = JSON.parse(out)
    console.log(JSON.stringify({ code, seconds, records: tally.records, contradictions, kilobytes: process.resourceUsage().maxRSS }))
  `
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', script], {
    encoding: 'utf8',
  })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

/** @param {{ quick?: boolean }} options @returns {Promise<import('../lib/figure.mjs').Figure[]>} */
export async function figures({ quick = false }) {
  const scale = quick ? 100 : 1
  /** @type {import('../lib/figure.mjs').Figure[]} */
  const found = [{ name: 'handing a record to the sink', value: handing(), bar: 3, unit: '× pushing such an object' }]
  /** @type {Record<string, number[]>} */
  const costs = { report: [], verify: [] }
  const homes = [
    ...[10_000, 100_000, 1_000_000].map(size => ({ size: size / scale, layout: 'single', make: singleHome })),
    { size: 100_000 / scale, layout: 'per-record', make: perRecordHome },
  ]
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bmpp-bench-'))
  try {
    for (const [index, { size, layout, make }] of homes.entries()) {
      const storages = join(dir, String(index))
      await make(storages, { records: size, seed: 11 })
      for (const name of ['report', 'verify']) {
        // The first run warms the page cache; of the others the fastest counts, and the largest.
        measure(name, storages)
        const runs = Array.from({ length: quick ? 1 : 3 }, () => measure(name, storages))
        const { records, contradictions } = runs[0]
        if (contradictions > 0) throw new Error(`${name} found a contradiction`)
        const seconds = Math.min(...runs.map(run => run.seconds))
        const megabytes = Math.max(...runs.map(run => run.kilobytes)) / 1000
        if (layout === 'single') costs[name]?.push(seconds / records)
        const what = `${name} of ${records} records, ${layout}`
        found.push({ name: what, value: seconds, bar: 20, unit: 's' })
        found.push({ name: what, value: megabytes, bar: 1000, unit: 'MB at most' })
      }
      rmSync(storages, { recursive: true })
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  for (const [name, [small = Number.NaN, , large = Number.NaN]] of Object.entries(costs)) {
    found.push({
      name: `${name}: a record of the largest`,
      value: large / small,
      bar: 1.5,
      unit: '× one of the smallest',
    })
  }
  return found
}
