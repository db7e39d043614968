/**
 * Every notice that an operator can meet on standard error, and the one place where their words are. A notice says what is
 * wrong, where, and what to do if there is something. A test holds the list against the docs.
 */

/**
 * @typedef {object} Notice
 * @property {string} kind what is repeated at most once a minute
 * @property {string} text one line
 */

/** @param {string} kind @param {string} text @returns {Notice} */
const notice = (kind, text) => ({ kind, text })

/** @param {number} count @param {string} noun */
const several = (count, noun) => `${count} ${noun}${count === 1 ? '' : 's'}`

/** What no trouble with records changes. */
const STILL = 'every rule is still applied'

/** By name, with what varies as parameters. No part of a call but its tool's name may be one. */
export const notices = Object.freeze({
  /** @param {string} reason the core's @param {string} [why] how the version was looked for, where none was found */
  host: (reason, why) => notice('host', why === undefined ? reason : `${reason}: ${why}`),

  /** @param {string} server */
  neighbour: server =>
    notice(
      `neighbour ${server}`,
      `the MCP server "${server}" looks like Basic Memory and is not governed; to govern it, add "${server}" to serverNames`,
    ),

  /** @param {readonly string[]} servers */
  noServer: servers =>
    notice(
      'no-server',
      `no tool of ${servers.map(name => `"${name}"`).join(', ')} is there at the end of the first turn: the memory server is down, or runs under a name that is not in serverNames; dsh-bmpp doctor compares the names`,
    ),

  /** @param {string} tool */
  controlFiltered: tool =>
    notice(
      'control-hidden',
      `CONTROL_HIDDEN: an agent that writes memory does not see ${tool}, as its tools are filtered: it cannot classify its turn, so that enforce denies the write; let ${tool} pass its filter, or have its parent write`,
    ),

  /** @param {string} tool */
  controlShadowed: tool =>
    notice(
      'control-hidden',
      `CONTROL_HIDDEN: an agent that writes memory sees another tool under the name ${tool}: it cannot classify its turn, so that enforce denies the write; rename the other tool`,
    ),

  /** @param {number} ms @param {number | undefined} refused writes that were denied in between; undefined where none could be */
  reloaded: (ms, refused) =>
    notice(
      'reload',
      `reloaded after ${ms.toFixed(1)} ms without a gate: ${
        refused === undefined
          ? 'memory calls in between were not judged'
          : `memory writes in between were denied (${refused})`
      }, and turns that are under way count as not classified`,
    ),

  notLoaded: () =>
    notice(
      'not-loaded',
      'the gate could not be put up again with the new configuration: until the row is corrected or taken away, memory writes are denied with POLICY_NOT_LOADED',
    ),

  counted: () =>
    notice('counted', 'the host gives no turn numbers for a session: its turns are counted by the gate itself'),

  /** @param {string} tool */
  ranOtherwise: tool =>
    notice(
      'ran-otherwise',
      `a call of ${tool} ran that was not judged as such: another plugin changes tool calls behind the gate`,
    ),

  /** @param {string} tool */
  again: tool =>
    notice(
      'again',
      `a call of ${tool} was dispatched again after it had run: it was not run again, and the other plugin was given its first result`,
    ),

  /** @param {string} tool */
  unjudged: tool =>
    notice(
      'unjudged',
      `a call of ${tool} ran that was never judged: it was under way when the gate was loaded, or another plugin runs tool calls past the gate`,
    ),

  /** @param {string} stage @param {string} fault */
  internal: (stage, fault) =>
    notice(`internal ${stage}`, `${fault}; governed writes are denied in enforce, all else goes on`),

  /** @param {string} stage */
  unloaded: stage =>
    notice(
      `unloaded ${stage}`,
      'the gate was unloaded while a memory call was under way; a governed write is told POLICY_RELOADING in enforce, all else goes on',
    ),

  /** @param {number} lost */
  recordsLost: lost => notice('lost', `${several(lost, 'audit record')} could not be kept; ${STILL}`),

  /** @param {number} waiting */
  noStorage: waiting =>
    notice(
      'audit missing',
      `this host offers no storageDomain service: audit records wait in memory and are lost at the end (${waiting} so far); ${STILL}; add storage rows to the profile, or set auditLevel: off`,
    ),

  /** @param {string} what @param {string} code of the error, or nothing @param {number} waiting */
  storageFails: (what, code, waiting) =>
    notice(
      'audit failing',
      `the audit storage ${what}${code}: it is tried again, and records wait (${waiting}); ${STILL}`,
    ),

  /** @param {number} dropped */
  recordsDropped: dropped =>
    notice('audit dropped', `${several(dropped, 'audit record')} dropped: the storage does not keep up; ${STILL}`),

  /** @param {number} left */
  notStored: left =>
    notice(
      'audit end',
      `${several(left, 'audit record')} could not be stored before the end; every rule was applied all the same`,
    ),
})
