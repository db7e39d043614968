// Feeds a target made-up inputs: `npm run fuzz -- model 600`. Needs a nightly Rust (`rustup toolchain install nightly`),
// cargo-fuzz (`cargo install cargo-fuzz --locked`) and a C++ compiler.
//
//   npm run fuzz                          names the targets
//   npm run fuzz -- model 600             one target for this many seconds, on one core
//   npm run fuzz -- model minimize        takes what new inputs reach into fuzz/seeds/, as few and as small as possible
//
// What is tried is kept in fuzz/corpus/, which is not committed, what fails in fuzz/artifacts/. An input that found something
// goes into fuzz/seeds/<target>/ under the name of what it found, so that `cargo test` plays it from then on.
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { entry, run } from './lib/proc.mjs'
import { inRoot } from './lib/project.mjs'

const folder = inRoot('fuzz')
const names = readdirSync(join(folder, 'fuzz_targets')).map(file => file.replace(/\.rs$/, ''))
const known = `a target is one of ${names.join(', ')}`

/** The longest input, in bytes, where the default of libFuzzer is too short for a history. @param {string} name */
const longest = name => (['events', 'model', 'hostile', 'records', 'trail'].includes(name) ? 4096 : 1024)

/** @param {string} name @param {string[]} options */
function fuzz(name, options) {
  const dictionary = join(folder, 'dictionaries', `${name}.dict`)
  if (existsSync(dictionary)) options.push(`-dict=${dictionary}`)
  const corpus = join(folder, 'corpus', name)
  mkdirSync(corpus, { recursive: true })
  const seeds = join(folder, 'seeds', name)
  const words = ['run', 'nightly', 'cargo', 'fuzz', 'run', name]
  const dirs = options.includes('-merge=1') ? [seeds, corpus] : [corpus, seeds]
  return run('rustup', [...words, ...dirs, '--', `-max_len=${longest(name)}`, '-timeout=20', ...options], {
    show: true,
  })
}

entry(async () => {
  const [name, what = '60'] = process.argv.slice(2)
  if (name === undefined) {
    process.stdout.write(`${known}\n`)
    return
  }
  if (!names.includes(name)) throw new Error(`"${name}" is no target; ${known}`)
  if (what !== 'minimize' && !/^[1-9]\d*$/.test(what)) {
    throw new Error(`"${what}" is neither a number of seconds nor \`minimize\``)
  }
  mkdirSync(join(folder, 'seeds', name), { recursive: true })
  await fuzz(name, what === 'minimize' ? ['-merge=1'] : [`-max_total_time=${what}`, '-print_final_stats=1'])
})
