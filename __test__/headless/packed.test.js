// What ships, read and loaded as it is packed: complete, and without an import from the Harness. A file of ours that the Harness
// loads from outside a profile cannot resolve its packages, and one inside would tie us to the copy it finds.
import { execFile } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { builtinModules } from 'node:module'
import { dirname, join, relative } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { differences } from '../../scripts/lib/reproduce.mjs'
import { packFolder } from '../../scripts/pack.mjs'
import { packProject } from '../support/headless.js'
import { nodesOf, treeOf } from '../support/syntax.js'
import { tempDir } from '../support/temp-dir.js'

const run = promisify(execFile)
const temp = tempDir()
const root = join(temp.path, 'alone', 'package')
let files
let tarball

beforeAll(async () => {
  tarball = await packProject(temp.path)
  mkdirSync(dirname(root))
  await run('tar', ['-xzf', tarball, '-C', dirname(root)])
  files = readdirSync(root, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(root, join(entry.parentPath, entry.name)))
})
afterAll(temp.remove)

/** What a module imports, by whatever syntax, and its string literals. `null` is a specifier that only running it would tell. */
function readModule(source) {
  const specifiers = []
  const literals = []
  for (const node of nodesOf(treeOf(source))) {
    const { type, callee } = node
    const literal = of => (of?.type === 'Literal' && typeof of.value === 'string' ? of.value : null)
    if (type === 'ImportExpression') specifiers.push(literal(node.source))
    else if (/^(Import|ExportNamed|ExportAll)Declaration$/.test(type) && node.source) specifiers.push(node.source.value)
    // A call of `require`, or of what createRequire returned: `createRequire(x)('y')`.
    else if (type === 'CallExpression' && (callee.name === 'require' || callee.callee?.name === 'createRequire')) {
      specifiers.push(literal(node.arguments[0]))
    } else if (type === 'Literal' && typeof node.value === 'string') literals.push(node.value)
    else if (type === 'TemplateElement') literals.push(node.value.cooked)
  }
  return { specifiers, literals }
}

test('the reading finds every kind of import', () => {
  const { specifiers, literals } = readModule(`
    import a from 'one'
    import * as b from "two"
    import 'three'
    export { c } from 'four'
    export * from 'five'
    const d = await import('six')
    const e = require('seven')
    const f = createRequire(import.meta.url)('eight')
    const g = await import(somewhere)
    const h = ['@deepseek-ai/nine', \`@deepseek-ai/ten\`]
  `)
  expect(specifiers).toEqual(['one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', null])
  expect(literals).toEqual(expect.arrayContaining(['@deepseek-ai/nine', '@deepseek-ai/ten']))
})

describe('the packed files', () => {
  const modules = () => files.filter(file => /\.[cm]?js$/.test(file))
  const read = file => readModule(readFileSync(join(root, file), 'utf8'))

  test('are the plugin, its addon, its types and its row, and nothing of the workshop', () => {
    expect(files).toEqual(
      expect.arrayContaining([
        ...['package.json', 'LICENSE', 'README.md', 'THIRD-PARTY-LICENSES.txt', 'cordis.patch.yml'],
        ...['types/js/index.d.ts', 'js/index.js'],
      ]),
    )
    expect(files.filter(file => file.endsWith('.node')).length).toBeGreaterThan(0)
    const expected =
      /^(js\/[\w/-]+\.js|types\/[\w/-]+\.d\.ts|dsh-bmpp\.[\w-]+\.node|cordis\.patch\.yml|package\.json|LICENSE|THIRD-PARTY-LICENSES\.txt|README\.md)$/
    expect(files.filter(file => !expected.test(file))).toEqual([])
  })

  test('import only what is built into Node and what is packed with them', () => {
    const strangers = []
    for (const file of modules()) {
      for (const specifier of read(file).specifiers) {
        const own = specifier?.startsWith('.') && existsSync(join(root, dirname(file), specifier))
        const builtIn = specifier?.startsWith('node:') && builtinModules.includes(specifier.slice('node:'.length))
        if (!own && !builtIn) strangers.push(`${file}: ${specifier}`)
      }
    }
    expect(modules().length).toBeGreaterThan(5)
    // The Harness's own YAML reader, asked for from where the Harness lies; where it is not there, doctor goes without.
    expect(strangers).toEqual(['js/cli/doctor-host.js: js-yaml'])
  })

  test('name packages of the Harness only where its version or its profiles are looked for or rows of it advised, as data', () => {
    const naming = modules().filter(file => read(file).literals.some(text => text.includes('@deepseek-ai/')))
    expect(naming.toSorted()).toEqual(['js/cli/doctor-host.js', 'js/cli/findings.js', 'js/index.js'])
  })

  test('depend on nothing that a package manager would fetch or build at install', () => {
    const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    for (const field of ['dependencies', 'bundleDependencies']) expect(manifest).not.toHaveProperty(field)
    // What it plugs into: told to whoever reads manifests, and fetched by nobody.
    for (const name of Object.keys(manifest.peerDependencies)) {
      expect(manifest.peerDependenciesMeta[name]).toEqual({ optional: true })
    }
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(manifest.scripts ?? {}).not.toHaveProperty(script)
    }
  })
})

test('every entry that package.json exports is there, with its types, and loads', async () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const entries = Object.values(exports).filter(entry => typeof entry !== 'string')
  expect(entries.length).toBeGreaterThan(1)
  for (const entry of entries) {
    expect(files).toEqual(expect.arrayContaining([entry.types, entry.default].map(file => file.replace('./', ''))))
    await run(projectNode(), [
      '--input-type=module',
      '-e',
      `await import(${JSON.stringify(join(root, entry.default))})`,
    ])
  }
})

test('the tarball is the same file when it is packed again, and when others pack it who may read other files', async () => {
  const again = await packProject(join(temp.path, 'again'))
  // Other modes and other times than a checkout has.
  const copy = join(temp.path, 'copy')
  cpSync(root, copy, { recursive: true })
  for (const file of files) chmodSync(join(copy, file), file.endsWith('.js') ? 0o700 : 0o600)
  const others = await packFolder(copy, join(temp.path, 'others'))
  expect(differences(tarball, again)).toEqual([])
  expect(differences(tarball, others)).toEqual([])
  expect(readFileSync(others).equals(readFileSync(tarball))).toBe(true)
})

test('what two tarballs differ in is said', async () => {
  const copy = join(temp.path, 'changed')
  cpSync(root, copy, { recursive: true })
  writeFileSync(join(copy, 'LICENSE'), 'mine')
  writeFileSync(join(copy, 'js', 'new.js'), '')
  rmSync(join(copy, 'js', 'cli', 'page.js'))
  const changed = await packFolder(copy, join(temp.path, 'changed-packed'))
  expect(differences(tarball, changed).toSorted()).toEqual([
    'package/LICENSE has another content.',
    'package/js/cli/page.js is in the first alone.',
    'package/js/new.js is in the second alone.',
  ])
})

test('the types are those of what is exported, with all that they refer to and nothing else', () => {
  const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const reached = new Set(Object.values(exports).flatMap(({ types }) => types?.replace('./', '') ?? []))
  for (const file of reached) {
    const text = readFileSync(join(root, file), 'utf8')
    for (const [, path] of text.matchAll(/(?:from |import\()['"](\.[^'"]+)['"]/g)) {
      reached.add(join(dirname(file), path.replace(/\.js$/, '').concat('.d.ts')))
    }
  }
  expect(files.filter(file => file.startsWith('types/')).toSorted()).toEqual([...reached].toSorted())
})

test('the tarball is smaller than 1 MB', () => {
  expect(statSync(tarball).size).toBeLessThan(1_000_000)
})

test('the plugin is one file, which exports what it exports in a checkout and keeps the names of the code', async () => {
  const source = readFileSync(join(root, 'js', 'index.js'), 'utf8')
  expect(readModule(source).specifiers.filter(specifier => !specifier?.startsWith('node:'))).toEqual([])
  // What a stack trace names.
  for (const name of ['Gate = class ', 'function mount(', 'function loadAddon(']) expect(source).toContain(name)
  const packed = await import(/* @vite-ignore */ join(root, 'js', 'index.js'))
  expect(Object.keys(packed)).toEqual(Object.keys(await import('../../js/index.js')))
})

test.runIf(process.platform === 'linux')('the functions in parentheses are those that run at a load', async () => {
  const entry = join(root, 'js', 'index.js')
  const coverage = join(temp.path, 'coverage')
  const env = { ...process.env, NODE_V8_COVERAGE: coverage }
  await run(projectNode(), [inRoot('bench', 'lib', 'load.mjs'), entry], { env })
  const scripts = readdirSync(coverage).flatMap(file => JSON.parse(readFileSync(join(coverage, file), 'utf8')).result)
  const { functions } = scripts.find(({ url }) => url === pathToFileURL(entry).href)
  const source = readFileSync(entry, 'utf8')
  const found = { inParentheses: [], plain: [] }
  for (const { functionName, ranges } of functions) {
    const [{ startOffset, count }] = ranges
    if (!source.startsWith('function ', startOffset)) continue
    const inParentheses = source[startOffset - 1] === '('
    // What runs or does not run by the host's version, which the benchmark's host has not.
    if (inParentheses !== count > 0) found[inParentheses ? 'inParentheses' : 'plain'].push(functionName)
  }
  expect(found).toEqual({ inParentheses: [], plain: ['unknown', 'toStandardError'] })
})

test('what only the plugin needs is in that file alone', () => {
  const needed = new Set(['js/index.js', 'js/note.js', 'js/policy.js', 'js/cli/main.js'])
  for (const file of needed) {
    const { specifiers } = readModule(readFileSync(join(root, file), 'utf8'))
    for (const specifier of specifiers) if (specifier?.startsWith('.')) needed.add(join(dirname(file), specifier))
  }
  expect(files.filter(file => file.startsWith('js/')).toSorted()).toEqual([...needed].toSorted())
})

test('the entry loads where there is nothing but the packed files, reads a configuration, and imports no more than they hold', async () => {
  const script = join(temp.path, 'load.mjs')
  writeFileSync(
    script,
    `import { registerHooks } from 'node:module'
    const loaded = []
    registerHooks({ resolve(specifier, context, next) {
      const resolved = next(specifier, context)
      loaded.push(resolved.url)
      return resolved
    } })
    const { name, inject, Config, apply } = await import(process.argv[2])
    const validate = value => Config['~standard'].validate(value)
    console.log(JSON.stringify({ loaded, name, inject, apply: typeof apply, good: validate({ mode: 'enforce' }), bad: validate({ mod: 1 }) }))`,
  )
  const { stdout } = await run(projectNode(), [script, join(root, 'js', 'index.js')], { cwd: temp.path })
  const { loaded, name, inject, apply, good, bad } = JSON.parse(stdout)
  expect({ name, inject, apply }).toEqual({ name: 'dsh-bmpp', inject: ['tools'], apply: 'function' })
  expect(good).toEqual({ value: { mode: 'enforce' } })
  expect(bad.issues).toHaveLength(1)
  expect(loaded.some(url => url.endsWith('.node'))).toBe(true)
  expect(loaded.filter(url => !url.startsWith('node:') && !url.includes('/alone/package/'))).toEqual([])
})
