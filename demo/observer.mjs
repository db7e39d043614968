// A Harness plugin that writes down what BMPP decided, for the demo to show: one JSON line for each audit record.
// It imports the very file that the overlay's BMPP row names, so it gets the module instance that the Harness runs.
//
// config: { file: string }
import { appendFileSync } from 'node:fs'
import { onRecord } from '../js/index.js'

export const name = 'observer'

/**
 * @param {any} ctx
 * @param {{ file: string }} config
 */
export function apply(ctx, { file }) {
  ctx.effect(() => onRecord((/** @type {object} */ record) => appendFileSync(file, `${JSON.stringify(record)}\n`)))
}
