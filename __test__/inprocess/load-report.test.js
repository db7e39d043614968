/**
 * The load report: what was loaded, where and how, and what an operator must see. A notice is one line on standard error, never
 * on standard output, and not the same one over and over.
 */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { TOOLS_MEMBERS } from '../../js/host.js'
import { onRecord } from '../../js/records.js'
import { answer, bootGate, CLASSIFY, call, FOUND, memory, writeOf } from '../support/gate.js'

afterEach(() => void vi.restoreAllMocks())

const RANGE = '>=0.1.5-rc.2 <0.2.0'
const hostOf = version => () => ({ name: '@deepseek-ai/dsh', version, source: version ? 'entry' : 'none', why: 'test' })
/** What was registered after the list of tools changed is looked at once, in the next round of the event loop. */
const nextRound = () => new Promise(resolve => setImmediate(resolve))

test('holds every field of what was loaded', async () => {
  const gate = await bootGate({ profile: 'strict', config: { serverNames: ['bm'] } })
  expect(gate.report()).toEqual({
    active: true,
    mode: 'enforce',
    profile: 'strict',
    pluginVersion: '0.1.0',
    policyVersion: '0.1.0',
    serverNames: ['bm'],
    host: {
      name: '@deepseek-ai/dsh',
      version: '0.1.5-rc.2',
      source: 'entry',
      why: 'a test says so',
      standing: 'inside',
      verified: false,
      range: RANGE,
      reason: `host version 0.1.5-rc.2 is within the supported range ${RANGE}, not verified`,
    },
    reloadGapMs: null,
    notices: [],
    countedSessions: 0,
    lostRecords: 0,
    audit: null,
  })
})

test('is told in one line to the logger, at level info', async () => {
  const gate = await bootGate({ profile: 'strict' })
  const ours = gate.logs.filter(({ body, args }) => JSON.stringify([body, args]).includes('dsh-bmpp'))
  expect(ours).toHaveLength(1)
  expect(ours[0].type).toBe('info')
  expect(JSON.stringify(ours[0])).toContain(
    '0.1.0 loaded, mode enforce, profile strict, governs basic-memory; host version 0.1.5-rc.2 is within',
  )
})

describe('the host’s version', () => {
  const bootOn = (version, config) => bootGate({ mounted: false, parts: { host: hostOf(version) }, config })

  test.each([
    ['0.1.0-rc.8', `host version 0.1.0-rc.8 is older than and outside the supported range ${RANGE}`],
    ['0.1.5-rc.1', 'is older than'],
    ['0.2.0-rc.1', `host version 0.2.0-rc.1 is newer than and outside the supported range ${RANGE}`],
    ['1.0.0', 'is newer than'],
    ['latest', `host version latest is no version that can be compared with the supported range ${RANGE}`],
    ['v0.1.5', 'is no version that can be compared'],
  ])('%s is refused with the concrete reason, and nothing of us stays', async (version, reason) => {
    const gate = await bootOn(version)
    const refusal = await gate.mount(gate.plugin, gate.config).catch(error => error)
    expect(refusal.message).toContain(`dsh-bmpp: host version ${version}`)
    expect(refusal.message).toContain(reason)
    expect(refusal.message).toContain('allowUnverifiedHarness: true')
    expect(gate.ctx.tools.get(CLASSIFY)).toBeUndefined()
    expect(() => gate.holdings()).toThrow('no policy')
    const agent = await gate.turn([[call.write]])
    expect(gate.answers(agent)).toEqual([expect.stringContaining('Created')])
    expect(gate.records).toEqual([])
  })

  test.each([
    ['0.1.0-rc.8', 'older', true, 'allowed by configuration, verified by this project’s suite'],
    ['0.1.0', 'older', false, 'allowed by configuration, not verified by this project’s suite'],
    ['0.2.0', 'newer', false, 'allowed by configuration'],
    ['latest', 'unparsable', false, 'allowed by configuration'],
  ])('%s with allowUnverifiedHarness loads, loudly', async (version, standing, verified, reason) => {
    const gate = await bootOn(version, { allowUnverifiedHarness: true })
    await gate.mount(gate.plugin, gate.config)
    const { host, notices } = gate.report()
    expect(host).toMatchObject({ version, standing, verified, range: RANGE })
    expect(host.reason).toContain(reason.replace('’', "'"))
    expect(notices).toEqual([host.reason])
    expect(gate.stderr).toEqual([`dsh-bmpp: ${host.reason}\n`])
    await gate.turn([[call.write]])
    expect(gate.verdicts()).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('that cannot be found out is no reason to refuse, and is said', async () => {
    const gate = await bootOn(null)
    await gate.mount(gate.plugin, gate.config)
    expect(gate.report().host).toMatchObject({
      version: null,
      source: 'none',
      standing: 'undetectable',
      verified: false,
    })
    // And how it was looked for, since only that helps.
    expect(gate.stderr).toEqual([expect.stringMatching(/could not be found out, .*: test\n$/)])
  })

  test.each(['0.1.5-rc.2', '0.1.5', '0.1.99'])('%s is inside and nothing to tell', async version => {
    const gate = await bootOn(version)
    await gate.mount(gate.plugin, gate.config)
    expect(gate.report().host).toMatchObject({ standing: 'inside' })
    expect(gate.stderr).toEqual([])
  })
})

describe('what the host must have', () => {
  /** The plugin on a host whose context or tools service is changed. */
  const on = (plugin, change) => ({
    ...plugin,
    apply: function apply(ctx, config) {
      return plugin.apply(change(ctx), config)
    },
  })
  const replacing = (target, key, value) =>
    new Proxy(target, { get: (from, name) => (name === key ? value : Reflect.get(from, name, from)) })

  test.each(Object.keys(TOOLS_MEMBERS))('a tools service without %s is refused, by name', async member => {
    for (const value of [undefined, 'no function']) {
      const gate = await bootGate({ mounted: false })
      const lacking = ctx => replacing(ctx, 'tools', replacing(ctx.tools, member, value))
      await expect(gate.mount(on(gate.plugin, lacking), gate.config)).rejects.toThrow(
        `this host lacks what the gate needs: ctx.tools.${member}; it is not loaded`,
      )
      expect(gate.ctx.tools.get(CLASSIFY)).toBeUndefined()
      expect(() => gate.holdings()).toThrow('no policy')
    }
  })

  test('everything that is missing is named at once', async () => {
    const gate = await bootGate({ mounted: false })
    const lacking = ctx => replacing(replacing(ctx, 'effect', undefined), 'tools', { register() {} })
    const refusal = await gate.mount(on(gate.plugin, lacking), gate.config).catch(error => error)
    for (const name of ['ctx.effect', 'ctx.tools.guard', 'ctx.tools.get', 'ctx.tools.schemas']) {
      expect(refusal.message).toContain(name)
    }
  })

  test('a logger that fails is not the gate’s business', async () => {
    const full = () => {
      throw new Error('full')
    }
    // The host's logger is a function with methods.
    const broken = Object.assign(() => full, { info: full, warn: full })
    const gate = await bootGate({ mounted: false, parts: { host: hostOf(null) } })
    await gate.mount(
      on(gate.plugin, ctx => replacing(ctx, 'logger', broken)),
      gate.config,
    )
    expect(gate.stderr).toHaveLength(1)
  })
})

describe('notices', () => {
  test('go to standard error as one line, never to standard output', async () => {
    const [error, output] = ['stderr', 'stdout'].map(name => {
      const lines = []
      vi.spyOn(process[name], 'write').mockImplementation(line => lines.push(line) > 0)
      return lines
    })
    const gate = await bootGate({ parts: { host: hostOf(null), standardError: undefined } })
    await gate.turn([[call.simple], [call.write]])
    vi.restoreAllMocks()
    expect(error).toEqual([expect.stringMatching(/^dsh-bmpp: the host's version could not be found out[^\n]*\n$/)])
    expect(output).toEqual([])
  })

  test('a standard error that is closed ends nothing', async () => {
    const gate = await bootGate({
      parts: {
        host: hostOf(null),
        standardError: () => {
          throw new Error('EPIPE')
        },
      },
    })
    await gate.turn([[call.simple], [call.write]])
    expect(gate.reached()).toEqual(['write_note'])
    expect(gate.report().notices).toHaveLength(1)
  })

  test('go to the logger as warnings', async () => {
    const gate = await bootGate({ parts: { host: hostOf(null) } })
    expect(gate.logs.filter(({ type }) => type === 'warn')).toHaveLength(1)
  })
})

describe('records that the sink does not take', () => {
  const broken = () => ({
    record() {
      throw new Error('disk full')
    },
  })

  test('change no verdict and are counted', async () => {
    const gate = await bootGate({ parts: { sink: broken() } })
    const agent = await gate.turn([[call.write], [call.simple], [call.write], [call.bash]])
    expect(gate.answers(agent).map(text => text.split('\n')[0])).toEqual([
      'CLASSIFICATION_REQUIRED',
      expect.any(String),
      '# Created note',
      'bash ran',
    ])
    // The load, the turn's beginning and end, and two records for each governed call.
    expect(gate.report().lostRecords).toBe(9)
  })

  test('are told once, then at most once a minute with the number of what was held back', async () => {
    let now = 1_000_000
    vi.spyOn(performance, 'now').mockImplementation(() => now)
    const gate = await bootGate({ parts: { sink: broken() } })
    const agent = await gate.turn([[call.simple], [call.write]])
    expect(gate.stderr).toEqual(['dsh-bmpp: 1 audit record could not be kept; every rule is still applied\n'])
    now += 59_999
    await gate.turn([[call.read]], agent)
    expect(gate.stderr).toHaveLength(1)
    now += 1
    await gate.turn([[call.read]], agent)
    expect(gate.stderr).toHaveLength(2)
    expect(gate.stderr[1]).toMatch(
      / 12 audit records could not be kept; .* \(and 10 more of the kind since the last line\)\n$/,
    )
    expect(gate.report().notices).toHaveLength(1)
  })

  test('an observer that throws loses nothing and stops nothing', async () => {
    const seen = []
    const stops = [
      onRecord(() => {
        throw new Error('observer')
      }),
      onRecord(record => void seen.push(record.seq)),
    ]
    const gate = await bootGate()
    await gate.turn([[call.simple], [call.write]])
    for (const stop of stops) stop()
    await gate.turn([[call.read]])
    expect(seen).toEqual([1, 2, 3, 4, 5, 6, 7])
    expect(gate.report().lostRecords).toBe(0)
    expect(gate.records).toHaveLength(6)
  })
})

describe('a memory server that is not governed', () => {
  const served = (server, ...raws) =>
    Object.fromEntries(raws.map(raw => [`mcp__${server}__${raw}`, () => answer(FOUND)]))
  const all = ['write_note', 'search_notes', 'read_note']

  test('is named, with the key that would govern it', async () => {
    const gate = await bootGate({ tools: served('notes', ...all) })
    await nextRound()
    expect(gate.report().notices).toEqual([
      'the MCP server "notes" looks like Basic Memory and is not governed; to govern it, add "notes" to serverNames',
    ])
    expect(gate.stderr).toHaveLength(1)
  })

  test('is found when it comes later, and told once', async () => {
    const gate = await bootGate()
    await nextRound()
    expect(gate.stderr).toEqual([])
    for (const [name, body] of Object.entries(served('late', ...all, 'edit_note'))) {
      gate.register(name, body)
      await nextRound()
    }
    expect(gate.stderr).toEqual([expect.stringContaining('"late"')])
  })

  test('each of several is named', async () => {
    const gate = await bootGate({ tools: { ...served('one', ...all), ...served('two', ...all) } })
    await nextRound()
    expect(gate.report().notices.map(text => /"(\w+)"/.exec(text)?.[1])).toEqual(['one', 'two'])
  })

  test.each([
    ['a server with one tool of that name', served('wiki', 'write_note')],
    ['a server with two', served('wiki', 'write_note', 'read_note')],
    ['a server with other tools', served('files', 'read', 'write', 'search')],
    ['tools that are no server’s', { write_note: () => 'x', search_notes: () => 'x', read_note: () => 'x' }],
  ])('%s is none', async (_what, tools) => {
    const gate = await bootGate({ tools })
    await nextRound()
    expect(gate.stderr).toEqual([])
  })

  test('a governed one is none, under whichever name', async () => {
    const gate = await bootGate({ config: { serverNames: ['basic-memory', 'notes'] }, tools: served('notes', ...all) })
    await nextRound()
    expect(gate.stderr).toEqual([])
  })

  test('its calls go on, ungoverned', async () => {
    const gate = await bootGate({ tools: served('notes', ...all) })
    await gate.turn([[['mcp__notes__write_note', {}]], [writeOf('T')]])
    expect(gate.decisions().map(({ tool }) => tool)).toEqual([memory('write_note')])
  })
})
