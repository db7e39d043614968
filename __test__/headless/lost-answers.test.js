// A write whose answer never comes: the bridge gives up, and nobody knows what the server did.
import { expect, test } from 'vitest'
import { playDsh } from '../support/dsh-gate.js'
import { call, memory } from '../support/gate.js'

const project = 'main'
const note = { title: 'Log', directory: 'notes', content: 'text', project }
const append = [
  memory('edit_note'),
  { identifier: 'notes/Log.md', operation: 'append', content: 'one more line', project },
]
const read = [memory('read_note'), { identifier: 'notes/Log.md', output_format: 'json', project }]

test('after a timeout the same write is denied until the note was read', async () => {
  const run = await playDsh({
    config: { profile: 'strict' },
    // Long enough for every call that is answered.
    mcpConfig: { toolCallTimeoutMs: 4000 },
    mcpEnv: { STAND_IN_ANSWERS: JSON.stringify({ edit_note: [{ lost: true }] }) },
    conversation: [[[call.simple], [[memory('write_note'), note]], [append], [append], [read], [append], [append]]],
  })
  expect(run.code).toBe(0)
  expect(run.verdicts).toEqual([
    'classify ALLOW_CONTROL allowed',
    'write_note ALLOW_SIMPLE allowed',
    'edit_note ALLOW_SIMPLE allowed',
    'edit_note WRITE_OUTCOME_UNKNOWN denied',
    'read_note ALLOW_READ_ONLY allowed',
    'edit_note ALLOW_SIMPLE allowed',
    'edit_note DUPLICATE_WRITE_SAME_TURN denied',
  ])
  expect(run.outcomes.filter(line => line.startsWith('edit_note'))).toEqual([
    'edit_note unknown',
    'edit_note not-reached',
    'edit_note succeeded',
    'edit_note not-reached',
  ])
  // The read shows that it was done after all.
  expect(run.told[4].text).toContain('one more line')
  expect(run.reached).toEqual(['write_note', 'edit_note', 'read_note', 'edit_note'])
})
