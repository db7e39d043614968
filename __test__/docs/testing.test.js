/** docs/TESTING-YOUR-PLUGIN.md against the product; its first test is run by the addon's layer. */
import { expect, test } from 'vitest'
import { parseYaml } from '../support/yaml.js'
import { readPage, spans } from './markdown.js'
import { source } from './product.js'

const page = readPage('docs/TESTING-YOUR-PLUGIN.md')
const manifest = JSON.parse(source('package.json'))

test('what the core exports is what the page shows', async () => {
  const text = page.blocks('js').find(block => block.text.includes('dsh-bmpp/core'))?.text ?? ''
  expect(manifest.exports['./core']).toEqual({ types: './types/js/note.d.ts', default: './js/note.js' })
  const core = await import('../../js/note.js')
  expect(Object.keys(core)).toEqual(spans(text.replace(/^import \{ (.*) \}.*$/m, '`$1`'))[0]?.split(', '))
  const shown = [...text.matchAll(/^(\w+)\((.*?)\) \/\/ (.*)$/gm)]
  expect(shown.length).toBe(2)
  for (const [, name = '', args, result] of shown) {
    const list = parseYaml(`[${args}]`)
    expect(core[name](...list)).toEqual(parseYaml(result ?? ''))
  }
})
