// The guards in front of the real Basic Memory, through the real dsh: what is denied leaves the disk as it was, and what is
// allowed is on it. One run plays everything under `enforce` and `strict`, a turn for each story; a second one has the project
// guard deny, which strict alone does not.
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkPath, noteIdentity } from '../../js/note.js'
import { cut, playDsh } from '../support/dsh-gate.js'
import { call, memory } from '../support/gate.js'
import { basicMemoryInstalled } from '../support/headless.js'
import { startBasicMemory } from '../support/mcp-client.js'
import { tempDir } from '../support/temp-dir.js'

const project = 'main'
const directory = 'guarded'
const file = title => `${directory}/${title}.md`
const write = (title, content, more) => [memory('write_note'), { title, directory, content, project, ...more }]
const overwrite = (title, content, more) => write(title, content, { overwrite: true, ...more })
const read = (identifier, more) => [memory('read_note'), { identifier, output_format: 'json', project, ...more }]
const edit = (title, operation, content, more) => [
  memory('edit_note'),
  { identifier: file(title), operation, content, project, ...more },
]
const append = (title, content) => edit(title, 'append', content)
const search = [memory('search_notes'), { query: 'plans', project }]

// A new note takes its permalink from its path and keeps it when it is moved; this one has its own.
const ownPermalink = '---\npermalink: apart/own\n---\nfirst text'
const seeds = ['Known', 'Unread', 'Lookalike', 'Checked', 'Log', 'Refused', 'Versions', 'Gone', 'Moved']

// What Basic Memory strips from a directory, it strips after it looked for `..`. So every character that it strips, at every
// place beside two dots, makes a segment that only the stripped form gives away.
const ascii = Array.from({ length: 0x7f - 0x21 }, (_, index) => String.fromCodePoint(0x21 + index))
const stripped = [...ascii.filter(character => !/[\p{L}\p{N}._/\\-]/u.test(character)), '\u200b', '🚀']
const climbing = stripped.flatMap(character =>
  ['', '.', '..'].map(before => {
    const segment = `${before}${character}${'..'.slice(before.length)}`
    return `${directory}/${segment}/${segment}/${segment}`
  }),
)
const escaping = [
  ...climbing.map(path => [memory('write_note'), { title: 'Escaped', directory: path, content: 'text', project }]),
  ...climbing.map(path => [
    memory('edit_note'),
    { identifier: `${path}/Escaped`, operation: 'append', content: 'text', project },
  ]),
]

const token = `ghp_${'0aB1'.repeat(9)}`
const label = '[test-fixture]'

/**
 * The stories, each a turn: its messages, one call each unless it is a list of calls.
 * @type {(checksums: { right: string }) => Record<string, any[]>}
 */
const stories = ({ right }) => ({
  'read, then overwritten': [call.complex, search, read(file('Known')), overwrite('Known', 'second text')],
  'overwritten unread': [
    call.complex,
    search,
    overwrite('Unread', 'second text'),
    // Neither a search nor a read of a note that looks alike is a read of it, nor is a read in text under its title.
    read(file('Lookalike')),
    overwrite('Unread', 'second text'),
    [memory('read_note'), { identifier: 'Unread', project }],
    overwrite('Unread', 'second text'),
    edit('Unread', 'find_replace', 'second', { find_text: 'first' }),
  ],
  'a checksum': [
    call.simple,
    overwrite('Checked', 'second text', { expected_checksum: '0'.repeat(64) }),
    overwrite('Checked', 'second text', { expected_checksum: right }),
  ],
  'appended twice': [call.simple, append('Log', 'one more line'), append('Log', 'one more line')],
  'retried after a refusal': [
    call.simple,
    write('Refused', 'second text'),
    write('Refused', 'second text'),
    edit('Refused', 'insert_after_section', 'below the heading', { section: '## Later' }),
    append('Refused', '\n## Later\n'),
    edit('Refused', 'insert_after_section', 'below the heading', { section: '## Later' }),
  ],
  'back to an earlier version': [
    call.simple,
    read(file('Versions')),
    overwrite('Versions', 'version 1'),
    overwrite('Versions', 'version 2'),
    overwrite('Versions', 'version 1'),
  ],
  'deleted, then written': [
    call.simple,
    [memory('delete_note'), { identifier: file('Gone'), project }],
    write('Gone', 'second text'),
    read(file('Gone')),
    write('Gone', 'second text'),
  ],
  'moved, then written': [
    call.simple,
    [memory('move_note'), { identifier: file('Own'), destination_path: file('Away'), project }],
    write('Own', 'second text'),
    read(file('Own')),
    write('Own', 'second text'),
  ],
  // Here the old path still finds the moved note, by its permalink: nothing says that the path is free.
  'moved with its permalink, then written': [
    call.simple,
    [memory('move_note'), { identifier: file('Moved'), destination_path: file('Elsewhere'), project }],
    write('Moved', 'second text'),
    read(file('Moved')),
    write('Moved', 'second text'),
  ],
  'written in the next turn': [call.simple, write('Moved', 'third text')],
  'out of the project': [call.simple, escaping],
  'a secret in the tags': [
    call.simple,
    write('Login', 'text', { tags: ['work', token] }),
    write('Login', 'text', { tags: ['work'] }),
  ],
  'a fixture': [call.simple, write(`${label} A`, 'text'), write(`${label} A`, 'text', { directory: 'tests/guarded' })],
  'the wrong project': [
    call.simple,
    read('memory://other/guarded/theirs', { project: undefined }),
    write('Bare', 'text', { project: undefined }),
    write('Named', 'text'),
  ],
})

describe.runIf(basicMemoryInstalled)('enforce and strict', () => {
  const home = tempDir()
  afterAll(home.remove)
  const notes = join(home.path, 'memory', 'notes')
  const other = join(home.path, 'other')
  const text = (path, root = notes) => readFileSync(join(root, path), 'utf8')
  const filesNamed = words => readdirSync(home.path, { recursive: true }).filter(path => path.includes(words))
  let right = ''
  /** @type {any} */ let run
  /** @type {any} */ let denying
  const codes = (name, of = run) =>
    of.decisions.filter(({ call: id }) => id.startsWith(`${name} / `)).map(record => record.code)
  const answers = (name, of = run) => of.told.filter(({ callId }) => callId.startsWith(`${name} / `))

  const play = (played, config) =>
    playDsh({
      home: home.path,
      memory: join(home.path, 'memory'),
      mcp: 'basic-memory',
      timeoutMs: 200_000,
      // A human is asked before a note is deleted, and here is none: not what this is about.
      config: { profile: 'strict', destructiveTools: [], ...config },
      conversation: Object.entries(played).map(([name, messages]) =>
        messages.map((message, at) =>
          (Array.isArray(message[0]) ? message : [message]).map(([tool, args], beside) => [
            tool,
            args,
            `${name} / ${at} / ${beside}`,
          ]),
        ),
      ),
    })

  beforeAll(async () => {
    mkdirSync(join(home.path, 'memory'))
    const server = await startBasicMemory(join(home.path, 'memory'))
    const ask = async (tool, args) => JSON.parse((await server.call(tool, args)).content[0].text)
    const seed = (title, more) => ({ title, directory, content: 'first text', project, output_format: 'json', ...more })
    for (const title of seeds) await server.call('write_note', seed(title))
    await server.call('write_note', seed('Own', { content: ownPermalink }))
    await server.call('create_memory_project', { project_name: 'other', project_path: other })
    await server.call('write_note', seed('Theirs', { project: 'other' }))
    // The server names the right checksum to whoever sends a wrong one.
    const refused = await ask('write_note', seed('Checked', { overwrite: true, expected_checksum: '0'.repeat(64) }))
    right = refused.currentChecksum
    await server.close()

    const all = stories({ right })
    run = await play(all)
    denying = await play({ 'the wrong project': all['the wrong project'] }, { projectGuard: 'deny' })
  })

  test('both runs go on to their end', () => {
    for (const { code, unused } of [run, denying]) expect({ code, unused }).toEqual({ code: 0, unused: [] })
  })

  test('search, JSON read, overwrite: allowed, and the new text is on disk', () => {
    const name = 'read, then overwritten'
    expect(codes(name).at(-1)).toBe('ALLOW_RECALL_OK')
    expect(answers(name).at(-1).text).toMatch(/^# Updated note\n/)
    expect(text(file('Known'))).toContain('second text')
    expect(text(file('Known'))).not.toContain('first text')
  })

  test('an overwrite of an unread note is denied, and the note is as it was', () => {
    const name = 'overwritten unread'
    const writes = run.decisions.filter(({ call: id, class: kind }) => id.startsWith(`${name} / `) && kind === 'write')
    expect(writes.map(({ code }) => code)).toEqual(Array(4).fill('OVERWRITE_REQUIRES_READ'))
    expect(text(file('Unread'))).toContain('first text')
    expect(text(file('Unread'))).not.toContain('second')
  })

  test('a checksum proves nothing: neither a wrong one nor the one that the server named', () => {
    expect(right).toMatch(/^[0-9a-f]{64}$/)
    expect(codes('a checksum').slice(1)).toEqual(['OVERWRITE_REQUIRES_READ', 'OVERWRITE_REQUIRES_READ'])
    expect(text(file('Checked'))).toContain('first text')
    expect(text(file('Checked'))).not.toContain('second text')
  })

  test('the same append again is denied, and the file shows one', () => {
    expect(codes('appended twice').slice(1)).toEqual(['ALLOW_SIMPLE', 'DUPLICATE_WRITE_SAME_TURN'])
    expect(text(file('Log')).split('one more line')).toHaveLength(2)
  })

  test('what the server refused may be tried again, and succeed', () => {
    const name = 'retried after a refusal'
    expect(codes(name).slice(1)).toEqual(Array(5).fill('ALLOW_SIMPLE'))
    const [first, second, third, , fifth] = answers(name).slice(1)
    for (const { text: said } of [first, second]) expect(said).toMatch(/^Error: # Error: Note already exists/)
    expect(third.text).toMatch(/^Error: # Edit Failed/)
    expect(fifth.text).toMatch(/^# Edited note /)
    expect(text(file('Refused')).split('below the heading')).toHaveLength(2)
    expect(text(file('Refused'))).not.toContain('second text')
  })

  test('version 1, version 2, version 1: each is written', () => {
    expect(codes('back to an earlier version').slice(2)).toEqual(Array(3).fill('ALLOW_SIMPLE'))
    expect(text(file('Versions'))).toContain('version 1')
    expect(text(file('Versions'))).not.toContain('version 2')
  })

  test('a deleted note is written again only after a read that says it is not there', () => {
    const name = 'deleted, then written'
    expect(codes(name).slice(1)).toEqual(['ALLOW_SIMPLE', 'OVERWRITE_REQUIRES_READ', 'ALLOW_READ_ONLY', 'ALLOW_SIMPLE'])
    expect(answers(name)[3].text).toContain('"error":"NOTE_NOT_FOUND"')
    // What is on disk then is the server's affair: it loses some notes that are made within a tenth of a second after one at
    // the same path was deleted, and reports them as created.
    expect(answers(name).at(-1).text).toMatch(/^# Created note\n/)
  })

  test('so is the old path of a moved one', () => {
    const name = 'moved, then written'
    expect(codes(name).slice(1)).toEqual(['ALLOW_SIMPLE', 'OVERWRITE_REQUIRES_READ', 'ALLOW_READ_ONLY', 'ALLOW_SIMPLE'])
    expect(answers(name)[3].text).toContain('"error":"NOTE_NOT_FOUND"')
    expect(text(file('Away'))).toContain('first text')
    // As above: whether the new note stays is the server's affair.
    expect(answers(name).at(-1).text).toMatch(/^# Created note\n/)
  })

  test('where the old path still names the moved note, it is denied to the end of the turn', () => {
    const name = 'moved with its permalink, then written'
    expect(codes(name).slice(1)).toEqual([
      'ALLOW_SIMPLE',
      'OVERWRITE_REQUIRES_READ',
      'ALLOW_READ_ONLY',
      'OVERWRITE_REQUIRES_READ',
    ])
    expect(JSON.parse(answers(name)[3].text).file_path).toBe(file('Elsewhere'))
    expect(text(file('Elsewhere'))).toContain('first text')

    // Then it is a new note, and its permalink tells that the other one holds the old.
    const settled = run.settlements.find(({ call: id }) => id === 'written in the next turn / 1 / 0')
    expect([settled.outcome, settled.observations]).toEqual(['succeeded', ['POSSIBLE_DUPLICATE_PERMALINK']])
    expect(text(file('Moved'))).toContain('third text')
    expect(text(file('Elsewhere'))).toContain('first text')
  })

  test('a directory that climbs only once it is stripped is denied, and nothing is outside', () => {
    // They do climb: by the server's own rule, the path has `..` segments.
    const paths = climbing.map(path => noteIdentity('Escaped', path).filePath).filter(path => path !== null)
    expect(paths.length).toBeGreaterThan(stripped.length)
    for (const path of paths) expect(path).toBe(`${directory}/../../../Escaped.md`)
    for (const path of climbing) expect(checkPath('directory', path)).toMatchObject({ unsafe: true })

    expect(codes('out of the project').slice(1)).toEqual(escaping.map(() => 'UNSAFE_NOTE_PATH'))
    expect(
      answers('out of the project')
        .slice(1)
        .map(said => cut(said.text)),
    ).toEqual(escaping.map(() => 'UNSAFE_NOTE_PATH'))
    expect(filesNamed('Escaped')).toEqual([])
  })

  test('a secret in the tags is denied without being told, and the note without it is written', () => {
    const name = 'a secret in the tags'
    expect(codes(name).slice(1)).toEqual(['SECRET_PATTERN_DETECTED', 'ALLOW_SIMPLE'])
    expect(answers(name)[1].text).toContain('"tags"')
    expect(answers(name)[1].text).not.toContain(token)
    expect(JSON.stringify(run.records)).not.toContain(token)
    expect(run.stderr).not.toContain(token)
    expect(text(file('Login'))).not.toContain(token)
  })

  test('the label of a fixture is denied among real notes and allowed in tests/', () => {
    expect(codes('a fixture').slice(1)).toEqual(['TEST_FIXTURE_LABEL_IN_PROJECT', 'ALLOW_SIMPLE'])
    expect(filesNamed(`${label} A`)).toEqual([join('memory', 'notes', 'tests', directory, `${label} A.md`)])
  })

  test('after a read by memory://other/… a write that names no project lands there, and that is observed', () => {
    const bare = run.decisions.find(({ call: id }) => id === 'the wrong project / 2 / 0')
    expect([bare.code, bare.observations]).toEqual(['ALLOW_SIMPLE', ['PROJECT_AMBIGUOUS']])
    expect(text(file('Bare'), other)).toContain('text')
    expect(readdirSync(join(notes, directory))).not.toContain('Bare.md')
  })

  test('with projectGuard deny it is denied, until the project is named', () => {
    expect(codes('the wrong project', denying)).toEqual([
      'ALLOW_CONTROL',
      'ALLOW_READ_ONLY',
      'PROJECT_AMBIGUOUS',
      'ALLOW_SIMPLE',
    ])
    expect(readdirSync(join(notes, directory))).toContain('Named.md')
    expect(readdirSync(join(other, directory))).not.toContain('Named.md')
  })
})
