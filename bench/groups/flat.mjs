// Whether a call costs the same late as early, and among many sessions as among few.
import { collect, median, processorTime, ROUNDS } from '../lib/rounds.mjs'
import { answer, FOUND, memory, note, noteJson, Stage, whole, written } from '../lib/stage.mjs'

const LAST = 10_000
const WINDOW = 100
const EARLY = 100
const LATE = LAST - WINDOW

/** @typedef {{ name: string, args: (index: number) => unknown, value: (index: number) => unknown }} Kind */

/** @type {Record<string, Kind>} */
const KINDS = {
  write: { name: memory('write_note'), args: index => note(index, 256), value: written },
  append: {
    name: memory('edit_note'),
    args: index =>
      Object.freeze({
        identifier: `projects/releases/release-notes-${index}`,
        operation: 'append',
        content: `more ${index}`,
      }),
    value: index =>
      answer(
        `# Edited note (append)\nproject: main\nfile_path: projects/releases/Release notes ${index}.md\npermalink: main/projects/releases/release-notes-${index}\nchecksum: 6a1f3c5e`,
      ),
  },
  read: { name: memory('read_note'), args: whole, value: index => noteJson(index, 256) },
  lookup: {
    name: memory('search_notes'),
    args: index => Object.freeze({ query: `release ${index}` }),
    value: () => FOUND,
  },
}

/**
 * Milliseconds of the processor for two windows of one turn's calls.
 * @param {Stage} stage
 * @param {Kind} kind
 */
function windows(stage, { name, args, value }) {
  stage.earn()
  const made = Array.from({ length: LAST }, (_, index) => [args(index), value(index)])
  collect()
  const times = { early: 0, late: 0 }
  let started = 0
  for (let index = 0; index < LAST; index += 1) {
    if (index === EARLY || index === LATE) started = processorTime()
    const [given, answered] = made[index] ?? []
    stage.judge(name, given)
    stage.settle(name, answered)
    if (index === EARLY + WINDOW - 1) times.early = processorTime() - started
  }
  times.late = processorTime() - started
  return times
}

/** @param {Stage} stage @param {Kind} kind @param {number} rounds */
function lateness(stage, kind, rounds) {
  const all = Array.from({ length: rounds + 1 }, () => windows(stage, kind)).slice(1)
  // The fastest of each: what a neighbour does to a window of a tenth of a millisecond is no property of ours.
  return Math.min(...all.map(({ late }) => late)) / Math.min(...all.map(({ early }) => early))
}

/**
 * How much a call costs among many live sessions, each with a turn, of what it costs among few.
 * @param {number} few
 * @param {number} many
 * @param {number} rounds
 */
function crowd(few, many, rounds) {
  const write = KINDS.write
  if (write === undefined) throw new Error('no write')
  const stages = [few, many].map(count => {
    const stage = new Stage()
    const sessions = Array.from({ length: count }, () => stage.core.openSession())
    // Each has a turn in which something was written.
    for (const session of sessions) {
      stage.turn = 0
      stage.earn(session)
      stage.judge(write.name, write.args(0), session)
      stage.settle(write.name, write.value(0), session)
    }
    return { stage, sessions }
  })
  /** @type {number[]} */
  const ratios = []
  let call = 0
  for (let round = -1; round < rounds; round += 1) {
    collect()
    const least = stages.map(({ stage, sessions }) => {
      let best = Number.POSITIVE_INFINITY
      for (let batch = 0; batch < 5; batch += 1) {
        // The calls go through all sessions, and so do those among few.
        const chosen = Array.from(
          { length: 200 },
          (_, index) => sessions[((call + index) * 7919) % sessions.length] ?? 0,
        )
        const made = chosen.map((session, index) => [
          session,
          write.args(call + index + 1),
          write.value(call + index + 1),
        ])
        call += chosen.length
        const started = processorTime()
        for (const [session, given, answered] of /** @type {[number, unknown, unknown][]} */ (made)) {
          stage.judge(write.name, given, session)
          stage.settle(write.name, answered, session)
        }
        best = Math.min(best, processorTime() - started)
      }
      return best
    })
    if (round >= 0) ratios.push((least[1] ?? 0) / (least[0] ?? 1))
  }
  for (const { stage } of stages) stage.core.dispose()
  return median(ratios)
}

/** @param {{ rounds?: number, quick?: boolean }} options @returns {import('../lib/figure.mjs').Figure[]} */
export function figures({ rounds = ROUNDS, quick = false }) {
  const stage = new Stage()
  stage.rehearse()
  /** @type {import('../lib/figure.mjs').Figure[]} */
  const flat = Object.entries(KINDS).map(([what, kind]) => ({
    name: `${what} of one turn: calls 9 901 to 10 000`,
    value: lateness(stage, kind, rounds * 2),
    bar: 1.5,
    unit: '× calls 101 to 200',
  }))
  const many = quick ? 1000 : 100_000
  return [
    ...flat,
    { name: `a write among ${many} live sessions`, value: crowd(10, many, rounds), bar: 1.5, unit: '× among 10' },
  ]
}
