// What this project is built from, held to its rules: `npm run audit-deps`. Prints what breaks one, and exits with 1.
//
//   npm run audit-deps                   licences, sources, versions, checksums, and THIRD-PARTY-LICENSES.txt
//   npm run audit-deps -- --advisories   known vulnerabilities too: asks npm's registry, and cargo-deny, which must be installed;
//                                        of the tools, which do not ship, those that are high or worse
//   npm run audit-deps -- --write        writes THIRD-PARTY-LICENSES.txt anew
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { allCrates, linkedCrates, lockedCrates } from './lib/crates.mjs'
import { noticesText } from './lib/notices.mjs'
import { CommandFailed, entry, run } from './lib/proc.mjs'
import { inRoot } from './lib/project.mjs'
import { licencesOf } from './lib/spdx.mjs'

/** The notices of what the addon has in it. */
export const noticesFile = inRoot('THIRD-PARTY-LICENSES.txt')

/** The licences that a crate may be used under, in the order of preference: deny.toml has them, for cargo-deny too. */
export function allowedLicences() {
  const list = /\[licenses\][^[]*?\nallow = \[(.*?)\]/s.exec(readFileSync(inRoot('deny.toml'), 'utf8'))?.[1]
  const found = [...(list ?? '').matchAll(/"([^"]+)"/g)].map(([, id]) => id ?? '')
  if (found.length === 0) throw new Error('deny.toml allows no licence.')
  return found
}

/**
 * @param {{ name: string, version: string, license: string | null }[]} crates
 * @param {readonly string[]} allowed
 */
export const licenceProblems = (crates, allowed) =>
  crates
    .filter(({ license }) => license === null || licencesOf(license, allowed) === null)
    .map(({ name, version, license }) => `${name} ${version} is under ${license ?? 'no licence that it names'}.`)

/**
 * Two versions of one crate are twice the code, and two places to mend.
 * @param {{ name: string, version: string }[]} crates
 */
export function doubleProblems(crates) {
  const names = new Set(crates.map(({ name }) => name))
  return [...names].flatMap(name => {
    const versions = crates.filter(crate => crate.name === name).map(({ version }) => version)
    return versions.length > 1 ? [`The addon links ${name} in ${versions.join(' and ')}.`] : []
  })
}

/** @param {string} path @param {string} text of a Cargo.lock */
export const cargoLockProblems = (path, text) =>
  lockedCrates(text).flatMap(({ name, version, source, checksum }) => {
    // Without a source it is a package of this checkout.
    if (source === undefined) return []
    if (!/^registry\+https:\/\/\S+\/crates\.io-index$/.test(source)) return [`${path}: ${name} comes from ${source}.`]
    return checksum ? [] : [`${path}: ${name} ${version} has no checksum.`]
  })

/** @param {string} path @param {string} text of a package-lock.json */
export const npmLockProblems = (path, text) =>
  Object.entries(/** @type {Record<string, any>} */ (JSON.parse(text).packages)).flatMap(([at, what]) => {
    if (at === '') return []
    const problems = []
    if (what.link) problems.push('is a link')
    if (!/^sha512-/.test(what.integrity ?? '')) problems.push('has no digest')
    if (what.resolved && !/^https:\/\/[^?#]+\.tgz$/.test(what.resolved)) problems.push(`comes from ${what.resolved}`)
    if (what.hasInstallScript) problems.push('runs a script when it is installed')
    return problems.map(problem => `${path}: ${at} ${problem}.`)
  })

/** @param {string} path @param {string} text of a pnpm-lock.yaml */
export const pnpmLockProblems = (path, text) =>
  [...text.matchAll(/^ {2}(\S.*):\n {4}resolution: (.*)$/gm)]
    .filter(([, , resolution]) => !/^\{integrity: sha512-[\w+/=]+\}$/.test(resolution ?? ''))
    .map(([, name, resolution]) => `${path}: ${name} comes from ${resolution}.`)

/** @param {string} path @param {string} text of a pip constraints file */
export const pipProblems = (path, text) =>
  text
    .split('\n')
    .filter(line => line !== '' && !/^(?:#|[\w.-]+==[\w.]+$)/.test(line))
    .map(line => `${path}: ${line} is not one version.`)

/** What would be fetched or run where the package is installed. @param {Record<string, any>} manifest */
export const shippedProblems = manifest => [
  ...['dependencies', 'optionalDependencies', 'bundleDependencies', 'bundledDependencies']
    .filter(field => manifest[field] !== undefined)
    .map(field => `package.json has ${field}: what ships fetches nothing.`),
  ...['preinstall', 'install', 'postinstall', 'preprepare', 'prepare', 'postprepare']
    .filter(script => manifest.scripts?.[script] !== undefined)
    .map(script => `package.json has the script ${script}: nothing of ours runs when the package is installed.`),
]

/** The rule for each kind of lock file. @type {Record<string, (path: string, text: string) => string[]>} */
const LOCKS = {
  'Cargo.lock': cargoLockProblems,
  'package-lock.json': npmLockProblems,
  'pnpm-lock.yaml': pnpmLockProblems,
  'constraints.txt': pipProblems,
}

/** The lock files that are committed. */
export async function lockFiles() {
  const files = (await run('git', ['ls-files', '-z'])).split('\0')
  return files.filter(file => Object.hasOwn(LOCKS, basename(file)))
}

/** What breaks a rule, each as a sentence. Needs no network but for crates that were never fetched. */
export async function problems() {
  const allowed = allowedLicences()
  const [crates, linked, locks] = await Promise.all([allCrates(), linkedCrates(), lockFiles()])
  const found = [
    ...shippedProblems(JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))),
    ...locks.flatMap(path => LOCKS[basename(path)]?.(path, readFileSync(inRoot(path), 'utf8')) ?? []),
    ...licenceProblems(crates, allowed),
    ...doubleProblems(linked),
  ]
  // Without a licence there is no notice that could be compared.
  if (found.length === 0) {
    const written = existsSync(noticesFile) ? readFileSync(noticesFile, 'utf8') : null
    if (written !== (await noticesText(linked, allowed, written))) {
      found.push(
        'THIRD-PARTY-LICENSES.txt is not what the addon now links: run `npm run audit-deps -- --write`, look at the change, and commit it.',
      )
    }
  }
  return found
}

/** Runs a tool that asks for known vulnerabilities. @param {string} what @param {string} command @param {string[]} args @param {string} cwd */
export async function advisories(what, command, args, cwd) {
  try {
    await run(command, args, { cwd })
    return []
  } catch (error) {
    if (!(error instanceof CommandFailed)) throw error
    return [`${what}, as \`${command} ${args.join(' ')}\` has it:\n${error.output.trim() || error.message}`]
  }
}

/** Known vulnerabilities, or that nothing could be found out. */
async function allAdvisories() {
  const npm = (await lockFiles()).filter(path => basename(path) === 'package-lock.json')
  const found = []
  for (const path of npm) {
    const folder = join(inRoot(), dirname(path))
    found.push(...(await advisories(path, 'npm', ['audit', '--package-lock-only', '--audit-level=high'], folder)))
  }
  return [...found, ...(await advisories('Cargo.lock', 'cargo', ['deny', 'check', 'advisories'], inRoot()))]
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values } = parseArgs({
      options: { write: { type: 'boolean', default: false }, advisories: { type: 'boolean', default: false } },
    })
    if (values.write) {
      writeFileSync(noticesFile, await noticesText(await linkedCrates(), allowedLicences(), null))
    }
    const found = [...(await problems()), ...(values.advisories ? await allAdvisories() : [])]
    if (found.length > 0) throw new Error(found.join('\n'))
    const [all, linked] = [(await allCrates()).length, (await linkedCrates()).length]
    process.stdout.write(
      `${all} crates, ${linked} of them in the addon; ${(await lockFiles()).length} lock files: well\n`,
    )
  })
}
