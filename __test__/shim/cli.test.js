/** The command dsh-bmpp on trails that are made up: what it prints, what it exits with, and its manners. */
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { run } from '../../js/cli/main.js'
import { Terminal } from '../../js/cli/terminal.js'
import { loadAddon } from '../../js/native.js'
import { inRoot } from '../../scripts/lib/project.mjs'
import { perRecordHome, singleHome } from '../support/generate-trail.js'
import { tempDir, withTempDir } from '../support/temp-dir.js'
import { command } from '../support/trail.js'

const home = tempDir()
const storages = join(home.path, '.dsh', 'storages')
beforeAll(() => singleHome(storages, { records: 2000, seed: 7, stepMs: 60_000 }))
afterAll(home.remove)

/** Runs a command in this process, with what it prints collected. */
async function said(args, terminal = {}) {
  const printed = { out: '', err: '' }
  const write = (fd, text) => {
    printed[fd === 1 ? 'out' : 'err'] += text
  }
  const code = await run(args, new Terminal({ write, colour: false, bar: false, ...terminal }))
  return { code, ...printed }
}
const on = (...args) => said([...args, '--storages', storages])
const lines = text => text.trimEnd().split('\n')

describe('help and usage', () => {
  const commands = ['audit', 'report', 'verify', 'explain', 'check', 'doctor', 'prune']

  test('the overview names every command and the exit codes', async () => {
    const { code, out } = await said([])
    expect(code).toBe(0)
    for (const name of commands) expect(out).toContain(`\n  ${name} `)
    expect(out).toContain('Exit codes: 0 well')
  })

  test.each(commands)('%s --help has usage, examples and exit codes', async name => {
    const { code, out, err } = await said([name, '--help'])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(new RegExp(`^dsh-bmpp ${name}: `))
    for (const part of ['\nUsage: ', '\nExamples:\n', '\nExit codes: 0']) expect(out).toContain(part)
    expect(await said(['help', name])).toEqual({ code, out, err })
    // Every example is a call that at least parses.
    for (const example of out.split('Examples:\n')[1].split('\n\n')[0].split('\n'))
      expect(example).toContain('dsh-bmpp ')
  })

  test.each([
    [['nonsense'], 'there is no command "nonsense"'],
    [['audit', '--bogus'], "Unknown option '--bogus'"],
    [['audit', '--json', '--ndjson'], 'exclude each other'],
    [['audit', '--turn', 'x'], 'takes a whole number'],
    [['audit', '--since', 'yesterdayish'], 'takes a date'],
    [['report', '--decision', 'maybe'], 'is one of allow, deny'],
    [
      ['audit', '--since', '1h', '--until', '2h'],
      '--since 1h is not before --until 2h: nothing lies between them; an age',
    ],
    [
      ['report', '--since', '2026-03-02', '--until', '2026-03-02'],
      '--since 2026-03-02 is not before --until 2026-03-02',
    ],
    ...['audit --limit', 'audit --turn', 'report --turn', 'prune --keep'].map(call => [
      [...call.split(' '), '-1'],
      `${call.split(' ')[1]} takes a whole number of 0 or more, not "-1"`,
    ]),
    [['audit', '--since', '-1h'], '--since takes a date such as 2026-02-28 or an age such as 12h, not "-1h"'],
    [['help', 'nonsense'], 'there is no command "nonsense"'],
    [['prune'], 'say what to keep'],
    [['explain'], 'name a code or another word'],
  ])('%j is wrong usage', async (args, sentence) => {
    const { code, err } = await said(args)
    expect(code).toBeGreaterThanOrEqual(2)
    expect(err).toContain(sentence)
  })
})

describe('an option that is none', () => {
  test.each([
    [['audit', '--limt', '3'], '--limt', '--limit'],
    [['audit', '--limt=3'], '--limt', '--limit'],
    [['audit', '--enforcment', 'asked'], '--enforcment', '--enforcement'],
    [['report', '--Json'], '--Json', '--json'],
    [['verify', '--storage', '/x'], '--storage', '--storages'],
    [['prune', '--dryrun'], '--dryrun', '--dry-run'],
    [['check', '--event', 'x'], '--event', '--events'],
    [['explain', '--lst'], '--lst', '--list'],
    [['doctor', '--hlp'], '--hlp', '--help'],
  ])('%j is told with the one that is near', async (args, option, near) => {
    const [name] = args
    expect(await said(args)).toEqual({
      code: 2,
      out: '',
      err: `dsh-bmpp ${name}: Unknown option '${option}'; did you mean ${near}?\nSee dsh-bmpp ${name} --help\n`,
    })
  })

  test.each([
    [['audit', '--bogus'], "dsh-bmpp audit: Unknown option '--bogus'\nSee dsh-bmpp audit --help\n"],
    [['verify', '-x'], "dsh-bmpp verify: Unknown option '-x'\nSee dsh-bmpp verify --help\n"],
    [['verify', '--a\u001b[2J'], "dsh-bmpp verify: Unknown option '--a\\u{1b}[2J'\nSee dsh-bmpp verify --help\n"],
  ])('%j is like no other', async (args, err) => {
    expect(await said(args)).toEqual({ code: 2, out: '', err })
  })

  test.each([
    [['--ndjson', 'audit'], '--ndjson'],
    [['--limit', '5', 'audit'], '--limit'],
    [['--home', home.path, '--json', 'audit'], '--json'],
    [['--since=7d', 'audit'], '--since=7d'],
  ])('%j: only two may stand before the command', async (args, option) => {
    expect(await said(args)).toEqual({
      code: 2,
      out: '',
      err: `dsh-bmpp: ${option} stands where the command belongs, before which only --home and --storages may stand: dsh-bmpp audit [options]\nSee dsh-bmpp --help\n`,
    })
  })
})

describe('a word that no record can have', () => {
  test.each([
    ['--code', 'CLASSIFICATION_REQUIERD', 'did you mean CLASSIFICATION_REQUIRED?'],
    ['--code', 'create-requires-serch', 'did you mean CREATE_REQUIRES_SEARCH?'],
    [
      '--code',
      'LOOKUP',
      'did you mean MEMORY_LOOKUP_PENDING_IN_BATCH, MEMORY_LOOKUP_FAILED or MEMORY_LOOKUP_REQUIRED?',
    ],
    ['--code', 'NO_SUCH_THING_AT_ALL', '"NO_SUCH_THING_AT_ALL"; dsh-bmpp explain --list names them all'],
    // Words of a configuration and of other fields are no codes of a record.
    ['--code', 'INVALID_NUMBER', 'no record has the code "INVALID_NUMBER"'],
    ['--code', 'overridden', 'no record has the code "overridden"'],
    ['--code', 'UNKNOWN_KEY', 'is the code of a problem of the configuration; dsh-bmpp explain UNKNOWN_KEY says'],
    ['--code', '', 'no record has the code ""'],
    ['--decision', 'denied', 'is one of allow, deny; not "denied"'],
    ['--enforcement', 'overriden', 'did you mean overridden?'],
  ])('%s %s', async (option, word, sentence) => {
    for (const name of ['audit', 'report']) {
      const { code, out, err } = await on(name, option, word)
      expect([code, out]).toEqual([2, ''])
      expect(err).toContain(sentence)
      expect(err).toContain(`See dsh-bmpp ${name} --help`)
    }
  })

  test('every word that a record can have is taken, in any case', async () => {
    const { codes, observations } = loadAddon().vocabulary()
    const words = [...codes.map(({ name }) => name), ...observations]
    expect((await on('report', '--json', ...words.flatMap(word => ['--code', word]))).code).toBe(0)
    const whole = await on(
      'audit',
      '--code',
      'CREATE_REQUIRES_SEARCH',
      '--decision',
      'deny',
      '--enforcement',
      'overridden',
    )
    const other = await on(
      'audit',
      '--code',
      'create requires-search',
      '--decision',
      'Deny',
      '--enforcement',
      'OVERRIDDEN',
    )
    expect(lines(whole.out).length).toBeGreaterThan(2)
    expect(other).toEqual(whole)
  })
})

describe('started in the wrong way', () => {
  /** Runs the command as a process of its own, with nothing on its standard input. */
  const started = (args, env) => command(args, { home: home.path, ...(env ? { env } : {}) })
  const nowhere = join(home.path, 'no', 'such')
  const file = inRoot('package.json')

  test.each([
    ['an unknown command', ['nonsense'], 2, /^dsh-bmpp: there is no command "nonsense"\nSee dsh-bmpp --help\n$/],
    ['a typo', ['doctr'], 2, /there is no command "doctr"; did you mean doctor\?/],
    [
      'an option in place of a command',
      ['--nonsense'],
      2,
      /--nonsense stands where the command belongs, .*: dsh-bmpp <command>/,
    ],
    [
      'an option before the command',
      ['--json', 'report'],
      2,
      /--json stands where the command belongs, .*: dsh-bmpp report \[/,
    ],
    ['a home and no command', ['--home', nowhere], 2, /--home stands where the command belongs/],
    ['a home before a command that takes none', ['--home', nowhere, 'explain', 'x'], 2, /Unknown option '--home'/],
    ['a name that every object has', ['constructor'], 2, /there is no command "constructor"/],
    [
      'an unknown option',
      ['report', '--bogus'],
      2,
      /^dsh-bmpp report: Unknown option '--bogus'.*\nSee dsh-bmpp report --help\n$/,
    ],
    ['an argument that no command takes', ['verify', 'x'], 2, /Unexpected argument 'x'/],
    ['an option without its value', ['report', '--home'], 2, /argument missing/],
    ['an empty home', ['report', '--home', ''], 2, /--home takes a folder, not an empty text/],
    ...['audit', 'report', 'verify', 'doctor'].map(name => [
      `${name} of a home that is not there`,
      [name, '--home', nowhere],
      3,
      new RegExp(`^dsh-bmpp ${name}: --home: ${nowhere} is not there\\n$`),
    ]),
    ['prune of a home that is not there', ['prune', '--keep', '1', '--home', nowhere], 3, /is not there/],
    ['storages that are a file', ['verify', '--storages', file], 3, /--storages: .*package\.json is no folder/],
    [
      'a page where no folder is',
      ['report', '--html', join(nowhere, 'x.html')],
      3,
      /x\.html: there is no such file or folder/,
    ],
    ['a page where a folder is', ['report', '--html', home.path], 3, /: it is a folder/],
    ['a configuration that is not there', ['check', '--config', nowhere], 3, /such: there is no such file or folder/],
    [
      'a configuration that is no JSON',
      ['check', '--config', '{"mode":'],
      2,
      /--config is no valid JSON: line 1, column 9: it ends too early\nSee/,
    ],
    [
      'a configuration that does not end',
      ['check', '--config', '{"mode":"audit"'],
      2,
      /line 1, column 16: it ends too/,
    ],
    ['events that are not there', ['check', '--events', nowhere], 3, /there is no such file or folder/],
    ['a word that is none', ['explain', 'CREATE_REQUIRES_SERCH'], 1, /did you mean CREATE_REQUIRES_SEARCH\?/],
    ['a word of four letters', ['explain', 'NOPE'], 1, /^NOPE: no word of this version; dsh-bmpp explain --list/],
    [
      'a tool',
      ['explain', 'mcp__basic-memory__write_note'],
      1,
      /a tool of .* class write; dsh-bmpp explain write says/,
    ],
    [
      'the control tool',
      ['explain', 'bmpp__classify'],
      1,
      /with which a model declares its turn; dsh-bmpp explain control/,
    ],
    ['a key', ['explain', 'pathGuard'], 1, /^pathGuard: a key of the configuration: the README/],
    [
      'a key and field',
      ['explain', 'mode'],
      1,
      /^mode: a key of the configuration.*; a field of records: docs\/AUDIT\.md/,
    ],
    ['a word like no other', ['explain', 'FOO'], 1, /^FOO: no word of this version; dsh-bmpp explain --list/],
  ])('%s', (_, args, expected, sentence) => {
    const { code, stdout, stderr } = started(args)
    expect([code, stderr]).toEqual([expected, expect.stringMatching(sentence)])
    expect(stdout).toBe('')
    expect(stderr).not.toMatch(/\n {4}at |ENO|EIS/)
  })

  test.each(['audit', 'report', 'verify', 'check', 'explain', 'prune'])('%s without the addon', name => {
    const args = { explain: ['--list'], prune: ['--keep', '1'] }[name] ?? []
    const { code, stdout, stderr } = started([name, ...args], { DSH_BMPP_NATIVE: '/nowhere.node' })
    expect({ code, stdout }).toEqual({ code: 3, stdout: '' })
    expect(stderr).toMatch(/cannot load its native addon \(.*Looked for \/nowhere\.node.*or unset it\.\n$/)
  })

  test.each([
    ['--storages', storages],
    [`--storages=${storages}`],
    ['--home', join(home.path, '.dsh')],
    [`--home=${join(home.path, '.dsh')}`],
  ])('%j may stand before the command', async (...where) => {
    const before = await said([...where, 'verify', '--json'])
    expect(before).toEqual(await said(['verify', '--json', ...where]))
    expect(before.code).toBe(0)
    expect((await said([...where, 'report', '--help'])).out).toMatch(/^dsh-bmpp report: /)
  })

  test('a home in which nothing was recorded is no error, and said', async () => {
    await withTempDir(dir => {
      const { code, stderr } = command(['verify'], { home: dir })
      expect([code, stderr]).toEqual([0, expect.stringContaining('no trail in')])
    })
  })
})

describe('audit', () => {
  test('is a table of the last decisions with what became of them', async () => {
    const { code, out, err } = await on('audit', '--limit', '5')
    expect(code).toBe(0)
    expect(lines(out)).toHaveLength(6)
    expect(out).toMatch(/^TIME +SESSION +TURN +TOOL +CODE +ENFORCEMENT +HAPPENED/)
    expect(out).toMatch(/\b(ran|failed)\b/)
    expect(err).toMatch(/the last 5 of \d+ decisions; --limit 0 shows all/)
  })

  test('--ndjson gives the records as they are stored, --json the same as one list', async () => {
    const ndjson = await on('audit', '--ndjson')
    const records = lines(ndjson.out).map(line => JSON.parse(line))
    expect(records.length).toBeGreaterThanOrEqual(2000)
    expect(records[0]).toMatchObject({ bmpp: 1, kind: 'load' })
    const json = await on('audit', '--json')
    expect(JSON.parse(json.out)).toEqual(records)
    expect(JSON.parse((await on('audit', '--json', '--session', 'no-such')).out)).toEqual([])
  })

  test('filters take what they name', async () => {
    const taken = async (...args) => lines((await on('audit', '--ndjson', ...args)).out).map(line => JSON.parse(line))
    const denied = await taken('--decision', 'deny', '--tool', 'write_note')
    expect(denied.length).toBeGreaterThan(10)
    const decisions = denied.filter(({ kind }) => kind === 'decision')
    for (const { tool, decision } of decisions)
      expect([tool, decision]).toEqual(['mcp__basic-memory__write_note', 'deny'])
    expect(denied.length).toBe(2 * decisions.length)
    const [{ session }] = decisions
    const one = await taken('--session', session.slice(0, 20), '--turn', '1')
    expect(new Set(one.map(record => `${record.session} ${record.turn}`))).toEqual(new Set([`${session} 1`]))
    expect(await taken('--code', 'recall_empty')).not.toHaveLength(0)
    const times = (await taken('--since', '2026-09-22', '--until', '2026-09-23')).map(({ time }) => time)
    for (const time of times) expect(new Date(time).toISOString().slice(0, 10)).toBe('2026-09-22')
  })

  test('--limit of the records counts a call as one, and tears none apart', async () => {
    const taken = async (...args) => lines((await on('audit', '--ndjson', ...args)).out).map(line => JSON.parse(line))
    const denials = await taken('--decision', 'deny')
    const [decision, settlement] = await taken('--decision', 'deny', '--limit', '1')
    expect([decision.kind, settlement.kind, settlement.number]).toEqual(['decision', 'settlement', decision.number])
    expect([decision, settlement]).toEqual(denials.slice(-2))
    expect(await taken('--decision', 'deny', '--limit', '7')).toEqual(denials.slice(-14))
    // Turns and loads count by themselves, and what is there stands in its order.
    const whole = await taken()
    const some = await taken('--limit', '40')
    const keyOf = ({ load, number, seq }) => (number === undefined ? `${load} seq ${seq}` : `${load} ${number}`)
    expect(new Set(some.map(keyOf)).size).toBe(40)
    const keys = [...new Set(whole.map(keyOf))].slice(-40)
    expect(some).toEqual(whole.filter(record => keys.includes(keyOf(record))))
    expect(await taken('--limit', '100000')).toEqual(whole)
    // Observed on the settlement alone: there it is the call's one record.
    const empty = await taken('--code', 'RECALL_EMPTY', '--limit', '3')
    expect(empty.map(({ kind }) => kind)).toEqual(['settlement', 'settlement', 'settlement'])
  })

  test('a settlement does not come without the decision that was let go', async () => {
    await withTempDir(async dir => {
      const records = [
        ['decision', 1],
        ['decision', 2],
        ['decision', 3],
        ['settlement', 2],
        ['settlement', 1],
        ['settlement', 3],
      ].map(([kind, number], index) =>
        JSON.stringify({
          bmpp: 1,
          kind,
          load: 'l',
          seq: index + 1,
          order: index + 1,
          time: 1,
          number,
          decision: 'deny',
        }),
      )
      const events = { k: { bmpp: 1, records } }
      writeFileSync(join(dir, 'bmpp_audit.json'), JSON.stringify({ unit: {}, tables: { events } }))
      for (const [limit, expected] of [
        ['1', [3, 3]],
        ['2', [2, 3, 2, 3]],
        ['3', [1, 2, 3, 2, 1, 3]],
      ]) {
        const { out } = await said(['audit', '--ndjson', '--limit', limit, '--storages', dir])
        expect(lines(out).map(line => JSON.parse(line).number)).toEqual(expected)
      }
    })
  })

  test('a reader that has gone is an end and no error', async () => {
    const write = (fd, text) => {
      if (fd === 1) throw Object.assign(new Error('gone'), { code: 'EPIPE' })
      expect(text).toBe('')
    }
    expect(await run(['audit', '--ndjson', '--storages', storages], new Terminal({ write, bar: false }))).toBe(0)
  })
})

describe('report', () => {
  test('begins with the next step in one sentence, and tells the rest', async () => {
    const { code, out } = await on('report')
    expect(code).toBe(0)
    expect(lines(out)[0]).toMatch(
      /^(Switch to enforce|Stay in audit): of \d+ writes in \d+ turns it would have blocked/,
    )
    for (const part of [
      '\nWould be blocked in enforce: ',
      '\nBy tool\n',
      '\nBy session',
      '\nBy day',
      '\nTurns\n',
      '\nLookups\n',
    ]) {
      expect(out).toContain(part)
    }
  })

  test.each([
    [['audit'], 'Would be blocked in enforce: 1 of 1 write (100 %)', '1 would be blocked', 'would be blocked'],
    [['enforce'], 'Blocked: 1 of 1 write (100 %)', '1 was blocked', 'blocked'],
    [
      ['audit', 'enforce', 'enforce'],
      'Blocked: 2 of 2 writes in enforce (100 %) · Would be blocked in enforce: 1 of 1 write in audit (100 %)',
      '1 would be blocked  2 were blocked',
      'would be blocked',
    ],
  ])('what went on in audit is told apart from what was denied: %j', async (modes, heading, cells, verb) => {
    await withTempDir(async dir => {
      const records = modes.map((mode, index) =>
        JSON.stringify({
          ...{ bmpp: 1, kind: 'decision', load: 'l', seq: index + 1, order: index + 1, time: 1, number: index + 1 },
          ...{ session: 's', turn: index, step: 1, tool: 'mcp__basic-memory__write_note', class: 'write', mode },
          ...{ decision: 'deny', code: 'CREATE_REQUIRES_SEARCH', by: 'judged' },
          enforcement: mode === 'audit' ? 'overridden' : 'denied',
        }),
      )
      const events = { k: { bmpp: 1, records } }
      writeFileSync(join(dir, 'bmpp_audit.json'), JSON.stringify({ unit: {}, tables: { events } }))
      const { out } = await said(['report', '--storages', dir])
      expect(lines(out)).toContain(heading)
      for (const name of ['CREATE_REQUIRES_SEARCH', 'write_note', 's ', '1970-01-01']) {
        const line = lines(out).find(of => of.startsWith(`  ${name}`))
        expect(line?.replaceAll(/ {2,}/g, '  ')).toContain(cells)
      }
      const file = join(dir, 'page.html')
      await said(['report', '--html', file, '--storages', dir])
      expect(readFileSync(file, 'utf8')).toContain(`<span>${verb}</span>`)
    })
  })

  /** A report and its page on writes of these modes; one that is blocked has a code of a denial. */
  async function reported(writes, more = []) {
    return await withTempDir(async dir => {
      const records = writes.map(({ mode, code, enforcement }, index) => ({
        ...{ bmpp: 1, kind: 'decision', load: 'l', seq: index + 1, order: index + 1, time: 1, number: index + 1 },
        ...{ session: 's', turn: index, step: 1, tool: 'mcp__basic-memory__write_note', class: 'write', mode, code },
        ...{ decision: code.startsWith('ALLOW') ? 'allow' : 'deny', by: 'judged', enforcement },
      }))
      const events = { k: { bmpp: 1, records: [...records, ...more].map(record => JSON.stringify(record)) } }
      writeFileSync(join(dir, 'bmpp_audit.json'), JSON.stringify({ unit: {}, tables: { events } }))
      const file = join(dir, 'page.html')
      const html = await said(['report', '--html', file, '--storages', dir])
      return { ...(await said(['report', '--storages', dir])), html, page: readFileSync(file, 'utf8') }
    })
  }
  const audited = { mode: 'audit', code: 'CREATE_REQUIRES_SEARCH', enforcement: 'overridden' }
  const denied = { mode: 'enforce', code: 'CREATE_REQUIRES_SEARCH', enforcement: 'denied' }
  const allowed = { mode: 'enforce', code: 'ALLOW_SIMPLE', enforcement: 'allowed' }
  const otherwise = { mode: 'enforce', code: 'CALL_NOT_JUDGED', enforcement: 'overridden' }

  test('a share is one of the writes of its own mode, in the text and on the page', async () => {
    const { out, page } = await reported([...Array(3).fill(audited), ...Array(5).fill(denied), allowed])
    expect(lines(out)).toContain(
      'Blocked: 5 of 6 writes in enforce (83 %) · Would be blocked in enforce: 3 of 3 writes in audit (100 %)',
    )
    expect(page).toContain('<b>5</b><span>blocked</span><small>83 % of 6 writes in enforce</small>')
    expect(page).toContain('<b>3</b><span>would be blocked</span><small>100 % of 3 writes in audit</small>')
    expect(page).toContain(
      '<title>Memory policy: 5 of 6 writes in enforce blocked, 3 of 3 writes in audit would be blocked</title>',
    )
    // Nowhere are the two one number.
    expect(page).not.toMatch(/>8 |\b8 blocked|<b>8<|<td>8<|89 %/)
    expect(page.match(/5 blocked, 3 would be blocked/g)?.length).toBeGreaterThanOrEqual(4)
  })

  test('a mode in which nothing was blocked has its share too', async () => {
    const { out } = await reported([audited, allowed, allowed])
    expect(lines(out)).toContain(
      'Blocked: 0 of 2 writes in enforce (0 %) · Would be blocked in enforce: 1 of 1 write in audit (100 %)',
    )
  })

  test('what ran in enforce all the same is no guess at what enforce would block', async () => {
    const { out, page } = await reported([allowed, denied, otherwise])
    expect(lines(out)).toContain('Blocked: 1 of 3 writes (33 %)')
    expect(out).toMatch(/ {2}CALL_NOT_JUDGED +1 ran all the same/)
    expect(out).not.toContain('would be blocked')
    expect(page).toContain('1 blocked, 1 ran all the same')
    expect(page).not.toContain('would be blocked')
  })

  test('beside the figure of audit stands what it counts too much, and nowhere else', async () => {
    const sentence = 'In audit every write runs, so this also counts calls that enforce would not have come to'
    const both = await reported([audited, denied])
    expect(both.out.replace(/\s+/g, ' ')).toContain(sentence)
    expect(both.page).toContain(sentence)
    const enforced = await reported([denied])
    expect(`${enforced.out}${enforced.page}`).not.toContain('In audit every write runs')
  })

  test('a trail that contradicts itself or is damaged is said so in the head, whatever part is asked for', async () => {
    const text = readFileSync(join(storages, 'bmpp_audit.json'), 'utf8')
    const code = '\\"code\\":\\"ALLOW_RECALL_OK\\"'
    for (const [to, sentence] of [
      ['\\"code\\":\\"ALLOW_SIMPLE\\"', 'The trail contradicts itself: 1 record of it does not follow'],
      ['\\"code\\":\\"ALLOW_RECAL_OK\\"', '1 record of the trail is damaged. dsh-bmpp verify says which'],
    ]) {
      await withTempDir(async dir => {
        writeFileSync(join(dir, 'bmpp_audit.json'), text.replace(code, to))
        const file = join(dir, 'page.html')
        const { out } = await said(['report', '--storages', dir, '--since', '2030-01-01'])
        expect(lines(out)[1]).toContain(sentence)
        expect((await said(['report', '--html', file, '--storages', dir])).out).toContain(sentence)
        expect(readFileSync(file, 'utf8')).toContain(`<strong>${sentence}`)
      })
    }
    expect((await on('report')).out).not.toMatch(/contradicts|damaged/)
  })

  test('the totals of a time are those of its days', async () => {
    const whole = JSON.parse((await on('report', '--json')).out)
    const days = Object.entries(whole.byDay)
    const [day, { writes, blocked }] = days[1]
    const date = number => new Date(number * 86_400_000).toISOString().slice(0, 10)
    const one = JSON.parse((await on('report', '--json', '--since', date(+day), '--until', date(+day + 1))).out)
    expect(Math.abs(one.writes - writes)).toBeLessThanOrEqual(1)
    expect(Math.abs(one.blocked.overridden - blocked)).toBeLessThanOrEqual(1)
    expect(days.reduce((sum, [, { writes: n }]) => sum + n, 0)).toBe(whole.writes)
  })

  test('the page is one file that loads and runs nothing', async () => {
    await withTempDir(async dir => {
      const file = join(dir, 'page.html')
      expect((await on('report', '--html', file)).out).toContain(file)
      const page = readFileSync(file, 'utf8')
      expect(page).toContain("default-src 'none'")
      expect(page).not.toMatch(/<script|<link|<img|https?:|url\(|@import/)
      expect(page).toContain('prefers-color-scheme:dark')
      expect(page.match(/<details/g)?.length).toBeGreaterThan(10)
    })
  })

  test('what a trail brings is escaped in the page', async () => {
    await withTempDir(async dir => {
      const bad = '<img src=x onerror=alert(1)>'
      const record = {
        bmpp: 1,
        kind: 'decision',
        load: 'l',
        seq: 1,
        order: 1,
        time: 1,
        session: bad,
        tool: bad,
        code: bad,
        class: bad,
        decision: 'deny',
        enforcement: bad,
        mode: bad,
        number: 1,
        host: bad,
      }
      const document = { unit: {}, tables: { bmpp: {}, events: { k: record, l: { ...record, kind: 'load', seq: 2 } } } }
      writeFileSync(join(dir, 'bmpp_audit.json'), JSON.stringify(document))
      const file = join(dir, 'page.html')
      expect((await said(['report', '--html', file, '--storages', dir])).code).toBe(0)
      expect(readFileSync(file, 'utf8')).not.toContain('<img')
    })
  })
})

describe('verify', () => {
  test('says that everything follows', async () => {
    const { code, out } = await on('verify')
    expect(code).toBe(0)
    expect(out).toContain('No contradiction')
  })

  test('names the first record that does not follow, with both sides, and exits 1', async () => {
    await withTempDir(async dir => {
      const text = readFileSync(join(storages, 'bmpp_audit.json'), 'utf8')
      const from = '\\"code\\":\\"ALLOW_RECALL_OK\\"'
      writeFileSync(join(dir, 'bmpp_audit.json'), text.replace(from, '\\"code\\":\\"ALLOW_SIMPLE\\"'))
      const { code, out } = await said(['verify', '--storages', dir])
      expect(code).toBe(1)
      expect(out).toContain('1 contradiction. The first:')
      expect(out).toMatch(/code in the record: ALLOW_SIMPLE\n {2}code by the rules: {2}ALLOW_RECALL_OK/)
      const [, advice = ''] = out.split('What to do:\n')
      for (const part of [`bmpp_audit in ${dir}`, ' --turn ', 'report it with these lines', 'prune --since'])
        expect(advice.replace(/\s+/g, ' ')).toContain(part)
      // The command that it names shows the call.
      const [, args = ''] =
        /dsh-bmpp (audit --session \S+ --turn \d+ --limit 0 --storages \S+),/.exec(advice.replace(/\s+/g, ' ')) ?? []
      expect((await said(args.split(' '))).out).toContain('ALLOW_SIMPLE')
    })
  })

  test('a word that this version does not have is damage in a record of this version', async () => {
    const text = readFileSync(join(storages, 'bmpp_audit.json'), 'utf8')
    const record = text.split('\n').find(line => line.includes('\\"code\\":\\"CREATE_REQUIRES_SEARCH\\"'))
    const damaged = record.replace('CREATE_REQUIRES_SEARCH', 'CREATE_REQUIRES_SERCH')
    expect(record).toContain('\\"policy\\":\\"0.1.0\\"')
    await withTempDir(async dir => {
      writeFileSync(join(dir, 'bmpp_audit.json'), text.replace(record, damaged))
      const { code, out } = await said(['verify', '--storages', dir])
      expect(code).toBe(3)
      expect(out).toContain('code is "CREATE_REQUIRES_SERCH", a word that its version does not have')
      expect(out).toContain('Not verified: 1 record of it is damaged. What can be read does not contradict itself.')
      expect(out).not.toMatch(/another version|No contradiction/)
      expect(out.split('What to do:\n')[1]).toContain('Keep a copy first')
      const json = await said(['verify', '--json', '--storages', dir])
      expect([json.code, JSON.parse(json.out).damaged]).toEqual([3, 1])
      const seen = await said(['doctor', '--json', '--home', dir, '--storages', dir])
      const told = JSON.parse(seen.out).map((/** @type {{ what: string }} */ { what }) => what)
      expect(told).toContain('trail: 1 record holds words that the version which wrote them does not have')
      // What is listed can be asked for; what is not, cannot.
      for (const name of ['audit', 'report']) {
        const found = await said([name, '--code', 'create-requires-serch', '--storages', dir])
        expect([found.code, found.out]).toEqual([0, expect.stringContaining('CREATE_REQUIRES_SERCH')])
        expect((await said([name, '--code', 'CREATE_REQUIRES_SRCH', '--storages', dir])).code).toBe(2)
      }
      // Of a version that is another one, it is a word of that.
      writeFileSync(
        join(dir, 'bmpp_audit.json'),
        text.replace(record, damaged.replace('\\"policy\\":\\"0.1.0\\"', '\\"policy\\":\\"0.9.0\\"')),
      )
      const other = await said(['verify', '--storages', dir])
      expect([other.code, other.out]).toEqual([
        0,
        expect.stringContaining('1 not replayed: in words of another version'),
      ])
    })
  })

  test('names gaps, and broken records, and reads on', async () => {
    await withTempDir(async dir => {
      const text = readFileSync(join(storages, 'bmpp_audit.json'), 'utf8').split('\n')
      const records = text.flatMap((line, index) => (line.includes('\\"kind\\":') ? [index] : []))
      text[records[400]] = '"{\\"bmpp\\":1,\\"kind\\"",'
      text.splice(records[100], 5)
      writeFileSync(join(dir, 'bmpp_audit.json'), text.join('\n'))
      const { code, out, err } = await said(['verify', '--storages', dir])
      expect(code).toBe(3)
      expect(out).toContain('2 gaps, 6 records missing')
      expect(out).toContain('101 to 105 (nothing says why)')
      expect(lines(out)).toContainEqual(expect.stringMatching(/^Not verified: 1 record of it cannot be read\./))
      expect(out.split('What to do:\n')[1]).toContain('a full or failing disk')
      expect(out).not.toContain('No contradiction')
      expect(err).toMatch(/1 record could not be read and was skipped:\n {2}\w+_generated0, record \d+: /)
    })
  })

  describe('a trail of which nothing can be read is not verified', () => {
    const chunk = (...records) => JSON.stringify({ unit: {}, tables: { events: { k: { bmpp: 1, records: records } } } })
    const later = JSON.stringify({ bmpp: 9, kind: 'dream', load: 'l', seq: 1, order: 1, time: 1 })

    test.each([
      ['a file that is no JSON', 'bmpp_audit.json', 'garbage', '1 record of it cannot be read'],
      ['a file that is cut', 'bmpp_audit.json', '{"unit":{},"tab', '1 record of it cannot be read'],
      ['an empty file', 'bmpp_audit.json', '', '1 record of it cannot be read'],
      ['JSON that is no document', 'bmpp_audit.json', 'null', '1 record of it cannot be read'],
      ['every line broken', 'bmpp_audit.json', chunk('x', '{}', '[]'), '3 records of it cannot be read'],
      ['a file for a record', 'bmpp_audit/events/k.json', 'x', '1 record of it cannot be read'],
      ['a file for a record that holds none', 'bmpp_audit/events/k.json', '{"a":1}', '1 record of it cannot be read'],
      ['records of a later version alone', 'bmpp_audit.json', chunk(later), '1 record of it is of a later version'],
    ])('%s', async (_, name, text, why) => {
      await withTempDir(async dir => {
        mkdirSync(join(dir, 'bmpp_audit', 'events'), { recursive: true })
        writeFileSync(join(dir, name), text)
        const { code, out } = await said(['verify', '--storages', dir])
        const verdict = lines(out).find(line => line.startsWith('Not verified'))
        expect([code, verdict]).toEqual([3, `Not verified: the trail has no record that can be read; ${why}.`])
        expect(out.includes('What to do:')).toBe(why.includes('cannot be read'))
        expect(out).not.toContain('No contradiction')
        expect((await said(['verify', '--json', '--storages', dir])).code).toBe(3)
        const { out: report } = await said(['report', '--storages', dir])
        if (why.includes('cannot be read'))
          expect(report).toMatch(/^Mend first: \d records? of this trail (is|are) lost/)
      })
    })

    test('one that is empty is no error', async () => {
      await withTempDir(async dir => {
        mkdirSync(join(dir, 'bmpp_audit', 'events'), { recursive: true })
        const { code, out } = await said(['verify', '--storages', dir])
        expect([code, lines(out).at(-1)]).toEqual([0, 'Nothing to verify: there is no record.'])
      })
    })
  })

  test('both layouts of one home are one trail', async () => {
    await withTempDir(async dir => {
      cpSync(storages, dir, { recursive: true })
      const made = await perRecordHome(dir, { records: 200, load: 'generated1', from: 1_795_000_000_000 })
      const found = JSON.parse((await said(['verify', '--json', '--storages', dir])).out)
      expect(found).toMatchObject({
        loads: 2,
        contradictions: 0,
        gaps: 0,
        tally: { layouts: ['single', 'per-record'] },
      })
      expect(found.tally.records).toBeGreaterThanOrEqual(2000 + made)
    })
  })
})

describe('explain', () => {
  test('says what it means, what the model is told and what to do', async () => {
    const { code, out } = await said(['explain', 'unknown-memory-tool'])
    expect(code).toBe(0)
    for (const part of [
      'UNKNOWN_MEMORY_TOOL',
      'is on no list',
      'The model is told: UNKNOWN_MEMORY_TOOL:',
      'What to do: Put',
    ]) {
      expect(out.replace(/\s+/g, ' ')).toContain(part)
    }
  })

  test.each([
    ['INVALID_NUMBER', 'dsh does not boot with this configuration', 'What to do: Take a number'],
    ['unknown-key', 'UNKNOWN_KEY', 'The README has every key'],
    ['overridden', 'a word of records', 'In audit'],
    ['Not-Known', 'not-known', 'may or may not have been done'],
    ['overriden', undefined, 'did you mean overridden?'],
    ['invalid-numbr', undefined, 'did you mean INVALID_NUMBER?'],
  ])('%s, which is no code of a verdict', async (word, first, second) => {
    const { code, out, err } = await said(['explain', word])
    expect(code).toBe(first === undefined ? 1 : 0)
    for (const part of [first ?? '', second]) expect(`${out}${err}`.replace(/\s+/g, ' ')).toContain(part)
  })

  test('every word of a trail can be explained', async () => {
    const records = lines((await on('audit', '--ndjson')).out).map(line => JSON.parse(line))
    const fields = [
      'mode',
      'profile',
      'event',
      'place',
      'class',
      'facts',
      'decision',
      'code',
      'classification',
      'lookup',
    ]
    const more = ['enforcement', 'at', 'by', 'declared', 'outcome', 'happened', 'why']
    const words = new Set(records.flatMap(record => [...fields, ...more].flatMap(field => record[field] ?? [])))
    for (const { observations } of records) for (const word of observations ?? []) words.add(word)
    expect(words.size).toBeGreaterThan(25)
    const { code, err } = await said(['explain', ...words])
    expect([code, err]).toEqual([0, ''])
  })

  test('lists every word, and exits 1 for one that is none', async () => {
    expect(lines((await said(['explain', '--list'])).out).length).toBeGreaterThan(20)
    expect(await said(['explain', 'NO_SUCH'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no word of this version'),
    })
  })
})

describe('check', () => {
  const check = (events, args = []) => {
    const input = events.map(event => JSON.stringify(event)).join('\n')
    const { code, stdout, stderr } = command(['check', ...args], { input })
    return {
      code,
      stderr,
      answers: stdout
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line)),
    }
  }
  const write = {
    event: 'call',
    tool: 'mcp__basic-memory__write_note',
    arguments: { title: 'T', directory: 'd', content: '' },
  }

  test('a verdict for each event, by the rules', () => {
    const { code, answers } = check([
      { ...write, id: 'w1' },
      { event: 'call', id: 'd', tool: 'bmpp__classify', arguments: { task: 'complex' } },
      { event: 'result', id: 'd' },
      { event: 'call', id: 's', tool: 'mcp__basic-memory__search_notes', arguments: { query: 'x' } },
      { event: 'result', id: 's', text: '# Search Results: x' },
      { ...write, id: 'w2' },
      { event: 'step' },
      { ...write, id: 'w3' },
      { event: 'turn' },
      { ...write, id: 'w4' },
      { event: 'call', tool: 'bash' },
    ])
    expect(code).toBe(0)
    const codes = answers.filter(({ code: of }) => of).map(({ code: of, enforcement }) => `${of} ${enforcement}`)
    expect(codes).toEqual([
      'CLASSIFICATION_REQUIRED denied',
      'ALLOW_CONTROL allowed',
      'ALLOW_READ_ONLY allowed',
      'MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'ALLOW_RECALL_OK allowed',
      'CLASSIFICATION_REQUIRED denied',
      'ALLOW_OUT_OF_SCOPE allowed',
    ])
    expect(answers[0].told).toMatch(/^CLASSIFICATION_REQUIRED: /)
    expect(answers.map(({ line }) => line)).toEqual(answers.map((_, index) => index + 1))
  })

  test('in mode off nothing is judged, and nothing looks like a denial', () => {
    const { code, answers, stderr } = check(
      [
        { ...write, id: 'w' },
        { event: 'result', id: 'w', text: '# Created note' },
        { event: 'step' },
        { ...write, arguments: 5 },
        { event: 'call', tool: 'bash' },
      ],
      ['--config', '{"mode":"off"}'],
    )
    expect([code, stderr]).toEqual([0, 'mode off: nothing is judged, and every call goes on\n'])
    const nothing = { decision: null, code: null, enforcement: null, observations: [] }
    expect(answers).toEqual([
      { line: 1, id: 'w', tool: write.tool, ...nothing },
      { line: 2, id: 'w', outcome: null, observations: [] },
      { line: 3, step: 2 },
      { line: 4, id: 'line 4', tool: write.tool, ...nothing },
      { line: 5, id: 'line 5', tool: 'bash', ...nothing },
    ])
  })

  test('what is out of scope has the fields of every answer, and a result', () => {
    const { code, answers, stderr } = check([
      { event: 'call', id: 'b', tool: 'bash' },
      { event: 'result', id: 'b', text: 'x' },
      { ...write, id: 'w' },
    ])
    expect([code, stderr]).toEqual([0, ''])
    const { told: _, ...judged } = answers[2]
    expect(Object.keys(answers[0])).toEqual(Object.keys(judged))
    expect(answers[0]).toMatchObject({ id: 'b', tool: 'bash', code: 'ALLOW_OUT_OF_SCOPE', enforcement: 'allowed' })
    expect(answers[1]).toEqual({ line: 2, id: 'b', outcome: null, observations: [] })
  })

  test.each([
    ['write_note', 'is the name that the server has for it', "the host's name of it is mcp__basic-memory__write_note"],
    ['basic-memory.search_notes', 'is the name', 'mcp__basic-memory__search_notes'],
    ['mcp__basic_memory__edit_note', 'is of the server "basic_memory"', 'mcp__basic-memory__edit_note'],
    ['classify', 'did you mean bmpp__classify?', ''],
    ['bmpp__clasify', 'did you mean bmpp__classify?', ''],
    [
      'note_statistics',
      'is the name',
      'mcp__team__note_statistics',
      '{"serverNames":["team"],"readTools":["note_statistics"],"searchTools":["note_statistics"]}',
    ],
  ])('%s is told once to be out of scope, with the name that is meant', (tool, why, meant, config = '{}') => {
    const event = { event: 'call', tool, arguments: {} }
    const { code, answers, stderr } = check([event, event], ['--config', config])
    expect([code, answers.map(({ code: of }) => of)]).toEqual([0, ['ALLOW_OUT_OF_SCOPE', 'ALLOW_OUT_OF_SCOPE']])
    expect(lines(stderr)).toEqual([expect.stringMatching(/^line 1: /)])
    for (const part of [tool, why, meant]) expect(stderr).toContain(part)
  })

  test.each(['bash', 'mcp__web__get', 'toString', ''])('of %j nothing is told', tool => {
    expect(check([{ event: 'call', tool }]).stderr).toBe('')
  })

  test('in mode off no name is out of scope', () => {
    const { stderr } = check([{ event: 'call', tool: 'write_note' }], ['--config', '{"mode":"off"}'])
    expect(lines(stderr)).toHaveLength(1)
  })

  test.each([
    ['"enforce"', 'the string "enforce"'],
    ['null', 'null'],
    ['[]', 'a list'],
    ['5', 'the number 5'],
  ])('the configuration %s is refused as the boot would', async (text, what) => {
    const found = { code: 1, out: '', err: expect.stringContaining(`configuration: NOT_AN_OBJECT: `) }
    const inline = await said(['check', '--config', text])
    expect(inline).toEqual(found)
    expect(inline.err).toContain(what)
    await withTempDir(async dir => {
      writeFileSync(join(dir, 'c.json'), text)
      expect(await said(['check', '--config', join(dir, 'c.json')])).toEqual(inline)
    })
  })

  test.each([
    ['layer.yml', '- id: bmpp\n  config:\n    mode: enforce\n', 'line 1, column 1: "-" cannot stand here', true],
    ['layer.yaml', '{mode: enforce}\n', 'line 1, column 2: "m" cannot stand here', true],
    ['config', 'mode: enforce\n', 'line 1, column 1: "m" cannot stand here', true],
    ['config.json', '{\n  "mode": "audit",\n}\n', 'line 3, column 1: "}" cannot stand here', false],
  ])('a file %s that is no JSON is told where, and how to come from a layer', async (name, text, place, isLayer) => {
    await withTempDir(async dir => {
      writeFileSync(join(dir, name), text)
      const { code, err } = await said(['check', '--config', join(dir, name)])
      expect(code).toBe(2)
      expect(err).toContain(`${name} is no valid JSON: ${place}`)
      expect(err.includes('takes JSON: of a YAML layer, write what stands below "config:"')).toBe(isLayer)
    })
  })

  test.each([
    ['{"event"', 'line 1 is no JSON object: column 9: it ends too early'],
    ['[1,]', 'line 1 is no JSON object: column 4: "]" cannot stand here'],
    ['7', 'line 1 is no JSON object\n'],
    ['[]', 'line 1 is no JSON object\n'],
  ])('the event %s is told to be none', (input, sentence) => {
    const { code, stderr } = command(['check'], { input })
    expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
  })

  test('on a terminal it says what it waits for', async () => {
    const input = text => Object.assign(Readable.from([text]), { isTTY: true })
    const { code, err, out } = await said(['check'], { input: input('{"event":"turn"}\n') })
    expect([code, err]).toEqual([0, expect.stringMatching(/^waiting for events, one JSON object a line.*\n$/)])
    expect(JSON.parse(out)).toEqual({ line: 1, turn: 2 })
    expect((await said(['check'], { input: Readable.from(['\n']) })).err).toBe('')
    expect((await said(['check', '--config', '5'], { input: input('') })).err).not.toContain('waiting')
  })

  test('the events of the help do what it says', async () => {
    const { out } = await said(['check', '--help'])
    const events = out.split('\n').flatMap(line => /^ {2}(\{.*?\})(?: {2,}|$)/.exec(line)?.[1] ?? [])
    const answers = events.map(event => JSON.parse(event))
    const { code, answers: given } = check(answers)
    expect(code).toBe(0)
    expect(given.flatMap(({ observations }) => observations ?? [])).toEqual([])
    expect(given.find(({ id, code: of }) => id === 'w' && of)).toMatchObject({ code: 'ALLOW_RECALL_OK' })
    for (const left of ['"step"', '"s"']) {
      const { answers: without } = check(answers.filter(event => !JSON.stringify(event).includes(left)))
      expect(without.find(({ id, code: of }) => id === 'w' && of).enforcement).toBe('denied')
    }
  })

  test('a configuration changes what it should, and a bad one is refused with every problem', () => {
    expect(check([write], ['--config', '{"mode":"audit"}']).answers[0].enforcement).toBe('overridden')
    const refused = check([write], ['--config', '{"Mode":"audit","serverNames":[]}'])
    expect(refused.code).toBe(1)
    expect(refused.stderr).toContain('did you mean `mode`?')
    expect(refused.stderr).toContain('serverNames: INVALID_LENGTH')
    expect(check([{ event: 'dance' }])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('line 1: "event" is one of'),
    })
  })
})

describe('prune', () => {
  test('keeps the newest, and what is left still follows', async () => {
    await withTempDir(async dir => {
      cpSync(storages, dir, { recursive: true })
      await perRecordHome(dir, { records: 300, load: 'generated1', from: 1_795_000_000_000 })
      const before = JSON.parse((await said(['verify', '--json', '--storages', dir])).out).tally.records
      const dry = await said(['prune', '--keep', '100', '--dry-run', '--storages', dir])
      expect(dry.out).toContain(`${(before - 101).toLocaleString('en')} records would go`)
      expect((await said(['prune', '--keep', '100', '--storages', dir])).code).toBe(0)
      const found = JSON.parse((await said(['verify', '--json', '--storages', dir])).out)
      expect(found).toMatchObject({ contradictions: 0, gaps: 1, tally: { records: 101, broken: 0 } })
      // The load's own record stays, and pruning explains what is missing behind it.
      expect(found.gapsAt[0]).toMatchObject({ from: 2, why: 'beginning' })
    })
  })

  test('not while a host may have the trail open', async () => {
    await withTempDir(async dir => {
      const load = { bmpp: 1, kind: 'load', load: 'l', seq: 1, order: 1, time: 1, pid: process.pid }
      writeFileSync(
        join(dir, 'bmpp_audit.json'),
        JSON.stringify({ unit: {}, tables: { events: { k: { bmpp: 1, records: [JSON.stringify(load)] } } } }),
      )
      const refused = await said(['prune', '--keep', '0', '--storages', dir])
      expect(refused).toMatchObject({
        code: 1,
        err: expect.stringContaining(`process ${process.pid} may have the trail open`),
      })
      expect((await said(['prune', '--keep', '0', '--force', '--storages', dir])).code).toBe(0)
    })
  })
})

describe('manners', () => {
  test('a bar after a second, on standard error, where somebody looks, and it goes again', () => {
    const written = []
    const terminal = new Terminal({ write: (fd, text) => void written.push([fd, text]), bar: true })
    const progress = terminal.progress('reading')
    progress(1, 10)
    expect(written).toEqual([])
    const later = performance.now() + 1500
    const now = performance.now
    performance.now = () => later
    progress(5, 10)
    performance.now = now
    expect(written).toEqual([[2, expect.stringMatching(/^\rreading █{12}░{12} 50 % $/)]])
    terminal.out('done\n')
    expect(written.slice(1)).toEqual([
      [2, '\r\u001b[K'],
      [1, 'done\n'],
    ])
  })

  test('a row that is wider than the terminal goes on below, and nothing of it is cut', () => {
    const rows = [
      [
        '2026-11-30 12:38:26',
        'session-f7c2a53c',
        'write_note',
        'CLASSIFICATION_REQUIRED',
        'denied',
        'words that go on',
      ],
      ['2026-11-30 12:38:30', 's', 'x', 'ALLOW_SIMPLE', '', ''],
    ]
    const cells = rows
      .flat()
      .flatMap((text, index) => (index % 6 === 5 ? text.split(' ') : [text]))
      .filter(Boolean)
    for (const width of [20, 40, 60, 80, 100]) {
      const lines = new Terminal({ write() {}, width })
        .table(rows, ['TIME', 'SESSION', 'TOOL', 'CODE', 'ENFORCEMENT', ''])
        .split('\n')
      const longest = Math.max(...cells.map(cell => cell.length)) + 6
      for (const line of lines)
        expect(line.length, `at ${width}: ${line}`).toBeLessThanOrEqual(Math.max(width, longest))
      for (const cell of cells)
        expect(
          lines.some(line => line.includes(cell)),
          `${cell} at ${width}`,
        ).toBe(true)
    }
    const wide = new Terminal({ write() {}, width: 200 }).table(rows).split('\n')
    expect(wide).toHaveLength(rows.length + 1)
  })

  describe('a terminal of 60 columns', () => {
    const told = [
      ['report', '--storages', storages],
      ['report', '--storages', join(home.path, 'empty')],
      ['verify', '--storages', storages],
      ['doctor', '--storages', storages, '--home', home.path],
      ['explain', 'CREATE_REQUIRES_SEARCH', 'MEMORY_LOOKUP_PENDING_IN_BATCH'],
      ['explain', 'CREATE_REQUIRES_SERCH'],
      ['check', '--config', 'nowhere.yml'],
      ['prune', '--keep', '1', '--dry-run', '--storages', storages],
      ['--json', 'report'],
      ['report', '--bogus'],
    ]
    const words = text => text.split(/\s+/)
    mkdirSync(join(home.path, 'empty'))

    test.each(told)('has no line beyond it of %s %s %s, and every word', async (...args) => {
      const wide = await said(args)
      for (const colour of [false, true]) {
        const { code, ...narrow } = await said(args, { width: 60, colour })
        expect(code).toBe(wide.code)
        for (const stream of ['out', 'err']) {
          const plain = stripVTControlCharacters(narrow[stream])
          expect(words(plain)).toEqual(words(wide[stream]))
          const long = plain.split('\n').filter(line => line.length > 60)
          expect(long.filter(line => words(line.trim()).length > 1)).toEqual([])
        }
      }
    })

    test('goes on below where the text began', async () => {
      const { out } = await said(['doctor', '--home', home.path, '--storages', storages], { width: 60 })
      const further = lines(out).filter(line => !/^(?:ok|note|warning|error) /.test(line))
      expect(further.length).toBeGreaterThan(3)
      for (const line of further) expect(line).toMatch(/^ {9}(?:→ | {2})?\S/)
      const terminal = { width: 60, colour: true }
      const { out: painted } = await said(['report', '--storages', storages], terminal)
      expect(painted).not.toBe(stripVTControlCharacters(painted))
      expect(stripVTControlCharacters(painted)).toMatch(/^\S.{30,59}\n\S/)
    })

    test('what is copied stays whole: JSON, and the commands of a help', async () => {
      for (const args of [
        ['doctor', '--json', '--home', home.path, '--storages', storages],
        ['explain', '--json', 'CREATE_REQUIRES_SEARCH'],
        ['audit', '--ndjson', '--limit', '3', '--storages', storages],
        ['audit', '--json', '--limit', '3', '--storages', storages],
      ])
        expect(await said(args, { width: 60 })).toEqual(await said(args))
      const [wide, narrow] = [await said(['check', '--help']), await said(['check', '--help'], { width: 60 })]
      const copied = text => lines(text).filter(line => /^ +(?:\{|dsh-bmpp|echo)/.test(line))
      expect(copied(narrow.out)).toEqual(copied(wide.out))
      const read = lines(narrow.out).filter(line => /^[\w"]/.test(line))
      for (const line of read) expect(line.length, line).toBeLessThanOrEqual(60)
      expect(lines(narrow.out).length).toBeGreaterThan(lines(wide.out).length)
    })

    test('a pipe has the lines as they are, and so has a terminal of a few columns', async () => {
      const args = ['explain', 'CREATE_REQUIRES_SEARCH']
      const { stdout } = command(args)
      for (const width of [0, 10]) expect((await said(args, { width })).out).toBe(stdout)
    })
  })

  test('NO_COLOR and a pipe leave colour out; text that would move the cursor is shown', () => {
    const { stdout } = command(['verify', '--storages', storages])
    expect(stdout).not.toContain('\u001b')
    const terminal = new Terminal({ write() {}, colour: true })
    expect(terminal.paint('red', 'x')).toBe('\u001b[31mx\u001b[0m')
    expect(terminal.table([['a\u001b[2Jb', 'c\u202ed']])).toBe('a\\u{1b}[2Jb  c\\u{202e}d\n')
  })

  test('works through a link, as package managers make them, and names its version', async () => {
    await withTempDir(async dir => {
      const link = join(dir, 'dsh-bmpp')
      symlinkSync(inRoot('js', 'cli', 'main.js'), link)
      const { spawnSync } = await import('node:child_process')
      const { version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
      expect(spawnSync(link, ['--version'], { encoding: 'utf8' }).stdout).toBe(`${version}\n`)
      rmSync(link)
    })
  })
})
