/**
 * Hot reload: the row is disposed of and applied again, as the loader does when its configuration is edited. In between there is
 * no gate, which is reported; what the turn had earned is gone; and a call that was under way breaks nothing.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, CLASSIFY, call, FOUND, memory, writeOf } from '../support/gate.js'
import { calls, gate as held, say } from '../support/inprocess.js'

const search = memory('search_notes')
const writes = gate => gate.verdicts().filter(line => line.startsWith('write_note'))

/** Disposes of the gate's row and applies it again. */
async function reload(gate, config = gate.config, between = () => {}) {
  await gate.fibers[0].dispose()
  await between()
  gate.fibers[0] = await gate.mount(gate.plugin, config)
}

/** A gate beside a tool with which a turn reloads it. */
async function bootReloading(options = {}, between = undefined) {
  const gate = await bootGate({
    ...options,
    tools: {
      ...options.tools,
      reload: async () => {
        await reload(gate, gate.config, between)
        return 'reloaded'
      },
    },
  })
  return gate
}

describe('in the middle of a turn', () => {
  test.each([
    ['a simple classification', [call.simple]],
    ['a complex one with a lookup', [call.complex], [call.search]],
  ])('%s is gone: the turn is unknown again', async (_what, ...earned) => {
    const gate = await bootReloading()
    await gate.turn([...earned, [['reload', {}]], [call.write], [call.complex], [call.write]])
    expect(writes(gate)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note CREATE_REQUIRES_SEARCH denied',
    ])
    // The place is known at once, by the host's numbers.
    expect(gate.decisions().at(-1)).toMatchObject({ turn: 1, countedTurn: null })
  })

  test('and within one message, between two calls of it', async () => {
    const gate = await bootReloading()
    await gate.turn([[call.simple, ['reload', {}], call.write]])
    expect(writes(gate)).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  })

  test('the gap is reported: in milliseconds, and as one line on standard error that says what it means', async () => {
    const gate = await bootReloading()
    expect(gate.report().reloadGapMs).toBeNull()
    await gate.turn([[['reload', {}]]])
    expect(gate.reports).toHaveLength(2)
    expect(gate.report().reloadGapMs).toBeGreaterThanOrEqual(0)
    expect(gate.report().notices).toEqual([
      expect.stringMatching(/^reloaded after [\d.]+ ms without a gate: .*not judged/),
    ])
    expect(gate.stderr).toEqual([expect.stringMatching(/^dsh-bmpp: reloaded after .*\n$/)])
  })

  test('what passes in the gap is not judged', async () => {
    let inTheGap
    const gate = await bootReloading({}, async () => {
      inTheGap = await gate.direct(agent, call.write)
    })
    const agent = await gate.open()
    await gate.turn([[['reload', {}]]], agent)
    expect(inTheGap.isError).toBe(false)
    expect(gate.records).toEqual([])
  })

  test('the control tool is gone with the gate and back with it', async () => {
    const seen = []
    const gate = await bootGate()
    seen.push(gate.ctx.tools.get(CLASSIFY))
    await reload(gate, gate.config, () => void seen.push(gate.ctx.tools.get(CLASSIFY)))
    seen.push(gate.ctx.tools.get(CLASSIFY))
    expect(seen.map(tool => tool === undefined)).toEqual([false, true, false])
  })
})

describe('with a call under way', () => {
  /** A turn whose search waits in its body while the gate is reloaded. */
  async function reloadedDuring(tool, body) {
    const begun = held()
    const end = held()
    const gate = await bootGate({
      tools: {
        [tool]: async () => {
          begun.open()
          await end.promise
          return body
        },
      },
    })
    return { gate, begun: begun.promise, end: end.open }
  }

  test('a lookup: it ends as it would have, and opens nothing', async () => {
    const { gate, begun, end } = await reloadedDuring(search, answer(FOUND))
    const agent = await gate.open()
    gate.start(agent, [calls(call.complex), calls(call.search), calls(call.complex, call.write), say('done')])
    await begun
    await reload(gate)
    end()
    await agent.whenIdle()
    expect(gate.answers(agent)[1]).toBe(FOUND)
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied'])
  })

  test('a write: it ends as it would have', async () => {
    const { gate, begun, end } = await reloadedDuring(memory('write_note'), answer('# Created note'))
    const agent = await gate.open()
    gate.start(agent, [calls(call.simple), calls(call.write), calls(call.bash), say('done')])
    await begun
    await reload(gate)
    end()
    await agent.whenIdle()
    expect(gate.answers(agent).slice(1)).toEqual(['# Created note', 'bash ran'])
  })

  test('a call that waits for another plugin between our decision and our guard is judged again by the new gate', async () => {
    const waits = held()
    const goOn = held()
    const slow = {
      name: 'slow',
      inject: ['tools'],
      apply: ctx =>
        void ctx.on('tools/pre-execute', async (exec, next) => {
          if (exec.name === memory('write_note')) {
            waits.open()
            await goOn.promise
          }
          return next()
        }),
    }
    const gate = await bootGate({ behind: [[slow]] })
    const agent = await gate.open()
    gate.start(agent, [calls(call.simple), calls(call.write), say('done')])
    await waits.promise
    await reload(gate)
    goOn.open()
    await agent.whenIdle()
    // Its turn is unknown to the new gate, so it does not pass the guard.
    expect(gate.answers(agent)).toEqual([expect.any(String), 'CLASSIFICATION_REQUIRED'])
    expect(gate.decisions().map(({ at, enforcement }) => `${at} ${enforcement}`)).toEqual([
      'pre-execute allowed',
      'pre-execute allowed',
      'guard denied',
    ])
    expect(gate.reached()).toEqual([])
  })

  test('a call that waits for its human: their approval was of the gate that is gone, and the new one denies', async () => {
    const thinking = held()
    const verdict = held()
    const gate = await bootGate({
      profile: 'strict',
      answer: () => {
        thinking.open()
        return verdict.promise
      },
    })
    const agent = await gate.open()
    gate.start(agent, [calls(call.simple), calls(call.remove), say('done')])
    await thinking.promise
    await reload(gate)
    verdict.open('allowed-once')
    await agent.whenIdle()
    expect(gate.answers(agent).at(-1)).toBe('APPROVAL_UNAVAILABLE')
    expect(gate.decisions().at(-1)).toMatchObject({ at: 'guard', enforcement: 'denied' })
    expect(gate.reached()).toEqual([])
  })

  test('unloaded for good: the call ends, and nothing of ours stands in the way afterwards', async () => {
    const { gate, begun, end } = await reloadedDuring(search, answer(FOUND))
    const agent = await gate.open()
    gate.start(agent, [calls(call.search), calls(call.write), say('done')])
    await begun
    await gate.fibers[0].dispose()
    end()
    await agent.whenIdle()
    expect(gate.reached()).toEqual(['search_notes', 'write_note'])
    expect(gate.told(agent).map(({ isError }) => isError)).toEqual([false, false])
  })
})

test('a reload with another configuration applies that one', async () => {
  const gate = await bootGate({ mode: 'audit' })
  await gate.turn([[call.write]])
  await reload(gate, { mode: 'enforce', profile: 'strict' })
  await gate.turn([[writeOf('Two')]])
  expect(writes(gate)).toEqual([
    'write_note CLASSIFICATION_REQUIRED overridden',
    'write_note CLASSIFICATION_REQUIRED denied',
  ])
  expect(gate.report()).toMatchObject({ mode: 'enforce', profile: 'strict' })
})

test('each load frees what it held: a hundred reloads with sessions under way leave one policy', async () => {
  const gate = await bootGate()
  const agent = await gate.open()
  for (let load = 0; load < 100; load++) {
    await gate.turn([[call.simple], [writeOf(`Note ${load}`)]], agent)
    await reload(gate)
  }
  expect(writes(gate)).toHaveLength(100)
  expect(new Set(writes(gate))).toEqual(new Set(['write_note ALLOW_SIMPLE allowed']))
  expect(gate.handles).toHaveLength(101)
  expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  for (const handle of gate.handles.slice(0, -1)) expect(() => gate.addon.holdings(handle)).toThrow('no policy')
})
