/**
 * The door right at the body: whatever wrappers do in front of it and behind ours, whoever calls `next()` and however often, a
 * body runs as it was judged, once for each verdict, and a call that is none of ours is let be.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, CLASSIFY, call, flagged, memory, note, WRITTEN } from '../support/gate.js'
import { calls, gate as held } from '../support/inprocess.js'
import { bootBeside, codesOfWrites, found, placements, plugin, search, write, written } from './attack-support.js'

const bash = 'bash'
const asWrite = exec => {
  if (exec.name !== bash) return
  exec.name = write
  exec.arguments = note
}
/** Wrappers that dispatch what has been dispatched. */
const again = {
  'after it has ended': async (_exec, next) => {
    await next()
    return next()
  },
  'while it runs': (_exec, next) => {
    void next()
    return next()
  },
  'ten times, and shows the first result': async (_exec, next) => {
    const first = await next()
    for (let time = 0; time < 10; time++) await next()
    return first
  },
  'with a signal of its own each time, as a time limit has': async (exec, next) => {
    const { signal } = exec
    try {
      exec.signal = AbortSignal.any([signal])
      await next()
      exec.signal = AbortSignal.any([signal])
      return await next()
    } finally {
      exec.signal = signal
    }
  },
  'long after, when the result has been announced': async (_exec, next) => {
    const first = await next()
    setImmediate(() => next().catch(() => {}))
    return first
  },
}

describe.each(placements)('an allowed write is dispatched again, $place', placement => {
  test.each(Object.entries(again))('%s: its body runs once, and the model is told what it gave', async (_, wrapper) => {
    const gate = await bootBeside({ 'tools/execute': wrapper }, placement)
    const agent = await gate.turn([[call.simple], [call.write], [call.bash]])
    await new Promise(resolve => setImmediate(resolve))
    expect(written(gate)).toEqual([[write, note]])
    expect(gate.told(agent)[1]).toMatchObject({ isError: false, text: WRITTEN })
    expect(gate.settlements().find(({ tool }) => tool === write)).toMatchObject({ outcome: 'succeeded', reached: true })
    expect(gate.stderr).toEqual([expect.stringContaining('was dispatched again after it had run')])
    // What is none of ours may run as often as anybody likes, as far as the host lets it be run after its result.
    const times = gate.reached().filter(name => name === bash).length
    expect(times).toBeGreaterThan(wrapper === again['long after, when the result has been announced'] ? 0 : 1)
  })

  test('after a failure that the server told of: tried again, as a call of its own', async () => {
    let tries = 0
    const tools = { [write]: () => (tries++ < 2 ? flagged('Error calling tool: busy') : answer(WRITTEN)) }
    const retrying = async (_exec, next) => {
      let result = await next()
      for (let time = 0; result.isError && time < 5; time++) result = await next()
      return result
    }
    const gate = await bootBeside({ 'tools/execute': retrying }, placement, { tools })
    const agent = await gate.turn([[call.simple], [call.write]])
    expect(written(gate)).toHaveLength(3)
    expect(gate.told(agent)[1]).toMatchObject({ isError: false, text: WRITTEN })
    const settled = gate.settlements().filter(({ tool }) => tool === write)
    expect(settled.map(({ outcome }) => outcome)).toEqual(['failed', 'failed', 'succeeded'])
    expect(new Set(settled.map(({ number }) => number)).size).toBe(3)
    expect(codesOfWrites(gate)).toEqual(['ALLOW_SIMPLE', 'ALLOW_SIMPLE', 'ALLOW_SIMPLE'])
    expect(gate.stderr).toEqual([])
    expect(gate.holdings().calls).toBe(0)
  })

  test('after an outcome that nobody knows: not tried again', async () => {
    const tools = {
      [write]: () => {
        throw new Error('MCP error -32001: Request timed out')
      },
    }
    const gate = await bootBeside({ 'tools/execute': again['after it has ended'] }, placement, { tools })
    const agent = await gate.turn([[call.simple], [call.write]])
    expect(written(gate)).toHaveLength(1)
    expect(gate.told(agent)[1].text).toContain('Request timed out')
    expect(codesOfWrites(gate)).toEqual(['ALLOW_SIMPLE'])
    expect(gate.settlements().find(({ tool }) => tool === write).outcome).toBe('unknown')
  })

  test('where the same write may be made twice in a turn, and of a tool that no table knows: once as well', async () => {
    const config = { duplicateWriteGuard: false, unknownMemoryToolPolicy: 'off' }
    const gate = await bootBeside({ 'tools/execute': again['after it has ended'] }, placement, { config })
    const unknown = memory('brand_new_tool')
    await gate.turn([[call.simple], [call.write], [[unknown, {}]], [call.write]])
    expect(written(gate).map(([name]) => name)).toEqual([write, unknown, write])
  })

  test('one that a human approved: the approval is of one run', async () => {
    const wrapper = { 'tools/execute': again['after it has ended'] }
    const tools = { [memory('delete_note')]: () => flagged('Error calling tool: busy') }
    const answering = { profile: 'strict', answer: () => 'allowed-once', tools }
    const gate = await bootBeside(wrapper, placement, answering)
    await gate.turn([[call.simple], [call.remove]])
    expect(gate.reached().filter(name => name === 'delete_note')).toHaveLength(1)
  })

  test('in the next turn: not', async () => {
    const hold = held()
    let late
    const wrapper = async (exec, next) => {
      const first = await next()
      if (exec.name === write) late = hold.promise.then(() => next())
      return first
    }
    const gate = await bootBeside({ 'tools/execute': wrapper }, placement, {
      tools: {
        release: async () => {
          hold.open()
          return `${(await late).isError}`
        },
      },
    })
    const agent = await gate.turn([[call.simple], [call.write]])
    await gate.turn([[call.simple], [['release', {}]]], agent)
    expect(written(gate)).toHaveLength(1)
  })

  test('reads and declarations run as often as they are dispatched', async () => {
    const gate = await bootBeside({ 'tools/execute': again['after it has ended'] }, placement)
    await gate.turn([[call.complex], [call.search], [call.read]])
    expect(gate.reached().toSorted()).toEqual(['read_note', 'read_note', 'search_notes', 'search_notes'])
    expect(gate.stderr).toEqual([])
    expect(gate.outcomes()).toEqual(['classify succeeded', 'search_notes succeeded', 'read_note succeeded'])
  })

  test('in audit nothing is held back', async () => {
    const gate = await bootBeside({ 'tools/execute': again['after it has ended'] }, placement, { mode: 'audit' })
    await gate.turn([[call.simple], [call.write]])
    expect(written(gate)).toHaveLength(2)
    expect(gate.stderr).toEqual([])
  })
})

describe.each(placements)('a call outside the namespace becomes a write on its way to the body, $place', placement => {
  const ways = {
    'in a wrapper': (exec, next) => {
      asWrite(exec)
      return next()
    },
    'in a wrapper that goes on': async (exec, next) => {
      await next()
      asWrite(exec)
      return next()
    },
    'in a wrapper that renames it back': async (exec, next) => {
      const { name, arguments: args } = exec
      asWrite(exec)
      try {
        return await next()
      } finally {
        Reflect.set(exec, 'name', name)
        Reflect.set(exec, 'arguments', args)
      }
    },
  }
  test.each(Object.entries(ways))('%s: it is judged where it would run', async (_what, way) => {
    const gate = await bootBeside({ 'tools/execute': way }, placement)
    const agent = await gate.turn([[call.bash]])
    expect(written(gate)).toEqual([])
    expect(codesOfWrites(gate)).toEqual(['CLASSIFICATION_REQUIRED'])
    expect(gate.told(agent)[0].isError).toBe(true)
  })

  test.each(Object.entries(ways))('%s: the attack is real', async (_what, way) => {
    const gate = await bootBeside({ 'tools/execute': way }, placement, { mode: 'off' })
    await gate.turn([[call.bash]])
    expect(written(gate)).toEqual([[write, note]])
  })
})

describe.each(placements)(
  'a write that was allowed in its session is made another’s on its way to the body, $place',
  placement => {
    const homes = {
      'of another session': (exec, other) => {
        exec.agent = other
      },
      'nobody’s': exec => {
        delete exec.agent
      },
    }
    const stages = {
      'in a guard': (move, write) => ({ guard: exec => void (exec.name === write && move(exec)) }),
      'in a wrapper': (move, write) => ({
        'tools/execute': (exec, next) => {
          if (exec.name === write) move(exec)
          return next()
        },
      }),
    }
    for (const [what, home] of Object.entries(homes)) {
      test.each(Object.entries(stages))(`${what}, %s: it does not run`, async (_stage, make) => {
        let other
        const gate = await bootBeside(
          make(exec => home(exec, other), write),
          placement,
        )
        other = await gate.turn([[call.simple]])
        const agent = await gate.turn([[call.simple], [call.write]])
        expect(written(gate)).toEqual([])
        expect(gate.answers(agent).at(-1)).toBe('CALL_NOT_JUDGED')
      })
    }
  },
)

describe.each(placements)('an answer in the body’s place, $place', placement => {
  test('of a lookup: nothing was looked up', async () => {
    const inner = { 'tools/execute': (exec, next) => (exec.name === search ? found : next()) }
    const gate = await bootBeside(inner, placement)
    const agent = await gate.turn([[call.complex], [call.search], [call.write]])
    expect(gate.told(agent)[1].isError).toBe(false)
    expect(written(gate)).toEqual([])
    expect(codesOfWrites(gate)).toEqual(['CREATE_REQUIRES_SEARCH'])
  })

  test('of a declaration: nothing was declared', async () => {
    const said = { isError: false, value: { task: 'simple' }, content: [{ type: 'text', text: 'simple' }] }
    const inner = { 'tools/execute': (exec, next) => (exec.name === CLASSIFY ? said : next()) }
    const gate = await bootBeside(inner, placement)
    await gate.turn([[call.simple], [call.write]])
    expect(written(gate)).toEqual([])
  })

  test('of a write: nothing was written, so it may be written still', async () => {
    let once = true
    const inner = {
      'tools/execute': (exec, next) => {
        if (exec.name !== write || !once) return next()
        once = false
        return { isError: false, value: answer(WRITTEN), content: [{ type: 'text', text: WRITTEN }] }
      },
    }
    const gate = await bootBeside(inner, placement)
    await gate.turn([[call.simple], [call.write], [call.write]])
    expect(written(gate)).toEqual([[write, note]])
  })
})

describe('what everybody else sees of a call that is dispatched once', () => {
  /** What a wrapper, a listener behind the body and one of the result see of an execution, over its whole way. */
  async function seen(mode) {
    const looks = []
    const look = (at, exec) => {
      const { signal, name, arguments: args, ...rest } = exec
      const properties = Reflect.ownKeys(Object.getOwnPropertyDescriptors(rest)).map(String).toSorted()
      looks.push([at, name, args, signal.aborted, signal.constructor.name, properties])
    }
    const looking = {
      'tools/execute': async (exec, next) => {
        look('before', exec)
        const promised = next()
        looks.push(['a promise', promised instanceof Promise])
        const result = await promised
        look('after', exec)
        looks.push([result.isError, result.content])
        exec.signal = AbortSignal.any([exec.signal])
        return result
      },
      'tools/post-execute': (exec, _result, next) => {
        look('post', exec)
        return next()
      },
      'tools/result': exec => look('result', exec),
    }
    const host = await bootGate({ mode, ahead: [[plugin(looking)]], behind: [[plugin(looking)]] })
    // Declared even where the tool is not there, so that the calls are the same.
    if (mode === 'off') host.register(CLASSIFY, () => 'declared')
    await host.turn([[call.simple], [call.write], [call.search], [call.bash]])
    return looks.filter(([, name]) => name !== CLASSIFY)
  }

  test('is the same as without the gate: arguments, signal, results, properties', async () => {
    const without = (await seen('off')).filter(look => JSON.stringify(look).includes('declared') === false)
    const within = await seen('enforce')
    const strip = looks => looks.filter(look => look.length > 2 && typeof look[0] === 'string')
    expect(strip(within)).toEqual(strip(without))
  })

  test('an abort in the body ends it as ever, and the write is not known to be done', async () => {
    const running = held()
    const gate = await bootGate({
      tools: {
        [write]: (_args, exec) =>
          new Promise((_resolve, reject) => {
            exec.signal.addEventListener('abort', () => reject(new Error('cut off')))
            running.open()
          }),
      },
    })
    const agent = await gate.open()
    gate.start(agent, [calls(call.simple), calls(call.write)])
    await running.promise
    gate.cancel(agent)
    await agent.whenIdle()
    expect(gate.settlements().find(({ tool }) => tool === write)).toMatchObject({ outcome: 'unknown', isError: true })
  })
})

test('a gate in an agent’s own scope is not asked at the bodies of others', async () => {
  const gate = await bootGate({ mounted: false })
  const scoped = await gate.open({ setup: async ctx => void (await ctx.plugin(gate.plugin, gate.config)) })
  const other = await gate.turn([[call.write]])
  expect(written(gate)).toHaveLength(1)
  await gate.turn([[call.write]], scoped)
  expect(written(gate)).toHaveLength(1)
  expect(gate.answers(other)).toEqual([WRITTEN])
  expect(gate.verdicts()).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
})

test.each(['emit', 'bail'])(
  'what another plugin dispatches under the same name by `%s` is handed on as it is',
  async how => {
    const gate = await bootGate()
    const heard = []
    await gate.ctx.plugin({
      name: 'a listener',
      apply: ctx => void ctx.on('tools/execute', (...given) => void heard.push(given), { prepend: true }),
    })
    const given = [{ name: write }, function last() {}]
    try {
      gate.ctx[how]('tools/execute', ...given)
    } catch {
      // Our own listener is one of a waterfall.
    }
    expect(heard[0][0]).toBe(given[0])
    expect(heard[0][1]).toBe(given[1])
  },
)
