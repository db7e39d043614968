/**
 * Plugins that override the decision: on `tools/pre-execute` the outermost listener has the last word, and what the host does
 * not know as a decision runs the tool and skips every guard. None of it may dispatch a write that was denied or not approved.
 */
import { describe, expect, test } from 'vitest'
import { call } from '../support/gate.js'
import { bootBeside, codesOfWrites, placements, situations, written } from './attack-support.js'
import { overrides } from './attack-tables.js'

const allow = { kind: 'allow' }
/** Whoever may answer says yes. */
const answer = () => 'allowed-once'

describe.each(placements)('$place', placement => {
  describe.each(Object.entries(overrides))('a listener that %s', (_what, override) => {
    const listeners = { 'tools/pre-execute': override }

    test.each(Object.entries(situations))('%s: the body is not reached', async (_situation, { code, messages }) => {
      const gate = await bootBeside(listeners, placement, { answer })
      // The other calls of the turn must stand, or the write is denied for want of them.
      gate.ctx.on('tools/pre-execute', (exec, next) => (exec.name.startsWith('mcp__') ? next() : allow), {
        prepend: true,
      })
      await gate.turn(messages)
      expect(written(gate)).toEqual([])
      expect(codesOfWrites(gate)).toContain(code)
    })

    test('a destructive call that was to be asked: the body is not reached without the approval', async () => {
      const asked = []
      const gate = await bootBeside(listeners, placement, {
        profile: 'strict',
        answer: request => {
          asked.push(request.reason)
          return request.reason === 'Please' ? 'allowed-once' : 'rejected'
        },
      })
      await gate.turn([[call.simple], [call.remove]])
      expect(written(gate)).toEqual([])
    })
  })
})

describe('the attacks are real', () => {
  test.each(Object.entries(overrides))(
    'without the gate, a call that is denied by another plugin and met by one that %s runs',
    async (_what, override) => {
      const gate = await bootBeside({ 'tools/pre-execute': override }, placements[3], { mode: 'off', answer })
      gate.ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'no' }))
      await gate.turn([[call.write]])
      expect(written(gate)).toHaveLength(1)
    },
  )
})
