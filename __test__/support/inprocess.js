/**
 * The real Harness packages in one process: Context, ToolRuntime, AgentLoop, sessions, approval, code runtime, and a model
 * that reads from a script. No `dsh` command, no network, no MCP process: about 100 ms for a whole conversation.
 *
 *     const host = await boot({
 *       plugins: [[bmpp, { mode: 'enforce' }]],
 *       tools: { 'mcp__basic-memory__write_note': () => '# Created note' },
 *     })
 *     const agent = await host.run([calls(['mcp__basic-memory__write_note', { title: 'T' }]), say('done')])
 *     host.told(agent)  // what the model read of each call
 *     host.ran          // which tool bodies were reached, and with what
 *     await host.dispose()
 *
 * What this cannot show: the loader, the profiles, the MCP bridge and the process boundary. headless.js is for those.
 */
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { dshBin } from '../../scripts/lib/project.mjs'

// The packages that belong to the Harness under test: pnpm keeps each in a folder of its own, npm all of them beside it.
const entry = realpathSync(dshBin)
const [, store] = /^(.*[\\/]node_modules[\\/]\.pnpm)[\\/]/.exec(entry) ?? []
const beside = dirname(dirname(dirname(entry)))
const installed = store === undefined ? [] : readdirSync(store)

/**
 * Imports one @deepseek-ai package of the installed Harness, always the same physical copy.
 * @param {string} name without the scope, such as `dsh-tools`
 */
export async function hostPackage(name) {
  const folder = installed.find(entry => entry.startsWith(`@deepseek-ai+${name}@`))
  const scope = store && folder ? join(store, folder, 'node_modules', '@deepseek-ai') : beside
  const file = join(scope, name, 'lib', 'index.js')
  if (!existsSync(file)) throw new Error(`@deepseek-ai/${name} is not installed beside ${entry}: run \`npm run setup\``)
  return import(/* @vite-ignore */ pathToFileURL(file).href)
}

const [cordis, llm, session, prompt, toolRuntime, agents, loop, projection, approvalService] = await Promise.all(
  [
    'cordis',
    'dsh-llm',
    'dsh-session',
    'dsh-system-prompt',
    'dsh-tools',
    'dsh-agent',
    'dsh-agent-loop',
    'dsh-session-projection',
    'dsh-user-approval',
  ].map(hostPackage),
)

/** @typedef {[name: string, args?: unknown, callId?: string]} ScriptedCall */
/** @typedef {object[] | ((request: any) => object[] | Promise<object[]>)} Step one answer of the model, or a function that makes it */
/** @typedef {{ content: { type: string, text?: string }[], structuredContent?: unknown, isError?: boolean }} McpResult */
/** @typedef {(args: any, exec: any) => string | McpResult | Promise<string | McpResult>} Body */
/** @typedef {Body | { body: Body, parallel?: boolean, parameters?: object, description?: string }} Tool */

let nextCall = 1

/**
 * One assistant message that holds these tool calls.
 * @param {ScriptedCall[]} list a string as arguments is sent as it is (broken JSON, odd JSON); the call id is made up unless given
 * @returns {object[]}
 */
export function calls(...list) {
  const blocks = list.map(([name, args, id]) => ({
    type: 'tool-call',
    id: id ?? `c${nextCall++}`,
    name,
    arguments: typeof args === 'string' ? args : JSON.stringify(args ?? {}),
  }))
  return [
    ...blocks.flatMap((block, index) => [
      { type: 'block-start', index, blockType: 'tool-call' },
      { type: 'block-end', index, block },
    ]),
    { type: 'finish', reason: { kind: 'tool-calls' } },
  ]
}

/**
 * One assistant message of text: it ends the turn.
 * @param {string} text
 */
export const say = text => [
  { type: 'block-start', index: 0, blockType: 'text' },
  { type: 'text-delta', index: 0, text },
  { type: 'block-end', index: 0, block: { type: 'text', text } },
  { type: 'finish', reason: { kind: 'stop' } },
]

/** A promise and the handle that settles it: for bodies that must wait for the test, never for the clock. */
export function gate() {
  const { promise, resolve, reject } = Promise.withResolvers()
  return { promise, open: resolve, fail: reject }
}

/** Each agent has a queue of its own, found by the model name that the harness gives it, so that agents can interleave. */
class ScriptedModel extends llm.LlmAdapter {
  /** @type {any[]} */ requests = []
  /** @type {Map<string, Step[]>} */ queues = new Map()

  /** @param {string} model @param {Step[]} script */
  push(model, script) {
    this.queues.set(model, [...(this.queues.get(model) ?? []), ...script])
  }

  /** @param {any} request */
  async *stream(request) {
    this.requests.push(request)
    const step = this.queues.get(request.model)?.shift()
    if (!step) throw new Error(`the script of ${request.model} has no further step`)
    yield* typeof step === 'function' ? await step(request) : step
  }
}

const text = (/** @type {any} */ content) =>
  content.map((/** @type {any} */ block) => block.text ?? `[${block.type}]`).join('\n')

/**
 * @param {object} [options]
 * @param {[plugin: any, config?: any][]} [options.plugins] mounted in this order, after the host and the tools
 * @param {Record<string, Tool | undefined>} [options.tools] bodies by public tool name, registered exactly as the MCP bridge does: exclusive
 *   unless `parallel` is set, value `{content, structuredContent?}`, an `isError` result thrown
 * @param {boolean} [options.withApproval] mounts the approval service
 * @param {(request: any) => any} [options.answer] answers approvals: 'allowed-once', 'rejected', 'cancelled', or throws; implies withApproval
 * @param {'native' | 'both' | 'code'} [options.codeMode] other than native mounts the real worker-thread runtime and `run_code`
 * @param {boolean} [options.withProjections] false leaves out the projection service
 * @param {string} [options.sessionsDir] mounts the real JSONL persistence there; needed by resume()
 * @param {number} [options.maxParallelToolCalls]
 * @param {(ctx: any) => void | Promise<void>} [options.before] runs before the tools and the plugins are mounted
 */
export async function boot(options = {}) {
  const { plugins = [], tools = {}, answer, codeMode = 'native', withProjections = true, sessionsDir } = options
  const ctx = new cordis.Context()
  /** @type {any[]} */ const logs = []
  /** @type {Record<string, any>[]} */ const trace = []
  /** @type {{ name: string, args: any, callId: string, session: string | undefined }[]} */ const ran = []
  /** @type {Map<any, any>} */ const handles = new Map()
  /** @type {any[]} */ const fibers = []

  ctx.logger.exporter({ export: (/** @type {any} */ message) => logs.push(message), levels: { default: 3 } })
  await ctx.plugin(llm.default)
  await ctx.plugin(session.default)
  await ctx.plugin(prompt.default, { persona: '' })
  await ctx.plugin(toolRuntime.default, { mode: codeMode })
  await ctx.plugin(agents.default)
  if (withProjections) await ctx.plugin(projection.default)
  if (codeMode !== 'native') await ctx.plugin((await hostPackage('dsh-code-runtime-worker-thread')).default, {})
  if (sessionsDir) {
    await ctx.plugin((await hostPackage('dsh-session-persistence-jsonl')).default, { root: sessionsDir })
  }
  const { maxParallelToolCalls } = options
  await ctx.plugin(loop.default, { agents: [], ...(maxParallelToolCalls ? { maxParallelToolCalls } : {}) })
  if (options.withApproval || answer) await ctx.plugin(approvalService.default, {})
  if (answer) ctx.on('approval/request', async (/** @type {any} */ request) => answer(request))

  ctx.on('session/event', (/** @type {any} */ from, /** @type {any} */ event) => {
    if (/^(turn|step|tool|approval)\//.test(event.type)) {
      trace.push({ at: event.type, session: from.id, ...event.data })
    }
  })
  ctx.on('tools/result', (/** @type {any} */ exec, /** @type {any} */ result) => {
    trace.push({
      at: 'result',
      session: exec.agent?.id,
      callId: exec.callId,
      name: exec.name,
      isError: result.isError,
      text: text(result.content),
    })
  })

  const model = new ScriptedModel()
  ctx.llm.registerAdapter(['mock'], model)
  await options.before?.(ctx)

  /** @param {string} name @param {Tool} tool */
  function register(name, tool) {
    const { body, parallel, parameters, description } = typeof tool === 'function' ? { body: tool } : tool
    return ctx.tools.register({
      name,
      description: description ?? name,
      parameters: parameters ?? { type: 'object', properties: {} },
      output: {
        schema: {
          type: 'object',
          properties: { content: { type: 'array', items: {} }, structuredContent: {} },
          required: ['content'],
          additionalProperties: false,
        },
        render: (/** @type {any} */ _args, /** @type {any} */ value) => [{ type: 'text', text: text(value.content) }],
      },
      ...(parallel ? { isConcurrencySafe: () => true } : {}),
      async execute(/** @type {any} */ args, /** @type {any} */ exec) {
        const call = { name, callId: exec.callId, session: exec.agent?.id }
        ran.push({ ...call, args })
        trace.push({ at: 'body>', ...call })
        try {
          const answered = await body(args, exec)
          const value = typeof answered === 'string' ? { content: [{ type: 'text', text: answered }] } : answered
          const { isError, ...success } = value
          // The bridge turns the server's flag into a throw, and this into an error result without `info`.
          if (isError) throw new Error(text(value.content))
          return success
        } finally {
          trace.push({ at: 'body<', ...call })
        }
      },
    })
  }
  // A tool that a test has taken out of those that are there anyway has no body.
  for (const [name, tool] of Object.entries(tools)) if (tool !== undefined) register(name, tool)

  /** Mounts a plugin and waits until it is active; rejects as the loader would when it throws or its config is refused. */
  async function mount(/** @type {any} */ plugin, /** @type {any} */ config) {
    const fiber = await ctx.plugin(plugin, config)
    fibers.push(fiber)
    return fiber
  }
  for (const [plugin, config] of plugins) await mount(plugin, config)

  const modelOf = (/** @type {string} */ id) => ({ provider: 'mock', model: `script of ${id}` })

  const host = {
    ctx,
    model,
    logs,
    trace,
    ran,
    fibers,
    mount,
    register,

    /**
     * A new agent with a session of its own.
     * @param {object} [agentOptions]
     * @param {string} [agentOptions.id]
     * @param {any} [agentOptions.parent] makes it a delegated child: origin `subagent`, depth one more than the parent's
     * @param {any} [agentOptions.forkOf] seeds it with the other's finished turns; turn numbers go on
     * @param {(ctx: any) => any} [agentOptions.setup] runs in the agent's own scope before it is published
     */
    async open({ id = randomUUID(), parent, forkOf, setup } = {}) {
      const ancestor = parent ?? forkOf
      const seed = forkOf?.session.events
      const meta = {
        ...(ancestor ? { parentSession: ancestor.id } : {}),
        ...(parent ? { origin: 'subagent', delegationDepth: (parent.session.header.delegationDepth ?? 0) + 1 } : {}),
        ...(seed ? { seedLength: seed.length } : {}),
      }
      const handle = await ctx.agents.create({
        sessionId: id,
        meta,
        agentOptions: modelOf(id),
        ...(seed ? { seed } : {}),
        ...(setup ? { setup } : {}),
      })
      handles.set(handle.agent, handle)
      return handle.agent
    },

    /** Takes a stored session up again, as after a restart. Close the agent that had it first. @param {string} id */
    async resume(id) {
      const handle = await ctx.agents.resume({ resumeSessionId: id, agentOptions: modelOf(id) })
      handles.set(handle.agent, handle)
      return handle.agent
    },

    /** Ends an agent: its session leaves the store and `session/disposed` is emitted. @param {any} agent */
    async close(agent) {
      if (sessionsDir) await ctx.sessions.flush(agent.session)
      await handles.get(agent).dispose()
      handles.delete(agent)
    },

    /**
     * Starts one turn and does not wait for it: `await agent.whenIdle()` does.
     * @param {any} agent
     * @param {Step[]} script
     * @param {string} [words] the user's message
     */
    start(agent, script, words = 'go') {
      model.push(modelOf(agent.id).model, script)
      agent.followup({
        id: randomUUID(),
        role: 'user',
        content: [{ type: 'text', text: words }],
        source: { kind: 'user' },
      })
    },

    /**
     * Runs one whole turn: of the agent given, else of a new one.
     * @param {Step[]} script the model's answers, one per step; the last should be `say()`
     * @param {{ agent?: any, id?: string, text?: string }} [turn]
     */
    async run(script, { agent, id, text: words } = {}) {
      const runner = agent ?? (await host.open(id === undefined ? {} : { id }))
      host.start(runner, script, words)
      await runner.whenIdle()
      return runner
    },

    /** Aborts the running turn, as the user does. @param {any} agent */
    cancel: agent => agent.cancel({ kind: 'user' }),

    /**
     * What the model has read of each tool call of this session, in order.
     * @param {any} agent
     * @returns {{ callId: string, name: string, isError: boolean, text: string }[]}
     */
    told(agent) {
      const messages = agent.session.deriveMessages()
      const blocks = messages.flatMap((/** @type {any} */ message) => message.content)
      const names = new Map(
        blocks
          .filter((/** @type {any} */ block) => block.type === 'tool-call')
          .map((/** @type {any} */ block) => [block.id, block.name]),
      )
      return blocks
        .filter((/** @type {any} */ block) => block.type === 'tool-result')
        .map((/** @type {any} */ block) => ({
          callId: block.toolCallId ?? block.id,
          name: names.get(block.toolCallId ?? block.id),
          isError: block.isError === true,
          text: text(block.content),
        }))
    },

    dispose: () => ctx.fiber.dispose(),
  }
  return host
}
