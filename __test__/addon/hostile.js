/** What the tests with hostile values share. */
import { expect } from 'vitest'
import { hits, Stage, write } from './addon.js'

export const thrower = () => {
  throw new RangeError('a trap of the test')
}
export const traps = Object.fromEntries(
  Reflect.ownKeys(Reflect)
    .filter(k => typeof k === 'string')
    .map(k => [k, thrower]),
)
const revocable = Proxy.revocable({}, {})
export const revoked = revocable.proxy
revocable.revoke()

/** Judges a little conversation in a policy of its own. */
export function nextCallWorks() {
  const stage = new Stage()
  expect(stage.judge({ tool: write, args: {} }).code).toBe('CLASSIFICATION_REQUIRED')
  stage.classify('complex')
  expect(stage.lookUp(hits)).toEqual({ outcome: 'succeeded', observations: [] })
  expect(stage.judge({ tool: write, args: {}, step: 2 }).code).toBe('ALLOW_RECALL_OK')
  stage.drop()
}

/** Calls, and tells what was thrown. A throw must be an error. */
export function attempt(call) {
  try {
    return { value: call() }
  } catch (error) {
    expect(error).toBeInstanceOf(Error)
    return { error: /** @type {Error} */ (error) }
  }
}
