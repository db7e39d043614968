/**
 * Everything that `dsh-bmpp doctor` can find, and the one place where its words are: what is so, and for what is wrong the mend.
 * A test holds the list against the docs.
 */
import { count } from './terminal.js'

/** @typedef {'ok' | 'note' | 'warning' | 'error'} Level */
/** @typedef {{ level: Level, what: string, mend?: string }} Finding */

/** @param {string} what @returns {Finding} */
const ok = what => ({ level: 'ok', what })
/** @param {string} what @param {string} [mend] @returns {Finding} */
const note = (what, mend) => ({ level: 'note', what, ...(mend === undefined ? {} : { mend }) })
/** @param {string} what @param {string} mend @returns {Finding} */
const warning = (what, mend) => ({ level: 'warning', what, mend })
/** @param {string} what @param {string} mend @returns {Finding} */
const error = (what, mend) => ({ level: 'error', what, mend })

const CONTROL = 'bmpp__classify'
const ADD = 'dsh plugin --profile NAME add ./dsh-bmpp-VERSION.tgz'

/** By name; a parameter is what varies. `p` is a profile's name. */
export const findings = Object.freeze({
  /** @param {string} version */
  node: version => ok(`Node.js ${version}`),
  /** @param {string} version */
  nodeTooOld: version =>
    warning(
      `Node.js ${version} runs this command, but not the Harness`,
      'run the Harness with Node.js 22.19 or newer, or 24',
    ),
  /** @param {string} version @param {string} platform */
  addon: (version, platform) => ok(`addon ${version} on ${platform}`),
  /** @param {string} addon @param {string} own */
  addonOfOtherVersion: (addon, own) =>
    error(`the addon is ${addon}, the package ${own}`, 'install the package again, or build the addon anew'),
  /** @param {string} why the loader's own explanation */
  noAddon: why =>
    error(
      why.replace(/^dsh-bmpp(?= )/, 'the plugin'),
      'until then dsh refuses to boot with the plugin, and doctor looks at nothing else',
    ),

  noHarness: () =>
    warning(
      'no Harness was found: neither one that booted this home, nor dsh on PATH',
      'start dsh once, or give its home with --home',
    ),
  /** @param {string} how @param {string} reason @param {boolean} verified */
  harness: (how, reason, verified) => (verified ? ok : note)(`Harness (${how}): ${reason}`),
  /** @param {string} how @param {string} reason */
  harnessAllowed: (how, reason) => warning(`Harness (${how}): ${reason}`, 'use a supported version'),
  /** @param {string} how @param {string} reason */
  harnessRefused: (how, reason) =>
    error(
      `Harness (${how}): ${reason}`,
      'without allowUnverifiedHarness: true in the row, dsh does not boot with the plugin',
    ),

  /** @param {string} how @param {string} reason */
  harnessNotJudged: (how, reason) =>
    warning(
      `Harness (${how}): ${reason}`,
      'use a supported version; whether the row allows this one can be told when the layers can be read',
    ),
  /** @param {string} how @param {string} reason */
  harnessByExpression: (how, reason) =>
    warning(
      `Harness (${how}): ${reason}`,
      'use a supported version; whether the row allows this one, or is in force, an expression says, which only dsh evaluates',
    ),
  /** @param {string} how @param {string} version */
  harnessUnasked: (how, version) =>
    note(
      `Harness (${how}): version ${version} is not checked in mode off, nor for a row that is disabled`,
      'to gate there, use a supported version, or set allowUnverifiedHarness: true with the mode',
    ),

  profilesUnread: () =>
    warning(
      'the profiles cannot be read: neither the Harness that booted this home is there any more, nor dsh on PATH',
      'start dsh once, or look at dsh --profile NAME --dump-config',
    ),
  /** @param {string} home */
  noProfile: home => warning(`no profile in ${home}`, ADD),
  notLoadedAnywhere: () => warning('no profile loads dsh-bmpp', ADD),
  /** @param {string} p */
  notLoaded: p => note(`profile ${p} does not load dsh-bmpp`),
  /** @param {string} p @param {string} layer @param {string} why @param {string} file */
  layerUnread: (p, layer, why, file) =>
    error(
      `profile ${p}: ${layer} cannot be read: ${why}`,
      `dsh does not boot with this profile, and doctor looks at no more of it; correct ${file}`,
    ),
  /** @param {string} p @param {string} layer @param {string} row */
  changesNoRow: (p, layer, row) =>
    warning(
      `profile ${p}: ${layer} changes the row ${row}, which no layer before it brings: dsh skips it`,
      'add the bundle, or correct the id: the row of the plugin is bmpp',
    ),
  /** @param {string} p @param {string} layer */
  changesBeforeRow: (p, layer) =>
    warning(
      `profile ${p}: ${layer} changes the row bmpp, which no layer before it brings: dsh skips it`,
      'write the entry behind the one that brings the row',
    ),
  /** @param {string} p @param {string} layer */
  leftOver: (p, layer) =>
    warning(
      `profile ${p}: ${layer} changes the row bmpp, and the plugin is not in this profile (any more): dsh skips it`,
      `delete the entry, or add the plugin again: ${ADD.replace('NAME', p)}`,
    ),
  /** @param {string} p @param {string} layer @param {string} row @param {string} name */
  changesOtherName: (p, layer, row, name) =>
    warning(
      `profile ${p}: ${layer} changes the row ${row} under another name (${name}): dsh skips it`,
      'leave the name out, or give the one that the row has',
    ),
  /** @param {string} p @param {string} layer @param {string} key @param {string} [near] what was meant; without it a key of the configuration */
  strangeKey: (p, layer, key, near) =>
    warning(
      `profile ${p}: ${layer} has the key "${key}" in an entry for the row bmpp, and dsh does not know it there: it has no effect`,
      near === undefined ? `write it below "config" of the row` : `did you mean "${near}"?`,
    ),
  /** @param {string} p @param {number} number always more than one */
  rowsTwice: (p, number) =>
    error(
      `profile ${p}: ${number} rows are ours, and dsh does not boot with one id twice`,
      'keep the bundle, or the row of your own, not both',
    ),
  /** @param {string} p @param {string} named @param {string} layer */
  rowLeadsNowhere: (p, named, layer) =>
    error(`profile ${p}: the row bmpp names ${named}, which is not there`, `correct it in ${layer}`),
  /** @param {string} p @param {string} other @param {string} layer */
  rowOfOther: (p, other, layer) =>
    error(`profile ${p}: the row bmpp names the package ${other}, which is not dsh-bmpp`, `correct it in ${layer}`),
  /** @param {string} p @param {string} layer */
  disabled: (p, layer) =>
    warning(
      `profile ${p} has the row bmpp disabled: nothing is gated`,
      `remove "disabled" from the row bmpp, or from the group around it, in ${layer}`,
    ),
  /** @param {string} p @param {string} mode @param {string} profile @param {string} from @param {readonly string[]} over */
  configured: (p, mode, profile, from, over) =>
    ok(
      `profile ${p}: mode ${mode}, profile ${profile}, from ${from}${over.length > 0 ? `, overridden by ${over.join(', ')}` : ''}`,
    ),
  /** @param {string} p @param {string} path @param {string} code @param {string} message @param {string} layer */
  problem: (p, path, code, message, layer) =>
    error(`profile ${p}: ${path}: ${code}: ${message}`, `dsh does not boot with this row; correct it in ${layer}`),
  /** @param {string} p */
  off: p => warning(`profile ${p}: mode off decides and records nothing`, 'set mode: audit'),
  /** @param {string} p @param {string} layer */
  released: (p, layer) =>
    warning(
      `profile ${p}: ${layer} takes mode enforce away, which an earlier layer sets`,
      "a layer replaces the row's config as a whole: where that was not meant, write mode: enforce there too",
    ),

  /** @param {string} p @param {string} server */
  ungoverned: (p, server) =>
    error(`profile ${p}: the memory server "${server}" is not governed`, `add "${server}" to serverNames`),
  /** @param {string} p @param {readonly string[]} names */
  noServer: (p, names) =>
    warning(
      `profile ${p}: no MCP server is called ${names.join(' or ')}, so nothing is governed`,
      'set serverNames to what the MCP row calls the memory server (its serverName), or add such a row',
    ),
  /** @param {string} p @param {string} server */
  serverDisabled: (p, server) =>
    warning(
      `profile ${p}: the row of the MCP server ${server} is disabled, so there are no memory tools`,
      'remove "disabled" from it',
    ),
  /** @param {string} p @param {string} server @param {string} command */
  commandMissing: (p, server, command) =>
    warning(
      `profile ${p}: the memory server "${server}" is started with "${command}", which is not there, so that its tools will be missing`,
      'install it, or correct the command of its row',
    ),
  /** @param {string} p @param {string} server @param {string} command */
  commandMissingAtBoot: (p, server, command) =>
    error(
      `profile ${p}: the MCP server "${server}" is started with "${command}", which is not there, and its row has failOnStartupError: true, so that dsh does not boot`,
      'install it, correct the command of its row, or take failOnStartupError away',
    ),
  /** @param {string} p @param {string} row */
  filterHides: (p, row) =>
    warning(
      `profile ${p}: the tool filter of the row ${row} hides ${CONTROL} from agents that may write memory, so that enforce denies their writes`,
      `let ${CONTROL} pass it, or keep the writes from them too`,
    ),
  /** @param {string} p */
  noStorage: p =>
    warning(
      `profile ${p} has no storage, so the trail is lost with each process`,
      "insert three rows in its cordis.patch.yml: storage (@deepseek-ai/dsh-storage), storage-json (@deepseek-ai/dsh-storage-json, config root: !!js dshHomePath('storages')) and storage-domain (@deepseek-ai/dsh-storage-domain, config backend: json); or set auditLevel: off",
    ),

  /** @param {string} folder */
  noTrail: folder => note(`no trail in ${folder}`, 'it begins with the first governed call in a profile with storage'),
  /** @param {string} folder @param {string} first */
  unreadable: (folder, first) =>
    error(
      `trail: no record of it can be read: ${first}`,
      `dsh-bmpp verify names them all; end the host and move bmpp_audit.json and bmpp_audit out of ${folder}, and a new trail begins`,
    ),
  /** @param {number} records @param {number} loads @param {readonly string[]} layouts */
  trail: (records, loads, layouts) =>
    ok(`trail: ${count(records, 'record')} of ${count(loads, 'load')}, layout ${layouts.join(' and ')}`),
  /** @param {number} number */
  contradictions: number =>
    error(
      `trail: ${count(number, 'record does', 'records do')} not follow from what stands before`,
      'dsh-bmpp verify names the first and says what to do',
    ),
  /** @param {number} number */
  damaged: number =>
    error(
      `trail: ${count(number, 'record holds', 'records hold')} words that the version which wrote them does not have`,
      'somebody or something has changed them; dsh-bmpp verify names them and says what to do',
    ),
  /** @param {number} number @param {string} first */
  broken: (number, first) =>
    warning(
      `trail: ${count(number, 'record')} cannot be read: ${first}`,
      'what cannot be read is skipped, and a cut file ends the reading where it is cut; dsh-bmpp verify names it all',
    ),
  /** @param {number} number */
  gaps: number =>
    warning(
      `trail: ${count(number, 'gap')} that no pruning explains`,
      'look at standard error of the host for what it said of its storage',
    ),
  /** @param {string} lately @param {number} number */
  hidden: (lately, number) =>
    warning(
      `trail: in the last ${lately}, ${count(number, 'write was', 'writes were')} tried by agents that do not see ${CONTROL}: their tools are filtered, or another plugin's tool has its name`,
      `let ${CONTROL} pass their filters, or have their parents write; dsh-bmpp audit --code CONTROL_HIDDEN shows the calls`,
    ),
  /** @param {string} lately @param {string} sentence the report's own */
  mendFirst: (lately, sentence) =>
    warning(`trail: in the last ${lately}: ${sentence}`, 'dsh-bmpp report has the counts'),
})
