// The addon panics at every entry on the real `dsh`: the process lives, governed writes are denied in enforce, and everything else
// goes on as if nothing were there. Needs the build with faults, as `npm test` makes it.
import { beforeAll, describe, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { cut, playDsh, supportPlugin, UNVERIFIED } from '../support/dsh-gate.js'
import { call, memory, note } from '../support/gate.js'

const env = { DSH_BMPP_NATIVE: inRoot('target', 'faults', 'dsh-bmpp.node') }
const injector = config => [{ id: 'faults', name: supportPlugin('fault-injector'), config }]
const FAULT = 'POLICY_INTERNAL_ERROR'

/**
 * Entry → what becomes of a write before and after a declaration and a search, all of them with a panic. `ran`: it was judged and
 * allowed, since what fails there is not needed for a verdict. A tool's number is asked for once, so these entries take a
 * tool of their own, and the session is opened once, so it comes first.
 */
const entries = {
  openSession: { tool: 'move_note', before: FAULT, after: 'ran' },
  toolId: { tool: 'delete_note', before: FAULT, after: FAULT },
  toolClass: { tool: 'edit_note', before: FAULT, after: FAULT },
  judgeFlat: { before: FAULT, after: FAULT },
  policy: { before: FAULT, after: FAULT },
  // What becomes of a verdict is asked for once too, so these are verdicts on a tool that destroys.
  enforcement: { tool: 'delete_note', before: FAULT, after: FAULT },
  // The declaration and the search happened, but that they did was lost with the panic.
  settle: { before: 'CLASSIFICATION_REQUIRED', after: 'CLASSIFICATION_REQUIRED' },
  // Of an answer in text: that of the search, which for the core still runs.
  settleText: { before: 'CLASSIFICATION_REQUIRED', after: 'MEMORY_LOOKUP_PENDING_IN_BATCH' },
  denialText: { before: FAULT, after: 'ran' },
  describe: { before: 'CLASSIFICATION_REQUIRED', after: 'ran' },
  describeSettlement: { before: 'CLASSIFICATION_REQUIRED', after: 'ran' },
  endTurn: { before: 'CLASSIFICATION_REQUIRED', after: 'ran' },
  closeSession: { before: 'CLASSIFICATION_REQUIRED', after: 'ran' },
}
const names = Object.keys(entries)
const bash = ['bash', { command: 'echo the shell goes on', description: 'says so' }]
const writeOf = entry => [memory(entries[entry].tool ?? 'write_note'), { ...note, title: entry }]

/** A turn in which every call makes the entry panic. */
const turn = entry =>
  [
    { 'before-': writeOf(entry) },
    { 'complex-': call.complex },
    { 'search-': call.search },
    { 'after-': writeOf(entry) },
    { 'bash-': bash, 'read-': call.read },
  ].map(calls => Object.entries(calls).map(([id, [name, args]]) => [name, args, `${entry}:${id}`]))

describe.each(['enforce', 'audit'])('mode %s', mode => {
  let run
  const told = (entry, id) => run.told.find(({ callId }) => callId === `${entry}:${id}-`)
  const bodies = entry =>
    run.mcpLog.filter(({ at, arguments: args }) => at === 'start' && args.title === entry).map(({ tool }) => tool)

  beforeAll(async () => {
    run = await playDsh({ mode, env, pluginsBefore: injector({}), conversation: names.map(turn) })
  })

  test('the process goes on to its end', () => {
    expect(run).toMatchObject({ code: 0, timedOut: false, unused: [], stdout: `end of turn ${names.length}\n` })
  })

  test.each(names)('a panic in %s leaves the shell, the search and the reads alone', entry => {
    expect(told(entry, 'bash').text).toContain('the shell goes on')
    expect(told(entry, 'search').text).toMatch(/^(# Search Results|No results found for )/)
    expect(cut(told(entry, 'read').text)).toMatch(/^# Note Not Found/)
    expect(told(entry, 'complex').isError).toBe(false)
  })

  if (mode === 'enforce') {
    test.each(names)('a panic in %s lets no write pass that was not judged and allowed', entry => {
      const { before, after } = entries[entry]
      expect(cut(told(entry, 'before').text)).toBe(before)
      if (after !== 'ran') expect(cut(told(entry, 'after').text)).toBe(after)
      expect(bodies(entry)).toHaveLength(after === 'ran' ? 1 : 0)
    })
  } else {
    test.each(names)('a panic in %s blocks nothing', entry => {
      const tool = entries[entry].tool ?? 'write_note'
      expect(bodies(entry)).toEqual([tool, tool])
    })
  }

  test('the operator reads one line of each kind of fault, with the place and nothing of the call', () => {
    const [first, ...faults] = run.notices
    expect(first).toBe(UNVERIFIED)
    expect(faults.length).toBeGreaterThan(0)
    for (const line of faults) {
      expect(line).toMatch(
        /^POLICY_INTERNAL_ERROR: \w+ panicked at src\/[\w/.]+:\d+; governed writes are denied in enforce, all else goes on$/,
      )
    }
    expect(new Set(faults).size).toBe(faults.length)
  })
})

test.each(['readConfig', 'createPolicy', 'controlTool'])('a panic in %s at load ends the boot', async atLoad => {
  const run = await playDsh({ env, pluginsBefore: injector({ atLoad }), script: [] })
  expect(run).toMatchObject({ code: 1, timedOut: false, stdout: '', requests: [], mcpLog: [] })
  expect(run.stderr).toContain(`POLICY_INTERNAL_ERROR: ${atLoad} panicked`)
})
