/**
 * A storage that loses what it says it has kept, refuses now and then, answers late, or goes back in time. The rules are applied
 * all the same, no call waits for it, and what is left can be read and says what is missing.
 */
import { expect, test, vi } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { bootGate, call, writeOf } from '../support/gate.js'
import { perRecordStorage } from '../support/storage.js'
import { withTempDir } from '../support/temp-dir.js'

const MARK = 'hush-hush'
const parts = { sink: undefined }
const messages = [
  [call.complex],
  [call.search, call.bash],
  [writeOf(MARK)],
  [[call.write[0], { ...call.write[1], overwrite: true, content: MARK }]],
  [call.read],
]
const verify = folder => JSON.parse(loadAddon().auditVerify(folder, () => {}))

/** Storage of one file a key, with its puts in another's hands. */
function meddledStorage(folder, put) {
  const real = perRecordStorage(folder)
  let puts = 0
  return {
    async open(spec) {
      const domain = await real.open(spec)
      return {
        ...domain,
        table: name => {
          const table = domain.table(name)
          return {
            ...table,
            put: (key, value) => {
              puts += 1
              return put(() => table.put(key, value), puts)
            },
          }
        },
      }
    },
  }
}
const service = storage => ({
  name: 'a-storage',
  apply: function apply(ctx) {
    ctx.provide('storageDomain', storage)
  },
})

const tempers = {
  'loses each third write that it says it has kept': {
    put: (put, count) => (count % 3 === 0 ? Promise.resolve() : put()),
    loses: true,
  },
  'refuses each third write': {
    put: (put, count) => (count % 3 === 0 ? Promise.reject(new Error(`no room for ${MARK}`)) : put()),
  },
  'throws instead of refusing': {
    put: (put, count) => {
      if (count % 3 === 0) throw new Error(`no room for ${MARK}`)
      return put()
    },
  },
  'keeps what it says it has refused': {
    put: async (put, count) => {
      await put()
      if (count % 3 === 0) throw new Error('after all')
    },
  },
  'answers late': {
    put: async put => {
      await new Promise(resolve => setTimeout(resolve, 5))
      return put()
    },
  },
  'answers nothing that can be waited for': { put: put => void put() },
}

test.each(Object.entries(tempers))('one that %s', { timeout: 60_000 }, async (_what, { put, loses = false }) => {
  await withTempDir(async folder => {
    const gate = await bootGate({ parts, ahead: [[service(meddledStorage(folder, put))]] })
    const agent = await gate.turn(messages)
    await gate.turn(messages, agent)
    expect(gate.answers(agent).filter(text => /^[A-Z_]+$/.test(text))).toEqual([])
    expect(gate.reached()).toHaveLength(10)
    await vi.waitFor(() => expect(gate.report().audit.waiting).toBe(0), { timeout: 50_000, interval: 50 })
    await gate.dispose()
    const found = verify(folder)
    expect(found).toMatchObject({ contradictions: 0, repeated: 0 })
    expect(found.tally.broken).toBe(0)
    if (loses) expect(found.gaps + found.missing).toBeGreaterThan(0)
    else expect(found).toMatchObject({ gaps: 0, missing: 0, loads: 1 })
    const { audit } = gate.report()
    expect(JSON.stringify(audit) + gate.stderr.join('')).not.toContain(MARK)
  })
})
