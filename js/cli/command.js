/**
 * What the commands share: options, exit codes, the addon.
 */
import { readFileSync, statSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadAddon } from '../native.js'
import { dshHome, storagesOf } from './home.js'
import { shown } from './terminal.js'

/**
 * @typedef {object} Command
 * @property {string} about one line
 * @property {string} help
 * @property {(argv: string[], terminal: import('./terminal.js').Terminal) => number | Promise<number>} run
 */

/** Exit codes; the overview of the command and docs/AUDIT.md explain them. */
export const EXIT = Object.freeze({ well: 0, found: 1, usage: 2, unreadable: 3, warned: 4 })

/** An end with a sentence for the user. */
export class Failure extends Error {
  /** @param {string} message @param {number} [code] */
  constructor(message, code = EXIT.usage) {
    super(message)
    this.code = code
  }
}

export const { version } = /** @type {{ version: string }} */ (
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
)

/** The addon; a missing one ends the command with its own explanation. @returns {import('../native.js').Addon} */
export function addon() {
  try {
    return loadAddon()
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error), EXIT.unreadable)
  }
}

/** Options that say where the trail is. */
export const whereOptions = /** @type {const} */ ({ home: { type: 'string' }, storages: { type: 'string' } })

export const whereHelp = `  --home DIR          the Harness's home (default: $DSH_HOME, else ~/.dsh)
  --storages DIR      the folder of storages itself, where the profile's storage row names another`

/** Options that select records. */
export const filterOptions = /** @type {const} */ ({
  session: { type: 'string', multiple: true },
  turn: { type: 'string', multiple: true },
  since: { type: 'string' },
  until: { type: 'string' },
  tool: { type: 'string', multiple: true },
  code: { type: 'string', multiple: true },
  decision: { type: 'string', multiple: true },
  enforcement: { type: 'string', multiple: true },
})

export const filterHelp = `  --session ID        a session, or how its id begins; like all filters but the times, may be given again
  --turn N
  --since, --until T  a date (2026-02-28, 2026-02-28T12:00Z) or an age (30m, 12h, 7d)
  --tool NAME         public or raw name
  --code CODE         of the verdict, or observed; dsh-bmpp explain --list names them
  --decision D        allow, deny
  --enforcement E     allowed, denied, asked, overridden`

/**
 * @template {import('node:util').ParseArgsConfig['options']} T
 * @param {string[]} argv
 * @param {T} options
 * @param {boolean} [positionals]
 */
export function parse(argv, options, positionals = false) {
  try {
    return parseArgs({ args: withNumbers(argv, options), options, allowPositionals: positionals, strict: true })
  } catch (error) {
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const [, given = ''] = /'(-[^']*)'/.exec(message) ?? []
    if (code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION') {
      const meant = nearest(given.replace(/^-+/, ''), [...Object.keys(options ?? {}), 'help'])
      throw new Failure(`Unknown option '${shown(given)}'${meant === undefined ? '' : `; did you mean --${meant}?`}`)
    }
    throw new Failure(error instanceof Error ? error.message : String(error))
  }
}

/**
 * A value below zero belongs to the option before it, whose own check says what it takes; Node would take it for an option.
 * @param {string[]} argv
 * @param {import('node:util').ParseArgsConfig['options']} options
 */
function withNumbers(argv, options) {
  /** @type {string[]} */
  const joined = []
  for (const [index, word] of argv.entries()) {
    const before = argv[index - 1] ?? ''
    const takes = before.startsWith('--') && options?.[before.slice(2)]?.type === 'string'
    if (takes && /^-\d/.test(word)) joined[joined.length - 1] = `${before}=${word}`
    else joined.push(word)
  }
  return joined
}

/**
 * The home that the options name. One that is given must be there: an answer of another place would be a wrong one.
 * @param {{ home?: string }} values
 */
export function homeFrom({ home }) {
  if (home !== undefined) checkFolder('home', dshHome(home), home)
  return dshHome(home)
}

/**
 * The folder of storages that the options name.
 * @param {{ home?: string, storages?: string }} values
 */
export function storagesFrom({ home, storages }) {
  if (storages === undefined) return storagesOf(homeFrom({ home }))
  checkFolder('storages', storages, storages)
  return storages
}

/** @param {string} option @param {string} folder @param {string} given */
function checkFolder(option, folder, given) {
  if (given.trim() === '') throw new Failure(`--${option} takes a folder, not an empty text`)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (found?.isDirectory()) return
  throw new Failure(`--${option}: ${folder} ${found === undefined ? 'is not there' : 'is no folder'}`, EXIT.unreadable)
}

/** What the file system's own words mean, where they are met most. @type {Record<string, string>} */
const TROUBLE = {
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is no folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOSPC: 'no space is left',
  EROFS: 'the file system is read-only',
}

/** Why a command ended, in a sentence. @param {unknown} error */
export function messageOf(error) {
  if (!(error instanceof Error)) return String(error)
  const { code, path } = /** @type {NodeJS.ErrnoException} */ (error)
  const trouble = code === undefined ? undefined : TROUBLE[code]
  return path === undefined || trouble === undefined ? error.message : `${path}: ${trouble}`
}

/**
 * The words that a typo was probably meant to be, the nearest first: at most a third of one wrong, and case aside.
 * @param {string} given
 * @param {readonly string[]} words
 */
export function allNear(given, words) {
  if (given.length > 64) return []
  return words
    .map(word => ({ word, wrong: distance(given.toLowerCase(), word.toLowerCase()) }))
    .filter(({ word, wrong }) => wrong <= Math.max(1, word.length / 3))
    .sort((a, b) => a.wrong - b.wrong)
    .map(({ word }) => word)
}

/** The nearest of them. @param {string} given @param {readonly string[]} words */
export const nearest = (given, words) => allNear(given, words)[0]

/** What a code may be written as: in any case, its words joined by `_`, `-` or a space. @param {string} text */
export const asCode = text => text.trim().toUpperCase().replaceAll(/[- ]/g, '_')

/** Codes and observations: what stands in the code or the observations of a record. */
function codesOfRecords() {
  const native = addon()
  const { codes, observations } = native.vocabulary()
  return [...new Set([...codes.map(({ name }) => name), ...observations])]
}

/** Near words that an error names. */
const NEAR = 3

/**
 * Codes that were asked for. One that no record can have is an error: an empty answer would look like a true one. But a
 * damaged record, or one of another version, may have any, and what a list of records shows can be asked for.
 * @param {string[]} [given]
 * @param {string} [storages]
 */
function codesFrom(given = [], storages) {
  if (given.length === 0) return []
  const known = codesOfRecords()
  return given.flatMap(text => {
    const code = asCode(text)
    if (known.includes(code)) return [code]
    const written = [...new Set([code, text.trim()])].filter(word => word !== '')
    if (storages !== undefined && written.length > 0 && occurs(written, storages)) return written
    // A word that is left out, or one too many, is no typo; what holds it may be meant all the same.
    const near = [
      ...new Set([...allNear(code, known), ...known.filter(name => code !== '' && name.includes(code))]),
    ].slice(0, NEAR)
    const none = `--code: no record has the code "${shown(text)}"`
    const other = addon().explainCode(text)
    if (other !== null) {
      const what = other.kind === 'problem' ? 'the code of a problem of the configuration' : 'a word of other fields'
      throw new Failure(`${none}: it is ${what}; dsh-bmpp explain ${other.name} says what it means`)
    }
    const hint = near.length === 0 ? '' : `; did you mean ${either(near)}?`
    throw new Failure(`${none}${hint}${hint === '' ? ';' : ''} dsh-bmpp explain --list names them all`)
  })
}

/** Whether a record has one of these codes. @param {string[]} codes @param {string} storages */
function occurs(codes, storages) {
  let found = false
  const take = () => {
    found = true
    return false
  }
  addon().auditSelect(storages, JSON.stringify({ codes }), take, () => {})
  return found
}

/** @param {readonly string[]} words */
const either = words => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`)

/** Levenshtein's distance. @param {string} a @param {string} b */
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (const [i, from] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, to] of [...b].entries()) {
      next.push(Math.min((row[j] ?? 0) + Number(from !== to), (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

/**
 * The filter that the options ask for.
 * @param {Record<string, any>} values
 * @param {object} [on]
 * @param {number} [on.now] milliseconds since 1970
 * @param {string} [on.storages] where the trail is: a code that occurs there may be asked for
 * @returns {string} as the addon takes it
 */
export function filterFrom(values, { now = Date.now(), storages } = {}) {
  const turns = (values.turn ?? []).map((/** @type {string} */ text) => wholeNumber('turn', text))
  const since = values.since === undefined ? undefined : timeFrom('since', values.since, now)
  const until = values.until === undefined ? undefined : timeFrom('until', values.until, now)
  if (since !== undefined && until !== undefined && since >= until) {
    const ages = AGE.test(values.since) && AGE.test(values.until)
    const hint = ages ? '; an age counts back from now, so the greater one is the earlier' : ''
    throw new Failure(`--since ${values.since} is not before --until ${values.until}: nothing lies between them${hint}`)
  }
  return JSON.stringify({
    sessions: values.session ?? [],
    turns,
    ...(since === undefined ? {} : { since }),
    ...(until === undefined ? {} : { until }),
    tools: values.tool ?? [],
    codes: codesFrom(values.code, storages),
    decisions: oneOf('decision', values.decision, ['allow', 'deny']),
    enforcements: oneOf('enforcement', values.enforcement, ['allowed', 'denied', 'asked', 'overridden']),
  })
}

/** Words of a closed list, in any case. @param {string} option @param {string[] | undefined} given @param {string[]} allowed */
function oneOf(option, given = [], allowed) {
  return given.map(text => {
    const value = text.trim().toLowerCase()
    if (allowed.includes(value)) return value
    const meant = nearest(value, allowed)
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    throw new Failure(`--${option} is one of ${allowed.join(', ')}; not "${shown(text)}"${hint}`)
  })
}

/** @param {string} option @param {string} text */
export function wholeNumber(option, text) {
  if (!/^\d{1,9}$/.test(text)) throw new Failure(`--${option} takes a whole number of 0 or more, not "${shown(text)}"`)
  return Number(text)
}

const AGE = /^(\d{1,6})([mhdw])$/
const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * @param {string} option
 * @param {string} text
 * @param {number} now
 * @returns {number} milliseconds since 1970
 */
export function timeFrom(option, text, now) {
  const age = AGE.exec(text)
  if (age !== null) return now - Number(age[1]) * UNITS[/** @type {keyof typeof UNITS} */ (age[2])]
  const time = Date.parse(text)
  if (Number.isNaN(time) || time < 0) {
    throw new Failure(`--${option} takes a date such as 2026-02-28 or an age such as 12h, not "${shown(text)}"`)
  }
  return time
}
