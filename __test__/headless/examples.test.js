// Each file of examples/, loaded by the real dsh as it tells the reader to. What the tests change is only what they must: the
// memory server's command, and the permission to load on a Harness outside the range.
import { copyFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loadAddon } from '../../js/native.js'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { cut } from '../support/dsh-gate.js'
import { dsh, memoryTool, packProject, runDsh } from '../support/headless.js'
import { tempDir } from '../support/temp-dir.js'
import { readYaml } from '../support/yaml.js'

const example = (...path) => inRoot('examples', ...path)
const write = { name: memoryTool('write_note'), arguments: { title: 'T', content: 'C', directory: 'd' } }
const remove = { name: memoryTool('delete_note'), arguments: { identifier: 'd/t' } }
const simple = { name: 'bmpp__classify', arguments: { task: 'simple' } }
const message = call => ({ calls: [call] })
const done = { text: 'done' }
const env = { npm_config_registry: 'http://127.0.0.1:9/' }

/** A layer of the examples for this host and this memory server. */
function adapted(file) {
  const server = { command: projectNode(), args: [inRoot('demo', 'stand-in-server.mjs')] }
  const adapt = row => ({
    ...row,
    ...(row.id === 'bmpp' ? { config: { ...row.config, allowUnverifiedHarness: true } } : {}),
    ...(row.id === 'memory' ? { config: { ...row.config, ...server } } : {}),
  })
  return readYaml(file).map(patch => (patch.insert ? { insert: patch.insert.map(adapt) } : adapt(patch)))
}

const answersOf = run => run.told.map(({ text }) => cut(text))

test('README names every example, and no other', () => {
  const readme = readFileSync(example('README.md'), 'utf8')
  const named = [...readme.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name.replace('/', ''))
  expect(named.toSorted()).toEqual(
    readdirSync(example())
      .filter(name => name !== 'README.md')
      .toSorted(),
  )
})

describe('the configurations, over the installed bundle', () => {
  const home = tempDir()
  beforeAll(async () => {
    const added = await dsh(['plugin', '--profile', 'headless', 'add', await packProject(home.path)], {
      home: home.path,
      env,
    })
    expect(added.code).toBe(0)
  })
  afterAll(home.remove)

  const names = ['config.audit.yml', 'config.enforce.yml', 'config.off.yml', 'config.strict.yml']

  test('are these', () => {
    expect(
      readdirSync(example())
        .filter(name => name.startsWith('config.'))
        .toSorted(),
    ).toEqual(names.toSorted())
  })

  const play = (name, calls) =>
    runDsh({ home: home.path, script: [...calls.map(message), done], patches: [adapted(example(name))] })

  test('off: no control tool, no denial, no word', async () => {
    const run = await play('config.off.yml', [write])
    expect(run).toMatchObject({ code: 0, stderr: '', told: [{ isError: false }] })
    expect(run.requests[0].tools.map(tool => tool.function.name)).not.toContain('bmpp__classify')
  })

  test('audit: the control tool, and no denial', async () => {
    const run = await play('config.audit.yml', [write])
    expect(run).toMatchObject({ code: 0, told: [{ isError: false }] })
    expect(run.requests[0].tools.map(tool => tool.function.name)).toContain('bmpp__classify')
  })

  test('enforce: a denial, and no question about a destructive call', async () => {
    const run = await play('config.enforce.yml', [write, simple, remove])
    expect(run).toMatchObject({ code: 0, unused: [] })
    expect(answersOf(run)[0]).toBe('CLASSIFICATION_REQUIRED')
    expect(run.told[2]).toMatchObject({ isError: false })
  })

  test('strict: a question about a destructive call, which nobody answers here', async () => {
    const run = await play('config.strict.yml', [simple, remove, remove])
    expect(run).toMatchObject({ code: 0, unused: [] })
    expect(run.told[1].text).toMatch(/requires approval, but no approval channel is available/)
    expect(answersOf(run)[2]).toBe('APPROVAL_UNAVAILABLE')
  })

  test.each(names)('%s is a configuration as it stands', name => {
    const [{ id, config }] = readYaml(example(name))
    expect(id).toBe('bmpp')
    expect(loadAddon().readConfig(config).problems).toEqual([])
  })
})

test('the overlay with the memory server gives the model its tools', async () => {
  const run = await runDsh({
    mcp: 'none',
    script: [message(write), done],
    patches: [adapted(example('overlay.basic-memory.yml'))],
  })
  expect(run).toMatchObject({ code: 0, unused: [], told: [{ isError: false }] })
})

test('the whole profile is installed by one command, without a network, and enforces', async () => {
  const home = tempDir()
  try {
    const folder = join(home.path, '.dsh', 'profiles', 'memory')
    cpSync(example('profile'), folder, { recursive: true })
    copyFileSync(await packProject(home.path), join(folder, 'dsh-bmpp-0.1.0.tgz'))
    const installed = await dsh(['plugin', '--profile', 'memory', 'install'], { home: home.path, env })
    expect(installed).toMatchObject({ code: 0, timedOut: false })
    writeFileSync(join(folder, 'cordis.patch.yml'), JSON.stringify(adapted(example('profile', 'cordis.patch.yml'))))
    const options = { home: home.path, profile: 'memory', mcp: 'none' }
    const run = await runDsh({ ...options, script: [write, simple, write].map(message).concat(done) })
    expect(run).toMatchObject({ code: 0, unused: [] })
    expect(answersOf(run)[0]).toBe('CLASSIFICATION_REQUIRED')
    expect(run.told[2]).toMatchObject({ isError: false })
  } finally {
    home.remove()
  }
})
