/**
 * The soak: one real Harness, one memory server, random sessions with turns and calls, and in each epoch a gate with a random
 * configuration among random plugins. Nothing is scripted but the seed.
 */
import { loadAddon } from '../../js/native.js'
import { createPlugin } from '../../js/plugin.js'
import { onRecord } from '../../js/records.js'
import { boot, calls as message, say } from '../support/inprocess.js'
import { kinds, meddler } from './meddlers.js'
import { answerTo, CLASSIFY, MARK, memory, nextCall, nextMessage, OUTSIDE, READS, WRITES } from './model.js'
import { Oracle } from './oracle.js'
import { random as randomOf } from './random.js'

/**
 * @typedef {import('./random.js').Random} Random
 * @typedef {import('./oracle.js').Call} OracleCall
 * @typedef {object} Made a call that was made
 * @property {string} id
 * @property {string} name
 * @property {any} args
 * @property {OracleCall} call
 * @property {AbortController} aborter
 * @property {any} exec the host's, once its way began
 * @property {boolean} meddled another plugin did something to it
 * @property {{ name: string, args: any, meant: string | undefined, text?: string, task?: string, turn: any }[]} runs
 * @property {boolean} never its body never answers
 * @property {() => void} reached
 * @property {boolean} [waits] whoever made it waits for its end
 * @property {boolean} [ended]
 */

const supported = () => ({ name: '@deepseek-ai/dsh', version: '0.1.5-rc.2', source: 'entry', why: 'a soak says so' })
const tick = () => new Promise(resolve => setImmediate(resolve))
const listed = new Set([...READS.map(memory), CLASSIFY])

/** A row's configuration. @param {Random} random */
function configuration(random) {
  const config = {
    mode: random.weigh([
      ['enforce', 15],
      ['audit', 4],
      ['off', 1],
    ]),
    profile: random.pick(['compat', 'strict']),
    createRequiresSearch: random.chance(0.8),
    duplicateWriteGuard: random.chance(0.85),
    pathGuard: random.weigh([
      ['deny', 8],
      ['warn', 1],
      ['off', 1],
    ]),
    unknownMemoryToolPolicy: random.pick(['deny', 'warn', 'off']),
    auditLevel: random.pick(['decision', 'decision', 'verbose']),
    pathRedaction: random.pick(['omit', 'hash']),
    auditMaxRecords: 0,
  }
  return config
}

/** All that an epoch takes from the seed, so that any of them can be played alone. @param {Random} random @param {number} lanes */
function drawEpoch(random, lanes) {
  const config = configuration(random)
  const bodies = random.fork()
  const chosen = Object.keys(kinds).filter(() => random.chance(0.2))
  const beside = chosen.map(kind => ({ kind, random: random.fork() }))
  const place = random.int(beside.length + 1)
  return { config, bodies, beside, place, lanes: Array.from({ length: lanes }, () => random.fork()) }
}

/**
 * Runs a soak.
 * @param {object} options
 * @param {number} options.seed
 * @param {number} options.calls governed calls that are to be made with the gate loaded
 * @param {number} [options.epoch] calls of an epoch
 * @param {number} [options.lanes] sessions at once
 * @param {number} [options.from] the epoch to begin with: the ones before it are drawn and not played
 * @param {object} [options.storage] a storage service that keeps the records; else nobody keeps them
 * @param {(done: number, seen: any) => void | Promise<void>} [options.onProgress] called after each epoch, with everything
 *   disposed of and what was seen until then
 * @param {(text: string) => void} [options.onViolation] called at once for each
 */
export async function soak({
  seed,
  calls,
  epoch = 1000,
  lanes = 6,
  from = 1,
  storage,
  onProgress = () => {},
  onViolation = () => {},
}) {
  const random = randomOf(seed)
  const native = loadAddon()
  const seen = {
    seed,
    calls: 0,
    /** Of these, in epochs in which the row is off. */
    off: 0,
    outside: 0,
    sessions: 0,
    turns: 0,
    epochs: 0,
    /** Bodies of writes that ran in enforce, by what the oracle makes of them. */
    writes: 0,
    denied: 0,
    /** @type {Record<string, number>} */ deeds: Object.fromEntries(Object.keys(kinds).map(kind => [kind, 0])),
    /** @type {Record<string, number>} */ codes: {},
    /** @type {Record<string, number>} */ modes: {},
    /** @type {Record<string, number>} */ answers: {},
    /** @type {string[]} */ violations: [],
  }
  const violation = (/** @type {string} */ text) => {
    if (seen.violations.length >= 50) return
    const told = `epoch ${from - 1 + seen.epochs}: ${text}`
    seen.violations.push(told)
    onViolation(told)
  }

  /** @type {Map<string, Made>} */ const open = new Map()
  /** @type {WeakMap<object, Made>} */ const byExec = new WeakMap()
  /** @type {WeakSet<object>} */ const forged = new WeakSet()
  /** @type {Map<any, () => void>} sessions that are there, with how to be rid of them */ const live = new Map()
  let made = 0
  let bodies = random.fork()
  let oracle = new Oracle(/** @type {any} */ ({}))
  let config = configuration(random)
  const enforces = () => config.mode === 'enforce'

  const forget = onRecord(record => {
    if (JSON.stringify(record).includes(MARK)) violation(`a record quotes a call: ${JSON.stringify(record)}`)
    if (record.kind === 'decision') seen.codes[record.code] = (seen.codes[record.code] ?? 0) + 1
  })
  const onError = (/** @type {any} */ error) => violation(`thrown out: ${error?.stack ?? error}`)
  process.on('unhandledRejection', onError)
  process.on('uncaughtException', onError)

  /** A body runs: whether it may is the oracle's to say. */
  function started(/** @type {any} */ exec, /** @type {string} */ name, /** @type {any} */ args) {
    const call = byExec.get(exec)
    const session = exec.agent?.session
    if (enforces() && WRITES.has(name)) {
      seen.writes += 1
      const objection = oracle.objection(call?.call, session, name, args)
      if (objection !== undefined) violation(`a write ran ${objection}: ${name} ${JSON.stringify(args)?.slice(0, 200)}`)
    }
    const task = name === CLASSIFY ? args?.task : undefined
    /** @type {Made['runs'][number]} */
    const run = { name, args, meant: undefined, task, turn: oracle.turnOf(call?.call.session) }
    call?.runs.push(run)
    return { run, ended: oracle.ran(session, name, args) }
  }

  /** What the host was let on to run last, by execution. @type {WeakMap<object, { name: string, args: any }>} */
  const letOn = new WeakMap()
  async function body(/** @type {string} */ name, /** @type {any} */ args, /** @type {any} */ exec) {
    const call = byExec.get(exec)
    const on = letOn.get(exec)
    if (on?.name !== name || on.args !== args) violation(`${name} ran otherwise than it was let on`)
    const { run, ended } = started(exec, name, args)
    const answer = answerTo(bodies, name, args)
    seen.answers[answer.meant] = (seen.answers[answer.meant] ?? 0) + 1
    const meant = answer.meant
    if (meant === 'never' && call !== undefined) {
      ended('unknown')
      call.never = true
      call.reached()
      if (!call.waits && bodies.chance(0.5)) return new Promise(() => {})
      await new Promise(resolve => {
        if (exec.signal.aborted) resolve(undefined)
        else exec.signal.addEventListener('abort', resolve, { once: true })
      })
      throw new Error('cut off')
    }
    if (bodies.chance(0.3)) await tick()
    run.meant = meant
    run.text = answer.text ?? JSON.stringify(answer.json)
    ended(meant)
    if (answer.flagged) return { isError: true, content: [{ type: 'text', text: answer.text }] }
    const result = answer.json === undefined ? answer.text : answer.json
    const text = answer.json === undefined ? answer.text : JSON.stringify(answer.json)
    return { content: [{ type: 'text', text }], structuredContent: { result } }
  }

  const names = [...READS.map(memory), ...WRITES, ...OUTSIDE]
  const host = await boot({
    tools: Object.fromEntries(names.map(name => [name, (args, exec) => body(name, args, exec)])),
    withApproval: true,
    answer: async request => {
      const call = open.get(request.callId)
      if (bodies.chance(0.3)) await tick()
      const outcome = bodies.weigh([
        ['allowed-once', 6],
        ['rejected', 2],
        ['cancelled', 1],
        ['throws', 1],
      ])
      if (outcome === 'throws') throw new Error('nobody is there')
      if (outcome === 'allowed-once' && call !== undefined) call.call.approvals += 1
      return outcome
    },
  })
  const { ctx } = host
  // The service itself, without the framework's tracing of who uses it, which costs as much as all the rest.
  const tools = ctx.tools[Symbol.for('cordis.original')] ?? ctx.tools
  if (storage !== undefined) ctx.provide('storageDomain', storage)
  /** Mounted last in each epoch, and asked first: what others put in the body's place then stands around it. */
  const innermost = {
    name: 'innermost',
    apply(/** @type {any} */ mounted) {
      mounted.on('internal/dispatch', dispatching, { prepend: true })
    },
  }
  function dispatching(/** @type {any} */ _type, /** @type {string} */ event, /** @type {any[]} */ args) {
    if (event === 'tools/pre-execute') {
      const call = open.get(args[0].callId)
      if (call !== undefined && !byExec.has(args[0])) {
        call.exec = args[0]
        byExec.set(args[0], call)
      }
    }
    if (event !== 'tools/execute') return
    const run = args.at(-1)
    const [exec] = args
    args[args.length - 1] = (/** @type {any[]} */ ...given) => {
      letOn.set(exec, { name: exec.name, args: exec.arguments })
      // The control tool's body is not ours to look into.
      if (exec.name === CLASSIFY) started(exec, CLASSIFY, exec.arguments)
      return run(...given)
    }
  }
  ctx.on('session/event', (/** @type {any} */ session, /** @type {any} */ event) => {
    if (!forged.has(event)) oracle.event(session, event)
  })
  ctx.on('session/disposed', (/** @type {any} */ session) => {
    if (ctx.sessions.get(session.id) !== session) oracle.closed(session)
  })
  ctx.on('tools/result', (/** @type {any} */ exec, /** @type {any} */ result) => {
    const call = byExec.get(exec)
    if (call === undefined || !Object.isFrozen(exec) || call.ended) return
    call.ended = true
    oracle.end(call.call, call.runs, result.isError, exec.agent?.session !== call.call.session)
  })

  /** Makes a call and sees to what must hold of every call. @param {any} agent @param {{ name: string, args: any }} what @param {number} [step] */
  async function make(agent, { name, args }, step, announce = (/** @type {string} */ _id) => {}) {
    made += 1
    const id = `c${made}`
    const reached = Promise.withResolvers()
    /** @type {Made} */
    const call = {
      id,
      name,
      args,
      call: oracle.begin(agent?.session, undefined),
      aborter: new AbortController(),
      exec: undefined,
      meddled: false,
      runs: [],
      never: false,
      reached: () => reached.resolve(undefined),
    }
    open.set(id, call)
    if (OUTSIDE.includes(name)) seen.outside += 1
    else seen.calls += 1
    if (step !== undefined) {
      announce(id)
      call.call = oracle.begin(agent.session, step)
    }
    const input = { callId: id, name, arguments: args, signal: call.aborter.signal, ...(agent ? { agent } : {}) }
    const ending = tools.execute(input)
    const result = await Promise.race([ending, reached.promise])
    if (result === undefined) {
      call.aborter.abort()
      await tick()
      await tick()
    } else check(call, result)
    open.delete(id)
    return result
  }

  /** What must hold of a call that nobody has meddled with. @param {Made} call @param {any} result */
  function check(call, result) {
    const { name, args, runs } = call
    const text = result.content?.map((/** @type {any} */ block) => block.text ?? '').join('') ?? ''
    // What the control tool says of a declaration that it cannot use is its answer.
    const isOurs = /^Error: (?:[A-Z]+_)+[A-Z]+: /.test(text) && name !== CLASSIFY
    if (isOurs) {
      seen.denied += 1
      if (text.includes(MARK)) violation(`a denial quotes the call: ${text}`)
      if (!enforces() && !call.meddled) violation(`${config.mode} blocked ${name}: ${text}`)
      if (listed.has(name) && !call.meddled) violation(`a read was blocked: ${name}: ${text}`)
      if (OUTSIDE.includes(name) && !call.meddled) violation(`a call outside was blocked: ${text}`)
      if (!call.meddled && WRITES.has(name) && runs.length > 0) violation(`a write ran and its caller was told ${text}`)
    }
    if (call.meddled) return
    const free = listed.has(name) || OUTSIDE.includes(name) || !enforces()
    if (free && !(name === CLASSIFY && config.mode === 'off')) {
      if (runs.length !== 1) violation(`${name} ran ${runs.length} times where nobody meddled with it: ${text}`)
      else if (JSON.stringify(runs[0]?.args) !== JSON.stringify(args)) violation(`${name} ran with other arguments`)
      const answered = runs[0]?.text
      if (answered !== undefined && text !== answered && text !== `Error: ${answered}`) {
        violation(`what ${name} answered did not come back: ${text}`)
      }
    }
  }

  const world = {
    ctx,
    act: (/** @type {string} */ kind, /** @type {any} */ exec) => {
      seen.deeds[kind] = (seen.deeds[kind] ?? 0) + 1
      const call = byExec.get(exec)
      if (call !== undefined) call.meddled = true
    },
    forged: (/** @type {object} */ event) => void forged.add(event),
    direct: (/** @type {any} */ agent, /** @type {any} */ what) =>
      // Not of a call of its own, and so on for ever.
      depth > 3 ? Promise.resolve() : deeper(() => make(agent, what)),
    abort: (/** @type {any} */ exec) => byExec.get(exec)?.aborter.abort(),
    dispose: (/** @type {any} */ session) => live.get(session)?.(),
    someAgent: () => {
      const sessions = [...live.keys()]
      const session = sessions[bodies.int(sessions.length)]
      return session === undefined ? undefined : { id: session.id, session }
    },
  }
  let depth = 0
  /** @template T @param {() => Promise<T>} run */
  async function deeper(run) {
    depth += 1
    try {
      return await run()
    } finally {
      depth -= 1
    }
  }

  const newId = () => {
    seen.sessions += 1
    return `session-${seed}-${seen.sessions}`
  }

  /** A session that is driven as the agent loop drives one. @param {Random} own @param {any} [seedOf] a session that it is a fork of */
  async function drive(own, seedOf) {
    const id = newId()
    const session = ctx.sessions.prepare(
      id,
      seedOf === undefined
        ? undefined
        : { meta: { parentSession: seedOf.id, seedLength: seedOf.seq }, seed: seedOf.events },
    )
    const detach = ctx.sessions.enter(session)
    ctx.sessions.announce(session)
    live.set(session, () => {
      if (live.delete(session)) detach()
    })
    const agent = { id, session }
    let turn =
      seedOf === undefined ? 0 : seedOf.events.filter((/** @type {any} */ { type }) => type === 'turn/start').length
    for (let turns = 1 + own.int(3); turns > 0 && live.has(session); turns--) {
      turn += 1
      seen.turns += 1
      session.append('turn/start', { turn })
      for (let step = 1, steps = 1 + own.int(7); step <= steps && live.has(session); step++) {
        session.append('step/start', { turn, step })
        const few = nextMessage(own, step === 1)
        const one = (/** @type {{ name: string, args: any }} */ what) =>
          make(agent, what, step, callId =>
            session.append('tool/call', { turn, step, callId, name: what.name, arguments: JSON.stringify(what.args) }),
          )
        if (own.chance(0.15)) await Promise.all(few.map(one))
        else for (const what of few) if (live.has(session)) await one(what)
        // Now and then nobody waits for a plugin's own call, which arrives in a later step or turn.
        if (own.chance(0.05)) void make(agent, nextCall(own)).catch(onError)
        if (own.chance(0.02)) await make(undefined, nextCall(own))
      }
      // Some turns are cut off.
      if (live.has(session) && own.chance(0.9)) session.append('turn/end', { turn, reason: 'completed' })
    }
    if (live.has(session) && own.chance(0.1)) await drive(own, session)
    live.get(session)?.()
  }

  /** @type {Map<any, any>} */ const agents = new Map()
  /** A session that the real agent loop drives. @param {Random} own */
  async function loop(own) {
    const agent = await host.open({ id: newId() })
    agents.set(agent.session, agent)
    live.set(agent.session, () => {})
    for (let turns = 1 + own.int(2); turns > 0; turns--) {
      seen.turns += 1
      const steps = Array.from({ length: 1 + own.int(5) }, (_, step) => () => {
        const few = nextMessage(own, step === 0)
        return message(
          ...few.map(({ name, args }) => {
            made += 1
            if (OUTSIDE.includes(name)) seen.outside += 1
            else seen.calls += 1
            /** @type {[string, any, string]} */
            const call = [name, args, `a${made}`]
            return call
          }),
        )
      })
      await host.run([...steps, say('done')], { agent })
    }
    live.delete(agent.session)
    agents.delete(agent.session)
    oracle.closed(agent.session)
    await host.close(agent)
  }
  // What the loop makes is registered when it is announced.
  ctx.on('session/event', (/** @type {any} */ session, /** @type {any} */ event) => {
    if (event.type !== 'tool/call' || forged.has(event) || !event.data.callId.startsWith('a')) return
    const { callId, name, step } = event.data
    open.set(callId, {
      id: callId,
      name,
      args: undefined,
      call: oracle.begin(session, step),
      aborter: new AbortController(),
      exec: undefined,
      // What is checked of an untouched call is checked of those that are driven.
      meddled: true,
      runs: [],
      never: false,
      waits: true,
      reached: () =>
        void setImmediate(() => {
          // The loop may have been told of an end already, by a wrapper that did not wait for this body.
          const agent = agents.get(session)
          if (agent !== undefined) host.cancel(agent)
        }),
    })
  })

  /** @param {number} until */
  async function runLane(/** @type {Random} */ own, until) {
    while (seen.calls < until) await (own.chance(0.06) ? loop(own) : drive(own))
  }

  for (let skipped = 1; skipped < from; skipped++) drawEpoch(random, lanes)
  while (seen.calls - seen.off < calls) {
    seen.epochs += 1
    const before = seen.calls
    const drawn = drawEpoch(random, lanes)
    config = drawn.config
    bodies = drawn.bodies
    seen.modes[config.mode] = (seen.modes[config.mode] ?? 0) + 1
    oracle = new Oracle({ ...config, strict: config.profile === 'strict' })
    /** @type {number | undefined} */ let handle
    const plugin = createPlugin({
      addon: () => ({
        ...native,
        createPolicy: (/** @type {any} */ given) => {
          handle = native.createPolicy(given)
          return handle
        },
      }),
      host: /** @type {any} */ (supported),
      standardError: line => {
        if (line.includes(MARK)) violation(`standard error quotes a call: ${line}`)
        if (line.includes('POLICY_INTERNAL_ERROR')) violation(line)
      },
      sink: storage === undefined ? { record() {} } : undefined,
    })
    delete (/** @type {any} */ (globalThis)[Symbol.for('dsh-bmpp.unloaded-at')])
    const { place } = drawn
    const beside = drawn.beside.map(({ kind, random }) => meddler(kind, { ...world, random }))
    const fibers = []
    for (const other of beside.slice(0, place)) fibers.push(await host.mount(other, {}))
    fibers.push(await host.mount(plugin, config))
    for (const other of beside.slice(place)) fibers.push(await host.mount(other, {}))
    fibers.push(await host.mount(innermost, {}))
    const until = Math.min(calls + seen.off, seen.calls + epoch)
    await Promise.all(drawn.lanes.map(lane => runLane(lane, until)))
    for (let ticks = 0; ticks < 10; ticks++) await tick()
    for (const end of [...live.values()]) end()
    if (handle !== undefined && config.mode !== 'off') {
      const { sessions, turns, calls: left } = native.holdings(handle)
      if (sessions + turns + left > 0) violation(`${sessions} sessions, ${turns} turns, ${left} calls are still held`)
    }
    for (const fiber of fibers.toReversed()) await fiber.dispose()
    for (const message of host.logs) {
      const text = JSON.stringify(message.args ?? message.body ?? '')
      if (/observer failed/.test(text) && /dsh-bmpp|js\/gate/.test(text)) violation(`a listener of ours threw: ${text}`)
    }
    for (const list of [host.trace, host.ran, host.logs, host.model.requests, host.fibers]) list.length = 0
    host.model.queues.clear()
    open.clear()
    if (config.mode === 'off') seen.off += seen.calls - before
    await onProgress(seen.calls - seen.off, seen)
  }
  await host.dispose()
  forget()
  process.off('unhandledRejection', onError)
  process.off('uncaughtException', onError)
  return seen
}
