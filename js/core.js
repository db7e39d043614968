/**
 * One policy of the addon, with what need not be asked twice. No rule lives here: names and words come from the core, and
 * what comes back is checked for its type before anything depends on it.
 */

import { plain } from './arguments.js'

/**
 * A number as the core returns it. What is none must not become one on its way back in.
 * @param {unknown} value
 * @returns {number}
 */
function number(value) {
  if (Number.isInteger(value) && /** @type {number} */ (value) >= 0 && /** @type {number} */ (value) <= 0xffffffff) {
    return /** @type {number} */ (value)
  }
  throw new TypeError('the core returned no number')
}

/** Names that are remembered; a model can make up as many as it likes. */
const NAMES_MAX = 4096
/** Arguments that the core takes side by side, and characters of a name that is kept for it. No tool of the server has more. */
const [FLAT_MAX, NAME_MAX] = [12, 64]

/**
 * @typedef {import('./native.js').Addon} Addon
 *
 * @typedef {object} Described a verdict in readable form: one object for all calls that have it, frozen
 * @property {'allow' | 'deny'} decision
 * @property {string} code
 * @property {boolean} destructive
 * @property {string} classification
 * @property {string} lookup
 * @property {string | null} argument the argument at fault, by the server's name of it
 * @property {readonly string[]} observations
 * @property {ReadonlyArray<{ code: string, level: string }>} findings of the integrity guards
 * @typedef {{ readonly outcome: string | null, readonly observations: readonly string[] }} Settlement what a result changed
 * @typedef {{ id: number, class: string, writes: boolean }} Tool a governed tool; `class` is a word of the core's vocabulary
 */

/** Places of a call's numbers in the addon's frame: of every call, of a judging, of a settlement; and of the answer. */
const [POLICY, CALL, TOOL, SESSION, STEP] = [0, 1, 2, 3, 4]
const [PLACE, TURN, NAMES] = [5, 6, 7]
const FACTS = 5
const ANSWER = 8
/** What stands in the answer's place before a call. */
const NONE = -1

/** What the core says besides the word stands above its 32 bits. */
const ABOVE = 2 ** 32
/** Of what is above: two bits of facts, and whether a secret was found. */
const SECRET = 4

/** @type {readonly unknown[]} */
const NOTHING = []

/** Names of arguments that calls of a tool have had lately are kept at hand: one list for each tool of a server, and room for more. */
const RECENT = 64

/**
 * @typedef {{ number: number | undefined, more: Map<string, NameList> }} NameList names of arguments, one after the other
 * @typedef {{ tool: number, keys: readonly string[], number: number }} Recent names that calls of a tool had last, and their number
 */

/** @param {readonly string[]} keys @param {readonly string[]} others */
function isSame(keys, others) {
  if (keys.length !== others.length) return false
  for (let index = 0; index < keys.length; index += 1) if (keys[index] !== others[index]) return false
  return true
}

/** Whether a value holds no others. @param {unknown} value */
function isFlat(value) {
  // Each kind by itself: so the runtime need not make the word for it.
  return typeof value === 'string' || value === null || typeof value === 'number' || typeof value === 'boolean'
}

/**
 * The text that a value is, where it is one: the value that the host's bridge makes of an answer in text, or an error's message.
 * Of plain data only. Of any other value the core must look for itself what it is.
 * @param {unknown} value
 * @returns {string | undefined}
 */
export function textOf(value) {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return undefined
  const result = /** @type {{ structuredContent?: unknown, content?: unknown }} */ (value)
  const structured = result.structuredContent
  if (structured !== undefined && Object.hasOwn(result, 'structuredContent')) {
    if (typeof structured !== 'object' || structured === null || Array.isArray(structured)) return undefined
    const keys = Object.keys(structured)
    if (keys.length !== 1 || keys[0] !== 'result') return undefined
    const { result: inner } = /** @type {{ result: unknown }} */ (structured)
    return typeof inner === 'string' ? inner : undefined
  }
  const { content } = result
  if (!Array.isArray(content) || !Object.hasOwn(result, 'content')) return undefined
  const block = content[0]
  if (typeof block !== 'object' || block === null) return undefined
  const { text } = block
  return typeof text === 'string' && Object.hasOwn(block, 'text') ? text : undefined
}

/** @param {readonly { name: string, text: string }[]} codes @param {string} code */
function textOfCode(codes, code) {
  const text = codes.find(entry => entry.name === code)?.text
  if (text === undefined || text === '') throw new TypeError(`the core has no text for ${code}`)
  return text
}

/** @param {Addon} addon */
const constantsOf = addon => ({
  PLACE_NO_AGENT: addon.PLACE_NO_AGENT,
  PLACE_UNKNOWN: addon.PLACE_UNKNOWN,
  PLACE_HOST_TURN: addon.PLACE_HOST_TURN,
  PLACE_COUNTED_TURN: addon.PLACE_COUNTED_TURN,
  PLACE_CONTROL_HIDDEN: addon.PLACE_CONTROL_HIDDEN,
  FACT_REACHED: addon.FACT_REACHED,
  FACT_ERROR: addon.FACT_ERROR,
  FACT_DECLARED_SIMPLE: addon.FACT_DECLARED_SIMPLE,
  FACT_DECLARED_COMPLEX: addon.FACT_DECLARED_COMPLEX,
})

export class Core {
  /** @type {Map<string, Tool>} */
  #tools = new Map()
  /** The name that was asked for last, and its tool. @type {string | undefined} */
  #lastName
  /** @type {any} */
  #lastTool
  /** Lists of argument names that calls of a tool have had. @type {Map<number, NameList>} */
  #names = new Map()
  /** What the last judging said besides the word; undefined where it must be asked for. @type {number | undefined} */
  #above
  #judgeFlat
  #settleText
  /** Numbers that go to the core and come back. @type {Float64Array | null} */
  #frame
  /** @type {(Recent | undefined)[]} */
  #recent = Array(RECENT).fill(undefined)
  /** What becomes of a verdict, where nobody and where somebody can be asked. */
  #enforced = [new Map(), new Map()]
  /** @type {Map<number, Described>} */
  #described = new Map()
  /** @type {Map<number, Settlement>} */
  #settlements = new Map()
  #prefixes
  #control
  #lists = 0
  #reads
  #enforcements
  #facts
  #hashes
  #outOfScope

  /**
   * @param {Addon} addon
   * @param {unknown} config a configuration without problems
   */
  constructor(addon, config) {
    this.addon = addon
    // Read from the addon once: its own object is no fast one.
    this.constants = constantsOf(addon)
    this.#judgeFlat = addon.judgeFlat
    this.#settleText = addon.settleText
    this.#frame = addon.frame()
    this.handle = addon.createPolicy(config)
    this.info = addon.policyInfo(this.handle)
    this.controlTool = addon.controlTool()
    this.#control = this.controlTool.name
    this.#prefixes = this.info.prefixes
    this.#reads = new Set(this.info.readTools)
    const { enforcements, facts, codes } = addon.vocabulary()
    this.#enforcements = enforcements
    this.#facts = facts
    this.#hashes = this.info.pathRedaction === 'hash'
    // Kept from the start: they must be there when the core is what fails.
    this.internalErrorText = textOfCode(codes, 'POLICY_INTERNAL_ERROR')
    this.notJudged = addon.wordOfCode('CALL_NOT_JUDGED')
    this.notJudgedText = textOfCode(codes, 'CALL_NOT_JUDGED')
    this.internalError = addon.wordOfCode('POLICY_INTERNAL_ERROR')
    this.reloading = addon.wordOfCode('POLICY_RELOADING')
    this.reloadingText = textOfCode(codes, 'POLICY_RELOADING')
    this.notLoadedText = textOfCode(codes, 'POLICY_NOT_LOADED')
    this.#outOfScope = addon.wordOfCode('ALLOW_OUT_OF_SCOPE')
  }

  /** Frees the policy. */
  dispose() {
    this.addon.dropPolicy(this.handle)
  }

  /**
   * Whether a name is governed. Never throws and never crosses into the core.
   * @param {unknown} name
   */
  governs(name) {
    if (typeof name !== 'string') return false
    for (const prefix of this.#prefixes) if (name.startsWith(prefix)) return true
    return name === this.#control
  }

  /**
   * The governed servers of which no tool is among these. Where one server's prefix begins another's, a tool is of the longer.
   * @param {readonly string[]} names public names of the host's tools
   */
  missingServers(names) {
    const there = new Set(
      names.map(name => {
        const prefixes = this.#prefixes.filter(prefix => name.startsWith(prefix))
        return prefixes.toSorted((a, b) => b.length - a.length)[0]
      }),
    )
    return this.info.serverNames.filter((_, index) => !there.has(this.#prefixes[index]))
  }

  /**
   * The tool of a governed name.
   * @param {string} name
   * @returns {Tool}
   */
  tool(name) {
    // A name comes several times in a row.
    if (name === this.#lastName) return this.#lastTool
    const tool = this.#toolOf(name)
    this.#lastName = name
    this.#lastTool = tool
    return tool
  }

  /** @param {string} name @returns {Tool} */
  #toolOf(name) {
    let tool = this.#tools.get(name)
    if (tool === undefined) {
      const id = number(this.addon.toolId(this.handle, name))
      const kind = this.addon.toolClass(id)
      tool = { id, class: kind, writes: kind === 'write' || kind === 'destructive' || kind === 'unknown' }
      if (this.#tools.size >= NAMES_MAX) this.#tools.clear()
      this.#tools.set(name, tool)
    }
    return tool
  }

  /**
   * Whether a governed name must go on although it could not be judged: a listed read, or the control tool. Does not ask
   * the core, which may be what failed.
   * @param {string} name
   */
  isFree(name) {
    if (name === this.#control) return true
    return this.#prefixes.some(prefix => name.startsWith(prefix) && this.#reads.has(name.slice(prefix.length)))
  }

  /**
   * Judges a call, with the arguments of the addon's `judge` behind the policy.
   * @param {number} call
   * @param {number} tool
   * @param {number} where
   * @param {number} session
   * @param {number} turn
   * @param {number} step
   * @param {unknown} args
   * @returns {number} the verdict's word
   */
  judge(call, tool, where, session, turn, step, args) {
    const answer = this.#flat(call, tool, where, session, turn, step, args)
    if (answer === undefined) {
      this.#above = undefined
      return number(this.addon.judge(this.handle, call, tool, where, session, turn, step, args))
    }
    const word = answer >>> 0
    const above = (answer - word) / ABOVE
    if (!Number.isInteger(above) || above < 0 || above > 7) throw new TypeError('the core returned no number')
    this.#above = above
    return word
  }

  /**
   * Judges arguments whose values hold no others: these are handed over side by side, under names that the core knows by a
   * number. Any others it must look through itself.
   * @param {number} call
   * @param {number} tool
   * @param {number} where
   * @param {number} session
   * @param {number} turn
   * @param {number} step
   * @param {unknown} args
   * @returns {number | undefined} the word, and what is above it
   */
  #flat(call, tool, where, session, turn, step, args) {
    const frame = this.#frame
    if (frame === null || typeof args !== 'object' || args === null || Array.isArray(args)) return undefined
    const keys = Object.keys(args)
    const count = keys.length
    const names = this.#numberOf(tool, keys)
    if (names === 0) return undefined
    const values = /** @type {any} */ (args)
    const a = values[/** @type {string} */ (keys[0])]
    const b = count > 1 ? values[/** @type {string} */ (keys[1])] : null
    const c = count > 2 ? values[/** @type {string} */ (keys[2])] : null
    const d = count > 3 ? values[/** @type {string} */ (keys[3])] : null
    if (!isFlat(a) || !isFlat(b) || !isFlat(c) || !isFlat(d)) return undefined
    const more = count > 4 ? keys.slice(4).map(key => values[key]) : NOTHING
    if (count > 4 && !more.every(isFlat)) return undefined
    // From here to the answer nothing runs that is not ours: a getter among the arguments has had its say.
    this.#begin(frame, call, tool, session, step)
    frame[PLACE] = where
    frame[TURN] = turn
    frame[NAMES] = names
    const judge = this.#judgeFlat
    if (count === 1) judge(a)
    else if (count === 2) judge(a, b)
    else if (count === 3) judge(a, b, c)
    else if (count === 4) judge(a, b, c, d)
    else judge(a, b, c, d, ...more)
    return frame[ANSWER]
  }

  /**
   * The number of these names; 0 where they have none.
   * @param {number} tool
   * @param {string[]} keys
   */
  #numberOf(tool, keys) {
    const at = (tool >>> 4) % RECENT
    const recent = this.#recent[at]
    if (recent !== undefined && recent.tool === tool && isSame(recent.keys, keys)) return recent.number
    if (keys.length === 0 || keys.length > FLAT_MAX) return 0
    const list = this.#listOf(tool, keys)
    if (list === undefined) return 0
    list.number ??= number(this.addon.argumentNames(this.handle, tool, keys))
    this.#recent[at] = { tool, keys, number: list.number }
    return list.number
  }

  /**
   * What is kept of these names; undefined where no more is kept.
   * @param {number} tool
   * @param {readonly string[]} keys
   * @returns {NameList | undefined}
   */
  #listOf(tool, keys) {
    let list = this.#names.get(tool)
    if (list === undefined) {
      list = { number: undefined, more: new Map() }
      this.#names.set(tool, list)
    }
    for (const key of keys) {
      /** @type {NameList | undefined} */
      let next = list.more.get(key)
      if (next === undefined) {
        if (this.#lists >= NAMES_MAX || key.length > NAME_MAX) return undefined
        this.#lists += 1
        next = { number: undefined, more: new Map() }
        list.more.set(key, next)
      }
      list = next
    }
    return list
  }

  /** Begins to follow a session. @returns {number} its number */
  openSession() {
    return number(this.addon.openSession(this.handle))
  }

  /**
   * @param {number} word a verdict's word
   * @param {boolean} canAsk
   */
  enforcement(word, canAsk) {
    // It depends on the word and the configuration alone.
    const known = this.#enforced[canAsk ? 1 : 0]
    const before = known?.get(word)
    if (before !== undefined) return before
    const name = this.#enforcements[this.addon.enforcement(this.handle, word, canAsk)]
    if (name === undefined) throw new TypeError('the core returned no enforcement')
    if (known !== undefined && known.size < NAMES_MAX) known.set(word, name)
    return name
  }

  /** What the last judging read of a write's arguments, as a record keeps it. Asked right after the judging. */
  judgedFacts() {
    if (this.#above !== undefined) return this.#facts[this.#above & 3] || null
    try {
      return this.#facts[this.addon.judgedFacts(this.handle)] || null
    } catch {
      // What only the record wants must not decide over the call.
      return null
    }
  }

  /**
   * The class of the secret that the last judging found, if this is its word and it found one.
   * @param {number} word
   */
  secretClass(word) {
    // The judging itself has said that it found none.
    if (this.#above !== undefined && (this.#above & SECRET) === 0) return null
    try {
      if (!this.describe(word).findings.some(({ code }) => code === 'SECRET_PATTERN_DETECTED')) return null
      return this.addon.lastJudged(this.handle)?.secretClass ?? null
    } catch {
      return null
    }
  }

  /**
   * A hash of the note that a call names; null where it names none, or none is to be kept.
   * @param {number} tool
   * @param {unknown} args
   */
  target(tool, args) {
    if (!this.#hashes) return null
    try {
      return this.addon.targetHash(this.handle, tool, plain(args)) ?? null
    } catch {
      return null
    }
  }

  /**
   * What the model is told. Never empty: the host runs a denied tool whose denial has no reason.
   * @param {number} word
   * @param {number} tool
   */
  denialText(word, tool) {
    const text = this.addon.denialText(this.handle, word, tool)
    return typeof text === 'string' && text !== '' ? text : this.internalErrorText
  }

  /**
   * A verdict in readable form. There are few different words, so each is described once.
   * @param {number} word
   */
  describe(word) {
    const known = this.#described.get(word)
    if (known !== undefined) return known
    const { argument, observations, findings, ...said } = this.addon.describe(word)
    const described = Object.freeze({
      ...said,
      argument: argument ?? null,
      observations: Object.freeze(observations),
      findings: Object.freeze(findings.map(finding => Object.freeze(finding))),
    })
    if (this.#described.size >= NAMES_MAX) this.#described.clear()
    this.#described.set(word, described)
    return described
  }

  /**
   * Puts what every call hands over into the frame, and no answer.
   * @param {Float64Array} frame
   * @param {number} call
   * @param {number} tool
   * @param {number} session
   * @param {number} step
   */
  #begin(frame, call, tool, session, step) {
    frame[POLICY] = this.handle
    frame[CALL] = call
    frame[TOOL] = tool
    frame[SESSION] = session
    frame[STEP] = step
    frame[ANSWER] = NONE
  }

  /**
   * Settles a call, with the arguments of the addon's `settle` behind the policy.
   * @param {number} session
   * @param {number} call
   * @param {number} tool
   * @param {number} facts
   * @param {number} step
   * @param {unknown} value
   * @returns {number} the settlement's word
   */
  settle(session, call, tool, facts, step, value) {
    const frame = this.#frame
    const text = frame === null ? undefined : textOf(value)
    if (frame !== null && text !== undefined) {
      this.#begin(frame, call, tool, session, step)
      frame[FACTS] = facts
      const settle = this.#settleText
      settle(text)
      return number(frame[ANSWER])
    }
    return number(this.addon.settle(this.handle, session, call, tool, facts, step, value))
  }

  /**
   * A settlement in readable form. As with verdicts there are few.
   * @param {number} word
   * @returns {Settlement}
   */
  describeSettlement(word) {
    const known = this.#settlements.get(word)
    if (known !== undefined) return known
    const { outcome, observations } = this.addon.describeSettlement(word)
    const settlement = Object.freeze({ outcome: outcome ?? null, observations: Object.freeze(observations) })
    if (this.#settlements.size >= NAMES_MAX) this.#settlements.clear()
    this.#settlements.set(word, settlement)
    return settlement
  }

  /** The verdict on a call that is not governed. */
  get outside() {
    const { destructive: _, ...verdict } = this.describe(this.#outOfScope)
    return verdict
  }
}
