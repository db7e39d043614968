/** Every command of every page: run here, or named in the table of those that are run elsewhere. */
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { singleHome } from '../support/generate-trail.js'
import { tempDir } from '../support/temp-dir.js'
import { allCommands, commandsOf, elsewhere, runHere } from './commands.js'
import { markdownFiles, readPage } from './markdown.js'
import { source } from './product.js'

const commands = allCommands(markdownFiles())
const lines = [...runHere, ...elsewhere.map(({ like }) => like)]
const here = commands.filter(({ command }) => runHere.some(like => like.test(command)))

const home = tempDir()
beforeAll(async () => {
  await singleHome(join(home.path, '.dsh', 'storages'), { records: 2000, seed: 7, stepMs: 60_000 })
  mkdirSync(join(home.path, 'bin'))
  symlinkSync(inRoot('js', 'cli', 'main.js'), join(home.path, 'bin', 'dsh-bmpp'))
})
afterAll(home.remove)

/** A command as a reader gives it, with the package's own command on the path. @param {string} command @param {string} cwd */
function shell(command, cwd) {
  const { status, stdout, stderr } = spawnSync('bash', ['-o', 'pipefail', '-c', command], {
    cwd,
    encoding: 'utf8',
    input: '',
    env: {
      PATH: [join(home.path, 'bin'), dirname(projectNode()), process.env.PATH].join(delimiter),
      HOME: home.path,
      DSH_HOME: join(home.path, '.dsh'),
      NO_COLOR: '1',
    },
  })
  return { status, stdout, stderr }
}

test('a block is taken apart into whole commands', () => {
  expect(commandsOf('a "b\n  c" d   # why\n\ne <<\'X\'\nf # g\nX\nh # i')).toEqual([
    'a "b\n  c" d',
    "e <<'X'\nf # g\nX",
    'h',
  ])
  expect(() => commandsOf('a "b')).toThrow('a command without an end')
})

describe('the table', () => {
  test.each(commands)('$page: $command', ({ command }) => {
    expect(lines.filter(like => like.test(command))).toHaveLength(1)
  })

  test('has no line that no page needs', () => {
    expect(lines.filter(like => !commands.some(({ command }) => like.test(command)))).toEqual([])
  })

  test.each(elsewhere)('$like is run by $by', ({ by, shows, why }) => {
    expect(existsSync(inRoot(by))).toBe(true)
    expect(source(by)).toContain(shows)
    expect(why).not.toBe('')
  })
})

/** What a command exits with where nothing is amiss. In a home without a Harness the doctor has warnings. */
const wellOf = command => (command.startsWith('dsh-bmpp doctor') ? [0, 4] : [0])

/** Whether a page shows a text as what a command prints. @param {string} page @param {string} text */
const shows = (page, text) =>
  readPage(page)
    .blocks('text')
    .some(block => block.text.trim() === text.trim())

describe.skipIf(process.platform === 'win32')('run as they stand', () => {
  test.each(here)('$page: $command', ({ page, command }) => {
    const needsJq = command.includes('| jq ')
    if (needsJq && shell('command -v jq', home.path).status !== 0) {
      // Its part is left out, and ours is run all the same.
      command = command.replace(/ \| jq .*$/, '')
    }
    const scripts = command.startsWith('node scripts/')
    const { status, stdout, stderr } = shell(command, scripts ? inRoot() : home.path)
    // A page may show what is refused.
    if (status === 1 && shows(page, stderr)) return
    const notes = stderr.replace(/^the last \d+ of \d+ decisions; --limit 0 shows all\n/, '')
    expect([notes, wellOf(command).includes(status)]).toEqual(['', true])
    const file = /--html (\S+)/.exec(command)?.[1] ?? />\s*(\S+\.ndjson)/.exec(command)?.[1]
    if (file) expect(existsSync(join(home.path, file))).toBe(true)
    else if (!command.includes('< /dev/null')) expect(stdout).not.toBe('')
  })
})

test('the fields that a query names are those of records, and the command in front of it is ours', () => {
  const queries = commands.map(({ command }) => command).filter(command => /\b(?:duckdb|clickhouse|jq) /.test(command))
  expect(queries.length).toBeGreaterThan(2)
  const fields = source('docs/AUDIT.md')
    .match(/^\| (?:`\w+`(?:, )?)+ \|/gm)
    ?.flatMap(row => row.match(/\w+/g) ?? [])
  for (const query of queries) {
    for (const [word] of query.matchAll(/\b(?:kind|time|session|tool|code|enforcement|happened)\b/g)) {
      expect(fields).toContain(word)
    }
    if (query.includes(' | ')) {
      const [first = ''] = query.split(' | ')
      expect(shell(first, home.path).status).toBe(0)
    } else {
      // It reads the file that the command above it wrote.
      const file = /read_json\('(.*?)'/.exec(query)?.[1] ?? ''
      expect(commands.some(({ command }) => command.endsWith(`> ${file}`))).toBe(true)
    }
  }
})

test('what a reader gets wrong ends with another code', () => {
  const script = join(home.path, 'wrong')
  writeFileSync(script, `#!/bin/sh\ndsh-bmpp check --config '{"strict":true}' < /dev/null\n`)
  chmodSync(script, 0o755)
  const { status, stderr } = shell(script, home.path)
  expect(status).toBe(1)
  expect(stderr).toContain('AMBIGUOUS_MODE')
})
