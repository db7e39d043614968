/**
 * What the report says of its figures, in a terminal and on a page alike: shares of the writes of one mode each, since what
 * was blocked in enforce is no part of what ran in audit; and what makes the trail no ground to build on.
 */
import { count } from './terminal.js'

/**
 * Calls that the policy denied, by what became of them.
 * @typedef {{ overridden: number, denied: number, ran: number }} Blocked
 */

/** @param {Blocked} of */
export const all = ({ overridden, denied, ran }) => overridden + denied + ran

/** @param {{ blocked: number, overridden: number, ran: number }} day @returns {Blocked} */
export const ofDay = ({ blocked, overridden, ran }) => ({ overridden, denied: blocked - overridden - ran, ran })

/** What became of the calls, in words that can be added to a number. @param {Blocked} of */
export const fates = ({ overridden, denied, ran }) => [
  ...(denied > 0 ? [`${denied} blocked`] : []),
  ...(overridden > 0 ? [`${overridden} would be blocked`] : []),
  ...(ran > 0 ? [`${ran} ran all the same`] : []),
]

/**
 * For each mode with writes, how many of them were blocked, or would be.
 * @param {any} sum
 * @returns {Array<{ what: string, part: number, writes: number, where: string }>}
 */
export function shares({ writesByMode }) {
  const { audit, enforce } = writesByMode
  const both = audit !== undefined && enforce !== undefined
  const found = [
    ...(enforce === undefined && audit !== undefined
      ? []
      : [{ what: 'Blocked', part: enforce?.blocked.denied ?? 0, writes: enforce?.writes ?? 0, mode: 'enforce' }]),
    ...(audit === undefined
      ? []
      : [{ what: 'Would be blocked in enforce', part: audit.blocked.overridden, writes: audit.writes, mode: 'audit' }]),
  ]
  return found.map(({ mode, ...share }) => ({ ...share, where: both ? ` in ${mode}` : '' }))
}

/** What the figure of audit is not. */
export const AUDIT_NOTE =
  'In audit every write runs, so this also counts calls that enforce would not have come to or would have let through: after a first denial the model mends its call, and the same write again, DUPLICATE_WRITE_SAME_TURN in audit, is then the first one.'

/** Why the figures are not to be built on. @param {any} sum */
export function troubles({ contradictions, damaged, tally }) {
  const broken = damaged + tally.broken
  return [
    ...(contradictions > 0
      ? [
          `The trail contradicts itself: ${count(contradictions, 'record')} of it ${contradictions === 1 ? 'does' : 'do'} not follow from those before. dsh-bmpp verify names the first, and what to do.`,
        ]
      : []),
    ...(broken > 0
      ? [
          `${count(broken, 'record')} of the trail ${broken === 1 ? 'is' : 'are'} damaged. dsh-bmpp verify says which, and what to do.`,
        ]
      : []),
  ]
}
