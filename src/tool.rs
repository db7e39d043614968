//! Tool names → what the policy makes of them.
//!
//! Governed are the control tool and every tool named `mcp__<server>__<raw>` of a configured server. A [`Tool`] is what
//! is left of a name once it has been looked at: its class, which of the server's tools it is, and the server. It packs
//! into 32 bits, so that a call need not carry its name across the boundary.

use crate::reason::{CONTROL_TOOL, Words};

/// What a tool does to memory, as far as the policy cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// `bmpp__classify`.
    Control,
    /// On the read list; `search` where its success is a recall.
    Read {
        /// On the search list too.
        search: bool,
    },
    /// On the write list.
    Write {
        /// On the destructive list too.
        destructive: bool,
    },
    /// In the namespace and on no list: treated as a write.
    Unknown,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 6] = [
        Class::Control,
        Class::Read { search: false },
        Class::Read { search: true },
        Class::Write { destructive: false },
        Class::Write { destructive: true },
        Class::Unknown,
    ];

    /// Whether the call changes memory, as far as is known.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Class::Write { .. } | Class::Unknown)
    }

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Class::Control => "control",
            Class::Read { search: false } => "read",
            Class::Read { search: true } => "search",
            Class::Write { destructive: false } => "write",
            Class::Write { destructive: true } => "destructive",
            Class::Unknown => "unknown",
        }
    }

    const fn number(self) -> u32 {
        match self {
            Class::Control => 1,
            Class::Read { search: false } => 2,
            Class::Read { search: true } => 3,
            Class::Write { destructive: false } => 4,
            Class::Write { destructive: true } => 5,
            Class::Unknown => 6,
        }
    }

    const fn from_number(number: u32) -> Option<Class> {
        Some(match number {
            1 => Class::Control,
            2 => Class::Read { search: false },
            3 => Class::Read { search: true },
            4 => Class::Write { destructive: false },
            5 => Class::Write { destructive: true },
            6 => Class::Unknown,
            _ => return None,
        })
    }
}

macro_rules! server_tools {
    ($( $variant:ident = $number:literal, $raw:literal, $class:expr; )*) => {
        /// A tool that Basic Memory is known to publish, of any release since 0.23.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Known { $( #[doc = concat!("`", $raw, "`")] $variant = $number, )* }

        impl Known {
            /// Every known tool with its default class (spec section 3).
            pub const ALL: &'static [(Known, Class)] = &[$( (Known::$variant, $class), )*];

            /// The server's own name of the tool.
            #[must_use]
            pub const fn raw(self) -> &'static str {
                match self { $( Known::$variant => $raw, )* }
            }

            const fn from_number(number: u32) -> Option<Known> {
                match number { $( $number => Some(Known::$variant), )* _ => None }
            }

            fn from_raw(raw: &str) -> Option<Known> {
                match raw { $( $raw => Some(Known::$variant), )* _ => None }
            }
        }
    };
}

const READ: Class = Class::Read { search: false };
const SEARCH: Class = Class::Read { search: true };
const WRITE: Class = Class::Write { destructive: false };
const DESTRUCTIVE: Class = Class::Write { destructive: true };

server_tools! {
    SearchNotes = 1, "search_notes", SEARCH;
    Search = 2, "search", SEARCH;
    BuildContext = 3, "build_context", SEARCH;
    RecentActivity = 4, "recent_activity", READ;
    ReadNote = 5, "read_note", READ;
    ReadContent = 6, "read_content", READ;
    ViewNote = 7, "view_note", READ;
    ListDirectory = 8, "list_directory", READ;
    ListMemoryProjects = 9, "list_memory_projects", READ;
    ListWorkspaces = 10, "list_workspaces", READ;
    Fetch = 11, "fetch", READ;
    Diagnostics = 12, "basic_memory_diagnostics", READ;
    SchemaInfer = 13, "schema_infer", READ;
    SchemaValidate = 14, "schema_validate", READ;
    SchemaDiff = 15, "schema_diff", READ;
    Cat = 16, "cat", READ;
    Grep = 17, "grep", READ;
    Ls = 18, "ls", READ;
    Find = 19, "find", READ;
    Tail = 20, "tail", READ;
    Man = 21, "man", READ;
    WriteNote = 32, "write_note", WRITE;
    EditNote = 33, "edit_note", WRITE;
    MoveNote = 34, "move_note", WRITE;
    DeleteNote = 35, "delete_note", DESTRUCTIVE;
    CreateMemoryProject = 36, "create_memory_project", WRITE;
    DeleteProject = 37, "delete_project", DESTRUCTIVE;
}

/// One governed tool of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Tool {
    /// What it does to memory, by the configured lists.
    pub class: Class,
    /// Which of the server's tools it is; `None` for the control tool and for names that the policy does not know.
    pub known: Option<Known>,
    /// Index of the server in the configured list; 0 for the control tool.
    pub server: u16,
}

impl Tool {
    /// The control tool.
    pub const CONTROL: Tool = Tool { class: Class::Control, known: None, server: 0 };

    /// The tool as 32 bits: class, known tool, server. Never 0, which stands for "not governed".
    #[must_use]
    pub const fn id(self) -> u32 {
        let known = match self.known {
            Some(known) => known as u32,
            None => 0,
        };
        self.class.number() | known << 4 | (self.server as u32) << 16
    }

    /// The tool with these bits; `None` for 0 and for what [`Tool::id`] never gives.
    #[must_use]
    pub fn from_id(id: u32) -> Option<Tool> {
        let known = match id >> 4 & 0xfff {
            0 => None,
            number => Some(Known::from_number(number)?),
        };
        Some(Tool { class: Class::from_number(id & 0xf)?, known, server: u16::try_from(id >> 16).ok()? })
    }
}

/// The configured lists and servers, ready to be asked about a name.
#[derive(Clone, Debug)]
pub struct Namespace {
    prefixes: Vec<String>,
    lists: std::collections::HashMap<String, Class>,
    search: Vec<String>,
}

/// The lists of raw names that make up a namespace. That they do not contradict is the configuration's business.
#[derive(Clone, Copy, Debug)]
pub struct Lists<'a> {
    /// Names of the servers, as the host's MCP rows have them.
    pub servers: &'a [String],
    /// Tools that only read.
    pub read: &'a [String],
    /// Tools whose success is a recall; all of them are reads.
    pub search: &'a [String],
    /// Tools that change memory.
    pub write: &'a [String],
    /// Tools that destroy memory; all of them are writes.
    pub destructive: &'a [String],
}

impl Namespace {
    /// Builds the namespace of these lists.
    #[must_use]
    pub fn new(lists: Lists<'_>) -> Namespace {
        let mut classes = std::collections::HashMap::new();
        for raw in lists.read {
            classes.insert(raw.clone(), Class::Read { search: lists.search.contains(raw) });
        }
        for raw in lists.write {
            classes.insert(raw.clone(), Class::Write { destructive: lists.destructive.contains(raw) });
        }
        Namespace {
            prefixes: lists.servers.iter().map(|server| format!("mcp__{server}__")).collect(),
            lists: classes,
            search: lists.search.to_vec(),
        }
    }

    /// The prefixes of governed public names, one per server; the control tool's name is governed besides.
    #[must_use]
    pub fn prefixes(&self) -> &[String] {
        &self.prefixes
    }

    /// What the policy makes of a public tool name; `None` where it is not governed. Where one server's prefix begins
    /// another's, the longer one is meant.
    #[must_use]
    pub fn resolve(&self, name: &str) -> Option<Tool> {
        if name == CONTROL_TOOL {
            return Some(Tool::CONTROL);
        }
        let (server, prefix) = self
            .prefixes
            .iter()
            .enumerate()
            .filter(|(_, p)| name.starts_with(p.as_str()))
            .max_by_key(|(_, p)| p.len())?;
        let raw = name.get(prefix.len()..)?;
        Some(Tool {
            class: self.lists.get(raw).copied().unwrap_or(Class::Unknown),
            known: Known::from_raw(raw),
            server: u16::try_from(server).ok()?,
        })
    }

    /// What denial texts name of the server of a tool: the first search tool of the list, and the tools that prove more
    /// where they are listed.
    #[must_use]
    pub fn words(&self, tool: Tool) -> Words {
        let prefix = self.prefixes.get(usize::from(tool.server)).map_or("", String::as_str);
        let public = |raw: &str| format!("{prefix}{raw}");
        let search = self.search.first().map_or("", String::as_str);
        let follows = Known::BuildContext.raw();
        let read = Known::ReadNote.raw();
        Words {
            search: public(search),
            searches_with: Known::from_raw(search),
            follow: (search != follows && self.search.iter().any(|raw| raw == follows)).then(|| public(follows)),
            read: matches!(self.lists.get(read), Some(Class::Read { .. })).then(|| public(read)),
            fixtures: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| (*s).to_owned()).collect()
    }

    fn namespace(servers: &[&str]) -> Namespace {
        Namespace::new(Lists {
            servers: &strings(servers),
            read: &strings(&["search_notes", "read_note"]),
            search: &strings(&["search_notes"]),
            write: &strings(&["write_note", "delete_note"]),
            destructive: &strings(&["delete_note"]),
        })
    }

    #[test]
    fn only_the_namespace_is_governed() {
        let n = namespace(&["basic-memory"]);
        for name in [
            "bash",
            "",
            "write_note",
            "MCP__basic-memory__write_note",
            "mcp__basic-memory_write_note",
            "mcp__bm__write_note",
            "bmpp__classify2",
        ] {
            assert_eq!(n.resolve(name), None, "{name}");
        }
        assert_eq!(n.resolve("bmpp__classify"), Some(Tool::CONTROL));
        let class = |name: &str| n.resolve(name).map(|t| t.class);
        assert_eq!(class("mcp__basic-memory__search_notes"), Some(SEARCH));
        assert_eq!(class("mcp__basic-memory__read_note"), Some(READ));
        assert_eq!(class("mcp__basic-memory__write_note"), Some(WRITE));
        assert_eq!(class("mcp__basic-memory__delete_note"), Some(DESTRUCTIVE));
        // A name the host cut and hashed, another case, a name with nothing after the prefix: in the namespace, unknown.
        for raw in ["write_note_0123456789ab", "Write_Note", "", "x__write_note"] {
            assert_eq!(class(&format!("mcp__basic-memory__{raw}")), Some(Class::Unknown), "{raw}");
        }
    }

    #[test]
    fn the_longer_server_name_wins() {
        let n = namespace(&["bm", "bm__x"]);
        assert_eq!(n.resolve("mcp__bm__x__write_note").map(|t| (t.server, t.class)), Some((1, WRITE)));
        assert_eq!(n.resolve("mcp__bm__write_note").map(|t| (t.server, t.class)), Some((0, WRITE)));
        assert_eq!(n.words(Tool { server: 1, ..Tool::CONTROL }).search, "mcp__bm__x__search_notes");
    }

    #[test]
    fn an_id_is_the_tool() {
        let mut seen = std::collections::HashSet::new();
        for (known, class) in Known::ALL {
            for server in [0, 1, u16::MAX] {
                let tool = Tool { class: *class, known: Some(*known), server };
                assert_eq!(Tool::from_id(tool.id()), Some(tool));
                assert!(tool.id() != 0 && seen.insert(tool.id()));
            }
        }
        for id in [0, 7, 15, 0xfff4, 22 << 4 | 4] {
            assert_eq!(Tool::from_id(id), None, "{id:#x}");
        }
    }
}
