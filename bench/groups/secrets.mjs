// Note content through the secret guard, compared with the regular expressions that one would write in JS for the same shapes.
import { measure, ratio } from '../lib/rounds.mjs'
import { memory, prose, Stage } from '../lib/stage.mjs'

/** One expression for each shape that the guard knows, as one would write it: the rows of `SHAPES` and the three of `context`. */
const OBVIOUS = [
  /\bgh[oprsu]_[A-Za-z0-9]{36,255}\b/,
  /\bgithub_pat_\w{70,255}\b/,
  /\bglpat-[\w.-]{20,320}/,
  /\bgldt-[\w-]{20,320}/,
  /\bglrt-[\w.-]{20,320}/,
  /\bglptt-[\w-]{40,320}/,
  /\bglcbt-[\w-]{20,320}/,
  /\bA[KS]IA[A-Z0-9]{16}\b/,
  /\baws_secret_access_key["']?\s*[=:]\s*["']?[A-Za-z0-9+/=]{40}/,
  /\bAWS_SECRET_ACCESS_KEY["']?\s*[=:]\s*["']?[A-Za-z0-9+/=]{40}/,
  /\b[Ss]ecretAccessKey["']?\s*[=:]\s*["']?[A-Za-z0-9+/=]{40}/,
  /\bAccountKey["']?\s*[=:]\s*["']?[A-Za-z0-9+/=]{88}/,
  /\bAGE-SECRET-KEY-1[A-Z0-9]{58}\b/,
  /\bAIza[\w-]{35}/,
  /\bya29\.[\w-]{30,}/,
  /\bGOCSPX-[\w-]{28}/,
  /\bxox[abeprs]-[A-Za-z0-9-]{24,400}/,
  /\bxapp-[A-Za-z0-9-]{40,400}/,
  /\bhooks\.slack\.com\/services\/[A-Za-z0-9]{8,14}\/[A-Za-z0-9]{8,14}\/[A-Za-z0-9]{20,32}/,
  /\bsk-ant-[\w-]{24,255}/,
  /\bsk-proj-[\w-]{40,255}/,
  /\bsk-svcacct-[\w-]{40,255}/,
  /\bsk-admin-[\w-]{40,255}/,
  /\bsk-or-v1-[0-9a-f]{64}\b/,
  /(?<![\w./@-])sk-[A-Za-z0-9]{32,128}\b/,
  /\bgsk_[A-Za-z0-9]{52}\b/,
  /\bxai-[A-Za-z0-9]{80}\b/,
  /\bpplx-[A-Za-z0-9]{48,56}\b/,
  /\bhf_[A-Za-z0-9]{34,40}\b/,
  /\br8_[A-Za-z0-9]{37,40}\b/,
  /\bdapi[0-9a-f]{32}\b/,
  /\b[rs]k_live_[A-Za-z0-9]{24,255}\b/,
  /\bwhsec_[A-Za-z0-9]{32,64}\b/,
  /\bsq0csp-[\w-]{43}/,
  /\bshpat_[0-9A-Fa-f]{32}\b/,
  /\bshpss_[0-9A-Fa-f]{32}\b/,
  /\bnpm_[A-Za-z0-9]{36}\b/,
  /\bpypi-[\w-]{60,255}/,
  /\brubygems_[0-9a-f]{48}\b/,
  /\bdckr_pat_[\w-]{27,36}/,
  /\bSG\.[\w-]{22}\.[\w-]{43}/,
  /\bSK[0-9a-f]{32}\b/,
  /\bdo[opr]_v1_[0-9a-f]{64}\b/,
  /\bhvs\.[\w-]{24,200}/,
  /\bhvb\.[\w-]{100,300}/,
  /\btskey-auth-[A-Za-z0-9-]{20,100}/,
  /\bsbp_[0-9a-f]{40}\b/,
  /\blin_api_[A-Za-z0-9]{40}\b/,
  /\bntn_[A-Za-z0-9]{46}\b/,
  /\bfigd_[\w-]{40,44}/,
  /\bglsa_[A-Za-z0-9]{32}_[A-Za-z0-9]{8}\b/,
  /\bNRAK-[A-Z0-9]{27}\b/,
  /\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b/,
  /\bATATT3[\w+/=-]{100,400}/,
  /\beyJ[\w-]{10,}\.[\w-]{12,}\.[\w-]{20,}/,
  /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/,
  /\bbearer\s+[\w.~+/=-]{20,}/i,
  /\b\d{8,10}:AA[\w-]{33}\b/,
  /\b[a-z][a-z0-9+.-]*:\/\/[^\s/:@]+:[^\s/@]+@/i,
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
  const not = new Stage({ secretPatternGuard: 'warn' })
  const options = { calls: 20, ...(rounds === undefined ? {} : { rounds }) }
  /** A write of this content, new each time, so that the duplicate guard has nothing to compare. @param {(index: number) => string} content */
  const judging = (content, stage = inspecting) => {
    /** @type {unknown[]} */
    let list = []
    return {
      prepare: (/** @type {number} */ from) => {
        stage.earn()
        list = Array.from({ length: options.calls }, (_, index) =>
          Object.freeze({ title: `T ${from + index}`, directory: 'd', content: content(from + index) }),
        )
      },
      call: (/** @type {number} */ index) => stage.judge(write, list[index % options.calls]),
    }
  }
  /** @type {string[]} */
  let texts = []
  const cost = measure(
    {
      guard: judging(index => prose(4096, index)),
      without: judging(index => prose(4096, index), not),
      regexes: {
        prepare: from => {
          texts = Array.from({ length: options.calls }, (_, index) => prose(4096, from + index))
        },
        call: index => OBVIOUS.some(shape => shape.test(texts[index % options.calls] ?? '')),
      },
    },
    options,
  )
  const guard = cost.guard.map((nanoseconds, round) => nanoseconds - (cost.without[round] ?? 0))
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
      name: '4 KiB of content through the guard',
      // What judging takes longer when it looks at the content.
      value: ratio(guard, cost.regexes),
      bar: 0.25,
      unit: '× the regular expressions',
    },
    {
      name: 'judging a write of 4 KiB with it, as a whole',
      value: ratio(cost.guard, cost.regexes),
      bar: null,
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
