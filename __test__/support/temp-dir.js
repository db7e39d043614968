import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * A new folder for the time of a function.
 * @template T
 * @param {(dir: string) => T | Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withTempDir(use) {
  const dir = mkdtempSync(join(tmpdir(), 'dsh-bmpp-'))
  try {
    return await use(dir)
  } finally {
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 })
  }
}
