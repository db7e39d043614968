/**
 * What is thrown at the gate need not be an error of ours, nor one at all: another plugin can put a getter on an execution that
 * throws what it likes. Whatever that is, reads go on, a write is denied in `enforce` and in no other mode, and nothing of it is
 * told to anybody.
 */
import { expect, test } from 'vitest'
import { bootGate, call, memory } from '../support/gate.js'
import { plugin } from './attack-support.js'

const SECRET = 'sk-of-somebody'
const revoked = () => {
  const { proxy, revoke } = Proxy.revocable(new Error(SECRET), {})
  revoke()
  return proxy
}
const thrown = {
  'a message that is no text': () => Object.assign(new Error(SECRET), { message: { SECRET } }),
  'a message that throws': () =>
    Object.defineProperty(new Error(SECRET), 'message', {
      get() {
        throw new Error(SECRET)
      },
    }),
  'an error that nobody can look at': revoked,
  nothing: () => undefined,
  'a text that begins as ours': () => new Error(`POLICY_INTERNAL_ERROR ${SECRET}`),
  'a text that goes on after ours': () =>
    new Error(`POLICY_INTERNAL_ERROR: judge panicked at src/policy.rs:1 ${SECRET}`),
}

/** Throws at whoever first asks for a call's agent after it was prepared. */
function throwing(make) {
  const trap = exec => {
    const { agent } = exec
    if (!exec.name.startsWith(memory(''))) return
    let due = true
    Object.defineProperty(exec, 'agent', {
      configurable: true,
      get() {
        if (!due) return agent
        due = false
        throw make()
      },
    })
  }
  const listener = (exec, next) => {
    trap(exec)
    return next()
  }
  return [plugin({ 'tools/pre-execute': listener }, true)]
}

for (const mode of ['enforce', 'audit']) {
  test.each(Object.entries(thrown))(`in ${mode}, %s`, async (_what, make) => {
    const gate = await bootGate({ mode, behind: [throwing(make)] })
    const agent = await gate.turn([[call.simple], [call.read], [call.bash], [call.write]])
    expect(gate.reached()).toEqual(mode === 'audit' ? ['read_note', 'bash', 'write_note'] : ['read_note', 'bash'])
    if (mode === 'enforce') expect(gate.answers(agent).at(-1)).toBe('POLICY_INTERNAL_ERROR')
    expect(gate.stderr).toEqual([expect.stringContaining('POLICY_INTERNAL_ERROR in pre-execute')])
    expect(JSON.stringify([gate.stderr, gate.trail, gate.told(agent)])).not.toContain(SECRET)
  })
}
