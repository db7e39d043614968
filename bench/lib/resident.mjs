// Resident memory of sessions, in a process of its own: `node --expose-gc bench/lib/resident.mjs <core | gate | million> <sessions>`.
import { readFileSync } from 'node:fs'
import { MinimalHost } from './gate.mjs'
import { CLASSIFY, FOUND, memory, note, noteJson, Stage, whole, written } from './stage.mjs'

const [what, count = '0'] = process.argv.slice(2)
const sessions = Number(count)

/** Resident bytes, once the collector has had its say. Of a system without /proc, what Node says. */
async function resident() {
  for (let turn = 0; turn < 4; turn += 1) {
    globalThis.gc?.()
    await new Promise(resolve => setImmediate(resolve))
  }
  try {
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024
  } catch {
    return process.memoryUsage.rss()
  }
}

/** The five calls of one session: a declaration, two lookups, a read and a write. */
const FIVE = /** @type {const} */ ([
  [CLASSIFY, () => Object.freeze({ task: 'complex' }), () => FOUND],
  [memory('search_notes'), () => Object.freeze({ query: 'releases' }), () => FOUND],
  [memory('search_notes'), () => Object.freeze({ query: 'notes' }), () => FOUND],
  [memory('read_note'), whole, (/** @type {number} */ index) => noteJson(index, 200)],
  [
    memory('write_note'),
    (/** @type {number} */ index) => note(index + 1, 200),
    (/** @type {number} */ index) => written(index + 1),
  ],
])

/** The core's own share: five calls judged and settled. */
async function core() {
  const stage = new Stage()
  stage.rehearse()
  const open = () => stage.core.openSession()
  const fill = (/** @type {number} */ session) => {
    stage.turn = 1
    stage.step = 1
    for (const [name, args, value] of FIVE) {
      if (name === memory('read_note')) stage.step = 2
      stage.judge(name, name === CLASSIFY ? undefined : args(session), session)
      stage.settle(name, value(session), session)
    }
  }
  // What the first ones cost is start-up, not sessions: the runtime's own heap grows to what such calls need.
  const warm = open()
  for (let index = 0; index < 20_000; index += 1) {
    fill(warm)
    stage.core.addon.endTurn(stage.core.handle, warm)
  }
  const before = await resident()
  for (let index = 0; index < sessions; index += 1) fill(open())
  return { before, after: await resident() }
}

/** All of it: the gate's own tracks too, on a host's session objects that were there before. */
async function gate() {
  const host = new MinimalHost()
  const warm = Array.from({ length: 100 }, (_, index) => host.open(`warm-${index}`))
  for (const seat of warm) await play(host, seat)
  /** @type {any[]} */
  const made = Array.from({ length: sessions }, (_, index) => {
    const session = { id: `session-${index}`, seq: 0, eventAt: () => undefined, header: {} }
    host.sessions.set(session.id, session)
    return { agent: { session }, turn: 0, step: 0 }
  })
  const before = await resident()
  for (const seat of made) {
    host.position.created(seat.agent.session)
    await play(host, seat)
  }
  return { before, after: await resident() }
}

/** @param {MinimalHost} host @param {any} seat */
async function play(host, seat) {
  host.turn(seat)
  for (const [index, [name, args, value]] of FIVE.entries()) {
    if (index === 3) host.step(seat)
    host.call(seat, name, args(index), value(index))
    await undefined
    host.settle()
  }
}

/** Sessions opened and disposed of, a thousand at a time. */
async function million() {
  const stage = new Stage()
  const round = () => {
    for (let index = 0; index < sessions / 1000; index += 1) {
      const open = Array.from({ length: 1000 }, () => stage.core.openSession())
      stage.turn = 1
      for (const session of open) {
        stage.judge(memory('search_notes'), { query: 'releases' }, session)
        stage.settle(memory('search_notes'), FOUND, session)
      }
      for (const session of open) stage.core.addon.closeSession(stage.core.handle, session)
    }
    const held = stage.core.addon.holdings(stage.core.handle)
    if (held.sessions !== 1) throw new Error(`sessions are left: ${held.sessions}`)
  }
  round()
  const before = await resident()
  round()
  return { before, after: await resident() }
}

const ways = { core, gate, million }
process.stdout.write(JSON.stringify(await ways[/** @type {keyof typeof ways} */ (what)]()))
