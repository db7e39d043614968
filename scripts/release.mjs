// The packages of a release, as files: one for each platform, which holds that platform's addon, and the entry package, which holds
// none and names them all as optional dependencies. Publishes nothing: what does gets these files and no code of ours.
//
//   node scripts/release.mjs --addons dist/addons --out dist/packages --repository https://github.com/owner/name
//
// --addons holds one dsh-bmpp.<platform>.node for each target of package.json, at any depth. The types must be built.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { platformOf } from './lib/binary.mjs'
import { bundleEntry } from './lib/bundle.mjs'
import { compareVersions, GLIBC_FLOOR, glibcOf } from './lib/elf.mjs'
import { entry, run } from './lib/proc.mjs'
import { commandOf, inRoot, projectNode } from './lib/project.mjs'
import { packStaged } from './pack.mjs'

/** What says under which licences ours and others' code may be used. */
const NOTICES = ['LICENSE', 'THIRD-PARTY-LICENSES.txt']

/** @param {string} folder */
const readManifest = folder => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))

/** @param {string} folder @param {any} manifest */
const writeManifest = (folder, manifest) =>
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)

/**
 * What is wrong with the addons of a release, each as a sentence.
 * @param {string[]} found their paths
 * @param {{ platform: string, file: string }[]} wanted one for each platform
 */
function addonProblems(found, wanted) {
  const strange = found.filter(path => !wanted.some(({ file }) => file === basename(path)))
  return [
    ...strange.map(path => `No package takes ${basename(path)}.`),
    ...wanted.flatMap(({ platform, file }) => {
      const [addon, ...more] = found.filter(path => basename(path) === file)
      if (addon === undefined) return [`There is no ${file}.`]
      if (more.length > 0) return [`There are ${more.length + 1} files ${file}.`]
      const bytes = readFileSync(addon)
      const built = platformOf(bytes)
      if (built !== platform) return [`${file} is built for ${built ?? 'no system that is known'}.`]
      const needed = platform.endsWith('-gnu') ? glibcOf(bytes) : null
      const tooNew = needed !== null && compareVersions(needed, GLIBC_FLOOR) > 0
      return tooNew ? [`${file} needs glibc ${needed}, and ${GLIBC_FLOOR} is promised.`] : []
    }),
  ]
}

/**
 * Makes the packages.
 * @param {{ addons: string, out: string, repository: string }} what `repository`: its address, which the proof of where a
 *   package was built is checked against
 * @returns {Promise<string[]>} the files, in the order in which they are to be published: the entry last
 */
export async function releasePackages({ addons, out, repository }) {
  const found = readdirSync(addons, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.node'))
    .map(entry => join(entry.parentPath, entry.name))
  const stage = mkdtempSync(join(tmpdir(), 'dsh-bmpp-release-'))
  try {
    mkdirSync(out, { recursive: true })
    const manifest = readManifest(inRoot())
    manifest.repository = { type: 'git', url: `git+${repository}.git` }
    // What is only of use in a checkout.
    for (const field of ['scripts', 'devDependencies', 'napi']) delete manifest[field]
    for (const path of ['package.json', 'Cargo.toml']) cpSync(inRoot(path), join(stage, path))
    await run(projectNode(), [commandOf('@napi-rs/cli', 'napi'), 'create-npm-dirs'], { cwd: stage })

    const platforms = readdirSync(join(stage, 'npm'))
      .sort()
      .map(platform => ({
        platform,
        folder: join(stage, 'npm', platform),
        own: readManifest(join(stage, 'npm', platform)),
      }))
    const wanted = platforms.map(({ platform, own }) => ({ platform, file: own.main }))
    const problems = addonProblems(found, wanted)
    if (problems.length > 0) throw new Error(problems.join('\n'))

    /** @type {string[]} */
    const files = []
    manifest.optionalDependencies = {}
    for (const { folder, own } of platforms) {
      cpSync(String(found.find(addon => basename(addon) === own.main)), join(folder, own.main))
      // The code of others is in the addon, so their notices go where it goes.
      for (const path of NOTICES) cpSync(inRoot(path), join(folder, path))
      writeManifest(folder, { ...own, files: [...own.files, ...NOTICES], repository: manifest.repository })
      // Exactly this version: an addon serves one version of the entry and no other.
      manifest.optionalDependencies[own.name] = own.version
      files.push(await packStaged(folder, resolve(out)))
    }

    const main = join(stage, 'entry')
    for (const path of ['js', 'types', 'cordis.patch.yml', 'README.md', ...NOTICES]) {
      cpSync(inRoot(path), join(main, path), { recursive: true })
    }
    await bundleEntry(main)
    writeManifest(main, manifest)
    files.push(await packStaged(main, resolve(out)))
    return files
  } finally {
    rmSync(stage, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values } = parseArgs({
      options: { addons: { type: 'string' }, out: { type: 'string' }, repository: { type: 'string' } },
    })
    const { addons, out, repository } = values
    if (!addons || !out || !repository) throw new Error('--addons, --out and --repository are all needed.')
    for (const file of await releasePackages({ addons, out, repository })) process.stdout.write(`${file}\n`)
  })
}
