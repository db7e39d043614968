/**
 * Run by panics.test.js in a process of its own: panics in every place, each in a call that is full of a marker. Prints
 * what was thrown, and nothing if nothing was.
 */
import { loadFaults } from '../addon.js'
import { exportsOf, rightCalls } from '../calls.js'

const marker = process.argv[2] ?? ''
const marked = { title: marker, [marker]: marker, content: [{ type: 'text', text: marker }] }
/** What the addon would refuse before it comes to the panic stays of its kind. @param {unknown} value @returns {unknown} */
const mark = value => {
  if (Array.isArray(value)) return value.map(mark)
  return typeof value === 'string' ? marker : typeof value === 'object' ? marked : value
}
/** What changes a session's state, and has a place of its own for it. */
const changing = ['judge', 'judgeFlat', 'settle', 'settleText']

const addon = loadFaults()
for (const name of exportsOf(addon).functions.filter(name => name !== 'injectPanic')) {
  for (const place of changing.includes(name) ? [name, 'policy'] : [name]) {
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
