/** docs/AUDIT.md against the product: records, fields, keys, commands, exit codes, and the observer that it shows. */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { EXIT } from '../../js/cli/command.js'
import { FIELDS } from '../../js/cli/explain.js'
import { inRoot } from '../../scripts/lib/project.mjs'
import { bootGate, call } from '../support/gate.js'
import { calls, say } from '../support/inprocess.js'
import { withTempDir } from '../support/temp-dir.js'
import { only, readPage, spans } from './markdown.js'
import { between, source, vocabulary } from './product.js'

const page = readPage('docs/AUDIT.md')
const readme = readPage('README.md')
const policy = readPage('docs/POLICY.md')

test('outcomes, those of a lookup among them', () => {
  const outcomes = page.table('Outcome', 'Meaning').map(row => only(row.Outcome))
  expect(outcomes).toEqual(vocabulary.outcomes)
  const lookups = policy.table('The result').flatMap(row => spans(row.Outcome))
  const words = new Set(lookups.filter(word => word !== 'results'))
  // Only of a write can nobody know whether it was done.
  expect(words).toEqual(new Set(outcomes.filter(word => word !== 'unknown')))
})

test('classifications and states of the lookups', () => {
  const sentence = /`classification` and `lookup` are (.*?)\./.exec(page.line)?.[1] ?? ''
  expect(spans(sentence)).toEqual([...vocabulary.classifications, ...vocabulary.lookups])
})

test('the record that is shown is one that is made', async () => {
  const [{ text }] = page.blocks('json')
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

describe('fields', () => {
  const rows = page.table('Field').map(row => ({ names: spans(row.Field), on: row.On, ...row }))
  const namesOn = kind =>
    rows.filter(({ on }) => on === 'all' || on.split(', ').includes(kind)).flatMap(({ names }) => names)

  test('every field of a decision and of a settlement is there, on its kind', async () => {
    const gate = await bootGate({ mode: 'enforce' })
    await gate.run([calls(call.complex), calls(call.search, call.write), say('done')])
    for (const [kind, records] of Object.entries({ decision: gate.decisions(), settlement: gate.settlements() })) {
      const made = new Set(records.flatMap(record => Object.keys(record)))
      expect([kind, [...made].filter(name => !namesOn(kind).includes(name))]).toEqual([kind, []])
    }
  })

  test('every field that is there is one that the shim writes', () => {
    const written = ['audit-store', 'audit-text', 'gate', 'plugin', 'position', 'records'].map(name =>
      source(`js/${name}.js`),
    )
    const known = name => new RegExp(`\\b${name}\\b`).test(written.join('\n'))
    expect(rows.flatMap(({ names }) => names).filter(name => !known(name))).toEqual([])
  })

  test('are those of which the command says that they are fields', () => {
    expect([...new Set(rows.flatMap(({ names }) => names))].toSorted()).toEqual([...FIELDS].toSorted())
  })

  test('the kinds are those that a reader knows', () => {
    const kinds = [...between('src/audit/record.rs', 'fn deserialize', 'Kind::Other').matchAll(/"(\w+)" =>/g)]
    const row = rows.find(({ names }) => names[0] === 'kind')
    expect(spans(row?.Meaning ?? '')).toEqual(kinds.map(([, kind]) => kind))
  })
})

test('the keys of the trail are as the README has them', () => {
  const keys = readme.table('Key', 'Type', 'Default')
  for (const row of page.table('Key', 'Values')) {
    const same = keys.find(({ Key }) => Key === row.Key)
    expect([row.Key, row.Values, row.Default.replaceAll('`', '')]).toEqual([
      same?.Key,
      same?.Type,
      same?.Default.replaceAll('`', ''),
    ])
  }
})

test('the subcommands are those that there are, here and in the README', () => {
  const [, list = ''] = /const commands = \{ (.*) \}/.exec(source('js/cli/main.js')) ?? []
  const names = list.split(', ').toSorted()
  expect(
    page
      .table('Command')
      .map(row => spans(row.Command)[0]?.split(' ')[0])
      .toSorted(),
  ).toEqual(names)
  expect(
    readme
      .table('Subcommand')
      .map(row => only(row.Subcommand))
      .toSorted(),
  ).toEqual(names)
})

test('the exit codes', () => {
  expect(page.table('Exit code').map(row => Number(row['Exit code']))).toEqual(Object.values(EXIT))
})

test('the observer runs', async () => {
  const text = page.blocks('js').find(block => block.text.includes('onRecord'))?.text ?? ''
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
  expect(page.blocks('yaml').some(block => block.text.includes('name: ./memory-records.mjs'))).toBe(true)
})
