// The whole gate with its three doors, from the call's announcement to its result, in the units of the group `units`.

import { MinimalHost } from '../lib/gate.mjs'
import { measure, median, processorTime, ROUNDS } from '../lib/rounds.mjs'
import { addon, memory, note, noteJson, whole, written } from '../lib/stage.mjs'

const CALLS = 400

/** @param {{ rounds?: number }} options @returns {Promise<import('../lib/figure.mjs').Figure[]>} */
export async function figures({ rounds = ROUNDS }) {
  const host = new MinimalHost()
  const seat = host.open('session-70afea79-84a9-48fc-b07b-ccc4392f83b7')
  const kinds = {
    write: { name: memory('write_note'), args: note, value: written },
    read: { name: memory('read_note'), args: whole, value: noteJson },
  }
  /** @type {Record<string, number[]>} */
  const units = { write: [], read: [] }
  for (let round = -1; round < rounds; round += 1) {
    const unit =
      measure({ unit: { call: () => addon.nothing(), times: 50 } }, { calls: CALLS, rounds: 1, batches: 5 }).unit[0] ??
      0
    for (const [kind, { name, args, value }] of Object.entries(kinds)) {
      let least = Number.POSITIVE_INFINITY
      for (let batch = 0; batch < 5; batch += 1) {
        await host.earn(seat)
        const from = batch * CALLS
        const [given, answers] = [args, value].map(make =>
          Array.from({ length: CALLS }, (_, index) => make(from + index)),
        )
        const started = processorTime()
        for (let index = 0; index < CALLS; index += 1) {
          const refused = host.call(seat, name, given?.[index], answers?.[index])
          if (refused !== undefined) throw new Error(refused)
          await undefined
          host.settle()
        }
        least = Math.min(least, ((processorTime() - started) * 1e6) / CALLS)
      }
      if (round >= 0) units[kind]?.push(least / unit)
    }
  }
  return [
    {
      name: 'a write_note of 1 KiB through the three doors',
      value: median(units.write ?? []),
      bar: null,
      unit: 'units',
    },
    { name: 'a read_note through the three doors', value: median(units.read ?? []), bar: null, unit: 'units' },
  ]
}
