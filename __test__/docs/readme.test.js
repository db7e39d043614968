/**
 * The README against the product: every code, observation, key, default, class, heading, command and line that it names is
 * there, and none that is there is missing.
 */
import { existsSync, readdirSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import config from '../../vitest.config.js'
import { bootGate, call } from '../support/gate.js'
import { calls, say } from '../support/inprocess.js'
import { parseYaml } from '../support/yaml.js'
import { oneLine, only, readPage, spans } from './markdown.js'
import { addon, between, fingerprint, memory, problemCodes, source, vocabulary } from './product.js'

const readme = readPage('README.md')
const manifest = JSON.parse(source('package.json'))

test('the Harness that can be installed is the one that the suite runs on', () => {
  const { blocks = [] } = readme.sections.find(({ heading }) => heading === 'Compatibility') ?? {}
  const { name: _, ...pinned } = JSON.parse(source('hosts/dsh/package.json'))
  expect(blocks.map(({ text }) => JSON.parse(text))).toEqual([pinned])
})

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

  test.each([
    ['Code', 'Kind'],
    ['Enforcement', 'Meaning'],
  ])('what a row on a word of the column %s names, the command names too', (...columns) => {
    for (const row of readme.table(...columns)) {
      const word = only(row[columns[0]])
      const { meaning = '', advice = '' } = addon.explainCode(word) ?? {}
      const named = spans(row.Meaning).flatMap(text => text.split(/:? /))
      expect([word, named.filter(name => !`${meaning} ${advice}`.includes(name))]).toEqual([word, []])
    }
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

  test('every upper-case name in code is a name of the product', () => {
    const known = new Set([
      ...vocabulary.codes.map(({ name }) => name),
      ...vocabulary.observations,
      ...readme.table('Problem code').map(row => only(row['Problem code'])),
      'BASIC_MEMORY_WRITE_NOTE_OVERWRITE_DEFAULT',
      'DSH_BMPP_NATIVE',
      'DSH_HOME',
    ])
    const named = spans(readme.line).flatMap(span => span.match(/\b[A-Z]+(?:_[A-Z]+)+\b/g) ?? [])
    expect(named.filter(name => !known.has(name))).toEqual([])
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
    expect(problems.map(([code]) => code).toSorted()).toEqual(problemCodes().toSorted())
  })

  test('the keys that AMBIGUOUS_MODE is for', () => {
    const row = readme.table('Problem code').find(({ Meaning }) => Meaning.includes('`strict`'))
    for (const key of spans(row?.Meaning ?? '')) {
      expect(addon.readConfig({ [key]: true }).problems).toMatchObject([{ code: 'AMBIGUOUS_MODE' }])
    }
  })

  test('each example of a row passes', () => {
    const read = readme.blocks('yaml').flatMap(({ text }) => parseYaml(text))
    const ours = read.flatMap(row => row.insert ?? [row]).filter(({ id }) => id === 'bmpp')
    expect(ours.length).toBeGreaterThanOrEqual(3)
    for (const { config } of ours) expect(addon.readConfig(config).problems).toEqual([])
  })

  test('the bundle brings the row that the README says', () => {
    const [{ insert }] = parseYaml(source('cordis.patch.yml'))
    expect(insert).toEqual([{ id: 'bmpp', name: manifest.name, config: { mode: 'audit' } }])
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
    for (const { text } of readme.blocks('yaml')) expect(parseYaml(text)).toBeInstanceOf(Array)
    for (const { text } of readme.blocks('json')) expect(JSON.parse(text)).toBeInstanceOf(Object)
  })
})
