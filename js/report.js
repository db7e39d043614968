/**
 * What the operator is told. The load report says what was loaded, where and how; a notice is one line that must be seen.
 * Notices go to standard error too, since no shipped profile of the host shows the logger. Never to standard output, which
 * belongs to the host's answer.
 */

/** A kind of notice is repeated at most once in this time, in milliseconds. */
const REPEAT_AFTER = 60_000

/**
 * @typedef {object} LoadReport
 * @property {boolean} active false in mode off
 * @property {string} mode
 * @property {string} profile
 * @property {string} pluginVersion
 * @property {string} policyVersion
 * @property {string[]} serverNames
 * @property {{ name: string | null, version: string | null, source: string, why: string, standing: string, verified: boolean, range: string, reason: string }} host
 * @property {number | null} reloadGapMs time without a gate before this load, where it is a reload in the same process
 * @property {string[]} notices every notice so far, each once; grows while loaded
 * @property {number} countedSessions sessions for which the host gave no turn number, so far
 * @property {number} lostRecords records that the sink did not take, so far
 * @property {import('./audit-store.js').AuditReport | null} audit the trail, so far; null where records go to another sink
 */

export class Operator {
  /** @type {Map<string, { said: number, held: number }>} */
  #said = new Map()
  /** @type {string[]} */
  notices = []
  #logger
  #write
  #now

  /**
   * @param {import('./host-types.js').Logger | undefined} logger
   * @param {(line: string) => void} [write] to standard error
   * @param {() => number} [now] milliseconds of a clock that never goes back
   */
  constructor(logger, write = toStandardError, now = () => performance.now()) {
    this.#logger = logger
    this.#write = write
    this.#now = now
  }

  /**
   * Says something that must be seen, at most once a minute for each kind.
   * @param {import('./notices.js').Notice} notice
   */
  notice({ kind, text }) {
    const now = this.#now()
    const before = this.#said.get(kind)
    if (before !== undefined && now - before.said < REPEAT_AFTER) {
      before.held += 1
      return
    }
    const held = before?.held ?? 0
    this.#said.set(kind, { said: now, held: 0 })
    if (before === undefined) this.notices.push(text)
    const line = held > 0 ? `${text} (and ${held} more of the kind since the last line)` : text
    this.#log('warn', line)
    try {
      this.#write(`dsh-bmpp: ${line}\n`)
    } catch {
      // A closed standard error must not end the host.
    }
  }

  /** @param {string} text */
  info(text) {
    this.#log('info', text)
  }

  /** @param {'info' | 'warn'} level @param {string} text */
  #log(level, text) {
    try {
      this.#logger?.[level](`dsh-bmpp: ${text}`)
    } catch {
      // A logger that fails is not the gate's business.
    }
  }
}

/**
 * A pipe whose reader is gone fails later, as an event that ends the process where nobody listens.
 * @param {string} line
 */
function toStandardError(line) {
  const { stderr } = process
  const ignore = () => {}
  stderr.once('error', ignore)
  stderr.write(line, error => {
    // After a failure the event is still to come.
    if (error === undefined || error === null) stderr.off('error', ignore)
  })
}

/** @param {Omit<LoadReport, 'notices' | 'countedSessions' | 'lostRecords' | 'audit'>} report */
export function summary(report) {
  if (!report.active) return 'mode off: nothing is registered and nothing is decided'
  const servers = report.serverNames.join(', ')
  return `${report.pluginVersion} loaded, mode ${report.mode}, profile ${report.profile}, governs ${servers}; ${report.host.reason}`
}
