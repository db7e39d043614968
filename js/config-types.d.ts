/** The configuration of a row, as an operator writes it: every key may be left out. The README says what each does. */
export interface Config {
  /** Whether verdicts are applied. Default `audit`. */
  mode?: 'off' | 'audit' | 'enforce'
  /** How strictly; never changes the mode. Default `compat`. */
  profile?: 'compat' | 'strict'
  /** The governed servers, by the names that the host's rows give them. Default `["basic-memory"]`. */
  serverNames?: string[]
  /** Raw names of the tools that count as a lookup. */
  searchTools?: string[]
  /** Raw names of the tools that only read. */
  readTools?: string[]
  /** Raw names of the tools that write. */
  mutatingTools?: string[]
  /** Raw names of those tools that destroy. */
  destructiveTools?: string[]
  /** What becomes of a tool that is on no list. Default `deny`. */
  unknownMemoryToolPolicy?: 'off' | 'warn' | 'deny'
  /** Whether a creating write in a complex turn needs a lookup. Default true. */
  createRequiresSearch?: boolean
  /** Whether existing text may be replaced that the turn has not read. Default `warn`; `deny` in profile strict. */
  overwriteRequiresRead?: 'off' | 'warn' | 'deny'
  /** Whether the same write is denied a second time in one turn. Default true. */
  duplicateWriteGuard?: boolean
  /** Paths and titles that lead outside, or mislead. Default `deny`. */
  pathGuard?: 'off' | 'warn' | 'deny'
  /** A write that names no project where the server may have switched to another. Default `warn`. */
  projectGuard?: 'off' | 'warn' | 'deny'
  /** Shapes of secrets in titles, paths, tags and metadata. Default `warn`; `deny` in profile strict. */
  secretPatternGuard?: 'off' | 'warn' | 'deny'
  /** The label of test fixtures outside their folders. Default `warn`; `deny` in profile strict. */
  testFixtureGuard?: 'off' | 'warn' | 'deny'
  /** Where notes with the label of test fixtures may lie. */
  testFixtureAllowedPrefixes?: string[]
  /** Whether the server takes an omitted `overwrite` for true. Default false. */
  overwriteDefault?: boolean
  /** Whether the guards on secrets and fixtures look at the content of notes too. Default false. */
  inspectContent?: boolean
  /** What a lookup's result is judged by. Default `heading`. */
  lookupEvidence?: 'heading' | 'flag'
  /** What is kept of calls: nothing, decisions and what came of them, or calls outside the namespace too. Default `decision`. */
  auditLevel?: 'off' | 'decision' | 'verbose'
  /** What a record says of the note that a call names: nothing, or a keyed hash of its path. Default `omit`. */
  pathRedaction?: 'omit' | 'hash'
  /** How many records are kept; 0 keeps all. Default 10000. */
  auditMaxRecords?: number
  /** The one version of the policy that the row was written for. */
  policyVersion?: '0.1.0'
  /** Whether to load on a host outside the supported range. Default false. */
  allowUnverifiedHarness?: boolean
}
