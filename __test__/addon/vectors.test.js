/**
 * The vectors of tests/vectors through the addon: the same files that `cargo test` runs against the core. What a key
 * means is told in tests/vectors/README.md.
 */
import { describe, expect, test } from 'vitest'
import { addon, becomes, enforcing, expectedBecomes, Stage, vectors, write } from './addon.js'

/** @param {Stage} stage @param {any} event @param {Record<string, unknown>} values what the event brought, and what it must */
function play(stage, event, values) {
  switch (event.do) {
    case 'open':
      stage.session(event.session)
      return []
    case 'close':
      stage.closeSession(event.session)
      return []
    case 'end-turn':
      stage.endTurn(event.session)
      return []
    case 'classify': {
      const { task, observations = [], do: _, ...place } = event
      const expected = { code: 'ALLOW_CONTROL', outcome: 'succeeded', observations }
      return [sorted(stage.classify(task, place)), sorted(expected)]
    }
    case 'judge': {
      const { do: _, expect: wanted, controlHidden: hidden, ...call } = event
      const word = stage.word({ ...call, hidden })
      const { becomes: columns, ...verdict } = { destructive: false, observations: [], ...wanted }
      // What each guard found is in the guards' own vectors.
      const { argument: _a, findings: _f, ...said } = addon.describe(word)
      const got = { ...sorted(said), becomes: columns && becomes(word) }
      return [got, { ...sorted(verdict), becomes: columns && expectedBecomes(columns) }]
    }
    case 'call': {
      const { tool, server = 'basic-memory', args = {}, answer, error, reached = true, ...rest } = event
      const { code, observations = [], argument, secretClass, outcome = 'succeeded', noted = [], ...place } = rest
      const call = event.call ?? Symbol('call')
      const word = stage.word({ ...place, call, tool: `mcp__${server}__${tool}`, args })
      const said = addon.describe(word)
      const judged = { code: said.code, observations: said.observations, argument: said.argument }
      const wanted = { code, observations, argument }
      const secret = stage.lastJudged()?.secretClass
      if (secretClass !== undefined) expect(secret).toBe(secretClass)
      expect(sorted(judged)).toEqual(sorted(wanted))
      if (answer === undefined && error === undefined && reached) return []
      const value = error ?? (typeof answer === 'string' && answer in values ? values[answer] : answer)
      const { session, step } = place
      const settled = stage.settle({ call, session, step, reached, isError: error !== undefined || !reached, value })
      return [sorted(settled), sorted({ outcome, observations: noted })]
    }
    case 'settle': {
      const { do: _, expect: wanted, value, ...result } = event
      if (value !== undefined && !(value in values)) throw new Error(`no value is called ${value}`)
      const got = stage.settle({ ...result, value: value && values[value] })
      return [sorted(got), sorted({ observations: [], ...wanted })]
    }
    case 'holdings':
      return [stage.holdings(), event.expect]
    default:
      throw new Error(`no event is called ${event.do}`)
  }
}

const sorted = thing => ({ ...thing, observations: [...thing.observations].sort() })

describe.each(['gate.json', 'classification.json', 'guards.json', 'overwrite.json', 'duplicate.json', 'project.json'])(
  '%s',
  file => {
    const { values = {}, vectors: scenarios } = vectors(file)
    test.each(scenarios)('$name', ({ config, events }) => {
      const stage = new Stage(config)
      for (const [index, event] of events.entries()) {
        const [got, expected] = play(stage, event, values)
        expect(got, `event ${index + 1} (${event.do} ${event.call ?? ''})`).toEqual(expected)
      }
      stage.drop()
    })
  },
)

const codes = {
  malformed: ['MALFORMED_ARGUMENTS'],
  creates: ['CREATE_REQUIRES_SEARCH'],
  writes: ['MEMORY_LOOKUP_REQUIRED'],
  refused: ['CREATE_REQUIRES_SEARCH', 'MEMORY_LOOKUP_REQUIRED'],
}

test.each(vectors('arguments.json').vectors)('arguments.json: $name', ({ tool, args, reads }) => {
  const stage = new Stage({ unknownMemoryToolPolicy: 'off' })
  const malformed = reads === 'malformed'
  expect(stage.judge({ tool, args }).code).toBe(malformed ? 'MALFORMED_ARGUMENTS' : 'CLASSIFICATION_REQUIRED')
  stage.classify('complex')
  expect(codes[reads]).toContain(stage.judge({ tool, args }).code)
  stage.classify('simple')
  expect(stage.judge({ tool, args }).decision).toBe(malformed ? 'deny' : 'allow')
  stage.drop()
})

test.each(vectors('evidence.json').vectors)('evidence.json: $name', row => {
  for (const lookupEvidence of ['heading', 'flag']) {
    for (const isError of [false, true]) {
      const said = lookupEvidence === 'heading' && !isError
      const outcome = said ? row.outcome : isError ? 'failed' : 'succeeded'
      const observations = (said && row.observations) || []
      const stage = new Stage({ lookupEvidence })
      stage.classify('complex')
      stage.word({ call: 'l', tool: `mcp__basic-memory__${row.tool}` })
      const settled = stage.settle({ call: 'l', isError, value: row.value })
      expect(settled, `${lookupEvidence}, error flag ${isError}`).toEqual({ outcome, observations })
      const gate = outcome === 'succeeded' ? 'ALLOW_RECALL_OK' : 'MEMORY_LOOKUP_FAILED'
      expect(stage.judge({ tool: write, args: { title: 'A' }, step: 2 }).code).toBe(gate)
      stage.drop()
    }
  }
})

describe('enforcement.json', () => {
  const rows = vectors('enforcement.json').vectors
  test.each(rows)('$code, destructive: $destructive', ({ code, destructive, becomes: columns, text = {} }) => {
    // The word of a destructive call differs in one bit, which its readable form confirms.
    const word = addon.wordOfCode(code) | (destructive ? 1 << 6 : 0)
    expect(addon.describe(word)).toMatchObject({ code, destructive })
    expect(becomes(word)).toEqual(expectedBecomes(columns))
    for (const [profile, expected] of Object.entries(text)) {
      const policy = enforcing(profile)
      expect(addon.denialText(policy, word, addon.toolId(policy, write))).toMatch(new RegExp(`^${expected}: `))
    }
  })

  test('has a row for every code of the vocabulary', () => {
    const named = new Set(rows.map(row => row.code))
    expect([...named].sort()).toEqual(
      addon
        .vocabulary()
        .codes.map(code => code.name)
        .sort(),
    )
  })
})

test.each(vectors('tools.json').vectors)('tools.json: $name', ({ config, names }) => {
  const stage = new Stage(config)
  for (const [name, expected] of Object.entries(names)) {
    const id = addon.toolId(stage.policy, name)
    expect(id === 0 ? null : addon.toolClass(id), name).toBe(expected)
  }
  stage.drop()
})

const bare = ({ path, code, nearest = null }) => JSON.stringify({ path, code, nearest })

test.each(vectors('config.json').vectors)('config.json: $name', ({ config, accepted, problems }) => {
  const read = addon.readConfig(config)
  expect(read.problems.map(bare).sort()).toEqual((problems ?? []).map(bare).sort())
  expect(read.ok).toBe(problems === undefined)
  if (!read.ok) {
    for (const { message } of read.problems) expect(message).toMatch(/^[^\n\r]+$/)
    expect(() => addon.createPolicy(config)).toThrow('readConfig')
    return
  }
  const stage = new Stage(config)
  const { allowUnverifiedHarness } = read
  expect({ ...addon.policyInfo(stage.policy), allowUnverifiedHarness }).toMatchObject(accepted)
  stage.drop()
})

test.each(vectors('compat.json').vectors)('compat.json: $version, allowed: $allowUnverified', row => {
  const { version, allowUnverified, ...expected } = row
  expect(addon.compatibility(version, allowUnverified)).toMatchObject(expected)
})

test.each(vectors('approval.json').vectors)('approval.json: $name', ({ tool, args, unmet, contains, lacks = [] }) => {
  const stage = new Stage({})
  const word = addon.wordOfCode(unmet ?? 'ALLOW_SIMPLE')
  const text = addon.approvalReason(tool, addon.toolId(stage.policy, tool), word, args)
  stage.drop()
  for (const part of contains) expect(text).toContain(part)
  for (const part of lacks) expect(text).not.toContain(part)
})
