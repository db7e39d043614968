/**
 * Standard output and error, as a command may use them: colour where it is wanted, a progress bar where somebody looks, and a
 * reader that has gone (`| head`) is an end and no error.
 */
import { writeSync } from 'node:fs'

/** After so many milliseconds of work a bar is shown. */
const BAR_AFTER = 1000
const BAR_WIDTH = 24

/** Before what goes on in the next line of a row. */
const FOLDED = '      '

const COLOURS = { red: 31, green: 32, yellow: 33, blue: 34, dim: 2, bold: 1 }

/** What a text from outside may hold that would move the cursor, break the line or reorder what is read. */
const UNSAFE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** A terminal that is narrower folds nothing: each line would be one word. */
const NARROWEST = 20

/** Lines that are copied rather than read: JSON, and commands of a help. */
const WHOLE = /^\s*[[\]{},]|^ +(?:"|(?:dsh-bmpp|echo) )/

export class Terminal {
  #width
  #errorWidth
  #input
  #write
  #colour
  #bar
  #shown = false
  #last = 0
  /** The reader of standard output has gone. */
  closed = false

  /**
   * @param {object} [parts]
   * @param {(fd: 1 | 2, text: string) => void} [parts.write]
   * @param {boolean} [parts.colour]
   * @param {boolean} [parts.bar] whether standard error is looked at
   * @param {number} [parts.width] columns
   * @param {NodeJS.ReadableStream & { isTTY?: boolean }} [parts.input] in place of standard input
   */
  constructor({ write = writeAll, colour, bar = process.stderr.isTTY === true, width, input } = {}) {
    this.#write = write
    this.#input = input
    const wanted = process.env.NO_COLOR === undefined || process.env.NO_COLOR === ''
    this.#colour = colour ?? (process.stdout.isTTY === true && wanted)
    this.#bar = bar
    this.#width = width ?? (process.stdout.columns || 0)
    this.#errorWidth = width ?? (process.stderr.columns || 0)
  }

  /** Standard input, which is opened only where it is asked for. */
  get input() {
    return this.#input ?? process.stdin
  }

  /** @param {string} text */
  out(text) {
    if (this.closed) return false
    this.clear()
    try {
      this.#write(1, folded(text, this.#width))
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
      this.closed = true
    }
    return !this.closed
  }

  /** @param {string} text */
  error(text) {
    this.clear()
    try {
      this.#write(2, folded(text, this.#errorWidth))
    } catch {
      // Nobody reads it.
    }
  }

  /** @param {keyof typeof COLOURS} name @param {string} text */
  paint(name, text) {
    return this.#colour ? `\u001b[${COLOURS[name]}m${text}\u001b[0m` : text
  }

  /**
   * A function to be called with how far the work is.
   * @param {string} what
   * @returns {(done: number, total: number) => void}
   */
  progress(what) {
    const started = performance.now()
    return (done, total) => {
      const now = performance.now()
      if (!this.#bar || now - started < BAR_AFTER || now - this.#last < 100) return
      this.#last = now
      const part = total > 0 ? Math.min(1, done / total) : 0
      const full = Math.round(part * BAR_WIDTH)
      const bar = `${'█'.repeat(full)}${'░'.repeat(BAR_WIDTH - full)}`
      this.#shown = true
      try {
        this.#write(2, `\r${what} ${bar} ${Math.floor(part * 100)} % `)
      } catch {
        this.#bar = false
      }
    }
  }

  /** Takes the bar away. */
  clear() {
    if (!this.#shown) return
    this.#shown = false
    try {
      this.#write(2, '\r\u001b[K')
    } catch {
      // Nobody looks.
    }
  }

  /**
   * Rows in columns. The last column is not filled up. Nothing is cut: with a known width, what has no room goes on in the next
   * line, set in.
   * @param {Array<Array<string | { text: string, colour?: keyof typeof COLOURS }>>} rows
   * @param {string[]} [head]
   */
  table(rows, head) {
    const all =
      head === undefined ? rows : [head.map(text => ({ text, colour: /** @type {const} */ ('dim') })), ...rows]
    const cells = all.map(row => row.map(cell => (typeof cell === 'string' ? { text: cell } : cell)))
    /** @type {number[]} */
    const widths = []
    for (const row of cells) {
      for (const [index, { text }] of row.entries()) widths[index] = Math.max(widths[index] ?? 0, shown(text).length)
    }
    return cells
      .map(row => {
        const width = this.#width > 0 ? this.#width : Number.POSITIVE_INFINITY
        let line = ''
        let used = 0
        for (const [index, { text, ...look }] of row.entries()) {
          const plain = shown(text)
          const { colour } = /** @type {{ colour?: keyof typeof COLOURS }} */ (look)
          const words = index === row.length - 1 ? plain.split(' ') : [plain.padEnd(widths[index] ?? 0)]
          for (const [at, word] of words.entries()) {
            const between = used === 0 ? '' : at === 0 ? '  ' : ' '
            const goesOn = used > 0 && used + between.length + word.trimEnd().length > width
            line = goesOn ? `${line.trimEnd()}\n${FOLDED}` : `${line}${between}`
            used = (goesOn ? FOLDED.length : used + between.length) + word.length
            line += colour === undefined || word.trim() === '' ? word : this.paint(colour, word)
          }
        }
        return `${line.trimEnd()}\n`
      })
      .join('')
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: a colour begins with one
const COLOUR = /\u001b\[\d*m/g

/** @param {string} text */
const unpainted = text => text.replace(COLOUR, '')

/**
 * Lines of a terminal: what has no room goes on in the next one, below where the text of the line began.
 * @param {string} text
 * @param {number} width 0: it is no terminal
 */
function folded(text, width) {
  if (width < NARROWEST) return text
  return text
    .split('\n')
    .map(line => (unpainted(line).length <= width || WHOLE.test(line) ? line : foldedLine(line, width)))
    .join('\n')
}

/** @param {string} line @param {number} width */
function foldedLine(line, width) {
  const [whole = '', lead = ''] = /^( *(?:→ )?)(?:\S+(?: \S+)*? {2,})?/.exec(unpainted(line)) ?? []
  const indent = ' '.repeat(whole.length <= width / 2 ? whole.length : lead.length + 2)
  const lines = ['']
  for (const [at, word] of line.split(' ').entries()) {
    const before = lines.at(-1) ?? ''
    const longer = at === 0 ? word : `${before} ${word}`
    const isEmpty = unpainted(before).trim().replace('→', '') === ''
    if (isEmpty || unpainted(longer).trimEnd().length <= width) lines[lines.length - 1] = longer
    else lines.push(`${indent}${word}`)
  }
  return lines.map(one => one.trimEnd()).join('\n')
}

/** A text from outside on one line that shows what is there. @param {string} text */
export const shown = text => text.replace(UNSAFE, char => `\\u{${char.codePointAt(0)?.toString(16)}}`)

/** @param {1 | 2} fd @param {string} text */
function writeAll(fd, text) {
  let rest = Buffer.from(text)
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(fd, rest))
    } catch (error) {
      // A pipe that is full takes more in a moment.
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

/**
 * Text in lines of a width that reads well, each set in by the same.
 * @param {string} text
 * @param {string} [indent]
 */
export function wrap(text, indent = '  ') {
  const most = Math.max(32, Math.min(98, process.stdout.columns || 98) - indent.length)
  const lines = ['']
  for (const word of text.split(' ')) {
    const line = lines.at(-1) ?? ''
    if (line !== '' && line.length + word.length > most) lines.push(word)
    else lines[lines.length - 1] = line === '' ? word : `${line} ${word}`
  }
  return lines.map(line => `${indent}${line}`).join('\n')
}

/** @param {number} number @param {string} one what it is of @param {string} [more] where an s does not make it more */
export const count = (number, one, more = `${one}s`) => `${number.toLocaleString('en')} ${number === 1 ? one : more}`

/** @param {number} part @param {number} whole */
export const percent = (part, whole) => (whole === 0 ? '0 %' : `${Math.round((part / whole) * 100)} %`)

/** A time for people, in their own zone. @param {number} ms since 1970 */
export function when(ms) {
  const date = new Date(ms)
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0')
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** The UTC day of a number of days since 1970. @param {number} day */
export function dayOf(day) {
  const date = new Date(day * 86_400_000)
  return Number.isNaN(date.getTime()) ? 'no day' : date.toISOString().slice(0, 10)
}

/**
 * What could not be read, for people.
 * @param {{ broken: number, brokenAt: string[], later: number }} tally
 * @param {Terminal} terminal
 */
export function tellBroken({ broken, brokenAt, later }, terminal) {
  if (broken > 0) {
    terminal.error(`${count(broken, 'record')} could not be read and ${broken === 1 ? 'was' : 'were'} skipped:\n`)
    for (const at of brokenAt) terminal.error(`  ${shown(at)}\n`)
    if (broken > brokenAt.length) terminal.error(`  … and ${broken - brokenAt.length} more\n`)
  }
  if (later > 0) terminal.error(`${count(later, 'record')} of a later version of the trail skipped\n`)
}
