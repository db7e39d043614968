// What loading the plugin adds to the host's start, in fresh processes, and how large the package is: both of the tarball that
// `npm run pack` makes.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inRoot } from '../../scripts/lib/project.mjs'
import { pack } from '../../scripts/pack.mjs'
import { median } from '../lib/rounds.mjs'

const RUNS = 21

/** @param {{ quick?: boolean }} options @returns {Promise<import('../lib/figure.mjs').Figure[]>} */
export async function figures({ quick = false }) {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bmpp-bench-'))
  try {
    const tarball = await pack(dir)
    const { size } = statSync(tarball)
    execFileSync('tar', ['-xzf', tarball, '-C', dir])
    const command = [inRoot('bench', 'lib', 'load.mjs'), join(dir, 'package', 'js', 'index.js')]
    const runs = Array.from({ length: quick ? 3 : RUNS }, () =>
      // What the plugin tells the operator is for nobody here.
      JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })),
    )
    const of = (/** @type {string} */ part) => median(runs.map(run => run[part]))
    return [
      { name: 'importing and mounting the plugin', value: of('all'), bar: 15, unit: 'ms of the processor' },
      { name: 'the same by the clock', value: of('wall'), bar: null, unit: 'ms' },
      { name: 'of it, importing the shim', value: of('modules'), bar: null, unit: 'ms of the processor' },
      { name: 'of it, finding and loading the addon', value: of('addon'), bar: null, unit: 'ms' },
      {
        name: 'of it, reading the configuration, looking at the host, mounting',
        value: of('mount'),
        bar: null,
        unit: 'ms',
      },
      { name: 'the tarball', value: size / 1e6, bar: 1, unit: 'MB' },
    ]
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}
