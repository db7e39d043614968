/**
 * The reader of the host's standard error goes away, as when a terminal or a log collector ends: what an operator must see is
 * then lost, and the host goes on.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const report = new URL('../../js/report.js', import.meta.url).href
/** Says three things when it is told to, and then that it is still there. */
const program = `
  import { once } from 'node:events'
  import { setImmediate as later } from 'node:timers/promises'
  import { Operator } from ${JSON.stringify(report)}
  const operator = new Operator(undefined)
  await once(process.stdin, 'data')
  for (const kind of ['one', 'two', 'three']) {
    operator.notice({ kind, text: kind })
    for (let turn = 0; turn < 5; turn++) await later()
  }
  process.stdout.write(String(operator.notices))
  process.exit(0)`

/** @param {boolean} broken whether nobody reads standard error */
async function run(broken) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: fileURLToPath(new URL('.', import.meta.url)),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', chunk => (stdout += chunk))
  child.stderr.on('data', chunk => (stderr += chunk))
  if (broken) {
    child.stderr.destroy()
    await once(child.stderr, 'close')
  }
  child.stdin.end('go')
  const [code] = await once(child, 'close')
  return { code, stdout, stderr }
}

test('with a reader, each notice is one line', async () => {
  expect(await run(false)).toEqual({
    code: 0,
    stdout: 'one,two,three',
    stderr: 'dsh-bmpp: one\ndsh-bmpp: two\ndsh-bmpp: three\n',
  })
})

test('without one, the process goes on', async () => {
  expect(await run(true)).toMatchObject({ code: 0, stdout: 'one,two,three' })
})
