/**
 * What the shim sees of the host: only the members it uses, all of them optional where a version may lack them. Written
 * from what the host was seen to do; nothing of the host is imported.
 */

export interface Session {
  readonly id: string
  /** Number of the next event: the length of the log. */
  readonly seq?: number
  /** What `events` is a copy of, where that is not out of reach. */
  readonly log?: readonly SessionEvent[]
  /** The log, on hosts that let it be read whole. */
  readonly events?: readonly SessionEvent[]
  /** One event of the log, on newer hosts. */
  eventAt?(seq: number): SessionEvent | undefined
  readonly header?: { readonly origin?: string; readonly delegationDepth?: number }
}

export interface Agent {
  readonly session: Session
}

/** One tool execution. The same object reaches every stage; it is frozen when its result is announced. */
export interface Exec {
  callId: string
  rootCallId?: string
  name: string
  arguments: unknown
  agent?: Agent
  parent?: symbol
  signal?: unknown
}

export interface ExecResult {
  readonly isError: boolean
  readonly value?: unknown
  readonly error?: { readonly message?: string; readonly info?: { readonly code?: string } }
}

export interface SessionEvent {
  readonly type: string
  readonly seq: number
  // biome-ignore lint/suspicious/noExplicitAny: each type of event has its own data, checked where it is read
  readonly data: any
}

export type Decision = { kind: 'allow' } | { kind: 'deny'; reason: string } | { kind: 'ask'; reason: string }

export interface Tools {
  register(definition: object): unknown
  guard(guard: (exec: Exec) => string | undefined): unknown
  get(name: string, scope?: unknown): unknown
  schemas(scope?: unknown): Array<{ name: string }>
}

export interface Logger {
  info(message: string): void
  warn(message: string): void
  error(message: string): void
}

/** The life of a plugin: it goes on over a reload. */
export interface Fiber {
  /** Null once the plugin is gone for good. */
  readonly uid?: number | null
  readonly state?: unknown
  /** The context that the plugin was mounted in. */
  readonly parent?: Context
}

export interface Context {
  readonly tools: Tools
  readonly logger: Logger
  get(name: string): unknown
  // biome-ignore lint/suspicious/noExplicitAny: every event has a signature of its own
  on(event: string, listener: (...args: any[]) => unknown, options?: { prepend?: boolean }): unknown
  // biome-ignore lint/suspicious/noExplicitAny: as above
  waterfall?(event: string, ...args: any[]): unknown
  effect(effect: () => () => void | Promise<void>): unknown
  /** Runs with a context of its own whenever the services are there. */
  inject?(services: string[], use: (ctx: Context) => void): unknown
  readonly fiber?: Fiber
}
