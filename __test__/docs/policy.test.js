/** docs/POLICY.md against the product: every code, example, class, reserved folder and line of the evidence table. */
import { describe, expect, test } from 'vitest'
import { oneLine, only, readPage, spans } from './markdown.js'
import {
  addon,
  between,
  evidenceRows,
  evidenceTable,
  lookup,
  memory,
  play,
  playExample,
  source,
  textResult,
  vocabulary,
} from './product.js'

const page = readPage('docs/POLICY.md')
const codes = vocabulary.codes.map(({ name }) => name)

/** The part of the page under a heading. @param {string} heading */
const section = heading => page.text.split(`\n### ${heading}\n`)[1]?.split(/\n##+ /)[0] ?? ''

describe('codes', () => {
  /** Given by the shim, or for calls without an agent: no example of one turn shows them. */
  const told = ['POLICY_INTERNAL_ERROR', 'APPROVAL_UNAVAILABLE', 'POLICY_RELOADING', 'POLICY_NOT_LOADED']
  const elsewhere = ['ALLOW_OUT_OF_SCOPE', 'CALL_NOT_JUDGED', ...told]

  test('each has its section, in the order of the numbers', () => {
    const headings = [...page.text.matchAll(/^### ([A-Z_]+)$/gm)].map(([, heading]) => heading)
    expect(headings).toEqual(codes)
  })

  test.each(codes)('%s', name => {
    const text = section(name)
    const [, example] = /```text\n([\s\S]*?)\n```/.exec(text) ?? []
    const quote = oneLine([...text.matchAll(/^> (.*)$/gm)].map(([, line]) => line).join(' '))
    const { kind, text: plain } = vocabulary.codes.find(code => code.name === name) ?? {}
    if (example === undefined) {
      expect(elsewhere).toContain(name)
      expect(quote).toBe(kind === 'allow' ? '' : plain)
      return
    }
    const { verdicts, told: quoted } = playExample(example)
    for (const { expected, found } of verdicts) expect(found).toBe(expected)
    if (!elsewhere.includes(name)) expect(verdicts.map(({ found }) => found)).toContain(name)
    expect(quote).toBe(quoted ?? '')
    expect(quote.startsWith(kind === 'allow' ? '' : `${name}: `)).toBe(true)
  })

  test('the table of checks has every code that a check gives', () => {
    const [{ rows }] = page.tablesOf('Order')
    const listed = rows.flatMap(row => spans(row.Code))
    const given = vocabulary.codes.filter(({ kind }) => kind !== 'allow').map(({ name }) => name)
    expect([...listed, ...told].toSorted()).toEqual([...given, 'ALLOW_OUT_OF_SCOPE'].toSorted())
  })

  test('every upper-case name in code is one that the product knows', () => {
    const known = [...codes, ...vocabulary.observations, 'NOTE_NOT_FOUND']
    const table = source('src/evidence/table.rs')
    const named = spans(page.line).flatMap(span => span.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [])
    expect(named.filter(name => !known.includes(name) && !table.includes(`"${name}"`))).toEqual([])
  })

  test('the names of arguments at fault', () => {
    const names = [...between('src/reason.rs', '\nargument_names! {', '\n}').matchAll(/"(.*?)"/g)].map(
      ([, name]) => name,
    )
    const sentence = /by the server's own name: (.*?)\. Other/.exec(page.line)?.[1] ?? ''
    expect(spans(sentence).toSorted()).toEqual(names.toSorted())
  })
})

describe('paths', () => {
  const all = ['directory', 'destination_path', 'destination_folder', 'identifier', 'title', 'project_path']

  test('every finding, with an example, and the arguments that it is one in', () => {
    const rows = page.table('The argument …').map(row => {
      const [shown] = spans(row['For example'])
      return {
        why: row['The argument …'],
        value: shown ? JSON.parse(`"${shown.replace(/\\(?![tu])/g, '\\\\')}"`) : 'x'.repeat(231),
        in: spans(row['Judged in']),
      }
    })
    for (const { why, value, in: judged } of rows) {
      expect([value, all.filter(argument => addon.checkPath(argument, value).why === why)]).toEqual([value, judged])
    }
    const whys = between('src/guard/path.rs', 'pub const fn why', '\n    }\n}').matchAll(/=> "(.*)",/g)
    expect(rows.map(({ why }) => why).toSorted()).toEqual([...whys].map(([, why]) => why).toSorted())
  })

  test('the reserved folders', () => {
    const list = [...between('src/guard/path.rs', 'const RESERVED', '];').matchAll(/"(.*?)"/g)].map(([, name]) => name)
    const text = oneLine(page.text.split('\n## Reserved folders\n')[1]?.split('\n## ')[0] ?? '')
    expect(spans(text)).toEqual(list)
    for (const name of list) expect(addon.checkPath('directory', `a/${name.toUpperCase()}. /b`).unsafe).toBe(true)
  })
})

test('the classes of secrets', () => {
  const names = [...between('src/guard/secret.rs', 'pub const fn name', '\n    }\n}').matchAll(/=> "(.*)",/g)]
  expect(page.table('Secret class').flatMap(row => spans(row['Secret class']))).toEqual(names.map(([, name]) => name))
})

describe('what proves a read', () => {
  const json = JSON.stringify({ title: 'Plan', permalink: 'main/notes/plan', file_path: 'notes/Plan.md', type: 'text' })
  const view = 'Note retrieved: "x"\n\nContent:\n<note>\nx\n</note>'
  const by = (identifier, more) => ({ identifier, project: 'main', ...more })
  /** The call of each row, where it is not the one of any tool. */
  const reads = {
    '`read_note` with `"output_format":"json"`, whole': ['read_note', by('notes/Plan.md', { output_format: 'json' })],
    '`read_note` in text mode, whole': ['read_note', by('notes/Plan.md'), 'some text'],
    '`read_note` of a part': ['read_note', by('notes/Plan.md', { output_format: 'json', end_line: 3 })],
    '`view_note`, whole': ['view_note', by('notes/Plan.md'), view],
    '`read_content`': ['read_content', { path: 'notes/Plan.md', project: 'main' }],
    '`cat` by a title, whole': ['cat', by('Plan')],
    '`cat` by an identifier with `/` or `:`': ['cat', by('notes/Plan.md')],
    '`cat` of a part': ['cat', by('Plan', { max_tokens: 9 })],
  }
  const rows = page.table('Read').flatMap(row =>
    reads[row.Read]
      ? [{ row, calls: [reads[row.Read]] }]
      : [
          {
            row,
            calls: spans(row.Read).map(tool => [tool, { ...by('notes/Plan.md'), query: 'x', id: 'notes/Plan.md' }]),
          },
        ],
  )

  test.each(rows)('$row.Read', ({ row, calls }) => {
    for (const [tool, args, answer = json] of calls) {
      const session = play({ profile: 'strict' })
      session.classify('simple')
      session.settle(session.judge(memory(tool), 2, args), 0, 2, textResult(answer))
      const note = { title: 'Plan', directory: 'notes', content: 'C', project: 'main', overwrite: true }
      const identifier = args.identifier ?? args.path
      const edit = { identifier, operation: 'find_replace', find_text: 'a', content: 'b', project: 'main' }
      const verdicts = [session.judge(memory('write_note'), 3, note), session.judge(memory('edit_note'), 3, edit)].map(
        ({ code }) => (code === 'ALLOW_SIMPLE' ? 'yes' : 'no'),
      )
      expect([tool, ...verdicts]).toEqual([tool, row['Proves the path'], row['Proves the same identifier']])
      session.done()
    }
  })

  test('every read tool has a row', () => {
    const reading = vocabulary.tools.filter(tool => ['read', 'search'].includes(tool.class)).map(({ name }) => name)
    const named = new Set(page.table('Read').flatMap(row => spans(row.Read).filter(name => reading.includes(name))))
    expect([...named].toSorted()).toEqual(reading.toSorted())
  })
})

test('the evidence table, whole and in its order', () => {
  const shown = []
  for (const entry of evidenceTable()) {
    const rows = evidenceRows(entry)
    const same = shown.find(other => JSON.stringify(other.rows) === JSON.stringify(rows))
    if (same) same.tools.push(entry.tool)
    else shown.push({ tools: [entry.tool], rows })
  }
  for (const { tools, rows } of shown) {
    const [table] = page.tablesOf(tools.join(', '))
    expect([tools, table?.rows.map(row => [row['The answer'], row.Word])]).toEqual([tools, rows])
  }
  const words = new Set(shown.flatMap(({ rows }) => rows.map(([, word]) => word)))
  expect(new Set(page.table('Word', 'Of a lookup').map(row => row.Word))).toEqual(words)
})

describe('what proves a lookup', () => {
  const rows = page.table('Heading').map(row => [only(row.Heading), row.Meaning, spans(row['Known of'])])

  test('the headings that there are, in their order, each with the search tools that know it', () => {
    const searches = vocabulary.tools.filter(tool => tool.class === 'search').map(({ name }) => name)
    const meanings = { Done: 'found', Empty: 'nothing', Failed: 'failure' }
    const headings = new Map()
    for (const { tool, rules } of evidenceTable().filter(entry => searches.includes(entry.tool))) {
      for (const { outcome, marks } of rules) {
        if (!['Starts', 'Heads'].includes(marks[0]?.kind ?? '')) continue
        // GitHub trims a code span; the space belongs to it all the same.
        const [heading] = marks[0]?.values ?? []
        const entry = headings.get(heading) ?? [heading, meanings[outcome], []]
        headings.set(heading, entry)
        entry[2].push(tool)
      }
    }
    expect(rows).toEqual([...headings.values()])
  })

  test.each(rows)('%s means %s', (heading, meaning, [tool]) => {
    const expected = {
      found: { outcome: 'succeeded', observations: [] },
      nothing: { outcome: 'succeeded', observations: ['RECALL_EMPTY'] },
      failure: { outcome: 'failed', observations: [] },
    }[meaning]
    expect(lookup(textResult(`${heading}x\n`), 0, tool)).toEqual(expected)
  })

  test('the table of results', () => {
    const json = value => ({ ...textResult(JSON.stringify(value)), structuredContent: { result: value } })
    const results = {
      'has the error flag set': lookup(textResult('# Search Results: x'), addon.FACT_ERROR),
      'is JSON with an `error` that is not null': lookup(json({ error: 'E', results: [1] })),
      'is JSON with a `results` list that holds something': lookup(json({ error: null, results: [1] })),
      'is JSON with an empty `results` list': lookup(json({ results: [] })),
      'is anything else': lookup(textResult('Hello')),
    }
    const table = page.table('The result')
    for (const [result, { outcome, observations }] of Object.entries(results)) {
      const row = table.find(other => other['The result'] === result)
      expect([result, spans(row?.Outcome ?? '').findLast(word => word !== 'results')]).toEqual([result, outcome])
      expect(spans(row?.Observed ?? '')).toEqual(observations)
    }
    expect(table).toHaveLength(Object.keys(results).length + 2)
  })
})

describe('approvals', () => {
  test('the codes that are never put to a human', () => {
    const paragraph = /- ([^.]*) are never put to a human\./.exec(page.line)?.[1] ?? ''
    const listed = spans(paragraph)
    const strict = addon.createPolicy({ mode: 'enforce', profile: 'strict' })
    const destructive = 1 << 6
    const denied = vocabulary.codes.filter(({ kind, name }) => kind !== 'allow' && name !== 'APPROVAL_UNAVAILABLE')
    for (const { name, number } of denied) {
      const becomes = vocabulary.enforcements[addon.enforcement(strict, number | destructive, true)]
      expect([name, becomes]).toEqual([name, listed.includes(name) ? 'denied' : 'asked'])
    }
    addon.dropPolicy(strict)
  })

  test('the text that a human reads', () => {
    const session = play({ mode: 'enforce', profile: 'strict' })
    const args = { identifier: 'd/T', project: 'main' }
    const { word, tool } = session.judge(memory('delete_note'), 1, args)
    const quoted = page.blocks('text').map(({ text }) => oneLine(text))
    expect(quoted).toContain(addon.approvalReason(memory('delete_note'), tool, word, args))
    session.done()
  })
})
