// Live writes to the real Basic Memory: what `noteIdentity` says of a note is what the server makes of it. The generated cases
// are the same in every run; BM_LIVE_CASES sets how many, BM_LIVE_SEED which.
import { beforeAll, describe, expect, test } from 'vitest'
import { noteIdentity } from '../../js/note.js'
import { basicMemoryInstalled } from '../support/headless.js'
import { inLanes, startBasicMemory } from '../support/mcp-client.js'
import { withTempDir } from '../support/temp-dir.js'

const count = Number(process.env.BM_LIVE_CASES ?? 200)
const seed = Number(process.env.BM_LIVE_SEED ?? 1)
const project = 'main'

/** Numbers below 1, the same ones for the same seed (mulberry32). */
function* numbers(state) {
  for (;;) {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    yield ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
const source = numbers(seed)
const below = limit => Math.floor(source.next().value * limit)
const oneOf = list => list[below(list.length)]
const range = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => String.fromCodePoint(from + index))

const letters = [...range(0x41, 0x5a), ...range(0x61, 0x7a), ...range(0x30, 0x39)]
const punctuation = [...range(0x21, 0x2f), ...range(0x3a, 0x40), ...range(0x5b, 0x60), ...range(0x7b, 0x7e)]
/** What stands between the letters of a name. */
const classes = {
  'ASCII letters': letters,
  'ASCII punctuation': punctuation,
  spaces: [' ', '  ', '\u00a0', '\u3000', '\t'],
  dots: ['.', '..', '...', ' .', '. '],
  emoji: ['🚀', '⚡\ufe0f', '👩\u200d💻', '🇩🇪', '❤', '✅'],
  CJK: [...range(0x4e00, 0x4e20), ...range(0x65e5, 0x65ff), '，', '！', '全', 'の', 'カ', '한'],
  'Latin with accents': [...range(0xc0, 0xd6), ...range(0xd8, 0xf6), ...range(0xf8, 0x17f), 'e\u0301', 'n\u0303'],
  Cyrillic: range(0x400, 0x45f),
  'zero width': ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u202e'],
  'dashes and quotation marks': ['–', '—', '‘', '’', '“', '”', '…', '«', '»'],
}
const names = [...Object.keys(classes), 'long']

function name(of) {
  // Around the limits of 230 (a temporary name) and 255 bytes (a name), in letters of one byte and of three.
  if (of === 'long') return oneOf(['x', 'Ab ', '漢']).repeat(1 + below(90)) + 'y'.repeat(below(90))
  const part = () => (below(3) === 0 ? oneOf(letters) : oneOf(classes[of]))
  return Array.from({ length: 1 + below(9) }, part).join('')
}

// A folder for each case: an existing folder would lend its casing. It is deep enough for what climbs to stay in it.
const cases = Array.from({ length: count }, (_, index) => {
  const of = names[index % names.length]
  const folder = `c${String(index).padStart(5, '0')}/in/it`
  // Every third with a directory of its class too, some in the forms that are refused or mapped away.
  const directory = index % 3 === 0 ? `${folder}/${name(of)}` : folder
  const form = below(12)
  const lead = ['./', ' ', '/', '~/'][form] ?? ''
  return { of, title: name(of), directory: `${lead}${directory}${below(10) === 0 ? '/' : ''}` }
})
// No word at all, or none that is left.
for (const [index, title] of ['', '.', '..', '---', ' ', '\t ', '\u3000', '🚀'].entries()) {
  cases.push({ of: 'nothing left', title, directory: `n${index}/in/it` })
}

const say = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)

describe.runIf(basicMemoryInstalled)(`${cases.length} live writes`, () => {
  /** @type {any[]} */ let written
  beforeAll(
    () =>
      withTempDir(async dir => {
        const server = await startBasicMemory(dir)
        try {
          written = await inLanes(cases, 4, async ({ of, title, directory }) => {
            const answer = await server.call('write_note', {
              title,
              directory,
              content: 'text',
              project,
              output_format: 'json',
            })
            const { text } = answer.content[0]
            const made = answer.isError ? undefined : JSON.parse(text)
            return {
              of,
              title,
              directory,
              derived: noteIdentity(title, directory, project),
              made,
              refusal: made ? null : text,
            }
          })
        } finally {
          await server.close()
        }
      }),
    // A write takes a third of a second, and several times that on a busy machine.
    60_000 + cases.length * 2000,
  )

  test('enough were made, of every class', () => {
    const rows = [...names, 'nothing left'].map(of => {
      const own = written.filter(row => row.of === of)
      const made = own.filter(row => row.made)
      const proven = made.filter(({ derived }) => derived.permalink !== null)
      return { of, all: own.length, made: made.length, proven: proven.length }
    })
    for (const { of, all, made, proven } of rows) {
      say(`identity  ${of}: ${all} writes, ${made} made, the permalink of ${proven} proven`)
      expect(made, of).toBeGreaterThan(0)
    }
    const sum = of => rows.reduce((total, row) => total + row[of], 0)
    say(`identity  seed ${seed}: ${sum('all')} writes, ${sum('made')} made, the permalink of ${sum('proven')} proven`)
    expect(written).toHaveLength(cases.length)
    for (const { made } of written) if (made) expect(made.action).toBe('created')
  })

  test('a file path that is given is the one that the server gives', () => {
    const wrong = written.filter(
      ({ derived, made }) => derived.filePath !== null && derived.filePath !== made?.file_path,
    )
    expect(wrong).toEqual([])
  })

  test('a permalink that is given is the one that the server gives', () => {
    const wrong = written.filter(
      ({ derived, made }) => derived.permalink !== null && derived.permalink !== made?.permalink,
    )
    expect(wrong).toEqual([])
  })

  test('without a file path the server refused, or a folder has a name longer than a file system takes', () => {
    const tooLong = directory => directory.split('/').some(segment => Buffer.byteLength(segment) > 255)
    const missing = written.filter(({ derived, made, directory }) => !derived.filePath && made && !tooLong(directory))
    expect(missing).toEqual([])
    expect(written.filter(({ derived, made }) => !derived.filePath && !made).length).toBeGreaterThan(0)
  })

  test('without a permalink there is no path either, or a character beyond ASCII', () => {
    const beyond = path => [...path].some(character => character.codePointAt(0) > 0x7e)
    const missing = written.filter(({ derived }) => !derived.permalink && derived.filePath && !beyond(derived.filePath))
    expect(missing).toEqual([])
  })
})
