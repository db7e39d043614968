/** What this project is built from: the rules that it is held to, each seen to find something, and the notices that ship. */
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import {
  advisories,
  allowedLicences,
  cargoLockProblems,
  doubleProblems,
  licenceProblems,
  lockFiles,
  noticesFile,
  npmLockProblems,
  pipProblems,
  pnpmLockProblems,
  problems,
  shippedProblems,
} from '../scripts/audit-deps.mjs'
import { allCrates, linkedCrates } from '../scripts/lib/crates.mjs'
import { noticesText, standardLibrary } from '../scripts/lib/notices.mjs'
import { inRoot } from '../scripts/lib/project.mjs'
import { licencesOf } from '../scripts/lib/spdx.mjs'

const run = promisify(execFile)
const manifest = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))

test('nothing breaks a rule, and the notices are those of what the addon links', async () => {
  expect(await problems()).toEqual([])
})

describe('licence expressions', () => {
  const allowed = ['MIT', 'ISC', 'Apache-2.0', 'Unicode-3.0']

  test.each([
    ['MIT', ['MIT']],
    ['Apache-2.0 OR MIT', ['MIT']],
    ['Unlicense OR MIT', ['MIT']],
    ['MIT/Apache-2.0', ['MIT']],
    ['(MIT OR Apache-2.0) AND Unicode-3.0', ['MIT', 'Unicode-3.0']],
    ['GPL-3.0 OR ISC OR Apache-2.0', ['ISC']],
    ['Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT', ['MIT']],
    ['Apache-2.0 WITH LLVM-exception', null],
    ['MIT AND GPL-3.0', null],
    ['(MIT OR Apache-2.0) AND NCSA', null],
    ['MIT AND (GPL-2.0 OR GPL-3.0)', null],
    ['MPL-2.0', null],
    ['MITx', null],
  ])('%s', (expression, chosen) => {
    expect(licencesOf(expression, allowed)).toEqual(chosen)
  })

  test.each(['', 'MIT OR', 'OR MIT', '(MIT', 'MIT)', 'MIT Apache-2.0', 'AND'])('%j is none', expression => {
    expect(() => licencesOf(expression, allowed)).toThrow('no licence expression')
  })

  test('those that are allowed ask for their notice alone', () => {
    expect(allowedLicences()).toEqual(allowed)
  })
})

describe('a rule finds', () => {
  const digest = `sha512-${'a'.repeat(86)}==`

  test.each([
    ['git+https://example.org/x', undefined, ' comes from git+https://example.org/x.'],
    ['registry+https://example.org/other-index', 'c', ' comes from registry+https://example.org/other-index.'],
    ['registry+https://example.org/crates.io-index', undefined, ' 1.0.0 has no checksum.'],
    ['registry+https://example.org/crates.io-index', 'c', null],
    [undefined, undefined, null],
  ])('a crate from %s', (source, checksum, problem) => {
    const lines = { name: 'x', version: '1.0.0', source, checksum }
    const given = Object.entries(lines).flatMap(([key, value]) => (value ? [`${key} = "${value}"`] : []))
    const text = `version = 4\n\n[[package]]\n${given.join('\n')}\n`
    expect(cargoLockProblems('L', text)).toEqual(problem === null ? [] : [`L: x${problem}`])
  })

  test.each([
    [{ integrity: digest }, null],
    [{ integrity: digest, resolved: 'https://example.org/x-1.0.0.tgz' }, null],
    [{}, 'has no digest'],
    [{ integrity: 'sha1-x' }, 'has no digest'],
    [{ integrity: digest, resolved: 'git+ssh://example.org/x' }, 'comes from git+ssh://example.org/x'],
    [{ integrity: digest, resolved: 'http://example.org/x.tgz' }, 'comes from http://example.org/x.tgz'],
    [{ integrity: digest, hasInstallScript: true }, 'runs a script when it is installed'],
    [{ integrity: digest, link: true }, 'is a link'],
  ])('a package with %j', (what, problem) => {
    const text = JSON.stringify({ packages: { '': {}, 'node_modules/x': what } })
    expect(npmLockProblems('L', text)).toEqual(problem === null ? [] : [`L: node_modules/x ${problem}.`])
  })

  test.each([
    [`{integrity: ${digest}}`, false],
    [`{tarball: https://example.org/x.tgz}`, true],
    [`{integrity: ${digest}, tarball: https://example.org/x.tgz}`, true],
    ['{commit: abc, repo: https://example.org/x, type: git}', true],
  ])('a resolution %s', (resolution, found) => {
    const text = `packages:\n\n  'x@1.0.0':\n    resolution: ${resolution}\n    engines: {node: '>=1'}\n`
    expect(pnpmLockProblems('L', text)).toHaveLength(found ? 1 : 0)
  })

  test('a Python package of more than one version', () => {
    expect(pipProblems('L', '# all\nanyio==4.1.0\n')).toEqual([])
    const loose = ['anyio>=4', 'anyio', 'anyio @ https://example.org/x', '-r other.txt']
    expect(pipProblems('L', loose.join('\n'))).toHaveLength(loose.length)
  })

  test('what would be fetched or run at installation', () => {
    expect(shippedProblems(manifest)).toEqual([])
    for (const field of ['dependencies', 'optionalDependencies', 'bundleDependencies']) {
      expect(shippedProblems({ ...manifest, [field]: { x: '1' } })).toEqual([
        `package.json has ${field}: what ships fetches nothing.`,
      ])
    }
    for (const script of ['preinstall', 'install', 'postinstall', 'prepare']) {
      expect(shippedProblems({ scripts: { [script]: 'x' } })).toHaveLength(1)
    }
  })

  test('a licence that is not allowed, and none', () => {
    const crate = license => ({ name: 'x', version: '1.0.0', license })
    const found = licenceProblems([crate('MIT'), crate('AGPL-3.0'), crate(null)], ['MIT'])
    expect(found).toEqual(['x 1.0.0 is under AGPL-3.0.', 'x 1.0.0 is under no licence that it names.'])
  })

  test('a crate that is linked twice', () => {
    const crate = (name, version) => ({ name, version })
    expect(doubleProblems([crate('x', '1.0.0'), crate('y', '1.0.0'), crate('x', '2.0.0')])).toEqual([
      'The addon links x in 1.0.0 and 2.0.0.',
    ])
  })
})

test('every kind of lock file is looked at, and there are lines in each to look at', async () => {
  const files = await lockFiles()
  for (const name of ['Cargo.lock', 'package-lock.json', 'hosts/dsh/pnpm-lock.yaml', 'hosts/node/package-lock.json']) {
    expect(files).toContain(name)
  }
  const pnpm = readFileSync(inRoot('hosts', 'dsh', 'pnpm-lock.yaml'), 'utf8')
  expect(pnpmLockProblems('L', pnpm.replaceAll('sha512-', 'sha1-')).length).toBeGreaterThan(400)
  const crates = readFileSync(inRoot('Cargo.lock'), 'utf8')
  expect(cargoLockProblems('L', crates.replaceAll('registry+', 'git+')).length).toBeGreaterThan(40)
})

test('no install script of a tool runs: npm is told so in every folder that it installs into', async () => {
  const folders = (await lockFiles()).filter(path => path.endsWith('package-lock.json'))
  expect(folders.length).toBeGreaterThan(3)
  for (const path of folders) {
    const settings = readFileSync(inRoot(path.replace('package-lock.json', '.npmrc')), 'utf8')
    expect([path, settings]).toEqual([path, expect.stringMatching(/^ignore-scripts=true$/m)])
  }
})

test('what a tool says of vulnerabilities is told, and that it could not be asked', async () => {
  const asked = (...args) => advisories('a.lock', ...args, inRoot())
  expect(await asked('sh', ['-c', 'echo fine'])).toEqual([])
  expect(await asked('sh', ['-c', 'echo a hole; exit 1'])).toEqual([
    expect.stringMatching(/^a\.lock, as `sh .*a hole$/s),
  ])
  expect(await asked('no-such-tool', ['audit'])).toEqual([expect.stringContaining('no-such-tool')])
})

describe('the notices', () => {
  const text = readFileSync(noticesFile, 'utf8')

  test('are of every crate that cargo says is linked, and of no other', async () => {
    // Another reader of the same: cargo's own tree.
    const tree = ['tree', '--locked', '--features', 'node', '--edges', 'normal,no-proc-macro', '--prefix', 'none']
    const found = new Set()
    for (const target of manifest.napi.targets) {
      const { stdout } = await run('cargo', [...tree, '--target', target], { cwd: inRoot() })
      for (const [, name, version] of stdout.matchAll(/^(\S+) v(\S+)/gm)) found.add(`${name} ${version}`)
    }
    found.delete(`${manifest.name} ${manifest.version}`)
    const linked = (await linkedCrates()).map(({ name, version }) => `${name} ${version}`)
    expect(new Set(linked)).toEqual(found)
    const lines = text.split('\n')
    for (const crate of found) expect(lines).toContain(crate)
    // Macros and what tests need are in no addon.
    for (const { name, version } of await allCrates()) {
      if (['proptest', 'syn', 'napi-derive'].includes(name)) expect(lines).not.toContain(`${name} ${version}`)
    }
  })

  test('have the text of each licence that they name', () => {
    const parts = text.split(`${'='.repeat(80)}\n`).slice(1)
    expect(parts.length).toBeGreaterThan(10)
    const begins = {
      MIT: 'Permission is hereby granted',
      ISC: 'Permission to use, copy',
      'Unicode-3.0': 'UNICODE LICENSE V3',
    }
    for (const part of parts) {
      const licences = /^Licence: (.*)$/m.exec(part)?.[1]?.split(/ and |, and | for /) ?? []
      const named = licences.filter(name => begins[name])
      expect([part.slice(0, 60), named.length > 0]).toEqual([part.slice(0, 60), true])
      for (const name of named) expect(part.replace(/\s+/g, ' ')).toContain(begins[name])
    }
  })

  test('are renewed for crates, and kept for another compiler', async () => {
    const crates = await linkedCrates()
    const other = text.replace(/(The Rust standard library )\S+/, '$10.0.0')
    expect(await noticesText(crates, allowedLicences(), other)).toBe(other)
    const less = await noticesText(crates.slice(1), allowedLicences(), text)
    expect(less).not.toBe(text)
    expect(less).not.toContain(`${crates[0]?.name} ${crates[0]?.version}\n`)
  })

  test('are not made of a licence that is not allowed, nor without a text', async () => {
    const [crate] = await linkedCrates()
    const made = license => noticesText([{ ...crate, license }], allowedLicences(), text)
    await expect(made('AGPL-3.0')).rejects.toThrow('is under AGPL-3.0, which deny.toml does not allow')
    await expect(made('Unicode-3.0')).rejects.toThrow('is under Unicode-3.0 and brings no text of it')
    expect(existsSync(noticesFile)).toBe(true)
  })

  test('of the standard library are read from the document that the compiler brings', () => {
    const crate = (name, license) => `<h3>📦 ${name}-1.2.3</h3>
      <p><b>License:</b> ${license}</p>
      <details><summary><code>LICENSE-APACHE</code></summary><pre>apache</pre></details>
      <details><summary><code>LICENSE-MIT</code></summary>
      <pre>\n&#60;mine&#62; &amp; yours\n</pre></details>`
    const html = `<p>Copyright: One</p>
      <p>Copyright: Two</p>
      <p>Copyright: One</p>
      ${crate('cfg-if', 'MIT OR Apache-2.0')}${crate('not_here', 'MPL-2.0')}`
    const read = isLinked => standardLibrary(html, isLinked, ['MIT'])
    expect(read(name => name === 'cfg-if')).toEqual({
      copyrights: ['One', 'Two'],
      notices: [{ name: 'cfg-if 1.2.3', licences: ['MIT'], text: '<mine> & yours' }],
    })
    expect(() => read(() => true)).toThrow('not_here of the standard library is under MPL-2.0')
  })
})
