/** The parser that the Harness itself reads its layers with. */
import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { hosts } from '../../scripts/lib/project.mjs'

const store = join(hosts.dsh, 'node_modules', '.pnpm')
const folder = readdirSync(store).find(name => name.startsWith('js-yaml@')) ?? ''
const yaml = createRequire(import.meta.url)(join(store, folder, 'node_modules', 'js-yaml'))

// An expression that the Harness evaluates is kept as its text.
const expression = new yaml.Type('tag:yaml.org,2002:js', { kind: 'scalar' })
const schema = yaml.DEFAULT_SCHEMA.extend([expression])

/** @param {string} text @returns {any} */
export const parseYaml = text => yaml.load(text, { schema })

/** @param {string} file @returns {any} */
export const readYaml = file => parseYaml(readFileSync(file, 'utf8'))
