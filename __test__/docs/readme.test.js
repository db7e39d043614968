/**
 * The README against the product: every code, observation, key, default, class, heading, command and line that it names is
 * there, and none that is there is missing.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { hosts, inRoot } from '../../scripts/lib/project.mjs'
import config from '../../vitest.config.js'
import { bootGate, call } from '../support/gate.js'
import { calls, say } from '../support/inprocess.js'
import { withTempDir } from '../support/temp-dir.js'
import { oneLine, readPage, spans } from './markdown.js'
import {
  addon,
  between,
  evidenceTable,
  fingerprint,
  lookup,
  memory,
  play,
  source,
  textResult,
  vocabulary,
} from './product.js'

const readme = readPage('README.md')
const manifest = JSON.parse(source('package.json'))

// The parser that the Harness itself reads its layers with.
const store = join(hosts.dsh, 'node_modules', '.pnpm')
const yamlFolder = readdirSync(store).find(name => name.startsWith('js-yaml@')) ?? ''
const yaml = createRequire(import.meta.url)(join(store, yamlFolder, 'node_modules', 'js-yaml'))

const only = text => {
  const found = spans(text)
  if (found.length !== 1) throw new Error(`not one code span: ${text}`)
  return found[0]
}

describe('the words of verdicts and records', () => {
  test('codes, with their kinds', () => {
    const rows = readme.table('Code', 'Kind').map(row => [only(row.Code), row.Kind])
    expect(rows).toEqual(vocabulary.codes.map(({ name, kind }) => [name, kind]))
  })

  test('observations, and on which record each is', () => {
    const rows = readme.table('Observation')
    expect(rows.map(row => only(row.Observation))).toEqual(vocabulary.observations)
    expect(new Set(rows.map(row => row.On))).toEqual(new Set(['decision', 'settlement']))
  })

  test('enforcements', () => {
    const rows = readme.table('Enforcement').map(row => only(row.Enforcement))
    expect(rows.toSorted()).toEqual(vocabulary.enforcements.toSorted())
  })

  test('outcomes, those of a lookup among them', () => {
    const outcomes = readme.table('Outcome', 'Meaning').map(row => only(row.Outcome))
    expect(outcomes).toEqual(vocabulary.outcomes)
    const lookups = readme.table('The result').flatMap(row => spans(row.Outcome))
    const words = new Set(lookups.filter(word => word !== 'results'))
    // Only of a write can nobody know whether it was done.
    expect(words).toEqual(new Set(outcomes.filter(word => word !== 'unknown')))
  })

  test('guards, with their codes and levels', () => {
    const rows = readme.table('Guard', 'Code')
    const keys = readme.table('Key', 'Type', 'Default')
    for (const row of rows) {
      const key = keys.find(({ Key }) => Key === row.Guard)
      const [level, ...more] = spans(row.Levels)
      if (key?.Type === 'boolean')
        expect([row.Guard, row.Levels, key.Default]).toEqual([row.Guard, row.Levels, '`true`'])
      else {
        expect([row.Guard, level]).toEqual([row.Guard, only(key?.Default ?? '')])
        expect([row.Guard, more.includes('deny') && row.Levels.includes('in strict')]).toEqual([
          row.Guard,
          key?.Strict !== '',
        ])
        expect([level, ...more].toSorted()).toEqual(['deny', 'off', 'warn'])
      }
    }
    const guards = vocabulary.codes.filter(({ number }) => number >= 32 && number < 48).map(({ name }) => name)
    expect(rows.flatMap(row => spans(row.Code)).toSorted()).toEqual(guards.toSorted())
  })

  test('classes, each tool under its own', () => {
    const rows = readme.table('Class', 'Tools').map(row => [only(row.Class), row.Tools])
    const listed = rows.flatMap(([name, tools]) => spans(tools).map(tool => `${tool}: ${name}`))
    const known = vocabulary.tools.map(({ name, class: kind }) => `${name}: ${kind}`)
    expect(listed.toSorted()).toEqual(['bmpp__classify: control', ...known].toSorted())
    expect(rows.map(([name]) => name)).toEqual(['control', 'search', 'read', 'write', 'destructive', 'unknown'])
  })

  test('classifications and states of the lookups', () => {
    const sentence = /`classification` and `lookup` are (.*?)\./.exec(readme.line)?.[1] ?? ''
    expect(spans(sentence)).toEqual([...vocabulary.classifications, ...vocabulary.lookups])
  })

  test('every upper-case name in code is a name of the product', () => {
    const known = new Set([
      ...vocabulary.codes.map(({ name }) => name),
      ...vocabulary.observations,
      ...readme.table('Problem code').map(row => only(row['Problem code'])),
      'BASIC_MEMORY_WRITE_NOTE_OVERWRITE_DEFAULT',
      'NOTE_NOT_FOUND',
      'DSH_BMPP_NATIVE',
    ])
    const named = spans(readme.line).flatMap(span => span.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [])
    expect(named.filter(name => !known.has(name))).toEqual([])
    expect(source('js/native.js')).toContain("'DSH_BMPP_NATIVE'")
  })

  test('the codes that are never put to a human', () => {
    const paragraph = /- ([^.]*) are never put to a human\./.exec(readme.line)?.[1] ?? ''
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
})

describe('the configuration', () => {
  const rows = readme.table('Key', 'Type', 'Default').map(row => ({ ...row, key: only(row.Key) }))
  const lists = ['searchTools', 'readTools', 'mutatingTools', 'destructiveTools']

  /** The default as the table gives it. */
  const defaultOf = row => {
    const words = spans(row.Default)
    if (lists.includes(row.key))
      return vocabulary.tools.filter(tool => words.includes(tool.class)).map(tool => tool.name)
    const word = only(row.Default)
    try {
      return JSON.parse(word)
    } catch {
      return word
    }
  }

  /** Every value of a key that has few. */
  const valuesOf = row => (row.Type === 'boolean' ? [true, false] : spans(row.Type))

  test('the keys that there are, and no other', () => {
    const table = between('src/config/read.rs', 'const KEYS', '];')
    expect(rows.map(({ key }) => key)).toEqual([...table.matchAll(/^ {4}\("(\w+)"/gm)].map(([, key]) => key))
    for (const { key } of rows) {
      const { ok, problems } = addon.readConfig({ [key]: { no: 'such value' } })
      expect([key, ok, problems[0]?.code]).toEqual([key, false, 'INVALID_TYPE'])
    }
  })

  test.each(rows)('the default of $key', row => {
    expect(fingerprint({ [row.key]: defaultOf(row) })).toBe(fingerprint({}))
  })

  test('what strict raises, and nothing else', () => {
    const raised = rows.filter(row => row.Strict !== '')
    const explicit = Object.fromEntries(raised.map(row => [row.key, only(row.Strict)]))
    expect(fingerprint({ profile: 'strict', ...explicit })).toBe(fingerprint({ profile: 'strict' }))
    const strict = config => JSON.parse(fingerprint({ profile: 'strict', ...config }))
    const back = Object.fromEntries(raised.map(row => [row.key, only(row.Default)]))
    expect(strict(back).guarded).toEqual(JSON.parse(fingerprint({})).guarded)
    for (const row of rows.filter(row => row.Strict === '' && !['profile', ...lists].includes(row.key))) {
      expect([row.key, strict({ [row.key]: defaultOf(row) })]).toEqual([row.key, strict({})])
    }
  })

  test.each(rows.filter(row => valuesOf(row).length > 0))('the values of $key, each with an effect', row => {
    const values = valuesOf(row)
    expect(new Set(values.map(value => fingerprint({ [row.key]: value }))).size).toBe(values.length)
    if (row.Type === 'boolean') return
    const [problem] = addon.readConfig({ [row.key]: 'none of them' }).problems
    expect(problem?.code).toBe('INVALID_ENUM')
    expect(problem?.message).toContain(`is one of ${values.join(', ')},`)
  })

  test.each(rows.filter(row => row.Type.startsWith('list')))('the length of $key', row => {
    const { problems } = addon.readConfig({ [row.key]: [] })
    const refused = problems.some(({ code, path }) => code === 'INVALID_LENGTH' && path[0] === row.key)
    expect(row.Type).toMatch(refused ? /, at least one$/ : /, may be empty$/)
  })

  test('policyVersion takes its default and nothing else', () => {
    expect(addon.readConfig({ policyVersion: '0.1.1' }).problems).toMatchObject([{ code: 'INVALID_ENUM' }])
  })

  test('problem codes, each with an example that has just this problem', () => {
    const problems = readme.table('Problem code').map(row => [only(row['Problem code']), only(row.Example)])
    for (const [code, example] of problems) {
      const found = addon.readConfig(JSON.parse(example)).problems.map(problem => problem.code)
      expect([code, ...found]).toEqual([code, code])
    }
    const used = [...source('src/config/read.rs').matchAll(/ProblemCode::(\w+)/g)].map(([, name]) =>
      name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase(),
    )
    expect(new Set(problems.map(([code]) => code))).toEqual(new Set(used))
  })

  test('the keys that AMBIGUOUS_MODE is for', () => {
    const row = readme.table('Problem code').find(({ Meaning }) => Meaning.includes('`strict`'))
    for (const key of spans(row?.Meaning ?? '')) {
      expect(addon.readConfig({ [key]: true }).problems).toMatchObject([{ code: 'AMBIGUOUS_MODE' }])
    }
  })

  test('each example of a row passes', () => {
    const read = readme.blocks('yaml').flatMap(({ text }) => yaml.load(text))
    const ours = read.flatMap(row => row.insert ?? [row]).filter(({ id }) => id === 'bmpp')
    expect(ours.length).toBeGreaterThanOrEqual(3)
    for (const { config } of ours) expect(addon.readConfig(config).problems).toEqual([])
  })

  test('the bundle brings the row that the README says', () => {
    const [{ insert }] = yaml.load(source('cordis.patch.yml'))
    expect(insert).toEqual([{ id: 'bmpp', name: manifest.name, config: { mode: 'audit' } }])
  })
})

describe('what proves a lookup', () => {
  const rows = readme.table('Heading').map(row => [only(row.Heading), row.Meaning, spans(row['Known of'])])

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
    const table = readme.table('The result')
    for (const [result, { outcome, observations }] of Object.entries(results)) {
      const row = table.find(other => other['The result'] === result)
      expect([result, spans(row?.Outcome ?? '').findLast(word => word !== 'results')]).toEqual([result, outcome])
      expect(spans(row?.Observed ?? '')).toEqual(observations)
    }
    expect(table).toHaveLength(Object.keys(results).length + 2)
  })
})

describe('texts that are quoted', () => {
  const quoted = readme.blocks('text').map(({ text }) => oneLine(text))

  test('the description of the control tool', () => {
    expect(readme.quotes).toEqual([oneLine(addon.controlTool().description)])
  })

  test('every denial in a block is the text that the model is told', () => {
    const begun = quoted.flatMap(block => block.match(/\bError: [A-Z]+_[A-Z_]+: /g) ?? [])
    expect(begun.length).toBeGreaterThanOrEqual(2)
    for (const begin of begun) {
      const code = begin.slice('Error: '.length, -2)
      const text = vocabulary.codes.find(({ name }) => name === code)?.text
      expect(quoted.some(block => block.includes(`Error: ${text}`))).toBe(true)
    }
  })

  test('the text that a human reads', () => {
    const session = play({ mode: 'enforce', profile: 'strict' })
    const args = { identifier: 'd/T', project: 'main' }
    const { word, tool } = session.judge(memory('delete_note'), 1, args)
    expect(quoted).toContain(addon.approvalReason(memory('delete_note'), tool, word, args))
    session.done()
  })
})

describe('the scenarios', () => {
  const words = { 'classify simple': call.simple, 'classify complex': call.complex, search: call.search }
  const messageOf = text =>
    text
      .replace(' in one message', '')
      .split(' and ')
      .map(word => words[word] ?? call.write)

  let before = []
  const rows = readme.table('Scenario').map(row => {
    const messages = row['Messages of the turn'].split(' → ')
    const all = messages[0].startsWith('…') ? [...before, 'write'] : messages
    before = all
    return [row.Scenario, all, only(row['Verdict on the write'])]
  })

  test.each(rows)('%s', async (name, messages, code) => {
    for (const mode of ['enforce', 'audit']) {
      const gate = await bootGate({ mode })
      await gate.run([...messages.map(message => calls(...messageOf(message))), say('done')])
      const decided = gate.decisions().at(-1)
      // In audit the bundled write was done, so that the same again is a duplicate.
      const verdict = name === 'recovered' && mode === 'audit' ? 'DUPLICATE_WRITE_SAME_TURN' : code
      const enforcement = verdict.startsWith('ALLOW') ? 'allowed' : mode === 'enforce' ? 'denied' : 'overridden'
      expect(decided).toMatchObject({ tool: memory('write_note'), code: verdict, enforcement })
    }
  })

  test('the record that is shown is one that is made', async () => {
    const [{ text }] = readme.blocks('json')
    const gate = await bootGate({ mode: 'enforce' })
    await gate.run([calls(call.complex), calls(call.search, call.write), say('done')])
    const shown = JSON.parse(text)
    const made = gate.decisions().at(-1)
    expect({ ...made, session: shown.session, call: shown.call, time: shown.time }).toEqual(shown)
    const [, settled] = gate.settlements()
    const common = Object.keys(shown).slice(0, Object.keys(shown).indexOf('class') + 1)
    expect(Object.keys(settled).slice(0, common.length)).toEqual(common)
    for (const key of ['outcome', 'observations', 'happened']) expect(settled).toHaveProperty(key)
  })
})

describe('compatibility', () => {
  test('range and verified versions are those of the addon and of the manifest', () => {
    const { range, verifiedVersions } = addon.compatibility(null, false)
    expect(manifest.dsh.compatibility).toEqual({ range, verified: verifiedVersions })
    const [{ rows }] = readme.tablesOf('Compatibility')
    expect(rows.map(row => spans(Object.values(row).join(' ')))).toEqual([[range], verifiedVersions])
  })

  test('the outcomes', () => {
    const outcome = (version, allow) => addon.compatibility(version, allow)
    expect(outcome('0.1.5', false)).toMatchObject({ activate: true, loud: false, verified: false })
    for (const version of ['0.1.0-rc.8', '0.2.0', 'none']) {
      expect(outcome(version, false)).toMatchObject({ activate: false })
      expect(outcome(version, true)).toMatchObject({ activate: true, loud: true })
    }
    expect(outcome(null, false)).toMatchObject({ activate: true, loud: true })
    const [verified] = outcome(null, false).verifiedVersions
    const { reason } = outcome(verified, true)
    for (const part of ['outside the supported range', 'allowed by configuration', "verified by this project's suite"])
      expect(reason).toContain(part)
  })
})

describe('development', () => {
  const commands = [
    ...spans(readme.line),
    ...readme.blocks('sh').flatMap(({ text }) => text.split('\n').map(line => line.trim())),
  ].filter(text => /^(npm|node|dsh|git|cargo) /.test(text))

  test('every npm command is a script with options that it takes', () => {
    const stages = between('scripts/test.mjs', 'const stages = {', '\n}\n')
    const overlay = source('scripts/overlay.mjs')
    const named = new Set()
    for (const command of commands.filter(text => text.startsWith('npm '))) {
      if (command === 'npm pack') continue
      const [, name, options = ''] = /^npm (?:run (?:-s )?)?([\w-]+)(?: -- (.*))?$/.exec(command) ?? []
      expect([command, Object.keys(manifest.scripts)]).toEqual([command, expect.arrayContaining([name])])
      named.add(name)
      for (const stage of /--only (\S+)/.exec(options)?.[1]?.split(',') ?? []) {
        expect(stages).toMatch(new RegExp(`^ {2}${stage}\\b`, 'm'))
      }
      if (name === 'overlay') for (const flag of options.match(/--[\w-]+/g) ?? []) expect(overlay).toContain(flag)
    }
    expect(named).toEqual(new Set(Object.keys(manifest.scripts)))
  })

  test('the options of the overlay are those that it takes, and all of them', () => {
    const taken = between('scripts/overlay.mjs', 'parseArgs({', '})').matchAll(/^ {6}'?([\w-]+)'?: \{/gm)
    const named = /It takes (.*?)\./.exec(readme.line)?.[1] ?? ''
    expect(spans(named).filter(span => span.startsWith('--'))).toEqual([...taken].map(([, flag]) => `--${flag}`))
  })

  test('the stages are those of the test command, in order', () => {
    const stages = between('scripts/test.mjs', 'const stages = {', '\n}\n').matchAll(/^ {2}(\w+)(?::|,$)/gm)
    const row = readme.table('Command').find(({ Command }) => Command.includes('--only lint'))
    expect(spans(row?.['What it does'] ?? '')).toEqual([...stages].map(([, stage]) => stage))
  })

  test('every node command runs a file that is there', () => {
    const run = commands.filter(text => text.startsWith('node ')).map(text => text.split(' ')[1])
    expect(run.filter(path => !existsSync(inRoot(path)))).toEqual([])
  })

  test('the layers are the projects of Vitest', () => {
    const layers = readme.table('Test layer').map(row => only(row['Test layer']))
    const projects = config.test?.projects?.map(project => project.test.name) ?? []
    expect(layers.toSorted()).toEqual(['cargo test', ...projects].toSorted())
  })

  test('the folders are there', () => {
    for (const row of readme.table('Folder')) expect(readdirSync(inRoot(only(row.Folder)))).not.toEqual([])
  })

  test('the packed file has the name that the README adds', () => {
    expect(readme.text).toContain(`./${manifest.name}-${manifest.version}.tgz`)
  })
})

describe('examples', () => {
  test('the YAML and the JSON parse', () => {
    for (const { text } of readme.blocks('yaml')) expect(yaml.load(text)).toBeInstanceOf(Array)
    for (const { text } of readme.blocks('json')) expect(JSON.parse(text)).toBeInstanceOf(Object)
  })

  test('what the core exports is what the page shows', async () => {
    const text = readme.blocks('js').find(block => block.text.includes('dsh-bmpp/core'))?.text ?? ''
    expect(manifest.exports['./core']).toEqual({ types: './types/js/note.d.ts', default: './js/note.js' })
    const core = await import('../../js/note.js')
    expect(Object.keys(core)).toEqual(spans(text.replace(/^import \{ (.*) \}.*$/m, '`$1`'))[0]?.split(', '))
    const shown = [...text.matchAll(/^(\w+)\((.*?)\) \/\/ (.*)$/gm)]
    expect(shown.length).toBe(2)
    for (const [, name = '', args, result] of shown) {
      const list = yaml.load(`[${args}]`)
      expect(core[name](...list)).toEqual(yaml.load(result ?? ''))
    }
  })

  test('the observer runs', async () => {
    const text = readme.blocks('js').find(block => block.text.includes('onRecord'))?.text ?? ''
    await withTempDir(async dir => {
      const file = join(dir, 'memory-records.mjs')
      const entry = inRoot('js', 'index.js')
      writeFileSync(file, text.replace("'dsh-bmpp'", JSON.stringify(entry)))
      const use = `
        const { name, apply } = await import(${JSON.stringify(file)})
        const undo = []
        apply({ effect: effect => undo.push(effect()) }, { file: ${JSON.stringify(join(dir, 'records.jsonl'))} })
        for (const end of undo) end()
        console.log(name)`
      expect(execFileSync(process.execPath, ['--input-type=module', '--eval', use], { encoding: 'utf8' })).toBe(
        'memory-records\n',
      )
    })
    expect(readme.blocks('yaml').some(block => block.text.includes('name: ./memory-records.mjs'))).toBe(true)
  })
})
