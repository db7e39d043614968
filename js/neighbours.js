/**
 * Finds a memory server that is mounted under a name that is not governed: its tools would pass by the gate unseen.
 */

/** Tools that only Basic Memory publishes together; a server with this many of them is one. */
const TELLING = ['write_note', 'edit_note', 'search_notes', 'read_note', 'build_context', 'delete_note', 'move_note']
const ENOUGH = 3

/**
 * @param {Iterable<string>} names public names of the host's tools
 * @param {(name: string) => boolean} governs
 * @returns {string[]} names of the servers, in order
 */
export function ungovernedServers(names, governs) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const name of names) {
    if (!name.startsWith('mcp__') || governs(name)) continue
    const raw = TELLING.find(tool => name.endsWith(`__${tool}`))
    if (raw === undefined) continue
    const server = name.slice('mcp__'.length, -`__${raw}`.length)
    counts.set(server, (counts.get(server) ?? 0) + 1)
  }
  return [...counts].filter(([, count]) => count >= ENOUGH).map(([server]) => server)
}
