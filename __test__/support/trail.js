/**
 * The trail of a test's home: the rows that give a headless host storage, the command `dsh-bmpp`, and what it says.
 */
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'

/** What the web profile has and a headless one of 0.1.0-rc.8 lacks. @param {string} home */
export const storageRows = home => [
  {
    insert: [
      { id: 'storage', name: '@deepseek-ai/dsh-storage' },
      {
        id: 'storage-json',
        name: '@deepseek-ai/dsh-storage-json',
        config: { root: join(home, '.dsh', 'storages') },
      },
      { id: 'storage-domain', name: '@deepseek-ai/dsh-storage-domain', config: { backend: 'json' } },
    ],
  },
]

/**
 * Runs the command on a home as a process of its own.
 * @param {string[]} args
 * @param {{ home?: string, input?: string, env?: Record<string, string> }} [options] `home` stands for the user's home
 */
export function command(args, { home, input = '', env = {} } = {}) {
  const where = home === undefined ? {} : { HOME: home, DSH_HOME: join(home, '.dsh') }
  const { status, stdout, stderr } = spawnSync(projectNode(), [inRoot('js', 'cli', 'main.js'), ...args], {
    encoding: 'utf8',
    input,
    maxBuffer: 1 << 28,
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...where, ...env },
  })
  return { code: status, stdout, stderr }
}

/** The stored records of a home. @param {string} home @param {string[]} [filters] @returns {any[]} */
export function recordsOf(home, filters = []) {
  const { stdout } = command(['audit', '--ndjson', ...filters], { home })
  return stdout
    .split('\n')
    .filter(Boolean)
    .map(line => JSON.parse(line))
}

/** What verify says, as data. @param {string} home */
export function verified(home) {
  const { code, stdout } = command(['verify', '--json'], { home })
  return { code, ...JSON.parse(stdout) }
}

/** Every file below a folder, with its text. @param {string} folder @returns {Map<string, string>} */
export function filesBelow(folder) {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  return new Map(
    files.map(({ parentPath, name }) => [join(parentPath, name), readFileSync(join(parentPath, name), 'latin1')]),
  )
}
