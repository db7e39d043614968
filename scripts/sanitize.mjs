// Runs what is compiled under AddressSanitizer: `npm run sanitize`. Needs a nightly Rust (`rustup toolchain install nightly`)
// and, for the addon, the runtime library of GCC's sanitizer (`libasan`, which comes with g++). Linux on x64 alone.
//
//   npm run sanitize              the addon under Node.js, with the tests of the layer `addon`
//   npm run sanitize -- core      cargo's tests
//
// The addon is where the unsafe code is; the core has none. A finding of the sanitizer ends the process.
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { entry, run } from './lib/proc.mjs'
import { commandOf, inRoot, projectNode } from './lib/project.mjs'
import { setup } from './setup.mjs'

const triple = 'x86_64-unknown-linux-gnu'
const target = inRoot('target', 'sanitized')

/** Cargo of the nightly toolchain, with the sanitizer. @param {string[]} args */
const cargo = (...args) =>
  run('rustup', ['run', 'nightly', 'cargo', ...args, '--target', triple], {
    show: true,
    env: {
      RUSTFLAGS: '-Zsanitizer=address',
      CARGO_TARGET_DIR: target,
      CARGO_PROFILE_DEV_OPT_LEVEL: '1',
      // Lines of the source for a finding.
      CARGO_PROFILE_DEV_DEBUG: '1',
    },
  })

/** Where GCC has a file. @param {string} name */
function ofGcc(name) {
  const path = execFileSync('gcc', [`-print-file-name=${name}`], { encoding: 'utf8' }).trim()
  if (!existsSync(path)) throw new Error(`gcc has no ${name}: install g++`)
  return path
}

/** Builds the addon with a feature, and puts it where it is looked for. @param {string} feature @param {string} to */
async function build(feature, to) {
  await cargo('build', '--lib', '--features', feature)
  mkdirSync(dirname(to), { recursive: true })
  copyFileSync(join(target, triple, 'debug', 'libdsh_bmpp.so'), to)
}

async function addon() {
  await setup()
  const built = join(target, 'addon', 'dsh-bmpp.node')
  await build('node', built)
  // The next build for the tests of panics puts its own there.
  await build('faults', inRoot('target', 'faults', 'dsh-bmpp.node'))
  const words = ['run', '--project', 'addon', '--no-file-parallelism', '--test-timeout', '600000']
  await run(projectNode(), [commandOf('vitest', 'vitest'), ...words], {
    show: true,
    env: {
      DSH_BMPP_NATIVE: built,
      // What the runtime keeps to its end is not ours to watch.
      ASAN_OPTIONS: 'detect_leaks=0:abort_on_error=1',
      LD_PRELOAD: `${ofGcc('libasan.so')}:${ofGcc('libstdc++.so.6')}`,
    },
  })
}

entry(async () => {
  const [what = 'addon'] = process.argv.slice(2)
  if (what === 'core') await cargo('test')
  else if (what === 'addon') await addon()
  else throw new Error(`"${what}" is neither \`addon\` nor \`core\``)
})
