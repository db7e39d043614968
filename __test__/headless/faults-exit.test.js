// The process ends in the middle of a turn, by its own exit or killed, while the trail is being written: what is left can be
// read, follows from itself, and the next run goes on behind it.
import { expect, test } from 'vitest'
import { playDsh, supportPlugin } from '../support/dsh-gate.js'
import { call, writeOf } from '../support/gate.js'
import { withTempDir } from '../support/temp-dir.js'
import { recordsOf, verified } from '../support/trail.js'

const turn = [[call.complex], [call.search], [writeOf('One')], [writeOf('Two')], [call.read], [writeOf('Three')]]

test.each([
  { how: 'exit', results: 4, code: 3 },
  { how: 'exit', results: 5, ms: 15, code: 3 },
  { how: 'kill', results: 4, code: 'SIGKILL' },
  { how: 'kill', results: 5, ms: 15, code: 'SIGKILL' },
])('by $how after $results results', async ({ code, ...config }) => {
  await withTempDir(async home => {
    const ended = await playDsh({
      home,
      conversation: [turn],
      plugins: [{ id: 'ender', name: supportPlugin('ender'), config }],
    })
    expect(ended.code).toBe(code)
    // The gate's own load is stored before a model is asked, and nothing of what is stored is broken.
    const left = verified(home)
    expect(left).toMatchObject({ code: 0, contradictions: 0, gaps: 0, repeated: 0 })
    expect(left.tally.broken).toBe(0)
    const before = recordsOf(home)
    expect(before.map(({ seq }) => seq)).toEqual(before.map((_, index) => index + 1))
    expect(before.some(({ kind }) => kind === 'unload')).toBe(false)

    const next = await playDsh({ home, conversation: [[[call.simple], [writeOf('Four')]]] })
    expect(next.code).toBe(0)
    expect(verified(home)).toMatchObject({ code: 0, contradictions: 0, gaps: 0 })
    const after = recordsOf(home)
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after.length).toBeGreaterThan(before.length)
    // 0.1.0-rc.8 may close its storage before the last record, which is told then.
    const isWhole = after.at(-1).kind === 'unload'
    expect(isWhole || /audit records? could not be stored before the end/.test(next.stderr)).toBe(true)
  })
})
