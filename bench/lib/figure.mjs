// A figure: one measured number, and the bar that it must not pass. Pure, so that a missed bar can be tested without a slow machine.

/**
 * @typedef {object} Figure
 * @property {string} name what was measured
 * @property {number} value
 * @property {number | null} bar the most that it may be; null for a figure that is only reported
 * @property {string} unit what the value counts: `× …`, `units`, `bytes`, `ms`
 * @property {string} [detail] what is worth knowing besides
 *
 * @typedef {Figure & { group: string }} Grouped
 * @typedef {'pass' | 'fail' | 'report'} Verdict
 */

/**
 * What a figure's bar says of it. What is no number has not been measured, and that is no pass.
 * @param {Pick<Figure, 'value' | 'bar'>} figure
 * @returns {Verdict}
 */
export function verdict({ value, bar }) {
  if (bar === null) return 'report'
  return Number.isFinite(value) && value <= bar ? 'pass' : 'fail'
}

/** The figures that miss their bars. @template {Pick<Figure, 'value' | 'bar'>} T @param {readonly T[]} figures */
export const missed = figures => figures.filter(figure => verdict(figure) === 'fail')

/** A number with as many digits as it is worth. @param {number} value */
export function short(value) {
  if (!Number.isFinite(value)) return 'none'
  if (Number.isInteger(value) || Math.abs(value) >= 100) return value.toFixed(0)
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** The figures as a table for people. @param {readonly Grouped[]} figures */
export function table(figures) {
  const head = ['group', 'figure', 'bar', 'measured', 'unit', '', '']
  const rows = figures.map(figure => [
    figure.group,
    figure.name,
    figure.bar === null ? '' : short(figure.bar),
    short(figure.value),
    figure.unit,
    verdict(figure) === 'report' ? '' : verdict(figure),
    figure.detail ?? '',
  ])
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map(row => row[column]?.length ?? 0)))
  const numbers = new Set([2, 3])
  return [head, ...rows]
    .map(row =>
      row
        .map((cell, column) =>
          numbers.has(column) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
