/**
 * The two functions that every call goes through say what the general ones say: `judgeFlat` what `judge` says of the same
 * arguments, `settleText` what `settle` says of a value that is nothing but a text. Each pair plays the same conversation on two
 * policies, with values that are made to be read differently.
 */
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Core, textOf } from '../../js/core.js'
import { addon } from './addon.js'
import { fillFrame } from './calls.js'

const TOOLS = ['write_note', 'edit_note', 'move_note', 'delete_note', 'read_note', 'search_notes', 'brand_new_tool']
const NAMES = [
  'title',
  'directory',
  'folder',
  'content',
  'identifier',
  'operation',
  'overwrite',
  'project',
  'tags',
  'page',
  'metadata',
  'output_format',
  '__proto__',
  'constructor',
  'ü',
  '\ud800',
]

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 8 }),
  fc.constantFrom(
    '',
    '/',
    '../x',
    'notes',
    'a/b',
    'append',
    'json',
    'true',
    '1',
    '\ud800',
    '\ud801',
    '\ufffd',
    'x\u202ey',
    'é',
    '中',
    '{}',
    'CON',
    'n'.repeat(300),
    'é'.repeat(40_000),
    'x'.repeat(70_000),
    `${'x'.repeat(65_534)}é`,
    '\ud83d\ude80'.repeat(20_000),
    'x'.repeat(2048),
    `${'x'.repeat(2046)}é`,
  ),
)
const flat = fc.oneof(
  { weight: 4, arbitrary: text },
  fc.boolean(),
  fc.constant(null),
  fc.double(),
  fc.integer(),
  fc.constantFrom(-0, 1, 0),
)
const call = fc.record({
  tool: fc.constantFrom(...TOOLS),
  args: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), flat), { selector: ([name]) => name, maxLength: 14 }),
  answer: fc.oneof(
    text,
    fc.constantFrom(
      '# Created note\nproject: main\nfile_path: a.md\npermalink: main/a\nchecksum: 0a1b2c3d',
      '# Search Results: x',
      '{"title":"A","permalink":"main/a","file_path":"a.md"}',
      ' \n{"error":"NOTE_NOT_FOUND"}',
      `${' '.repeat(500)}{"results":[]}`,
      '[{"type":"text","text":"{}"}]',
      `# Edited note (append)${'é'.repeat(20_000)}`,
      `# Created note\nproject: main\nfile_path: ${'a'.repeat(3000)}.md\npermalink: main/${'a'.repeat(3000)}\nchecksum: 0a1b2c3d`,
      `{"title":"A","permalink":"main/a","file_path":"a.md","content":"${'é'.repeat(3000)}"}`,
    ),
  ),
  isError: fc.boolean(),
  step: fc.integer({ min: 1, max: 3 }),
})

/** An object with these own entries, whatever their names are. @param {[string, unknown][]} entries */
function objectOf(entries) {
  const object = {}
  for (const [key, value] of entries) Object.defineProperty(object, key, { value, enumerable: true })
  return Object.freeze(object)
}

/** The addon in a runtime that can make no frame: everything takes the general way. */
const general = { ...addon, frame: () => null }

/** A conversation on one policy. @param {any} module @param {any[]} calls */
function play(module, calls) {
  const core = new Core(module, { mode: 'enforce', profile: 'strict', inspectContent: true })
  const session = core.openSession()
  const said = []
  const settle = (number, tool, facts, step, value) => core.settle(session, number, tool, facts, step, value)
  const control = core.tool('bmpp__classify').id
  core.judge(0, control, addon.PLACE_HOST_TURN, session, 1, 1, undefined)
  settle(0, control, addon.FACT_REACHED | addon.FACT_DECLARED_COMPLEX, 1, undefined)
  for (const [index, { tool, args, answer, isError, step }] of calls.entries()) {
    const { id } = core.tool(`mcp__basic-memory__${tool}`)
    const word = core.judge(index + 1, id, addon.PLACE_HOST_TURN, session, 1, step, objectOf(args))
    said.push(word, core.judgedFacts(), core.secretClass(word))
    const facts = addon.FACT_REACHED | (isError ? addon.FACT_ERROR : 0)
    said.push(settle(index + 1, id, facts, step, isError ? answer : { content: [{ type: 'text', text: answer }] }))
  }
  core.dispose()
  return said
}

describe('the hot functions', () => {
  test('say what the general ones say', () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 6 }), calls => {
        expect(play(addon, calls)).toEqual(play(general, calls))
      }),
      { numRuns: 300 },
    )
  })

  test('are the ones that calls take, and not for what they cannot be given', () => {
    const taken = []
    const counted = { ...addon }
    for (const name of ['judge', 'judgeFlat', 'settle', 'settleText']) {
      counted[name] = (...args) => {
        taken.push(name)
        return addon[name](...args)
      }
    }
    const core = new Core(counted, { mode: 'enforce' })
    const session = core.openSession()
    const { id } = core.tool('mcp__basic-memory__write_note')
    const judge = args => core.judge(1, id, addon.PLACE_HOST_TURN, session, 1, 1, args)
    judge({ title: 'A', directory: 'd', content: 'c' })
    core.settle(session, 1, id, addon.FACT_REACHED, 1, { content: [{ type: 'text', text: 'x' }] })
    judge({ title: 'A', tags: ['x'] })
    judge({})
    judge(['A'])
    judge({ title: undefined })
    judge(Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`a${index}`, 1])))
    judge({ ['n'.repeat(65)]: 1 })
    core.settle(session, 1, id, addon.FACT_REACHED, 1, { structuredContent: { result: { action: 'created' } } })
    expect(taken).toEqual(['judgeFlat', 'settleText', ...Array(6).fill('judge'), 'settle'])
  })

  test('a model that makes up names is judged all the same, and what is kept of names has an end', () => {
    const core = new Core(addon, { mode: 'enforce' })
    const session = core.openSession()
    const { id } = core.tool('mcp__basic-memory__read_note')
    for (let index = 0; index < 6000; index += 1) {
      const word = core.judge(index, id, addon.PLACE_HOST_TURN, session, 1, 1, { [`made-up-${index}`]: 1 })
      expect(core.describe(word).code).toBe('ALLOW_READ_ONLY')
    }
  })

  test('names that no tool has are not kept: a model could make them as long as it likes', () => {
    const policy = addon.createPolicy({})
    const tool = addon.toolId(policy, 'mcp__basic-memory__write_note')
    const keep = names => addon.argumentNames(policy, tool, names)
    expect(keep(['n'.repeat(193)])).toBe(0)
    expect(keep(['title', '中'.repeat(65)])).toBe(0)
    expect(keep(Array.from({ length: 13 }, (_, index) => `a${index}`))).toBe(0)
    expect(keep(['n'.repeat(192)])).toBe(1)
    fillFrame(addon, [policy, 1, tool, 0, 0, addon.PLACE_NO_AGENT, 0, 1])
    expect(() => addon.judgeFlat(...Array(13).fill('a'))).toThrow(/more values/)
  })

  test.each([
    ['no list with this number', 99, ['a']],
    ['the number of no list', 0, ['a']],
    ['fewer values than names', 1, []],
    ['more values than names', 1, ['a', 'b']],
    ['a value that holds others', 1, [{}]],
    ['a value that is none', 1, [undefined]],
    ['a symbol', 1, [Symbol('x')]],
  ])('judgeFlat throws on %s, and judges nothing', (_what, names, values) => {
    const policy = addon.createPolicy({})
    const tool = addon.toolId(policy, 'mcp__basic-memory__write_note')
    expect(addon.argumentNames(policy, tool, ['title'])).toBe(1)
    const session = addon.openSession(policy)
    fillFrame(addon, [policy, 1, tool, session, 1, addon.PLACE_HOST_TURN, 1, names])
    expect(() => addon.judgeFlat(...values)).toThrow(/list of names/)
    expect(addon.frame()[8]).toBe(-1)
    expect(addon.holdings(policy).calls).toBe(0)
    // And the list is as it was.
    fillFrame(addon, [policy, 1, tool, session, 1, addon.PLACE_HOST_TURN, 1, 1])
    addon.judgeFlat('a')
    expect(addon.frame()[8]).toBeGreaterThan(0)
  })

  test.each([undefined, Number.NaN, -1, 0.5, 2 ** 32, Number.POSITIVE_INFINITY, {}])(
    'throw where %s is in the place of a number, and leave no answer',
    number => {
      const policy = addon.createPolicy({})
      const session = addon.openSession(policy)
      const tool = addon.toolId(policy, 'mcp__basic-memory__write_note')
      const names = addon.argumentNames(policy, tool, ['title'])
      const right = [policy, 1, tool, session, 1, addon.PLACE_HOST_TURN, 1, names]
      for (const place of right.keys()) {
        fillFrame(addon, right.with(place, number))
        expect(() => addon.judgeFlat('a')).toThrow()
        if (place < 6) expect(() => addon.settleText('a')).toThrow()
        expect(addon.frame()[8]).toBe(-1)
      }
      expect(addon.holdings(policy).calls).toBe(0)
    },
  )

  test.each([[[1]], [[{}]], [[null]], [[Symbol('x')]]])('settleText throws on what is no text', args => {
    const policy = addon.createPolicy({})
    const tool = addon.toolId(policy, 'mcp__basic-memory__write_note')
    fillFrame(addon, [policy, 1, tool, addon.openSession(policy), 1, 0])
    expect(() => addon.settleText(...args)).toThrow(/no text/)
    expect(addon.frame()[8]).toBe(-1)
  })

  test('a list is of its policy', () => {
    const [one, two] = [addon.createPolicy({}), addon.createPolicy({})]
    const tool = addon.toolId(one, 'mcp__basic-memory__write_note')
    expect(addon.argumentNames(one, tool, ['title'])).toBe(1)
    fillFrame(addon, [two, 1, tool, 0, 0, addon.PLACE_NO_AGENT, 0, 1])
    expect(() => addon.judgeFlat('a')).toThrow(/list of names/)
  })

  test('a text is read to its last character, however long and of which characters it is', () => {
    const core = new Core(addon, { mode: 'enforce' })
    const { id } = core.tool('mcp__basic-memory__write_note')
    const control = core.tool('bmpp__classify').id
    let calls = 0
    /** Whether a second write of another text is taken for the first one again. */
    const isSame = (first, second) => {
      const session = core.openSession()
      const place = [addon.PLACE_HOST_TURN, session, 1, 1]
      calls += 3
      core.judge(calls, control, ...place, undefined)
      core.settle(session, calls, control, addon.FACT_REACHED | addon.FACT_DECLARED_SIMPLE, 1, undefined)
      core.judge(calls + 1, id, ...place, { title: 'A', directory: 'd', content: first })
      core.settle(session, calls + 1, id, addon.FACT_REACHED, 1, '# Created note\nfile_path: d/A.md\npermalink: d/a')
      // The general way reads it: so both ways must have read the same.
      const args = { title: 'A', directory: 'd', content: second }
      const { code } = core.describe(addon.judge(core.handle, calls + 2, id, ...place, args))
      addon.closeSession(core.handle, session)
      return code === 'DUPLICATE_WRITE_SAME_TURN'
    }
    for (const [character, bytes] of [
      ['x', 1],
      ['é', 2],
      ['中', 3],
      ['\ufffd', 3],
      ['\ud800', 3],
      ['\ud83d\ude80', 4],
    ]) {
      for (const limit of [0, 2048, 6144, 32 * 1024, 96 * 1024]) {
        for (let more = -6; more < 7; more += 1) {
          const length = Math.floor(limit / bytes) + more
          if (length < 0) continue
          const text = character.repeat(length)
          expect(isSame(text, text), `${length} of ${bytes} bytes`).toBe(true)
          expect(isSame(`${text}a`, `${text}b`), `${length} of ${bytes} bytes, and one`).toBe(false)
        }
      }
    }
  })

  test('no answer is taken for that of a later call', () => {
    const core = new Core(addon, { mode: 'enforce' })
    const session = core.openSession()
    const { id } = core.tool('mcp__basic-memory__write_note')
    const judge = () => core.judge(1, id, addon.PLACE_HOST_TURN, session, 1, 1, { title: 'A' })
    const settle = () => core.settle(session, 1, id, addon.FACT_REACHED, 1, 'x')
    expect([judge(), settle()]).toEqual([expect.any(Number), expect.any(Number)])
    // A policy that is gone: the calls throw, and the frame says nothing of the ones before.
    core.dispose()
    expect(judge).toThrow('dropped')
    expect(settle).toThrow('dropped')
    const mute = new Core({ ...addon, judgeFlat() {}, settleText() {} }, { mode: 'enforce' })
    const tool = mute.tool('mcp__basic-memory__write_note').id
    expect(() => mute.judge(1, tool, addon.PLACE_NO_AGENT, 0, 0, 0, { title: 'A' })).toThrow('no number')
    expect(() => mute.settle(mute.openSession(), 1, tool, 0, 1, 'x')).toThrow('no number')
  })

  test('a call in the middle of another one changes nothing of it', () => {
    const [core, plain, other] = [addon, addon, general].map(module => new Core(module, { mode: 'enforce' }))
    const { id } = core.tool('mcp__basic-memory__write_note')
    const judge = (one, args) => one.judge(1, id, addon.PLACE_HOST_TURN, 1, 1, 1, args)
    for (const one of [core, plain, other]) one.openSession()
    const nested = {
      title: 'A',
      get directory() {
        judge(other, { title: 'B' })
        core.judge(9, core.tool('mcp__basic-memory__read_note').id, addon.PLACE_NO_AGENT, 7, 7, 7, { identifier: 'C' })
        core.settle(7, 9, id, 0, 7, 'x')
        return 'd'
      },
      content: 'c',
    }
    expect(judge(core, nested)).toBe(judge(plain, { title: 'A', directory: 'd', content: 'c' }))
    expect(core.judgedFacts()).toBe(plain.judgedFacts())
  })

  test('the frame is one list of its environment, which nobody can take away', () => {
    const frame = addon.frame()
    expect(addon.frame()).toBe(frame)
    expect(frame).toHaveLength(9)
    expect(frame.buffer).toBeInstanceOf(SharedArrayBuffer)
    expect(() => structuredClone(frame, { transfer: [/** @type {any} */ (frame.buffer)] })).toThrow()
  })

  test('names in another order, or fewer or more of them, are other names', () => {
    const [core, other] = [addon, general].map(module => new Core(module, { mode: 'enforce', profile: 'strict' }))
    for (const one of [core, other]) one.openSession()
    const { id } = core.tool('mcp__basic-memory__write_note')
    const judge = (one, call, args) => one.judge(call, id, addon.PLACE_HOST_TURN, 1, 1, 1, args)
    const lists = [
      { title: 'A', directory: 'd', content: 'c' },
      { directory: 'd', title: 'A', content: 'c' },
      { title: 'A', directory: '../d' },
      { title: 'A', directory: 'd', content: 'c', project: '..' },
      { title: 'A', folder: '/d', content: 'c' },
      { title: 'A', folder: 7, content: null, overwrite: true, project: 'x' },
    ]
    for (const [call, args] of [...lists, ...lists.toReversed(), ...lists].entries()) {
      expect(judge(core, call, args)).toBe(judge(other, call, args))
    }
  })
})

describe('the text that a value is', () => {
  test.each([
    ['x', 'x'],
    [{ content: [{ type: 'text', text: 'x' }] }, 'x'],
    [{ content: [{ type: 'text', text: 'x' }], structuredContent: { result: 'y' } }, 'y'],
    [{ content: [{ type: 'text', text: 'x' }], structuredContent: undefined }, 'x'],
    [{ content: [{ type: 'text', text: 'x' }], structuredContent: { result: 'y', more: 1 } }, undefined],
    [{ content: [{ type: 'text', text: 'x' }], structuredContent: { result: ['y'] } }, undefined],
    [{ content: [{ type: 'text', text: 'x' }], structuredContent: null }, undefined],
    [{ content: [{ type: 'image' }] }, undefined],
    [{ content: [] }, undefined],
    [{ content: 'x' }, undefined],
    [{}, undefined],
    [null, undefined],
    [undefined, undefined],
    [7, undefined],
  ])('of %j: %j', (value, text) => {
    expect(textOf(value)).toBe(text)
  })

  test('is not what a value inherits', () => {
    expect(textOf(Object.create({ content: [{ text: 'x' }] }))).toBe(undefined)
    expect(textOf({ content: [Object.create({ text: 'x' })] })).toBe(undefined)
  })
})
