// What sessions keep resident, and that nothing is left of those that are gone. Each measurement is a fresh process.
import { execFileSync } from 'node:child_process'
import { inRoot } from '../../scripts/lib/project.mjs'
import { median } from '../lib/rounds.mjs'

/** @param {string} what @param {number} sessions @returns {{ before: number, after: number }} */
const resident = (what, sessions) =>
  JSON.parse(
    execFileSync(process.execPath, ['--expose-gc', inRoot('bench', 'lib', 'resident.mjs'), what, String(sessions)], {
      encoding: 'utf8',
    }),
  )

/** @param {{ quick?: boolean }} options @returns {import('../lib/figure.mjs').Figure[]} */
export function figures({ quick = false }) {
  const runs = quick ? 1 : 3
  const sessions = quick ? 10_000 : 100_000
  const each = (/** @type {string} */ what) =>
    median(
      Array.from({ length: runs }, () => {
        const { before, after } = resident(what, sessions)
        return (after - before) / sessions
      }),
    )
  const million = resident('million', quick ? 100_000 : 1_000_000)
  return [
    {
      name: `the core, each of ${sessions} sessions with five judged calls`,
      value: each('core'),
      bar: 800,
      unit: 'bytes resident',
    },
    {
      name: 'the core and the shim, the same through the gate',
      value: each('gate'),
      bar: null,
      unit: 'bytes resident',
    },
    {
      name: 'resident after the second million sessions',
      value: million.after / million.before,
      bar: 1.05,
      unit: '× after the first',
    },
  ]
}
