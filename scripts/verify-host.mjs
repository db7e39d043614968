// Runs this project's suite on a given Harness and reports: `npm run verify-host`.
//
//   npm run verify-host                                   the version that set-up installs
//   npm run verify-host -- 0.1.5-rc.2                     another version, installed below target/hosts
//   npm run verify-host -- path/to/dsh/lib/bin.js         an installation that is there already: its entry, or a link to it
//   npm run verify-host -- --quick                        in two minutes: whether it boots, loads, denies, allows, reloads
//
// What passes is evidence for exactly this version, and for nothing but it. The report goes to standard output, and as JSON to
// target/verify-host-<version>.json. Exits with 1 where anything failed, or where the version cannot be installed.
import { existsSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { loadAddon } from '../js/native.js'
import { buildAddon, buildFaults } from './build.mjs'
import { CommandFailed, entry, run, since } from './lib/proc.mjs'
import { commandOf, inRoot, installedDsh, projectNode } from './lib/project.mjs'
import { setup } from './setup.mjs'

/** What is worth running on a host: all that runs on its packages or its command. */
const LAYERS = ['inprocess', 'headless', 'server']
const QUICK = ['headless/scenarios', 'headless/load', 'headless/reload', 'inprocess/host-traps', 'inprocess/turns']

/** @param {string} version @returns {Promise<string>} the entry of a Harness of that version */
async function install(version) {
  const folder = inRoot('target', 'hosts', version)
  const bin = join(folder, 'node_modules', '@deepseek-ai', 'dsh', 'lib', 'bin.js')
  if (existsSync(bin)) return bin
  mkdirSync(folder, { recursive: true })
  // The name is not that of a workspace: pnpm must not look further up.
  const manifest = { name: 'dsh-bmpp-verified-host', private: true, dependencies: { '@deepseek-ai/dsh': version } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  process.stdout.write(`installing @deepseek-ai/dsh ${version} …\n`)
  const pnpm = commandOf('pnpm', 'pnpm')
  try {
    const options = ['install', '--ignore-workspace', '--ignore-scripts']
    await run(projectNode(), [pnpm, ...options], { cwd: folder, env: { CI: 'true' } })
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    process.stderr.write(`${error.output.trim()}\n`)
    throw new Error(
      `@deepseek-ai/dsh ${version} could not be installed, so nothing is known of it. One that is installed is named by its lib/bin.js.`,
    )
  }
  return bin
}

/** @param {string | undefined} what a version, a file, or nothing for the installed one @returns {Promise<string>} the entry */
export async function entryOf(what) {
  if (what === undefined) return installedDsh
  if (/^\d+\.\d+\.\d+/.test(what)) {
    // The pinned one has pinned companions, without which it does not run.
    return manifestOf(installedDsh).version === what ? installedDsh : install(what)
  }
  if (!existsSync(what)) throw new Error(`${what} is neither a version nor a file.`)
  return resolve(what)
}

/** @param {string} bin */
export function manifestOf(bin) {
  const file = join(dirname(dirname(realpathSync(bin))), 'package.json')
  const manifest = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  if (manifest.name !== '@deepseek-ai/dsh') {
    const hint = 'Name lib/bin.js of the package, or a link to it; the command on PATH may be a script that starts it.'
    throw new Error(`${bin} is no entry of @deepseek-ai/dsh. ${hint}`)
  }
  return /** @type {{ name: string, version: string }} */ (manifest)
}

/** @param {any} results Vitest's JSON report */
export function totals(results) {
  /** @type {Record<string, { passed: number, failed: number, skipped: number }>} */
  const layers = {}
  /** @type {string[]} */
  const failures = []
  for (const { name, assertionResults, message } of results.testResults) {
    const layer = basename(dirname(name))
    layers[layer] ??= { passed: 0, failed: 0, skipped: 0 }
    // A file that could not even be loaded has no tests that could fail.
    if (assertionResults.length === 0 && message) {
      layers[layer].failed += 1
      failures.push(`${layer}/${basename(name)}: ${message.split('\n')[0]}`)
    }
    for (const { status, fullName } of assertionResults) {
      if (status === 'passed') layers[layer].passed += 1
      else if (status === 'failed') {
        layers[layer].failed += 1
        failures.push(`${layer}/${basename(name)}: ${fullName}`)
      } else layers[layer].skipped += 1
    }
  }
  return { layers, failures }
}

/**
 * Runs the suite on the Harness with this entry, and reports. The addons must be built.
 * @param {string} bin
 * @param {{ quick: boolean }} how
 */
export async function verifyHost(bin, { quick }) {
  const started = performance.now()
  const { name, version } = manifestOf(bin)
  const { standing, verified, range, verifiedVersions } = loadAddon().compatibility(version, false)
  process.stdout.write(`${name} ${version}; the supported range is ${range}: ${standing}\n`)

  const report = inRoot('target', `verify-host-${version}.vitest.json`)
  // What an earlier run has left must not be taken for this one's.
  rmSync(report, { force: true })
  const what = quick ? QUICK.map(file => `__test__/${file}`) : LAYERS.flatMap(layer => ['--project', layer])
  const reporters = ['--reporter', 'dot', '--reporter', 'json', `--outputFile.json=${report}`]
  const ended = await run(projectNode(), [commandOf('vitest', 'vitest'), 'run', ...reporters, ...what], {
    env: { DSH_BMPP_HOST: bin },
    show: true,
  }).then(
    () => true,
    () => false,
  )
  if (!existsSync(report)) throw new Error('The tests could not be run, so nothing is known of this host.')
  const { layers, failures } = totals(JSON.parse(readFileSync(report, 'utf8')))
  const passed = ended && failures.length === 0
  const summary = {
    host: { name, version, standing, verified },
    plugin: JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).version,
    node: (await run(projectNode(), ['--version'])).trim(),
    platform: `${process.platform}-${process.arch}`,
    quick,
    passed,
    layers,
    failures,
  }
  writeFileSync(inRoot('target', `verify-host-${version}.json`), `${JSON.stringify(summary, null, 2)}\n`)

  const lines = Object.entries(layers).map(
    ([layer, { passed, failed, skipped }]) => `  ${layer}: ${passed} passed, ${failed} failed, ${skipped} skipped`,
  )
  process.stdout.write(`\n${name} ${version} on Node ${summary.node}, after ${since(started)}\n${lines.join('\n')}\n`)
  if (!passed) {
    throw new Error(`Not verified:\n${failures.map(failure => `  ${failure}`).join('\n')}`)
  }
  if (quick) process.stdout.write('It works in outline. Only the whole suite is evidence: leave out --quick.\n')
  else if (verifiedVersions.includes(version)) process.stdout.write('Verified, as the list says.\n')
  else {
    process.stdout.write(
      'Verified. To have it said so: add it to dsh.compatibility.verified in package.json and to VERIFIED in src/compat.rs.\n',
    )
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values, positionals } = parseArgs({
      options: { quick: { type: 'boolean', default: false } },
      allowPositionals: true,
    })
    await setup()
    const bin = await entryOf(positionals[0])
    manifestOf(bin)
    process.stdout.write('building what the tests load …\n')
    await buildAddon()
    await buildFaults()
    await verifyHost(bin, values)
  })
}
