// Note content through the secret guard, compared with the regular expressions that one would write in JS for the same shapes.
import { measure, ratio } from '../lib/rounds.mjs'
import { memory, prose, Stage } from '../lib/stage.mjs'

/** One expression for each class, by the shapes that docs/POLICY.md lists. */
const OBVIOUS = [
  /-----BEGIN (?:[A-Z ]+ )?PRIVATE KEY(?: BLOCK)?-----/,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/,
  /\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/,
  /\baws_secret_access_key\s*[=:]\s*["']?[A-Za-z0-9+/=]{40}\b/i,
  /\bAccountKey\s*=\s*[A-Za-z0-9+/]{86}==/,
  /\b(?:AIza[\w-]{35}|ya29\.[\w-]{20,}|GOCSPX-[\w-]{28})\b/,
  /\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59})\b/,
  /\bgl(?:pat|dt|rt|ptt)-[\w-]{20,}\b/,
  /\bxox[abeprs]-[A-Za-z0-9-]{10,}\b|hooks\.slack\.com\/services\/T\w+\/B\w+\/\w+/,
  /\b\d{8,10}:AA[\w-]{33}\b/,
  /\bsk-(?:ant-|proj-|or-)?[\w-]{20,}\b/,
  /\bhf_[A-Za-z0-9]{34}\b/,
  /\b[rs]k_live_[A-Za-z0-9]{24,}\b/,
  /\b(?:npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}|rubygems_[a-f0-9]{48})\b/,
  /\b(?:SG\.[\w-]{22}\.[\w-]{43}|SK[a-f0-9]{32}|key-[a-f0-9]{32})\b/,
  /\b(?:dop_v1_[a-f0-9]{64}|hvs\.[\w-]{90,}|dp\.pt\.[A-Za-z0-9]{43})\b/,
  /\b(?:lin_api_[A-Za-z0-9]{40}|figd_[\w-]{40,}|ntn_[A-Za-z0-9]{40,}|ATATT3[\w=-]{180,})\b/,
  /\beyJ[\w-]{10,}\.eyJ[\w-]{10,}\.[\w-]{10,}\b/,
  /\bbearer\s+[\w.~+/=-]{20,}/i,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@[^\s/]+/i,
]

/** What is made to be slow: beginnings of shapes that do not go on, and long runs of what shapes are made of. */
const SLOW = {
  'one long word': 'a',
  'prefixes of tokens': 'ghp_ sk-ant- xoxb- AKIA ',
  'tokens that end too early': `ghp_${'a1'.repeat(15)} `,
  'dotted parts': 'eyJhbGciOiJIUzI1.eyJzdWIiOiIx. ',
  'key blocks': '-----BEGIN PRIVATE KEY-----\n',
  addresses: 'https://user:pass/ ',
  'bearer and nothing': 'Bearer ',
  assignments: 'aws_secret_access_key = ',
  digits: '12345678:AA ',
  'words of one letter': 'a ',
  hyphens: '-',
}

/** @param {{ rounds?: number, quick?: boolean }} options @returns {import('../lib/figure.mjs').Figure[]} */
export function figures({ rounds, quick = false }) {
  const write = memory('write_note')
  const inspecting = new Stage({ inspectContent: true, secretPatternGuard: 'warn' })
  const options = { calls: 20, ...(rounds === undefined ? {} : { rounds }) }
  /** A write of this content, new each time, so that the duplicate guard has nothing to compare. @param {(index: number) => string} content */
  const judging = content => {
    /** @type {unknown[]} */
    let list = []
    return {
      prepare: (/** @type {number} */ from) => {
        inspecting.earn()
        list = Array.from({ length: options.calls }, (_, index) =>
          Object.freeze({ title: `T ${from + index}`, directory: 'd', content: content(from + index) }),
        )
      },
      call: (/** @type {number} */ index) => inspecting.judge(write, list[index % options.calls]),
    }
  }
  /** @type {string[]} */
  let texts = []
  const cost = measure(
    {
      guard: judging(index => prose(4096, index)),
      regexes: {
        prepare: from => {
          texts = Array.from({ length: options.calls }, (_, index) => prose(4096, from + index))
        },
        call: index => OBVIOUS.some(shape => shape.test(texts[index % options.calls] ?? '')),
      },
    },
    options,
  )
  const size = quick ? 1 << 16 : 1 << 20
  const big = { ...options, calls: 2, batches: 3 }
  options.calls = 2
  const linear = measure(
    { small: judging(index => prose(size / 16, index)), large: judging(index => prose(size, index)) },
    big,
  )
  const slow = measure(
    {
      typical: judging(index => prose(size / 16, index)),
      ...Object.fromEntries(
        Object.entries(SLOW).map(([what, part]) => [
          what,
          judging(index => `${part.repeat(Math.ceil(size / 16 / part.length)).slice(0, size / 16 - 8)} ${index}`),
        ]),
      ),
    },
    big,
  )
  const worst = Object.keys(SLOW).map(what => ({
    what,
    ratio: ratio(/** @type {any} */ (slow)[what], slow.typical),
  }))
  const slowest = worst.reduce((a, b) => (a.ratio >= b.ratio ? a : b))
  return [
    {
      name: 'judging a write of 4 KiB with inspectContent',
      value: ratio(cost.guard, cost.regexes),
      bar: 0.25,
      unit: '× the regular expressions',
    },
    {
      name: `a byte of ${size >> 10} KiB of content`,
      value: ratio(linear.large, linear.small) / 16,
      bar: 1.5,
      unit: `× a byte of ${size >> 14} KiB`,
    },
    { name: 'the slowest content', value: slowest.ratio, bar: 2, unit: '× prose of that length', detail: slowest.what },
  ]
}
