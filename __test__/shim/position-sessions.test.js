/** Which sessions there are, which events are of their logs, and which call was announced in which of them. */
import { describe, expect, test } from 'vitest'
import { EDIT, FakeSession, positioned, WRITE } from './fake-session.js'

describe('what the store knows', () => {
  function stored() {
    const store = new Map()
    const all = positioned({ sessions: () => ({ get: id => store.get(id) }) })
    return { ...all, store }
  }

  test('once it knew one, it knows all: what it does not know is no session', () => {
    const { position, open, exec, store } = stored()
    const session = new FakeSession('a')
    store.set('a', session)
    position.created(session)
    const forged = new FakeSession('a')
    expect(position.of(exec(forged, 'c'))).toBe('unknown')
    expect(position.event(forged, forged.append('turn/start', { turn: 9 }))).toBeUndefined()
    expect(position.of(exec(open('elsewhere'), 'c'))).toBe('unknown')
    expect(position.size).toBe(1)
  })

  test('a session that it still has did not end, whoever says so', () => {
    const { position, closed, store } = stored()
    const session = new FakeSession('a')
    store.set('a', session)
    position.created(session)
    position.disposed(session)
    expect([position.size, closed]).toEqual([1, []])
    store.delete('a')
    position.disposed(session)
    expect([position.size, closed]).toEqual([0, ['a']])
  })

  test('a call of a session that has ended has no place, and nothing of the session comes back with it', () => {
    const { position, exec, store } = stored()
    const session = new FakeSession('a')
    store.set('a', session)
    position.created(session)
    store.delete('a')
    position.disposed(session)
    expect(position.of(exec(session, 'late'))).toBe('unknown')
    expect(position.event(session, session.append('turn/start', { turn: 1 }))).toBeUndefined()
    expect(position.size).toBe(0)
  })

  test('an id that comes again is another session', () => {
    const { position, exec, store, tell, closed } = stored()
    const first = new FakeSession('same')
    store.set('same', first)
    position.created(first)
    tell(first, 'turn/start', { turn: 5 })
    const second = new FakeSession('same')
    store.set('same', second)
    position.created(second)
    expect(position.of(exec(second, 'c'))).toMatchObject({ counted: true })
    position.disposed(first)
    expect(closed).toEqual(['same'])
    expect(position.of(exec(second, 'c'))).toMatchObject({ counted: true })
    expect(position.size).toBe(1)
  })

  test('a store that throws knows nothing', () => {
    const { position, open, exec } = positioned({
      sessions: () => {
        throw new Error('no store')
      },
    })
    expect(position.of(exec(open('s'), 'c'))).toMatchObject({ turn: 1 })
  })
})

describe('events that cannot be of the log change nothing', () => {
  const start = turn => ({ type: 'turn/start', data: { turn } })
  test.each([
    ['one that was told before', session => session.events[0]],
    ['one from before the last', session => ({ ...start(9), seq: 0, id: session.id })],
    ['one that is not appended yet', session => ({ ...start(9), seq: session.seq })],
    ['one with a number far ahead', () => ({ ...start(9), seq: 1_000_000 })],
    [
      'one that says otherwise than the log',
      session => ({ ...start(9), seq: session.append('turn/start', { turn: 3 }).seq }),
    ],
    [
      'one of another type than in the log',
      session => ({ ...start(2), seq: session.append('step/start', { turn: 2 }).seq }),
    ],
    ['one without a number, where the log has numbers', () => start(9)],
    ['one of no type', session => ({ seq: session.append('x', {}).seq, data: { turn: 9 } })],
    ['one that nobody follows', session => session.append('assistant/chunk', { turn: 9 })],
  ])('%s', (_what, make) => {
    const { position, open, tell, exec, turns } = positioned()
    const session = open('s')
    tell(session, 'turn/start', { turn: 1 })
    tell(session, 'turn/start', { turn: 2 })
    expect(position.event(session, make(session))).toBeUndefined()
    expect(position.of(exec(session, 'c'))).toMatchObject({ turn: 2 })
    expect(turns).toHaveLength(2)
  })

  test('one that says less than the log is taken for what it says', () => {
    const { position, open, exec } = positioned()
    const session = open('s')
    const { seq, type } = session.append('turn/start', { turn: 3 })
    expect(position.event(session, { type, seq, data: {} })).toMatchObject({ type })
    expect(position.of(exec(session, 'c'))).toMatchObject({ turn: 2, counted: true })
  })

  test('the first event of a session that nobody announced is followed', () => {
    const { position, tell, exec } = positioned()
    const session = new FakeSession('s')
    session.append('turn/start', { turn: 1 })
    tell(session, 'tool/call', { turn: 4, step: 2, callId: 'c', name: WRITE })
    expect(position.of(exec(session, 'c'))).toMatchObject({ turn: 4, step: 2 })
  })

  test('the log is read by eventAt where the host has it', () => {
    const { position, open, exec } = positioned()
    const session = Object.assign(open('s'), { eventAt: () => ({ type: 'turn/start', data: { turn: 3 } }) })
    session.append('turn/start', { turn: 9 })
    expect(position.event(session, { type: 'turn/start', seq: 0, data: { turn: 9 } })).toBeUndefined()
    expect(position.of(exec(session, 'c'))).toMatchObject({ counted: true })
  })
})

describe('whether a call is where it was announced', () => {
  const outer = Symbol('outer')

  test('announced here: in its place, and claimed by this execution', () => {
    const { position, open, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'c')
    const call = exec(session, 'c')
    expect(position.isInPlace(position.of(call), call)).toBe(true)
    // Again the same execution, as at a later stage.
    expect(position.isInPlace(position.of(call), call)).toBe(true)
  })

  test('announced in another session and not come: it may be the one that was moved', () => {
    const { position, open, exec, announce } = positioned()
    const [a, b] = [open('a'), open('b')]
    announce(a, 'c')
    const moved = exec(b, 'c')
    expect(position.isInPlace(position.of(moved), moved)).toBe(false)
    // And made agentless.
    expect(position.isInPlace('no-agent', { callId: 'c', name: WRITE })).toBe(false)
  })

  test('an announced call of the session’s own is no obstacle to a plugin’s own call beside it', () => {
    const { position, open, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'c', { name: EDIT })
    const own = exec(session, 'a plugin’s own')
    expect(position.isInPlace(position.of(own), own)).toBe(true)
  })

  test.each([
    ['it came to the door', ({ position, exec }, a) => position.arrived(position.of(exec(a, 'c')), exec(a, 'c'))],
    ['its result is in the log', ({ tell }, a) => tell(a, 'tool/result', { message: { source: { callId: 'c' } } })],
    ['the next step began', ({ tell }, a) => tell(a, 'step/start', { turn: 1, step: 2 })],
    ['its turn ended', ({ tell }, a) => tell(a, 'turn/end', { turn: 1 })],
    ['its session ended', ({ position }, a) => position.disposed(a)],
    ['it was announced again, as something else', ({ announce }, a) => announce(a, 'c', { name: 'bash' })],
    ['everything was forgotten', ({ position }) => position.clear()],
  ])('a call does not stand in the way of other sessions any more when %s', (_what, happen) => {
    const all = positioned()
    const { position, open, exec, announce } = all
    const [a, b] = [open('a'), open('b')]
    announce(a, 'c')
    const other = exec(b, 'own')
    expect(position.isInPlace(position.of(other), other)).toBe(false)
    happen(all, a)
    expect(position.isInPlace(position.of(other), other)).toBe(true)
  })

  test.each(['code', 'ptc'])('a call of a program is announced by its own event, in the words of %s', word => {
    const { position, open, tell, exec, announce } = positioned()
    const [a, b] = [open('a'), open('b')]
    announce(a, 'root', { name: 'run_code' })
    tell(a, `tool/${word}-dispatch-start`, { rootCallId: 'root', subCallId: `root:${word}:1`, name: WRITE })
    const sub = { rootCallId: 'root', parent: outer }
    const here = exec(a, `root:${word}:1`, WRITE, sub)
    const moved = exec(b, `root:${word}:1`, WRITE, sub)
    expect(position.isInPlace(position.of(moved), moved)).toBe(false)
    expect(position.isInPlace(position.of(here), here)).toBe(true)
    tell(a, `tool/${word}-dispatch`, { subCallId: `root:${word}:1`, name: WRITE })
    const later = exec(b, 'own', WRITE, sub)
    expect(position.isInPlace(position.of(later), later)).toBe(true)
  })

  test('ids that come again: each announcement is one execution’s', () => {
    const { position, open, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'c', { step: 1 })
    const first = exec(session, 'c')
    expect(position.isInPlace(position.of(first), first)).toBe(true)
    announce(session, 'c', { step: 2 })
    const second = exec(session, 'c')
    expect(position.isInPlace(position.of(second), second)).toBe(true)
    expect(position.of(second).step).toBe(2)
  })

  test('a call that is ungoverned as it stands and was announced as governed was renamed', () => {
    const { position, open, exec, announce } = positioned()
    const session = open('s')
    announce(session, 'c')
    announce(session, 'd', { name: 'bash' })
    expect(position.isRenamed(exec(session, 'c', 'bash'))).toBe(true)
    expect(position.isRenamed(exec(session, 'd', 'bash'))).toBe(false)
    expect(position.isRenamed(exec(session, 'unannounced', 'bash'))).toBe(false)
    expect(position.isRenamed({ callId: 'c', name: 'bash' })).toBe(false)
    expect(position.isRenamed(exec(new FakeSession('never seen'), 'c', 'bash'))).toBe(false)
    expect(position.size).toBe(1)
  })
})

test('forgetting every session closes each', () => {
  const { position, open, closed } = positioned()
  open('a')
  open('b')
  position.clear()
  expect([position.size, closed]).toEqual([0, ['a', 'b']])
})
