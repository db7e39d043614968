/** The trail on the real Harness with its real storage in one process: mounted early and late, gone and back, and over reloads. */
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { onRecord } from '../../js/records.js'
import { bootGate, call } from '../support/gate.js'
import { hostPackage } from '../support/inprocess.js'
import { memoryStorage } from '../support/storage.js'
import { withTempDir } from '../support/temp-dir.js'
import { recordsOf, verified } from '../support/trail.js'

const [hub, json, domain] = await Promise.all(
  ['dsh-storage', 'dsh-storage-json', 'dsh-storage-domain'].map(hostPackage),
)
const storageIn = home => [
  [hub.default ?? hub],
  [json.default ?? json, { root: `${home}/.dsh/storages` }],
  [domain.default ?? domain, { backend: 'json' }],
]
/** No sink is given, so the plugin makes its own. */
const parts = { sink: undefined }
const stored = report =>
  vi.waitFor(() => expect(report().audit).toMatchObject({ state: 'open', waiting: 0 }), { timeout: 20_000 })

test.each(['ahead', 'behind'])('storage that is active %s of the gate gets every record', async where => {
  await withTempDir(async home => {
    const gate = await bootGate({ parts, [where]: storageIn(home) })
    await gate.turn([[call.complex], [call.search], [call.write]])
    await stored(gate.report)
    const { layout, persisted, dropped, load } = gate.report().audit
    expect({ layout, persisted, dropped }).toEqual({ layout: 'single', persisted: 9, dropped: 0 })
    expect(load).toMatch(/^[\w-]{12}$/)
    await gate.dispose()
    expect(recordsOf(home).map(({ kind }) => kind)).toEqual([
      'load',
      'turn',
      ...Array(3).fill(['decision', 'settlement']).flat(),
      'turn',
      'unload',
    ])
    expect(verified(home)).toMatchObject({ code: 0, contradictions: 0, gaps: 0, withoutEnd: 0 })
  })
})

test('storage that is unmounted and mounted again misses nothing', async () => {
  await withTempDir(async home => {
    const gate = await bootGate({ parts })
    const mount = async () => {
      const fibers = []
      for (const [plugin, config] of storageIn(home)) fibers.push(await gate.mount(plugin, config))
      return async () => {
        for (const fiber of fibers.toReversed()) await fiber.dispose()
      }
    }
    const agent = await gate.turn([[call.write]])
    await delay(50)
    expect(gate.report().audit).toMatchObject({ state: 'waiting', persisted: 0 })
    const unmount = await mount()
    await stored(gate.report)
    await unmount()
    await gate.turn([[call.write]], agent)
    expect(gate.report().audit.waiting).toBeGreaterThan(0)
    await mount()
    await stored(gate.report)
    await gate.turn([[call.simple], [call.write]], agent)
    await gate.dispose()
    const records = recordsOf(home)
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
    expect(verified(home)).toMatchObject({ code: 0, contradictions: 0, gaps: 0, withoutEnd: 0 })
  })
})

test('over reloads in the middle of a turn each load opens the storage after the one before', async () => {
  await withTempDir(async home => {
    const gate = await bootGate({ parts, ahead: storageIn(home), mounted: false })
    const agent = await gate.open()
    for (let load = 0; load < 5; load += 1) {
      const fiber = await gate.mount(gate.plugin, gate.config)
      await gate.turn([[call.simple], [call.write]], agent)
      await fiber.dispose()
    }
    await gate.dispose()
    const found = verified(home)
    expect(found).toMatchObject({ code: 0, loads: 5, contradictions: 0, gaps: 0, withoutEnd: 0, repeated: 0 })
    const loads = recordsOf(home).filter(({ kind }) => kind === 'load')
    expect(loads.slice(1).every(({ reloadGapMs }) => reloadGapMs >= 0)).toBe(true)
    // None of it was a fault to be told.
    expect(gate.stderr.filter(line => line.includes('audit'))).toEqual([])
  })
})

/** The host's service as a test has it. */
const serviceOf = service => ({
  name: 'a-storage',
  apply: function apply(ctx) {
    ctx.provide('storageDomain', service)
  },
})

test('a storage that hangs or throws changes no verdict and delays no call', async () => {
  const bad = [
    memoryStorage({ onPut: () => new Promise(() => {}) }),
    memoryStorage({ onOpen: () => new Promise(() => {}) }),
    memoryStorage({
      onPut() {
        throw new Error('disk full')
      },
    }),
    {
      open() {
        throw new Error('no')
      },
    },
    { open: async () => ({}) },
  ]
  for (const service of bad) {
    const gate = await bootGate({ parts, ahead: [[serviceOf(service)]] })
    const agent = await gate.turn([[call.write], [call.simple], [call.write], [call.bash]])
    expect(gate.answers(agent).map(text => text.split('\n')[0])).toEqual([
      'CLASSIFICATION_REQUIRED',
      expect.any(String),
      '# Created note',
      'bash ran',
    ])
  }
})

test('a call outside the namespace is recorded at verbose alone, and nothing of it but its name', async () => {
  for (const auditLevel of ['decision', 'verbose']) {
    const seen = []
    const stop = onRecord(record => void seen.push(record))
    const gate = await bootGate({ parts, config: { auditLevel } })
    await gate.turn([[['bash', { command: 'echo hush-hush' }]]])
    stop()
    const outside = seen.filter(record => record.class === 'out-of-scope')
    expect(outside).toHaveLength(auditLevel === 'verbose' ? 1 : 0)
    if (outside.length === 0) continue
    expect(outside[0]).toMatchObject({ tool: 'bash', code: 'ALLOW_OUT_OF_SCOPE', enforcement: 'allowed', step: null })
    expect(JSON.stringify(seen)).not.toContain('hush')
  }
})

test('the hash of a path tells writes to one note from writes to others, and no path', async () => {
  for (const pathRedaction of ['omit', 'hash']) {
    const seen = []
    const stop = onRecord(record => void seen.push(record))
    const gate = await bootGate({ parts, mode: 'audit', config: { pathRedaction } })
    const write = title => [call.write[0], { title, directory: 'plans', content: '' }]
    await gate.turn([[write('One')], [write('Two')], [write('One')]])
    stop()
    const targets = seen.filter(({ kind }) => kind === 'decision').map(({ target }) => target)
    if (pathRedaction === 'omit') expect(targets).toEqual([null, null, null])
    else {
      expect(targets[0]).toMatch(/^[0-9a-f]{12}$/)
      expect(targets[2]).toBe(targets[0])
      expect(targets[1]).not.toBe(targets[0])
    }
  }
})
