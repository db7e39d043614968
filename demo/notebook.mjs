// A notebook in memory that answers as Basic Memory 0.24.1 does: the same tool names, argument names, headings, status
// lines, structured values and error flags. It stands in for the real server where no Python >= 3.12 is at hand, and serves
// tests that must decide what a search answers. What it does not copy: ranking, frontmatter, several projects, the index.
import { createHash } from 'node:crypto'
import { tools } from './memory-tools.mjs'

const project = 'main'
/** @typedef {{ content: { type: 'text', text: string }[], structuredContent?: { result: unknown }, isError: boolean }} Answer */

/** A success: the value stands in the text and, wrapped, in the structured content. @param {unknown} value @returns {Answer} */
const success = value => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
  structuredContent: { result: value },
  isError: false,
})

/** A refusal with the error flag, which carries no structured content. @param {unknown} value @returns {Answer} */
const refusal = value => ({
  content: [{ type: 'text', text: typeof value === 'string' ? value : JSON.stringify(value) }],
  isError: true,
})

const truthy = (/** @type {unknown} */ value) =>
  [true, 1, '1', 'true', 'True', 'yes', 'on'].includes(/** @type {any} */ (value))
const slug = (/** @type {string} */ path) =>
  path
    .toLowerCase()
    .replace(/\.md$/, '')
    .replaceAll(/[^\p{L}\p{N}/]+/gu, '-')
const trimmed = (/** @type {string} */ path) => path.replaceAll(/^\/+|\/+$/g, '')
const lines = (/** @type {(string | undefined)[]} */ ...list) => list.filter(line => line !== undefined).join('\n')

/** @typedef {{ title: string, path: string, permalink: string, content: string }} Note */

export class Notebook {
  /** @type {Map<string, Note>} notes by file path */
  #notes = new Map()

  /**
   * One tool call.
   * @param {string} tool
   * @param {Record<string, any>} [given]
   * @returns {Answer}
   */
  call(tool, given = {}) {
    const spec = Object.hasOwn(tools, tool) ? tools[tool] : undefined
    if (!spec) return refusal(`Unknown tool: '${tool}'`)
    const args = Object.fromEntries(Object.entries(given).map(([key, value]) => [spec.aliases?.[key] ?? key, value]))
    const problems = [
      ...(spec.required ?? []).filter(key => args[key] === undefined).map(key => `${key}\n  Missing required argument`),
      ...Object.keys(args)
        .filter(key => !Object.hasOwn(spec.properties, key))
        .map(key => `${key}\n  Unexpected keyword argument`),
    ]
    if (problems.length > 0) {
      const errors = problems.length === 1 ? '1 validation error' : `${problems.length} validation errors`
      return refusal(lines(`${errors} for call[${tool}]`, ...problems))
    }
    if (args.project !== undefined && args.project !== project) return refusal(`Project not found: '${args.project}'`)
    return this[/** @type {'search_notes'} */ (tool)](args)
  }

  /** @param {string} identifier a title, a permalink, a path, or a memory:// URL */
  #find(identifier) {
    const wanted = trimmed(identifier.replace(/^memory:\/\//, ''))
    const link = slug(wanted)
    return [...this.#notes.values()].find(
      note =>
        note.title === wanted ||
        note.path === wanted ||
        note.permalink === link ||
        note.permalink === `${project}/${link}`,
    )
  }

  /** @param {Note} note */
  #put(note) {
    this.#notes.set(note.path, note)
    return createHash('sha256').update(note.content).digest('hex')
  }

  #footer = (/** @type {any} */ args) =>
    args.project
      ? `[Project: '${project}']`
      : `[Project: '${project}' (no project was given, so this used the default project; pass project to target another)]`

  /** The text a write answers with. @param {string} heading @param {Note} note @param {string} checksum @param {any} args @param {string[]} more */
  #written(heading, note, checksum, args, ...more) {
    return success(
      lines(
        `# ${heading}`,
        `project: ${project}`,
        `file_path: ${note.path}`,
        `permalink: ${note.permalink}`,
        `checksum: ${checksum.slice(0, 8)}`,
        ...more,
        '',
        this.#footer(args),
      ),
    )
  }

  /** @param {any} args */
  search_notes(args) {
    const query = String(args.query ?? '').trim()
    if (!query && !args.tags) return success('# No Search Criteria\n\nPlease provide at least one of: `query`, `tags`.')
    const words = query.toLowerCase().split(/\s+/)
    const hits = [...this.#notes.values()].filter(note => {
      const text = `${note.title}\n${note.content}`.toLowerCase()
      return words.every(word => text.includes(word))
    })
    if (args.output_format === 'json') {
      const results = hits.map(({ title, permalink, path, content }) => ({
        title,
        type: 'entity',
        permalink,
        file_path: path,
        content,
      }))
      const page = { current_page: 1, page_size: 10, total: hits.length, total_is_exact: true, has_more: false }
      return success({ results, ...page })
    }
    if (hits.length === 0) {
      return success(`No results found for '${query}' in project '${project}'. Try broader or different terms.`)
    }
    return success(
      lines(
        `# Search Results: ${query}`,
        `*project: ${project}*`,
        '',
        ...hits.flatMap(note => [`### ${note.title}`, `- permalink: ${note.permalink}`, '- score: -0.5', '']),
        '---',
        `*${hits.length} ${hits.length === 1 ? 'result' : 'results'} | page 1, page_size 10*`,
      ),
    )
  }

  /** @param {any} args */
  build_context(args) {
    const note = this.#find(args.url)
    const results = note
      ? [
          {
            primary_result: {
              type: 'entity',
              permalink: note.permalink,
              title: note.title,
              content: note.content,
              file_path: note.path,
            },
          },
        ]
      : []
    return success({
      results,
      metadata: { uri: args.url, primary_count: results.length },
      page: 1,
      page_size: 10,
      has_more: false,
    })
  }

  recent_activity() {
    const titles = [...this.#notes.values()].map(note => `  • ${note.title}`)
    return success(
      lines(
        `## Recent Activity: ${project} (7d)`,
        '',
        ...titles,
        '',
        `**Activity Summary:** ${titles.length} items found.`,
      ),
    )
  }

  /** @param {any} args */
  read_note(args) {
    const note = this.#find(args.identifier)
    const json = args.output_format === 'json'
    if (note) {
      const frontmatter = { title: note.title, type: 'note', permalink: note.permalink }
      return success(
        json
          ? { title: note.title, permalink: note.permalink, file_path: note.path, content: note.content, frontmatter }
          : lines(
              '---',
              ...Object.entries(frontmatter).map(([key, value]) => `${key}: ${value}`),
              '---',
              '',
              note.content,
            ),
      )
    }
    return success(
      json
        ? {
            title: null,
            permalink: null,
            file_path: null,
            content: null,
            frontmatter: null,
            error: 'NOTE_NOT_FOUND',
            message: `Note not found: ${args.identifier}`,
          }
        : `\n# Note Not Found in ${project}: "${args.identifier}"\n\nNo note matches "${args.identifier}" in ${project}.\n`,
    )
  }

  /** @param {any} args */
  view_note(args) {
    if (!this.#find(args.identifier)) return this.read_note(args)
    const body = this.read_note({ identifier: args.identifier }).content[0]?.text
    return success(
      `Note retrieved: "${args.identifier}"\n\nDisplay this note as a markdown artifact for the user.\n\nContent:\n<note>\n${body}\n</note>`,
    )
  }

  /** @param {any} args */
  list_directory(args) {
    const folder = trimmed(args.dir_name ?? '/')
    const paths = [...this.#notes.keys()].filter(path => !folder || path.startsWith(`${folder}/`))
    return success(
      lines(
        `Contents of '${folder || '/'}' (depth 1):`,
        '',
        ...paths.map(path => `📄 ${path}`),
        '',
        `Total: ${paths.length} items`,
      ),
    )
  }

  list_memory_projects() {
    return success(`Available projects:\n- ${project} (local)`)
  }

  /** @param {any} args */
  write_note(args) {
    const path = trimmed(`${trimmed(args.directory)}/${args.title}.md`)
    const before = this.#notes.get(path)
    const note = { title: args.title, path, permalink: `${project}/${slug(path)}`, content: args.content }
    const json = args.output_format === 'json'
    if (before && !truthy(args.overwrite)) {
      return refusal(
        json
          ? {
              title: note.title,
              permalink: note.permalink,
              file_path: path,
              checksum: null,
              action: 'conflict',
              error: 'NOTE_ALREADY_EXISTS',
            }
          : `# Error: Note already exists\n\n**"${note.title}"** already exists (\`${note.permalink}\`).\n\n\`write_note\` does not overwrite by default.\n\nProject: ${project}`,
      )
    }
    const checksum = this.#put(note)
    if (!json) return this.#written(before ? 'Updated note' : 'Created note', note, checksum, args)
    const action = before ? 'updated' : 'created'
    return success({
      title: note.title,
      permalink: note.permalink,
      file_path: path,
      checksum,
      action,
      similar_notes: [],
    })
  }

  /** @param {any} args */
  edit_note(args) {
    const { operation, identifier } = args
    const note = this.#find(identifier)
    const creates = operation === 'append' || operation === 'prepend'
    if (!note && creates) {
      const path = `${trimmed(identifier).replace(/\.md$/, '')}.md`
      const made = {
        title: path.split('/').at(-1)?.slice(0, -3) ?? path,
        path,
        permalink: `${project}/${slug(path)}`,
        content: args.content,
      }
      return this.#written(`Created note (${operation})`, made, this.#put(made), args, 'fileCreated: true')
    }
    if (!note)
      return refusal(`# Edit Failed - Note Not Found\n\nThe note with identifier '${identifier}' could not be found.`)
    const edited = {
      append: () => `${note.content}\n${args.content}`,
      prepend: () => `${args.content}\n${note.content}`,
      find_replace: () =>
        note.content.includes(args.find_text) ? note.content.replaceAll(args.find_text, args.content) : undefined,
    }[/** @type {'append'} */ (operation)]
    if (!edited) return refusal(`# Edit Failed\n\nInvalid operation '${operation}'.`)
    const content = edited()
    if (content === undefined)
      return refusal(`# Edit Failed - Text Not Found\n\nThe text '${args.find_text}' was not found.`)
    const changed = { ...note, content }
    return this.#written(`Edited note (${operation})`, changed, this.#put(changed), args)
  }

  /** @param {any} args */
  move_note(args) {
    const note = this.#find(args.identifier)
    const to =
      args.destination_path ??
      (args.destination_folder && note
        ? `${trimmed(args.destination_folder)}/${note.path.split('/').at(-1)}`
        : undefined)
    if (!note)
      return refusal(`# Move Failed - Note Not Found\n\nThe note '${args.identifier}' could not be found for moving.`)
    if (!to) return success('# Move Failed - Missing Destination\n\nProvide destination_path or destination_folder.')
    this.#notes.delete(note.path)
    this.#put({ ...note, path: trimmed(to) })
    return success(
      `✅ Note moved successfully\n\n📁 **${args.identifier}** → **${trimmed(to)}**\n🔗 Permalink: ${note.permalink}`,
    )
  }

  /** @param {any} args */
  delete_note(args) {
    const note = this.#find(args.identifier)
    if (note) this.#notes.delete(note.path)
    const { title = null, permalink = null, path = null } = note ?? {}
    return success(
      args.output_format === 'json' ? { deleted: Boolean(note), title, permalink, file_path: path } : Boolean(note),
    )
  }

  /** @param {any} args */
  create_memory_project(args) {
    return success(`# Error\n\nThe stand-in keeps one project, so '${args.project_name}' was not created.`)
  }

  /** @param {any} args */
  delete_project(args) {
    return success(`# Error\n\nThe stand-in keeps one project, so '${args.project_name}' was not deleted.`)
  }
}
