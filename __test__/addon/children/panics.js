/**
 * Run by panics.test.js in a process of its own: panics in every place, each in a call that is full of a marker. Prints
 * what was thrown, and nothing if nothing was.
 */
import { loadFaults } from '../addon.js'
import { exportsOf, rightCalls } from '../calls.js'

const marker = process.argv[2] ?? ''
const marked = { title: marker, [marker]: marker, content: [{ type: 'text', text: marker }] }
const mark = (/** @type {unknown} */ value) =>
  typeof value === 'string' ? marker : typeof value === 'object' ? marked : value

const addon = loadFaults()
for (const name of exportsOf(addon).functions.filter(name => name !== 'injectPanic')) {
  for (const place of name === 'judge' || name === 'settle' ? [name, 'policy'] : [name]) {
    const args = rightCalls(addon)[name].map(mark)
    addon.injectPanic(place)
    try {
      addon[name](...args)
    } catch (error) {
      console.log(error.message, ...Object.values(error))
    }
  }
}
console.log('the end')
