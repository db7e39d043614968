/** What the model and the operator read, as the addon hands it over: nothing of a call is in it. */
import { describe, expect, test } from 'vitest'
import { addon, answer, control, hits, Stage, search, write } from './addon.js'

const marker = 'MARKER-9d20'
const { codes } = addon.vocabulary()
const denying = codes.filter(code => code.kind !== 'allow')
const stage = new Stage({ mode: 'enforce' })
const strict = new Stage({ mode: 'enforce', profile: 'strict' })

test.each(denying)('$name begins its text, which says whether to retry', ({ name, kind, text }) => {
  const said = addon.denialText(stage.policy, addon.wordOfCode(name), addon.toolId(stage.policy, write))
  expect(said.startsWith(`${name}: `)).toBe(true)
  // Of a tool that the policy does not know, the text says what holds for all.
  const unknown = addon.toolId(stage.policy, 'mcp__basic-memory__rename_note')
  expect(addon.denialText(stage.policy, addon.wordOfCode(name), unknown)).toBe(text)
  expect(said.includes('Do not retry')).toBe(kind === 'terminal')
})

test('a verdict that allows has a text too, for a shim that asks at the wrong time', () => {
  for (const { name } of codes.filter(code => code.kind === 'allow')) {
    const said = addon.denialText(stage.policy, addon.wordOfCode(name), addon.toolId(stage.policy, write))
    expect(said).toMatch(/^[A-Z_]+: .{40}/)
  }
})

test("a text names the search tool of the call's own server", () => {
  const servers = new Stage({ serverNames: ['bm', 'archive'] })
  for (const server of ['bm', 'archive']) {
    const tool = addon.toolId(servers.policy, `mcp__${server}__write_note`)
    const said = addon.denialText(servers.policy, addon.wordOfCode('CREATE_REQUIRES_SEARCH'), tool)
    expect(said).toContain(`mcp__${server}__search_notes`)
  }
  servers.drop()
})

test('an agent that does not see the control tool is not told to call it', () => {
  const word = stage.word({ tool: write, args: {}, hidden: true })
  const said = addon.denialText(stage.policy, word, addon.toolId(stage.policy, write))
  expect(said).toMatch(/^CLASSIFICATION_REQUIRED: .*this agent cannot write memory.*parent.*/)
  expect(said).not.toContain('"task"')
})

describe('a marker in everything that a call has', () => {
  const args = {
    title: marker,
    directory: marker,
    content: marker,
    identifier: marker,
    project: marker,
    [marker]: marker,
  }
  const calls = [args, { ...args, folder: marker }, marker, [marker], JSON.stringify(args), { overwrite: marker }]
  const raws = ['write_note', 'edit_note', 'delete_note', 'delete_project', 'rename_note', `x_${marker}`]

  test.each(['unknown', 'simple', 'complex', 'complex, failed', 'complex, seen'])('in a turn that is %s', state => {
    for (const { policy } of [stage, strict]) {
      const turn = new Stage(
        addon.policyInfo(policy).profile === 'strict' ? { profile: 'strict', mode: 'enforce' } : {},
      )
      if (state !== 'unknown') turn.classify(state.split(',')[0])
      if (state.includes('failed')) turn.lookUp(answer(`# Search Failed\n${marker}`))
      if (state.includes('seen')) turn.lookUp(answer(`# Search Results: ${marker}`))
      for (const raw of raws) {
        for (const given of calls) {
          const tool = `mcp__basic-memory__${raw}`
          const word = turn.word({ tool, args: given, step: 2 })
          const said = addon.denialText(turn.policy, word, addon.toolId(turn.policy, tool))
          expect(said).not.toContain(marker)
          expect(JSON.stringify(addon.describe(word))).not.toContain(marker)
        }
      }
      turn.drop()
    }
  })

  test('nor in what is said of a result', () => {
    const turn = new Stage()
    for (const value of [
      answer(marker),
      answer(`# Search Failed: ${marker}`),
      { structuredContent: { error: marker } },
    ]) {
      turn.word({ call: 'l', tool: search, args })
      expect(JSON.stringify(turn.settle({ call: 'l', value }))).not.toContain(marker)
    }
    turn.drop()
  })

  test('nor in an error', () => {
    const policy = stage.policy
    for (const call of [
      () => addon.wordOfCode(marker),
      () => addon.toolId(policy, { toString: () => marker }),
      () => addon.holdings(marker),
      () => addon.judge(policy, marker, marker, marker, marker, marker, marker, args),
      () => addon.createPolicy({ [marker]: marker, mode: marker }),
    ]) {
      expect(call).toThrow()
      expect(call).not.toThrow(marker)
    }
  })
})

test('the control tool explains itself', () => {
  const { name, description, malformed, simple, complex } = addon.controlTool()
  expect(name).toBe(control)
  for (const word of ['"simple"', '"complex"', 'before', 'search']) expect(description).toContain(word)
  expect(malformed).toMatch(/^MALFORMED_ARGUMENTS: .*"simple".*"complex"/)
  for (const text of [simple, complex]) expect(text.length).toBeGreaterThan(20)
})

test('the vocabulary is one: names are unique, and codes are found by them', () => {
  for (const list of Object.values(addon.vocabulary())) {
    const names = list.map(entry => entry.name ?? entry)
    expect(new Set(names).size).toBe(names.length)
  }
  for (const { name, number } of codes) {
    expect(addon.wordOfCode(name)).toBe(number)
    expect(addon.describe(number).code).toBe(name)
  }
})

test('ten thousand sessions, opened and closed, leave nothing', () => {
  const many = new Stage()
  for (let i = 0; i < 10_000; i++) {
    many.word({ call: `l${i}`, tool: search, session: `s${i}` })
    many.closeSession(`s${i}`)
  }
  expect(many.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  const beside = new Stage()
  for (let i = 0; i < 10_000; i++) beside.word({ call: `l${i}`, tool: search, session: `s${i}` })
  expect(beside.holdings()).toEqual({ sessions: 10_000, turns: 10_000, calls: 10_000 })
  for (let i = 0; i < 10_000; i++) beside.settle({ call: `l${i}`, session: `s${i}`, value: hits })
  expect(beside.holdings()).toEqual({ sessions: 10_000, turns: 10_000, calls: 0 })
  for (let i = 0; i < 10_000; i++) beside.closeSession(`s${i}`)
  expect(beside.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  many.drop()
  beside.drop()
})
