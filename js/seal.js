/**
 * What is made of an execution object so that what was judged is what runs. Only `enforce` does any of it, and only to
 * governed calls: later guards and wrappers get the same object, and the host reads it again where it runs the body.
 */

/** @typedef {import('./host-types.js').Exec} Exec */

/** The name as it reads now. @param {Exec} exec */
export function nameOf(exec) {
  try {
    return exec.name
  } catch {
    return ''
  }
}

/**
 * Gives a property its value for good. Whoever assigns another one later throws, and the host fails the call closed.
 * @param {Exec} exec
 * @param {'name' | 'arguments'} key
 * @param {unknown} value
 * @returns {boolean} whether it is so
 */
export function seal(exec, key, value) {
  try {
    Object.defineProperty(exec, key, { value, writable: false, configurable: false, enumerable: true })
    return exec[key] === value
  } catch {
    return false
  }
}

/**
 * Makes the host unable to run the body. A wrapper around ours can call the rest of the chain again after we have refused,
 * and that goes past us. The host assigns the signal before the body runs, and reads the arguments for it.
 * @param {Exec} exec
 * @param {string} text why
 */
export function shut(exec, text) {
  const forGood = { configurable: false, enumerable: true }
  const ways = [
    () => Object.defineProperty(exec, 'signal', { value: exec.signal, writable: false, ...forGood }),
    () => Object.defineProperty(exec, 'arguments', { get: () => fail(text), ...forGood }),
    () => Object.defineProperty(exec, 'name', { value: '', writable: false, ...forGood }),
  ]
  for (const way of ways) {
    try {
      way()
      return
    } catch {
      // Another plugin has fixed this property before us.
    }
  }
}

/** @param {string} text @returns {never} */
function fail(text) {
  throw new Error(text)
}
