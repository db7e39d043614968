/**
 * The recorded cases of tests/cases through the addon: the same files that `cargo test` puts to the core's parts, here by the way
 * that a real result and a real argument take.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { addon, Stage, write } from './addon.js'

const cases = (/** @type {string} */ name) => JSON.parse(readFileSync(inRoot('tests', 'cases', `${name}.json`), 'utf8'))

describe('results.json', () => {
  const classes = new Map(addon.vocabulary().tools.map(tool => [tool.name, tool.class]))
  const writes = (/** @type {string} */ tool) => !['read', 'search'].includes(classes.get(tool) ?? '')

  /** Every way in which the bridge delivers a value. @param {any} value @param {boolean} isError */
  function delivered(value, isError) {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    const content = [{ type: 'text', text }]
    // An error is thrown with its text, and carries nothing structured.
    if (isError) return { 'the text of an error': text }
    return {
      wrapped: { content, structuredContent: { result: value } },
      'content alone': { content },
      ...(typeof value === 'object' && !Array.isArray(value) && { bare: { content, structuredContent: value } }),
    }
  }

  const become = {
    done: 'succeeded',
    empty: 'succeeded',
    failed: 'failed',
    missed: 'failed',
    not_found: 'failed',
    partly: 'unknown',
    unknown: 'unknown',
  }

  /** Arguments with which each write is read, and which no guard denies. @type {Record<string, any>} */
  const args = {
    write_note: { title: 'A', directory: 'n', content: 'x' },
    edit_note: { identifier: 'n/a', operation: 'append', content: 'x' },
    move_note: { identifier: 'n/a', destination_path: 'n/B.md' },
    delete_note: { identifier: 'n/a' },
    create_memory_project: { project_name: 'p', project_path: '/srv/p' },
    delete_project: { project_name: 'p' },
  }

  test.each(cases('results').rows)('$tool, $case', ({ tool, is_error: isError, value, outcome }) => {
    for (const [how, result] of Object.entries(delivered(value, isError))) {
      const stage = new Stage({ unknownMemoryToolPolicy: 'off' })
      stage.classify('complex')
      stage.word({ call: 'x', tool: `mcp__basic-memory__${tool}`, args: args[tool] ?? {} })
      const settled = stage.settle({ call: 'x', isError, value: result })
      // Of an error that is not the server's own word, nobody knows whether the write was done.
      const expected =
        isError && outcome === 'failed' && writes(tool) ? /^(failed|unknown)$/ : new RegExp(`^${become[outcome]}$`)
      expect(settled.outcome, how).toMatch(expected)
      if (classes.get(tool) === 'search') {
        const { code } = stage.judge({ tool: write, args: args.write_note, step: 2 })
        expect(code, how).toBe(settled.outcome === 'succeeded' ? 'ALLOW_RECALL_OK' : 'MEMORY_LOOKUP_FAILED')
      }
      stage.drop()
    }
  })

  test('an error that the server writes is a refusal, any other leaves it open', () => {
    for (const [text, outcome] of [
      ["Error calling tool 'edit_note': database is locked", 'failed'],
      ['2 validation errors for call[edit_note]\noperation\n  Missing required argument', 'failed'],
      ["Unknown tool: 'edit_note'", 'failed'],
      ['# Edit Failed - Note Not Found', 'failed'],
      ['MCP error -32001: Request timed out', 'unknown'],
      ['The operation was aborted', 'unknown'],
      ['', 'unknown'],
      [undefined, 'unknown'],
    ]) {
      const stage = new Stage()
      stage.classify('simple')
      stage.word({ call: 'x', tool: 'mcp__basic-memory__edit_note', args: args.edit_note })
      expect(stage.settle({ call: 'x', isError: true, value: text }).outcome, text).toBe(outcome)
      stage.drop()
    }
  })
})

describe('identity.json', () => {
  const rows = cases('identity').rows
  test.each(rows)('row $n', ({ n, title, directory, outcome, file_path: path, permalink }) => {
    const identity = addon.noteIdentity(title, directory, 'main')
    if (outcome === 'refused') {
      expect(identity).toEqual({ filePath: null, permalink: null })
      return
    }
    // Row 145 took the casing of a folder that was there.
    if (n !== 145) expect(identity.filePath).toBe(path)
    // For what is all ASCII it is known, and where it is known it is right.
    if (n !== 145 && /^[ -~]*$/.test(title + directory)) expect(identity.permalink).toBe(permalink)
    else expect([permalink, null]).toContain(identity.permalink)
  })

  test('without a project, and with none that can be told, there is no prefix and no guess', () => {
    expect(addon.noteIdentity('My Note', 'n', null)).toEqual({ filePath: 'n/My Note.md', permalink: 'n/my-note' })
    expect(addon.noteIdentity('My Note', 'n', 'v1.0')).toEqual({ filePath: 'n/My Note.md', permalink: null })
    expect(addon.noteIdentity('My Note', '../n')).toEqual({ filePath: null, permalink: null })
  })

  test('lone surrogates are not proven, and stay distinct', () => {
    expect(addon.noteIdentity('\ud800', 'n').filePath).toBe(null)
    expect(addon.noteIdentity('a', '\udc00').filePath).toBe(null)
    expect(addon.noteIdentity('\ud83d\ude80', 'n').filePath).toBe('n/\u{1f680}.md')
  })
})

describe('path-cases.json', () => {
  test.each(cases('path-cases').cases)('$argument $value', ({ argument, value, unsafe }) => {
    const found = addon.checkPath(argument, value)
    expect(found).toMatchObject({ unsafe })
    expect(typeof found.why).toBe(unsafe ? 'string' : 'object')
  })

  test('why is a phrase of ours, and holds nothing of the value', () => {
    for (const { argument, value } of cases('path-cases').cases) {
      const { why } = addon.checkPath(argument, `MARKER/../${value}`)
      if (why !== null) expect(why).not.toContain('MARKER')
    }
  })

  test('an argument that is none', () => {
    for (const argument of ['', 'content', 'Directory', 'path ']) {
      expect(() => addon.checkPath(argument, 'x')).toThrow('no path-like argument')
    }
  })
})
