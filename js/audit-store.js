/**
 * The durable sink: records go into a storage domain of the host's, off the path of any call.
 *
 * `record` only queues. A pump takes from the queue in order, one put at a time, as long as the host offers its optional
 * service `storageDomain`; that may come late, go, fail, hang and come back. The queue is bounded: when it is full the oldest
 * record goes, is counted once, and a record of kind `lost` stands for it in the trail.
 *
 * Two layouts. Where the host keeps a file for each key, each record has a key of its own. Where it keeps one file for the
 * whole domain and writes all of it at every put, many records share a key, and the pump rests after a put for a multiple of
 * the time that the put took.
 */
import { randomBytes } from 'node:crypto'
import { Retention } from './audit-retention.js'
import { keyOf, orderAfter, storable } from './audit-text.js'
import { notices } from './notices.js'

/** The storage domain and its table. */
export const DOMAIN = 'bmpp_audit'
export const TABLE = 'events'

/** Records that wait at most. */
const QUEUE_MAX = 10_000
/** Records that share a key at most, in the single-file layout. */
const CHUNK_MAX = 500
/** How long the pump rests after a put, in multiples of the time that it took, and in milliseconds at most. */
const REST = 10
const REST_MAX = 1000
/** How long after the first record of a burst the pump begins, in milliseconds. */
const GATHER = 20
/** Waits between attempts that fail, in milliseconds. */
const RETRY_FIRST = 250
const RETRY_MAX = 30_000
/** How long an orderly end waits for the records to be stored, and for the storage to let go, in milliseconds. The host waits 5 s. */
const DRAIN_MAX = 3500
const RELEASE_MAX = 500

/**
 * @typedef {import('./records.js').AuditRecord} AuditRecord
 * @typedef {{ put(key: string, value: unknown): Promise<unknown>, delete(key: string): Promise<unknown>, entries(): Iterable<[string, unknown]> }} Table
 * @typedef {{ table(name: string): Table, close(): Promise<unknown> }} Domain
 * @typedef {{ open(spec: object): Promise<Domain> }} StorageDomain
 * @typedef {import('./audit-text.js').Text} Text
 * @typedef {{ key: string, texts: Text[], held: number }} Chunk what is in one key; `held` of it is stored already
 *
 * @typedef {object} AuditReport what the load report says of the trail; goes on changing
 * @property {'off' | 'waiting' | 'opening' | 'open' | 'failing' | 'closed'} state
 * @property {'single' | 'per-record' | null} layout of the host's storage, once it is open
 * @property {string | null} load the id under which this load's records stand in the trail
 * @property {number} persisted records in the trail
 * @property {number} waiting records that wait for the storage
 * @property {number} dropped records that could not wait any longer, or were left at the end
 */

export class AuditStore {
  /** @type {AuditRecord[]} */
  #queue = []
  /** Where the queue begins: what is before was taken. */
  #head = 0
  /** Positions that were dropped and that no record stands for yet. @type {{ from: number, to: number, why: string } | undefined} */
  #gap = undefined
  /** The storage that is offered now, and what of it is open. @type {StorageDomain | undefined} */
  #service = undefined
  /** @type {Domain | undefined} */
  #domain = undefined
  /** @type {Table | undefined} */
  #table = undefined
  /** The key that is being filled. @type {Chunk | undefined} */
  #chunk = undefined
  /** What is being put, or could not be. @type {Chunk | undefined} */
  #pending = undefined
  #order = 0
  #pumping = false
  /** @type {NodeJS.Timeout | undefined} */
  #timer = undefined
  #wait = 0
  /** Whether a call was judged: before, a missing storage is not worth a word. */
  #judged = false
  #ending = false
  /** @type {Promise<void> | undefined} */
  #opening = undefined
  /** @type {Promise<void> | undefined} */
  #closing = undefined
  /** @type {Set<() => void>} */
  #idle = new Set()
  #retention
  #stamp
  #notice
  #now
  #limits

  /**
   * @param {object} parts
   * @param {Record<string, string | null>} parts.stamp what every stored record says of its maker
   * @param {number} parts.maxRecords 0: keep all
   * @param {(notice: import('./notices.js').Notice) => void} parts.notice tells the operator, at most once a minute for each kind
   * @param {() => number} [parts.now] milliseconds, for measuring
   * @param {Partial<{ queue: number, chunk: number, drain: number, retry: number }>} [parts.limits] for tests
   */
  constructor({ stamp, maxRecords, notice, now = () => performance.now(), limits = {} }) {
    this.#stamp = stamp
    this.#notice = notice
    this.#now = now
    const chunk = maxRecords > 0 ? Math.min(CHUNK_MAX, Math.ceil(maxRecords / 20)) : CHUNK_MAX
    this.#limits = { queue: QUEUE_MAX, chunk, drain: DRAIN_MAX, retry: RETRY_FIRST, ...limits }
    this.load = randomBytes(9).toString('base64url')
    this.#retention = new Retention(maxRecords, this.load)
    /** @type {AuditReport} */
    this.report = { state: 'waiting', layout: null, load: this.load, persisted: 0, waiting: 0, dropped: 0 }
  }

  /** Queues a record. Never waits, and does no work that grows with anything. @param {AuditRecord} record */
  record(record) {
    if (this.#closing !== undefined) {
      // A call that outlived its gate: the storage has been let go, or is being.
      this.report.dropped += 1
      return
    }
    this.#queue.push(record)
    if (!this.#judged && record.kind === 'decision') this.#judged = true
    this.report.waiting += 1
    if (this.report.waiting > this.#limits.queue) this.#dropOldest()
    if (this.#timer === undefined && !this.#pumping) this.#schedule(GATHER)
  }

  /** Storage has come. @param {StorageDomain} service */
  attach(service) {
    if (this.#closing !== undefined) return
    this.#service = service
    this.#wait = 0
    this.#opening = this.#open(service)
  }

  /** Storage goes: what is queued waits for its return. */
  async detach() {
    if (this.#ending) return this.close()
    this.#service = undefined
    this.report.state = 'waiting'
    await this.#release()
  }

  /** Starts to write what is queued at once, for an end that may not leave time for more. */
  flushNow() {
    this.#ending = true
    clearTimeout(this.#timer)
    this.#timer = undefined
    void this.#pump()
  }

  /** Writes what is queued, as long as the host can be expected to wait, and releases the storage. */
  close() {
    this.#closing ??= this.#end()
    return this.#closing
  }

  async #end() {
    await within(this.#limits.drain, this.#drain())
    clearTimeout(this.#timer)
    const left = this.report.waiting
    if (left > 0) {
      this.report.dropped += left
      this.report.waiting = 0
      // Where there never was a storage, that has been said already.
      if (this.#service === undefined && this.report.layout === null) this.#missing(left)
      else {
        this.#notice(notices.notStored(left))
      }
    }
    this.#service = undefined
    this.report.state = 'closed'
    await within(RELEASE_MAX, this.#release())
  }

  /** Writes until nothing waits, or nothing can be written. */
  async #drain() {
    this.flushNow()
    if (this.#domain === undefined && this.#service !== undefined) await this.#opening
    if (this.#pumping) await new Promise(resolve => this.#idle.add(() => resolve(undefined)))
    await this.#pump()
  }

  /** Lets go of the domain. */
  async #release() {
    const domain = this.#domain
    this.#domain = undefined
    this.#table = undefined
    this.#chunk = undefined
    try {
      await domain?.close()
    } catch {
      // A storage that goes away badly takes nothing of ours with it that it did not have.
    }
  }

  /** @param {StorageDomain} service */
  async #open(service) {
    if (this.#domain !== undefined || this.#service !== service) return
    this.report.state = 'opening'
    let asked = false
    try {
      const domain = await service.open({
        name: DOMAIN,
        version: 1,
        // A host that knows layouts asks for one; one that does not never looks, and has one file for all.
        get layout() {
          asked = true
          return 'per-record'
        },
        invalidRecords: 'backup-and-skip',
        tables: { [TABLE]: { valueSchema: anyValue } },
      })
      if (this.#service !== service || this.#domain !== undefined) {
        await domain.close()
        return
      }
      this.#domain = domain
      const table = domain.table(TABLE)
      this.#order = Math.max(this.#order, this.#retention.adopt(table.entries()))
      this.#table = table
      this.report.layout = asked ? 'per-record' : 'single'
      this.report.state = 'open'
      this.#wait = 0
      void this.#pump()
    } catch (error) {
      if (this.#service !== service) return
      this.#failed('cannot be opened', error)
      this.#schedule(this.#wait)
    }
  }

  /** @param {number} delay milliseconds */
  #schedule(delay) {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      if (this.#service === undefined) this.#missing(this.report.waiting)
      else if (this.#domain === undefined) this.#opening = this.#open(this.#service)
      else void this.#pump()
    }, delay)
    // The trail must not keep a process alive.
    this.#timer.unref()
  }

  /**
   * There is nowhere to write to. Nothing is said before a call was judged: services may still come while the host boots.
   * @param {number} waiting
   */
  #missing(waiting) {
    if (!this.#judged) return
    this.#notice(notices.noStorage(waiting))
  }

  async #pump() {
    if (this.#pumping) return
    this.#pumping = true
    try {
      await this.#write()
    } finally {
      this.#pumping = false
      for (const wake of this.#idle) wake()
      this.#idle.clear()
      // What came while the pump was busy with something else must not wait for the next record.
      if (this.report.waiting > 0 && this.#timer === undefined && !this.#ending) this.#schedule(GATHER)
    }
  }

  async #write() {
    for (;;) {
      const table = this.#table
      if (table === undefined) return
      this.#pending ??= this.#next()
      const pending = this.#pending
      if (pending === undefined) break
      const started = this.#now()
      try {
        await table.put(pending.key, this.#value(pending))
      } catch (error) {
        // A storage that has gone is no failure: it is waited for.
        if (this.#table !== table) return
        this.#failed('refuses records', error)
        if (!this.#ending) this.#schedule(this.#wait)
        return
      }
      this.#stored(pending)
      if (this.#table !== table) return
      this.report.state = 'open'
      if (this.report.layout === 'single' && !this.#ending && this.report.waiting < this.#limits.chunk) {
        await this.#trim(table)
        this.#schedule(Math.min(REST_MAX, Math.max(GATHER, REST * (this.#now() - started))))
        return
      }
    }
    const table = this.#table
    if (table !== undefined && !this.#ending) await this.#trim(table)
  }

  /** @param {Table} table */
  async #trim(table) {
    for (const key of this.#retention.surplus()) {
      try {
        await table.delete(key)
      } catch {
        // What cannot be deleted now is tried again with the next surplus.
        return
      }
      this.#retention.gone(key)
    }
  }

  /** @param {Chunk} pending */
  #value(pending) {
    const [only] = pending.texts
    if (this.report.layout === 'per-record' && pending.texts.length === 1 && only !== undefined) {
      return JSON.parse(only.json)
    }
    return { bmpp: 1, records: pending.texts.map(text => text.json) }
  }

  /** @param {Chunk} pending */
  #stored(pending) {
    const fresh = pending.texts.slice(pending.held)
    const records = fresh.filter(text => !text.standsIn).length
    this.#pending = undefined
    this.#wait = 0
    this.report.persisted += records
    this.report.waiting -= records
    // The record of a load has a key of its own, so that it can outlive the others of its time.
    const goesOn = this.report.layout === 'single' && pending.texts[0]?.kind !== 'load'
    this.#chunk = goesOn ? { ...pending, held: pending.texts.length } : undefined
    for (const text of fresh) this.#retention.add(pending.key, text)
  }

  /** The next put: one record where each has a key, else as many as fit into the key that is being filled. */
  #next() {
    const first = this.#take()
    if (first === undefined) return undefined
    const open = this.#chunk
    const chunk =
      open === undefined || open.texts.length >= this.#limits.chunk
        ? { key: keyOf(first.order, this.load), texts: [first], held: 0 }
        : { ...open, texts: [...open.texts, first] }
    if (this.report.layout !== 'single' || first.kind === 'load') return chunk
    while (chunk.texts.length < this.#limits.chunk) {
      const text = this.#take()
      if (text === undefined) break
      chunk.texts.push(text)
    }
    return chunk
  }

  /** The oldest record that waits, or what stands for those that could not, as it is stored. @returns {Text | undefined} */
  #take() {
    const gap = this.#gap
    const record = this.#queue[this.#head]
    if (gap !== undefined) {
      this.#gap = undefined
      const { from, to: seq, why } = gap
      const time = record?.time ?? Date.now()
      this.#order = orderAfter(this.#order, time)
      return storable({ kind: 'lost', seq, from, time, why }, this.load, this.#order, this.#stamp)
    }
    if (record === undefined) return undefined
    this.#head += 1
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    this.#order = orderAfter(this.#order, record.time)
    return storable(record, this.load, this.#order, this.#stamp)
  }

  #dropOldest() {
    const oldest = this.#queue[this.#head]
    if (oldest === undefined) return
    this.#head += 1
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head)
      this.#head = 0
    }
    this.report.waiting -= 1
    this.report.dropped += 1
    const why = this.#service === undefined || this.report.state === 'failing' ? 'storage' : 'back-pressure'
    this.#gap = { from: this.#gap?.from ?? oldest.seq, to: oldest.seq, why }
    this.#notice(notices.recordsDropped(this.report.dropped))
  }

  /** @param {string} what @param {unknown} error */
  #failed(what, error) {
    this.report.state = 'failing'
    this.#wait = Math.min(RETRY_MAX, Math.max(this.#limits.retry, this.#wait * 2))
    // Of an error only its code: a message may quote a path or a value.
    const code = /** @type {{ code?: unknown } | null | undefined} */ (error)?.code
    // The plugin's earlier life may still be letting go.
    if (code === 'already-open' && this.#wait < 1000) return
    const named = typeof code === 'string' && /^[\w-]{1,40}$/.test(code) ? ` (${code})` : ''
    this.#notice(notices.storageFails(what, named, this.report.waiting))
  }
}

/** The host asks a schema whether a stored value is one of ours. A later version's is: nothing of it may be lost. */
const anyValue = {
  /** @param {unknown} value */
  parse: value => value,
  /** @param {unknown} value */
  safeParse: value => ({ success: true, data: value }),
}

/**
 * Waits for a promise, for so long at most. Whether it fails does not matter.
 * @param {number} ms
 * @param {Promise<unknown>} promise
 */
async function within(ms, promise) {
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  const late = new Promise(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([promise.catch(() => {}), late])
  clearTimeout(timer)
}
