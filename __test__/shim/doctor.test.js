/** The command dsh-bmpp doctor on homes that are made up: what it finds in layers, rows, servers, filters and a trail. */
import { mkdirSync, readFileSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { run } from '../../js/cli/main.js'
import { Terminal } from '../../js/cli/terminal.js'
import { hosts, inRoot } from '../../scripts/lib/project.mjs'
import { singleHome } from '../support/generate-trail.js'
import { tempDir, withTempDir } from '../support/temp-dir.js'
import { command } from '../support/trail.js'

const home = tempDir()
const storages = join(home.path, '.dsh', 'storages')
beforeAll(() => singleHome(storages, { records: 400, seed: 7, stepMs: 60_000 }))
afterAll(home.remove)

/** Runs a command in this process, with what it prints collected. */
async function said(args) {
  const printed = { out: '', err: '' }
  const write = (fd, text) => {
    printed[fd === 1 ? 'out' : 'err'] += text
  }
  const code = await run(args, new Terminal({ write, colour: false, bar: false }))
  return { code, ...printed }
}

describe('doctor', () => {
  const dsh = join(hosts.dsh, 'node_modules', '@deepseek-ai')
  /** A home as a boot leaves it, with a profile of these layers. */
  const withHome = (layers, use) =>
    withTempDir(dir => {
      const root = join(dir, '.dsh')
      mkdirSync(join(root, 'profiles', 'p'), { recursive: true })
      const from = readFileSync(join(dsh, 'dsh', 'package.json'), 'utf8')
      expect(JSON.parse(from).name).toBe('@deepseek-ai/dsh')
      if (layers.booted !== false) {
        mkdirSync(join(root, 'profiles', 'node_modules', '@deepseek-ai'), { recursive: true })
        symlinkSync(layers.host ?? join(dsh, 'dsh'), join(root, 'profiles', 'node_modules', '@deepseek-ai', 'dsh'))
        const boot = join(realpathSync(join(dsh, 'dsh')), '..', 'dsh-app-boot')
        symlinkSync(layers.boot ?? boot, join(root, 'profiles', 'node_modules', '@deepseek-ai', 'dsh-app-boot'))
      }
      const manifest = layers.manifest ?? JSON.stringify({ dsh: { profile: { bundles: [] } } })
      writeFileSync(join(root, 'profiles', 'p', 'package.json'), manifest)
      if (layers.profile !== undefined) writeFileSync(join(root, 'profiles', 'p', 'cordis.patch.yml'), layers.profile)
      if (layers.other !== undefined) {
        mkdirSync(join(root, 'profiles', 'q'))
        writeFileSync(join(root, 'profiles', 'q', 'package.json'), manifest)
        writeFileSync(join(root, 'profiles', 'q', 'cordis.patch.yml'), layers.other)
      }
      if (layers.home) writeFileSync(join(root, 'cordis.patch.yml'), layers.home)
      return use(async (...args) => {
        const result = await said(['doctor', '--json', '--home', root, ...args])
        return { ...result, findings: JSON.parse(result.out) }
      })
    })
  const row = 'config: {mode: enforce, allowUnverifiedHarness: true}'
  const insert = `- insert:\n    - id: bmpp\n      name: dsh-bmpp\n      ${row}\n`
  const server = name =>
    `    - id: mcp\n      name: '@deepseek-ai/dsh-mcp-client'\n      config: {serverName: ${name}, command: !!js "env.BM", args: [basic-memory, mcp]}\n`
  const memory = (more = '') =>
    `    - id: mcp\n      name: '@deepseek-ai/dsh-mcp-client'\n      config: {serverName: basic-memory, command: ${process.execPath}, args: [basic-memory, mcp]}\n${more}`
  const storage = "    - {id: storage-domain, name: '@deepseek-ai/dsh-storage-domain', config: {backend: json}}\n"
  /** A server whose command is nowhere. */
  const starting = (serverName, more) =>
    `    - {id: ${serverName}, name: '@deepseek-ai/dsh-mcp-client', config: {serverName: ${serverName}, command: no-such-command-here, ${more}}}\n`
  const text = findings => findings.map(({ level, what }) => `${level}: ${what}`).join('\n')

  test('a profile in order is well, on a host that was verified and that the row allows', async () => {
    await withHome({ profile: insert + server('basic-memory') + storage }, async doctor => {
      const { code, findings } = await doctor()
      expect(code).toBe(0)
      expect(text(findings)).toContain('ok: profile p: mode enforce, profile compat, from profiles/p/cordis.patch.yml')
      expect(text(findings)).toMatch(
        /ok: Harness \(.*\): host version 0\.1\.0-rc\.8 .*, allowed by configuration, verified by this project's suite/,
      )
      expect(findings.filter(({ level }) => level === 'error')).toEqual([])
    })
  })

  test.each([
    [
      'a server under another name',
      { profile: insert + server('notes') + storage },
      1,
      'the memory server "notes" is not governed',
    ],
    [
      'no server of the name',
      { profile: `${insert}${server('x').replace('basic-memory, ', '')}` },
      4,
      'no MCP server is called basic-memory',
    ],
    [
      'a row that a later layer disables',
      { profile: insert, home: '- id: bmpp\n  disabled: true\n' },
      4,
      'has the row bmpp disabled',
    ],
    [
      'a row that a later layer breaks',
      { profile: insert, home: '- id: bmpp\n  config: {mod: audit}\n' },
      1,
      'UNKNOWN_KEY',
    ],
    ['no storage', { profile: insert + server('basic-memory') }, 4, 'has no storage'],
    ['no row at all', { profile: '[]' }, 1, 'no profile loads dsh-bmpp'],
  ])('%s', async (_, layers, expected, sentence) => {
    await withHome(layers, async doctor => {
      const { code, findings } = await doctor()
      expect(text(findings)).toContain(sentence)
      expect(code).toBe(expected)
    })
  })

  describe('the version of the host', () => {
    test('is a warning where the row allows one that was not verified', async () => {
      await withTempDir(async dir => {
        const boot = join(realpathSync(join(dsh, 'dsh')), '..', 'dsh-app-boot')
        const manifest = { name: '@deepseek-ai/dsh', version: '0.1.0-rc.7' }
        writeFileSync(join(dir, 'package.json'), JSON.stringify(manifest))
        expect(await harnessOf({ profile: allowing, host: dir, boot })).toEqual({
          level: 'warning',
          what: expect.stringContaining('0.1.0-rc.7 is older'),
          mend: 'use a supported version',
        })
      })
    })

    const allowing = insert + memory() + storage
    const configured = config => allowing.replace(/config: \{mode.*\}/, `config: ${config}`)
    const [HOST] = ['Harness (the last that booted this home): ']
    const harnessOf = async layers =>
      withHome(layers, async doctor => (await doctor()).findings.find(({ what }) => what.startsWith('Harness')))

    test.each([
      ['in mode off', { profile: configured('{mode: off}') }],
      ['of a row that is disabled', { profile: configured('{mode: audit}'), home: '- id: bmpp\n  disabled: true\n' }],
    ])('is not checked %s, and dsh boots', async (_, layers) => {
      expect(await harnessOf(layers)).toEqual({
        level: 'note',
        what: expect.stringContaining(`${HOST}version 0.1.0-rc.8 is not checked in mode off`),
        mend: expect.stringContaining('allowUnverifiedHarness: true'),
      })
    })

    test.each([
      ['{mode: audit}', 'error', 'dsh does not boot'],
      ['{mode: off2}', 'error', 'dsh does not boot'],
      ['{mode: audit, allowUnverifiedHarness: !!js "env.X"}', 'warning', 'an expression says'],
      ['{mode: !!js "env.X"}', 'warning', 'an expression says'],
      ['!!js "env.X"', 'warning', 'an expression says'],
    ])('is checked with %s', async (config, level, mend) => {
      expect(await harnessOf({ profile: configured(config) })).toEqual({
        level,
        what: expect.stringContaining(`${HOST}host version 0.1.0-rc.8 is older than`),
        mend: expect.stringContaining(mend),
      })
    })
  })

  describe('a key beside the id that the host does not know', () => {
    const rest = () => insert + memory() + storage
    const own = 'profiles/p/cordis.patch.yml'
    const told = key => `profile p: ${own} has the key "${key}" in an entry for the row bmpp, and dsh does not know it`
    test.each([
      ['a typo of config', () => `${rest()}- id: bmpp\n  confg: {mode: audit}\n`, 'confg', '"config"'],
      ['in another case', () => `${rest()}- id: bmpp\n  Config: {mode: audit}\n`, 'Config', '"config"'],
      ['a typo of disabled', () => `${rest()}- id: bmpp\n  disable: true\n`, 'disable', '"disabled"'],
      ['a key of ours, not below config', () => `${rest()}- id: bmpp\n  mode: audit\n`, 'mode', 'below "config"'],
      ['a typo of the id', () => `${rest()}- idd: bmpp\n  disabled: true\n`, 'idd', '"id"'],
      ['in a row that is inserted', () => rest().replace('config: {mode', 'confg: {mode'), 'confg', '"config"'],
      [
        'in a row of a group',
        () => `- insert: [{id: g, name: g, group: true, config: [{id: bmpp, name: dsh-bmpp, confg: {mode: off}}]}]\n`,
        'confg',
        '"config"',
      ],
      ['a typo of insert', () => rest().replace('insert:', 'inserts:'), 'inserts', '"insert"'],
      [
        'under the name of the package',
        () => `${rest()}- id: gate\n  name: dsh-bmpp\n  confg: {}\n`,
        'confg',
        '"config"',
      ],
      ['where no row is', () => '- id: bmpp\n  confg: {mode: audit}\n', 'confg', '"config"'],
    ])('%s', async (_, profile, key, near) => {
      await withHome({ profile: profile() }, async doctor => {
        const { code, findings } = await doctor()
        const found = findings.filter(({ what }) => what.includes('has the key'))
        expect(found).toEqual([
          { level: 'warning', what: expect.stringContaining(told(key)), mend: expect.stringContaining(near) },
        ])
        expect(code).not.toBe(0)
      })
    })

    test.each([
      ['keys that the host knows', '- id: bmpp\n  inject: [tools]\n  intercept: {}\n  isolate: {}\n  group: null\n'],
      ['a key like no other', '- id: bmpp\n  x-owner: us\n'],
      ['a typo in the entry of another row', '- id: mcp\n  disbled: true\n'],
    ])('%s is no finding', async (_, more) => {
      await withHome({ profile: rest() + more }, async doctor => {
        expect(text((await doctor()).findings)).not.toContain('has the key')
      })
    })
  })

  test('a trail of which nothing can be read is an error, and no trail that was read', async () => {
    await withHome({ profile: insert + server('basic-memory') + storage }, async doctor => {
      await withTempDir(async dir => {
        writeFileSync(join(dir, 'bmpp_audit.json'), '{"unit":')
        const { code, findings } = await doctor('--storages', dir)
        expect(code).toBe(1)
        expect(text(findings)).toContain('error: trail: no record of it can be read: bmpp_audit.json: ')
        expect(text(findings)).not.toContain('ok: trail')
      })
    })
  })

  describe('a file of a profile that the host cannot read is the error, and is named', () => {
    const own = 'profiles/p/cordis.patch.yml'
    test.each([
      ['no YAML', { profile: '- {' }, own, 'unexpected end'],
      ['a tab where YAML takes none', { profile: `${insert}\t- x\n` }, own, ''],
      ['no list', { profile: 'bmpp: {mode: enforce}\n' }, own, 'it is no list of rows'],
      ['nothing but a comment', { profile: '# soon\n' }, own, 'it is empty; write [] for no row'],
      ['an entry that is no mapping', { profile: `${insert}- bmpp\n` }, own, 'entry 2 of it is no mapping'],
      ["the home's layer", { profile: insert, home: '- {' }, 'cordis.patch.yml', 'unexpected end'],
      ['the manifest', { profile: insert, manifest: '{"dsh":' }, 'profiles/p/package.json', ''],
    ])('%s', async (_, layers, file, why) => {
      await withHome(layers, async doctor => {
        const { code, findings } = await doctor()
        expect(code).toBe(1)
        const errors = findings.filter(({ level }) => level === 'error')
        expect(errors).toEqual([
          {
            level: 'error',
            what: expect.stringContaining(`profile p: ${file} cannot be read: ${why}`),
            mend: expect.stringMatching(new RegExp(`dsh does not boot .* correct /.*/\\.dsh/${file}$`)),
          },
        ])
        // What a row that was not read allows is not known, so it is no error either.
        const [harness] = findings.filter(({ what }) => what.startsWith('Harness'))
        expect(harness).toMatchObject({ level: 'warning', mend: expect.stringContaining('can be told when') })
      })
    })
  })

  describe('a row that was meant for the plugin and is not', () => {
    const rest = () => insert + memory() + storage
    const skipped = (id, layer = 'profiles/p/cordis.patch.yml') =>
      `warning: profile p: ${layer} changes the row ${id}, which no layer before it brings: dsh skips it`

    test.each([
      ['a typo of its id', '- id: bmmp\n  config: {mode: audit}\n', skipped('bmmp')],
      ['a typo without a config', '- id: bmp\n  disabled: true\n', skipped('bmp')],
      ['the name of the package as the id', '- id: dsh-bmpp\n  config: {mode: audit}\n', skipped('dsh-bmpp')],
      [
        'another id with keys that are ours',
        '- id: memory-policy\n  config: {mode: audit}\n',
        skipped('memory-policy'),
      ],
      ['a group that is not there', '- id: group-x\n  insert: [{id: bmpp2, name: dsh-bmpp}]\n', skipped('group-x')],
    ])('%s', async (_, more, sentence) => {
      await withHome({ profile: rest() + more }, async doctor => {
        const { code, findings } = await doctor()
        expect(text(findings)).toContain(sentence)
        expect(code).toBe(4)
      })
    })

    test.each([
      ['another row that is not there', '- id: web\n  config: {port: 1}\n'],
      ['another row with a key like ours', '- id: web\n  config: {mode: dark, port: 1}\n'],
      ['another row without a config', '- id: web\n  disabled: true\n'],
    ])('%s is no finding', async (_, more) => {
      await withHome({ profile: rest() + more }, async doctor => {
        expect(text((await doctor()).findings)).not.toContain('dsh skips it')
      })
    })

    test('a typo of its name is another package', async () => {
      await withHome({ profile: rest().replace('name: dsh-bmpp', 'name: dsh-bmmp') }, async doctor => {
        const { code, findings } = await doctor()
        expect(text(findings)).toContain(
          'error: profile p: the row bmpp names the package dsh-bmmp, which is not dsh-bmpp',
        )
        expect(code).toBe(1)
      })
    })

    test('a row that names a checkout is ours under any id', async () => {
      const own = rest()
        .replace('id: bmpp', 'id: gate')
        .replace('name: dsh-bmpp', `name: ${inRoot('js', 'index.js')}`)
      await withHome({ profile: own }, async doctor => {
        expect(text((await doctor()).findings)).toContain('ok: profile p: mode enforce')
      })
    })
  })

  describe('before dsh was ever run in the home', () => {
    const bin = realpathSync(join(dsh, 'dsh'))
    const entry = join(bin, 'lib', 'bin.js')
    /** dsh as package managers put it on the PATH. */
    const launchers = {
      'a link': dir => symlinkSync(entry, join(dir, 'dsh')),
      'the shell script that is in this checkout': dir => {
        symlinkSync(join(hosts.dsh, 'node_modules', '.bin', 'dsh'), join(dir, 'dsh'))
      },
      'a shell script with a whole path': dir =>
        writeFileSync(join(dir, 'dsh'), `#!/bin/sh\nexec node "${entry}" "$@"\n`),
      'a shell script with a relative one': dir => {
        const basedir = '$basedir'
        symlinkSync(bin, join(dir, 'app'))
        writeFileSync(
          join(dir, 'dsh'),
          `#!/bin/sh\nbasedir=$(dirname "$0")\nif [ -x "${basedir}/node" ]; then\n  exec "${basedir}/node"  "${basedir}/app/lib/bin.js" "$@"\nfi\n`,
        )
      },
    }
    const onPath = (put, use) =>
      withTempDir(async dir => {
        put(dir)
        vi.stubEnv('PATH', dir)
        try {
          await use()
        } finally {
          vi.unstubAllEnvs()
        }
      })

    test.each(Object.entries(launchers))('%s is found, and reads the layers', async (_, put) => {
      await onPath(put, () =>
        withHome({ booted: false, profile: insert + memory() + storage }, async doctor => {
          const { findings } = await doctor()
          expect(text(findings)).toContain('Harness (dsh on PATH): host version 0.1.0-rc.8')
          expect(text(findings)).toContain('ok: profile p: mode enforce')
        }),
      )
    })

    test.each([
      ['a script that starts something else', '#!/bin/sh\nexec node "/no/such/dsh.js" "$@"\n'],
      ['what is no script', '\u007fELF'],
      ['a script that is too long to be one', `#!/bin/sh\n# ${'x'.repeat(1 << 16)}\nexec node "${entry}"\n`],
    ])('%s is not', async (_, script) => {
      await onPath(
        dir => writeFileSync(join(dir, 'dsh'), script),
        () =>
          withHome({ booted: false, profile: insert }, async doctor => {
            expect(text((await doctor()).findings)).toContain('warning: no Harness was found')
          }),
      )
    })
  })

  test('a trail that contradicts itself is an error', async () => {
    await withHome({ profile: insert + server('basic-memory') + storage }, async doctor => {
      await withTempDir(async dir => {
        const whole = readFileSync(join(storages, 'bmpp_audit.json'), 'utf8')
        writeFileSync(
          join(dir, 'bmpp_audit.json'),
          whole.replace('\\"decision\\":\\"deny\\"', '\\"decision\\":\\"allow\\"'),
        )
        const { code, findings } = await doctor('--storages', dir)
        expect(code).toBe(1)
        expect(text(findings)).toContain('error: trail: 1 record does not follow')
      })
    })
  })

  const subagent = filter =>
    `    - {id: helper, name: '@deepseek-ai/dsh-tool-subagent', config: {provider: spawn, toolFilter: ${filter}}}\n`
  const allWrites = 'mcp__basic-memory__write_note'

  test.each([
    [
      'no server at all',
      { profile: insert + storage },
      4,
      'no MCP server is called basic-memory, so nothing is governed',
    ],
    [
      'a server whose row is disabled',
      { profile: insert + memory('      disabled: true\n') + storage },
      4,
      'the row of the MCP server basic-memory is disabled',
    ],
    [
      'a server whose command is not there',
      { profile: insert + memory().replace(process.execPath, 'no-such-command-here') + storage },
      4,
      'is started with "no-such-command-here", which is not there',
    ],
    [
      'a governed server that must start and whose command is not there',
      { profile: insert + starting('basic-memory', 'failOnStartupError: true') + storage },
      1,
      'error: profile p: the MCP server "basic-memory" is started with "no-such-command-here", which is not there, and its row has failOnStartupError: true, so that dsh does not boot',
    ],
    [
      'any server that must start and whose command is not there',
      { profile: insert + memory() + starting('web', 'failOnStartupError: true') + storage },
      1,
      'error: profile p: the MCP server "web" is started with "no-such-command-here"',
    ],
    [
      'a server that must start, in mode off',
      {
        profile: insert.replace('enforce', 'off') + starting('basic-memory', 'failOnStartupError: true') + storage,
      },
      1,
      'error: profile p: the MCP server "basic-memory" is started with',
    ],
    [
      'a server that must start, with names that an expression gives',
      {
        profile:
          insert.replace('{mode', '{serverNames: !!js "env.N", mode') +
          starting('basic-memory', 'failOnStartupError: true') +
          storage,
      },
      1,
      'error: profile p: the MCP server "basic-memory" is started with',
    ],
    [
      'a command that is not on the PATH of its own row',
      { profile: insert + memory().replace(process.execPath, 'sh, env: {PATH: /no/such}') + storage },
      4,
      'is started with "sh", which is not there',
    ],
    [
      'a filter that hides the control tool and lets a write pass',
      { profile: insert + memory() + storage + subagent('{deny: [bmpp__classify]}') },
      4,
      'the tool filter of the row helper hides bmpp__classify',
    ],
    [
      'an allow list with a write and without the control tool',
      { profile: insert + memory() + storage + subagent(`{allow: [bash, ${allWrites}]}`) },
      4,
      'the tool filter of the row helper hides bmpp__classify',
    ],
    [
      'a later layer that takes enforce away without saying so',
      { profile: insert + memory() + storage, home: '- id: bmpp\n  config: {profile: strict}\n' },
      1,
      'cordis.patch.yml takes mode enforce away',
    ],
    [
      'a later layer under another name, which the host skips',
      { profile: insert + memory() + storage, home: '- id: bmpp\n  name: bmpp\n  config: {mode: off}\n' },
      4,
      'changes the row bmpp under another name (bmpp): dsh skips it',
    ],
    [
      'a row that is changed and not there',
      { profile: '- id: bmpp\n  config: {mode: enforce}\n' },
      1,
      'profiles/p/cordis.patch.yml changes the row bmpp, and the plugin is not in this profile (any more): dsh skips it',
    ],
    [
      'an entry that stands before the row',
      { profile: `- id: bmpp\n  config: {mode: audit}\n${insert}${memory()}${storage}` },
      4,
      'changes the row bmpp, which no layer before it brings: dsh skips it',
    ],
    ['two rows', { profile: insert + insert }, 1, '2 rows are ours'],
    [
      'a path where nothing is',
      { profile: insert.replace('dsh-bmpp', './no/such/index.js') },
      1,
      'names ./no/such/index.js, which is not there',
    ],
    [
      'a row of the id with another package',
      { profile: insert.replace('name: dsh-bmpp', `name: ${join(hosts.dsh, 'package.json')}`) },
      1,
      'which is not dsh-bmpp',
    ],
    [
      'a row in a group that is disabled',
      {
        profile: `- insert:\n    - id: g\n      name: group\n      group: true\n      disabled: true\n      config:\n        - {id: bmpp, name: dsh-bmpp}\n`,
      },
      4,
      'has the row bmpp disabled',
    ],
  ])('%s', async (_, layers, expected, sentence) => {
    await withHome(layers, async doctor => {
      const { code, findings } = await doctor()
      expect(text(findings)).toContain(sentence)
      expect(code).toBe(expected)
      for (const { level, mend } of findings) if (level === 'warning' || level === 'error') expect(mend).toMatch(/\w/)
    })
  })

  describe('what a plugin that was removed left', () => {
    const entry = '- id: bmpp\n  config: {mode: enforce}\n'
    const left = findings => findings.filter(({ what }) => what.includes('changes the row bmpp'))

    test.each([
      ['profiles/p/cordis.patch.yml', { profile: entry }],
      ['cordis.patch.yml', { profile: '[]', home: entry }],
    ])('in %s may be deleted', async (layer, layers) => {
      await withHome(layers, async doctor => {
        expect(left((await doctor()).findings)).toEqual([
          {
            level: 'warning',
            what: expect.stringContaining(`profile p: ${layer} changes the row bmpp, and the plugin is not in`),
            mend: expect.stringMatching(/^delete the entry, or add the plugin again: dsh plugin --profile p add /),
          },
        ])
      })
    })

    test("the home's layer is for all profiles, and nothing is left where one has the plugin", async () => {
      await withHome({ profile: '[]', home: entry, other: insert + memory() + storage }, async doctor => {
        const { findings } = await doctor()
        expect(text(findings)).toContain('ok: profile q: mode enforce')
        expect(left(findings)).toEqual([])
      })
    })

    test('an entry before the row is told to stand behind it', async () => {
      await withHome({ profile: entry + insert }, async doctor => {
        expect(left((await doctor()).findings)).toMatchObject([{ mend: expect.stringContaining('behind') }])
      })
    })
  })

  test.each([
    ['that need not start', 'failOnStartupError: false'],
    ['of which an expression says whether it must start', 'failOnStartupError: !!js "env.X"'],
  ])('a server without its command %s is a warning', async (_, key) => {
    await withHome({ profile: insert + starting('basic-memory', key) + storage }, async doctor => {
      const { code, findings } = await doctor()
      expect(text(findings)).toContain('warning: profile p: the memory server "basic-memory" is started with')
      expect(code).toBe(4)
    })
  })

  test.each([
    ['whose row is disabled', 'failOnStartupError: true}, disabled: true, x: {y: z', 'is started with'],
    ['with a PATH that an expression gives', 'failOnStartupError: true, env: {PATH: !!js "env.P"}', 'is started with'],
    ['with variables that an expression gives', 'failOnStartupError: true, env: !!js "env"', 'is started with'],
  ])('a server %s is not missed', async (_, key, sentence) => {
    await withHome({ profile: insert + memory() + starting('web', key) + storage }, async doctor => {
      expect(text((await doctor()).findings)).not.toContain(sentence)
    })
  })

  test.each([
    ['a filter that keeps the writes away too', subagent('{allow: [bash, mcp__basic-memory__search_notes]}')],
    ['a filter that lets the control tool pass', subagent(`{allow: [bmpp__classify, ${allWrites}]}`)],
    ['a filter of something else', subagent('{deny: [bash]}')],
  ])('%s is no finding', async (_, row_) => {
    await withHome({ profile: insert + memory() + storage + row_ }, async doctor => {
      expect(text((await doctor()).findings)).not.toContain('tool filter')
    })
  })

  test('a checkout that a row names by its path is ours, and one in a group too', async () => {
    const named = insert.replace('name: dsh-bmpp', `name: ${inRoot('js', 'index.js')}`)
    await withHome({ profile: named + memory() + storage }, async doctor => {
      expect(text((await doctor()).findings)).toContain('ok: profile p: mode enforce')
    })
    const group = `- insert:\n    - id: g\n      name: group\n      group: true\n      config:\n        - {id: bmpp, name: dsh-bmpp, config: {mode: audit}}\n- id: bmpp\n  config: {mode: enforce}\n`
    await withHome({ profile: group }, async doctor => {
      expect(text((await doctor()).findings)).toMatch(/ok: profile p: mode enforce, .* overridden by profiles/)
    })
  })

  test('agents without the control tool, and what must be mended first, are told of the last days of the trail', async () => {
    await withHome({ profile: insert + memory() + storage }, async doctor => {
      await withTempDir(async dir => {
        const base = {
          bmpp: 1,
          load: 'l',
          session: 's',
          life: 1,
          turn: 1,
          step: 1,
          place: 'agent',
          mode: 'enforce',
          profile: 'compat',
        }
        const call = {
          ...base,
          kind: 'decision',
          tool: 'mcp__basic-memory__write_note',
          class: 'write',
          facts: 'creates',
          decision: 'deny',
          enforcement: 'denied',
          classification: 'unknown',
          lookup: 'none',
          at: 'pre-execute',
        }
        const at = (seq, time, more) => ({ ...call, seq, order: seq, time, number: seq, call: `c${seq}`, ...more })
        const now = Date.now()
        const day = 86_400_000
        const write = records => {
          const stored = Object.fromEntries(records.map((record, index) => [`k${index}`, record]))
          writeFileSync(join(dir, 'bmpp_audit.json'), JSON.stringify({ unit: {}, tables: { events: stored } }))
        }
        const hidden = {
          code: 'CLASSIFICATION_REQUIRED',
          observations: ['CONTROL_HIDDEN'],
          controlHidden: true,
          by: 'judged',
        }
        const load = time => ({
          bmpp: 1,
          kind: 'load',
          load: 'l',
          seq: 1,
          order: 1,
          time,
          mode: 'enforce',
          profile: 'compat',
          config: { mode: 'enforce' },
          pid: 1,
          standing: 'inside',
        })
        write([
          load(now),
          at(2, now, hidden),
          at(3, now, { code: 'POLICY_INTERNAL_ERROR', by: 'failed', place: 'unknown' }),
        ])
        const { code, findings } = await doctor('--storages', dir)
        expect(text(findings)).toContain(
          'warning: trail: in the last 7d, 1 write was tried by agents that do not see bmpp__classify',
        )
        expect(text(findings)).toContain(
          'warning: trail: in the last 7d: Mend first: the policy itself failed on 1 call',
        )
        expect(code).toBe(4)
        write([load(now - 9 * day), at(2, now - 9 * day, hidden)])
        expect(text((await doctor('--storages', dir)).findings)).not.toContain('in the last')
      })
    })
  })

  test('without the addon that is the finding, and an error', () => {
    const { code, stdout, stderr } = command(['doctor', '--json'], {
      home: home.path,
      env: { DSH_BMPP_NATIVE: '/nowhere.node' },
    })
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' })
    expect(JSON.parse(stdout).filter(({ level }) => level === 'error')).toEqual([
      {
        level: 'error',
        what: expect.stringMatching(/^the plugin cannot load its native addon .*DSH_BMPP_NATIVE/),
        mend: expect.any(String),
      },
    ])
  })
})
