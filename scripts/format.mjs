// Formats Rust and JS in place, and applies the linter's safe fixes: `npm run format`.
import { entry, run } from './lib/proc.mjs'
import { commandOf, projectNode } from './lib/project.mjs'
import { setup } from './setup.mjs'

entry(async () => {
  await setup()
  await run('cargo', ['fmt'])
  await run(projectNode(), [commandOf('@biomejs/biome', 'biome'), 'check', '--write', '.'], { show: true })
})
