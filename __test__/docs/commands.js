/**
 * The commands that the pages tell a reader to give. What can be run in a moment a test of this layer runs, as it stands. Every
 * other one is in the table below, with the test or the script that runs it, or what it stands for, and why not here.
 */
import { readPage } from './markdown.js'

/**
 * The commands of a block, each with all its lines: a quote and a here-document go over more than one.
 * @param {string} text
 */
export function commandsOf(text) {
  /** @type {string[]} */
  const commands = []
  let open = ''
  for (const line of text.split('\n')) {
    open = open === '' ? line : `${open}\n${line}`
    const end = /<<'(\w+)'/.exec(open)?.[1]
    const whole = end === undefined ? !within(open) : open.endsWith(`\n${end}`)
    if (!whole) continue
    const command = end === undefined ? open.replace(/\s+# [^'"\n]*$/, '').trim() : open
    if (command !== '') commands.push(command)
    open = ''
  }
  if (open !== '') throw new Error(`a command without an end: ${open}`)
  return commands
}

/** Whether a quote is open at the end of a text. @param {string} text */
function within(text) {
  let quote = ''
  for (const character of text) {
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
  }
  return quote !== ''
}

/** @param {string[]} pages @returns {{ page: string, command: string }[]} */
export const allCommands = pages =>
  pages.flatMap(path => {
    const blocks = readPage(path).blocks()
    const shell = blocks.filter(({ language }) => ['sh', 'bash', 'shell', 'console'].includes(language))
    return shell.flatMap(({ text }) => commandsOf(text).map(command => ({ page: path, command })))
  })

/** What the tests beside this file run: the reading commands, in a home with a trail, and scripts that only look. */
export const runHere = [
  /^dsh-bmpp (?:audit|report|verify|doctor|check|explain)\b(?![^']*(?:duckdb|clickhouse|'\{"mode":"enforce","profil":))/,
  /^node scripts\/(?:glibc|check-release)\.mjs$/,
]

/**
 * @typedef {object} Elsewhere
 * @property {RegExp} like
 * @property {string} by the file that runs it, or what it stands for
 * @property {string} shows what stands in that file where it does
 * @property {string} why it is not run here
 */

const slow = 'builds, or boots the Harness'
const changes = 'changes the checkout'

const rollOut = '__test__/headless/roll-out.test.js'

/** @type {Elsewhere[]} */
export const elsewhere = [
  {
    like: /^export PATH="\$PATH:.*\/node_modules\/\.bin"$/,
    by: rollOut,
    shows: 'path = onPath.text',
    why: slow,
  },
  { like: /^dsh --profile headless "[^"]*"$/, by: rollOut, shows: "blocksBetween('Rolling out'", why: slow },
  {
    like: /^dsh plugin --profile headless remove dsh-bmpp$/,
    by: rollOut,
    shows: 'shell.type(uninstall.text)',
    why: slow,
  },
  {
    like: /^dsh-bmpp check --config '\{"mode":"enforce","profil":/,
    by: '__test__/docs/operating.test.js',
    shows: 'the dry run says what the page says',
    why: 'it refuses',
  },
  { like: /^npm test$/, by: '.ci/run', shows: 'npm test', why: 'this test is part of it' },
  {
    like: /^npm test -- --only [\w,]+(?: --project \w+(?: \w+)?)?$/,
    by: 'scripts/test.mjs',
    shows: "args.indexOf('--only')",
    why: 'this test is part of it',
  },
  { like: /^npm run demo$/, by: '.ci/run', shows: 'npm run -s demo', why: slow },
  { like: /^npm run build$/, by: 'scripts/test.mjs', shows: 'build: () => buildAddon()', why: slow },
  { like: /^npm run format$/, by: 'scripts/test.mjs', shows: "'check', '--error-on-warnings'", why: changes },
  { like: /^npm run pack$/, by: '__test__/headless/packed.test.js', shows: 'packProject(', why: slow },
  {
    like: /^npm run pack -- --check$/,
    by: '.github/workflows/release.yml',
    shows: 'npm run pack -- --check',
    why: slow,
  },
  { like: /^npm run overlay -- .*$/, by: '__test__/headless/overlay.test.js', shows: "'overlay.mjs')", why: changes },
  { like: /^npm run verify-host -- .*$/, by: '__test__/scripts.test.js', shows: 'await entryOf(', why: slow },
  { like: /^npm run audit-deps$/, by: '__test__/supply.test.js', shows: 'await problems()', why: slow },
  { like: /^npm run audit-deps -- --write$/, by: '__test__/supply.test.js', shows: 'await noticesText(', why: changes },
  {
    like: /^npm run audit-deps -- --advisories$/,
    by: '.github/workflows/ci.yml',
    shows: 'npm run audit-deps -- --advisories',
    why: 'asks services that need not be reachable',
  },
  {
    like: /^dsh --profile \w+ --patch \S+\.yml ".*"$/,
    by: '__test__/headless/overlay.test.js',
    shows: 'patches: [file]',
    why: slow,
  },
  {
    like: /^dsh plugin --profile \w+ add \.\/dsh-bmpp-[\d.]+\.tgz$/,
    by: '__test__/headless/install.test.js',
    shows: "['plugin', '--profile', 'headless', 'add', tarball]",
    why: slow,
  },
  {
    like: /^cp -r examples\/profile "\$DSH_HOME\/profiles\/\w+"$/,
    by: '__test__/headless/examples.test.js',
    shows: "cpSync(example('profile')",
    why: slow,
  },
  {
    like: /^cp dsh-bmpp-[\d.]+\.tgz "\$DSH_HOME\/profiles\/\w+\/"$/,
    by: '__test__/headless/examples.test.js',
    shows: 'packProject(',
    why: slow,
  },
  {
    like: /^dsh plugin --profile memory install$/,
    by: '__test__/headless/examples.test.js',
    shows: "'install'",
    why: slow,
  },
  {
    like: /^dsh --profile memory ".*"$/,
    by: '__test__/headless/examples.test.js',
    shows: "profile: 'memory'",
    why: slow,
  },
  {
    like: /^rm "\$DSH_HOME\/profiles\/\w+\/node_modules\/\.bin\/dsh-bmpp"$/,
    by: '__test__/headless/install.test.js',
    shows: "page.blocks('sh')",
    why: slow,
  },
  {
    like: /^duckdb -c "/,
    by: '__test__/docs/commands.test.js',
    shows: 'the fields that a query names',
    why: 'DuckDB is not part of the set-up; what it reads and names is looked at',
  },
  {
    like: /^dsh-bmpp audit --ndjson \| clickhouse local /,
    by: '__test__/docs/commands.test.js',
    shows: 'the fields that a query names',
    why: 'ClickHouse is not part of the set-up; what it reads and names is looked at',
  },
]
