/** A short soak, with several seeds: no body of a write ran that the oracle objects to. `npm run soak` is the long one. */
import { expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { kinds } from '../soak/meddlers.js'
import { soak } from '../soak/world.js'
import { perRecordStorage } from '../support/storage.js'
import { withTempDir } from '../support/temp-dir.js'

const calls = 1500

test.each([11, 12, 13])('seed %i: among random plugins every invariant holds', { timeout: 180_000 }, async seed => {
  const seen = await soak({ seed, calls, epoch: 250 })
  expect(seen.violations).toEqual([])
  expect(seen.calls).toBeGreaterThanOrEqual(calls)
  // It comes as far as the writes, and some are allowed and some denied.
  expect(seen.writes).toBeGreaterThan(calls / 20)
  expect(seen.denied).toBeGreaterThan(calls / 20)
})

test('a seed makes the same run again', { timeout: 180_000 }, async () => {
  const once = await soak({ seed: 14, calls: 400, epoch: 200 })
  expect(await soak({ seed: 14, calls: 400, epoch: 200 })).toEqual(once)
})

test('what was recorded of it follows from the rules', { timeout: 180_000 }, async () => {
  await withTempDir(async folder => {
    const seen = await soak({ seed: 15, calls: 600, epoch: 300, storage: perRecordStorage(folder) })
    expect(seen.violations).toEqual([])
    const report = JSON.parse(loadAddon().auditVerify(folder, () => {}))
    expect(report).toMatchObject({ contradictions: 0 })
  })
})

test('every kind of plugin meddles', { timeout: 180_000 }, async () => {
  const deeds = new Set()
  for (let seed = 20; deeds.size < Object.keys(kinds).length; seed++) {
    const seen = await soak({ seed, calls: 300, epoch: 100 })
    expect(seen.violations).toEqual([])
    for (const [kind, count] of Object.entries(seen.deeds)) if (count > 0) deeds.add(kind)
  }
})
