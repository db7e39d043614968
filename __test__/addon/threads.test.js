/** The addon in worker threads, and more than once in one process: nothing is shared that must not be. */
import { spawnSync } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { withTempDir } from '../support/temp-dir.js'
import { addon, addonPath, hits, Stage, write } from './addon.js'
import { words } from './children/frames.js'

const file = fileURLToPath(new URL('children/conversations.js', import.meta.url))
const frames = fileURLToPath(new URL('children/frames.js', import.meta.url))

/** Starts a worker that does this, and gives back its messages and how it ended. @param {object} task */
function start(task, script = file) {
  const worker = new Worker(script, { workerData: task })
  const messages = /** @type {any[]} */ ([])
  const ended = new Promise((resolve, reject) => {
    worker.on('message', message => messages.push(message))
    worker.on('error', reject)
    worker.on('exit', code => resolve({ code, messages }))
  })
  const first = new Promise(resolve => worker.once('message', resolve))
  return { worker, ended, first }
}

const whole = ['CLASSIFICATION_REQUIRED', 'CREATE_REQUIRES_SEARCH', 'ALLOW_RECALL_OK']

test('a worker judges as this thread does', async () => {
  const { code, messages } = await start({ conversations: 1 }).ended
  expect(code).toBe(0)
  expect(messages[0].codes).toEqual(whole)
})

test('eight workers at once, each with policies of its own', async () => {
  const own = new Stage()
  own.classify('simple')
  const workers = Array.from({ length: 8 }, () => start({ conversations: 200, keep: true }).ended)
  const ends = await Promise.all(workers)
  for (const { code, messages } of ends) {
    expect(code).toBe(0)
    expect(messages[0].codes).toEqual(Array(200).fill(whole).flat())
  }
  // A number stands for one policy in the whole process.
  const handles = ends.flatMap(({ messages }) => messages[0].handles)
  expect(new Set([...handles, own.policy]).size).toBe(8 * 200 + 1)
  expect(own.judge({ tool: write, args: {} }).code).toBe('ALLOW_SIMPLE')
  own.drop()
})

test('a policy of one thread is not found in another', async () => {
  const own = new Stage()
  const { messages } = await start({ conversations: 1, keep: true, foreign: own.policy }).ended
  expect(messages[0].foreign).toMatch('belongs to another thread')
  for (const handle of messages[0].handles) expect(() => addon.holdings(handle)).toThrow('belongs to another thread')
  expect(own.holdings()).toEqual({ sessions: 0, turns: 0, calls: 0 })
  own.drop()
})

test('workers that are terminated in the middle of their work leave the process and the others alone', async () => {
  const own = new Stage()
  own.classify('simple')
  for (let round = 0; round < 3; round++) {
    const workers = Array.from({ length: 4 }, () => start({ endless: true }))
    await Promise.all(workers.map(({ first }) => first))
    const survivor = start({ conversations: 20 })
    await Promise.all(workers.map(({ worker }) => worker.terminate()))
    expect((await survivor.ended).code).toBe(0)
    expect(own.judge({ tool: write, args: {} }).code).toBe('ALLOW_SIMPLE')
  }
  own.drop()
})

test('each thread has a frame of its own, and it goes with the thread', async () => {
  const expected = words(50)
  const ends = await Promise.all(Array.from({ length: 4 }, () => start({ calls: 50 }, frames).ended))
  for (const { code, messages } of ends) expect({ code, messages }).toEqual({ code: 0, messages: [expected] })
  for (let round = 0; round < 3; round++) {
    const workers = Array.from({ length: 4 }, () => start({ calls: 50, endless: true }, frames))
    await Promise.all(workers.map(({ first }) => first))
    expect(words(50)).toEqual(expected)
    await Promise.all(workers.map(({ worker }) => worker.terminate()))
    for (const { ended } of workers) for (const message of (await ended).messages) expect(message).toEqual(expected)
  }
  expect(words(50)).toEqual(expected)
})

test('a worker may load it after every other user of it is gone', () => {
  // A process whose main thread never loads the addon: each worker is the first and the last one to have it.
  const script = `
    const { Worker } = require('node:worker_threads')
    const run = () => new Promise((resolve, reject) => {
      const worker = new Worker(${JSON.stringify(file)}, { workerData: { conversations: 5 } })
      worker.on('error', reject).on('exit', resolve)
    })
    ;(async () => {
      for (let i = 0; i < 5; i++) process.stdout.write(String(await run()))
    })()`
  const { stdout, stderr, status } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  expect({ stdout, stderr, status }).toEqual({ stdout: '00000', stderr: '', status: 0 })
})

test('a worker that ends while it still holds policies ends well, and so does the process', () => {
  const script = `
    const { Worker } = require('node:worker_threads')
    for (let i = 0; i < 4; i++) new Worker(${JSON.stringify(file)}, { workerData: { conversations: 50, keep: true } })
    const addon = require(${JSON.stringify(addonPath())})
    addon.openSession(addon.createPolicy({}))`
  const { stderr, status } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' })
  expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
})

/** Plays a turn of two copies of the addon in step, and tells what each says. */
function sideBySide(/** @type {any} */ one, /** @type {any} */ other) {
  const [a, b] = [new Stage({}, one), new Stage({ serverNames: ['bm'] }, other)]
  const judge = (/** @type {number} */ step) => [
    a.judge({ tool: write, args: {}, step }).code,
    b.judge({ tool: 'mcp__bm__write_note', args: {}, step }).code,
  ]
  const said = [judge(1)]
  a.classify('simple')
  said.push(judge(1))
  b.classify('complex')
  said.push(judge(2))
  b.drop()
  said.push([a.judge({ tool: write, args: {}, step: 2 }).code])
  a.drop()
  return said
}

const independent = [
  ['CLASSIFICATION_REQUIRED', 'CLASSIFICATION_REQUIRED'],
  ['ALLOW_SIMPLE', 'CLASSIFICATION_REQUIRED'],
  ['ALLOW_SIMPLE', 'CREATE_REQUIRES_SEARCH'],
  ['ALLOW_SIMPLE'],
]

test('two copies of the file in one process do not meet', () =>
  withTempDir(dir => {
    const require = createRequire(import.meta.url)
    const copies = ['one.node', 'other.node'].map(name => {
      copyFileSync(addonPath(), join(dir, name))
      return require(join(dir, name))
    })
    expect(copies[0]).not.toBe(copies[1])
    expect(new Set([addon, ...copies].map(copy => copy.frame())).size).toBe(3)
    expect(sideBySide(copies[0], copies[1])).toEqual(independent)
    expect(sideBySide(addon, copies[0])).toEqual(independent)
  }))

test('one file loaded again, after the module cache was cleared', () => {
  const require = createRequire(import.meta.url)
  const first = require(addonPath())
  const before = new Stage({}, first)
  before.classify('complex')
  before.lookUp(hits)
  delete require.cache[addonPath()]
  const second = require(addonPath())
  expect(second).not.toBe(first)
  expect(second.frame()).not.toBe(first.frame())
  expect(sideBySide(first, second)).toEqual(independent)
  // The library is one, and so are its policies.
  expect(second.createPolicy({})).not.toBe(before.policy)
  expect(before.judge({ tool: write, args: {}, step: 2 }).code).toBe('ALLOW_RECALL_OK')
  before.drop()
})
