/**
 * Under enforce and strict, a destructive call is put to a human: when the gate would allow it, and instead of denying it
 * outright. What can be answered, what cannot, and what the model and the records are told of it.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, memory } from '../support/gate.js'
import { calls, gate as held, hostPackage, say } from '../support/inprocess.js'

const { setApprovalPolicy } = await hostPackage('dsh-user-approval')
const remove = memory('delete_note')

/** A gate in enforce and strict with a human who answers this. `asks` holds what the human was shown. */
async function bootAsking(outcome, options = {}) {
  const asks = []
  const gate = await bootGate({
    profile: 'strict',
    answer: request => {
      asks.push(request)
      return typeof outcome === 'function' ? outcome(request, asks.length) : outcome
    },
    ...options,
  })
  return Object.assign(gate, { asks })
}
const approvals = gate => gate.trace.filter(({ at }) => /^approval\/(asked|decided)$/.test(at))
const removals = gate => gate.verdicts().filter(line => line.startsWith('delete_'))

describe('asked and approved', () => {
  test.each([
    ['that the gate would allow, in a simple turn', [[call.simple]], 'ALLOW_SIMPLE'],
    ['that the gate would allow, after a lookup', [[call.complex], [call.search]], 'ALLOW_RECALL_OK'],
    ['in a turn that is not classified', [], 'CLASSIFICATION_REQUIRED'],
    ['without a lookup', [[call.complex]], 'MEMORY_LOOKUP_REQUIRED'],
    ['with a lookup of the same message', [[call.complex, call.search]], 'MEMORY_LOOKUP_PENDING_IN_BATCH', true],
  ])('a destructive call %s is asked, and runs once', async (_what, before, code, bundled) => {
    const gate = await bootAsking('allowed-once')
    const messages = bundled ? [[...before[0], call.remove]] : [...before, [call.remove]]
    const agent = await gate.turn(messages)
    expect(removals(gate)).toEqual([`delete_note ${code} asked`])
    expect(gate.reached().filter(name => name === 'delete_note')).toHaveLength(1)
    expect(gate.answers(agent).at(-1)).toBe('true')
    expect(gate.asks).toHaveLength(1)
    // The unmet precondition is named to the human, and nothing where there is none.
    const unmet = code.startsWith('ALLOW_')
      ? /destroys memory[^.]*\.$/
      : new RegExp(`precondition is not met: ${code}\\.$`)
    expect(gate.asks[0].reason).toMatch(unmet)
  })

  test('delete_project is asked for too, write_note and move_note are not', async () => {
    const gate = await bootAsking('allowed-once')
    await gate.turn([
      [call.simple],
      [[memory('delete_project'), { project_name: 'old' }]],
      [call.write],
      [[memory('move_note'), { identifier: 'a', destination_path: 'b/a.md' }]],
    ])
    expect(gate.asks.map(({ toolName }) => toolName)).toEqual([memory('delete_project')])
    expect(gate.reached()).toEqual(['delete_project', 'write_note', 'move_note'])
  })

  test('an approval is used once: the next call is asked for again', async () => {
    const gate = await bootAsking((_request, count) => (count === 1 ? 'allowed-once' : 'rejected'))
    const agent = await gate.turn([[call.simple], [call.remove], [call.remove]])
    expect(gate.asks).toHaveLength(2)
    expect(gate.reached()).toEqual(['delete_note'])
    expect(gate.told(agent).map(({ isError }) => isError)).toEqual([false, false, true])
  })

  test('a call of a run_code program is asked for like any other', async () => {
    const gate = await bootAsking('allowed-once', { codeMode: 'both' })
    const code = `return (await tools['${remove}']({ identifier: 'notes/plans' })).content[0].text`
    const agent = await gate.turn([[call.simple], [['run_code', { description: 'a program', code }]]])
    expect(gate.told(agent)[1].text).toBe('true')
    expect(gate.asks).toHaveLength(1)
    expect(gate.reached()).toContain('delete_note')
  })

  test('approved by the human and denied by another plugin’s guard: it does not run', async () => {
    const strict = {
      name: 'strict',
      inject: ['tools'],
      apply: ctx => void ctx.tools.guard(({ name }) => (name === remove ? 'never here' : undefined)),
    }
    for (const place of ['ahead', 'behind']) {
      const gate = await bootAsking('allowed-once', { [place]: [[strict]] })
      const agent = await gate.turn([[call.simple], [call.remove]])
      expect(gate.told(agent)[1].text).toBe('Error: never here')
      expect(gate.reached()).toEqual([])
      expect(gate.outcomes().at(-1)).toBe('delete_note not-reached')
    }
  })

  test('two sessions with the same call id and the same reason: each has its own answer', async () => {
    const pending = { a: held(), b: held() }
    const gate = await bootAsking(({ agent }) => pending[agent.id].promise)
    const both = [await gate.open({ id: 'a' }), await gate.open({ id: 'b' })]
    const same = /** @type {[string, any, string]} */ ([...call.remove, 'same'])
    for (const agent of both) gate.start(agent, [calls(call.simple), calls(same), say('done')])
    pending.b.open('allowed-once')
    await both[1].whenIdle()
    expect(gate.ran.map(({ session }) => session)).toEqual(['b'])
    pending.a.open('rejected')
    await both[0].whenIdle()
    expect(gate.ran.map(({ session }) => session)).toEqual(['b'])
    expect(gate.asks[0].reason).toBe(gate.asks[1].reason)
  })
})

describe('asked and not approved', () => {
  test.each([
    ['rejected', 'rejected', 'the user rejected tool'],
    ['cancelled', 'cancelled', 'was cancelled'],
    ['unavailable', 'unavailable', 'no approval channel is available'],
    ['anything that is no answer', 'of course!', 'no approval channel is available'],
    [
      'an answerer that throws',
      () => {
        throw new Error('no screen')
      },
      'no approval channel is available',
    ],
  ])('%s: it does not run, and the host says why', async (_what, outcome, text) => {
    const gate = await bootAsking(outcome)
    const agent = await gate.turn([[call.simple], [call.remove]])
    expect(gate.told(agent)[1]).toMatchObject({ isError: true, text: expect.stringContaining(text) })
    expect(removals(gate)).toEqual(['delete_note ALLOW_SIMPLE asked'])
    expect(gate.outcomes().at(-1)).toBe('delete_note not-reached')
    expect(gate.reached()).toEqual([])
  })

  test.each(['rejected', 'cancelled'])('after %s the human can be asked again', async outcome => {
    const gate = await bootAsking((_request, count) => (count === 1 ? outcome : 'allowed-once'))
    await gate.turn([[call.simple], [call.remove], [call.remove]])
    expect(removals(gate)).toEqual(Array(2).fill('delete_note ALLOW_SIMPLE asked'))
    expect(gate.reached()).toEqual(['delete_note'])
  })

  test.each([
    ['unavailable', 'unavailable'],
    ['an answerer that throws', () => Promise.reject(new Error('no screen'))],
  ])('after %s nobody is asked any more in that session, in this turn and the next', async (_what, outcome) => {
    const gate = await bootAsking(outcome)
    const agent = await gate.turn([[call.simple], [call.remove], [call.remove]])
    await gate.turn([[call.simple], [call.remove]], agent)
    expect(gate.asks).toHaveLength(1)
    expect(removals(gate)).toEqual([
      'delete_note ALLOW_SIMPLE asked',
      'delete_note ALLOW_SIMPLE denied',
      'delete_note ALLOW_SIMPLE denied',
    ])
    const { text } = gate.told(agent).at(-1)
    expect(text).toMatch(/^Error: APPROVAL_UNAVAILABLE: .*human's approval, which is not available here. Do not retry/)
    // Another session is another matter.
    await gate.turn([[call.simple], [call.remove]])
    expect(gate.asks).toHaveLength(2)
  })

  test('the turn is cancelled while the human thinks: nothing runs, now or when they answer after all', async () => {
    const thinking = held()
    const verdict = held()
    const gate = await bootAsking(async (_request, count) => {
      if (count > 1) return 'rejected'
      thinking.open()
      return verdict.promise
    })
    const agent = await gate.open()
    gate.start(agent, [calls(call.simple), calls(call.remove)])
    await thinking.promise
    gate.cancel(agent)
    await agent.whenIdle()
    verdict.open('allowed-once')
    await gate.turn([[call.simple], [call.remove]], agent)
    expect(gate.reached()).toEqual([])
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
  })
})

test('while one session waits for its human, other sessions go on, and so do other calls of its own', async () => {
  const thinking = held()
  const verdict = held()
  const gate = await bootAsking(() => {
    thinking.open()
    return verdict.promise
  })
  const waiting = await gate.open()
  gate.start(waiting, [calls(call.simple), calls(call.remove), say('done')])
  await thinking.promise
  const other = await gate.turn([[call.complex], [call.search], [call.write]])
  expect(gate.verdicts(other).at(-1)).toBe('write_note ALLOW_RECALL_OK allowed')
  await gate.direct(waiting, call.write)
  expect(gate.verdicts(waiting).at(-1)).toBe('write_note ALLOW_SIMPLE allowed')
  // Reads go on wherever they are made.
  for (const agent of [undefined, other]) expect((await gate.direct(agent, call.search)).isError).toBe(false)
  verdict.open('rejected')
  await waiting.whenIdle()
  expect(gate.reached()).not.toContain('delete_note')
})

describe('nobody can be asked: denied with our own text, which says not to retry, and no ask is made', () => {
  const cases = {
    'no approval service': { options: { answer: undefined } },
    'the session’s policy is never': { prepare: (_gate, agent) => setApprovalPolicy(agent.session, 'never') },
    'a delegated subagent': { open: async gate => gate.open({ parent: await gate.open() }) },
    'a subagent of a subagent': {
      open: async gate => gate.open({ parent: await gate.open({ parent: await gate.open() }) }),
    },
  }
  describe.each(Object.entries(cases))('%s', (_what, { options, prepare, open }) => {
    test.each([
      ['allowed by the gate', [call.simple], 'ALLOW_SIMPLE'],
      ['unclassified', [call.read], 'CLASSIFICATION_REQUIRED'],
    ])('%s', async (_case, first, code) => {
      const gate = await bootAsking('allowed-once', options)
      const agent = await (open ? open(gate) : gate.open())
      prepare?.(gate, agent)
      await gate.turn([first, [call.remove]], agent)
      expect(removals(gate)).toEqual([`delete_note ${code} denied`])
      expect(gate.told(agent)[1].text).toMatch(/^Error: APPROVAL_UNAVAILABLE: .*Do not retry/)
      expect(gate.asks).toEqual([])
      expect(approvals(gate)).toEqual([])
      expect(gate.reached()).not.toContain('delete_note')
    })
  })

  test('an ordinary write of a subagent needs nobody’s approval', async () => {
    const gate = await bootAsking('allowed-once')
    const child = await gate.open({ parent: await gate.open() })
    await gate.turn([[call.simple], [call.write]], child)
    expect(gate.reached()).toEqual(['write_note'])
  })

  test('the service goes away and comes back: what counts is whether it is there now', async () => {
    const { default: Approval } = await hostPackage('dsh-user-approval')
    const gate = await bootAsking('allowed-once', { answer: undefined })
    gate.ctx.on('approval/request', async () => 'allowed-once')
    const agent = await gate.turn([[call.simple], [call.remove]])
    const fiber = await gate.ctx.plugin(Approval, {})
    await gate.turn([[call.simple], [call.remove]], agent)
    await fiber.dispose()
    await gate.turn([[call.simple], [call.remove]], agent)
    expect(removals(gate).map(line => line.split(' ').at(-1))).toEqual(['denied', 'asked', 'denied'])
    expect(gate.reached()).toEqual(['delete_note'])
  })
})

describe('never asked', () => {
  test.each([
    ['audit, strict', { mode: 'audit', profile: 'strict' }],
    ['audit, compat', { mode: 'audit', profile: 'compat' }],
    ['off, strict', { mode: 'off', profile: 'strict' }],
    ['enforce, compat', { mode: 'enforce', profile: 'compat' }],
  ])('%s', async (_what, options) => {
    const gate = await bootAsking('rejected', options)
    await gate.turn([[call.simple], [call.remove]])
    expect(gate.asks).toEqual([])
    expect(approvals(gate)).toEqual([])
    expect(gate.reached()).toEqual(['delete_note'])
  })

  test.each([
    ['text', '{"identifier": broken'],
    ['a list', [1]],
    ['null', 'null'],
    ['two names of one parameter', { identifier: 'a', is_directory: true, is_dir: true }],
  ])('malformed arguments always deny: %s', async (_what, args) => {
    const gate = await bootAsking('allowed-once')
    await gate.turn([[call.simple], [[remove, args]]])
    expect(removals(gate)).toEqual(['delete_note MALFORMED_ARGUMENTS denied'])
    expect(gate.asks).toEqual([])
    expect(gate.reached()).toEqual([])
  })

  test('an unknown tool always denies', async () => {
    const gate = await bootAsking('allowed-once')
    await gate.turn([[call.simple], [[memory('brand_new_tool'), {}]]])
    expect(gate.verdicts().at(-1)).toBe('brand_new_tool UNKNOWN_MEMORY_TOOL denied')
    expect(gate.asks).toEqual([])
  })

  test('in compat a destructive call is gated like any write', async () => {
    const gate = await bootAsking('allowed-once', { profile: 'compat' })
    await gate.turn([[call.remove], [call.complex], [call.remove], [call.search], [call.remove]])
    expect(removals(gate)).toEqual([
      'delete_note CLASSIFICATION_REQUIRED denied',
      'delete_note MEMORY_LOOKUP_REQUIRED denied',
      'delete_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('an empty destructiveTools list: then nothing is destructive', async () => {
    const gate = await bootAsking('rejected', { config: { destructiveTools: [] } })
    await gate.turn([[call.simple], [call.remove]])
    expect(removals(gate)).toEqual(['delete_note ALLOW_SIMPLE allowed'])
  })
})

describe('what the human reads, and nobody else', () => {
  test('the tool, the identifier, is_directory, delete_notes and the project', async () => {
    const gate = await bootAsking('rejected')
    await gate.turn([
      [call.simple],
      [[remove, { identifier: 'notes/old', is_directory: true, project: 'main', output_format: 'json' }]],
      [[memory('delete_project'), { project_name: 'old', delete_notes: true }]],
    ])
    expect(gate.asks.map(({ reason }) => reason)).toEqual([
      `${remove} destroys memory, identifier: "notes/old", is_directory: true, project: "main".`,
      `${memory('delete_project')} destroys memory, delete_notes: true, project: "old".`,
    ])
  })

  test('escaped, on one line, and cut at 200 characters', async () => {
    const gate = await bootAsking('rejected')
    const identifier = `a"b\\c\n\u202e\u200b${'x'.repeat(500)}`
    await gate.turn([[call.simple], [[remove, { identifier }]]])
    const [{ reason }] = gate.asks
    expect(reason).toContain('identifier: "a\\"b\\\\c\\u{a}\\u{202e}\\u{200b}xxx')
    expect(reason.match(/x/g)).toHaveLength(200 - 8)
    expect(reason).toContain('…"')
    expect(reason).not.toMatch(/[\n\u202e\u200b]/)
  })

  test('no content, and nothing that is not on the list', async () => {
    const gate = await bootAsking('rejected')
    await gate.turn([[call.simple], [[remove, { identifier: 'a', content: 'SECRET', note: 'SECRET', SECRET: 1 }]]])
    expect(gate.asks[0].reason).not.toContain('SECRET')
  })

  test.each([
    ['approved', 'allowed-once'],
    ['rejected', 'rejected'],
    ['unavailable', 'unavailable'],
  ])('records, denials and standard error hold no identifier: %s', async (_what, outcome) => {
    const gate = await bootAsking(outcome, { tools: { [remove]: () => answer('true') } })
    const marked = /** @type {[string, any]} */ ([remove, { identifier: 'IDENTIFIER-1', project: 'IDENTIFIER-2' }])
    const agent = await gate.turn([[marked], [call.simple], [marked], [marked]])
    expect(gate.asks[0].reason).toContain('IDENTIFIER-1')
    const kept = JSON.stringify([gate.records, gate.stderr, gate.report(), gate.told(agent), gate.logs.map(String)])
    expect(kept).not.toContain('IDENTIFIER')
  })
})
