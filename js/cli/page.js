/**
 * The report as one page: self-contained, without a script and without a network, light and dark, for a phone and for a desk.
 * Everything that comes from a trail is escaped, and the page forbids itself to load or run anything.
 */
import { style } from './page-style.js'
import { AUDIT_NOTE, all, fates, ofDay, shares, troubles } from './shares.js'
import { count, dayOf, percent, when } from './terminal.js'

/** @param {unknown} text */
const safe = text =>
  String(text ?? '').replace(
    /[&<>"'\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu,
    char => `&#${char.codePointAt(0)};`,
  )

/**
 * @param {any} sum what the addon's auditReport returned
 * @param {object} about
 * @param {string} about.version
 * @param {number} about.made milliseconds since 1970
 * @param {(code: string) => string} about.explain
 */
export function page(sum, { version, made, explain }) {
  const verb = verbOf(sum.blocked)
  const parts = shares(sum)
  const title = parts.map(
    ({ what, part, writes, where }) =>
      `${part} of ${count(writes, 'write')}${where} ${what === 'Blocked' ? 'blocked' : 'would be blocked'}`,
  )
  const range = sum.first === null ? 'no record yet' : `${when(sum.first)} to ${when(sum.last)}`
  const tiles = [
    tile(sum.calls, 'governed calls'),
    tile(sum.writes, 'writes', `${sum.destructive} destructive`),
    ...parts.map(({ what, part, writes, where }) =>
      tile(
        part,
        what === 'Blocked' ? 'blocked' : 'would be blocked',
        `${percent(part, writes)} of ${where === '' ? 'the writes' : `${count(writes, 'write')}${where}`}`,
      ),
    ),
    tile(sum.turns, 'turns', `${sum.turnsWithWrites} with a write`),
    tile(sum.sessions, 'sessions', `${sum.days} ${sum.days === 1 ? 'day' : 'days'}`),
  ]
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Memory policy: ${safe(title.join(', '))}</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Memory policy report</h1>
<p class="range">${safe(range)}</p>
</header>
<main>
<section class="answer ${safe(sum.readiness.step)}"><h2>${HEADINGS[sum.readiness.step] ?? 'Next step'}</h2><p>${safe(sum.readiness.sentence)}</p>${troubles(
    sum,
  )
    .map(trouble => `<p><strong>${safe(trouble)}</strong></p>`)
    .join('')}</section>
<section class="tiles" aria-label="Totals">${tiles.join('')}</section>
${days(sum.byDay, verb)}
${bars(sum.blocked.denied + sum.blocked.ran === 0 ? 'What enforce would block' : `What ${verb === 'blocked' ? 'was' : 'is'} ${verb}`, sum.byCode, explain, sum.blocked.overridden > 0 ? AUDIT_NOTE : '')}
${bars('By tool', sum.byTool)}
${followed(sum.followed)}
${turns(sum)}
${plainTable(
  'Sessions with the most',
  ['Session', verb.replace(/^./, first => first.toUpperCase())],
  sum.bySession.slice(0, SESSIONS_LISTED).map((/** @type {any} */ [id, b]) => [`<code>${safe(id)}</code>`, numbers(b)]),
)}
${plainTable(
  'Warned of and observed',
  ['Word', 'Times'],
  [...Object.entries(sum.warned), ...Object.entries(sum.observed)].map(([name, n]) => [
    `<code title="${safe(explain(name))}">${safe(name)}</code>`,
    n,
  ]),
)}
${timeline(sum)}
</main>
<footer>
<p>${safe(count(sum.tally.records, 'record'))} of ${safe(count(sum.loads, 'load'))} read${sum.hosts.length > 0 ? `, host ${safe(sum.hosts.join(', '))}` : ''}. ${health(sum)} Made by dsh-bmpp ${safe(version)} on ${safe(when(made))}. A record holds metadata alone: no argument, no content, no user text.</p>
</footer>
</body>
</html>
`
}

/**
 * What became of the calls that the policy denied: in audit they went on, and a trail may hold both.
 * @param {import('./shares.js').Blocked} of
 */
function verbOf({ overridden, denied, ran }) {
  if (ran > 0) return overridden > 0 ? 'blocked, would be, or ran all the same' : 'blocked, or ran all the same'
  if (denied === 0) return 'would be blocked'
  return overridden === 0 ? 'blocked' : 'blocked, or would be in enforce'
}

/** Of one kind the number alone, of more each with what it is. @param {import('./shares.js').Blocked} of */
function numbers(of) {
  const told = fates(of)
  return told.length > 1 || of.ran > 0 ? told.join(', ') : all(of).toLocaleString('en')
}

/** Sessions in the table; the timeline below has more. */
const SESSIONS_LISTED = 8

/** @type {Record<string, string>} */
const HEADINGS = {
  collect: 'Collect more',
  mend: 'Mend first',
  enforce: 'Ready for enforce',
  strict: 'Enforce works',
  stay: 'Stay here for now',
  part: 'A part of the trail',
}

/** @param {number} value @param {string} label @param {string} [more] */
const tile = (value, label, more = '') =>
  `<div class="tile"><b>${safe(value.toLocaleString('en'))}</b><span>${safe(label)}</span>${more === '' ? '' : `<small>${safe(more)}</small>`}</div>`

/** @param {any} sum */
function health({ lost, tally }) {
  const parts = [
    ...(lost > 0 ? [`${count(lost, 'record')} could not be kept.`] : []),
    ...(tally.broken > 0 ? [`${count(tally.broken, 'record')} could not be read.`] : []),
  ]
  return parts.length > 0 ? `<strong>${safe(parts.join(' '))}</strong>` : 'None is known to be lost.'
}

/**
 * @param {string} title
 * @param {Record<string, import('./shares.js').Blocked>} of
 * @param {(code: string) => string} [explain]
 * @param {string} [note]
 */
function bars(title, of, explain, note = '') {
  const rows = Object.entries(of)
    .map(([name, b]) => ({ name, total: all(b), told: numbers(b) }))
    .sort((a, b) => b.total - a.total)
  const most = rows[0]?.total ?? 0
  if (most === 0) return ''
  const items = rows.map(({ name, total, told }) => {
    const meaning = explain === undefined ? '' : `<small>${safe(explain(name))}</small>`
    return `<li><div class="label"><code>${safe(name)}</code><b>${safe(told)}</b></div><div class="bar" aria-hidden="true"><i style="width:${width(total, most)}%"></i></div>${meaning}</li>`
  })
  const remark = note === '' ? '' : `<p>${safe(note)}</p>`
  return `<section><h2>${safe(title)}</h2>${remark}<ul class="bars">${items.join('')}</ul></section>`
}

/** @param {number} part @param {number} whole */
const width = (part, whole) => Math.max(1, Math.round((part / whole) * 1000) / 10)

/** The days that the chart has at most. */
const DAYS = 31

/** @param {Record<string, { writes: number, blocked: number, overridden: number, ran: number }>} byDay @param {string} verb */
function days(byDay, verb) {
  const known = Object.keys(byDay).map(Number)
  if (known.length < 2) return ''
  const last = Math.max(...known)
  const first = Math.max(Math.min(...known), last - DAYS + 1)
  const list = Array.from({ length: last - first + 1 }, (_, index) => {
    const day = first + index
    return { day, ...(byDay[day] ?? { writes: 0, blocked: 0, overridden: 0, ran: 0 }) }
  })
  const most = Math.max(1, ...list.map(({ writes, blocked }) => Math.max(writes, blocked)))
  const columns = list.map(({ day, writes, ...of }) => {
    const { blocked } = of
    const title = [`${dayOf(day)}: ${count(writes, 'write')}`, ...fates(ofDay(of))].join(', ')
    const high = (/** @type {number} */ n) => (n === 0 ? 0 : Math.max(2, Math.round((n / most) * 100)))
    return `<div class="day" title="${safe(title)}"><i class="all" style="height:${high(Math.max(writes, blocked))}%"></i><i class="some" style="height:${high(blocked)}%"></i></div>`
  })
  return `<section><h2>By day</h2><div class="days" role="img" aria-label="Writes of each day, and how many of them are ${safe(verb)}">${columns.join('')}</div><p class="axis"><span>${dayOf(first)}</span><span class="key"><i class="all"></i> writes <i class="some"></i> ${verb}</span><span>${dayOf(last)}</span></p></section>`
}

/** @param {Record<string, any>} of */
function followed(of) {
  const rows = Object.entries(of)
  if (rows.length === 0) return ''
  const items = rows.map(([code, f]) => {
    const part = (/** @type {string} */ kind, /** @type {number} */ n, /** @type {string} */ what) =>
      n === 0 ? '' : `<i class="${kind}" style="flex-grow:${n}" title="${safe(`${n} ${what}`)}">${n}</i>`
    return `<li><div class="label"><code>${safe(code)}</code><b>${safe(percent(f.cured, f.told))} let through later</b></div><div class="stack">${part('right', f.rightNext, 'right next call')}${part('other', f.otherNext, 'another call next')}${part('none', f.nothingMore, 'nothing more in the turn')}</div></li>`
  })
  return `<section><h2>Does the message work?</h2><p>What came next after a denial that the model was told of.</p><p class="key"><i class="right"></i> the right next call <i class="other"></i> another call <i class="none"></i> nothing more</p><ul class="bars">${items.join('')}</ul></section>`
}

/** @param {any} sum */
function turns(sum) {
  const facts = [
    ...(sum.neverClassified > 0
      ? [
          `<b>${safe(sum.neverClassified)}</b> of ${safe(count(sum.turnsWithWrites, 'turn'))} with a write declared nothing; ${safe(sum.blockedUnclassified)} of the blocked calls are in them. In audit nothing teaches the model to declare; in enforce the first denial does.`,
        ]
      : []),
    ...(sum.simpleAfterDenial > 0
      ? [`<b>${safe(sum.simpleAfterDenial)}</b> turned simple after a denial: look whether lookups are avoided.`]
      : []),
    ...(sum.asked > 0
      ? [
          `<b>${safe(sum.asked)}</b> ${sum.asked === 1 ? 'call was' : 'calls were'} put to a human, ${safe(sum.approved)} approved.`,
        ]
      : []),
  ]
  if (facts.length === 0) return ''
  return `<section><h2>Turns</h2><ul class="facts">${facts.map(fact => `<li>${fact}</li>`).join('')}</ul></section>`
}

/** @param {string} title @param {string[]} head @param {Array<[string, unknown]>} rows cells are HTML, numbers are not */
function plainTable(title, head, rows) {
  if (rows.length === 0) return ''
  const body = rows.map(([name, value]) => `<tr><td>${name}</td><td>${safe(value)}</td></tr>`).join('')
  return `<section><h2>${safe(title)}</h2><table><thead><tr>${head.map(text => `<th>${safe(text)}</th>`).join('')}</tr></thead><tbody>${body}</tbody></table></section>`
}

/** @param {any} sum */
function timeline({ timeline: lines, timelineLeftOut, blocked }) {
  if (lines.length === 0) return ''
  const sessions = lines
    .toReversed()
    .map((/** @type {any} */ line, /** @type {number} */ index) => session(line, index < 3))
  const rest = timelineLeftOut > 0 ? `<p>${safe(count(timelineLeftOut, 'older session'))} not shown.</p>` : ''
  return `<section><h2>Sessions</h2><p class="key"><i class="c read">r</i> read <i class="c search">s</i> search <i class="c control">d</i> declaration <i class="c write">w</i> write <i class="c write">x</i> destructive <i class="c bad">!</i> ${verbOf(blocked)}</p>${sessions.join('')}${rest}</section>`
}

/** @param {any} line @param {boolean} open */
function session({ session: id, calls, leftOut }, open) {
  /** @type {Map<unknown, any[]>} */
  const turns = new Map()
  for (const call of calls) turns.set(call.turn, [...(turns.get(call.turn) ?? []), call])
  const bad = calls.filter(isBad)
  const mark = fates(fateOf(bad))
  const last = calls.at(-1)
  const summary = `<code>${safe(id)}</code><span>${safe(when(last.time))}</span><span>${safe(count(calls.length + leftOut, 'call'))}${mark.length > 0 ? `, <b>${safe(mark.join(', '))}</b>` : ''}</span>`
  const rows = [...turns].map(
    ([turn, of]) =>
      `<div class="turn"><span class="no">turn ${safe(turn ?? '?')}</span><span class="cells">${of.map(cell).join('')}${reasons(of)}</span></div>`,
  )
  const before = leftOut > 0 ? `<p>${safe(count(leftOut, 'earlier call'))} not shown.</p>` : ''
  return `<details${open ? ' open' : ''}><summary>${summary}</summary>${before}${rows.join('')}</details>`
}

/** @param {any[]} calls that the policy denied @returns {import('./shares.js').Blocked} */
function fateOf(calls) {
  const went = calls.filter(({ enforcement }) => enforcement === 'overridden')
  const ran = went.filter(({ mode }) => mode === 'enforce').length
  return { overridden: went.length - ran, denied: calls.length - went.length, ran }
}

/** @param {any} call */
const isBad = ({ decision, enforcement }) => decision === 'deny' || enforcement === 'denied'

/** Why calls of a turn were blocked: a phone has no pointer to rest on a cell. @param {any[]} calls */
function reasons(calls) {
  const all = calls.filter(isBad).map(({ tool, code }) => `${safe(tool)}: ${safe(code)}`)
  return all.length === 0 ? '' : `<small>${[...new Set(all)].join('<br>')}</small>`
}

/** @param {any} call */
function cell(call) {
  const kind = isBad(call) ? 'bad' : call.class === 'destructive' || call.class === 'unknown' ? 'write' : call.class
  const title = [when(call.time), `step ${call.step ?? '?'}`, call.tool, call.code, call.enforcement, call.happened]
  const letter = isBad(call) ? '!' : (LETTERS[call.class] ?? '')
  return `<i class="c ${safe(kind)}" title="${safe(title.filter(Boolean).join(' · '))}">${letter}</i>`
}

/** So that colour is not all there is. @type {Record<string, string>} */
const LETTERS = { read: 'r', search: 's', control: 'd', write: 'w', destructive: 'x', unknown: 'w' }
