/**
 * Sessions whose events say less than those of the installed host: no turn numbers, no announced calls, or neither; and a gate
 * that is mounted when the session is already under way. What is not known falls on the closed side, and a number that the host
 * did not give is never written as if it had.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, CLASSIFY, call, memory, simple, writeOf } from '../support/gate.js'
import { calls, gate as held, hostPackage, say } from '../support/inprocess.js'

const { Service } = await hostPackage('cordis')
const writes = (gate, agent) => gate.verdicts(agent).filter(line => line.startsWith('write_note'))

/**
 * An agent whose session tells other events than it logs: `change` returns what is told of an event, or nothing. The log itself
 * must stay whole, since the Harness reads it.
 */
async function openTelling(gate, change) {
  const agent = await gate.open()
  told.set(agent.session, change)
  return agent
}
const told = new WeakMap()

/** Stands between the sessions' events and the gate, as a host that tells less would. */
const less = plugin => ({
  ...plugin,
  apply: function apply(ctx, config) {
    const on = (event, listener, ...more) =>
      ctx.on(
        event,
        event !== 'session/event'
          ? listener
          : (session, fact) => {
              const change = told.get(session)
              const changed = change ? change(fact) : fact
              return changed && listener(session, changed)
            },
        ...more,
      )
    return plugin.apply(
      new Proxy(ctx, { get: (target, key) => (key === 'on' ? on : Reflect.get(target, key, target)) }),
      config,
    )
  },
})

async function bootLess(options) {
  const gate = await bootGate({ ...options, mounted: false })
  await gate.mount(less(gate.plugin), gate.config)
  return gate
}

/** Without the numbers of turns; with those of steps. */
const unnumbered = ({ data: { turn: _turn, ...data }, ...event }) => ({ ...event, data })
/** Without any call announced. */
const unannounced = event => (event.type === 'tool/call' ? undefined : event)
const neither = event => unannounced(event) && unnumbered(event)
const silent = () => undefined

describe('turns whose events carry no numbers', () => {
  test('are counted, and are told apart', async () => {
    const gate = await bootLess()
    const agent = await openTelling(gate, unnumbered)
    await gate.turn([[call.complex], [call.search], [call.write]], agent)
    await gate.turn([[call.write], [call.complex], [call.write], [call.search, call.write]], agent)
    expect(writes(gate)).toEqual([
      'write_note ALLOW_RECALL_OK allowed',
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
    ])
  })

  test('are recorded as counted, never as the host’s own number', async () => {
    const gate = await bootLess()
    const agent = await openTelling(gate, unnumbered)
    await gate.turn([[call.read]], agent)
    await gate.turn([[call.read]], agent)
    for (const record of gate.records) {
      expect(record.turn).toBeNull()
      expect(record.countedTurn).toBeGreaterThan(0)
      expect(record.step).toBe(1)
    }
    const [first, second] = gate.decisions().map(({ countedTurn }) => countedTurn)
    expect(second).toBeGreaterThan(first)
  })

  test('the load report and one notice say so, once for a session', async () => {
    const gate = await bootLess()
    expect(gate.report().countedSessions).toBe(0)
    const agent = await openTelling(gate, unnumbered)
    for (let turn = 0; turn < 3; turn++) await gate.turn([[call.read]], agent)
    expect(gate.report().countedSessions).toBe(1)
    await gate.turn([[call.read]], await openTelling(gate, unnumbered))
    await gate.turn([[call.read]])
    expect(gate.report().countedSessions).toBe(2)
    expect(gate.report().notices).toEqual([expect.stringContaining('counted by the gate itself')])
    expect(gate.stderr).toHaveLength(1)
  })

  test('where the projection answers, its number is the turn’s', async () => {
    let turn = 7
    const service = class extends Service {
      constructor(ctx) {
        super(ctx, 'sessionProjections')
      }
      stateOf = () => ({ lastTurn: turn })
    }
    const gate = await bootLess({ withProjections: false, ahead: [[service]] })
    const agent = await openTelling(gate, unnumbered)
    await gate.turn([[call.simple], [call.write]], agent)
    turn = 8
    await gate.turn([[call.write]], agent)
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed', 'write_note CLASSIFICATION_REQUIRED denied'])
    expect(gate.decisions().map(record => [record.turn, record.countedTurn])).toEqual([
      [7, null],
      [7, null],
      [8, null],
    ])
    expect(gate.report().countedSessions).toBe(0)
  })
})

describe('a session that announces no call', () => {
  test('each root call is its own step, so a search opens what comes after it', async () => {
    const gate = await bootLess()
    const agent = await openTelling(gate, unannounced)
    await gate.turn([[call.complex], [call.write], [call.search], [call.write]], agent)
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied', 'write_note ALLOW_RECALL_OK allowed'])
    expect(gate.decisions().map(({ turn, step }) => [turn, step])).toEqual([
      [1, 1],
      [1, 2],
      [1, 3],
      [1, 4],
    ])
  })

  test('its turns end all the same', async () => {
    const gate = await bootLess()
    const agent = await openTelling(gate, unannounced)
    await gate.turn([[call.simple], [call.write]], agent)
    await gate.turn([[call.write]], agent)
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed', 'write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('a run_code program is one root call: search and write in it are of one step', async () => {
    const gate = await bootLess({ codeMode: 'both' })
    const agent = await openTelling(gate, unannounced)
    const code = `
      await tools['${CLASSIFY}']({ task: 'complex' })
      await tools['${memory('search_notes')}']({ query: 'x' })
      await tools['${memory('write_note')}']({ title: 'T', directory: 'd', content: '' }).catch(() => {})`
    await gate.turn([[['run_code', { description: 'a program', code }]], [call.write]], agent)
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('neither numbers nor announcements', async () => {
    const gate = await bootLess()
    const agent = await openTelling(gate, neither)
    await gate.turn([[call.complex], [call.write], [call.search], [call.write]], agent)
    await gate.turn([[call.write]], agent)
    expect(writes(gate)).toEqual([
      'write_note CREATE_REQUIRES_SEARCH denied',
      'write_note ALLOW_RECALL_OK allowed',
      'write_note CLASSIFICATION_REQUIRED denied',
    ])
    expect(gate.records.every(({ turn, countedTurn }) => turn === null && countedTurn !== null)).toBe(true)
    expect(gate.report().countedSessions).toBe(1)
  })

  test('calls that a plugin makes with an agent whose session has said nothing yet', async () => {
    const gate = await bootGate()
    const agent = await gate.open()
    const made = [
      ['c1', call.complex],
      ['c2', call.write],
      ['c3', call.search],
      ['c4', call.write],
    ]
    for (const [id, [name, args]] of made) await gate.direct(agent, [name, args, id])
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied', 'write_note ALLOW_RECALL_OK allowed'])
    expect(gate.decisions()[0]).toMatchObject({ session: agent.id, turn: null, countedTurn: 1, step: 1 })
    // The next turn begins at nothing.
    await gate.turn([[call.write]], agent)
    expect(writes(gate).at(-1)).toBe('write_note CLASSIFICATION_REQUIRED denied')
  })
})

test('a turn that was counted is not taken for the host’s turn of the same number', async () => {
  let turn
  const service = class extends Service {
    constructor(ctx) {
      super(ctx, 'sessionProjections')
    }
    stateOf = () => ({ lastTurn: turn })
  }
  const gate = await bootGate({ withProjections: false, ahead: [[service]] })
  const agent = await gate.open()
  await gate.direct(agent, call.simple)
  await gate.direct(agent, call.write)
  // The host begins to answer, with the number that was counted.
  turn = gate.decisions()[0].countedTurn
  await gate.direct(agent, call.write)
  expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed', 'write_note CLASSIFICATION_REQUIRED denied'])
  expect(gate.decisions().at(-1)).toMatchObject({ turn: 1, countedTurn: null })
})

test('an id that is missing although the session announces its calls counts as the current step', async () => {
  const gate = await bootGate({
    tools: {
      // A plugin's own lookup and write, of which no event tells.
      own: async (_args, exec) => {
        await gate.direct(exec.agent, [memory('search_notes'), { query: 'x' }, 'unannounced 1'])
        const { isError } = await gate.direct(exec.agent, [...writeOf('Own'), 'unannounced 2'])
        return `${isError}`
      },
    },
  })
  await gate.turn([[call.complex], [['own', {}]], [call.write]])
  expect(writes(gate)).toEqual([
    'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
    'write_note ALLOW_RECALL_OK allowed',
  ])
  expect(
    gate
      .decisions()
      .filter(({ call: id }) => id.startsWith('unannounced'))
      .map(({ step }) => step),
  ).toEqual([2, 2])
})

describe('a gate that is mounted late', () => {
  test('between two turns: the turn’s number is the host’s, and nothing earlier counts', async () => {
    const gate = await bootGate({ mounted: false })
    const agent = await gate.turn([[call.search], [call.write]])
    await gate.mount(gate.plugin, gate.config)
    await gate.turn([[call.write], [call.complex], [call.write], [call.search], [writeOf('Two')]], agent)
    expect(writes(gate)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
    expect(gate.decisions()[0]).toMatchObject({ turn: 2, countedTurn: null, step: 1 })
  })

  test('in the middle of a turn: unclassified, at the host’s turn and step, and gated from its next call on', async () => {
    const gate = await bootGate({
      mounted: false,
      tools: { mount: () => gate.mount(gate.plugin, gate.config).then(() => 'mounted') },
    })
    await gate.turn([
      [call.search],
      [call.write],
      [['mount', {}], call.write],
      [call.complex, call.write],
      [call.search],
      [writeOf('Two')],
    ])
    expect(writes(gate)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
    expect(gate.decisions()[0]).toMatchObject({ turn: 1, countedTurn: null, step: 3 })
  })

  test('in the middle of a call: its result is that of a call nobody judged, and breaks nothing', async () => {
    const begun = held()
    const end = held()
    const gate = await bootGate({
      mounted: false,
      tools: {
        [memory('search_notes')]: async () => {
          begun.open()
          await end.promise
          return 'found'
        },
      },
    })
    const agent = await gate.open()
    gate.start(agent, [calls(call.search), calls(call.complex, call.write), say('done')])
    await begun.promise
    await gate.mount(gate.plugin, gate.config)
    end.open()
    await agent.whenIdle()
    expect(gate.verdicts()[0]).toBe('search_notes CALL_NOT_JUDGED overridden')
    expect(gate.stderr).toEqual([expect.stringContaining('under way when the gate was loaded')])
    // It earns nothing.
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
    expect(gate.answers(agent)[0]).toBe('found')
  })

  test('an agent’s very first call, right after the mount', async () => {
    const gate = await bootGate({ mounted: false })
    const agent = await gate.open()
    await gate.mount(gate.plugin, gate.config)
    await gate.turn([[[CLASSIFY, simple], call.write]], agent)
    expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed'])
  })
})

test('a session that tells nothing at all has one turn that never ends, and says that it is counted', async () => {
  const gate = await bootLess()
  const agent = await openTelling(gate, silent)
  await gate.turn([[call.simple], [call.write]], agent)
  expect(writes(gate)).toEqual(['write_note ALLOW_SIMPLE allowed'])
  expect(gate.decisions()[0]).toMatchObject({ turn: null, countedTurn: 1 })
  expect(gate.report().notices).toHaveLength(1)
})
