#!/usr/bin/env node
// A memory server over stdio (MCP: one JSON-RPC message a line) that keeps its notes in memory and needs nothing but Node.
// The demo uses it where the real Basic Memory cannot be had, the tests where they must choose what the server does:
//
//   STAND_IN_LOG         file to append one JSON line to at the start and at the end of each call
//   STAND_IN_DELAY_MS    how long each call takes
//   STAND_IN_ANSWERS     JSON: tool name → list of answers for its next calls, each {"text", "isError"?, "structured"?}
//                        or null for the ordinary one, or {"lost": true} to do as it says and never answer; `structured`
//                        defaults to {"result": text} as the real server has it
import { appendFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { toolList } from './memory-tools.mjs'
import { Notebook } from './notebook.mjs'

const { STAND_IN_LOG: logFile, STAND_IN_DELAY_MS: delayMs = '0', STAND_IN_ANSWERS: answersJson = '{}' } = process.env
const notebook = new Notebook()
const prepared = JSON.parse(answersJson)

/** @param {object} message */
const send = message => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
/** @param {object} entry */
const log = entry => {
  if (logFile) appendFileSync(logFile, `${JSON.stringify(entry)}\n`)
}

/** @param {{ name: string, arguments?: Record<string, any> }} params */
async function call({ name, arguments: args }) {
  log({ at: 'start', tool: name, arguments: args })
  if (Number(delayMs) > 0) await delay(Number(delayMs))
  const instead = prepared[name]?.shift()
  if (instead?.lost) {
    notebook.call(name, args)
    return new Promise(() => {})
  }
  const answer = instead
    ? {
        content: [{ type: 'text', text: instead.text }],
        ...(instead.isError ? {} : { structuredContent: instead.structured ?? { result: instead.text } }),
        isError: instead.isError === true,
      }
    : notebook.call(name, args)
  log({ at: 'end', tool: name, isError: answer.isError })
  return answer
}

/** @type {Record<string, ((params: any) => unknown) | undefined>} */
const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'dsh-bmpp stand-in for Basic Memory', version: '0.1.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: toolList }),
  'tools/call': call,
}

createInterface({ input: process.stdin }).on('line', async line => {
  if (!line.trim()) return
  const { id, method, params = {} } = JSON.parse(line)
  // A message without an id is a notification: nobody waits for an answer.
  if (id === undefined) return
  const handler = Object.hasOwn(methods, method) ? methods[method] : undefined
  if (!handler) return send({ id, error: { code: -32601, message: `Method not found: ${method}` } })
  send({ id, result: await handler(params) })
})
