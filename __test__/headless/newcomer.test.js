// The way of somebody who has the tarball, a `dsh`, and the docs, and nothing else: added, run in audit, the report read, switched
// to enforce, a denial seen and recovered from, one key overridden, looked after by doctor and verify, and removed. What the
// docs give as YAML is taken from them.
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { cut, LATE, message, noticesOf, outside, UNVERIFIED, verified } from '../support/dsh-gate.js'
import { call, note } from '../support/gate.js'
import { dsh, memoryTool, packProject, runDsh } from '../support/headless.js'
import { withTempDir } from '../support/temp-dir.js'

/** What a page gives to be put into a profile: its YAML block that holds these words. */
const yamlOf = (page, words) => {
  const blocks = [...readFileSync(inRoot(page), 'utf8').matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => text)
  const found = blocks.find(text => text.includes(words))
  expect([page, words, found === undefined]).toEqual([page, words, false])
  return found
}

/** Notes that the server does not have yet. */
const write = title => [memoryTool('write_note'), { ...note, title }]

test('from the tarball to a clean removal, with nothing but the docs', { timeout: 300_000 }, async () => {
  await withTempDir(async home => {
    const profile = join(home, '.dsh', 'profiles', 'headless')
    const patch = join(profile, 'cordis.patch.yml')
    // No registry is there to be asked.
    const env = { npm_config_registry: 'http://127.0.0.1:9/' }
    const plugin = (...args) => dsh(['plugin', '--profile', 'headless', ...args], { home, env })
    /** The command that the package brings, as a shell of the user's runs it. */
    const bmpp = (...args) => {
      const { status, stdout, stderr } = spawnSync(join(profile, 'node_modules', '.bin', 'dsh-bmpp'), args, {
        encoding: 'utf8',
        env: {
          PATH: `${dirname(projectNode())}:/usr/bin:/bin`,
          HOME: home,
          DSH_HOME: join(home, '.dsh'),
          NO_COLOR: '1',
        },
      })
      return { code: status, stdout, stderr }
    }
    const run = async messages => {
      const ended = await runDsh({ home, mcp: 'none', script: [...messages.map(message), { text: 'done' }] })
      expect(ended).toMatchObject({ code: 0, unused: [], stdout: 'done\n' })
      return { ...ended, notices: noticesOf(ended.stderr).filter(line => !LATE.test(line)) }
    }
    const said = outside ? [UNVERIFIED] : []

    // Added, into a profile that knows the memory server and has a place for the trail.
    expect(await plugin('add', await packProject(home))).toMatchObject({ code: 0 })
    const memory = JSON.stringify([
      {
        insert: [
          {
            id: 'memory',
            name: '@deepseek-ai/dsh-mcp-client',
            config: {
              transport: 'stdio',
              serverName: 'basic-memory',
              command: projectNode(),
              args: [inRoot('demo', 'stand-in-server.mjs')],
              env: { STAND_IN_LOG: join(home, 'mcp.jsonl') },
              failOnStartupError: true,
            },
          },
        ],
      },
    ])
    const rows = yamlOf('docs/AUDIT.md', 'dshHomePath')
    const configured = config => {
      const row = { id: 'bmpp', config: { ...config, ...(outside ? { allowUnverifiedHarness: true } : {}) } }
      writeFileSync(patch, `- ${JSON.stringify(JSON.parse(memory)[0])}\n${rows}- ${JSON.stringify(row)}\n`)
    }

    // In audit, as it comes: nothing is blocked, and the report says what would have been.
    configured({ mode: 'audit' })
    const audit = await run([[write('One')], [write('Two')]])
    expect(audit.told.map(({ isError }) => isError)).toEqual([false, false])
    expect(audit.notices).toEqual(said)
    const report = bmpp('report')
    expect(report.code).toBe(0)
    expect(report.stdout).toMatch(/^Only 2 writes so far: keep collecting before you decide; 20 are enough\.\n/)
    expect(report.stdout).toContain('CLASSIFICATION_REQUIRED')
    expect(JSON.parse(bmpp('report', '--json').stdout).blocked).toMatchObject({ overridden: 2, denied: 0 })

    // Switched to enforce: a denial, which says what to do, and the write once that was done.
    configured({ mode: 'enforce' })
    const enforce = await run([[write('Three')], [call.complex], [call.search], [write('Three')]])
    const [denied] = enforce.told
    expect(denied.text).toMatch(
      /^Error: CLASSIFICATION_REQUIRED: .* call bmpp__classify with \{"task":"complex"\}, call mcp__basic-memory__search_notes with /,
    )
    expect(cut(enforce.told.at(-1).text)).toBe('# Created note')
    expect(enforce.notices).toEqual(said)
    expect(bmpp('audit', '--decision', 'deny', '--enforcement', 'denied').stdout).toContain('CLASSIFICATION_REQUIRED')
    expect(bmpp('explain', 'classification-required').stdout).toContain('The model is told')

    // One key overridden, and only it behaves otherwise.
    configured({ mode: 'enforce', createRequiresSearch: false })
    const overridden = await run([[write('Four')], [call.complex], [write('Four')], [call.edit]])
    expect(overridden.told.map(({ text }) => cut(text))).toEqual([
      'CLASSIFICATION_REQUIRED',
      expect.stringMatching(/^This turn is classified complex/),
      '# Created note',
      'MEMORY_LOOKUP_REQUIRED',
    ])

    // Looked after.
    const doctor = bmpp('doctor', '--json')
    const found = JSON.parse(doctor.stdout).filter(({ level }) => level !== 'ok' && level !== 'note')
    expect(found.filter(({ what }) => !what.startsWith('Harness ('))).toEqual([])
    expect(doctor.code).toBe(outside && !verified ? 4 : 0)
    expect(doctor.stdout).toContain('profile headless: mode enforce, profile compat, from bundle dsh-bmpp')
    const verify = bmpp('verify')
    expect(verify).toMatchObject({ code: 0, stderr: '' })
    expect(verify.stdout).toContain('No contradiction')

    // Removed: no gate, no layer, no word, although the row that changed it is still in the profile. The trail is the user's.
    expect(await plugin('remove', 'dsh-bmpp')).toMatchObject({ code: 0 })
    const after = await run([[write('Five')]])
    expect(after.told.map(({ text }) => cut(text))).toEqual(['# Created note'])
    expect(after.stderr).not.toMatch(/bmpp/)
    expect(after.requests[0].tools.map(tool => tool.function.name)).not.toContain('bmpp__classify')
    expect(existsSync(join(profile, 'node_modules', 'dsh-bmpp'))).toBe(false)
    expect(readFileSync(join(profile, 'package.json'), 'utf8')).not.toContain('bmpp')
    expect(readdirSync(join(home, '.dsh', 'storages')).filter(name => name.startsWith('bmpp'))).not.toEqual([])
  })
})
