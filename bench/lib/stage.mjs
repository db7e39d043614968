// A policy of the addon, and turns in it that have earned a write: what the groups play their calls on.
import { Core } from '../../js/core.js'
import { loadAddon } from '../../js/native.js'

export const addon = loadAddon()

export const CLASSIFY = 'bmpp__classify'
/** The public name of a tool of the memory server. @param {string} raw */
export const memory = raw => `mcp__basic-memory__${raw}`

/** A text result, as the host's MCP bridge gives its value. @param {string} text */
export const answer = text => Object.freeze({ content: Object.freeze([Object.freeze({ type: 'text', text })]) })

/** As many characters of prose as asked for, which end in a number of their own. @param {number} length @param {number} index */
export function prose(length, index) {
  const end = ` ${index}`
  const words = 'The release went out on Friday after the second review. '
  return words.repeat(Math.ceil(length / words.length)).slice(0, length - end.length) + end
}

/** Arguments of a write with title, directory and content. @param {number} index @param {number} [length] of the content */
export const note = (index, length = 1024) =>
  Object.freeze({ title: `Release notes ${index}`, directory: 'projects/releases', content: prose(length, index) })

/** What the server answers to it. @param {number} index */
export const written = index =>
  answer(
    [
      '# Created note',
      'project: main',
      `file_path: projects/releases/Release notes ${index}.md`,
      `permalink: main/projects/releases/release-notes-${index}`,
      'checksum: 6a1f3c5e',
    ].join('\n'),
  )

/** A whole read, as JSON. @param {number} index */
export const whole = index =>
  Object.freeze({ identifier: `projects/releases/release-notes-${index}`, output_format: 'json' })

/** What the server answers to it. @param {number} index @param {number} [length] of the content */
export const noteJson = (index, length = 1024) =>
  answer(
    JSON.stringify({
      title: `Release notes ${index}`,
      permalink: `main/projects/releases/release-notes-${index}`,
      file_path: `projects/releases/Release notes ${index}.md`,
      content: prose(length, index),
      frontmatter: null,
    }),
  )

/** Arguments of an addition to that note. @param {number} index */
export const addition = index =>
  Object.freeze({
    identifier: `projects/releases/release-notes-${index}`,
    operation: 'append',
    content: `A line of release ${index}.`,
  })

/** What the server answers to it. @param {number} index */
export const added = index =>
  answer(
    [
      '# Edited note (append)',
      'project: main',
      `file_path: projects/releases/Release notes ${index}.md`,
      `permalink: main/projects/releases/release-notes-${index}`,
      'checksum: 7b2a4d6f',
    ].join('\n'),
  )

export const FOUND = answer('# Search Results: releases\n*project: main*\n\n### Release notes')

/** A policy with one open session, which stands at a step of a turn. */
export class Stage {
  calls = 0
  turn = 0
  step = 1

  /** @param {object} [config] */
  constructor(config = {}) {
    this.core = new Core(addon, { mode: 'enforce', ...config })
    this.session = this.core.openSession()
  }

  /** @param {string} name @param {unknown} args @param {number} [session] @returns {number} the verdict's word */
  judge(name, args, session = this.session) {
    this.calls += 1
    const { id } = this.core.tool(name)
    return this.core.judge(this.calls, id, addon.PLACE_HOST_TURN, session, this.turn, this.step, args)
  }

  /** Settles the call that was judged last. @param {string} name @param {unknown} value @param {number} [session] */
  settle(name, value, session = this.session) {
    const { id, class: kind } = this.core.tool(name)
    const facts = addon.FACT_REACHED | (kind === 'control' ? addon.FACT_DECLARED_COMPLEX : 0)
    return this.core.settle(session, this.calls, id, facts, this.step, value)
  }

  /** A new turn that is complex and has looked memory up, in the step after it. @param {number} [session] */
  earn(session = this.session) {
    this.turn += 1
    this.step = 1
    this.judge(CLASSIFY, undefined, session)
    this.settle(CLASSIFY, undefined, session)
    this.judge(memory('search_notes'), { query: 'releases' }, session)
    this.settle(memory('search_notes'), FOUND, session)
    this.step = 2
  }

  /** Plays a write and its result; throws where it is not what the figures are about. */
  rehearse() {
    this.earn()
    const { code } = this.core.describe(this.judge(memory('write_note'), note(0)))
    const { outcome } = addon.describeSettlement(this.settle(memory('write_note'), written(0)))
    if (code !== 'ALLOW_RECALL_OK' || outcome !== 'succeeded')
      throw new Error(`not a write that is done: ${code} ${outcome}`)
    const edit = this.core.describe(this.judge(memory('edit_note'), addition(0)))
    const edited = addon.describeSettlement(this.settle(memory('edit_note'), added(0)))
    if (edit.code !== 'ALLOW_RECALL_OK' || edited.outcome !== 'succeeded' || edited.observations.length > 0)
      throw new Error(`not an edit that is done: ${edit.code} ${edited.outcome}`)
    this.judge(memory('read_note'), whole(0))
    const read = addon.describeSettlement(this.settle(memory('read_note'), noteJson(0)))
    if (read.outcome !== 'succeeded' || read.observations.length > 0) throw new Error('not a read that is done')
  }
}
