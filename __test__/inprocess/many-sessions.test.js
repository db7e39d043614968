/**
 * What is over leaves nothing: sessions by the ten thousand, turns by the thousand, calls that never settle.
 */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Position } from '../../js/position.js'
import { answer, bootGate, call, FOUND, memory, writeOf } from '../support/gate.js'
import { calls, gate as held } from '../support/inprocess.js'

afterEach(() => void vi.restoreAllMocks())

const EMPTY = { sessions: 0, turns: 0, calls: 0 }

/** Boots a gate and gets hold of its position, which follows every session. */
async function bootPositioned(options) {
  const created = vi.spyOn(Position.prototype, 'created')
  const gate = await bootGate(options)
  const agent = await gate.open()
  await gate.close(agent)
  return Object.assign(gate, { position: created.mock.contexts[0] })
}

/** What the agent loop does for a call: announces it in the session's log, and executes it for the agent. */
async function announced(gate, session, turn, step, [name, args]) {
  const callId = `c${turn}.${step}`
  session.append('tool/call', { turn, step, callId, name, arguments: JSON.stringify(args) })
  return gate.direct({ id: session.id, session }, [name, args, callId])
}

test('10 000 sessions with calls, opened and disposed of', async () => {
  const gate = await bootPositioned({ parts: { sink: { record() {} } } })
  const { sessions } = gate.ctx
  let most = 0
  for (let index = 0; index < 10_000; index++) {
    const session = sessions.prepare(`s${index}`)
    const detach = sessions.enter(session)
    sessions.announce(session)
    session.append('turn/start', { turn: 1 })
    // A lookup each, and now and then a whole turn. Most are cut off in the middle of their turn, some end it.
    await announced(gate, session, 1, 1, call.search)
    if (index % 20 === 0) {
      await announced(gate, session, 1, 2, call.simple)
      await announced(gate, session, 1, 3, call.write)
      session.append('turn/end', { turn: 1, reason: 'completed' })
    }
    const { sessions: open, turns } = gate.holdings()
    most = Math.max(most, open, turns)
    detach()
  }
  expect(gate.reached().filter(name => name === 'search_notes')).toHaveLength(10_000)
  expect(gate.reached().filter(name => name === 'write_note')).toHaveLength(500)
  expect(most).toBe(1)
  expect(gate.holdings()).toEqual(EMPTY)
  expect(gate.position.size).toBe(0)
  expect(gate.stderr).toEqual([])
}, 120_000)

test('10 000 sessions in which nothing is judged are not followed in the core, and leave nothing in the shim', async () => {
  const gate = await bootPositioned()
  const { sessions } = gate.ctx
  const open = []
  for (let index = 0; index < 10_000; index++) {
    const session = sessions.prepare(`s${index}`)
    open.push(sessions.enter(session))
    sessions.announce(session)
    session.append('turn/start', { turn: 1 })
  }
  expect(gate.holdings()).toEqual(EMPTY)
  expect(gate.position.size).toBe(10_000)
  for (const detach of open) detach()
  expect(gate.position.size).toBe(0)
}, 60_000)

test('real agents, opened and closed, leave nothing', async () => {
  const gate = await bootPositioned()
  for (let index = 0; index < 25; index++) {
    const agent = await gate.turn([[call.simple], [call.search, call.write]])
    const child = await gate.open({ parent: agent })
    await gate.turn([[call.write]], child)
    await gate.close(child)
    await gate.close(agent)
  }
  expect(gate.holdings()).toEqual(EMPTY)
  expect(gate.position.size).toBe(0)
})

test('1 000 turns in one session hold what one turn holds, and that nothing when it is over', async () => {
  const gate = await bootPositioned()
  const session = gate.ctx.sessions.prepare('one')
  const detach = gate.ctx.sessions.enter(session)
  gate.ctx.sessions.announce(session)
  for (let turn = 1; turn <= 1000; turn++) {
    session.append('turn/start', { turn })
    await announced(gate, session, turn, 1, call.complex)
    await announced(gate, session, turn, 2, call.search)
    const { isError } = await announced(gate, session, turn, 3, writeOf(`Note ${turn}`))
    expect(isError).toBe(false)
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 1, calls: 0 })
    session.append('turn/end', { turn, reason: 'completed' })
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
  }
  expect(gate.position.size).toBe(1)
  expect(gate.decisions().at(-1)).toMatchObject({ turn: 1000, step: 3, code: 'ALLOW_RECALL_OK' })
  detach()
  expect(gate.holdings()).toEqual(EMPTY)
  expect(gate.position.size).toBe(0)
}, 60_000)

describe('calls that never settle', () => {
  test('are dropped at the end of their turn', async () => {
    const never = held()
    const gate = await bootPositioned({
      tools: {
        [memory('search_notes')]: () => never.promise.then(() => answer(FOUND)),
        background: (_args, exec) => {
          for (let index = 0; index < 100; index++)
            void gate.direct(exec.agent, [memory('search_notes'), {}, `b${index}`])
          return `${gate.holdings().calls}`
        },
      },
    })
    const agent = await gate.turn([[['background', {}]]])
    expect(gate.told(agent)[0].text).toBe('100')
    expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
    never.open()
  })

  test('are dropped with their session, and settle into nothing afterwards', async () => {
    const answered = held()
    let late
    const gate = await bootPositioned({
      tools: {
        [memory('search_notes')]: () => answered.promise.then(() => answer(FOUND)),
        background: (_args, exec) => {
          late = gate.direct(exec.agent, [memory('search_notes'), {}, 'b'])
          return 'started'
        },
      },
    })
    const agent = await gate.turn([[['background', {}]]])
    await gate.close(agent)
    expect(gate.holdings()).toEqual(EMPTY)
    answered.open()
    expect((await late).isError).toBe(false)
    expect(gate.settlements().at(-1)).toMatchObject({ tool: memory('search_notes'), outcome: null })
    expect(gate.holdings()).toEqual(EMPTY)
    expect(gate.position.size).toBe(0)
    expect(gate.stderr).toEqual([])
  })

  test('with a new session of the same id: the late result is of the earlier life', async () => {
    const answered = held()
    let late
    const gate = await bootPositioned({
      tools: {
        [memory('search_notes')]: () => answered.promise.then(() => answer(FOUND)),
        background: (_args, exec) => {
          late = gate.direct(exec.agent, [memory('search_notes'), {}, 'b'])
          return 'started'
        },
        deliver: async () => {
          answered.open()
          await late
          return 'delivered'
        },
      },
    })
    const first = await gate.open({ id: 'same' })
    await gate.turn([[call.complex], [['background', {}]]], first)
    await gate.close(first)
    const second = await gate.open({ id: 'same' })
    await gate.turn([[call.complex], [['deliver', {}]], [call.write]], second)
    expect(gate.verdicts().at(-1)).toBe('write_note CREATE_REQUIRES_SEARCH denied')
    expect(gate.holdings().sessions).toBe(1)
  })

  test('an ask that nobody ever answers is forgotten with its turn', async () => {
    const asked = held()
    const gate = await bootPositioned({
      profile: 'strict',
      answer: () => {
        asked.open()
        return new Promise(() => {})
      },
    })
    const agent = await gate.open()
    gate.start(agent, [calls(call.simple), calls(call.remove)])
    await asked.promise
    gate.cancel(agent)
    await agent.whenIdle()
    await gate.close(agent)
    expect(gate.holdings()).toEqual(EMPTY)
    expect(gate.position.size).toBe(0)
  })
})
