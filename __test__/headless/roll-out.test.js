// The README's way of a roll-out, as a new user walks it: with the tarball, a fresh home and the commands of the page. What each
// prints is what the page shows.
import { writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { oneLine, readPage } from '../docs/markdown.js'
import { outside, UNVERIFIED, verified } from '../support/dsh-gate.js'
import { memoryTool, packProject } from '../support/headless.js'
import { operator } from '../support/operator.js'
import { tempDir } from '../support/temp-dir.js'

const readme = readPage('README.md')

/** The blocks of the README from one heading to another. @param {string} from @param {string} to */
const blocksBetween = (from, to) => readme.blocks().slice(readme.blocksBefore(from), readme.blocksBefore(to))
const [install, layer, onPath] = blocksBetween('Install', 'Uninstall')
const [uninstall] = blocksBetween('Uninstall', 'Rolling out')
const steps = blocksBetween('Rolling out', 'What the model sees')
const [first, doctor, report, reported, second, audited, override, third, overwritten] = steps.map(({ text }) => text)

const write = (title, more = {}) => ({
  name: memoryTool('write_note'),
  arguments: { title, directory: 'team', content: `# ${title}`, project: 'main', ...more },
})
const search = { name: memoryTool('search_notes'), arguments: { query: 'runbook', project: 'main' } }
const classify = task => ({ name: 'bmpp__classify', arguments: { task } })
const play = (...messages) => [...messages.map(calls => ({ calls })), { text: 'Noted.' }]

/**
 * What the page shows is in the output, in its order. A `…` stands for anything; a session's id is another one, and so may the
 * host be.
 */
function expectShown(shown, printed) {
  const told = verified ? UNVERIFIED : `${UNVERIFIED} → use a supported version`
  const level = verified ? 'ok' : 'warning'
  const here = oneLine(shown)
    .replace(/host version .* suite/, told)
    .replace('ok Harness', `${level} Harness`)
  const pattern = oneLine(here.replaceAll(/session-[0-9a-f]{8}/g, '…').replaceAll(/\b\d+ records of/g, '… records of'))
    .split('…')
    .map(part => part.trim().replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
    .join('[^]*?')
  expect(oneLine(printed)).toMatch(new RegExp(pattern))
}

describe.skipIf(!outside)('the roll-out of the README', () => {
  const home = tempDir()
  let shell
  let path = ''

  beforeAll(async () => {
    shell = operator(home.path)
    const tarball = await packProject(shell.work)
    expect(install.text.split('\n')).toEqual(['npm run pack', expect.stringContaining(` add ./${basename(tarball)}`)])
    const added = await shell.type(install.text.replace('npm run pack\n', ''))
    expect(added.code).toBe(0)
    writeFileSync(shell.patch, layer.text)
    path = onPath.text
    expect(path).toMatch(/^export PATH=/)
  })
  afterAll(home.remove)

  /** Types a block of the page, with the path that the installing sets. */
  const type = (commands, script) => shell.type(`${path}\n${commands}`, script)

  test('audit: nothing is blocked, the doctor and the report say what the page shows', async () => {
    const [run, look] = first.split('\n')
    expect(await type(run, play([write('Deploy day')]))).toMatchObject({ code: 0, stdout: 'Noted.\n' })
    await type(run, play([classify('complex')], [write('Runbook')]))
    const many = Array.from({ length: 18 }, (_, index) => write(`Plan ${index}`))
    await type(run, play([classify('complex')], [search], many))
    expectShown(doctor, (await type(`${look} || true`)).stdout)
    const { stdout } = await type(report)
    expectShown(reported, stdout)
    expect(stdout.split('\n')[0]).toMatch(/^Switch to enforce: /)
  })

  test('enforce: a denial, and the recovery that it names', async () => {
    writeFileSync(shell.patch, layer.text.replace('mode: audit', 'mode: enforce'))
    const notes = play([classify('complex')], [write('Release runbook')], [search], [write('Release runbook')])
    const { code, stdout } = await type(second, notes)
    expect(code).toBe(0)
    expectShown(audited, stdout)
    expect((await type('dsh-bmpp report')).stdout).toMatch(/CREATE_REQUIRES_SEARCH +1 told +100 % right next call/)
    expect((await type('dsh-bmpp explain CREATE_REQUIRES_SEARCH')).stdout).toContain('What to do: ')
  })

  test('one key overridden', async () => {
    const rest = layer.text.slice(layer.text.indexOf('- insert:'))
    writeFileSync(shell.patch, `${override}\n${rest}`)
    const again = play([classify('simple')], [write('Release runbook', { overwrite: true })])
    expectShown(overwritten, (await type(third, again)).stdout)
    expect((await type('dsh-bmpp verify')).stdout).toContain('No contradiction')
  })

  test('uninstalled: no call is judged, what was written by hand stays, and the trail too', async () => {
    expect((await shell.type(uninstall.text)).code).toBe(0)
    const { code, stderr } = await shell.type('dsh --profile headless "go"', play([write('Free note')]))
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('dsh-bmpp')])
    expect((await shell.type('ls "$DSH_HOME/storages"')).stdout).toContain('bmpp_audit')
    expect((await shell.type(`cat '${shell.patch}'`)).stdout).toContain('id: bmpp')
  })
})
