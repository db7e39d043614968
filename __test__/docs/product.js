/**
 * What the product says of itself, to be held against what the pages say: the addon's vocabulary, what a configuration does to
 * verdicts, and what only the sources name.
 */
import { readFileSync } from 'node:fs'
import { loadAddon } from '../../js/native.js'
import { inRoot } from '../../scripts/lib/project.mjs'

export const addon = loadAddon()
export const vocabulary = addon.vocabulary()

/** @param {string} path from the root */
export const source = path => readFileSync(inRoot(path), 'utf8')

/** The part of a source between two marks. @param {string} path @param {string} from @param {string} to */
export function between(path, from, to) {
  const text = source(path)
  const start = text.indexOf(from)
  const end = text.indexOf(to, start + from.length)
  if (start < 0 || end < 0) throw new Error(`${path} has no part from "${from}" to "${to}"`)
  return text.slice(start + from.length, end)
}

/** The public name of a tool of the memory server. @param {string} raw */
export const memory = raw => `mcp__basic-memory__${raw}`

/** A text result as the bridge delivers it. @param {string} text */
export const textResult = text => ({ content: [{ type: 'text', text }] })

/** One session of a policy, for a few calls in a row. @param {unknown} config */
export function play(config) {
  const policy = addon.createPolicy(config)
  const session = addon.openSession(policy)
  let call = 0
  return {
    policy,
    /** @param {string} name @param {number} step @param {unknown} [args] */
    judge(name, step, args) {
      call += 1
      const tool = addon.toolId(policy, name)
      const word = addon.judge(policy, call, tool, addon.PLACE_HOST_TURN, session, 1, step, args)
      return { call, tool, word, ...addon.describe(word) }
    },
    /** @param {{ call: number, tool: number }} judged @param {number} facts @param {number} step @param {unknown} [value] */
    settle({ call: number, tool }, facts, step, value) {
      return addon.describeSettlement(
        addon.settle(policy, session, number, tool, addon.FACT_REACHED | facts, step, value),
      )
    },
    /** @param {'simple' | 'complex'} task */
    classify(task) {
      const judged = this.judge('bmpp__classify', 1)
      return this.settle(judged, task === 'simple' ? addon.FACT_DECLARED_SIMPLE : addon.FACT_DECLARED_COMPLEX, 1)
    },
    done: () => addon.dropPolicy(policy),
  }
}

/**
 * What a lookup with this result proves.
 * @param {unknown} value
 * @param {number} [facts]
 */
export function lookup(value, facts = 0) {
  const session = play({})
  try {
    return session.settle(session.judge(memory('search_notes'), 1), facts, 1, value)
  } finally {
    session.done()
  }
}

const write = { title: 'T', directory: 'd', content: 'C' }

/**
 * Everything that a configuration changes, as far as can be seen from outside: two configurations with one fingerprint do the
 * same. Throws for one with problems.
 * @param {unknown} config
 */
export function fingerprint(config) {
  const reading = addon.readConfig(config)
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems))
  const names = [...vocabulary.tools.map(({ name }) => name), 'unheard_of', 'note_statistics'].map(memory)

  const simple = play(config)
  simple.classify('simple')
  const unknown = simple.judge(memory('unheard_of'), 2, {})
  const destructive = simple.judge(memory('delete_note'), 2, { identifier: 'd/T' })
  const enforcements = [unknown, destructive].map(({ word }) => addon.enforcement(simple.policy, word, true))
  const info = addon.policyInfo(simple.policy)
  const classes = names.map(name => addon.toolId(simple.policy, name)).map(id => (id === 0 ? '' : addon.toolClass(id)))
  simple.done()

  const complex = play(config)
  complex.classify('complex')
  const unsearched = complex.judge(memory('write_note'), 2, write)
  const search = complex.settle(complex.judge(memory('search_notes'), 3), 0, 3, textResult('# Search Failed'))
  const searched = complex.judge(memory('edit_note'), 4, {})
  complex.done()

  const words = [unknown, destructive, unsearched, searched].map(({ word }) => word)
  return JSON.stringify({ reading, info, classes, enforcements, words, search })
}
