/**
 * The gate on the real Harness packages: boots them (inprocess.js) with the plugin mounted, a memory server's tools in place,
 * and everything the gate says collected.
 *
 *     const gate = await bootGate({ mode: 'enforce' })
 *     const agent = await gate.run([calls([memory('write_note'), note]), say('done')])
 *     gate.verdicts()        // ['write_note CLASSIFICATION_REQUIRED denied']
 *     gate.answers(agent)    // ['CLASSIFICATION_REQUIRED']: what the model read, a denial cut down to its code
 *     gate.ran               // []: no body was reached
 *
 * The host is taken down when the test ends.
 */
import { onTestFinished } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { createPlugin } from '../../js/plugin.js'
import { boot, calls, say } from './inprocess.js'

/** @typedef {import('../../js/records.js').AuditRecord} AuditRecord */
/** @typedef {import('../../js/report.js').LoadReport} LoadReport */
/** @typedef {import('./inprocess.js').Tool} Tool */

export const CLASSIFY = 'bmpp__classify'

/** The public name of a tool of the memory server. @param {string} raw */
export const memory = raw => `mcp__basic-memory__${raw}`

/** A text result as the bridge delivers it. @param {string} text */
export const answer = text => ({ content: [{ type: 'text', text }], structuredContent: { result: text } })

/** A JSON result as the bridge delivers it. @param {unknown} value */
export const jsonAnswer = value => ({
  content: [{ type: 'text', text: JSON.stringify(value) }],
  structuredContent: { result: value },
})

/** An error result as the bridge delivers it. @param {string} text */
export const flagged = text => ({ isError: true, content: [{ type: 'text', text }] })

export const FOUND = '# Search Results: plans\n*project: main*\n\n### Plans'
export const NOTHING = "No results found for 'plans' in project 'main'."
export const WRITTEN = '# Created note\nproject: main\nfile_path: notes/Plans.md'

/** @type {Record<string, Tool>} */
const server = {
  [memory('search_notes')]: () => answer(FOUND),
  [memory('search')]: () => jsonAnswer({ results: [{ id: 'plans' }] }),
  [memory('build_context')]: () => answer('# Context: plans\n'),
  [memory('recent_activity')]: () => answer('## Recent Activity'),
  [memory('read_note')]: () => answer('# Plans\n\ntext'),
  [memory('list_directory')]: () => answer('notes/'),
  [memory('write_note')]: () => answer(WRITTEN),
  [memory('edit_note')]: () => answer('# Edited note (append)'),
  [memory('move_note')]: () => answer('# Note Moved'),
  [memory('delete_note')]: () => answer('true'),
  [memory('delete_project')]: () => answer('removed'),
  [memory('create_memory_project')]: () => answer('created'),
  [memory('brand_new_tool')]: () => answer('did something'),
  bash: () => 'bash ran',
}

/** Arguments of an ordinary write, search, declaration. */
export const note = Object.freeze({ title: 'Plans', directory: 'notes', content: 'text' })
export const query = Object.freeze({ query: 'plans' })
export const simple = Object.freeze({ task: 'simple' })
export const complex = Object.freeze({ task: 'complex' })

/** The scripted calls that come again and again. @type {Record<string, [string, any]>} */
export const call = Object.freeze({
  simple: [CLASSIFY, simple],
  complex: [CLASSIFY, complex],
  search: [memory('search_notes'), query],
  write: [memory('write_note'), note],
  edit: [memory('edit_note'), { identifier: 'notes/plans', operation: 'append', content: 'more' }],
  read: [memory('read_note'), { identifier: 'notes/plans' }],
  remove: [memory('delete_note'), { identifier: 'notes/plans' }],
  bash: ['bash', {}],
})

/** An ordinary write of another note. @param {string} title @returns {[string, any]} */
export const writeOf = title => [memory('write_note'), { ...note, title }]

/** A host inside the supported range, so that only tests of the host check hear of it. */
const supported = () => ({ name: '@deepseek-ai/dsh', version: '0.1.5-rc.2', source: 'entry', why: 'a test says so' })

const short = (/** @type {string} */ name) => name.replace('mcp__basic-memory__', '').replace('bmpp__', '')

/** A denial as its code, any other answer as it is. @param {string} text */
const cut = text => /^(?:Error: |ToolCallError: )?([A-Z][A-Z_]+): /.exec(text)?.[1] ?? text

/**
 * Makes a plugin of which everything can be looked at: records, standard error, load reports, policy handles.
 * @param {object} [parts] as {@link createPlugin} takes them
 */
export function watchedPlugin(parts = {}) {
  /** @type {AuditRecord[]} */ const trail = []
  /** @type {any[]} */ const records = []
  /** @type {string[]} */ const stderr = []
  /** @type {LoadReport[]} */ const reports = []
  /** @type {number[]} */ const handles = []
  const native = /** @type {any} */ (parts).addon?.() ?? loadAddon()
  const addon = {
    ...native,
    createPolicy: (/** @type {unknown} */ config) => {
      const handle = native.createPolicy(config)
      handles.push(handle)
      return handle
    },
  }
  const made = createPlugin({
    sink: {
      record(record) {
        trail.push(record)
        if (record.kind === 'decision' || record.kind === 'settlement') records.push(record)
      },
    },
    standardError: line => void stderr.push(line),
    host: /** @type {any} */ (supported),
    ...parts,
    addon: () => addon,
  })
  const plugin = {
    ...made,
    // A plain function as the real one, which the host calls with `new`.
    apply: function apply(/** @type {any} */ ctx, /** @type {unknown} */ config) {
      const report = made.apply(ctx, config)
      reports.push(report)
      return report
    },
  }
  return {
    plugin,
    /** Everything that was recorded. */
    trail,
    /** Decisions and settlements alone. */
    records,
    stderr,
    reports,
    handles,
    addon,
    /** What the core of the last load holds. */
    holdings: () => native.holdings(handles.at(-1)),
  }
}

/**
 * Boots the Harness with the gate.
 * @param {object} [options] besides those of `boot`:
 * @param {'off' | 'audit' | 'enforce'} [options.mode]
 * @param {'compat' | 'strict'} [options.profile]
 * @param {object} [options.config] further keys of the row
 * @param {Record<string, Tool | undefined>} [options.tools] in place of the memory server's own, or besides; undefined takes one away
 * @param {[plugin: any, config?: any][]} [options.ahead] plugins that are active before the gate
 * @param {[plugin: any, config?: any][]} [options.behind] plugins that become active after it
 * @param {object} [options.parts] as `createPlugin` takes them
 * @param {boolean} [options.mounted] false boots without the gate; `gate.mount(gate.plugin, gate.config)` mounts it later
 */
export async function bootGate(options = {}) {
  const { mode = 'enforce', profile, config, tools, ahead = [], behind = [], parts, mounted = true, ...rest } = options
  // An earlier test's host was taken down: that is no reload.
  delete (/** @type {any} */ (globalThis)[Symbol.for('dsh-bmpp.unloaded-at')])
  const watched = watchedPlugin(parts)
  const row = { mode, ...(profile ? { profile } : {}), ...config }
  const host = await boot({
    ...rest,
    tools: { ...server, ...tools },
    plugins: [...ahead, ...(mounted ? [/** @type {[any, any]} */ ([watched.plugin, row])] : []), ...behind],
  })
  onTestFinished(() => host.dispose())
  const { records } = watched
  const of = (/** @type {string} */ kind, /** @type {any} */ agent) =>
    records.filter(record => record.kind === kind && (agent === undefined || record.session === agent.id))
  return Object.assign(host, {
    ...watched,
    config: row,
    /**
     * Runs one turn whose messages hold these calls.
     * @param {[string, any, string?][][]} messages
     * @param {any} [agent] else a new one
     * @returns {Promise<any>} the agent
     */
    turn: (messages, agent) =>
      host.run([...messages.map(message => calls(...message)), say('done')], agent ? { agent } : {}),
    /**
     * A call that a plugin makes itself, past the agent loop: no event announces it.
     * @param {any} agent undefined makes it a call without an agent
     * @param {[string, any, string?]} what
     * @param {object} [more] further fields of the execution's input
     */
    direct: (agent, [name, args, callId = 'direct'], more = {}) =>
      host.ctx.tools.execute({
        callId,
        name,
        arguments: args,
        signal: new AbortController().signal,
        ...(agent ? { agent } : {}),
        ...more,
      }),
    /** The load report of the last load. */
    report: () => /** @type {LoadReport} */ (watched.reports.at(-1)),
    /** Decision records, of one agent's session or of all. @param {any} [agent] @returns {any[]} */
    decisions: agent => of('decision', agent),
    /** Settlement records, of one agent's session or of all. @param {any} [agent] @returns {any[]} */
    settlements: agent => of('settlement', agent),
    /** Decisions in one line each: tool, code, enforcement. @param {any} [agent] @returns {string[]} */
    verdicts: agent =>
      of('decision', agent).map(
        (/** @type {any} */ record) => `${short(record.tool)} ${record.code} ${record.enforcement}`,
      ),
    /** Settlements in one line each: tool, outcome, observations. @param {any} [agent] @returns {string[]} */
    outcomes: agent =>
      of('settlement', agent).map((/** @type {any} */ record) =>
        [short(record.tool), record.outcome, ...record.observations].join(' '),
      ),
    /** What the model read of each call: a denial as its code. @param {any} agent @returns {string[]} */
    answers: agent => host.told(agent).map(({ text }) => cut(text)),
    /** The bodies that were reached, by short names. @returns {string[]} */
    reached: () => host.ran.map(({ name }) => short(name)),
  })
}
