/**
 * What TypeScript makes of the package, seen from a project that uses it: the packed files below node_modules, strict, without
 * Node's own types, under both ways in which imports are resolved today.
 */
import { execFile } from 'node:child_process'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { commandOf, inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { between } from '../docs/product.js'
import { packProject } from '../support/headless.js'
import { tempDir } from '../support/temp-dir.js'

const run = promisify(execFile)
const temp = tempDir()
const project = temp.path
const modules = join(project, 'node_modules', 'dsh-bmpp')

/** @param {string} file @param {object} options @returns {Promise<string>} what tsc has to say */
async function tsc(file, options) {
  const compilerOptions = { strict: true, target: 'esnext', lib: ['esnext', 'dom'], types: [], ...options }
  const config = join(project, 'tsconfig.json')
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }))
  const done = run(projectNode(), [commandOf('typescript', 'tsc'), '--project', config], { cwd: project })
  return done.then(
    ({ stdout }) => stdout,
    error => error.stdout,
  )
}

beforeAll(async () => {
  const tarball = await packProject(project)
  mkdirSync(modules, { recursive: true })
  await run('tar', ['-xzf', tarball, '-C', modules, '--strip-components', '1'])
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  copyFileSync(inRoot('__test__', 'types', 'consumer.ts'), join(project, 'consumer.ts'))
})
afterAll(temp.remove)

test('a module that uses the package compiles as an ES module of Node, and does what it says', async () => {
  expect(await tsc('consumer.ts', { module: 'nodenext' })).toBe('')
  const { stdout } = await run(projectNode(), ['consumer.js'], { cwd: project })
  expect(stdout.split('\n')).toEqual(
    expect.arrayContaining(['notes/Plans.md true', expect.stringMatching(/^\d+ not-reached 2$/), "[ 'INVALID_ENUM' ]"]),
  )
})

test('and for a bundler', async () => {
  const options = { module: 'esnext', moduleResolution: 'bundler', noEmit: true }
  expect(await tsc('consumer.ts', options)).toBe('')
})

test('what the types do not allow is an error: the tests above can fail', async () => {
  writeFileSync(
    join(project, 'wrong.ts'),
    `import { createPolicy } from 'dsh-bmpp/policy'
    import 'dsh-bmpp/js/gate.js'
    createPolicy({ mode: 5 }).session().judge()`,
  )
  const said = await tsc('wrong.ts', { module: 'nodenext', noEmit: true })
  expect(said.match(/error TS\d+/g)).toEqual(['error TS2882', 'error TS2322', 'error TS2554'])
})

describe('the type of the configuration', () => {
  const text = readFileSync(inRoot('js', 'config-types.d.ts'), 'utf8')
  const typed = [...text.matchAll(/^ {2}(\w+)\?: (.*)$/gm)].map(([, key = '', type = '']) => ({ key, type }))

  test('has the keys that there are, and no other', () => {
    const table = between('src/config/read.rs', 'const KEYS', '];')
    const known = [...table.matchAll(/^ {4}\("(\w+)"/gm)].map(([, key]) => key)
    expect(typed.map(({ key }) => key).toSorted()).toEqual(known.toSorted())
  })

  test.each(typed)('$key takes what its type says', async ({ key, type }) => {
    const { loadAddon } = await import('../../js/native.js')
    const problemsOf = value => loadAddon().readConfig({ [key]: value }).problems
    const words = [...type.matchAll(/'([^']+)'/g)].map(([, word]) => word)
    if (words.length > 1) {
      const [problem] = problemsOf('none of them')
      expect(problem.message).toContain(`is one of ${words.join(', ')},`)
    }
    const values = { boolean: [true, false], number: [0, 1], 'string[]': [['search_notes']] }[type] ?? words
    expect(values.length).toBeGreaterThan(0)
    for (const value of values) {
      expect(problemsOf(value).filter(({ code }) => /^INVALID_(TYPE|ENUM|NUMBER)$/.test(code))).toEqual([])
    }
  })
})
