/**
 * `dsh-bmpp check`: a dry run. What the policy would say of a list of events, by the same core.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { plain } from '../arguments.js'
import { Core } from '../core.js'
import { addon, EXIT, Failure, nearest, parse } from './command.js'
import { jsonOf } from './json.js'
import { shown } from './terminal.js'

/** @type {import('./command.js').Command} */
export const check = {
  about: 'a dry run: a configuration and a list of events → a verdict for each',
  help: `dsh-bmpp check: a dry run of a configuration on a list of events

Usage: dsh-bmpp check [--config FILE | --config JSON] [--events FILE] < events.ndjson

Reads one event a line and answers one JSON line for each. Nothing is written anywhere.

  {"event":"call","id":"d","tool":"bmpp__classify","arguments":{"task":"complex"}}
  {"event":"result","id":"d"}
  {"event":"call","id":"s","tool":"mcp__basic-memory__search_notes","arguments":{"query":"x"}}
  {"event":"result","id":"s","text":"# Search Results: x"}
  {"event":"step"}          the next message of the model begins
  {"event":"call","id":"w","tool":"mcp__basic-memory__write_note","arguments":{"title":"T","directory":"d","content":""}}
  {"event":"turn"}          the next turn begins
  {"event":"session-end"}   the session ends

"session" names a session (default "s"). "turn" and "step" of a call set the numbers; else they go on from the events
before. A result has "reached": false where the body did not run; it is so by itself for a call that was denied. A
declaration counts by its result: {"event":"result","id":…,"isError":false}. "text":"…" is short for a value with one
text. An answer holds the verdict and what the mode makes of it, and for a denial what the model would be told. Of the
events above the last call is let through as ALLOW_RECALL_OK; without the "step", or the search, it is denied. In mode
off nothing is judged, and an answer holds no verdict.

  --config C          a JSON object, or a file with one (default: {}); "mode" is enforce unless it says otherwise
  --events FILE       instead of standard input

Examples:
  dsh-bmpp check --config '{"profile":"strict"}' < events.ndjson
  echo '{"event":"call","tool":"mcp__basic-memory__delete_note","arguments":{"identifier":"a"}}' | dsh-bmpp check
  dsh-bmpp check --config '{"mode":"audit"}' --events events.ndjson

Exit codes: 0 · 1 the configuration is refused · 2 wrong usage, or an event that is none · 3 a file cannot be read
`,
  async run(argv, terminal) {
    const { values } = parse(argv, { config: { type: 'string' }, events: { type: 'string' } })
    const native = addon()
    const given = configFrom(values.config)
    const config = isObject(given) ? { mode: 'enforce', ...given } : given
    const { ok, problems } = native.readConfig(config)
    if (!ok) {
      for (const { path, code, message } of problems)
        terminal.error(`${path.join('.') || 'configuration'}: ${code}: ${message}\n`)
      return EXIT.found
    }
    const core = new Core(native, config)
    const run = new DryRun(core, config.mode === 'off')
    if (config.mode === 'off') terminal.error('mode off: nothing is judged, and every call goes on\n')
    const input = values.events === undefined ? terminal.input : createReadStream(values.events)
    if (values.events === undefined && terminal.input.isTTY === true)
      terminal.error('waiting for events, one JSON object a line, such as {"event":"turn"}; Ctrl-D ends them\n')
    const hints = new Hints(core, config)
    let number = 0
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number += 1
      if (line.trim() === '') continue
      const event = eventFrom(line, number)
      const answer = run.take(event, number)
      const hint = 'code' in answer && answer.code === 'ALLOW_OUT_OF_SCOPE' ? hints.of(event.tool) : undefined
      if (hint !== undefined) terminal.error(`line ${number}: ${hint}\n`)
      if (!terminal.out(`${JSON.stringify(answer)}\n`)) break
    }
    return EXIT.well
  },
}

/** @param {unknown} value @returns {value is Record<string, any>} */
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * What the option holds, as it is: what a configuration must be, the core says.
 * @param {string | undefined} text
 * @returns {any}
 */
function configFrom(text) {
  if (text === undefined) return {}
  const { value, why } = jsonOf(text)
  const isJson = text.trimStart().startsWith('{') || (!existsSync(text) && (why === undefined || /^\s*[["]/.test(text)))
  if (isJson && why === undefined) return value
  if (isJson) throw new Failure(`--config is no valid JSON: ${why}`)
  const source = readFileSync(text, 'utf8')
  const file = jsonOf(source)
  if (file.why === undefined) return file.value
  const isOther = /\.ya?ml$/i.test(text) || !/^\s*[{["]/.test(source)
  const layer = isOther
    ? `; --config takes JSON: of a YAML layer, write what stands below "config:" of the row bmpp as one object, such as '{"mode":"enforce"}', and let dsh-bmpp doctor read the layer itself`
    : ''
  throw new Failure(`--config: ${shown(text)} is no valid JSON: ${file.why}${layer}`)
}

/** @param {string} line @param {number} number @returns {Record<string, any>} */
function eventFrom(line, number) {
  const { value, why } = jsonOf(line)
  if (isObject(value)) return value
  throw new Failure(`line ${number} is no JSON object${why === undefined ? '' : `: ${why.replace('line 1, ', '')}`}`)
}

/** What a name that is not governed was probably meant to be: each is said once. */
class Hints {
  #core
  #raws
  /** @type {Set<string>} */
  #said = new Set()

  /** @param {Core} core @param {Record<string, any>} config what it was made of */
  constructor(core, config) {
    this.#core = core
    const lists = [config.readTools, config.searchTools, config.mutatingTools, config.destructiveTools]
    this.#raws = new Set([
      ...core.addon.vocabulary().tools.map(({ name }) => name),
      ...lists.flatMap(list => list ?? []),
    ])
  }

  /** @param {string} tool @returns {string | undefined} */
  of(tool) {
    if (this.#said.has(tool)) return undefined
    this.#said.add(tool)
    const { info, controlTool } = this.#core
    const raw = tool.split(/__|[.:/]/).at(-1) ?? ''
    const [, server] = /^mcp__(.+?)__/.exec(tool) ?? []
    if (this.#raws.has(raw)) {
      const why =
        server === undefined ? 'is the name that the server has for it' : `is of the server "${shown(server)}"`
      const meant = info.serverNames.map(name => `mcp__${name}__${raw}`)
      return `${shown(tool)} ${why}, and not governed; if memory is meant, the host's name of it is ${meant.join(' or ')}`
    }
    const { name: control } = controlTool
    const isControl = control.endsWith(`__${raw}`) || nearest(tool, [control]) !== undefined
    return isControl ? `${shown(tool)} is not governed; did you mean ${control}?` : undefined
  }
}

/** @typedef {{ number: number | undefined, turn: number, step: number }} Session */
/** @typedef {{ session: Session, call: number, tool: import('../core.js').Tool, enforcement: string, task: unknown }} Open */

class DryRun {
  #core
  #off
  /** @type {Map<string, Session>} */
  #sessions = new Map()
  /** Calls without a result; of what was not judged nothing is known. @type {Map<string, Open | undefined>} */
  #open = new Map()
  #calls = 0

  /** @param {Core} core @param {boolean} off nothing is judged */
  constructor(core, off) {
    this.#core = core
    this.#off = off
  }

  /** @param {Record<string, any>} event @param {number} line */
  take(event, line) {
    const name = typeof event.session === 'string' ? event.session : 's'
    const session = this.#sessions.get(name) ?? { number: undefined, turn: 1, step: 1 }
    this.#sessions.set(name, session)
    switch (event.event) {
      case 'call':
        return { line, ...this.#call(session, event, line) }
      case 'result':
        return { line, ...this.#result(event, line) }
      case 'step':
        session.step += 1
        return { line, step: session.step }
      case 'turn':
        session.turn += 1
        session.step = 1
        if (session.number !== undefined) this.#core.addon.endTurn(this.#core.handle, session.number)
        return { line, turn: session.turn }
      case 'session-end':
        if (session.number !== undefined) this.#core.addon.closeSession(this.#core.handle, session.number)
        this.#sessions.delete(name)
        return { line, ended: name }
      default:
        throw new Failure(`line ${line}: "event" is one of call, result, step, turn, session-end`)
    }
  }

  /** @param {Session} session @param {Record<string, any>} event @param {number} line */
  #call(session, event, line) {
    const core = this.#core
    const { addon: native, handle } = core
    if (typeof event.tool !== 'string') throw new Failure(`line ${line}: a call has a "tool"`)
    const nothing = { decision: null, code: null, enforcement: null, observations: [] }
    const id = String(event.id ?? `line ${line}`)
    if (!core.governs(event.tool)) {
      this.#open.set(id, undefined)
      if (this.#off) return { id, tool: event.tool, ...nothing }
      const { decision, code, observations, classification, lookup } = core.outside
      return { id, tool: event.tool, decision, code, enforcement: 'allowed', observations, classification, lookup }
    }
    for (const key of /** @type {const} */ (['turn', 'step'])) {
      if (event[key] === undefined) continue
      if (!Number.isInteger(event[key]) || event[key] < 0) throw new Failure(`line ${line}: "${key}" is a whole number`)
      session[key] = event[key]
    }
    if (this.#off) {
      this.#open.set(id, undefined)
      return { id, tool: event.tool, ...nothing }
    }
    session.number ??= native.openSession(handle)
    this.#calls += 1
    const tool = core.tool(event.tool)
    const { number, turn, step } = session
    const args = event.arguments ?? {}
    const word = native.judge(handle, this.#calls, tool.id, native.PLACE_HOST_TURN, number, turn, step, plain(args))
    const enforcement = core.enforcement(word, event.canAsk === true)
    this.#open.set(id, { session, call: this.#calls, tool, enforcement, task: args?.task })
    const { decision, code, observations, classification, lookup } = core.describe(word)
    const told = enforcement === 'denied' ? { told: core.denialText(word, tool.id) } : {}
    return { id, tool: event.tool, decision, code, enforcement, observations, classification, lookup, ...told }
  }

  /** @param {Record<string, any>} event @param {number} line */
  #result(event, line) {
    const { addon: native, handle } = this.#core
    const id = String(event.id)
    const open = this.#open.get(id)
    if (!this.#open.delete(id)) throw new Failure(`line ${line}: no call "${id}" is open`)
    if (open === undefined) return { id, outcome: null, observations: [] }
    const reached = event.reached ?? open.enforcement !== 'denied'
    const task = open.tool.class === 'control' ? open.task : undefined
    let facts = reached ? native.FACT_REACHED : 0
    if (event.isError === true) facts |= native.FACT_ERROR
    if (task === 'simple') facts |= native.FACT_DECLARED_SIMPLE
    if (task === 'complex') facts |= native.FACT_DECLARED_COMPLEX
    const value = event.value ?? { content: typeof event.text === 'string' ? [{ type: 'text', text: event.text }] : [] }
    const { number = 0, step } = open.session
    const word = native.settle(handle, number, open.call, open.tool.id, facts, step, plain(value))
    const { outcome, observations } = native.describeSettlement(word)
    return { id, outcome: outcome ?? null, observations }
  }
}
