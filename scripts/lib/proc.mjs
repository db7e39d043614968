// Child processes for the scripts: output is kept back and shown only when something fails.
import { spawn } from 'node:child_process'
import { root } from './project.mjs'

/** A command that ended with another code than 0; `output` is what it printed. */
export class CommandFailed extends Error {
  /** @param {string} command @param {number | string | null} code @param {string} output */
  constructor(command, code, output) {
    super(`\`${command}\` ended with ${code}`)
    this.code = code
    this.output = output
  }
}

/**
 * Runs a command to its end.
 * @param {string} command
 * @param {readonly string[]} args
 * @param {{ cwd?: string, env?: Record<string, string>, show?: boolean }} [options] `show` passes the output through instead
 * @returns {Promise<string>} what it printed, both streams together; empty with `show`
 */
export function run(command, args, { cwd = root, env = {}, show = false } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env: { ...process.env, ...env },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
      // npm and npx are .cmd files on Windows, which only a shell can start.
      shell: process.platform === 'win32' && (command === 'npm' || command === 'npx'),
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', part => {
        output += part
      })
    }
    const words = [command, ...args].join(' ')
    child.on('error', error => reject(new CommandFailed(words, error.message, output)))
    child.on('close', (code, signal) =>
      code === 0 ? resolve(output) : reject(new CommandFailed(words, code ?? signal, output)),
    )
  })
}

/** Seconds since a performance.now(), for progress lines. @param {number} started */
export const since = started => `${((performance.now() - started) / 1000).toFixed(1)} s`

/**
 * Runs a script's main function; a failure prints its output and one sentence, and sets the exit code.
 * @param {() => Promise<void>} main
 */
export async function entry(main) {
  try {
    await main()
  } catch (error) {
    if (error instanceof CommandFailed && error.output) process.stderr.write(`${error.output.trimEnd()}\n`)
    process.stderr.write(`\n${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
