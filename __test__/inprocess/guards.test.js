/**
 * Each guard on the real Harness with a server that keeps notes: seen to fire and not to fire, what the model reads, what is
 * recorded of it, and what is in the notes afterwards.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, call, memory } from '../support/gate.js'
import { notebook } from '../support/notebook.js'

const SECRET = 'https://alice:hunter2pass@db.internal/x'
const seeds = { 'notes/Alpha.md': 'old text', 'notes/Beta.md': 'text of beta' }

const write = (more = {}) => [memory('write_note'), { title: 'New', directory: 'notes', content: 'text', ...more }]
const overwrite = (more = {}) => write({ title: 'Alpha', content: 'new text', overwrite: true, ...more })
const edit = (more = {}) => [
  memory('edit_note'),
  { identifier: 'notes/Alpha.md', operation: 'append', content: 'more', ...more },
]
const read = (identifier, more = {}) => [memory('read_note'), { identifier, output_format: 'json', ...more }]
const one = list => list.map(what => [what])

/** Plays calls, each in a message of its own, after a declaration. */
async function play(list, { config, profile = 'strict', mode, declare = call.simple } = {}) {
  const notes = notebook(seeds)
  const gate = await bootGate({ mode, profile, config, tools: notes.tools })
  const agent = await gate.turn([[declare], ...one(list)])
  return { notes, gate, agent, last: gate.decisions().at(-1), told: gate.told(agent).at(-1)?.text }
}

describe('a guard that denies', () => {
  /** @type {Record<string, { calls: any[], code: string, argument?: string, secret?: string, next: string, config?: object }>} */
  const cases = {
    'pathGuard: a directory': {
      calls: [write({ directory: '../out' })],
      code: 'UNSAFE_NOTE_PATH',
      argument: 'directory',
      next: 'plain relative path',
    },
    'pathGuard: a destination under another name': {
      calls: [[memory('move_note'), { identifier: 'notes/Alpha.md', to: '.git/hooks/x.md' }]],
      code: 'UNSAFE_NOTE_PATH',
      argument: 'destination_path',
      next: 'plain relative path',
    },
    'pathGuard: a title': {
      calls: [write({ title: 'CON' })],
      code: 'UNSAFE_NOTE_PATH',
      argument: 'title',
      next: 'a title of visible letters',
    },
    overwriteRequiresRead: {
      calls: [overwrite()],
      code: 'OVERWRITE_REQUIRES_READ',
      next: `${memory('read_note')} with the note's path`,
    },
    projectGuard: {
      calls: [read('Alpha', { project: 'main' }), write()],
      code: 'PROJECT_AMBIGUOUS',
      next: '"project" set to',
      config: { projectGuard: 'deny' },
    },
    'duplicateWriteGuard: done': { calls: [edit(), edit()], code: 'DUPLICATE_WRITE_SAME_TURN', next: 'Do not retry' },
    'secretPatternGuard: tags': {
      calls: [write({ tags: ['db', SECRET] })],
      code: 'SECRET_PATTERN_DETECTED',
      argument: 'tags',
      secret: 'url-password',
      next: 'Remove it',
    },
    'secretPatternGuard: content, where that is inspected': {
      calls: [write({ content: `see ${SECRET}` })],
      code: 'SECRET_PATTERN_DETECTED',
      argument: 'content',
      secret: 'url-password',
      next: 'Remove it',
      config: { inspectContent: true },
    },
    testFixtureGuard: {
      calls: [write({ title: '[test-fixture] row' })],
      code: 'TEST_FIXTURE_LABEL_IN_PROJECT',
      argument: 'title',
      next: 'without the label, or, where it is a fixture, in the folder tests/.',
    },
  }

  test.each(Object.entries(cases))('%s', async (_, { calls, code, argument, secret, next, config }) => {
    const { gate, last, told } = await play(calls, { config })
    expect(last).toMatchObject({ decision: 'deny', code, enforcement: 'denied' })
    expect(last).toMatchObject({ argument: argument ?? null, secretClass: secret ?? null })
    expect(gate.reached()).not.toHaveLength(calls.length)
    expect(told).toContain(`${code}: `)
    expect(told).toContain(next)
    if (argument) expect(told).toContain(`"${argument}"`)
  })

  test.each(Object.entries(cases))('%s: in audit it goes on, and the same is recorded', async (_, one) => {
    const { gate, last } = await play(one.calls, { config: one.config, mode: 'audit' })
    expect(last).toMatchObject({ decision: 'deny', code: one.code, enforcement: 'overridden' })
    expect(gate.reached()).toHaveLength(one.calls.length)
  })

  test('what a record and a text hold of a call: names and classes, no values', async () => {
    for (const { calls, config } of Object.values(cases)) {
      const marked = calls.map(([name, args]) => [name, { ...args, content: 'MARKER-c', metadata: { k: 'MARKER-m' } }])
      const { gate, agent } = await play(marked, { config })
      const said = JSON.stringify([gate.trail, gate.stderr, gate.told(agent).filter(({ isError }) => isError)])
      for (const value of ['MARKER', 'hunter2', '../out', '.git', 'CON"', 'fixture] row']) {
        expect(said, `${JSON.stringify(marked)}: ${value}`).not.toContain(value)
      }
    }
  })
})

describe('a guard that does not fire', () => {
  /** @type {Record<string, { calls: any[], config?: object }>} */
  const cases = {
    'pathGuard: a deep folder, and odd characters of a title': {
      calls: [write({ title: 'a: b?', directory: 'x/y z' })],
    },
    'overwriteRequiresRead: read as JSON before': { calls: [read('Alpha'), overwrite()] },
    'overwriteRequiresRead: another write of the turn': { calls: [write(), write({ overwrite: true, content: 'v2' })] },
    'projectGuard: the project is named': {
      calls: [read('Alpha', { project: 'main' }), write({ project: 'main' })],
      config: { projectGuard: 'deny' },
    },
    'projectGuard: nothing was switched': { calls: [read('Alpha'), write()], config: { projectGuard: 'deny' } },
    'duplicateWriteGuard: another text, another note, the first again': {
      calls: [edit(), edit({ content: 'b' }), edit({ identifier: 'notes/Beta.md' }), edit()],
    },
    'secretPatternGuard: content, where that is not inspected': { calls: [write({ content: SECRET })] },
    'testFixtureGuard: in a folder for fixtures': { calls: [write({ title: '[test-fixture]', directory: 'tests/x' })] },
  }

  test.each(Object.entries(cases))('%s', async (_, { calls, config }) => {
    const { gate, agent } = await play(calls, { config })
    expect(gate.reached()).toHaveLength(calls.length)
    expect(gate.decisions(agent).filter(record => record.decision === 'deny')).toEqual([])
  })
})

test('in a complex turn the lookup comes first, and then the guards', async () => {
  const { gate } = await play([overwrite(), call.search, overwrite(), read('notes/Alpha.md'), overwrite()], {
    declare: call.complex,
  })
  expect(gate.verdicts().filter(line => line.startsWith('write_note'))).toEqual([
    'write_note MEMORY_LOOKUP_REQUIRED denied',
    'write_note OVERWRITE_REQUIRES_READ denied',
    'write_note ALLOW_RECALL_OK allowed',
  ])
})

test('compat warns where strict denies: the note is replaced, and that is recorded', async () => {
  const { gate, notes, last } = await play([overwrite({ tags: [SECRET] })], { profile: 'compat' })
  expect(last).toMatchObject({
    code: 'ALLOW_SIMPLE',
    enforcement: 'allowed',
    argument: 'tags',
    secretClass: 'url-password',
  })
  expect(last.observations.toSorted()).toEqual(['OVERWRITE_REQUIRES_READ', 'SECRET_PATTERN_DETECTED'])
  expect(notes.text('notes/Alpha.md')).toBe('new text')
  expect(gate.reached()).toEqual(['write_note'])
})

test('a lost answer: the append is done, not repeated blindly, and known after a read', async () => {
  const notes = notebook(seeds)
  const gate = await bootGate({ profile: 'strict', tools: notes.tools })
  notes.loseAnswer('edit_note')
  const agent = await gate.turn([
    [call.simple],
    ...one([edit(), edit(), read('notes/Alpha.md'), edit({ content: 'else' })]),
  ])
  expect(gate.verdicts(agent).filter(line => line.startsWith('edit_note'))).toEqual([
    'edit_note ALLOW_SIMPLE allowed',
    'edit_note WRITE_OUTCOME_UNKNOWN denied',
    'edit_note ALLOW_SIMPLE allowed',
  ])
  expect(gate.outcomes(agent)).toContain('edit_note unknown')
  expect(notes.text('notes/Alpha.md')).toBe('old text\nmore\nelse')
})

test('a retry after a refusal is no duplicate', async () => {
  const replace = edit({ operation: 'find_replace', find_text: 'draft', content: 'final' })
  const { gate, agent, notes } = await play([read('notes/Alpha.md'), replace, edit({ content: 'draft' }), replace])
  expect(gate.outcomes(agent).filter(line => line.startsWith('edit_note'))).toEqual([
    'edit_note failed',
    'edit_note succeeded',
    'edit_note succeeded',
  ])
  expect(notes.text('notes/Alpha.md')).toBe('old text\nfinal')
})
