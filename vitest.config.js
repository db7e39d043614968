import { defineConfig } from 'vitest/config'

// One project per layer, so that `vitest run --project inprocess` runs one of them. A layer is a folder of __test__; what
// lies directly in __test__ checks the test support itself.
const layer = (name, include, timeout, more = {}) => ({
  extends: true,
  test: { name, include, testTimeout: timeout, hookTimeout: timeout, ...more },
})

export default defineConfig({
  test: {
    // What we ship and the Harness are plain ES modules: Node loads them, as it will at the user's.
    experimental: { viteModuleRunner: false },
    // Two cores is what CI has. A dsh process keeps one busy for two seconds, so more workers only make time-outs.
    maxWorkers: 2,
    maxConcurrency: 2,
    projects: [
      layer('addon', ['__test__/addon/**/*.test.js'], 20_000),
      layer('shim', ['__test__/shim/**/*.test.js'], 20_000),
      layer('inprocess', ['__test__/inprocess/**/*.test.js'], 20_000),
      layer('types', ['__test__/types/**/*.test.js'], 60_000),
      layer('docs', ['__test__/docs/**/*.test.js'], 20_000),
      layer('support', ['__test__/*.test.js'], 120_000),
      layer('headless', ['__test__/headless/**/*.test.js'], 120_000),
      // One Basic Memory takes 300 MB and six seconds to start: one file at a time.
      layer('server', ['__test__/server/**/*.test.js'], 240_000, { fileParallelism: false }),
    ],
  },
})
