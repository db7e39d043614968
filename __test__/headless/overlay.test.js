// BMPP that is not installed: a row of an overlay names the entry of an unpacked package. The path may hold what paths hold.
import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { cut } from '../support/dsh-gate.js'
import { memoryTool, packProject, runDsh } from '../support/headless.js'
import { tempDir } from '../support/temp-dir.js'
import { readYaml } from '../support/yaml.js'

const temp = tempDir()
const folder = join(temp.path, 'a folder, with spaces & ünïcode')
// In a path the host takes these for parts of a URL.
const awkward = join(temp.path, '50% of #1?')
const script = [
  { calls: [{ name: memoryTool('write_note'), arguments: { title: 'T', content: 'C' } }] },
  { text: 'done' },
]

beforeAll(async () => {
  const tarball = await packProject(temp.path)
  mkdirSync(folder)
  await promisify(execFile)('tar', ['-xzf', tarball, '-C', folder, '--strip-components', '1'])
  symlinkSync(folder, join(temp.path, 'linked'))
  symlinkSync(folder, awkward)
  mkdirSync(join(temp.path, 'entry'))
  symlinkSync(join(folder, 'js', 'index.js'), join(temp.path, 'entry', 'gate.js'))
})
afterAll(temp.remove)

/** The example of such an overlay, with another path and for a host outside the range. @param {string} name */
function overlayOf(name) {
  const [{ insert }] = readYaml(inRoot('examples', 'overlay.checkout.yml'))
  expect(insert).toMatchObject([{ id: 'bmpp', name: '/path/to/dsh-bmpp/js/index.js', config: { mode: 'enforce' } }])
  return [{ insert: [{ ...insert[0], name, config: { ...insert[0].config, allowUnverifiedHarness: true } }] }]
}

test.each([
  ['from a path with spaces and more', () => join(folder, 'js', 'index.js')],
  ['as a file URL, where a path will not do', () => pathToFileURL(join(awkward, 'js', 'index.js')).href],
  ['through a symlink to the folder', () => join(temp.path, 'linked', 'js', 'index.js')],
  ['through a symlink to the entry alone', () => join(temp.path, 'entry', 'gate.js')],
])('an overlay loads it %s', async (_, name) => {
  const run = await runDsh({ script, patches: [overlayOf(name())] })
  expect(run).toMatchObject({ code: 0, unused: [], mcpLog: [] })
  expect(run.told.map(({ text }) => cut(text))).toEqual(['CLASSIFICATION_REQUIRED'])
})

test('the one that `npm run overlay` writes loads it as it was told to', async () => {
  // As a checkout has them: the script writes beside itself.
  cpSync(inRoot('scripts'), join(folder, 'scripts'), { recursive: true })
  const overlay = (...flags) =>
    promisify(execFile)(process.execPath, [join(folder, 'scripts', 'overlay.mjs'), ...flags], { cwd: temp.path })
  const { stdout, stderr } = await overlay('--mode', 'enforce', '--profile', 'strict', '--allow-unverified-harness')
  const [file = '', , use = ''] = stdout.split('\n')
  expect({ stderr, use }).toEqual({ stderr: '', use: `  dsh --profile headless --patch "${file}" "your task"` })
  const config = { mode: 'enforce', profile: 'strict', allowUnverifiedHarness: true }
  expect(readYaml(file)).toEqual([{ insert: [{ id: 'bmpp', name: join(folder, 'js', 'index.js'), config }] }])
  const run = await runDsh({ script, patches: [file] })
  expect(run).toMatchObject({ code: 0, unused: [], mcpLog: [] })
  expect(run.told.map(({ text }) => cut(text))).toEqual(['CLASSIFICATION_REQUIRED'])
  await expect(overlay('--mode', 'on')).rejects.toThrow('--mode is one of off, audit, enforce; not "on"')
})
