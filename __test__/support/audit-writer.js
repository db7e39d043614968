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
 * A gate with a session of its own.
 * @param {import('../../js/records.js').Sink} sink
 * @param {object} [config]
 */
export function bareGate(sink, config = { mode: 'audit' }) {
  const core = new Core(loadAddon(), config)
  const recorder = new Recorder(sink, () => {})
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
  const session = { id: `session-${process.pid}`, seq: 0 }
  let calls = 0
  const event = (/** @type {string} */ type, /** @type {object} */ data) => {
    session.seq += 1
    gate.sessionEvent(session, { type, seq: session.seq - 1, data })
  }
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
  return {
    recorder,
    event,
    /** @param {number} turn @param {number} step @param {string} name @param {any} args */
    async call(turn, step, name, args) {
      calls += 1
      const callId = `call_${calls}`
      event('tool/call', { turn, step, callId, name })
      const exec = { callId, rootCallId: callId, name, arguments: Object.freeze(args), agent: { session } }
      await gate.preExecute(exec, () => ({ kind: 'allow' }))
      gate.guard(exec)
      const text = { content: [{ type: 'text', text: '# Search Results' }] }
      await gate.execute(exec, async () => {
        if (args.task !== undefined) gate.declared(exec, args.task)
        return { isError: false, value: text }
      })
      await Promise.resolve()
      gate.result(Object.freeze(exec), { isError: false, value: text })
    },
  }
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
  const gate = bareGate(store)
  process.stdout.write(`${store.load}\n`)
  let told = 0
  setInterval(() => {
    if (store.report.persisted === told) return
    told = store.report.persisted
    process.stdout.write(`${told}\n`)
  }, 5)
  const tool = (/** @type {string} */ raw) => `mcp__basic-memory__${raw}`
  for (let turn = 1; ; turn += 1) {
    gate.event('turn/start', { turn })
    await gate.call(turn, 1, 'bmpp__classify', { task: 'complex' })
    await gate.call(turn, 2, tool('search_notes'), { query: 'x' })
    await gate.call(turn, 3, tool('write_note'), { title: 'T', directory: 'd', content: '' })
    gate.event('turn/end', { turn })
    await new Promise(resolve => setTimeout(resolve, 1))
  }
}

if (process.argv[1]?.endsWith('audit-writer.js')) await main()
