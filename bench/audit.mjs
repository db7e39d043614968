// What the trail costs: `npm run bench:audit`. Everything in one run, so that the ratios are of one machine in one mood.
//
//   node bench/audit.mjs              10 000, 100 000 and 1 000 000 records, and a home of 100 000 files
//   node bench/audit.mjs --quick      a tenth of it
//
// Prints ratios and totals. A limit that is not kept is named, and the exit code is 1.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { perRecordHome, singleHome } from '../__test__/support/generate-trail.js'
import { AuditStore, DOMAIN } from '../js/audit-store.js'
import { entry } from '../scripts/lib/proc.mjs'
import { inRoot, projectNode } from '../scripts/lib/project.mjs'

const LIMITS = { seconds: 20, megabytes: 1000, handing: 3, flat: 1.5 }

/** @type {string[]} */
const broken = []
/** @param {string} what @param {number} value @param {number} limit */
function within(what, value, limit) {
  const kept = value <= limit
  if (!kept) broken.push(what)
  return kept ? '' : `   over the limit of ${limit}`
}

const print = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)

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
  const ratio = hand / push
  print(
    `handing a record to the sink   ${hand.toFixed(0)} ns, an array push of such an object ${push.toFixed(0)} ns: ${ratio.toFixed(2)} times${within('handing', ratio, LIMITS.handing)}`,
  )
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
  const { stdout, stderr } = spawnSync(projectNode(), ['--input-type=module', '--eval', script], { encoding: 'utf8' })
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

entry(async () => {
  const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
  const scale = values.quick ? 10 : 1
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bmpp-bench-'))
  try {
    handing()
    /** @type {Record<string, number[]>} */
    const costs = { report: [], verify: [] }
    const homes = [
      ...[10_000, 100_000, 1_000_000].map(size => ({ size: size / scale, layout: 'single', make: singleHome })),
      { size: 100_000 / scale, layout: 'per-record', make: perRecordHome },
    ]
    for (const [index, { size, layout, make }] of homes.entries()) {
      const storages = join(dir, String(index))
      await make(storages, { records: size, seed: 11 })
      const bytes =
        layout === 'single'
          ? `${(statSync(join(storages, `${DOMAIN}.json`)).size / 1e6).toFixed(0)} MB`
          : `${size} files`
      for (const name of ['report', 'verify']) {
        // The first run warms the page cache; of the others the fastest counts, and the largest.
        measure(name, storages)
        const runs = [1, 2, 3].map(() => measure(name, storages))
        const { records, contradictions } = runs[0]
        const seconds = Math.min(...runs.map(run => run.seconds))
        const kilobytes = Math.max(...runs.map(run => run.kilobytes))
        const each = (seconds / records) * 1e6
        const megabytes = kilobytes / 1000
        if (layout === 'single') costs[name]?.push(each)
        if (contradictions > 0) broken.push(`${name} found a contradiction`)
        const over =
          within(`${name} seconds`, seconds, LIMITS.seconds) || within(`${name} memory`, megabytes, LIMITS.megabytes)
        print(
          `${name.padEnd(7)} ${layout.padEnd(11)} ${String(records).padStart(8)} records (${bytes})   ${seconds.toFixed(2)} s, ${each.toFixed(2)} µs a record, ${megabytes.toFixed(0)} MB at most${over}`,
        )
      }
      rmSync(storages, { recursive: true })
    }
    for (const [name, [small = 1, , large = 1]] of Object.entries(costs)) {
      const ratio = large / small
      print(
        `${name}: a record of the largest costs ${ratio.toFixed(2)} times one of the smallest${within(`${name} flat`, ratio, LIMITS.flat)}`,
      )
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
  if (broken.length > 0) throw new Error(`over the limit: ${broken.join(', ')}`)
})
