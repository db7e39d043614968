/**
 * dsh-bmpp: a memory-policy gate for the DeepSeek Harness. This is the entry that a profile's row names.
 *
 * - `name`, `inject`, `Config`, `apply`: the Cordis plugin (plugin.js), which puts the gate (gate.js) between the model and
 *   the memory server's tools and asks the core (core.js, the Rust addon) for every decision
 * - `onRecord`: what the gate decided, for observers (records.js)
 */
import { createPlugin } from './plugin.js'

/**
 * @typedef {import('./report.js').LoadReport} LoadReport what `apply` returns
 * @typedef {import('./records.js').AuditRecord} AuditRecord what `onRecord` gives
 * @typedef {import('./config-types.js').Config} Config what the row takes
 */

export { onRecord } from './records.js'

export const { name, inject, Config, apply } = createPlugin()
