// Breaks the core on purpose, one line at a time, and tells whether the vectors notice: `node tests/mutations/run.mjs`.
// A mutation that no vector notices is a rule without a test, and one that no longer applies has to be written anew. One that
// changes nothing says why under `equivalent`, and must not be noticed.
// Works on a copy and needs nothing but Node and cargo. Words after the command choose mutations by their text.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const copy = mkdtempSync(join(tmpdir(), 'dsh-bmpp-mutations-'))

/** @param {string[]} args */
const cargo = (...args) =>
  spawnSync('cargo', ['test', '--offline', '--quiet', '--test', 'vectors', ...args], {
    cwd: copy,
    encoding: 'utf8',
    // Built quickly, since it is built anew for each mutation.
    env: {
      ...process.env,
      CARGO_TARGET_DIR: join(copy, 'target'),
      CARGO_PROFILE_TEST_OPT_LEVEL: '0',
      CARGO_PROFILE_TEST_DEBUG: '0',
    },
  })

/** Why nothing can be said of a mutation, or which of the vectors' tests noticed it. @param {any} mutation */
function tryOut({ file, from, to }) {
  const path = join(copy, file)
  const source = readFileSync(path, 'utf8')
  if (source.split(from).length !== 2) return { rotten: `${file} does not hold the line once` }
  writeFileSync(path, source.replace(from, () => to))
  try {
    const built = cargo('--no-run')
    if (built.status !== 0) return { rotten: `it does not compile: ${/^error.*$/m.exec(built.stderr)?.[0]}` }
    const { stdout } = cargo()
    return { noticed: [...stdout.matchAll(/^---- (\w+) stdout ----$/gm)].map(match => match[1]) }
  } finally {
    writeFileSync(path, source)
  }
}

const words = process.argv.slice(2)
const all = JSON.parse(readFileSync(new URL('list.json', import.meta.url), 'utf8'))
const chosen = all.filter(mutation => words.every(word => `${mutation.file} ${mutation.why}`.includes(word)))

let bad = 0
try {
  for (const part of ['Cargo.toml', 'Cargo.lock', 'build.rs', 'src', 'tests', 'bench']) {
    cpSync(join(root, part), join(copy, part), { recursive: true })
  }
  const untouched = cargo()
  if (untouched.status !== 0) throw new Error(`the vectors fail without a mutation:\n${untouched.stdout}`)
  for (const mutation of chosen) {
    const { rotten, noticed = [] } = tryOut(mutation)
    const { equivalent } = mutation
    const good = rotten === undefined && (equivalent === undefined) === noticed.length > 0
    if (!good) bad++
    const unnoticed = equivalent === undefined ? 'NOT NOTICED' : `changes nothing: ${equivalent}`
    const said = rotten ?? (noticed.length === 0 ? unnoticed : `noticed by ${noticed.join(', ')}`)
    process.stdout.write(`${mutation.file}: ${mutation.why}: ${said}\n`)
  }
  process.stdout.write(`${chosen.length - bad} of ${chosen.length} as they must be\n`)
} finally {
  rmSync(copy, { recursive: true, force: true })
}
process.exitCode = bad === 0 ? 0 : 1
