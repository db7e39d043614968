/** The control tool by itself: what it takes, what it tells, and that it only says what was declared. */
import { expect, test, vi } from 'vitest'
import { controlTool } from '../../js/control.js'
import { loadAddon } from '../../js/native.js'

const texts = loadAddon().controlTool()
const made = () => {
  const declared = vi.fn()
  return { tool: controlTool({ controlTool: texts }, declared), declared }
}

test.each(['simple', 'complex'])('%s is declared for the execution that the body got, and answered', async task => {
  const { tool, declared } = made()
  const exec = { callId: 'c' }
  const value = await tool.execute({ task }, exec)
  expect(declared.mock.calls).toEqual([[exec, task]])
  expect(value).toEqual({ task })
  expect(tool.output.render({}, value)).toEqual([{ type: 'text', text: texts[task] }])
})

test.each([[undefined], [null], ['simple'], [{}], [{ task: 'Simple' }], [{ task: ['simple'] }], [[]]])(
  '%j declares nothing and says what to pass',
  async args => {
    const { tool, declared } = made()
    await expect(tool.execute(args, {})).rejects.toThrow(texts.malformed)
    expect(declared).not.toHaveBeenCalled()
  },
)

test('is exclusive: it says nothing of being safe beside others', () => {
  expect(made().tool).not.toHaveProperty('isConcurrencySafe')
})

test('carries the core’s own name and description', () => {
  const { name, description, parameters } = made().tool
  expect([name, description]).toEqual([texts.name, texts.description])
  expect(parameters.properties.task.enum).toEqual(['simple', 'complex'])
})
