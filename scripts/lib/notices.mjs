// The licences of what the addon links statically, with the notices that they ask for, taken from the packages themselves:
// THIRD-PARTY-LICENSES.txt, which ships beside every addon.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { run } from './proc.mjs'
import { inRoot } from './project.mjs'
import { licencesOf } from './spdx.mjs'

/** @typedef {{ name: string, licences: string[], text: string }} Notice */

/** The first line of the last part, which depends on the compiler. */
const STANDARD_LIBRARY = 'The Rust standard library '

/** The libraries of its own source tree: its notice is theirs. */
const IN_TREE =
  /^(?:alloc|core|std|std_detect|test|proc_macro|sysroot|unwind|panic_\w+|compiler_builtins|profiler_builtins|rustc_std_workspace_\w+)$/

const RULE = '='.repeat(80)

/** @param {string} text */
const tidy = text =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/[ \t]+$/gm, '')
    .replace(/^\n+|\n+$/g, '')

/**
 * The files with the texts of a licence, among those that a package has.
 * @param {string[]} files
 * @param {string} licence
 */
function filesFor(files, licence) {
  const word = licence.split('-')[0]?.toLowerCase() ?? ''
  const named = files.filter(file => new RegExp(`^(?:licen[cs]e|copying)[-_.]${word}`, 'i').test(file))
  return named.length > 0 ? named : files.filter(file => /^(?:licen[cs]e|copying)(?:\.\w+)?$/i.test(file))
}

/** The text of the MIT licence under another name: for a package that names it and brings none. @param {string} holder */
const mitText = holder => readFileSync(inRoot('LICENSE'), 'utf8').replace(/^Copyright .*$/m, `Copyright (c) ${holder}`)

/**
 * @param {import('./crates.mjs').Crate} crate
 * @param {readonly string[]} allowed
 * @returns {Notice}
 */
function noticeOf(crate, allowed) {
  const name = `${crate.name} ${crate.version}`
  const licences = licencesOf(crate.license ?? '', allowed)
  if (licences === null) throw new Error(`${name} is under ${crate.license}, which deny.toml does not allow.`)
  const folder = dirname(crate.manifest_path)
  const there = readdirSync(folder)
  const texts = licences.map(licence => {
    const files = filesFor(there, licence)
    if (files.length > 0) return files.map(file => tidy(readFileSync(join(folder, file), 'utf8'))).join('\n\n')
    if (licence !== 'MIT') throw new Error(`${name} is under ${licence} and brings no text of it.`)
    return tidy(mitText(`${crate.authors.join(', ') || 'its authors'} (${crate.repository})`))
  })
  // Whose it is stands with some in a file of its own.
  const more = there.filter(file => /^(?:notice|copyright|copying)(?:\.\w+)?$/i.test(file))
  const others = more.map(file => tidy(readFileSync(join(folder, file), 'utf8'))).filter(text => !texts.includes(text))
  return { name, licences, text: [...others, ...texts].join('\n\n') }
}

/** Notices with the same text as one. @param {Notice[]} notices */
function printed(notices) {
  /** @type {Map<string, Notice[]>} */
  const groups = new Map()
  for (const notice of notices) {
    const key = `${notice.licences.join(' and ')}\n${notice.text}`
    groups.set(key, [...(groups.get(key) ?? []), notice])
  }
  return [...groups.values()].map(group => {
    const names = group.map(({ name }) => name).join('\n')
    return `${RULE}\n${names}\n\nLicence: ${group[0]?.licences.join(' and ')}\n\n${group[0]?.text}\n`
  })
}

const plain = (/** @type {string} */ html) =>
  html
    .replace(/<[^>]*>/g, '')
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')

/**
 * What the compiler's own notice file says of its standard library, which every addon has in it.
 * @param {string} html
 * @param {(crate: string) => boolean} isLinked
 * @param {readonly string[]} allowed
 * @returns {{ copyrights: string[], notices: Notice[] }}
 */
export function standardLibrary(html, isLinked, allowed) {
  const [inTree = '', ...crates] = html.split('<h3>📦 ')
  const copyrights = [...new Set([...plain(inTree).matchAll(/Copyright: (.*)/g)].map(([, holder]) => holder ?? ''))]
  const notices = crates.flatMap(part => {
    const [, name = '', version = ''] = /^(.+?)-(\d[^<]*)<\/h3>/.exec(part) ?? []
    if (!isLinked(name)) return []
    const expression = /License:<\/b> (.*?)<\/p>/.exec(part)?.[1] ?? ''
    const licences = licencesOf(expression, allowed)
    if (licences === null) throw new Error(`${name} of the standard library is under ${expression}.`)
    const texts = new Map(
      [...part.matchAll(/<code>(.*?)<\/code><\/summary>\s*<pre>([\s\S]*?)<\/pre>/g)].map(([, file = '', text = '']) => [
        file,
        tidy(plain(text)),
      ]),
    )
    const files = licences.flatMap(licence => filesFor([...texts.keys()], licence))
    if (files.length === 0) throw new Error(`${name} of the standard library has no text of ${licences.join(', ')}.`)
    return [{ name: `${name} ${version}`, licences, text: files.map(file => texts.get(file)).join('\n\n') }]
  })
  return { copyrights, notices }
}

/** Where the compiler's own documents are, which not every distribution of it brings. */
async function compilerDocuments() {
  const sysroot = (await run('rustc', ['--print', 'sysroot'])).trim()
  const documents = join(sysroot, 'share', 'doc', 'rust')
  return { sysroot, documents, file: join(documents, 'COPYRIGHT-library.html') }
}

/** @param {readonly string[]} allowed */
async function standardLibraryPart(allowed) {
  const version = await rustVersion()
  const { sysroot, documents, file } = await compilerDocuments()
  if (!existsSync(file)) throw new Error(`Rust ${version} has no ${file}: install it with rustup.`)
  const host = /^host: (.*)$/m.exec(await run('rustc', ['-vV']))?.[1] ?? ''
  const libraries = readdirSync(join(sysroot, 'lib', 'rustlib', host, 'lib')).flatMap(
    name => /^lib(\w+)-\w+\.rlib$/.exec(name)?.[1] ?? [],
  )
  const isLinked = (/** @type {string} */ crate) => libraries.includes(crate.replaceAll('-', '_'))
  const { copyrights, notices } = standardLibrary(readFileSync(file, 'utf8'), isLinked, allowed)
  const given = notices.map(({ name }) => name.split(' ')[0]?.replaceAll('-', '_'))
  const others = libraries.filter(name => !IN_TREE.test(name) && !given.includes(name)).sort()
  const licence = (/** @type {string} */ id) => tidy(readFileSync(join(documents, 'licenses', `${id}.txt`), 'utf8'))
  return `${RULE}
${STANDARD_LIBRARY}${version}

Licence: MIT, and Unicode-3.0 for its tables of Unicode

${copyrights.map(holder => `Copyright: ${holder}`).join('\n')}
${others.length > 0 ? `\nThe compiler brings no notice of ${others.join(', ')}, which it links too.\n` : ''}
${licence('MIT')}

${licence('Unicode-3.0')}

${printed(notices).join('\n')}`
}

/** @returns {Promise<string>} such as `1.95.0` */
async function rustVersion() {
  const version = /^rustc (\S+)/.exec(await run('rustc', ['--version']))?.[1]
  if (!version) throw new Error('rustc does not tell its version.')
  return version
}

/**
 * The whole file. What the compiler adds is left as it is written where another compiler wrote it, or this one brings no documents.
 * @param {import('./crates.mjs').Crate[]} crates
 * @param {readonly string[]} allowed
 * @param {string | null} written the file as it is
 */
export async function noticesText(crates, allowed, written) {
  const head = `Third-party software in the addon of dsh-bmpp

The addon, dsh-bmpp.<platform>.node, has these libraries in it. Each is used under the licence that is named with it; the
texts are those of the libraries' own packages. Where a package names the MIT licence and brings no text, its authors
stand in the licence's own words. A library for one system is listed although the other systems' addons do not have it.

Written by \`npm run audit-deps -- --write\`.

`
  const body = printed(crates.map(crate => noticeOf(crate, allowed))).join('\n')
  const at = written?.indexOf(`${RULE}\n${STANDARD_LIBRARY}`) ?? -1
  const [, of] = (written ?? '').slice(at).match(new RegExp(`${STANDARD_LIBRARY}(\\S+)`)) ?? []
  const renewed = of === (await rustVersion()) && existsSync((await compilerDocuments()).file)
  const kept = at >= 0 && !renewed
  return `${head}${body}\n${kept ? written?.slice(at) : await standardLibraryPart(allowed)}`
}
