// The gate at work on the real Harness: `npm run demo`. Boots `dsh` headless with a scripted model, the memory server, and this
// checkout's BMPP in enforce, plays the scenarios of demo/scenarios.mjs, and shows for each call what was decided and what the
// model was told. Needs no key and, once set up, no network. Exits with 1 when a verdict is not the expected one.
//
//   npm run -s demo -- --json   the same as one JSON document
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readJsonLines, runDsh } from '../__test__/support/headless.js'
import { withTempDir } from '../__test__/support/temp-dir.js'
import { scenarios } from '../demo/scenarios.mjs'
import { buildAddon } from './build.mjs'
import { entry } from './lib/proc.mjs'
import { hosts, inRoot } from './lib/project.mjs'
import { setup } from './setup.mjs'

const readManifest = (/** @type {string[]} */ ...path) =>
  JSON.parse(readFileSync(join(...path, 'package.json'), 'utf8'))

/** The server says FastMCP's version for its own, so the installed package is asked. */
function basicMemoryVersion() {
  const lib = join(hosts.basicMemory, '.root', 'venv', 'lib')
  const names = readdirSync(lib).flatMap(python => readdirSync(join(lib, python, 'site-packages')))
  return names.find(name => /^basic_memory-.*\.dist-info$/.test(name))?.replace(/^basic_memory-(.*)\.dist-info$/, '$1')
}

/** The id under which the model makes a call: it leads from the script to the record and to what the model was told. */
const callId = (/** @type {string} */ scenario, /** @type {number} */ message, /** @type {number} */ call) =>
  `${scenario}-${message + 1}-${call + 1}`

/**
 * Plays all scenarios in one run of dsh, a turn each: what BMPP knows ends with the turn, and the memory server starts once.
 * @param {'basic-memory' | 'stand-in'} mcp
 */
async function play(mcp) {
  return withTempDir(async home => {
    const records = join(home, 'records.jsonl')
    const say = (/** @type {string} */ name) => `scenario ${name}`
    const [first, ...others] = scenarios.map(({ name }) => say(name))
    const run = await runDsh({
      home,
      mcp,
      task: first,
      turns: others,
      config: { mode: 'enforce', allowUnverifiedHarness: true },
      plugins: [{ id: 'observer', name: inRoot('demo', 'observer.mjs'), config: { file: records } }],
      script: scenarios.flatMap(({ name, messages }) => [
        ...messages.map((calls, message) => ({
          calls: calls.map((call, index) => ({
            id: callId(name, message, index),
            name: call.tool,
            arguments: call.arguments,
          })),
        })),
        { text: `${name} is played.` },
      ]),
    })
    if (run.code !== 0) throw new Error(`dsh ended with ${run.code}.\n${run.stderr}`)
    return { run, decisions: readJsonLines(records).filter(({ kind }) => kind === 'decision') }
  })
}

/** @param {Awaited<ReturnType<typeof play>>} played */
function outcomes({ run, decisions }) {
  return scenarios.map(({ name, about, messages }) => ({
    name,
    about,
    messages: messages.map((calls, message) =>
      calls.map((call, index) => {
        const id = callId(name, message, index)
        const record = decisions.find(decision => decision.call === id)
        const told = run.told.find(answer => answer.callId === id)
        if (!record || !told)
          throw new Error(`${name}: call ${id} (${call.tool}) was not ${record ? 'answered' : 'judged'}.`)
        const { decision, code, enforcement } = record
        return { ...call, decision, code, enforcement, isError: told.isError, told: told.text }
      }),
    ),
  }))
}

const colourful = process.stdout.isTTY && !process.env.NO_COLOR
const paint = (/** @type {number} */ code) => (/** @type {string} */ text) =>
  colourful ? `\x1b[${code}m${text}\x1b[0m` : text
const [bold, dim, red, green] = [paint(1), paint(2), paint(31), paint(32)]

/** Breaks a text into lines that fit beside an indentation. @param {string} text @param {string} indent */
function wrap(text, indent) {
  const width = Math.min(process.stdout.columns || 100, 120) - indent.length
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const line = lines.at(-1) ?? ''
    if (line && line.length + word.length + 1 > width) lines.push(word)
    else lines[lines.length - 1] = line ? `${line} ${word}` : word
  }
  return lines.map(line => `${indent}${line}`).join('\n')
}

/** A denial in full, of an ordinary answer what stands in its first line. @param {{ decision: string, told: string }} call */
function toldShortly({ decision, told }) {
  const [first = '', ...rest] = told.trim().split('\n')
  return decision === 'deny' || rest.length === 0 ? told : `${first} …`
}

/** @param {ReturnType<typeof outcomes>} played @param {{ host: any, memoryServer: any, because: string[] }} around */
function print(played, { host, memoryServer, because }) {
  const lines = [
    bold('BMPP on the real DeepSeek Harness'),
    `  host           ${host.name} ${host.version}, headless, with a scripted model`,
    `  memory server  ${memoryServer.kind} ${memoryServer.version}`,
    ...because.map(reason => dim(wrap(reason, ' '.repeat(17)))),
    '  configuration  mode enforce, profile compat',
  ]
  for (const { name, about, messages } of played) {
    lines.push('', `${bold(name)}: ${about}`)
    for (const [number, calls] of messages.entries()) {
      lines.push(dim(`  message ${number + 1}`))
      for (const call of calls) {
        const verdict = `${call.decision} ${call.code}`
        const { content, ...shown } = /** @type {any} */ (call.arguments)
        lines.push(`    ${call.tool} ${dim(JSON.stringify(shown))}`)
        lines.push(`      ${call.decision === 'deny' ? red(verdict) : green(verdict)}, ${call.enforcement}`)
        lines.push(dim('      the model was told'), wrap(toldShortly(call), '        '))
      }
    }
  }
  process.stdout.write(`${lines.join('\n')}\n`)
}

entry(async () => {
  const { values } = parseArgs({ options: { json: { type: 'boolean', default: false } } })
  const { basicMemory } = await setup()
  await buildAddon()
  const { name, version } = readManifest(hosts.dsh, 'node_modules', '@deepseek-ai', 'dsh')
  const memoryServer = basicMemory.ready
    ? { kind: 'basic-memory', version: basicMemoryVersion() }
    : { kind: 'stand-in', version: readManifest(inRoot()).version }

  const played = outcomes(await play(basicMemory.ready ? 'basic-memory' : 'stand-in'))
  if (values.json) {
    const document = {
      host: { name, version },
      memoryServer,
      scenarios: played.map(scenario => ({
        name: scenario.name,
        calls: scenario.messages.flat().map(({ tool, decision, code, enforcement, isError }) => ({
          tool,
          decision,
          code,
          enforcement,
          isError,
        })),
      })),
    }
    process.stdout.write(`${JSON.stringify(document, null, 2)}\n`)
  } else {
    print(played, { host: { name, version }, memoryServer, because: basicMemory.ready ? [] : [basicMemory.reason] })
  }

  const wrong = played.flatMap(scenario =>
    scenario.messages
      .flat()
      .filter(call => call.code !== call.verdict)
      .map(call => `${scenario.name}: ${call.tool} was judged ${call.code}, where ${call.verdict} is right`),
  )
  if (wrong.length > 0) throw new Error(wrong.join('\n'))
})
