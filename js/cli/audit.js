/**
 * `dsh-bmpp audit`: the records themselves.
 */
import {
  addon,
  EXIT,
  Failure,
  filterFrom,
  filterHelp,
  filterOptions,
  parse,
  storagesFrom,
  whereHelp,
  whereOptions,
  wholeNumber,
} from './command.js'
import { count, tellBroken, when } from './terminal.js'

const LIMIT = 50

/** @type {import('./command.js').Command} */
export const audit = {
  about: 'lists what was decided, and what became of it',
  help: `dsh-bmpp audit: lists what was decided, and what became of it

Usage: dsh-bmpp audit [filters] [--json | --ndjson] [--limit N]

A table has one line for each decision, the last ${LIMIT} of them. --json and --ndjson give the records as they are
stored, all kinds of them and all that the filters take; a settlement goes with its decision. So --limit counts a call
with all its records as one there, and any other record by itself.

${filterHelp}
  --limit N           the last N decisions, or calls and other records; 0: all (default: ${LIMIT} in a table, else all)
  --json              one JSON list
  --ndjson            one record a line, for jq, DuckDB, ClickHouse, Vector
${whereHelp}

Examples:
  dsh-bmpp audit --since 1d
  dsh-bmpp audit --decision deny --tool write_note
  dsh-bmpp audit --session session-70af --turn 3 --limit 0
  dsh-bmpp audit --decision deny --json --limit 1
  dsh-bmpp audit --ndjson --since 7d > week.ndjson
  dsh-bmpp audit --ndjson | jq 'select(.kind=="settlement" and .happened=="failed").tool'

Exit codes: 0 · 2 wrong usage · 3 the trail cannot be read
`,
  run(argv, terminal) {
    const { values } = parse(argv, {
      ...whereOptions,
      ...filterOptions,
      limit: { type: 'string' },
      json: { type: 'boolean' },
      ndjson: { type: 'boolean' },
    })
    if (values.json && values.ndjson) throw new Failure('--json and --ndjson exclude each other')
    const storages = storagesFrom(values)
    const filter = filterFrom(values, { storages })
    const raw = values.json === true || values.ndjson === true
    const limit = values.limit === undefined ? (raw ? 0 : LIMIT) : wholeNumber('limit', values.limit)
    /** @param {(lines: string) => boolean} take */
    const select = take => JSON.parse(addon().auditSelect(storages, filter, take, terminal.progress('reading')))
    const tally = raw ? printRaw(select, limit, values.json === true, terminal) : printTable(select, limit, terminal)
    if (tally.layouts.length === 0) terminal.error(`no trail in ${storages}\n`)
    tellBroken(tally, terminal)
    return EXIT.well
  },
}

/** @typedef {(take: (lines: string) => boolean) => any} Select */

/**
 * @param {Select} select
 * @param {number} limit
 * @param {boolean} asList
 * @param {import('./terminal.js').Terminal} terminal
 */
function printRaw(select, limit, asList, terminal) {
  let first = true
  /** @param {string[]} lines */
  const print = lines => {
    if (lines.length === 0) return true
    const text = asList ? `${first ? '' : ',\n'}${lines.join(',\n')}` : `${lines.join('\n')}\n`
    first = false
    return terminal.out(text)
  }
  if (asList) terminal.out('[\n')
  const last = new Last(limit)
  const tally = select(text => {
    const lines = text.trimEnd().split('\n')
    if (limit === 0) return print(lines)
    for (const line of lines) last.take(line)
    return true
  })
  print(last.lines())
  if (asList) terminal.out(first ? ']\n' : '\n]\n')
  return tally
}

/** The last records as they go by: what belongs to one call stays together and counts once. */
class Last {
  #limit
  #taken = 0
  /** By call, or by its place for what is no call's: each in the order of its first record. @type {Map<string, Array<{ line: string, at: number }>>} */
  #kept = new Map()
  /** Calls that were let go, whose settlement may be still to come. @type {Set<string>} */
  #gone = new Set()

  /** @param {number} limit */
  constructor(limit) {
    this.#limit = limit
  }

  /** @param {string} line */
  take(line) {
    const at = this.#taken++
    const { kind, load, number } = JSON.parse(line)
    const isCall = (kind === 'decision' || kind === 'settlement') && Number.isInteger(number)
    const key = isCall ? `${load} ${number}` : String(at)
    if (this.#gone.has(key)) {
      if (kind === 'settlement') this.#gone.delete(key)
      return
    }
    const kept = this.#kept.get(key)
    if (kept !== undefined) {
      kept.push({ line, at })
      return
    }
    this.#kept.set(key, [{ line, at }])
    if (this.#kept.size <= this.#limit) return
    const [first = ''] = this.#kept.keys()
    const open =
      first.includes(' ') && !this.#kept.get(first)?.some(({ line: of }) => of.includes('"kind":"settlement"'))
    this.#kept.delete(first)
    if (open) this.#gone.add(first)
  }

  /** In the order in which they went by. */
  lines() {
    return [...this.#kept.values()]
      .flat()
      .sort((a, b) => a.at - b.at)
      .map(({ line }) => line)
  }
}

/** Colours of what the mode made of a verdict. @type {Record<string, 'red' | 'yellow' | 'blue'>} */
const COLOUR = { denied: 'red', overridden: 'yellow', asked: 'blue' }

/**
 * @param {Select} select
 * @param {number} limit
 * @param {import('./terminal.js').Terminal} terminal
 */
function printTable(select, limit, terminal) {
  /** @type {Array<{ record: any, happened: string }>} */
  let rows = []
  /** Rows that wait for a settlement. @type {Map<string, { happened: string }>} */
  const open = new Map()
  let seen = 0
  const tally = select(text => {
    for (const line of text.trimEnd().split('\n')) {
      const record = JSON.parse(line)
      const call = `${record.load} ${record.number}`
      if (record.kind === 'decision') {
        seen += 1
        const row = { record, happened: '' }
        rows.push(row)
        open.set(call, row)
        if (limit > 0 && rows.length > 2 * limit) rows = rows.slice(-limit)
      } else if (record.kind === 'settlement') {
        const row = open.get(call)
        open.delete(call)
        if (row !== undefined) row.happened = told(record)
      }
    }
    return true
  })
  if (limit > 0) rows = rows.slice(-limit)
  const lines = rows.map(({ record, happened }) => [
    { text: when(record.time), colour: /** @type {const} */ ('dim') },
    shortSession(record.session),
    turnOf(record),
    record.tool?.replace(/^mcp__.+?__/, '') ?? '',
    { text: record.code ?? '', ...(COLOUR[record.enforcement] ? { colour: COLOUR[record.enforcement] } : {}) },
    record.enforcement ?? '',
    happened,
    (record.observations ?? []).join(' '),
  ])
  if (lines.length === 0) terminal.out('no decision was found\n')
  else {
    const head = ['TIME', 'SESSION', 'TURN', 'TOOL', 'CODE', 'ENFORCEMENT', 'HAPPENED', 'OBSERVED']
    terminal.out(terminal.table(lines, head))
  }
  if (seen > lines.length) {
    terminal.error(`the last ${lines.length} of ${count(seen, 'decision')}; --limit 0 shows all\n`)
  }
  return tally
}

/** @param {any} record */
const told = record => `${record.happened ?? ''}${record.approved ? ', approved' : ''}`

/** Enough of an id to tell it from others and to filter by: how it begins, without the word that most begin with. @param {string | undefined} id */
const shortSession = id => id?.slice(0, id.startsWith('session-') ? 16 : 8) ?? '-'

/** A turn that was counted is marked. @param {any} record */
function turnOf({ turn, countedTurn, step }) {
  const number = turn ?? (countedTurn === undefined || countedTurn === null ? '-' : `~${countedTurn}`)
  return step === undefined || step === null ? String(number) : `${number}.${step}`
}
