/** All pages: links that lead somewhere, and what they say of the sources. */
import { existsSync, readdirSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import config from '../../vitest.config.js'
import { anchorOf, markdownFiles, readPage, spans } from './markdown.js'
import { addon, source, vocabulary } from './product.js'

const pages = markdownFiles().map(readPage)
const architecture = readPage('docs/ARCHITECTURE.md')

const HAN = /\p{Script=Han}/u

describe.each(pages)('$path', page => {
  test('every relative link leads to a file and, where it names one, to a heading', () => {
    for (const link of page.links.filter(target => !/^\w+:/.test(target))) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page.path : posix.join(dirname(page.path), path)
      expect([link, existsSync(inRoot(target))]).toEqual([link, true])
      if (anchor !== undefined) expect(readPage(target).anchors).toContain(anchor)
    }
  })

  // A page that has contents has them whole; a page of docs/ and the README must.
  const contents = new Set(page.links.filter(link => link.startsWith('#')).map(link => link.slice(1)))
  const needed = /^(?:docs\/|README)/.test(page.path)
  test.runIf(needed || contents.size > 0)('the contents name every section', () => {
    const sections = [...page.prose.matchAll(/^## (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
    expect(sections.filter(section => !contents.has(section))).toEqual([])
  })

  test('no line is longer than 120 characters, tables and Chinese apart', () => {
    const long = page.text
      .split('\n')
      .filter(line => [...line].length > 120 && !line.startsWith('|') && !HAN.test(line))
    expect(long).toEqual([])
  })

  test('no line breaks off between Chinese characters, since a space would show there', () => {
    expect(page.prose.match(/.*[\p{Script=Han}，。；：、（）]\n\p{Script=Han}.*/gu) ?? []).toEqual([])
  })

  test('no place on anybody’s machine', () => {
    expect(page.text).not.toMatch(/\/(?:work|root|home|Users)\/|localhost|127\.0\.0\.1/)
  })
})

test('a reader of the README finds every page: each is linked there', () => {
  const linked = new Set(readPage('README.md').links.map(link => link.split('#')[0]))
  const own = pages
    .map(({ path }) => path)
    .filter(path => /^(?:docs\/)?[\w.-]+\.md$/.test(path) && path !== 'README.md')
  expect(own.length).toBeGreaterThan(5)
  expect(own.filter(path => !linked.has(path))).toEqual([])
})

describe('the house', () => {
  const modules = architecture.tablesOf('Rooms').flatMap(({ rows }) => rows.map(row => spans(row.Module)[0]))

  test('the rooms are the modules that there are', () => {
    const files = (folder, ends) =>
      readdirSync(inRoot(folder), { recursive: true })
        .map(name => posix.join(folder, String(name).replaceAll('\\', '/')))
        .filter(name => ends.test(name))
    const there = [...files('src', /\.rs$/), ...files('js', /\.(js|ts|mjs)$/)]
    expect(modules.toSorted()).toEqual(there.toSorted())
  })

  test('every file and folder in a code span is there', () => {
    const layers = new Set(config.test?.projects?.map(project => `__test__/${project.test.name}/`))
    const named = spans(architecture.line).filter(span => /^(?:src|js|tests|__test__|docs|scripts)\//.test(span))
    // A layer may wait for its first test.
    expect(named.filter(name => !layers.has(name) && !existsSync(join(inRoot(), name)))).toEqual([])
  })

  test('every name of code is in the sources', () => {
    const files = [...modules, 'index.d.ts', 'tests/server_paths.rs'].map(name => source(name ?? '')).join('\n')
    // What is spelt as only code is: a member, a call, a macro, a private field, a constant.
    const names = spans(architecture.line)
      .filter(span => !span.includes('/') && /::|\w\.\w|\(|!$|^#|^[A-Z]+(?:_[A-Z]+)*$|[a-z][A-Z]/.test(span))
      .flatMap(span => span.split(/::|\.|[^\w#]/))
      .filter(name => name.length > 2 && !/^\d+$/.test(name))
    expect(names.length).toBeGreaterThan(30)
    expect(names.filter(name => !new RegExp(`(?<!\\w)${name}(?!\\w)`).test(files))).toEqual([])
  })

  test('the layers are the projects of Vitest', () => {
    const [{ rows }] = architecture.tablesOf('Tests')
    const layers = rows.flatMap(row => spans(row.Layer)).toSorted()
    expect(layers).toEqual(config.test?.projects?.map(project => project.test.name).toSorted())
  })

  test('the words are laid out as the page says', () => {
    const { number } = vocabulary.codes.find(({ name }) => name === 'ALLOW_SIMPLE') ?? { number: -1 }
    for (const [at, classification] of ['unknown', 'simple', 'complex'].entries()) {
      for (const [as, state] of ['none', 'failed', 'pending', 'satisfied'].entries()) {
        const word = (number | (1 << 6) | (at << 7) | (as << 9) | (2 << 11) | (1 << 16)) >>> 0
        expect(addon.describe(word)).toEqual({
          decision: 'allow',
          code: 'ALLOW_SIMPLE',
          destructive: true,
          classification,
          lookup: state,
          argument: 'directory',
          observations: [vocabulary.observations[0]],
          findings: [],
        })
      }
    }
    expect(addon.describe(number)).not.toHaveProperty('argument')
    for (const word of [3 << 7, 30 << 11, 1 << 31]) expect(() => addon.describe((number | word) >>> 0)).toThrow()
    const outcomes = { 0: 'not-reached', 1: 'failed', 2: 'succeeded', 3: 'unknown', 7: undefined }
    for (const [word, outcome] of Object.entries(outcomes)) {
      expect(addon.describeSettlement(Number(word)).outcome).toBe(outcome)
    }
    for (const word of [4, 5, 6, 8]) expect(() => addon.describeSettlement(word)).toThrow()
  })
})
