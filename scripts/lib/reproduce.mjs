// Whether a tarball can be made again: packs what is committed a second time, in a new clone, and compares.
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { run, since } from './proc.mjs'
import { root } from './project.mjs'

/**
 * The members of a tarball, as their headers and contents are.
 * @param {string} file
 * @returns {Map<string, { mode: string, digest: string }>} by path
 */
function membersOf(file) {
  const bytes = gunzipSync(readFileSync(file))
  const members = new Map()
  for (let at = 0; at < bytes.length && bytes[at] !== 0; ) {
    const field = (/** @type {number} */ from, /** @type {number} */ length) =>
      bytes.toString('latin1', at + from, at + from + length).replace(/\0.*$/s, '')
    const size = Number.parseInt(field(124, 12), 8)
    const content = bytes.subarray(at + 512, at + 512 + size)
    const path = [field(345, 155), field(0, 100)].filter(Boolean).join('/')
    members.set(path, { mode: field(100, 8).trim(), digest: createHash('sha256').update(content).digest('hex') })
    at += 512 + Math.ceil(size / 512) * 512
  }
  return members
}

/**
 * In what two tarballs differ, each as a sentence.
 * @param {string} one
 * @param {string} other
 */
export function differences(one, other) {
  if (readFileSync(one).equals(readFileSync(other))) return []
  const [ours, theirs] = [membersOf(one), membersOf(other)]
  const found = [...new Set([...ours.keys(), ...theirs.keys()])].flatMap(path => {
    const [mine, its] = [ours.get(path), theirs.get(path)]
    if (!mine || !its) return [`${path} is in ${mine ? 'the first' : 'the second'} alone.`]
    if (mine.digest !== its.digest) return [`${path} has another content.`]
    return mine.mode === its.mode ? [] : [`${path} has mode ${mine.mode} in the first and ${its.mode} in the second.`]
  })
  return found.length > 0 ? found : ['Every member is the same; their order, times or compression are not.']
}

/**
 * Packs what is committed in a clone at another path, made by somebody who lets nobody else read their files, and in another
 * time zone. Takes about as long as a first build.
 * @param {string} tarball of this checkout
 * @throws where the two differ
 */
export async function reproduce(tarball) {
  const changed = (await run('git', ['status', '--porcelain', '--untracked-files=no'])).trim()
  if (changed !== '') throw new Error(`--check packs what is committed, and this is not:\n${changed}`)
  const started = performance.now()
  const folder = mkdtempSync(join(tmpdir(), 'dsh-bmpp another place '))
  const before = process.umask(0o077)
  try {
    process.stdout.write(`packing again in ${folder} …\n`)
    const clone = join(folder, 'clone')
    await run('git', ['clone', '--quiet', '--no-hardlinks', root, clone])
    await run('npm', ['run', 'pack', '--', '--out', join(folder, 'packed')], {
      cwd: clone,
      env: { TZ: 'Pacific/Kiritimati', LC_ALL: 'C', CARGO_TARGET_DIR: join(clone, 'target') },
    })
    const found = differences(tarball, join(folder, 'packed', basename(tarball)))
    if (found.length > 0) throw new Error(`It is not the same file:\n${found.join('\n')}`)
    process.stdout.write(`the same file, after ${since(started)}\n`)
  } finally {
    process.umask(before)
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
  }
}
