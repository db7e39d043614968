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
        const words = new Map(native.explainedCodes().map(word => [asCode(word), word]))
        const meant = words.get(nearest(asCode(name), [...words.keys()]) ?? '')
        const hint = meant === undefined ? ';' : `; did you mean ${meant}?`
        terminal.error(`${shown(name)}: no word of this version${hint} dsh-bmpp explain --list names them all\n`)
      } else explained.push(found)
    }
    if (values.json) terminal.out(`${JSON.stringify(explained, null, 2)}\n`)
    else if (values.list) {
      terminal.out(terminal.table(explained.map(({ name, kind, meaning }) => [name, kind, meaning])))
    } else terminal.out(explained.map(found => text(found, terminal)).join('\n'))
    return unknown ? EXIT.found : EXIT.well
  },
}

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
