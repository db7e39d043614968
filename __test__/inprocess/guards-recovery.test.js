/**
 * A model that knows nothing but what a denial tells it: the next call is made of the text alone, and one step later the work
 * is done, or given up where the text says so.
 */
import { expect, test } from 'vitest'
import { bootGate, call, memory } from '../support/gate.js'
import { calls, say } from '../support/inprocess.js'
import { notebook } from '../support/notebook.js'

/** Says whether this is a denial. @param {string} text */
const isDenial = text => /^(?:Error: )?[A-Z_]{8,}: /.test(text)

/**
 * The calls that a denial of this call asks for, by its words: none where it says not to retry. One that depends on what the
 * call before it answers is a function of that.
 * @param {string} text
 * @param {[string, any]} denied
 * @returns {([string, any] | ((answer: string) => [string, any]))[]}
 */
function obey(text, [name, args]) {
  if (text.includes('Do not retry')) return []
  const repeat = (/** @type {any} */ changed) => /** @type {[string, any]} */ ([name, { ...args, ...changed }])
  const argument = /: "(\w+)" (?:names|holds|carries)/.exec(text)?.[1]
  const example = /such as ([^.]+)\./.exec(text)?.[1]
  if (argument !== undefined && example !== undefined) return [repeat({ [spelledAs(argument, args)]: example })]
  if (argument !== undefined && text.includes('Remove it')) return [repeat({ [argument]: undefined })]
  if (argument !== undefined && text.includes('without the label')) {
    return [repeat({ [argument]: args[argument].replace(/\[.*?\]/, '').trim() })]
  }
  const reading = /[Cc]all (\S+read_note) with ("output_format":"json")/.exec(text)
  if (reading !== null) {
    const ofWrite = text.includes("the note's path, directory/title.md") && args.title !== undefined
    const identifier = ofWrite ? `${args.directory}/${args.title}.md` : args.identifier
    const { project } = args
    const found = (/** @type {string} */ answer) => /"file_path":"([^"]*)"/.exec(answer)?.[1] ?? identifier
    const otherTitle = ofWrite && text.includes('the read finds another note, write under another title')
    const again = (/** @type {string} */ answer) =>
      repeat(otherTitle && found(answer) !== identifier ? { title: `${args.title} again` } : {})
    return [[reading[1], { identifier, ...JSON.parse(`{${reading[2]}}`), ...(project && { project }) }], again]
  }
  if (/Repeat this call with "project" set/.test(text)) return [repeat({ project: 'main' })]
  const task = /Call (bmpp__\w+) with (\{"task":"simple"\})/.exec(text)
  if (task !== null) return [[task[1], JSON.parse(task[2])], repeat({})]
  throw new Error(`nothing to do with: ${text}`)
}

/** The name under which the call gave a parameter. @param {string} argument @param {any} args */
const spelledAs = (argument, args) =>
  argument in args ? argument : (Object.keys(args).find(key => ['to', 'folder', 'path'].includes(key)) ?? argument)

/**
 * Makes calls one after the other; after a denial it does what the text says and nothing else.
 * @param {[string, any][]} wanted
 * @param {{ config?: object, lose?: string }} [world]
 */
async function work(wanted, { config, lose } = {}) {
  const notes = notebook({ 'notes/Alpha.md': 'old text' })
  const gate = await bootGate({ profile: 'strict', config, tools: notes.tools })
  const agent = await gate.open()
  /** @type {any[]} */ const todo = [...wanted]
  /** @type {[string, any] | undefined} */ let last
  let lost = lose
  let cures = 0
  const step = () => {
    const text = gate.told(agent).at(-1)?.text ?? ''
    if (last !== undefined && isDenial(text)) {
      cures += 1
      if (cures > 3) throw new Error(`it goes on and on: ${text}`)
      todo.unshift(...obey(text, last))
    }
    const next = todo.shift()
    last = typeof next === 'function' ? next(text) : next
    if (last?.[0] === memory(lost ?? '')) {
      notes.loseAnswer(/** @type {string} */ (lost))
      lost = undefined
    }
    return last === undefined ? say('done') : calls(last)
  }
  gate.start(
    agent,
    Array.from({ length: 12 }, () => step),
  )
  await agent.whenIdle()
  return { gate, agent, notes, denials: gate.decisions(agent).filter(({ decision }) => decision === 'deny'), cures }
}

const write = (more = {}) => [
  memory('write_note'),
  { title: 'Alpha', directory: 'notes', content: 'new text', ...more },
]
const edit = (more = {}) => [
  memory('edit_note'),
  { identifier: 'notes/Alpha.md', operation: 'append', content: 'more', ...more },
]
const replace = edit({ operation: 'find_replace', find_text: 'old', content: 'new' })

/** @type {Record<string, { wanted: any[], code: string, text?: string, path?: string, config?: object, lose?: string }>} */
const recoverable = {
  'an unclassified turn': { wanted: [edit()], code: 'CLASSIFICATION_REQUIRED', text: 'old text\nmore' },
  'an overwrite': {
    wanted: [call.simple, write({ overwrite: true })],
    code: 'OVERWRITE_REQUIRES_READ',
    text: 'new text',
  },
  'an overwrite in a named project': {
    wanted: [call.simple, write({ overwrite: true, project: 'main' })],
    code: 'OVERWRITE_REQUIRES_READ',
    text: 'new text',
  },
  'a replacement': { wanted: [call.simple, replace], code: 'OVERWRITE_REQUIRES_READ', text: 'new text' },
  'a replacement by a title': {
    wanted: [call.simple, edit({ ...replace[1], identifier: 'Alpha' })],
    code: 'OVERWRITE_REQUIRES_READ',
    text: 'new text',
  },
  'a note written where one was moved away': {
    wanted: [
      call.simple,
      [memory('move_note'), { identifier: 'notes/Alpha.md', destination_path: 'old/Beta.md' }],
      write({ title: 'Gamma' }),
      write(),
    ],
    code: 'OVERWRITE_REQUIRES_READ',
    // The moved note is still found by its permalink.
    path: 'notes/Alpha again.md',
    text: 'new text',
  },
  'a note written where one was deleted': {
    wanted: [call.simple, [memory('delete_note'), { identifier: 'notes/Alpha.md' }], write()],
    code: 'OVERWRITE_REQUIRES_READ',
    text: 'new text',
    config: { destructiveTools: [] },
  },
  'no project': {
    wanted: [
      call.simple,
      [memory('read_note'), { identifier: 'Alpha', project: 'main' }],
      edit({ content: 'in a project' }),
    ],
    code: 'PROJECT_AMBIGUOUS',
    text: 'old text\nin a project',
    config: { projectGuard: 'deny' },
  },
  'a lost answer': {
    wanted: [call.simple, edit(), edit()],
    code: 'WRITE_OUTCOME_UNKNOWN',
    // It follows the words blindly, and does not look whether the text is there.
    text: 'old text\nmore\nmore',
    lose: 'edit_note',
  },
  'a secret': {
    wanted: [call.simple, write({ title: 'New', tags: ['https://alice:hunter2pass@host/x'] })],
    code: 'SECRET_PATTERN_DETECTED',
    path: 'notes/New.md',
    text: 'new text',
  },
  'the label of a fixture': {
    wanted: [call.simple, write({ title: '[test-fixture] New' })],
    code: 'TEST_FIXTURE_LABEL_IN_PROJECT',
    path: 'notes/New.md',
    text: 'new text',
  },
  'an unsafe directory': {
    wanted: [call.simple, write({ title: 'New', directory: '../out' })],
    code: 'UNSAFE_NOTE_PATH',
    path: 'notes/topic/New.md',
    text: 'new text',
  },
  'an unsafe title': {
    wanted: [call.simple, write({ title: 'NUL' })],
    code: 'UNSAFE_NOTE_PATH',
    path: 'notes/Weekly plan.md',
    text: 'new text',
  },
  'an unsafe destination, under another name': {
    wanted: [call.simple, [memory('move_note'), { identifier: 'notes/Alpha.md', to: '/etc/x.md' }]],
    code: 'UNSAFE_NOTE_PATH',
    path: 'notes/topic',
    text: 'old text',
  },
}

test.each(Object.entries(recoverable))('one step after the denial it is done: %s', async (_, one) => {
  const { gate, agent, notes, denials, cures } = await work(one.wanted, one)
  expect(denials.map(({ code }) => code)).toEqual([one.code])
  expect(cures).toBe(1)
  expect(gate.decisions(agent).at(-1)).toMatchObject({ decision: 'allow', enforcement: 'allowed' })
  expect(notes.text(one.path ?? 'notes/Alpha.md')).toBe(one.text)
})

test('a denial that no call cures says so, and the model goes on', async () => {
  const { notes, denials, cures } = await work([call.simple, edit(), edit(), edit({ content: 'else' })])
  expect(denials.map(({ code }) => code)).toEqual(['DUPLICATE_WRITE_SAME_TURN'])
  expect(cures).toBe(1)
  expect(notes.text('notes/Alpha.md')).toBe('old text\nmore\nelse')
})

test('every code that a guard denies with was met here', () => {
  const met = new Set([...Object.values(recoverable).map(({ code }) => code), 'DUPLICATE_WRITE_SAME_TURN'])
  for (const code of [
    'UNSAFE_NOTE_PATH',
    'OVERWRITE_REQUIRES_READ',
    'PROJECT_AMBIGUOUS',
    'DUPLICATE_WRITE_SAME_TURN',
    'WRITE_OUTCOME_UNKNOWN',
    'SECRET_PATTERN_DETECTED',
    'TEST_FIXTURE_LABEL_IN_PROJECT',
  ]) {
    expect(met).toContain(code)
  }
})
