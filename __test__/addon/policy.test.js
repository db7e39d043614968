/** `dsh-bmpp/policy`: the examples of its documentation, and that it says what the core says and nothing of its own. */
import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ConfigError, createPolicy } from '../../js/policy.js'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { addon } from './addon.js'

const run = promisify(execFile)
const memory = raw => `mcp__basic-memory__${raw}`
const note = { title: 'Plans', directory: 'notes', content: 'text' }

/** A policy for one test. @param {any} [config] */
function policyOf(config) {
  const policy = createPolicy(config)
  onTestFinished(() => policy.close())
  return policy
}

describe('the examples of the documentation', () => {
  const source = readFileSync(inRoot('js', 'policy.js'), 'utf8')
  const examples = [...source.matchAll(/^ \* @example\n(.*?)(?=^ \* @|^ \*\/)/gms)].map(([, text = '']) =>
    text.replace(/^ \* ?/gm, ''),
  )

  test('there are some', () => {
    expect(examples.length).toBeGreaterThan(1)
  })

  // Below the root, where the package's own name leads to it, as it does where it is installed.
  test.each(examples)('number %$ does what its comments say', async example => {
    const claims = []
    const code = example.replace(/^(.+?) \/\/ (?:.*: )?'(.*?)(…?)'$/gm, (_, expression, value, cut) => {
      claims.push(value)
      const [, , name, right = expression] = /^((const \w+) = )?(.*)$/.exec(expression) ?? []
      return `${name ? `${name} = ` : ''}check(${right}, ${JSON.stringify(value)}, ${cut !== ''})`
    })
    const check = `function check(got, wanted, cut) {
      if (cut ? !got.startsWith(wanted) : got !== wanted) throw new Error(got + ' is not ' + wanted)
      return got
    }\n`
    const folder = inRoot('target', 'examples')
    mkdirSync(folder, { recursive: true })
    const file = join(folder, `${process.pid}-${claims.length}.mjs`)
    onTestFinished(() => rmSync(file))
    writeFileSync(file, check + code)
    await run(projectNode(), [file])
    expect(claims.length).toBeGreaterThan(2)
    expect(code.match(/check\(/g)).toHaveLength(claims.length)
  })
})

test('the example of docs/TESTING-YOUR-PLUGIN.md passes, and fails where it should', async () => {
  const page = readFileSync(inRoot('docs', 'TESTING-YOUR-PLUGIN.md'), 'utf8')
  const [, code = ''] = /^```js\n(.*?)^```/ms.exec(page) ?? []
  // What the example takes from a test runner, in as few words as will do.
  const runner = `const test = (_, body) => body()
    const expect = got => ({ toBe: wanted => { if (got !== wanted) throw new Error(got + ' is not ' + wanted) } })\n`
  const example = code.replace(/^import .* from 'vitest'\n/, runner)
  expect(example).not.toBe(code)
  const folder = inRoot('target', 'examples')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${process.pid}-page.mjs`)
  onTestFinished(() => rmSync(file))
  writeFileSync(file, example)
  await run(projectNode(), [file])
  writeFileSync(file, example.replace('  session.nextStep()\n', ''))
  await expect(run(projectNode(), [file])).rejects.toThrow('MEMORY_LOOKUP_PENDING_IN_BATCH is not ALLOW_RECALL_OK')
})

describe('a judgement', () => {
  test('says everything that the plugin makes of a call', () => {
    const session = policyOf({ mode: 'enforce' }).session()
    expect(session.judge(memory('write_note'), note)).toEqual({
      tool: memory('write_note'),
      governed: true,
      class: 'write',
      decision: 'deny',
      code: 'CLASSIFICATION_REQUIRED',
      observations: [],
      findings: [],
      classification: 'unknown',
      lookup: 'none',
      enforcement: 'denied',
      text: expect.stringMatching(/^CLASSIFICATION_REQUIRED: .*bmpp__classify/),
    })
  })

  test('of a tool that is not governed lets it go on, and settling it is nothing', () => {
    const session = policyOf({ mode: 'enforce' }).session()
    const judged = session.judge('bash', { command: 'ls' })
    expect(judged).toMatchObject({ governed: false, code: 'ALLOW_OUT_OF_SCOPE', enforcement: 'allowed', text: null })
    expect(session.settle(judged)).toEqual({ outcome: null, observations: [] })
  })

  test('asks where a human can be asked, with the text that they read, and else denies', () => {
    const session = policyOf({ mode: 'enforce', profile: 'strict' }).session()
    session.classify('simple')
    const remove = options => session.judge(memory('delete_note'), { identifier: 'notes/plans' }, options)
    expect(remove({ canAsk: true })).toMatchObject({
      enforcement: 'asked',
      text: expect.stringContaining('notes/plans'),
    })
    expect(remove()).toMatchObject({
      enforcement: 'denied',
      text: expect.stringMatching(/^APPROVAL_UNAVAILABLE: /),
    })
  })

  test('knows of an agent that does not see the control tool', () => {
    const session = policyOf({ mode: 'enforce' }).session()
    const judged = session.judge(memory('write_note'), note, { controlHidden: true })
    expect(judged.observations).toEqual(['CONTROL_HIDDEN'])
    // Only where it must still classify can it not be helped.
    const away = () => session.judge(memory('write_note'), { ...note, directory: '..' }, { controlHidden: true }).text
    expect(away()).toContain('this agent cannot write memory')
    session.classify('simple')
    expect(away()).toContain('Repeat this call')
  })

  test('of arguments that are no plain data is that of arguments that are none', () => {
    const session = policyOf().session()
    const getter = Object.defineProperty({}, 'title', { get: () => 'T', enumerable: true })
    for (const args of [getter, 'text', [], null]) {
      expect(session.judge(memory('write_note'), args)).toMatchObject({
        code: 'MALFORMED_ARGUMENTS',
        enforcement: 'overridden',
      })
    }
  })
})

test('a judgement says what the guards found, also where they only warn', () => {
  const session = policyOf({ mode: 'enforce' }).session()
  session.classify('simple')
  const judged = session.judge(memory('write_note'), { ...note, overwrite: true })
  expect(judged).toMatchObject({
    enforcement: 'allowed',
    findings: [{ code: 'OVERWRITE_REQUIRES_READ', level: 'warn' }],
  })
})

describe('a settlement', () => {
  test('of a denied call is that of one that was never reached', () => {
    const session = policyOf({ mode: 'enforce' }).session()
    const judged = session.judge(memory('write_note'), note)
    expect(session.settle(judged).outcome).toBe('not-reached')
  })

  test('a declaration counts once its call has ended well', () => {
    const session = policyOf({ mode: 'enforce' }).session()
    const code = () => session.judge(memory('write_note'), note).code
    const declare = result => session.settle(session.judge('bmpp__classify', { task: 'simple' }), result)
    declare({ isError: true })
    declare({ reached: false })
    expect(code()).toBe('CLASSIFICATION_REQUIRED')
    declare()
    expect(code()).toBe('ALLOW_SIMPLE')
  })

  test('a judgement of another session, or one that was made by hand, is refused', () => {
    const policy = policyOf()
    const judged = policy.session().judge(memory('search_notes'), {})
    const other = policy.session()
    expect(() => other.settle(judged)).toThrow('this session judged no such call')
    expect(() => other.settle({ ...judged })).toThrow('this session judged no such call')
  })
})

describe('what is closed', () => {
  test('gives back what it held, by close and by dispose, once and twice', () => {
    const policy = createPolicy()
    const [one, two] = [policy.session(), policy.session()]
    one.judge(memory('search_notes'), {})
    one.close()
    one.close()
    expect(() => one.judge('bash')).toThrow('the session is closed')
    policy[Symbol.dispose]()
    policy.close()
    expect(() => two.endTurn()).toThrow('the session is closed')
    expect(() => policy.session()).toThrow('the policy is closed')
  })

  test('and the core holds no policy more than before', () => {
    const last = addon.createPolicy({})
    const open = () => {
      let count = 0
      for (let handle = 0; handle < last + 100; handle++) {
        try {
          addon.holdings(handle)
          count += 1
        } catch {
          // No policy of that handle.
        }
      }
      return count
    }
    const before = open()
    const policies = Array.from({ length: 20 }, () => createPolicy())
    for (const policy of policies) policy.session().classify('simple')
    expect(open()).toBe(before + 20)
    for (const policy of policies) policy.close()
    expect(open()).toBe(before)
    addon.dropPolicy(last)
  })
})

test('a configuration with problems is refused, with all of them', () => {
  const config = /** @type {any} */ ({ mod: 'enforce', profile: 5 })
  expect(() => createPolicy(config)).toThrow(ConfigError)
  try {
    createPolicy(config)
  } catch (error) {
    expect(error).toMatchObject({ name: 'ConfigError', problems: addon.readConfig(config).problems })
    expect(error.message).toMatch(/^mod: UNKNOWN_KEY: .*\nprofile: INVALID_TYPE: /)
  }
})

describe('no rule of its own', () => {
  const tools = ['search_notes', 'build_context', 'read_note', 'write_note', 'edit_note', 'delete_note', 'unheard_of']
  const events = fc.array(
    fc.oneof(
      fc.record({
        do: fc.constant('judge'),
        tool: fc.constantFrom(...tools.map(memory), 'bmpp__classify'),
        args: fc.constantFrom({ query: 'q' }, note, { task: 'simple' }, { task: 'complex' }, 'no object'),
        canAsk: fc.boolean(),
      }),
      fc.record({
        do: fc.constant('settle'),
        which: fc.nat(20),
        isError: fc.boolean(),
        reached: fc.boolean(),
        text: fc.constantFrom('# Search Results: q', '# Search Failed', '# Created note', 'anything'),
      }),
      fc.constantFrom({ do: 'step' }, { do: 'end' }),
    ),
    { maxLength: 40 },
  )
  const configs = fc.record({
    mode: fc.constantFrom('audit', 'enforce'),
    profile: fc.constantFrom('compat', 'strict'),
    createRequiresSearch: fc.boolean(),
  })

  test('every history is judged and settled as the core does when it is asked by itself', () => {
    fc.assert(
      fc.property(configs, events, (config, history) => {
        const policy = createPolicy(config)
        const session = policy.session()
        const handle = addon.createPolicy(config)
        const number = addon.openSession(handle)
        const calls = []
        try {
          for (const event of history) {
            if (event.do === 'step') session.nextStep()
            else if (event.do === 'end') {
              session.endTurn()
              addon.endTurn(handle, number)
            } else if (event.do === 'judge') {
              const { tool, args, canAsk } = event
              const judged = session.judge(tool, args, { canAsk })
              const id = addon.toolId(handle, tool)
              const at = [number, session.turn, session.step]
              const word = addon.judge(handle, calls.length + 1, id, addon.PLACE_HOST_TURN, ...at, args)
              const { destructive: _, argument: __, ...described } = addon.describe(word)
              expect(judged).toMatchObject({ ...described, class: addon.toolClass(id) })
              const becomes = addon.vocabulary().enforcements[addon.enforcement(handle, word, canAsk)]
              expect(judged.enforcement).toBe(becomes)
              if (becomes === 'denied') expect(judged.text).toBe(addon.denialText(handle, word, id))
              calls.push({ judged, id, args })
            } else if (calls.length > 0) {
              const { which, isError, reached, text } = event
              const index = which % calls.length
              const { judged, id, args } = calls[index]
              const declared = { simple: addon.FACT_DECLARED_SIMPLE, complex: addon.FACT_DECLARED_COMPLEX }
              const control = judged.class === 'control' && reached ? (declared[args.task] ?? 0) : 0
              const facts = (reached ? addon.FACT_REACHED : 0) | (isError ? addon.FACT_ERROR : 0) | control
              const value = isError ? text : { content: [{ type: 'text', text }] }
              const word = addon.settle(handle, number, index + 1, id, facts, session.step, value)
              const { outcome = null, observations } = addon.describeSettlement(word)
              expect(session.settle(judged, { text, isError, reached })).toEqual({ outcome, observations })
            }
          }
        } finally {
          policy.close()
          addon.dropPolicy(handle)
        }
      }),
      { numRuns: 300 },
    )
  })
})
