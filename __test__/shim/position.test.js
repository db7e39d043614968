/** Where a call stands, from events alone: turn and step. */
import { describe, expect, test } from 'vitest'
import { positioned, WRITE } from './fake-session.js'

describe('the turn', () => {
  test.each([
    ['the turn’s own start', [['turn/start', { turn: 3 }]], { turn: 3, counted: false }],
    ['a call, where the start was not seen', [['tool/call', { turn: 4, step: 2 }]], { turn: 4, counted: false }],
    ['a step, where the start was not seen', [['step/start', { turn: 5, step: 1 }]], { turn: 5, counted: false }],
    [
      'the turn’s end: it is still that turn’s number',
      [
        ['turn/start', { turn: 3 }],
        ['turn/end', { turn: 3 }],
      ],
      { turn: 3, counted: false },
    ],
    ['turn 0', [['turn/start', { turn: 0 }]], { turn: 0, counted: false }],
    ['nothing', [], { turn: 1, counted: true }],
    ['a start without a number', [['turn/start', {}]], { turn: 2, counted: true }],
    [
      'starts and ends without numbers',
      [
        ['turn/start', {}],
        ['turn/end', {}],
        ['turn/start', {}],
      ],
      { turn: 4, counted: true },
    ],
    ['a start whose data is missing', [['turn/start', null]], { turn: 2, counted: true }],
    [
      'a number first, none later: the number stays',
      [
        ['turn/start', { turn: 3 }],
        ['turn/start', {}],
      ],
      { turn: 3, counted: false },
    ],
  ])('by %s', (_what, events, expected) => {
    const { position, open, tell, exec } = positioned()
    const session = open('s')
    for (const [type, data] of events) tell(session, type, data)
    expect(position.of(exec(session, 'c'))).toMatchObject(expected)
  })

  test.each([['1'], [1.5], [-1], [Number.NaN], [2 ** 32], [null], [true], [{}]])(
    'what is no turn number counts as none: %s',
    turn => {
      const { position, open, tell, exec } = positioned()
      const session = open('s')
      tell(session, 'turn/start', { turn })
      tell(session, 'tool/call', { turn, step: turn, callId: 'c', name: WRITE })
      expect(position.of(exec(session, 'c'))).toMatchObject({ turn: 2, counted: true, step: 0 })
    },
  )

  test('a new turn is told once for each start and each end, and once where only a call says it', () => {
    const { open, tell, turns } = positioned()
    const session = open('s')
    tell(session, 'turn/start', { turn: 1 })
    tell(session, 'step/start', { turn: 1, step: 1 })
    tell(session, 'tool/call', { turn: 1, step: 1, callId: 'a', name: WRITE })
    expect(turns).toHaveLength(1)
    tell(session, 'turn/end', { turn: 1 })
    expect(turns).toHaveLength(2)
    tell(session, 'tool/call', { turn: 2, step: 1, callId: 'b', name: WRITE })
    tell(session, 'tool/call', { turn: 2, step: 1, callId: 'c', name: WRITE })
    expect(turns).toHaveLength(3)
  })

  describe('by the projection', () => {
    const asking = stateOf => positioned({ projections: () => ({ stateOf }) })
    test.each([
      ['answers', () => ({ lastTurn: 9 }), { turn: 9, counted: false }],
      ['answers 0', () => ({ lastTurn: 0 }), { turn: 0, counted: false }],
      ['answers nothing', () => undefined, { turn: 1, counted: false }],
      ['answers without a turn', () => ({ openTurnStartSeq: 4 }), { turn: 1, counted: false }],
      ['answers nonsense', () => ({ lastTurn: 'nine' }), { turn: 1, counted: false }],
      [
        'throws',
        () => {
          throw new Error('no')
        },
        { turn: 1, counted: false },
      ],
    ])('that %s', (_what, stateOf, expected) => {
      const { position, open, tell, exec } = asking(stateOf)
      const session = open('s')
      tell(session, 'turn/start', { turn: 1 })
      expect(position.of(exec(session, 'c'))).toMatchObject(expected)
    })

    test.each([
      ['no service', undefined],
      ['null', null],
      ['a service without stateOf', {}],
      ['a stateOf that is none', { stateOf: 5 }],
    ])('%s is as none', (_what, service) => {
      const { position, open, tell, exec } = positioned({ projections: () => service })
      const session = open('s')
      tell(session, 'turn/start', { turn: 1 })
      expect(position.of(exec(session, 'c'))).toMatchObject({ turn: 1, counted: false })
    })

    test('a turn that the projection alone tells is another turn', () => {
      let turn = 1
      const { position, open, exec } = asking(() => ({ lastTurn: turn }))
      const session = open('s')
      const place = position.of(exec(session, 'c'))
      expect(position.isPresent(place)).toBe(true)
      turn = 2
      expect(position.isPresent(place)).toBe(false)
    })
  })

  test('a place is of the present until a turn begins or ends, or the session ends', () => {
    for (const [type, data] of [
      ['turn/start', { turn: 2 }],
      ['turn/end', { turn: 1 }],
      ['turn/end', {}],
    ]) {
      const { position, open, tell, exec } = positioned()
      const session = open('s')
      tell(session, 'turn/start', { turn: 1 })
      const place = position.of(exec(session, 'c'))
      tell(session, 'step/start', { turn: 1, step: 2 })
      expect(position.isPresent(place)).toBe(true)
      tell(session, type, data)
      expect(position.isPresent(place), type).toBe(false)
    }
    const { position, open, exec } = positioned()
    const session = open('s')
    const place = position.of(exec(session, 'c'))
    position.disposed(session)
    expect(position.isPresent(place)).toBe(false)
    for (const nowhere of ['no-agent', 'unknown']) expect(position.isPresent(nowhere)).toBe(true)
  })
})

describe('the step', () => {
  test('of an announced call is that of its announcement, also when the session has gone on', () => {
    const { position, open, tell, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'a', { step: 1 })
    tell(session, 'step/start', { turn: 1, step: 2 })
    announce(session, 'b', { step: 2 })
    expect(position.of(exec(session, 'a')).step).toBe(1)
    expect(position.of(exec(session, 'b')).step).toBe(2)
  })

  test('of a call of a program is that of its root call', () => {
    const { position, open, tell, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'root', { step: 1, name: 'run_code' })
    tell(session, 'step/start', { turn: 1, step: 2 })
    const sub = exec(session, 'root:code:1', WRITE, { rootCallId: 'root', parent: Symbol('outer') })
    expect(position.of(sub).step).toBe(1)
  })

  test('of an id that is missing, in a session that announces its calls, is the current one', () => {
    const { position, open, tell, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'a', { step: 1 })
    tell(session, 'step/start', { turn: 1, step: 7 })
    expect(position.of(exec(session, 'nobody knows')).step).toBe(7)
  })

  test('in a session that never announced one, each root call is its own, and calls of one root call are of one', () => {
    const { position, open, exec } = positioned()
    const session = open('s')
    const parent = Symbol('outer')
    expect(position.of(exec(session, 'a')).step).toBe(1)
    expect(position.of(exec(session, 'b')).step).toBe(2)
    // The first that is seen of a program may be a call of it.
    expect(position.of(exec(session, 'x:1', WRITE, { rootCallId: 'x', parent })).step).toBe(3)
    expect(position.of(exec(session, 'x:2', WRITE, { rootCallId: 'x', parent })).step).toBe(3)
    expect(position.of(exec(session, 'a')).step).toBe(4)
    expect(position.stepNow(position.track(session))).toBe(4)
  })

  test('its own steps are not remembered for ever', () => {
    const { position, open, tell, exec } = positioned()
    const session = open('s')
    for (let call = 0; call < 5000; call++) position.of(exec(session, `c${call}`))
    expect(position.track(session).ownSteps.size).toBeLessThanOrEqual(1024)
    tell(session, 'turn/end', { turn: 1 })
    expect(position.track(session).ownSteps).toBe(undefined)
  })

  test('the calls of a long turn are not remembered for ever, and one that was forgotten stands before all others', () => {
    const { position, open, tell, announce, exec } = positioned()
    const session = open('s')
    const stepOf = id => position.of(exec(session, id)).step
    for (let step = 1; step <= 5000; step++) {
      tell(session, 'step/start', { turn: 1, step })
      announce(session, `c${step}`, { step })
    }
    const track = position.track(session)
    expect(track.calls.size).toBeLessThanOrEqual(4096)
    expect([stepOf('c5000'), stepOf('c905'), stepOf('c904'), stepOf('c1')]).toEqual([5000, 905, 0, 0])
    tell(session, 'turn/start', { turn: 2 })
    tell(session, 'step/start', { turn: 2, step: 5001 })
    announce(session, 'd', { turn: 2, step: 5001 })
    expect([stepOf('d'), stepOf('c1')]).toEqual([5001, 5001])
  })

  test('of one message none is forgotten, however many calls it has', () => {
    const { position, open, announce, exec } = positioned()
    const session = open('s')
    for (let index = 0; index < 5000; index++) announce(session, `c${index}`, { step: 3 })
    announce(session, 'last', { step: 4 })
    expect(position.of(exec(session, 'c4999')).step).toBe(3)
    expect(position.of(exec(session, 'c1')).step).toBe(3)
  })

  test('a call that is over holds nothing of its execution, and no other can claim its announcement', () => {
    const { position, open, tell, announce, exec } = positioned()
    const session = open('s')
    const other = open('t')
    announce(session, 'a')
    const run = exec(session, 'a')
    expect(position.isInPlace(position.of(run), run)).toBe(true)
    tell(session, 'tool/result', { message: { source: { callId: 'a' } } })
    expect([...position.track(session).calls.values()].map(({ by }) => by === run)).toEqual([false])
    // Of a call that no event announced it is asked whether it may be one that another session waits for.
    announce(other, 'b')
    const again = exec(session, 'a')
    expect(position.isInPlace(position.of(again), again)).toBe(false)
  })

  test('the session’s step now is that of its last step or call', () => {
    const { position, open, tell, announce } = positioned()
    const session = open('s')
    announce(session, 'a', { step: 2 })
    expect(position.stepNow(position.track(session))).toBe(2)
    tell(session, 'step/start', { turn: 1, step: 3 })
    expect(position.stepNow(position.track(session))).toBe(3)
  })
})

describe('where there is no place', () => {
  test.each([
    ['no agent', {}, 'no-agent'],
    ['a null agent', { agent: null }, 'no-agent'],
    ['an agent without a session', { agent: {} }, 'unknown'],
    ['an agent with a null session', { agent: { session: null } }, 'unknown'],
    ['a session that is no object', { agent: { session: 's' } }, 'unknown'],
    ['a session without an id', { agent: { session: {} } }, 'unknown'],
    ['a session with an id that is none', { agent: { session: { id: 5 } } }, 'unknown'],
  ])('%s', (_what, exec, expected) => {
    const { position } = positioned()
    expect(position.of({ callId: 'c', name: WRITE, ...exec })).toBe(expected)
    expect(position.size).toBe(0)
  })
})
