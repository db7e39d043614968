/** Random numbers from a seed, so that a run can be made again. */

/** @param {number} seed */
export function random(seed) {
  let state = seed >>> 0
  // mulberry32
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
  const int = (/** @type {number} */ below) => Math.floor(next() * below)
  return {
    /** A whole number below this one. */
    int,
    /** Whether something of this probability happens. @param {number} probability */
    chance: probability => next() < probability,
    /** One of them. @template T @param {readonly T[]} list @returns {T} */
    pick: list => /** @type {T} */ (list[int(list.length)]),
    /** One of them by weight. @template T @param {ReadonlyArray<readonly [T, number]>} weighted @returns {T} */
    weigh(weighted) {
      let left = next() * weighted.reduce((sum, [, weight]) => sum + weight, 0)
      for (const [value, weight] of weighted) {
        left -= weight
        if (left < 0) return value
      }
      return /** @type {any} */ (weighted.at(-1))[0]
    },
    /** Another row of numbers that this one decides. */
    fork: () => random(int(0xffffffff)),
  }
}

/** @typedef {ReturnType<typeof random>} Random */
