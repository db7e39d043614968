// Stands for the human who is asked: gives one answer after the other, and writes down what was asked.
//
// config: { log: file of JSON lines, answers: ('allowed-once' | 'rejected' | 'cancelled' | 'unavailable' | 'throws')[] }
import { appendFileSync } from 'node:fs'

export const name = 'answerer'

/**
 * @param {any} ctx
 * @param {{ log: string, answers: string[] }} config
 */
export function apply(ctx, { log, answers }) {
  const waiting = [...answers]
  ctx.on('approval/request', async (/** @type {any} */ { toolName, callId, reason }) => {
    appendFileSync(log, `${JSON.stringify({ toolName, callId, reason })}\n`)
    const answer = waiting.shift()
    if (answer === 'throws') throw new Error('the channel broke')
    return answer
  })
}
