// The test support itself, without our plugin: what later tests conclude is worth no more than what they stand on.
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { Notebook } from '../demo/notebook.mjs'
import { basicMemoryInstalled, memoryTool, readJsonLines, runDsh } from './support/headless.js'
import { boot, calls, gate, say } from './support/inprocess.js'
import { withTempDir } from './support/temp-dir.js'

const search = memoryTool('search_notes')
const write = memoryTool('write_note')
const remove = memoryTool('delete_note')

/** Denies what ends in delete_note and lets everything else pass. */
const noDeletes = {
  name: 'no-deletes',
  inject: ['tools'],
  apply(ctx) {
    ctx.on('tools/pre-execute', async (exec, next) =>
      exec.name.endsWith('delete_note') ? { kind: 'deny', reason: 'no deletes here' } : next(),
    )
  },
}

describe('in process', () => {
  test('a conversation runs through the real pipeline, and each part of it can be looked at', async () => {
    const host = await boot({
      plugins: [[noDeletes]],
      tools: {
        [search]: ({ query }) => `found ${query}`,
        [remove]: () => 'gone',
        broken: () => ({ isError: true, content: [{ type: 'text', text: 'not today' }] }),
      },
    })
    const agent = await host.run([
      calls([search, { query: 'x' }], [remove, {}], ['broken'], ['nowhere']),
      calls([search, '{"query": broken']),
      say('done'),
    ])
    expect(host.told(agent).map(({ name, isError, text }) => [name, isError, text])).toEqual([
      [search, false, 'found x'],
      [remove, true, 'Error: no deletes here'],
      ['broken', true, 'Error: not today'],
      ['nowhere', true, 'Error: unknown tool "nowhere"'],
      [search, false, 'found undefined'],
    ])
    // Broken JSON reaches a body as the string that it is.
    expect(host.ran.map(({ name, args }) => [name, args])).toEqual([
      [search, { query: 'x' }],
      ['broken', {}],
      [search, '{"query": broken'],
    ])
    expect(host.trace.filter(({ at }) => at === 'tool/call').map(({ turn, step }) => [turn, step])).toEqual([
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 1],
      [1, 2],
    ])
    await host.dispose()
  })

  test('tools are exclusive as the bridge makes them, unless declared parallel', async () => {
    const order = []
    const both = gate()
    let running = 0
    const host = await boot({
      tools: {
        alone: async () => {
          order.push('alone>')
          await Promise.resolve()
          order.push('alone<')
          return ''
        },
        together: {
          parallel: true,
          // Neither ends before both have begun: this would stand still if they ran one after the other.
          body: async () => {
            if (++running === 2) both.open()
            await both.promise
            return ''
          },
        },
      },
    })
    await host.run([calls(['alone'], ['alone'], ['together'], ['together']), say('done')])
    expect(order).toEqual(['alone>', 'alone<', 'alone>', 'alone<'])
    expect(running).toBe(2)
    await host.dispose()
  })

  test('two agents interleave, each with its own script', async () => {
    const first = gate()
    const second = gate()
    const host = await boot({
      tools: {
        wait: async (_args, exec) => {
          if (exec.agent.id === 'a') {
            second.open()
            await first.promise
          } else {
            await second.promise
            first.open()
          }
          return exec.agent.id
        },
      },
    })
    const [a, b] = [await host.open({ id: 'a' }), await host.open({ id: 'b' })]
    host.start(a, [calls(['wait']), say('a is done')])
    host.start(b, [calls(['wait']), say('b is done')])
    await Promise.all([a.whenIdle(), b.whenIdle()])
    expect([host.told(a)[0].text, host.told(b)[0].text]).toEqual(['a', 'b'])
    await host.dispose()
  })

  test('a child knows its parent, a fork goes on with the turn numbers, a resumed session too', async () => {
    await withTempDir(async sessionsDir => {
      const host = await boot({ sessionsDir, tools: { noop: () => '' } })
      const turn = [calls(['noop']), say('done')]
      const parent = await host.run(turn, { id: 'parent' })
      const child = await host.open({ parent })
      expect(child.session.header).toMatchObject({ parentSession: 'parent', origin: 'subagent', delegationDepth: 1 })
      const fork = await host.open({ forkOf: parent })
      await host.run(turn, { agent: fork })
      await host.close(parent)
      expect(host.ctx.sessions.get('parent')).toBeUndefined()
      const again = await host.resume('parent')
      await host.run(turn, { agent: again })
      const turns = id => host.trace.filter(({ at, session }) => at === 'turn/start' && session === id)
      expect(turns(fork.id).map(event => event.turn)).toEqual([2])
      expect(turns('parent').map(event => event.turn)).toEqual([1, 2])
      await host.dispose()
    })
  })

  test('run_code calls tools through the pipeline', async () => {
    const host = await boot({
      codeMode: 'both',
      plugins: [[noDeletes]],
      tools: { [search]: () => 'found', [remove]: () => 'gone' },
    })
    const code = `const hit = await tools['${search}']({}); return [hit.content[0].text, await tools['${remove}']({}).catch(String)]`
    const agent = await host.run([calls(['run_code', { description: 'both', code }]), say('done')])
    expect(JSON.parse(host.told(agent)[0].text)).toEqual(['found', 'ToolCallError: no deletes here'])
    await host.dispose()
  })

  test('approvals are answered, and an abort ends the turn in the middle of a body', async () => {
    const ask = {
      name: 'ask',
      inject: ['tools'],
      apply(ctx) {
        ctx.on('tools/pre-execute', async (exec, next) =>
          exec.name === 'risky' ? { kind: 'ask', reason: 'sure?' } : next(),
        )
      },
    }
    const asked = []
    const begun = gate()
    const end = gate()
    const host = await boot({
      plugins: [[ask]],
      answer: ({ toolName, reason }) => {
        asked.push([toolName, reason])
        return asked.length === 1 ? 'allowed-once' : 'rejected'
      },
      tools: {
        risky: () => 'did it',
        slow: async () => {
          begun.open()
          await end.promise
          return 'too late'
        },
      },
    })
    const agent = await host.run([calls(['risky'], ['risky']), say('done')])
    expect(host.told(agent).map(({ text }) => text)).toEqual(['did it', 'Error: the user rejected tool "risky"'])
    expect(asked).toEqual([
      ['risky', 'sure?'],
      ['risky', 'sure?'],
    ])
    host.start(agent, [calls(['slow'], ['risky']), say('never said')])
    await begun.promise
    host.cancel(agent)
    end.open()
    await agent.whenIdle()
    expect(host.trace.findLast(({ at }) => at === 'turn/end').reason.kind).toBe('aborted')
    expect(host.ran.filter(({ name }) => name === 'risky')).toHaveLength(1)
    await host.dispose()
  })
})

describe('the stand-in notebook', () => {
  test('answers with the headings, the status lines and the flags of the real server', () => {
    const notebook = new Notebook()
    const heading = answer => answer.content[0].text.split('\n')[0]
    const note = { title: 'A note', content: 'some words', directory: 'notes', project: 'main' }
    expect(heading(notebook.call('search_notes', { query: 'words' }))).toMatch(
      /^No results found for 'words' in project/,
    )
    const created = notebook.call('write_note', note)
    expect(created.content[0].text).toMatch(
      /^# Created note\nproject: main\nfile_path: notes\/A note\.md\npermalink: main\/notes\/a-note\nchecksum: [0-9a-f]{8}\n/,
    )
    expect(created.structuredContent).toEqual({ result: created.content[0].text })
    expect(notebook.call('write_note', note)).toMatchObject({ isError: true })
    expect(notebook.call('write_note', note)).not.toHaveProperty('structuredContent')
    expect(heading(notebook.call('write_note', { ...note, overwrite: 'true' }))).toBe('# Updated note')
    expect(heading(notebook.call('search_notes', { q: 'words' }))).toBe('# Search Results: words')
    expect(notebook.call('read_note', { identifier: 'none', output_format: 'json' })).toMatchObject({
      isError: false,
      structuredContent: { result: { error: 'NOTE_NOT_FOUND' } },
    })
    expect(heading(notebook.call('search_notes', {}))).toBe('# No Search Criteria')
    expect(notebook.call('write_note', { title: 'T' })).toMatchObject({ isError: true })
    expect(notebook.call('search_notes', { query: 'x', project: 'other' })).toMatchObject({ isError: true })
    expect(notebook.call('delete_note', { identifier: 'A note' }).structuredContent).toEqual({ result: true })
    expect(notebook.call('constructor', {}).content[0].text).toBe("Unknown tool: 'constructor'")
  })
})

describe('headless', () => {
  const probe = fileURLToPath(new URL('support/probe-plugin.mjs', import.meta.url))

  test('dsh runs a script of two turns, with a plugin and the stand-in server', async () => {
    await withTempDir(async home => {
      const log = `${home}/probe.jsonl`
      const run = await runDsh({
        home,
        plugins: [{ id: 'probe', name: probe, config: { log, deny: ['delete_note'] } }],
        mcpEnv: { STAND_IN_ANSWERS: JSON.stringify({ search_notes: [{ text: '# Search Failed\n\nnot now' }] }) },
        turns: ['once more'],
        script: [
          {
            calls: [
              { name: search, arguments: { query: 'x' } },
              { name: search, arguments: { query: 'x' } },
            ],
          },
          { text: 'first turn done' },
          {
            calls: [
              { name: write, arguments: { title: 'T', content: 'C', directory: 'd' } },
              { name: remove, arguments: { identifier: 'T' } },
            ],
          },
          { text: 'second turn done' },
        ],
      })
      expect(run).toMatchObject({ code: 0, timedOut: false, unused: [], stderr: '' })
      expect(run.stdout).toContain('second turn done')
      expect(run.told.map(({ name, isError, text }) => [name, isError, text.split('\n')[0]])).toEqual([
        [search, false, '# Search Failed'],
        [search, false, expect.stringMatching(/^No results found for 'x'/)],
        [write, false, '# Created note'],
        [remove, true, 'Error: probe: delete_note is denied'],
      ])
      expect(run.mcpLog.filter(({ at }) => at === 'start').map(({ tool }) => tool)).toEqual([
        'search_notes',
        'search_notes',
        'write_note',
      ])
      expect(readJsonLines(log).map(({ name, turn }) => [name, turn])).toEqual([
        [search, 1],
        [search, 1],
        [write, 2],
        [remove, 2],
      ])
    })
  })

  test('a plugin that throws at load ends dsh with 1', async () => {
    const run = await runDsh({ mcp: 'none', plugins: [{ id: 'probe', name: probe, config: { throw: 'on purpose' } }] })
    expect(run.code).toBe(1)
    expect(run.stderr).toContain('on purpose')
    expect(run.requests).toEqual([])
  })

  test.runIf(basicMemoryInstalled)('the real Basic Memory answers through the bridge', async () => {
    const run = await runDsh({
      mcp: 'basic-memory',
      script: [
        { calls: [{ name: search, arguments: { query: 'nothing yet', project: 'main' } }] },
        { calls: [{ name: write, arguments: { title: 'T', content: 'C', directory: 'd', project: 'main' } }] },
        { text: 'done' },
      ],
    })
    expect(run).toMatchObject({ code: 0, unused: [] })
    expect(run.told.map(({ text }) => text.split('\n')[0])).toEqual([
      expect.stringMatching(/^No results found for 'nothing yet' in project 'main'/),
      '# Created note',
    ])
  })
})
