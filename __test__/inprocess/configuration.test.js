/**
 * The row's configuration: refused with every problem at once, by the schema as the loader asks it and by the load itself, and
 * each key with the effect that it names.
 */
import { describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { answer, bootGate, CLASSIFY, call, FOUND, flagged, memory, note, watchedPlugin } from '../support/gate.js'

const writes = gate => gate.verdicts().filter(line => line.startsWith('write_note'))

describe('a configuration with problems fails the boot', () => {
  const bad = {
    mod: 'enforce',
    strict: true,
    profile: 'strictest',
    serverNames: [],
    createRequiresSearch: 'yes',
    searchTools: ['write_note'],
    pathGaurd: 'deny',
  }
  const problems = [
    'mod: UNKNOWN_KEY: `mod` is no key; did you mean `mode`?',
    'strict: AMBIGUOUS_MODE: `strict` does not exist: say `mode` (off, audit, enforce) and `profile` (compat, strict)',
    'profile: INVALID_ENUM: `profile` is one of compat, strict, not "strictest"',
    'serverNames: INVALID_LENGTH: `serverNames` must name at least one',
    'createRequiresSearch: INVALID_TYPE: `createRequiresSearch` takes true or false, not the string "yes"',
    'pathGaurd: UNKNOWN_KEY: `pathGaurd` is no key',
  ]

  /** A problem's path, and what is said of it. */
  const parts = problem => [problem.slice(0, problem.indexOf(': ')), problem.slice(problem.indexOf(': ') + 2)]

  test('validate lists every problem, with path and stable code', () => {
    const { plugin } = watchedPlugin()
    const { issues } = plugin.Config['~standard'].validate(bad)
    // The host puts the path to each: the message has it no second time.
    for (const [path, said] of problems.map(parts)) {
      expect(issues).toContainEqual({ path: [path], message: expect.stringContaining(said) })
    }
    expect(issues).toContainEqual({
      path: ['searchTools', 0],
      message: expect.stringMatching(/^CONTRADICTION: "write_note" in `searchTools` is not in `readTools`/),
    })
    expect(new Set(issues.map(({ path }) => path[0]))).toEqual(new Set(Object.keys(bad)))
  })

  test('the host refuses to mount the row, with all of them in the error', async () => {
    const gate = await bootGate({ mounted: false })
    const refusal = await gate.mount(gate.plugin, bad).catch(error => error)
    expect(refusal).toBeInstanceOf(Error)
    const lines = refusal.message.split('\n')
    for (const [path, said] of problems.map(parts)) {
      const line = lines.filter(one => one.includes(said))
      expect(line).toEqual([expect.stringMatching(new RegExp(`^  - .* \\(at ${path}\\)$`))])
    }
    expect(gate.ctx.tools.get(CLASSIFY)).toBeUndefined()
    expect(gate.reports).toEqual([])
  })

  test('apply refuses it too, where nobody asked the schema', async () => {
    const gate = await bootGate({ mounted: false })
    const { Config: _unasked, ...plugin } = gate.plugin
    const refusal = await gate.mount(plugin, bad).catch(error => error)
    expect(refusal.message).toMatch(/^dsh-bmpp: the configuration is refused\n/)
    for (const problem of problems) expect(refusal.message).toContain(problem)
    expect(gate.ctx.tools.get(CLASSIFY)).toBeUndefined()
    await gate.turn([[call.write]])
    expect(gate.reached()).toEqual(['write_note'])
  })

  test.each([
    ['null', null],
    ['a list', []],
    ['text', 'enforce'],
    ['a number', 5],
    ['true', true],
  ])('what is no object: %s', async (_what, config) => {
    const { plugin } = watchedPlugin()
    expect(plugin.Config['~standard'].validate(config).issues).toEqual([
      { message: expect.stringMatching(/^NOT_AN_OBJECT: /) },
    ])
  })

  test('a bare off, which YAML reads as false, is told how to write it', () => {
    const { plugin } = watchedPlugin()
    const { issues } = plugin.Config['~standard'].validate({ mode: false })
    expect(issues[0].message).toContain('write "off" in quotes')
  })

  test.each([
    [{ policyVersion: '0.0.9' }, 'this package implements policy version 0.1.0'],
    [{ policyVersion: 1 }, 'INVALID_TYPE'],
    [{ readTools: ['write_note'] }, 'CONTRADICTION'],
    [{ destructiveTools: ['search_notes'] }, 'CONTRADICTION'],
    [{ mutatingTools: ['bmpp__classify'] }, "is the policy's own tool"],
    [{ readTools: ['mcp__basic-memory__cat'] }, 'raw names'],
    [{ searchTools: [] }, 'INVALID_LENGTH'],
    [{ readTools: [] }, 'INVALID_LENGTH'],
    [{ serverNames: 'basic-memory' }, 'INVALID_TYPE'],
    [{ serverNames: ['basic memory'] }, 'can be no server name'],
    [{ preset: 'strict' }, 'AMBIGUOUS_MODE'],
    [{ gateScope: 'all' }, 'AMBIGUOUS_MODE'],
    [{ bogus: 1 }, 'UNKNOWN_KEY'],
  ])('%j', async (config, reason) => {
    const gate = await bootGate({ mounted: false })
    await expect(gate.mount(gate.plugin, config)).rejects.toThrow(reason)
  })
})

describe('a configuration without problems', () => {
  test.each([
    ['none', undefined],
    ['an empty one', {}],
    ['an explicit undefined is an absent key', { mode: undefined, policyVersion: undefined }],
  ])('%s stands for the defaults: audit, compat, basic-memory', async (_what, config) => {
    const gate = await bootGate({ mounted: false })
    await gate.mount(gate.plugin, config)
    expect(gate.report()).toMatchObject({
      active: true,
      mode: 'audit',
      profile: 'compat',
      serverNames: ['basic-memory'],
      policyVersion: '0.1.0',
    })
    await gate.turn([[call.write]])
    expect(gate.verdicts()).toEqual(['write_note CLASSIFICATION_REQUIRED overridden'])
  })

  test('a pinned policyVersion is the implemented one', async () => {
    const gate = await bootGate({ config: { policyVersion: '0.1.0' } })
    expect(gate.report().policyVersion).toBe('0.1.0')
  })

  test('validate hands the very value on', () => {
    const { plugin } = watchedPlugin()
    const config = { mode: 'enforce' }
    expect(plugin.Config['~standard'].validate(config)).toEqual({ value: config })
    expect(plugin.Config['~standard'].validate(config).value).toBe(config)
    expect(plugin.Config['~standard']).toMatchObject({ version: 1, vendor: 'dsh-bmpp' })
  })
})

describe('mode off registers nothing and decides nothing', () => {
  test.each(['compat', 'strict'])('profile %s: no listener, no guard, no tool, no effect, no policy', async profile => {
    const touched = []
    const gate = await bootGate({ mounted: false })
    const { apply, ...plugin } = gate.plugin
    const watching = {
      ...plugin,
      apply: function watched(ctx, config) {
        const seen = new Proxy(ctx, {
          get(target, key) {
            touched.push(String(key))
            return Reflect.get(target, key, target)
          },
        })
        apply(seen, config)
      },
    }
    await gate.mount(watching, { mode: 'off', profile })
    // By its fiber the row knows the guard that a gate before this one may have left at the door.
    expect(new Set(touched)).toEqual(new Set(['logger', 'fiber']))
    expect(gate.ctx.tools.get(CLASSIFY)).toBeUndefined()
    expect(gate.report()).toMatchObject({ active: false, mode: 'off', profile, notices: [] })
    expect(() => gate.holdings()).toThrow('no policy')
    const agent = await gate.turn([[call.write, call.remove, [memory('brand_new_tool'), {}]], [call.search]])
    expect(gate.told(agent).every(({ isError }) => !isError)).toBe(true)
    expect(gate.records).toEqual([])
  })

  test('on a host that would be refused it loads, since it does nothing there', async () => {
    const gate = await bootGate({
      mode: 'off',
      parts: { host: () => ({ name: '@deepseek-ai/dsh', version: '9.0.0', source: 'entry', why: '' }) },
    })
    expect(gate.report()).toMatchObject({ active: false, host: { standing: 'newer' } })
    expect(gate.stderr).toEqual([])
  })
})

describe('serverNames', () => {
  const on = (server, raw) => `mcp__${server}__${raw}`
  const served = server => ({
    [on(server, 'write_note')]: () => answer('# Created note'),
    [on(server, 'search_notes')]: () => answer(FOUND),
  })

  test('several servers are governed alike, and the denial names the search tool of the same server', async () => {
    const gate = await bootGate({ config: { serverNames: ['basic-memory', 'bm'] }, tools: served('bm') })
    expect(gate.report().serverNames).toEqual(['basic-memory', 'bm'])
    const agent = await gate.turn([[call.complex], [call.write, [on('bm', 'write_note'), note]]])
    const [, first, second] = gate.told(agent)
    expect(first.text).toContain(memory('search_notes'))
    expect(second.text).toContain(on('bm', 'search_notes'))
    expect(gate.reached()).toEqual([])
  })

  test('a lookup on one opens the turn for the other: it is the same turn', async () => {
    const gate = await bootGate({ config: { serverNames: ['basic-memory', 'bm'] }, tools: served('bm') })
    await gate.turn([[call.complex], [[on('bm', 'search_notes'), {}]], [call.write]])
    expect(writes(gate)).toEqual(['write_note ALLOW_RECALL_OK allowed'])
  })

  test('a server that is not named is not governed', async () => {
    const gate = await bootGate({ config: { serverNames: ['bm'] }, tools: served('bm') })
    await gate.turn([[call.write, [on('bm', 'write_note'), note]]])
    expect(gate.decisions().map(({ tool }) => tool)).toEqual([on('bm', 'write_note')])
    expect(gate.ran.map(({ name }) => name)).toEqual([memory('write_note')])
  })

  test('where one name begins another, the longer one is meant', async () => {
    const gate = await bootGate({ config: { serverNames: ['bm', 'bm__work'] }, tools: served('bm__work') })
    await gate.turn([
      [
        [on('bm__work', 'search_notes'), {}],
        [on('bm__work', 'write_note'), note],
      ],
    ])
    expect(gate.decisions().map(({ class: kind, code }) => `${kind} ${code}`)).toEqual([
      'search ALLOW_READ_ONLY',
      'write CLASSIFICATION_REQUIRED',
    ])
  })
})

describe('unknownMemoryToolPolicy', () => {
  const unknown = /** @type {[string, any]} */ ([memory('brand_new_tool'), { anything: 1 }])
  const cases = [
    ['deny', ['UNKNOWN_MEMORY_TOOL denied', 'UNKNOWN_MEMORY_TOOL denied'], []],
    ['warn', ['CLASSIFICATION_REQUIRED denied', 'ALLOW_SIMPLE allowed'], ['UNKNOWN_MEMORY_TOOL']],
    ['off', ['CLASSIFICATION_REQUIRED denied', 'ALLOW_SIMPLE allowed'], []],
  ]
  test.each(cases)('%s', async (policy, verdicts, observed) => {
    const gate = await bootGate({ config: { unknownMemoryToolPolicy: policy } })
    await gate.turn([[unknown], [call.simple], [unknown]])
    const decisions = gate.decisions().filter(({ class: kind }) => kind === 'unknown')
    expect(decisions.map(({ code, enforcement }) => `${code} ${enforcement}`)).toEqual(verdicts)
    for (const { observations } of decisions) expect(observations).toEqual(observed)
    expect(gate.reached()).toHaveLength(policy === 'deny' ? 0 : 1)
  })

  test('the denial names the keys to set', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([[unknown]])
    const { text } = gate.told(agent)[0]
    for (const key of ['readTools', 'mutatingTools', 'unknownMemoryToolPolicy']) expect(text).toContain(key)
  })

  test('a name that the host cut and hashed is an unknown tool, whatever it begins with', async () => {
    const hashed = memory('write_note_0123456789ab')
    const gate = await bootGate({ tools: { [hashed]: () => 'written' } })
    await gate.turn([[call.simple], [[hashed, note]]])
    expect(gate.verdicts().at(-1)).toBe('write_note_0123456789ab UNKNOWN_MEMORY_TOOL denied')
  })

  test('in audit it is recorded and goes on', async () => {
    const gate = await bootGate({ mode: 'audit' })
    await gate.turn([[unknown]])
    expect(gate.verdicts()).toEqual(['brand_new_tool UNKNOWN_MEMORY_TOOL overridden'])
    expect(gate.reached()).toEqual(['brand_new_tool'])
  })
})

describe('the lists replace the defaults', () => {
  const lists = loadAddon().vocabulary().tools
  const raw = wanted => lists.filter(({ class: kind }) => wanted.includes(kind)).map(({ name }) => name)

  test('a tool on readTools is a read, one on mutatingTools a write', async () => {
    for (const [key, list, code] of [
      ['readTools', [...raw(['read', 'search']), 'brand_new_tool'], 'ALLOW_READ_ONLY allowed'],
      ['mutatingTools', [...raw(['write', 'destructive']), 'brand_new_tool'], 'CLASSIFICATION_REQUIRED denied'],
    ]) {
      const gate = await bootGate({ config: { [key]: list } })
      await gate.turn([[[memory('brand_new_tool'), {}]]])
      expect(gate.verdicts(), key).toEqual([`brand_new_tool ${code}`])
    }
  })

  test('a search that is not on searchTools is a read, and no recall', async () => {
    const gate = await bootGate({ config: { searchTools: ['build_context'] } })
    const agent = await gate.turn([
      [call.complex],
      [call.search],
      [call.write],
      [[memory('build_context'), {}]],
      [call.write],
    ])
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied', 'write_note ALLOW_RECALL_OK allowed'])
    expect(gate.told(agent)[2].text).toContain(memory('build_context'))
  })
})

describe('createRequiresSearch: false', () => {
  test.each([
    ['no overwrite', {}, 'ALLOW_CREATE allowed'],
    ['overwrite false', { overwrite: false }, 'ALLOW_CREATE allowed'],
    ['overwrite null', { overwrite: null }, 'ALLOW_CREATE allowed'],
    ['overwrite "no"', { overwrite: 'no' }, 'ALLOW_CREATE allowed'],
    ['overwrite true', { overwrite: true }, 'MEMORY_LOOKUP_REQUIRED denied'],
    ['overwrite "true", which the server takes as true', { overwrite: 'true' }, 'MEMORY_LOOKUP_REQUIRED denied'],
    ['overwrite 1', { overwrite: 1 }, 'MEMORY_LOOKUP_REQUIRED denied'],
  ])('a creating write skips the lookup, any other does not: %s', async (_what, more, verdict) => {
    const gate = await bootGate({ config: { createRequiresSearch: false } })
    await gate.turn([[call.complex], [[memory('write_note'), { ...note, ...more }]]])
    expect(writes(gate)).toEqual([`write_note ${verdict}`])
  })

  test('and not the classification, nor any other write', async () => {
    const gate = await bootGate({ config: { createRequiresSearch: false } })
    await gate.turn([[call.write], [call.complex], [call.edit]])
    expect(gate.verdicts()).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'classify ALLOW_CONTROL allowed',
      'edit_note MEMORY_LOOKUP_REQUIRED denied',
    ])
  })

  test('a failed or a running lookup is no obstacle to a creating write then', async () => {
    const gate = await bootGate({
      config: { createRequiresSearch: false },
      tools: { [memory('search_notes')]: () => flagged('broken') },
    })
    await gate.turn([[call.complex], [call.search, call.write]])
    expect(writes(gate)).toEqual(['write_note ALLOW_CREATE allowed'])
  })
})
