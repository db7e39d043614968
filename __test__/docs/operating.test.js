/** docs/OPERATING.md against the product: every error that keeps it from loading, every finding of the doctor. Its notices are in notices.test.js. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { EXIT } from '../../js/cli/command.js'
import { findings } from '../../js/cli/findings.js'
import { run } from '../../js/cli/main.js'
import { Terminal } from '../../js/cli/terminal.js'
import { loadAddon } from '../../js/native.js'
import { createPlugin } from '../../js/plugin.js'
import { withTempDir } from '../support/temp-dir.js'
import { only, readPage } from './markdown.js'
import { addon } from './product.js'

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

/** Each finding as an operator may meet it. @type {Record<keyof typeof findings, import('../../js/cli/findings.js').Finding[]>} */
const found = {
  node: [findings.node('v24.1.0')],
  nodeTooOld: [findings.nodeTooOld('v20.1.0')],
  addon: [findings.addon('0.1.0', 'linux-x64')],
  addonOfOtherVersion: [findings.addonOfOtherVersion('0.0.9', '0.1.0')],
  noAddon: [findings.noAddon('dsh-bmpp cannot load its native addon (linux x64). Looked for it.')],
  noHarness: [findings.noHarness()],
  harness: [findings.harness('dsh on PATH', 'r', true), findings.harness('dsh on PATH', 'r', false)],
  harnessAllowed: [findings.harnessAllowed('dsh on PATH', 'r')],
  harnessRefused: [findings.harnessRefused('dsh on PATH', 'r')],
  harnessNotJudged: [findings.harnessNotJudged('dsh on PATH', 'r')],
  harnessByExpression: [findings.harnessByExpression('dsh on PATH', 'r')],
  harnessUnasked: [findings.harnessUnasked('dsh on PATH', '1.2.3')],
  profilesUnread: [findings.profilesUnread()],
  noProfile: [findings.noProfile('/d')],
  notLoadedAnywhere: [findings.notLoadedAnywhere()],
  notLoaded: [findings.notLoaded('p')],
  layerUnread: [findings.layerUnread('p', 'cordis.patch.yml', 'bad indentation', '/d/cordis.patch.yml')],
  changesNoRow: [findings.changesNoRow('p', 'l', 'bmmp')],
  changesBeforeRow: [findings.changesBeforeRow('p', 'l')],
  leftOver: [findings.leftOver('p', 'l')],
  changesOtherName: [findings.changesOtherName('p', 'l', 'bmpp', 'n')],
  strangeKey: [findings.strangeKey('p', 'l', 'confg', 'config'), findings.strangeKey('p', 'l', 'mode')],
  rowsTwice: [findings.rowsTwice('p', 2)],
  rowLeadsNowhere: [findings.rowLeadsNowhere('p', './x.js', 'l')],
  rowOfOther: [findings.rowOfOther('p', 'other', 'l')],
  disabled: [findings.disabled('p', 'l')],
  configured: [
    findings.configured('p', 'audit', 'compat', 'l', []),
    findings.configured('p', 'off', 'strict', 'l', ['m']),
  ],
  problem: [findings.problem('p', 'mode', 'INVALID_ENUM', 'm', 'l')],
  off: [findings.off('p')],
  released: [findings.released('p', 'l')],
  ungoverned: [findings.ungoverned('p', 'bm')],
  noServer: [findings.noServer('p', ['a', 'b'])],
  serverDisabled: [findings.serverDisabled('p', 'bm')],
  commandMissing: [findings.commandMissing('p', 'bm', 'uvx')],
  commandMissingAtBoot: [findings.commandMissingAtBoot('p', 'bm', 'uvx')],
  filterHides: [findings.filterHides('p', 'helper')],
  noStorage: [findings.noStorage('p')],
  noTrail: [findings.noTrail('/d')],
  unreadable: [findings.unreadable('/d', 'x')],
  trail: [findings.trail(1, 1, ['single']), findings.trail(2, 2, ['single'])],
  contradictions: [findings.contradictions(1), findings.contradictions(2)],
  damaged: [findings.damaged(1), findings.damaged(2)],
  broken: [findings.broken(1, 'x'), findings.broken(2, 'x')],
  gaps: [findings.gaps(1), findings.gaps(2)],
  hidden: [findings.hidden('7d', 1), findings.hidden('7d', 2)],
  mendFirst: [findings.mendFirst('7d', 'Mend first: x.')],
}

test('every finding of the doctor, with its level', () => {
  expect(Object.keys(found)).toEqual(Object.keys(findings))
  const rows = page.table('It says')
  // The most that a line fixes is what it tells of: a problem's row has little but its dots.
  const told = Object.values(found)
    .flat()
    .map(({ level, what }) => {
      const fitting = rows.filter(row =>
        new RegExp(`^${asPattern(only(row['It says']))}(?:, overridden by .*)?$`).test(what),
      )
      const fixed = row => row['It says'].replaceAll('…', '').length
      return { level, what, row: fitting.toSorted((one, other) => fixed(other) - fixed(one))[0] }
    })
  for (const { level, what, row } of told)
    expect([what, row?.Level?.split(', ')]).toEqual([what, expect.arrayContaining([level])])
  for (const row of rows) {
    const levels = told.filter(one => one.row === row).map(({ level }) => level)
    expect([row['It says'], row.Level.split(', ').toSorted()]).toEqual([
      row['It says'],
      [...new Set(levels)].toSorted(),
    ])
  }
})

test('what is wrong comes with its mend', () => {
  for (const { level, what, mend } of Object.values(found).flat()) {
    expect([what, mend !== undefined && mend.length > 8]).toEqual([
      what,
      level === 'warning' || level === 'error' || /^no trail|is not checked/.test(what),
    ])
  }
})

test('no finding sends a reader to a page, which the package does not hold, and the one about storage has what the page has', () => {
  for (const { what, mend = '' } of Object.values(found).flat()) expect(`${what} ${mend}`).not.toMatch(/\.md\b|docs\//)
  const audit = readPage('docs/AUDIT.md')
  const [yaml] = audit.blocks('yaml').filter(({ text }) => text.includes('id: storage-json'))
  const words = [...yaml.text.matchAll(/(?:id|name|root|backend): '?(.*?)'?$/gm)].map(([, word]) => word)
  expect(words).toHaveLength(8)
  for (const word of words) expect(findings.noStorage('p').mend).toContain(word)
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

test('the length of a list', () => {
  const most = Number(/A list in a configuration holds (\d+) entries at most/.exec(page.line)?.[1])
  const list = length => ({ serverNames: Array.from({ length }, (_, index) => `s${index}`) })
  expect(addon.readConfig(list(most))).toMatchObject({ ok: true })
  expect(addon.readConfig(list(most + 1)).problems).toMatchObject([{ path: ['serverNames'], code: 'INVALID_LENGTH' }])
})
