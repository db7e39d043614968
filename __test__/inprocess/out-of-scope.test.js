/**
 * What is not governed is none of our business: a call outside the namespace crosses into the core at no stage, is not touched,
 * and gets what the next in line gives, even when the core is broken.
 */
import { describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { bootGate, CLASSIFY, call, memory } from '../support/gate.js'

/** Names that are near the namespace, and outside it. */
const OUTSIDE = [
  'bash',
  'write_note',
  'mcp__basic-memory_write_note',
  'mcp__basic-memoryx__write_note',
  'mcp__basic_memory__write_note',
  'mcp__Basic-Memory__write_note',
  'MCP__basic-memory__write_note',
  'xmcp__basic-memory__write_note',
  'mcp__other__write_note',
  'bmpp__classify_',
  'bmpp__other',
  'Bmpp__classify',
]

/** The addon with every function counted. */
function counting() {
  const calls = new Map()
  const native = loadAddon()
  const counted = Object.fromEntries(
    Object.entries(native).map(([name, value]) => [
      name,
      typeof value !== 'function'
        ? value
        : (...args) => {
            calls.set(name, (calls.get(name) ?? 0) + 1)
            return value(...args)
          },
    ]),
  )
  return { addon: () => counted, calls }
}

describe.each(['audit', 'enforce'])('mode %s', mode => {
  test('no call outside the namespace crosses into the core, at any stage', async () => {
    const { addon, calls } = counting()
    const tools = Object.fromEntries(OUTSIDE.map(name => [name, () => `${name} ran`]))
    const gate = await bootGate({ mode, parts: { addon }, tools })
    const agent = await gate.open()
    calls.clear()
    await gate.turn(
      [
        OUTSIDE.map(name => [name, { any: 'thing' }]),
        [
          ['nowhere', {}],
          ['bash', 'no JSON'],
        ],
      ],
      agent,
    )
    for (const name of OUTSIDE) await gate.direct(undefined, [name, {}])
    expect(Object.fromEntries(calls)).toEqual({})
    expect(gate.records).toEqual([])
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    expect(gate.ran.map(({ name }) => name)).toEqual([...OUTSIDE, 'bash', ...OUTSIDE])
    // And the counters do count.
    await gate.turn([[call.read]], agent)
    expect(calls.get('judgeFlat')).toBe(1)
    expect(calls.get('settleText')).toBe(1)
  })

  test('a session that was never judged is not followed in the core, whatever happens in it', async () => {
    const { addon, calls } = counting()
    const gate = await bootGate({ mode, parts: { addon } })
    calls.clear()
    const agent = await gate.turn([[call.bash], [call.bash]])
    await gate.turn([[call.bash]], agent)
    await gate.close(agent)
    expect(Object.fromEntries(calls)).toEqual({})
  })

  test('a second call of a known tool crosses into the core twice: for the verdict, and for what came of it', async () => {
    const { addon, calls } = counting()
    const gate = await bootGate({ mode, parts: { addon } })
    const agent = await gate.turn([[call.read]])
    calls.clear()
    await gate.turn([[call.read, call.read]], agent)
    expect(Object.fromEntries(calls)).toEqual({
      judgeFlat: 2,
      settleText: 2,
      // The turn's begin and its end, each once.
      endTurn: 2,
    })
  })

  test.each(['tools/pre-execute', 'tools/execute'])(
    '%s: the execution is not touched, and next’s answer is handed on as it is',
    async event => {
      const seen = []
      const sentinel = { kind: 'allow' }
      const inner = {
        name: 'inner',
        inject: ['tools'],
        apply: ctx =>
          void ctx.on(event, (exec, next) => {
            if (exec.name !== 'bash') return next()
            // Behind the gate: what it sees is what came in.
            seen.push([exec, Object.getOwnPropertyDescriptors(exec)])
            const answer = event === 'tools/pre-execute' ? Promise.resolve(sentinel) : next()
            seen.push(answer)
            return answer
          }),
      }
      const outer = {
        name: 'outer',
        inject: ['tools'],
        apply: ctx =>
          void ctx.on(
            event,
            (exec, next) => {
              if (exec.name !== 'bash') return next()
              seen.push([exec, Object.getOwnPropertyDescriptors(exec)])
              const answer = next()
              seen.push(answer)
              return answer
            },
            { prepend: true },
          ),
      }
      const gate = await bootGate({ mode, behind: [[inner], [outer]] })
      await gate.turn([[call.bash]])
      const [before, after, given, handed] = seen
      expect(after[0]).toBe(before[0])
      expect(after[1]).toEqual(before[1])
      expect(after[1].name.writable).toBe(true)
      expect(after[1].arguments.writable).toBe(true)
      // The very promise, neither wrapped nor awaited on the way.
      expect(handed).toBe(given)
    },
  )

  test('a rejection and a throw of the next in line are its own', async () => {
    const failing = sync => ({
      name: 'failing',
      inject: ['tools'],
      apply: ctx =>
        void ctx.on('tools/execute', (exec, next) => {
          if (exec.name !== 'bash') return next()
          if (sync) throw new Error('thrown by another')
          return Promise.reject(new Error('rejected by another'))
        }),
    })
    for (const sync of [true, false]) {
      const gate = await bootGate({ mode, behind: [[failing(sync)]] })
      const agent = await gate.turn([[call.bash]])
      expect(gate.told(agent)[0].text).toBe(`Error: ${sync ? 'thrown' : 'rejected'} by another`)
    }
  })
})

describe('a core that is broken at every entry', () => {
  /** An addon whose every function throws, once the policy is loaded. */
  function breaking() {
    const native = loadAddon()
    const state = { broken: false }
    const addon = Object.fromEntries(
      Object.entries(native).map(([name, value]) => [
        name,
        typeof value !== 'function'
          ? value
          : (...args) => {
              if (state.broken) throw new Error(`POLICY_INTERNAL_ERROR: ${name} panicked`)
              return value(...args)
            },
      ]),
    )
    return { addon: () => addon, state }
  }

  test.each(['audit', 'enforce'])(
    '%s: bash and every read go on; a governed write is denied in enforce only',
    async mode => {
      const { addon, state } = breaking()
      const gate = await bootGate({ mode, parts: { addon } })
      state.broken = true
      const agent = await gate.turn([
        [call.bash, call.search, call.read],
        [call.write, call.bash],
        [[memory('brand_new_tool'), {}]],
      ])
      const denied = gate.answers(agent).map(text => text === 'POLICY_INTERNAL_ERROR')
      const inEnforce = mode === 'enforce'
      expect(denied).toEqual([false, false, false, inEnforce, false, inEnforce])
      expect(gate.reached().filter(name => name === 'write_note')).toHaveLength(inEnforce ? 0 : 1)
      // The operator hears of it, once for each stage.
      expect(gate.stderr.length).toBeGreaterThan(0)
      expect(gate.stderr.length).toBeLessThan(8)
      for (const line of gate.stderr) expect(line).toContain('POLICY_INTERNAL_ERROR')
      state.broken = false
    },
  )

  test('the control tool goes on and declares nothing', async () => {
    const { addon, state } = breaking()
    const gate = await bootGate({ parts: { addon } })
    state.broken = true
    const agent = await gate.turn([[call.simple]])
    expect(gate.told(agent)[0].isError).toBe(false)
    state.broken = false
    await gate.turn([[[CLASSIFY, { task: 'none' }], call.write]], agent)
    expect(gate.verdicts().at(-1)).toBe('write_note CLASSIFICATION_REQUIRED denied')
  })

  test('a message of the core that is no panic is not repeated', async () => {
    const native = loadAddon()
    const judge = () => {
      throw new Error('at /secret/path with MARKER')
    }
    const addon = { ...native, judge, judgeFlat: judge }
    const gate = await bootGate({ parts: { addon: () => addon } })
    const agent = await gate.turn([[call.write]])
    expect(gate.answers(agent)).toEqual(['POLICY_INTERNAL_ERROR'])
    expect(JSON.stringify([gate.stderr, gate.told(agent), gate.report()])).not.toContain('MARKER')
  })
})
