/**
 * A panic in the Rust core must end neither the process nor the next call, and must tell nothing of a call. The addon of
 * these tests has one more export, which makes a named place panic the next time it is reached.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { hits, loadFaults, Stage, search, addon as shipped, write } from './addon.js'
import { exportsOf, rightCalls } from './calls.js'

const addon = loadFaults()
const entries = exportsOf(addon).functions.filter(name => name !== 'injectPanic')
const marker = 'MARKER-5f3a'

/** @param {() => unknown} call */
function thrownBy(call) {
  try {
    call()
  } catch (error) {
    return /** @type {Error} */ (error)
  }
  return undefined
}

/** A conversation on the addon that just panicked. */
function nextCallWorks() {
  const stage = new Stage({}, addon)
  expect(stage.judge({ tool: write, args: {} }).code).toBe('CLASSIFICATION_REQUIRED')
  stage.classify('complex')
  expect(stage.lookUp(hits).outcome).toBe('succeeded')
  expect(stage.judge({ tool: write, args: {}, step: 2 }).code).toBe('ALLOW_RECALL_OK')
  stage.drop()
}

test('what ships cannot be made to panic, and is otherwise the same', () => {
  expect(shipped.injectPanic).toBe(undefined)
  expect(exportsOf(shipped).functions).toEqual(entries)
  expect(exportsOf(shipped).constants).toEqual(exportsOf(addon).constants)
})

test('there is a panic to inject into every exported function', () => {
  expect(Object.keys(rightCalls(addon)).sort()).toEqual(entries)
})

describe.each(entries)('a panic in %s', name => {
  test('is an error with the stable code, and the next call of it works', () => {
    const args = rightCalls(addon)[name]
    addon.injectPanic(name)
    const error = thrownBy(() => addon[name](...args))
    expect(error).toBeInstanceOf(Error)
    expect(error?.message).toMatch(new RegExp(`^POLICY_INTERNAL_ERROR: ${name} panicked`))
    expect(thrownBy(() => addon[name](...args))).toBe(undefined)
    nextCallWorks()
  })

  test('leaves every other function alone', () => {
    const calls = rightCalls(addon)
    addon.injectPanic(name)
    // What frees the policy or closes its session goes last: the others need them.
    const last = ['closeSession', 'dropPolicy']
    const others = entries.filter(other => other !== name && !last.includes(other))
    for (const other of others)
      expect(
        thrownBy(() => addon[other](...calls[other])),
        other,
      ).toBe(undefined)
    expect(thrownBy(() => addon[name](...calls[name]))?.message).toMatch(/^POLICY_INTERNAL_ERROR/)
  })

  test('repeated a thousand times is a thousand errors', () => {
    const args = rightCalls(addon)[name]
    for (let i = 0; i < 1000; i++) {
      addon.injectPanic(name)
      expect(thrownBy(() => addon[name](...args))?.message).toMatch(/^POLICY_INTERNAL_ERROR/)
    }
    nextCallWorks()
  })
})

describe('a panic within the policy', () => {
  /** A turn that was classified simple. */
  function simple() {
    const stage = new Stage({}, addon)
    stage.classify('simple')
    expect(stage.judge({ tool: write, args: {} }).code).toBe('ALLOW_SIMPLE')
    return stage
  }

  test('while it judges: an error, and the turn is unknown again', () => {
    const stage = simple()
    addon.injectPanic('policy')
    const error = thrownBy(() => stage.judge({ tool: write, args: {} }))
    expect(error?.message).toMatch(/^POLICY_INTERNAL_ERROR: judge panicked/)
    const verdict = stage.judge({ tool: write, args: {} })
    expect(verdict).toMatchObject({ code: 'CLASSIFICATION_REQUIRED', classification: 'unknown' })
    stage.drop()
  })

  test('while it settles: an error, and nothing that the turn had earned is left', () => {
    const stage = simple()
    stage.lookUp(hits)
    stage.word({ call: 'l', tool: search })
    addon.injectPanic('policy')
    const error = thrownBy(() => stage.settle({ call: 'l', value: hits }))
    expect(error?.message).toMatch(/^POLICY_INTERNAL_ERROR: settle panicked/)
    expect(stage.holdings()).toEqual({ sessions: 1, turns: 0, calls: 0 })
    expect(stage.settle({ call: 'l', value: hits }).outcome).toBe(null)
    stage.classify('complex')
    expect(stage.judge({ tool: write, args: {}, step: 2 }).code).toBe('CREATE_REQUIRES_SEARCH')
    stage.drop()
  })

  test('in one session is no business of the others', () => {
    const stage = new Stage({}, addon)
    for (const session of ['a', 'b']) stage.classify('simple', { session })
    addon.injectPanic('policy')
    expect(thrownBy(() => stage.judge({ tool: write, args: {}, session: 'a' }))).toBeInstanceOf(Error)
    expect(stage.judge({ tool: write, args: {}, session: 'b' }).code).toBe('ALLOW_SIMPLE')
    expect(stage.judge({ tool: write, args: {}, session: 'a' }).code).toBe('CLASSIFICATION_REQUIRED')
    stage.drop()
  })

  test('in one policy is no business of the others', () => {
    const [one, other] = [simple(), simple()]
    addon.injectPanic('policy')
    expect(thrownBy(() => one.judge({ tool: write, args: {} }))).toBeInstanceOf(Error)
    expect(other.judge({ tool: write, args: {} }).code).toBe('ALLOW_SIMPLE')
    one.drop()
    other.drop()
  })
})

/** Runs a file of `children` in a process of its own. @param {string} name @param {string[]} args */
function child(name, ...args) {
  const file = fileURLToPath(new URL(`children/${name}`, import.meta.url))
  const { stdout, stderr, status } = spawnSync(process.execPath, [file, ...args], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.trimEnd().split('\n')
}

test('nothing of a call is printed or said, and the process goes on to its end', () => {
  const lines = child('panics.js', marker)
  expect(lines.pop()).toBe('the end')
  // Two places each for the four that change a session's state.
  expect(lines).toHaveLength(entries.length + 4)
  for (const line of lines) expect(line).toMatch(/^POLICY_INTERNAL_ERROR: /)
  expect(lines.join()).not.toContain(marker)
})

test('an error names a place in this crate at most, and no folder of the machine that built it', () => {
  for (const name of entries) {
    const calls = rightCalls(addon)
    addon.injectPanic(name)
    const message = thrownBy(() => addon[name](...calls[name]))?.message ?? ''
    expect(message).toMatch(/^POLICY_INTERNAL_ERROR: \w+ panicked( at src\/[\w/]+\.rs:\d+)?$/)
  }
})

test('a panic in a worker thread stays there', () => {
  expect(child('panics-in-threads.js')).toEqual([
    expect.stringMatching(/^POLICY_INTERNAL_ERROR: holdings panicked/),
    '{"sessions":0,"turns":0,"calls":0}',
    '0',
    expect.stringMatching(/^POLICY_INTERNAL_ERROR: openSession panicked/),
  ])
})
