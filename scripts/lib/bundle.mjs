// The entry as it ships: one file. A host that loads the plugin reads some twenty modules otherwise, which takes longer than all
// that the plugin does at its start.
import { realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'

/** What the package exports and the command `dsh-bmpp`, beside the plugin itself. */
const OTHERS = ['js/note.js', 'js/policy.js', 'js/cli/main.js']
const ENTRY = 'js/index.js'

const HEAD = `// The modules of the plugin in one file, each under its name, without comments and types. Those are in the repository.
`

/**
 * The functions that run at each load, by module. V8 reads a function to skip it, and once more when it is called; one in
 * parentheses it compiles at once, which saves a fifteenth of what loading takes.
 * @type {Record<string, string[]>}
 */
const AT_LOAD = {
  'js/arguments.js': ['plain', 'isFixed', 'copy', 'own', 'isPlain'],
  'js/audit-host.js': ['followStorage', 'followUnload'],
  'js/bodies.js': ['followBodies', 'isReplaceable'],
  'js/control.js': ['controlTool'],
  'js/core.js': ['textOfCode'],
  'js/host.js': [
    ...['detectHost', 'detect', 'findEntry', 'toAbsolute', 'runnable', 'findLauncher', 'readManifest', 'upwards'],
    ...['probeTools', 'probeContext', 'probe', 'memberProblem', 'isObject', 'attempt', 'quote'],
  ],
  'js/keeper.js': ['fiberOf', 'keepDoor', 'relieveKeeper'],
  'js/native.js': [
    ...['loadAddon', 'checked', 'ownPackage', 'localCandidate', 'packageCandidate', 'existing', 'platformTriples'],
    ...['programLibc', 'firstBytes', 'attempt'],
  ],
  'js/plugin.js': ['createPlugin', 'apply', 'load', 'refuseUnfit', 'mount', 'storeOf', 'total', 'once', 'onceOnly'],
  'js/report.js': ['summary'],
  'js/surroundings.js': ['watchNeighbours', 'watchServers', 'hiddenTool'],
}

/**
 * A module with some of its function declarations as functions in parentheses.
 * @param {string} code
 * @param {unknown} tree its syntax
 * @param {string[]} names
 */
function inParentheses(code, tree, names) {
  const left = new Set(names)
  /** @type {{ at: number, text: string }[]} */
  const inserted = []
  const visit = (/** @type {any} */ node) => {
    if (typeof node !== 'object' || node === null) return
    if (node.type === 'FunctionDeclaration' && left.delete(node.id.name)) {
      inserted.push({ at: node.start, text: `const ${node.id.name} = (` }, { at: node.end, text: ');' })
    }
    for (const part of Object.values(node)) visit(part)
  }
  visit(tree)
  if (left.size > 0) throw new Error(`there is no function ${[...left].join(', ')}`)
  let text = code
  for (const { at, text: more } of inserted.toSorted((a, b) => b.at - a.at)) {
    text = text.slice(0, at) + more + text.slice(at)
  }
  return text
}

/**
 * @param {string} folder
 * @param {string[]} entries their paths
 * @returns what comes out of them, in the names of the sources
 */
async function outputOf(folder, entries) {
  // Not there before set-up has run, and the scripts that lead here begin with that.
  const { rolldown } = await import('rolldown')
  const build = await rolldown({
    cwd: folder,
    input: entries,
    external: /^node:/,
    platform: 'node',
    // What nothing uses is left out, but a module that is imported runs, in its order, as without a bundle.
    treeshake: { moduleSideEffects: true },
    plugins: [
      {
        name: 'at-load',
        transform(code, file) {
          const names = AT_LOAD[relative(folder, file).replaceAll(sep, '/')]
          return names === undefined ? undefined : inParentheses(code, this.parse(code), names)
        },
      },
    ],
    onLog(level, log) {
      if (level === 'warn') throw new Error(log.message)
    },
  })
  try {
    const { output } = await build.generate({ format: 'esm', comments: false, minify: false })
    const chunks = output.filter(part => part.type === 'chunk')
    return { chunks, modules: new Set(chunks.flatMap(({ moduleIds }) => moduleIds)) }
  } finally {
    await build.close()
  }
}

/**
 * Puts the plugin's entry in one file, in a folder that holds the package's files and was made for this. Goes: what is in that
 * file and no other entry imports. Where the entry is one file already, nothing changes.
 * @param {string} folder
 * @throws where the entry does not fit in one file, or another entry imports it
 */
export async function bundleEntry(folder) {
  const root = realpathSync(folder)
  const entry = join(root, ENTRY)
  const { chunks, modules } = await outputOf(root, [entry])
  if (modules.size === 1) return
  const [bundle, ...more] = chunks
  if (bundle === undefined || more.length > 0) throw new Error(`${ENTRY} does not fit in one file`)
  const others = await outputOf(
    root,
    OTHERS.map(file => join(root, file)),
  )
  if (others.modules.has(entry)) throw new Error(`another entry imports ${ENTRY}`)
  for (const file of modules) if (!others.modules.has(file)) rmSync(file)
  writeFileSync(entry, HEAD + bundle.code)
}
