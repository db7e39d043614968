// For which system a native library was built, from its own header.
import { glibcOf } from './elf.mjs'

/** The machines that there are addons for, by each format's numbers. */
const ELF = new Map([
  [0x3e, 'x64'],
  [0xb7, 'arm64'],
])
const MACH_O = new Map([
  [0x01000007, 'x64'],
  [0x0100000c, 'arm64'],
])
const PE = new Map([
  [0x8664, 'x64'],
  [0xaa64, 'arm64'],
])

const other = (/** @type {number} */ machine) => `machine 0x${machine.toString(16)}`

/**
 * The platform of a library in napi-rs's words.
 * @param {Buffer} file
 * @returns {string | null} such as `linux-x64-gnu`; null where it is no native library
 */
export function platformOf(file) {
  if (file.length < 64) return null
  if (file.readUInt32BE(0) === 0x7f454c46) {
    const machine = file.readUInt16LE(18)
    const arch = ELF.get(machine)
    return `linux-${arch ?? other(machine)}-${arch && glibcOf(file) === null ? 'musl' : 'gnu'}`
  }
  if (file.readUInt32LE(0) === 0xfeedfacf) {
    const machine = file.readUInt32LE(4)
    return `darwin-${MACH_O.get(machine) ?? other(machine)}`
  }
  if (file.toString('latin1', 0, 2) !== 'MZ') return null
  const header = file.readUInt32LE(60)
  if (header + 6 > file.length || file.toString('latin1', header, header + 4) !== 'PE\0\0') return null
  const machine = file.readUInt16LE(header + 4)
  return `win32-${PE.get(machine) ?? other(machine)}-msvc`
}
