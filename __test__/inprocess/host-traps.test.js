/**
 * What the host does to a naive gate, each trap by name: calls that skip stages, arguments that are not what they seem, and a
 * denial that would run the tool.
 */
import { describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { bootGate, call, memory, note, writeOf } from '../support/gate.js'

const WRITES = ['write_note', 'edit_note', 'move_note', 'delete_note', 'create_memory_project', 'delete_project']
const READS = ['search_notes', 'read_note', 'recent_activity', 'list_directory', 'build_context']
const { codes } = loadAddon().vocabulary()

/** An addon whose judging leaves this as its answer. @param {number} number */
const answering = number => ({
  judgeFlat() {
    const frame = loadAddon().frame()
    if (frame !== null) frame[8] = number
  },
})

describe('broken JSON arrives as a string, which the bridge turns into {}: what is no plain object is denied', () => {
  const malformed = [
    ['broken JSON', '{"title": "T", '],
    ['a string', '"text"'],
    ['a list', '[{"title": "T"}]'],
    ['null', 'null'],
    ['a number', '5'],
    ['true', 'true'],
  ]
  test.each(malformed)('%s, in every classification and for every write', async (_what, args) => {
    const gate = await bootGate()
    const made = WRITES.map(raw => /** @type {[string, any]} */ ([memory(raw), args]))
    await gate.turn([made, [call.simple], made, [call.complex], [call.search], made])
    const verdicts = gate.decisions().filter(({ tool }) => WRITES.map(memory).includes(tool))
    expect(verdicts).toHaveLength(18)
    for (const { code, enforcement } of verdicts) expect([code, enforcement]).toEqual(['MALFORMED_ARGUMENTS', 'denied'])
    expect(gate.reached()).toEqual(['search_notes'])
  })

  test.each(malformed)('%s is nothing to a listed read: it goes on', async (_what, args) => {
    const gate = await bootGate()
    await gate.turn([READS.map(raw => [memory(raw), args])])
    expect(gate.verdicts()).toEqual(READS.map(raw => `${raw} ALLOW_READ_ONLY allowed`))
    expect(gate.reached()).toEqual(READS)
  })

  test('empty arguments are an empty object', async () => {
    const gate = await bootGate()
    await gate.turn([[call.simple], [[memory('write_note'), '']]])
    expect(gate.verdicts().at(-1)).toBe('write_note ALLOW_SIMPLE allowed')
    expect(gate.ran[0].args).toEqual({})
  })
})

describe('odd arguments that are one JSON object are judged and run as they are', () => {
  const deep = depth => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  test.each([
    ['__proto__ as an own key', '{"__proto__": {"overwrite": true}, "title": "T"}'],
    ['constructor and toString as keys', '{"constructor": 1, "toString": 2, "title": "T"}'],
    ['a lone surrogate in a value and a key', '{"title": "\\ud800", "\\udc00": 1}'],
    ['the same key twice', '{"title": "A", "title": "B"}'],
    ['a thousand levels', deep(1000)],
    ['numbers as keys', '{"1": 2, "0": 1}'],
    ['a key that is empty', '{"": 1}'],
    ['a megabyte', JSON.stringify({ content: 'x'.repeat(1 << 20) })],
    ['ten thousand keys', JSON.stringify(Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`k${i}`, i])))],
  ])('%s', async (_what, args) => {
    const gate = await bootGate()
    await gate.turn([[[memory('write_note'), args]], [call.simple], [[memory('write_note'), args]]])
    expect(gate.verdicts()).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'classify ALLOW_CONTROL allowed',
      'write_note ALLOW_SIMPLE allowed',
    ])
    expect(gate.ran).toHaveLength(1)
    expect(JSON.stringify(gate.ran[0].args)).toBe(JSON.stringify(JSON.parse(args)))
  })

  test('an own key that only looks like a parameter of the prototype is no overwrite', async () => {
    const gate = await bootGate({ config: { createRequiresSearch: false } })
    await gate.turn([[call.complex], [[memory('write_note'), '{"__proto__": {"overwrite": true}, "title": "T"}']]])
    expect(gate.verdicts().at(-1)).toBe('write_note ALLOW_CREATE allowed')
  })
})

describe('calls that skip stages', () => {
  test.each(['{"title": -0}', '{"n": 1e999}'])(
    'arguments that are not lossless JSON (%s) reach nobody but tools/result: nothing runs, nothing is recorded',
    async args => {
      const gate = await bootGate()
      const agent = await gate.turn([
        [call.simple],
        [
          [memory('write_note'), args],
          [memory('search_notes'), args],
        ],
        [call.write],
      ])
      expect(
        gate
          .told(agent)
          .slice(1, 3)
          .every(({ isError }) => isError),
      ).toBe(true)
      expect(gate.verdicts()).toEqual(['classify ALLOW_CONTROL allowed', 'write_note ALLOW_SIMPLE allowed'])
      expect(gate.reached()).toEqual(['write_note'])
      expect(gate.stderr).toEqual([])
    },
  )

  test('such a search is no recall', async () => {
    const gate = await bootGate()
    await gate.turn([[call.complex], [[memory('search_notes'), '{"n": -0}']], [call.write]])
    expect(gate.verdicts().at(-1)).toBe('write_note CREATE_REQUIRES_SEARCH denied')
  })

  test('a listed tool that is not there is judged, and ends as the host ends it', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([
      [call.simple],
      [
        [memory('schema_infer'), {}],
        [memory('man'), {}],
      ],
    ])
    expect(
      gate
        .told(agent)
        .slice(1)
        .every(({ text }) => text.startsWith('Error: unknown tool')),
    ).toBe(true)
    expect(gate.verdicts().slice(1)).toEqual(['schema_infer ALLOW_READ_ONLY allowed', 'man ALLOW_READ_ONLY allowed'])
  })

  test('a search tool that is not there is no recall, and none that failed: no body was reached', async () => {
    const gate = await bootGate({ config: { searchTools: ['grep', 'search_notes'] } })
    await gate.turn([[call.complex], [[memory('grep'), {}]], [call.write]])
    expect(gate.verdicts().at(-1)).toBe('write_note CREATE_REQUIRES_SEARCH denied')
  })

  test('a tool of the namespace that is nowhere is denied as unknown, before the host can say so', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([
      [
        [memory('write_notes'), note],
        [memory(''), {}],
        [memory('Write_Note'), note],
      ],
    ])
    expect(gate.answers(agent)).toEqual(Array(3).fill('UNKNOWN_MEMORY_TOOL'))
  })

  test('a name that a model made up is recorded in the host’s alphabet and length, which no text fits into', async () => {
    const gate = await bootGate()
    await gate.turn([[[memory(`a line\nand \u202e "more" of it ${'x'.repeat(10_000)}`), {}]]])
    for (const { tool } of gate.records) expect(tool).toMatch(/^mcp__basic-memory__a_line_and[A-Za-z0-9_-]{1,40}$/)
    expect(gate.records).toHaveLength(2)
  })

  test('in audit the result of a name that a model made up says that no tool was reached', async () => {
    const name = memory('notes_of')
    const gate = await bootGate({ mode: 'audit', tools: { [name]: () => 'there' } })
    await gate.turn([
      [
        [memory('made_up'), {}],
        [name, {}],
      ],
    ])
    // By that the report tells a tool to put on a list from one that is not there.
    expect(gate.decisions().map(({ code, enforcement }) => `${code} ${enforcement}`)).toEqual([
      'UNKNOWN_MEMORY_TOOL overridden',
      'UNKNOWN_MEMORY_TOOL overridden',
    ])
    expect(gate.settlements().map(({ tool, happened }) => [tool, happened])).toEqual([
      [memory('made_up'), 'refused'],
      [name, 'ran'],
    ])
  })

  test('a server whose name begins with ours and two underscores falls on the closed side', async () => {
    const name = 'mcp__basic-memory__work__write_note'
    const gate = await bootGate({ tools: { [name]: () => 'written' } })
    await gate.turn([[call.simple], [[name, note]]])
    expect(gate.decisions().at(-1)).toMatchObject({
      code: 'UNKNOWN_MEMORY_TOOL',
      enforcement: 'denied',
      class: 'unknown',
    })
    expect(gate.ran).toEqual([])
  })
})

describe('a deny without a reason runs the tool and skips every guard', () => {
  /** What the gate itself answers, as the outermost listener sees it. */
  const watching = decisions => ({
    name: 'watching',
    inject: ['tools'],
    apply: ctx =>
      void ctx.on(
        'tools/pre-execute',
        async (_exec, next) => {
          const decision = await next()
          decisions.push(decision)
          return decision
        },
        { prepend: true },
      ),
  })

  test('every denial has exactly a kind and a reason, which is a text that begins with a code', async () => {
    const decisions = []
    const gate = await bootGate({ behind: [[watching(decisions)]] })
    await gate.turn([
      [call.write, call.remove, [memory('write_note'), 'null'], [memory('brand_new_tool'), {}]],
      [call.complex],
      [call.write, call.edit],
      [call.search, call.write],
    ])
    const denied = decisions.filter(({ kind }) => kind !== 'allow')
    expect(denied).toHaveLength(7)
    for (const decision of denied) {
      expect(Object.keys(decision)).toEqual(['kind', 'reason'])
      expect(decision.kind).toBe('deny')
      const code = /^([A-Z_]+): \S/.exec(decision.reason)?.[1]
      expect(codes.find(({ name }) => name === code)?.kind).toMatch(/recoverable|terminal/)
    }
  })

  test.each([
    ['nothing', undefined],
    ['null', null],
    ['an empty text', ''],
    ['a number', 0],
    ['a promise', Promise.resolve('x')],
  ])('a core that gives %s for a text denies all the same', async (_what, text) => {
    const native = loadAddon()
    const gate = await bootGate({ parts: { addon: () => ({ ...native, denialText: () => text }) } })
    const agent = await gate.turn([[call.write]])
    expect(gate.answers(agent)).toEqual(['POLICY_INTERNAL_ERROR'])
    expect(gate.reached()).toEqual([])
  })

  test.each([
    ['no enforcement', { enforcement: () => 99 }],
    ['no number', { enforcement: () => undefined }],
    ['no verdict', { judgeFlat: () => undefined }],
    ['a verdict in another place', { judgeFlat: () => 1 }],
    ['a verdict that is no number', answering(Number.NaN)],
    ['a verdict beyond all that the core says', answering(2 ** 35)],
    ['a verdict that is no whole number', answering(0.5)],
    ['a verdict below all words', answering(-1)],
    ['a verdict that is no word of its own', answering(0xffffffff)],
    ['a promise of a verdict', { judgeFlat: async () => 0 }],
  ])('a core that gives %s denies a write in enforce, and lets a read go on', async (_what, broken) => {
    const native = loadAddon()
    const gate = await bootGate({ parts: { addon: () => ({ ...native, ...broken }) } })
    const agent = await gate.turn([[call.write, call.read, call.bash]])
    expect(gate.told(agent).map(({ isError }) => isError)).toEqual([true, false, false])
    expect(gate.reached()).toEqual(['read_note', 'bash'])
    expect(gate.stderr.length).toBeGreaterThan(0)
  })
})

test('our decision is there at once: nothing of ours waits between the call and the decision', async () => {
  const order = []
  const gate = await bootGate({
    behind: [
      [
        {
          name: 'watching',
          inject: ['tools'],
          apply: ctx =>
            void ctx.on(
              'tools/pre-execute',
              (_exec, next) => {
                order.push(`> ${gate.records.length}`)
                const decision = next()
                // Synchronously after the call: judged and recorded.
                order.push(`< ${gate.records.length}`)
                expect(decision).toBeInstanceOf(Promise)
                return decision
              },
              { prepend: true },
            ),
        },
      ],
    ],
  })
  await gate.turn([[call.write]])
  expect(order).toEqual(['> 0', '< 1'])
})

test('a result listener of another plugin that throws does not keep the result from us', async () => {
  const throwing = {
    name: 'throwing',
    inject: ['tools'],
    apply: ctx =>
      void ctx.on('tools/result', () => {
        throw new Error('broken observer')
      }),
  }
  for (const place of ['ahead', 'behind']) {
    const gate = await bootGate({ [place]: [[throwing]] })
    await gate.turn([[call.complex], [call.search], [writeOf('T')]])
    expect(gate.verdicts().at(-1)).toBe('write_note ALLOW_RECALL_OK allowed')
  }
})
