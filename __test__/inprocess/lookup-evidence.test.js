/**
 * What a lookup's result proves. The server reports failed searches as ordinary text with the error flag false, so the
 * heading that it writes itself decides; where there is none that is known, the flag does.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, flagged, jsonAnswer, memory } from '../support/gate.js'

/** One complex turn: the lookup, then a write in the next message. */
async function afterLookup(result, { tool = 'search_notes', config } = {}) {
  const gate = await bootGate({ config, tools: { [memory(tool)]: () => result } })
  await gate.turn([[call.complex], [[memory(tool), { query: 'plans' }]], [call.write]])
  const [, lookup] = gate.outcomes()
  return { gate, lookup: lookup.split(' ').slice(1).join(' '), write: gate.verdicts().at(-1) }
}

/** The ways in which one text reaches us: the bridge's whole value, and what is left of it on other paths. */
const shapes = {
  'text and structured': answer,
  'text only': text => ({ content: [{ type: 'text', text }] }),
  'structured only': text => ({ content: [], structuredContent: { result: text } }),
}

const FAILURES = [
  '# Search Failed\n\nSearch failed for unknown reasons.',
  '# Search Failed - Invalid Syntax\n\nThe query was not understood.',
  '# Search Failed - Service Temporarily Unavailable\n\nTry again later.',
  '# Search Failed - Semantic Search Disabled',
  "# Search Complete - No Results Found\n\nYour search for 'plans' ...",
  '# No Search Criteria\n\nPlease provide at least one of ...',
  '# Project Index Required\n\nThis project has not been indexed.',
  '# Error\n\nPath leaves the project.',
  '# Error: something else',
  '\n# Note Not Found in main: "plans"',
  'Error: connection refused',
  "Error calling tool 'search_notes': boom",
]

describe.each(Object.keys(shapes))(
  'a failure heading (%s) is a failed lookup although the error flag is false',
  shape => {
    test.each(FAILURES)('%j', async text => {
      const { gate, lookup, write } = await afterLookup(shapes[shape](text))
      expect(lookup).toBe('failed')
      expect(write).toBe('write_note MEMORY_LOOKUP_FAILED denied')
      expect(gate.reached()).toEqual(['search_notes'])
    })
  },
)

test.each(FAILURES)('lookupEvidence flag looks at the flag alone: %j', async text => {
  const { lookup, write } = await afterLookup(answer(text), { config: { lookupEvidence: 'flag' } })
  expect(lookup).toBe('succeeded')
  expect(write).toBe('write_note ALLOW_RECALL_OK allowed')
})

describe('JSON mode', () => {
  /** A JSON answer in each of the shapes that carry one. */
  const carriers = {
    unwrapped: jsonAnswer,
    bare: value => ({ content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }),
    'text only': value => ({ content: [{ type: 'text', text: JSON.stringify(value) }] }),
    'a list of one text': value => ({
      content: [{ type: 'text', text: JSON.stringify(value) }],
      structuredContent: { result: [{ type: 'text', text: JSON.stringify(value) }] },
    }),
  }
  const page = { current_page: 1, page_size: 10, total: 0, has_more: false }
  const cases = [
    ['an error', { error: 'Unsupported MCP client' }, 'failed', 'MEMORY_LOOKUP_FAILED denied'],
    [
      'error beats results',
      { results: [{ title: 'T' }], error: 'SEARCH_FAILED' },
      'failed',
      'MEMORY_LOOKUP_FAILED denied',
    ],
    ['results', { results: [{ title: 'T' }], ...page }, 'succeeded', 'ALLOW_RECALL_OK allowed'],
    ['a null error is none', { results: [{ title: 'T' }], error: null }, 'succeeded', 'ALLOW_RECALL_OK allowed'],
    ['an error inside a hit is a hit', { results: [{ error: 'x' }] }, 'succeeded', 'ALLOW_RECALL_OK allowed'],
    ['no results', { results: [], ...page }, 'succeeded RECALL_EMPTY', 'ALLOW_RECALL_OK allowed'],
    ['something else', { items: [] }, 'succeeded LOOKUP_HEADING_UNKNOWN', 'ALLOW_RECALL_OK allowed'],
  ]
  describe.each(Object.keys(carriers))('%s', carrier => {
    test.each(cases)('%s', async (_what, value, outcome, verdict) => {
      for (const tool of ['search_notes', 'search', 'build_context']) {
        const { lookup, write } = await afterLookup(carriers[carrier](value), { tool })
        expect([lookup, write], tool).toEqual([outcome, `write_note ${verdict}`])
      }
    })
  })
})

describe('by the flag', () => {
  test.each(['# Search Results: plans', "No results found for 'plans'", 'anything', ''])(
    'the error flag is always a failure, whatever the text says: %j',
    async text => {
      for (const lookupEvidence of ['heading', 'flag']) {
        const { lookup, write } = await afterLookup(flagged(text), { config: { lookupEvidence } })
        expect([lookup, write]).toEqual(['failed', 'write_note MEMORY_LOOKUP_FAILED denied'])
      }
    },
  )

  test.each([
    ['a heading that nobody knows', answer('# Something New\n')],
    ['no text at all', { content: [] }],
    ['an image', { content: [{ type: 'resource', uri: 'x' }] }],
    ['an empty text', answer('')],
    ['the text of a number', { content: [], structuredContent: { result: 5 } }],
  ])('%s counts as the flag says, and is observed', async (_what, result) => {
    const { lookup, write } = await afterLookup(result)
    expect([lookup, write]).toEqual(['succeeded LOOKUP_HEADING_UNKNOWN', 'write_note ALLOW_RECALL_OK allowed'])
  })
})

describe('nothing else of a result is looked at', () => {
  test.each([
    ['a hit that quotes a failure', '# Search Results: plans\n\n### Plans\n# Search Failed\n# Error\n'],
    ['a query that quotes a failure', '# Search Results: # Search Failed'],
    ['a miss that quotes a failure', "No results found for '# Error' in project 'main'."],
  ])('%s is no failure', async (_what, text) => {
    expect((await afterLookup(answer(text))).write).toBe('write_note ALLOW_RECALL_OK allowed')
  })

  test('an empty answer in other words is no miss that is known', async () => {
    const { lookup } = await afterLookup(answer('Sorry. No results found for plans.'))
    expect(lookup).toBe('succeeded LOOKUP_HEADING_UNKNOWN')
  })
})

test('the outcome of a read that is no search is judged by its flag and its status part', async () => {
  const gate = await bootGate({ tools: { [memory('read_note')]: () => answer('# Error\n\nno such thing') } })
  await gate.turn([[call.read]])
  expect(gate.outcomes()).toEqual(['read_note failed'])
})
