/** docs/OPERATING.md against the product: every error that keeps it from loading, every finding of the doctor. Its notices are in notices.test.js. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT } from '../../js/cli/command.js'
import { run } from '../../js/cli/main.js'
import { Terminal } from '../../js/cli/terminal.js'
import { loadAddon } from '../../js/native.js'
import { createPlugin } from '../../js/plugin.js'
import { withTempDir } from '../support/temp-dir.js'
import { only, readPage } from './markdown.js'
import { source } from './product.js'

const page = readPage('docs/OPERATING.md')

/** A line of the page as a pattern: its `…` stands for anything. @param {string} line */
const asPattern = line =>
  line
    .split('…')
    .map(part => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('.*')

/**
 * Each text is told by one line of the page, and each line tells of one of the texts.
 * @param {string[]} lines @param {string[]} texts @param {(pattern: string) => string} [where] a line stands in a text
 */
function expectSame(lines, texts, where = pattern => `^${pattern}$`) {
  const patterns = lines.map(line => ({ line, pattern: new RegExp(where(asPattern(line)), 's') }))
  for (const text of texts) {
    const fitting = patterns.filter(({ pattern }) => pattern.test(text)).map(({ line }) => line)
    expect([text, fitting]).toEqual([text, [expect.any(String)]])
  }
  expect(patterns.filter(({ pattern }) => !texts.some(text => pattern.test(text)))).toEqual([])
}

test('a line too many, one too few and one that is told twice are found', () => {
  expect(() => expectSame(['a … c'], ['a b c'])).not.toThrow()
  for (const [lines, texts] of [
    [['a', 'b'], ['a']],
    [['a'], ['a', 'b']],
    [['a', '…'], ['a']],
  ]) {
    expect(() => expectSame(lines, texts)).toThrow()
  }
})

test('every error that keeps it from loading', async () => {
  const told = action => {
    try {
      action()
    } catch (error) {
      return error.message
    }
    throw new Error('it loaded')
  }
  const plugin = version => createPlugin({ host: () => ({ name: 'h', version, source: 's' }), standardError: () => {} })
  const errors = [
    told(() => plugin('0.1.5').apply({}, { mod: 1 })),
    ...['0.1.0-rc.8', '0.2.0', 'x', '0.1.5'].map(version => told(() => plugin(version).apply({}, {}))),
  ]
  await withTempDir(async root => {
    const system = { platform: 'linux', arch: 'x64', libc: { kind: 'gnu', version: '2.36' }, env: {}, root }
    const failing = (message, code) => () => {
      throw Object.assign(new Error(message), code ? { code } : {})
    }
    errors.push(told(() => loadAddon(system)))
    writeFileSync(join(root, 'package.json'), '{"version":"1.0.0"}')
    errors.push(
      told(() => loadAddon(system)),
      told(() => loadAddon({ ...system, env: { DSH_BMPP_NATIVE: join(root, 'none.node') } })),
    )
    writeFileSync(join(root, 'dsh-bmpp.linux-x64-gnu.node'), 'x')
    for (const load of [
      failing('invalid ELF header'),
      failing('GLIBC_2.99 not found'),
      failing('no', 'ERR_DLOPEN_DISABLED'),
      () => ({}),
      () => ({ addonVersion: () => '0.9.0' }),
    ])
      errors.push(told(() => loadAddon({ ...system, load })))
  })
  for (const error of errors) expect(error).toMatch(/^dsh-bmpp/)
  expectSame(
    page.table('The error says').map(row => only(row['The error says'])),
    errors,
    pattern => `^dsh-bmpp\\S* ?(?:[\\d.]+ )?${pattern}`,
  )
})

test('every finding of the doctor', () => {
  const files = ['doctor', 'doctor-profile', 'doctor-host'].map(name => source(`js/cli/${name}.js`))
  /** Texts behind a mark in the sources, what varies in them filled in. @param {string} mark */
  const textsOf = mark =>
    files
      .flatMap(text => [...text.matchAll(new RegExp(`${mark}\\s*(?:'([^']*)'|\`([^\`]*)\`)`, 'g'))])
      .map(([, plain, template]) =>
        (plain ?? template ?? '').replace(/\$\{sum\.readiness\.sentence\}/, 'Mend first: x'),
      )
      .map(text => text.replaceAll(/\$\{[^}]*\}/g, 'x'))
  // What is put together: a warning of a profile, of what the host skips and of layers that cannot be read.
  const parts = ['profile xx', ': x', ': x: dsh skips it']
  const ofProfile = [
    ...textsOf('warning\\('),
    ...textsOf('skipped\\.push\\(').map(text => `: ${text}: dsh skips it`),
    ...textsOf('profile\\.problem =').map(text => `: ${text}`),
  ].filter(text => !parts.includes(text))
  const said = [
    ...textsOf('\\bwhat(?::| =)').filter(text => !parts.includes(text)),
    ...textsOf('\\bproblem:'),
    ...ofProfile.map(text => `profile x${text}`),
  ]
  expect(said.length).toBeGreaterThan(25)
  expectSame(
    page.table('It says').map(row => only(row['It says'])),
    [...new Set(said)],
  )
})

test('the dry run says what the page says', async () => {
  const [{ text: shown }] = page.blocks('text')
  const [{ text: typed }] = page.blocks('sh')
  const [, config] = /^dsh-bmpp check --config '(.*)' < \/dev\/null$/.exec(typed) ?? []
  let said = ''
  const write = (_, text) => {
    said += text
  }
  expect(await run(['check', '--config', config], new Terminal({ write, colour: false, bar: false }))).toBe(EXIT.found)
  expect(said).toBe(`${shown}\n`)
})
