/**
 * `dsh-bmpp explain`: what a word means that the product prints.
 */
import { addon, asCode, EXIT, Failure, nearest, parse } from './command.js'
import { shown, wrap } from './terminal.js'

/** @type {import('./command.js').Command} */
export const explain = {
  about: 'says what a code or a word means, what the model is told, and what to do',
  help: `dsh-bmpp explain: says what a code or a word means, what the model is told, and what to do

Usage: dsh-bmpp explain WORD... | --list [--json]

A word is a code of a verdict, an observation, the code of a problem of the configuration, or what a record says in one
word: overridden, not-known, satisfied.

  --list              every word
  --json              as JSON

Examples:
  dsh-bmpp explain CREATE_REQUIRES_SEARCH
  dsh-bmpp explain recall-empty
  dsh-bmpp explain INVALID_NUMBER overridden
  dsh-bmpp explain --list

Exit codes: 0 · 1 an unknown word · 2 wrong usage
`,
  run(argv, terminal) {
    const { values, positionals } = parse(argv, { list: { type: 'boolean' }, json: { type: 'boolean' } }, true)
    const native = addon()
    const names = values.list ? native.explainedCodes() : positionals
    if (names.length === 0) throw new Failure('name a code or another word, or give --list')
    let unknown = false
    const explained = []
    for (const name of names) {
      const found = native.explainCode(name)
      if (found === null) {
        unknown = true
        terminal.error(`${shown(name)}: ${notExplained(name, native)}\n`)
      } else explained.push(found)
    }
    if (values.json) terminal.out(`${JSON.stringify(explained, null, 2)}\n`)
    else if (values.list) {
      terminal.out(terminal.table(explained.map(({ name, kind, meaning }) => [name, kind, meaning])))
    } else terminal.out(explained.map(found => text(found, terminal)).join('\n'))
    return unknown ? EXIT.found : EXIT.well
  },
}

/** Of fewer letters, one that is wrong makes another word. */
const NEAR_FROM = 5

/** Fields of records; docs/AUDIT.md has a line on each. */
export const FIELDS = Object.freeze(
  `bmpp kind load seq order time host plugin policy mode profile config standing pid node platform reloadGapMs session life turn
  countedTurn event place step number call tool class target facts controlHidden canAsk findings argument secretClass decision
  code observations classification lookup enforcement at by reached isError declared arrived outcome happened approved from
  why`.split(/\s+/),
)

/**
 * Why a word is not explained, and where what it means is told.
 * @param {string} name
 * @param {import('../native.js').Addon} native
 */
function notExplained(name, native) {
  const raw = name.trim().replace(/^mcp__.+?__/, '')
  const tool = native.vocabulary().tools.find(({ name: of }) => of === raw)
  if (raw === 'bmpp__classify') return 'the tool with which a model declares its turn; dsh-bmpp explain control'
  if (tool !== undefined)
    return `a tool of the memory server, by default of the class ${tool.class}; dsh-bmpp explain ${tool.class} says what that is, and the README has every class with its tools`
  const what = [
    ...(isKey(raw, native) ? ['a key of the configuration: the README has every key'] : []),
    ...(FIELDS.includes(raw) ? ['a field of records: docs/AUDIT.md has every field'] : []),
  ]
  if (what.length > 0) return `${what.join('; ')}; dsh-bmpp explain takes the words that can stand in it`
  const words = new Map(
    native.explainedCodes().flatMap(word => (word.length < NEAR_FROM ? [] : [[asCode(word), word]])),
  )
  const meant = words.get(nearest(asCode(name), [...words.keys()]) ?? '')
  const hint = meant === undefined ? ';' : `; did you mean ${meant}?`
  return `no word of this version${hint} dsh-bmpp explain --list names them all`
}

/** Whether a configuration may have the key. @param {string} name @param {import('../native.js').Addon} native */
const isKey = (name, native) =>
  name !== '' &&
  native.readConfig({ [name]: null }).problems.every(({ code }) => !['UNKNOWN_KEY', 'AMBIGUOUS_MODE'].includes(code))

/** @type {Record<string, string>} */
const KINDS = {
  allow: 'the call is let through',
  recoverable: 'the call is denied, and one next call of the model cures it',
  terminal: 'the call is denied, and no next call of the model cures it',
  observation: 'observed, decides nothing',
  problem: 'dsh does not boot with this configuration',
  word: 'a word of records and configurations',
}

/**
 * @param {import('../../index.js').CodeExplanation} found
 * @param {import('./terminal.js').Terminal} terminal
 */
function text({ name, kind, since, meaning, advice, told, observed }, terminal) {
  const also = observed && kind !== 'observation' ? '; also observed where a guard only warns' : ''
  const parts = [
    `${terminal.paint('bold', name)}  ${KINDS[kind]}${also} (since policy ${since})`,
    wrap(meaning),
    ...(told ? [wrap(`The model is told: ${told}`)] : []),
    ...(advice ? [wrap(`What to do: ${advice}`)] : []),
  ]
  return `${parts.join('\n')}\n`
}
