/** What a worker of threads.test.js does: it holds conversations with policies of its own. */
import { parentPort, workerData } from 'node:worker_threads'
import { addon, hits, Stage, write } from '../addon.js'

function conversation() {
  const stage = new Stage()
  const codes = [stage.judge({ tool: write, args: {} }).code]
  stage.classify('complex')
  codes.push(stage.judge({ tool: write, args: {} }).code)
  stage.lookUp(hits)
  codes.push(stage.judge({ tool: write, args: {}, step: 2 }).code)
  return { stage, codes }
}

const { conversations = 0, keep = false, endless = false, foreign } = workerData
const codes = []
const handles = []
for (let i = 0; i < conversations; i++) {
  const { stage, codes: said } = conversation()
  codes.push(...said)
  handles.push(stage.policy)
  if (!keep) stage.drop()
}

/** What the error says that another thread's policy brings. */
function strange() {
  try {
    return addon.holdings(foreign)
  } catch (error) {
    return error.message
  }
}

parentPort?.postMessage({ codes, handles, foreign: foreign === undefined ? undefined : strange() })
while (endless) conversation()
