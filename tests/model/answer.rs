//! What the server answers, and what became of the call by it.

use super::{Form, Judge, Kind, Settle, next};

/// What the server answers; each tool in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Hits, the note, done.
    Hits,
    /// No hit, no such note, already there; and an edit that made the note.
    Nothing,
    Failure,
    /// An error in a structured value; of an edit and a move, that its outcome is not known.
    ErrorField,
    Odd,
}

/// Which note an answer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// The one after the one that was asked for.
    pub other: bool,
    /// In the project `work`, and not in `main`.
    pub work: bool,
}

impl Names {
    /// The note that was asked for, in `main`.
    pub const ASKED: Names = Names { other: false, work: false };
}

impl Settle {
    /// The title of the note that the answer names, where it names one.
    pub fn title(&self, judge: &Judge) -> char {
        let title = if judge.kind == Kind::MoveNote { judge.args.destination() } else { judge.args.title };
        if self.names.other { next(title) } else { title }
    }
}

impl Answer {
    /// The text of the answer to this call.
    pub fn text(self, judge: &Judge, settle: &Settle) -> String {
        let title = settle.title(judge);
        let lower = title.to_ascii_lowercase();
        let project = if settle.names.work { "work" } else { "main" };
        let permalink = format!("{project}/d/{lower}");
        let lines =
            format!("project: {project}\nfile_path: d/{title}.md\npermalink: {permalink}\nchecksum: 0123abcd\n");
        let note = format!("\"title\":\"{title}\",\"permalink\":\"{permalink}\",\"file_path\":\"d/{title}.md\"");
        let plain = judge.args.form != Form::Other;
        match (self, judge.kind) {
            (Answer::Odd, _) => "Something else".to_owned(),
            (Answer::ErrorField, Kind::EditNote) => "{\"error\":\"EDIT_OUTCOME_UNKNOWN\"}".to_owned(),
            (Answer::ErrorField, Kind::MoveNote) => "{\"error\":\"MOVE_OUTCOME_MISMATCH\"}".to_owned(),
            (Answer::ErrorField, Kind::DeleteNote) if !plain => {
                "{\"deleted\":false,\"error\":\"Directory delete incomplete: 1\"}".to_owned()
            }
            (Answer::ErrorField, _) => "{\"results\":[1],\"error\":\"Search failed\"}".to_owned(),
            (Answer::Hits, Kind::ReadNote) if plain => format!("{{{note},\"content\":\"x\"}}"),
            (Answer::Hits, Kind::ReadNote) => format!("---\ntitle: {title}\n---\n\nx"),
            (Answer::Hits, Kind::ViewNote) => format!("Note retrieved: \"{title}\""),
            (Answer::Hits, Kind::WriteNote) if plain => format!("# Created note\n{lines}"),
            (Answer::Hits, Kind::WriteNote) => format!("# Updated note\n{lines}"),
            (Answer::Hits, Kind::EditNote) => format!("# Edited note (append)\n{lines}"),
            (Answer::Hits, Kind::MoveNote) => format!("{{\"moved\":true,{note}}}"),
            (Answer::Hits, Kind::DeleteNote) if plain => format!("{{\"deleted\":true,{note}}}"),
            (Answer::Hits, Kind::DeleteNote) => "# Directory Deleted Successfully".to_owned(),
            (Answer::Hits, Kind::CreateProject) => "✓ Project 'p' created".to_owned(),
            (Answer::Hits, Kind::BuildContext) => "# Context: a".to_owned(),
            (Answer::Hits, _) => "# Search Results: a".to_owned(),
            (Answer::Nothing, Kind::ReadNote) if plain => {
                "{\"error\":\"NOTE_NOT_FOUND\",\"file_path\":null}".to_owned()
            }
            (Answer::Nothing, Kind::ReadNote | Kind::ViewNote) => "\n# Note Not Found in main: \"A\"".to_owned(),
            (Answer::Nothing, Kind::WriteNote) => "# Error: Note already exists".to_owned(),
            (Answer::Nothing, Kind::EditNote) => format!("# Created note (append)\n{lines}"),
            (Answer::Nothing, Kind::MoveNote) => "{\"moved\":false}".to_owned(),
            (Answer::Nothing, Kind::DeleteNote) => "{\"deleted\":false}".to_owned(),
            (Answer::Nothing, Kind::CreateProject) => "✓ Project already exists".to_owned(),
            (Answer::Nothing, _) => "No results found for 'a' in project 'main'.".to_owned(),
            (Answer::Failure, Kind::EditNote) => "# Edit Failed - Note Not Found".to_owned(),
            (Answer::Failure, Kind::MoveNote) => "# Move Failed".to_owned(),
            (Answer::Failure, Kind::DeleteNote) if plain => "# Delete Failed".to_owned(),
            (Answer::Failure, Kind::DeleteNote) => "# Directory Delete Failed".to_owned(),
            (Answer::Failure, Kind::Search) => "# Search Failed".to_owned(),
            (Answer::Failure, _) => "# Error".to_owned(),
        }
    }
}

/// What the evidence table says of an answer to a call, the flag aside.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    Done,
    Failed,
    /// Part of it was done, or nobody knows.
    Open,
    /// No line holds.
    Nothing,
}

fn says(judge: &Judge, answer: Answer) -> Says {
    match (judge.kind, answer) {
        (Kind::Rename, _) => Says::Nothing,
        (Kind::ReadNote, Answer::Odd) | (_, Answer::Hits) | (Kind::EditNote, Answer::Nothing) => Says::Done,
        (_, Answer::Odd) | (Kind::ViewNote, Answer::ErrorField) => Says::Nothing,
        (Kind::EditNote | Kind::MoveNote, Answer::ErrorField) => Says::Open,
        (Kind::DeleteNote, Answer::ErrorField) if judge.args.form == Form::Other => Says::Open,
        _ => Says::Failed,
    }
}

/// What became of a call that is no lookup and no declaration, and what is observed of its answer.
pub fn became(judge: &Judge, settle: &Settle) -> (&'static str, Option<&'static str>) {
    let by_flag = if settle.is_error { "failed" } else { "succeeded" };
    let writes = judge.kind.writes();
    if writes && !judge.is_readable() {
        // Nothing follows from a call that could not be read.
        return (by_flag, None);
    }
    let says = says(judge, settle.answer);
    let tabled = judge.kind != Kind::Rename;
    let observed = (says == Says::Nothing && !settle.is_error && tabled).then_some("LOOKUP_HEADING_UNKNOWN");
    let outcome = match says {
        Says::Open => "unknown",
        Says::Failed => "failed",
        // An error that the server did not write leaves a write open, also one that says the call was done.
        Says::Done | Says::Nothing if settle.is_error && writes => "unknown",
        Says::Done | Says::Nothing => by_flag,
    };
    (outcome, observed)
}

/// The title of the note that a result names, in a form that the server is known to give.
pub fn named(judge: &Judge, settle: &Settle) -> Option<char> {
    let has_lines = match (judge.kind, settle.answer) {
        (Kind::WriteNote, Answer::Hits) | (Kind::EditNote, Answer::Hits | Answer::Nothing) => true,
        (Kind::ReadNote | Kind::DeleteNote, Answer::Hits) => judge.args.form == Form::Plain,
        _ => false,
    };
    (has_lines && judge.is_readable() && became(judge, settle).0 == "succeeded").then(|| settle.title(judge))
}
