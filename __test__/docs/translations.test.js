/** The README in other languages: each holds all that the README holds, and was looked at since the README was changed. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { bornDigests, differences, digests } from './translation.js'

const read = name => readFileSync(inRoot(name), 'utf8')
const original = read('README.md')
const translations = readdirSync(inRoot()).filter(name => /^README\.[\w-]+\.md$/.test(name))

test('there are two', () => {
  expect(translations.toSorted()).toEqual(['README.pt-BR.md', 'README.zh-CN.md'])
})

describe.each(translations)('%s', name => {
  const text = read(name)

  test('has the same sections, tables, blocks, identifiers, numbers and links', () => {
    expect(differences(original, text)).toEqual([])
  })

  // Red: translate the sections that are named, then put the lines that are asked for into the comment at the end of the page.
  test('was looked at since the README was changed', () => {
    expect(bornDigests(text)).toEqual(digests(original))
  })

  test('leads to the others at its top, and to no page in another language below', () => {
    const links = [...text.matchAll(/\]\((README[^)#]*)\)/g)].map(([, target]) => target)
    expect(links.toSorted()).toEqual(['README.md', ...translations].filter(page => page !== name).toSorted())
  })
})

test('the README leads to its translations at its top', () => {
  const [, , line = ''] = original.split('\n')
  expect([...line.matchAll(/\]\(([^)]*)\)/g)].map(([, target]) => target).toSorted()).toEqual(translations.toSorted())
})

describe('the comparison', () => {
  const page = `# Gate

See [Keys](#keys) and [more](docs/POLICY.md#order), version 0.1.0.

## Keys

Set \`mode\` to one of 3 values:

| Key | Default |
|---|---|
| \`mode\` | \`audit\` |
| \`profile\` | \`compat\`, since 0.1.0 |

1. Run it.
2. Read it.

\`\`\`sh
npm run pack
\`\`\`

> Said by the product.
`
  const same = page
    .replace(
      'See [Keys](#keys) and [more](docs/POLICY.md#order), version 0.1.0.',
      'Versão 0.1.0: [mais](docs/POLICY.md#order), [chaves](#chaves).',
    )
    .replace('## Keys', '## Chaves')
    .replace('| Key | Default |', '| Chave | Padrão |')
    .replace('Set `mode` to one of 3 values:', 'Um de 3 valores\nde `mode`:')
    .replace('Run it.', 'Execute.')

  test('a translation is none', () => {
    expect(differences(page, page)).toEqual([])
    expect(differences(page, same)).toEqual([])
    expect(differences(page, `${same}\n<!-- made of 12 things -->\n`)).toEqual([])
  })

  test.each([
    ['a row that was dropped', '| `profile` | `compat`, since 0.1.0 |\n', ''],
    ['a row too many', '| `mode` | `audit` |\n', '| `mode` | `audit` |\n| `mode` | `audit` |\n'],
    ['rows in another order', /(\| `mode`.*\n)(\| `profile`.*\n)/, '$2$1'],
    [
      'a column that was dropped',
      '| Chave | Padrão |\n|---|---|\n| `mode` | `audit` |',
      '| Chave |\n|---|\n| `mode` |',
    ],
    ['a key that was renamed', '| `mode` |', '| `modo` |'],
    ['a value in another cell', '| `mode` | `audit` |', '| `mode` `audit` | |'],
    ['another number in a cell', 'since 0.1.0 |', 'since 0.2.0 |'],
    ['another number in the text', 'Versão 0.1.0', 'Versão 0.1.1'],
    ['an identifier that is left out of the text', 'de `mode`', 'de modo'],
    ['a command that was changed', 'npm run pack', 'npm pack'],
    ['a block that was dropped', '```sh\nnpm run pack\n```\n', ''],
    ['a block of another language', '```sh', '```text'],
    ['a quote that was translated', 'Said by the product.', 'Dito pelo produto.'],
    ['a step that was dropped', '2. Read it.\n', ''],
    ['a paragraph too many', '1. Execute.', 'Mais.\n\n1. Execute.'],
    ['a heading of another level', '## Chaves', '### Chaves'],
    ['a section that was dropped', '## Chaves\n', ''],
    ['an anchor that is nowhere', '(#chaves)', '(#keys)'],
    ['an anchor of another section', '(#chaves)', '(#gate)'],
    ['a link to another page', 'docs/POLICY.md#order', 'docs/AUDIT.md#order'],
    ['a link that was dropped', '[mais](docs/POLICY.md#order)', 'mais'],
  ])('%s is one', (_, from, to) => {
    const changed = same.replace(from, to)
    expect(changed).not.toBe(same)
    expect(differences(page, changed)).not.toEqual([])
  })

  test('a word that was changed in the page is told by its section, and a comment bears what it was', () => {
    const before = digests(page)
    const after = digests(page.replace('Run it.', 'Run it twice.'))
    expect(before.map(line => line.split(' ')[0])).toEqual(['(top)', 'gate', 'keys'])
    expect(after.map((line, index) => line === before[index])).toEqual([true, true, false])
    expect(digests(page.replace('Set `mode` to', 'Set `mode`\nto'))).toEqual(before)
    expect(bornDigests(`${same}\n<!-- of:\n${before.join('\n')}\n-->\n`)).toEqual(before)
    expect(bornDigests(same)).toEqual([])
  })
})
