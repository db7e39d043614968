// The row is edited while a turn is under way. The Harness disposes of the plugin and applies it anew: what the turn had earned is
// gone, the gap is told, and what a bad edit leaves behind is the gate that was there.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { playDsh, supportPlugin, UNVERIFIED } from '../support/dsh-gate.js'
import { call } from '../support/gate.js'
import { withTempDir } from '../support/temp-dir.js'

const row = (config, more = {}) =>
  JSON.stringify([
    {
      insert: [
        {
          id: 'bmpp',
          name: inRoot('js', 'index.js'),
          config: { mode: 'enforce', allowUnverifiedHarness: true, ...config },
          ...more,
        },
      ],
    },
  ])
const edit = ['edit_layer', {}]
const RELOADED =
  /^reloaded after \d+\.\d ms without a gate: memory writes in between were denied \(0\), and turns that are under way count as not classified$/

/** Plays with the row in the user's own layer, which the Harness watches; each `edit` call makes the next of the edits. */
const playEdited = (edits, conversation) =>
  withTempDir(async home => {
    const file = join(home, '.dsh', 'cordis.patch.yml')
    mkdirSync(join(home, '.dsh'))
    writeFileSync(file, row({}))
    const plugins = [{ id: 'editor', name: supportPlugin('layer-editor'), config: { file, edits } }]
    return playDsh({ home, config: null, plugins, conversation })
  })

/** An edit may be heard more than once: the editor repeats it, and each is a reload. */
const reloads = run => run.notices.filter(line => RELOADED.test(line))
/** What else was said. */
const besides = run => run.notices.filter(line => line !== UNVERIFIED && !RELOADED.test(line))
const written = run => run.verdicts.filter(line => line.startsWith('write_note'))

test('a new configuration is in force from the edit on, in the middle of the turn, and the turn begins again', async () => {
  const run = await playEdited(
    [{ text: row({ createRequiresSearch: false }), until: 'reloaded' }],
    [[[call.complex], [call.search], [edit], [call.write], [call.complex], [call.write]]],
  )
  expect(run).toMatchObject({ code: 0, unused: [] })
  expect(written(run)).toEqual(['write_note CLASSIFICATION_REQUIRED denied', 'write_note ALLOW_CREATE allowed'])
  expect(run.notices[0]).toBe(UNVERIFIED)
  expect(reloads(run).length).toBeGreaterThan(0)
  expect(besides(run)).toEqual([])
})

test('a lookup that is under way when the gate is exchanged is worth nothing to the new one', async () => {
  const run = await playEdited(
    [{ text: row({ createRequiresSearch: false }), until: 'reloaded', during: call.search[0] }],
    [[[call.complex], [call.search], [call.complex, call.edit]]],
  )
  expect(run.reached).toEqual(['search_notes'])
  expect(run.verdicts.at(-1)).toBe('edit_note MEMORY_LOOKUP_REQUIRED denied')
  expect(besides(run)).toEqual([
    'the gate was unloaded while a memory call was under way; a governed write is told POLICY_RELOADING in enforce, all else goes on',
    expect.stringMatching(/^a call of mcp__basic-memory__search_notes ran that was never judged: /),
  ])
})

test.each([
  ['exchanged', { text: row({ createRequiresSearch: false }), until: 'reloaded' }],
  ['taken away', { text: row({}, { disabled: true }), until: 'gone' }],
])('a write that is on its way to its body when the gate is %s does not get there', async (_, change) => {
  const run = await playEdited([{ ...change, during: call.write[0] }], [[[call.simple], [call.write]]])
  expect(run.code).toBe(0)
  expect(run.reached).toEqual([])
  expect(run.answers.at(-1)).toBe('POLICY_RELOADING')
  // On a machine that is busy the end may come before the last record is stored, which is said after it.
  expect(run.notices).toContainEqual(
    expect.stringMatching(/^the gate was unloaded while a memory call was under way; /),
  )
})

test('a model that does as it is told after a reload has written one step later', async () => {
  const run = await playEdited(
    [{ text: row({ createRequiresSearch: false }), until: 'reloaded', during: call.write[0] }],
    [[[call.simple], [call.write], [call.simple], [call.write]]],
  )
  expect(run.code).toBe(0)
  const [, refused, , repeated] = run.told
  expect(refused.text).toMatch(
    /^Error: POLICY_RELOADING: .* Call bmpp__classify again .* then repeat this call in a later message\.$/,
  )
  expect(repeated.isError).toBe(false)
  expect(run.reached).toEqual(['write_note'])
})

test('a configuration that is refused leaves the old one in force', async () => {
  const run = await playEdited(
    [{ text: row({ createRequiresSearch: 'perhaps', unknownKey: 1 }), until: 'refused' }],
    [[[call.complex], [edit], [call.write], [call.complex], [call.write]]],
  )
  expect(run.code).toBe(0)
  expect(written(run)).toEqual([
    'write_note CLASSIFICATION_REQUIRED denied',
    'write_note CREATE_REQUIRES_SEARCH denied',
  ])
  expect(reloads(run).length).toBeGreaterThan(0)
})

test('a layer that is no YAML changes nothing, and the next good one is taken', async () => {
  const run = await playEdited(
    [
      { text: '- insert: [', until: 'refused' },
      { text: row({ mode: 'audit' }), until: 'reloaded' },
    ],
    [[[call.simple], [edit], [call.write], [edit], [call.edit]]],
  )
  expect(run.verdicts.slice(1)).toEqual([
    'write_note ALLOW_SIMPLE allowed',
    'edit_note CLASSIFICATION_REQUIRED overridden',
  ])
  expect(reloads(run).length).toBeGreaterThan(0)
})

test('a row that is disabled unloads its gate, and the same row enabled again loads it', async () => {
  const run = await playEdited(
    [
      { text: row({}, { disabled: true }), until: 'gone' },
      { text: row({}), until: 'reloaded' },
      { text: row({ mode: 'off' }), until: 'gone' },
    ],
    [[[call.write], [edit], [call.write], [edit], [call.write], [edit], [call.edit]]],
  )
  expect(run.code).toBe(0)
  // Between the edits nothing was judged: the gate was not there.
  expect(run.verdicts).toEqual([
    'write_note CLASSIFICATION_REQUIRED denied',
    'write_note CLASSIFICATION_REQUIRED denied',
  ])
  expect(run.reached).toEqual(['write_note', 'edit_note'])
})
