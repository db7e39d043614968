// A turn of the real Harness in one process, with our plugin and with an empty one: what a conversation notices of the gate.
import { boot, calls, say } from '../../__test__/support/inprocess.js'
import { createPlugin } from '../../js/plugin.js'
import { collect, median, processorTime, ROUNDS } from '../lib/rounds.mjs'
import { CLASSIFY, FOUND, memory, note, written } from '../lib/stage.mjs'

const WRITES = 20

const host = () => ({ name: '@deepseek-ai/dsh', version: '0.1.5-rc.2', source: 'entry', why: '' })
const empty = { name: 'empty', apply() {} }

/** @param {any} plugin @param {object} config */
async function booted(plugin, config) {
  const harness = await boot({
    plugins: [[plugin, config]],
    tools: {
      [memory('search_notes')]: () => /** @type {any} */ (FOUND),
      [memory('write_note')]: () => /** @type {any} */ (written(0)),
      bash: () => 'done',
      ...(plugin === empty ? { [CLASSIFY]: () => 'done' } : {}),
    },
  })
  return harness
}

/** @param {number} from @param {string} name */
const turn = (from, name) => [
  calls([CLASSIFY, { task: 'complex' }]),
  calls([memory('search_notes'), { query: 'releases' }]),
  ...Array.from({ length: WRITES }, (_, index) =>
    calls([name, name === 'bash' ? { command: 'ls' } : note(from + index)]),
  ),
  say('done'),
]

/** @param {{ rounds?: number }} options @returns {Promise<import('../lib/figure.mjs').Figure[]>} */
export async function figures({ rounds = ROUNDS }) {
  const plugin = createPlugin({
    sink: { record() {} },
    host: /** @type {any} */ (host),
    standardError: () => {},
  })
  const harnesses = { without: await booted(empty, {}), with: await booted(plugin, { mode: 'enforce' }) }
  /** @type {Record<string, number[]>} */
  const ratios = { [memory('write_note')]: [], bash: [] }
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, kept] of Object.entries(ratios)) {
      const least = { without: Number.POSITIVE_INFINITY, with: Number.POSITIVE_INFINITY }
      for (let batch = 0; batch < 3; batch += 1) {
        for (const which of /** @type {const} */ (['without', 'with'])) {
          const harness = harnesses[which]
          collect()
          const agent = await harness.open()
          const started = processorTime()
          await harness.run(turn(0, name), { agent })
          least[which] = Math.min(least[which], processorTime() - started)
          if (harness.told(agent).some(({ isError }) => isError)) throw new Error('a call was denied')
          await harness.close(agent)
        }
      }
      if (round >= 0) kept.push(least.with / least.without)
    }
  }
  return [
    {
      name: `a turn of ${WRITES} governed writes on the Harness`,
      value: median(ratios[memory('write_note')] ?? []),
      bar: null,
      unit: '× an empty plugin',
    },
    {
      name: `a turn of ${WRITES} calls outside the namespace`,
      value: median(ratios.bash ?? []),
      bar: null,
      unit: '× an empty plugin',
    },
  ]
}
