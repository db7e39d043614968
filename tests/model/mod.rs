//! Random histories of several sessions, and the real policy playing them.
//!
//! Bytes are turned into a script of concrete events first, so that a property can filter, insert and permute events
//! before anything is played.

pub mod naive;
pub mod notes;
pub mod runs;
pub mod world;

use std::collections::BTreeMap;

use dsh_bmpp::policy::Task;
use serde_json::{Value, json};

/// How many sessions a script has.
pub const SLOTS: u8 = 3;

/// One random event, before it is known what it means.
pub type Raw = (u8, u8, u8, u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Classify,
    Search,
    BuildContext,
    ReadNote,
    WriteNote,
    EditNote,
    DeleteNote,
    /// On no list.
    Rename,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Classify => "bmpp__classify",
            Kind::Search => "mcp__basic-memory__search_notes",
            Kind::BuildContext => "mcp__basic-memory__build_context",
            Kind::ReadNote => "mcp__basic-memory__read_note",
            Kind::WriteNote => "mcp__basic-memory__write_note",
            Kind::EditNote => "mcp__basic-memory__edit_note",
            Kind::DeleteNote => "mcp__basic-memory__delete_note",
            Kind::Rename => "mcp__basic-memory__rename_note",
        }
    }

    pub fn looks_up(self) -> bool {
        matches!(self, Kind::Search | Kind::BuildContext)
    }

    pub fn writes(self) -> bool {
        matches!(self, Kind::WriteNote | Kind::EditNote | Kind::DeleteNote | Kind::Rename)
    }
}

/// What the arguments of a call look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A creating write, an append, a read in JSON mode.
    Plain,
    /// An overwrite, a replacement, a read in text mode.
    Other,
    NoObject,
    TwoNames,
}

/// The arguments of a call, in a world of two notes, one project and one name for each note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Args {
    pub form: Form,
    /// The note's title. Its path is `d/<title>.md`.
    pub title: char,
    /// Which of two texts is written; of a read in JSON mode, whether it is of a part of the note.
    pub second: bool,
    /// Of a `write_note`: what a guard that looks at arguments finds in it.
    pub extra: Extra,
}

/// What a guard finds in the arguments themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extra {
    Nothing,
    Unsafe,
    Secret,
    Fixture,
}

impl Args {
    pub const PLAIN: Args = Args { form: Form::Plain, title: 'A', second: false, extra: Extra::Nothing };

    /// The arguments, with these two texts for content and this one for what is replaced.
    pub fn value(self, kind: Kind, texts: &[String; 3]) -> Value {
        let [first, second, old] = texts;
        let (title, content) = (self.title.to_string(), if self.second { second } else { first });
        match (self.form, kind) {
            (Form::NoObject, _) => json!("{\"title\":"),
            (Form::TwoNames, Kind::EditNote) => json!({ "find": "a", "old_text": "a" }),
            (Form::TwoNames, Kind::DeleteNote) => json!({ "is_dir": true, "is_directory": true }),
            (Form::TwoNames, _) => json!({ "folder": "d", "directory": "d" }),
            (Form::Plain, Kind::ReadNote) if self.second => {
                json!({ "identifier": title, "output_format": "json", "start_line": 1 })
            }
            (Form::Other, Kind::ReadNote) => json!({ "identifier": title }),
            (Form::Plain, Kind::EditNote) => json!({ "identifier": title, "operation": "append", "content": content }),
            (Form::Other, Kind::EditNote) => {
                json!({ "identifier": title, "operation": "find_replace", "find_text": old, "content": content })
            }
            (Form::Plain, Kind::ReadNote) | (_, Kind::DeleteNote) => {
                json!({ "identifier": title, "output_format": "json" })
            }
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

/// What the server answers; each tool in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Hits, the note, done.
    Hits,
    /// No hit, no such note, already there; and an edit that made the note.
    Nothing,
    Failure,
    /// An error in a structured value; of an edit, that its outcome is not known.
    ErrorField,
    Odd,
}

impl Answer {
    /// The text of the answer to this call.
    pub fn text(self, judge: &Judge) -> String {
        let title = judge.args.title;
        let lower = title.to_ascii_lowercase();
        let lines = format!("project: main\nfile_path: d/{title}.md\npermalink: main/d/{lower}\nchecksum: 0123abcd\n");
        let note = format!("\"title\":\"{title}\",\"permalink\":\"main/d/{lower}\",\"file_path\":\"d/{title}.md\"");
        let json = judge.args.form != Form::Other;
        match (self, judge.kind) {
            (Answer::Odd, _) => "Something else".to_owned(),
            (Answer::ErrorField, Kind::EditNote) => "{\"error\":\"EDIT_OUTCOME_UNKNOWN\"}".to_owned(),
            (Answer::ErrorField, _) => "{\"results\":[1],\"error\":\"Search failed\"}".to_owned(),
            (Answer::Hits, Kind::ReadNote) if json => format!("{{{note},\"content\":\"x\"}}"),
            (Answer::Hits, Kind::ReadNote) => format!("---\ntitle: {title}\n---\n\nx"),
            (Answer::Hits, Kind::WriteNote) if json => format!("# Created note\n{lines}"),
            (Answer::Hits, Kind::WriteNote) => format!("# Updated note\n{lines}"),
            (Answer::Hits, Kind::EditNote) => format!("# Edited note (append)\n{lines}"),
            (Answer::Hits, Kind::DeleteNote) => format!("{{\"deleted\":true,{note}}}"),
            (Answer::Hits, Kind::BuildContext) => "# Context: a".to_owned(),
            (Answer::Hits, _) => "# Search Results: a".to_owned(),
            (Answer::Nothing, Kind::ReadNote) if json => "{\"error\":\"NOTE_NOT_FOUND\",\"file_path\":null}".to_owned(),
            (Answer::Nothing, Kind::ReadNote) => "\n# Note Not Found in main: \"A\"".to_owned(),
            (Answer::Nothing, Kind::WriteNote) => "# Error: Note already exists".to_owned(),
            (Answer::Nothing, Kind::EditNote) => format!("# Created note (append)\n{lines}"),
            (Answer::Nothing, Kind::DeleteNote) => "{\"deleted\":false}".to_owned(),
            (Answer::Nothing, _) => "No results found for 'a' in project 'main'.".to_owned(),
            (Answer::Failure, Kind::EditNote) => "# Edit Failed - Note Not Found".to_owned(),
            (Answer::Failure, Kind::DeleteNote) => "# Delete Failed".to_owned(),
            (Answer::Failure, Kind::ReadNote | Kind::WriteNote | Kind::BuildContext) => "# Error".to_owned(),
            (Answer::Failure, _) => "# Search Failed".to_owned(),
        }
    }
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

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    pub slot: u8,
    pub call: u32,
    pub reached: bool,
    pub is_error: bool,
    pub answer: Answer,
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

/// Turns bytes into a script. Every session begins open, in turn 1 and step 1. What is drawn from one byte is drawn from
/// bits apart, so that everything comes together with everything.
pub fn script(raw: &[Raw]) -> Vec<Event> {
    let mut events: Vec<Event> = (0..SLOTS).map(|slot| Event::Open { slot }).collect();
    let mut at: BTreeMap<u8, (u32, u32)> = (0..SLOTS).map(|slot| (slot, (1, 1))).collect();
    let mut calls: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    for &(what, a, b, c) in raw {
        // Most of the events fall on one session, so that its turns get somewhere.
        let slot = if what < 190 { 0 } else { what % SLOTS };
        let (turn, step) = at[&slot];
        let known = calls.entry(slot).or_default();
        match a {
            0..=104 => {
                let next = u32::from(slot) * 1_000_000 + u32::try_from(known.len()).unwrap_or_default();
                // Now and then a call is judged again.
                let call = if b % 16 == 7 { pick(known, b).unwrap_or(next) } else { next };
                known.push(call);
                events.push(Event::Judge(judged(slot, call, turn, step, b, c)));
            }
            105..=199 => {
                if let Some(call) = pick(known, if b < 200 { 0 } else { b }) {
                    events.push(Event::Settle(settled(slot, call, step, b, c)));
                }
            }
            200..=234 => drop(at.insert(slot, (turn, step + 1))),
            235..=239 => drop(at.insert(slot, (turn + 1, 1))),
            240..=244 => {
                at.insert(slot, (turn + u32::from(b % 2), 1));
                events.push(Event::EndTurn { slot });
            }
            245..=249 => events.push(Event::Close { slot }),
            250.. => events.push(Event::Open { slot }),
        }
    }
    events
}

/// One of the calls so far: 0 is the newest.
fn pick(calls: &[u32], back: u8) -> Option<u32> {
    let back = usize::from(back) % calls.len().max(1);
    calls.iter().rev().nth(back).copied()
}

fn judged(slot: u8, call: u32, turn: u32, step: u32, b: u8, c: u8) -> Judge {
    let kind = match b {
        0..=59 => Kind::Classify,
        60..=94 => Kind::Search,
        95..=104 => Kind::BuildContext,
        105..=144 => Kind::ReadNote,
        145..=189 => Kind::WriteNote,
        190..=224 => Kind::EditNote,
        225..=244 => Kind::DeleteNote,
        245.. => Kind::Rename,
    };
    let form = match c % 16 {
        0..=7 => Form::Plain,
        8..=13 => Form::Other,
        14 => Form::NoObject,
        _ => Form::TwoNames,
    };
    let extra = match (kind, b.wrapping_add(c) % 32) {
        (Kind::WriteNote, 0) => Extra::Unsafe,
        (Kind::WriteNote, 1) => Extra::Secret,
        (Kind::WriteNote, 2) => Extra::Fixture,
        _ => Extra::Nothing,
    };
    let args = Args { form, title: if b % 3 == 2 { 'B' } else { 'A' }, second: b % 4 == 3, extra };
    let place = match c {
        240..=247 => Place::NoAgent,
        248.. => Place::Unknown,
        _ => Place::Turn,
    };
    Judge { slot, call, kind, args, place, turn, step, hidden: b % 32 == 31 }
}

fn settled(slot: u8, call: u32, step: u32, b: u8, c: u8) -> Settle {
    let answer = match c % 8 {
        0..=2 => Answer::Hits,
        3 => Answer::Nothing,
        4 => Answer::Odd,
        5 => Answer::ErrorField,
        _ => Answer::Failure,
    };
    let declared = match b % 8 {
        0..=3 => Some(Task::Complex),
        4..=6 => Some(Task::Simple),
        _ => None,
    };
    Settle {
        slot,
        call,
        reached: c < 230,
        is_error: (b >> 3) % 16 == 15,
        answer,
        declared,
        step: step + u32::from(c % 11 == 10),
    }
}
