// Licence expressions as manifests have them: `MIT`, `MIT OR Apache-2.0`, `(MIT OR Apache-2.0) AND Unicode-3.0`, and Rust's old
// `MIT/Apache-2.0`.

/** @param {string} expression @returns {string[]} */
const wordsOf = expression => expression.replaceAll('/', ' OR ').match(/[()]|[\w.+-]+/g) ?? []

/**
 * The licences under which something is used: of each choice the one that comes first in a list.
 * @param {string} expression
 * @param {readonly string[]} allowed in the order of preference
 * @returns {string[] | null} null where the list does not do
 */
export function licencesOf(expression, allowed) {
  const words = wordsOf(expression)
  let at = 0
  /** @typedef {string[] | null} Chosen */
  const rank = (/** @type {string[]} */ chosen) => Math.max(...chosen.map(id => allowed.indexOf(id)))

  /** @returns {Chosen} */
  function one() {
    const word = words[at++]
    if (word === '(') {
      const inner = either()
      if (words[at++] !== ')') throw new Error(`no licence expression: ${expression}`)
      return inner
    }
    if (word === undefined || ['OR', 'AND', 'WITH', ')'].includes(word)) {
      throw new Error(`no licence expression: ${expression}`)
    }
    // An exception makes another licence of it.
    const id = words[at] === 'WITH' ? [word, words[at++], words[at++]].join(' ') : word
    return allowed.includes(id) ? [id] : null
  }
  /** @returns {Chosen} */
  function all() {
    let chosen = one()
    while (words[at] === 'AND') {
      at += 1
      const next = one()
      chosen = chosen && next && [...new Set([...chosen, ...next])]
    }
    return chosen
  }
  /** @returns {Chosen} */
  function either() {
    let chosen = all()
    while (words[at] === 'OR') {
      at += 1
      const next = all()
      if (next && (chosen === null || rank(next) < rank(chosen))) chosen = next
    }
    return chosen
  }
  const chosen = either()
  if (at !== words.length) throw new Error(`no licence expression: ${expression}`)
  return chosen
}
