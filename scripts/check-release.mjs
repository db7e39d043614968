// Whether everything that names the version names the same one: `node scripts/check-release.mjs`.
//
//   node scripts/check-release.mjs --ref refs/tags/v0.1.0   and whether this ref is its tag, and CHANGELOG.md dates it
import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { lockedCrates } from './lib/crates.mjs'
import { entry } from './lib/proc.mjs'
import { inRoot } from './lib/project.mjs'

/**
 * What is wrong with a release, each as a sentence.
 * @param {(path: string) => string} read a file, from the root
 * @param {string} [ref] as git has it; left out, nothing is released
 */
export function releaseProblems(read, ref) {
  /** @type {string} */
  const version = JSON.parse(read('package.json')).version
  const lock = JSON.parse(read('package-lock.json'))
  const others = {
    'package-lock.json': lock.packages[''].version,
    'Cargo.toml': /^\[package\][^[]*?^version = "([^"\n]*)"$/m.exec(read('Cargo.toml'))?.[1],
    'Cargo.lock': lockedCrates(read('Cargo.lock')).find(({ name }) => name === 'dsh-bmpp')?.version,
  }
  const problems = Object.entries(others)
    .filter(([, other]) => other !== version)
    .map(([path, other]) => `package.json has version ${version}, and ${path} has ${other ?? 'none'}.`)

  const headings = [...read('CHANGELOG.md').matchAll(/^## \[(.+?)\](?: - (.*))?$/gm)]
  const date = headings.find(([, name]) => name === version)?.[2]
  if (date === undefined) problems.push(`CHANGELOG.md has no section [${version}] with a date.`)
  if (ref === undefined) return problems
  const tag = /^refs\/tags\/(.+)$/.exec(ref)?.[1]
  if (tag === undefined) problems.push(`${ref} is no tag: a release is made from its tag.`)
  else if (tag !== `v${version}`) problems.push(`The tag is ${tag}, and the version is ${version}.`)
  if (date !== undefined && !/^\d{4}-\d\d-\d\d$/.test(date)) {
    problems.push(`CHANGELOG.md says of [${version}]: ${date}. It is dated before it is released.`)
  }
  return problems
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  entry(async () => {
    const { values } = parseArgs({ options: { ref: { type: 'string' } } })
    const problems = releaseProblems(path => readFileSync(inRoot(path), 'utf8'), values.ref)
    if (problems.length > 0) throw new Error(problems.join('\n'))
    process.stdout.write('the version is the same everywhere\n')
  })
}
