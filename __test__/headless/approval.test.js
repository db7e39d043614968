// Strict: a destructive call asks for a human's approval, and where nobody can be asked it is denied in our own words.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { playDsh, supportPlugin } from '../support/dsh-gate.js'
import { call, memory } from '../support/gate.js'
import { readJsonLines } from '../support/headless.js'
import { withTempDir } from '../support/temp-dir.js'

const strict = { profile: 'strict' }
const UNAVAILABLE =
  "Error: APPROVAL_UNAVAILABLE: this call destroys memory and needs a human's approval, which is not available here. Do not retry: tell the user what should be removed."

describe('where nobody can be asked', () => {
  test('headless: the host says so of the first call, and we of all that follow', async () => {
    const conversation = [
      [[call.simple], [call.write], [call.remove], [call.remove]],
      [[call.simple], [call.remove]],
    ]
    const run = await playDsh({ config: strict, conversation })
    expect(run.code).toBe(0)
    expect(run.verdicts.filter(line => line.startsWith('delete_note'))).toEqual([
      'delete_note ALLOW_SIMPLE asked',
      'delete_note ALLOW_SIMPLE denied',
      // A channel that was missing in this session is not looked for again in its next turn.
      'delete_note ALLOW_SIMPLE denied',
    ])
    const told = run.told.filter(({ name }) => name === memory('delete_note')).map(({ text }) => text)
    expect(told).toEqual([expect.stringContaining('no approval channel is available'), UNAVAILABLE, UNAVAILABLE])
    expect(run.reached).toEqual(['write_note'])
  })

  test('a policy of never: nobody is asked, and the host has no say in how it is told', async () => {
    const run = await playDsh({
      config: strict,
      env: { DSH_PERMISSION_MODE: 'danger-full-access' },
      conversation: [[[call.simple], [call.remove], [[memory('delete_project'), { project_name: 'main' }]]]],
    })
    expect(run.told.slice(1).map(({ text }) => text)).toEqual([UNAVAILABLE, UNAVAILABLE])
    expect(run.verdicts.slice(1)).toEqual(['delete_note ALLOW_SIMPLE denied', 'delete_project ALLOW_SIMPLE denied'])
    expect(run.reached).toEqual([])
  })

  test('compat asks nobody: a destructive call is a write like any other', async () => {
    const run = await playDsh({ conversation: [[[call.remove], [call.simple], [call.remove]]] })
    expect(run.verdicts).toEqual([
      'delete_note CLASSIFICATION_REQUIRED denied',
      'classify ALLOW_CONTROL allowed',
      'delete_note ALLOW_SIMPLE allowed',
    ])
    expect(run.reached).toEqual(['delete_note'])
  })

  test('audit asks nobody and denies nothing, strict or not', async () => {
    const run = await playDsh({ mode: 'audit', config: strict, conversation: [[[call.remove]]] })
    expect(run.verdicts).toEqual(['delete_note CLASSIFICATION_REQUIRED overridden'])
    expect(run.reached).toEqual(['delete_note'])
  })
})

describe('where a human answers', () => {
  test('only an approval lets the call pass, once, and the reason names what would be destroyed', async () => {
    await withTempDir(async home => {
      const log = join(home, 'asked.jsonl')
      const answers = ['rejected', 'allowed-once', 'cancelled', 'throws', 'allowed-once']
      const remove = [memory('delete_note'), { identifier: 'notes/old', is_directory: true, project: 'main' }]
      const run = await playDsh({
        home,
        config: strict,
        plugins: [{ id: 'answerer', name: supportPlugin('answerer'), config: { log, answers } }],
        conversation: [[[remove], [call.complex], [remove], [remove], [remove], [remove]]],
      })
      expect(run.code).toBe(0)
      const asked = readJsonLines(log)
      expect(asked).toHaveLength(4)
      for (const part of ['delete_note', 'notes/old', 'is_directory', 'main']) expect(asked[0].reason).toContain(part)
      expect(asked[0].reason).toContain('CLASSIFICATION_REQUIRED')
      expect(run.verdicts.filter(line => line.startsWith('delete_note'))).toEqual([
        'delete_note CLASSIFICATION_REQUIRED asked',
        // What the gate would have denied, a human let pass.
        'delete_note MEMORY_LOOKUP_REQUIRED asked',
        'delete_note MEMORY_LOOKUP_REQUIRED asked',
        'delete_note MEMORY_LOOKUP_REQUIRED asked',
        // A channel that broke counts as none.
        'delete_note MEMORY_LOOKUP_REQUIRED denied',
      ])
      expect(run.reached).toEqual(['delete_note'])
      expect(run.told.at(-1).text).toBe(UNAVAILABLE)
      // The model and the records hold none of what the human read.
      expect(JSON.stringify(run.records)).not.toContain('notes/old')
      expect(run.told.map(({ text }) => text).join()).not.toContain('notes/old')
    })
  })
})
