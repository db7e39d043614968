// A Harness plugin that gives a headless run further user messages: `dsh` takes one task, hence one turn, and what memory
// policy does at a turn's end wants more than one. Each time a turn is about to stop, the next message is sent.
//
// config: { messages: string[] }
import { randomUUID } from 'node:crypto'

export const name = 'more-turns'

/**
 * @param {any} ctx
 * @param {{ messages: string[] }} config
 */
export function apply(ctx, { messages }) {
  const waiting = [...messages]
  ctx.on('agent/turn-stopping', (/** @type {any} */ { agent }) => {
    // A subagent's turn is its parent's business.
    if (agent.session.header.parentSession !== undefined) return
    const text = waiting.shift()
    if (text === undefined) return
    agent.followup({ id: randomUUID(), role: 'user', content: [{ type: 'text', text }], source: { kind: 'user' } })
  })
}
