/**
 * Nothing of what a call holds gets into a record, a log line, a notice or a denial: in a long run with denials, approvals and
 * errors, unique markers stand in every argument, every result and every name that somebody outside makes up.
 */
import { expect, test } from 'vitest'
import { answer, bootGate, CLASSIFY, flagged, jsonAnswer, memory } from '../support/gate.js'
import { calls, say } from '../support/inprocess.js'

let planted = 0
/** A string that stands nowhere else. */
function mark() {
  planted += 1
  return `MARKER${planted}`
}

/** Arguments of every kind, each value and each made-up key with a marker of its own. */
const marked = () => ({
  title: mark(),
  directory: `notes/${mark()}`,
  content: `# ${mark()}\n${mark()}`,
  identifier: `notes/${mark()}`,
  query: mark(),
  project: mark(),
  tags: [mark(), mark()],
  metadata: { [mark()]: mark(), nested: { deeper: [{ [mark()]: mark() }] } },
  [mark()]: mark(),
})

const RAW = [
  'search_notes',
  'build_context',
  'read_note',
  'recent_activity',
  'write_note',
  'edit_note',
  'move_note',
  'delete_note',
  'delete_project',
  'brand_new_tool',
]
const every = () => RAW.map(raw => /** @type {[string, any]} */ ([memory(raw), marked()]))

/** Results of every kind, with markers where the server would quote what it was given. */
const results = [
  () => answer(`# Search Results: ${mark()}\n${mark()}`),
  () => answer(`# Search Failed\n${mark()}`),
  () => answer(`${mark()} is no heading that anybody knows`),
  () => flagged(`no such project: ${mark()}`),
  () => jsonAnswer({ results: [{ title: mark() }], [mark()]: mark() }),
  () => jsonAnswer({ error: mark() }),
  () => {
    throw new Error(`the server said ${mark()}`)
  },
]

/** Arguments that are no JSON object, or too much of one. */
const odd = () => [
  `{"title": "${mark()}", broken`,
  `"${mark()}"`,
  `["${mark()}"]`,
  `{"title": -0, "content": "${mark()}"}`,
  `{"directory": "${mark()}", "folder": "${mark()}"}`,
  `{"__proto__": {"title": "${mark()}"}, "title": "${mark()}"}`,
  `{"title": "\\ud800${mark()}"}`,
  JSON.stringify({ title: mark().repeat(20_000) }),
]

const answers = ['allowed-once', 'rejected', 'cancelled', 'unavailable']

test.each([
  ['enforce', 'strict'],
  ['enforce', 'compat'],
  ['audit', 'strict'],
])('mode %s, profile %s', async (mode, profile) => {
  const denials = []
  const records = []
  // A sink that fails now and then, with an error that quotes.
  const sink = {
    record(record) {
      records.push(record)
      if (records.length % 7 === 0) throw new Error(`cannot keep ${mark()}`)
    },
  }
  let asked = 0
  let answered = 0
  const gate = await bootGate({
    mode,
    profile,
    codeMode: 'both',
    parts: { sink },
    answer: () => answers[asked++ % answers.length],
    tools: Object.fromEntries(RAW.map(raw => [memory(raw), () => results[answered++ % results.length]()])),
  })
  const [complex, simple] = ['complex', 'simple'].map(task => /** @type {[string, any]} */ ([CLASSIFY, { task }]))
  const program = `
    for (const name of ${JSON.stringify(RAW.map(memory))}) {
      await tools[name]({ title: '${mark()}', identifier: '${mark()}', content: '${mark()}' }).catch(() => {})
    }`
  const script = () => [
    calls(...every()),
    calls([CLASSIFY, { task: mark(), [mark()]: mark() }], [CLASSIFY, `${mark()} {`]),
    calls(complex, ...every()),
    calls(...odd().flatMap(args => ['write_note', 'delete_note', 'search_notes'].map(raw => [memory(raw), args]))),
    calls(...every()),
    calls(simple, ...every()),
    calls(['run_code', { description: mark(), code: program }]),
    say('done'),
  ]
  for (let round = 0; round < 3; round++) {
    const agent = await gate.open()
    gate.start(agent, script(), mark())
    await agent.whenIdle()
    const child = await gate.open({ parent: agent })
    gate.start(child, script(), mark())
    await child.whenIdle()
    for (const one of [agent, child]) {
      // Of what the model reads, the texts that are ours: a denial begins with a code.
      denials.push(...gate.told(one).filter(({ isError, text }) => isError && /^Error: [A-Z]+_[A-Z_]+: /.test(text)))
    }
    for (const made of every()) await gate.direct(undefined, made)
  }

  // The run had in it what it should have had.
  const seen = new Set(records.map(({ code, enforcement }) => `${code} ${enforcement}`))
  const denied = mode === 'enforce' ? 'denied' : 'overridden'
  for (const code of ['CLASSIFICATION_REQUIRED', 'MALFORMED_ARGUMENTS', 'UNKNOWN_MEMORY_TOOL']) {
    expect(seen).toContain(`${code} ${denied}`)
  }
  expect(seen).toContain('ALLOW_SIMPLE allowed')
  expect(asked > 0).toBe(mode === 'enforce' && profile === 'strict')
  expect(denials.length > 50).toBe(mode === 'enforce')
  expect(planted).toBeGreaterThan(1000)

  expect(gate.report().lostRecords).toBeGreaterThan(50)

  const kept = { records, stderr: gate.stderr, report: gate.report(), denials, ours: ownLines(gate.logs) }
  for (const [what, value] of Object.entries(kept)) expect(JSON.stringify(value), what).not.toContain('MARKER')
})

/** The log lines that are ours, whole. */
function ownLines(logs) {
  const lines = logs.map(message => JSON.stringify(message)).filter(line => line.includes('bmpp'))
  expect(lines.length).toBeGreaterThan(0)
  return lines
}
