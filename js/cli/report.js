/**
 * `dsh-bmpp report`: what the trail adds up to.
 */
import { writeFileSync } from 'node:fs'
import {
  addon,
  EXIT,
  filterFrom,
  filterHelp,
  filterOptions,
  parse,
  storagesFrom,
  version,
  whereHelp,
  whereOptions,
} from './command.js'
import { page } from './page.js'
import { AUDIT_NOTE, all, ofDay, shares, troubles } from './shares.js'
import { count, dayOf, percent, shown, tellBroken, when, wrap } from './terminal.js'

/** How much of a timeline the page has. */
const LIMITS = { sessions: 40, calls: 300 }

/** @type {import('./command.js').Command} */
export const report = {
  about: 'adds the trail up: what enforce would block, and what to do next',
  help: `dsh-bmpp report: adds the trail up: what enforce would block, and what to do next

Usage: dsh-bmpp report [filters] [--json | --html FILE]

${filterHelp}
  --json              everything as JSON
  --html FILE         one page with counts and a timeline for each session, which needs no network
${whereHelp}

Examples:
  dsh-bmpp report
  dsh-bmpp report --since 7d --html week.html
  dsh-bmpp report --tool delete_note --json | jq .blocked

Exit codes: 0 · 2 wrong usage · 3 the trail cannot be read, or the page cannot be written
`,
  run(argv, terminal) {
    const { values } = parse(argv, {
      ...whereOptions,
      ...filterOptions,
      json: { type: 'boolean' },
      html: { type: 'string' },
    })
    const storages = storagesFrom(values)
    const { html } = values
    const limits = { ...(html === undefined ? {} : LIMITS), replay: true }
    const filter = filterFrom(values, { storages })
    const progress = terminal.progress('adding up')
    const sum = JSON.parse(addon().auditReport(storages, filter, JSON.stringify(limits), progress))
    if (sum.tally.layouts.length === 0) terminal.error(`no trail in ${storages}\n`)
    tellBroken(sum.tally, terminal)
    if (values.json) terminal.out(`${JSON.stringify(sum, null, 2)}\n`)
    else if (html !== undefined) {
      writeFileSync(html, page(sum, { version, made: Date.now(), explain: explainer() }))
      terminal.out(`${[html, sum.readiness.sentence, ...troubles(sum)].join('\n')}\n`)
    } else terminal.out(text(sum, terminal))
    return EXIT.well
  },
}

/** The meaning of a code in one sentence, asked once. */
function explainer() {
  const native = addon()
  /** @type {Map<string, string>} */
  const known = new Map()
  return (/** @type {string} */ code) => {
    const before = known.get(code)
    if (before !== undefined) return before
    const meaning = native.explainCode(code)?.meaning ?? ''
    known.set(code, meaning)
    return meaning
  }
}

/** What went on, and what did not. @param {import('./shares.js').Blocked} of */
const blockedCells = ({ overridden, denied, ran }) => [
  overridden > 0 ? `${overridden} would be blocked` : '',
  denied > 0 ? `${denied} ${denied === 1 ? 'was' : 'were'} blocked` : '',
  ...(ran > 0 ? [`${ran} ran all the same`] : []),
]

/** @type {Record<string, 'green' | 'yellow' | 'red' | 'blue'>} */
const STEP_COLOURS = { collect: 'blue', mend: 'red', enforce: 'green', strict: 'green', stay: 'yellow', part: 'blue' }

/**
 * @param {any} sum
 * @param {import('./terminal.js').Terminal} terminal
 */
function text(sum, terminal) {
  const bold = (/** @type {string} */ title) => terminal.paint('bold', title)
  /** @param {string} title @param {string} body */
  const section = (title, body) => (body === '' ? '' : `\n${bold(title)}\n${body}`)
  const heading = shares(sum)
    .map(
      ({ what, part, writes, where }) =>
        `${what}: ${part} of ${count(writes, 'write')}${where} (${percent(part, writes)})`,
    )
    .join(' · ')
  const note = sum.blocked.overridden > 0 ? `${wrap(AUDIT_NOTE)}\n` : ''
  const range = sum.first === null ? '' : `${when(sum.first)} to ${when(sum.last)}, `
  const modes = Object.entries(sum.modes).map(([mode, number]) => `${number} in ${mode || 'no mode'}`)
  const facts = [
    `${range}${count(sum.sessions, 'session')}, ${count(sum.turns, 'turn')}, ${sum.turnsWithWrites} of them with a write`,
    `${count(sum.calls, 'governed call')} (${modes.join(', ') || 'none'}), ${count(sum.writes, 'write')}, ${sum.destructive} destructive`,
    ...(sum.lost > 0 ? [`${count(sum.lost, 'record')} could not be kept`] : []),
  ]
  const counts = (/** @type {Record<string, any>} */ of) =>
    terminal.table(
      Object.entries(of)
        .sort(([, a], [, b]) => all(b) - all(a))
        .map(([name, blocked]) => [`  ${shown(name)}`, ...blockedCells(blocked)]),
    )
  const followed = Object.entries(sum.followed).map(([code, f]) => [
    `  ${code}`,
    `${f.told} told`,
    `${percent(f.rightNext, f.told)} right next call`,
    `${percent(f.cured, f.told)} let through later`,
    `${f.nothingMore} gave up`,
  ])
  const turns = [
    ...(sum.neverClassified > 0
      ? [
          `  ${count(sum.neverClassified, 'turn')} with a write declared nothing, ${count(sum.blockedUnclassified, 'call')} that the policy denied ${sum.blockedUnclassified === 1 ? 'is' : 'are'} in them; in audit nothing teaches the model to declare`,
        ]
      : []),
    ...(sum.simpleAfterDenial > 0 ? [`  ${count(sum.simpleAfterDenial, 'turn')} turned simple after a denial`] : []),
    ...(sum.asked > 0 ? [`  ${count(sum.asked, 'call')} put to a human, ${sum.approved} approved`] : []),
  ]
  const days = Object.entries(sum.byDay)
    .slice(-14)
    .map(([day, of]) => [`  ${dayOf(Number(day))}`, count(of.writes, 'write'), ...blockedCells(ofDay(of))])
  const flat = (/** @type {Record<string, number>} */ of) =>
    terminal.table(Object.entries(of).map(([name, number]) => [`  ${shown(name)}`, String(number)]))
  const head = [
    terminal.paint(STEP_COLOURS[sum.readiness.step] ?? 'bold', sum.readiness.sentence),
    ...troubles(sum).map(trouble => terminal.paint('red', trouble)),
  ]
  return [
    `${head.join('\n')}\n\n${facts.join('\n')}\n`,
    section(heading, `${counts(sum.byCode)}${note}`),
    section('By tool', counts(sum.byTool)),
    section('By session, the most first', counts(Object.fromEntries(sum.bySession))),
    section('By day (UTC), the last 14', terminal.table(days)),
    section('After a denial that the model was told of', terminal.table(followed)),
    section('Turns', turns.length > 0 ? `${turns.join('\n')}\n` : ''),
    section('Only warned of', flat(sum.warned)),
    section('Observed', flat(sum.observed)),
    section('Lookups', flat(sum.lookups)),
    section('What happened', flat(sum.happened)),
  ].join('')
}
