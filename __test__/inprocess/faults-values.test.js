/**
 * Ids of any kind, and arguments that are very large, very deep or odd: judged as any other, never quoted, never thrown at the
 * host, and a call outside the namespace is let be whatever it is given.
 */
import { describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { drivenSession } from '../support/driven.js'
import { bootGate, call, memory, note } from '../support/gate.js'
import { perRecordStorage } from '../support/storage.js'
import { withTempDir } from '../support/temp-dir.js'
import { search, write } from './attack-support.js'

const MARK = 'hush-hush'
const ids = {
  empty: '',
  'a space': ' ',
  'a lone high surrogate': `\ud800`,
  'a lone low surrogate': `a\udfffb`,
  'a null character': 'a\u0000b',
  'line breaks': 'a\nb\r\u2028c',
  'a bidi override': '\u202eabc',
  'every plane': '\u{1F469}\u200d\u{1F4BB}\u{10FFFF}\ufffe',
  'what means something to JS': '__proto__',
  'a path': '../../etc/passwd',
  'what a shell would run': '$(reboot); `reboot`',
  'what a terminal would obey': '\u001b[2J\u001b]0;title\u0007',
  huge: 'x'.repeat(1_000_000),
}

describe('ids', () => {
  test.each(Object.entries(ids))('%s, of the call: judged as any other', async (_what, id) => {
    await withTempDir(async folder => {
      const storage = perRecordStorage(folder)
      const service = {
        name: 'a-storage',
        apply: function apply(ctx) {
          ctx.provide('storageDomain', storage)
        },
      }
      const gate = await bootGate({ parts: { sink: undefined }, ahead: [[service]] })
      const driven = drivenSession(gate, 's')
      driven.turn()
      driven.step()
      expect((await driven.call([...call.write, id])).isError).toBe(true)
      expect((await driven.call([...call.simple, id])).isError).toBe(false)
      expect((await driven.call([...call.write, id])).isError).toBe(false)
      expect((await driven.call([...call.bash, id])).isError).toBe(false)
      expect(gate.reached()).toEqual(['write_note', 'bash'])
      driven.endTurn()
      driven.close()
      expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
      await gate.dispose()
      const found = JSON.parse(loadAddon().auditVerify(folder, () => {}))
      expect(found).toMatchObject({ loads: 1, contradictions: 0, gaps: 0, withoutEnd: 0 })
      expect(found.tally.broken).toBe(0)
      expect(gate.stderr).toEqual([])
    })
  })

  test.each(Object.entries(ids))('%s, of the session, where the host takes it', async (_what, id) => {
    const gate = await bootGate()
    const open = () => {
      try {
        return drivenSession(gate, id)
      } catch {
        return undefined
      }
    }
    const driven = open()
    // The host refuses some.
    if (driven === undefined) return
    driven.turn()
    driven.step()
    await driven.call(['bmpp__classify', { task: 'complex' }, 'a'])
    await driven.call([...call.search, 'b'])
    driven.step()
    expect((await driven.call([...call.write, 'c'])).isError).toBe(false)
    driven.close()
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    for (const record of gate.trail) expect(JSON.stringify(record).isWellFormed()).toBe(true)
    expect(gate.stderr).toEqual([])
  })
})

/** Nested so many levels deep. */
const nested = levels => {
  let value = MARK
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { inner: value }
  return value
}
const large = {
  '10 MB of content': () => ({ ...note, content: MARK.repeat(1_200_000) }),
  '10 MB under a name that no table knows': () => ({ ...note, more: MARK.repeat(1_200_000) }),
  'a title of 10 MB': () => ({ ...note, title: MARK.repeat(1_200_000) }),
  'a hundred thousand tags': () => ({ ...note, tags: Array.from({ length: 100_000 }, () => MARK) }),
  'twenty thousand keys': () => ({
    ...note,
    metadata: Object.fromEntries(Array.from({ length: 20_000 }, (_, index) => [`${MARK}${index}`, index])),
  }),
  '900 levels': () => ({ ...note, metadata: nested(900) }),
  '10 000 levels': () => ({ ...note, metadata: nested(10_000) }),
  'an own key __proto__': () => JSON.parse(`{"__proto__":{"title":"${MARK}"},"title":"${MARK}","directory":"d"}`),
  'keys of every kind': () => ({ ...note, [MARK]: 1, constructor: MARK, toString: MARK, '': MARK, '\ud800': MARK }),
}

describe.each(Object.entries(large))('arguments: %s', (_what, make) => {
  test.each(['enforce', 'audit'])('%s', { timeout: 240_000 }, async mode => {
    const gate = await bootGate({ mode, profile: 'strict', config: { pathRedaction: 'hash', inspectContent: true } })
    const driven = drivenSession(gate, 's')
    driven.turn()
    driven.step()
    const args = make()
    // The host itself refuses what it cannot copy, for whichever tool; what it takes, a read and a shell are given.
    const taken = !(await driven.call(['bash', args])).isError
    const read = await driven.call([search, args])
    expect(read.isError).toBe(!taken)
    expect(gate.reached()).toEqual(taken ? ['bash', 'search_notes'] : [])
    const denied = await driven.call([write, args])
    expect(gate.reached().includes('write_note')).toBe(taken && mode === 'audit')
    if (taken && mode === 'enforce') expect(denied.error.message).toMatch(/^[A-Z_]+: /)
    await driven.call(call.simple)
    await driven.call([memory('edit_note'), { ...args, identifier: 'a', operation: 'append' }])
    driven.close()
    const told = denied.content[0].text + gate.stderr.join('') + JSON.stringify(gate.trail)
    expect(told.includes(MARK)).toBe(false)
    expect(gate.stderr).toEqual([])
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  })
})
