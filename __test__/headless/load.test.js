// What an operator meets before the first call: the host check, the configuration, the addon, and what is said on which stream.
import { symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { dshBin, hosts, inRoot, installedDsh } from '../../scripts/lib/project.mjs'
import { OUTSIDE, outside, playDsh, supportPlugin, UNVERIFIED } from '../support/dsh-gate.js'
import { call } from '../support/gate.js'
import { runDsh } from '../support/headless.js'
import { withTempDir } from '../support/temp-dir.js'

const conversation = [[[call.write], [call.bash]]]
const REFUSAL = `dsh-bmpp: ${OUTSIDE}: use a supported version, or set allowUnverifiedHarness: true to load there at your own risk`

/** The boot ended, dsh says why, and nothing ran. @param {any} run @param {string[]} reasons */
function expectRefused(run, reasons) {
  expect(run).toMatchObject({ code: 1, timedOut: false, stdout: '', requests: [], mcpLog: [] })
  for (const reason of reasons) expect(run.stderr).toContain(reason)
}

describe.skipIf(!outside)('a host outside the supported range', () => {
  // The version is that of the package which the launcher leads to; where it were not found, the gate would load.
  const launchers = {
    'by its own entry': () => undefined,
    'by a symlink in a folder of commands, as npm -g makes it': home => {
      const link = join(home, 'dsh')
      symlinkSync(dshBin, link)
      return link
    },
    // Of another host than this project's own it is not known where that lies.
    ...(dshBin === installedDsh
      ? { 'by the shell script that pnpm makes': () => join(hosts.dsh, 'node_modules', '.bin', 'dsh') }
      : {}),
  }

  test.each(Object.entries(launchers))('is refused with the reason when launched %s', async (_, launcher) => {
    await withTempDir(async home => {
      const run = await playDsh({ home, launcher: launcher(home), config: { allowUnverifiedHarness: false } })
      expectRefused(run, [REFUSAL])
    })
  })

  test('is refused in audit too', async () => {
    expectRefused(await runDsh({ config: {} }), [REFUSAL])
  })

  test('is not refused in mode off, which decides nothing and registers nothing', async () => {
    const run = await playDsh({ mode: 'off', config: { allowUnverifiedHarness: false }, conversation })
    expect(run).toMatchObject({ code: 0, stderr: '', records: [], reached: ['write_note'] })
    expect(run.requests[0].tools.map(({ function: { name } }) => name)).not.toContain('bmpp__classify')
  })

  test('loads where the configuration allows it, and one line says so truthfully', async () => {
    const run = await playDsh({ conversation: [[[call.write]]] })
    expect(run.code).toBe(0)
    expect(run.stderr).toBe(`dsh-bmpp: ${UNVERIFIED}\n`)
    expect(run.answers).toEqual(['CLASSIFICATION_REQUIRED'])
  })
})

test('standard output holds the answer of the model and nothing else, also when the policy has much to say', async () => {
  const run = await playDsh({ conversation: [[[call.write], [call.complex], [call.search, call.write]]] })
  expect(run).toMatchObject({ code: 0, stdout: 'end of turn 1\n' })
  expect(run.answers.filter(answer => /^[A-Z_]+$/.test(answer))).toEqual([
    'CLASSIFICATION_REQUIRED',
    'MEMORY_LOOKUP_PENDING_IN_BATCH',
  ])
})

describe('a configuration with problems ends the boot', () => {
  test('and every problem is listed, with its path, its code and, for a typo, the nearest key', async () => {
    const run = await playDsh({
      config: {
        profil: 'strict',
        nonsense: 1,
        strict: true,
        mode: 'enforced',
        serverNames: [],
        readTools: ['search_notes', 'write_note'],
        searchTools: ['search_notes', 'lookup'],
        createRequiresSearch: 'yes',
      },
    })
    // The row is named by the host, and each path once.
    expectRefused(run, [
      `failed to apply loader entry bmpp (${inRoot('js', 'index.js')}): invalid config:\n`,
      '  - UNKNOWN_KEY: `profil` is no key; did you mean `profile`? (at profil)\n',
      '  - UNKNOWN_KEY: `nonsense` is no key (at nonsense)\n',
      '  - AMBIGUOUS_MODE: `strict` does not exist: say `mode` (off, audit, enforce) and `profile` (compat, strict) (at strict)',
      '  - INVALID_ENUM: `mode` is one of off, audit, enforce, not "enforced" (at mode)\n',
      '  - INVALID_LENGTH: `serverNames` must name at least one (at serverNames)\n',
      '  - CONTRADICTION: "write_note" in `mutatingTools` is in `readTools` too: ',
      '  - CONTRADICTION: "lookup" in `searchTools` is not in `readTools`: ',
      '  - INVALID_TYPE: `createRequiresSearch` takes true or false, not the string "yes" (at createRequiresSearch)\n',
    ])
  })

  test('also when it is no object at all', async () => {
    expectRefused(await runDsh({ config: /** @type {any} */ (['enforce']) }), ['NOT_AN_OBJECT: '])
  })
})

describe('without its addon nothing is gated, so nothing runs', () => {
  test('no file at the place', async () => {
    const env = { DSH_BMPP_NATIVE: '/nowhere/dsh-bmpp.node' }
    const run = await playDsh({ env })
    expectRefused(run, [
      'dsh-bmpp cannot load its native addon (',
      'Looked for /nowhere/dsh-bmpp.node, named by DSH_BMPP_NATIVE (no such file). Point DSH_BMPP_NATIVE at an addon that was built for this system, or unset it.',
    ])
  })

  test('a file that is no addon', async () => {
    await withTempDir(async home => {
      const file = join(home, 'dsh-bmpp.node')
      writeFileSync(file, 'not a library')
      const run = await playDsh({ home, env: { DSH_BMPP_NATIVE: file } })
      expectRefused(run, ['dsh-bmpp cannot load its native addon (', file])
    })
  })
})

test('a row that a later layer disables is not loaded, without a word', async () => {
  const run = await playDsh({ conversation, patches: [[{ id: 'bmpp', disabled: true }]] })
  expect(run).toMatchObject({ code: 0, stderr: '', records: [], reached: ['write_note'] })
})

test.skipIf(!outside)('a later layer that sets the mode replaces the whole configuration of the row', async () => {
  const row = { id: 'bmpp', config: { mode: 'enforce' } }
  expectRefused(await playDsh({ conversation, patches: [[row]] }), [REFUSAL])
})

describe('what stands in the way of the row ends the boot, and does not leave it out', () => {
  test('a second row with the same id', async () => {
    const again = {
      id: 'bmpp',
      name: inRoot('js', 'index.js'),
      config: { mode: 'audit', allowUnverifiedHarness: true },
    }
    expectRefused(await playDsh({ pluginsBefore: [again] }), ['duplicate loader entry id'])
  })

  test('another plugin that took the name of the control tool', async () => {
    const tools = { id: 'more-tools', name: supportPlugin('more-tools'), config: { names: ['bmpp__classify'] } }
    expectRefused(await playDsh({ pluginsBefore: [tools] }), ['bmpp__classify'])
  })
})
