// What a governed call costs, counted in calls of an empty function of the addon. Everything is called from one loop.
import { decisionRecord, settlementRecord } from '../../js/entries.js'
import { Track } from '../../js/position.js'
import { Recorder } from '../../js/records.js'
import { measure, ratio } from '../lib/rounds.mjs'
import { added, addition, addon, memory, note, noteJson, Stage, whole, written } from '../lib/stage.mjs'

const ROW = { mode: 'enforce', profile: 'compat' }
const CALLS = 100
const ID = 'session-70afea79-84a9-48fc-b07b-ccc4392f83b7'

/** A stage whose calls are recorded as the gate records them, into a sink that drops them. */
class Recorded extends Stage {
  recorder = new Recorder({ record() {} }, () => {})
  track = new Track(ID, { id: ID }, 0)
  exec = { callId: 'call_00_a1b2c3', name: '', arguments: undefined }

  /** @param {string} name @param {unknown} args */
  decide(name, args) {
    const { core, recorder, exec, track } = this
    const tool = core.tool(name)
    const word = this.judge(name, args)
    const enforcement = core.enforcement(word, false)
    const facts = tool.writes ? core.judgedFacts() : null
    const secretClass = core.secretClass(word)
    const place = { track, turn: this.turn, counted: false, step: this.step, epoch: 0 }
    const [call, target, canAsk, approved] = [this.calls, null, false, false]
    const judged = { call, name, tool, place, facts, secretClass, target, canAsk, approved }
    const verdict = core.describe(word)
    const record = decisionRecord
    recorder.keep(record(recorder, ROW, exec, name, tool, place, verdict, enforcement, 'pre-execute', 'judged', judged))
    return judged
  }

  /** @param {string} name @param {unknown} args @param {unknown} value */
  play(name, args, value) {
    const judged = this.decide(name, args)
    const { core, recorder, exec } = this
    const settled = core.describeSettlement(this.settle(name, value))
    const fate = {
      reached: true,
      isError: false,
      declared: null,
      arrived: this.step,
      happened: /** @type {const} */ ('ran'),
    }
    recorder.keep(settlementRecord(recorder, ROW, exec, judged, settled, fate))
  }
}

/** @param {{ rounds?: number }} options @returns {import('../lib/figure.mjs').Figure[]} */
export function figures({ rounds }) {
  const stage = new Recorded()
  stage.rehearse()
  const [write, read, edit] = [memory('write_note'), memory('read_note'), memory('edit_note')]
  /** What the calls of one batch are made with: made before it, since the host has made its arguments when the gate sees them. */
  const made = (/** @type {(index: number) => unknown} */ make) => {
    /** @type {unknown[]} */
    let list = []
    return {
      fill: (/** @type {number} */ from) => {
        list = Array.from({ length: CALLS }, (_, index) => make(from + index))
      },
      at: (/** @type {number} */ index) => list[index % CALLS],
    }
  }
  const [notes, answers] = [made(note), made(written)]
  const [reads, found] = [made(whole), made(noteJson)]
  const [edits, edited] = [made(addition), made(added)]
  const prepare = (/** @type {number} */ from) => {
    stage.earn()
    for (const list of [notes, answers, reads, found, edits, edited]) list.fill(from)
  }
  const cost = measure(
    {
      unit: { call: () => addon.nothing(), times: 200 },
      judgeWrite: { prepare, call: index => stage.judge(write, notes.at(index)) },
      wholeWrite: { prepare, call: index => stage.play(write, notes.at(index), answers.at(index)) },
      // The edit asks for all that is known of notes, so that what the write proved is worked out each time.
      writeAndEdit: {
        prepare,
        call: index => {
          stage.play(write, notes.at(index), answers.at(index))
          stage.play(edit, edits.at(index), edited.at(index))
        },
      },
      judgeRead: { prepare, call: index => stage.judge(read, reads.at(index)) },
      wholeRead: { prepare, call: index => stage.play(read, reads.at(index), found.at(index)) },
    },
    { calls: CALLS, ...(rounds === undefined ? {} : { rounds }) },
  )
  const units = (/** @type {keyof typeof cost} */ name) => ratio(cost[name], cost.unit)
  return [
    { name: 'a write_note of 1 KiB, judged', value: units('judgeWrite'), bar: 8, unit: 'units' },
    { name: 'that write whole: judged, settled, two records', value: units('wholeWrite'), bar: 16, unit: 'units' },
    { name: 'a write whole and an edit of its note whole', value: units('writeAndEdit'), bar: null, unit: 'units' },
    { name: 'a read_note, judged', value: units('judgeRead'), bar: 8, unit: 'units' },
    { name: 'that read whole: judged, settled, two records', value: units('wholeRead'), bar: 16, unit: 'units' },
  ]
}
