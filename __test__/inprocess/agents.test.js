/**
 * Sessions beside each other: two agents that interleave at every point where one of them waits, and subagents that run beside
 * their parent. What a session has earned is its own.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, FOUND, memory, note, query, WRITTEN, writeOf } from '../support/gate.js'
import { calls, gate as held, say } from '../support/inprocess.js'

const search = memory('search_notes')
const write = memory('write_note')
const writes = (gate, agent) => gate.verdicts(agent).filter(line => line.startsWith('write_note'))

/** A turn with everything in it, as the gate should judge it when nobody else is there. */
const script = () => [
  calls(call.write),
  calls(call.complex),
  calls(call.write),
  calls(call.search, call.write),
  calls(call.write),
  calls(call.simple),
  calls(writeOf('Second')),
  say('done'),
]
const alone = [
  'write_note CLASSIFICATION_REQUIRED denied',
  'classify ALLOW_CONTROL allowed',
  'write_note CREATE_REQUIRES_SEARCH denied',
  'search_notes ALLOW_READ_ONLY allowed',
  'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
  'write_note ALLOW_RECALL_OK allowed',
  'classify ALLOW_CONTROL allowed',
  'write_note ALLOW_SIMPLE allowed',
]

/** Points at which a call waits, in the order in which it comes by. */
const POINTS = ['tools/pre-execute', 'tools/execute', 'tools/post-execute']

/**
 * A plugin at which every call of agent `a` waits, at one of the points, until agent `b` has come one call further, and the
 * other way round once `b` has ended.
 */
function alternating(point) {
  const waiting = { a: held(), b: held() }
  const done = new Set()
  const order = []
  const other = { a: 'b', b: 'a' }
  const plugin = {
    name: `alternating at ${point}`,
    inject: ['tools'],
    apply(ctx) {
      ctx.on(point, async (exec, ...rest) => {
        const me = exec.agent.id
        order.push(me)
        const mine = waiting[me]
        // Lets the other one go on from where it waits, and waits in its turn.
        waiting[other[me]].open()
        if (!done.has(other[me])) await mine.promise
        waiting[me] = held()
        return rest.at(-1)()
      })
    },
  }
  const ended = me => {
    done.add(me)
    waiting[other[me]].open()
  }
  return { plugin, ended, order }
}

describe.each(POINTS)('two agents that alternate at %s', point => {
  test.each(['ahead', 'behind'])(
    'each is judged as if it were alone (the other plugin %s of the gate)',
    async place => {
      const { plugin, ended, order } = alternating(point)
      const gate = await bootGate({ [place]: [[plugin]] })
      const [a, b] = [await gate.open({ id: 'a' }), await gate.open({ id: 'b' })]
      gate.start(a, script())
      gate.start(b, script())
      await Promise.all([a.whenIdle().then(() => ended('a')), b.whenIdle().then(() => ended('b'))])
      expect(gate.verdicts(a)).toEqual(alone)
      expect(gate.verdicts(b)).toEqual(alone)
      // They did interleave: each went on in the middle of the other's turn.
      const changes = order.filter((who, index) => index > 0 && order[index - 1] !== who)
      expect(changes.length).toBeGreaterThan(6)
      expect(gate.holdings()).toEqual({ sessions: 2, turns: 0, calls: 0 })
    },
  )
})

test('one agent’s search runs while the other writes: the one waits, the other is not held up', async () => {
  const begun = held()
  const end = held()
  const gate = await bootGate({
    tools: {
      [search]: async (_args, exec) => {
        if (exec.agent.id === 'searches') {
          begun.open()
          await end.promise
        }
        return answer(FOUND)
      },
    },
  })
  const one = await gate.open({ id: 'searches' })
  gate.start(one, [calls(call.complex), calls(call.search), calls(call.write), say('done')])
  await begun.promise
  const other = await gate.turn([[call.complex], [call.write], [call.search], [call.write]])
  expect(writes(gate, other)).toEqual([
    'write_note CREATE_REQUIRES_SEARCH denied',
    'write_note ALLOW_RECALL_OK allowed',
  ])
  end.open()
  await one.whenIdle()
  expect(writes(gate, one)).toEqual(['write_note ALLOW_RECALL_OK allowed'])
})

test('what one agent declares and finds is not the other’s', async () => {
  const gate = await bootGate()
  const declared = held()
  const checked = held()
  const a = await gate.open({ id: 'a' })
  const b = await gate.open({ id: 'b' })
  gate.start(a, [
    calls(call.simple),
    calls(call.search),
    async () => {
      declared.open()
      await checked.promise
      return calls(call.write)
    },
    say('done'),
  ])
  await declared.promise
  await gate.turn([[call.write], [call.complex], [call.write]], b)
  checked.open()
  await a.whenIdle()
  expect(writes(gate, b)).toEqual([
    'write_note CLASSIFICATION_REQUIRED denied',
    'write_note CREATE_REQUIRES_SEARCH denied',
  ])
  expect(writes(gate, a)).toEqual(['write_note ALLOW_SIMPLE allowed'])
})

describe('a subagent beside its parent', () => {
  /** The parent's tool `delegate` opens a child, runs a turn of it while the parent's call is under way, and ends it. */
  async function delegating(childScript, parentScript) {
    let child
    const gate = await bootGate({
      tools: {
        [write]: () => answer(WRITTEN),
        delegate: async (_args, exec) => {
          child = await gate.open({ parent: exec.agent })
          gate.start(child, childScript)
          await child.whenIdle()
          return 'the child is done'
        },
      },
    })
    const parent = await gate.run([...parentScript, say('done')])
    return { gate, parent, child }
  }

  test('has a session of its own: the parent’s classification and recall are not its', async () => {
    const { gate, parent, child } = await delegating(
      [calls(call.write), calls(call.complex), calls(call.write), say('child done')],
      [calls(call.complex), calls(call.search), calls(['delegate', {}]), calls(call.write)],
    )
    expect(child.session.header).toMatchObject({ origin: 'subagent', parentSession: parent.id })
    expect(writes(gate, child)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
    ])
    expect(writes(gate, parent)).toEqual(['write_note ALLOW_RECALL_OK allowed'])
  })

  test('earns nothing for its parent either', async () => {
    const { gate, parent, child } = await delegating(
      [calls(call.simple), calls(call.search), calls(call.write), say('child done')],
      [calls(call.complex), calls(['delegate', {}]), calls(call.write)],
    )
    expect(writes(gate, child)).toEqual(['write_note ALLOW_SIMPLE allowed'])
    expect(writes(gate, parent)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
  })

  test('interleaved with its parent, both with turn 1 and the same call ids', async () => {
    const parentWaits = held()
    const childWaits = held()
    const gate = await bootGate({
      tools: {
        [search]: async (_args, exec) => {
          // Both searches are under way at once; the child's answers first.
          if (exec.agent.id === 'parent') {
            parentWaits.open()
            await childWaits.promise
          }
          return answer(FOUND)
        },
      },
    })
    const named = (/** @type {string} */ id, [name, args]) => /** @type {[string, any, string]} */ ([name, args, id])
    const both = () => [
      calls(named('1', call.complex)),
      calls(named('2', [search, query])),
      calls(named('3', [write, note])),
      say('done'),
    ]
    const parent = await gate.open({ id: 'parent' })
    gate.start(parent, both())
    await parentWaits.promise
    const child = await gate.open({ parent, id: 'child' })
    gate.start(child, both())
    await child.whenIdle()
    expect(writes(gate, child)).toEqual(['write_note ALLOW_RECALL_OK allowed'])
    expect(writes(gate, parent)).toEqual([])
    childWaits.open()
    await parent.whenIdle()
    expect(writes(gate, parent)).toEqual(['write_note ALLOW_RECALL_OK allowed'])
    expect(gate.decisions(child).map(({ turn, step }) => [turn, step])).toEqual(
      gate.decisions(parent).map(({ turn, step }) => [turn, step]),
    )
  })

  test('that ends takes only its own state along', async () => {
    const gate = await bootGate()
    const parent = await gate.turn([[call.read]])
    const child = await gate.open({ parent })
    await gate.turn([[call.simple], [call.write]], child)
    expect(gate.holdings().sessions).toBe(2)
    await gate.close(child)
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
    await gate.turn([[call.simple], [call.write]], parent)
    expect(writes(gate, parent)).toEqual(['write_note ALLOW_SIMPLE allowed'])
  })
})
