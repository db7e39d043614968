// What the core alone holds of sessions, by an allocator that counts.
import { execFileSync } from 'node:child_process'
import { inRoot } from '../../scripts/lib/project.mjs'

/** @param {{ quick?: boolean }} options @returns {import('../lib/figure.mjs').Figure[]} */
export function figures({ quick = false }) {
  const sizes = quick ? ['--', '--live', '1000', '--gone', '10000'] : []
  const output = execFileSync('cargo', ['bench', '--quiet', '--bench', 'live_bytes', ...sizes], {
    cwd: inRoot(),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { live, gone, each, leftOfLive, leftOfGone } = JSON.parse(output)
  return [
    { name: `heap of the core, each of ${live} sessions with five calls`, value: each, bar: null, unit: 'bytes' },
    { name: `left of ${live} sessions that were live together`, value: leftOfLive, bar: 0, unit: 'bytes of the heap' },
    { name: `left of ${gone} sessions opened and disposed of`, value: leftOfGone, bar: 0, unit: 'bytes of the heap' },
  ]
}
