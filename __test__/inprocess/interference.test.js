/**
 * Beside ordinary plugins, which mean no harm: writes, reads, questions and answers that are in order still work, wherever the
 * other plugin stands, and calls outside the namespace are as they would be without the gate.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, FOUND, flagged, memory, note, WRITTEN, writeOf } from '../support/gate.js'
import { bootBeside, codesOfWrites, placements, plugin, search, write, written } from './attack-support.js'

const ticks = async (count = 5) => {
  for (let tick = 0; tick < count; tick++) await null
}
const governed = exec => exec.name.startsWith('mcp__')

/** Ordinary plugins, as listeners by event. What has a state gets it anew for each host. */
const ordinary = {
  'allows what it has looked at, without next()': () => ({ 'tools/pre-execute': () => ({ kind: 'allow' }) }),
  'looks on and passes through': () => ({
    'tools/pre-execute': (_exec, next) => next(),
    'tools/execute': (_exec, next) => next(),
    'tools/post-execute': (_exec, _result, next) => next(),
  }),
  'waits before and after': () => ({
    'tools/pre-execute': async (_exec, next) => {
      await ticks()
      const decision = await next()
      await ticks()
      return decision
    },
    'tools/execute': async (_exec, next) => {
      await ticks()
      const result = await next()
      await ticks()
      return result
    },
    'tools/post-execute': async (_exec, _result, next) => {
      await ticks()
      return next()
    },
  }),
  'adds an argument': () => ({
    'tools/pre-execute': (exec, next) => {
      if (governed(exec)) exec.arguments = { ...exec.arguments, added: { by: ['a', 'plugin'] } }
      return next()
    },
  }),
  'adds an argument to what is frozen': () => ({
    'tools/pre-execute': (exec, next) => {
      if (governed(exec)) exec.arguments = Object.freeze({ ...exec.arguments, added: 1 })
      return next()
    },
  }),
  'replaces the arguments with a copy': () => ({
    'tools/pre-execute': (exec, next) => {
      exec.arguments = structuredClone(exec.arguments)
      return next()
    },
  }),
  'puts a time limit on the body': () => ({
    'tools/execute': async (exec, next) => {
      const { signal } = exec
      const limit = new AbortController()
      exec.signal = AbortSignal.any([signal, limit.signal])
      try {
        return await next()
      } finally {
        exec.signal = signal
      }
    },
  }),
  'tries a failed call once more': () => ({
    'tools/execute': async (_exec, next) => {
      const result = await next()
      return result.isError ? next() : result
    },
  }),
  'shortens what the model reads': () => ({
    'tools/post-execute': async (_exec, result, next) => {
      const decision = await next()
      return result.isError ? decision : { kind: 'accept', content: [{ type: 'text', text: 'short' }] }
    },
  }),
  'keeps notes on everything': () => {
    const notes = []
    const look = exec => notes.push(JSON.stringify([exec.name, exec.arguments, exec.callId, exec.agent?.id]))
    return {
      guard: exec => {
        look(exec)
      },
      'tools/pre-execute': (exec, next) => {
        look(exec)
        return next()
      },
      'tools/execute': (exec, next) => {
        look(exec)
        return next()
      },
      'tools/result': (exec, result) => notes.push(JSON.stringify([exec.name, result])),
      'session/event': (session, event) => notes.push(JSON.stringify([session.id, event])),
    }
  },
  'denies one tool of its own': () => ({
    guard: exec => (exec.name === 'format_disk' ? 'no' : undefined),
    'tools/pre-execute': async (exec, next) => (exec.name === 'format_disk' ? { kind: 'deny', reason: 'no' } : next()),
  }),
  'throws at what it hears': () => ({
    'tools/result': () => {
      throw new Error('an observer of another plugin')
    },
    'session/event': () => {
      throw new Error('an observer of another plugin')
    },
  }),
}

describe.each(Object.entries(ordinary))('a plugin that %s', (what, make) => {
  test.each(placements)('$place: simple and complex turns go their way', async placement => {
    const gate = await bootBeside(make(), placement)
    const agent = await gate.turn([
      [call.bash, call.read],
      [call.simple, call.write],
      [call.edit, call.search, call.remove],
    ])
    await gate.turn([[call.write], [call.complex, call.write], [call.search, writeOf('Two')], [writeOf('Two')]], agent)
    expect(gate.reached()).toEqual([
      ...['bash', 'read_note', 'write_note', 'edit_note', 'search_notes', 'delete_note'],
      ...['search_notes', 'write_note'],
    ])
    expect(codesOfWrites(gate).filter(code => !code.startsWith('ALLOW'))).toEqual([
      'CLASSIFICATION_REQUIRED',
      'CREATE_REQUIRES_SEARCH',
      'MEMORY_LOOKUP_PENDING_IN_BATCH',
    ])
    expect(gate.stderr).toEqual([])
  })

  test.each(placements)('$place: a human is asked, and the answer holds', async placement => {
    for (const answered of ['allowed-once', 'rejected']) {
      const asked = []
      const options = { profile: 'strict', answer: request => asked.push(request.toolName) && answered }
      const gate = await bootBeside(make(), placement, options)
      await gate.turn([[call.simple], [call.remove], [call.bash]])
      // Whoever allows in front of us takes the question away: then nobody has approved.
      const silenced = what.includes('without next()') && placement.where === 'behind' && placement.prepend
      expect(asked).toEqual(silenced ? [] : [memory('delete_note')])
      expect(gate.reached()).toEqual(answered === 'allowed-once' && !silenced ? ['delete_note', 'bash'] : ['bash'])
    }
  })
})

describe('what a plugin adds to the arguments', () => {
  test.each(placements)('reaches the body ($place)', async placement => {
    const gate = await bootBeside(ordinary['adds an argument'](), placement)
    await gate.turn([[call.simple], [call.write]])
    expect(written(gate)).toEqual([[write, { ...note, added: { by: ['a', 'plugin'] } }]])
  })

  test('comes too late in a wrapper behind the gate: the call fails and says so', async () => {
    const late = {
      'tools/execute': (exec, next) => {
        if (governed(exec)) exec.arguments = { ...exec.arguments, late: true }
        return next()
      },
    }
    const gate = await bootGate({ behind: [[plugin(late)]] })
    const agent = await gate.turn([[call.simple], [call.write], [call.bash]])
    expect(written(gate)).toEqual([])
    expect(gate.told(agent)[1].text).toContain("Cannot assign to read only property 'arguments'")
    expect(gate.reached()).toEqual(['bash'])
  })
})

describe('a plugin that keeps the results of reads', () => {
  const caching = () => {
    const kept = new Map()
    return {
      'tools/execute': async (exec, next) => {
        if (!/read_note|search_notes/.test(exec.name)) return next()
        const key = JSON.stringify([exec.name, exec.arguments])
        if (!kept.has(key)) {
          const { isError, value, content } = await next()
          kept.set(key, { isError, value, content })
        }
        return kept.get(key)
      },
    }
  }
  const turn = [[call.complex], [call.search], [call.read], [call.write]]

  test.each(placements)('$place: reads and writes go on', async placement => {
    const gate = await bootBeside(caching(), placement)
    const agent = await gate.turn(turn)
    await gate.turn(turn, agent)
    const told = gate.told(agent).filter(({ name }) => name === search)
    expect(told.map(({ text, isError }) => [text, isError])).toEqual([
      [FOUND, false],
      [FOUND, false],
    ])
    expect(gate.reached().filter(name => name !== 'write_note')).toEqual(['search_notes', 'read_note'])
    // A kept result is no lookup: nothing was looked up.
    expect(codesOfWrites(gate)).toEqual(['ALLOW_RECALL_OK', 'CREATE_REQUIRES_SEARCH'])
  })
})

describe('a call that fails for another plugin’s reasons', () => {
  test('a write that its body refuses is tried again by a wrapper, with the arguments that were judged', async () => {
    let tries = 0
    const tools = { [write]: () => (tries++ === 0 ? flagged('Error calling tool: busy') : answer(WRITTEN)) }
    for (const placement of placements) {
      tries = 0
      const gate = await bootBeside(ordinary['tries a failed call once more'](), placement, { tools })
      await gate.turn([[call.simple], [call.write]])
      expect(written(gate)).toEqual([
        [write, note],
        [write, note],
      ])
    }
  })

  test('a write that another plugin denies is denied for its reason', async () => {
    for (const placement of placements) {
      const gate = await bootBeside(
        { 'tools/pre-execute': (exec, next) => (exec.name === write ? { kind: 'deny', reason: 'its own' } : next()) },
        placement,
      )
      const agent = await gate.turn([[call.simple], [call.write]])
      expect(gate.told(agent)[1].text).toBe('Error: its own')
      expect(written(gate)).toEqual([])
    }
  })

  test('a lookup that a time limit cuts off proves nothing, and the next one does', async () => {
    let slow = true
    const cut = {
      'tools/execute': (exec, next) => {
        if (exec.name !== search || !slow) return next()
        slow = false
        void next()
        return { isError: true, error: { message: 'too slow' }, content: [{ type: 'text', text: 'Error: too slow' }] }
      },
    }
    for (const placement of placements) {
      slow = true
      const gate = await bootBeside(cut, placement)
      await gate.turn([[call.complex], [call.search], [call.write], [call.search], [call.write]])
      expect(codesOfWrites(gate)).toEqual(['MEMORY_LOOKUP_FAILED', 'ALLOW_RECALL_OK'])
    }
  })
})
