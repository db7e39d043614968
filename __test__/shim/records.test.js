/** Where records go: kept in order, counted when they are lost, and told to observers. */
import { describe, expect, test, vi } from 'vitest'
import { memorySink, onRecord, Recorder } from '../../js/records.js'

const decision = more => ({ kind: 'decision', tool: 't', ...more })

describe('the sink in memory', () => {
  test('keeps the last records, in order', () => {
    const sink = memorySink(3)
    for (let seq = 1; seq <= 5; seq++) sink.record({ seq })
    expect(sink.records.map(({ seq }) => seq)).toEqual([3, 4, 5])
  })

  test('keeps a thousand where nobody says how many', () => {
    const sink = memorySink()
    for (let seq = 1; seq <= 1001; seq++) sink.record({ seq })
    expect(sink.records).toHaveLength(1000)
    expect(sink.records[0].seq).toBe(2)
  })
})

describe('the recorder', () => {
  test('numbers the records from 1, without a gap', () => {
    const sink = memorySink()
    const recorder = new Recorder(
      sink,
      () => {},
      () => 5,
    )
    for (let index = 0; index < 3; index++) recorder.record(decision({ index }))
    expect(sink.records).toEqual([1, 2, 3].map(seq => ({ seq, time: 5, ...decision({ index: seq - 1 }) })))
  })

  test('counts what the sink does not take and says so each time; the number goes on', () => {
    const lost = []
    const kept = []
    const sink = {
      record(record) {
        if (record.seq % 2 === 0) throw new Error('full')
        kept.push(record.seq)
      },
    }
    const recorder = new Recorder(sink, count => lost.push(count))
    for (let index = 0; index < 5; index++) recorder.record(decision())
    expect([kept, lost, recorder.lost]).toEqual([[1, 3, 5], [1, 2], 2])
  })

  test('a sink is called as its own method', () => {
    const sink = {
      kept: [],
      record(record) {
        this.kept.push(record)
      },
    }
    new Recorder(sink, () => {}).record(decision())
    expect(sink.kept).toHaveLength(1)
  })

  test('what the caller does with its record afterwards does not change the one that is kept', () => {
    const sink = memorySink()
    const record = decision({ code: 'A' })
    new Recorder(sink, () => {}).record(record)
    record.code = 'B'
    expect(sink.records[0].code).toBe('A')
  })
})

describe('observers', () => {
  test('get each record of every recorder, until they end it', () => {
    const seen = []
    const stop = onRecord(record => seen.push(record.index))
    const [one, two] = [new Recorder(memorySink(), () => {}), new Recorder(memorySink(), () => {})]
    one.record(decision({ index: 1 }))
    two.record(decision({ index: 2 }))
    stop()
    stop()
    one.record(decision({ index: 3 }))
    expect(seen).toEqual([1, 2])
  })

  test('get the record that the sink lost', () => {
    const seen = vi.fn()
    const stop = onRecord(seen)
    const broken = {
      record() {
        throw new Error('full')
      },
    }
    new Recorder(broken, () => {}).record(decision())
    stop()
    expect(seen).toHaveBeenCalledOnce()
  })

  test('that throw keep nothing from the sink and the others', () => {
    const seen = vi.fn()
    const stops = [
      onRecord(() => {
        throw new Error('observer')
      }),
      onRecord(seen),
    ]
    const sink = memorySink()
    const recorder = new Recorder(sink, () => {})
    recorder.record(decision())
    for (const stop of stops) stop()
    expect(sink.records).toHaveLength(1)
    expect(seen).toHaveBeenCalledOnce()
    expect(recorder.lost).toBe(0)
  })

  test('the same listener twice is one', () => {
    const seen = vi.fn()
    const stops = [onRecord(seen), onRecord(seen)]
    new Recorder(memorySink(), () => {}).record(decision())
    for (const stop of stops) stop()
    expect(seen).toHaveBeenCalledOnce()
  })
})
