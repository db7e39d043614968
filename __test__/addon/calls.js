/**
 * A right call of every function that the addon exports. Tests that must cover all of them go through this table, and
 * `types.test.js` fails for an export that is not in it.
 */
import { search, write } from './addon.js'

/** A folder of storages that is not there: an empty trail. */
const nowhere = 'no/such/storages'

/**
 * Puts a call's numbers into the addon's frame: policy, call, tool, session, step, and what comes behind them.
 * @param {any} addon
 * @param {unknown[]} numbers
 */
export function fillFrame(addon, numbers) {
  const frame = addon.frame()
  frame.set(numbers)
  frame[8] = -1
}

/**
 * Arguments for each export, on a policy with an open session in which a call numbered 1 is a lookup that runs. What must stand in
 * the frame stands there until the next time.
 * @param {any} addon
 */
export function rightCalls(addon) {
  const policy = addon.createPolicy({})
  const session = addon.openSession(policy)
  const [tool, lookup] = [addon.toolId(policy, write), addon.toolId(policy, search)]
  const word = addon.judge(policy, 1, lookup, addon.PLACE_HOST_TURN, session, 1, 1, {})
  const names = addon.argumentNames(policy, tool, ['title', 'directory', 'content'])
  const args = { title: 'A', directory: 'd', content: 'c' }
  // Right for both functions that take their numbers from there: the place of the one is the facts of the other.
  fillFrame(addon, [policy, 3, tool, session, 1, addon.PLACE_HOST_TURN, 1, names])
  return {
    addonVersion: [],
    approvalReason: [write, tool, word, args],
    argumentNames: [policy, tool, ['title', 'directory', 'content']],
    auditPrune: [nowhere, '{}', () => {}],
    auditReport: [nowhere, '{}', '{}', () => {}],
    auditSelect: [nowhere, '{}', () => true, () => {}],
    auditVerify: [nowhere, () => {}],
    checkPath: ['directory', 'notes'],
    closeSession: [policy, session],
    compatibility: ['0.1.5', false],
    controlTool: [],
    createPolicy: [{ mode: 'enforce' }],
    denialText: [policy, addon.wordOfCode('CLASSIFICATION_REQUIRED'), tool],
    describe: [word],
    describeSettlement: [2],
    dropPolicy: [policy],
    endTurn: [policy, session],
    enforcement: [policy, word, true],
    explainCode: ['ALLOW_SIMPLE'],
    explainedCodes: [],
    frame: [],
    holdings: [policy],
    judge: [policy, 2, tool, addon.PLACE_HOST_TURN, session, 1, 1, args],
    judgeFlat: ['A', 'd', 'c'],
    judgedFacts: [policy],
    lastJudged: [policy],
    noteIdentity: ['A', 'notes', 'main'],
    nothing: [],
    openSession: [policy],
    policyInfo: [policy],
    readConfig: [{ mode: 'enforce' }],
    settle: [
      policy,
      session,
      1,
      lookup,
      addon.FACT_REACHED,
      1,
      { content: [{ type: 'text', text: '# Search Results' }] },
    ],
    settleText: ['# Search Results'],
    targetHash: [policy, tool, args],
    toolClass: [tool],
    toolId: [policy, write],
    vocabulary: [],
    wordOfCode: ['ALLOW_SIMPLE'],
  }
}

/** The names of what an addon exports, functions apart from constants. @param {any} addon */
export function exportsOf(addon) {
  const names = Object.keys(addon).sort()
  const functions = names.filter(name => typeof addon[name] === 'function')
  return { functions, constants: names.filter(name => !functions.includes(name)) }
}
