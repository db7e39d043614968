/**
 * A worker for threads.test.js: judges and settles through the functions that take their numbers from the frame, and tells the
 * words that came of it. `endless` begins anew until the thread is ended.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { Core } from '../../../js/core.js'
import { addon, write } from '../addon.js'

/** The words of a conversation on a policy of its own. @param {number} calls */
export function words(calls) {
  const core = new Core(addon, { mode: 'enforce' })
  const session = core.openSession()
  const { id } = core.tool(write)
  const said = []
  for (let call = 0; call < calls; call += 1) {
    const args = { title: `A ${call}`, directory: 'd', content: 'ü'.repeat(call * 50) }
    said.push(core.judge(call, id, addon.PLACE_HOST_TURN, session, 1, call, args))
    said.push(core.settle(session, call, id, addon.FACT_REACHED, call, `# Created note\nfile_path: d/A ${call}.md`))
  }
  core.dispose()
  return said
}

if (parentPort !== null && workerData?.calls !== undefined) {
  do parentPort.postMessage(words(workerData.calls))
  while (workerData.endless)
}
