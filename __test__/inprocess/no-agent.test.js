/**
 * Calls that have no turn, and agents that cannot declare one: a call without an agent is allowed and recorded, and an agent
 * that does not see the control tool is told that its parent must write.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, CLASSIFY, call, memory, note } from '../support/gate.js'

const writes = (gate, agent) => gate.verdicts(agent).filter(line => line.startsWith('write_note'))

describe('a call without an agent has no turn: allowed and recorded with NO_AGENT_CONTEXT', () => {
  const modes = ['audit', 'enforce'].flatMap(mode => ['compat', 'strict'].map(profile => ({ mode, profile })))
  test.each(modes)('mode $mode, profile $profile', async options => {
    const gate = await bootGate(options)
    for (const made of [call.write, call.remove, call.search, call.read]) {
      expect(await gate.direct(undefined, made)).toMatchObject({ isError: false })
    }
    expect(gate.verdicts()).toEqual([
      'write_note ALLOW_OUT_OF_SCOPE allowed',
      'delete_note ALLOW_OUT_OF_SCOPE allowed',
      'search_notes ALLOW_READ_ONLY allowed',
      'read_note ALLOW_READ_ONLY allowed',
    ])
    expect(gate.decisions().every(({ observations }) => observations.includes('NO_AGENT_CONTEXT'))).toBe(true)
    const place = {
      session: null,
      turn: null,
      countedTurn: null,
      step: null,
      classification: 'unknown',
      lookup: 'none',
    }
    for (const record of gate.decisions()) expect(record).toMatchObject(place)
    expect(gate.reached()).toEqual(['write_note', 'delete_note', 'search_notes', 'read_note'])
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  })

  test.each([['text'], [[1]], [null], [{ directory: 'a', folder: 'b' }]])('whatever its arguments: %j', async args => {
    const gate = await bootGate()
    expect((await gate.direct(undefined, [memory('write_note'), args])).isError).toBe(false)
    expect(gate.verdicts()).toEqual(['write_note ALLOW_OUT_OF_SCOPE allowed'])
  })

  test('an unknown tool of the namespace likewise, under each policy for those', async () => {
    for (const unknownMemoryToolPolicy of ['off', 'warn', 'deny']) {
      const gate = await bootGate({ config: { unknownMemoryToolPolicy } })
      await gate.direct(undefined, [memory('brand_new_tool'), {}])
      expect(gate.verdicts()).toEqual(['brand_new_tool ALLOW_OUT_OF_SCOPE allowed'])
    }
  })

  test('its settlement is recorded, and that nothing was kept of it', async () => {
    const gate = await bootGate()
    await gate.direct(undefined, call.search)
    expect(gate.settlements()).toEqual([
      expect.objectContaining({ session: null, tool: memory('search_notes'), outcome: null, observations: [] }),
    ])
  })

  test('earns nothing for an agent: neither a declaration nor a lookup', async () => {
    const gate = await bootGate()
    const agent = await gate.turn([[call.read]])
    await gate.direct(undefined, call.simple)
    await gate.direct(undefined, call.search)
    await gate.turn([[call.write], [call.complex], [call.write]], agent)
    expect(writes(gate, agent)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
    ])
  })

  test('the control tool without an agent answers, and declares nothing to anybody', async () => {
    const gate = await bootGate()
    const result = await gate.direct(undefined, call.simple)
    expect(result.isError).toBe(false)
    expect(gate.decisions()).toEqual([
      expect.objectContaining({ code: 'ALLOW_CONTROL', observations: ['NO_AGENT_CONTEXT'] }),
    ])
  })
})

describe('an agent that does not see the control tool', () => {
  const restricted = ctx => ctx.tools.restrict({ deny: [CLASSIFY] })
  const shadowed = ctx =>
    ctx.tools.register({
      name: CLASSIFY,
      description: 'not ours',
      parameters: { type: 'object', properties: {} },
      output: { schema: { type: 'string' }, render: (_args, text) => [{ type: 'text', text }] },
      execute: async () => 'I say it is simple',
    })

  test('is looked at once a turn: a filter that is lifted counts from the next turn on', async () => {
    let lift
    const gate = await bootGate()
    const setup = {
      name: 'setup',
      inject: ['tools'],
      apply(ctx) {
        lift = restricted(ctx)
      },
    }
    const agent = await gate.open({ setup: async ctx => void (await ctx.plugin(setup)) })
    await gate.turn([[call.write]], agent)
    await lift()
    await gate.turn([[call.write], [call.simple], [call.write]], agent)
    expect(gate.told(agent)[0].text).toContain('is not available to this agent')
    expect(gate.told(agent)[1].text).toContain(`call ${CLASSIFY} with`)
    expect(writes(gate, agent)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note ALLOW_SIMPLE allowed',
    ])
  })

  describe.each([
    ['a filter takes it away', restricted],
    ['another tool stands in its place', shadowed],
  ])('%s', (_what, setup) => {
    const inject = wanted => ({ name: 'setup', inject: ['tools'], apply: wanted })
    const openHidden = gate =>
      gate.open({ setup: async ctx => void (await ctx.plugin(inject(scope => void setup(scope)))) })

    test('is told that it cannot write memory and its parent must, and not to retry', async () => {
      const gate = await bootGate()
      const agent = await openHidden(gate)
      await gate.turn([[call.write]], agent)
      const { text } = gate.told(agent)[0]
      expect(text).toMatch(/^Error: CLASSIFICATION_REQUIRED: /)
      expect(text).toContain(`${CLASSIFY} is not available to this agent, so this agent cannot write memory`)
      expect(text).toContain('parent agent, which must write it')
      expect(text).toContain('Do not retry')
      expect(gate.decisions(agent)).toEqual([
        expect.objectContaining({ observations: ['CONTROL_HIDDEN'], enforcement: 'denied' }),
      ])
    })

    test.each([
      ['MALFORMED_ARGUMENTS', '["Plans"]'],
      ['UNSAFE_NOTE_PATH', { ...note, directory: '../elsewhere' }],
    ])('is told the same of %s, which would cure nothing', async (code, args) => {
      const gate = await bootGate()
      const agent = await openHidden(gate)
      await gate.turn([[[memory('write_note'), args]]], agent)
      const { text } = gate.told(agent)[0]
      expect(text).toMatch(new RegExp(`^Error: ${code}: `))
      expect(text).toContain(`${CLASSIFY} is not available to this agent, so this agent cannot write memory`)
      expect(text).not.toContain('epeat this call')
    })

    test('may search and read like any other', async () => {
      const gate = await bootGate()
      const agent = await openHidden(gate)
      await gate.turn([[call.search, call.read]], agent)
      expect(gate.verdicts(agent)).toEqual([
        'search_notes ALLOW_READ_ONLY allowed',
        'read_note ALLOW_READ_ONLY allowed',
      ])
    })

    test('in audit is not stopped, and the record says why it would have been', async () => {
      const gate = await bootGate({ mode: 'audit' })
      const agent = await openHidden(gate)
      await gate.turn([[call.write]], agent)
      expect(writes(gate, agent)).toEqual(['write_note CLASSIFICATION_REQUIRED overridden'])
      expect(gate.decisions(agent)[0].observations).toEqual(['CONTROL_HIDDEN'])
    })

    test('is not helped by a call of that name', async () => {
      const gate = await bootGate()
      const agent = await openHidden(gate)
      await gate.turn([[call.simple], [call.write]], agent)
      expect(writes(gate, agent)).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
    })

    test('another agent beside it sees the tool and the other text', async () => {
      const gate = await bootGate()
      await gate.turn([[call.write]], await openHidden(gate))
      const other = await gate.turn([[call.write], [call.simple], [call.write]])
      expect(gate.told(other)[0].text).toContain('call bmpp__classify with')
      expect(writes(gate, other)).toEqual([
        'write_note CLASSIFICATION_REQUIRED denied',
        'write_note ALLOW_SIMPLE allowed',
      ])
      expect(gate.decisions(other).flatMap(({ observations }) => observations)).toEqual([])
    })
  })
})
