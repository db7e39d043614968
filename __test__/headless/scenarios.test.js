// The README's scenarios on the real `dsh`, one turn each, in one run for each mode; and what the end of a turn takes away.
import { beforeAll, describe, expect, test } from 'vitest'
import { scenarios } from '../../demo/scenarios.mjs'
import { loadAddon } from '../../js/native.js'
import { playDsh } from '../support/dsh-gate.js'
import { call } from '../support/gate.js'

const conversation = scenarios.map(({ messages }) =>
  messages.map(calls => calls.map(({ tool, arguments: args }) => [tool, args])),
)
const calls = scenarios.flatMap(({ name, messages }) => messages.flat().map(of => ({ scenario: name, ...of })))
const short = name => name.split('__').at(-1)
const denies = ({ verdict }) => !verdict.startsWith('ALLOW_')

describe.each([
  ['enforce', 'compat'],
  ['enforce', 'strict'],
  ['audit', 'compat'],
])('mode %s, profile %s', (mode, profile) => {
  let run
  beforeAll(async () => {
    run = await playDsh({ mode, config: { profile }, conversation })
  })
  const applied = of => (denies(of) ? (mode === 'enforce' ? 'denied' : 'overridden') : 'allowed')
  // In audit the scenarios' second write of the same note reaches the server, which refuses to replace it.
  const repeats = ({ tool, arguments: args }, index) =>
    mode === 'audit' &&
    short(tool) === 'write_note' &&
    calls.slice(0, index).some(({ arguments: { title } }) => title !== undefined && title === args.title)

  test('every call is judged, and the process ends with 0', () => {
    expect(run).toMatchObject({ code: 0, unused: [], stdout: 'end of turn 5\n' })
    expect(run.verdicts).toEqual(calls.map(of => `${short(of.tool)} ${of.verdict} ${applied(of)}`))
    expect(run.decisions.map(({ turn }) => turn)).toEqual(
      scenarios.flatMap(({ messages }, index) => messages.flat().map(() => index + 1)),
    )
  })

  test('the model is shown the lesson, which is all that it learns from in audit', () => {
    const { name, description } = loadAddon().controlTool()
    for (const { tools } of run.requests) {
      const shown = tools.filter(tool => tool.function.name === name).map(tool => tool.function)
      expect(shown).toMatchObject([
        { description, parameters: { properties: { task: { enum: ['simple', 'complex'] } }, required: ['task'] } },
      ])
    }
  })

  test('the model is told the code of what was denied, and reads the tool of all else', () => {
    for (const [index, of] of calls.entries()) {
      const denied = applied(of) === 'denied'
      expect(run.told[index].isError, `${of.scenario}: ${of.tool}`).toBe(denied || repeats(of, index))
      if (denied) expect(run.told[index].text).toMatch(new RegExp(`^Error: ${of.verdict}: `))
    }
  })

  test('only what passed reached the memory server', () => {
    const passed = calls.filter(of => of.tool !== 'bmpp__classify' && applied(of) !== 'denied')
    expect(run.reached).toEqual(passed.map(({ tool }) => short(tool)))
  })
})

describe('search and write of one message', () => {
  let run
  beforeAll(async () => {
    run = await playDsh({ conversation: [[[call.complex], [call.search, call.write], [call.write]]] })
  })

  test('the bridge runs the search to its end before the write is judged, and the write is denied all the same', () => {
    const calls = run.records.filter(({ kind }) => kind === 'decision' || kind === 'settlement')
    expect(calls.map(({ kind, tool, code }) => `${kind} ${short(tool)} ${code ?? ''}`).slice(2, 5)).toEqual([
      'decision search_notes ALLOW_READ_ONLY',
      'settlement search_notes ',
      'decision write_note MEMORY_LOOKUP_PENDING_IN_BATCH',
    ])
  })

  test('the model is told to read the result and to repeat the write in a later message', () => {
    const { messages } = run.requests.at(2)
    const answers = messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    expect(JSON.stringify(answers.at(-1))).toContain(
      "MEMORY_LOOKUP_PENDING_IN_BATCH: a memory lookup runs in the same message (or the same run_code program) as this write, so its result has not been seen. Read the lookup's result, then repeat this call in a later message.",
    )
  })

  test('in a message of its own it is allowed', () => {
    expect(run.verdicts.at(-1)).toBe('write_note ALLOW_RECALL_OK allowed')
    expect(run.reached).toEqual(['search_notes', 'write_note'])
  })
})

test('what a turn earned ends with it: the next message of the user finds nothing classified', async () => {
  const earned = [[call.complex], [call.search], [call.write]]
  const run = await playDsh({ conversation: [earned, [[call.edit], [call.complex], [call.edit]]] })
  expect(run.verdicts.slice(2)).toEqual([
    'write_note ALLOW_RECALL_OK allowed',
    'edit_note CLASSIFICATION_REQUIRED denied',
    'classify ALLOW_CONTROL allowed',
    'edit_note MEMORY_LOOKUP_REQUIRED denied',
  ])
  expect(run.decisions.map(({ turn }) => turn)).toEqual([1, 1, 1, 2, 2, 2])
  expect(run.reached).toEqual(['search_notes', 'write_note'])
})

test('an unusable declaration is an error that says what to pass, and does not count', async () => {
  const run = await playDsh({ conversation: [[[['bmpp__classify', { task: 'easy' }]], [call.write]]] })
  expect(run.told[0].text).toMatch(/^Error: .*"task"/)
  expect(run.answers.at(-1)).toBe('CLASSIFICATION_REQUIRED')
  expect(run.reached).toEqual([])
})

test('the control tool is shown to the model, and its description says when to call it', async () => {
  const run = await playDsh({ mode: 'audit', script: [{ text: 'done' }] })
  const shown = run.requests[0].tools.find(tool => tool.function.name === 'bmpp__classify')
  expect(shown.function.parameters).toMatchObject({ required: ['task'], additionalProperties: false })
  expect(shown.function.description).toMatch(/before.*(writ|chang)/is)
})
