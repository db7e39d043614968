/**
 * The gate in the real `dsh`: a run (headless.js) with this checkout's BMPP loaded, and everything the gate said collected.
 *
 *     const run = await playDsh({ conversation: [[[call.simple], [call.write]]] })
 *     run.verdicts   // ['classify ALLOW_CONTROL allowed', 'write_note ALLOW_SIMPLE allowed']
 *     run.answers    // what the model read of each call: a denial as its code, else the first line
 *     run.reached    // ['write_note']: the bodies that the memory server ran
 *     run.notices    // what the operator read on standard error, the prefix left out
 *
 * A conversation is a list of turns, a turn a list of messages, a message a list of calls `[name, arguments, id?]`.
 */
import { readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { loadAddon } from '../../js/native.js'
import { dshBin, inRoot } from '../../scripts/lib/project.mjs'
import { readJsonLines, runDsh } from './headless.js'
import { withTempDir } from './temp-dir.js'
import { storageRows } from './trail.js'

const { version } = JSON.parse(readFileSync(join(dirname(dirname(realpathSync(dshBin))), 'package.json'), 'utf8'))
const host = loadAddon().compatibility(version, true)

/** Whether the host that all of this runs on is outside the supported range: it is then refused, or told of. */
export const outside = host.loud

/** Whether this project's suite ran on that host. */
export const { verified } = host

/** What is wrong with that host. */
export const OUTSIDE = host.reason.replace(/, allowed by configuration.*/, '')

/** What is made of that host where the configuration allows any: the first of a run's notices. */
export const UNVERIFIED = host.reason

/** A plugin of the test support, as a row's name. @param {string} name */
export const supportPlugin = name => fileURLToPath(new URL(`plugins/${name}.mjs`, import.meta.url))

/** The rows and files of the run's own plugins write here. @param {string} home */
const recordsIn = home => join(home, 'records.jsonl')

const short = (/** @type {string} */ name) => name.replace(/^mcp__(?:basic-memory__)?/, '').replace('bmpp__', '')

/** A denial as its code, any other answer as its first line. @param {string} text */
export const cut = text => /^(?:Error: )?([A-Z]+(?:_[A-Z]+)+): /.exec(text)?.[1] ?? text.trimStart().split('\n')[0]

/** A scripted message. @param {[name: string, args: any, id?: string][]} calls */
export const message = calls => ({ calls: calls.map(([name, args, id]) => ({ name, arguments: args, id })) })

/** The notices on standard error, without the prefix; a line that is no notice of ours stays as it is. @param {string} stderr */
export const noticesOf = stderr =>
  stderr
    .split('\n')
    .filter(Boolean)
    .map(line => line.replace(/^dsh-bmpp: /, ''))

/**
 * What is said where the host lets go of its storage before the last record of a run is in it, as 0.1.0-rc.8 can on a busy
 * machine. Tests of the trail look at standard error itself.
 */
export const LATE =
  /^the audit storage refuses records \(closed\): |^\d+ audit records? could not be stored before the end/

/**
 * @param {object} options those of `runDsh`, and:
 * @param {[string, any, string?][][][]} [options.conversation] instead of `script`; each turn closes with a text of the model
 * @param {'audit' | 'enforce' | 'off'} [options.mode]
 * @param {object | null} [options.config] further keys of the row; null leaves BMPP out
 * @param {any[]} [options.plugins]
 * @param {string} [options.home]
 * @param {boolean} [options.storage] false: the host offers no storage, as a headless one of 0.1.0-rc.8 does by itself
 */
export async function playDsh(options) {
  const { home } = options
  return home === undefined ? withTempDir(dir => play(dir, options)) : play(home, options)
}

/** @param {string} home @param {any} options */
async function play(
  home,
  { conversation, mode = 'enforce', config = {}, plugins = [], patches = [], storage = true, ...rest },
) {
  const earlier = readJsonLines(recordsIn(home)).length
  const run = await runDsh({
    ...(conversation
      ? {
          task: 'turn 1',
          turns: conversation.slice(1).map((/** @type {any} */ _, /** @type {number} */ index) => `turn ${index + 2}`),
          script: conversation.flatMap((/** @type {any[][]} */ messages, /** @type {number} */ index) => [
            ...messages.map(message),
            { text: `end of turn ${index + 1}` },
          ]),
        }
      : {}),
    ...rest,
    home,
    patches: [...(storage ? [storageRows(home)] : []), ...patches],
    ...(config === null ? {} : { config: { mode, allowUnverifiedHarness: true, ...config } }),
    plugins: [{ id: 'observer', name: inRoot('demo', 'observer.mjs'), config: { file: recordsIn(home) } }, ...plugins],
  })
  /** @type {any[]} */
  const records = readJsonLines(recordsIn(home)).slice(earlier)
  const decisions = records.filter(({ kind }) => kind === 'decision')
  const settlements = records.filter(({ kind }) => kind === 'settlement')
  return {
    ...run,
    records,
    decisions,
    settlements,
    verdicts: decisions.map(({ tool, code, enforcement }) => `${short(tool)} ${code} ${enforcement}`),
    outcomes: settlements.map(({ tool, outcome, observations }) => [short(tool), outcome, ...observations].join(' ')),
    answers: run.told.map(({ text }) => cut(text)),
    reached: run.mcpLog.filter(({ at }) => at === 'start').map(({ tool }) => tool),
    // Of a host inside the range nothing is said: put in its place, so that what follows is at the same place on every host.
    notices: [...(outside ? [] : [UNVERIFIED]), ...noticesOf(run.stderr).filter(line => !LATE.test(line))],
  }
}
