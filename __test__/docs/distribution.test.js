/** DISTRIBUTION, SECURITY, MIGRATION and CHANGELOG against what ships. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadAddon, platformTriples } from '../../js/native.js'
import { GLIBC_FLOOR, glibcOf } from '../../scripts/lib/elf.mjs'
import { inRoot, linksOld } from '../../scripts/lib/project.mjs'
import { nodesOf, treeOf } from '../support/syntax.js'
import { withTempDir } from '../support/temp-dir.js'
import { readYaml } from '../support/yaml.js'
import { oneLine, readPage, spans } from './markdown.js'
import { addon, source } from './product.js'

const page = readPage('docs/DISTRIBUTION.md')
const manifest = JSON.parse(source('package.json'))

describe('docs/DISTRIBUTION.md', () => {
  test('names what is packed', () => {
    const named = page.table('In it').flatMap(row => spans(row['In it']))
    const shipped = manifest.files.map(file =>
      file
        .replace('js/**/*.js', 'js/')
        .replace(/^types$/, 'types/')
        .replace('dsh-bmpp.*', 'dsh-bmpp.<platform>'),
    )
    // Three files npm packs without being told.
    expect(named.toSorted()).toEqual([...shipped, 'LICENSE', 'README.md', 'package.json'].toSorted())
    expect(page.text).toContain(`${manifest.name}-${manifest.version}.tgz`)
  })

  test('names every system that there is an addon for', () => {
    const named = page.table('System').flatMap(row => spans(row.Addon))
    const triples = [
      ...['x64', 'arm64'].flatMap(arch => ['gnu', 'musl'].flatMap(libc => platformTriples('linux', arch, libc))),
      ...['x64', 'arm64'].flatMap(arch => platformTriples('darwin', arch, null)),
      ...platformTriples('win32', 'x64', null),
    ]
    expect(named.toSorted()).toEqual(triples.toSorted())
    expect(named).toHaveLength(manifest.napi.targets.length)
  })

  test('says the floor that is kept, and what is needed', () => {
    const [row] = page.table('System')
    expect(row?.Needs).toBe(`glibc ${GLIBC_FLOOR} or newer`)
    if (!linksOld) return
    const needed = glibcOf(readFileSync(inRoot('dsh-bmpp.linux-x64-gnu.node')))
    expect(page.line).toContain(`The addon that is built for Linux x64 needs ${needed}.`)
  })

  const told = page.blocks('text').map(({ text }) => oneLine(text))
  const system = {
    platform: 'linux',
    arch: 'x64',
    libc: { kind: 'gnu', version: '2.36' },
    env: {},
    versions: { node: '24.3.0', modules: '137', napi: '10' },
  }
  /** What a reader is told of a package's folder, with the page's own folder in place of it. */
  async function message(prepare, options = {}) {
    return withTempDir(async folder => {
      const root = join(folder, 'dsh-bmpp')
      mkdirSync(root)
      writeFileSync(join(root, 'package.json'), source('package.json'))
      prepare(join(root, 'dsh-bmpp.linux-x64-gnu.node'))
      try {
        loadAddon({ ...system, root, ...options })
      } catch (error) {
        return error.message.replaceAll(root, '/opt/dsh-bmpp')
      }
      throw new Error('it was loaded')
    })
  }
  const ofAnotherMachine = path => {
    const header = Buffer.alloc(64)
    header.write('\x7fELF\x02\x01', 0, 'latin1')
    header[18] = 0xb7
    writeFileSync(path, header)
  }

  test('quotes what is said of a missing addon', async () => {
    expect(told).toContain(await message(() => {}))
  })

  test.runIf(process.platform === 'linux')('quotes what is said of one for another machine', async () => {
    const said = await message(ofAnotherMachine)
    expect(told.filter(text => said.endsWith(text))).toHaveLength(1)
  })

  test('quotes what is said of one of another version', async () => {
    const load = () => ({ addonVersion: () => '0.0.9' })
    expect(told).toContain(await message(ofAnotherMachine, { load }))
  })

  test('names the jobs of the release, in their order', () => {
    const { jobs } = readYaml(inRoot('.github', 'workflows', 'release.yml'))
    expect(page.table('Job').flatMap(row => spans(row.Job))).toEqual(Object.keys(jobs))
  })
})

/** @param {string} file */
const nodes = file => [...nodesOf(treeOf(source(file)))]
const modules = readdirSync(inRoot('js'), { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('.js'))
  .map(name => `js/${name.replaceAll('\\', '/')}`)

describe('SECURITY.md', () => {
  test('no module that ships imports what could open a connection or start a process', () => {
    const known = new Set(builtinModules)
    const harmless = ['crypto', 'fs', 'module', 'os', 'path', 'readline', 'url', 'util', 'util/types']
    expect(harmless.filter(name => !known.has(name))).toEqual([])
    const imported = modules.flatMap(file =>
      nodes(file).flatMap(({ type, value }) =>
        type === 'Literal' && typeof value === 'string' && value.startsWith('node:') ? [value.slice(5)] : [],
      ),
    )
    expect(new Set(imported)).toEqual(new Set(harmless))
    const globals = /^(?:fetch|WebSocket|EventSource|XMLHttpRequest|eval|Function|Worker)$/
    const called = modules.flatMap(file =>
      nodes(file).flatMap(({ type, callee }) =>
        (type === 'CallExpression' || type === 'NewExpression') && globals.test(callee?.name ?? '') ? [file] : [],
      ),
    )
    expect(called).toEqual([])
  })

  test('the plugin reads two variables of the environment, and writes no file', () => {
    const plugin = modules.filter(file => !file.startsWith('js/cli/'))
    // By a literal, or as a member; a comment is neither.
    const named = plugin.flatMap(file =>
      nodes(file).flatMap(({ type, value, name }) => {
        const word = type === 'Literal' ? value : type === 'Identifier' ? name : ''
        return /^(?:DSH|NODE|BASIC)_[A-Z_]+$/.test(String(word)) ? [word] : []
      }),
    )
    expect(new Set(named)).toEqual(new Set(['DSH_BMPP_NATIVE', 'DSH_HOME']))
    const text = readPage('SECURITY.md').line
    expect(text).toContain('Environment: the plugin reads `DSH_HOME`, and `DSH_BMPP_NATIVE`')
    // writeSync takes what is open, which is standard output and error.
    const writing =
      /^(?:write(?!Sync$)|append|copy|cp|mk|rm|rename|link|symlink|unlink|truncate|ch|createW|ut|open(?!Sync$))/
    const writers = modules.filter(file =>
      nodes(file).some(
        ({ type, source: from, specifiers }) =>
          type === 'ImportDeclaration' &&
          /^node:fs/.test(from?.value ?? '') &&
          specifiers.some(({ imported }) => writing.test(imported?.name ?? '')),
      ),
    )
    expect(writers).toEqual(['js/cli/report.js'])
  })

  test('`unsafe` is denied by the crate, and allowed only at the boundary', () => {
    expect(source('Cargo.toml')).toMatch(/^unsafe_code = "deny"$/m)
    const files = readdirSync(inRoot('src'), { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.rs'))
    const allowing = files.filter(name => /allow\(unsafe_code/.test(source(join('src', name))))
    expect(allowing.length).toBeGreaterThan(0)
    expect(allowing.filter(name => !name.startsWith('binding'))).toEqual([])
  })
})

describe('docs/MIGRATION.md', () => {
  const migration = readPage('docs/MIGRATION.md')
  const read = cell => addon.readConfig(JSON.parse(spans(cell)[0] ?? '')).problems.map(({ code }) => code)

  test.each(migration.table('Before'))('$Before becomes $After', row => {
    expect(read(row.Before)).toEqual(spans(row['The boot says']))
    expect(read(row.After)).toEqual([])
  })

  test('every key of the original that is refused as a second way to say it has its row', () => {
    const [, keys = ''] = /const AMBIGUOUS[^=]*= &\[(.*?)\]/.exec(source('src/config/read.rs')) ?? []
    const named = migration.table('Before').flatMap(row => Object.keys(JSON.parse(spans(row.Before)[0] ?? '')))
    for (const [, key] of keys.matchAll(/"(\w+)"/g)) expect(named).toContain(key)
  })

  test.each(migration.table('The old rule'))('$Keys', row => {
    expect(read(row.Keys)).toEqual([])
    expect(Object.keys(JSON.parse(spans(row.Keys)[0] ?? ''))).not.toEqual([])
  })
})

describe('CHANGELOG.md', () => {
  const text = source('CHANGELOG.md')
  const versions = [...text.matchAll(/^## \[(.*?)\] - (.*)$/gm)].map(([, version, date]) => ({ version, date }))

  test('begins with the version that this is', () => {
    expect(versions[0]?.version).toBe(manifest.version)
  })

  test('has a form that tools read', () => {
    expect(text.startsWith('# Changelog\n')).toBe(true)
    for (const { date } of versions) expect(date).toMatch(/^(?:unreleased|\d{4}-\d\d-\d\d)$/)
    const kinds = [...text.matchAll(/^### (.*)$/gm)].map(([, kind]) => kind)
    const known = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security']
    expect(kinds.filter(kind => !known.includes(kind))).toEqual([])
    for (const { version } of versions) expect(text).toContain(`\n[${version}]: `)
  })
})
