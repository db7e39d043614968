//! Random histories of several sessions on two servers, and the real policy playing them.
//!
//! Bytes are turned into a script of concrete events first, so that a property can filter, insert and permute events
//! before anything is played. A *narrow* script has one server, one project and one name for each note; a *wide* one has
//! all that the naive model knows of.

pub mod answer;
pub mod connection;
pub mod known;
pub mod naive;
pub mod notes;
pub mod repeated;
pub mod runs;
pub mod script;
pub mod world;

use dsh_bmpp::policy::Task;
use serde_json::{Value, json};

pub use answer::{Answer, Names};
pub use script::{Raw, Wide, script, wide_script};

/// How many sessions a script has.
pub const SLOTS: u8 = 3;

/// The governed servers.
pub const SERVERS: [&str; 2] = ["basic-memory", "team"];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Classify,
    Search,
    BuildContext,
    ReadNote,
    ViewNote,
    WriteNote,
    EditNote,
    MoveNote,
    DeleteNote,
    CreateProject,
    /// On no list.
    Rename,
}

impl Kind {
    pub fn raw(self) -> &'static str {
        match self {
            Kind::Classify => "",
            Kind::Search => "search_notes",
            Kind::BuildContext => "build_context",
            Kind::ReadNote => "read_note",
            Kind::ViewNote => "view_note",
            Kind::WriteNote => "write_note",
            Kind::EditNote => "edit_note",
            Kind::MoveNote => "move_note",
            Kind::DeleteNote => "delete_note",
            Kind::CreateProject => "create_memory_project",
            Kind::Rename => "rename_note",
        }
    }

    /// The public name of the tool on a server.
    pub fn name(self, server: u8) -> String {
        match self {
            Kind::Classify => "bmpp__classify".to_owned(),
            _ => format!("mcp__{}__{}", SERVERS[usize::from(server)], self.raw()),
        }
    }

    pub fn looks_up(self) -> bool {
        matches!(self, Kind::Search | Kind::BuildContext)
    }

    /// Whether it reads one note.
    pub fn reads(self) -> bool {
        matches!(self, Kind::ReadNote | Kind::ViewNote)
    }

    pub fn writes(self) -> bool {
        !matches!(self, Kind::Classify) && !self.looks_up() && !self.reads()
    }

    /// Whether its note is named by an identifier.
    pub fn identifies(self) -> bool {
        self.reads() || matches!(self, Kind::EditNote | Kind::MoveNote | Kind::DeleteNote)
    }
}

/// What the arguments of a call look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A creating write, an append, a read in JSON mode, a move or a deletion of a note.
    Plain,
    /// An overwrite, a replacement, a read in text mode, a move or a deletion of the folder `d`.
    Other,
    NoObject,
    TwoNames,
}

/// The project that a call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Project {
    None,
    Main,
    Work,
}

/// How a call names its note, whose title is a letter: `A`, `d/A.md`, `main/d/a`, `memory://main/d/a`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Name {
    Title,
    Path,
    Permalink,
    Url,
}

impl Name {
    pub fn text(self, title: char) -> String {
        let lower = title.to_ascii_lowercase();
        match self {
            Name::Title => title.to_string(),
            Name::Path => format!("d/{title}.md"),
            Name::Permalink => format!("main/d/{lower}"),
            Name::Url => format!("memory://main/d/{lower}"),
        }
    }
}

/// The arguments of a call, in a world of a few notes in one folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Args {
    pub form: Form,
    /// The note's title. Its path is `d/<title>.md`.
    pub title: char,
    /// Which of two texts is written; of a read in JSON mode, whether it is of a part of the note; of a move, which of two
    /// paths it goes to.
    pub second: bool,
    /// Of a `write_note`: what a guard that looks at arguments finds in it.
    pub extra: Extra,
    pub server: u8,
    pub project: Project,
    pub name: Name,
}

/// What a guard finds in the arguments themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    Nothing,
    Unsafe,
    Secret,
    Fixture,
}

/// The title after a title, in a ring of three.
pub fn next(title: char) -> char {
    match title {
        'A' => 'B',
        'B' => 'C',
        _ => 'A',
    }
}

impl Args {
    pub const PLAIN: Args = Args {
        form: Form::Plain,
        title: 'A',
        second: false,
        extra: Extra::Nothing,
        server: 0,
        project: Project::None,
        name: Name::Title,
    };

    /// The title of the path that a move goes to.
    pub fn destination(self) -> char {
        if self.second { next(self.title) } else { next(next(self.title)) }
    }

    /// The arguments, with these two texts for content and this one for what is replaced.
    pub fn value(self, kind: Kind, texts: &[String; 3]) -> Value {
        let mut value = self.object(kind, texts);
        let project = match (self.project, self.title) {
            (Project::None, _) => return value,
            (Project::Main, 'A') => "main",
            (Project::Main, _) => "Main/",
            (Project::Work, 'A') => "work",
            (Project::Work, _) => " WORK",
        };
        if let (Some(object), Form::Plain | Form::Other) = (value.as_object_mut(), self.form) {
            object.insert("project".to_owned(), json!(project));
        }
        value
    }

    fn object(self, kind: Kind, texts: &[String; 3]) -> Value {
        let [first, second, old] = texts;
        let (title, content) = (self.title.to_string(), if self.second { second } else { first });
        let identifier = self.name.text(self.title);
        match (self.form, kind) {
            (Form::NoObject, _) => json!("{\"title\":"),
            (Form::TwoNames, Kind::EditNote) => json!({ "find": "a", "old_text": "a" }),
            (Form::TwoNames, Kind::MoveNote) => json!({ "to": "a", "destination": "a" }),
            (Form::TwoNames, Kind::DeleteNote) => json!({ "is_dir": true, "is_directory": true }),
            (Form::TwoNames, _) => json!({ "folder": "d", "directory": "d" }),
            (Form::Plain, Kind::ReadNote) if self.second => {
                json!({ "identifier": identifier, "output_format": "json", "start_line": 1 })
            }
            (_, Kind::ViewNote) | (Form::Other, Kind::ReadNote) => json!({ "identifier": identifier }),
            (Form::Plain, Kind::EditNote) => {
                json!({ "identifier": identifier, "operation": "append", "content": content })
            }
            (Form::Other, Kind::EditNote) => {
                json!({ "identifier": identifier, "operation": "find_replace", "find_text": old, "content": content })
            }
            (Form::Other, Kind::DeleteNote) => json!({ "identifier": "d", "is_directory": true }),
            (Form::Other, Kind::MoveNote) => {
                json!({ "identifier": "d", "is_directory": "true", "destination_path": "e" })
            }
            (Form::Plain, Kind::MoveNote) => {
                json!({ "identifier": identifier, "to": format!("d/{}.md", self.destination()) })
            }
            (Form::Plain, Kind::ReadNote | Kind::DeleteNote) => {
                json!({ "identifier": identifier, "output_format": "json" })
            }
            (_, Kind::CreateProject) => json!({ "project_name": title, "project_path": "/p" }),
            _ => {
                let (directory, tags) = match self.extra {
                    Extra::Nothing => ("d", json!(null)),
                    Extra::Unsafe => ("../d", json!(null)),
                    Extra::Secret => ("d", json!(["https://alice:hunter2pass@host/x"])),
                    Extra::Fixture => ("d", json!(["[test-fixture]"])),
                };
                let overwrite = (self.form == Form::Other).then_some("yes");
                json!({ "title": title, "directory": directory, "content": content, "tags": tags, "overwrite": overwrite })
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Turn,
    NoAgent,
    Unknown,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Open { slot: u8 },
    Close { slot: u8 },
    EndTurn { slot: u8 },
    Judge(Judge),
    Settle(Settle),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judge {
    pub slot: u8,
    pub call: u32,
    pub kind: Kind,
    pub args: Args,
    pub place: Place,
    pub turn: u32,
    pub step: u32,
    pub hidden: bool,
}

impl Judge {
    /// Whether its arguments can be read: one object, no parameter twice.
    pub fn is_readable(&self) -> bool {
        match self.args.form {
            Form::Plain | Form::Other => true,
            Form::NoObject => false,
            // Neither has two names for one parameter, and of a tool that no table knows nobody knows.
            Form::TwoNames => matches!(self.kind, Kind::Rename | Kind::CreateProject),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    pub slot: u8,
    pub call: u32,
    pub reached: bool,
    pub is_error: bool,
    pub answer: Answer,
    /// Which note the answer names.
    pub names: Names,
    pub declared: Option<Task>,
    pub step: u32,
}

impl Event {
    pub fn slot(&self) -> u8 {
        match self {
            Event::Open { slot } | Event::Close { slot } | Event::EndTurn { slot } => *slot,
            Event::Judge(judge) => judge.slot,
            Event::Settle(settle) => settle.slot,
        }
    }
}
