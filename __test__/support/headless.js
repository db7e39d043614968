/**
 * The real `dsh` command as a process of its own: boots its headless profile against a scripted model, a memory server
 * behind the real MCP bridge, and whatever plugins the test puts in. About two seconds a run with the stand-in server,
 * about eight with the real Basic Memory.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { basicMemoryStarter, dshBin, inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { startModel, toldOf } from './mock-model.js'

/** Whether the real Basic Memory is installed here; where no Python >= 3.12 was found it is not. */
export const basicMemoryInstalled = existsSync(basicMemoryStarter)

/** The tool name as the model sees it. @param {string} raw @param {string} [server] */
export const memoryTool = (raw, server = 'basic-memory') => `mcp__${server}__${raw}`

/** A file of JSON lines, or nothing yet. @param {string} file @returns {any[]} */
export const readJsonLines = file =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line))
    : []

/**
 * Runs the `dsh` command with its home in a folder of the test's and waits for its end.
 * @param {string[]} args
 * @param {object} options
 * @param {string} options.home stands for the user's home; `$DSH_HOME` is `.dsh` in it
 * @param {string} [options.cwd]
 * @param {Record<string, string>} [options.env]
 * @param {string} [options.launcher] the command's file, started as a shell would; left out, Node is given dsh's own entry
 * @param {number} [options.timeoutMs] after which dsh is ended
 */
export async function dsh(args, { home, cwd = home, env = {}, launcher, timeoutMs = 90_000 }) {
  const node = projectNode()
  const [command, ...words] = launcher ? [launcher, ...args] : [node, dshBin, ...args]
  const started = performance.now()
  const child = spawn(command, words, {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      // pnpm, which `dsh plugin` calls, is one of our development tools.
      PATH: [dirname(node), inRoot('node_modules', '.bin'), process.env.PATH].join(delimiter),
      HOME: home,
      DSH_HOME: join(home, '.dsh'),
      TMPDIR: tmpdir(),
      LANG: 'C.UTF-8',
      DSH_TELEMETRY_DISABLED: '1',
      ...env,
    },
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', part => {
    stdout += part
  })
  child.stderr.setEncoding('utf8').on('data', part => {
    stderr += part
  })
  let timedOut = false
  const timer = setTimeout(() => {
    timedOut = true
    child.kill('SIGKILL')
  }, timeoutMs)
  const [code, signal] = await once(child, 'close')
  clearTimeout(timer)
  return {
    /** @type {number | string} the exit code, or the signal's name */
    code: code ?? signal,
    timedOut,
    stdout,
    stderr,
    ms: Math.round(performance.now() - started),
  }
}

/** Packs this checkout as `npm run pack` would; the addon must be built. */
export { pack as packProject } from '../../scripts/pack.mjs'

/** @typedef {{ id: string, name: string, config?: unknown, inject?: string[], disabled?: boolean }} Row */

/**
 * Runs one task and waits for the process to end.
 *
 * @param {object} options
 * @param {import('./mock-model.js').ModelStep[]} [options.script] what the model answers
 * @param {object} [options.config] mounts this checkout's BMPP with this configuration (row `bmpp`); left out, BMPP is not loaded
 * @param {Row[]} [options.plugins] further rows, after BMPP's
 * @param {Row[]} [options.pluginsBefore] further rows, before BMPP's
 * @param {'stand-in' | 'basic-memory' | 'none'} [options.mcp]
 * @param {string} [options.serverName] as the user would call the server
 * @param {object} [options.mcpConfig] further keys of the bridge's row, such as `toolCallTimeoutMs`
 * @param {Record<string, string>} [options.mcpEnv] for the server; the stand-in knows STAND_IN_DELAY_MS and STAND_IN_ANSWERS
 * @param {string} [options.memory] the real server's folder, to share its start-up work between runs
 * @param {Record<string, string>} [options.env] for dsh, such as DSH_TOOLS_MODE or DSH_PERMISSION_MODE
 * @param {string} [options.profile]
 * @param {(object[] | string)[]} [options.patches] further overlays, as data or as files, after the generated one
 * @param {string[]} [options.turns] further user messages, each a turn of its own
 * @param {string} [options.home] a folder to keep and reuse; left out, one is made and removed
 * @param {string[]} [options.args] instead of the task
 * @param {string} [options.task]
 * @param {string} [options.launcher] see dsh()
 * @param {number} [options.timeoutMs] see dsh()
 */
export async function runDsh({
  script = [],
  config,
  plugins = [],
  pluginsBefore = [],
  mcp = 'stand-in',
  serverName = 'basic-memory',
  mcpConfig = {},
  mcpEnv = {},
  memory,
  env = {},
  profile = 'headless',
  patches = [],
  turns = [],
  home: keptHome,
  task = 'go',
  args = [task],
  launcher,
  timeoutMs,
}) {
  const home = keptHome ?? mkdtempSync(join(tmpdir(), 'dsh-bmpp-'))
  const work = join(home, 'work')
  mkdirSync(work, { recursive: true })
  const mcpLogFile = join(home, 'mcp.jsonl')
  writeFileSync(mcpLogFile, '')
  const node = projectNode()

  const servers = {
    none: undefined,
    'stand-in': {
      command: node,
      args: [inRoot('demo', 'stand-in-server.mjs')],
      env: { STAND_IN_LOG: mcpLogFile, ...mcpEnv },
    },
    'basic-memory': { command: basicMemoryStarter, args: [memory ?? join(home, 'memory')], env: mcpEnv },
  }
  const server = servers[mcp]
  const rows = [
    ...(server
      ? [
          {
            id: 'memory',
            name: '@deepseek-ai/dsh-mcp-client',
            config: { transport: 'stdio', serverName, cwd: work, failOnStartupError: true, ...mcpConfig, ...server },
          },
        ]
      : []),
    ...pluginsBefore,
    ...(config ? [{ id: 'bmpp', name: inRoot('js', 'index.js'), config }] : []),
    ...plugins,
    ...(turns.length > 0
      ? [{ id: 'more-turns', name: inRoot('demo', 'more-turns.mjs'), config: { messages: turns } }]
      : []),
  ]
  const files = [[{ insert: rows }], ...patches].map((patch, index) => {
    if (typeof patch === 'string') return resolve(patch)
    const file = join(home, `overlay-${index}.patch.yml`)
    // JSON is YAML, and says no more than it means.
    writeFileSync(file, JSON.stringify(patch, null, 2))
    return file
  })

  const model = await startModel(script)
  try {
    const ended = await dsh(['--profile', profile, ...files.flatMap(file => ['--patch', file]), ...args], {
      home,
      cwd: work,
      launcher,
      timeoutMs,
      // The base URL must be inherited: the Harness refuses it in a file.
      env: { DEEPSEEK_BASE_URL: model.baseURL, DEEPSEEK_API_KEY: 'any', ...env },
    })
    return {
      ...ended,
      /** The model's requests, side requests left out. */
      requests: model.requests,
      /** What the model read of each call: `{ callId, name, arguments, text, isError }`. */
      told: toldOf(model.requests),
      /** Steps of the script that were never asked for. */
      unused: model.left(),
      /** The stand-in's log: `{ at: 'start', tool, arguments }` and `{ at: 'end', tool, isError }`. */
      mcpLog: readJsonLines(mcpLogFile),
      home,
    }
  } finally {
    await model.close()
    if (!keptHome) rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  }
}
