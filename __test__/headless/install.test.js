// The package as a user gets it: packed, added to a profile by `dsh plugin add`, loaded by the bundle's own row.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { dsh, memoryTool, packProject, runDsh } from '../support/headless.js'
import { tempDir } from '../support/temp-dir.js'

const write = { name: memoryTool('write_note'), arguments: { title: 'T', content: 'C', directory: 'd' } }
const script = [{ calls: [write] }, { text: 'done' }]

describe('the packed bundle', () => {
  const home = tempDir()
  let added

  beforeAll(async () => {
    const tarball = await packProject(home.path)
    // A registry that nobody serves: what is added needs nothing but what it brings.
    const env = { npm_config_registry: 'http://127.0.0.1:9/' }
    added = await dsh(['plugin', '--profile', 'headless', 'add', tarball], { home: home.path, env })
  })
  afterAll(home.remove)

  test('is added without a network and without a warning', () => {
    expect(added).toMatchObject({ code: 0, timedOut: false })
    expect(added.stdout + added.stderr).not.toMatch(/warn|ignored/i)
  })

  test('refuses a Harness outside its range with the reason, and dsh ends', async () => {
    const run = await runDsh({ home: home.path, script })
    expect(run.code).toBe(1)
    expect(run.stderr).toMatch(/0\.1\.0-rc\.8.*>=0\.1\.5-rc\.2/s)
    expect(run.requests).toEqual([])
  })

  test('governs writes once its row is told to go on', async () => {
    const row = { id: 'bmpp', config: { mode: 'enforce', allowUnverifiedHarness: true } }
    const run = await runDsh({ home: home.path, script, patches: [[row]] })
    expect(run).toMatchObject({ code: 0, unused: [] })
    expect(run.told).toMatchObject([
      { isError: true, text: expect.stringMatching(/^Error: CLASSIFICATION_REQUIRED: /) },
    ])
    expect(run.mcpLog).toEqual([])
  })
})
