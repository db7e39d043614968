/** A process that is killed in the middle of writing leaves a trail that can be read, with the unflushed tail missing at most. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { withTempDir } from '../support/temp-dir.js'
import { recordsOf, verified } from '../support/trail.js'

const ROUNDS = 50

/** Starts a writer, kills it after it has stored something and some more milliseconds, and says what it said of itself. */
async function round(root, layout, after) {
  const child = spawn(projectNode(), [inRoot('__test__', 'support', 'audit-writer.js'), root, layout], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let printed = ''
  const stored = new Promise(resolve => {
    child.stdout.setEncoding('utf8').on('data', part => {
      printed += part
      if (printed.split('\n').length > 2) resolve(undefined)
    })
  })
  await Promise.race([stored, once(child, 'close')])
  await delay(after)
  child.kill('SIGKILL')
  const [, signal] = await once(child, 'close')
  // A last line that was cut says nothing.
  const [load, ...counts] = printed.split('\n').slice(0, -1)
  return { signal, load, acknowledged: Number(counts.at(-1) ?? 0) }
}

test.each(['single', 'per-record'])(
  `${ROUNDS} rounds of SIGKILL in the layout %s`,
  async layout => {
    await withTempDir(async home => {
      const root = join(home, '.dsh', 'storages')
      const rounds = []
      for (let index = 0; index < ROUNDS; index += 1) rounds.push(await round(root, layout, (index * 7) % 60))
      expect(new Set(rounds.map(({ signal }) => signal))).toEqual(new Set(['SIGKILL']))
      const found = verified(home)
      expect(found).toMatchObject({ code: 0, loads: ROUNDS, contradictions: 0, gaps: 0, withoutEnd: ROUNDS })
      expect(found.tally).toMatchObject({ broken: 0, layouts: [layout] })
      const counts = Map.groupBy(recordsOf(home), ({ load }) => load)
      for (const { load, acknowledged } of rounds) {
        expect(acknowledged).toBeGreaterThan(0)
        expect(counts.get(load)?.length).toBeGreaterThanOrEqual(acknowledged)
      }
    })
  },
  240_000,
)
