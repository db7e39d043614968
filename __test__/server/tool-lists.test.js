// The contract with the server's tool list: no name that it publishes is without a class. The recorded lists are those of
// `tools/list`, split by what the server itself says of each tool (`readOnlyHint`); the live one is looked at in answers.test.js.
import { readFileSync } from 'node:fs'
import { afterAll, describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { memoryTool } from '../support/headless.js'

const recorded = JSON.parse(readFileSync(new URL('../data/basic-memory-tools.json', import.meta.url), 'utf8'))
const addon = loadAddon()
const policy = addon.createPolicy({})
afterAll(() => addon.dropPolicy(policy))
const classOf = raw => addon.toolClass(addon.toolId(policy, memoryTool(raw)))
const readsAndWrites = (list, reads) =>
  list.filter(raw => reads !== ['read', 'search'].includes(classOf(raw))).map(raw => `${raw} is ${classOf(raw)}`)

describe.each(Object.entries(recorded))('the tools of Basic Memory %s', (_, { reads, writes }) => {
  test('each has a class', () => {
    expect([...reads, ...writes].filter(raw => classOf(raw) === 'unknown')).toEqual([])
  })

  test('what the server calls read-only is a read, and nothing else is', () => {
    expect(readsAndWrites(reads, true)).toEqual([])
    expect(readsAndWrites(writes, false)).toEqual([])
  })
})

test('a name that no list knows is found', () => {
  expect(classOf('merge_notes')).toBe('unknown')
  expect(readsAndWrites(['merge_notes', 'write_note', 'read_note'], true)).toEqual([
    'merge_notes is unknown',
    'write_note is write',
  ])
})
