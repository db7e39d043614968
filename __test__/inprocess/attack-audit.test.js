/**
 * The same attacks in `audit` and `off`: nothing is blocked and nothing is changed, whatever other plugins do; and `audit` says
 * of every call what `enforce` would have said.
 */
import { describe, expect, test } from 'vitest'
import { bootGate, CLASSIFY, call, note, simple } from '../support/gate.js'
import { calls, gate as held, say } from '../support/inprocess.js'
import { bootBeside, creating, forge, placements, plugin, search, situations, write } from './attack-support.js'
import { moves, only, overrides, stages, swaps, times } from './attack-tables.js'

const allow = { kind: 'allow' }
/** Outermost and not: in audit the place makes no difference to what can be done. */
const places = [placements[0], placements[3]]
const { unclassified, 'lookup in the same message': batch } = situations

/** What became of the calls: the bodies that were reached with what, and what the model was told. */
const became = (gate, agent) => ({
  // Without the control tool, which `off` does not have.
  ran: gate.ran.map(({ name, args }) => [name, args]),
  told: gate.told(agent).filter(({ name }) => name !== CLASSIFY),
})

/** What was said of each call, in order. */
function said(gate) {
  const lines = {}
  for (const { call: id, tool, code } of gate.decisions()) lines[id] = [...(lines[id] ?? []), `${tool} ${code}`]
  return lines
}

/** In audit a call goes on where enforce ends it; as far as both come, they say the same. */
function expectSameWords(audit, enforce) {
  for (const [id, lines] of Object.entries(enforce)) {
    const denied = lines.findIndex(line => !line.includes(' ALLOW_'))
    const common = denied < 0 ? lines : lines.slice(0, denied + 1)
    expect(audit[id].slice(0, common.length)).toEqual(common)
  }
}

/** The same turn in all modes. Ids are given, so that what is told can be compared. */
async function inEveryMode(run) {
  const [off, audit, enforce] = [await run('off'), await run('audit'), await run('enforce')]
  expect(off.records).toEqual([])
  expect(audit.became).toEqual(off.became)
  for (const { enforcement } of audit.decisions) expect(['allowed', 'overridden']).toContain(enforcement)
  return { off, audit, enforce }
}
const outcome = (gate, agent) => ({
  records: gate.records,
  decisions: gate.decisions(),
  became: became(gate, agent),
  said: said(gate),
})
const numbered = messages =>
  messages.map((message, step) => message.map(([name, args], index) => [name, args, `${step}.${index}`]))

describe.each(places)('$place', placement => {
  test.each(Object.entries(overrides))('a listener that %s', async (_what, override) => {
    for (const { messages } of [unclassified, batch]) {
      const { audit, enforce } = await inEveryMode(async mode => {
        const gate = await bootBeside({ 'tools/pre-execute': override }, placement, {
          mode,
          answer: () => 'allowed-once',
        })
        gate.ctx.on('tools/pre-execute', (exec, next) => (exec.name.startsWith('mcp__') ? next() : allow), {
          prepend: true,
        })
        return outcome(gate, await gate.turn(numbered(messages)))
      })
      expectSameWords(audit.said, enforce.said)
    }
  })
})

/** Getters that count how often they are read tell one mode from another by that alone. */
const steady = Object.entries(swaps).filter(([, swap]) => !Array.isArray(swap))

describe.each(Object.entries(stages))('%s', (_stage, listenersOf) => {
  test.each(steady)('a plugin %s', async (_what, swap) => {
    for (const placement of places) {
      await inEveryMode(async mode => {
        const gate = await bootBeside(listenersOf(only(swap)), placement, { ...creating, mode })
        return outcome(gate, await gate.turn(numbered(creating.messages)))
      })
    }
  })
})

test('a call that is swapped before the gate has let it pass is recorded as in enforce', async () => {
  const swap = only(exec => {
    exec.arguments = { ...note, overwrite: true }
  })
  for (const placement of places) {
    for (const stage of ['on tools/pre-execute, before next()', 'on tools/pre-execute, denying without a reason']) {
      const { audit, enforce } = await inEveryMode(async mode => {
        const gate = await bootBeside(stages[stage](swap), placement, { ...creating, mode })
        return outcome(gate, await gate.turn(numbered(creating.messages)))
      })
      expectSameWords(audit.said, enforce.said)
    }
  }
})

describe.each(Object.entries(times))('%s', (_when, listenersOf) => {
  const told = Object.entries(moves).filter(([where]) => !where.includes('getter'))
  test.each(told)('a write is moved %s', async (_where, move) => {
    for (const placement of places) {
      const { audit, enforce } = await inEveryMode(async mode => {
        let other
        const gate = await bootBeside(
          listenersOf(exec =>
            exec.name === write && exec.callId === 'victim' ? move(exec, { other, ctx: gate.ctx }) : undefined,
          ),
          placement,
          { mode },
        )
        const end = held()
        const begun = held()
        gate.register('wait', () => {
          begun.open()
          return end.promise
        })
        other = await gate.open()
        gate.start(other, [calls([CLASSIFY, simple, 'declared'], ['wait', {}, 'wait']), say('done')])
        await begun.promise
        const agent = await gate.turn([[[write, note, 'victim']]])
        end.open('')
        await other.whenIdle()
        return outcome(gate, agent)
      })
      expectSameWords(audit.said, enforce.said)
    }
  })
})

describe('in audit the execution stays as it is', () => {
  const everywhere = seen => {
    const look = exec => void seen.push(Object.getOwnPropertyDescriptors(exec))
    return {
      guard: look,
      'tools/pre-execute': (exec, next) => {
        look(exec)
        return next()
      },
      'tools/execute': (exec, next) => {
        look(exec)
        return next()
      },
      'tools/post-execute': (exec, _result, next) => {
        look(exec)
        return next()
      },
    }
  }
  test.each(placements)('$place: name and arguments are the host’s own, and can be assigned', async placement => {
    const seen = []
    const gate = await bootBeside(everywhere(seen), placement, { mode: 'audit' })
    await gate.turn([[call.write], [call.search], [call.simple], [call.remove]])
    expect(seen.length).toBeGreaterThan(12)
    for (const { name, arguments: args } of seen) {
      for (const property of [name, args]) {
        expect(property).toMatchObject({ writable: true, configurable: true, enumerable: true })
      }
    }
  })

  test('arguments that a plugin puts in stay that very object, and reach the body as it left them', async () => {
    const own = { ...note }
    let ran
    const gate = await bootGate({
      mode: 'audit',
      behind: [
        [
          plugin({
            'tools/pre-execute': (exec, next) => {
              if (exec.name === write) exec.arguments = own
              return next()
            },
            'tools/execute': (exec, next) => {
              ran = exec.arguments
              own.title = 'Changed late'
              return next()
            },
          }),
        ],
      ],
    })
    await gate.turn([[call.write]])
    expect(ran).toBe(own)
    expect(gate.ran.at(-1).args.title).toBe('Changed late')
  })

  test('nothing is asked, and a wrapper may dispatch as often as it likes', async () => {
    const gate = await bootBeside(
      {
        'tools/execute': async (_exec, next) => {
          await next()
          return next()
        },
        'session/event': (session, { time }) => {
          if (time !== 0) forge(gate.ctx, session, 'tool/call', { turn: 9, step: 9, callId: 'x', name: search })
        },
      },
      placements[3],
      { mode: 'audit', profile: 'strict', answer: () => 'rejected' },
    )
    await gate.turn([[call.remove], [call.write]])
    expect(gate.reached()).toEqual(['delete_note', 'delete_note', 'write_note', 'write_note'])
    expect(gate.verdicts()).toEqual([
      'delete_note CLASSIFICATION_REQUIRED overridden',
      'write_note CLASSIFICATION_REQUIRED overridden',
    ])
  })
})
