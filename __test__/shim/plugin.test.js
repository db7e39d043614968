/**
 * The plugin's shape and its load, on a context that only writes down: what is registered, in which order, and what is undone.
 */
import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, test, vi } from 'vitest'
import * as entry from '../../js/index.js'
import { loadAddon } from '../../js/native.js'
import { createPlugin } from '../../js/plugin.js'

const UNLOADED_AT = Symbol.for('dsh-bmpp.unloaded-at')
const native = loadAddon()
const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const supported = () => ({ name: '@deepseek-ai/dsh', version: '0.1.5-rc.2', source: 'entry', why: 'test' })
const nextRound = () => new Promise(resolve => setImmediate(resolve))

/** @type {Array<() => void>} */
const unload = []
afterEach(() => {
  for (const dispose of unload.splice(0)) dispose()
  delete globalThis[UNLOADED_AT]
  vi.restoreAllMocks()
})

/** A context that does nothing but say what was asked of it. */
function writing({ schemas = () => [], tools = {} } = {}) {
  const done = []
  const listeners = new Map()
  const ctx = {
    logger: Object.assign(() => {}, { info() {}, warn() {}, error() {} }),
    get: name => void done.push(`get ${name}`),
    on(event, listener, options) {
      done.push(`on ${event}${options?.prepend ? ', in front' : ''}`)
      listeners.set(event, listener)
    },
    effect(effect) {
      done.push('effect')
      const dispose = effect()
      unload.push(dispose)
    },
    tools: {
      register: ({ name }) => void done.push(`register ${name}`),
      guard: () => void done.push('guard'),
      get: () => undefined,
      schemas,
      ...tools,
    },
  }
  return { ctx, done, listeners }
}

const load = (ctx, config = { mode: 'enforce' }, parts = {}) =>
  createPlugin({ host: supported, standardError: () => {}, ...parts }).apply(ctx, config)

describe('the entry', () => {
  test('has exactly what a plugin and an observer need, and no default export', () => {
    expect(Object.keys(entry).toSorted()).toEqual(['Config', 'apply', 'inject', 'name', 'onRecord'])
    expect([entry.name, entry.inject]).toEqual(['dsh-bmpp', ['tools']])
  })

  test('apply is a plain function that the host may call with new, and waits for nothing', () => {
    expect(entry.apply.constructor.name).toBe('Function')
    const { ctx } = writing()
    const report = new (createPlugin({ host: supported }).apply)(ctx, { mode: 'audit' })
    expect(report).toMatchObject({ active: true, mode: 'audit' })
    expect(report).not.toHaveProperty('then')
  })

  test('its schema is one as the host knows them, and validates at once', () => {
    const { '~standard': schema } = entry.Config
    expect(schema).toMatchObject({ version: 1, vendor: 'dsh-bmpp' })
    expect(schema.validate({})).toEqual({ value: {} })
    expect(schema.validate({ bogus: 1 })).toEqual({ issues: [{ path: ['bogus'], message: expect.any(String) }] })
  })
})

describe('the addon', () => {
  test('is loaded when it is first needed, and then kept', () => {
    const addon = vi.fn(() => native)
    const plugin = createPlugin({ addon, host: supported })
    expect(addon).not.toHaveBeenCalled()
    plugin.Config['~standard'].validate({})
    expect(addon).toHaveBeenCalled()
  })

  test('that does not load fails the load with its own reason', () => {
    const plugin = createPlugin({
      addon: () => {
        throw new Error('dsh-bmpp cannot load its native addon')
      },
    })
    expect(() => plugin.Config['~standard'].validate({})).toThrow('cannot load its native addon')
    expect(() => plugin.apply(writing().ctx, {})).toThrow('cannot load its native addon')
  })
})

describe('a load', () => {
  test('registers everything at once, the decision in front', () => {
    const { ctx, done } = writing()
    load(ctx)
    expect(done).toEqual([
      'register bmpp__classify',
      'guard',
      'on tools/pre-execute, in front',
      'on tools/execute',
      // To see whether this context lets a body be followed, which it does not.
      'on internal/dispatch',
      'on tools/result',
      'on session/event',
      'on session/created',
      'on session/disposed',
      'on tools/change',
      'on session/event',
      'on internal/status',
      'effect',
    ])
  })

  test('reports the version of the package, and the pinned policy', () => {
    const report = load(writing().ctx)
    expect([report.pluginVersion, report.policyVersion]).toEqual([manifest.version, '0.1.0'])
    expect(report.host.range).toBe(manifest.dsh.compatibility.range)
    expect(native.compatibility(null, false).verifiedVersions).toEqual(manifest.dsh.compatibility.verified)
  })

  test('that fails half-way frees its policy', () => {
    const handles = []
    const addon = () => ({
      ...native,
      createPolicy: config => handles.push(native.createPolicy(config)) && handles.at(-1),
    })
    const { ctx } = writing({
      tools: {
        guard() {
          throw new Error('no guards today')
        },
      },
    })
    expect(() => load(ctx, { mode: 'enforce' }, { addon })).toThrow('no guards today')
    expect(handles).toHaveLength(1)
    expect(() => native.holdings(handles[0])).toThrow('no policy')
  })

  test('of a second row beside the first is a policy of its own', () => {
    const one = writing()
    const two = writing()
    load(one.ctx, { mode: 'audit' })
    load(two.ctx, { mode: 'enforce', serverNames: ['other'] })
    const exec = name => ({ name, callId: 'c', arguments: Object.freeze({}), agent: { session: { id: 's' } } })
    const decide = ({ listeners }, name) => listeners.get('tools/pre-execute')(exec(name), () => 'next')
    expect(decide(one, 'mcp__basic-memory__write_note')).toBe('next')
    expect(decide(two, 'mcp__basic-memory__write_note')).toBe('next')
    return expect(decide(two, 'mcp__other__write_note')).resolves.toMatchObject({ kind: 'deny' })
  })
})

describe('every listener is total', () => {
  const odd = [
    undefined,
    null,
    5,
    'text',
    {},
    { id: 's' },
    Object.freeze({}),
    new Proxy(
      {},
      {
        get: () => {
          throw new Error('trap')
        },
      },
    ),
  ]

  test.each(['session/created', 'session/disposed', 'tools/change'])('%s, whatever it is given', event => {
    const { ctx, listeners } = writing()
    load(ctx)
    for (const value of odd) expect(() => listeners.get(event)(value)).not.toThrow()
  })

  test('session/event, whatever it is given', () => {
    const lines = []
    const { ctx, listeners } = writing()
    load(ctx, { mode: 'enforce' }, { standardError: line => lines.push(line) })
    for (const session of odd) {
      for (const event of odd) expect(() => listeners.get('session/event')(session, event)).not.toThrow()
    }
    for (const line of lines) expect(line).toContain('POLICY_INTERNAL_ERROR in session event')
  })

  test('tools/result, whatever it is given', () => {
    const { ctx, listeners } = writing()
    load(ctx)
    for (const exec of odd)
      for (const result of odd) expect(() => listeners.get('tools/result')(exec, result)).not.toThrow()
  })

  test.each(['tools/pre-execute', 'tools/execute'])('%s passes on what it does not know', event => {
    const { ctx, listeners } = writing()
    load(ctx)
    for (const exec of odd) expect(listeners.get(event)(exec, () => 'next')).toBe('next')
  })
})

describe('unloading', () => {
  test('frees the policy, closes its sessions, and remembers when', () => {
    const closed = []
    const addon = () => ({
      ...native,
      closeSession: (handle, session) => closed.push(session) && native.closeSession(handle, session),
    })
    const { ctx, listeners } = writing()
    load(ctx, { mode: 'enforce' }, { addon })
    listeners.get('tools/pre-execute')(
      { name: 'mcp__basic-memory__read_note', callId: 'c', arguments: {}, agent: { session: { id: 's' } } },
      () => {},
    )
    expect(globalThis[UNLOADED_AT]).toBeUndefined()
    unload.pop()()
    expect(closed).toHaveLength(1)
    expect(globalThis[UNLOADED_AT]).toBeGreaterThan(0)
  })

  test('and loading again tells the gap once', () => {
    load(writing().ctx)
    unload.pop()()
    globalThis[UNLOADED_AT] = performance.now() - 1234
    const report = load(writing().ctx)
    expect(report.reloadGapMs).toBeGreaterThanOrEqual(1234)
    expect(load(writing().ctx).reloadGapMs).toBeNull()
  })

  test('mode off neither tells a gap nor leaves one', () => {
    const { ctx, done } = writing()
    globalThis[UNLOADED_AT] = 1
    expect(load(ctx, { mode: 'off' })).toMatchObject({ active: false, reloadGapMs: null })
    expect(done).toEqual([])
    expect(globalThis[UNLOADED_AT]).toBe(1)
  })
})

describe('the list of tools', () => {
  const neighbour = ['write_note', 'read_note', 'edit_note'].map(raw => ({ name: `mcp__bm__${raw}` }))

  test('is looked at outside the load, and once for a burst of changes', async () => {
    const schemas = vi.fn(() => neighbour)
    const { ctx, listeners } = writing({ schemas })
    const report = load(ctx)
    for (let change = 0; change < 50; change++) listeners.get('tools/change')()
    expect(schemas).not.toHaveBeenCalled()
    await nextRound()
    expect(schemas).toHaveBeenCalledOnce()
    expect(report.notices).toEqual([expect.stringContaining('"bm"')])
    listeners.get('tools/change')()
    await nextRound()
    expect(schemas).toHaveBeenCalledTimes(2)
    expect(report.notices).toHaveLength(1)
  })

  test('that cannot be had is nobody’s misfortune', async () => {
    const { ctx } = writing({
      schemas: () => {
        throw new Error('unloading')
      },
    })
    const report = load(ctx)
    await nextRound()
    expect(report.notices).toEqual([])
  })
})
