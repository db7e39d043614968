// Arguments as models send them: what the host makes of them, what the gate makes of that, and what reaches the server. The turn
// is simple throughout, so that nothing but the arguments can deny a write.
import { beforeAll, describe, expect, test } from 'vitest'
import { playDsh } from '../support/dsh-gate.js'
import { call, memory } from '../support/gate.js'

const write = memory('write_note')
const note = more => ({ title: 'T', directory: 'd', content: 'C', ...more })

describe('odd arguments of a write', () => {
  /** What is sent, as the text that the model writes; the verdict, if it is judged; what the server was given, if it was reached. */
  const cases = {
    'broken JSON, which the bridge would send as {}': {
      sent: '{"title": "T", broken',
      code: 'MALFORMED_ARGUMENTS',
    },
    'null, which the bridge would send as {}': { sent: 'null', code: 'MALFORMED_ARGUMENTS' },
    'an array, which the bridge passes on': { sent: '[1,2]', code: 'MALFORMED_ARGUMENTS' },
    'a text': { sent: '"T"', code: 'MALFORMED_ARGUMENTS' },
    'a number': { sent: '5', code: 'MALFORMED_ARGUMENTS' },
    'one parameter under two names': {
      sent: JSON.stringify(note({ folder: 'elsewhere' })),
      code: 'MALFORMED_ARGUMENTS',
    },
    'nothing, which the host takes for {}': { sent: '', code: 'ALLOW_SIMPLE', given: {} },
    'one key twice, of which the last one counts': {
      sent: '{"title":"A","title":"B","directory":"d","content":"C"}',
      code: 'ALLOW_SIMPLE',
      given: note({ title: 'B' }),
    },
    'an own key __proto__': {
      sent: '{"__proto__":{"title":"Hidden"},"title":"P","directory":"d","content":"C"}',
      code: 'ALLOW_SIMPLE',
      given: JSON.parse('{"__proto__":{"title":"Hidden"},"title":"P","directory":"d","content":"C"}'),
    },
    'a lone surrogate': {
      sent: '{"title":"\\ud800 lone","directory":"d","content":"C"}',
      code: 'ALLOW_SIMPLE',
      given: note({ title: '\ud800 lone' }),
    },
    'another lone surrogate, which is another note': {
      sent: '{"title":"\\udbff lone","directory":"d","content":"C"}',
      code: 'ALLOW_SIMPLE',
      given: note({ title: '\udbff lone' }),
    },
    'a key that the server does not know': {
      sent: JSON.stringify(note({ bogus: 1 })),
      code: 'ALLOW_SIMPLE',
      given: note({ bogus: 1 }),
    },
    'a number that JSON does not bring back (-0), which the host refuses': { sent: '{"n":-0}' },
    'a number that JSON does not bring back (1e999), which the host refuses': { sent: '{"n":1e999}' },
  }
  const names = Object.keys(cases)
  let run

  beforeAll(async () => {
    const calls = names.map((name, index) => [write, cases[name].sent, `odd-${index}`])
    run = await playDsh({ conversation: [[[call.simple], calls]] })
  })

  test('the process goes on to its end', () => {
    expect(run).toMatchObject({ code: 0, unused: [], stdout: 'end of turn 1\n' })
    expect(run.told).toHaveLength(1 + names.length)
  })

  test.each(names)('%s', name => {
    const id = `odd-${names.indexOf(name)}`
    const { code } = cases[name]
    const record = run.decisions.find(decision => decision.call === id)
    const { text } = run.told.find(({ callId }) => callId === id)
    expect(record?.code).toBe(code)
    if (code === 'MALFORMED_ARGUMENTS') expect(text).toMatch(/^Error: MALFORMED_ARGUMENTS: /)
    else expect(text).not.toMatch(/^Error: [A-Z_]+: /)
  })

  test('the server was given what was judged, and nothing else', () => {
    const started = run.mcpLog.filter(({ at }) => at === 'start').map(({ arguments: args }) => JSON.stringify(args))
    const expected = names.filter(name => cases[name].given).map(name => JSON.stringify(cases[name].given))
    expect(started.map(sorted)).toEqual(expected.map(sorted))
  })
})

/** The keys of an object in order, and those of `__proto__` with them. @param {string} text */
const sorted = text => JSON.stringify(Object.entries(JSON.parse(text)).sort())

describe('names that are not quite those of a tool', () => {
  test('are judged where they are in the namespace, and never reach the server', async () => {
    const wrong = [
      'MCP__basic-memory__write_note',
      'mcp__Basic-Memory__write_note',
      'write_note',
      'mcp__basic-memory__Write_Note',
      'mcp__basic-memory__',
      'mcp__basic-memory__write_note ',
    ]
    const run = await playDsh({ conversation: [[[call.simple], wrong.map(name => [name, note()])]] })
    expect(run.code).toBe(0)
    expect(run.reached).toEqual([])
    expect(run.told.slice(1).every(({ isError }) => isError)).toBe(true)
    // A record holds a name in the host's alphabet only.
    const judged = run.decisions.filter(({ tool }) => tool !== 'bmpp__classify')
    expect(judged.map(({ tool, code, class: kind }) => [tool, code, kind])).toEqual(
      wrong.slice(3).map(name => [name.replace(' ', '_'), 'UNKNOWN_MEMORY_TOOL', 'unknown']),
    )
  })
})
