// Which servers and tools are governed: other names for the memory server, and tools that no list knows.
import { expect, test } from 'vitest'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { playDsh, supportPlugin, UNVERIFIED } from '../support/dsh-gate.js'
import { call, memory, note } from '../support/gate.js'
import { memoryTool } from '../support/headless.js'

const under = (server, raw = 'write_note') => [memoryTool(raw, server), note]

test('a memory server under another name is not governed, and one line tells the operator which', async () => {
  const run = await playDsh({ serverName: 'notes', conversation: [[[under('notes')], [under('notes', 'read_note')]]] })
  expect(run.code).toBe(0)
  expect(run.notices).toEqual([
    UNVERIFIED,
    'the MCP server "notes" looks like Basic Memory and is not governed; to govern it, add "notes" to serverNames',
  ])
  expect(run.reached).toEqual(['write_note', 'read_note'])
  expect(run.decisions).toEqual([])
})

test('a second connection beside the governed one is told of too, and the governed one stays governed', async () => {
  const second = {
    id: 'second',
    name: '@deepseek-ai/dsh-mcp-client',
    config: {
      transport: 'stdio',
      serverName: 'basic-memory-2',
      command: projectNode(),
      args: [inRoot('demo', 'stand-in-server.mjs')],
      failOnStartupError: true,
    },
  }
  const run = await playDsh({ pluginsBefore: [second], conversation: [[[call.write], [under('basic-memory-2')]]] })
  expect(run.notices.slice(1)).toEqual([expect.stringMatching(/"basic-memory-2" looks like Basic Memory/)])
  expect(run.answers).toEqual(['CLASSIFICATION_REQUIRED', '# Created note'])
})

test('named in serverNames it is governed, and denials name its own tools', async () => {
  const names = ['notes']
  const conversation = [[[under('notes')], [call.complex], [under('notes')], [call.write]]]
  const run = await playDsh({ serverName: 'notes', config: { serverNames: names }, conversation })
  expect(run.notices).toEqual([UNVERIFIED])
  expect(run.decisions.map(({ code }) => code)).toEqual([
    'CLASSIFICATION_REQUIRED',
    'ALLOW_CONTROL',
    'CREATE_REQUIRES_SEARCH',
  ])
  expect(run.told[2].text).toContain('mcp__notes__search_notes')
  // The default name is not governed any more: the host itself knows no such tool.
  expect(run.answers.at(-1)).toBe('Error: unknown tool "mcp__basic-memory__write_note"')
  expect(run.reached).toEqual([])
})

test('a server whose name only begins like a governed one is another server', async () => {
  const conversation = [[[under('basic-memory__x')], [under('basic-memory-x')]]]
  const run = await playDsh({ serverName: 'basic-memory-x', conversation })
  // `mcp__basic-memory__x__write_note` is in the namespace, as a tool that no list knows.
  expect(run.verdicts).toEqual(['x__write_note UNKNOWN_MEMORY_TOOL denied'])
  expect(run.reached).toEqual(['write_note'])
})

const fresh = memory('merge_notes')
// The host cuts and hashes a name that has other characters than the protocol takes.
const hashed = memory('write_note_0123456789ab')
const plugins = [{ id: 'more-tools', name: supportPlugin('more-tools'), config: { names: [fresh, hashed] } }]
const both = [
  [fresh, {}],
  [hashed, {}],
]

test('a tool that no list knows is denied, and the denial names the keys that would let it in', async () => {
  const run = await playDsh({ plugins, conversation: [[[call.simple], both]] })
  expect(run.verdicts.slice(1)).toEqual([
    'merge_notes UNKNOWN_MEMORY_TOOL denied',
    'write_note_0123456789ab UNKNOWN_MEMORY_TOOL denied',
  ])
  for (const { text } of run.told.slice(1)) {
    expect(text).toMatch(/^Error: UNKNOWN_MEMORY_TOOL: /)
    expect(text).toContain('readTools')
    expect(text).toContain('mutatingTools')
  }
})

test('with unknownMemoryToolPolicy warn it is gated as a write, and observed', async () => {
  const run = await playDsh({
    plugins,
    config: { unknownMemoryToolPolicy: 'warn' },
    conversation: [[both, [call.complex], both, [call.simple], both]],
  })
  expect(run.answers.filter(answer => !answer.startsWith('This turn'))).toEqual([
    'CLASSIFICATION_REQUIRED',
    'CLASSIFICATION_REQUIRED',
    'MEMORY_LOOKUP_REQUIRED',
    'MEMORY_LOOKUP_REQUIRED',
    `${fresh} ran`,
    `${hashed} ran`,
  ])
  const judged = run.decisions.filter(({ class: kind }) => kind === 'unknown')
  expect(judged).toHaveLength(6)
  expect(judged.every(({ observations }) => observations.includes('UNKNOWN_MEMORY_TOOL'))).toBe(true)
})

test('put on the list of writes it is a write like any other', async () => {
  const mutatingTools = [
    'write_note',
    'edit_note',
    'move_note',
    'delete_note',
    'create_memory_project',
    'delete_project',
  ]
  const run = await playDsh({
    plugins,
    config: { mutatingTools: [...mutatingTools, 'merge_notes'] },
    conversation: [[[call.simple], both]],
  })
  expect(run.answers.slice(1)).toEqual([`${fresh} ran`, 'UNKNOWN_MEMORY_TOOL'])
})

test('a server that is not there leaves no tools, and no gate is in the way of anything', async () => {
  const run = await playDsh({ mcp: 'none', conversation: [[[call.bash], [call.search], [call.write]], [[call.bash]]] })
  expect(run.code).toBe(0)
  expect(run.answers[1]).toBe('Error: unknown tool "mcp__basic-memory__search_notes"')
  expect(run.answers[2]).toBe('CLASSIFICATION_REQUIRED')
  expect(run.notices).toEqual([
    UNVERIFIED,
    'no tool of "basic-memory" is there at the end of the first turn: the memory server is down, or runs under a name that is not in serverNames; dsh-bmpp doctor compares the names',
  ])
})
