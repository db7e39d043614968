/**
 * What the product says of itself, to be held against what the pages say: the addon's vocabulary, what a configuration does to
 * verdicts, and what only the sources name.
 */
import { readFileSync } from 'node:fs'
import { runInNewContext } from 'node:vm'
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

/** The codes of configuration problems, as their names in Rust become them. */
export const problemCodes = () => [
  ...new Set(
    [...source('src/config/read.rs').matchAll(/ProblemCode::(\w+)/g)].map(([, name = '']) =>
      name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase(),
    ),
  ),
]

/** The public name of a tool of the memory server. @param {string} raw */
export const memory = raw => `mcp__basic-memory__${raw}`

/** A text result as the bridge delivers it. @param {string} text */
export const textResult = text => ({ content: [{ type: 'text', text }] })

/**
 * The evidence table, from its source: what Rust holds as data is written so that little makes JavaScript of it.
 * @returns {{ tool: string, place: string, rules: { outcome: string, marks: { kind: string, values: unknown[] }[] }[] }[]}
 */
export function evidenceTable() {
  const script = `const DONE:${between('src/evidence/table.rs', '\nconst DONE:', "/// The table's entry")}`
    .replace(/^\s*\/\/.*$/gm, '')
    .replace(/^(?:pub )?const (\w+): [^=]* =/gm, 'const $1 =')
    .replaceAll('&[', '[')
    .replaceAll('Entry {', '{')
    .replace(/Place::(\w+)/g, "'$1'")
    .replace(/Outcome::NotFound \{ sure: (\w+) \}/g, "$1 ? 'Absent' : 'NotFound'")
    .replace(/Outcome::(\w+)/g, "'$1'")
    .replace(/Mark::(\w+)\(/g, "mark('$1', ")
    .replace(/Mark::(\w+)/g, "mark('$1')")
  return runInNewContext(`
    const rule = (outcome, marks) => ({ outcome, marks })
    const mark = (kind, ...values) => ({ kind, values })
    ${script}; TABLE`)
}

/** What a mark of the evidence table says, in the words of the page. */
const MARKS = {
  Starts: text => `begins with ${shown(text)}`,
  Heads: text => `begins with ${shown(text)}, white space before it aside`,
  WrapsError: () => 'is the frame of a view around a refused path',
  AnyText: () => 'is any other text',
  AnyList: () => 'is any other list',
  Is: value => `is ${value}`,
  Word: (field, text) => `\`${field}\` is ${shown(text)}`,
  Opens: (field, text) => `\`${field}\` begins with ${shown(text)}`,
  Flag: (field, value) => `\`${field}\` is ${value}`,
  Has: field => `has \`${field}\``,
  Lacks: field => `has no \`${field}\``,
  Items: field => `\`${field}\` lists something`,
  NoItems: field => `\`${field}\` is an empty list`,
}

const OUTCOMES = {
  Done: 'done',
  Empty: 'empty',
  Absent: 'not found, proven',
  NotFound: 'not found',
  Failed: 'failed',
  Partly: 'partly',
  Unknown: 'unknown',
}

/** A text in a code span; GitHub trims it, and a line break is written as in source. @param {string} text */
const shown = text => `\`${text.replaceAll('\n', '\\n')}\``

/** The rules of one tool as rows of the page. @param {ReturnType<typeof evidenceTable>[number]} entry */
export const evidenceRows = ({ rules }) =>
  rules.map(({ outcome, marks }) => [
    marks.map(({ kind, values }) => MARKS[kind](...values)).join(' and '),
    OUTCOMES[outcome],
  ])

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
 * @param {string} [raw]
 */
export function lookup(value, facts = 0, raw = 'search_notes') {
  const session = play({})
  try {
    return session.settle(session.judge(memory(raw), 1), facts, 1, value)
  } finally {
    session.done()
  }
}

const write = { title: 'T', directory: 'd', content: 'C' }

/** A result that the server gives when a call is done, where an example gives none. */
const DONE = {
  search_notes: '# Search Results: x',
  write_note: '# Created note\n',
  edit_note: '# Edited note (append)\n',
  move_note: '✅ Note moved',
}

/**
 * Plays an example of docs/POLICY.md: lines of `message  tool arguments → verdict → answer`, where the answer may be left out
 * and `timeout` is one that never came.
 * @param {string} text
 * @returns {{ verdicts: { expected: string, found: string }[], told: string | undefined }} what the last denial says
 */
export function playExample(text) {
  const lines = text.replace(/\n +/g, ' ').split('\n')
  const configured = /^config (.*)$/.exec(lines[0] ?? '')
  const session = play(configured ? JSON.parse(configured[1] ?? '') : { profile: 'strict' })
  const verdicts = []
  let told
  try {
    for (const line of configured ? lines.slice(1) : lines) {
      const [, step, raw = '', json = '', expected = '', answer] =
        /^(\d+) +(\w+) (\{.*?\}) → ([A-Z_]+(?: \+ [A-Z_]+)*)(?: → (.*))?$/.exec(line) ?? []
      if (step === undefined) throw new Error(`not a line of an example: ${line}`)
      const args = JSON.parse(json)
      const at = Number(step)
      const judged = session.judge(raw === 'bmpp__classify' ? raw : memory(raw), at, args)
      // A read is always observed as none that is a lookup; that is no news.
      const observed = judged.observations.filter(name => name !== 'READ_ONLY_NOT_RECALL')
      verdicts.push({ expected, found: [judged.code, ...observed].join(' + ') })
      if (judged.decision === 'deny' || judged.destructive)
        told = addon.denialText(session.policy, judged.word, judged.tool)
      if (judged.decision === 'deny') continue
      if (raw === 'bmpp__classify') {
        session.settle(judged, args.task === 'simple' ? addon.FACT_DECLARED_SIMPLE : addon.FACT_DECLARED_COMPLEX, at)
      } else if (answer === 'timeout') session.settle(judged, addon.FACT_ERROR, at, 'Request timed out')
      else session.settle(judged, 0, at, textResult(answer ?? DONE[raw] ?? 'x'))
    }
  } finally {
    session.done()
  }
  return { verdicts, told }
}

/** Calls that a guard has something to say of, or an option of theirs. @param {unknown} config */
function guarded(config) {
  const session = play(config)
  session.classify('simple')
  const words = []
  const call = (raw, args, answer) => {
    const judged = session.judge(memory(raw), 2, args)
    words.push(judged.word)
    if (judged.decision === 'allow') session.settle(judged, 0, 2, textResult(answer ?? '# Created note\n'))
  }
  const note = { title: 'T', directory: 'd', content: 'C', project: 'main' }
  const label = '[test-fixture]'
  call('write_note', { ...note, directory: '../d' })
  call('write_note', { ...note, overwrite: true })
  call('write_note', { ...note, title: 'U' })
  call('write_note', { ...note, title: 'U' })
  call('write_note', { title: 'V', directory: 'd', content: 'C' })
  call('write_note', { ...note, title: 'W', tags: [`ghp_${'aB3'.repeat(12)}`] })
  call('write_note', { ...note, title: 'X', content: `ghp_${'aB3'.repeat(12)}` })
  for (const directory of ['d', 'tests', 'archive/policy-tests'])
    call('write_note', { ...note, directory, tags: label })
  call('write_note', { ...note, title: 'Y', content: label })
  session.done()
  return words
}

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
  return JSON.stringify({ reading, info, classes, enforcements, words, search, guarded: guarded(config) })
}
