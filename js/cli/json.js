/**
 * JSON that a person wrote: where it is broken. What Node says of it has a place in some versions and cases only.
 */

const BLANK = /[ \t\n\r]*/y
const TOKEN =
  /([{}[\],:])|("(?:[^"\\\p{Cc}]|[\u007f-\u009f]|\\(?:["\\/bfnrt]|u[\dA-Fa-f]{4}))*")|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/uy

/** What may stand where: a mark itself, `s` a text, `l` any other value. */
const MAY = {
  value: '{[sl',
  valueOrEnd: '{[sl]',
  key: 's',
  keyOrEnd: 's}',
  colon: ':',
  object: ',}',
  list: ',]',
  end: '',
}

/**
 * The value of a text, or why it has none.
 * @param {string} text
 * @returns {{ value?: any, why?: string }}
 */
export function jsonOf(text) {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { why: brokenAt(text) }
  }
}

/** The place of the first mark that cannot stand there, in words. @param {string} text */
function brokenAt(text) {
  const at = lastGood(text)
  const before = text.slice(0, at).split('\n')
  const place = `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}`
  const [mark] = text.slice(at)
  if (mark === undefined) return `${place}: it ends too early`
  return `${place}: ${mark === '"' ? 'this text has no end, or a mark that must be escaped' : `${JSON.stringify(mark)} cannot stand here`}`
}

/** How far a text is JSON. @param {string} text */
function lastGood(text) {
  /** @type {Array<'object' | 'list'>} */
  const within = []
  /** @type {keyof typeof MAY} */
  let next = 'value'
  for (let at = 0; ; ) {
    BLANK.lastIndex = at
    BLANK.exec(text)
    at = BLANK.lastIndex
    TOKEN.lastIndex = at
    const token = TOKEN.exec(text)
    if (token === null) return at
    const kind = token[1] ?? (token[2] === undefined ? 'l' : 's')
    if (!MAY[next].includes(kind)) return at
    if (kind === '{' || kind === '[') {
      within.push(kind === '{' ? 'object' : 'list')
      next = kind === '{' ? 'keyOrEnd' : 'valueOrEnd'
    } else if (kind === ',') next = within.at(-1) === 'object' ? 'key' : 'value'
    else if (kind === ':') next = 'value'
    else if (next === 'key' || next === 'keyOrEnd') next = kind === '}' ? after(within) : 'colon'
    else {
      if (kind === '}' || kind === ']') within.pop()
      next = within.at(-1) ?? 'end'
    }
    at = TOKEN.lastIndex
  }
}

/** What may follow an object that ended. @param {Array<'object' | 'list'>} within */
function after(within) {
  within.pop()
  return within.at(-1) ?? 'end'
}
