/**
 * The description of the control tool is the whole lesson of a model in `audit`, where no denial teaches. So each of its sentences
 * is held against the rules: every claim has its words in the text and is played, and no sentence is without a claim.
 */
import { afterEach, describe, expect, test } from 'vitest'
import { addon, answer, hits, Stage, search, write } from './addon.js'

const { description } = addon.controlTool()
const sentences = description.split(/(?<=[.;]) /)
const { tools } = addon.vocabulary()
const note = { title: 'T', directory: 'd', content: '' }
const memory = raw => `mcp__basic-memory__${raw}`

/** A turn, to be written in. */
let stage = new Stage()
afterEach(() => {
  stage.drop()
  stage = new Stage()
})
const verdict = (more = {}) => stage.judge({ tool: write, args: note, ...more }).code

/** What the text says, and that it is so. @type {[claim: string, words: string[], so: () => void][]} */
const claims = [
  [
    'what for: how a turn uses memory',
    ['Declare how this turn uses long-term memory.'],
    () => expect(stage.classify('simple').code).toBe('ALLOW_CONTROL'),
  ],
  [
    'when: once for each request, before the first write, whatever tool that is',
    ['Call it once per user request, before the first tool call that writes to memory', 'and the like'],
    () => {
      for (const { name } of tools.filter(tool => ['write', 'destructive'].includes(tool.class))) {
        expect([name, verdict({ tool: memory(name), args: {} })]).toEqual([name, 'CLASSIFICATION_REQUIRED'])
      }
    },
  ],
  [
    'when: not for reading and searching',
    ['reading and searching memory need no declaration.'],
    () => {
      for (const { name } of tools.filter(tool => ['read', 'search'].includes(tool.class))) {
        expect([name, verdict({ tool: memory(name), args: {} })]).toEqual([name, 'ALLOW_READ_ONLY'])
      }
    },
  ],
  [
    'the value simple: the write needs no lookup, and may come in the same message',
    ['task "simple": the write needs no knowledge of what memory already holds', 'may follow in the same message.'],
    () => {
      stage.classify('simple')
      expect(verdict({ step: 1 })).toBe('ALLOW_SIMPLE')
    },
  ],
  [
    'the value complex: search, read the result, write in a later message',
    [
      'task "complex": notes may already cover the subject',
      'search (search_notes, for example), read the result, and write in a later message.',
    ],
    () => {
      stage.classify('complex')
      stage.lookUp(hits)
      expect([verdict({ step: 1 }), verdict({ step: 2 })]).toEqual([
        'MEMORY_LOOKUP_PENDING_IN_BATCH',
        'ALLOW_RECALL_OK',
      ])
    },
  ],
  [
    'in doubt: complex, which asks for more than simple and forbids nothing',
    ['If in doubt, declare complex.'],
    () => {
      stage.classify('complex')
      expect(verdict()).toBe('CREATE_REQUIRES_SEARCH')
      stage.lookUp(hits)
      expect(verdict({ step: 2 })).toBe('ALLOW_RECALL_OK')
    },
  ],
  [
    'what follows otherwise: a write may be refused',
    ['A write without a declaration, or in a complex turn without a search that succeeded, may be refused.'],
    () => {
      expect(verdict()).toBe('CLASSIFICATION_REQUIRED')
      stage.classify('complex')
      expect(verdict()).toBe('CREATE_REQUIRES_SEARCH')
      stage.lookUp(answer('# Search Failed'))
      expect(verdict({ step: 2 })).toBe('MEMORY_LOOKUP_FAILED')
    },
  ],
  [
    'how long: for the turn',
    ['A declaration ends with its turn.'],
    () => {
      stage.classify('simple')
      stage.endTurn()
      expect(verdict({ turn: 2 })).toBe('CLASSIFICATION_REQUIRED')
    },
  ],
  [
    'again: the last one counts, and what was looked up stays',
    [
      'Call again if the task turns out otherwise: the last declaration counts, and lookups already made in the turn stay valid.',
    ],
    () => {
      stage.lookUp(hits)
      stage.classify('simple')
      expect(verdict({ step: 2 })).toBe('ALLOW_SIMPLE')
      stage.classify('complex')
      expect(verdict({ step: 2, args: { ...note, title: 'Other' } })).toBe('ALLOW_RECALL_OK')
    },
  ],
]

describe('the description', () => {
  test.each(claims)('%s', (_, words, so) => {
    for (const part of words) expect(description).toContain(part)
    so()
  })

  test('has no sentence that nothing here holds to account', () => {
    const held = claims.flatMap(([, words]) => words)
    const free = sentences.filter(sentence => !held.some(part => sentence.includes(part) || part.includes(sentence)))
    // An example of simple, and the search that complex asks for, belong to the sentences before them.
    expect(free).toEqual([])
  })

  test('names only tools that there are, and the search tool by one that counts', () => {
    const named = description.match(/\b[a-z]+_[a-z_]+\b/g) ?? []
    expect(named.filter(name => !tools.some(tool => tool.name === name))).toEqual([])
    expect(tools.find(({ name }) => name === search.split('__').at(-1))?.class).toBe('search')
  })

  test('is short enough to be read', () => expect(description.length).toBeLessThan(1100))
})
