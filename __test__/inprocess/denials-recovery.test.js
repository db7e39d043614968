/**
 * Every denial through a model that follows only the text (support/obedient.js). For each code that is marked recoverable the
 * one next call that the text names cures it: the repeated call is allowed, and its body runs. For each terminal one the text
 * says not to retry, and the model stops. The vocabulary drives it: a code without a case is a failure.
 */
import { describe, expect, test } from 'vitest'
import { tools as surface } from '../../demo/memory-tools.mjs'
import { loadAddon } from '../../js/native.js'
import { answer, bootGate, CLASSIFY, call, FOUND, flagged, memory } from '../support/gate.js'
import { notebook } from '../support/notebook.js'
import { denialIn, obedient, obey } from '../support/obedient.js'

const { codes } = loadAddon().vocabulary()

const write = (more = {}) => [memory('write_note'), { title: 'New', directory: 'notes', content: 'new text', ...more }]
const edit = (more = {}) => [
  memory('edit_note'),
  { identifier: 'notes/Alpha.md', operation: 'append', content: 'more', ...more },
]
const replace = edit({ operation: 'find_replace', find_text: 'old', content: 'new' })
const alpha = write({ title: 'Alpha', overwrite: true })
const moveAway = [memory('move_note'), { identifier: 'notes/Alpha.md', destination_path: 'old/Beta.md' }]
const search = [memory('search_notes'), { query: 'Alpha' }]
const simple = [call.simple]
const complex = [call.complex]

/** A search that fails until it is asked for as the text says. */
const failing = wanted => args => (wanted(args) ? answer(FOUND) : answer('# Search Failed - Invalid Query'))

/** The tools of the notebook under another server's name. */
const under = (server, tools) =>
  Object.fromEntries(Object.entries(tools).map(([name, body]) => [name.replace('basic-memory', server), body]))

/** Edits the row while a call of this tool is on its way to its body. */
const reloading = (name, config) => {
  let gate
  let edited = false
  return {
    ready: booted => {
      gate = booted
    },
    plugin: {
      name: 'editor',
      inject: ['tools'],
      apply: ctx =>
        void ctx.on('tools/pre-execute', (exec, next) => {
          if (exec.name === name && !edited) {
            edited = true
            gate.fibers[0].update({ ...gate.config, ...config }).catch(() => {})
          }
          return next()
        }),
    },
  }
}

/**
 * What a case is: `wanted` is what the model would do anyway, message by message; the last of it is denied with `code`.
 * @type {Record<string, any>}
 */
const cases = {
  'two names of one parameter': { code: 'MALFORMED_ARGUMENTS', wanted: [simple, [write({ folder: 'elsewhere' })]] },
  'a turn that is not classified, declared simple': {
    code: 'CLASSIFICATION_REQUIRED',
    wanted: [[write()]],
    holds: { 'notes/New.md': 'new text' },
  },
  'a turn that is not classified, declared complex': {
    code: 'CLASSIFICATION_REQUIRED',
    wanted: [[write()]],
    prefer: 'complex',
  },
  'an edit in a turn that is not classified, declared complex': {
    code: 'CLASSIFICATION_REQUIRED',
    wanted: [[edit()]],
    prefer: 'complex',
    holds: { 'notes/Alpha.md': 'old text\nmore' },
  },
  'an agent that does not see the control tool': {
    code: 'CLASSIFICATION_REQUIRED',
    wanted: [[write()]],
    setup: ctx => void ctx.get('tools').restrict({ deny: [CLASSIFY] }),
    terminal: true,
  },
  'a search and a write in one message': {
    code: 'MEMORY_LOOKUP_PENDING_IN_BATCH',
    wanted: [complex, [search, write()]],
  },
  'a search that fails until it is one for plain text': {
    code: 'MEMORY_LOOKUP_FAILED',
    wanted: [complex, [search], [write()]],
    tools: { [memory('search_notes')]: failing(args => args.search_type === 'text' && args.query !== 'Alpha') },
  },
  'a search that throws': {
    code: 'MEMORY_LOOKUP_FAILED',
    wanted: [complex, [search], [edit()]],
    tools: { [memory('search_notes')]: args => (args.search_type === 'text' ? answer(FOUND) : flagged('no index')) },
  },
  'a new note without a search': { code: 'CREATE_REQUIRES_SEARCH', wanted: [complex, [write()]] },
  'an edit without a search': { code: 'MEMORY_LOOKUP_REQUIRED', wanted: [complex, [edit()]] },
  'an unsafe directory': {
    code: 'UNSAFE_NOTE_PATH',
    wanted: [simple, [write({ directory: '../out' })]],
    holds: { 'notes/topic/New.md': 'new text' },
  },
  'an unsafe directory, under another name': {
    code: 'UNSAFE_NOTE_PATH',
    wanted: [simple, [[memory('write_note'), { title: 'New', folder: '/etc', content: 'x' }]]],
  },
  'an unsafe title': {
    code: 'UNSAFE_NOTE_PATH',
    wanted: [simple, [write({ title: 'NUL' })]],
    holds: { 'notes/Weekly plan.md': 'new text' },
  },
  'an unsafe destination': {
    code: 'UNSAFE_NOTE_PATH',
    wanted: [simple, [[memory('move_note'), { identifier: 'notes/Alpha.md', destination_path: '.git/x.md' }]]],
  },
  'an unsafe project path': {
    code: 'UNSAFE_NOTE_PATH',
    wanted: [simple, [[memory('create_memory_project'), { project_name: 'p', project_path: '~/x/../y' }]]],
    tools: { [memory('create_memory_project')]: () => answer('created') },
  },
  'an overwrite': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [alpha]],
    holds: { 'notes/Alpha.md': 'new text' },
  },
  'an overwrite in a named project': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [[alpha[0], { ...alpha[1], project: 'main' }]]],
    holds: { 'notes/Alpha.md': 'new text' },
  },
  'a replacement': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [replace]],
    holds: { 'notes/Alpha.md': 'new text' },
  },
  'a replacement by a title': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [[replace[0], { ...replace[1], identifier: 'Alpha' }]]],
    holds: { 'notes/Alpha.md': 'new text' },
  },
  'a note where one was moved away': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [moveAway], [write({ title: 'Alpha' })]],
    holds: { 'notes/Alpha again.md': 'new text', 'old/Beta.md': 'old text' },
  },
  'a note where one was deleted': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [[memory('delete_note'), { identifier: 'notes/Alpha.md' }]], [write({ title: 'Alpha' })]],
    config: { destructiveTools: [] },
    holds: { 'notes/Alpha.md': 'new text' },
  },
  'a move to where one was deleted': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [
      simple,
      [write({ title: 'Beta' })],
      [[memory('delete_note'), { identifier: 'notes/Alpha.md' }]],
      [[memory('move_note'), { identifier: 'notes/Beta.md', destination_path: 'notes/Alpha.md' }]],
    ],
    config: { destructiveTools: [] },
    holds: { 'notes/Alpha.md': 'new text' },
  },
  'an overwrite where no tool proves a read': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [write({ overwrite: true })]],
    config: { readTools: ['search_notes', 'search', 'build_context'] },
  },
  'no project': {
    code: 'PROJECT_AMBIGUOUS',
    wanted: [simple, [[memory('read_note'), { identifier: 'Alpha', project: 'main' }]], [write()]],
    config: { projectGuard: 'deny' },
    holds: { 'notes/New.md': 'new text' },
  },
  'an edit whose answer was lost': {
    code: 'WRITE_OUTCOME_UNKNOWN',
    wanted: [simple, [edit()], [edit()]],
    lose: 'edit_note',
    holds: { 'notes/Alpha.md': 'old text\nmore\nmore' },
  },
  'a new note whose answer was lost': {
    code: 'WRITE_OUTCOME_UNKNOWN',
    wanted: [simple, [write()], [write()]],
    lose: 'write_note',
    // It follows the words blindly, and the server refuses a second note of the name.
    ends: 'failed',
  },
  'an edit whose answer was lost, where no tool tells': {
    code: 'WRITE_OUTCOME_UNKNOWN',
    wanted: [simple, [edit()], [edit()]],
    lose: 'edit_note',
    config: { readTools: ['search_notes', 'search', 'build_context'] },
    terminal: true,
  },
  'a secret': {
    code: 'SECRET_PATTERN_DETECTED',
    wanted: [simple, [write({ tags: ['https://alice:hunter2pass@host/x'] })]],
    holds: { 'notes/New.md': 'new text' },
  },
  'the label of a fixture': {
    code: 'TEST_FIXTURE_LABEL_IN_PROJECT',
    wanted: [simple, [write({ title: '[test-fixture] New' })]],
    holds: { 'notes/New.md': 'new text' },
  },
  'a write that meets the exchange of the gate': {
    code: 'POLICY_RELOADING',
    wanted: [simple, [write()]],
    edit: {},
  },
  'an edit in a complex turn that meets the exchange of the gate': {
    code: 'POLICY_RELOADING',
    wanted: [complex, [search], [edit()]],
    edit: {},
  },
  'a tool that no list knows': {
    code: 'UNKNOWN_MEMORY_TOOL',
    wanted: [simple, [[memory('brand_new_tool'), { a: 1 }]]],
  },
  'the same write twice': {
    code: 'DUPLICATE_WRITE_SAME_TURN',
    wanted: [simple, [edit()], [edit()]],
    holds: { 'notes/Alpha.md': 'old text\nmore' },
  },
  'a call whose place is not known': {
    code: 'CALL_NOT_JUDGED',
    wanted: [simple, [write()]],
    ahead: {
      name: 'agentless',
      inject: ['tools'],
      apply: ctx =>
        void ctx.on(
          'tools/pre-execute',
          (exec, next) => {
            if (exec.name === memory('write_note')) exec.agent = undefined
            return next()
          },
          { prepend: true },
        ),
    },
  },
  'a fault of the policy': { code: 'POLICY_INTERNAL_ERROR', wanted: [simple, [write()]], fault: true },
  'a destructive call that nobody can approve': {
    code: 'APPROVAL_UNAVAILABLE',
    wanted: [simple, [[memory('delete_note'), { identifier: 'notes/Alpha.md' }]]],
  },
  'a gate that could not be put up again': {
    code: 'POLICY_NOT_LOADED',
    wanted: [simple, [write()]],
    before: gate => gate.fibers[0].update({ ...gate.config, createRequiresSearch: false }).catch(() => {}),
    versions: ['0.1.5', '9.0.0'],
  },
  'a server of two': {
    code: 'CREATE_REQUIRES_SEARCH',
    wanted: [complex, [['mcp__archive__write_note', write()[1]]]],
    config: { serverNames: ['basic-memory', 'archive'] },
    server: 'archive',
  },
  'an overwrite on a server of two': {
    code: 'OVERWRITE_REQUIRES_READ',
    wanted: [simple, [['mcp__archive__write_note', alpha[1]]]],
    config: { serverNames: ['basic-memory', 'archive'] },
    server: 'archive',
  },
  "an operator's own search tool": {
    code: 'MEMORY_LOOKUP_REQUIRED',
    wanted: [complex, [edit()]],
    config: { searchTools: ['find_by_meaning'], readTools: ['find_by_meaning', 'read_note'] },
    tools: { [memory('find_by_meaning')]: () => answer(FOUND) },
  },
  "an operator's own search tool that failed": {
    code: 'MEMORY_LOOKUP_FAILED',
    wanted: [complex, [[memory('find_by_meaning'), { first: true }]], [edit()]],
    config: { searchTools: ['find_by_meaning'], readTools: ['find_by_meaning', 'read_note'] },
    tools: { [memory('find_by_meaning')]: args => (args.first ? flagged('no') : answer(FOUND)) },
  },
  'build_context as the only search tool': {
    code: 'CREATE_REQUIRES_SEARCH',
    wanted: [complex, [write()]],
    config: { searchTools: ['build_context'] },
    tools: { [memory('build_context')]: args => (args.url ? answer('# Context: alpha\n') : flagged('url is missing')) },
  },
  'search as the first search tool': {
    code: 'MEMORY_LOOKUP_FAILED',
    wanted: [complex, [[memory('search'), { query: 'Alpha' }]], [write()]],
    config: { searchTools: ['search', 'search_notes'] },
    tools: {
      [memory('search')]: args =>
        Object.keys(args).join() === 'query' && args.query !== 'Alpha' ? answer(FOUND) : flagged('no such parameter'),
    },
  },
}

const schemas = Object.fromEntries(
  Object.entries(surface).map(([raw, { properties }]) => [memory(raw), { properties }]),
)

/** Plays a case. @param {any} one */
async function play(one) {
  const notes = notebook({ 'notes/Alpha.md': 'old text' })
  const editor = one.edit === undefined ? undefined : reloading(one.wanted.at(-1)[0][0], one.edit)
  let broken = false
  const native = loadAddon()
  const breakable =
    name =>
    (...args) => {
      if (broken) throw new Error('broken on purpose')
      return native[name](...args)
    }
  const faulty = { ...native, judge: breakable('judge'), judgeFlat: breakable('judgeFlat') }
  let loads = 0
  const host = () => {
    const version = one.versions?.[loads++] ?? '0.1.5'
    return { name: '@deepseek-ai/dsh', version, source: 'entry', why: 'a test says so' }
  }
  const gate = await bootGate({
    profile: 'strict',
    config: one.config,
    tools: { ...notes.tools, ...(one.server ? under(one.server, notes.tools) : {}), ...one.tools },
    parts: { host, ...(one.fault ? { addon: () => faulty } : {}) },
    behind: [...(editor ? [[editor.plugin]] : []), ...(one.ahead ? [[one.ahead]] : [])],
  })
  editor?.ready(gate)
  await one.before?.(gate)
  const agent = await gate.open(one.setup ? { setup: one.setup } : {})
  let { lose } = one
  const model = obedient({
    wanted: one.wanted,
    prefer: one.prefer,
    schemas,
    before: ([name]) => {
      if (one.fault && name === memory('write_note')) broken = true
      if (lose === undefined || name !== memory(lose)) return
      notes.loseAnswer(lose)
      lose = undefined
    },
  })
  gate.start(
    agent,
    model.script(() => gate.told(agent).at(-1)?.text ?? ''),
  )
  await agent.whenIdle()
  return { gate, model, notes, told: gate.told(agent) }
}

const kindOf = code => codes.find(({ name }) => name === code).kind
const cured = Object.entries(cases).filter(([, { code, terminal }]) => kindOf(code) === 'recoverable' && !terminal)
const final = Object.entries(cases).filter(([, { code, terminal }]) => kindOf(code) === 'terminal' || terminal)

describe('one step after the denial it is done', () => {
  test.each(cured)('%s', async (_, one) => {
    const { gate, model, notes, told } = await play(one)
    expect(model.met).toEqual([expect.stringMatching(new RegExp(`^${one.code}: `))])
    const tool = one.wanted.at(-1).at(-1)[0]
    // The repeated call is the last, its body ran, and what it answered is no denial.
    expect(told.at(-1).name).toBe(tool)
    expect(gate.ran.at(-1).name).toBe(tool)
    expect(denialIn(told.at(-1).text)).toBeUndefined()
    expect(told.at(-1).isError).toBe(one.ends === 'failed')
    for (const [path, text] of Object.entries(one.holds ?? {})) expect([path, notes.text(path)]).toEqual([path, text])
  })
})

describe('where no call cures it the text says so, and nothing more is tried', () => {
  test.each(final)('%s', async (_, one) => {
    const { gate, model, notes, told } = await play(one)
    expect(model.met).toEqual([expect.stringMatching(new RegExp(`^${one.code}: .*Do not retry`))])
    expect(told.at(-1).text).toContain(one.code)
    const [tool] = one.wanted.at(-1).at(-1)
    const before = one.wanted
      .slice(0, -1)
      .flat()
      .filter(([name]) => name === tool).length
    expect(gate.ran.filter(({ name }) => name === tool)).toHaveLength(before)
    for (const [path, text] of Object.entries(one.holds ?? {})) expect([path, notes.text(path)]).toEqual([path, text])
  })
})

test('a program that searches and writes is told to write in a later message, and a program that only writes does', async () => {
  const notes = notebook({ 'notes/Alpha.md': 'old text' })
  const gate = await bootGate({ codeMode: 'both', tools: notes.tools })
  const agent = await gate.open()
  const program = list => [
    'run_code',
    { description: 'a program', code: `const said = []\n${list.map(line).join('\n')}\nreturn said` },
  ]
  const line = ([name, args]) =>
    `try { said.push(await tools[${JSON.stringify(name)}](${JSON.stringify(args)})) } catch (error) { said.push(error.message) }`
  await gate.turn([[call.complex], [program([search, write()])]], agent)
  const denial = denialIn(gate.told(agent).at(-1).text)
  expect(denial).toMatch(/^MEMORY_LOOKUP_PENDING_IN_BATCH: .*the same run_code program/)
  const [again] = obey(denial, write())
  await gate.turn([[call.complex], [program([search])], [program([again])]], agent)
  expect(notes.text('notes/New.md')).toBe('new text')
})

test('every code that denies has its case', () => {
  const met = kinds => new Set(kinds.map(([, { code }]) => code))
  const all = kind => codes.filter(code => code.kind === kind).map(({ name }) => name)
  expect([...met(cured)].toSorted()).toEqual(all('recoverable').toSorted())
  expect([...met(final)]).toEqual(expect.arrayContaining(all('terminal')))
})
