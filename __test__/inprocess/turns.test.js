/**
 * A turn's authority is of that turn: with the host's turn projection, without it, and where it cannot answer. Turn numbers are
 * the host's own, in the projection and in the events alike.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, call, memory, writeOf } from '../support/gate.js'
import { hostPackage } from '../support/inprocess.js'
import { withTempDir } from '../support/temp-dir.js'

const { Service } = await hostPackage('cordis')
const writes = (gate, agent) => gate.verdicts(agent).filter(line => line.startsWith('write_note'))

/** What a newer host's agent loop registers under `turnBoundary`, folded from the log. @param {any} session */
function turnBoundary(session) {
  const state = { openTurnStartSeq: null, lastStepStartSeq: null, lastStepBoundary: null, lastTurn: 0 }
  for (const { type, seq, data } of session.events) {
    if (type === 'turn/start') Object.assign(state, { openTurnStartSeq: seq, lastTurn: data.turn })
    else if (type === 'turn/end') state.openTurnStartSeq = null
    else if (type === 'step/start') {
      Object.assign(state, { lastStepStartSeq: seq, lastStepBoundary: { kind: 'start', seq } })
    } else if (type === 'step/end') state.lastStepBoundary = { kind: 'end', seq }
  }
  return state
}

/** A service in the place of the host's, with this `stateOf`; without one where it is undefined. */
function projectionService(stateOf) {
  return class extends Service {
    constructor(ctx) {
      super(ctx, 'sessionProjections')
      if (stateOf) this.stateOf = stateOf
    }
  }
}

const nonsense = value => projectionService(() => ({ ...turnBoundary({ events: [] }), lastTurn: value }))

/** Every kind of host; `undefined` boots with the one that is installed, which has the service and no turn projection. */
const hosts = {
  'the installed host, whose service has no stateOf': undefined,
  'no projection service at all': null,
  'a host with the turn projection': projectionService((session, name) =>
    name === 'turnBoundary' ? turnBoundary(session) : undefined,
  ),
  'a service that throws': projectionService(() => {
    throw new Error('cannot answer')
  }),
  'a service that knows no turnBoundary': projectionService(() => undefined),
  'a service that answers null': projectionService(() => null),
  'a turn that is no number': nonsense('1'),
  'a turn that is no whole number': nonsense(1.5),
  'a negative turn': nonsense(-1),
  'NaN for a turn': nonsense(Number.NaN),
  'a turn beyond all numbers': nonsense(2 ** 32),
  'a projection that never advances': nonsense(1),
}

const bootWith = (service, options = {}) =>
  bootGate({ ...options, withProjections: service === undefined, ahead: service ? [[service]] : [] })

describe.each(Object.entries(hosts))('%s', (name, service) => {
  const stuck = name === 'a projection that never advances'

  test('authority earned in one turn is never used in another', async () => {
    const gate = await bootWith(service)
    const agent = await gate.turn([[call.complex], [call.search], [call.write]])
    await gate.turn([[call.write]], agent)
    await gate.turn([[call.complex], [call.write]], agent)
    await gate.turn([[call.simple], [call.write]], agent)
    await gate.turn([[call.write]], agent)
    expect(writes(gate)).toEqual([
      'write_note ALLOW_RECALL_OK allowed',
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
      'write_note ALLOW_SIMPLE allowed',
      'write_note CLASSIFICATION_REQUIRED denied',
    ])
  })

  test('the turn of a record is the host’s own number', async () => {
    const gate = await bootWith(service)
    const agent = await gate.turn([[call.read]])
    await gate.turn([[call.read], [call.read]], agent)
    const places = gate.decisions().map(({ turn, countedTurn, step }) => [turn, countedTurn, step])
    expect(places).toEqual([
      [1, null, 1],
      [stuck ? 1 : 2, null, 1],
      [stuck ? 1 : 2, null, 2],
    ])
    expect(gate.report().countedSessions).toBe(0)
    expect(gate.stderr).toEqual([])
  })

  test('search and write in one message are told apart from two', async () => {
    const gate = await bootWith(service)
    await gate.turn([[call.complex], [call.search, call.write], [call.write]])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })
})

test('the projection is asked for the session of the call, and for nothing else', async () => {
  const asked = new Set()
  const gate = await bootWith(
    projectionService((session, name) => {
      asked.add(`${session.id} ${name}`)
      return turnBoundary(session)
    }),
  )
  const agent = await gate.turn([[call.bash], [call.read]])
  expect([...asked]).toEqual([`${agent.id} turnBoundary`])
})

describe('a session that goes on elsewhere', () => {
  test('resumed after a restart: the turn numbers go on, the state does not', async () => {
    await withTempDir(async sessionsDir => {
      const gate = await bootGate({ sessionsDir })
      const agent = await gate.turn([[call.complex], [call.search], [call.write]])
      await gate.close(agent)
      expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
      const again = await gate.resume(agent.id)
      await gate.turn([[call.write], [call.complex], [call.write], [call.search], [call.write]], again)
      expect(writes(gate).slice(1)).toEqual([
        'write_note CLASSIFICATION_REQUIRED denied',
        'write_note CREATE_REQUIRES_SEARCH denied',
        'write_note ALLOW_RECALL_OK allowed',
      ])
      expect(gate.decisions().at(-1)).toMatchObject({ session: agent.id, turn: 2, countedTurn: null })
      await gate.close(again)
    })
  })

  test('forked: the child starts unclassified, though its turn has the number of its parent’s', async () => {
    const gate = await bootGate()
    const parent = await gate.turn([[call.complex], [call.search], [call.write]])
    const child = await gate.open({ forkOf: parent })
    await gate.turn([[call.simple], [call.write]], parent)
    await gate.turn([[call.write], [call.complex], [call.write]], child)
    expect(writes(gate, child)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
    ])
    expect(gate.decisions(child)[0].turn).toBe(2)
    expect(gate.decisions(parent).at(-1).turn).toBe(2)
  })
})

describe('call ids that come again', () => {
  const same = ([name, args]) => /** @type {[string, any, string]} */ ([name, args, 'same'])
  const [complex, search, write, simple] = [call.complex, call.search, call.write, call.simple].map(same)
  const [second, third] = [writeOf('Second'), writeOf('Third')].map(same)

  test('in one message: the lookup is of this message, whatever its id', async () => {
    const gate = await bootGate()
    await gate.turn([[complex], [search, write]])
    expect(writes(gate)).toEqual(['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'])
  })

  test('in later messages of the turn: each call has the step of its own announcement', async () => {
    const gate = await bootGate()
    await gate.turn([[complex], [search], [write], [second]])
    expect(writes(gate)).toEqual(Array(2).fill('write_note ALLOW_RECALL_OK allowed'))
    expect(gate.decisions().map(({ step }) => step)).toEqual([1, 2, 3, 4])
  })

  test('in later turns: nothing of the earlier call is left', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([[complex], [search], [write]])
    await gate.turn([[complex], [write], [search, write], [write]], agent)
    expect(writes(gate)).toEqual([
      'write_note ALLOW_RECALL_OK allowed',
      'write_note CREATE_REQUIRES_SEARCH denied',
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('in two sessions: each has its own', async () => {
    const gate = await bootGate()
    const a = await gate.turn([[simple], [write]])
    const b = await gate.turn([[write], [complex], [search], [write]])
    expect(writes(gate, a)).toEqual(['write_note ALLOW_SIMPLE allowed'])
    expect(writes(gate, b)).toEqual(['write_note CLASSIFICATION_REQUIRED denied', 'write_note ALLOW_RECALL_OK allowed'])
  })

  test('two writes in one message: both are in their place', async () => {
    const gate = await bootGate()
    await gate.turn([[simple, write, second]])
    expect(writes(gate)).toEqual(Array(2).fill('write_note ALLOW_SIMPLE allowed'))
    expect(gate.reached()).toEqual(['write_note', 'write_note'])
  })

  test('among parallel-safe tools too', async () => {
    const gate = await bootGate({
      tools: { [memory('write_note')]: { parallel: true, body: () => 'written' } },
    })
    await gate.turn([[simple], [write, second, third]])
    expect(writes(gate)).toEqual(Array(3).fill('write_note ALLOW_SIMPLE allowed'))
    expect(gate.reached()).toHaveLength(3)
  })
})
