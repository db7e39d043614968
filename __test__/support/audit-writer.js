/**
 * Run as a process of its own and killed in the middle of writing: a gate without a host that judges and settles as fast as it
 * can, with the trail in a real storage. Prints how many records are stored, each time after they are.
 *
 *     node audit-writer.js <folder of storages> single|per-record
 */
import { AuditStore } from '../../js/audit-store.js'
import { Core } from '../../js/core.js'
import { Gate } from '../../js/gate.js'
import { loadAddon } from '../../js/native.js'
import { Position } from '../../js/position.js'
import { Recorder } from '../../js/records.js'
import { perRecordStorage } from './storage.js'

/**
 * A gate without a host, for as many sessions as are wanted.
 * @param {import('../../js/records.js').Sink} sink
 * @param {object} [options]
 * @param {any} [options.config]
 * @param {() => number} [options.now] milliseconds since 1970
 */
export function bareGate(sink, { config = { mode: 'audit' }, now } = {}) {
  const core = new Core(loadAddon(), config)
  const recorder = new Recorder(sink, () => {}, now)
  /** @type {any} */
  const position = new Position({
    governs: name => core.governs(name),
    projections: () => undefined,
    onTurn: (track, event) => gate.turnover(track, event),
    onClose: track => gate.closed(track),
  })
  const gate = new Gate({
    core,
    position,
    recorder,
    operator: /** @type {any} */ ({ notice() {} }),
    approval: () => undefined,
    controlHidden: () => false,
    onCounted() {},
  })
  let calls = 0
  recorder.record({
    kind: 'load',
    mode: core.info.mode,
    profile: core.info.profile,
    config,
    standing: 'inside',
    pid: process.pid,
    node: process.version,
    platform: process.platform,
    reloadGapMs: null,
  })

  /** @param {string} id */
  function session(id) {
    const session = { id, seq: 0 }
    const event = (/** @type {string} */ type, /** @type {object} */ data) => {
      session.seq += 1
      gate.sessionEvent(session, { type, seq: session.seq - 1, data })
    }
    return {
      event,
      close: () => position.disposed(session),
      /**
       * One call with its result, as the host would bring it.
       * @param {number} turn
       * @param {number} step
       * @param {string} name
       * @param {any} args
       * @param {{ text?: string, isError?: boolean }} [answer]
       */
      async call(turn, step, name, args, { text = '# Search Results', isError = false } = {}) {
        calls += 1
        const callId = `call_${calls}`
        event('tool/call', { turn, step, callId, name })
        const exec = { callId, rootCallId: callId, name, arguments: Object.freeze(args), agent: { session } }
        const decision = await gate.preExecute(exec, () => ({ kind: 'allow' }))
        const result = { isError, value: { content: [{ type: 'text', text }] } }
        if (/** @type {any} */ (decision).kind === 'allow') {
          gate.guard(exec)
          await gate.execute(exec, async () => {
            if (args.task !== undefined) gate.declared(exec, args.task)
            return result
          })
          await Promise.resolve()
          gate.result(Object.freeze(exec), result)
        } else gate.result(Object.freeze(exec), { isError: true })
      },
    }
  }
  return { core, recorder, session }
}

/** The real storage of the installed host. @param {string} root */
async function singleStorage(root) {
  const { hostPackage } = await import('./inprocess.js')
  const [cordis, hub, json, domain] = await Promise.all(
    ['cordis', 'dsh-storage', 'dsh-storage-json', 'dsh-storage-domain'].map(hostPackage),
  )
  const ctx = new cordis.Context()
  await ctx.plugin(hub.default ?? hub)
  await ctx.plugin(json.default ?? json, { root })
  await ctx.plugin(domain.default ?? domain, { backend: 'json' })
  return ctx.get('storageDomain')
}

async function main() {
  const [root = '', layout] = process.argv.slice(2)
  const store = new AuditStore({
    stamp: { host: 'test', plugin: '0.1.0', policy: '0.1.0' },
    maxRecords: 0,
    notice() {},
  })
  store.attach(layout === 'single' ? await singleStorage(root) : perRecordStorage(root))
  const session = bareGate(store).session(`session-${process.pid}`)
  process.stdout.write(`${store.load}\n`)
  let told = 0
  setInterval(() => {
    if (store.report.persisted === told) return
    told = store.report.persisted
    process.stdout.write(`${told}\n`)
  }, 5)
  const tool = (/** @type {string} */ raw) => `mcp__basic-memory__${raw}`
  for (let turn = 1; ; turn += 1) {
    session.event('turn/start', { turn })
    await session.call(turn, 1, 'bmpp__classify', { task: 'complex' })
    await session.call(turn, 2, tool('search_notes'), { query: 'x' })
    await session.call(turn, 3, tool('write_note'), { title: 'T', directory: 'd', content: '' })
    session.event('turn/end', { turn })
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

if (process.argv[1]?.endsWith('audit-writer.js')) await main()
