// One group of figures in a process of its own: `node --expose-gc bench/lib/child.mjs <group> <options as JSON>`. Prints its figures as JSON.
import { pathToFileURL } from 'node:url'
import { inRoot } from '../../scripts/lib/project.mjs'

const [group = '', options = '{}'] = process.argv.slice(2)
const { figures } = await import(pathToFileURL(inRoot('bench', 'groups', `${group}.mjs`)).href)
process.stdout.write(`${JSON.stringify(await figures(JSON.parse(options)))}\n`)
// What a group has started must not keep the run waiting.
process.exit()
