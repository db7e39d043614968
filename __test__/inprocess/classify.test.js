/**
 * `bmpp__classify`: a declaration counts when its body ran and its result is a success, the value is what the body received,
 * and the last one wins.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, CLASSIFY, call, complex, memory, simple, writeOf } from '../support/gate.js'
import { calls, gate as held, say } from '../support/inprocess.js'

const writes = gate => gate.verdicts().filter(line => line.startsWith('write_note'))
const declarations = gate => gate.outcomes().filter(line => line.startsWith('classify'))

/** A plugin that does something to the declarations, and to them alone. */
const other = (event, listener) => ({
  name: 'other',
  inject: ['tools'],
  apply: ctx =>
    void (event === 'guard'
      ? ctx.tools.guard(exec => (exec.name === CLASSIFY ? listener(exec) : undefined))
      : ctx.on(event, async (exec, ...rest) => (exec.name === CLASSIFY ? listener(exec, ...rest) : rest.at(-1)()))),
})

describe('a declaration that did not execute does not count', () => {
  test.each([
    ['denied by another plugin', other('tools/pre-execute', () => ({ kind: 'deny', reason: 'no' })), 'not-reached'],
    ['denied by another plugin’s guard', other('guard', () => 'no'), 'not-reached'],
    [
      'stopped by a listener that throws',
      other('tools/pre-execute', () => {
        throw new Error('broken')
      }),
      'not-reached',
    ],
    [
      'blocked afterwards',
      other('tools/post-execute', () => ({ kind: 'block', feedback: [{ type: 'text', text: 'no' }] })),
      'failed',
    ],
    [
      'turned into an error by a listener that throws afterwards',
      other('tools/post-execute', () => {
        throw new Error('broken')
      }),
      'failed',
    ],
  ])('%s', async (_what, plugin, outcome) => {
    for (const place of ['ahead', 'behind']) {
      const gate = await bootGate({ [place]: [[plugin]] })
      await gate.turn([[call.simple], [call.write]])
      expect(declarations(gate), place).toEqual([`classify ${outcome}`])
      expect(writes(gate), place).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
    }
  })

  test('aborted before it ran', async () => {
    const gate = await bootGate({
      tools: {
        declare: async (_args, exec) => {
          const controller = new AbortController()
          const result = gate.direct(exec.agent, call.simple, { signal: controller.signal })
          controller.abort()
          return `${(await result).isError}`
        },
      },
    })
    await gate.turn([[['declare', {}]], [call.write]])
    expect(declarations(gate)).toEqual(['classify not-reached'])
    expect(writes(gate)).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('aborted after it ran, before its result: the result is no success', async () => {
    const waiting = held()
    const goOn = held()
    const gate = await bootGate({
      behind: [
        [
          other('tools/post-execute', async (_exec, _result, next) => {
            waiting.open()
            await goOn.promise
            return next()
          }),
        ],
      ],
      tools: {
        declare: async (_args, exec) => {
          const controller = new AbortController()
          const result = gate.direct(exec.agent, call.simple, { signal: controller.signal })
          await waiting.promise
          controller.abort()
          goOn.open()
          return `${(await result).isError}`
        },
      },
    })
    await gate.turn([[['declare', {}]], [call.write]])
    expect(declarations(gate)).toEqual(['classify failed'])
    expect(writes(gate)).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('a wrapper that answers in its place without running it', async () => {
    const wrapper = other('tools/execute', () => ({
      isError: false,
      value: simple,
      content: [{ type: 'text', text: 'This turn is classified simple' }],
    }))
    for (const place of ['ahead', 'behind']) {
      const gate = await bootGate({ [place]: [[wrapper]] })
      await gate.turn([[call.simple], [call.write]])
      expect(writes(gate), place).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
    }
  })

  test('one that is denied leaves the earlier one in force', async () => {
    let made = 0
    const once = other('tools/pre-execute', (_exec, next) => (++made > 1 ? { kind: 'deny', reason: 'once' } : next()))
    const gate = await bootGate({ behind: [[once]] })
    await gate.turn([[call.complex], [call.simple], [call.write]])
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
  })
})

describe('an unusable declaration is an error result that says what to pass', () => {
  test.each([
    ['nothing', {}],
    ['null', 'null'],
    ['broken JSON', '{"task": "sim'],
    ['a list', ['simple']],
    ['text', '"simple"'],
    ['another word', { task: 'medium' }],
    ['another case', { task: 'Simple' }],
    ['outer spaces', { task: ' simple ' }],
    ['a list of one', { task: ['simple'] }],
    ['an object', { task: { value: 'simple' } }],
    ['true', { task: true }],
    ['null for a task', { task: null }],
    ['another key', { type: 'simple' }],
    ['a task of the prototype', '{"__proto__": {"task": "simple"}}'],
  ])('%s', async (_what, args) => {
    const gate = await bootGate()
    const agent = await gate.turn([[[CLASSIFY, args]], [call.write]])
    expect(gate.told(agent)[0]).toMatchObject({
      isError: true,
      text: expect.stringMatching(/^Error: MALFORMED_ARGUMENTS: .*\{"task":"simple"\} or \{"task":"complex"\}/),
    })
    expect(declarations(gate)).toEqual(['classify failed'])
    expect(writes(gate)).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('it does not undo a usable one', async () => {
    const gate = await bootGate()
    await gate.turn([[call.simple], [[CLASSIFY, { task: 'none' }]], [call.write]])
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed'])
  })

  test('and one with an unknown key beside the task is usable', async () => {
    const gate = await bootGate()
    await gate.turn([[[CLASSIFY, { task: 'simple', reason: 'dictated' }]], [call.write]])
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed'])
  })
})

describe('callable at any point of the turn, any number of times; the last one wins', () => {
  test.each([
    ['simple, complex', [simple, complex], 'CREATE_REQUIRES_SEARCH denied'],
    ['complex, simple', [complex, simple], 'ALLOW_SIMPLE allowed'],
    ['simple, complex, simple', [simple, complex, simple], 'ALLOW_SIMPLE allowed'],
    ['complex, simple, complex', [complex, simple, complex], 'CREATE_REQUIRES_SEARCH denied'],
    ['simple, simple', [simple, simple], 'ALLOW_SIMPLE allowed'],
  ])('%s', async (_what, tasks, verdict) => {
    const made = tasks.map(task => /** @type {[string, object]} */ ([CLASSIFY, task]))
    // In messages of their own, and all in one.
    const gate = await bootGate()
    await gate.turn([...made.map(one => [one]), [call.write]])
    await gate.turn([[...made, call.write]])
    expect(writes(gate)).toEqual(Array(2).fill(`write_note ${verdict}`))
    const changes = tasks.map((task, index) => index > 0 && tasks[index - 1] !== task)
    expect(declarations(gate)).toEqual(
      [...changes, ...changes].map(changed => `classify succeeded${changed ? ' RECLASSIFIED' : ''}`),
    )
  })

  test('after a write, for the writes that follow', async () => {
    const gate = await bootGate()
    await gate.turn([[call.simple], [call.write], [call.complex], [writeOf('Two')]])
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed', 'write_note CREATE_REQUIRES_SEARCH denied'])
  })

  test('exclusive: [classify, write] in one message works, and [write, classify] does not', async () => {
    const gate = await bootGate({
      // Even beside a write that is declared parallel-safe.
      tools: { [memory('write_note')]: { parallel: true, body: () => 'written' } },
    })
    await gate.turn([[call.simple, call.write]])
    await gate.turn([[call.write, call.simple]])
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed', 'write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('of the turn that ends with it, nothing is left for the next', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([[call.write], [call.simple]])
    await gate.turn([[call.write]], agent)
    expect(writes(gate)).toEqual(Array(2).fill('write_note CLASSIFICATION_REQUIRED denied'))
  })

  test('a declaration that settles after its turn ended declares nothing', async () => {
    const waiting = held()
    const goOn = held()
    let late
    const gate = await bootGate({
      behind: [
        [
          other('tools/post-execute', async (_exec, _result, next) => {
            waiting.open()
            await goOn.promise
            return next()
          }),
        ],
      ],
      tools: {
        declare: async (_args, exec) => {
          late = gate.direct(exec.agent, call.simple)
          await waiting.promise
          return 'started'
        },
      },
    })
    const agent = await gate.turn([[['declare', {}]]])
    goOn.open()
    expect((await late).isError).toBe(false)
    await gate.turn([[call.write]], agent)
    expect(gate.settlements()[0]).toMatchObject({ outcome: null })
    expect(writes(gate)).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  })
})

describe('what a model reads of the tool', () => {
  test('its schema names the parameter and the two words; its description says when to call it', async () => {
    const gate = await bootGate()
    const schema = gate.ctx.tools.schemas().find(({ name }) => name === CLASSIFY)
    expect(schema.parameters).toMatchObject({
      type: 'object',
      properties: { task: { type: 'string', enum: ['simple', 'complex'] } },
      required: ['task'],
      additionalProperties: false,
    })
    for (const word of [
      'Call it once per user request',
      'before the first tool call that writes',
      'last declaration',
    ]) {
      expect(schema.description).toContain(word)
    }
  })

  test('it answers a declaration with what follows from it', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([[call.simple], [call.complex]])
    expect(gate.answers(agent)).toEqual([
      expect.stringContaining('classified simple'),
      expect.stringMatching(/classified complex.*search.*later message/),
    ])
  })

  test('the model is offered it with each request, in audit too', async () => {
    for (const mode of ['audit', 'enforce']) {
      const gate = await bootGate({ mode })
      await gate.run([calls(call.bash), say('done')])
      for (const request of gate.model.requests) expect(request.tools.map(({ name }) => name)).toContain(CLASSIFY)
    }
  })
})
