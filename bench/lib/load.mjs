// Loads the plugin once, as a row of the real Harness's context, and prints how long its parts took: `node bench/lib/load.mjs`.

const { boot } = await import('../../__test__/support/inprocess.js')
// The host is there before our row is: what it takes itself is no work of ours.
const harness = await boot({})
const at = [performance.now()]
const { createPlugin } = await import('../../js/plugin.js')
const { loadAddon } = await import('../../js/native.js')
at.push(performance.now())
const addon = loadAddon()
at.push(performance.now())
const plugin = createPlugin({ addon: () => addon, standardError: () => {} })
await harness.mount(plugin, { mode: 'enforce', allowUnverifiedHarness: true })
at.push(performance.now())
const [start = 0, imported = 0, loaded = 0, mounted = 0] = at
const parts = { modules: imported - start, addon: loaded - imported, mount: mounted - loaded, all: mounted - start }
process.stdout.write(JSON.stringify(parts))
process.exit()
