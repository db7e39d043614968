/**
 * The demo's notebook as the memory server of a gate: its tools' bodies, and a look at what it holds.
 *
 *     const notes = notebook({ 'notes/Alpha.md': 'old text' })
 *     const gate = await bootGate({ profile: 'strict', tools: notes.tools })
 *     …
 *     notes.text('notes/Alpha.md')
 */
import { tools as surface } from '../../demo/memory-tools.mjs'
import { Notebook } from '../../demo/notebook.mjs'
import { memory } from './gate.js'

/** @param {Record<string, string>} [seeds] texts by file path */
export function notebook(seeds = {}) {
  const kept = new Notebook()
  const write = (/** @type {string} */ path, /** @type {string} */ content) => {
    const at = path.lastIndexOf('/')
    kept.call('write_note', { title: path.slice(at + 1, -3), directory: path.slice(0, Math.max(at, 0)), content })
  }
  for (const [path, content] of Object.entries(seeds)) write(path, content)
  /** Tools that answer like this instead of doing what they do, once. @type {Map<string, (answer: any) => any>} */
  const instead = new Map()
  const body = (/** @type {string} */ raw) => (/** @type {any} */ args) => {
    const answer = kept.call(raw, args)
    const change = instead.get(raw)
    instead.delete(raw)
    return change === undefined ? answer : change(answer)
  }
  return {
    tools: Object.fromEntries(Object.keys(surface).map(raw => [memory(raw), body(raw)])),
    /** The text of a note; undefined where there is none. @param {string} path */
    text: path =>
      /** @type {any} */ (kept.call('read_note', { identifier: path, output_format: 'json' })).structuredContent?.result
        .content ?? undefined,
    /** The next call of a tool is done, and its answer lost. @param {string} raw */
    loseAnswer: raw =>
      void instead.set(raw, () => {
        throw new Error('MCP error -32001: Request timed out')
      }),
  }
}
