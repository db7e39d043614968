// The tools of the notebook: names, descriptions, argument schemas and the argument names that the server also takes but does
// not publish. Those of Basic Memory 0.24.1, less what only concerns its ranking and its cloud.

const string = { type: 'string' }
const flag = { type: 'boolean' }
const whole = { type: 'integer' }
const routed = { project: string, project_id: string }
const shaped = { ...routed, output_format: string }

/**
 * Name → description, argument schemas, required arguments. The lists are those of the real server, less what only
 * concerns its ranking and its cloud.
 * @type {Record<string, { description: string, properties: Record<string, object>, required?: string[], aliases?: Record<string, string> }>}
 */
export const tools = {
  search_notes: {
    description: 'Search across all content in the knowledge base.',
    properties: { query: string, page: whole, page_size: whole, search_type: string, tags: {}, ...shaped },
    aliases: { q: 'query', search: 'query', text: 'query' },
  },
  build_context: {
    description: 'Build context from a memory:// URI to continue conversations.',
    properties: { url: string, depth: {}, timeframe: string, page: whole, page_size: whole, ...shaped },
    required: ['url'],
    aliases: { uri: 'url', memory_url: 'url' },
  },
  recent_activity: {
    description: 'Get recent activity for a project or across all projects.',
    properties: { type: {}, depth: whole, timeframe: string, page: whole, page_size: whole, ...shaped },
  },
  read_note: {
    description: 'Read a markdown note by title or permalink.',
    properties: { identifier: string, page: whole, page_size: whole, include_frontmatter: flag, ...shaped },
    required: ['identifier'],
  },
  view_note: {
    description: 'View a note as a formatted artifact.',
    properties: { identifier: string, ...routed },
    required: ['identifier'],
  },
  list_directory: {
    description: 'List directory contents with filtering and depth control.',
    properties: { dir_name: string, depth: whole, file_name_glob: string, ...shaped },
    aliases: { directory: 'dir_name', folder: 'dir_name', path: 'dir_name', dir: 'dir_name' },
  },
  list_memory_projects: {
    description: 'List all available projects with their status.',
    properties: { output_format: string },
  },
  write_note: {
    description: 'Create a markdown note, or replace one with overwrite.',
    properties: {
      title: string,
      content: string,
      directory: string,
      tags: {},
      note_type: string,
      metadata: {},
      overwrite: {},
      expected_checksum: string,
      ...shaped,
    },
    required: ['title', 'content', 'directory'],
    aliases: { folder: 'directory', dir: 'directory', path: 'directory' },
  },
  edit_note: {
    description: 'Edit an existing markdown note using various operations.',
    properties: {
      identifier: string,
      operation: string,
      content: string,
      section: string,
      find_text: string,
      expected_replacements: whole,
      ...shaped,
    },
    required: ['identifier', 'operation', 'content'],
    aliases: { new_content: 'content', replacement: 'content', find: 'find_text', old_text: 'find_text' },
  },
  move_note: {
    description: 'Move a note or directory to a new location.',
    properties: {
      identifier: string,
      destination_path: string,
      destination_folder: string,
      is_directory: {},
      ...shaped,
    },
    required: ['identifier'],
    aliases: { to: 'destination_path', destination: 'destination_path', new_path: 'destination_path' },
  },
  delete_note: {
    description: 'Delete a note or directory by title, permalink, or path.',
    properties: { identifier: string, is_directory: {}, ...shaped },
    required: ['identifier'],
    aliases: { is_dir: 'is_directory' },
  },
  create_memory_project: {
    description: 'Create a new Basic Memory project.',
    properties: { project_name: string, project_path: string, set_default: {}, output_format: string },
    required: ['project_name', 'project_path'],
  },
  delete_project: {
    description: 'Delete a Basic Memory project.',
    properties: { project_name: string, delete_notes: {} },
    required: ['project_name'],
  },
}

/** What `tools/list` answers. */
export const toolList = Object.entries(tools).map(([name, { description, properties, required }]) => ({
  name,
  description,
  inputSchema: { type: 'object', properties, additionalProperties: false, ...(required ? { required } : {}) },
}))
