/**
 * A scripted model behind the chat-completions protocol on 127.0.0.1, for the real `dsh`.
 *
 * A step is `{ text }`, `{ calls: [{ name, arguments, id? }] }`, or both; `arguments` may be a string, sent as it is. A step
 * with `for: 'words'` answers only a request whose user messages hold those words (subagents, later turns); the others are
 * used in order. The side request without tools, by which the Harness names a session, is answered apart.
 */
import { once } from 'node:events'
import { createServer } from 'node:http'

/** @typedef {{ text?: string, calls?: { name: string, arguments?: unknown, id?: string }[], for?: string }} ModelStep */

/**
 * @param {ModelStep[]} script
 * @returns {Promise<{ baseURL: string, requests: any[], left: () => ModelStep[], close: () => Promise<void> }>}
 *   `requests` fills with the bodies of the model's requests, side requests left out
 */
export async function startModel(script) {
  const waiting = [...script]
  /** @type {any[]} */ const requests = []
  let nextCall = 1

  /** @param {any} request */
  function take(request) {
    const said = request.messages
      .filter((/** @type {any} */ message) => message.role === 'user')
      .map((/** @type {any} */ message) => JSON.stringify(message.content))
      .join('\n')
    const own = waiting.findIndex(step => step.for !== undefined && said.includes(step.for))
    const index = own >= 0 ? own : waiting.findIndex(step => step.for === undefined)
    return index < 0 ? undefined : waiting.splice(index, 1)[0]
  }

  /** @param {ModelStep} step */
  function chunks({ text, calls = [] }) {
    const delta = (/** @type {object} */ content) => ({ choices: [{ delta: content }] })
    return [
      delta({ role: 'assistant', content: null }),
      ...(text ? [delta({ content: text })] : []),
      ...calls.flatMap(({ name, arguments: args, id }, index) => [
        delta({
          tool_calls: [{ index, id: id ?? `call_${nextCall++}`, type: 'function', function: { name, arguments: '' } }],
        }),
        delta({
          tool_calls: [
            { index, function: { arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}) } },
          ],
        }),
      ]),
      {
        choices: [{ delta: { content: '' }, finish_reason: calls.length > 0 ? 'tool_calls' : 'stop' }],
        usage: { prompt_tokens: 10, completion_tokens: 5 },
      },
    ]
  }

  const server = createServer(async (request, response) => {
    const refuse = (/** @type {number} */ status, /** @type {string} */ message) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ error: { message } }))
    const parts = []
    for await (const part of request) parts.push(part)
    if (request.method !== 'POST' || !request.url?.endsWith('/chat/completions')) return refuse(404, 'not found')
    const body = JSON.parse(Buffer.concat(parts).toString('utf8'))
    const side = !body.tools?.length
    if (!side) requests.push(body)
    const step = side ? { text: 'a title' } : take(body)
    if (!step) return refuse(500, 'the script has no further step')
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const chunk of chunks(step)) response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    left: () => [...waiting],
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/**
 * What the model was told of each tool call, over all its conversations, in the order in which it first read them.
 * @param {any[]} requests
 * @returns {{ callId: string, name: string, arguments: string, text: string, isError: boolean }[]}
 */
export function toldOf(requests) {
  const told = new Map()
  for (const { messages } of requests) {
    const calls = new Map(
      messages
        .flatMap((/** @type {any} */ message) => message.tool_calls ?? [])
        .map((/** @type {any} */ call) => [call.id, call.function]),
    )
    for (const message of messages) {
      if (message.role !== 'tool' || told.has(message.tool_call_id)) continue
      const { name, arguments: args } = calls.get(message.tool_call_id) ?? {}
      const { content } = message
      const text =
        typeof content === 'string' ? content : content.map((/** @type {any} */ part) => part.text).join('\n')
      // The protocol has no error flag: the Harness puts this word in front.
      told.set(message.tool_call_id, {
        callId: message.tool_call_id,
        name,
        arguments: args,
        text,
        isError: text.startsWith('Error: '),
      })
    }
  }
  return [...told.values()]
}
