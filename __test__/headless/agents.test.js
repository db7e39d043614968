// More than one agent, and more than one process: what one session earned is never used in another, nor after a restart.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { message, playDsh, supportPlugin } from '../support/dsh-gate.js'
import { call } from '../support/gate.js'
import { withTempDir } from '../support/temp-dir.js'
import { command } from '../support/trail.js'

const delegate = (tool, prompt, id) => [
  tool,
  { prompt, description: 'delegated', ...(tool === 'subagent' ? { run_in_background: false } : {}) },
  id,
]
const lines = (run, session) =>
  run.decisions
    .filter(record => session === undefined || record.session === session)
    .map(({ tool, code, enforcement }) => `${tool.split('__').at(-1)} ${code} ${enforcement}`)

describe('a subagent', () => {
  let run
  let parent
  let child

  beforeAll(async () => {
    run = await playDsh({
      config: { profile: 'strict' },
      script: [
        message([call.complex]),
        message([call.search]),
        message([delegate('subagent', 'the task of the child')]),
        { for: 'the task of the child', ...message([[...call.write, 'child-write']]) },
        { for: 'the task of the child', ...message([call.simple]) },
        { for: 'the task of the child', ...message([call.write, [...call.remove, 'child-remove']]) },
        { for: 'the task of the child', text: 'the child is done' },
        message([[...call.edit, 'parent-edit']]),
        { text: 'the parent is done' },
      ],
    })
    ;[parent, child] = [...new Set(run.decisions.map(({ session }) => session))]
  })

  test('is a session of its own', () => {
    expect(run).toMatchObject({ code: 0, unused: [], stdout: 'the parent is done\n' })
    expect(new Set(run.decisions.map(({ session }) => session)).size).toBe(2)
  })

  test('cannot write on what its parent earned, and earns for itself', () => {
    expect(lines(run, child)).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'classify ALLOW_CONTROL allowed',
      'write_note ALLOW_SIMPLE allowed',
      'delete_note ALLOW_SIMPLE denied',
    ])
  })

  test('leaves its parent what the parent earned', () => {
    expect(lines(run, parent).at(-1)).toBe('edit_note ALLOW_RECALL_OK allowed')
    expect(run.decisions.find(({ call: id }) => id === 'parent-edit').classification).toBe('complex')
  })

  test('is not put to a human who would never be asked: the denial is ours, and says so', () => {
    const { text } = run.told.find(({ callId }) => callId === 'child-remove')
    expect(text).toMatch(/^Error: APPROVAL_UNAVAILABLE: .*Do not retry/)
    expect(run.reached).toEqual(['search_notes', 'write_note', 'edit_note'])
  })
})

test('a forked subagent has read what its parent read, and has earned nothing by it', async () => {
  // A fork takes over the finished turns of its parent, and counts on from their numbers.
  const run = await playDsh({
    turns: ['the second task'],
    script: [
      message([call.complex]),
      message([call.search]),
      message([call.write]),
      { text: 'first turn done' },
      { for: 'the second task', ...message([call.complex]) },
      { for: 'the second task', ...message([call.search]) },
      { for: 'the second task', ...message([delegate('subagent_fork', 'the forked task')]) },
      { for: 'the forked task', ...message([call.edit]) },
      { for: 'the forked task', ...message([call.complex]) },
      { for: 'the forked task', ...message([call.edit]) },
      { for: 'the forked task', text: 'fork done' },
      { for: 'the second task', ...message([call.edit]) },
      { for: 'the second task', text: 'second turn done' },
    ],
  })
  expect(run).toMatchObject({ code: 0, unused: [] })
  const [parent, fork] = [...new Set(run.decisions.map(({ session }) => session))]
  expect(lines(run, fork)).toEqual([
    'edit_note CLASSIFICATION_REQUIRED denied',
    'classify ALLOW_CONTROL allowed',
    'edit_note MEMORY_LOOKUP_REQUIRED denied',
  ])
  // The numbers of turn and step are the same in both: only the session tells them apart.
  const places = session =>
    run.decisions.filter(record => record.session === session).map(({ turn, step }) => [turn, step])
  expect(places(parent)).toContainEqual(places(fork)[1])
  expect(lines(run, parent).at(-1)).toBe('edit_note ALLOW_RECALL_OK allowed')
})

test('a subagent from which the control tool is kept is told that its parent must write, and the operator which filter it is', async () => {
  await withTempDir(async home => {
    const filtered = { provider: 'spawn', toolName: 'subagent', toolFilter: { deny: ['bmpp__classify'] } }
    const run = await playDsh({
      home,
      patches: [[{ id: 'tool-subagent', config: filtered }]],
      script: [
        message([delegate('subagent', 'the task of the child')]),
        { for: 'the task of the child', ...message([[...call.write, 'child-write'], call.simple]) },
        { for: 'the task of the child', ...message([call.edit]) },
        { for: 'the task of the child', text: 'the child is done' },
        { text: 'the parent is done' },
      ],
    })
    const { text } = run.told.find(({ callId }) => callId === 'child-write')
    expect(text).toMatch(/^Error: CLASSIFICATION_REQUIRED: .*this agent cannot write memory\. Do not retry: .*parent/s)
    for (const { observations } of run.decisions.filter(({ class: of }) => of === 'write')) {
      expect(observations).toEqual(['CONTROL_HIDDEN'])
    }
    expect(run.reached).toEqual([])
    // Once on standard error, however often it happens.
    expect(run.notices.filter(line => line.startsWith('CONTROL_HIDDEN'))).toEqual([
      expect.stringMatching(
        /does not see bmpp__classify, as its tools are filtered: .*; let bmpp__classify pass its filter, or have its parent write$/,
      ),
    ])
    // What doctor finds in the trail; and in the layers, where the filter stands in one that it can read.
    const found = () => JSON.parse(command(['doctor', '--json'], { home }).stdout).map(({ what }) => what)
    expect(found()).toContainEqual(
      expect.stringMatching(/^trail: in the last 7d, 2 writes were tried by agents that do not see bmpp__classify/),
    )
    const bmpp = {
      id: 'bmpp',
      name: inRoot('js', 'index.js'),
      config: { mode: 'enforce', allowUnverifiedHarness: true },
    }
    const layer = [{ insert: [bmpp] }, { id: 'tool-subagent', config: filtered }]
    writeFileSync(join(home, '.dsh', 'profiles', 'headless', 'cordis.patch.yml'), JSON.stringify(layer))
    expect(found()).toContainEqual(
      expect.stringMatching(/^profile headless: the tool filter of the row tool-subagent hides bmpp__classify/),
    )
  })
})

test('a session that a new process resumes begins its turn unclassified, and its log is readable', async () => {
  await withTempDir(async home => {
    const first = await playDsh({ home, conversation: [[[call.complex], [call.search], [call.write]]] })
    expect(first.verdicts.at(-1)).toBe('write_note ALLOW_RECALL_OK allowed')
    const { session } = first.decisions[0]

    const agents = [
      {
        id: 'main',
        resumeSessionId: session,
        provider: 'deepseek-official',
        model: 'deepseek-v4-flash',
        cwd: join(home, 'work'),
      },
    ]
    const second = await playDsh({
      home,
      patches: [
        [
          { id: 'headless-runner', disabled: true },
          { id: 'agent-loop', config: { agents } },
        ],
      ],
      plugins: [{ id: 'driver', name: supportPlugin('resume-driver'), config: { session, message: 'go on' } }],
      script: [
        message([[...call.edit, 'resumed-1']]),
        message([[...call.complex, 'resumed-2']]),
        message([[...call.edit, 'resumed-3']]),
        message([[...call.search, 'resumed-4']]),
        message([[...call.edit, 'resumed-5']]),
        { text: 'resumed and done' },
      ],
    })
    expect(second).toMatchObject({ code: 0, unused: [] })
    // The model reads on where it was: its search still stands in what it is shown, and is worth nothing now.
    expect(second.requests[0].messages.flatMap(({ tool_calls: calls = [] }) => calls)).toHaveLength(3)
    expect(second.decisions.map(record => [record.session, record.turn])).toEqual(Array(5).fill([session, 2]))
    expect(second.verdicts).toEqual([
      'edit_note CLASSIFICATION_REQUIRED denied',
      'classify ALLOW_CONTROL allowed',
      'edit_note MEMORY_LOOKUP_REQUIRED denied',
      'search_notes ALLOW_READ_ONLY allowed',
      'edit_note ALLOW_RECALL_OK allowed',
    ])
  })
})
