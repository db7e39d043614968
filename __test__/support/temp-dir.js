import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new folder, and what removes it again. */
export function tempDir() {
  const path = mkdtempSync(join(tmpdir(), 'dsh-bmpp-'))
  return { path, remove: () => rmSync(path, { recursive: true, force: true, maxRetries: 3 }) }
}

/**
 * A new folder for the time of a function.
 * @template T
 * @param {(dir: string) => T | Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withTempDir(use) {
  const { path, remove } = tempDir()
  try {
    return await use(path)
  } finally {
    remove()
  }
}
