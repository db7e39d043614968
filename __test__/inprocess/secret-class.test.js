/** A record has the class of the secret that its own call had, whatever else is judged while the gate asks whether anybody can be asked. */
import { expect, test } from 'vitest'
import { bootGate, call } from '../support/gate.js'

test('a call that is judged while an approval service is asked takes no class from the record', async () => {
  let judged = 0
  const service = {
    name: 'an-approval-service',
    apply: function apply(ctx) {
      ctx.provide('approval', {
        effectivePolicy() {
          judged += 1
          const read = { callId: `own-${judged}`, name: 'mcp__basic-memory__read_note', arguments: { identifier: 'a' } }
          ctx.waterfall('tools/pre-execute', read, async () => ({ kind: 'allow' })).catch(() => {})
          return 'ask'
        },
        request: async () => 'rejected',
      })
    },
  }
  const gate = await bootGate({ profile: 'strict', secretPatternGuard: 'warn', ahead: [[service]] })
  const secret = [call.remove[0], { identifier: 'https://user:pa55w0rd-of-mine@example.org/x' }]
  await gate.turn([[call.simple], [secret]])
  expect(judged).toBeGreaterThan(0)
  const own = gate.decisions().find(({ tool }) => tool.endsWith('read_note'))
  const remove = gate.decisions().find(({ tool }) => tool.endsWith('delete_note'))
  expect(own, 'the other call was judged').toBeDefined()
  expect(remove).toMatchObject({ secretClass: 'url-password', canAsk: true })
})
