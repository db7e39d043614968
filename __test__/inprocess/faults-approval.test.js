/** An approval service that answers twice, under its own id or another's, or says one thing to the log and another to the host. */
import { expect, test } from 'vitest'
import { bootGate, call } from '../support/gate.js'

/** A service of these answers, of which each is written into the log and the last one handed to the host. */
const serviceOf = (answers, { told = answers.at(-1) } = {}) => ({
  name: 'an-approval-service',
  apply: function apply(ctx) {
    let asks = 0
    ctx.provide('approval', {
      effectivePolicy: () => 'ask',
      async request({ agent, toolName, callId, reason }) {
        asks += 1
        const id = `ask-${asks}`
        agent.session.append('approval/asked', { id, toolName, callId, reason })
        for (const outcome of answers) agent.session.append('approval/decided', { id, outcome })
        return told
      },
    })
  },
})

test.each([
  { answers: ['rejected', 'allowed-once'], runs: 0 },
  { answers: ['cancelled', 'allowed-once'], runs: 0 },
  { answers: ['unavailable', 'allowed-once'], runs: 0 },
  { answers: ['allowed-once', 'allowed-once'], runs: 1 },
  { answers: ['allowed-once'], told: 'rejected', runs: 0 },
  { answers: ['rejected'], told: 'allowed-once', runs: 0 },
  { answers: [], told: 'allowed-once', runs: 0 },
])('it writes $answers and says $told: it runs $runs times', async ({ answers, told, runs }) => {
  const gate = await bootGate({ profile: 'strict', ahead: [[serviceOf(answers, { told })]] })
  const agent = await gate.turn([[call.simple], [call.remove], [call.search, call.bash]])
  expect(gate.reached()).toEqual([...Array(runs).fill('delete_note'), 'search_notes', 'bash'])
  // What was answered once is answered: a second call has to be asked for anew.
  await gate.close(agent)
  expect(gate.holdings()).toMatchObject({ sessions: 0, turns: 0, calls: 0 })
  expect(gate.stderr).toEqual([])
})
