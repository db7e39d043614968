// `run_code`: a program sees the results of its own calls and the model does not, so what a program looks up is of no use to a
// write of the same program.
import { describe, expect, test } from 'vitest'
import { playDsh } from '../support/dsh-gate.js'
import { call, complex, memory, note, query } from '../support/gate.js'

/** A program in which `classify`, `search` and `write` stand for the calls, and `caught` for a call whose failure it catches. */
const program = body => [
  'run_code',
  {
    description: 'a program',
    code: `
      const classify = () => tools['bmpp__classify'](${JSON.stringify(complex)})
      const search = () => tools['${memory('search_notes')}'](${JSON.stringify(query)})
      const write = () => tools['${memory('write_note')}'](${JSON.stringify(note)})
      const caught = async promise => promise.then(() => 'ran', error => 'caught ' + String(error.message ?? error))
      ${body}`,
  },
]
const PENDING = /caught MEMORY_LOOKUP_PENDING_IN_BATCH: .*the same run_code program/

describe.each([
  ['both', 'a native call and a program see the same turn', () => call.complex, () => call.write],
  [
    'code',
    'everything goes through programs',
    () => program('return classify()'),
    () => program('return caught(write())'),
  ],
])('DSH_TOOLS_MODE=%s: %s', (mode, _, classify, write) => {
  const env = { DSH_TOOLS_MODE: mode }

  test('search and write of one program are one step, one after the other or at once', async () => {
    const inTurn = 'await search(); return caught(write())'
    const atOnce = 'const [, written] = await Promise.all([search(), caught(write())]); return written'
    const run = await playDsh({
      env,
      conversation: [
        [[classify()], [program(inTurn)]],
        [[classify()], [program(atOnce)], [write()]],
      ],
    })
    expect(run).toMatchObject({ code: 0, unused: [] })
    const programs = run.told.filter(({ arguments: args }) => args.includes('search'))
    expect(programs.filter(({ text }) => PENDING.test(text))).toHaveLength(2)
    expect(run.verdicts).toEqual([
      'classify ALLOW_CONTROL allowed',
      'search_notes ALLOW_READ_ONLY allowed',
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'classify ALLOW_CONTROL allowed',
      'search_notes ALLOW_READ_ONLY allowed',
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      // A step later the model has read what the program returned.
      'write_note ALLOW_RECALL_OK allowed',
    ])
    expect(run.reached).toEqual(['search_notes', 'search_notes', 'write_note'])
  })

  test('a denial that the program does not catch ends the program, and the model reads it', async () => {
    const run = await playDsh({ env, conversation: [[[program('await write(); return "written"')]]] })
    expect(run.told[0].text).toContain('CLASSIFICATION_REQUIRED: ')
    expect(run.told[0].text).not.toContain('written')
    expect(run.reached).toEqual([])
  })
})

test('a declaration inside a program counts for what follows in it', async () => {
  const simple = `await tools['bmpp__classify']({ task: 'simple' }); return caught(write())`
  const run = await playDsh({ env: { DSH_TOOLS_MODE: 'both' }, conversation: [[[program(simple)]]] })
  expect(run.answers[0]).toContain('ran')
  expect(run.verdicts).toEqual(['classify ALLOW_CONTROL allowed', 'write_note ALLOW_SIMPLE allowed'])
  expect(run.reached).toEqual(['write_note'])
})

test('a native call that code mode refuses before anybody can judge it has no record and no effect', async () => {
  const run = await playDsh({ env: { DSH_TOOLS_MODE: 'code' }, conversation: [[[call.simple, call.write]]] })
  expect(run.code).toBe(0)
  expect(run.told.every(({ isError, text }) => isError && text.includes('run_code'))).toBe(true)
  expect(run).toMatchObject({ decisions: [], settlements: [], reached: [] })
  // Nobody ran anything past the gate, so nobody is told so.
  expect(run.notices).toHaveLength(1)
})
