/**
 * An operator at a shell with a fresh home, `dsh`, `basic-memory` and a tarball: types commands as a page has them and sees what
 * they print. The model is a scripted one.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { dshBin, inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { startModel } from './mock-model.js'

/** @typedef {{ code: number, stdout: string, stderr: string }} Ended */

/**
 * @param {string} home an empty folder
 */
export function operator(home) {
  const node = projectNode()
  const bin = join(home, 'bin')
  const work = join(home, 'work')
  for (const folder of [bin, work]) mkdirSync(folder)
  const commands = {
    dsh: `'${node}' '${dshBin}' "$@"`,
    // The real one takes six seconds to start, at each command; what it answers is for other tests.
    'basic-memory': `'${node}' '${inRoot('demo', 'stand-in-server.mjs')}'`,
  }
  for (const [name, line] of Object.entries(commands)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec ${line}\n`, { mode: 0o755 })
  }
  const env = {
    // pnpm, which `dsh plugin` calls, is one of our development tools.
    PATH: [bin, dirname(node), inRoot('node_modules', '.bin'), process.env.PATH].join(delimiter),
    HOME: home,
    DSH_HOME: join(home, '.dsh'),
    LANG: 'C.UTF-8',
    DSH_TELEMETRY_DISABLED: '1',
    // A registry that nobody serves: what is added needs nothing but what it brings.
    npm_config_registry: 'http://127.0.0.1:9/',
    DEEPSEEK_API_KEY: 'any',
  }

  return {
    work,
    /** The profile's own layer. */
    patch: join(home, '.dsh', 'profiles', 'headless', 'cordis.patch.yml'),
    /**
     * @param {string} commands
     * @param {import('./mock-model.js').ModelStep[]} [script] of the model, where the commands run it
     * @returns {Promise<Ended>}
     */
    async type(commands, script = []) {
      const model = await startModel(script)
      try {
        return await new Promise(resolve => {
          execFile(
            '/bin/sh',
            ['-ec', commands],
            { cwd: work, env: { ...env, DEEPSEEK_BASE_URL: model.baseURL }, timeout: 90_000 },
            (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code ?? -1), stdout, stderr }),
          )
        })
      } finally {
        await model.close()
      }
    },
  }
}
