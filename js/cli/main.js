#!/usr/bin/env node
/**
 * The command `dsh-bmpp`: reads the trail of a home, and looks at what surrounds the plugin. It writes to the trail only as
 * `prune`. One module a command; what they share is in command.js, terminal.js and home.js.
 */
import { fileURLToPath } from 'node:url'
import { audit } from './audit.js'
import { check } from './check.js'
import { EXIT, Failure, messageOf, nearest, version } from './command.js'
import { doctor } from './doctor.js'
import { explain } from './explain.js'
import { prune } from './prune.js'
import { report } from './report.js'
import { shown, Terminal } from './terminal.js'
import { verify } from './verify.js'

/** @type {Record<string, import('./command.js').Command>} */
const commands = { audit, report, verify, explain, check, doctor, prune }

const overview = () => `dsh-bmpp ${version}: the trail of the memory-policy gate, and the health of what is around it

Usage: dsh-bmpp <command> [options]

${Object.entries(commands)
  .map(([name, { about }]) => `  ${name.padEnd(8)} ${about}`)
  .join('\n')}

  dsh-bmpp <command> --help   options and examples of a command
  dsh-bmpp --version

Exit codes: 0 well · 1 a contradiction, a problem or an unknown word was found · 2 wrong usage ·
            3 something cannot be read or written · 4 doctor: only warnings
Colour is left out where the output is no terminal, or NO_COLOR is set.
`

/**
 * Runs the command.
 * @param {string[]} argv without node and the script
 * @param {Terminal} [terminal]
 * @returns {Promise<number>} the exit code
 */
export async function run(argv, terminal = new Terminal()) {
  const [name = '--help', ...rest] = helped(placed(argv))
  if (name === '--help' || name === '-h' || name === 'help') {
    terminal.out(overview())
    return EXIT.well
  }
  if (name === '--version' || name === '-v') {
    terminal.out(`${version}\n`)
    return EXIT.well
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    if (name.startsWith('-')) {
      const told = rest.find(word => Object.hasOwn(commands, word))
      // One of the two that may stand there comes to here only without a command behind it.
      const others = WHERE.test(name) ? '' : ', before which only --home and --storages may stand'
      terminal.error(
        `dsh-bmpp: ${shown(name)} stands where the command belongs${others}: dsh-bmpp ${told ?? '<command>'} [options]\nSee dsh-bmpp --help\n`,
      )
      return EXIT.usage
    }
    const meant = nearest(name, Object.keys(commands))
    const hint = meant === undefined ? '' : `; did you mean ${meant}?`
    terminal.error(`dsh-bmpp: there is no command "${shown(name)}"${hint}\nSee dsh-bmpp --help\n`)
    return EXIT.usage
  }
  try {
    if (rest.includes('--help') || rest.includes('-h')) {
      terminal.out(command.help)
      return EXIT.well
    }
    return await command.run(rest, terminal)
  } catch (error) {
    if (terminal.closed) return EXIT.well
    const failure = error instanceof Failure ? error : new Failure(messageOf(error), EXIT.unreadable)
    terminal.error(`dsh-bmpp ${name}: ${failure.message}\n`)
    if (failure.code === EXIT.usage) terminal.error(`See dsh-bmpp ${name} --help\n`)
    return failure.code
  } finally {
    terminal.clear()
  }
}

/** The options that may stand before the command. */
const WHERE = /^--(?:home|storages)(?:=|$)/

/** `help audit` asks for what `audit --help` does. @param {string[]} argv */
const helped = argv => (argv[0] === 'help' && argv[1] !== undefined ? [argv[1], '--help'] : argv)

/**
 * Where the trail is may stand before the command too, as some write it; every command that has these options takes them.
 * @param {string[]} argv
 */
function placed(argv) {
  const before = []
  let rest = argv
  for (let [word = ''] = rest; WHERE.test(word); [word = ''] = rest) {
    const length = word.includes('=') ? 1 : 2
    before.push(...rest.slice(0, length))
    rest = rest.slice(length)
  }
  const [name, ...options] = rest
  return name === undefined ? argv : [name, ...before, ...options]
}

/** Whether this file is what Node was started with; a package manager's launcher is a link to it. */
async function isEntry() {
  const { realpathSync } = await import('node:fs')
  try {
    return process.argv[1] !== undefined && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)
  } catch {
    return false
  }
}

if (await isEntry()) process.exitCode = await run(process.argv.slice(2))
