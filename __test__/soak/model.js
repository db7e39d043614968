/**
 * What the soak's model calls, and what its memory server answers. Everything that a rule depends on is chosen here and known by
 * how it was chosen, so that the oracle need not find it out as the gate does.
 */

/** Stands in every argument that is text. Where it turns up outside of the calls themselves, something has leaked. */
export const MARK = 'zqx'

/** Shaped like a token of a well-known service; it is none. */
const SECRET = `ghp_${'a8Kd02LmQ4xTz7Rw9Yb1Nc5Vf3Hj6GsPoUiE'}`

export const memory = (/** @type {string} */ raw) => `mcp__basic-memory__${raw}`
export const CLASSIFY = 'bmpp__classify'

export const READS = ['search_notes', 'search', 'build_context', 'recent_activity', 'read_note', 'list_directory']
export const LOOKUPS = new Set(['search_notes', 'search', 'build_context'].map(memory))
export const WRITES = new Set(
  ['write_note', 'edit_note', 'move_note', 'delete_note', 'delete_project', 'create_memory_project', 'merge_notes'].map(
    memory,
  ),
)
export const DESTRUCTIVE = new Set(['delete_note', 'delete_project'].map(memory))
export const UNKNOWN = memory('merge_notes')
export const OUTSIDE = ['bash', 'read_file']

const NOTES = 6
const title = (/** @type {number} */ note) => `${MARK} Title ${note}`
const folder = (/** @type {number} */ note) => `${MARK}-notes/n${note % 3}`
const path = (/** @type {number} */ note) => `${folder(note)}/${title(note)}.md`
const permalink = (/** @type {number} */ note) => `main/${folder(note)}/${MARK}-title-${note}`

/** Which note a text names; undefined for none of ours. @param {unknown} text */
export function noteOf(text) {
  const found = typeof text === 'string' ? /title[ -](\d+)/i.exec(text) : null
  return found === null ? undefined : Number(found[1])
}

/** @typedef {import('./random.js').Random} Random */

/** @type {Record<string, (random: Random) => any>} */
const given = {
  search_notes: random => ({ query: `${MARK} ${random.int(100)}`, project: 'main' }),
  search: random => ({ query: `${MARK} ${random.int(100)}` }),
  build_context: random => ({ url: `memory://${permalink(random.int(NOTES))}` }),
  recent_activity: () => ({ timeframe: '7d' }),
  list_directory: () => ({ dir_name: `${MARK}-notes` }),
  read_note: random => {
    const note = random.int(NOTES)
    return {
      identifier: random.pick([path(note), permalink(note), title(note)]),
      project: 'main',
      ...random.weigh([
        [{ output_format: 'json' }, 6],
        [{}, 3],
        [{ output_format: 'json', page: 2 }, 1],
      ]),
    }
  },
  write_note: random => {
    const note = random.int(NOTES)
    const args = {
      title: title(note),
      directory: folder(note),
      content: `${MARK} content ${random.int(3)}`,
      project: 'main',
    }
    return random.weigh(
      /** @type {[any, number][]} */ ([
        [args, 60],
        [{ ...args, overwrite: random.pick([true, 'true', 1, 'yes', 'on']) }, 14],
        [{ ...args, overwrite: random.pick([false, 'false', 0]) }, 4],
        [{ ...args, directory: random.pick([`../${MARK}`, `${MARK}/.git/hooks`, `/${MARK}`, `~/${MARK}`]) }, 4],
        [{ ...args, folder: `${MARK}-other` }, 3],
        [{ ...args, tags: [SECRET] }, 3],
        [{ ...args, title: `${title(note)} [test-fixture]` }, 3],
        [{ ...args, title: `${MARK} \ud800 Title ${note}` }, 2],
        [
          {
            ...args,
            content: `${MARK} ${'x'.repeat(2000)}`,
            metadata: { deep: { deeper: [MARK, { __proto__x: 1 }] } },
          },
          3,
        ],
        [`[${JSON.stringify(MARK)}]`, 2],
      ]),
    )
  },
  edit_note: random => {
    const note = random.int(NOTES)
    const identifier = random.pick([path(note), permalink(note), title(note)])
    const args = { identifier, project: 'main', content: `${MARK} more ${random.int(3)}` }
    return random.weigh([
      [{ ...args, operation: 'append' }, 6],
      [{ ...args, operation: 'find_replace', find_text: `${MARK} content` }, 3],
      [{ ...args, operation: 'replace_section', section: `## ${MARK}` }, 2],
      [{ ...args, operation: 'append', identifier: `../${identifier}` }, 1],
    ])
  },
  move_note: random => ({
    identifier: path(random.int(NOTES)),
    destination_path: `${MARK}-notes/moved/${title(random.int(NOTES))}.md`,
    project: 'main',
  }),
  delete_note: random => ({ identifier: path(random.int(NOTES)), project: 'main' }),
  delete_project: () => ({ project_name: `${MARK}-project` }),
  create_memory_project: () => ({ project_name: `${MARK}-project`, project_path: `/${MARK}/project` }),
  merge_notes: () => ({ from: MARK, into: MARK }),
}

/** A call of this raw name. @param {Random} random @param {string} raw @returns {{ name: string, args: any }} */
export const callOf = (random, raw) => ({ name: memory(raw), args: given[raw]?.(random) ?? {} })

/**
 * The calls of a model's next message, of which the first of a turn is mostly a declaration.
 * @param {Random} random
 * @param {boolean} first
 */
export function nextMessage(random, first) {
  const few = Array.from({ length: 1 + random.int(3) }, () => nextCall(random))
  if (first && random.chance(0.7)) few.unshift({ name: CLASSIFY, args: { task: random.pick(['simple', 'complex']) } })
  return few
}

/**
 * The next call of a model that mostly does what it should.
 * @param {Random} random
 * @returns {{ name: string, args: any }}
 */
export function nextCall(random) {
  const kind = random.weigh([
    ['classify', 8],
    ['lookup', 20],
    ['read', 16],
    ['write', 42],
    ['destructive', 5],
    ['outside', 9],
  ])
  switch (kind) {
    case 'classify': {
      const args = random.weigh([
        [{ task: 'simple' }, 10],
        [{ task: 'complex' }, 20],
        [{ task: MARK }, 1],
        [{}, 1],
      ])
      return { name: CLASSIFY, args }
    }
    case 'lookup':
      return callOf(random, random.pick(['search_notes', 'search_notes', 'search', 'build_context']))
    case 'read':
      return callOf(random, random.pick(['read_note', 'read_note', 'read_note', 'recent_activity', 'list_directory']))
    case 'write':
      return callOf(
        random,
        random.weigh([
          ['write_note', 20],
          ['edit_note', 8],
          ['move_note', 2],
          ['create_memory_project', 1],
          ['merge_notes', 1],
        ]),
      )
    case 'destructive':
      return callOf(random, random.pick(['delete_note', 'delete_note', 'delete_project']))
    default:
      return { name: random.pick(OUTSIDE), args: { command: MARK } }
  }
}

/** How an answer is meant: what an honest reader would take it for. @typedef {'done' | 'failed' | 'unknown' | 'absent' | 'never'} Meant */
/** @typedef {{ meant: Meant, text?: string, json?: any, flagged?: boolean }} Answer */

const REFUSED = 'Error calling tool: the server says no'
/** @type {Answer} */
const TIMEOUT = { meant: 'unknown', flagged: true, text: 'MCP error -32001: Request timed out' }
/** @type {Answer} */
const FLAGGED = { meant: 'failed', flagged: true, text: REFUSED }

/**
 * What the server answers to a call that has reached its body.
 * @param {Random} random
 * @param {string} name
 * @param {any} args
 * @returns {Answer}
 */
export function answerTo(random, name, args) {
  if (random.chance(0.01)) return { meant: 'never' }
  if (random.chance(0.04)) return FLAGGED
  if (random.chance(0.02)) return TIMEOUT
  if (LOOKUPS.has(name)) {
    return random.weigh(
      /** @type {[Answer, number][]} */ ([
        [{ meant: 'done', text: name === memory('build_context') ? '# Context: a' : '# Search Results: a' }, 8],
        [{ meant: 'done', text: "No results found for 'a' in project 'main'." }, 3],
        [{ meant: 'done', json: { results: [{ id: 'a' }] } }, 2],
        [{ meant: 'failed', text: '# Error\n\nno index' }, 2],
        [{ meant: 'failed', json: { error: 'no index', results: [{ id: 'a' }] } }, 1],
      ]),
    )
  }
  if (name === memory('read_note')) {
    const note = noteOf(args?.identifier)
    if (args?.output_format !== 'json' || note === undefined) {
      return random.chance(0.8)
        ? { meant: 'done', text: `---\ntitle: ${MARK}\n---\n\ntext` }
        : { meant: 'failed', text: '# Note Not Found in main: "a"' }
    }
    if (random.chance(0.2)) {
      return { meant: 'absent', json: { title: null, permalink: null, file_path: null, error: 'NOTE_NOT_FOUND' } }
    }
    const named = { title: title(note), permalink: permalink(note), file_path: path(note) }
    return { meant: 'done', json: { ...named, content: `${MARK} text`, checksum: 'c' } }
  }
  if (WRITES.has(name)) {
    const note = noteOf(args?.title ?? args?.identifier) ?? 0
    const lines = `project: main\nfile_path: ${path(note)}\npermalink: ${permalink(note)}\nchecksum: c`
    const heading = {
      [memory('write_note')]: '# Created note',
      [memory('edit_note')]: '# Edited note (append)',
      [memory('move_note')]: '# Note Moved',
    }[name]
    return heading === undefined ? { meant: 'done', text: 'true' } : { meant: 'done', text: `${heading}\n${lines}` }
  }
  return { meant: 'done', text: `${MARK} answer` }
}
