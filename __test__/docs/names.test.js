/** Every page: what a code span names is there. README, POLICY and ARCHITECTURE are held to more by tests of their own. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { run } from '../../js/cli/main.js'
import { Terminal } from '../../js/cli/terminal.js'
import { inRoot } from '../../scripts/lib/project.mjs'
import { parseYaml } from '../support/yaml.js'
import { allCommands } from './commands.js'
import { markdownFiles, readPage, spans } from './markdown.js'
import { addon, between, problemCodes, source, vocabulary } from './product.js'

const manifest = JSON.parse(source('package.json'))
const pages = markdownFiles().map(readPage)

const filesBelow = (folder, like) =>
  readdirSync(inRoot(folder), { recursive: true, encoding: 'utf8' })
    .filter(name => like.test(name))
    .map(name => join(folder, name))
/** All that the product and its workshop are written in. */
const sources = [
  ...filesBelow('src', /\.rs$/),
  ...filesBelow('js', /\.(?:js|ts)$/),
  ...filesBelow('scripts', /\.mjs$/),
  ...filesBelow('tests', /\.rs$/),
  ...['index.d.ts', 'deny.toml', 'package.json', 'Cargo.toml'],
]
  .map(source)
  .join('\n')
const isWritten = name => new RegExp(`(?<![\\w$])${name.replaceAll('$', '\\$')}(?![\\w$])`).test(sources)

/** What a command of dsh-bmpp says of itself; empty where there is none. @param {string[]} args */
async function help(...args) {
  let said = ''
  const write = (_, text) => {
    said += text
  }
  const code = await run([...args, '--help'], new Terminal({ write, colour: false, bar: false }))
  return code === 0 ? said : ''
}

const keys = [...between('src/config/read.rs', 'const KEYS', '];').matchAll(/^ {4}\("(\w+)"/gm)].map(([, key]) => key)
/** Names of other programs' that a reader meets. */
const foreign = new Set([
  'NODE_OPTIONS',
  'BM_SEED',
  'BM_CASES',
  'BASIC_MEMORY_WRITE_NOTE_OVERWRITE_DEFAULT',
  'nodeLinker',
])

test('no name of another program is excused that no page has', () => {
  const text = pages.map(page => page.line).join('\n')
  expect([...foreign].filter(name => !text.includes(name))).toEqual([])
})

describe.each(pages)('$path', page => {
  const named = spans(page.line)

  test('codes, observations, problems and variables', () => {
    const known = new Set([...vocabulary.codes.map(({ name }) => name), ...vocabulary.observations, ...problemCodes()])
    const upper = named.flatMap(span => span.match(/\b[A-Z][A-Z\d]*(?:_[A-Z\d]+)+\b/g) ?? [])
    expect(upper.filter(name => !known.has(name) && !foreign.has(name) && !isWritten(name))).toEqual([])
  })

  test('keys, each with values that it takes', () => {
    for (const span of named) {
      const [, key = '', value = ''] = /^([a-z]+(?:[A-Z]\w*)*): ([\w[{"'].*)$/.exec(span) ?? []
      if (!keys.includes(key)) {
        // Another program's setting, such as pnpm's.
        if (/[a-z][A-Z]/.test(key)) expect([key, foreign.has(key) || isWritten(key)]).toEqual([key, true])
        continue
      }
      const problems = addon.readConfig({ [key]: parseYaml(value) }).problems.map(({ code }) => code)
      expect([span, ...problems]).toEqual([span])
    }
    // In a JSON object keys are held to the product by the tests of the page that shows them.
    const camel = named
      .filter(span => !/[{}"]/.test(span))
      .flatMap(span => span.match(/\b[a-z]+(?:[A-Z][a-z\d]*)+\b/g) ?? [])
    expect(camel.filter(name => !keys.includes(name) && !foreign.has(name) && !isWritten(name))).toEqual([])
  })

  test('npm scripts, with their options', () => {
    const given = [...named, ...allCommands([page.path]).map(({ command }) => command)]
    for (const command of given.filter(text => /^npm (?:run|test)\b/.test(text))) {
      const [, name = '', options = ''] = /^npm (?:run (?:-s )?)?([\w-]+)(?: -- (.*))?$/s.exec(command) ?? []
      expect([command, Object.keys(manifest.scripts)]).toEqual([command, expect.arrayContaining([name])])
      const script = source(manifest.scripts[name].replace(/^node (\S+).*$/, '$1'))
      for (const [, flag] of options.matchAll(/(?:^| )--([\w-]+)/g)) {
        // What is no option of the tests' own goes to Vitest.
        if (name !== 'test' || flag === 'only') expect([command, script.includes(flag)]).toEqual([command, true])
      }
    }
  })

  test('commands of dsh-bmpp, with their options', async () => {
    const given = [...named, ...allCommands([page.path]).map(({ command }) => command)]
    for (const command of given.flatMap(text => text.match(/(?<=^|[|;] *)dsh-bmpp [a-z]+(?: [^|<>\n]*)?/gm) ?? [])) {
      const [, name = '', ...words] = command.split(' ')
      const said = await help(name)
      expect([command, said !== '']).toEqual([command, true])
      for (const word of words.filter(word => /^--\w/.test(word))) {
        expect([command, said.includes(word) || word === '--help']).toEqual([command, true])
      }
    }
  })

  test('files and folders', () => {
    const inRepository =
      /^(?:(?:src|js|tests|__test__|docs|scripts|hosts|examples|demo|bench|tools|\.github|\.ci)\/[\w./-]*|[\w.-]+\.(?:md|toml|yml))$/
    const near = posix => [inRoot(posix), inRoot(join(page.path, '..', posix)), inRoot('.github', 'workflows', posix)]
    // What is written where it is run, or by whoever uses it.
    const made = /^(?:overlay\.dev\.cordis\.yml|pnpm-workspace\.yaml)$/
    // Events of the host have names like paths.
    const event = /^tools\/(?:pre-execute|execute|result)$/
    const missing = named.filter(
      span => inRepository.test(span) && !made.test(span) && !event.test(span) && !near(span).some(existsSync),
    )
    // A layer may wait for its first test.
    expect(missing.filter(name => !/^__test__\/\w+\/$/.test(name))).toEqual([])
  })
})
