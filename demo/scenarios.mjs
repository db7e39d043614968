// What the demo plays: each scenario is one turn, each message one answer of the scripted model, each call what the model asks
// for in it. `verdict` is what BMPP must say; the demo fails when it says otherwise.

const classify = (/** @type {'simple' | 'complex'} */ task) => ({
  tool: 'bmpp__classify',
  arguments: { task },
  verdict: 'ALLOW_CONTROL',
})

const search = (/** @type {string} */ query) => ({
  tool: 'mcp__basic-memory__search_notes',
  arguments: { query, project: 'main' },
  verdict: 'ALLOW_READ_ONLY',
})

const write = (/** @type {string} */ title, /** @type {string} */ verdict) => ({
  tool: 'mcp__basic-memory__write_note',
  arguments: { title, directory: 'demo', content: `# ${title}\n\nWritten by the demo.`, project: 'main' },
  verdict,
})

/** @typedef {{ tool: string, arguments: object, verdict: string }} ScenarioCall */
/** @type {{ name: string, about: string, messages: ScenarioCall[][] }[]} */
export const scenarios = [
  {
    name: 'unclassified',
    about: 'a write in a turn that the model has not classified',
    messages: [[write('Deploy checklist', 'CLASSIFICATION_REQUIRED')]],
  },
  {
    name: 'simple',
    about: 'declared simple, a write needs no lookup',
    messages: [[classify('simple')], [write('Deploy checklist', 'ALLOW_SIMPLE')]],
  },
  {
    name: 'complex-no-lookup',
    about: 'declared complex, a new note wants a search first',
    messages: [[classify('complex')], [write('Deploy runbook', 'CREATE_REQUIRES_SEARCH')]],
  },
  {
    name: 'complex-lookup',
    about: 'declared complex, after a search whose result the model has read',
    messages: [[classify('complex')], [search('deploy')], [write('Deploy runbook', 'ALLOW_RECALL_OK')]],
  },
  {
    name: 'bundled',
    about: 'search and write in one message: the model cannot have read the result',
    messages: [
      [classify('complex')],
      [search('rollback'), write('Rollback runbook', 'MEMORY_LOOKUP_PENDING_IN_BATCH')],
    ],
  },
]
