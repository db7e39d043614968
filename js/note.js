/**
 * `dsh-bmpp/core`: what the core knows of notes and paths, for tests, dry runs and other programs. No host is needed.
 */
import { loadAddon } from './native.js'

const addon = loadAddon()

/**
 * The names that Basic Memory gives to the note of `write_note(title, directory)`, as far as they do not depend on what is on
 * disk (a folder may take the casing of an existing one).
 * @param {string} title
 * @param {string} directory
 * @param {string} [project] name or permalink of the project, for the permalink's prefix; without it the permalink is that of
 *   a server that puts no project before it
 * @returns {{ filePath: string | null, permalink: string | null }} null where the server would refuse, or where it is not proven
 */
export function noteIdentity(title, directory, project) {
  return addon.noteIdentity(title, directory, project)
}

/**
 * What `pathGuard` says of one path-like argument of a write.
 * @param {string} argument `directory`, `destination_path`, `destination_folder`, `identifier`, `title` or `project_path`, or
 *   another name that the server takes for one of them
 * @param {string} value
 * @returns {{ unsafe: boolean, why: string | null }} `why` completes "the argument …"
 * @throws on any other argument
 */
export function checkPath(argument, value) {
  return addon.checkPath(argument, value)
}
