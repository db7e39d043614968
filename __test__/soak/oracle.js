/**
 * Decides of each body that ran whether it was permitted, from what really happened: what the sessions' logs say, which bodies
 * ran with what and what they answered, and what the callers got. It knows the rules as the README says them and nothing of the
 * gate: no verdict, no record and no text of the gate is looked at.
 *
 * It asks what is necessary: a write that ran without it is a violation. Where the README is stricter, it does not ask.
 */
import { CLASSIFY, DESTRUCTIVE, LOOKUPS, memory, noteOf, UNKNOWN, WRITES } from './model.js'

/**
 * @typedef {object} Call a call that somebody made
 * @property {any} session undefined for one that no agent made
 * @property {Turn | undefined} turn in which it was announced; undefined for one that was not
 * @property {number} step
 * @property {number} approvals that a human gave it
 * @property {number} since when it began
 */

/**
 * @typedef {object} Turn
 * @property {Array<{ at: number, task: string | undefined, certain: boolean }>} tasks what it was declared to be, since when, and
 *   whether it need be taken for this session's: one that no event announced, or that was moved, need not
 * @property {number} lookedUp the first step in which a lookup's success was there
 * @property {Map<number, number>} known notes, with the step in which they were read; -1 for what the turn wrote itself
 * @property {Set<number>} absent
 * @property {Map<string, { state: string, at: number }>} writes
 * @property {number} wroteAt when a write last ran
 * @property {number} readAt when a read last ended well
 */

/** @returns {Turn} */
const freshTurn = () => ({
  tasks: [{ at: 0, task: undefined, certain: true }],
  lookedUp: Number.POSITIVE_INFINITY,
  known: new Map(),
  absent: new Set(),
  writes: new Map(),
  wroteAt: -1,
  readAt: -1,
})

const isObject = (/** @type {unknown} */ value) => typeof value === 'object' && value !== null && !Array.isArray(value)
const LAX_FALSE = new Set([false, undefined, null, 'false', 0, '0', 'no', 'off', 'n', 'f'])

/** Which of the arguments that are looked at each tool has: after a swap it is given another tool's, which it does not read. */
const PARAMETERS = new Map(
  Object.entries({
    write_note: ['title', 'directory', 'folder', 'overwrite', 'tags'],
    edit_note: ['identifier', 'operation'],
    move_note: ['identifier'],
    delete_note: ['identifier'],
    delete_project: [],
    create_memory_project: [],
  }).map(([raw, names]) => [memory(raw), names]),
)

/** @param {string} name @param {any} args @returns {any} */
function readBy(name, args) {
  const names = PARAMETERS.get(name)
  return names === undefined ? args : Object.fromEntries(names.map(each => [each, args[each]]))
}

/** The same call whatever the order of its keys. @param {string} name @param {any} args */
const keyOf = (name, args) =>
  JSON.stringify([name, isObject(args) ? Object.entries(args).toSorted(([a], [b]) => (a < b ? -1 : 1)) : args])

export class Oracle {
  /** @type {WeakMap<object, { open: boolean, step: number, turn: Turn }>} */
  #sessions = new WeakMap()
  /** Counts what happens. */
  #now = 1
  /** When a move, a deletion or a project call last ran, in any session. */
  #movedAt = -1
  #options

  /**
   * @param {object} options the effective ones
   * @param {boolean} options.strict
   * @param {boolean} options.createRequiresSearch
   * @param {boolean} options.duplicateWriteGuard
   * @param {string} options.pathGuard
   * @param {string} options.unknownMemoryToolPolicy
   */
  constructor(options) {
    this.#options = options
  }

  /** @param {object} session */
  #of(session) {
    let truth = this.#sessions.get(session)
    if (truth === undefined) {
      truth = { open: true, step: 0, turn: freshTurn() }
      this.#sessions.set(session, truth)
    }
    return truth
  }

  /** An event that is in the session's log. @param {object} session @param {{ type: string, data: any }} event */
  event(session, { type, data }) {
    const truth = this.#of(session)
    if (type === 'turn/start' || type === 'turn/end') truth.turn = freshTurn()
    if (type === 'step/start' || type === 'tool/call') truth.step = data.step
  }

  /** The session is gone. @param {object} session */
  closed(session) {
    this.#of(session).open = false
  }

  /** A call begins. @param {object | undefined} session @param {number | undefined} step where it was announced @returns {Call} */
  begin(session, step) {
    const truth = session === undefined ? undefined : this.#of(session)
    this.#now += 1
    return {
      session,
      turn: step === undefined ? undefined : truth?.turn,
      step: step ?? 0,
      approvals: 0,
      since: this.#now,
    }
  }

  /**
   * A body begins to run in `enforce`.
   * @param {Call | undefined} call
   * @param {any} session that the execution is of now
   * @param {string} name
   * @param {any} args
   * @returns {string | undefined} why it must not
   */
  objection(call, session, name, args) {
    if (!WRITES.has(name)) return undefined
    if (call === undefined) return 'of no call'
    if (session !== call.session) return 'in another session than its own'
    if (session === undefined) return undefined
    const truth = this.#of(session)
    if (!truth.open) return 'of a session that is gone'
    const { turn } = truth
    const step = call.turn === turn ? call.step : truth.step
    const options = this.#options
    if (!isObject(args)) return 'with malformed arguments'
    const read = readBy(name, args)
    if (read.directory !== undefined && read.folder !== undefined) return 'with malformed arguments'
    if (name === UNKNOWN && options.unknownMemoryToolPolicy === 'deny') return 'of a tool on no list'
    const texts = [read.directory, read.identifier, read.title].filter(text => typeof text === 'string')
    if (options.pathGuard === 'deny' && texts.some(text => /\.\.|\.git|^[~/]/.test(text))) return 'with an unsafe path'
    // Somebody may have declared otherwise since it was judged: what held at any time since it began.
    const tasks = turn.tasks.filter((_, index) => {
      const next = turn.tasks.slice(index + 1).find(({ certain }) => certain)
      return next === undefined || next.at >= call.since
    })
    const approved = DESTRUCTIVE.has(name) && options.strict
    if (approved) {
      // The human is told of an unmet precondition, and decides.
      if (call.approvals <= 0) return 'that destroys, without an approval'
      call.approvals -= 1
      return undefined
    }
    if (tasks.every(({ task }) => task === undefined)) return 'in a turn that is not classified'
    const creating = name === memory('write_note') && LAX_FALSE.has(read.overwrite)
    const needsLookup = !(creating && !options.createRequiresSearch)
    if (tasks.every(({ task }) => task !== 'simple') && needsLookup && !(turn.lookedUp < step)) {
      return 'in a complex turn without a lookup in an earlier step'
    }
    const note = noteOf(read.title ?? read.identifier)
    const replaces =
      name === memory('write_note') ? !creating : name === memory('edit_note') && read.operation !== 'append'
    if (options.strict && replaces && !this.#knows(turn, note, step, name)) return 'over a note that was not read'
    if (options.strict && Array.isArray(read.tags)) return 'with a secret'
    if (options.strict && /\[test-fixture\]/.test(read.title ?? '')) return 'of a test fixture'
    return options.duplicateWriteGuard ? this.#repeats(turn, name, args) : undefined
  }

  /** @param {Turn} turn @param {number | undefined} note @param {number} step @param {string} name */
  #knows(turn, note, step, name) {
    if (note === undefined) return false
    const read = turn.known.get(note)
    return (read !== undefined && read < step) || (name === memory('write_note') && turn.absent.has(note))
  }

  /** @param {Turn} turn @param {string} name @param {any} args */
  #repeats(turn, name, args) {
    const before = turn.writes.get(keyOf(name, args))
    if (before === undefined || before.state === 'failed') return undefined
    // Tools that no table knows are not told apart. A project call that was done, and whose caller was told otherwise, may be made
    // again, since what became of a project cannot be read in a note.
    if (name === UNKNOWN || name.endsWith('_project')) return undefined
    if (turn.wroteAt > before.at || this.#movedAt > before.at) return undefined
    if (before.state === 'unknown' && turn.readAt > before.at) return undefined
    return `again, although it was made before and is ${before.state}`
  }

  /** The turn that a session is in. @param {any} session */
  turnOf(session) {
    return session === undefined ? undefined : this.#of(session).turn
  }

  /**
   * A body runs.
   * @param {any} session
   * @param {string} name
   * @param {any} args
   * @returns {(meant: import('./model.js').Meant) => void} to be called when it has ended
   */
  ran(session, name, args) {
    if (!WRITES.has(name)) return () => {}
    this.#now += 1
    const at = this.#now
    const mark = () => {
      if (name !== memory('write_note') && name !== memory('edit_note')) this.#movedAt = Math.max(this.#movedAt, at)
    }
    mark()
    if (session === undefined) return () => {}
    const { turn } = this.#of(session)
    const entry = { state: 'running', at }
    turn.wroteAt = at
    turn.writes.set(keyOf(name, args), entry)
    return meant => {
      entry.state = meant === 'done' || meant === 'failed' ? meant : 'unknown'
      if (meant === 'failed') return
      const { title, identifier } = isObject(args) ? readBy(name, args) : {}
      const note = noteOf(title ?? identifier)
      if (note !== undefined && meant === 'done') turn.known.set(note, -1)
    }
  }

  /**
   * A call has its result, which goes to whoever made it.
   * @param {Call} call
   * @param {{ name: string, args: any, meant: string | undefined, task?: string, turn: Turn | undefined }[]} runs of bodies
   * @param {boolean} isError what the caller got
   * @param {boolean} moved whether another plugin has made it another session's
   */
  end(call, runs, isError, moved) {
    this.#now += 1
    const { session } = call
    if (session === undefined || isError) return
    const truth = this.#of(session)
    const { turn } = truth
    const step = Math.max(call.step, truth.step)
    for (const { name, args, meant, task, turn: ranIn } of runs) {
      if (ranIn !== turn) continue
      if (name === CLASSIFY && task !== undefined)
        turn.tasks.push({ at: this.#now, task, certain: !moved && call.turn !== undefined })
      if (LOOKUPS.has(name) && meant === 'done') turn.lookedUp = Math.min(turn.lookedUp, step)
      if (name === memory('read_note') && (meant === 'done' || meant === 'absent')) {
        turn.readAt = this.#now
        const note = noteOf(args?.identifier)
        if (note === undefined) continue
        // Whatever page was asked for: what is not there has none. Only a path proves that nothing is there.
        if (meant === 'absent' && args.identifier.endsWith('.md')) turn.absent.add(note)
        if (meant === 'done' && args.page === undefined)
          turn.known.set(note, Math.min(turn.known.get(note) ?? Number.POSITIVE_INFINITY, step))
      }
    }
  }
}
