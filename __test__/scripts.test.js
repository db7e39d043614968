/** The scripts that make and check what ships. */
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { platformTriples } from '../js/native.js'
import { compareVersions, GLIBC_FLOOR, glibcOf, neededVersions } from '../scripts/lib/elf.mjs'
import { commandOf, dshBin, inRoot, linkerOf, linksOld, projectNode } from '../scripts/lib/project.mjs'
import { entryOf, manifestOf, totals } from '../scripts/verify-host.mjs'
import { packProject } from './support/headless.js'
import { withTempDir } from './support/temp-dir.js'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))

describe('the C library that the addon needs', () => {
  const linker = linkerOf('x86_64-unknown-linux-gnu')
  const built = () => readFileSync(inRoot('dsh-bmpp.linux-x64-gnu.node'))

  test.runIf(linksOld)('is as old as promised, in the file that is packed', () => {
    // The build falls back on the system's own linker where this one is not there.
    expect(existsSync(linker), 'npm run setup has unpacked the linker').toBe(true)
    const needed = glibcOf(built())
    expect(needed).toMatch(/^2\.\d+/)
    expect(compareVersions(needed, GLIBC_FLOOR)).toBeLessThanOrEqual(0)
  })

  test.runIf(linksOld)('is read right: another reader finds the same versions', async () => {
    const reader = linker.replace(/gcc$/, 'readelf')
    const { stdout } = await run(reader, ['--version-info', '--wide', inRoot('dsh-bmpp.linux-x64-gnu.node')])
    const needs = stdout.slice(stdout.indexOf('Version needs section'))
    const others = [...needs.matchAll(/Name: (\S+)/g)].map(([, name]) => name)
    const ours = neededVersions(built()).map(({ version }) => version)
    expect(ours.toSorted()).toEqual(others.toSorted())
    expect(ours.length).toBeGreaterThan(3)
  })

  test.runIf(linksOld)('holds no path of the machine that built it', () => {
    const text = built().toString('latin1')
    expect(text).toContain('/cargo/')
    for (const path of [inRoot(), process.env.HOME ?? '/root']) expect(text).not.toContain(`${path}/`)
  })

  test.each([
    ['2.17', '2.9', 1],
    ['2.4', '2.17', -1],
    ['2.17', '2.17', 0],
    ['2.2.5', '2.2', 1],
    ['10.0', '9.9', 1],
  ])('%s is compared with %s by number', (a, b, order) => {
    expect(Math.sign(compareVersions(a, b))).toBe(order)
  })

  test('what is no such library is not read', () => {
    expect(() => glibcOf(Buffer.from('MZ'))).toThrow('no ELF file')
    expect(() => glibcOf(Buffer.alloc(100))).toThrow('no ELF file')
    const narrow = Buffer.alloc(100)
    narrow.write('\x7fELF\x01\x01', 'latin1')
    expect(() => glibcOf(narrow)).toThrow('no 64-bit little-endian ELF file')
  })
})

describe('the packages of the platforms, as the release makes them', () => {
  /** Node's words for a Rust triple, in napi-rs's order: `linux-x64-gnu`. */
  const triples = [
    ...['x64', 'arm64'].flatMap(arch => ['gnu', 'musl'].flatMap(libc => platformTriples('linux', arch, libc))),
    ...['x64', 'arm64'].flatMap(arch => platformTriples('darwin', arch, null)),
    ...platformTriples('win32', 'x64', null),
  ]

  test('there is one for each platform that is looked for, and the loader finds its addon there', async () => {
    await withTempDir(async folder => {
      for (const file of ['package.json', 'Cargo.toml']) cpSync(inRoot(file), join(folder, file))
      await run(projectNode(), [commandOf('@napi-rs/cli', 'napi'), 'create-npm-dirs'], { cwd: folder })
      expect(readdirSync(join(folder, 'npm')).toSorted()).toEqual(triples.toSorted())
      for (const triple of triples) {
        const { name, version, main, files, os, cpu, libc } = JSON.parse(
          readFileSync(join(folder, 'npm', triple, 'package.json'), 'utf8'),
        )
        const file = `dsh-bmpp.${triple}.node`
        expect({ name, version, main, files }).toEqual({
          name: `dsh-bmpp-${triple}`,
          version: manifest.version,
          main: file,
          files: [file],
        })
        const [platform, arch, kind] = triple.split('-')
        expect({ os, cpu }).toEqual({ os: [platform], cpu: [arch] })
        expect(libc).toEqual({ gnu: ['glibc'], musl: ['musl'] }[kind])
      }
    })
  })

  test.runIf(linksOld)('the entry package without an addon takes that of the platform package beside it', async () => {
    await withTempDir(async folder => {
      const tarball = await packProject(folder)
      const modules = join(folder, 'node_modules')
      const [own, platform] = [join(modules, 'dsh-bmpp'), join(modules, 'dsh-bmpp-linux-x64-gnu')]
      for (const path of [own, platform]) mkdirSync(path, { recursive: true })
      await run('tar', ['-xzf', tarball, '-C', own, '--strip-components', '1', '--exclude', '*.node'])
      const load = () => {
        const script = "const { createPolicy } = await import('dsh-bmpp/policy'); console.log(createPolicy().mode)"
        return run(projectNode(), ['--input-type=module', '-e', script], { cwd: folder })
      }
      await expect(load()).rejects.toThrow(/optional dependencies .* which brings dsh-bmpp-linux-x64-gnu/)
      const main = 'dsh-bmpp.linux-x64-gnu.node'
      writeFileSync(join(platform, 'package.json'), JSON.stringify({ name: 'dsh-bmpp-linux-x64-gnu', main }))
      symlinkSync(inRoot(main), join(platform, main))
      expect((await load()).stdout).toBe('audit\n')
    })
  })
})

describe('verify-host', () => {
  test('takes a version, a file, or nothing', async () => {
    const { version } = manifestOf(dshBin)
    expect(manifestOf(await entryOf(undefined)).version).toBe(version)
    expect(await entryOf(version)).toBe(await entryOf(undefined))
    await withTempDir(async folder => {
      const link = join(folder, 'dsh')
      symlinkSync(dshBin, link)
      expect(manifestOf(await entryOf(link)).version).toBe(version)
      await expect(entryOf(join(folder, 'nothing'))).rejects.toThrow('is neither a version nor a file')
      writeFileSync(join(folder, 'other.js'), '')
      expect(() => manifestOf(join(folder, 'other.js'))).toThrow('is no entry of @deepseek-ai/dsh')
    })
  })

  test('counts by layer, and a file that could not be loaded as a failure', () => {
    const at = (layer, name, assertionResults, message = '') => ({
      name: join('/', 'x', '__test__', layer, name),
      assertionResults,
      message,
    })
    const of = status => ({ status, fullName: `it ${status}` })
    const testResults = [
      at('headless', 'a.test.js', [of('passed'), of('passed'), of('failed')]),
      at('headless', 'b.test.js', [of('pending')]),
      at('inprocess', 'c.test.js', [], 'no such package\nand a trace'),
    ]
    expect(totals({ testResults })).toEqual({
      layers: { headless: { passed: 2, failed: 1, skipped: 1 }, inprocess: { passed: 0, failed: 1, skipped: 0 } },
      failures: ['headless/a.test.js: it failed', 'inprocess/c.test.js: no such package'],
    })
  })
})
