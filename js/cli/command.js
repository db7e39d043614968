/**
 * What the commands share: options, exit codes, the addon.
 */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { loadAddon } from '../native.js'
import { dshHome, storagesOf } from './home.js'

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
  --code CODE         of the verdict, or observed
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
    return parseArgs({ args: argv, options, allowPositionals: positionals, strict: true })
  } catch (error) {
    throw new Failure(error instanceof Error ? error.message : String(error))
  }
}

/**
 * The folder of storages that the options name.
 * @param {{ home?: string, storages?: string }} values
 */
export const storagesFrom = ({ home, storages }) => storages ?? storagesOf(dshHome(home))

/**
 * The filter that the options ask for.
 * @param {Record<string, any>} values
 * @param {number} [now] milliseconds since 1970
 * @returns {string} as the addon takes it
 */
export function filterFrom(values, now = Date.now()) {
  const turns = (values.turn ?? []).map((/** @type {string} */ text) => wholeNumber('turn', text))
  return JSON.stringify({
    sessions: values.session ?? [],
    turns,
    ...(values.since === undefined ? {} : { since: timeFrom('since', values.since, now) }),
    ...(values.until === undefined ? {} : { until: timeFrom('until', values.until, now) }),
    tools: values.tool ?? [],
    codes: (values.code ?? []).map((/** @type {string} */ code) => code.toUpperCase()),
    decisions: oneOf('decision', values.decision, ['allow', 'deny']),
    enforcements: oneOf('enforcement', values.enforcement, ['allowed', 'denied', 'asked', 'overridden']),
  })
}

/** @param {string} option @param {string[] | undefined} given @param {string[]} allowed */
function oneOf(option, given = [], allowed) {
  for (const value of given) {
    if (!allowed.includes(value)) throw new Failure(`--${option} is one of ${allowed.join(', ')}; not "${value}"`)
  }
  return given
}

/** @param {string} option @param {string} text */
export function wholeNumber(option, text) {
  if (!/^\d{1,9}$/.test(text)) throw new Failure(`--${option} takes a whole number, not "${text}"`)
  return Number(text)
}

const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/**
 * @param {string} option
 * @param {string} text
 * @param {number} now
 * @returns {number} milliseconds since 1970
 */
export function timeFrom(option, text, now) {
  const age = /^(\d{1,6})([mhdw])$/.exec(text)
  if (age !== null) return now - Number(age[1]) * UNITS[/** @type {keyof typeof UNITS} */ (age[2])]
  const time = Date.parse(text)
  if (Number.isNaN(time) || time < 0) {
    throw new Failure(`--${option} takes a date such as 2026-02-28 or an age such as 12h, not "${text}"`)
  }
  return time
}
