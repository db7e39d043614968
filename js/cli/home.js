/**
 * Where the Harness keeps what is the user's.
 */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

/**
 * The home by the host's own rule: what is given, else `$DSH_HOME` unless it is blank, else `~/.dsh`.
 * @param {string} [given]
 * @param {Record<string, string | undefined>} [env]
 */
export function dshHome(given, env = process.env) {
  const { DSH_HOME } = env
  const fromEnv = DSH_HOME !== undefined && DSH_HOME.trim() !== '' ? DSH_HOME : join(homedir(), '.dsh')
  return resolve(expanded(given ?? fromEnv))
}

/** @param {string} path */
function expanded(path) {
  if (path === '~') return homedir()
  return path.startsWith('~/') || path.startsWith('~\\') ? join(homedir(), path.slice(2)) : path
}

/** Where the storage rows of the shipped profiles put their files. @param {string} home */
export const storagesOf = home => join(home, 'storages')
