/** The benchmarks: that they run, that a missed bar fails them, and that what has not been measured is no pass. */
import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { missed, table, verdict } from '../bench/lib/figure.mjs'
import { median, ratio } from '../bench/lib/rounds.mjs'
import { conclude, GROUPS, measureGroup, parse } from '../bench/run.mjs'
import { inRoot } from '../scripts/lib/project.mjs'

const figure = (value, bar = 2) => ({ group: 'g', name: `a figure of ${value}`, value, bar, unit: 'units' })

describe('a figure', () => {
  test.each([
    [1, 2, 'pass'],
    [2, 2, 'pass'],
    [2.01, 2, 'fail'],
    [0, 0, 'pass'],
    [1, 0, 'fail'],
    [Number.NaN, 2, 'fail'],
    [Number.POSITIVE_INFINITY, 2, 'fail'],
    [undefined, 2, 'fail'],
    [3, null, 'report'],
  ])('%s beside a bar of %s: %s', (value, bar, said) => {
    expect(verdict({ value, bar })).toBe(said)
  })

  test('that misses its bar makes the run fail and is named', () => {
    expect(missed([figure(1), figure(3), figure(9, null)])).toEqual([figure(3)])
    const { text, code } = conclude([figure(1), figure(3)], false)
    expect(code).toBe(1)
    expect(text).toContain('1 of 2 bars are missed: a figure of 3')
    expect(JSON.parse(conclude([figure(3)], true).text)).toEqual({ figures: [figure(3)], missed: 1 })
  })

  test('that keeps it does not, nor does one without a bar', () => {
    const { text, code } = conclude([figure(1), figure(2), figure(9, null)], false)
    expect([code, text.split('\n').at(-1)]).toEqual([0, 'all 2 bars hold'])
  })

  test('is a row of the table', () => {
    const [head, row] = table([figure(1.234)]).split('\n')
    expect(head).toMatch(/^group +figure +bar +measured +unit/)
    expect(row).toMatch(/^g +a figure of 1\.234 +2 +1\.23 +units +pass$/)
  })
})

describe('rounds', () => {
  test('the median, and the median of the ratios of each round', () => {
    expect([median([3, 1, 2]), median([4, 1, 2, 3])]).toEqual([2, 2.5])
    // A neighbour who is busy in one round meets both ways in it, or one way in one round alone.
    expect(ratio([10, 20, 900], [5, 10, 15])).toBe(2)
  })
})

describe('the command', () => {
  test('takes groups, and knows no others', () => {
    expect(parse(['--json', 'units', 'outside'])).toMatchObject({ json: true, groups: ['outside', 'units'] })
    expect(parse([]).groups).toEqual(GROUPS)
    expect(() => parse(['unit'])).toThrow('no group unit: there are outside')
  })

  test('a group measures in a process of its own', async () => {
    const figures = await measureGroup('outside', { quick: true, rounds: 1 })
    expect(figures.map(({ group, bar }) => [group, bar])).toEqual([
      ['outside', 2],
      ['outside', 0],
    ])
    for (const { value } of figures) expect(value).toSatisfy(Number.isFinite)
  })

  test('prints the table and exits by it', () => {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [inRoot('bench', 'run.mjs'), '--built', '--quick', '--json', 'outside'],
      {
        encoding: 'utf8',
      },
    )
    const { figures, missed: late } = JSON.parse(stdout)
    expect(figures).toHaveLength(2)
    expect([status, late > 0]).toEqual([late > 0 ? 1 : 0, status === 1])
    expect(stderr).toContain('outside: ')
  })

  test('ends with 1 where a group cannot be measured', async () => {
    await expect(measureGroup('none', {})).rejects.toThrow('the group none ended with 1')
  })
})
