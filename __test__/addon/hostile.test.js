/**
 * Values that nobody should pass, at every place where one can be passed. Whatever comes, the process lives, what is
 * thrown is an error, and the next right call is answered rightly.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { addon, hits, Stage, search, write } from './addon.js'
import { exportsOf, rightCalls } from './calls.js'
import { attempt, nextCallWorks, revoked, thrower, traps } from './hostile.js'

/** @type {Record<string, unknown>} */
const odd = {
  undefined: undefined,
  null: null,
  true: true,
  false: false,
  'an empty text': '',
  'a text': 'text',
  'a text of digits': '1',
  'a lone surrogate': '\ud800',
  'two lone surrogates the wrong way round': 'a\udc00\ud800b',
  'a text with NUL': 'a\0b',
  'a text of ten million characters': 'x'.repeat(10_000_000),
  NaN: Number.NaN,
  Infinity: Number.POSITIVE_INFINITY,
  '-Infinity': Number.NEGATIVE_INFINITY,
  '-0': -0,
  '-1': -1,
  1.5: 1.5,
  '2^31': 2 ** 31,
  '2^32 - 1': 2 ** 32 - 1,
  '2^32': 2 ** 32,
  '2^53': 2 ** 53,
  '1e308': 1e308,
  '1n': 1n,
  '2n^64': 2n ** 64n,
  'a symbol': Symbol('s'),
  'a function': () => 1,
  'a class': class {},
  'an empty list': [],
  'a list of holes': new Array(3),
  'an empty object': {},
  'an object without a prototype': Object.create(null),
  'a frozen object': Object.freeze({ a: 1 }),
  'a date': new Date(0),
  'a map': new Map([['title', 'a']]),
  'a buffer': Buffer.alloc(10),
  'a typed array': new Float64Array(3),
  'an error': new Error('e'),
  'a promise': Promise.resolve(),
  'a boxed number': Object(1),
  'an object with a valueOf': { valueOf: () => 1, toString: thrower, [Symbol.toPrimitive]: thrower },
  'a proxy that throws': new Proxy({}, traps),
  'a proxy of a list that throws': new Proxy([], traps),
  'a revoked proxy': revoked,
  globalThis,
}

/** A policy that nobody may touch: what a stray number would hit if handles could be mistaken. */
let bystander
beforeEach(() => {
  bystander = new Stage()
  bystander.classify('simple')
})
afterEach(() => {
  expect(bystander.judge({ tool: write, args: {} })).toMatchObject({ code: 'ALLOW_SIMPLE', classification: 'simple' })
  bystander.drop()
})

describe.each(exportsOf(addon).functions)('%s', name => {
  test('takes every odd value at every place', () => {
    for (const value of Object.values(odd)) {
      const count = rightCalls(addon)[name].length
      for (let place = 0; place < count; place++) {
        const args = rightCalls(addon)[name]
        args[place] = value
        attempt(() => addon[name](...args))
      }
    }
    nextCallWorks()
  })

  test('takes too few arguments and too many', () => {
    const right = rightCalls(addon)[name]
    for (let count = 0; count < right.length; count++) attempt(() => addon[name](...right.slice(0, count)))
    attempt(() => addon[name](...rightCalls(addon)[name], 'more', {}, null))
    attempt(() => new addon[name](...rightCalls(addon)[name]))
    attempt(() => addon[name].call(null, ...rightCalls(addon)[name]))
    nextCallWorks()
  })
})

describe('numbers that stand for nothing', () => {
  const words = [6, 0x3f, 3 << 7, 13 << 11, 30 << 11, 2 ** 31, 2 ** 32 - 1]

  test('a policy that was dropped, and one that never was', () => {
    const stage = new Stage()
    const session = stage.session()
    stage.drop()
    stage.drop()
    for (const policy of [stage.policy, 0, 999_999, 2 ** 32 - 1]) {
      for (const name of ['policyInfo', 'openSession', 'holdings']) {
        expect(() => addon[name](policy)).toThrow('no policy with this handle')
      }
      expect(() => addon.judge(policy, 1, 3, 2, session, 1, 1, {})).toThrow('no policy with this handle')
      expect(() => addon.settle(policy, session, 1, 3, 1, 1, hits)).toThrow('no policy with this handle')
    }
  })

  test('a number is never used for two policies', () => {
    const first = addon.createPolicy({})
    addon.dropPolicy(first)
    expect(addon.createPolicy({})).not.toBe(first)
  })

  test('a tool that is none', () => {
    const { policy } = bystander
    for (const tool of [0, 7, 15, 0xfff4, (22 << 4) | 4]) {
      expect(() => addon.toolClass(tool)).toThrow('not a tool number')
      expect(() => addon.judge(policy, 1, tool, 2, 0, 1, 1, {})).toThrow('not a tool number')
      expect(() => addon.settle(policy, 0, 1, tool, 1, 1, hits)).toThrow('not a tool number')
    }
  })

  test('a word that is none', () => {
    for (const word of words) {
      expect(() => addon.describe(word)).toThrow('not a word')
      expect(() => addon.enforcement(bystander.policy, word, true)).toThrow('not a word')
    }
    for (const word of [4, 0xffff, 1 << 31]) expect(() => addon.describeSettlement(word)).toThrow('not a word')
    for (const name of ['', 'ALLOW', 'allow_simple', 'ALLOW_SIMPLE ']) {
      expect(() => addon.wordOfCode(name)).toThrow('not a word')
    }
  })

  test('a session of another policy, and one that is closed', () => {
    const stage = new Stage()
    for (const session of [0, 1, 77, 2 ** 32 - 1]) {
      const tool = addon.toolId(stage.policy, write)
      const word = addon.judge(stage.policy, 1, tool, addon.PLACE_HOST_TURN, session, 1, 1, {})
      expect(addon.describe(word).code).toBe('CALL_NOT_JUDGED')
      addon.endTurn(stage.policy, session)
      addon.closeSession(stage.policy, session)
    }
    expect(stage.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    stage.drop()
  })
})

test('names of tools that UTF-8 cannot spell are not mistaken for others', () => {
  const { policy } = bystander
  for (const name of [`${write}\ud800`, `${search}\0`, `${search}\u0000x`]) {
    expect(addon.toolClass(addon.toolId(policy, name))).toBe('unknown')
  }
  const shifted = [...search].map(c => String.fromCharCode(c.charCodeAt(0) + 0x100)).join('')
  for (const name of [shifted, `\ud800${search}`, 'x'.repeat(10_000_000)]) expect(addon.toolId(policy, name)).toBe(0)
})
