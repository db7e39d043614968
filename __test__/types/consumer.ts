// What someone who uses the package writes. It is compiled against the packed package, by types.test.js, and run.
import { type AuditRecord, apply, Config, inject, type LoadReport, name, onRecord } from 'dsh-bmpp'
import { checkPath, noteIdentity } from 'dsh-bmpp/core'
import { ConfigError, createPolicy, type Judgement, type Settlement } from 'dsh-bmpp/policy'

// The type and the schema go by one name.
const row: Config = { mode: 'enforce', profile: 'strict', serverNames: ['bm'] }
const schema = Config['~standard'].validate(row)
if (schema.issues) for (const { message, path } of schema.issues) console.error(path?.join('.'), message)

const load: (ctx: Parameters<typeof apply>[0]) => LoadReport = ctx => apply(ctx, row)
export const plugin: { name: string; inject: string[]; apply: typeof load } = { name, inject, apply: load }
export const notices = (report: LoadReport): string[] => (report.active ? report.notices : [])

const filePath: string | null = noteIdentity('Plans', 'notes', 'main').filePath
const unsafe: boolean = checkPath('directory', '../notes').unsafe
console.log(filePath, unsafe)
// @ts-expect-error a title is text
export const numbered = () => noteIdentity(5, 'notes')

const denials: string[] = []
export const stop: () => void = onRecord((record: AuditRecord) => {
  // Records are told apart by their kind.
  if (record.kind === 'decision' && record.decision === 'deny') denials.push(record.code)
  if (record.kind === 'settlement') console.log(record.outcome?.toUpperCase())
})

const policy = createPolicy({ mode: 'enforce', serverNames: ['bm'] })
const session = policy.session()
const judgement: Judgement = session.judge('mcp__bm__write_note', { title: 'T' }, { canAsk: true })
const settlement: Settlement = session.settle(judgement, { text: '# Created note', isError: false })
console.log(judgement.text?.length, settlement.outcome, session.turn + session.step)
session.classify('complex')
session.nextStep()
session.endTurn()
session.close()
policy[Symbol.dispose]()

try {
  // @ts-expect-error no such mode
  createPolicy({ mode: 'enforced' })
} catch (error) {
  if (error instanceof ConfigError) console.log(error.problems.map(({ code, nearest }) => nearest ?? code))
}
// @ts-expect-error no such key
export const typo: Config = { profil: 'strict' }
// @ts-expect-error a class of its own, got from a policy
export const forged: Judgement = { code: 'ALLOW_SIMPLE' }
// @ts-expect-error no such task
if (denials.length > 1e6) session.classify('difficult')
