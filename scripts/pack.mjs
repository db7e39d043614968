// The package as a file: `npm run pack` builds the addon and packs it with all that the entry needs, so that adding the tarball
// to a profile builds and downloads nothing.
//
//   npm run pack                      dsh-bmpp-<version>.tgz in the root
//   npm run pack -- --out some/folder there instead
//
// From the same sources, toolchains and npm comes the same file, byte by byte; the digest is printed.
import { createHash } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { platformTriples } from '../js/native.js'
import { buildAddon } from './build.mjs'
import { compareVersions, GLIBC_FLOOR, glibcOf } from './lib/elf.mjs'
import { entry, run } from './lib/proc.mjs'
import { inRoot, linksOld, root } from './lib/project.mjs'
import { setupBuild } from './setup.mjs'

/** The addons that lie in the root, all of which a tarball takes along. */
const addons = () => readdirSync(root).filter(name => name.endsWith('.node'))

/**
 * Packs this checkout as it stands.
 * @param {string} to the folder for the tarball
 * @returns {Promise<string>} its path
 */
export async function pack(to) {
  mkdirSync(to, { recursive: true })
  const printed = await run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', to])
  // An object or a list, by the version of npm.
  const [packed] = Object.values(JSON.parse(printed))
  return join(to, packed.filename)
}

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

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values } = parseArgs({ options: { out: { type: 'string', default: root } } })
    await setupBuild()
    await buildAddon({ show: true })
    checkAddons()
    const tarball = await pack(resolve(values.out))
    const digest = createHash('sha256').update(readFileSync(tarball)).digest('hex')
    process.stdout.write(`${tarball}\n${statSync(tarball).size} bytes, sha256 ${digest}\n`)
  })
}
