/**
 * Which application hosts us, and whether it has what we use (spec section 11). The trees are real folders and real
 * symlinks; only what a file system cannot be made to do for root (no permission) or at all is injected.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { CONTEXT_MEMBERS, detectHost, probeContext, probeTools, TOOLS_MEMBERS } from '../../js/host.js'

const DSH = '@deepseek-ai/dsh'
const packageRoot = fileURLToPath(new URL('../..', import.meta.url))

/** @type {string[]} */
const made = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/** A symlink in a tree. */
const link = (/** @type {string} */ to) => ({ link: to })

/**
 * Makes a folder tree in a temp folder.
 * @param {Record<string, string | object>} files path → text, or an object for JSON, or a link
 * @returns {(...parts: string[]) => string} path in the tree → absolute path
 */
function tree(files) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bmpp-host-')))
  made.push(root)
  for (const [path, content] of Object.entries(files)) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    if (typeof content === 'object' && 'link' in content) symlinkSync(String(content.link), file)
    else writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  }
  return (...parts) => join(root, ...parts)
}

const manifest = (/** @type {string} */ name, /** @type {string} */ version) => ({ name, version, type: 'module' })
/** A launcher with this entry point, in an otherwise ordinary Node process. */
const run = (/** @type {string | undefined} */ entry, more = {}) =>
  detectHost({ argv: ['/usr/bin/node', entry], execArgv: [], execPath: '/usr/bin/node', dshHome: '/none', ...more })

describe('the manifest of the running entry point', () => {
  const at = tree({
    'lib/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5-rc.2'),
    'lib/node_modules/@deepseek-ai/dsh/lib/bin.js': '',
    'bin/dsh': link('../lib/node_modules/@deepseek-ai/dsh/lib/bin.js'),
    // Beside it, what Node runs only where there is no file of the very name.
    'bin/dsh.js': '',
    'home/bin/first': link('second'),
    'home/bin/second': link('../../bin/dsh'),
    'opt/current': link('../lib/node_modules/@deepseek-ai'),
  })
  const bin = at('lib/node_modules/@deepseek-ai/dsh/lib/bin.js')
  const found = { name: DSH, version: '0.1.5-rc.2', source: 'entry' }

  test.each([
    ['a direct path to lib/bin.js', bin],
    ['npm -g: a symlink in a bin folder', at('bin/dsh')],
    ['a chain of symlinks', at('home/bin/first')],
    ['a symlinked folder on the way', at('opt/current/dsh/lib/bin.js')],
    ['a path with dots', at('bin/../lib/node_modules/@deepseek-ai/dsh/lib/./bin.js')],
    ['a file URL', pathToFileURL(bin).href],
    ['a path without its extension, as Node allows', bin.replace(/\.js$/, '')],
    ['the folder of the package', at('lib/node_modules/@deepseek-ai/dsh')],
    ['a symlink to the folder of the package', at('opt/current/dsh')],
  ])('%s', (_, entry) => {
    expect(run(entry)).toMatchObject(found)
    expect(run(entry).why).toContain(JSON.stringify(run(entry).why.includes(bin) ? bin : dirname(dirname(bin))))
  })

  test('a relative path, from the working folder', () => {
    expect(run('bin/dsh', { cwd: at() })).toMatchObject(found)
    expect(run('../bin/dsh', { cwd: at('lib') })).toMatchObject(found)
    expect(run('bin/dsh', { cwd: at('lib') })).toMatchObject({ version: null, source: 'none' })
  })

  test('pnpm: the shell shim hands over the real file in the virtual store', () => {
    const store = 'node_modules/.pnpm/@deepseek-ai+dsh@0.1.0-rc.8_abc/node_modules/@deepseek-ai'
    const pnpm = tree({
      'package.json': manifest('some-project', '9.9.9'),
      [`${store}/dsh/package.json`]: manifest(DSH, '0.1.0-rc.8'),
      [`${store}/dsh/lib/bin.js`]: '',
      'node_modules/@deepseek-ai/dsh': link('../.pnpm/@deepseek-ai+dsh@0.1.0-rc.8_abc/node_modules/@deepseek-ai/dsh'),
    })
    expect(run(pnpm(store, 'dsh/lib/bin.js'))).toMatchObject({ name: DSH, version: '0.1.0-rc.8', source: 'entry' })
    expect(run(pnpm('node_modules/@deepseek-ai/dsh/lib/bin.js'))).toMatchObject({ version: '0.1.0-rc.8' })
  })

  test('a nameless manifest on the way only marks the module type and is walked past', () => {
    const nested = tree({
      'package.json': manifest(DSH, '0.1.6'),
      'lib/package.json': { type: 'module', version: '7.0.0' },
      'lib/esm/package.json': { name: '', version: '8.0.0' },
      'lib/esm/bin.js': '',
    })
    expect(run(nested('lib/esm/bin.js'))).toMatchObject({ version: '0.1.6', source: 'entry' })
  })

  test('a package inside the Harness package is not the Harness', () => {
    const nested = tree({
      'package.json': manifest(DSH, '0.1.6'),
      'node_modules/tool/package.json': manifest('tool', '7.0.0'),
      'node_modules/tool/bin.js': '',
      'node_modules/nameless/package.json': { type: 'module' },
      'node_modules/nameless/bin.js': '',
      'examples/own/package.json': manifest('own', '1.0.0'),
      'examples/own/bin.js': '',
    })
    expect(run(nested('node_modules/tool/bin.js'))).toMatchObject({ name: 'tool', version: null, source: 'none' })
    expect(run(nested('node_modules/nameless/bin.js'))).toMatchObject({ name: null, version: null, source: 'none' })
    expect(run(nested('examples/own/bin.js'))).toMatchObject({ name: 'own', version: null, source: 'none' })
  })

  test('the name is compared whole', () => {
    for (const name of ['@deepseek-ai/dsh-web', 'dsh', '@deepseek-ai/DSH', ' @deepseek-ai/dsh', '@evil/dsh']) {
      const other = tree({ 'package.json': manifest(name, '0.1.5'), 'bin.js': '' })
      expect(run(other('bin.js'))).toMatchObject({ name, version: null, source: 'none' })
    }
  })

  test('the version is handed on as it is written: parsing is the core’s', () => {
    for (const version of ['0.1.5-rc.2', 'next', '0.1.5 ', 'v0.1.5']) {
      const odd = tree({ 'package.json': { name: DSH, version }, 'bin.js': '' })
      expect(run(odd('bin.js')).version).toBe(version)
    }
  })

  test('a byte order mark is no reason to know nothing', () => {
    const marked = tree({ 'package.json': `\uFEFF${JSON.stringify(manifest(DSH, '0.1.5'))}`, 'bin.js': '' })
    expect(run(marked('bin.js')).version).toBe('0.1.5')
  })
})

describe('a Harness package resolved from the entry point', () => {
  test.each([
    ['the CLI package', DSH],
    ['what every launcher boots with', '@deepseek-ai/dsh-app-boot'],
    ['the tool registry', '@deepseek-ai/dsh-tools'],
    ['the agent loop', '@deepseek-ai/dsh-agent-loop'],
  ])('%s stands for the version', (_, name) => {
    const at = tree({
      'node_modules/@deepseek-ai/dsh-acp-demo/package.json': manifest('@deepseek-ai/dsh-acp-demo', '0.0.1-rc.1'),
      'node_modules/@deepseek-ai/dsh-acp-demo/lib/bin.js': '',
      [`node_modules/${name}/package.json`]: manifest(name, '0.1.5-rc.2'),
      'node_modules/.bin/dsh-acp-demo': link('../@deepseek-ai/dsh-acp-demo/lib/bin.js'),
    })
    const host = run(at('node_modules/.bin/dsh-acp-demo'))
    expect(host).toMatchObject({ name, version: '0.1.5-rc.2', source: 'identity' })
    expect(host.why).toContain('dsh-acp-demo')
    expect(host.why).toContain(name)
  })

  test('pnpm: the JSON-RPC launcher sees its own dependencies in the virtual store', () => {
    const own = 'node_modules/.pnpm/@deepseek-ai+dsh-sdk-jsonrpc-demo@0.0.1/node_modules/@deepseek-ai'
    const boot = 'node_modules/.pnpm/@deepseek-ai+dsh-app-boot@0.1.5/node_modules/@deepseek-ai/dsh-app-boot'
    const at = tree({
      [`${own}/dsh-sdk-jsonrpc-demo/package.json`]: manifest('@deepseek-ai/dsh-sdk-jsonrpc-demo', '0.0.1'),
      [`${own}/dsh-sdk-jsonrpc-demo/lib/bin.js`]: '',
      [`${boot}/package.json`]: manifest('@deepseek-ai/dsh-app-boot', '0.1.5'),
      [`${own}/dsh-app-boot`]: link('../../../@deepseek-ai+dsh-app-boot@0.1.5/node_modules/@deepseek-ai/dsh-app-boot'),
    })
    expect(run(at(own, 'dsh-sdk-jsonrpc-demo/lib/bin.js'))).toMatchObject({ version: '0.1.5', source: 'identity' })
  })

  test('an embedding script of one’s own', () => {
    const at = tree({
      'package.json': { dependencies: { '@deepseek-ai/dsh-tools': '*' } },
      'node_modules/@deepseek-ai/dsh-tools/package.json': manifest('@deepseek-ai/dsh-tools', '0.1.5'),
      'src/run.mjs': '',
    })
    expect(run(at('src/run.mjs'))).toMatchObject({
      name: '@deepseek-ai/dsh-tools',
      version: '0.1.5',
      source: 'identity',
    })
  })

  test('the nearest folder wins, as it does when Node resolves', () => {
    const at = tree({
      'node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.0.9'),
      'app/node_modules/@deepseek-ai/dsh-tools/package.json': manifest('@deepseek-ai/dsh-tools', '0.1.5'),
      'app/package.json': manifest('app', '1.0.0'),
      'app/run.mjs': '',
    })
    expect(run(at('app/run.mjs'))).toMatchObject({ name: '@deepseek-ai/dsh-tools', version: '0.1.5' })
  })

  test('packages that disagree are said', () => {
    const at = tree({
      'node_modules/@deepseek-ai/dsh-app-boot/package.json': manifest('@deepseek-ai/dsh-app-boot', '0.1.5'),
      'node_modules/@deepseek-ai/dsh-tools/package.json': manifest('@deepseek-ai/dsh-tools', '0.1.4'),
      'run.mjs': '',
    })
    const host = run(at('run.mjs'))
    expect(host).toMatchObject({ name: '@deepseek-ai/dsh-app-boot', version: '0.1.5' })
    expect(host.why).toContain('@deepseek-ai/dsh-tools beside it is "0.1.4"')
  })

  test('stands in for an entry manifest that has no usable version', () => {
    for (const own of [
      '{ broken',
      '[]',
      'null',
      JSON.stringify({ name: DSH }),
      JSON.stringify({ name: DSH, version: 5 }),
    ]) {
      const at = tree({
        'package.json': own,
        'node_modules/@deepseek-ai/dsh-tools/package.json': manifest('@deepseek-ai/dsh-tools', '0.1.5'),
        'lib/bin.js': '',
      })
      expect(run(at('lib/bin.js'))).toMatchObject({ version: '0.1.5', source: 'identity' })
    }
  })

  test('one with its own version line, of another name, or broken is none', () => {
    const at = tree({
      'node_modules/@deepseek-ai/cordis/package.json': manifest('@deepseek-ai/cordis', '4.0.1'),
      'node_modules/@deepseek-ai/dsh-tool-bash/package.json': manifest('@deepseek-ai/dsh-tool-bash', '0.1.5'),
      'node_modules/@deepseek-ai/dsh/package.json': manifest('an-alias', '0.1.5'),
      'node_modules/@deepseek-ai/dsh-app-boot/package.json': '{ broken',
      'node_modules/@deepseek-ai/dsh-tools/package.json': { name: '@deepseek-ai/dsh-tools', version: ' ' },
      'run.mjs': '',
    })
    const host = run(at('run.mjs'))
    expect(host).toMatchObject({ version: null, source: 'none' })
    expect(host.why).toContain('is not a JSON object')
  })

  test('a package folder itself named node_modules is not searched twice', () => {
    const at = tree({
      'node_modules/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'node_modules/tool/bin.js': '',
    })
    expect(run(at('node_modules/tool/bin.js')).version).toBeNull()
  })
})

describe('what is never consulted', () => {
  test('our own dependencies', () => {
    const at = tree({
      'bmpp/package.json': manifest('dsh-bmpp', '0.1.0'),
      'bmpp/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'bmpp/node_modules/vitest/package.json': manifest('vitest', '1.0.0'),
      'bmpp/node_modules/vitest/vitest.mjs': '',
      'bmpp/node_modules/.pnpm/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'bmpp/node_modules/.pnpm/x@1/node_modules/x/bin.js': '',
      'bmpp/js/cli/index.js': '',
      'bmpp/hosts/node_modules/@deepseek-ai/dsh-tools/package.json': manifest('@deepseek-ai/dsh-tools', '0.1.4'),
      'bmpp/hosts/run.mjs': '',
    })
    const ownRoot = at('bmpp')
    expect(run(at('bmpp/node_modules/vitest/vitest.mjs'), { ownRoot })).toMatchObject({ name: 'vitest', version: null })
    expect(run(at('bmpp/node_modules/.pnpm/x@1/node_modules/x/bin.js'), { ownRoot }).version).toBeNull()
    // Without the exclusion the same tree has an answer, so the two lines above prove something.
    expect(run(at('bmpp/node_modules/vitest/vitest.mjs'), { ownRoot: at() }).version).toBe('0.1.5')

    const cli = run(at('bmpp/js/cli/index.js'), { ownRoot: at() })
    expect(cli).toMatchObject({ name: 'dsh-bmpp', version: null, source: 'none' })
    expect(cli.why).toContain("dsh-bmpp's own")
  })

  test('where we ourselves are: an unknown launcher elsewhere stays unknown', () => {
    const at = tree({
      'profile/node_modules/dsh-bmpp/package.json': manifest('dsh-bmpp', '0.1.0'),
      'profile/node_modules/dsh-bmpp/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'profile/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'elsewhere/package.json': manifest('launcher', '1.0.0'),
      'elsewhere/run.mjs': '',
    })
    const host = run(at('elsewhere/run.mjs'), { ownRoot: at('profile/node_modules/dsh-bmpp') })
    expect(host).toMatchObject({ name: 'launcher', version: null, source: 'none' })
    expect(host.why).toContain('belongs to "launcher", and no Harness package resolves from it')
  })

  test('the links that an earlier boot left in $DSH_HOME/profiles/node_modules', () => {
    const at = tree({
      'install/package.json': manifest(DSH, '0.0.1'),
      'home/profiles/node_modules/@deepseek-ai/dsh': link('../../../../install'),
      'home/profiles/headless/package.json': { private: true },
      'home/profiles/headless/run.mjs': '',
      'linked-home': link('home'),
    })
    const entry = at('home/profiles/headless/run.mjs')
    for (const dshHome of [at('home'), at('linked-home')]) {
      expect(run(entry, { dshHome })).toMatchObject({ version: null, source: 'none' })
    }
    expect(run(entry, { dshHome: at('other') }).version).toBe('0.0.1')
    vi.stubEnv('DSH_HOME', at('home'))
    expect(run(entry, { dshHome: undefined }).version).toBeNull()
    vi.unstubAllEnvs()
  })

  test('NODE_PATH', () => {
    const at = tree({
      'global/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'app/probe.mjs': `import { detectHost } from ${JSON.stringify(new URL('../../js/host.js', import.meta.url).href)}
        console.log(JSON.stringify(detectHost()))`,
    })
    const out = execFileSync(process.execPath, [at('app/probe.mjs')], {
      env: { ...process.env, NODE_PATH: at('global') },
    })
    expect(JSON.parse(String(out))).toMatchObject({ version: null, source: 'none' })
  })
})

describe('packaged executables', () => {
  test('a snapshot that the file system shows is read like any other tree', () => {
    const at = tree({
      'snapshot/app/node_modules/@deepseek-ai/dsh-sdk-jsonrpc-demo/package.json': manifest(
        '@deepseek-ai/dsh-sdk-jsonrpc-demo',
        '0.0.1',
      ),
      'snapshot/app/node_modules/@deepseek-ai/dsh-sdk-jsonrpc-demo/lib/packaged-bin.js': '',
      'snapshot/app/node_modules/@deepseek-ai/dsh-app-boot/package.json': manifest(
        '@deepseek-ai/dsh-app-boot',
        '0.1.5',
      ),
      'dist/dsh-jsonrpc-agent-pkg-linux-x64': '',
    })
    const entrypoint = at('snapshot/app/node_modules/@deepseek-ai/dsh-sdk-jsonrpc-demo/lib/packaged-bin.js')
    const execPath = at('dist/dsh-jsonrpc-agent-pkg-linux-x64')
    const expected = { name: '@deepseek-ai/dsh-app-boot', version: '0.1.5', source: 'identity' }
    expect(run(entrypoint, { pkg: {}, execPath })).toMatchObject(expected)
    expect(run(at('gone.js'), { pkg: { entrypoint }, execPath })).toMatchObject(expected)
    expect(run(undefined, { pkg: { defaultEntrypoint: entrypoint }, execPath })).toMatchObject(expected)
  })

  test('a snapshot path that is not there says so, and nothing beside the executable is taken for it', () => {
    const at = tree({
      'package.json': manifest(DSH, '0.1.5'),
      'node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5'),
      'bin/dsh-jsonrpc-agent-pkg-macos-arm64': '',
    })
    const execPath = at('bin/dsh-jsonrpc-agent-pkg-macos-arm64')
    const gone = run('/snapshot/app/lib/packaged-bin.js', { pkg: { entrypoint: 7 }, execPath })
    expect(gone).toMatchObject({ name: null, version: null, source: 'none' })
    expect(gone.why).toBe(
      'the running entry point "/snapshot/app/lib/packaged-bin.js" cannot be found (ENOENT) (packaged executable)',
    )
    const self = run(execPath, { execPath })
    expect(self).toMatchObject({ name: null, version: null, source: 'none' })
    expect(self.why).toContain('single-file executable')
  })

  test('a packaged Electron application passes the user’s arguments from index 1 on', () => {
    const at = tree({ 'package.json': manifest(DSH, '0.1.5'), 'notes.js': '' })
    const host = run(at('notes.js'), { electronApp: true })
    expect(host).toMatchObject({ version: null, source: 'none' })
    expect(host.why).toContain('Electron')
  })
})

describe('no answer', () => {
  test.each([
    ['missing', undefined],
    ['empty', ''],
    ['standard input', '-'],
    ['not a string', 42],
  ])('entry point %s', (_, entry) => {
    const host = detectHost({ argv: ['/usr/bin/node', entry], execArgv: [], execPath: '/usr/bin/node' })
    expect(host).toEqual({ name: null, version: null, source: 'none', why: 'the process names no entry point' })
  })

  test.each([
    [['-e', '1']],
    [['--eval=1']],
    [['-p', '1']],
    [['-pe', '1']],
    [['--print', '1']],
    [['--no-warnings', '--eval', '1']],
  ])('code from the command line: %j', execArgv => {
    const at = tree({ 'package.json': manifest(DSH, '0.1.5'), 'user-argument.js': '' })
    expect(run(at('user-argument.js'), { execArgv })).toMatchObject({ version: null, source: 'none' })
    expect(run(at('user-argument.js'), { execArgv: ['--experimental-vm-modules'] }).version).toBe('0.1.5')
  })

  test('not there, no file, a broken link, a loop, a foreign URL', () => {
    const at = tree({ broken: link('gone'), a: link('b'), b: link('a'), 'file.js': '' })
    for (const entry of [
      at('gone.js'),
      at('broken'),
      at('a'),
      at('file.js/below.js'),
      'file://host/x.js',
      'file:///%00',
      '\0',
    ]) {
      const host = run(entry)
      expect(host).toMatchObject({ name: null, version: null, source: 'none' })
      expect(host.why).toContain('cannot be found')
    }
    expect(run('/dev/null').why).toContain('is no file')
  })

  test('a manifest that cannot be used ends the walk, with the reason', () => {
    const at = tree({
      'package.json': manifest(DSH, '0.1.5'),
      'malformed/package.json': '{ "name": "secret-looking", ',
      'malformed/bin.js': '',
      'folder/package.json/x': '',
      'folder/bin.js': '',
      'huge/package.json': `{"name":"huge","pad":"${'x'.repeat(1 << 20)}"}`,
      'huge/bin.js': '',
      'loop/package.json': link('package.json'),
      'loop/bin.js': '',
    })
    const reasons = { malformed: 'is not a JSON object', folder: 'is no file', huge: 'too large', loop: 'ELOOP' }
    for (const [folder, reason] of Object.entries(reasons)) {
      const host = run(at(folder, 'bin.js'))
      expect(host).toMatchObject({ name: null, version: null, source: 'none' })
      expect(host.why).toContain(reason)
      expect(host.why).not.toContain('secret-looking')
    }
  })

  test.skipIf(process.platform === 'win32')('a manifest that is a pipe does not hang the boot', () => {
    const at = tree({ 'bin.js': '' })
    execFileSync('mkfifo', [at('package.json')])
    expect(run(at('bin.js')).why).toContain('is no file')
  })

  test('a manifest without the permission to read it', () => {
    const at = tree({ 'package.json': manifest(DSH, '0.1.5'), 'bin.js': '' })
    const files = {
      realpath: realpathSync,
      stat: (/** @type {string} */ path) => ({ isFile: () => true, isDirectory: () => false, size: path.length }),
      read: () => {
        throw Object.assign(new Error('permission\ndenied'), { code: 'EACCES' })
      },
    }
    expect(run(at('bin.js'), { files })).toMatchObject({ version: null, source: 'none' })
    expect(run(at('bin.js'), { files }).why).toContain('cannot be read (EACCES)')
  })

  test('an entry at the root of the file system ends the walk', () => {
    const files = {
      realpath: (/** @type {string} */ path) => path,
      stat: (/** @type {string} */ path) => {
        if (path !== '/run.js') throw Object.assign(new Error(), { code: 'ENOENT' })
        return { isFile: () => true, isDirectory: () => false, size: 1 }
      },
      read: () => '',
    }
    expect(run('/run.js', { files, ownRoot: '/x' })).toMatchObject({ name: null, version: null, source: 'none' })
  })

  test('this very test process: an unknown launcher among our own development packages', () => {
    const host = detectHost()
    expect(host).toMatchObject({ version: null, source: 'none' })
    expect(host.why).not.toBe('')
  })
})

test('the reason stays on one line, whatever names the file system has', () => {
  const at = tree({ 'package.json': manifest('a\nb\u202e\u009b', '1'), 'x\ny.js': '' })
  const { why } = run(at('x\ny.js'))
  expect(why).not.toMatch(/[\n\u202e\u009b]/)
  expect(run(`/gone/${'x'.repeat(5000)}`).why.length).toBeLessThan(500)
})

describe('never throws', () => {
  const hostile = new Proxy(() => {}, {
    get() {
      throw Object.create(null)
    },
    apply() {
      throw undefined
    },
  })
  const throwing = () => {
    throw new Proxy(new Error('x'), {
      get() {
        throw new Error('reading the error throws')
      },
    })
  }
  const at = tree({ 'package.json': manifest(DSH, '0.1.5'), 'bin.js': '' })

  test.each([
    ['argv', { argv: hostile }],
    ['argv elements', { argv: [hostile, hostile] }],
    ['execArgv', { execArgv: hostile }],
    ['execPath', { execPath: hostile }],
    ['pkg', { pkg: hostile }],
    ['resolve', { resolve: throwing }],
    ['files', { files: hostile }],
    ['realpath', { files: { realpath: throwing, stat: throwing, read: throwing } }],
    ['nonsense from files', { files: { realpath: () => 5, stat: () => null, read: () => null } }],
    ['ownRoot', { ownRoot: 5 }],
    ['dshHome', { dshHome: {} }],
    ['cwd', { argv: ['node', 'relative'], cwd: 5 }],
    ['everything', hostile],
  ])('a hostile %s', (_, host) => {
    const options = /** @type {any} */ (
      host === hostile ? host : { argv: ['node', at('bin.js')], execArgv: [], ...host }
    )
    const answer = detectHost(options)
    expect(['entry', 'identity', 'none']).toContain(answer.source)
    expect(typeof answer.why).toBe('string')
    expect(answer.version === null).toBe(answer.source === 'none')
  })

  test('a working folder that was removed', () => {
    const cwd = vi.spyOn(process, 'cwd').mockImplementation(() => {
      throw Object.assign(new Error('uv_cwd'), { code: 'ENOENT' })
    })
    expect(run('relative.js')).toMatchObject({ version: null, source: 'none' })
    cwd.mockRestore()
  })
})

describe('in a real process', () => {
  const program = `import { detectHost } from ${JSON.stringify(new URL('../../js/host.js', import.meta.url).href)}
    console.log(JSON.stringify(detectHost()))`
  const at = tree({
    'lib/node_modules/@deepseek-ai/dsh/package.json': manifest(DSH, '0.1.5-rc.2'),
    'lib/node_modules/@deepseek-ai/dsh/lib/bin.js': `#!/usr/bin/env node\n${program}`,
    'bin/dsh': link('../lib/node_modules/@deepseek-ai/dsh/lib/bin.js'),
    'shims/dsh': '#!/bin/sh\nexec "$NODE" "$(dirname "$0")/../lib/node_modules/@deepseek-ai/dsh/lib/bin.js" "$@"\n',
    'worker/package.json': manifest('own', '1.0.0'),
    'worker/main.mjs': `import { Worker, isMainThread } from 'node:worker_threads'
      if (isMainThread) new Worker(new URL(import.meta.url))
      else { ${program.replace('import {', 'const {').replace('} from ', '} = await import(').replace('\n', ')\n')} }`,
  })
  const found = { name: DSH, version: '0.1.5-rc.2', source: 'entry' }
  const bin = at('lib/node_modules/@deepseek-ai/dsh/lib/bin.js')
  const options = {
    cwd: at(),
    encoding: /** @type {const} */ ('utf8'),
    env: { ...process.env, NODE: process.execPath },
  }
  const node = (/** @type {string[]} */ ...args) => JSON.parse(execFileSync(process.execPath, args, options))

  test.each([
    ['directly', [bin, 'task', '--profile', 'x']],
    ['through a symlink', [at('bin/dsh')]],
    ['by a relative path', ['bin/dsh']],
    ['without the extension', [bin.replace(/\.js$/, '')]],
    ['with symlinks preserved', ['--preserve-symlinks', '--preserve-symlinks-main', at('bin/dsh')]],
    ['with --import', ['--import', 'data:text/javascript,', bin]],
  ])('started %s', (_, args) => {
    expect(node(...args)).toMatchObject(found)
  })

  test.skipIf(process.platform === 'win32')('started by a shell shim', () => {
    chmodSync(at('shims/dsh'), 0o755)
    expect(JSON.parse(execFileSync(at('shims/dsh'), ['task'], options))).toMatchObject(found)
  })

  test('code from the command line, with a path of the Harness as the user’s argument', () => {
    expect(node('--input-type=module', '-e', program, bin)).toMatchObject({ version: null, source: 'none' })
    const stdin = { ...options, input: program }
    const piped = execFileSync(process.execPath, ['--input-type=module', '-', 'argument'], stdin)
    expect(JSON.parse(piped)).toMatchObject({ version: null, source: 'none' })
  })

  test('in a worker thread', () => {
    expect(node(at('worker/main.mjs'))).toMatchObject({ name: 'own', version: null, source: 'none' })
  })
})

describe('the members of the tools service', () => {
  const whole = () => Object.fromEntries(Object.keys(TOOLS_MEMBERS).map(name => [name, () => {}]))

  test('the table names exactly what the shim uses, each with its use', () => {
    expect(Object.keys(TOOLS_MEMBERS)).toEqual(['register', 'guard', 'get', 'schemas'])
    expect(Object.keys(CONTEXT_MEMBERS)).toEqual(['on', 'effect', 'get', 'logger'])
    expect(Object.isFrozen(TOOLS_MEMBERS)).toBe(true)
  })

  test('whole: nothing is missing, also where members are inherited or come through a proxy', () => {
    expect(probeTools(whole())).toEqual({ missing: [], why: {} })
    expect(probeTools(Object.create(whole())).missing).toEqual([])
    expect(probeTools(new Proxy(whole(), {})).missing).toEqual([])
    expect(probeTools(Object.assign(() => {}, whole())).missing).toEqual([])
  })

  test.each(Object.keys(TOOLS_MEMBERS))('without %s: named, with its use', name => {
    for (const instead of [undefined, null, {}, 'function']) {
      const { missing, why } = probeTools({ ...whole(), [name]: instead })
      expect(missing).toEqual([name])
      expect(why[name]).toContain('a function was expected')
      expect(why[name]).toContain(TOOLS_MEMBERS[/** @type {keyof typeof TOOLS_MEMBERS} */ (name)])
    }
  })

  test('none of it calls anything', () => {
    const call = vi.fn()
    probeTools({ register: call, guard: call, get: call, schemas: call })
    expect(call).not.toHaveBeenCalled()
  })

  test('no service at all', () => {
    for (const nothing of [undefined, null, 0, '', 'tools', Symbol('tools')]) {
      expect(probeTools(nothing).missing).toEqual(['register', 'guard', 'get', 'schemas'])
    }
  })

  test('members that throw when they are read are missing, with what was thrown', () => {
    const tools = {
      ...whole(),
      get guard() {
        throw new Error('cannot get property\nwithout inject')
      },
    }
    expect(probeTools(tools)).toEqual({
      missing: ['guard'],
      why: { guard: expect.stringContaining('reading it throws "cannot get property without inject"') },
    })
    for (const thrown of [undefined, null, 5, Object.create(null), 'text', Symbol('s')]) {
      const hostile = new Proxy(
        {},
        {
          get() {
            throw thrown
          },
        },
      )
      expect(probeTools(hostile).missing).toHaveLength(4)
    }
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect(probeTools(proxy).missing).toHaveLength(4)
  })
})

test('the members of the plugin context, where reading an unknown one throws', () => {
  const logger = Object.assign(() => {}, { warn() {} })
  const known = { on() {}, effect() {}, get() {}, logger }
  const cordis = (/** @type {object} */ target) =>
    new Proxy(target, {
      get(object, key) {
        if (key in object) return Reflect.get(object, key)
        throw new Error(`cannot get property ${String(key)} without inject`)
      },
    })
  expect(probeContext(cordis(known)).missing).toEqual([])
  const { effect: _, ...rest } = known
  expect(probeContext(cordis(rest))).toEqual({
    missing: ['effect'],
    why: { effect: expect.stringContaining('inject') },
  })
})

test('the file has no import but Node’s own', async () => {
  const { readFileSync } = await import('node:fs')
  const source = readFileSync(join(packageRoot, 'js/host.js'), 'utf8')
  const imported = [...source.matchAll(/^import .* from '(.*)'$/gm)].map(match => match[1])
  expect(imported.length).toBeGreaterThan(0)
  expect(imported.every(name => name?.startsWith('node:'))).toBe(true)
})
