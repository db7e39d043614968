/**
 * Arguments, results and configurations that are no plain data, or too much of it. They are read as far as a rule needs
 * them and no further, and what cannot be read opens nothing.
 */
import { describe, expect, test } from 'vitest'
import { addon, answer, hits, Stage, write } from './addon.js'
import { attempt, nextCallWorks, revoked, thrower, traps } from './hostile.js'

/** @param {number} levels @param {(inner: unknown) => unknown} wrap */
function nested(levels, wrap) {
  let value = /** @type {unknown} */ ('the innermost')
  for (let level = 0; level < levels; level++) value = wrap(value)
  return value
}

describe('arguments of a write', () => {
  const judge = (/** @type {unknown} */ args) => {
    const stage = new Stage()
    stage.classify('complex')
    const outcome = attempt(() => stage.judge({ tool: write, args }).code)
    stage.drop()
    return outcome
  }
  const creates = { value: 'CREATE_REQUIRES_SEARCH' }
  const overwrites = { value: 'MEMORY_LOOKUP_REQUIRED' }
  const malformed = { value: 'MALFORMED_ARGUMENTS' }

  test('none at all, and what is no object', () => {
    for (const args of [undefined, null, 5, true, '', '{}', 1n, Symbol('s'), () => 1, [], [{}]]) {
      expect(judge(args)).toEqual(malformed)
    }
  })

  test('ten megabytes of content', () => {
    expect(judge({ title: 'A', content: 'x'.repeat(10_000_000) })).toEqual(creates)
    expect(judge({ content: ['\ud83d\ude00'.repeat(2_000_000), 'x'.repeat(5_000_000)] })).toEqual(creates)
    // A title of that length is no file name.
    expect(judge({ title: '\ud83d\ude00'.repeat(2_000_000) })).toEqual({ value: 'UNSAFE_NOTE_PATH' })
  })

  test('twenty thousand keys', () => {
    const many = Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`key ${i}`, i]))
    expect(judge(many)).toEqual(creates)
    expect(judge({ ...many, dir: 'a', path: 'b' })).toEqual(malformed)
  })

  test('ten thousand levels', () => {
    for (const wrap of [inner => [inner], inner => ({ inner })]) {
      expect(judge({ metadata: nested(10_000, wrap) })).toEqual(creates)
      expect(judge({ overwrite: nested(10_000, wrap) })).toEqual(overwrites)
    }
  })

  test('one that holds itself', () => {
    const args = /** @type {any} */ ({ title: 'A' })
    Object.assign(args, { self: args, overwrite: args })
    expect(judge(args)).toEqual(overwrites)
  })

  test("only what is the object's own counts", () => {
    expect(judge(Object.create({ overwrite: true, dir: 'a', path: 'b' }))).toEqual(creates)
    expect(judge(JSON.parse('{"__proto__":{"overwrite":true},"title":"A"}'))).toEqual(creates)
    expect(judge({ ['__proto__']: null, dir: 'a', path: 'b' })).toEqual(malformed)
    expect(judge(Object.assign(Object.create(null), { overwrite: 1 }))).toEqual(overwrites)
  })

  test('keys and values that UTF-8 cannot spell', () => {
    expect(judge({ '\ud800': 1, '\udfff': 2, title: '\ud800', overwrite: '\ud800' })).toEqual(overwrites)
    expect(judge({ 'directory\0': 'a', directory: 'b' })).toEqual(creates)
    // U+0144 and U+0164 end in the bytes of D and d: no key is read by the low byte of its characters.
    expect(judge({ '\u0164irectory': 'a', directory: 'b' })).toEqual(creates)
  })

  test('undefined is absent', () => {
    expect(judge({ title: 'A', overwrite: undefined })).toEqual(creates)
  })

  test('a getter and a proxy may throw, and nothing is allowed by it', () => {
    const getter = {
      get overwrite() {
        return thrower()
      },
    }
    for (const args of [getter, new Proxy({}, traps), revoked]) {
      const { value, error } = judge(args)
      expect(value === undefined || value === 'MEMORY_LOOKUP_REQUIRED' || value === 'MALFORMED_ARGUMENTS').toBe(true)
      if (value === undefined) expect(error).toBeInstanceOf(Error)
    }
    nextCallWorks()
  })

  test('a getter that comes back into the addon harms nothing', () => {
    const stage = new Stage()
    stage.classify('complex')
    const inner = []
    const args = {
      title: 'A',
      get overwrite() {
        inner.push(
          attempt(() => stage.holdings()),
          attempt(() => addon.openSession(stage.policy)),
        )
        return false
      },
    }
    attempt(() => stage.judge({ tool: write, args }))
    expect(inner).toHaveLength(2)
    expect(stage.judge({ tool: write, args: {} }).decision).toBe('deny')
    stage.drop()
    nextCallWorks()
  })
})

describe('results of a lookup', () => {
  const settle = (/** @type {unknown} */ value) =>
    attempt(() => {
      const stage = new Stage()
      const settled = stage.lookUp(value)
      stage.drop()
      return settled
    })
  const found = { value: { outcome: 'succeeded', observations: [] } }
  const failed = { value: { outcome: 'failed', observations: [] } }
  const odd = { value: { outcome: 'succeeded', observations: ['LOOKUP_HEADING_UNKNOWN'] } }
  const long = 'x'.repeat(10_000_000)
  const text = (/** @type {string} */ t) => ({ content: [{ type: 'text', text: t }] })

  test('ten megabytes', () => {
    expect(settle(answer(`# Search Results: ${long}`))).toEqual(found)
    expect(settle(answer(`# Search Failed ${long}`))).toEqual(failed)
    expect(settle(answer(long))).toEqual(odd)
    expect(settle(text(JSON.stringify({ query: long, results: [{ content: long }] })))).toEqual(found)
    expect(settle(text(JSON.stringify({ results: [{ content: long }], error: long })))).toEqual(failed)
    expect(settle(answer(' '.repeat(10_000_000)))).toEqual(odd)
    expect(settle(answer('{'.repeat(1_000_000)))).toEqual(odd)
    expect(settle(answer('['.repeat(1_000_000)))).toEqual(odd)
  })

  test('a million hits', () => {
    expect(settle({ structuredContent: { results: Array(1_000_000).fill({}) } })).toEqual(found)
  })

  test('ten thousand levels, as a value and as a text', () => {
    for (const [open, close] of ['[]', ['{"a":', '}']]) {
      const deep = open.repeat(10_000) + 1 + close.repeat(10_000)
      expect(settle(text(`{"results":[${deep}]}`))).toEqual(found)
      expect(settle(text(`{"error":${deep},"results":[]}`))).toEqual(failed)
    }
    expect(settle({ structuredContent: { results: [nested(10_000, inner => [inner])] } })).toEqual(found)
    expect(settle({ structuredContent: nested(10_000, inner => ({ result: inner })) })).toEqual(odd)
    expect(settle({ content: nested(10_000, inner => [inner]) })).toEqual(odd)
  })

  test('one that holds itself', () => {
    const value = /** @type {any} */ ({ results: [] })
    Object.assign(value, { structuredContent: value, content: [value] })
    expect(settle(value)).toEqual({ value: { outcome: 'succeeded', observations: ['RECALL_EMPTY'] } })
  })

  test("only what is the object's own counts", () => {
    expect(settle(Object.create(hits))).toEqual(odd)
    expect(settle({ structuredContent: Object.create({ error: 'x' }) })).toEqual(odd)
    expect(settle(JSON.parse('{"structuredContent":{"__proto__":{"error":"x"},"results":[1]}}'))).toEqual(found)
  })

  test('characters beyond the first plane, cut anywhere, and halves of them', () => {
    for (const padding of ['😀'.repeat(40), '\ud800'.repeat(80), `${'😀'.repeat(31)}\ud83d`]) {
      expect(settle(answer(`# Search Results: ${padding}`))).toEqual(found)
      expect(settle(answer(`# Search Failed ${padding}`))).toEqual(failed)
      expect(settle(answer(padding))).toEqual(odd)
    }
    expect(settle(text(`{"results":["\ud800"]}`))).toEqual(found)
  })

  test('headings are not read by the low byte of their characters', () => {
    const shifted = [...'# Search Results: x'].map(c => String.fromCharCode(c.charCodeAt(0) + 0x100)).join('')
    expect(settle(answer(shifted))).toEqual(odd)
  })

  test('a getter and a proxy may throw, and nothing is proven by it', () => {
    const getter = {
      get content() {
        return thrower()
      },
    }
    for (const value of [getter, { structuredContent: new Proxy({}, traps) }, { content: revoked }]) {
      const { value: settled } = settle(value)
      if (settled) expect(settled.observations).toEqual(['LOOKUP_HEADING_UNKNOWN'])
    }
    nextCallWorks()
  })
})

describe('configurations', () => {
  const problems = (/** @type {unknown} */ config) => {
    const found = addon.readConfig(config).problems
    expect(() => addon.createPolicy(config)).toThrow('problems')
    return found.map(({ path, code }) => [path.join('.'), code])
  }

  test('an explicit undefined is an absent key, known or not', () => {
    expect(addon.readConfig({ mode: undefined, nonsense: undefined })).toMatchObject({ ok: true, mode: 'audit' })
    expect(addon.readConfig(undefined)).toMatchObject({ ok: true, mode: 'audit' })
  })

  test('what JSON cannot say', () => {
    for (const value of [() => 1, Symbol('s'), 1n, Number.NaN, Number.POSITIVE_INFINITY, new Date(0)]) {
      expect(problems({ mode: value })).toEqual([['mode', 'INVALID_TYPE']])
      expect(problems({ createRequiresSearch: value })).toEqual([['createRequiresSearch', 'INVALID_TYPE']])
      expect(problems({ serverNames: ['bm', value] })).toEqual([['serverNames.1', 'INVALID_TYPE']])
    }
    expect(problems({ serverNames: ['bm', undefined] })).toEqual([['serverNames.1', 'INVALID_TYPE']])
    expect(problems({ serverNames: new Array(1) })).toEqual([['serverNames.0', 'INVALID_TYPE']])
    for (const value of [() => 1, Symbol('s'), 1n]) expect(problems(value)).toEqual([['', 'NOT_AN_OBJECT']])
  })

  test('keys that only look like none', () => {
    expect(problems({ '\ud800': 1 })).toEqual([['\ufffd', 'UNKNOWN_KEY']])
    expect(problems({ 'mode\0': 'enforce' })).toEqual([['mode\0', 'UNKNOWN_KEY']])
    expect(problems({ 7: 1 })).toEqual([['7', 'UNKNOWN_KEY']])
    expect(problems(JSON.parse('{"__proto__":{"mode":"enforce"}}'))).toEqual([['__proto__', 'UNKNOWN_KEY']])
  })

  test("only what is the object's own counts", () => {
    expect(addon.readConfig(Object.create({ mode: 'enforce' }))).toMatchObject({ ok: true, mode: 'audit' })
    expect(addon.readConfig(Object.assign(Object.create(null), { mode: 'enforce' })).mode).toBe('enforce')
  })

  test('one that holds itself, many times over', () => {
    const config = /** @type {any} */ ({})
    for (let i = 0; i < 200; i++) config[`key ${i}`] = config
    expect(problems(config)).toHaveLength(200)
    const list = /** @type {any[]} */ ([])
    list.push(list, list)
    expect(problems({ serverNames: list })).toEqual([
      ['serverNames.0', 'INVALID_TYPE'],
      ['serverNames.1', 'INVALID_TYPE'],
    ])
  })

  test('ten thousand levels', () => {
    expect(problems({ mode: nested(10_000, inner => ({ inner })) })).toEqual([['mode', 'INVALID_TYPE']])
    expect(problems({ serverNames: nested(10_000, inner => [inner]) })).toEqual([['serverNames.0', 'INVALID_TYPE']])
  })

  test('ten megabytes', () => {
    const long = 'x'.repeat(10_000_000)
    expect(problems({ mode: long, [long]: 1, serverNames: [long] })).toHaveLength(3)
    for (const { message } of addon.readConfig({ mode: long, [long]: 1, serverNames: [long] }).problems) {
      expect(message.length).toBeLessThan(400)
    }
  })

  test('a getter is read, and one that throws is an error of its own', () => {
    expect(
      addon.readConfig({
        get mode() {
          return 'enforce'
        },
      }).mode,
    ).toBe('enforce')
    expect(() =>
      addon.readConfig({
        get mode() {
          return thrower()
        },
      }),
    ).toThrow('a trap of the test')
    expect(() => addon.readConfig(new Proxy({}, traps))).toThrow()
    nextCallWorks()
  })

  test('a policy keeps the configuration that it was made of', () => {
    const config = { serverNames: ['bm'], mode: 'audit' }
    const stage = new Stage(config)
    config.serverNames[0] = 'other'
    config.mode = 'enforce'
    expect(addon.policyInfo(stage.policy)).toMatchObject({ serverNames: ['bm'], mode: 'audit' })
    addon.policyInfo(stage.policy).prefixes.push('')
    expect(addon.toolId(stage.policy, 'bash')).toBe(0)
    stage.drop()
  })
})
