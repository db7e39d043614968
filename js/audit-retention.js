/**
 * Which stored keys must go so that no more records are kept than the operator wants: the oldest first, never those of a
 * running turn, and never the record of a load of which another record is still there, since nothing of a load can be
 * replayed without it.
 */
import { loadOf } from './audit-text.js'

/** Part of the limit by which it is undercut, so that not every put is followed by a deletion. */
const SLACK = 20

/** Sessions whose turn's beginning is remembered. */
const SESSIONS_MAX = 4096

/** @typedef {{ key: string, count: number, load: string, isLoad: boolean, last: number }} Entry `last`: position of its last record */

export class Retention {
  #max
  #own
  #total = 0
  /** Oldest first. @type {Map<string, Entry>} */
  #entries = new Map()
  /** Records of each load besides its own. @type {Map<string, number>} */
  #ofLoad = new Map()
  /** Position at which a session's turn began. @type {Map<string, number>} */
  #began = new Map()
  /** The same, of turns in which a call was judged. @type {Map<string, number>} */
  #running = new Map()

  /** @param {number} max 0: keep all @param {string} own the running load: its own record stays */
  constructor(max, own) {
    this.#max = max
    this.#own = own
  }

  /**
   * Takes over what is stored already.
   * @param {Iterable<[string, any]>} stored
   * @returns {number} the last position in it
   */
  adopt(stored) {
    this.#entries.clear()
    this.#ofLoad.clear()
    this.#total = 0
    let last = 0
    const keys = [...stored].sort(([a], [b]) => (a < b ? -1 : 1))
    for (const [key, value] of keys) {
      const entry = entryOf(key, value)
      last = Math.max(last, entry.last)
      this.#put(entry)
    }
    return last
  }

  /** A record was stored under a key. @param {string} key @param {import('./audit-text.js').Text} text */
  add(key, text) {
    const before = this.#entries.get(key)
    const entry = before ?? { key, count: 0, load: loadOf(key), isLoad: text.kind === 'load', last: 0 }
    if (before !== undefined) this.#drop(before)
    this.#put({ ...entry, count: entry.count + 1, last: text.order })
    this.#follow(text)
  }

  /** A key is not stored any more. @param {string} key */
  gone(key) {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#drop(entry)
  }

  /** Keys that must go, the oldest first. @returns {string[]} */
  surplus() {
    if (this.#max === 0 || this.#total <= this.#max) return []
    const goal = this.#max - Math.floor(this.#max / SLACK)
    const since = Math.min(...this.#running.values())
    const others = new Map(this.#ofLoad)
    /** @type {string[]} */
    const keys = []
    /** @type {Entry[]} */
    const loads = []
    let total = this.#total
    for (const entry of this.#entries.values()) {
      if (total <= goal) break
      if (entry.isLoad) {
        loads.push(entry)
        continue
      }
      if (entry.last >= since) break
      others.set(entry.load, (others.get(entry.load) ?? 0) - entry.count)
      keys.push(entry.key)
      total -= entry.count
    }
    for (const { key, load } of loads) if (load !== this.#own && (others.get(load) ?? 0) <= 0) keys.push(key)
    return keys
  }

  /** @param {Entry} entry */
  #put(entry) {
    this.#entries.set(entry.key, entry)
    this.#total += entry.count
    if (!entry.isLoad) this.#ofLoad.set(entry.load, (this.#ofLoad.get(entry.load) ?? 0) + entry.count)
  }

  /** @param {Entry} entry */
  #drop(entry) {
    this.#entries.delete(entry.key)
    this.#total -= entry.count
    if (entry.isLoad) return
    const left = (this.#ofLoad.get(entry.load) ?? 0) - entry.count
    if (left > 0) this.#ofLoad.set(entry.load, left)
    else this.#ofLoad.delete(entry.load)
  }

  /** @param {import('./audit-text.js').Text} text */
  #follow({ kind, session, event, order }) {
    if (session === null) return
    if (kind === 'turn') {
      this.#running.delete(session)
      this.#began.delete(session)
      if (event === 'end' || event === 'closed') return
      if (this.#began.size >= SESSIONS_MAX) this.#began.clear()
      this.#began.set(session, order)
    } else if (kind === 'decision' && !this.#running.has(session)) {
      if (this.#running.size >= SESSIONS_MAX) this.#running.clear()
      this.#running.set(session, this.#began.get(session) ?? order)
    }
  }
}

/**
 * What must be known of a stored value, whatever is in it.
 * @param {string} key
 * @param {any} value
 * @returns {Entry}
 */
function entryOf(key, value) {
  const load = loadOf(key)
  const entry = { key, count: 1, load, isLoad: value?.kind === 'load', last: positionOf(value) }
  if (!Array.isArray(value?.records)) return entry
  const texts = value.records
  const last = read(texts.at(-1))
  return {
    ...entry,
    count: texts.length,
    isLoad: texts.length === 1 && last?.kind === 'load',
    last: positionOf(last),
  }
}

/** @param {any} record */
const positionOf = record => (Number.isSafeInteger(record?.order) ? record.order : 0)

/** @param {unknown} text */
function read(text) {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}
