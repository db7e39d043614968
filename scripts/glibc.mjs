// Says which glibc a Linux addon needs, and fails where that is newer than promised: `node scripts/glibc.mjs [file …]`, which
// without a file takes the addons in the root.
import { readdirSync, readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { compareVersions, GLIBC_FLOOR, glibcOf } from './lib/elf.mjs'
import { entry } from './lib/proc.mjs'
import { inRoot, root } from './lib/project.mjs'

entry(async () => {
  const built = readdirSync(root).filter(name => /\.linux-\w+-gnu\.node$/.test(name))
  const files = process.argv.length > 2 ? process.argv.slice(2) : built.map(name => inRoot(name))
  if (files.length === 0) throw new Error('There is no Linux addon in the root: run `npm run build` first.')
  for (const file of files) {
    const needed = glibcOf(readFileSync(file))
    process.stdout.write(`${basename(file)}: ${needed === null ? 'no glibc' : `glibc ${needed}`}\n`)
    if (needed !== null && compareVersions(needed, GLIBC_FLOOR) > 0) {
      throw new Error(`${basename(file)} needs glibc ${needed}, and ${GLIBC_FLOOR} is promised.`)
    }
  }
})
