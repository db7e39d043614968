/**
 * The addon for the tests of this layer, and a stage that plays vectors on it.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { loadAddon } from '../../js/native.js'
import { inRoot } from '../../scripts/lib/project.mjs'

export const addon = loadAddon()

/** The addon that can be made to panic: `node scripts/build.mjs --faults`. */
const faultsPath = inRoot('target', 'faults', 'dsh-bmpp.node')
export const loadFaults = () => createRequire(import.meta.url)(faultsPath)

/** The file that the addon was loaded from. */
export function addonPath() {
  const path = process.env.DSH_BMPP_NATIVE ?? Object.keys(createRequire(import.meta.url).cache).find(isAddon)
  return path ?? inRoot(readdirSync(inRoot()).find(isAddon) ?? 'no addon')
}

const isAddon = (/** @type {string} */ path) => /dsh-bmpp\.[^/\\]+\.node$/.test(path)

/** One file of tests/vectors. @param {string} name */
export const vectors = name => JSON.parse(readFileSync(inRoot('tests', 'vectors', name), 'utf8'))

const words = addon.vocabulary()

export const write = 'mcp__basic-memory__write_note'
export const search = 'mcp__basic-memory__search_notes'
export const control = 'bmpp__classify'

const places = {
  host: addon.PLACE_HOST_TURN,
  counted: addon.PLACE_COUNTED_TURN,
  unknown: addon.PLACE_UNKNOWN,
  'no-agent': addon.PLACE_NO_AGENT,
}

/** A policy, with names for its sessions and calls. */
export class Stage {
  #sessions = new Map()
  #calls = new Map()
  #tools = new Map()

  /** @param {object} [config] @param {any} [module] another copy of the addon */
  constructor(config = {}, module = addon) {
    this.module = module
    this.policy = module.createPolicy(config)
  }

  drop() {
    this.module.dropPolicy(this.policy)
  }

  session(name = 's') {
    if (!this.#sessions.has(name)) this.#sessions.set(name, this.module.openSession(this.policy))
    return this.#sessions.get(name)
  }

  closeSession(name = 's') {
    this.module.closeSession(this.policy, this.session(name))
  }

  endTurn(name = 's') {
    this.module.endTurn(this.policy, this.session(name))
  }

  /** The word of a judged call. */
  word({ call = `call ${this.#calls.size}`, tool, args, session, place = 'host', turn = 1, step = 1, hidden = false }) {
    if (!this.#calls.has(call)) this.#calls.set(call, this.#calls.size)
    const id = this.module.toolId(this.policy, tool)
    this.#tools.set(call, id)
    const agent = place === 'host' || place === 'counted'
    const where = places[place] | (hidden ? addon.PLACE_CONTROL_HIDDEN : 0)
    const slot = agent ? this.session(session) : 0
    return this.module.judge(this.policy, this.#calls.get(call), id, where, slot, turn, step, args)
  }

  lastJudged() {
    return this.module.lastJudged(this.policy)
  }

  /** A judged call in readable form; which argument is at fault, and what each guard found, is asked apart. */
  judge(call) {
    const { argument, findings, ...said } = this.module.describe(this.word(call))
    return said
  }

  settle({ call, session, step = 1, reached = true, isError = false, declared, value }) {
    if (!this.#calls.has(call)) this.#calls.set(call, this.#calls.size)
    const said = { simple: addon.FACT_DECLARED_SIMPLE, complex: addon.FACT_DECLARED_COMPLEX }[declared] ?? 0
    const facts = said | (reached ? addon.FACT_REACHED : 0) | (isError ? addon.FACT_ERROR : 0)
    const id = this.#calls.get(call)
    const tool = this.#tools.get(call) ?? this.module.toolId(this.policy, search)
    const word = this.module.settle(this.policy, this.session(session), id, tool, facts, step, value)
    const { outcome = null, observations } = this.module.describeSettlement(word)
    return { outcome, observations }
  }

  /** A declaration that is judged, runs and succeeds. */
  classify(task, place = {}) {
    const call = `classify ${this.#calls.size}`
    const { code } = this.judge({ call, tool: control, ...place })
    return { code, ...this.settle({ call, session: place.session, step: place.step, declared: task }) }
  }

  /** A lookup of step 1 that answers this. */
  lookUp(value) {
    const call = `look up ${this.#calls.size}`
    this.word({ call, tool: search })
    return this.settle({ call, value })
  }

  holdings() {
    return this.module.holdings(this.policy)
  }
}

/** What the addon answers to a text, as the bridge delivers it. @param {string} text */
export const answer = text => ({ content: [{ type: 'text', text }], structuredContent: { result: text } })

export const hits = answer('# Search Results: x')

/** Policies of every mode and profile, to ask what a verdict becomes. */
const modes = ['off', 'audit', 'enforce'].flatMap(mode =>
  ['compat', 'strict'].map(profile => ({ mode, profile, policy: addon.createPolicy({ mode, profile }) })),
)

/** What a verdict becomes in all twelve combinations. @param {number} word */
export const becomes = word =>
  Object.fromEntries(
    modes.flatMap(({ mode, profile, policy }) =>
      [false, true].map(canAsk => [
        `${mode}, ${profile}, can ask: ${canAsk}`,
        words.enforcements[addon.enforcement(policy, word, canAsk)],
      ]),
    ),
  )

/** The same from a vector's columns. @param {Record<string, string>} columns */
export const expectedBecomes = columns =>
  Object.fromEntries(
    modes.flatMap(({ mode, profile }) =>
      [false, true].map(canAsk => {
        const enforce = profile === 'compat' ? columns.compat : canAsk ? columns.strictAsk : columns.strict
        return [`${mode}, ${profile}, can ask: ${canAsk}`, mode === 'enforce' ? enforce : columns[mode]]
      }),
    ),
  )

/** The policy of enforce with a profile. @param {string} profile */
export const enforcing = profile => modes.find(m => m.mode === 'enforce' && m.profile === profile)?.policy
