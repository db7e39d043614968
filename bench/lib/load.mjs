// Loads the plugin once, as a row of the real Harness's context, and prints how long its parts took:
// `node bench/lib/load.mjs <its entry>`.
import { pathToFileURL } from 'node:url'
import { boot } from '../../__test__/support/inprocess.js'
import { processorTime } from './rounds.mjs'

// The host is there before our row is, with other rows that have tools and listeners: what it takes itself the first time is no
// work of ours.
const another = {
  name: 'another',
  inject: ['tools'],
  apply(/** @type {any} */ ctx) {
    for (const event of ['tools/pre-execute', 'tools/execute']) {
      ctx.on(event, (/** @type {unknown} */ _exec, /** @type {() => unknown} */ next) => next())
    }
    ctx.effect(() => () => {})
  },
}
const parameters = { type: 'object', properties: { task: { type: 'string', enum: ['a', 'b'] } }, required: ['task'] }
const harness = await boot({ plugins: [[another]], tools: { bash: { body: () => 'done', parameters } } })
// Node makes the stream when it is first asked for, and a host has written to it.
process.stderr.write('')
const config = { mode: 'enforce', allowUnverifiedHarness: true }
const wall = performance.now()
const at = [processorTime()]
const plugin = await import(pathToFileURL(String(process.argv[2])).href)
at.push(processorTime())
// The first look at a configuration loads the addon.
plugin.Config['~standard'].validate(config)
at.push(processorTime())
await harness.mount(plugin, config)
at.push(processorTime())
const [start = 0, imported = 0, loaded = 0, mounted = 0] = at
const parts = { modules: imported - start, addon: loaded - imported, mount: mounted - loaded, all: mounted - start }
process.stdout.write(JSON.stringify({ ...parts, wall: performance.now() - wall }))
process.exit()
