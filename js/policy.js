/**
 * `dsh-bmpp/policy`: the policy without a host, for tests and programs of one's own. It asks the same core as the plugin does and
 * has no rule itself; what differs is the shape. The plugin asks with integers, on the way of every call; here are names and
 * plain objects.
 *
 * A session follows one conversation. Its calls belong to the turn and step that it stands at: `nextStep()` after each message of
 * the model, `endTurn()` when the turn is over.
 */
import { plain } from './arguments.js'
import { Core } from './core.js'
import { loadAddon } from './native.js'

/**
 * What the policy says of one call.
 * @typedef {object} Judgement
 * @property {string} tool the name that was judged
 * @property {boolean} governed false for a tool outside the policy's namespace, which always goes on
 * @property {string} class `control`, `read`, `search`, `write`, `destructive` or `unknown`; `out-of-scope` for one that is not governed
 * @property {'allow' | 'deny'} decision the verdict, which knows nothing of the mode
 * @property {string} code
 * @property {string[]} observations
 * @property {Array<{ code: string, level: string }>} findings what the integrity guards found, each `warn` or `deny`
 * @property {string} classification the turn's, when the call was judged: `unknown`, `simple` or `complex`
 * @property {string} lookup the turn's, likewise: `none`, `failed`, `pending` or `satisfied`
 * @property {string} enforcement what the mode makes of the verdict: `allowed`, `denied`, `asked` or `overridden`
 * @property {string | null} text what the model is told where the call is denied, what the human reads where it is asked, else null
 */

/**
 * What came of one call.
 * @typedef {object} Settlement
 * @property {string | null} outcome `not-reached`, `failed`, `succeeded` …; null where the call is not of the turn any more
 * @property {string[]} observations
 */

/**
 * A call's result. Without any of it, the call ran and succeeded with an answer that says nothing.
 * @typedef {object} Result
 * @property {string} [text] the answer's text, as the server writes it; of an error, its message
 * @property {unknown} [value] instead of `text`: the whole value, `{ content, structuredContent? }`, as the host's MCP bridge gives it
 * @property {boolean} [isError] the result's error flag; default false
 * @property {boolean} [reached] whether the tool's body was reached; default true, and false where the call was denied
 */

/**
 * Circumstances of one call.
 * @typedef {object} Circumstances
 * @property {boolean} [canAsk] whether a human could be asked; default false
 * @property {boolean} [controlHidden] whether the agent cannot see `bmpp__classify`; default false
 */

/**
 * Makes a policy of a configuration, the same object that the plugin's row takes.
 *
 * @example
 * import { createPolicy } from 'dsh-bmpp/policy'
 *
 * const policy = createPolicy({ mode: 'enforce' })
 * const session = policy.session()
 *
 * session.classify('complex')
 * const write = session.judge('mcp__basic-memory__write_note', { title: 'Plans', directory: 'notes', content: '…' })
 * write.enforcement // 'denied'
 * write.code // 'CREATE_REQUIRES_SEARCH'
 * write.text // what the model is told: 'CREATE_REQUIRES_SEARCH: this turn is complex and …'
 *
 * policy.close()
 *
 * @example
 * import { createPolicy } from 'dsh-bmpp/policy'
 *
 * const policy = createPolicy({ mode: 'enforce' })
 * const session = policy.session()
 * const note = { title: 'Plans', directory: 'notes', content: '…' }
 *
 * session.classify('complex')
 * const search = session.judge('mcp__basic-memory__search_notes', { query: 'plans' })
 * session.settle(search, { text: '# Search Results: plans' }).outcome // 'succeeded'
 *
 * // The model has not read the result yet: it is still the same message.
 * session.judge('mcp__basic-memory__write_note', note).code // 'MEMORY_LOOKUP_PENDING_IN_BATCH'
 *
 * session.nextStep()
 * session.judge('mcp__basic-memory__write_note', note).code // 'ALLOW_RECALL_OK'
 *
 * // What a turn has earned ends with it.
 * session.endTurn()
 * session.judge('mcp__basic-memory__write_note', note).code // 'CLASSIFICATION_REQUIRED'
 *
 * policy.close()
 *
 * @param {import('./config-types.js').Config} [config]
 * @returns {Policy} to be closed with `close()`, or by `using`
 * @throws {ConfigError} where the configuration has problems; it lists all of them
 */
export function createPolicy(config = {}) {
  return new Policy(new Core(readable(config), config))
}

/** A configuration that the plugin would refuse too. */
export class ConfigError extends Error {
  /** @param {import('../index.js').ConfigProblem[]} problems everything that is wrong */
  constructor(problems) {
    super(problems.map(({ path, code, message }) => `${path.join('.')}: ${code}: ${message}`).join('\n'))
    this.name = 'ConfigError'
    this.problems = problems
  }
}

/** @param {unknown} config */
function readable(config) {
  const addon = loadAddon()
  const { ok, problems } = addon.readConfig(config)
  if (!ok) throw new ConfigError(problems)
  return addon
}

/** One configuration's policy. Get one from {@link createPolicy}. */
export class Policy {
  #core
  /** @type {Set<Session>} */
  #sessions = new Set()
  #closed = false

  /** @param {Core} core */
  constructor(core) {
    this.#core = core
  }

  /** The mode: `off`, `audit` or `enforce`. In `off` the plugin registers nothing; here the verdicts can be seen all the same. */
  get mode() {
    return this.#core.info.mode
  }

  /** Begins to follow a conversation. @returns {Session} */
  session() {
    if (this.#closed) throw new Error('the policy is closed')
    const session = new Session(this.#core, () => this.#sessions.delete(session))
    this.#sessions.add(session)
    return session
  }

  /** Ends all sessions and frees what the policy holds. The second time it does nothing. */
  close() {
    if (this.#closed) return
    for (const session of this.#sessions) session.close()
    this.#closed = true
    this.#core.dispose()
  }

  [Symbol.dispose]() {
    this.close()
  }
}

/** One conversation. Get one from {@link Policy.session}. */
export class Session {
  /** The turn that the next call belongs to, from 1. */
  turn = 1
  /** The step of that turn, from 1: one message of the model and its calls. */
  step = 1
  #core
  #number
  #onClose
  #closed = false
  #calls = 0
  /** What is known of a call besides what its judgement shows. @type {WeakMap<object, { call: number, id: number, declared: number }>} */
  #judged = new WeakMap()

  /** @param {Core} core @param {() => void} onClose */
  constructor(core, onClose) {
    this.#core = core
    this.#onClose = onClose
    this.#number = core.addon.openSession(core.handle)
  }

  /**
   * Judges a call that the model makes now.
   * @param {string} tool the public name, such as `mcp__basic-memory__write_note`
   * @param {unknown} [args] plain data
   * @param {Circumstances} [circumstances]
   * @returns {Judgement}
   */
  judge(tool, args = {}, { canAsk = false, controlHidden = false } = {}) {
    this.#open()
    const core = this.#core
    if (!core.governs(tool)) return this.#outside(tool)
    const { addon, handle } = core
    const { id, class: kind } = core.tool(tool)
    const given = plain(args)
    this.#calls += 1
    const place = addon.PLACE_HOST_TURN + (controlHidden ? addon.PLACE_CONTROL_HIDDEN : 0)
    const word = addon.judge(handle, this.#calls, id, place, this.#number, this.turn, this.step, given)
    const enforcement = core.enforcement(word, canAsk)
    const { decision, code, observations, findings, classification, lookup } = core.describe(word)
    /** @type {Judgement} */
    const judgement = {
      tool,
      governed: true,
      class: kind,
      decision,
      code,
      observations: [...observations],
      findings: findings.map(({ code, level }) => ({ code, level })),
      classification,
      lookup,
      enforcement,
      text: null,
    }
    if (enforcement === 'denied') judgement.text = core.denialText(word, id)
    else if (enforcement === 'asked') judgement.text = addon.approvalReason(tool, id, word, given)
    this.#judged.set(judgement, { call: this.#calls, id, declared: kind === 'control' ? this.#declared(given) : 0 })
    return judgement
  }

  /**
   * Says what came of a call.
   * @param {Judgement} judgement the very object that {@link judge} returned
   * @param {Result} [result]
   * @returns {Settlement}
   */
  settle(judgement, { text, value, isError = false, reached = judgement.enforcement !== 'denied' } = {}) {
    this.#open()
    if (!judgement.governed) return { outcome: null, observations: [] }
    const judged = this.#judged.get(judgement)
    if (judged === undefined) throw new TypeError('this session judged no such call')
    const { addon, handle } = this.#core
    const facts = (reached ? addon.FACT_REACHED | judged.declared : 0) | (isError ? addon.FACT_ERROR : 0)
    // Of an error the host hands on what was said and no value.
    const answer = text === undefined ? value : isError ? text : { content: [{ type: 'text', text }] }
    const word = addon.settle(handle, this.#number, judged.call, judged.id, facts, this.step, plain(answer))
    const { outcome, observations } = addon.describeSettlement(word)
    return { outcome: outcome ?? null, observations }
  }

  /**
   * Declares what the turn is, as the model does with `bmpp__classify`.
   * @param {'simple' | 'complex'} task
   * @returns {Settlement}
   */
  classify(task) {
    return this.settle(this.judge(this.#core.controlTool.name, { task }))
  }

  /** The model writes its next message. */
  nextStep() {
    this.step += 1
  }

  /** The turn is over, and what it has earned with it. */
  endTurn() {
    this.#open()
    this.#core.addon.endTurn(this.#core.handle, this.#number)
    this.turn += 1
    this.step = 1
  }

  /** Ends the conversation. The second time it does nothing. */
  close() {
    if (this.#closed) return
    this.#closed = true
    this.#core.addon.closeSession(this.#core.handle, this.#number)
    this.#onClose()
  }

  [Symbol.dispose]() {
    this.close()
  }

  #open() {
    if (this.#closed) throw new Error('the session is closed')
  }

  /** What a call of the control tool declares once it has run. @param {unknown} args */
  #declared(args) {
    const { addon } = this.#core
    const task = /** @type {{ task?: unknown } | null | undefined} */ (args)?.task
    if (task === 'simple') return addon.FACT_DECLARED_SIMPLE
    return task === 'complex' ? addon.FACT_DECLARED_COMPLEX : 0
  }

  /** @param {string} tool @returns {Judgement} */
  #outside(tool) {
    const { decision, code, classification, lookup } = this.#core.describe(
      this.#core.addon.wordOfCode('ALLOW_OUT_OF_SCOPE'),
    )
    return {
      tool,
      governed: false,
      class: 'out-of-scope',
      decision,
      code,
      observations: [],
      findings: [],
      classification,
      lookup,
      enforcement: 'allowed',
      text: null,
    }
  }
}
