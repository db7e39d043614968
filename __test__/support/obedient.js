/**
 * A model that knows nothing but what it is told: after a denial its next calls are made of the text's words alone, and where the
 * text says not to retry it does not. What it fills in is what any model has: the call that it made, the subject of its task, and
 * the names of the parameters in the schemas that it was shown.
 *
 *     const model = obedient({ wanted: [[call.write]], schemas, prefer: 'complex' })
 *     gate.start(agent, model.script(agent, gate.told))
 */
import { calls, say } from './inprocess.js'

/** @typedef {[name: string, args: any]} Wanted */
/** @typedef {Wanted | ((answer: string) => Wanted)} Next a call, or one that depends on what the call before it answered */

const SUBJECT = 'Alpha'
const STEPS_MAX = 20

/** "call TOOL with these words", up to the end of the sentence or of its part. A dot within a word ends neither. */
const ASKED =
  /[Cc]all (\w[\w-]*)((?: with| for| again)(?:[^.;]|\.\w)*?)?(?=[.;](?:\s|$)|, (?:and )?(?:call|read|then|or)\b| \(and)/g

/** Says whether this is a denial, in a result of its own or among the results of a program. @param {string} text */
export const denialIn = text => /(?:^|Error: |")([A-Z]+(?:_[A-Z]+)+: [^"\\]*(?:\\.[^"\\]*|"[^"]*)*)/.exec(text)?.[1]

/**
 * The arguments that the words behind "call TOOL" ask for.
 * @param {string} words
 * @param {any} args of the call that was denied
 */
function argumentsFrom(words, args) {
  const json = /^ with (\{.*?\})/.exec(words)?.[1]
  if (json !== undefined) return JSON.parse(json)
  /** @type {Record<string, unknown>} */
  const said = {}
  const named = (/** @type {RegExp} */ words_, /** @type {unknown} */ value) => {
    const name = words_.exec(words)?.[1]
    if (name !== undefined) said[name] = value
  }
  named(/the subject as "(\w+)"/, SUBJECT)
  named(/other words as "(\w+)"/, `${SUBJECT} notes`)
  named(/another note as "(\w+)"/, 'memory://notes/beta')
  named(/the note that may cover the subject as "(\w+)"/, 'memory://notes/alpha')
  named(/the note's path, directory\/title\.md, as "(\w+)"/, `${args.directory}/${args.title}.md`)
  named(/the same "(\w+)"/, args.identifier)
  named(/the destination as "(\w+)"/, args.destination_path)
  if (words.includes('the same project') && args.project !== undefined) said.project = args.project
  for (const [, name = '', value = ''] of words.matchAll(/"(\w+)":("[^"]*")/g)) said[name] = JSON.parse(value)
  return said
}

/**
 * What a denial of this call asks for: nothing where it says not to retry.
 * @param {string} text
 * @param {Wanted} denied
 * @param {{ prefer?: 'simple' | 'complex', schemas?: Record<string, any> }} [mind]
 * @returns {Next[]}
 */
export function obey(text, [name, args], { prefer = 'simple', schemas = {} } = {}) {
  if (text.includes('Do not retry')) return []
  const repeat = (/** @type {any} */ changed = {}) => /** @type {Wanted} */ ([name, { ...args, ...changed }])
  // One of two ways, each a sentence of its own.
  const ways = text.split(/(?<=[.:]) (?=If )/).filter(way => way.startsWith('If '))
  const way = ways.find(one => one.includes(`"${prefer}"`)) ?? text.replace(/ Or replace nothing: .*/, '')
  const asked = [...way.matchAll(ASKED)]
  if (asked.length > 0) {
    const calls_ = asked.map(
      ([, tool = '', words = '']) =>
        /** @type {Wanted} */ ([
          tool,
          tool === 'bmpp__classify' && !words.includes('{') ? { task: prefer } : argumentsFrom(words, args),
        ]),
    )
    const other = (/** @type {string} */ answer) => {
      const found = /"file_path":"([^"]*)"/.exec(answer)?.[1]
      if (
        way.includes('under another title') &&
        found !== undefined &&
        found !== `${args.directory}/${args.title}.md`
      ) {
        return repeat({ title: `${args.title} again` })
      }
      if (way.includes('with another destination') && found !== undefined) {
        return repeat({ destination_path: args.destination_path.replace(/\.md$/, ' again.md') })
      }
      return repeat()
    }
    return [...calls_, other]
  }
  const argument = /: "(\w+)" (?:names|holds|carries)/.exec(text)?.[1] ?? ''
  const spelled = argument in args ? argument : (Object.keys(args).find(key => aliases.includes(key)) ?? argument)
  const example = /such as ([^.]+)\./.exec(text)?.[1]
  if (text.includes('"project" set to')) return [repeat({ project: 'main' })]
  if (text.includes('names each parameter once')) {
    const known = Object.keys(schemas[name]?.properties ?? {})
    return [[name, Object.fromEntries(Object.entries(args).filter(([key]) => known.includes(key)))]]
  }
  if (text.includes('replaces nothing: leave overwrite out')) return [repeat({ overwrite: undefined })]
  if (text.includes('Remove it')) return [repeat({ [spelled]: undefined })]
  if (text.includes('without the label')) {
    return [
      repeat({
        [spelled]: String(args[spelled])
          .replace(/\[.*?\]/, '')
          .trim(),
      }),
    ]
  }
  if (example !== undefined) return [repeat({ [spelled]: example })]
  if (/repeat this call/i.test(text)) return [repeat()]
  throw new Error(`nothing to do with: ${text}`)
}

/** Other names of the parameters that can be at fault. */
const aliases = ['to', 'folder', 'path']

/**
 * @param {object} mind
 * @param {Wanted[][]} mind.wanted what it would do anyway, message by message
 * @param {'simple' | 'complex'} [mind.prefer] what it declares where it may choose
 * @param {Record<string, any>} [mind.schemas] of its tools, by public name
 * @param {(what: Wanted) => void} [mind.before] hears of each call
 */
export function obedient({ wanted, prefer, schemas, before }) {
  /** @type {(Wanted[] | Next)[]} */
  const todo = [...wanted]
  /** @type {Wanted | undefined} */
  let last
  const met = /** @type {string[]} */ ([])
  return {
    /** The denials that it met, whole. */
    met,
    /**
     * Its answers, one for each step, until it is done.
     * @param {() => string} heard what it read of its last call
     */
    script: heard =>
      Array.from({ length: STEPS_MAX }, () => () => {
        const text = heard()
        const denial = last === undefined ? undefined : denialIn(text)
        if (denial !== undefined && last !== undefined) {
          met.push(denial)
          if (met.length > 4) throw new Error(`it goes on and on: ${denial}`)
          const next = obey(denial, last, { prefer, schemas })
          // What would come behind a call that is given up may depend on it.
          todo.splice(0, next.length === 0 ? todo.length : 0, ...next)
        }
        const next = todo.shift()
        if (next === undefined) return say('done')
        const message = typeof next === 'function' ? [next(text)] : Array.isArray(next[0]) ? next : [next]
        last = /** @type {Wanted} */ (message.at(-1))
        for (const one of message) before?.(/** @type {Wanted} */ (one))
        return calls(.../** @type {Wanted[]} */ (message))
      }),
  }
}
