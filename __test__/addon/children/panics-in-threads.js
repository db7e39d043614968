/**
 * Run by panics.test.js in a process of its own, and by itself in a worker: a panic waits in this thread while one
 * happens in the other. Prints what came of both.
 */
import { fileURLToPath } from 'node:url'
import { isMainThread, parentPort, Worker } from 'node:worker_threads'
import { loadFaults } from '../addon.js'

const addon = loadFaults()
const policy = addon.createPolicy({})
const attempt = (/** @type {() => unknown} */ call) => {
  try {
    return call()
  } catch (error) {
    return error.message
  }
}

if (isMainThread) {
  addon.injectPanic('openSession')
  const worker = new Worker(fileURLToPath(import.meta.url))
  worker.on('message', message => console.log(message))
  console.log(await new Promise(resolve => worker.on('exit', resolve)))
  console.log(attempt(() => addon.openSession(policy)))
} else {
  addon.injectPanic('holdings')
  parentPort?.postMessage(attempt(() => addon.holdings(policy)))
  parentPort?.postMessage(JSON.stringify(attempt(() => addon.holdings(policy))))
}
