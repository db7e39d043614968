/**
 * A call is aborted, or its session goes, at each stage of its way: in front of our decision and behind it, at the guards,
 * around the dispatch, in the body, behind it, and with its result. What ran counts as run, what did not proves nothing, reads and
 * calls outside the namespace go on, and nothing is left over.
 */
import { describe, expect, test } from 'vitest'
import { drivenSession } from '../support/driven.js'
import { answer, bootGate, call, FOUND, memory, WRITTEN } from '../support/gate.js'
import { plugin, search, write } from './attack-support.js'

/** Where something happens: the listeners that make it happen, and what has run by then. */
const stages = {
  'before pre-execute': { early: true },
  'in front of our decision': { event: 'tools/pre-execute', prepend: true, where: 'behind' },
  'behind our decision': { event: 'tools/pre-execute', prepend: false, where: 'behind' },
  'at a guard behind ours': { event: 'guard', where: 'behind' },
  'around the dispatch': { event: 'tools/execute', prepend: true, where: 'behind' },
  'between the wrapper and the body': { event: 'tools/execute', prepend: false, where: 'behind' },
  'in the body': { body: true },
  'behind the body': { event: 'tools/post-execute', prepend: true, where: 'behind' },
  'with its result': { event: 'tools/result', prepend: true, where: 'behind' },
}
const runsBody = stage => ['in the body', 'behind the body', 'with its result'].includes(stage)

/** Boots a gate in which `deed` happens at this stage of the calls with this name, while it is armed. */
async function bootStaged(stage, mode, deed) {
  const state = { name: '', deed: () => {} }
  const { event, prepend, body } = stages[stage]
  const at = name => {
    if (name === state.name) state.deed()
  }
  const waterfall = (exec, ...rest) => {
    at(exec.name)
    return rest.at(-1)()
  }
  const listener = {
    guard: exec => void at(exec.name),
    'tools/result': exec => at(exec.name),
  }[event]
  const listeners = event === undefined ? {} : { [event]: listener ?? waterfall }
  const bodyOf = (name, text) => () => {
    if (body) at(name)
    return answer(text)
  }
  const gate = await bootGate({
    mode,
    behind: [[plugin(listeners, prepend)]],
    tools: {
      [write]: bodyOf(write, WRITTEN),
      [search]: bodyOf(search, FOUND),
      [memory('read_note')]: bodyOf(memory('read_note'), '# Plans\n\ntext'),
      bash: bodyOf('bash', 'ran'),
    },
  })
  state.deed = deed
  return { gate, state }
}

const codeOf = result => /^(?:Error: )?([A-Z_]+): /.exec(result.content[0].text)?.[1] ?? result.isError

describe.each(['enforce', 'audit'])('%s: a call is aborted', mode => {
  /** A session, and a call of it that is aborted at this stage. */
  async function aborting(stage) {
    const aborter = { current: new AbortController() }
    const { gate, state } = await bootStaged(stage, mode, () => aborter.current.abort())
    const driven = drivenSession(gate, 's')
    driven.turn()
    const aborted = async what => {
      ;[state.name] = what
      aborter.current = new AbortController()
      if (stages[stage].early) aborter.current.abort()
      const result = await driven.call(what, aborter.current.signal)
      state.name = ''
      return result
    }
    return { gate, driven, aborted }
  }

  test.each(Object.keys(stages))('%s: a write', async stage => {
    const { gate, driven, aborted } = await aborting(stage)
    driven.step()
    await driven.call(call.simple)
    await aborted(call.write)
    expect(gate.reached()).toEqual(runsBody(stage) ? ['write_note'] : [])
    driven.step()
    const again = codeOf(await driven.call(call.write))
    const denied = { 'in the body': 'WRITE_OUTCOME_UNKNOWN', 'behind the body': 'WRITE_OUTCOME_UNKNOWN' }
    const expected = { ...denied, 'with its result': 'DUPLICATE_WRITE_SAME_TURN' }[stage]
    expect(again).toBe(mode === 'audit' || expected === undefined ? false : expected)
    // What was aborted before its body does not count as made.
    const verdicts = gate.decisions().filter(({ tool }) => tool === write)
    expect(verdicts.at(-1).code).toBe(expected ?? 'ALLOW_SIMPLE')
    driven.endTurn()
    driven.close()
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    expect(gate.stderr).toEqual([])
  })

  test.each(Object.keys(stages))('%s: a lookup', async stage => {
    const { gate, driven, aborted } = await aborting(stage)
    driven.step()
    await driven.call(call.complex)
    const { isError } = await aborted(call.search)
    driven.step()
    await driven.call(call.write)
    const opens = stage === 'with its result'
    expect(isError).toBe(!opens)
    const codes = gate.decisions().filter(({ tool }) => tool === write)
    const closed = runsBody(stage) ? 'MEMORY_LOOKUP_FAILED' : 'CREATE_REQUIRES_SEARCH'
    expect(codes.map(({ code }) => code)).toEqual([opens ? 'ALLOW_RECALL_OK' : closed])
    // The next one is as good as any.
    await driven.call(call.search)
    driven.step()
    expect((await driven.call([write, { ...call.write[1], title: 'Other' }])).isError).toBe(false)
    driven.close()
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    expect(gate.stderr).toEqual([])
  })

  test.each(Object.keys(stages))('%s: a declaration counts if its result is a success', async stage => {
    if (stage === 'in the body') return
    const { gate, driven, aborted } = await aborting(stage)
    driven.step()
    const { isError } = await aborted(call.simple)
    await driven.call(call.write)
    const verdict = gate.decisions().find(({ tool }) => tool === write)
    expect(verdict.code).toBe(isError ? 'CLASSIFICATION_REQUIRED' : 'ALLOW_SIMPLE')
  })
})

describe.each(['enforce', 'audit'])('%s: the session goes', mode => {
  /** @param {string} stage */
  async function disposing(stage) {
    const going = { close: () => {} }
    const { gate, state } = await bootStaged(stage, mode, () => going.close())
    const driven = drivenSession(gate, 's')
    going.close = driven.close
    driven.turn()
    driven.step()
    return { gate, state, driven }
  }
  const inMidCall = Object.keys(stages).filter(stage => !stages[stage].early)

  test.each(inMidCall)('%s: a write runs only where it had run', async stage => {
    const { gate, state, driven } = await disposing(stage)
    await driven.call(call.simple)
    state.name = write
    await driven.call(call.write)
    expect(gate.reached()).toEqual(mode === 'audit' || runsBody(stage) ? ['write_note'] : [])
    expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    expect(gate.stderr).toEqual([])
  })

  test.each(inMidCall)('%s: reads and calls outside the namespace go on', async stage => {
    for (const what of [call.search, call.read, call.bash]) {
      const { gate, state, driven } = await disposing(stage)
      ;[state.name] = what
      const result = await driven.call(what)
      expect(result.isError).toBe(false)
      expect(gate.reached()).toHaveLength(1)
      expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
    }
  })

  test.each(inMidCall)('%s: a session of the same id begins with nothing', async stage => {
    const { gate, state, driven } = await disposing(stage)
    await driven.call(call.simple)
    state.name = search
    await driven.call(call.search)
    driven.close()
    const second = drivenSession(gate, 's')
    second.turn()
    second.step()
    await second.call(call.write)
    expect(gate.decisions().at(-1).code).toBe('CLASSIFICATION_REQUIRED')
  })
})
