/** What the operator is told, and how often. */
import { afterEach, describe, expect, test, vi } from 'vitest'
import { Operator, summary } from '../../js/report.js'

afterEach(() => void vi.restoreAllMocks())

/** An operator with a clock that stands still until it is set. */
function spoken(logger) {
  const lines = []
  const logged = []
  const clock = { now: 0 }
  const log = level => text => void logged.push(`${level}: ${text}`)
  const operator = new Operator(
    logger ?? { info: log('info'), warn: log('warn'), error: log('error') },
    line => void lines.push(line),
    () => clock.now,
  )
  return { operator, lines, logged, clock }
}

describe('a notice', () => {
  test('goes to standard error, to the logger as a warning, and into the report', () => {
    const { operator, lines, logged } = spoken()
    operator.notice({ kind: 'kind', text: 'something happened' })
    expect(lines).toEqual(['dsh-bmpp: something happened\n'])
    expect(logged).toEqual(['warn: dsh-bmpp: something happened'])
    expect(operator.notices).toEqual(['something happened'])
  })

  test('of one kind is said at most once a minute, then with the number of those held back', () => {
    const { operator, lines, clock } = spoken()
    for (const at of [0, 1, 30_000, 59_999]) {
      clock.now = at
      operator.notice({ kind: 'kind', text: `at ${at}` })
    }
    expect(lines).toEqual(['dsh-bmpp: at 0\n'])
    clock.now = 60_000
    operator.notice({ kind: 'kind', text: 'at 60000' })
    expect(lines[1]).toBe('dsh-bmpp: at 60000 (and 3 more of the kind since the last line)\n')
    // The minute begins anew, and so does the number.
    clock.now = 119_999
    operator.notice({ kind: 'kind', text: 'at 119999' })
    clock.now = 120_000
    operator.notice({ kind: 'kind', text: 'at 120000' })
    expect(lines).toHaveLength(3)
    expect(lines[2]).toBe('dsh-bmpp: at 120000 (and 1 more of the kind since the last line)\n')
    clock.now = 200_000
    operator.notice({ kind: 'kind', text: 'alone' })
    expect(lines[3]).toBe('dsh-bmpp: alone\n')
  })

  test('of another kind is said at once', () => {
    const { operator, lines } = spoken()
    operator.notice({ kind: 'one', text: 'first' })
    operator.notice({ kind: 'two', text: 'second' })
    expect(lines).toHaveLength(2)
  })

  test('stands once in the report, whatever is said later of its kind', () => {
    const { operator, clock } = spoken()
    operator.notice({ kind: 'kind', text: 'first' })
    clock.now = 100_000
    operator.notice({ kind: 'kind', text: 'later' })
    expect(operator.notices).toEqual(['first'])
  })

  test.each([
    ['no logger', undefined],
    [
      'a logger that throws',
      {
        warn: () => {
          throw new Error('full')
        },
      },
    ],
    ['a logger without the level', {}],
  ])('is said with %s', (_what, logger) => {
    const lines = []
    new Operator(logger, line => void lines.push(line)).notice({ kind: 'kind', text: 'text' })
    expect(lines).toHaveLength(1)
  })

  test('that standard error does not take is in the log and the report', () => {
    const warn = vi.fn()
    const operator = new Operator({ warn }, () => {
      throw new Error('EPIPE')
    })
    operator.notice({ kind: 'kind', text: 'text' })
    expect(warn).toHaveBeenCalledOnce()
    expect(operator.notices).toEqual(['text'])
  })

  test('goes to the process’s standard error where nobody says otherwise', () => {
    const error = vi.spyOn(process.stderr, 'write').mockImplementation(() => true)
    const output = vi.spyOn(process.stdout, 'write').mockImplementation(() => true)
    new Operator(undefined).notice({ kind: 'kind', text: 'text' })
    const said = [error.mock.calls.map(([line]) => line), output.mock.calls.length]
    vi.restoreAllMocks()
    expect(said).toEqual([['dsh-bmpp: text\n'], 0])
  })
})

test('what is only worth knowing goes to the logger alone', () => {
  const { operator, lines, logged } = spoken()
  operator.info('loaded')
  expect(logged).toEqual(['info: dsh-bmpp: loaded'])
  expect([lines, operator.notices]).toEqual([[], []])
})

test('the summary is one line of what was loaded', () => {
  const report = {
    active: true,
    mode: 'enforce',
    profile: 'strict',
    pluginVersion: '0.1.0',
    policyVersion: '0.1.0',
    serverNames: ['a', 'b'],
    host: { reason: 'host version 1 is fine' },
    reloadGapMs: null,
  }
  expect(summary(report)).toBe('0.1.0 loaded, mode enforce, profile strict, governs a, b; host version 1 is fine')
  expect(summary({ ...report, active: false })).toBe('mode off: nothing is registered and nothing is decided')
})
