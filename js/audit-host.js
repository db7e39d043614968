/**
 * The host's side of the durable sink: the optional storage service as it comes and goes, and the earliest sign of an end.
 */

/**
 * @typedef {import('./host-types.js').Context} Context
 * @typedef {import('./host-types.js').Fiber} Fiber
 * @typedef {import('./audit-store.js').AuditStore} AuditStore
 */

/** The state of a plugin that is being unloaded, by the framework's own numbers. */
const UNLOADING = 5

/** Ancestors that are looked at; more is a circle. */
const DEPTH_MAX = 64

/**
 * Follows the host's storage.
 * @param {Context} ctx
 * @param {AuditStore} store
 * @param {() => void} unloading the plugin itself is going
 */
export function followStorage(ctx, store, unloading) {
  try {
    ctx.inject?.(['storageDomain'], sub => {
      const service = /** @type {import('./audit-store.js').StorageDomain | undefined} */ (sub.get('storageDomain'))
      if (typeof service?.open !== 'function') return
      store.attach(service)
      sub.effect(() => () => {
        // What is bound to the storage ends with the plugin too, and then there is one more record to write.
        if (ctx.fiber?.state === UNLOADING) unloading()
        return store.detach()
      })
    })
  } catch {
    // A host without optional services: the records wait in memory, and the store says so.
  }
}

/**
 * Calls back at the first sign that the plugin ends. The host disposes of everything at once, the storage too, so that by the
 * time our own disposal runs the storage may take nothing any more.
 * @param {Context} ctx
 * @param {() => void} unloading
 */
export function followUnload(ctx, unloading) {
  /** @param {unknown} fiber */
  const isOurs = fiber => {
    /** @type {Fiber | undefined} */
    let own = ctx.fiber
    for (let depth = 0; own !== undefined && depth < DEPTH_MAX; depth += 1) {
      if (own === fiber) return true
      const up = own.parent?.fiber
      if (up === own) return false
      own = up
    }
    return false
  }
  try {
    ctx.on('internal/status', (/** @type {Fiber | undefined} */ fiber) => {
      try {
        if (fiber?.state === UNLOADING && isOurs(fiber)) unloading()
      } catch {
        // Our own disposal comes later and does the same.
      }
    })
  } catch {
    // A framework without the event.
  }
}
