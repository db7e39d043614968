// Each trap of the host that concerns a gate has a test that names it: traps.json says which, and this looks whether it is there.
import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inRoot } from '../scripts/lib/project.mjs'
import { titlesOf } from './support/syntax.js'

const { traps } = JSON.parse(readFileSync(new URL('traps.json', import.meta.url), 'utf8'))
const titles = new Map()
const titlesIn = file => {
  if (!titles.has(file)) titles.set(file, existsSync(inRoot(file)) ? titlesOf(readFileSync(inRoot(file), 'utf8')) : [])
  return titles.get(file)
}

test('the titles of a file are read as they stand in it', () => {
  const source = `
    test('alone', () => {})
    test.skip('skipped', () => {})
    test.todo('planned')
    describe.each(table)('group $x', ({ x }) => {
      test.each([1])(\`of \${x}\`, () => {})
      describe('inner', () => { test.runIf(x)('there', () => {}) })
    })
    describe.skip('off', () => { test('never', () => {}) })`
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template's expression stays as it is written
  expect(titlesOf(source)).toEqual(['alone', 'group $x > of ${x}', 'group $x > inner > there'])
})

test('no trap stands twice', () => {
  expect(new Set(traps.map(({ trap }) => trap)).size).toBe(traps.length)
})

describe.each(traps)('$section: $trap', ({ tests }) => {
  test('has its tests', () => {
    expect(tests.length).toBeGreaterThan(0)
    expect(tests.filter(({ file, test: title }) => !titlesIn(file).includes(title))).toEqual([])
  })
})
