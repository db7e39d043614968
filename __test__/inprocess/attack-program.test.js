/**
 * Plugins that pull a call out of its `run_code` program, or move the program: a search and a write of one program are of one
 * step, whatever the executions say of their parent and root.
 */
import { describe, expect, test } from 'vitest'
import { call, note } from '../support/gate.js'
import { bootBeside, placements, search, write, written } from './attack-support.js'

const program = `
  await tools['${search}']({ query: 'x' })
  await tools['${write}'](${JSON.stringify(note)}).catch(() => {})`
const run = ['run_code', { description: 'search and write', code: program }]

const changes = {
  'the write loses its parent': exec => {
    if (exec.name === write) delete exec.parent
  },
  'the write loses its parent and gets another root': exec => {
    if (exec.name !== write) return
    delete exec.parent
    exec.rootCallId = 'another'
  },
  'the write gets another root': exec => {
    if (exec.name === write) exec.rootCallId = 'another'
  },
  'the write gets another parent': exec => {
    if (exec.name === write) exec.parent = Symbol('another')
  },
  'the write gets other ids': exec => {
    if (exec.name === write) exec.callId = exec.rootCallId = 'another'
  },
  'the program gets another root': exec => {
    if (exec.name === 'run_code') exec.rootCallId = 'another'
  },
  'the program gets other ids': exec => {
    if (exec.name === 'run_code') exec.callId = exec.rootCallId = 'another'
  },
  'the write loses its agent': exec => {
    if (exec.name === write) delete exec.agent
  },
}

describe.each(Object.entries(changes))('%s', (_what, change) => {
  test.each(placements)('$place: the write is not reached', async placement => {
    const gate = await bootBeside(
      {
        'tools/pre-execute': (exec, next) => {
          change(exec)
          return next()
        },
      },
      placement,
      { codeMode: 'both' },
    )
    await gate.turn([[call.complex], [run]])
    expect(gate.reached()).toEqual(['search_notes'])
    expect(written(gate)).toEqual([])
  })
})
