/**
 * Nothing of ours may throw into the host's pipeline, whatever breaks: the core, one entry at a time, by throwing or by
 * answering nonsense; the sink, the logger, standard error, whoever listens to records, the services of the host. Calls outside the
 * namespace and listed reads go on; a governed write is denied in enforce and passes in audit; and no fault opens the gate.
 */
import { describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { onRecord } from '../../js/records.js'
import { bootGate, CLASSIFY, call, memory } from '../support/gate.js'
import { hostPackage } from '../support/inprocess.js'
import { placements, plugin, search, write, written } from './attack-support.js'

const { Service } = await hostPackage('cordis')
const native = loadAddon()

/** The addon with one function replaced, from the moment that `state.broken` is set. */
function breaking(name, fault) {
  const state = { broken: false, reached: 0 }
  const addon = {
    ...native,
    [name]: (...args) => {
      if (!state.broken) return native[name](...args)
      state.reached += 1
      return fault(...args)
    },
  }
  return { state, parts: { addon: () => addon } }
}
const breakIt = state => {
  state.broken = true
}
const boom = () => {
  throw new Error('POLICY_INTERNAL_ERROR: broken on purpose')
}

/** What a call of a turn needs of the core, and what only happens around it. */
const judging = ['toolId', 'toolClass', 'openSession', 'argumentNames', 'judgeFlat', 'judge', 'enforcement', 'describe']
const denying = ['denialText']
const asking = ['approvalReason']
const around = ['settle', 'settleText', 'describeSettlement', 'endTurn', 'closeSession', 'dropPolicy']

const nonsense = {
  undefined: () => undefined,
  null: () => null,
  'an object': () => ({}),
  'a string': () => 'nonsense',
  'an empty string': () => '',
  'a number that is none': () => Number.NaN,
  'a negative number': () => -1,
  'a fraction': () => 0.5,
  'a huge number': () => 2 ** 40,
  'a promise': () => Promise.resolve(0),
  'a proxy that throws': () => new Proxy({}, { get: boom, getPrototypeOf: boom, ownKeys: boom }),
  true: () => true,
}
/** Turns every denial into allow, from in front: only the door is left. */
const overriding = plugin(
  {
    'tools/pre-execute': async (_exec, next) => {
      await next()
      return { kind: 'allow' }
    },
  },
  true,
)
const everything = [[call.bash, call.search, call.read], [call.write], [call.remove], [call.bash]]

describe.each([...judging, ...denying, ...asking, ...around])('%s throws', name => {
  test.each(['audit', 'enforce'])(
    '%s: bash and reads go on, and no write that is not allowed is reached',
    async mode => {
      for (const behind of [[], [[overriding]]]) {
        const { state, parts } = breaking(name, boom)
        const gate = await bootGate({ mode, parts, behind, profile: 'strict', answer: () => 'rejected' })
        state.broken = true
        const agent = await gate.turn(everything)
        await gate.turn([[call.simple]], agent)
        await gate.turn(everything, agent)
        const reads = ['bash', 'search_notes', 'read_note']
        const writes = mode === 'audit' ? ['write_note', 'delete_note'] : []
        const turn = [...reads, ...writes, 'bash']
        expect(gate.reached()).toEqual([...turn, ...turn])
        await gate.close(agent)
        state.broken = false
      }
    },
  )
})

describe.each([...judging, 'endTurn', 'settle', 'settleText'])(
  '%s throws in a turn in which writes are allowed',
  name => {
    test('in enforce a write is denied with POLICY_INTERNAL_ERROR where it could not be judged, whoever turns the denial', async () => {
      for (const behind of [[], [[overriding]]]) {
        const { state, parts } = breaking(name, boom)
        const gate = await bootGate({ parts, behind, tools: { break: () => String(breakIt(state)) } })
        const agent = await gate.turn([[call.simple], [['break', {}], call.write, call.bash], [call.search]])
        const judged = state.reached === 0 || !judging.includes(name)
        expect(written(gate)).toHaveLength(judged ? 1 : 0)
        expect(gate.answers(agent).filter(answer => answer === 'POLICY_INTERNAL_ERROR')).toHaveLength(judged ? 0 : 1)
        expect(gate.reached().slice(-2)).toEqual(['bash', 'search_notes'])
        state.broken = false
      }
    })
  },
)

describe.each([...judging, ...denying, ...asking, ...around])('%s answers nonsense', name => {
  test.each(Object.entries(nonsense))(
    '%s: in enforce no write is reached in a turn that has earned none',
    async (_what, fault) => {
      for (const behind of [[], [[overriding]]]) {
        const { state, parts } = breaking(name, fault)
        const gate = await bootGate({ parts, behind, profile: 'strict', answer: () => 'allowed-once' })
        state.broken = true
        const agent = await gate.turn(everything)
        expect(written(gate).filter(([tool]) => tool === write)).toEqual([])
        expect(gate.reached().filter(tool => tool === 'bash')).toHaveLength(2)
        expect(gate.reached()).toContain('read_note')
        expect(gate.reached()).toContain('search_notes')
        await gate.close(agent)
        state.broken = false
      }
    },
  )
})

test.each([
  ['audit', ['POLICY_INTERNAL_ERROR failed overridden']],
  ['enforce', ['POLICY_INTERNAL_ERROR failed overridden', 'POLICY_INTERNAL_ERROR failed denied']],
])('in %s a call that a fault kept from being judged is recorded all the same', async (mode, expected) => {
  const { state, parts } = breaking('judgeFlat', boom)
  const gate = await bootGate({ parts, mode })
  state.broken = true
  await gate.turn([[call.search], [call.write]])
  const recorded = gate.decisions().map(({ code, by, enforcement }) => `${code} ${by} ${enforcement}`)
  expect([...new Set(recorded)]).toEqual(expected)
  state.broken = false
})

describe('what is told of it', () => {
  test('one line for each stage, with the code and no text of another', async () => {
    const { state, parts } = breaking('judgeFlat', () => {
      throw new Error('about a note: MARKER')
    })
    const gate = await bootGate({ parts })
    state.broken = true
    await gate.turn([[call.write], [call.write], [call.search]])
    expect(gate.stderr.length).toBeGreaterThan(0)
    expect(gate.stderr.length).toBeLessThan(5)
    for (const line of gate.stderr) expect(line).toMatch(/^dsh-bmpp: POLICY_INTERNAL_ERROR .*\n$/)
    expect(gate.stderr.join('')).not.toContain('MARKER')
    state.broken = false
  })
})

describe('what keeps records or is told things breaks', () => {
  const run = async (gate, agent) =>
    gate.turn([[call.bash, call.write], [call.simple, call.write], [call.search]], agent)
  const asUsual = ['bash', 'write_note', 'search_notes']
  const rejecting = async () => boom()

  test.each([
    ['throws', boom],
    ['rejects', rejecting],
    ['never settles', () => new Promise(() => {})],
    ['answers with a thenable that throws', () => Object.defineProperty({}, 'then', { get: boom })],
    ['freezes and changes what it gets', record => Object.assign(Object.freeze(record), { code: 'ALLOW_SIMPLE' })],
  ])('the sink %s: every rule is still applied', async (_what, record) => {
    const gate = await bootGate({ parts: { sink: { record } } })
    await run(gate)
    expect(gate.reached()).toEqual(asUsual)
  })

  test.each([
    ['throws', boom],
    ['rejects', rejecting],
    ['ends itself', () => end()],
    ['changes what it gets', record => Object.assign(record, { code: 'CHANGED', enforcement: 'allowed' })],
  ])('a listener to records %s: every rule is still applied, and the record is as it was', async (_what, listener) => {
    const gate = await bootGate()
    end = onRecord(listener)
    const later = []
    const also = onRecord(record => void later.push(record.code))
    await run(gate)
    end()
    also()
    expect(gate.reached()).toEqual(asUsual)
    expect(gate.decisions().map(({ code }) => code)).not.toContain('CHANGED')
    expect(later).not.toContain('CHANGED')
    expect(later).toContain('CLASSIFICATION_REQUIRED')
  })
  let end

  test('standard error and the logger throw', async () => {
    const { state, parts } = breaking('endTurn', boom)
    const gate = await bootGate({
      parts: { ...parts, standardError: boom },
      before: ctx => ctx.logger.exporter({ export: boom, levels: { default: 3 } }),
    })
    state.broken = true
    await run(gate)
    expect(gate.reached()).toEqual(asUsual)
    state.broken = false
  })
})

describe('services of the host break', () => {
  class Broken extends Service {
    constructor(ctx, { name, members }) {
      super(ctx, name)
      for (const member of members) this[member] = boom
    }
  }
  const getter = new Proxy(() => {}, { get: boom })

  test.each([
    ['sessionProjections', ['stateOf']],
    ['approval', ['request', 'effectivePolicy']],
  ])('%s throws', async (name, members) => {
    const gate = await bootGate({ withProjections: false, ahead: [[Broken, { name, members }]], profile: 'strict' })
    const agent = await gate.turn([
      [call.bash, call.write],
      [call.simple, call.write],
      [call.search, call.remove],
    ])
    expect(gate.reached()).toEqual(['bash', 'write_note', 'search_notes'])
    expect(gate.answers(agent).at(-1)).not.toBe('POLICY_INTERNAL_ERROR')
  })

  /** Mounts the gate and keeps its listeners, so that only they are called with what the host would never send. */
  async function listenersOf(gate) {
    const listeners = {}
    function apply(ctx, config) {
      const on = (event, listener, ...more) => {
        listeners[event] = listener
        return ctx.on(event, listener, ...more)
      }
      const get = (target, key) => (key === 'on' ? on : Reflect.get(target, key, target))
      return gate.plugin.apply(new Proxy(ctx, { get }), config)
    }
    await gate.mount({ ...gate.plugin, apply }, gate.config)
    return listeners
  }

  test('events of no shape', async () => {
    const gate = await bootGate({ mounted: false })
    const listeners = await listenersOf(gate)
    const agent = await gate.turn([[call.simple]])
    const odd = [
      undefined,
      null,
      0,
      'x',
      {},
      [],
      getter,
      Object.freeze({}),
      { type: 'tool/call' },
      { type: 7, seq: {} },
    ]
    for (const event of ['session/event', 'session/created', 'session/disposed', 'tools/result', 'tools/change']) {
      for (const first of [...odd, agent.session]) {
        for (const second of odd) expect(() => listeners[event](first, second)).not.toThrow()
      }
    }
    await gate.turn([[call.simple, call.write, call.bash]], agent)
    expect(gate.reached()).toEqual(['write_note', 'bash'])
  })

  test('executions of no shape', async () => {
    const gate = await bootGate({ mounted: false })
    const listeners = await listenersOf(gate)
    const throwing = Object.defineProperty({ name: search }, 'agent', { get: boom })
    const executions = [undefined, null, 0, 'x', {}, getter, { name: write }, { name: write, agent: {} }, throwing]
    executions.push(
      { name: write, agent: getter },
      Object.freeze({ name: write }),
      { name: CLASSIFY },
      { name: search },
    )
    for (const event of ['tools/pre-execute', 'tools/execute']) {
      for (const exec of executions) {
        const result = await listeners[event](exec, async () => 'passed on')
        const refused = typeof result === 'object' && (result.kind === 'deny' ? result.reason !== '' : result.isError)
        expect(result === 'passed on' || refused).toBe(true)
      }
    }
  })
})

test('no place of a throwing neighbour makes a fault of it ours', async () => {
  for (const placement of placements) {
    const gate = await bootGate({
      [placement.where]: [
        [
          plugin(
            {
              'tools/pre-execute': (exec, next) => (exec.name === memory('read_note') ? boom() : next()),
              'tools/execute': (exec, next) => (exec.name === search ? boom() : next()),
            },
            placement.prepend,
          ),
        ],
      ],
    })
    await gate.turn([[call.read], [call.search], [call.simple], [call.write], [call.bash]])
    expect(gate.reached()).toEqual(['write_note', 'bash'])
    expect(gate.stderr).toEqual([])
  }
})
