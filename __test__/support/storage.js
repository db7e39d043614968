/**
 * Storage services as hosts offer them, for tests: one that keeps a file for each key as newer hosts do, and one in memory that
 * can be slow, failing, hanging or gone. The real one of the installed host is used where a test boots it.
 */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * One file for each key: `<root>/<domain>/<table>/<key>.json`, each with a header of the host's around the value.
 * @param {string} root
 */
export function perRecordStorage(root) {
  /** @type {Set<string>} */
  const open = new Set()
  return {
    /** @param {any} spec */
    async open({ name, version, layout, tables }) {
      if (layout !== 'per-record') throw Object.assign(new Error('no layout'), { code: 'facet-unsupported' })
      if (open.has(name)) throw Object.assign(new Error('open'), { code: 'already-open' })
      open.add(name)
      const [table = ''] = Object.keys(tables)
      const folder = join(root, name, table)
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const read = (/** @type {string} */ file) => JSON.parse(readFileSync(join(folder, file), 'utf8')).value
      /** @type {Map<string, unknown>} */
      const records = new Map(
        readdirSync(folder)
          .filter(file => file.endsWith('.json') && !file.startsWith('.'))
          .map(file => [file.slice(0, -5), read(file)]),
      )
      /** @type {Promise<unknown>} */
      let chain = Promise.resolve()
      const queue = (/** @type {() => unknown} */ job) => {
        const result = chain.then(job)
        chain = result.catch(() => {})
        return result
      }
      return {
        table: () => ({
          entries: () => records.entries(),
          put: (/** @type {string} */ key, /** @type {unknown} */ value) =>
            queue(() => {
              if (!/^[A-Za-z0-9_-]+$/.test(key)) throw new Error(`not a key: ${key}`)
              const fresh = join(folder, `.${key}.tmp`)
              writeFileSync(fresh, JSON.stringify({ unit: { name, version }, value }, null, 2), { mode: 0o600 })
              renameSync(fresh, join(folder, `${key}.json`))
              records.set(key, value)
            }),
          delete: (/** @type {string} */ key) =>
            queue(() => {
              rmSync(join(folder, `${key}.json`), { force: true })
              return records.delete(key)
            }),
        }),
        async close() {
          await chain
          open.delete(name)
        },
      }
    },
  }
}

/**
 * Storage in memory, in the layout of one file for a domain.
 * @param {object} [options]
 * @param {() => unknown} [options.onPut] runs before each put: throws, waits or counts
 * @param {() => unknown} [options.onOpen]
 * @param {boolean} [options.perRecord] asks for the layout, as a newer host does
 */
export function memoryStorage({ onPut = () => {}, onOpen = () => {}, perRecord = false } = {}) {
  /** @type {Map<string, any>} */
  const records = new Map()
  const state = { open: 0, closed: 0, puts: 0, deletes: 0 }
  return {
    records,
    state,
    /** The stored records, in the order of their keys. @returns {any[]} */
    stored: () =>
      [...records.entries()]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .flatMap(([, value]) => value.records?.map((/** @type {string} */ text) => JSON.parse(text)) ?? [value]),
    /** @param {any} spec */
    async open(spec) {
      await onOpen()
      if (perRecord && spec.layout !== 'per-record') throw new Error('no layout')
      state.open += 1
      /** @type {Promise<unknown>} */
      let chain = Promise.resolve()
      let closed = false
      const queue = (/** @type {() => unknown} */ job) => {
        if (closed) return Promise.reject(Object.assign(new Error('closed'), { code: 'closed' }))
        const result = chain.then(job)
        chain = result.catch(() => {})
        return result
      }
      return {
        table: () => ({
          entries: () => records.entries(),
          put: (/** @type {string} */ key, /** @type {any} */ value) =>
            queue(async () => {
              state.puts += 1
              await onPut()
              records.set(key, structuredClone(value))
            }),
          delete: (/** @type {string} */ key) =>
            queue(() => {
              state.deletes += 1
              return records.delete(key)
            }),
        }),
        async close() {
          closed = true
          await chain
          state.closed += 1
        },
      }
    },
  }
}
