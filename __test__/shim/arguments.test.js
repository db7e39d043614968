/** What will run must be what was judged: what counts as data that can never read otherwise, and the copy of what can. */
import { deepStrictEqual } from 'node:assert'
import { describe, expect, test, vi } from 'vitest'
import { isFixed, plain } from '../../js/arguments.js'

const deepFreeze = value => {
  if (typeof value === 'object' && value !== null) {
    Object.values(value).forEach(deepFreeze)
    Object.freeze(value)
  }
  return value
}
const nested = (depth, freeze) => {
  let value = freeze ? Object.freeze({ a: 1 }) : { a: 1 }
  for (let level = 1; level < depth; level++) value = freeze ? Object.freeze({ a: value }) : { a: value }
  return value
}
const cyclic = freeze => {
  const value = {}
  value.self = value
  return freeze ? Object.freeze(value) : value
}

describe('what the host made is taken as it is', () => {
  test.each([
    ['an object', { title: 'T', tags: ['a', { b: null }], n: 1.5, yes: true }],
    ['an empty object', {}],
    ['a list', [1, 'a', null]],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
    ['__proto__ as an own key', JSON.parse('{"__proto__": {"overwrite": true}}')],
  ])('%s, deep-frozen: the very object', (_what, value) => {
    deepFreeze(value)
    expect(isFixed(value)).toBe(true)
    expect(plain(value)).toBe(value)
  })

  test.each([['text'], [''], [0], [-0], [1.5], [true], [null]])('a primitive: %s', value => {
    expect(isFixed(value)).toBe(true)
    expect(plain(value)).toBe(value)
  })

  test('ten thousand levels, without a stack', () => {
    const value = nested(10_000, true)
    expect(plain(value)).toBe(value)
  })

  test('the same part in two places, and a circle', () => {
    const part = Object.freeze({ a: 1 })
    const value = Object.freeze({ one: part, two: part })
    expect(plain(value)).toBe(value)
    const circle = cyclic(true)
    expect(plain(circle)).toBe(circle)
  })
})

describe('what a plugin put in its place is copied, for good', () => {
  test.each([
    ['an object that is not frozen', { title: 'T', tags: ['a', { b: null }] }],
    ['a frozen object with a part that is not', Object.freeze({ title: 'T', tags: ['a'] })],
    ['a sealed one', Object.seal({ title: 'T' })],
    ['a list', [1, { a: 1 }]],
    ['an object without a prototype', Object.assign(Object.create(null), { a: 1 })],
  ])('%s: an equal copy that is deep-frozen, and the original is let be', (_what, value) => {
    const before = structuredClone(value)
    const copy = plain(value)
    expect(copy).not.toBe(value)
    expect(copy).toEqual(before)
    expect(isFixed(copy)).toBe(true)
    expect(value).toEqual(before)
  })

  test('changed afterwards, the copy stays', () => {
    const value = { title: 'judged', tags: ['a'] }
    const copy = plain(value)
    value.title = 'changed'
    value.tags.push('b')
    expect(copy).toEqual({ title: 'judged', tags: ['a'] })
  })

  test('parts that are fixed are not copied again', () => {
    const part = deepFreeze({ a: { b: 1 } })
    expect(plain({ part }).part).toBe(part)
  })

  test('__proto__ as an own key stays one, and is no prototype', () => {
    const copy = plain(JSON.parse('{"__proto__": {"overwrite": true}, "a": 1}'))
    expect(Object.keys(copy)).toEqual(['__proto__', 'a'])
    expect(copy.overwrite).toBeUndefined()
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
  })

  test('what JSON leaves out is left out', () => {
    const value = { a: 1, gone: undefined, [Symbol('s')]: 1 }
    Object.defineProperty(value, 'hidden', { value: 1, enumerable: false })
    const copy = plain(value)
    expect(Reflect.ownKeys(copy)).toEqual(['a'])
  })

  test('the order of the keys stays', () => {
    expect(Object.keys(plain({ b: 1, a: 2, 1: 3 }))).toEqual(['1', 'b', 'a'])
  })
})

describe('what is no plain data has no copy: what the server would receive cannot be told', () => {
  const getter = {
    get title() {
      return 'now this, then that'
    },
  }
  const cases = [
    ['a proxy', new Proxy({ a: 1 }, {})],
    ['a frozen proxy', Object.freeze(new Proxy(Object.freeze({ a: 1 }), {}))],
    ['a proxy within', { a: new Proxy({}, {}) }],
    ['a frozen object with a proxy within', Object.freeze({ a: new Proxy({}, {}) })],
    ['a proxy of a list', [new Proxy([], {})]],
    ['a getter', getter],
    ['a frozen getter', Object.freeze(getter)],
    ['a getter within', { a: getter }],
    ['an instance of a class', new (class Note {})()],
    ['an object with another prototype', Object.create({ title: 'inherited' })],
    ['a list of another kind', new (class List extends Array {})()],
    ['a date', new Date(0)],
    ['a map', new Map([['a', 1]])],
    ['a buffer', Buffer.from('a')],
    ['a boxed text', Object('text')],
    ['a function', () => {}],
    ['a function within', { a: () => {} }],
    ['a symbol', Symbol('s')],
    ['undefined', undefined],
    ['undefined in a list', [undefined]],
    ['a hole in a list', new Array(3)],
    ['a getter in a list', Object.defineProperty(['a', 'b'], 0, { get: () => 'a' })],
    ['a bigint', 1n],
    ['NaN', Number.NaN],
    ['infinity within', { a: Number.POSITIVE_INFINITY }],
    ['a circle', cyclic(false)],
    ['more levels than anybody means', nested(5000, false)],
  ]
  test.each(cases)('%s', (_what, value) => {
    expect(plain(value)).toBeUndefined()
    if (value !== undefined) expect(isFixed(value)).toBe(false)
  })

  test('a frozen object with a symbol for a key can be read otherwise than as JSON', () => {
    const value = Object.freeze({ a: 1, [Symbol('s')]: 1 })
    expect(isFixed(value)).toBe(false)
    deepStrictEqual(plain(value), { a: 1 })
  })
})

test('nothing of the value’s own code runs: no trap of a proxy, no getter', () => {
  const ran = vi.fn()
  const handler = new Proxy({}, { get: () => ran() })
  const value = () => ({
    trap: new Proxy({}, handler),
    get title() {
      ran()
      return 'T'
    },
    toJSON: ran,
    [Symbol.toPrimitive]: ran,
  })
  const list = () =>
    Object.defineProperties(['a', 'b'], { 0: { get: ran }, [Symbol.iterator]: { value: ran, configurable: true } })
  const iterated = Object.assign(['a'], { [Symbol.iterator]: ran })
  for (const one of [value(), Object.freeze(value()), value().trap, list(), Object.freeze(list()), iterated]) {
    isFixed(one)
    plain(one)
  }
  expect(plain(iterated)).toEqual(['a'])
  expect(ran).not.toHaveBeenCalled()
})

test('up to a thousand levels of a plugin’s own are copied', () => {
  expect(isFixed(plain(nested(1000, false)))).toBe(true)
  expect(plain(nested(1002, false))).toBeUndefined()
})
