/**
 * `dsh-bmpp prune`: takes old records out. The only command that writes to the trail.
 */
import { addon, EXIT, Failure, parse, storagesFrom, timeFrom, whereHelp, whereOptions, wholeNumber } from './command.js'
import { count, tellBroken } from './terminal.js'

/** @type {import('./command.js').Command} */
export const prune = {
  about: 'takes old records out of a trail that no host has open',
  help: `dsh-bmpp prune: takes old records out of a trail that no host has open

Usage: dsh-bmpp prune (--keep N | --since T)... [--dry-run] [--force]

A running host keeps to auditMaxRecords by itself, so this is for homes that are at rest. The record of a load stays as
long as another of its records does, since nothing of a load can be replayed without it. Records that cannot be read
stay.

  --keep N            the newest N records
  --since T           records from this time on: a date, or an age such as 30d
  --dry-run           count only
  --force             also where a process that may have the trail open still runs
${whereHelp}

Examples:
  dsh-bmpp prune --keep 10000 --dry-run
  dsh-bmpp prune --since 90d

Exit codes: 0 · 1 a host may have the trail open · 2 wrong usage · 3 the trail cannot be read or written
`,
  run(argv, terminal) {
    const { values } = parse(argv, {
      ...whereOptions,
      keep: { type: 'string' },
      since: { type: 'string' },
      'dry-run': { type: 'boolean' },
      force: { type: 'boolean' },
    })
    if (values.keep === undefined && values.since === undefined)
      throw new Failure('say what to keep: --keep or --since')
    const storages = storagesFrom(values)
    const native = addon()
    const dryRun = values['dry-run'] === true
    if (!dryRun && values.force !== true) {
      const pids = running(native, storages)
      if (pids.length > 0) {
        const text = `process ${pids.join(', ')} may have the trail open and would bring the records back: end it first, or use --force`
        throw new Failure(text, EXIT.found)
      }
    }
    const request = {
      ...(values.keep === undefined ? {} : { keep: wholeNumber('keep', values.keep) }),
      ...(values.since === undefined ? {} : { since: timeFrom('since', values.since, Date.now()) }),
      dryRun,
    }
    const done = JSON.parse(native.auditPrune(storages, JSON.stringify(request), terminal.progress('pruning')))
    tellBroken(done.tally, terminal)
    terminal.out(`${count(done.removed, 'record')} ${dryRun ? 'would go' : 'removed'}, ${done.kept} stay\n`)
    return EXIT.well
  },
}

/**
 * Processes of loads without an end that are still there. A process id comes again, so this errs on the careful side.
 * @param {import('../native.js').Addon} native
 * @param {string} storages
 */
export function running(native, storages) {
  /** @type {Map<string, number>} */
  const open = new Map()
  native.auditSelect(
    storages,
    '{}',
    (/** @type {string} */ lines) => {
      for (const line of lines.trimEnd().split('\n')) {
        if (!line.includes('"kind":"load"') && !line.includes('"kind":"unload"')) continue
        const { kind, load, pid } = JSON.parse(line)
        if (kind === 'load' && Number.isInteger(pid)) open.set(load, pid)
        else if (kind === 'unload') open.delete(load)
      }
      return true
    },
    () => {},
  )
  return [...new Set(open.values())].filter(isAlive)
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM'
  }
}
