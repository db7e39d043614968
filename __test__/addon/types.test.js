/** index.d.ts says what the addon exports, and what comes back has the shape that it says. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { inRoot } from '../../scripts/lib/project.mjs'
import { addon } from './addon.js'
import { exportsOf, rightCalls } from './calls.js'

const types = readFileSync(inRoot('index.d.ts'), 'utf8').replace(/\/\*.*?\*\//gs, '')

const declared = (/** @type {string} */ what) => [...types.matchAll(new RegExp(`export declare ${what} (\\w+)`, 'g'))]
const declaredNames = (/** @type {string} */ what) =>
  declared(what)
    .map(match => match[1])
    .sort()

/** Keys of a declared interface; `?` marks one that may be absent. @param {string} name @returns {Map<string, string>} */
function keysOf(name) {
  const body = new RegExp(`export interface ${name} \\{([^}]*)\\n\\}`).exec(types)?.[1] ?? ''
  const keys = body.matchAll(/(\w+)(\??): (.*)/g)
  return new Map([...keys].map(([, key, optional, type]) => [`${key}${optional}`, type]))
}

/** Compares a value with a declared type, as deep as index.d.ts goes. @param {unknown} value @param {string} type */
function check(value, type, place = type) {
  const list = /^Array<(.*)>$/.exec(type)
  if (list) {
    expect(Array.isArray(value), place).toBe(true)
    for (const [index, item] of value.entries()) check(item, list[1], `${place}[${index}]`)
  } else if (type.startsWith("'")) {
    expect(type.split(' | '), place).toContain(`'${value}'`)
  } else if (type.endsWith(' | null')) {
    if (value !== null) check(value, type.slice(0, -' | null'.length), place)
  } else if (type.includes(' | ')) {
    expect(type.split(' | '), place).toContain(typeof value)
  } else if (['string', 'number', 'boolean'].includes(type)) {
    expect(typeof value, place).toBe(type)
  } else if (type === 'Float64Array') {
    expect(value, place).toBeInstanceOf(Float64Array)
  } else {
    const keys = keysOf(type)
    expect(keys.size, `index.d.ts declares ${type}`).toBeGreaterThan(0)
    const known = [...keys.keys()].map(key => key.replace('?', ''))
    expect(known, place).toEqual(expect.arrayContaining(Object.keys(value)))
    for (const [key, inner] of keys) {
      const bare = key.replace('?', '')
      if (bare === key || value[bare] !== undefined) check(value[bare], inner, `${place}.${bare}`)
    }
  }
}

test('index.d.ts names every export and no other', () => {
  const { functions, constants } = exportsOf(addon)
  expect(functions).toEqual(declaredNames('function'))
  expect(constants).toEqual(declaredNames('const'))
  for (const name of constants) expect(typeof addon[name]).toBe('number')
})

test('every exported function has a right call in the table that other tests go by', () => {
  expect(Object.keys(rightCalls(addon)).sort()).toEqual(exportsOf(addon).functions)
})

test.each(declared('function').map(match => match[1]))('%s takes and returns what index.d.ts says', name => {
  const [, parameters, result] = new RegExp(`function ${name}\\((.*)\\): (.*)`).exec(types) ?? []
  const args = rightCalls(addon)[name]
  const taken = parameters === '' ? [] : parameters.split(', ')
  const fixed = taken.filter(parameter => !parameter.startsWith('...'))
  // What is declared as a rest may be as many as one likes.
  if (fixed.length < taken.length) expect(args.length).toBeGreaterThan(fixed.length)
  else expect(args.length).toBe(fixed.length)
  const value = addon[name](...args)
  if (result === 'void') expect(value).toBe(undefined)
  else check(value, result, name)
})

test('problems of a configuration have the shape that index.d.ts says', () => {
  const read = addon.readConfig({ serverNames: [5], Mode: 'audit' })
  expect(read.problems).toHaveLength(2)
  check(read, 'ConfigReading')
})

test('the version is that of the package', () => {
  const { version } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  expect(addon.addonVersion()).toBe(version)
})

test('the range and the verified list are those of the package', () => {
  const { dsh } = JSON.parse(readFileSync(inRoot('package.json'), 'utf8'))
  const { range, verifiedVersions } = addon.compatibility('0.1.5', false)
  expect({ range, verified: verifiedVersions }).toEqual(dsh.compatibility)
})
