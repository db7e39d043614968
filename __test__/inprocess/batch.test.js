/**
 * A lookup counts for what comes after the model has read its result. Exclusive tools have finished when the next call of
 * the message is judged, parallel-safe ones may not have: neither opens the gate to a write of the same message.
 */
import { describe, expect, test } from 'vitest'
import { onRecord } from '../../js/records.js'
import { answer, bootGate, call, FOUND, flagged, memory, WRITTEN } from '../support/gate.js'
import { gate as held } from '../support/inprocess.js'

const search = memory('search_notes')
const write = memory('write_note')

/** Verdicts on writes, in the order of the calls. */
const writes = gate => gate.verdicts().filter(line => /^(write|edit)_note/.test(line))

describe('exclusive tools, as the bridge makes them', () => {
  test.each([
    {
      rule: 'search and write in one message → denied; repeated in the next → allowed',
      messages: [[call.complex], [call.search, call.write], [call.write]],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied', 'write_note ALLOW_RECALL_OK allowed'],
    },
    {
      rule: 'search and write in two messages → allowed',
      messages: [[call.complex], [call.search], [call.write]],
      verdicts: ['write_note ALLOW_RECALL_OK allowed'],
    },
    {
      rule: 'write before search in one message → denied for want of a search; repeated in the next → allowed',
      messages: [[call.complex], [call.write, call.search], [call.write]],
      verdicts: ['write_note CREATE_REQUIRES_SEARCH denied', 'write_note ALLOW_RECALL_OK allowed'],
    },
    {
      rule: 'classify, search and write in one message → the search is still of this message',
      messages: [[call.complex, call.search, call.write]],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'],
    },
    {
      rule: 'search, classify and write in one message, in whichever order → the same',
      messages: [[call.search, call.complex, call.write]],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'],
    },
    {
      rule: 'the first write of the message denied, so is each further one',
      messages: [[call.complex], [call.search, call.write, call.edit]],
      verdicts: ['write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied', 'edit_note MEMORY_LOOKUP_PENDING_IN_BATCH denied'],
    },
    {
      rule: 'one lookup succeeded in an earlier step → satisfied, whatever a lookup of this message does',
      messages: [[call.complex], [call.search], [call.search, call.write]],
      verdicts: ['write_note ALLOW_RECALL_OK allowed'],
    },
    {
      rule: 'the search before the classification counts too: it is of the same turn',
      messages: [[call.search], [call.complex, call.write]],
      verdicts: ['write_note ALLOW_RECALL_OK allowed'],
    },
    {
      rule: 'in a simple turn a search of the same message is no obstacle',
      messages: [[call.simple, call.search, call.write]],
      verdicts: ['write_note ALLOW_SIMPLE allowed'],
    },
    {
      rule: 'build_context is a lookup as search_notes is',
      messages: [[call.complex], [[memory('build_context'), { url: 'memory://plans' }], call.edit], [call.edit]],
      verdicts: ['edit_note MEMORY_LOOKUP_PENDING_IN_BATCH denied', 'edit_note ALLOW_RECALL_OK allowed'],
    },
  ])('$rule', async ({ messages, verdicts }) => {
    const gate = await bootGate()
    const agent = await gate.turn(messages)
    expect(writes(gate)).toEqual(verdicts)
    const allowed = verdicts.filter(line => line.endsWith('allowed')).length
    expect(gate.reached().filter(name => /^(write|edit)_note/.test(name))).toHaveLength(allowed)
    expect(gate.answers(agent)).toHaveLength(messages.flat().length)
  })

  test('a failed lookup of an earlier step and one of this message: the model has not seen the newer', async () => {
    let answers = 0
    const gate = await bootGate({
      tools: { [search]: () => (++answers === 1 ? flagged('no such index') : answer(FOUND)) },
    })
    await gate.turn([[call.complex], [call.search], [call.search, call.write], [call.write]])
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('a lookup of this message that failed: nothing is pending, and what failed is named', async () => {
    const gate = await bootGate({ tools: { [search]: () => flagged('no such index') } })
    await gate.turn([[call.complex], [call.search, call.write]])
    expect(writes(gate)).toEqual(['write_note MEMORY_LOOKUP_FAILED denied'])
  })
})

describe('parallel-safe tools, which overlap', () => {
  const parallel = (body, name) => ({ [name]: { parallel: true, body } })

  /** Opens when the gate has decided on a write. */
  function writeJudged() {
    const judged = held()
    const stop = onRecord(record => {
      if (record.kind === 'decision' && record.tool === write) judged.open(record)
    })
    return { judged: judged.promise, stop }
  }

  test('the write is judged while the search runs → denied', async () => {
    const { judged, stop } = writeJudged()
    const gate = await bootGate({
      tools: {
        // The search does not answer before the write was judged: it would stand still if the host ran them in turn.
        ...parallel(async () => {
          await judged
          return answer(FOUND)
        }, search),
        ...parallel(() => answer(WRITTEN), write),
      },
    })
    await gate.turn([[call.complex], [call.search, call.write], [call.write]])
    stop()
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
    expect(gate.reached()).toEqual(['search_notes', 'write_note'])
  })

  test('the search has ended when the write is judged, in the same message → denied all the same', async () => {
    const gate = await bootGate({
      // One at a time: each is over before the next begins.
      maxParallelToolCalls: 1,
      tools: { ...parallel(() => answer(FOUND), search), ...parallel(() => answer(WRITTEN), write) },
    })
    await gate.turn([[call.complex], [call.search, call.write], [call.write]])
    expect(gate.trace.filter(({ at, name }) => at === 'result' && name === search)).toHaveLength(1)
    expect(writes(gate)).toEqual([
      'write_note MEMORY_LOOKUP_PENDING_IN_BATCH denied',
      'write_note ALLOW_RECALL_OK allowed',
    ])
  })

  test('write before search, both at once → denied for want of a search', async () => {
    const gate = await bootGate({
      tools: { ...parallel(() => answer(FOUND), search), ...parallel(() => answer(WRITTEN), write) },
    })
    await gate.turn([[call.complex], [call.write, call.search], [call.write]])
    expect(writes(gate)).toEqual(['write_note CREATE_REQUIRES_SEARCH denied', 'write_note ALLOW_RECALL_OK allowed'])
  })

  test('two searches at once, one fails and one succeeds, in either order: the outcome is the same', async () => {
    for (const order of [
      ['bad', 'good'],
      ['good', 'bad'],
    ]) {
      const gate = await bootGate({
        tools: parallel(({ query }) => (query === 'bad' ? flagged('broken') : answer(FOUND)), search),
      })
      const searches = order.map(query => /** @type {[string, object]} */ ([search, { query }]))
      await gate.turn([[call.complex], searches, [call.write]])
      expect(writes(gate), order.join()).toEqual(['write_note ALLOW_RECALL_OK allowed'])
    }
  })
})
