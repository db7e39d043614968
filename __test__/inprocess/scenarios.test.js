/**
 * The scenarios of the README in every combination of mode and profile: what the model read, which bodies ran, which records
 * were made. `codes` are the verdicts, which know nothing of mode and profile; what the mode makes of them is worked out here.
 */
import { describe, expect, test } from 'vitest'
import { answer, bootGate, call, memory, NOTHING } from '../support/gate.js'
import { calls, say } from '../support/inprocess.js'

/** @type {{ rule: string, messages: [string, any][][], codes: string[], outcomes?: string[], tools?: object }[]} */
const scenarios = [
  {
    rule: 'a write in a turn that is not classified wants a classification',
    messages: [[call.write], [call.edit]],
    codes: ['write_note CLASSIFICATION_REQUIRED', 'edit_note CLASSIFICATION_REQUIRED'],
  },
  {
    rule: 'declared simple, a write needs no lookup',
    messages: [[call.simple], [call.write]],
    codes: ['classify ALLOW_CONTROL', 'write_note ALLOW_SIMPLE'],
  },
  {
    rule: 'classify and write in one message work, since the control tool runs alone',
    messages: [[call.simple, call.write]],
    codes: ['classify ALLOW_CONTROL', 'write_note ALLOW_SIMPLE'],
  },
  {
    rule: 'declared complex, a creating write wants a search, and any other write a lookup',
    messages: [[call.complex], [call.write, call.edit]],
    codes: ['classify ALLOW_CONTROL', 'write_note CREATE_REQUIRES_SEARCH', 'edit_note MEMORY_LOOKUP_REQUIRED'],
  },
  {
    rule: 'declared complex, after a lookup whose result the model has read, a write goes on',
    messages: [[call.complex], [call.search], [call.write], [call.edit]],
    codes: [
      'classify ALLOW_CONTROL',
      'search_notes ALLOW_READ_ONLY',
      'write_note ALLOW_RECALL_OK',
      'edit_note ALLOW_RECALL_OK',
    ],
  },
  {
    rule: 'search and write in one message: the model has not seen the result',
    messages: [[call.complex], [call.search, call.write]],
    codes: ['classify ALLOW_CONTROL', 'search_notes ALLOW_READ_ONLY', 'write_note MEMORY_LOOKUP_PENDING_IN_BATCH'],
  },
  {
    rule: 'a read that is no search is always allowed, and is no recall',
    messages: [[call.read], [call.complex], [call.read, [memory('recent_activity'), {}]], [call.write]],
    codes: [
      'read_note ALLOW_READ_ONLY',
      'classify ALLOW_CONTROL',
      'read_note ALLOW_READ_ONLY',
      'recent_activity ALLOW_READ_ONLY',
      'write_note CREATE_REQUIRES_SEARCH',
    ],
  },
  {
    rule: 'an empty recall is a recall: there is nothing to duplicate',
    tools: { [memory('search_notes')]: () => answer(NOTHING) },
    messages: [[call.complex], [call.search], [call.write]],
    codes: ['classify ALLOW_CONTROL', 'search_notes ALLOW_READ_ONLY', 'write_note ALLOW_RECALL_OK'],
    outcomes: ['classify succeeded', 'search_notes succeeded RECALL_EMPTY', 'write_note succeeded'],
  },
  {
    rule: 'the last declaration wins, and recall already earned in the turn stays',
    messages: [[call.simple], [call.search], [call.complex], [call.write], [call.simple], [call.edit]],
    codes: [
      'classify ALLOW_CONTROL',
      'search_notes ALLOW_READ_ONLY',
      'classify ALLOW_CONTROL',
      'write_note ALLOW_RECALL_OK',
      'classify ALLOW_CONTROL',
      'edit_note ALLOW_SIMPLE',
    ],
    outcomes: [
      'classify succeeded',
      'search_notes succeeded',
      'classify succeeded RECLASSIFIED',
      'write_note succeeded',
      'classify succeeded RECLASSIFIED',
      'edit_note succeeded',
    ],
  },
]

/** After a denial the same turns simple: allowed, since only a model can judge, and observed for whoever reads the records. */
const afterDenial = {
  rule: 'a denied turn that turns simple goes on, and is observed',
  messages: [[call.complex], [call.write], [call.simple], [call.edit]],
  codes: [
    'classify ALLOW_CONTROL',
    'write_note CREATE_REQUIRES_SEARCH',
    'classify ALLOW_CONTROL',
    'edit_note ALLOW_SIMPLE',
  ],
}

const combinations = ['audit', 'enforce'].flatMap(mode => ['compat', 'strict'].map(profile => ({ mode, profile })))
const denies = code => !code.includes(' ALLOW_')
const nameOf = code => code.split(' ')[0]

async function play({ messages, tools }, options) {
  const gate = await bootGate({ ...options, tools })
  const agent = await gate.run([...messages.map(message => calls(...message)), say('done')])
  return { gate, agent }
}

describe.each(combinations)('mode $mode, profile $profile', ({ mode, profile }) => {
  test.each([...scenarios, afterDenial])('$rule', async scenario => {
    const { gate, agent } = await play(scenario, { mode, profile })
    const { codes } = scenario
    const applied = code => {
      if (!denies(code)) return 'allowed'
      return mode === 'enforce' ? 'denied' : 'overridden'
    }
    expect(gate.verdicts(agent)).toEqual(codes.map(code => `${code} ${applied(code)}`))

    // What the model read: in enforce the denial's code, in audit the answer of the tool, whatever the verdict.
    const read = gate.answers(agent)
    for (const [index, code] of codes.entries()) {
      const denied = mode === 'enforce' && denies(code)
      if (denied) expect(read[index]).toBe(code.split(' ')[1])
      else expect(gate.told(agent)[index].isError, `${code}: ${read[index]}`).toBe(false)
    }

    // Which bodies ran.
    const ran = codes.filter(code => !(mode === 'enforce' && denies(code))).map(nameOf)
    expect(gate.reached()).toEqual(ran.filter(name => name !== 'classify'))

    // Each decision has its settlement: a denied call was not reached.
    const settled = gate.outcomes(agent).map(line => line.split(' ').slice(0, 2).join(' '))
    expect(settled).toEqual(
      codes.map(code => `${nameOf(code)} ${mode === 'enforce' && denies(code) ? 'not-reached' : 'succeeded'}`),
    )
    if (scenario.outcomes) expect(gate.outcomes(agent)).toEqual(scenario.outcomes)
    expect(gate.decisions().every(record => record.mode === mode && record.profile === profile)).toBe(true)
    expect(gate.stderr).toEqual([])
  })

  test('reads that are no search are observed as such, searches are not', async () => {
    const { gate } = await play({ messages: [[call.read, call.search]] }, { mode, profile })
    expect(gate.decisions().map(({ observations }) => observations)).toEqual([['READ_ONLY_NOT_RECALL'], []])
  })

  test(afterDenial.rule, async () => {
    const { gate } = await play(afterDenial, { mode, profile })
    expect(gate.settlements()[2].observations).toEqual(['RECLASSIFIED', 'RECLASSIFIED_AFTER_DENIAL'])
  })
})

describe.each(['compat', 'strict'])('mode off, profile %s', profile => {
  test.each([...scenarios, afterDenial])('nothing is decided: $rule', async scenario => {
    const { gate, agent } = await play(scenario, { mode: 'off', profile })
    expect(gate.records).toEqual([])
    const names = scenario.codes.map(nameOf)
    expect(gate.reached()).toEqual(names.filter(name => name !== 'classify'))
    // The control tool is not there.
    for (const { name, isError } of gate.told(agent)) expect(isError).toBe(name === 'bmpp__classify')
  })
})

test('a record holds the place, the verdict, what became of it and what the turn had earned, and nothing of the call', async () => {
  const { gate, agent } = await play({ messages: [[call.complex], [call.search, call.write]] }, {})
  expect(gate.decisions(agent).at(-1)).toEqual({
    seq: 7,
    time: expect.any(Number),
    kind: 'decision',
    place: 'agent',
    session: agent.id,
    life: 0,
    turn: 1,
    countedTurn: null,
    step: 2,
    number: 3,
    call: expect.any(String),
    tool: memory('write_note'),
    class: 'write',
    facts: 'creates',
    controlHidden: false,
    findings: [],
    argument: null,
    secretClass: null,
    decision: 'deny',
    code: 'MEMORY_LOOKUP_PENDING_IN_BATCH',
    observations: [],
    enforcement: 'denied',
    canAsk: false,
    classification: 'complex',
    lookup: 'pending',
    at: 'pre-execute',
    by: 'judged',
    target: null,
    mode: 'enforce',
    profile: 'compat',
  })
  expect(gate.settlements(agent)[1]).toEqual({
    seq: 6,
    time: expect.any(Number),
    kind: 'settlement',
    place: 'agent',
    session: agent.id,
    life: 0,
    turn: 1,
    countedTurn: null,
    step: 2,
    number: 2,
    call: expect.any(String),
    tool: memory('search_notes'),
    class: 'search',
    reached: true,
    isError: false,
    declared: null,
    arrived: 2,
    outcome: 'succeeded',
    observations: [],
    happened: 'ran',
    approved: false,
    target: null,
    mode: 'enforce',
    profile: 'compat',
  })
  expect(gate.trail.map(record => record.seq)).toEqual(gate.trail.map((_, index) => index + 1))
})

test('what the model is told of a denial begins with the code and names the next call', async () => {
  const { gate, agent } = await play({ messages: [[call.write], [call.complex], [call.write]] }, {})
  const [unclassified, , unsearched] = gate.told(agent)
  expect(unclassified.text).toMatch(/^Error: CLASSIFICATION_REQUIRED: .*bmpp__classify.*then repeat this call/)
  expect(unsearched.text).toMatch(/^Error: CREATE_REQUIRES_SEARCH: .*mcp__basic-memory__search_notes/)
})
