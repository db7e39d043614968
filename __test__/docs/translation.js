/**
 * A page against its translation. Whether the words say the same nobody can tell but a reader; but that a section, a row, a key, a
 * command, a number or a link is missing, too much or another one can be told, and that the page was changed since.
 */
import { createHash } from 'node:crypto'
import { anchorOf, cellsOf, oneLine, parsePage, spans } from './markdown.js'

/** @typedef {ReturnType<typeof parsePage>['sections'][number]} Section */

const sorted = (/** @type {string[]} */ list) => list.toSorted()

/** A text without its code spans and without where its links lead. @param {string} text */
const words = text => text.replace(/`[^`]+`/g, '').replace(/\]\([^)]*\)/g, ']')

/** Where the links of a text lead. @param {string} text */
const targets = text => [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, target]) => target ?? '')

/** Numbers and versions. @param {string} text */
const numbers = text => text.match(/\d+(?:\.[\w-]+)*/g) ?? []

const pages = /^README(?:\.[\w-]+)?\.md$/

/** What the lines of a section are made of: list items, lines of a table, of a quote, paragraphs. @param {string[]} lines */
function outline(lines) {
  /** @type {string[]} */
  const kinds = []
  let before = ''
  for (const line of lines) {
    const kind = /^\|/.test(line)
      ? 'row'
      : /^> /.test(line)
        ? 'quote'
        : /^- /.test(line)
          ? 'item'
          : /^\d+\. /.test(line)
            ? 'step'
            : ''
    const goesOn = kind === '' && before !== '' && line !== ''
    if (kind === 'quote' ? before !== 'quote' : kind !== '') kinds.push(kind)
    else if (kind === '' && line !== '' && !goesOn) kinds.push('paragraph')
    before = line === '' ? '' : kind || 'text'
  }
  return kinds
}

/**
 * What of a section can be compared with another language's.
 * @param {Section} section
 * @param {string[]} anchors of the page: an anchor in it is told by its place
 */
function shapeOf({ level, lines, blocks }, anchors) {
  const rows = lines.filter(line => line.startsWith('|')).map(cellsOf)
  const text = lines.join('\n')
  const links = targets(text).filter(target => !pages.test(target))
  return {
    level,
    outline: outline(lines),
    blocks: blocks.map(({ language, text: block }) => `${language}\n${block}`),
    quotes: lines.filter(line => line.startsWith('>')),
    cells: rows.map(row => row.map(cell => sorted(spans(cell)).join(' '))),
    numbersInCells: rows.map(row => row.map(cell => sorted(numbers(words(cell))).join(' '))),
    spans: sorted(spans(oneLine(text))),
    numbers: sorted(numbers(words(text))),
    links: sorted(
      links.map(target => (target.startsWith('#') ? `heading ${anchors.indexOf(target.slice(1))}` : target)),
    ),
  }
}

const COMMENT = /<!--[\s\S]*?-->/g

/**
 * Every difference in what can be compared, as a sentence; none where the translation holds all of it.
 * @param {string} original
 * @param {string} translation
 */
export function differences(original, translation) {
  const [here, there] = [original, translation].map(text => parsePage('page', text.replace(COMMENT, '')))
  if (here === undefined || there === undefined) return []
  const missing = there.links.filter(link => link.startsWith('#') && !there.anchors.includes(link.slice(1)))
  const found = missing.map(link => `${link} is no heading of the translation`)
  if (here.sections.length !== there.sections.length)
    found.push(`${there.sections.length} sections instead of ${here.sections.length}`)
  for (const [index, section] of here.sections.entries()) {
    const other = there.sections[index]
    if (other === undefined) continue
    const [wanted, got] = [shapeOf(section, here.anchors), shapeOf(other, there.anchors)]
    for (const [what, value] of Object.entries(wanted)) {
      const mine = JSON.stringify(Reflect.get(got, what))
      const theirs = JSON.stringify(value)
      if (mine !== theirs) found.push(`"${section.heading}", ${what}: ${unlike(theirs, mine)}`)
    }
  }
  return found
}

/** Two texts from shortly before where they part. @param {string} wanted @param {string} got */
function unlike(wanted, got) {
  let at = 0
  while (wanted[at] === got[at]) at += 1
  const cut = (/** @type {string} */ text) => text.slice(Math.max(0, at - 40), at + 60)
  return `…${cut(got)}… instead of …${cut(wanted)}…`
}

/**
 * A digest of each section of a page, under its heading: what a translation says that it was made from.
 * @param {string} text
 */
export function digests(text) {
  return parsePage('page', text.replace(COMMENT, '')).sections.map(({ heading, lines, blocks }) => {
    const hash = createHash('sha256').update(JSON.stringify([heading, oneLine(lines.join('\n')), blocks]))
    return `${heading === '' ? '(top)' : anchorOf(heading)} ${hash.digest('hex').slice(0, 12)}`
  })
}

/** The digests that a translation bears, in the comment at its end. @param {string} text */
export const bornDigests = text =>
  text
    .match(COMMENT)
    ?.at(-1)
    ?.match(/^\S+ [0-9a-f]{12}$/gm) ?? []
