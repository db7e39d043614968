// Ends the process in the middle of its work, so many results after the start.
//
// config: { results: number, how: 'exit' | 'kill', ms?: number }
//   `ms` lets so much time pass after that result, in which the trail is being written
export const name = 'ender'
export const inject = ['tools']

/**
 * @param {any} ctx
 * @param {{ results: number, how: 'exit' | 'kill', ms?: number }} config
 */
export function apply(ctx, { results, how, ms = 0 }) {
  const end = () => {
    if (how === 'exit') process.exit(3)
    process.kill(process.pid, 'SIGKILL')
  }
  let left = results
  ctx.on('tools/result', () => {
    left -= 1
    if (left !== 0) return
    if (ms === 0) end()
    else setTimeout(end, ms)
  })
}
