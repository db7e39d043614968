/**
 * Finding the addon, and above all explaining why there is none: the complaint that users of native packages have is
 * a message that sends them the wrong way. Failing loads are real ones; success uses a stand-in, because the
 * project's own addon has its own tests.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test, vi } from 'vitest'
import { detectLibc, loadAddon, platformTriples, programLibc } from '../../js/native.js'

const VERSION = '0.1.0'
const nativeUrl = new URL('../../js/native.js', import.meta.url).href

/** @type {string[]} */
const made = []
afterAll(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true })
})

/**
 * A package folder in a temp folder, with these files beside its package.json.
 * @param {Record<string, string | Buffer>} files
 */
function packageFolder(files = {}, manifest = JSON.stringify({ name: 'dsh-bmpp', version: VERSION })) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'bmpp-native-')))
  made.push(root)
  for (const [path, content] of Object.entries({ 'package.json': manifest, ...files })) {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, content)
  }
  return root
}

/** The files of an installed platform package. */
const platformPackage = (/** @type {string} */ triple, content = 'binary') => ({
  [`node_modules/dsh-bmpp-${triple}/package.json`]: JSON.stringify({ main: `dsh-bmpp.${triple}.node` }),
  [`node_modules/dsh-bmpp-${triple}/dsh-bmpp.${triple}.node`]: content,
})

const addon = (version = VERSION) => ({ addonVersion: () => version, path: '' })
/** Stands in for the loader: every file is an addon, which remembers where it came from. */
const loads = (/** @type {string} */ path) => ({ ...addon(), path })

/** A Linux on which nothing of the machine that runs the test shows. */
const linux = {
  platform: 'linux',
  arch: 'x64',
  libc: /** @type {const} */ ({ kind: 'gnu', version: '2.36' }),
  env: {},
  versions: { node: '24.1.0', modules: '137', napi: '10' },
}

/**
 * @param {() => unknown} action
 * @returns {Error}
 */
function failure(action) {
  try {
    action()
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    const { message } = /** @type {Error} */ (error)
    expect(message).not.toMatch(/\n/)
    expect(message).toMatch(/^dsh-bmpp .*[.]$/)
    return /** @type {Error} */ (error)
  }
  throw new Error('it did not fail')
}

/** The header of an ELF file for a machine, which no loader takes. */
function elf(/** @type {number} */ machine, { bits = 2, order = 1 } = {}) {
  const bytes = Buffer.alloc(4096)
  bytes.write('\x7fELF', 'latin1')
  bytes.set([bits, order, 1], 4)
  if (order === 1) bytes.writeUInt16LE(machine, 18)
  else bytes.writeUInt16BE(machine, 18)
  return bytes
}

describe('what the binaries are called: napi-rs’s names', () => {
  test.each([
    ['linux', 'x64', 'gnu', ['linux-x64-gnu']],
    ['linux', 'arm64', 'musl', ['linux-arm64-musl']],
    ['linux', 'arm', 'gnu', ['linux-arm-gnueabihf']],
    ['linux', 'arm', 'musl', ['linux-arm-musleabihf']],
    ['linux', 'riscv64', 'gnu', ['linux-riscv64-gnu']],
    ['linux', 'x64', null, ['linux-x64-gnu', 'linux-x64-musl']],
    ['darwin', 'arm64', null, ['darwin-arm64']],
    ['darwin', 'x64', null, ['darwin-x64']],
    ['win32', 'x64', null, ['win32-x64-msvc']],
    ['win32', 'arm64', null, ['win32-arm64-msvc']],
    ['freebsd', 'x64', null, ['freebsd-x64']],
    ['android', 'arm64', null, ['android-arm64']],
    ['android', 'arm', null, ['android-arm-eabi']],
  ])('%s %s %s', (platform, arch, libc, triples) => {
    expect(platformTriples(platform, arch, /** @type {'gnu' | 'musl' | null} */ (libc))).toEqual(triples)
  })
})

describe('which libc runs', () => {
  const throwing = () => {
    throw new Error('no')
  }
  const nothing = { report: throwing, read: throwing, list: throwing }

  test('the report of Node knows', () => {
    const glibc = { header: { glibcVersionRuntime: '2.36' }, sharedObjects: ['/lib/ld-musl-x86_64.so.1'] }
    expect(detectLibc({ ...nothing, report: () => glibc })).toEqual({ kind: 'gnu', version: '2.36' })
    for (const object of ['/lib/ld-musl-x86_64.so.1', '/lib/libc.musl-aarch64.so.1']) {
      const musl = { header: {}, sharedObjects: ['linux-vdso.so.1', object] }
      expect(detectLibc({ ...nothing, report: () => musl })).toEqual({ kind: 'musl', version: null })
    }
  })

  test('else the files of the system', () => {
    expect(detectLibc({ ...nothing, read: () => '#!/bin/sh\n# musl ldd' }).kind).toBe('musl')
    // A glibc system can have musl's loader for cross builds: what ldd belongs to goes first.
    const both = { ...nothing, read: () => '# the GNU C Library', list: () => ['ld-musl-x86_64.so.1'] }
    expect(detectLibc(both).kind).toBe('gnu')
    expect(detectLibc({ ...nothing, list: () => ['ld-musl-aarch64.so.1'] }).kind).toBe('musl')
  })

  test('else nobody does, and both binaries are candidates', () => {
    expect(detectLibc(nothing)).toEqual({ kind: null, version: null })
    for (const report of [
      undefined,
      null,
      5,
      {},
      { header: null },
      { header: { glibcVersionRuntime: 2 }, sharedObjects: {} },
    ]) {
      expect(detectLibc({ ...nothing, report: () => report }).kind).toBeNull()
    }
  })

  test.skipIf(process.platform !== 'linux')('this system has one, and asking leaves no trace', () => {
    const report = /** @type {any} */ (process.report)
    const before = report.excludeNetwork
    const real = report.getReport
    /** @type {boolean[]} */
    const excluded = []
    const asked = vi.spyOn(report, 'getReport').mockImplementation(() => {
      excluded.push(report.excludeNetwork)
      return real.call(report)
    })
    expect(detectLibc().kind).not.toBeNull()
    // With the network in it, the report asks a name server for every open connection.
    expect(excluded).toEqual([true])
    expect(report.excludeNetwork).toBe(before)
    asked.mockRestore()
  })

  /** A program that names a dynamic loader: one part of no interest, then the one that does. */
  function program(/** @type {string} */ loader, { bits = 2, order = 1, at = 64, count = 2 } = {}) {
    const file = Buffer.alloc(512)
    elf(0x3e, { bits, order }).copy(file)
    file.writeBigUInt64LE(BigInt(at), 32)
    file.writeUInt16LE(56, 54)
    file.writeUInt16LE(count, 56)
    file.writeUInt32LE(6, 64)
    file.writeUInt32LE(3, 120)
    file.writeBigUInt64LE(200n, 128)
    file.writeBigUInt64LE(BigInt(loader.length + 1), 152)
    file.write(loader, 200)
    return file
  }

  test.each([
    ['glibc on x64', program('/lib64/ld-linux-x86-64.so.2'), 'gnu'],
    ['glibc on arm64', program('/lib/ld-linux-aarch64.so.1'), 'gnu'],
    ['glibc on ppc64 and s390x', program('/lib64/ld64.so.2'), 'gnu'],
    ['glibc in a store', program('/nix/store/abc-glibc-2.40/lib/ld-linux-x86-64.so.2'), 'gnu'],
    ['musl', program('/lib/ld-musl-x86_64.so.1'), 'musl'],
    ['musl in a folder of another name', program('/opt/ld-linux/ld-musl-aarch64.so.1'), 'musl'],
    ['a loader that nobody knows', program('/system/bin/linker64'), null],
    ['a program without a loader', program('/lib/ld-musl-x86_64.so.1', { count: 1 }), null],
    ['32 bits', program('/lib/ld-linux.so.2', { bits: 1 }), null],
    ['the other order of bytes', program('/lib/ld64.so.1', { order: 2 }), null],
    ['parts that lie beyond its start', program('/lib/ld-musl-x86_64.so.1', { at: 1 << 20 }), null],
    ['a file that is cut off', program('/lib/ld-musl-x86_64.so.1').subarray(0, 100), null],
    ['an empty file', Buffer.alloc(0), null],
    ['no program', Buffer.from(`#!/bin/sh\n${'#'.repeat(200)}`), null],
  ])('a program tells by its loader: %s', (_, bytes, kind) => {
    const root = packageFolder({ node: bytes })
    expect(programLibc(join(root, 'node'))).toBe(kind)
  })

  test('a program that is not there tells nothing', () => {
    expect(programLibc(join(packageFolder(), 'node'))).toBeNull()
  })

  test.skipIf(process.platform !== 'linux')('of what runs, the program and the report say the same', () => {
    expect([null, detectLibc().kind]).toContain(programLibc())
  })

  test.skipIf(programLibc() === null)('the report is asked only for the words of an error', () => {
    const asked = vi.spyOn(/** @type {any} */ (process.report), 'getReport')
    const options = { ...linux, platform: 'linux', arch: process.arch, libc: undefined }
    const [triple] = platformTriples('linux', process.arch, programLibc())
    loadAddon({ ...options, root: packageFolder({ [`dsh-bmpp.${triple}.node`]: '' }), load: loads })
    expect(asked).not.toHaveBeenCalled()
    expect(() => loadAddon({ ...options, root: packageFolder(), load: loads })).toThrow(/ (glibc \d|musl libc)/)
    expect(asked).toHaveBeenCalledOnce()
    asked.mockRestore()
  })

  test('elsewhere than on Linux nobody is asked', () => {
    const asked = vi.spyOn(/** @type {any} */ (process.report), 'getReport')
    const root = packageFolder({ 'dsh-bmpp.darwin-arm64.node': '' })
    loadAddon({ ...linux, platform: 'darwin', arch: 'arm64', libc: undefined, root, load: loads })
    expect(asked).not.toHaveBeenCalled()
    asked.mockRestore()
  })
})

describe('where the addon is found', () => {
  test('a build in the package’s folder, before the platform package', () => {
    const root = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': '', ...platformPackage('linux-x64-gnu') })
    expect(loadAddon({ ...linux, root, load: loads }).path).toBe(join(root, 'dsh-bmpp.linux-x64-gnu.node'))
  })

  test('the platform package, also where it is hoisted above us', () => {
    const triple = 'linux-x64-gnu'
    const root = packageFolder(platformPackage(triple))
    const binary = join(root, `node_modules/dsh-bmpp-${triple}/dsh-bmpp.${triple}.node`)
    expect(loadAddon({ ...linux, root, load: loads }).path).toBe(binary)

    const inner = join(root, 'node_modules/dsh-bmpp')
    mkdirSync(inner)
    writeFileSync(join(inner, 'package.json'), JSON.stringify({ version: VERSION }))
    expect(loadAddon({ ...linux, root: inner, load: loads }).path).toBe(binary)
  })

  test('the platform package as pnpm links it', () => {
    const root = packageFolder({
      '.pnpm/bin/package.json': JSON.stringify({ main: 'dsh-bmpp.darwin-arm64.node' }),
      '.pnpm/bin/dsh-bmpp.darwin-arm64.node': '',
      'node_modules/.keep': '',
    })
    symlinkSync('../.pnpm/bin', join(root, 'node_modules/dsh-bmpp-darwin-arm64'))
    const { path } = loadAddon({ ...linux, platform: 'darwin', arch: 'arm64', root, load: loads })
    expect(path).toBe(join(root, '.pnpm/bin/dsh-bmpp.darwin-arm64.node'))
  })

  test('only this platform’s: the binary of another is not even tried', () => {
    const load = vi.fn(loads)
    const root = packageFolder({ 'dsh-bmpp.linux-arm64-gnu.node': '', ...platformPackage('linux-x64-musl') })
    const { message } = failure(() => loadAddon({ ...linux, root, load }))
    expect(load).not.toHaveBeenCalled()
    expect(message).toContain('linux-x64-gnu')
  })

  test('a build that does not load gives way to the platform package', () => {
    const root = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': 'text', ...platformPackage('linux-x64-gnu') })
    const load = (/** @type {string} */ path) => {
      if (!path.includes('node_modules')) throw new Error('invalid ELF header')
      return loads(path)
    }
    expect(loadAddon({ ...linux, root, load }).path).toContain('node_modules')
  })

  test('an unknown libc tries both, and the loader decides', () => {
    const root = packageFolder({ ...platformPackage('linux-x64-gnu'), ...platformPackage('linux-x64-musl') })
    const load = (/** @type {string} */ path) => {
      if (path.includes('gnu')) throw new Error('Error relocating')
      return loads(path)
    }
    expect(loadAddon({ ...linux, libc: { kind: null, version: null }, root, load }).path).toContain('linux-x64-musl')
  })

  test('DSH_BMPP_NATIVE, which excludes all others', () => {
    const root = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': '', 'elsewhere/other.node': '' })
    const path = join(root, 'elsewhere/other.node')
    expect(loadAddon({ ...linux, root, load: loads, env: { DSH_BMPP_NATIVE: path } }).path).toBe(path)
    expect(loadAddon({ ...linux, root, load: loads, env: { DSH_BMPP_NATIVE: '' } }).path).toContain('linux-x64-gnu')

    const load = vi.fn(() => {
      throw new Error('wrong binary')
    })
    const { message } = failure(() => loadAddon({ ...linux, root, load, env: { DSH_BMPP_NATIVE: path } }))
    expect(load).toHaveBeenCalledOnce()
    expect(message).toContain(`${path}, named by DSH_BMPP_NATIVE (wrong binary`)
    expect(message).toContain('or unset it')
  })

  test('DSH_BMPP_NATIVE must be an absolute path of something', () => {
    const root = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': '' })
    const named = (/** @type {string} */ path) =>
      failure(() => loadAddon({ ...linux, root, load: loads, env: { DSH_BMPP_NATIVE: path } })).message
    expect(named('dsh-bmpp.linux-x64-gnu.node')).toContain('not an absolute path')
    expect(named(join(root, 'gone.node'))).toContain('no such file')
  })
})

describe('a binary of another version', () => {
  const root = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': '', ...platformPackage('linux-x64-gnu') })

  test.each([
    ['older', addon('0.0.9'), 'it was built for version 0.0.9'],
    ['newer', addon('0.1.0-rc.1'), 'it was built for version 0.1.0-rc.1'],
    ['nameless', {}, 'it exports no addonVersion'],
    ['nothing', undefined, 'it exports no addonVersion'],
    ['no function', { addonVersion: VERSION }, 'it exports no addonVersion'],
    ['no string', { addonVersion: () => 0.1 }, 'it does not tell its version'],
    [
      'throwing',
      {
        addonVersion() {
          throw new Error('panic')
        },
      },
      'it does not tell its version',
    ],
  ])('%s: refused, and no other is looked for', (_, exports, reason) => {
    const load = vi.fn(() => exports)
    const { message } = failure(() => loadAddon({ ...linux, root, load }))
    expect(load).toHaveBeenCalledOnce()
    expect(message).toContain(`dsh-bmpp ${VERSION} does not use the native addon`)
    expect(message).toContain(join(root, 'dsh-bmpp.linux-x64-gnu.node'))
    expect(message).toContain(reason)
    expect(message).toContain('npm run build')
  })

  test('our own manifest decides, and is read anew', () => {
    const own = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': '' })
    expect(() => loadAddon({ ...linux, root: own, load: loads })).not.toThrow()
    writeFileSync(join(own, 'package.json'), JSON.stringify({ version: '0.2.0' }))
    expect(failure(() => loadAddon({ ...linux, root: own, load: loads })).message).toContain(
      'dsh-bmpp 0.2.0 does not use',
    )
  })

  test.each([
    ['missing', null],
    ['broken', '{'],
    ['without a version', '{}'],
    ['no object', 'null'],
  ])('our own manifest is %s', (_, text) => {
    const own = packageFolder({}, text ?? '')
    if (text === null) rmSync(join(own, 'package.json'))
    const load = vi.fn(loads)
    expect(failure(() => loadAddon({ ...linux, root: own, load })).message).toContain('cannot read its own manifest')
    expect(load).not.toHaveBeenCalled()
  })

  test('the default root is this package', () => {
    const { version } = JSON.parse(readFileSync(fileURLToPath(new URL('../../package.json', import.meta.url)), 'utf8'))
    const native = join(packageFolder({ 'x.node': '' }), 'x.node')
    const options = { env: { DSH_BMPP_NATIVE: native }, load: () => addon(version) }
    expect(loadAddon(options).addonVersion()).toBe(version)
  })
})

describe('there is none', () => {
  test('the error says system, places and mend, on one line', () => {
    const root = packageFolder()
    expect(failure(() => loadAddon({ ...linux, root })).message).toBe(
      'dsh-bmpp cannot load its native addon (linux x64, glibc 2.36, Node 24.1.0, ABI 137, N-API 10). ' +
        `Looked for the build ${join(root, 'dsh-bmpp.linux-x64-gnu.node')} (no such file), ` +
        'then the package dsh-bmpp-linux-x64-gnu (not installed). ' +
        'Reinstall dsh-bmpp with its optional dependencies (no --omit=optional), which brings dsh-bmpp-linux-x64-gnu ' +
        'where that is published; else build it in a checkout with `npm run build`, which needs cargo.',
    )
  })

  test.each([
    [{ platform: 'linux', libc: { kind: 'musl', version: null } }, 'linux x64, musl libc, Node', 'linux-x64-musl'],
    [{ platform: 'linux', libc: { kind: null, version: null } }, 'linux x64, unknown libc, Node', 'linux-x64-musl'],
    [{ platform: 'linux', libc: { kind: 'gnu', version: null } }, 'linux x64, glibc, Node', 'linux-x64-gnu'],
    [{ platform: 'darwin', arch: 'arm64' }, 'darwin arm64, Node', 'darwin-arm64'],
    [{ platform: 'win32' }, 'win32 x64, Node', 'win32-x64-msvc'],
    [{ platform: 'sunos' }, 'sunos x64, Node', 'sunos-x64'],
  ])('on %j', (system, name, triple) => {
    const options = /** @type {any} */ ({ ...linux, ...system, root: packageFolder() })
    const { message } = failure(() => loadAddon(options))
    expect(message).toContain(`(${name} 24.1.0`)
    expect(message).toContain(triple)
  })

  test('a platform package that is there but incomplete is not called absent', () => {
    const root = packageFolder({
      'node_modules/dsh-bmpp-linux-x64-gnu/package.json': JSON.stringify({ main: 'dsh-bmpp.linux-x64-gnu.node' }),
    })
    const { message } = failure(() => loadAddon({ ...linux, root }))
    expect(message).not.toContain('not installed')
    expect(message).toContain('Cannot find module')
    expect(message).toContain('Reinstall dsh-bmpp on this system')
  })
})

describe('a binary that does not load, tried for real', () => {
  const foreign = process.arch === 'arm64' ? { code: 0x3e, name: 'x64' } : { code: 0xb7, name: 'arm64' }
  const own = process.arch === 'arm64' ? 0xb7 : 0x3e

  /** @param {string | Buffer} content */
  const attemptAt = content => {
    const root = packageFolder({ 'broken.node': content })
    const path = join(root, 'broken.node')
    const error = failure(() => loadAddon({ root, env: { DSH_BMPP_NATIVE: path } }))
    expect(error.message).toContain(`Looked for ${path}, named by DSH_BMPP_NATIVE (`)
    expect(error.message).toContain(`(${process.platform} ${process.arch}, `)
    expect(error.message).toContain(`Node ${process.versions.node}, ABI ${process.versions.modules}, N-API `)
    return error
  }

  test.each([
    ['text', 'this is no library\n', 'the file is no native library'],
    ['longer text', 'this is no library\n'.repeat(100), 'the file is no native library'],
    ['a web page', '<!doctype html>', 'the file is no native library'],
    ['zero bytes', '', 'the file is empty'],
    ['three bytes', Buffer.from([0x7f, 0x45, 0x4c]), 'the file is no native library'],
    ['ELF of another architecture', elf(foreign.code), `the file is an ELF binary for ${foreign.name}`],
    ['ELF of 32 bits', elf(0x03, { bits: 1 }), 'the file is an ELF binary for ia32'],
    ['big-endian ELF', elf(0x16, { order: 2 }), 'the file is an ELF binary for s390x'],
    ['ELF of a machine nobody knows', elf(0x9999), 'the file is an ELF binary for machine 39321'],
    ...(process.platform === 'win32'
      ? []
      : [['a Windows library', Buffer.from(`MZ${'\0'.repeat(100)}`), 'the file is a Windows binary']]),
    ...(process.platform === 'darwin'
      ? []
      : [
          [
            'a macOS library',
            Buffer.from('cffaedfe0c000001'.padEnd(128, '0'), 'hex'),
            'the file is a macOS binary for arm64',
          ],
          ['a universal macOS library', Buffer.from('cafebabe'.padEnd(128, '0'), 'hex'), 'the file is a macOS binary'],
        ]),
  ])('%s', (_, content, expected) => {
    const { message, cause } = attemptAt(/** @type {string | Buffer} */ (content))
    expect(message).toContain(expected)
    // The loader's own words come first; ours only add what it leaves out.
    expect(message).toContain(/** @type {Error} */ (cause).message.replace(/\s+/g, ' '))
  })

  test.skipIf(process.platform !== 'linux')('a cut-off binary of this very architecture is not called foreign', () => {
    const { message } = attemptAt(elf(own))
    expect(message).not.toContain('; the file')
  })

  test('a folder', () => {
    const root = packageFolder({ 'folder.node/x': '' })
    const env = { DSH_BMPP_NATIVE: join(root, 'folder.node') }
    expect(failure(() => loadAddon({ root, env })).message).toContain('Cannot find module')
  })

  test('each candidate has its own error, and all of them are the cause', () => {
    const [triple] = platformTriples(process.platform, process.arch, detectLibc().kind)
    const root = packageFolder({
      [`dsh-bmpp.${triple}.node`]: 'text',
      ...platformPackage(String(triple), ''),
    })
    const { message, cause } = failure(() => loadAddon({ root, env: {} }))
    expect(message).toMatch(/the build .* the file is no native library\), then the package .* the file is empty\)/)
    expect(message).toContain('Reinstall dsh-bmpp on this system')
    expect(/** @type {AggregateError} */ (cause).errors).toHaveLength(2)
  })

  test('Node without addons says how to start it with them', () => {
    const root = packageFolder({ 'x.node': 'text' })
    const program = `import { loadAddon } from ${JSON.stringify(nativeUrl)}
      try { loadAddon() } catch (error) { console.log(error.message) }`
    const out = execFileSync(process.execPath, ['--no-addons', '--input-type=module', '-e', program], {
      encoding: 'utf8',
      env: { ...process.env, DSH_BMPP_NATIVE: join(root, 'x.node') },
    })
    expect(out).toContain('without --no-addons')
    expect(out.trim()).not.toContain('\n')
  })
})

describe('the loader’s words that need a mend of their own', () => {
  const root = packageFolder({ 'dsh-bmpp.linux-x64-gnu.node': elf(0x3e) })
  const fails = (/** @type {unknown} */ error) =>
    failure(() =>
      loadAddon({
        ...linux,
        root,
        load: () => {
          throw error
        },
      }),
    ).message

  test('a binary from a newer system', () => {
    const message = fails(
      new Error("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x.node)"),
    )
    expect(message).toContain("version `GLIBC_2.38' not found")
    expect(message).toContain(
      'The binary needs GLIBC_2.38, and this system has glibc 2.36: use a newer system, or build it',
    )
  })

  test('addons switched off', () => {
    const error = Object.assign(new Error('Cannot load native addon'), { code: 'ERR_DLOPEN_DISABLED' })
    expect(fails(error)).toContain('without --no-addons')
  })

  test('many lines become one, without the list of requiring modules', () => {
    const message = fails(new Error('first\n  second\nRequire stack:\n- /a.js\n- /b.js'))
    expect(message).toContain('(first second)')
    expect(message).not.toContain('/a.js')
  })

  test('whatever is thrown', () => {
    for (const thrown of [undefined, null, 'text', Object.create(null), Symbol('s')]) {
      expect(fails(thrown)).toContain('an error without a message')
    }
  })
})

describe('loaded more than once', () => {
  // Node's own loader takes a CommonJS file where it is named in full, which makes a stand-in that needs no compiler.
  const root = packageFolder(
    {
      'stand-in.cjs': `globalThis.standInLoads = (globalThis.standInLoads ?? 0) + 1
        exports.addonVersion = () => ${JSON.stringify(VERSION)}`,
    },
    JSON.stringify({ name: 'dsh-bmpp', version: VERSION }),
  )
  const options = { root, env: { DSH_BMPP_NATIVE: join(root, 'stand-in.cjs') } }

  test('a query-string import is another module with the same addon', async () => {
    const again = await import(/* @vite-ignore */ `${nativeUrl}?again`)
    expect(again.loadAddon).not.toBe(loadAddon)
    const first = loadAddon(options)
    expect(loadAddon(options)).toBe(first)
    expect(again.loadAddon(options)).toBe(first)
    expect(/** @type {any} */ (globalThis).standInLoads).toBe(1)
  })

  test('a failed load is tried again: nothing of it is remembered', () => {
    const folder = packageFolder()
    expect(() => loadAddon({ ...linux, root: folder, load: loads })).toThrow()
    writeFileSync(join(folder, 'dsh-bmpp.linux-x64-gnu.node'), '')
    expect(loadAddon({ ...linux, root: folder, load: loads }).addonVersion()).toBe(VERSION)
  })

  test('in worker threads, one after another and side by side', () => {
    const program = `import { Worker, isMainThread, parentPort, workerData } from 'node:worker_threads'
      import { fileURLToPath } from 'node:url'
      const { loadAddon } = await import(${JSON.stringify(nativeUrl)})
      const version = loadAddon(${JSON.stringify(options)}).addonVersion()
      if (!isMainThread) parentPort.postMessage(version)
      else {
        const start = () => new Promise((done, fail) => {
          const worker = new Worker(fileURLToPath(import.meta.url))
          worker.once('message', done).once('error', fail)
        })
        const versions = [version, await start(), ...await Promise.all([start(), start()])]
        console.log(versions.join(' '))
      }`
    const file = join(packageFolder({ 'main.mjs': program }), 'main.mjs')
    const out = execFileSync(process.execPath, [file], { encoding: 'utf8' })
    expect(out.trim()).toBe(Array(4).fill(VERSION).join(' '))
  })
})
