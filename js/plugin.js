/**
 * The Cordis plugin: reads the configuration, looks at the host, and puts the gate up. Everything is synchronous, so that no
 * call passes between the first listener and the last.
 */
import { readFileSync } from 'node:fs'
import { plain } from './arguments.js'
import { followStorage, followUnload } from './audit-host.js'
import { AuditStore } from './audit-store.js'
import { followBodies } from './bodies.js'
import { controlTool } from './control.js'
import { Core } from './core.js'
import { Gate } from './gate.js'
import { detectHost, probeContext, probeTools } from './host.js'
import { keepClosed, keepDoor, relieveKeeper } from './keeper.js'
import { loadAddon } from './native.js'
import { notices } from './notices.js'
import { Position } from './position.js'
import { Recorder } from './records.js'
import { Operator, summary } from './report.js'
import { hiddenTool, watchNeighbours, watchServers } from './surroundings.js'

/**
 * @typedef {import('./host-types.js').Context} Context
 * @typedef {import('./report.js').LoadReport} LoadReport
 */

/** When a row of ours was last disposed of in this process: what a reload left ungated is told from it. */
const UNLOADED_AT = Symbol.for('dsh-bmpp.unloaded-at')

const { version: pluginVersion } = /** @type {{ version: string }} */ (
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
)

/**
 * Makes the plugin. The parts that touch the world can be given, for tests.
 * @param {object} [parts]
 * @param {() => import('./native.js').Addon} [parts.addon]
 * @param {import('./records.js').Sink} [parts.sink] in place of the host's storage
 * @param {() => import('./host.js').Host} [parts.host]
 * @param {(line: string) => void} [parts.standardError]
 * @param {typeof followBodies} [parts.bodies]
 */
export function createPlugin({
  addon = once(loadAddon),
  sink,
  host = detectHost,
  standardError,
  bodies = followBodies,
} = {}) {
  const Config = {
    '~standard': {
      /** @type {1} */
      version: 1,
      vendor: 'dsh-bmpp',
      /** @param {unknown} value */
      validate(value) {
        const { ok, problems } = addon().readConfig(value)
        return ok ? { value } : { issues: problems.map(issue) }
      },
    },
  }

  /**
   * @param {Context} ctx
   * @param {unknown} [config]
   * @returns {LoadReport}
   */
  function apply(ctx, config) {
    const operator = new Operator(ctx.logger, standardError)
    try {
      return load(ctx, config, operator)
    } catch (error) {
      // A row that is to block nothing leaves nothing behind that does.
      if (blocksNothing(config)) relieveKeeper(ctx)
      else if (keepClosed(ctx)) operator.notice(notices.notLoaded())
      throw error
    }
  }

  /** @param {Context} ctx @param {unknown} config @param {Operator} operator @returns {LoadReport} */
  function load(ctx, config, operator) {
    const native = addon()
    const reading = native.readConfig(config)
    if (!reading.ok) throw new Error(`dsh-bmpp: the configuration is refused\n${reading.problems.map(told).join('\n')}`)
    const found = host()
    const compatibility = native.compatibility(found.version, reading.allowUnverifiedHarness)
    const core = new Core(native, config)
    const report = {
      active: core.info.mode !== 'off',
      mode: core.info.mode,
      profile: core.info.profile,
      pluginVersion,
      policyVersion: core.info.policyVersion,
      serverNames: core.info.serverNames,
      host: {
        name: found.name,
        version: found.version,
        source: found.source,
        why: found.why,
        standing: compatibility.standing,
        verified: compatibility.verified,
        range: compatibility.range,
        reason: compatibility.reason,
      },
      reloadGapMs: /** @type {number | null} */ (null),
      notices: operator.notices,
      countedSessions: 0,
      lostRecords: 0,
      audit: /** @type {import('./audit-store.js').AuditReport | null} */ (null),
    }
    if (!report.active) {
      relieveKeeper(ctx)
      core.dispose()
      operator.info(summary(report))
      return report
    }
    try {
      refuseUnfit(ctx, compatibility)
      mount(ctx, core, operator, { sink, bodies }, report, config)
    } catch (error) {
      core.dispose()
      throw error
    }
    if (compatibility.loud) {
      operator.notice(notices.host(compatibility.reason, found.version === null ? found.why : undefined))
    }
    operator.info(summary(report))
    return report
  }

  return { name: 'dsh-bmpp', inject: ['tools'], Config, apply }
}

/**
 * Whether a configuration asks for a mode that blocks nothing. The core is not asked: it may be what failed.
 * @param {unknown} config
 */
function blocksNothing(config) {
  const { mode = 'audit' } = /** @type {{ mode?: unknown }} */ (config ?? {})
  return mode === 'audit' || mode === 'off'
}

/**
 * Refuses a host that the gate cannot hold on.
 * @param {Context} ctx
 * @param {{ activate: boolean, reason: string }} compatibility
 */
function refuseUnfit(ctx, compatibility) {
  if (!compatibility.activate) throw new Error(`dsh-bmpp: ${compatibility.reason}`)
  const missing = [
    ...probeContext(ctx).missing.map(name => `ctx.${name}`),
    ...probeTools(ctx.tools).missing.map(name => `ctx.tools.${name}`),
  ]
  if (missing.length > 0) {
    throw new Error(`dsh-bmpp: this host lacks what the gate needs: ${missing.join(', ')}; it is not loaded`)
  }
}

/**
 * Puts the gate up.
 * @param {Context} ctx
 * @param {Core} core
 * @param {Operator} operator
 * @param {{ sink: import('./records.js').Sink | undefined, bodies: typeof followBodies }} parts
 * @param {LoadReport} report
 * @param {unknown} config
 */
function mount(ctx, core, operator, { sink: given, bodies }, report, config) {
  const global = /** @type {{ [UNLOADED_AT]?: number }} */ (globalThis)
  const store = given === undefined ? storeOf(core, operator, report) : undefined
  const recorder = new Recorder(given ?? store ?? nowhere, lost => {
    report.lostRecords = lost
    operator.notice(notices.recordsLost(lost))
  })
  const counted = new WeakSet()
  const position = new Position({
    governs: name => core.governs(name),
    projections: () => ctx.get('sessionProjections'),
    sessions: () => ctx.get('sessions'),
    onTurn: (track, event) => gate.turnover(track, event),
    onClose: track => gate.closed(track),
  })
  const gate = new Gate({
    core,
    position,
    recorder,
    operator,
    approval: () => ctx.get('approval'),
    controlHidden: agent => isHidden(agent),
    onCounted: track => {
      if (counted.has(track)) return
      counted.add(track)
      report.countedSessions += 1
      operator.notice(notices.counted())
    },
  })
  const tool = controlTool(core, gate.declared)
  const isHidden = hiddenTool(ctx, tool, operator)
  ctx.tools.register(tool)
  ctx.tools.guard(gate.guard)
  ctx.on('tools/pre-execute', gate.preExecute, { prepend: true })
  ctx.on('tools/execute', gate.execute)
  if (bodies(ctx, gate.body, gate.first)) gate.followBodies()
  ctx.on('tools/result', gate.result)
  ctx.on('session/event', gate.sessionEvent)
  ctx.on(
    'session/created',
    total(session => position.created(session)),
  )
  ctx.on(
    'session/disposed',
    total(session => position.disposed(session)),
  )
  watchNeighbours(ctx, core, operator)
  watchServers(ctx, core, operator)
  const refused = relieveKeeper(ctx)
  const leave = core.info.mode === 'enforce' ? keepDoor(ctx, (exec, state) => gate.closedDoor(exec, state)) : () => {}
  const unloadedAt = global[UNLOADED_AT]
  if (unloadedAt !== undefined) {
    report.reloadGapMs = Math.max(0, performance.now() - unloadedAt)
    delete global[UNLOADED_AT]
    operator.notice(notices.reloaded(report.reloadGapMs, refused))
  }
  recorder.record({
    kind: 'load',
    mode: report.mode,
    profile: report.profile,
    // A copy: whoever hears of the record must not get at the row's own object.
    config: plain(config ?? {}) ?? {},
    standing: report.host.standing,
    pid: process.pid,
    node: process.version,
    platform: `${process.platform}-${process.arch}`,
    reloadGapMs: report.reloadGapMs,
  })
  const unloading = onceOnly(() => {
    recorder.record({ kind: 'unload' })
    store?.flushNow()
  })
  if (store !== undefined) followStorage(ctx, store, unloading)
  followUnload(ctx, unloading)
  // The last effect is the first to be undone: the keeper is at the door before anything of the gate goes.
  ctx.effect(() => () => {
    leave()
    global[UNLOADED_AT] = performance.now()
    unloading()
    position.clear()
    gate.unload()
    core.dispose()
    return store?.close()
  })
}

/** Where records go with `auditLevel: off`: observers still see them. @type {import('./records.js').Sink} */
const nowhere = { record() {} }

/**
 * The durable sink, if the operator wants one.
 * @param {Core} core
 * @param {Operator} operator
 * @param {LoadReport} report
 */
function storeOf(core, operator, report) {
  const { auditLevel, auditMaxRecords } = core.info
  if (auditLevel === 'off') {
    report.audit = { state: 'off', layout: null, load: null, persisted: 0, waiting: 0, dropped: 0 }
    return undefined
  }
  const store = new AuditStore({
    stamp: { host: report.host.version, plugin: report.pluginVersion, policy: report.policyVersion },
    maxRecords: auditMaxRecords,
    notice: notice => operator.notice(notice),
  })
  report.audit = store.report
  return store
}

/** @typedef {{ path: Array<string | number>, code: string, message: string }} Problem */

/** @param {Problem} problem */
function told({ path, code, message }) {
  return `${path.length > 0 ? `${path.join('.')}: ` : ''}${code}: ${message}`
}

/** A problem for the host, which says the path itself. @param {Problem} problem */
function issue({ path, code, message }) {
  return { message: `${code}: ${message}`, ...(path.length > 0 ? { path } : {}) }
}

/** A listener that never throws into the host. @param {(argument?: any) => void} listener */
function total(listener) {
  return (/** @type {any} */ argument = undefined) => {
    try {
      listener(argument)
    } catch {
      // What cannot be taken note of counts as not known, which is the closed side.
    }
  }
}

/** @template T @param {() => T} make @returns {() => T} */
function once(make) {
  /** @type {{ made: T } | undefined} */
  let kept
  return () => {
    kept ??= { made: make() }
    return kept.made
  }
}

/** @param {() => void} run */
function onceOnly(run) {
  let done = false
  return () => {
    if (done) return
    done = true
    run()
  }
}
