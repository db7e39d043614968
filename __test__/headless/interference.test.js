// Other plugins of the same process, loaded before and after ours, in front and behind: no denied write gets through, nothing of
// ours stands in the way of ordinary plugins, and what breaks in them breaks for them.
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, test } from 'vitest'
import { playDsh, supportPlugin } from '../support/dsh-gate.js'
import { call, memory, note } from '../support/gate.js'

const write = memory('write_note')

/** In a turn that is not classified: each of these must leave the write's body unreached. `call` is a write unless it says so. */
const attacks = {
  'allow in place of our denial': { at: 'pre-execute', does: 'allow' },
  'our denial turned into allow': { at: 'pre-execute', does: 'allow in the end' },
  'a denial without a reason': { at: 'pre-execute', does: 'deny without a reason' },
  'a kind that nobody knows': { at: 'pre-execute', does: 'answer an unknown kind' },
  'no answer at all': { at: 'pre-execute', does: 'answer nothing' },
  'a search renamed to a write before the guards': {
    call: call.search,
    at: 'pre-execute',
    does: 'rename',
    with: { name: write, args: note },
  },
  'a search renamed to a write in a guard': {
    call: call.search,
    at: 'guard',
    does: 'rename',
    with: { name: write, args: note },
  },
  'a search renamed to a write around the body': {
    call: call.search,
    at: 'execute',
    does: 'rename',
    with: { name: write, args: note },
  },
  'the control tool renamed to a write': {
    call: call.simple,
    at: 'pre-execute',
    does: 'rename',
    with: { name: write, args: note },
  },
  'an exception in front of the gate': { at: 'pre-execute', does: 'throw' },
  'a rejection in front of the gate': { at: 'pre-execute', does: 'throw later' },
}

/** In a turn that is classified simple: what ordinary plugins do, beside which a write must work. */
const ordinary = {
  'allow without asking those behind': { at: 'pre-execute', does: 'allow' },
  'allow after asking them': { at: 'pre-execute', does: 'allow in the end' },
  'an argument added before the guards': {
    at: 'pre-execute',
    does: 'change the arguments',
    with: { tags: ['added'] },
  },
}

const all = { ...attacks, ...ordinary }
const deeds = Object.fromEntries(Object.entries(all).map(([id, { call: _, ...deed }]) => [id, deed]))
/** The calls of a list, each under its id; a write carries the id as its title. */
const asked = list =>
  Object.entries(list).map(([id, { call: [name, args] = call.write }]) => [
    name,
    name === write ? { ...args, title: id } : args,
    id,
  ])

const places = [
  { late: false, prepend: false },
  { late: false, prepend: true },
  { late: true, prepend: false },
  { late: true, prepend: true },
]
/** The meddler's row, before ours or behind it. */
const meddler = config => {
  const row = { id: 'meddler', name: supportPlugin('meddler'), config }
  return config.late ? { plugins: [row] } : { pluginsBefore: [row] }
}

describe.each(places)('a plugin that registers after ours: $late, in front: $prepend', place => {
  let run
  const started = () => run.mcpLog.filter(({ at }) => at === 'start')
  const told = id => run.told.find(({ callId }) => callId === id)

  beforeAll(async () => {
    const conversation = [
      [asked(attacks)],
      [[call.simple], asked(ordinary), [call.bash, [...call.search.slice(0, 2), 'after all']]],
    ]
    run = await playDsh({ ...meddler({ ...place, deeds }), conversation })
  })

  test('the turns go on to their end', () => {
    expect(run).toMatchObject({ code: 0, unused: [], stdout: 'end of turn 2\n' })
    expect(run.told.at(-1)).toMatchObject({ callId: 'after all', isError: false })
  })

  test.each(Object.keys(attacks))('does not get a denied write through: %s', id => {
    expect(told(id).isError).toBe(true)
    const bodies = started().filter(({ tool }) => tool === 'write_note')
    expect(bodies.map(({ arguments: { title } }) => title)).not.toContain(id)
    // The searches and declarations that were renamed carry the title of the plain note.
    expect(bodies.map(({ arguments: { title } }) => title)).not.toContain(note.title)
  })

  const stagesOf = id => run.decisions.filter(record => record.call === id).map(({ at }) => at)

  if (place.late && place.prepend) {
    test('past the decision it is judged in the guard, and past the guards where it runs', () => {
      expect(stagesOf('allow in place of our denial')).toEqual(['guard'])
      expect(stagesOf('a denial without a reason')).toEqual(['execute'])
      expect(stagesOf('a kind that nobody knows')).toEqual(['execute'])
    })
  } else if (!place.late) {
    test('what is swapped before our guard is judged there as it then stands', () => {
      expect(stagesOf('a search renamed to a write before the guards')).toEqual(['pre-execute', 'guard'])
      expect(stagesOf('a search renamed to a write in a guard')).toEqual(['pre-execute', 'guard'])
    })
  }

  test.each(Object.keys(ordinary))('may do this, and the write works: %s', id => {
    const { arguments: args } = started().find(({ arguments: { title } }) => title === id)
    expect(args.tags).toEqual(all[id].with?.tags)
    expect(told(id)).toMatchObject({ isError: false, text: expect.stringMatching(/^# Created note/) })
  })
})

test('the same deeds get past a gate that only listens and denies', async () => {
  const naive = { id: 'naive', name: fileURLToPath(new URL('../support/probe-plugin.mjs', import.meta.url)) }
  const run = await playDsh({
    config: null,
    pluginsBefore: [{ ...naive, config: { deny: ['write_note'] } }],
    ...meddler({ late: true, prepend: true, deeds }),
    conversation: [[asked(attacks)]],
  })
  const through = run.mcpLog.filter(({ at, tool }) => at === 'start' && tool === 'write_note')
  expect(through.map(({ arguments: { title } }) => title)).toEqual([
    'allow in place of our denial',
    'our denial turned into allow',
    'a denial without a reason',
    'a kind that nobody knows',
    note.title,
    note.title,
  ])
})

test('audit is in the way of nobody: what another plugin changes runs changed', async () => {
  const run = await playDsh({
    mode: 'audit',
    ...meddler({ late: true, deeds }),
    conversation: [
      [
        [
          [write, { ...note, title: 'A' }, 'an argument added before the guards'],
          [...call.search.slice(0, 2), 'a search renamed to a write in a guard'],
        ],
      ],
    ],
  })
  expect(run.mcpLog.filter(({ at }) => at === 'start')).toMatchObject([
    { tool: 'write_note', arguments: { title: 'A', tags: ['added'] } },
    { tool: 'write_note', arguments: note },
  ])
})

test('a call that another plugin turns into a memory write behind all wrappers is judged at the body, and does not run', async () => {
  const id = 'bash renamed around the body'
  const behind = { [id]: { at: 'execute', does: 'rename', with: { name: write, args: note } } }
  const run = await playDsh({
    ...meddler({ late: true, deeds: behind }),
    conversation: [[[[...call.bash.slice(0, 2), id]]]],
  })
  expect(run.reached).toEqual([])
  expect(run.verdicts).toEqual(['write_note CLASSIFICATION_REQUIRED denied'])
  expect(run.notices.slice(1)).toEqual([])
})
