// The package as a file: `npm run pack` builds the addon and packs it with all that the entry needs, so that adding the tarball
// to a profile builds and downloads nothing.
//
//   npm run pack                      dsh-bmpp-<version>.tgz in the root
//   npm run pack -- --out some/folder there instead
//   npm run pack -- --check           packs a second time, in a new clone elsewhere, and tells whether it is the same file
//
// From the same sources, compiler and npm comes the same file, byte by byte; the digest is printed, and what it came from.
import { createHash } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { gunzipSync } from 'node:zlib'
import zopfli from '@gfx/zopfli'
import { platformTriples } from '../js/native.js'
import { buildAddon } from './build.mjs'
import { bundleEntry } from './lib/bundle.mjs'
import { compareVersions, GLIBC_FLOOR, glibcOf } from './lib/elf.mjs'
import { entry, run } from './lib/proc.mjs'
import { inRoot, linksOld, root } from './lib/project.mjs'
import { reproduce } from './lib/reproduce.mjs'
import { setupBuild } from './setup.mjs'

/** npm packs every README there is. Of what a tarball may weigh, the translations would take a thirtieth; they are in the repository. */
const TRANSLATION = /^README\..+\.md$/

/** The addons that lie in the root, all of which a tarball takes along. */
const addons = () => readdirSync(root).filter(name => name.endsWith('.node'))

/**
 * What npm prints of a folder that it packs, or would pack.
 * @param {string} folder
 * @param {string[]} options
 * @returns {Promise<{ filename: string, files: { path: string }[] }>}
 */
async function npmPack(folder, ...options) {
  const printed = await run('npm', ['pack', '--json', '--ignore-scripts', ...options], { cwd: folder })
  // An object or a list, by the version of npm.
  const [packed] = Object.values(JSON.parse(printed))
  return packed
}

/**
 * Packs a folder that holds a package and nothing else, and was made for this. npm sets the times and owners of what it packs and
 * keeps the modes, which are those of whoever made the files; so they are set first.
 * @param {string} folder
 * @param {string} to the folder for the tarball
 * @returns {Promise<string>} its path
 */
export async function packStaged(folder, to) {
  mkdirSync(to, { recursive: true })
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    // What is a command npm makes executable by itself.
    if (file.isFile()) chmodSync(join(file.parentPath, file.name), 0o644)
  }
  const tarball = join(to, (await npmPack(folder, '--pack-destination', to)).filename)
  // The same archive in a sixteenth less: npm's own compression is as close as gzip gets at once. More rounds give no more.
  writeFileSync(tarball, await zopfli.gzipAsync(gunzipSync(readFileSync(tarball)), { numiterations: 1 }))
  return tarball
}

/**
 * Packs the package in a folder.
 * @param {string} folder
 * @param {string} to the folder for the tarball
 * @returns {Promise<string>} its path
 */
export async function packFolder(folder, to) {
  const stage = mkdtempSync(join(tmpdir(), 'dsh-bmpp-pack-'))
  try {
    for (const { path } of (await npmPack(folder, '--dry-run')).files) {
      if (!TRANSLATION.test(path)) cpSync(join(folder, path), join(stage, path))
    }
    await bundleEntry(stage)
    return await packStaged(stage, to)
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

/**
 * Packs this checkout as it stands.
 * @param {string} to the folder for the tarball
 * @returns {Promise<string>} its path
 */
export const pack = to => packFolder(inRoot(), to)

/** Refuses addons that would not do where the tarball goes: others than this platform's, and those that only run here. */
function checkAddons() {
  const own = platformTriples(process.platform, process.arch, linksOld ? 'gnu' : null)
  for (const name of addons()) {
    if (!own.some(triple => name === `dsh-bmpp.${triple}.node`)) {
      throw new Error(`${name} is of another platform and would be packed too: remove it.`)
    }
    const needed = linksOld ? glibcOf(readFileSync(inRoot(name))) : null
    if (needed !== null && compareVersions(needed, GLIBC_FLOOR) > 0) {
      throw new Error(
        `${name} needs glibc ${needed}, and ${GLIBC_FLOOR} is promised: run \`npm run setup\`, then again.`,
      )
    }
  }
}

/** The programs that a tarball depends on. */
async function origin() {
  const printed = await Promise.all([run('rustc', ['--version']), run('npm', ['--version'])])
  const [rustc = '', npm = ''] = printed.map(line => line.trim())
  return `${rustc.replace(/ \(.*/, '')}, npm ${npm}, ${process.platform}-${process.arch}`
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values } = parseArgs({
      options: { out: { type: 'string', default: root }, check: { type: 'boolean', default: false } },
    })
    await setupBuild()
    await buildAddon({ show: true })
    checkAddons()
    const tarball = await pack(resolve(values.out))
    const digest = createHash('sha256').update(readFileSync(tarball)).digest('hex')
    process.stdout.write(`${tarball}\n${statSync(tarball).size} bytes, sha256 ${digest}\nby ${await origin()}\n`)
    if (values.check) await reproduce(tarball)
    process.stdout.write(`\n  dsh plugin --profile headless add ${JSON.stringify(tarball)}\n`)
  })
}
