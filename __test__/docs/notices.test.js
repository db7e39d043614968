/** Every notice on standard error (js/notices.js) against the docs: each has its row, and each row is a notice. */
import { readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { notices } from '../../js/notices.js'
import { inRoot } from '../../scripts/lib/project.mjs'
import { readPage, spans } from './markdown.js'
import { addon, source } from './product.js'

const pages = ['README.md', ...readdirSync(inRoot('docs')).map(name => `docs/${name}`)].map(readPage)
const HEAD = 'The line says'
const tables = pages.flatMap(page => (page.prose.includes(`\n| ${HEAD} |`) ? [page.table(HEAD)] : []))

/** Each notice as an operator may meet it, in all its forms. @type {Record<keyof typeof notices, import('../../js/notices.js').Notice[]>} */
const met = {
  host: [
    ...['0.1.0-rc.8', '0.2.0', 'x'].map(version => notices.host(addon.compatibility(version, true).reason)),
    notices.host(addon.compatibility(null, false).reason, 'no entry point is known'),
  ],
  neighbour: [notices.neighbour('bm')],
  noServer: [notices.noServer(['basic-memory']), notices.noServer(['a', 'b'])],
  controlFiltered: [notices.controlFiltered('bmpp__classify')],
  controlShadowed: [notices.controlShadowed('bmpp__classify')],
  reloaded: [notices.reloaded(1.23, 4), notices.reloaded(0, undefined)],
  notLoaded: [notices.notLoaded()],
  counted: [notices.counted()],
  ranOtherwise: [notices.ranOtherwise('mcp__basic-memory__write_note')],
  again: [notices.again('mcp__basic-memory__write_note')],
  unjudged: [notices.unjudged('mcp__basic-memory__write_note')],
  internal: [
    notices.internal('guard', 'POLICY_INTERNAL_ERROR in guard'),
    notices.internal('result', 'POLICY_INTERNAL_ERROR: settle panicked at src/policy.rs:1'),
  ],
  unloaded: [notices.unloaded('guard')],
  recordsLost: [notices.recordsLost(1), notices.recordsLost(2)],
  noStorage: [notices.noStorage(1), notices.noStorage(30)],
  storageFails: [
    notices.storageFails('cannot be opened', '', 1),
    notices.storageFails('refuses records', ' (ENOSPC)', 2),
  ],
  recordsDropped: [notices.recordsDropped(1), notices.recordsDropped(2)],
  notStored: [notices.notStored(1), notices.notStored(2)],
}

/** A line of the docs, whose dots stand for what varies. @param {string} line */
const pattern = line =>
  new RegExp(
    `^${line
      .split('…')
      .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  )

describe('the notices', () => {
  const lines = tables.flatMap(rows => rows.map(row => spans(row[HEAD] ?? '')[0] ?? ''))
  const texts = Object.values(met).flatMap(list => list.map(({ text }) => text))

  test('stand in one table of the docs', () => {
    expect(tables).toHaveLength(1)
    for (const row of tables[0] ?? []) expect((row.Cause?.length ?? 0) + (row.Mend?.length ?? 0)).toBeGreaterThan(10)
  })

  test.each(Object.keys(notices))('%s has its row', name => {
    for (const { text } of met[/** @type {keyof typeof notices} */ (name)]) {
      expect([text, lines.filter(line => pattern(line).test(text)).length]).toEqual([text, 1])
    }
  })

  test('every row is a notice', () => {
    for (const line of lines) expect([line, texts.some(text => pattern(line).test(text))]).toEqual([line, true])
  })

  test('are one line each, and tell kinds apart', () => {
    for (const text of texts) expect(text).toMatch(/^[^\n]{30,400}[^.\n]$/)
    const kinds = Object.values(met).map(([notice]) => notice?.kind)
    // An agent without the control tool is one kind, whatever keeps it away.
    expect(new Set(kinds).size).toBe(kinds.length - 1)
  })

  test('are said with these words and no others', () => {
    const files = readdirSync(inRoot('js')).filter(name => name.endsWith('.js') && name !== 'notices.js')
    for (const name of files) {
      for (const [, said] of source(`js/${name}`).matchAll(/[.#]notice\(\s*([^)]*)/g)) {
        expect([name, said]).toEqual([
          name,
          expect.stringMatching(/^(notices\.|notice$|this\.#unloaded \? notices\.|seen === undefined)/),
        ])
      }
    }
  })
})
