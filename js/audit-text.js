/**
 * A record as it is stored: one line of JSON under a key. docs/AUDIT.md has the schema; src/audit/record.rs reads it.
 */
import { createHash } from 'node:crypto'

/** The schema version. */
const SCHEMA = 1
/** Positions in each millisecond for records of one load. Times this, the clock fits a safe integer until the year 2248. */
const ORDERS_PER_MS = 1024
/** Digits of a position in base 36: room for any safe integer. */
const ORDER_DIGITS = 11
/** Characters of a text that somebody else chose: a session id, a call id. */
const FOREIGN_MAX = 128
/** What a call id is made of. */
const WORD = /^[\w:.-]+$/
/** What a session id is made of: no spaces, and nothing that cannot be seen. @type {RegExp | undefined} */
let visible
/** No literal: where one has classes of Unicode, the engine builds them each time that it reads the code around it. */
function visibleText() {
  visible ??= /^[^\p{C}\p{Z}]+$/u
  return visible
}

/**
 * @typedef {object} Text one record as it is stored
 * @property {string} json
 * @property {number} order
 * @property {string} kind
 * @property {string | null} session
 * @property {string | null} event of a turn record
 * @property {boolean} standsIn it stands in place of records that could not be kept
 */

/**
 * The next position: by the clock, but always after the one before, also where the clock was set back.
 * @param {number} last
 * @param {number} time milliseconds since 1970
 */
export const orderAfter = (last, time) => Math.max(last + 1, time * ORDERS_PER_MS)

/**
 * The key of a record or chunk whose first position is `order`. Keys sort by time, and no two loads share one.
 * @param {number} order
 * @param {string} load
 */
export const keyOf = (order, load) => `${order.toString(36).padStart(ORDER_DIGITS, '0')}_${load}`

/** The load that a key is of. @param {string} key */
export const loadOf = key => key.slice(ORDER_DIGITS + 1)

/**
 * @param {Record<string, any>} record
 * @param {string} load
 * @param {number} order
 * @param {Record<string, string | null>} stamp
 * @returns {Text}
 */
export function storable(record, load, order, stamp) {
  const { kind, seq, time, ...more } = record
  /** @type {Record<string, any>} */
  const all = { bmpp: SCHEMA, kind, load, seq, order, time, ...more, ...stamp }
  if (record.session !== undefined) all.session = foreign(record.session, visibleText())
  if (record.call !== undefined) all.call = foreign(record.call, WORD)
  return {
    json: JSON.stringify(told(all)),
    order,
    kind,
    session: record.session ?? null,
    event: record.event ?? null,
    standsIn: kind === 'lost',
  }
}

/**
 * What is null, false or empty is not written: it reads the same when it is not there. Only of the record itself, since in the
 * configuration that a load record holds an empty list says something.
 * @param {Record<string, any>} all
 */
function told(all) {
  /** @type {Record<string, any>} */
  const some = {}
  for (const [key, value] of Object.entries(all)) {
    if (value !== null && value !== false && !(Array.isArray(value) && value.length === 0)) some[key] = value
  }
  return some
}

/**
 * A text that somebody else chose, fit for a record. What is too long or holds other characters than such a text has could
 * say something, so only a digest that tells it from others is kept.
 * @param {unknown} text
 * @param {RegExp} shape
 */
function foreign(text, shape) {
  if (text === null || text === undefined) return null
  const whole = String(text).toWellFormed()
  if (whole.length <= FOREIGN_MAX && shape.test(whole)) return whole
  return `~${createHash('sha256').update(whole).digest('hex').slice(0, 16)}`
}
