/** A memory server under a name that is not governed is told by the tools that only Basic Memory publishes together. */
import { expect, test } from 'vitest'
import { ungovernedServers } from '../../js/neighbours.js'

const governs = name => name.startsWith('mcp__basic-memory__') || name === 'bmpp__classify'
const of = (server, ...tools) => tools.map(tool => `mcp__${server}__${tool}`)
const ALL = ['write_note', 'edit_note', 'search_notes', 'read_note', 'build_context', 'delete_note', 'move_note']

test.each([
  ['nothing', [], []],
  ['three of its tools', of('bm', 'write_note', 'search_notes', 'read_note'), ['bm']],
  ['all of its tools', of('bm', ...ALL), ['bm']],
  ['its tools among others', [...of('bm', ...ALL), ...of('bm', 'x', 'y'), 'bash'], ['bm']],
  ['two of its tools', of('bm', 'write_note', 'read_note'), []],
  ['its tools over two servers', [...of('a', 'write_note', 'read_note'), ...of('b', 'edit_note', 'move_note')], []],
  ['two servers, in the order in which they come', [...of('b', ...ALL), ...of('a', ...ALL)], ['b', 'a']],
  ['a governed server', of('basic-memory', ...ALL), []],
  [
    'a governed server and its double',
    [...of('basic-memory', ...ALL), ...of('basic_memory', ...ALL)],
    ['basic_memory'],
  ],
  ['a server whose name holds two underscores', of('my__notes', ...ALL), ['my__notes']],
  ['tools that are no server’s', ALL, []],
  ['tools that only end so', of('bm', 'rewrite_note', 'unread_note', 'premove_note'), []],
  ['the same tool three times', of('bm', 'write_note', 'x__write_note', 'y__write_note'), []],
])('%s', (_what, names, servers) => {
  expect(ungovernedServers(names, governs)).toEqual(servers)
})

test('takes whatever can be iterated', () => {
  expect(ungovernedServers(new Set(of('bm', ...ALL)), governs)).toEqual(['bm'])
})
