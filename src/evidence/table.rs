//! The evidence table: tool × mode → what success, failure and "not found" look like.
//!
//! From the live server 0.24.1 and, where releases differ, 0.23.2 (whose refusals come with the error flag false); rows
//! that could only be read in the source are marked. The first rule of a tool that holds decides.

use super::{Outcome, Place};

/// A condition on a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// Text that starts with this.
    Starts(&'static str),
    /// Text that starts with this after white space: several headings come after a line break.
    Heads(&'static str),
    /// The frame of `view_note` around a refusal.
    WrapsError,
    /// Any text.
    AnyText,
    /// Any list.
    AnyList,
    /// This boolean, or its lower-case word.
    Is(bool),
    /// A field with this string.
    Word(&'static str, &'static str),
    /// A field whose string starts with this.
    Opens(&'static str, &'static str),
    /// A field with this boolean.
    Flag(&'static str, bool),
    /// A field that is there and not null.
    Has(&'static str),
    /// An object without this field, or with null in it.
    Lacks(&'static str),
    /// A field with a list that has items.
    Items(&'static str),
    /// A field with an empty list.
    NoItems(&'static str),
}

/// One row: all marks hold → this outcome.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    /// What must hold.
    pub marks: &'static [Mark],
    /// What it means.
    pub outcome: Outcome,
}

/// A tool's part of the table.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The raw tool name.
    pub tool: &'static str,
    /// Where its value is.
    pub place: Place,
    /// In order; the first that holds decides.
    pub rules: &'static [Rule],
}

const fn rule(outcome: Outcome, marks: &'static [Mark]) -> Rule {
    Rule { marks, outcome }
}

const DONE: Outcome = Outcome::Done;
const FAILED: Outcome = Outcome::Failed;
const EMPTY: Outcome = Outcome::Empty;
const MISSED: Outcome = Outcome::NotFound { sure: false };

/// An object with an `error` is a failure whatever else it says; put after the codes that mean something better.
const ERROR: Rule = rule(FAILED, &[Mark::Has("error")]);
const ERROR_TEXT: Rule = rule(FAILED, &[Mark::Heads("# Error")]);

const SEARCH: &[Rule] = &[
    ERROR,
    rule(EMPTY, &[Mark::NoItems("results")]),
    rule(DONE, &[Mark::Items("results")]),
    rule(DONE, &[Mark::Starts("# Search Results")]),
    rule(EMPTY, &[Mark::Starts("No results found for ")]),
    rule(FAILED, &[Mark::Heads("# Search Failed")]),
    // Source: an error whose text contains "not found" is dressed as a miss.
    rule(FAILED, &[Mark::Heads("# Search Complete - No Results Found")]),
    rule(FAILED, &[Mark::Heads("# No Search Criteria")]),
    rule(FAILED, &[Mark::Heads("# Project Index Required")]),
    rule(FAILED, &[Mark::Heads("# Note Not Found")]),
    ERROR_TEXT,
    // What a framework says of a failed call, should it come without the flag.
    rule(FAILED, &[Mark::Starts("Error: ")]),
    rule(FAILED, &[Mark::Starts("Error calling tool")]),
];

const SCHEMA: &[Rule] = &[
    ERROR,
    rule(FAILED, &[Mark::Heads("# Schema Validation Failed")]),
    rule(FAILED, &[Mark::Heads("# Schema Inference Failed")]),
    rule(FAILED, &[Mark::Heads("# Schema Diff Failed")]),
    rule(EMPTY, &[Mark::Heads("# No ")]),
    rule(DONE, &[Mark::Starts("# Schema ")]),
    rule(DONE, &[Mark::Has("note_type")]),
    rule(DONE, &[Mark::Has("results")]),
];

/// Reads whose result has no fixed form: an error is an error, anything else an answer.
const ANY: &[Rule] = &[
    ERROR,
    ERROR_TEXT,
    rule(FAILED, &[Mark::Heads("# Project Index Required")]),
    rule(DONE, &[Mark::AnyText]),
    rule(DONE, &[Mark::AnyList]),
];

/// Listings: like [`ANY`], in one of the fields that hold them.
const LISTING: &[Rule] = &[
    ERROR,
    ERROR_TEXT,
    rule(EMPTY, &[Mark::NoItems("nodes")]),
    rule(EMPTY, &[Mark::NoItems("results")]),
    rule(DONE, &[Mark::Items("nodes")]),
    rule(DONE, &[Mark::Items("results")]),
    rule(DONE, &[Mark::Has("projects")]),
    rule(DONE, &[Mark::Has("workspaces")]),
    rule(EMPTY, &[Mark::Starts("No files found in directory ")]),
    rule(DONE, &[Mark::AnyText]),
    rule(DONE, &[Mark::AnyList]),
];

/// Every tool, reads first.
pub const TABLE: &[Entry] = &[
    Entry { tool: "search_notes", place: Place::Wrapped, rules: SEARCH },
    Entry { tool: "search", place: Place::TextItem, rules: SEARCH },
    Entry { tool: "grep", place: Place::Bare, rules: SEARCH },
    Entry {
        tool: "build_context",
        place: Place::Wrapped,
        rules: &[
            ERROR,
            rule(EMPTY, &[Mark::NoItems("results")]),
            rule(DONE, &[Mark::Items("results")]),
            rule(DONE, &[Mark::Starts("# Context: ")]),
            rule(EMPTY, &[Mark::Starts("No results found for ")]),
            rule(FAILED, &[Mark::Heads("# Note Not Found")]),
            ERROR_TEXT,
            rule(FAILED, &[Mark::Starts("Error: ")]),
            rule(FAILED, &[Mark::Starts("Error calling tool")]),
        ],
    },
    Entry {
        tool: "read_note",
        place: Place::Wrapped,
        rules: &[
            rule(Outcome::NotFound { sure: true }, &[Mark::Word("error", "NOTE_NOT_FOUND")]),
            ERROR,
            rule(DONE, &[Mark::Has("file_path")]),
            // 0.23 answers a miss, and a failed look-up, with nulls and no error.
            rule(MISSED, &[Mark::Lacks("file_path")]),
            // A note whose own text starts like this is taken for a failure; that errs on the safe side.
            rule(MISSED, &[Mark::Heads("# Note Not Found")]),
            ERROR_TEXT,
            rule(DONE, &[Mark::AnyText]),
        ],
    },
    Entry {
        tool: "view_note",
        place: Place::Wrapped,
        rules: &[
            rule(MISSED, &[Mark::Heads("# Note Not Found")]),
            ERROR_TEXT,
            rule(FAILED, &[Mark::WrapsError]),
            rule(DONE, &[Mark::Starts("Note retrieved: ")]),
        ],
    },
    Entry {
        tool: "read_content",
        place: Place::Bare,
        rules: &[ERROR, rule(FAILED, &[Mark::Word("type", "error")]), rule(DONE, &[Mark::Has("type")])],
    },
    Entry { tool: "cat", place: Place::Bare, rules: &[ERROR, rule(DONE, &[Mark::Has("file_path")])] },
    Entry {
        tool: "fetch",
        place: Place::TextItem,
        rules: &[
            ERROR,
            // The error is inside `metadata`; the titles and the text say it as well.
            rule(FAILED, &[Mark::Word("title", "Unsupported MCP Client")]),
            rule(FAILED, &[Mark::Word("title", "Fetch Error")]),
            rule(MISSED, &[Mark::Opens("text", "# Note Not Found")]),
            rule(FAILED, &[Mark::Opens("text", "# Error")]),
            rule(DONE, &[Mark::Has("text")]),
        ],
    },
    Entry { tool: "ls", place: Place::Bare, rules: LISTING },
    Entry { tool: "find", place: Place::Bare, rules: LISTING },
    Entry { tool: "list_directory", place: Place::Wrapped, rules: LISTING },
    Entry { tool: "list_memory_projects", place: Place::Wrapped, rules: LISTING },
    Entry { tool: "list_workspaces", place: Place::Wrapped, rules: LISTING },
    Entry { tool: "tail", place: Place::Wrapped, rules: ANY },
    Entry { tool: "man", place: Place::Wrapped, rules: ANY },
    Entry { tool: "recent_activity", place: Place::Wrapped, rules: ANY },
    Entry { tool: "basic_memory_diagnostics", place: Place::Wrapped, rules: ANY },
    Entry { tool: "schema_validate", place: Place::Wrapped, rules: SCHEMA },
    Entry { tool: "schema_infer", place: Place::Wrapped, rules: SCHEMA },
    Entry { tool: "schema_diff", place: Place::Wrapped, rules: SCHEMA },
    Entry {
        tool: "write_note",
        place: Place::Wrapped,
        rules: &[
            // A refused directory says `"action": "created"` beside its error.
            ERROR,
            rule(DONE, &[Mark::Word("action", "created")]),
            rule(DONE, &[Mark::Word("action", "updated")]),
            rule(DONE, &[Mark::Starts("# Created note\n")]),
            rule(DONE, &[Mark::Starts("# Updated note\n")]),
            ERROR_TEXT,
        ],
    },
    Entry {
        tool: "edit_note",
        place: Place::Wrapped,
        rules: &[
            rule(Outcome::Unknown, &[Mark::Word("error", "EDIT_OUTCOME_UNKNOWN")]),
            ERROR,
            rule(DONE, &[Mark::Has("operation"), Mark::Has("file_path")]),
            rule(DONE, &[Mark::Starts("# Edited note (")]),
            rule(DONE, &[Mark::Starts("# Created note (")]),
            rule(Outcome::Unknown, &[Mark::Heads("# Edit Outcome Unknown")]),
            rule(FAILED, &[Mark::Heads("# Edit Failed")]),
            ERROR_TEXT,
        ],
    },
    Entry {
        tool: "move_note",
        place: Place::Wrapped,
        rules: &[
            // It was moved, but not to where it should be.
            rule(Outcome::Partly, &[Mark::Word("error", "MOVE_OUTCOME_MISMATCH")]),
            rule(Outcome::Partly, &[Mark::Opens("error", "Directory move incomplete")]),
            ERROR,
            rule(DONE, &[Mark::Flag("moved", true)]),
            // 0.23 has no error for a folder of which some files moved.
            rule(Outcome::Partly, &[Mark::Flag("moved", false), Mark::Flag("is_directory", true)]),
            rule(FAILED, &[Mark::Flag("moved", false)]),
            rule(DONE, &[Mark::Starts("✅ Note moved")]),
            rule(DONE, &[Mark::Starts("# Directory Moved Successfully")]),
            rule(Outcome::Partly, &[Mark::Heads("# Directory Move Incomplete")]),
            rule(Outcome::Partly, &[Mark::Heads("# Move Failed - Unexpected Result Location")]),
            rule(FAILED, &[Mark::Heads("# Move Failed")]),
            rule(FAILED, &[Mark::Heads("# Directory Move Failed")]),
            ERROR_TEXT,
        ],
    },
    Entry {
        tool: "delete_note",
        place: Place::Wrapped,
        rules: &[
            rule(Outcome::Partly, &[Mark::Opens("error", "Directory delete incomplete")]),
            ERROR,
            rule(DONE, &[Mark::Flag("deleted", true)]),
            rule(MISSED, &[Mark::Flag("deleted", false)]),
            rule(DONE, &[Mark::Is(true)]),
            rule(MISSED, &[Mark::Is(false)]),
            rule(DONE, &[Mark::Starts("# Directory Deleted Successfully")]),
            rule(Outcome::Partly, &[Mark::Heads("# Directory Delete Incomplete")]),
            rule(FAILED, &[Mark::Heads("# Directory Delete Failed")]),
            rule(FAILED, &[Mark::Heads("# Delete Failed")]),
            ERROR_TEXT,
        ],
    },
    Entry {
        tool: "create_memory_project",
        place: Place::Wrapped,
        rules: &[
            ERROR,
            rule(DONE, &[Mark::Flag("created", true)]),
            rule(FAILED, &[Mark::Flag("created", false)]),
            rule(FAILED, &[Mark::Starts("✓ Project already exists")]),
            rule(DONE, &[Mark::Starts("✓ Project '")]),
            ERROR_TEXT,
        ],
    },
    Entry {
        tool: "delete_project",
        place: Place::Wrapped,
        rules: &[ERROR, rule(DONE, &[Mark::Starts("✓ Project '")]), ERROR_TEXT],
    },
];

/// The table's entry for a tool, or `None` for one that nobody knows: its flag decides.
#[must_use]
pub fn entry(tool: &str) -> Option<&'static Entry> {
    TABLE.iter().find(|entry| entry.tool == tool)
}

/// A tool's rules in order.
pub(super) fn rules(tool: &str) -> impl Iterator<Item = &'static Rule> {
    entry(tool).into_iter().flat_map(|entry| entry.rules)
}
