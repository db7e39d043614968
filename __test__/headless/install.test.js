// The package as a user gets it: packed, added to a profile by `dsh plugin add`, loaded by the bundle's own row, changed by a layer
// over it, and removed again. There is no network in any of it.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPage } from '../docs/markdown.js'
import { OUTSIDE, outside } from '../support/dsh-gate.js'
import { dsh, memoryTool, packProject, runDsh } from '../support/headless.js'
import { tempDir } from '../support/temp-dir.js'
import { parseYaml } from '../support/yaml.js'

const write = { name: memoryTool('write_note'), arguments: { title: 'T', content: 'C', directory: 'd' } }
const script = [{ calls: [write] }, { text: 'done' }]
// A registry that nobody serves: what is added needs nothing but what it brings.
const env = { npm_config_registry: 'http://127.0.0.1:9/' }

/** A home with the bundle in its headless profile. */
async function install(home) {
  const tarball = await packProject(home)
  const add = () => dsh(['plugin', '--profile', 'headless', 'add', tarball], { home, env })
  const added = await add()
  const folder = join(home, '.dsh', 'profiles', 'headless')
  return {
    add,
    added,
    folder,
    patch: join(folder, 'cordis.patch.yml'),
    manifest: () => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')),
    /** The rows as dsh would load them, and where each comes from. */
    dump: async () => {
      const dumped = await dsh(['--profile', 'headless', '--dump-config'], { home })
      return { ...dumped, rows: parseYaml(dumped.stdout), layers: dumped.stdout.match(/^# == .*$/gm) }
    },
    remove: () => dsh(['plugin', '--profile', 'headless', 'remove', 'dsh-bmpp'], { home, env }),
  }
}

const allowed = { allowUnverifiedHarness: true }
const rowIn = dump => dump.rows.find(({ id }) => id === 'bmpp')

describe('the packed bundle', () => {
  const home = tempDir()
  let bundle

  beforeAll(async () => {
    bundle = await install(home.path)
  })
  afterAll(home.remove)

  test('is added without a network and without a warning', () => {
    expect(bundle.added).toMatchObject({ code: 0, timedOut: false })
    expect(bundle.added.stdout + bundle.added.stderr).not.toMatch(/warn|ignored|peer/i)
  })

  test('shows its layer in the configuration, in mode audit, and no other row of it', async () => {
    const dump = await bundle.dump()
    expect(dump).toMatchObject({ code: 0, stderr: '' })
    expect(dump.layers).toContain('# == dsh-bmpp')
    expect(rowIn(dump)).toEqual({ id: 'bmpp', name: 'dsh-bmpp', config: { mode: 'audit' } })
    expect(dump.rows.filter(({ name }) => name.includes('bmpp'))).toHaveLength(1)
  })

  test.skipIf(!outside)('refuses a Harness outside its range with the reason, and dsh ends', async () => {
    const run = await runDsh({ home: home.path, script })
    expect(run.code).toBe(1)
    expect(run.stderr).toContain(`${OUTSIDE}: use a supported version`)
    expect(run.requests).toEqual([])
  })

  test('governs writes once its row is told to go on', async () => {
    const row = { id: 'bmpp', config: { mode: 'enforce', ...allowed } }
    const run = await runDsh({ home: home.path, script, patches: [[row]] })
    expect(run).toMatchObject({ code: 0, unused: [] })
    expect(run.told).toMatchObject([
      { isError: true, text: expect.stringMatching(/^Error: CLASSIFICATION_REQUIRED: /) },
    ])
    expect(run.mcpLog).toEqual([])
  })

  test("takes its configuration from the profile's own layer, which replaces it whole", async () => {
    const before = readFileSync(bundle.patch, 'utf8')
    writeFileSync(bundle.patch, JSON.stringify([{ id: 'bmpp', config: { serverNames: ['bm'], ...allowed } }]))
    try {
      const dump = await bundle.dump()
      expect(rowIn(dump).config).toEqual({ serverNames: ['bm'], ...allowed })
      expect(dump.layers).toContain(`# == dsh-bmpp, patched by ${bundle.patch}`)
      const run = await runDsh({ home: home.path, script })
      // Basic Memory is not governed any more, and in audit nothing would be blocked anyway.
      expect(run).toMatchObject({ code: 0, told: [{ isError: false }] })
      expect(run.stderr).toMatch(/the MCP server "basic-memory" looks like Basic Memory and is not governed/)
    } finally {
      writeFileSync(bundle.patch, before)
    }
  })
})

test('what is removed leaves nothing: no layer, no file, no gate, and what was written to the profile by hand', async () => {
  const home = tempDir()
  try {
    const bundle = await install(home.path)
    const kept = '# mine\n[]\n'
    writeFileSync(bundle.patch, kept)
    const removed = await bundle.remove()
    expect(removed).toMatchObject({ code: 0, timedOut: false })
    const {
      dependencies = {},
      dsh: { profile },
    } = bundle.manifest()
    expect({ ...dependencies }).toEqual({})
    expect(profile.bundles).toEqual(['@deepseek-ai/dsh-base', '@deepseek-ai/dsh-headless'])
    expect(readFileSync(bundle.patch, 'utf8')).toBe(kept)
    expect(existsSync(join(bundle.folder, 'node_modules', 'dsh-bmpp'))).toBe(false)
    const dump = await bundle.dump()
    expect(dump.stdout).not.toContain('bmpp')
    const run = await runDsh({ home: home.path, script })
    expect(run).toMatchObject({ code: 0, stderr: '', told: [{ isError: false }] })
    const files = readdirSync(join(home.path, '.dsh'), { recursive: true, encoding: 'utf8' })
    // A session's folder is named after the folder that the test works in. What pnpm leaves of a package, where it lays packages
    // out flat, is the link to its command, which leads nowhere; nothing of ours runs when a package is removed.
    const left = files.filter(file => file.includes('bmpp') && !file.startsWith('sessions'))
    expect(left).toEqual([join('profiles', 'headless', 'node_modules', '.bin', 'dsh-bmpp')])
    const link = join(home.path, '.dsh', left[0])
    expect(existsSync(link)).toBe(false)
    // As the page says: it takes the link away, and adding the package again puts it right.
    const page = readPage('docs/DISTRIBUTION.md')
    const command = page.blocks('sh').find(({ text }) => text.startsWith('rm '))?.text ?? ''
    await bundle.add()
    expect(existsSync(link)).toBe(true)
    await bundle.remove()
    execFileSync('sh', ['-c', command], { env: { DSH_HOME: join(home.path, '.dsh'), PATH: process.env.PATH } })
    expect(readdirSync(join(bundle.folder, 'node_modules', '.bin'))).toEqual([])
  } finally {
    home.remove()
  }
})

test('is added again over itself, as for an upgrade, and stays one row', async () => {
  const home = tempDir()
  try {
    const bundle = await install(home.path)
    mkdirSync(join(home.path, 'again'))
    const tarball = await packProject(join(home.path, 'again'))
    const again = await dsh(['plugin', '--profile', 'headless', 'add', tarball], { home: home.path, env })
    expect(again.code).toBe(0)
    expect(bundle.manifest().dsh.profile.bundles.filter(name => name === 'dsh-bmpp')).toEqual(['dsh-bmpp'])
    expect((await bundle.dump()).rows.filter(({ id }) => id === 'bmpp')).toHaveLength(1)
  } finally {
    home.remove()
  }
})
