// The trail on the real dsh: storage by overlay, a resumed session, two processes, no storage, and the web profile.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dshBin, inRoot, projectNode } from '../../scripts/lib/project.mjs'
import { message, playDsh, supportPlugin, UNVERIFIED } from '../support/dsh-gate.js'
import { call } from '../support/gate.js'
import { withTempDir } from '../support/temp-dir.js'
import { command, filesBelow, recordsOf, storageRows, verified } from '../support/trail.js'

const conversation = [[[call.complex], [call.search, call.write], [call.write]], [[call.write]]]
const kinds = records => records.map(({ kind }) => kind)

test('a run leaves a trail that begins with the load, ends with the unload, and follows from itself', async () => {
  await withTempDir(async home => {
    const run = await playDsh({ home, conversation })
    expect(run).toMatchObject({ code: 0, notices: [UNVERIFIED] })
    const records = recordsOf(home)
    expect(records[0]).toMatchObject({
      bmpp: 1,
      kind: 'load',
      seq: 1,
      mode: 'enforce',
      host: '0.1.0-rc.8',
      config: { mode: 'enforce', allowUnverifiedHarness: true },
    })
    expect(records.at(-1).kind).toBe('unload')
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index + 1))
    // What the observer in the process saw, which is loaded after the plugin, is what was stored.
    const shape = ({ kind, tool, code, outcome }) => `${kind} ${tool} ${code} ${outcome ?? undefined}`
    expect(records.slice(1).map(shape)).toEqual(run.records.map(shape))
    expect(records.filter(({ kind }) => kind === 'turn').map(({ turn, event }) => `${turn} ${event}`)).toEqual([
      '1 start',
      '1 end',
      '2 start',
      '2 end',
    ])
    expect(verified(home)).toMatchObject({ code: 0, loads: 1, contradictions: 0, gaps: 0, withoutEnd: 0, followed: 10 })
    const file = join(home, '.dsh', 'storages', 'bmpp_audit.json')
    expect(statSync(file).mode & 0o077).toBe(0)
  })
})

test('a session that a second process resumes goes on in the same trail, in order', async () => {
  await withTempDir(async home => {
    const first = await playDsh({ home, conversation: [[[call.complex], [call.search], [call.write]]] })
    const { session } = first.decisions[0]
    const agent = { id: 'main', resumeSessionId: session, provider: 'deepseek-official', model: 'deepseek-v4-flash' }
    const resume = text => ({
      home,
      patches: [
        [
          { id: 'headless-runner', disabled: true },
          { id: 'agent-loop', config: { agents: [{ ...agent, cwd: join(home, 'work') }] } },
        ],
      ],
      plugins: [{ id: 'driver', name: supportPlugin('resume-driver'), config: { session, message: text } }],
      script: [message([[...call.edit, `${text}-1`]]), { text: 'done' }],
    })
    expect(await playDsh(resume('once'))).toMatchObject({ code: 0 })
    expect(await playDsh(resume('twice'))).toMatchObject({ code: 0 })
    const records = recordsOf(home, ['--session', session]).filter(({ kind }) => kind === 'decision')
    expect(records.map(({ turn }) => turn)).toEqual([1, 1, 1, 2, 3])
    const orders = records.map(({ order }) => order)
    expect(orders).toEqual(orders.toSorted((a, b) => a - b))
    expect(new Set(records.map(({ load }) => load)).size).toBe(3)
    expect(verified(home)).toMatchObject({ code: 0, loads: 3, contradictions: 0, gaps: 0, withoutEnd: 0 })
  })
})

test('two processes at once on one home: what is left follows, and nothing is broken', async () => {
  await withTempDir(async home => {
    const play = () => playDsh({ home, conversation })
    // Each needs a folder of its own for all but the storage.
    const runs = await Promise.all([
      play(),
      withTempDir(other => playDsh({ home: other, conversation, storage: false, patches: [storageRows(home)] })),
    ])
    expect(runs.map(({ code }) => code)).toEqual([0, 0])
    // The medium is one file that the last writer replaces: the load of one of them may be missing, whole or in part.
    const found = verified(home)
    expect(found).toMatchObject({ code: 0, contradictions: 0, tally: { broken: 0 } })
    const unloads = recordsOf(home).filter(({ kind }) => kind === 'unload')
    expect(unloads.length).toBeGreaterThanOrEqual(1)
  })
})

test('without storage every rule is applied, and it is said once that the trail is lost', async () => {
  await withTempDir(async home => {
    const run = await playDsh({
      home,
      conversation: [[[call.write], [call.simple], [call.write]]],
      storage: false,
    })
    expect(run.verdicts).toEqual([
      'write_note CLASSIFICATION_REQUIRED denied',
      'classify ALLOW_CONTROL allowed',
      'write_note ALLOW_SIMPLE allowed',
    ])
    const [, ...ours] = run.notices
    expect(ours).toHaveLength(1)
    expect(ours[0]).toContain('offers no storageDomain service')
    expect(existsSync(join(home, '.dsh', 'storages'))).toBe(false)
    const asked = command(['report'], { home })
    expect(asked).toMatchObject({ code: 0, stderr: expect.stringContaining('no trail in') })
    expect(asked.stdout).toContain('Nothing was judged yet')
  })
})

test('auditLevel off keeps nothing and says nothing', async () => {
  await withTempDir(async home => {
    const config = { auditLevel: 'off' }
    const run = await playDsh({ home, conversation: [[[call.write]]], config })
    expect(run).toMatchObject({
      code: 0,
      notices: [UNVERIFIED],
      verdicts: ['write_note CLASSIFICATION_REQUIRED denied'],
    })
    expect(existsSync(join(home, '.dsh', 'storages', 'bmpp_audit.json'))).toBe(false)
  })
})

test('nothing of a note, an argument or a secret is in any file that was written, but the host’s own log and the server’s', async () => {
  await withTempDir(async home => {
    const marks = []
    const mark = what => {
      const made = `MARK${what}${marks.length}QZX`
      marks.push(made)
      return made
    }
    const note = () => ({
      title: mark('title'),
      directory: mark('dir'),
      content: mark('content'),
      tags: [mark('tag')],
      project: mark('project'),
      [mark('key')]: mark('value'),
    })
    const turn = () => [
      [[call.write[0], note()]],
      [call.complex],
      [[call.search[0], { query: mark('query') }]],
      [
        [call.write[0], note()],
        [call.remove[0], { identifier: mark('identifier') }],
      ],
      [['mcp__basic-memory__new_tool', { a: mark('unknown') }, mark('callid and words')]],
    ]
    for (const config of [{ pathRedaction: 'hash', auditLevel: 'verbose' }, {}]) {
      const run = await playDsh({ home, conversation: [turn(), turn()], config })
      expect(run.code).toBe(0)
      for (const text of run.notices) for (const made of marks) expect(text).not.toContain(made)
    }
    const page = join(home, '.dsh', 'report.html')
    expect(command(['report', '--html', page], { home }).code).toBe(0)
    const records = recordsOf(home)
    expect(records.some(({ target }) => /^[0-9a-f]{12}$/.test(target ?? ''))).toBe(true)
    expect(records.length).toBeGreaterThan(40)
    const written = [...filesBelow(join(home, '.dsh'))].filter(([file]) => !file.includes(join('.dsh', 'sessions')))
    expect(written.some(([file]) => file.endsWith('bmpp_audit.json'))).toBe(true)
    for (const [file, text] of written) {
      for (const made of marks) expect(text.includes(made) ? `${made} in ${file}` : '').toBe('')
    }
  })
})

describe('the web profile', () => {
  test('opens the domain by its own storage, and the load and the unload are in the trail', async () => {
    await withTempDir(async home => {
      const row = {
        id: 'bmpp',
        name: inRoot('js', 'index.js'),
        config: { mode: 'audit', allowUnverifiedHarness: true },
      }
      const overlay = join(home, 'overlay.patch.yml')
      writeFileSync(overlay, JSON.stringify([{ insert: [row] }]))
      const args = ['--profile', 'web', '--patch', overlay, '--port', '0', '--no-open']
      const child = spawn(projectNode(), [dshBin, ...args], {
        cwd: home,
        env: {
          PATH: process.env.PATH,
          HOME: home,
          DSH_HOME: join(home, '.dsh'),
          DSH_TELEMETRY_DISABLED: '1',
          DEEPSEEK_API_KEY: 'any',
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      let printed = ''
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', part => {
          printed += part
          if (/dsh web: http/.test(printed) && !child.killed) child.kill('SIGTERM')
        })
      }
      const [code] = await once(child, 'close')
      expect({ code, printed }).toMatchObject({ code: 0 })
      expect(kinds(recordsOf(home))).toEqual(['load', 'unload'])
      expect(verified(home)).toMatchObject({ code: 0, loads: 1, withoutEnd: 0 })
    })
  })
})
