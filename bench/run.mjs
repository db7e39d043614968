// What the gate costs, each figure beside its bar: `npm run bench`. Exits with 1 where a figure misses its bar.
//
//   npm run bench                         every group
//   npm run bench -- units flat           these groups
//   npm run bench -- --json units         as JSON; with npm's own lines left out: npm run -s bench -- --json units
//   npm run bench -- --built              with the addon that is there, without building it first
//   npm run bench -- --quick              with fewer rounds, to see that it works: its figures are worth less
//
// Every group runs in a process of its own. docs/PERFORMANCE.md says how each figure is measured.
import { spawn } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { buildAddon } from '../scripts/build.mjs'
import { entry, since } from '../scripts/lib/proc.mjs'
import { inRoot, projectNode } from '../scripts/lib/project.mjs'
import { setup } from '../scripts/setup.mjs'
import { missed, table } from './lib/figure.mjs'

/** The groups, in the order in which they run. */
export const GROUPS = ['outside', 'units', 'gate', 'harness', 'flat', 'memory', 'secrets', 'load', 'core', 'audit']

/** What the groups need of Node.js: a collector that can be told to run, and that has no threads of its own. */
const FLAGS = ['--expose-gc', '--single-threaded-gc']

/**
 * @param {string} group
 * @param {object} options
 * @returns {Promise<import('./lib/figure.mjs').Grouped[]>}
 */
export function measureGroup(group, options) {
  return new Promise((resolve, reject) => {
    const args = [...FLAGS, inRoot('bench', 'lib', 'child.mjs'), group, JSON.stringify(options)]
    const child = spawn(projectNode(), args, { stdio: ['ignore', 'pipe', 'inherit'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', part => {
      output += part
    })
    child.on('error', reject)
    child.on('close', code => {
      if (code !== 0) return reject(new Error(`the group ${group} ended with ${code}`))
      const figures = /** @type {import('./lib/figure.mjs').Figure[]} */ (JSON.parse(output))
      resolve(figures.map(figure => ({ group, ...figure })))
    })
  })
}

/** @param {string[]} args */
export function parse(args) {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: {
      json: { type: 'boolean', default: false },
      quick: { type: 'boolean', default: false },
      built: { type: 'boolean', default: false },
    },
  })
  const unknown = positionals.filter(group => !GROUPS.includes(group))
  if (unknown.length > 0) throw new Error(`no group ${unknown.join(', ')}: there are ${GROUPS.join(', ')}`)
  return { ...values, groups: positionals.length > 0 ? GROUPS.filter(group => positionals.includes(group)) : GROUPS }
}

/**
 * What is printed, and the exit code.
 * @param {readonly import('./lib/figure.mjs').Grouped[]} figures
 * @param {boolean} json
 */
export function conclude(figures, json) {
  const late = missed(figures)
  const bars = figures.filter(({ bar }) => bar !== null).length
  const end =
    late.length === 0
      ? `all ${bars} bars hold`
      : `${late.length} of ${bars} bars are missed: ${late.map(({ name }) => name).join('; ')}`
  const text = json ? JSON.stringify({ figures, missed: late.length }, null, 2) : `${table(figures)}\n\n${end}`
  return { text, code: late.length === 0 ? 0 : 1 }
}

async function main() {
  const { groups, json, quick, built } = parse(process.argv.slice(2))
  if (!built) {
    await setup()
    await buildAddon()
  }
  /** @type {import('./lib/figure.mjs').Grouped[]} */
  const figures = []
  for (const group of groups) {
    const started = performance.now()
    figures.push(...(await measureGroup(group, quick ? { quick, rounds: 1 } : {})))
    process.stderr.write(`${group}: ${since(started)}\n`)
  }
  const { text, code } = conclude(figures, json)
  process.stdout.write(`${text}\n`)
  process.exitCode = code
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) entry(main)
