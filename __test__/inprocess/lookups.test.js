/**
 * Lookups that fail, are empty, late, doubled, aborted or denied by somebody else, in every order with lookups that succeed:
 * one success in an earlier step of the turn is enough, and nothing else opens the gate.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, FOUND, flagged, memory, NOTHING, writeOf } from '../support/gate.js'
import { calls, gate as held, say } from '../support/inprocess.js'

const search = memory('search_notes')

/** What becomes of a lookup, by the word it searches for. */
const results = {
  found: answer(FOUND),
  empty: answer(NOTHING),
  flag: flagged('no such project'),
  heading: answer('# Search Failed\n\nno such index'),
}
const tools = { [search]: ({ query }) => results[query] }
const lookup = kind => /** @type {[string, object]} */ ([search, { query: kind }])
const writes = gate => gate.verdicts().filter(line => line.startsWith('write_note'))

/** Every order of the list. */
const orders = list =>
  list.length < 2 ? [list] : list.flatMap((one, index) => orders(list.toSpliced(index, 1)).map(rest => [one, ...rest]))

describe('one success is enough, in any order', () => {
  test.each([
    ...orders(['flag', 'heading', 'found']),
    ...orders(['flag', 'heading', 'empty']),
    ...orders(['found', 'empty', 'flag']),
  ])('%s, then %s, then %s', async (...order) => {
    const gate = await bootGate({ tools })
    // Each in a message of its own, and once all in one message.
    await gate.turn([[call.complex], ...order.map(kind => [lookup(kind)]), [call.write]])
    await gate.turn([[call.complex], order.map(lookup), [call.write]])
    expect(writes(gate)).toEqual(Array(2).fill('write_note ALLOW_RECALL_OK allowed'))
  })

  test.each(orders(['flag', 'heading']))('%s, then %s: every lookup failed', async (...order) => {
    const gate = await bootGate({ tools })
    await gate.turn([[call.complex], ...order.map(kind => [lookup(kind)]), [call.write]])
    expect(writes(gate)).toEqual(['write_note MEMORY_LOOKUP_FAILED denied'])
  })

  test('between a write that is denied and one that is allowed lies the success, not the number of lookups', async () => {
    const gate = await bootGate({ tools })
    await gate.turn([
      [call.complex],
      [lookup('flag')],
      [call.write],
      [lookup('heading')],
      [call.write],
      [lookup('empty')],
      [call.write],
      [lookup('flag')],
      [writeOf('Another')],
    ])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_FAILED denied',
      'write_note MEMORY_LOOKUP_FAILED denied',
      'write_note ALLOW_RECALL_OK allowed',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('the denial after a failed lookup names the ways out', async () => {
    const gate = await bootGate({ tools })
    const agent = await gate.turn([[call.complex], [lookup('flag')], [call.write]])
    const { text } = gate.told(agent).at(-1)
    for (const way of ['other words', '"search_type":"text"', 'build_context', '"project"']) expect(text).toContain(way)
  })
})

describe('a doubled lookup', () => {
  test('the same call id twice in one message: each is followed by its own ticket', async () => {
    for (const order of orders(['found', 'flag'])) {
      const gate = await bootGate({ tools })
      const twice = order.map(kind => /** @type {[string, object, string]} */ ([...lookup(kind), 'same']))
      await gate.turn([[call.complex], twice, [call.write]])
      expect(
        gate
          .outcomes()
          .filter(line => line.startsWith('search'))
          .sort(),
      ).toEqual(['search_notes failed', 'search_notes succeeded'])
      expect(writes(gate), order.join()).toEqual(['write_note ALLOW_RECALL_OK allowed'])
    }
  })

  test('a result that is announced once more, with another outcome, changes nothing', async () => {
    let seen
    const gate = await bootGate({
      tools: {
        ...tools,
        // Another plugin passes the failed search's own execution off as a success.
        again: (_args, exec) => {
          gate.ctx.emit('tools/result', seen, { isError: false, value: results.found, content: [] })
          return exec.callId
        },
      },
    })
    gate.ctx.on('tools/result', exec => {
      if (exec.name === search) seen = exec
    })
    await gate.turn([[call.complex], [lookup('flag')], [['again', {}]], [call.write]])
    expect(writes(gate)).toEqual(['write_note MEMORY_LOOKUP_FAILED denied'])
    expect(gate.outcomes().filter(line => line.startsWith('search'))).toEqual(['search_notes failed'])
    // It ran as it was judged, once: nobody is told that something else ran.
    expect(gate.verdicts().filter(line => line.startsWith('search'))).toEqual(['search_notes ALLOW_READ_ONLY allowed'])
    expect(gate.stderr).toEqual([])
  })
})

describe('an aborted lookup', () => {
  /** A turn in which a tool makes a lookup of its own and aborts it; the turn itself goes on. */
  async function aborted(abortAt, { inBody } = {}) {
    const begun = held()
    const gate = await bootGate({
      tools: {
        [search]: async () => {
          begun.open()
          await inBody?.promise
          return answer(FOUND)
        },
        lookup: async (_args, exec) => {
          const controller = new AbortController()
          const result = gate.direct(exec.agent, [search, { query: 'x' }], { signal: controller.signal })
          await abortAt({ controller, begun: begun.promise })
          return `${(await result).isError}`
        },
      },
    })
    await gate.turn([[call.complex], [['lookup', {}]], [call.write]])
    return gate
  }
  test('before its body: it proves nothing, not even a failure', async () => {
    // The gate has decided by now, and the host has not dispatched yet.
    const gate = await aborted(({ controller }) => controller.abort())
    expect(gate.outcomes().find(line => line.startsWith('search'))).toBe('search_notes not-reached')
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
    expect(gate.reached()).toEqual(['lookup'])
  })

  test('before anybody could judge it: nothing is known of it', async () => {
    const gate = await bootGate({
      tools: {
        lookup: async (_args, exec) => {
          const { isError } = await gate.direct(exec.agent, [search, { query: 'x' }], { signal: AbortSignal.abort() })
          return `${isError}`
        },
      },
    })
    await gate.turn([[call.complex], [['lookup', {}]], [call.write]])
    expect(gate.records.filter(record => record.tool === search)).toEqual([])
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
    expect(gate.stderr).toEqual([])
  })

  test('during its body: it failed, whatever the body answered', async () => {
    const inBody = held()
    const gate = await aborted(
      async ({ controller, begun }) => {
        await begun
        controller.abort()
        inBody.open()
      },
      { inBody },
    )
    expect(gate.outcomes().find(line => line.startsWith('search'))).toBe('search_notes failed')
    expect(writes(gate)).toEqual(['write_note MEMORY_LOOKUP_FAILED denied'])
  })

  test('with its turn, by the user: the next turn has nothing of it, and nothing is held', async () => {
    const begun = held()
    const gate = await bootGate({
      tools: {
        [search]: (_args, { signal }) =>
          new Promise(answered => {
            signal.addEventListener('abort', () => answered(answer(FOUND)))
            begun.open()
          }),
      },
    })
    const agent = await gate.open()
    // The write of the aborted message is written into the log and never comes to be judged.
    gate.start(agent, [calls(call.complex), calls(call.search, call.write)])
    await begun.promise
    gate.cancel(agent)
    await agent.whenIdle()
    expect(gate.answers(agent).at(-1)).toContain('aborted')
    expect(writes(gate)).toEqual([])
    await gate.turn([[call.complex], [call.write], [call.simple], [call.write]], agent)
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied', 'write_note ALLOW_SIMPLE allowed'])
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
  })
})

describe('a late lookup', () => {
  /** A tool starts a search and does not wait; what `after` says happens before it answers. */
  async function late() {
    const found = held()
    let result
    const gate = await bootGate({
      tools: {
        [search]: async () => {
          await found.promise
          return answer(FOUND)
        },
        background: (_args, exec) => {
          result = gate.direct(exec.agent, [search, { query: 'x' }])
          return 'started'
        },
        deliver: async () => {
          found.open()
          await result
          return 'delivered'
        },
      },
    })
    return {
      gate,
      deliver: () => {
        found.open()
        return result
      },
    }
  }
  const settlement = gate => gate.settlements().find(record => record.tool === search)

  test('that settles after its turn has ended opens nothing, in neither turn', async () => {
    const { gate, deliver } = await late()
    const agent = await gate.turn([[call.complex], [['background', {}]]])
    expect((await deliver()).isError).toBe(false)
    expect(settlement(gate)).toMatchObject({ outcome: null, observations: [], turn: 1 })
    await gate.turn([[call.complex], [call.write]], agent)
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
  })

  test('that settles in the next turn opens nothing there', async () => {
    const { gate } = await late()
    const agent = await gate.turn([[call.complex], [['background', {}]]])
    await gate.turn([[call.complex], [['deliver', {}]], [call.write]], agent)
    expect(settlement(gate)).toMatchObject({ outcome: null, turn: 1 })
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
  })

  test('that settles within its turn, in a later step, opens it to the step after', async () => {
    const { gate } = await late()
    await gate.turn([[call.complex], [['background', {}]], [call.write], [['deliver', {}], call.write], [call.write]])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('that never settles: its turn stays closed, the end of the turn drops it, and the next begins at nothing', async () => {
    const { gate } = await late()
    const agent = await gate.turn([[call.complex], [['background', {}]], [call.write]])
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
    await gate.turn([[call.complex], [call.write]], agent)
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
    ])
  })
})

describe('a lookup that another plugin stands in the way of', () => {
  const other = (event, listener) => ({
    name: 'other',
    inject: ['tools'],
    apply: ctx => void (event === 'guard' ? ctx.tools.guard(listener) : ctx.on(event, listener)),
  })
  const block = async (exec, result, next) =>
    exec.name === search ? { kind: 'block', feedback: [{ type: 'text', text: 'not for you' }] } : next(exec, result)

  test.each([
    [
      'denied at pre-execute',
      other('tools/pre-execute', async (exec, next) =>
        exec.name === search ? { kind: 'deny', reason: 'no searching' } : next(),
      ),
      'not-reached',
      'CREATE_REQUIRES_SEARCH',
    ],
    [
      'denied by a guard',
      other('guard', exec => (exec.name === search ? 'no searching' : undefined)),
      'not-reached',
      'CREATE_REQUIRES_SEARCH',
    ],
    [
      'denied by a listener that throws',
      other('tools/pre-execute', async (exec, next) => {
        if (exec.name === search) throw new Error('broken')
        return next()
      }),
      'not-reached',
      'CREATE_REQUIRES_SEARCH',
    ],
    [
      'turned from a success into an error afterwards',
      other('tools/post-execute', block),
      'failed',
      'MEMORY_LOOKUP_FAILED',
    ],
  ])('%s', async (_what, plugin, outcome, code) => {
    for (const place of ['ahead', 'behind']) {
      const gate = await bootGate({ [place]: [[plugin]] })
      await gate.turn([[call.complex], [call.search], [call.write]])
      const searched = gate.outcomes().filter(line => line.startsWith('search_notes'))
      expect(searched, place).toEqual([`search_notes ${outcome}`])
      expect(writes(gate), place).toEqual([`write_note ${code} denied`])
    }
  })

  test('a spill plugin that replaces the content: the value is what is read', async () => {
    const spill = content =>
      other('tools/post-execute', async (exec, _result, next) =>
        exec.name === search ? { kind: 'accept', content: [{ type: 'text', text: content }] } : next(),
      )
    // What was found stays found, and what failed stays failed, whatever stands in the place of the text.
    for (const [body, content, verdict] of [
      [results.found, '# Error: the output was too long, see the file', 'write_note ALLOW_RECALL_OK allowed'],
      [results.heading, '# Search Results: spilled', 'write_note MEMORY_LOOKUP_FAILED denied'],
    ]) {
      const gate = await bootGate({ tools: { [search]: () => body }, behind: [[spill(content)]] })
      const agent = await gate.turn([[call.complex], [call.search], [call.write]])
      expect(gate.told(agent)[1].text).toBe(content)
      expect(gate.settlements()[1].observations).toEqual([])
      expect(writes(gate)).toEqual([verdict])
    }
  })
})

test('a lookup that was denied or aborted takes nothing away from one that succeeded', async () => {
  let searches = 0
  const gate = await bootGate({
    behind: [
      [
        {
          name: 'once',
          inject: ['tools'],
          apply: ctx =>
            void ctx.on('tools/pre-execute', async (exec, next) =>
              exec.name === search && ++searches > 1 ? { kind: 'deny', reason: 'once is enough' } : next(),
            ),
        },
      ],
    ],
  })
  await gate.run([calls(call.complex), calls(call.search), calls(call.search), calls(call.write), say('done')])
  expect(gate.outcomes().slice(1, 3)).toEqual(['search_notes succeeded', 'search_notes not-reached'])
  expect(writes(gate)).toEqual(['write_note ALLOW_RECALL_OK allowed'])
})
