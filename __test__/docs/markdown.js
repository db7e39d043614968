/**
 * A Markdown file, as far as these tests need it: sections, tables, fenced blocks, links. No more of the language than
 * our own pages use.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { inRoot } from '../../scripts/lib/project.mjs'

/** Every page that there is: what is committed, and what will be. @returns {string[]} paths from the root */
export const markdownFiles = () =>
  execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z', '*.md'], {
    cwd: inRoot(),
    encoding: 'utf8',
  })
    .split('\0')
    .filter(Boolean)
    .sort()

/** What stands in the code spans of a text. @param {string} text @returns {string[]} */
export const spans = text => [...text.matchAll(/`([^`]+)`/g)].map(([, span]) => span ?? '')

/** The one code span of a text. @param {string} text */
export const only = text => {
  const found = spans(text)
  if (found.length !== 1) throw new Error(`not one code span: ${text}`)
  return /** @type {string} */ (found[0])
}

/** A text on one line. @param {string} text */
export const oneLine = text => text.replace(/\s+/g, ' ').trim()

/** The anchor of a heading, as GitHub makes it. @param {string} heading */
export const anchorOf = heading =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

/**
 * @typedef {Record<string, string>} Row cell by column head
 * @typedef {{ head: string[], rows: Row[] }} Table
 * @typedef {{ language: string, text: string }} Block
 */

/** The cells of a table's line. @param {string} line */
export const cellsOf = line =>
  line
    .slice(1, -1)
    .split(/(?<!\\)\|/)
    .map(cell => cell.trim())

/** @param {string} path from the root */
export const readPage = path => parsePage(path, readFileSync(inRoot(path), 'utf8'))

/** @param {string} path @param {string} text */
export function parsePage(path, text) {
  const lines = text.split('\n')
  /** Lines are without those of blocks. @type {{ heading: string, level: number, lines: string[], blocks: Block[] }[]} */
  const sections = [{ heading: '', level: 0, lines: [], blocks: [] }]
  /** @type {Block[]} */
  const blocks = []
  /** How many blocks stand before each heading. @type {Map<string, number>} */
  const before = new Map()
  /** Lines outside fenced blocks. @type {string[]} */
  const prose = []
  /** @type {{ language: string, indent: number, lines: string[] } | undefined} */
  let open
  for (const line of lines) {
    const fence = /^(\s*)```(\w*)$/.exec(line)
    if (open) {
      if (fence) {
        const block = { language: open.language, text: open.lines.join('\n') }
        blocks.push(block)
        sections.at(-1)?.blocks.push(block)
        open = undefined
      } else open.lines.push(line.slice(open.indent))
      continue
    }
    if (fence) {
      open = { language: fence[2] ?? '', indent: (fence[1] ?? '').length, lines: [] }
      continue
    }
    prose.push(line)
    const [, marks = '', heading] = /^(#+) (.*)$/.exec(line) ?? []
    if (heading === undefined) sections.at(-1)?.lines.push(line)
    else {
      sections.push({ heading, level: marks.length, lines: [], blocks: [] })
      before.set(heading, blocks.length)
    }
  }
  if (open) throw new Error(`${path}: a fenced block is not closed`)

  /** @param {string[]} of */
  function tables(of) {
    /** @type {Table[]} */
    const found = []
    for (const [index, line] of of.entries()) {
      if (!/^\|(?:-{3,}\|)+$/.test(line)) continue
      const head = cellsOf(of[index - 1] ?? '')
      const end = of.findIndex((other, at) => at > index && !other.startsWith('|'))
      const rows = of.slice(index + 1, end < 0 ? undefined : end).map(row => {
        const values = cellsOf(row)
        if (values.length !== head.length) throw new Error(`${path}: a row with another number of cells: ${row}`)
        return Object.fromEntries(head.map((name, at) => [name, values[at] ?? '']))
      })
      found.push({ head, rows })
    }
    return found
  }

  return {
    path,
    sections,
    text: lines.join('\n'),
    prose: prose.join('\n'),
    /** The same on one line, for what a line break may fall into. */
    line: oneLine(prose.join('\n')),
    /** @param {string} [language] */
    blocks: language => blocks.filter(block => language === undefined || block.language === language),
    /** @param {string} heading */
    blocksBefore(heading) {
      const count = before.get(heading)
      if (count === undefined) throw new Error(`${path} has no heading "${heading}"`)
      return count
    },
    anchors: sections.map(({ heading }) => anchorOf(heading)),
    links: [...prose.join('\n').matchAll(/\]\(([^)]+)\)|^\[[^\]]+\]: (\S+)$/gm)].map(
      ([, inline, below]) => inline ?? below ?? '',
    ),
    /**
     * The one table whose first columns have these heads.
     * @param {...string} heads
     */
    table(...heads) {
      const fitting = tables(prose).filter(({ head }) => heads.every((name, at) => head[at] === name))
      const [table] = fitting
      if (!table || fitting.length > 1) throw new Error(`${path} has ${fitting.length} tables with ${heads.join(', ')}`)
      return table.rows
    },
    /** Every table of a section. @param {string} heading */
    tablesOf(heading) {
      const section = sections.find(other => other.heading === heading)
      if (!section) throw new Error(`${path} has no section "${heading}"`)
      return tables(section.lines)
    },
    /** The text of block quotes, one line each quote. */
    quotes: prose
      .join('\n')
      .split(/\n(?!>)/)
      .map(part => part.split('\n').filter(line => line.startsWith('>')))
      .filter(quote => quote.length > 0)
      .map(quote => oneLine(quote.map(line => line.slice(1)).join(' '))),
  }
}
