/** The durable sink alone: order, bounds, and a storage that comes, goes, fails, hangs and returns. */
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { AuditStore } from '../../js/audit-store.js'
import { keyOf, orderAfter, storable } from '../../js/audit-text.js'
import { memoryStorage } from '../support/storage.js'

const stamp = { host: '0.1.5', plugin: '0.1.0', policy: '0.1.0' }

function makeStore({ maxRecords = 0, limits = {} } = {}) {
  const notices = []
  const notice = ({ kind, text }) => notices.push(`${kind}: ${text}`)
  const store = new AuditStore({ stamp, maxRecords, notice, limits: { retry: 20, drain: 500, ...limits } })
  onTestFinished(() => store.close())
  let seq = 0
  return {
    store,
    notices,
    /** Records so many decisions. */
    add(count = 1, more = {}) {
      for (let index = 0; index < count; index += 1) {
        seq += 1
        store.record({ kind: 'decision', seq, time: 1_800_000_000_000 + seq, session: 's', tool: 't', ...more })
      }
    },
  }
}

const seqs = storage => storage.stored().map(({ seq }) => seq)
const upTo = n => Array.from({ length: n }, (_, index) => index + 1)
const settled = store => vi.waitFor(() => expect(store.report.waiting).toBe(0), { timeout: 3000 })

describe.each([
  ['single', false],
  ['per-record', true],
])('in the layout %s', (layout, perRecord) => {
  test('every record is stored once and in order', async () => {
    const storage = memoryStorage({ perRecord })
    const { store, add } = makeStore()
    store.attach(storage)
    for (let burst = 0; burst < 5; burst += 1) {
      add(300)
      await delay(5)
    }
    await settled(store)
    expect(seqs(storage)).toEqual(upTo(1500))
    expect(store.report).toMatchObject({ layout, state: 'open', persisted: 1500, waiting: 0, dropped: 0 })
    if (perRecord) expect(storage.records.size).toBe(1500)
    else {
      expect(storage.records.size).toBe(3)
      expect(storage.state.puts).toBeLessThan(30)
    }
    for (const key of storage.records.keys()) expect(key).toMatch(/^[A-Za-z0-9_-]+$/)
    const orders = storage.stored().map(({ order }) => order)
    expect(orders).toEqual(orders.toSorted((a, b) => a - b))
    expect(new Set(orders).size).toBe(1500)
  })

  test('what waited for a storage that came late is stored', async () => {
    const storage = memoryStorage({ perRecord })
    const { store, add } = makeStore()
    add(20)
    await delay(60)
    store.attach(storage)
    await settled(store)
    expect(seqs(storage)).toEqual(upTo(20))
  })

  test('a storage that goes and comes back misses nothing', async () => {
    const storage = memoryStorage({ perRecord })
    const { store, add } = makeStore()
    store.attach(storage)
    add(10)
    await settled(store)
    await store.detach()
    expect(storage.state.closed).toBe(1)
    add(10)
    await delay(50)
    expect(store.report).toMatchObject({ state: 'waiting', waiting: 10 })
    store.attach(storage)
    await settled(store)
    expect(seqs(storage)).toEqual(upTo(20))
  })

  test('one that goes in the middle of a put misses nothing', async () => {
    const gate = Promise.withResolvers()
    const storage = memoryStorage({ perRecord, onPut: () => gate.promise })
    const { store, add } = makeStore()
    store.attach(storage)
    add(10)
    await vi.waitFor(() => expect(storage.state.puts).toBe(1))
    const gone = store.detach()
    gate.resolve(undefined)
    await gone
    store.attach(storage)
    await settled(store)
    expect(seqs(storage)).toEqual(upTo(10))
  })

  test('one that fails for a while misses nothing, and says so once', async () => {
    let broken = true
    const onPut = () => {
      if (broken) throw Object.assign(new Error('/secret/path is full'), { code: 'ENOSPC' })
    }
    const storage = memoryStorage({ perRecord, onPut })
    const { store, add, notices } = makeStore()
    store.attach(storage)
    add(10)
    await vi.waitFor(() => expect(store.report.state).toBe('failing'))
    broken = false
    await settled(store)
    expect(seqs(storage)).toEqual(upTo(10))
    expect(notices.join()).toContain('refuses records (ENOSPC)')
    expect(notices.join()).not.toContain('secret')
    expect(store.report.state).toBe('open')
  })

  test('at the end everything that waits is stored, and the storage let go', async () => {
    const storage = memoryStorage({ perRecord })
    const { store, add } = makeStore()
    store.attach(storage)
    add(500)
    await store.close()
    expect(seqs(storage)).toEqual(upTo(500))
    expect(storage.state).toMatchObject({ open: 1, closed: 1 })
    expect(store.report.state).toBe('closed')
  })

  test('a storage that is opening at the end is waited for', async () => {
    const storage = memoryStorage({ perRecord, onOpen: () => delay(50) })
    const { store, add } = makeStore()
    store.attach(storage)
    add(5)
    await store.close()
    expect(seqs(storage)).toEqual(upTo(5))
    expect(storage.state.closed).toBe(1)
  })

  test('what the limit has no room for goes, the oldest first', async () => {
    const storage = memoryStorage({ perRecord })
    const { store, add } = makeStore({ maxRecords: 100 })
    store.attach(storage)
    for (let burst = 0; burst < 20; burst += 1) {
      store.record({ kind: 'turn', seq: 10_000 + burst, time: 1_800_000_000_000, session: 's', event: 'start' })
      add(20)
      await settled(store)
      await delay(5)
    }
    await vi.waitFor(() => expect(storage.stored().length).toBeLessThanOrEqual(100), { timeout: 3000 })
    const kept = seqs(storage).filter(seq => seq < 10_000)
    expect(kept.at(-1)).toBe(400)
    expect(kept).toEqual(upTo(400).slice(-kept.length))
    expect(kept.length).toBeGreaterThanOrEqual(60)
  })

  test('never the running turn, however long it is', async () => {
    const storage = memoryStorage({ perRecord })
    const { store, add } = makeStore({ maxRecords: 10 })
    store.attach(storage)
    add(30, { session: 'old' })
    store.record({ kind: 'turn', seq: 100, time: 1_800_000_001_000, session: 'old', event: 'end' })
    store.record({ kind: 'turn', seq: 101, time: 1_800_000_001_000, session: 's', event: 'start' })
    add(40)
    await settled(store)
    await vi.waitFor(() => expect(storage.stored()[0].seq).toBe(101), { timeout: 3000 })
    expect(storage.stored()).toHaveLength(41)
  })
})

test('a queue that is full drops the oldest, counts each once, and a record stands for them', async () => {
  const storage = memoryStorage()
  const { store, add, notices } = makeStore({ limits: { queue: 50 } })
  add(200)
  expect(store.report).toMatchObject({ waiting: 50, dropped: 150 })
  store.attach(storage)
  await settled(store)
  const [lost, first] = storage.stored()
  expect(lost).toMatchObject({ kind: 'lost', from: 1, seq: 150, why: 'storage' })
  expect(first.seq).toBe(151)
  expect(storage.stored()).toHaveLength(51)
  expect(store.report).toMatchObject({ persisted: 50, dropped: 150 })
  expect(new Set(notices.map(text => text.split(':')[0]))).toContain('audit dropped')
})

test('a storage that hangs holds up nobody: the queue stays bounded and the end comes in time', async () => {
  const storage = memoryStorage({ onPut: () => new Promise(() => {}) })
  const { store, add, notices } = makeStore({ limits: { queue: 100, drain: 150 } })
  store.attach(storage)
  add(20)
  await vi.waitFor(() => expect(storage.state.puts).toBe(1))
  add(500)
  expect(store.report.waiting).toBeLessThanOrEqual(100)
  const started = performance.now()
  await store.close()
  expect(performance.now() - started).toBeLessThan(1500)
  expect(store.report).toMatchObject({ state: 'closed', waiting: 0, dropped: 520 })
  expect(notices.at(-1)).toMatch(/^audit end: \d+ audit records could not be stored/)
})

test('what comes after the end is counted, and no more', async () => {
  const storage = memoryStorage()
  const { store, add, notices } = makeStore()
  store.attach(storage)
  add(3)
  await store.close()
  add(2)
  await delay(60)
  expect(store.report).toMatchObject({ state: 'closed', persisted: 3, waiting: 0, dropped: 2 })
  expect(notices).toEqual([])
})

test('without a storage nothing is said until a call was judged, and then how many wait', async () => {
  const { store, add, notices } = makeStore()
  store.record({ kind: 'load', seq: 1, time: 1 })
  await delay(60)
  expect(notices).toEqual([])
  add(3)
  await vi.waitFor(() => expect(notices).toHaveLength(1))
  expect(notices[0]).toContain(
    'no storageDomain service: audit records wait in memory and are lost at the end (4 so far)',
  )
})

test('a storage that cannot be opened is tried again', async () => {
  let tries = 0
  const onOpen = () => {
    tries += 1
    if (tries < 4) throw Object.assign(new Error('x'), { code: tries === 1 ? 'already-open' : 'version-mismatch' })
  }
  const storage = memoryStorage({ onOpen })
  const { store, add, notices } = makeStore()
  store.attach(storage)
  add(3)
  await settled(store)
  expect(seqs(storage)).toEqual([1, 2, 3])
  expect(notices.filter(text => text.includes('version-mismatch')).length).toBe(2)
  expect(notices.join()).not.toContain('already-open')
})

test('a load goes on behind what another one stored, also where the clock was set back', async () => {
  const storage = memoryStorage()
  const first = makeStore()
  first.store.attach(storage)
  first.add(3)
  await first.store.close()
  const second = makeStore()
  second.store.attach(storage)
  await vi.waitFor(() => expect(second.store.report.state).toBe('open'))
  second.store.record({ kind: 'decision', seq: 1, time: 1_000_000_000_000, session: 's' })
  await second.store.close()
  const records = storage.stored()
  expect(records.map(({ load }) => load)).toEqual([...Array(3).fill(first.store.load), second.store.load])
  expect(records.map(({ order }) => order)).toEqual(records.map(({ order }) => order).toSorted((a, b) => a - b))
})

test('the record of a load has a key of its own and stays as long as one of its records', async () => {
  const storage = memoryStorage()
  const { store, add } = makeStore({ maxRecords: 20 })
  store.attach(storage)
  store.record({
    kind: 'load',
    seq: 1,
    time: 1_800_000_000_000,
    config: { createRequiresSearch: false, destructiveTools: [] },
  })
  add(1)
  await settled(store)
  for (let burst = 0; burst < 10; burst += 1) {
    store.record({ kind: 'turn', seq: 1000, time: 1_800_000_000_000, session: 's', event: 'start' })
    add(10)
    await settled(store)
  }
  const [load, next] = storage.stored()
  expect(load).toMatchObject({ kind: 'load', config: { createRequiresSearch: false, destructiveTools: [] } })
  expect(next.seq).toBeGreaterThan(50)
})

describe('a stored record', () => {
  const text = record => JSON.parse(storable({ seq: 1, time: 2, ...record }, 'load', 3, stamp).json)

  test('leaves out what is null, false or empty', () => {
    expect(text({ kind: 'decision', session: null, findings: [], canAsk: false, step: 0, code: 'X' })).toEqual({
      bmpp: 1,
      kind: 'decision',
      load: 'load',
      seq: 1,
      order: 3,
      time: 2,
      step: 0,
      code: 'X',
      ...stamp,
    })
  })

  test('holds no text that somebody else chose and that could say something', () => {
    for (const [record, field, expected] of [
      [{ kind: 'decision', call: 'call_1' }, 'call', /^call_1$/],
      [{ kind: 'decision', call: 'my secret' }, 'call', /^~[0-9a-f]{16}$/],
      [{ kind: 'turn', session: 'a/b\ud800' }, 'session', /^(a\/b\ufffd|~[0-9a-f]{16})$/],
      [{ kind: 'turn', session: 'a\nb' }, 'session', /^~[0-9a-f]{16}$/],
    ]) {
      expect(text(record)[field], field).toMatch(expected)
    }
  })

  test('keys sort by order, whatever the order is', () => {
    const orders = [0, 1, 35, 36, 1e6, 1.8e15, Number.MAX_SAFE_INTEGER]
    const keys = orders.map(order => keyOf(order, 'load'))
    expect(keys).toEqual(keys.toSorted())
    expect(orderAfter(10, 0)).toBe(11)
  })
})
