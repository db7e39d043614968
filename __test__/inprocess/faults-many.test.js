/** A thousand agents at once, results that never come, and threads that load the addon and leave while calls run. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { drivenSession } from '../support/driven.js'
import { answer, bootGate, call, FOUND, memory, writeOf } from '../support/gate.js'
import { search, write } from './attack-support.js'

setFlagsFromString('--expose-gc')
const collect = /** @type {() => void} */ (runInNewContext('gc'))
const tick = () => new Promise(resolve => setImmediate(resolve))

test('a thousand agents, interleaved at every call: each has what its own turn earned', {
  timeout: 120_000,
}, async () => {
  const slow = async text => {
    await tick()
    return answer(text)
  }
  const gate = await bootGate({ tools: { [search]: () => slow(FOUND), [memory('read_note')]: () => slow('# Plans') } })
  const agents = Array.from({ length: 1000 }, (_, index) => ({ index, driven: drivenSession(gate, `s${index}`) }))
  /** What each kind of agent does, and what is said of its write. */
  const kinds = [
    { steps: [[call.write]], code: 'CLASSIFICATION_REQUIRED' },
    { steps: [[call.simple], [call.write]], code: 'ALLOW_SIMPLE' },
    { steps: [[call.complex], [call.write]], code: 'CREATE_REQUIRES_SEARCH' },
    { steps: [[call.complex], [call.search], [call.write]], code: 'ALLOW_RECALL_OK' },
    { steps: [[call.complex], [call.search, call.write]], code: 'MEMORY_LOOKUP_PENDING_IN_BATCH' },
    { steps: [[call.complex], [call.read], [call.write]], code: 'CREATE_REQUIRES_SEARCH' },
  ]
  await Promise.all(
    agents.map(async ({ index, driven }) => {
      driven.turn()
      for (const step of kinds[index % kinds.length].steps) {
        await tick()
        driven.step()
        for (const what of step) await driven.call(what)
      }
    }),
  )
  expect(gate.holdings()).toMatchObject({ sessions: 1000, turns: 1000, calls: 0 })
  for (const { index, driven } of agents) {
    const verdict = gate.decisions(driven.agent).find(({ tool }) => tool === write)
    expect([index, verdict.code]).toEqual([index, kinds[index % kinds.length].code])
  }
  const allowed = agents.filter(({ index }) => kinds[index % kinds.length].code.startsWith('ALLOW')).length
  expect(gate.reached().filter(name => name === 'write_note')).toHaveLength(allowed)
  for (const { driven } of agents) driven.close()
  expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  expect(gate.stderr).toEqual([])
})

test('10 000 results that never come in one turn: 4096 are held, and after the session nothing is', {
  timeout: 120_000,
}, async () => {
  const gate = await bootGate({ tools: { [search]: () => new Promise(() => {}) }, parts: { sink: { record() {} } } })
  const driven = drivenSession(gate, 's')
  /** @type {WeakRef<object>[]} */
  const executions = []
  const stop = gate.ctx.on('tools/pre-execute', (exec, next) => {
    executions.push(new WeakRef(exec))
    return next()
  })
  driven.turn()
  driven.step()
  for (let index = 0; index < 10_000; index++) {
    void driven.call(call.search)
    if (index % 100 === 0) await tick()
  }
  for (let ticks = 0; ticks < 20; ticks++) await tick()
  expect(gate.reached()).toHaveLength(10_000)
  expect(gate.holdings()).toEqual({ sessions: 1, turns: 1, calls: 4096 })
  // The turn goes on as ever.
  await driven.call(call.simple)
  driven.step()
  expect((await driven.call(writeOf('Other'))).isError).toBe(false)
  driven.endTurn()
  expect(gate.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
  driven.close()
  expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  stop()
  // What the host and the test remember of the calls is none of ours.
  gate.trace.length = 0
  gate.ran.length = 0
  for (let round = 0; round < 10; round++) {
    await tick()
    collect()
  }
  const left = executions.filter(execution => execution.deref() !== undefined).length
  expect(left).toBeLessThan(10)
})

test('threads load the addon, judge and leave or are ended, while calls run here', { timeout: 120_000 }, async () => {
  const gate = await bootGate()
  const url = JSON.stringify(new URL(`file://${inRoot('js', 'policy.js')}`).href)
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    import(${url}).then(({ createPolicy }) => {
      const policy = createPolicy({ mode: 'enforce' })
      const session = policy.session()
      session.classify('simple')
      const { code } = session.judge('mcp__basic-memory__write_note', { title: 'T', directory: 'd', content: 'c' })
      parentPort.postMessage(code)
      if (workerData % 2) for (;;) session.judge('mcp__basic-memory__read_note', {})
      policy.close()
    })`
  const threads = Array.from({ length: 8 }, (_, index) => {
    const worker = new Worker(code, { eval: true, workerData: index })
    const said = new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject))
    const gone = new Promise(resolve => worker.once('exit', resolve))
    return { worker, said, gone, index }
  })
  let over = false
  const calling = (async () => {
    let turns = 0
    while (!over) {
      const agent = await gate.turn([[call.complex], [call.search], [call.write], [call.bash]])
      expect(gate.answers(agent).at(-1)).toBe('bash ran')
      await gate.close(agent)
      turns += 1
      // A turn may be over without the loop of events, by which the threads are heard.
      await tick()
    }
    return turns
  })()
  for (const { worker, said, gone, index } of threads) {
    expect(await said).toBe('ALLOW_SIMPLE')
    // The odd ones never end by themselves.
    if (index % 2) await worker.terminate()
    await gone
  }
  over = true
  const turns = await calling
  expect(turns).toBeGreaterThan(0)
  expect(gate.reached().filter(name => name === 'write_note')).toHaveLength(turns)
  expect(gate.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  expect(gate.stderr).toEqual([])
})
