// Writes overlay.dev.cordis.yml, with which any dsh on this machine loads BMPP from this checkout: `npm run overlay`.
// The file holds this folder's path, so it is not committed.
//
//   npm run overlay -- --mode enforce --profile strict --allow-unverified-harness
import { readdirSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'
import { entry } from './lib/proc.mjs'
import { inRoot, root } from './lib/project.mjs'

const file = inRoot('overlay.dev.cordis.yml')

/** A file as a row names it. In a path the host takes some characters for parts of a URL. @param {string} path */
const rowName = path => (/[#?%]/.test(path) ? pathToFileURL(path).href : path)

/** @param {string} flag @param {string} value @param {string[]} allowed */
function oneOf(flag, value, allowed) {
  if (!allowed.includes(value)) throw new Error(`--${flag} is one of ${allowed.join(', ')}; not "${value}"`)
  return value
}

entry(async () => {
  const { values } = parseArgs({
    options: {
      mode: { type: 'string', default: 'audit' },
      profile: { type: 'string', default: 'compat' },
      'allow-unverified-harness': { type: 'boolean', default: false },
    },
  })
  const config = [
    `mode: ${oneOf('mode', values.mode, ['off', 'audit', 'enforce'])}`,
    `profile: ${oneOf('profile', values.profile, ['compat', 'strict'])}`,
    ...(values['allow-unverified-harness'] ? ['allowUnverifiedHarness: true'] : []),
  ]
  const use = `dsh --profile headless --patch ${JSON.stringify(file)} "your task"`
  writeFileSync(
    file,
    `# Loads BMPP from this checkout into one run of dsh, over whatever the profile holds:
#
#   ${use}
#
# Any profile will do. Do not use it where the bundle is installed too: two rows with the id bmpp end the
# boot. After a change in src/ run \`npm run build\`. Written by \`npm run overlay\`, which takes --mode, --profile and
# --allow-unverified-harness; the last is for a Harness outside the range that package.json declares.
- insert:
    - id: bmpp
      name: ${JSON.stringify(rowName(inRoot('js', 'index.js')))}
      config:
${config.map(line => `        ${line}`).join('\n')}
`,
  )
  process.stdout.write(`${file}\n\n  ${use}\n`)
  if (!readdirSync(root).some(name => name.endsWith('.node'))) {
    process.stderr.write('\nThe addon is not built yet: run `npm run build` before dsh.\n')
  }
})
