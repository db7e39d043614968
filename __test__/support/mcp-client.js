/**
 * The real Basic Memory as a process of its own, spoken to over stdio (MCP: one JSON-RPC message a line) with nothing between:
 * for tests of what the server does. Tests of the gate go through the Harness and its bridge.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { basicMemoryStarter } from '../../scripts/lib/project.mjs'

/** @typedef {{ content: { type: string, text: string }[], structuredContent?: any, isError: boolean }} CallResult */

/**
 * Starts the server and shakes hands.
 * @param {string} dir everything that the server reads and writes is below it
 */
export async function startBasicMemory(dir) {
  const child = spawn(basicMemoryStarter, [dir], { cwd: dir, stdio: ['pipe', 'pipe', 'ignore'] })
  const ended = once(child, 'close')
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  const waiting = new Map()
  let lastId = 0

  createInterface({ input: child.stdout }).on('line', line => {
    const { id, result, error } = JSON.parse(line)
    const caller = waiting.get(id)
    // What has no id is a notification of the server's.
    if (!caller) return
    waiting.delete(id)
    if (error) caller.reject(new Error(`${error.code} ${error.message}`))
    else caller.resolve(result)
  })
  child.on('close', code => {
    for (const { reject } of waiting.values()) reject(new Error(`Basic Memory ended with ${code}`))
    waiting.clear()
  })

  const send = (/** @type {object} */ message) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  /** @param {string} method @param {object} params @returns {Promise<any>} */
  const request = (method, params) =>
    new Promise((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      send({ id: lastId, method, params })
    })

  await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'dsh-bmpp tests', version: '0' },
  })
  send({ method: 'notifications/initialized' })
  return {
    /** @param {string} name @param {Record<string, unknown>} args @returns {Promise<CallResult>} */
    call: (name, args) => request('tools/call', { name, arguments: args }),
    /** Ends the server as a client does, by closing its input. */
    async close() {
      child.stdin.end()
      await ended
    },
  }
}

/**
 * Runs all jobs, a few at a time, and gives their results in order.
 * @template Job, Result
 * @param {Job[]} jobs @param {number} width @param {(job: Job) => Promise<Result>} work
 * @returns {Promise<Result[]>}
 */
export async function inLanes(jobs, width, work) {
  /** @type {Result[]} */ const results = []
  const queue = jobs.entries()
  const lane = async () => {
    for (const [index, job] of queue) results[index] = await work(job)
  }
  await Promise.all(Array.from({ length: width }, lane))
  return results
}
