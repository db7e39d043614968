/** Reads the sources of modules as syntax, for tests that are about what stands in a file. */
import { parseAst } from 'vite'

/** Every node of a syntax tree. @param {any} node @returns {Generator<any>} */
export function* nodesOf(node) {
  if (Array.isArray(node)) for (const item of node) yield* nodesOf(item)
  else if (node !== null && typeof node === 'object') {
    if (typeof node.type === 'string') yield node
    for (const value of Object.values(node)) yield* nodesOf(value)
  }
}

/** The tree of a module. @param {string} source */
export const treeOf = source => parseAst(source)

/** The text of a string or of a template, whose expressions stay as they are written; else null. @param {any} node @param {string} source @returns {string | null} */
export function textOf(node, source) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value
  return node?.type === 'TemplateLiteral' ? source.slice(node.start + 1, node.end - 1) : null
}

/**
 * The titles of a test file's tests as they stand in it, each with those of the groups around it: `group > test`. A test that
 * is skipped or only planned has none.
 * @param {string} source
 * @returns {string[]}
 */
export function titlesOf(source) {
  /** @type {string[]} */ const titles = []
  const visit = (/** @type {any} */ node, /** @type {string[]} */ groups) => {
    if (Array.isArray(node)) for (const item of node) visit(item, groups)
    else if (node !== null && typeof node === 'object') {
      const words = node.type === 'CallExpression' ? calleeOf(node.callee) : []
      const title = textOf(node.arguments?.[0], source)
      const runs = !words.includes('skip') && !words.includes('todo')
      if (words[0] === 'test' && title !== null && runs) titles.push([...groups, title].join(' > '))
      const within = words[0] === 'describe' && title !== null ? [...groups, title] : groups
      if (words[0] !== 'describe' || runs) for (const value of Object.values(node)) visit(value, within)
    }
  }
  visit(treeOf(source).body, [])
  return titles
}

/** `test.each(table)` → ['test', 'each']. @param {any} node @returns {string[]} */
function calleeOf(node) {
  if (node.type === 'Identifier') return [node.name]
  if (node.type === 'MemberExpression') return [...calleeOf(node.object), node.property.name ?? '']
  return node.type === 'CallExpression' ? calleeOf(node.callee) : []
}
