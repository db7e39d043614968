/**
 * One `run_code` program is one call of the model: what its lookups found goes to the program, and the model reads none of it
 * before the program has ended. So a write of the same program is as a write of the same message.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, FOUND, memory } from '../support/gate.js'
import { calls, gate as held, say } from '../support/inprocess.js'

const tools = raw => `tools['${raw.startsWith('bmpp') ? raw : memory(raw)}']`
const search = `await ${tools('search_notes')}({ query: 'plans' })`
const write = `await ${tools('write_note')}({ title: 'Plans', directory: 'notes', content: 'text' })`
const complex = `await ${tools('bmpp__classify')}({ task: 'complex' })`
const simple = `await ${tools('bmpp__classify')}({ task: 'simple' })`
/** A program that goes on whatever a call of it answers. */
const each = (...lines) => lines.map(line => `try { ${line} } catch (error) { told.push(error.message) }`).join('\n')
const program = code => ['run_code', { description: 'a program', code: `const told = []\n${code}\nreturn told` }]

const writes = gate => gate.verdicts().filter(line => line.startsWith('write_note'))

describe.each(['both', 'code'])('tools mode %s', codeMode => {
  test.each([
    {
      rule: 'search and write in one program → denied',
      programs: [each(complex), each(search, write)],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'],
    },
    {
      rule: 'search and write side by side in one program → denied',
      programs: [
        each(complex),
        `await Promise.allSettled([${search.replace('await ', '')}, ${write.replace('await ', '')}])`,
      ],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'],
    },
    {
      rule: 'write before search in one program → denied for want of a search',
      programs: [each(complex), each(write, search)],
      verdicts: ['write_note CREATE_REQUIRES_SEARCH denied'],
    },
    {
      rule: 'classify, search and write in one program → denied',
      programs: [each(complex, search, write)],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'],
    },
    {
      rule: 'search in one program and write in the next → allowed',
      programs: [each(complex, search), each(write)],
      verdicts: ['write_note ALLOW_RECALL_OK allowed'],
    },
    {
      rule: 'classify and write in one program: the declaration has executed → allowed',
      programs: [each(simple, write)],
      verdicts: ['write_note ALLOW_SIMPLE allowed'],
    },
    {
      rule: 'a write in an unclassified turn → denied',
      programs: [each(write)],
      verdicts: ['write_note CLASSIFICATION_REQUIRED denied'],
    },
  ])('$rule', async ({ programs, verdicts }) => {
    const gate = await bootGate({ codeMode })
    await gate.turn(programs.map(code => [program(code)]))
    expect(writes(gate)).toEqual(verdicts)
    const denied = verdicts.some(line => line.endsWith('denied'))
    expect(gate.reached().includes('write_note')).toBe(!denied)
  })

  test('the program reads the denial as an error that begins with the code', async () => {
    const gate = await bootGate({ codeMode })
    const agent = await gate.turn([[program(each(write))]])
    expect(JSON.parse(gate.told(agent)[0].text)).toEqual([expect.stringMatching(/^CLASSIFICATION_REQUIRED: /)])
  })

  test('two programs in one message are one step', async () => {
    const gate = await bootGate({ codeMode })
    await gate.turn([[program(each(complex))], [program(each(search)), program(each(write))], [program(each(write))]])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('a lookup that its program does not wait for is cut off with the program, and is a failed one', async () => {
    const gate = await bootGate({
      codeMode,
      tools: {
        // Answers only when the host cuts it off; by then its result is an error, whatever the body says.
        [memory('search_notes')]: (_args, { signal }) =>
          new Promise(answered => signal.addEventListener('abort', () => answered(answer(FOUND)))),
      },
    })
    const left = `void ${search.replace('await ', '')}.catch(() => {})`
    await gate.turn([[program(each(complex))], [program(left)], [program(each(write))]])
    expect(gate.outcomes()).toContain('search_notes failed')
    expect(writes(gate)).toEqual(['write_note MEMORY_LOOKUP_FAILED denied'])
    expect(gate.reached()).not.toContain('write_note')
  })
})

describe('both: native calls and programs in one message', () => {
  test.each([
    ['a native search and a program that writes', [call.search, program(each(write))]],
    ['a program that searches and a native write', [program(each(search)), call.write]],
  ])('%s → denied, and allowed in the next message', async (_what, message) => {
    const gate = await bootGate({ codeMode: 'both' })
    await gate.turn([[call.complex], message, [call.write]])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })
})

describe('code: what may not be called directly', () => {
  test('a native call is refused by the host before anybody judges it; nothing is recorded of it', async () => {
    const gate = await bootGate({ codeMode: 'code' })
    const agent = await gate.turn([[call.simple], [call.write], [program(each(write))]])
    expect(gate.told(agent).slice(0, 2)).toEqual([
      expect.objectContaining({ isError: true, text: expect.stringContaining('run_code') }),
      expect.objectContaining({ isError: true, text: expect.stringContaining('run_code') }),
    ])
    // Neither counted as a declaration, and the write inside the program is judged on its own.
    expect(gate.verdicts()).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
    expect(gate.stderr).toEqual([])
  })
})

describe('a lookup whose result arrives in a later step than its own', () => {
  /** A tool that starts a search as a part of its own call, and does not wait for it. */
  function background(found) {
    const pending = { promise: Promise.resolve() }
    const plugin = {
      name: 'background',
      inject: ['tools'],
      apply(ctx) {
        ctx.tools.register({
          name: 'background',
          description: 'searches in the background',
          parameters: { type: 'object', properties: {} },
          output: { schema: { type: 'string' }, render: () => [{ type: 'text', text: 'started' }] },
          async execute(_args, exec) {
            pending.promise = ctx.tools.execute({
              callId: `${exec.callId}:sub:1`,
              rootCallId: exec.rootCallId,
              parent: exec.token,
              agent: exec.agent,
              name: memory('search_notes'),
              arguments: { query: 'plans' },
              signal: new AbortController().signal,
            })
            return 'started'
          },
        })
      },
    }
    return { plugin, pending, tools: { [memory('search_notes')]: () => found.then(() => answer(FOUND)) } }
  }

  test('it counts from the step in which the model can have read it', async () => {
    const found = held()
    const { plugin, pending, tools: late } = background(found.promise)
    const gate = await bootGate({
      ahead: [[plugin]],
      tools: {
        ...late,
        // Lets the search answer, and waits until its result has been announced.
        deliver: async () => {
          found.open()
          await pending.promise
          return 'delivered'
        },
      },
    })
    const agent = await gate.run([
      calls(call.complex),
      calls(['background']),
      // The step after the lookup's own: it still runs.
      calls(call.write),
      // It arrives within this step, so a write of the same message cannot know it.
      calls(['deliver'], call.write),
      calls(call.write),
      say('done'),
    ])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
    // It is of the step of its root call, and was settled two steps later.
    expect(gate.settlements(agent).find(({ class: kind }) => kind === 'search')).toMatchObject({
      step: 2,
      outcome: 'succeeded',
    })
  })
})
