/**
 * The row's configuration is edited: the host unloads the gate and loads it again, and calls arrive in between. In `enforce` no
 * governed write passes, by a guard that stays in the context above; and when the row is gone for good, so is that guard.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, call, writeOf } from '../support/gate.js'

/** What the loader does for an edited configuration. */
const edit = (gate, config) => gate.fibers[0].update(config)

/**
 * Makes a call at every turn of the event queue until something has ended, and once more.
 * @returns {Promise<any[]>} their results
 */
async function callingDuring(gate, agent, what, during) {
  let done = false
  const end = during.finally(() => {
    done = true
  })
  const calls = []
  for (let count = 0; !done; count++) {
    calls.push(gate.direct(agent, [what[0], what[1], `during-${count}`]))
    await Promise.resolve()
  }
  await end.catch(() => {})
  calls.push(gate.direct(agent, [what[0], what[1], 'after']))
  return Promise.all(calls)
}

const texts = results => new Set(results.map(result => (result.isError ? result.error.message.split(':')[0] : 'ran')))

test('no write passes while the gate is exchanged, and the operator is told how many were denied', async () => {
  const gate = await bootGate()
  const agent = await gate.open()
  const next = { ...gate.config, createRequiresSearch: false }
  const results = await callingDuring(gate, agent, call.write, edit(gate, next))
  expect(gate.reached()).toEqual([])
  expect(texts(results)).toEqual(new Set(['CLASSIFICATION_REQUIRED', 'POLICY_RELOADING']))
  expect(gate.reports).toHaveLength(2)
  const [notice] = gate.report().notices
  const denied = Number(
    /^reloaded after [\d.]+ ms without a gate: memory writes in between were denied \((\d+)\)/.exec(notice)?.[1],
  )
  expect(denied).toBeGreaterThan(0)
  expect(results.length).toBeGreaterThan(denied)
})

test('reads and what is not governed go on, and the exchange is over when it is over', async () => {
  const gate = await bootGate()
  const agent = await gate.open()
  for (const what of [call.read, call.search, call.bash]) {
    expect(texts(await callingDuring(gate, agent, what, edit(gate, { ...gate.config })))).toEqual(new Set(['ran']))
  }
  await gate.turn([[call.simple], [call.write]], agent)
  expect(gate.answers(agent).at(-1)).not.toMatch(/^[A-Z_]+$/)
  expect(gate.reached().at(-1)).toBe('write_note')
})

test('in audit nothing stays and nothing is denied', async () => {
  const gate = await bootGate({ mode: 'audit' })
  const agent = await gate.open()
  const results = await callingDuring(gate, agent, call.write, edit(gate, { ...gate.config }))
  expect(texts(results)).toEqual(new Set(['ran']))
  expect(gate.report().notices[0]).toMatch(
    /^reloaded after [\d.]+ ms without a gate: memory calls in between were not judged/,
  )
})

test.each(['audit', 'off'])('a gate that becomes %s is denied by nothing afterwards', async mode => {
  const gate = await bootGate()
  const agent = await gate.open()
  await edit(gate, { mode })
  await gate.turn([[call.write]], agent)
  expect(gate.reached()).toEqual(['write_note'])
})

describe('a row that is gone', () => {
  test('leaves nothing, although it was reloaded before', async () => {
    const gate = await bootGate()
    await edit(gate, { ...gate.config })
    await edit(gate, { ...gate.config })
    await gate.fibers[0].dispose()
    await gate.turn([[call.write]])
    expect(gate.reached()).toEqual(['write_note'])
  })

  test('lets what comes after it pass at once: nobody knows whether another comes', async () => {
    const gate = await bootGate()
    const agent = await gate.open()
    const results = await callingDuring(gate, agent, call.write, gate.fibers[0].dispose())
    expect(results.at(-1).isError).toBe(false)
  })
})

describe('a gate that cannot be put up again', () => {
  /** A gate whose host is outside the range from the second load on. */
  async function failing(next = {}) {
    let loads = 0
    const host = () => {
      loads += 1
      return { name: '@deepseek-ai/dsh', version: loads === 1 ? '0.1.5' : '9.0.0', source: 'entry', why: 'a test' }
    }
    const gate = await bootGate({ parts: { host } })
    await expect(edit(gate, { ...gate.config, ...next })).rejects.toThrow('9.0.0')
    return gate
  }

  test('leaves the door shut', async () => {
    const gate = await failing()
    const agent = await gate.turn([[call.write, call.read, call.bash]])
    expect(gate.answers(agent)[0]).toBe('POLICY_NOT_LOADED')
    expect(gate.reached()).toEqual(['read_note', 'bash'])
    expect(gate.stderr.at(-1)).toMatch(/^dsh-bmpp: the gate could not be put up again .* POLICY_NOT_LOADED\n$/)
  })

  test.each(['audit', undefined])('leaves it open where mode is %s, which blocks nothing', async mode => {
    const gate = await failing({ mode })
    await gate.turn([[call.write]])
    expect(gate.reached()).toEqual(['write_note'])
    expect(gate.stderr).toEqual([])
  })

  test('until the row goes, or its next configuration is good', async () => {
    const gone = await failing()
    await gone.fibers[0].dispose()
    await gone.turn([[call.write]])
    expect(gone.reached()).toEqual(['write_note'])

    const mended = await failing()
    await edit(mended, { ...mended.config, allowUnverifiedHarness: true })
    await mended.fibers[0].await()
    await mended.turn([[call.write], [call.simple], [writeOf('Two')]])
    expect(mended.stderr.filter(line => line.includes('POLICY_NOT_LOADED'))).toHaveLength(1)
    expect(mended.verdicts().filter(line => line.startsWith('write_note'))).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'write_note ALLOW_SIMPLE allowed',
    ])
  })
})
