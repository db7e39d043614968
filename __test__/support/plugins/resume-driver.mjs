// Takes the headless runner's place for a session that an earlier process began: sends it one more user message, waits for the
// end of the turn, and ends the process as the runner does.
//
// config: { session: string, message: string }
import { randomUUID } from 'node:crypto'

export const name = 'resume-driver'
export const inject = ['agents', 'sessions']

/**
 * @param {any} ctx
 * @param {{ session: string, message: string }} config
 */
export function apply(ctx, { session, message }) {
  const exit = ctx.get('appExit')
  ctx.on('agent/session-start', async (/** @type {any} */ { agent, source }) => {
    try {
      if (source !== 'resume' || agent.session.id !== session) throw new Error(`${agent.session.id} began by ${source}`)
      await ctx.get('loader').await()
      await agent.whenIdle()
      agent.followup({
        id: randomUUID(),
        role: 'user',
        content: [{ type: 'text', text: message }],
        source: { kind: 'user' },
      })
      await agent.whenIdle()
      await ctx.sessions.flush(agent.session)
      exit(0)
    } catch (error) {
      process.stderr.write(`resume-driver: ${error}\n`)
      exit(2)
    }
  })
}
