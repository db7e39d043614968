/** What makes a release: the packages, the checks before them, and the workflow, as far as it can be run here. */
import { execFile } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { releaseProblems } from '../scripts/check-release.mjs'
import { platformOf } from '../scripts/lib/binary.mjs'
import { inRoot, linksOld } from '../scripts/lib/project.mjs'
import { releasePackages } from '../scripts/release.mjs'
import { packProject } from './support/headless.js'
import { withTempDir } from './support/temp-dir.js'
import { readYaml } from './support/yaml.js'

const run = promisify(execFile)
const read = path => readFileSync(inRoot(path), 'utf8')
const manifest = JSON.parse(read('package.json'))
const repository = 'https://example.org/owner/name'

/** The beginnings of libraries of every platform that there is an addon for; of Linux with glibc the one that was built here. */
const own = linksOld ? readFileSync(inRoot('dsh-bmpp.linux-x64-gnu.node')) : Buffer.alloc(64)
function header(size, ...fields) {
  const bytes = Buffer.alloc(size)
  for (const [at, value] of fields) typeof value === 'string' ? bytes.write(value, at, 'latin1') : bytes.set(value, at)
  return bytes
}
const elf = machine => header(64, [0, '\x7fELF\x02\x01'], [18, [machine]])
const machO = cpu => header(64, [0, [0xcf, 0xfa, 0xed, 0xfe, cpu, 0, 0, 1]])
const pe = machine => header(128, [0, 'MZ'], [60, [96]], [96, 'PE\0\0'], [100, machine])
const arm = Buffer.from(own)
arm.writeUInt16LE(0xb7, 18)
const libraries = {
  'linux-x64-gnu': own,
  'linux-arm64-gnu': arm,
  'linux-x64-musl': elf(0x3e),
  'linux-arm64-musl': elf(0xb7),
  'darwin-x64': machO(7),
  'darwin-arm64': machO(12),
  'win32-x64-msvc': pe([0x64, 0x86]),
}
const platforms = Object.keys(libraries)

/** One file for each platform, each below a folder of its own, as artifacts are downloaded. */
function addonsIn(folder, { without = [], instead = {} } = {}) {
  for (const platform of platforms.filter(name => !without.includes(name))) {
    const name = `dsh-bmpp.${platform}.node`
    mkdirSync(join(folder, 'addons', name), { recursive: true })
    writeFileSync(join(folder, 'addons', name, name), libraries[instead[platform] ?? platform])
  }
  return { addons: join(folder, 'addons'), out: join(folder, 'out'), repository }
}

const listed = async file => (await run('tar', ['-tzf', file])).stdout.trim().split('\n')
const manifestIn = async file => JSON.parse((await run('tar', ['-xzOf', file, 'package/package.json'])).stdout)

describe.runIf(linksOld)('the packages of a release', () => {
  test('are one for each platform with its addon and the notices, and an entry without any that names them all', async () => {
    await withTempDir(async folder => {
      const files = await releasePackages(addonsIn(folder))
      expect(files).toHaveLength(8)
      for (const file of files.slice(0, -1)) {
        const { name, main, version, repository: of, scripts } = await manifestIn(file)
        expect({ url: of.url, version, scripts }).toEqual({
          url: `git+${repository}.git`,
          version: manifest.version,
          scripts: undefined,
        })
        const members = ['LICENSE', 'README.md', 'THIRD-PARTY-LICENSES.txt', main, 'package.json']
        expect((await listed(file)).toSorted()).toEqual(members.map(path => `package/${path}`).toSorted())
        expect(main).toBe(`${name.replace('dsh-bmpp-', 'dsh-bmpp.')}.node`)
      }
      const entry = await manifestIn(files.at(-1))
      expect(entry.optionalDependencies).toEqual(
        Object.fromEntries(platforms.map(platform => [`dsh-bmpp-${platform}`, manifest.version])),
      )
      for (const field of ['scripts', 'devDependencies', 'dependencies']) expect(entry).not.toHaveProperty(field)
      const inEntry = await listed(files.at(-1))
      expect(inEntry.filter(path => path.endsWith('.node'))).toEqual([])
      // And all else that a packed checkout has.
      const packed = await listed(await packProject(folder))
      expect(inEntry.toSorted()).toEqual(packed.filter(path => !path.endsWith('.node')).toSorted())
    })
  })

  test.each([
    [{ without: ['darwin-x64'] }, 'There is no dsh-bmpp.darwin-x64.node.'],
    [{ instead: { 'linux-arm64-gnu': 'linux-x64-gnu' } }, 'dsh-bmpp.linux-arm64-gnu.node is built for linux-x64-gnu'],
    [{ instead: { 'linux-x64-musl': 'linux-x64-gnu' } }, 'dsh-bmpp.linux-x64-musl.node is built for linux-x64-gnu'],
    [{ instead: { 'darwin-arm64': 'darwin-x64' } }, 'dsh-bmpp.darwin-arm64.node is built for darwin-x64'],
    [{ instead: { 'win32-x64-msvc': 'linux-x64-musl' } }, 'dsh-bmpp.win32-x64-msvc.node is built for linux-x64-musl'],
  ])('are not made of %j', async (what, sentence) => {
    await withTempDir(async folder => {
      await expect(releasePackages(addonsIn(folder, what))).rejects.toThrow(sentence)
    })
  })

  test('are not made where one is there twice, or one is too many, or one is no library', async () => {
    const refused = async (change, sentence) => {
      await withTempDir(async folder => {
        const what = addonsIn(folder)
        change(what.addons)
        await expect(releasePackages(what)).rejects.toThrow(sentence)
      })
    }
    const name = 'dsh-bmpp.darwin-x64.node'
    await refused(at => cpSync(join(at, name, name), join(at, name, 'again', name)), `There are 2 files ${name}`)
    await refused(at => writeFileSync(join(at, 'dsh-bmpp.freebsd-x64.node'), own), 'No package takes dsh-bmpp.freebsd')
    await refused(at => writeFileSync(join(at, name, name), 'no library'), `${name} is built for no system`)
  })
})

test.runIf(linksOld)('the platform of a library is read from its header', () => {
  for (const [platform, bytes] of Object.entries(libraries)) expect(platformOf(bytes)).toBe(platform)
  expect(platformOf(elf(0x03))).toMatch(/^linux-machine 0x3-/)
  expect(platformOf(machO(18))).toBe('darwin-machine 0x1000012')
  for (const bytes of ['', 'MZ', 'text '.repeat(40)]) expect(platformOf(Buffer.from(bytes))).toBe(null)
})

describe('a version', () => {
  const { version } = manifest
  const dated = '2030-01-02'
  const changelog = date => read('CHANGELOG.md').replace(/^(## \[.*?\] - ).*$/m, `$1${date}`)
  const problems = (changed, ref) =>
    releaseProblems(path => changed[path] ?? (path === 'CHANGELOG.md' ? changelog(dated) : read(path)), ref)

  test('is the same in every file of this checkout', () => {
    expect(releaseProblems(read)).toEqual([])
    expect(problems({}, `refs/tags/v${version}`)).toEqual([])
  })

  test.each([
    ['refs/heads/main', 'refs/heads/main is no tag: a release is made from its tag.'],
    [`refs/tags/${version}`, `The tag is ${version}, and the version is ${version}.`],
    ['refs/tags/v9.9.9', `The tag is v9.9.9, and the version is ${version}.`],
    ['', ' is no tag: a release is made from its tag.'],
  ])('is not released from %s', (ref, problem) => {
    expect(problems({}, ref)).toEqual([problem])
  })

  test.each([
    ['Cargo.toml', text => text.replace(/^version = ".*"/m, 'version = "9.9.9"'), 'and Cargo.toml has 9.9.9.'],
    ['Cargo.lock', text => text.replace(/(name = "dsh-bmpp"\nversion = )".*"/, '$1"9.9.9"'), 'Cargo.lock has 9.9.9.'],
    ['package-lock.json', text => text.replaceAll(`"version": "${version}"`, '"version": "9.9.9"'), 'has 9.9.9.'],
    ['CHANGELOG.md', text => text.replace(`## [${version}]`, '## [9.9.9]'), `no section [${version}] with a date.`],
    ['CHANGELOG.md', () => changelog('unreleased'), 'unreleased. It is dated before it is released.'],
  ])('is not released where %s says otherwise', (path, change, problem) => {
    const found = problems(
      { [path]: change(path === 'CHANGELOG.md' ? changelog(dated) : read(path)) },
      `refs/tags/v${version}`,
    )
    expect(found).toHaveLength(1)
    expect(found[0]).toContain(problem)
  })
})

const folder = inRoot('.github', 'workflows')
const workflows = readdirSync(folder).map(name => ({ ...readYaml(join(folder, name)), name }))
const jobs = workflows.flatMap(({ name, jobs }) => Object.entries(jobs).map(([id, job]) => ({ name, id, job })))
const steps = jobs.flatMap(({ name, id, job }) => job.steps.map(step => ({ at: `${name} ${id}`, ...step })))
const release = workflows.find(({ name }) => name === 'release.yml')

describe('the workflows', () => {
  test('may read and nothing else, but for the one job that publishes', () => {
    for (const { permissions } of workflows) expect(permissions).toEqual({ contents: 'read' })
    const more = jobs.filter(({ job }) => job.permissions !== undefined)
    expect(more.map(({ id, job }) => [id, job.permissions, job.environment])).toEqual([
      ['publish', { 'id-token': 'write' }, 'npm'],
    ])
  })

  test('use only actions of GitHub itself, each at one version', () => {
    const used = steps.flatMap(({ uses }) => uses ?? [])
    expect(used.length).toBeGreaterThan(5)
    expect(used.filter(uses => !/^actions\/[\w-]+@v\d+\.\d+\.\d+$/.test(uses))).toEqual([])
    const names = new Set(used)
    expect(new Set([...names].map(uses => uses.split('@')[0])).size).toBe(names.size)
  })

  test('give the secret to one step, and what others wrote to no script', () => {
    const secret = steps.filter(step => JSON.stringify(step).includes('secrets.'))
    expect(secret.map(({ at, name }) => [at, name])).toEqual([['release.yml publish', 'publish']])
    // An expression in a script is put in as text, before the shell reads it.
    const scripts = steps.flatMap(({ run }) => run ?? [])
    const put = scripts.flatMap(script => [...script.matchAll(/\$\{\{ (.*?) \}\}/g)].map(([, what]) => what))
    expect(put.filter(what => !['matrix.target', 'env.RUST'].includes(what))).toEqual([])
    for (const { uses, with: options } of steps) {
      if (uses?.startsWith('actions/checkout@')) expect(options['persist-credentials']).toBe(false)
    }
  })

  test('publish nothing unless told to, and run no code of ours where they publish', () => {
    const { on, jobs } = release
    expect(Object.keys(on)).toEqual(['workflow_dispatch'])
    expect(on.workflow_dispatch.inputs['dry-run']).toMatchObject({ type: 'boolean', default: true })
    expect(jobs.publish.if).toMatch(/^\$\{\{ !inputs\.dry-run \}\}$/)
    expect(jobs.publish.steps.some(({ uses }) => uses?.startsWith('actions/checkout@'))).toBe(false)
    const publishing = steps.filter(({ run }) => /npm publish(?! --dry-run)/.test(run ?? ''))
    expect(publishing.map(({ at }) => at)).toEqual(['release.yml publish'])
    expect(jobs.package.needs).toEqual(['verify', 'build', 'build-musl', 'test'])
    expect(jobs.publish.needs).toBe('package')
  })

  test('build each target once, and test each', () => {
    const targets = id => release.jobs[id].strategy.matrix.include.map(({ target }) => target)
    const built = [...targets('build'), ...targets('build-musl')]
    expect(built.toSorted()).toEqual(manifest.napi.targets.toSorted())
    expect([...new Set([...targets('test'), ...targets('build-musl')])].toSorted()).toEqual(built.toSorted())
  })

  test('end by themselves, on systems of one version', () => {
    for (const { id, job } of jobs) {
      expect([id, job['timeout-minutes'] > 0]).toEqual([id, true])
      const matrix = job.strategy?.matrix ?? {}
      const systems = [job['runs-on'], ...(matrix.os ?? []), ...(matrix.include ?? []).map(({ os }) => os)]
      for (const system of systems.filter(name => name && !name.includes('${{'))) {
        expect(system).toMatch(/^(ubuntu-\d\d\.\d\d(-arm)?|macos-\d\d(-intel)?|windows-20\d\d)$/)
      }
    }
  })

  test('name only what is there: jobs, artifacts, columns of the matrix, outputs, scripts and files', () => {
    for (const { name, id, job } of jobs) {
      const siblings = workflows.find(workflow => workflow.name === name).jobs
      const { matrix = {} } = job.strategy ?? {}
      const columns = [...Object.keys(matrix), ...(matrix.include ?? []).flatMap(Object.keys)]
      const text = JSON.stringify(job)
      for (const needed of [job.needs ?? []].flat())
        expect([id, Object.keys(siblings)]).toEqual([id, expect.arrayContaining([needed])])
      for (const [, column] of text.matchAll(/\$\{\{ matrix\.(\w+) \}\}/g))
        expect([id, columns.includes(column)]).toEqual([id, true])
      for (const [, step] of text.matchAll(/steps\.(\w+)\.outputs/g))
        expect(job.steps.some(other => other.id === step)).toBe(true)
      for (const [, from, output] of text.matchAll(/needs\.(\w+)\.outputs\.(\w+)/g)) {
        expect([job.needs].flat()).toContain(from)
        expect(siblings[from].outputs).toHaveProperty(output)
      }
    }
    const named = action => steps.filter(({ uses }) => uses?.startsWith(`actions/${action}@`)).map(step => step.with)
    const uploaded = named('upload-artifact').map(options => options.name)
    for (const { name, pattern } of named('download-artifact')) {
      const wanted = name ?? pattern.replace('*', ['$', '{{ matrix.target }}'].join(''))
      expect(uploaded).toContain(wanted)
    }
    const scripts = steps.flatMap(({ run }) => run ?? []).join('\n')
    const npm = [...scripts.matchAll(/\bnpm run (?:-s )?([\w-]+)/g)].map(([, script]) => script)
    expect(npm.length).toBeGreaterThan(4)
    expect(npm.filter(script => !manifest.scripts[script])).toEqual([])
    const files = [...scripts.matchAll(/(?:^|\s)(?:node )?((?:scripts|\.ci)\/[\w./-]+)/g)].map(([, file]) => file)
    expect(files.length).toBeGreaterThan(4)
    expect(files.filter(file => !existsSync(inRoot(file)))).toEqual([])
  })

  test('hold every compiler and tool to one version', () => {
    const scripts = steps.flatMap(({ run }) => run ?? []).join('\n')
    const installed = [...scripts.matchAll(/toolchain install ("?\$?[\w.{} ]+"?)/g)].map(([, what]) => what.trim())
    const given = new Set(installed.map(what => (/^\d/.test(what) ? what.split(' ')[0] : release.env.RUST)))
    expect([...given]).toEqual([expect.stringMatching(/^\d+\.\d+\.\d+$/)])
    for (const [install] of scripts.matchAll(/cargo install .*/g))
      expect(install).toMatch(/--locked --version \d+\.\d+\.\d+$/)
  })
})

// The scripts of the workflow are shell, as GitHub's Linux runners have it.
describe.runIf(process.platform === 'linux')('the steps of the release that are shell', () => {
  const script = (job, name) => release.jobs[job].steps.find(step => step.name === name).run
  const bash = (text, cwd, env = {}) => run('bash', ['-e', '-c', text], { cwd, env: { ...process.env, ...env } })
  const names = ['linux-x64-gnu-', 'darwin-arm64-', ''].map(platform => `dsh-bmpp-${platform}`)

  /** Packages of a version as npm packs them, and an npm that says what it is told; some it has published before. */
  async function packages(dir, version, published = []) {
    const at = join(dir, 'dist', 'packages')
    mkdirSync(at, { recursive: true })
    for (const name of names) {
      mkdirSync(join(dir, 'package'), { recursive: true })
      writeFileSync(join(dir, 'package', 'package.json'), JSON.stringify({ name: name.slice(0, -1), version }))
      await run('tar', ['-czf', join(at, `${name}${version}.tgz`), 'package'], { cwd: dir })
    }
    const npm = join(dir, 'bin', 'npm')
    mkdirSync(join(dir, 'bin'))
    const known = published.map(id => `[ "$2" = "${id}" ] && exit 0`).join('; ')
    writeFileSync(npm, `#!/bin/sh\n[ "$1" = view ] && { ${known || ':'}; exit 1; }\necho "npm $*" >> ${dir}/said\n`)
    chmodSync(npm, 0o755)
    const env = { PATH: [join(dir, 'bin'), process.env.PATH].join(delimiter) }
    const said = () => (existsSync(join(dir, 'said')) ? readFileSync(join(dir, 'said'), 'utf8').trim().split('\n') : [])
    return { at, env, said }
  }

  test('publish the platforms first, with proof, as what the version is', async () => {
    for (const [version, tag] of [
      ['1.2.3', 'latest'],
      ['1.2.3-rc.1', 'next'],
    ]) {
      await withTempDir(async dir => {
        const { at, env, said } = await packages(dir, version)
        await bash(script('publish', 'publish'), at, env)
        const order = ['darwin-arm64-', 'linux-x64-gnu-', ''].map(platform => `./dsh-bmpp-${platform}${version}.tgz`)
        expect(said()).toEqual(order.map(file => `npm publish --provenance --access public --tag ${tag} ${file}`))
      })
    }
  })

  test('pass over what was published before', async () => {
    await withTempDir(async dir => {
      const { at, env, said } = await packages(dir, '1.2.3', ['dsh-bmpp-darwin-arm64@1.2.3', 'dsh-bmpp@1.2.3'])
      const { stdout } = await bash(script('publish', 'publish'), at, env)
      expect(stdout).toBe('dsh-bmpp-darwin-arm64@1.2.3 is there already\ndsh-bmpp@1.2.3 is there already\n')
      expect(said()).toEqual([expect.stringMatching(/ \.\/dsh-bmpp-linux-x64-gnu-1\.2\.3\.tgz$/)])
    })
  })

  test('stop where npm refuses one, before the entry package', async () => {
    await withTempDir(async dir => {
      const { at, env, said } = await packages(dir, '1.2.3')
      writeFileSync(
        join(dir, 'bin', 'npm'),
        `#!/bin/sh\n[ "$1" = view ] && exit 1\necho "npm $*" >> ${dir}/said\nexit 7\n`,
      )
      await expect(bash(script('publish', 'publish'), at, env)).rejects.toThrow()
      expect(said()).toHaveLength(1)
    })
  })

  test('publish the very files that were packed, and no other', async () => {
    await withTempDir(async dir => {
      const { at } = await packages(dir, '1.2.3')
      const output = join(dir, 'output')
      await bash(script('package', 'digests'), dir, { GITHUB_OUTPUT: output })
      const [, DIGESTS] = /^digests<<EOF\n([\s\S]*)\nEOF\n$/.exec(readFileSync(output, 'utf8'))
      const check = () =>
        bash(script('publish', 'the files are those that were packed, and no other'), at, { DIGESTS }).then(
          () => true,
          () => false,
        )
      expect(await check()).toBe(true)
      writeFileSync(join(at, 'dsh-bmpp-evil-1.2.3.tgz'), '')
      expect(await check()).toBe(false)
      await bash('rm dsh-bmpp-evil-1.2.3.tgz; echo x >> dsh-bmpp-1.2.3.tgz', at)
      expect(await check()).toBe(false)
    })
  })

  test('show what npm would publish', async () => {
    await withTempDir(async dir => {
      const { env, said } = await packages(dir, '1.2.3')
      await bash(script('package', 'what npm would publish'), dir, env)
      expect(said()).toHaveLength(3)
      for (const line of said()) expect(line).toMatch(/^npm publish --dry-run .* \.\/dist\/packages\/dsh-bmpp-.*\.tgz$/)
    })
  })

  test('know no version but that of the tag', async () => {
    const verify = ref => bash(script('verify', 'the tag is the version'), inRoot(), { GITHUB_REF: ref })
    await expect(verify('refs/heads/main')).rejects.toThrow('is no tag')
    await expect(verify('refs/tags/v9.9.9')).rejects.toThrow('The tag is v9.9.9')
    expect((await bash(script('verify', 'the version is one'), inRoot())).stdout).toContain('the same everywhere')
  })
})
