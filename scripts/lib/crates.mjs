// The crates that this project is built from, as cargo and Cargo.lock have them.
import { readFileSync } from 'node:fs'
import { run } from './proc.mjs'
import { inRoot } from './project.mjs'

/**
 * @typedef {object} Crate
 * @property {string} name
 * @property {string} version
 * @property {string | null} license
 * @property {string | null} source null: this package itself
 * @property {string[]} authors
 * @property {string} repository
 * @property {string} manifest_path
 * @property {{ kind: string[] }[]} targets
 * @property {string} id
 */

/** @typedef {{ packages: Crate[], resolve: { root: string, nodes: { id: string, deps: { pkg: string, dep_kinds: { kind: string | null }[] }[] }[] } }} Metadata */

/** What cargo knows of all crates, tests' included. @param {string[]} options @returns {Promise<Metadata>} */
const metadata = async (...options) =>
  JSON.parse(
    await run('cargo', ['metadata', '--quiet', '--locked', '--format-version', '1', '--all-features', ...options]),
  )

/** Every crate that anything here is built from, for whatever system. */
export const allCrates = async () => (await metadata()).packages.filter(({ source }) => source !== null)

/**
 * The crates whose code is in the addon of a target: what the package depends on at run time, macros and build scripts aside.
 * @param {Metadata} of
 */
function linkedIn({ packages, resolve }) {
  const crates = new Map(packages.map(crate => [crate.id, crate]))
  const nodes = new Map(resolve.nodes.map(node => [node.id, node]))
  /** @type {Map<string, Crate>} */
  const linked = new Map()
  const waiting = [resolve.root]
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const crate = crates.get(id)
    if (!crate || linked.has(id) || crate.targets.some(({ kind }) => kind.includes('proc-macro'))) continue
    linked.set(id, crate)
    for (const { pkg, dep_kinds } of nodes.get(id)?.deps ?? []) {
      if (dep_kinds.some(({ kind }) => kind === null)) waiting.push(pkg)
    }
  }
  linked.delete(resolve.root)
  return [...linked.values()]
}

/** The crates whose code is in any addon that a release has, by name and version. */
export async function linkedCrates() {
  /** @type {string[]} */
  const targets = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).napi.targets
  const found = await Promise.all(targets.map(target => metadata('--filter-platform', target)))
  const byId = new Map(found.flatMap(linkedIn).map(crate => [crate.id, crate]))
  return [...byId.values()].sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
}

/**
 * The packages of a Cargo.lock.
 * @param {string} text
 * @returns {Record<string, string>[]}
 */
export const lockedCrates = text =>
  text
    .split('[[package]]')
    .slice(1)
    .map(part => Object.fromEntries([...part.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, key, value]) => [key, value])))
