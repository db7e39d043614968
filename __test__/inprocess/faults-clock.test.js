/** The clock is set back by a day, and on by one, in the middle of a turn: nothing that is decided, ordered or limited goes by it. */
import { expect, test, vi } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { bootGate, call, writeOf } from '../support/gate.js'
import { perRecordStorage } from '../support/storage.js'
import { withTempDir } from '../support/temp-dir.js'
import { bootBeside, write, written } from './attack-support.js'

const DAY = 86_400_000

/** The wall clock, which a test can set. */
function wallClock() {
  const { now } = Date
  let offset = 0
  const spy = vi.spyOn(Date, 'now').mockImplementation(() => now.call(Date) + offset)
  return { set: days => (offset = days * DAY), restore: () => spy.mockRestore() }
}

test('verdicts, the order of the trail, its keys and what it keeps do not go by the clock', {
  timeout: 60_000,
}, async () => {
  await withTempDir(async folder => {
    const clock = wallClock()
    try {
      const storage = perRecordStorage(folder)
      const service = {
        name: 'a-storage',
        apply: function apply(ctx) {
          ctx.provide('storageDomain', storage)
        },
      }
      const tools = { clock: ({ days }) => String(clock.set(days)) }
      const gate = await bootGate({ parts: { sink: undefined }, tools, ahead: [[service]] })
      const turn = title => [
        [call.complex],
        [call.search],
        [['clock', { days: -1 }]],
        [writeOf(title)],
        [['clock', { days: 1 }]],
        [writeOf(`${title} more`)],
        [['clock', { days: 0 }]],
      ]
      const agent = await gate.turn(turn('One'))
      await gate.turn(turn('Two'), agent)
      expect(gate.reached().filter(name => name === 'write_note')).toHaveLength(4)
      await vi.waitFor(() => expect(gate.report().audit.waiting).toBe(0), { timeout: 50_000, interval: 50 })
      await gate.dispose()
      const found = JSON.parse(loadAddon().auditVerify(folder, () => {}))
      expect(found).toMatchObject({ loads: 1, contradictions: 0, gaps: 0, missing: 0, repeated: 0, withoutEnd: 0 })
      const lines = []
      loadAddon().auditSelect(
        folder,
        '{}',
        text => lines.push(...text.split('\n').filter(Boolean)) > 0,
        () => {},
      )
      const records = lines.map(line => JSON.parse(line))
      const orders = records.map(({ order }) => order)
      expect(orders).toEqual(orders.toSorted((a, b) => a - b))
      expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
      // The times are the clock's, and go back with it.
      const times = records.map(({ time }) => time)
      expect(times).not.toEqual(times.toSorted((a, b) => a - b))
    } finally {
      clock.restore()
    }
  })
})

test('a notice that was due in a minute is not held back for a day', async () => {
  const clock = wallClock()
  try {
    const ticks = vi.spyOn(performance, 'now')
    const again = {
      'tools/execute': async (exec, next) => {
        await next()
        return exec.name === write ? next() : undefined
      },
    }
    const gate = await bootBeside({
      'tools/execute': (exec, next) => (exec.name === write ? again['tools/execute'](exec, next) : next()),
    })
    const agent = await gate.turn([[call.simple], [writeOf('One')]])
    expect(gate.stderr).toHaveLength(1)
    clock.set(-1)
    const { now } = Object.getPrototypeOf(performance)
    ticks.mockImplementation(() => now.call(performance) + 61_000)
    await gate.turn([[call.simple], [writeOf('Two')]], agent)
    expect(gate.stderr).toHaveLength(2)
    expect(written(gate)).toHaveLength(2)
  } finally {
    clock.restore()
    vi.restoreAllMocks()
  }
})
