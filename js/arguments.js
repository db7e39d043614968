/**
 * What will run must be what was judged. Arguments that the host made are lossless JSON, deep-frozen; a plugin may put any
 * object in their place. {@link plain} tells whether an object can still change or answer differently when asked twice, and
 * makes a copy that cannot.
 */
// Not from `node:util`: importing that as an ES module runs all of its getters, and so loads what a host may never need.
import { isProxy } from 'node:util/types'

/** Levels of a copy. What the host makes is not copied, so this bounds only what other plugins put in. */
const DEPTH_MAX = 1000

/**
 * The value itself where it is deep-frozen plain data, else a deep-frozen copy; `undefined` where it is not plain data, so
 * that what the server would receive cannot be told.
 * @param {unknown} value
 * @returns {unknown}
 */
export function plain(value) {
  if (isFixed(value)) return value
  try {
    return copy(value, 0)
  } catch {
    return undefined
  }
}

/** What was found to be fixed, and so is for good: the same arguments are looked at by every door. @type {WeakSet<object>} */
const found = new WeakSet()

/**
 * Whether a value is data that can never read otherwise: primitives, and frozen plain objects and arrays of such. Iterative,
 * since a model may nest ten thousand levels deep.
 * @param {unknown} value
 */
export function isFixed(value) {
  if (!isContainer(value)) return isPrimitive(value)
  if (found.has(value)) return true
  /** What is still to be looked at; most arguments hold nothing that holds others. @type {object[]} */
  const open = [value]
  const seen = new Set(open)
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (isProxy(next) || !Object.isFrozen(next) || !isPlain(next)) return false
    for (const key of Reflect.ownKeys(next)) {
      const property = Reflect.getOwnPropertyDescriptor(next, key)
      if (typeof key === 'symbol' || property === undefined || !('value' in property)) return false
      // What is not listed is read by a body and left out of JSON: the two would be different arguments.
      if (!property.enumerable && !(key === 'length' && Array.isArray(next))) return false
      const held = property.value
      if (isContainer(held)) {
        if (seen.has(held) || found.has(held)) continue
        seen.add(held)
        open.push(held)
      } else if (!isPrimitive(held)) return false
    }
  }
  found.add(value)
  return true
}

/**
 * @param {unknown} value
 * @param {number} depth
 * @returns {unknown}
 */
function copy(value, depth) {
  if (!isContainer(value)) {
    if (isPrimitive(value)) return value
    throw new TypeError('no plain data')
  }
  if (isFixed(value)) return value
  if (depth >= DEPTH_MAX || isProxy(value) || !isPlain(value)) throw new TypeError('no plain data')
  if (Array.isArray(value)) {
    const items = []
    // By position, since a list can bring an iterator of its own.
    for (let index = 0; index < value.length; index++) items.push(copy(own(value, `${index}`), depth + 1))
    return Object.freeze(items)
  }
  /** @type {Record<string, unknown>} */
  const object = {}
  for (const key of Object.keys(value)) {
    const item = own(value, key)
    // What JSON leaves out is left out here too.
    if (item === undefined) continue
    // Defined, not assigned: `__proto__` may be an own key, and must stay one.
    Object.defineProperty(object, key, { value: copy(item, depth + 1), enumerable: true })
  }
  return Object.freeze(object)
}

/** The value of an own property, without running a getter for it. @param {object} value @param {string} key */
function own(value, key) {
  const property = Reflect.getOwnPropertyDescriptor(value, key)
  if (property === undefined || !('value' in property)) throw new TypeError('no plain data')
  return property.value
}

/** @param {unknown} value @returns {value is object} */
const isContainer = value => typeof value === 'object' && value !== null

/** @param {object} value */
function isPlain(value) {
  if (Array.isArray(value)) return Object.getPrototypeOf(value) === Array.prototype
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

/** @param {unknown} value */
const isPrimitive = value =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)
