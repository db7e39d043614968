//! Every tool of Basic Memory and every name that its arguments go by.
//!
//! Names, defaults and shapes are those of the live `tools/list` of 0.24.1; aliases, which no schema shows, those of the
//! source of every release from 0.13.0 on (their union: an alias that only an older server takes does no harm with a newer
//! one, which refuses the call). A contract test compares this table with the live server.

use super::{Family, Fixed, Omitted, Role, Shape, Tool};

const fn of(
    name: &'static str,
    aliases: &'static [&'static str],
    role: Role,
    shape: Shape,
    omitted: Omitted,
) -> Family {
    Family { name, aliases, role, shape, omitted }
}

// What many tools share.
const PROJECT: Family = of("project", &[], Role::Project, Shape::Text, Omitted::Null);
const PROJECT_ID: Family = of("project_id", &[], Role::Project, Shape::Text, Omitted::Null);
const WORKSPACE: Family = of("workspace", &[], Role::Project, Shape::Text, Omitted::Null);
const OUTPUT_FORMAT: Family =
    of("output_format", &[], Role::Presentation, Shape::Text, Omitted::Means(Fixed::Text("text")));
const PAGE: Family = of("page", &["page_number"], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(1)));
const PAGE_SIZE: Family =
    of("page_size", &["limit", "per_page"], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(10)));
/// As the tools have it that take no alias.
const PAGE_ONLY: Family = of("page", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(1)));
const PAGE_SIZE_ONLY: Family = of("page_size", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(10)));
/// A note that a read names.
const WHAT_IS_READ: Family = of("identifier", &[], Role::Query, Shape::Text, Omitted::Required);
/// A note or folder that a write acts on.
const WHAT_IS_CHANGED: Family = of("identifier", &[], Role::Path, Shape::Text, Omitted::Required);

/// All tools: writes first, then reads. `canvas` is a write that releases before 0.23 have.
#[rustfmt::skip]
pub const TOOLS: &[Tool] = &[
    Tool {
        name: "write_note",
        families: &[
            of("title", &[], Role::Title, Shape::Text, Omitted::Required),
            of("content", &[], Role::Content, Shape::Text, Omitted::Required),
            of("directory", &["folder", "dir", "path"], Role::Path, Shape::Text, Omitted::Required),
            PROJECT,
            WORKSPACE,
            PROJECT_ID,
            of("tags", &[], Role::Metadata, Shape::Other, Omitted::Null),
            of("note_type", &["entity_type"], Role::Metadata, Shape::Text, Omitted::Means(Fixed::Text("note"))),
            of("metadata", &[], Role::Metadata, Shape::Other, Omitted::Null),
            of("overwrite", &["force", "replace"], Role::Behaviour, Shape::Bool, Omitted::Null),
            of("expected_checksum", &[], Role::Behaviour, Shape::Text, Omitted::Null),
            OUTPUT_FORMAT,
        ],
    },
    Tool {
        name: "edit_note",
        families: &[
            WHAT_IS_CHANGED,
            of("operation", &[], Role::Behaviour, Shape::Text, Omitted::Required),
            of("content", &["new_content", "replacement", "replace_with"], Role::Content, Shape::Text, Omitted::Required),
            PROJECT,
            WORKSPACE,
            PROJECT_ID,
            of("section", &["section_heading", "heading"], Role::Content, Shape::Text, Omitted::Null),
            of("find_text", &["find", "old_text", "old_content", "search"], Role::Content, Shape::Text, Omitted::Null),
            of("expected_replacements", &[], Role::Behaviour, Shape::Integer, Omitted::NullMeans(Fixed::Integer(1))),
            of("replace_subsections", &[], Role::Behaviour, Shape::Bool, Omitted::NullMeans(Fixed::Bool(true))),
            of("metadata", &[], Role::Metadata, Shape::Other, Omitted::Null),
            of("expected_checksum", &[], Role::Behaviour, Shape::Text, Omitted::Null),
            OUTPUT_FORMAT,
        ],
    },
    Tool {
        name: "move_note",
        families: &[
            WHAT_IS_CHANGED,
            of("destination_path", &["dest_path", "new_path", "to", "destination"], Role::Path, Shape::Text, Omitted::Means(Fixed::Text(""))),
            of("destination_folder", &["dest_folder", "to_folder"], Role::Path, Shape::Text, Omitted::NullMeans(Fixed::Text(""))),
            of("is_directory", &["is_dir"], Role::Behaviour, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            PROJECT, PROJECT_ID,
            OUTPUT_FORMAT,
            WORKSPACE,
        ],
    },
    Tool {
        name: "delete_note",
        families: &[
            WHAT_IS_CHANGED,
            of("is_directory", &["is_dir"], Role::Behaviour, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            PROJECT, PROJECT_ID,
            OUTPUT_FORMAT,
            WORKSPACE,
        ],
    },
    Tool {
        name: "create_memory_project",
        families: &[
            of("project_name", &[], Role::Project, Shape::Text, Omitted::Required),
            of("project_path", &[], Role::Path, Shape::Text, Omitted::Required),
            of("set_default", &[], Role::Behaviour, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            WORKSPACE,
            OUTPUT_FORMAT,
        ],
    },
    Tool {
        name: "delete_project",
        families: &[
            of("project_name", &[], Role::Project, Shape::Text, Omitted::Required),
            of("delete_notes", &[], Role::Behaviour, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            WORKSPACE,
        ],
    },
    Tool {
        name: "canvas",
        families: &[
            of("title", &[], Role::Title, Shape::Text, Omitted::Required),
            of("directory", &["folder", "dir", "path"], Role::Path, Shape::Text, Omitted::Required),
            of("nodes", &[], Role::Content, Shape::Other, Omitted::Required),
            of("edges", &[], Role::Content, Shape::Other, Omitted::Required),
            PROJECT, PROJECT_ID,
            WORKSPACE,
        ],
    },
    Tool {
        name: "search_notes",
        families: &[
            of("query", &["q", "search", "text"], Role::Query, Shape::Text, Omitted::Null),
            PROJECT, PROJECT_ID,
            of("search_all_projects", &["all_projects"], Role::Project, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            of("projects", &[], Role::Project, Shape::Other, Omitted::Null),
            PAGE, PAGE_SIZE,
            of("search_type", &[], Role::Query, Shape::Text, Omitted::Null),
            OUTPUT_FORMAT,
            of("note_types", &["note_type", "types"], Role::Query, Shape::Other, Omitted::Null),
            of("entity_types", &["entity_type"], Role::Query, Shape::Other, Omitted::Null),
            of("categories", &["category"], Role::Query, Shape::Other, Omitted::Null),
            of("after_date", &["since", "after", "from_date"], Role::Query, Shape::Text, Omitted::Null),
            of("metadata_filters", &[], Role::Query, Shape::Other, Omitted::Null),
            of("tags", &[], Role::Query, Shape::Other, Omitted::Null),
            of("status", &[], Role::Query, Shape::Text, Omitted::Null),
            of("min_similarity", &["threshold", "similarity_threshold"], Role::Query, Shape::Other, Omitted::Null),
            of("valid_at", &["as_of", "valid_on"], Role::Query, Shape::Text, Omitted::Null),
            of("valid_overlaps", &["overlaps", "valid_during"], Role::Query, Shape::Text, Omitted::Null),
            of("time_kind", &["kind"], Role::Query, Shape::Text, Omitted::Null),
            of("compact", &[], Role::Query, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            WORKSPACE,
        ],
    },
    Tool {
        name: "search",
        families: &[
            of("query", &[], Role::Query, Shape::Text, Omitted::Required),
        ],
    },
    Tool {
        name: "build_context",
        families: &[
            of("url", &["uri", "memory_url"], Role::Query, Shape::Text, Omitted::Required),
            PROJECT, PROJECT_ID,
            of("depth", &[], Role::Query, Shape::Other, Omitted::Means(Fixed::Integer(1))),
            of("timeframe", &["since", "time_range", "lookback"], Role::Query, Shape::Text, Omitted::Means(Fixed::Text("7d"))),
            PAGE, PAGE_SIZE,
            of("max_related", &["max_results"], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(10))),
            of("output_format", &[], Role::Presentation, Shape::Text, Omitted::Means(Fixed::Text("json"))),
            of("compact", &[], Role::Query, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            WORKSPACE,
        ],
    },
    Tool {
        name: "recent_activity",
        families: &[
            of("type", &["types", "kind"], Role::Query, Shape::Other, Omitted::Means(Fixed::Text(""))),
            of("depth", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(1))),
            of("timeframe", &["since", "time_range", "lookback"], Role::Query, Shape::Text, Omitted::Means(Fixed::Text("7d"))),
            PAGE, PAGE_SIZE,
            PROJECT, PROJECT_ID,
            OUTPUT_FORMAT,
            of("max_related", &[], Role::Query, Shape::Integer, Omitted::Null),
            WORKSPACE,
        ],
    },
    Tool {
        name: "read_note",
        families: &[
            WHAT_IS_READ,
            PROJECT, PROJECT_ID,
            PAGE, PAGE_SIZE,
            OUTPUT_FORMAT,
            of("include_frontmatter", &[], Role::Presentation, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            of("start_line", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("end_line", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("include_content", &[], Role::Query, Shape::Bool, Omitted::Means(Fixed::Bool(true))),
            WORKSPACE,
        ],
    },
    Tool {
        name: "view_note",
        families: &[
            WHAT_IS_READ,
            PROJECT, PROJECT_ID,
            of("page", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("page_size", &[], Role::Query, Shape::Integer, Omitted::Null),
            WORKSPACE,
        ],
    },
    Tool {
        name: "read_content",
        families: &[
            of("path", &["file_path", "filepath", "file"], Role::Query, Shape::Text, Omitted::Required),
            PROJECT, PROJECT_ID,
            WORKSPACE,
        ],
    },
    Tool {
        name: "fetch",
        families: &[
            of("id", &[], Role::Query, Shape::Text, Omitted::Required),
        ],
    },
    Tool {
        name: "cat",
        families: &[
            WHAT_IS_READ,
            of("start_line", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("end_line", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("section", &[], Role::Query, Shape::Text, Omitted::Null),
            of("max_tokens", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("include_frontmatter", &[], Role::Presentation, Shape::Bool, Omitted::Means(Fixed::Bool(true))),
            PROJECT, PROJECT_ID,
        ],
    },
    Tool {
        name: "grep",
        families: &[
            of("pattern", &[], Role::Query, Shape::Text, Omitted::Required),
            of("semantic", &[], Role::Query, Shape::Bool, Omitted::Means(Fixed::Bool(false))),
            PAGE_ONLY, PAGE_SIZE_ONLY,
            PROJECT, PROJECT_ID,
            of("context_lines", &[], Role::Query, Shape::Integer, Omitted::Null),
            of("max_matches", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(10))),
        ],
    },
    Tool {
        name: "ls",
        families: &[
            of("path", &[], Role::Query, Shape::Text, Omitted::Means(Fixed::Text("/"))),
            PAGE_ONLY, PAGE_SIZE_ONLY,
            PROJECT, PROJECT_ID,
        ],
    },
    Tool {
        name: "find",
        families: &[
            of("path", &[], Role::Query, Shape::Text, Omitted::Means(Fixed::Text("/"))),
            of("name", &[], Role::Query, Shape::Text, Omitted::Null),
            of("depth", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(10))),
            PAGE_ONLY, PAGE_SIZE_ONLY,
            of("meta", &[], Role::Query, Shape::Other, Omitted::Null),
            of("fields", &[], Role::Query, Shape::Other, Omitted::Null),
            PROJECT, PROJECT_ID,
        ],
    },
    Tool {
        name: "tail",
        families: &[
            of("timeframe", &[], Role::Query, Shape::Text, Omitted::Means(Fixed::Text("7d"))),
            of("lines", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(10))),
            PROJECT, PROJECT_ID,
        ],
    },
    Tool {
        name: "man",
        families: &[
            of("page", &[], Role::Query, Shape::Text, Omitted::Null),
            of("query", &[], Role::Query, Shape::Text, Omitted::Null),
            PROJECT, PROJECT_ID,
        ],
    },
    Tool {
        name: "list_directory",
        families: &[
            of("dir_name", &["directory", "folder", "path", "dir"], Role::Query, Shape::Text, Omitted::Means(Fixed::Text("/"))),
            of("depth", &[], Role::Query, Shape::Integer, Omitted::Means(Fixed::Integer(1))),
            of("file_name_glob", &["glob", "pattern", "filter"], Role::Query, Shape::Text, Omitted::Null),
            of("sort", &[], Role::Query, Shape::Text, Omitted::Null),
            PAGE_ONLY,
            PAGE_SIZE,
            OUTPUT_FORMAT,
            PROJECT, PROJECT_ID,
            WORKSPACE,
        ],
    },
    Tool {
        name: "list_memory_projects",
        families: &[
            OUTPUT_FORMAT,
            WORKSPACE,
        ],
    },
    Tool {
        name: "list_workspaces",
        families: &[
            OUTPUT_FORMAT,
        ],
    },
    Tool { name: "basic_memory_diagnostics", families: &[] },
    Tool {
        name: "schema_validate",
        families: &[
            of("note_type", &[], Role::Query, Shape::Text, Omitted::Null),
            of("identifier", &[], Role::Query, Shape::Text, Omitted::Null),
            PROJECT, PROJECT_ID,
            OUTPUT_FORMAT,
            WORKSPACE,
        ],
    },
    Tool {
        name: "schema_infer",
        families: &[
            of("note_type", &[], Role::Query, Shape::Text, Omitted::Required),
            of("threshold", &[], Role::Query, Shape::Other, Omitted::Means(Fixed::Number(0.25))),
            PROJECT, PROJECT_ID,
            OUTPUT_FORMAT,
            WORKSPACE,
        ],
    },
    Tool {
        name: "schema_diff",
        families: &[
            of("note_type", &[], Role::Query, Shape::Text, Omitted::Required),
            PROJECT, PROJECT_ID,
            OUTPUT_FORMAT,
            WORKSPACE,
        ],
    },
];
