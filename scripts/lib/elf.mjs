// What an ELF library asks of the system that loads it, read from the file itself: the libraries and the versions of their
// symbols. The dynamic loader refuses a library that asks for a version which the system's own does not have.

/** Section types of the ELF specification and its GNU extensions. */
const SHT_GNU_VERNEED = 0x6ffffffe
/** A version that the loader does not insist on. */
const VER_FLG_WEAK = 2

/** The oldest glibc that the Linux addons are promised to run on. Node's own builds ask for 2.28, so it is never the addon that stops. */
export const GLIBC_FLOOR = '2.17'

/**
 * The versions that a 64-bit ELF library needs.
 * @param {Buffer} file
 * @returns {{ library: string, version: string }[]} such as `{ library: 'libc.so.6', version: 'GLIBC_2.14' }`
 * @throws where it is no such file
 */
export function neededVersions(file) {
  if (file.length < 64 || file.readUInt32BE(0) !== 0x7f454c46) throw new Error('no ELF file')
  if (file[4] !== 2 || file[5] !== 1) throw new Error('no 64-bit little-endian ELF file')
  const sectionsAt = Number(file.readBigUInt64LE(40))
  const size = file.readUInt16LE(58)
  const count = file.readUInt16LE(60)
  const section = (/** @type {number} */ index) => {
    const at = sectionsAt + index * size
    return {
      type: file.readUInt32LE(at + 4),
      offset: Number(file.readBigUInt64LE(at + 24)),
      link: file.readUInt32LE(at + 40),
      info: file.readUInt32LE(at + 44),
    }
  }
  const found = []
  for (let index = 0; index < count; index++) {
    const { type, offset, link, info } = section(index)
    if (type !== SHT_GNU_VERNEED) continue
    const strings = section(link).offset
    const text = (/** @type {number} */ at) => {
      const start = strings + at
      return file.toString('latin1', start, file.indexOf(0, start))
    }
    let need = offset
    // `info` is the number of libraries, each with a list of versions.
    for (let library = 0; library < info; library++) {
      const name = text(file.readUInt32LE(need + 4))
      let version = need + file.readUInt32LE(need + 8)
      for (let left = file.readUInt16LE(need + 2); left > 0; left--) {
        const weak = (file.readUInt16LE(version + 4) & VER_FLG_WEAK) !== 0
        if (!weak) found.push({ library: name, version: text(file.readUInt32LE(version + 8)) })
        version += file.readUInt32LE(version + 12)
      }
      need += file.readUInt32LE(need + 12)
    }
  }
  return found
}

/** @param {string} a @param {string} b versions such as 2.17 @returns {number} */
export function compareVersions(a, b) {
  const [left, right] = [a, b].map(version => version.split('.').map(Number))
  for (let part = 0; part < Math.max(left?.length ?? 0, right?.length ?? 0); part++) {
    const difference = (left?.[part] ?? 0) - (right?.[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/**
 * The oldest glibc that has all that a library needs.
 * @param {Buffer} file
 * @returns {string | null} such as `2.14`; null where it needs no glibc
 */
export function glibcOf(file) {
  const versions = neededVersions(file).flatMap(({ version }) => /^GLIBC_(\d+(?:\.\d+)+)$/.exec(version)?.[1] ?? [])
  return versions.sort(compareVersions).at(-1) ?? null
}
