/**
 * A session that a test drives itself: it appends what the agent loop appends and executes what the loop would, so that a call
 * can be given its own id, its own abort signal, and a session that goes in the middle of it.
 */

/**
 * @param {any} gate as {@link import('./gate.js').bootGate} makes it
 * @param {string} id
 */
export function drivenSession(gate, id) {
  const { sessions, tools } = gate.ctx
  const session = sessions.prepare(id)
  const detach = sessions.enter(session)
  sessions.announce(session)
  const agent = { id, session }
  let turn = 0
  let step = 0
  let made = 0
  let open = true
  return {
    session,
    agent,
    turn() {
      turn += 1
      step = 0
      session.append('turn/start', { turn })
    },
    endTurn: () => session.append('turn/end', { turn, reason: 'completed' }),
    step() {
      step += 1
      session.append('step/start', { turn, step })
    },
    /**
     * One call, announced and executed.
     * @param {[name: string, args: any, callId?: string]} call
     * @param {AbortSignal} [signal]
     * @returns {Promise<any>} its result
     */
    async call([name, args, callId = `${id}.${++made}`], signal = new AbortController().signal) {
      session.append('tool/call', { turn, step, callId, name, arguments: '{}' })
      return tools.execute({ callId, name, arguments: args, agent, signal })
    },
    /** Ends the session, as its agent's end does. */
    close() {
      if (open) detach()
      open = false
    },
  }
}
