/**
 * Trails of any size, made by the real gate with made-up days of work, and laid out as hosts lay them out.
 */
import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { DOMAIN, TABLE } from '../../js/audit-store.js'
import { keyOf, orderAfter, storable } from '../../js/audit-text.js'
import { bareGate } from './audit-writer.js'

const CHUNK = 500
const tool = (/** @type {string} */ raw) => `mcp__basic-memory__${raw}`
const note = Object.freeze({ title: 'T', directory: 'd', content: '' })

/** Random numbers that come again with the same seed. @param {number} seed */
export function random(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/**
 * Plays days of work until so many records are made.
 * @param {object} options
 * @param {number} options.records at least
 * @param {(json: string, order: number) => void} options.put
 * @param {number} [options.seed]
 * @param {any} [options.config]
 * @param {string} [options.load]
 * @param {number} [options.from] milliseconds since 1970
 * @param {number} [options.stepMs] between records
 * @returns {Promise<number>} how many it were
 */
export async function play({
  records,
  put,
  seed = 1,
  config,
  load = 'generated0',
  from = 1_790_000_000_000,
  stepMs = 900,
}) {
  const next = random(seed)
  const chance = (/** @type {number} */ p) => next() < p
  let made = 0
  let order = 0
  let time = from
  const stamp = { host: '0.1.5-rc.2', plugin: '0.1.0', policy: '0.1.0' }
  const sink = {
    record(/** @type {any} */ record) {
      made += 1
      order = orderAfter(order, record.time)
      put(storable(record, load, order, stamp).json, order)
    },
  }
  const now = () => {
    time += Math.floor(next() * 2 * stepMs)
    return time
  }
  const gate = bareGate(sink, { config, now })
  while (made < records) {
    const hex = (/** @type {number} */ digits) =>
      Math.floor(next() * 16 ** digits)
        .toString(16)
        .padStart(digits, '0')
    const session = gate.session(`session-${hex(8)}-${hex(4)}-4${hex(3)}-a${hex(3)}-${hex(12)}`)
    const turns = 1 + Math.floor(next() * 12)
    // Between sessions somebody sleeps.
    time += Math.floor(next() * 40 * stepMs)
    for (let turn = 1; turn <= turns && made < records; turn += 1) {
      session.event('turn/start', { turn })
      let step = 1
      const call = (/** @type {string} */ name, /** @type {any} */ args, answer = {}) =>
        session.call(turn, step++, name, args, answer)
      if (chance(0.3)) await call(tool('read_note'), { identifier: 'n' })
      if (chance(0.75)) {
        const complex = chance(0.6)
        if (chance(0.8)) await call('bmpp__classify', { task: complex ? 'complex' : 'simple' })
        if (chance(complex ? 0.8 : 0.2)) {
          const failed = chance(0.06)
          const empty = chance(0.2) ? 'No results found for x' : '# Search Results'
          await call(
            tool(chance(0.8) ? 'search_notes' : 'build_context'),
            { query: 'x' },
            { text: failed ? '# Search Failed' : empty },
          )
          if (chance(0.15)) step -= 1
        }
        const raw = chance(0.7) ? 'write_note' : chance(0.8) ? 'edit_note' : 'delete_note'
        for (let n = chance(0.2) ? 2 : 1; n > 0; n -= 1) await call(tool(raw), note, { isError: chance(0.03) })
        if (chance(0.05)) await call('bmpp__classify', { task: 'simple' })
      }
      session.event('turn/end', { turn })
    }
    session.close()
  }
  gate.recorder.record({ kind: 'unload' })
  return made
}

/**
 * A home in the single-file layout, written as a stream.
 * @param {string} storages
 * @param {Parameters<typeof play>[0] extends infer T ? Omit<T, 'put'> : never} options
 */
export async function singleHome(storages, options) {
  mkdirSync(storages, { recursive: true })
  const file = openSync(join(storages, `${DOMAIN}.json`), 'w')
  writeSync(
    file,
    `{\n  "unit": {\n    "name": "${DOMAIN}",\n    "version": 1\n  },\n  "global": null,\n  "tables": {\n    "${TABLE}": {`,
  )
  /** @type {string[]} */
  let texts = []
  let key = ''
  let first = true
  const flush = () => {
    if (texts.length === 0) return
    const body = texts.map(text => `          ${JSON.stringify(text)}`).join(',\n')
    writeSync(
      file,
      `${first ? '' : ','}\n      "${key}": {\n        "bmpp": 1,\n        "records": [\n${body}\n        ]\n      }`,
    )
    first = false
    texts = []
  }
  const load = options.load ?? 'generated0'
  const made = await play({
    ...options,
    put(json, order) {
      if (texts.length === 0) key = keyOf(order, load)
      texts.push(json)
      // The record of a load has a key of its own.
      if (texts.length >= CHUNK || first) flush()
    },
  })
  flush()
  writeSync(file, '\n    }\n  }\n}\n')
  closeSync(file)
  return made
}

/**
 * A home with a file for each record.
 * @param {string} storages
 * @param {any} options as `play` takes them, but `put`
 */
export function perRecordHome(storages, options) {
  const folder = join(storages, DOMAIN, TABLE)
  mkdirSync(folder, { recursive: true })
  const load = options.load ?? 'generated0'
  return play({
    ...options,
    put(json, order) {
      const document = { unit: { name: DOMAIN, version: 1 }, value: JSON.parse(json) }
      writeFileSync(join(folder, `${keyOf(order, load)}.json`), JSON.stringify(document, null, 2))
    },
  })
}
