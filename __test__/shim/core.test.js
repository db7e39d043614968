/** One policy of the addon: what is asked once, what is asked never, and what is checked of what comes back. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Core } from '../../js/core.js'
import { loadAddon } from '../../js/native.js'

const native = loadAddon()
/** @type {Core[]} */
const made = []
afterEach(() => {
  for (const core of made.splice(0)) core.dispose()
})

/** A core on an addon some of whose functions are replaced; each is counted. */
function coreOf(config = { mode: 'enforce' }, replaced = {}) {
  const addon = Object.fromEntries(
    Object.entries({ ...native, ...replaced }).map(([name, value]) => [
      name,
      typeof value === 'function' ? vi.fn(value) : value,
    ]),
  )
  const core = new Core(addon, config)
  made.push(core)
  return { core, addon }
}
const memory = raw => `mcp__basic-memory__${raw}`

describe('whether a name is governed', () => {
  test.each([
    [memory('write_note'), true],
    [memory(''), true],
    ['bmpp__classify', true],
    ['bmpp__classify2', false],
    ['mcp__basic-memory_write_note', false],
    ['mcp__other__write_note', false],
    ['', false],
    [undefined, false],
    [null, false],
    [5, false],
    [{ startsWith: () => true }, false],
    [Object(memory('write_note')), false],
    [Symbol('s'), false],
  ])('%o: %s', (name, governed) => {
    const { core, addon } = coreOf()
    for (const counted of Object.values(addon)) counted.mockClear?.()
    expect(core.governs(name)).toBe(governed)
    // Without a crossing.
    for (const counted of Object.values(addon))
      if (typeof counted === 'function') expect(counted).not.toHaveBeenCalled()
  })
})

describe('the tool of a name', () => {
  test.each([
    ['search_notes', 'search', false],
    ['read_note', 'read', false],
    ['write_note', 'write', true],
    ['delete_note', 'destructive', true],
    ['no_such_tool', 'unknown', true],
  ])('%s is of class %s', (raw, kind, writes) => {
    expect(coreOf().core.tool(memory(raw))).toEqual({ id: expect.any(Number), class: kind, writes })
  })

  test('the control tool writes nothing', () => {
    expect(coreOf().core.tool('bmpp__classify')).toMatchObject({ class: 'control', writes: false })
  })

  test('is asked once for each name', () => {
    const { core, addon } = coreOf()
    for (let time = 0; time < 5; time++) core.tool(memory('write_note'))
    expect(addon.toolId).toHaveBeenCalledTimes(1)
  })

  test('a model can make up as many names as it likes: not all of them are remembered', () => {
    const { core, addon } = coreOf()
    const asked = name => {
      addon.toolId.mockClear()
      core.tool(memory(name))
      return addon.toolId.mock.calls.length
    }
    for (let index = 0; index < 4095; index++) core.tool(memory(`made_up_${index}`))
    expect(asked('made_up_0')).toBe(0)
    // The list is full, and begins anew.
    core.tool(memory('the last'))
    core.tool(memory('one too many'))
    expect(asked('made_up_0')).toBe(1)
    expect(asked('one too many')).toBe(0)
  })
})

test.each([
  [memory('search_notes'), true],
  [memory('read_note'), true],
  ['bmpp__classify', true],
  [memory('write_note'), false],
  [memory('delete_note'), false],
  [memory('no_such_tool'), false],
  [memory('read_note_'), false],
  ['bash', false],
])('%s goes on without a verdict: %s; that is known without the core', (name, free) => {
  const { core, addon } = coreOf()
  for (const counted of Object.values(addon)) counted.mockClear?.()
  expect(core.isFree(name)).toBe(free)
  for (const counted of Object.values(addon)) if (typeof counted === 'function') expect(counted).not.toHaveBeenCalled()
})

test('the read list of the configuration says what goes on', () => {
  const { core } = coreOf({ readTools: ['cat'], searchTools: ['cat'] })
  expect([core.isFree(memory('cat')), core.isFree(memory('read_note'))]).toEqual([true, false])
})

describe('what comes back is checked before anything depends on it', () => {
  test.each([[99], [-1], [undefined], ['denied'], [null], [0.5]])('an enforcement that is none: %s', value => {
    const { core } = coreOf(undefined, { enforcement: () => value })
    expect(() => core.enforcement(0, false)).toThrow('the core returned no enforcement')
  })

  test.each([[''], [undefined], [null], [5], [{}]])('a denial text that is none: %s', value => {
    const { core } = coreOf(undefined, { denialText: () => value })
    expect(core.denialText(0, 0)).toBe(core.internalErrorText)
    expect(core.internalErrorText).toMatch(/^POLICY_INTERNAL_ERROR: /)
  })

  test('a vocabulary without the text of a code fails the load', () => {
    const vocabulary = () => ({ ...native.vocabulary(), codes: [] })
    expect(() => new Core({ ...native, vocabulary }, {})).toThrow('no text for POLICY_INTERNAL_ERROR')
  })
})

test('each different word is described once', () => {
  const { core, addon } = coreOf()
  const word = native.wordOfCode('CREATE_REQUIRES_SEARCH')
  for (let time = 0; time < 3; time++) expect(core.describe(word).code).toBe('CREATE_REQUIRES_SEARCH')
  expect(addon.describe).toHaveBeenCalledTimes(1)
})

test('the words that must be there when the core fails are kept from the start', () => {
  const { core } = coreOf()
  expect(native.describe(core.notJudged).code).toBe('CALL_NOT_JUDGED')
  expect(native.describe(core.internalError).code).toBe('POLICY_INTERNAL_ERROR')
  expect(core.notJudgedText).toMatch(/^CALL_NOT_JUDGED: /)
})

test('disposed of, the policy is gone', () => {
  const core = new Core(native, {})
  core.dispose()
  expect(() => native.holdings(core.handle)).toThrow('no policy')
  core.dispose()
})
