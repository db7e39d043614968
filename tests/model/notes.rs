//! What happened to notes, as naively as it can be said: by reading the list of what happened. Everything here is asked of
//! the list of one server.

use super::answer::{became, named};
use super::connection::is_url;
use super::{Answer, Extra, Form, Judge, Kind, Name, Project, Settle};

/// The present turn of a session on one server, or a part of it from its beginning.
pub type List<'a> = &'a [&'a Happened];

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Happened {
    /// `open`: its result has not come, and nothing took its place. `switches`: the number of a call that may switch.
    Judged {
        judge: Judge,
        denied: bool,
        open: bool,
        /// The current project while it runs.
        current: usize,
        switches: Option<u64>,
    },
    Settled(Result),
    /// In another session: names may mean other notes since.
    Elsewhere(Result),
}

/// A result with what was known when it came.
#[derive(Clone, Debug)]
pub struct Result {
    pub judge: Judge,
    pub settle: Settle,
    /// The connection's project when it came; `None` where another call may have switched it while this one ran.
    pub current: Option<usize>,
    /// The project that the server was seen to use, where the result may be of it.
    pub own: Option<Project>,
    /// Of an edit that was done: that its note was known before, and whether it was seen.
    pub known: Option<bool>,
}

impl Result {
    pub fn outcome(&self) -> &'static str {
        became(&self.judge, &self.settle).0
    }

    pub fn done(&self) -> bool {
        self.outcome() == "succeeded"
    }

    /// What may have been done to notes: it was done, or nobody knows.
    pub fn may_be_done(&self) -> bool {
        self.done() || self.outcome() == "unknown"
    }

    /// The title of the path that the write went to: the answer's, or of a `write_note` the arguments'.
    pub fn placed(&self) -> Option<char> {
        let of_arguments = self.judge.kind == Kind::WriteNote && self.judge.args.extra != Extra::Unsafe;
        named(&self.judge, &self.settle).or(of_arguments.then_some(self.judge.args.title)).filter(|_| self.done())
    }

    /// The projects that its note is known to be in.
    pub fn projects(&self) -> Vec<In> {
        let mut projects = self.asked();
        projects.extend(self.here().map(In::Current));
        let answered = if self.settle.names.work { Project::Work } else { Project::Main };
        let has_lines = matches!(self.judge.kind, Kind::WriteNote | Kind::EditNote);
        if named(&self.judge, &self.settle).is_some() {
            projects.extend(has_lines.then_some(In::Named(answered)));
            // The permalink's prefix names the project only where the server was seen to name its own.
            let asked_nothing = self.judge.args.project == Project::None;
            projects.extend(self.own.filter(|own| asked_nothing && *own == answered).map(In::Named));
        }
        projects
    }

    /// The project that its call asked for.
    pub fn asked(&self) -> Vec<In> {
        asked(&self.judge, self.here())
    }

    /// The current project, as far as it is known. Where the call names one and its identifier another, it is not.
    fn here(&self) -> Option<usize> {
        self.current.filter(|_| !(self.judge.args.project != Project::None && is_url(&self.judge)))
    }
}

/// One way of knowing a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum In {
    Named(Project),
    Current(usize),
}

/// The project that a call asks for, where this is the current one.
pub fn asked(judge: &Judge, current: Option<usize>) -> Vec<In> {
    match judge.args.project {
        Project::None => current.map(In::Current).into_iter().collect(),
        project => vec![In::Named(project)],
    }
}

/// Whether a call moves or deletes the folder that all notes are in.
pub fn is_folder(judge: &Judge) -> bool {
    judge.args.form == Form::Other && matches!(judge.kind, Kind::MoveNote | Kind::DeleteNote)
}

/// What a result did to the names of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Renamed {
    Nothing,
    /// There is a new note.
    Made,
    /// The note at the path of this title may be called otherwise.
    Note(char),
    /// Any note may be.
    Any,
    /// Notes are gone from where they were, or may be.
    Removed,
}

pub fn renamed(result: &Result) -> Renamed {
    let Result { judge, .. } = result;
    if !judge.is_readable() || !result.may_be_done() {
        return Renamed::Nothing;
    }
    match judge.kind {
        Kind::WriteNote if result.done() && judge.args.form == Form::Plain => Renamed::Made,
        Kind::WriteNote | Kind::EditNote => result.placed().map_or(Renamed::Any, Renamed::Note),
        Kind::MoveNote | Kind::DeleteNote | Kind::CreateProject => Renamed::Removed,
        _ => Renamed::Nothing,
    }
}

/// The results of a list that reached their bodies, with the time of each. Time 0 is before everything; what a result
/// proves comes right after what it changes.
pub fn results(list: List<'_>) -> impl DoubleEndedIterator<Item = (usize, &Result)> + use<'_> {
    list.iter().enumerate().filter_map(|(at, happened)| match happened {
        Happened::Settled(result) if result.settle.reached => Some((time(at), result)),
        _ => None,
    })
}

fn elsewhere(list: List<'_>) -> impl Iterator<Item = (usize, &Result)> + use<'_> {
    list.iter().enumerate().filter_map(|(at, happened)| match happened {
        Happened::Elsewhere(result) if result.settle.reached => Some((time(at), result)),
        _ => None,
    })
}

pub fn time(at: usize) -> usize {
    2 * (at + 1)
}

fn last<'a>(of: impl Iterator<Item = (usize, &'a Result)>, which: impl Fn(Renamed) -> bool) -> usize {
    of.filter(|(_, result)| which(renamed(result))).map(|(time, _)| time).max().unwrap_or(0)
}

/// When what identifiers mean may last have changed. What this turn made it knows; what another session made may take a name.
pub fn names_changed(list: List<'_>) -> usize {
    let here = last(results(list), |renamed| !matches!(renamed, Renamed::Nothing | Renamed::Made));
    here.max(names_taken(list))
}

/// When another session may last have taken a name.
pub fn names_taken(list: List<'_>) -> usize {
    last(elsewhere(list), |renamed| renamed != Renamed::Nothing)
}

/// When any note may last have got another name, and nobody knows which.
pub fn any_renamed(list: List<'_>) -> usize {
    let any = |renamed| matches!(renamed, Renamed::Any | Renamed::Removed);
    last(results(list), any).max(last(elsewhere(list), any))
}

/// When the note at the path of this title was last edited.
pub fn edited(list: List<'_>, title: char) -> usize {
    let this = |renamed| renamed == Renamed::Note(title);
    last(results(list), this).max(last(elsewhere(list), this))
}

/// When another session may last have moved or deleted notes.
pub fn removed_elsewhere(list: List<'_>) -> usize {
    last(elsewhere(list), |renamed| renamed == Renamed::Removed)
}

/// When a move, a deletion or a project call of this turn was last done.
pub fn barrier(list: List<'_>) -> usize {
    results(list)
        .filter(|(_, result)| renamed(result) == Renamed::Removed && result.done())
        .map(|(time, _)| time)
        .max()
        .unwrap_or(0)
}

/// What is known of notes that are gone, or may be.
struct Gone {
    time: usize,
    /// More than can be remembered: every note counts as gone.
    everything: bool,
    /// All notes are.
    folder: bool,
    /// Titles of paths that are known to be meant.
    paths: Vec<char>,
    /// Whether nothing but names says which note it was.
    unplaced: bool,
    /// Titles that its names have.
    names: Vec<char>,
}

/// Removals that one turn remembers; beyond it every note counts as gone.
const GONE_MAX: usize = 256;

fn all_gone(list: List<'_>) -> Vec<Gone> {
    let mut all: Vec<Gone> = Vec::new();
    let mut remembered = 0;
    for (time, result) in results(list) {
        let Result { judge, settle, .. } = result;
        let notes = matches!(judge.kind, Kind::MoveNote | Kind::DeleteNote);
        if renamed(result) != Renamed::Removed || !notes {
            continue;
        }
        let before: Vec<&Happened> = list[..time / 2 - 1].to_vec();
        let title = judge.args.title;
        let answered = named(judge, settle).filter(|_| judge.kind == Kind::DeleteNote);
        let reached = reached(&before, judge, &result.asked());
        let at = answered.or(reached);
        let mut gone = Gone {
            time,
            everything: false,
            folder: is_folder(judge),
            paths: Vec::new(),
            unplaced: false,
            names: Vec::new(),
        };
        if !gone.folder {
            gone.paths.extend(at);
            gone.unplaced = at.is_none();
            gone.names.push(title);
            gone.names.extend(answered);
        }
        let mut entries = 1;
        if gone.unplaced {
            // What it was called can be another name of a note whose path is known.
            for path in ['A', 'B', 'C'] {
                if names_of(&before, path).contains(&title) {
                    gone.paths.push(path);
                    entries += 1;
                }
            }
        }
        if remembered + entries > GONE_MAX {
            all.push(Gone {
                time,
                everything: true,
                folder: true,
                paths: Vec::new(),
                unplaced: false,
                names: Vec::new(),
            });
        } else {
            remembered += entries;
            all.push(gone);
        }
    }
    all
}

/// The titles in the names by which the note at a path is known: of JSON reads, and of writes what they were called with too.
fn names_of(list: List<'_>, path: char) -> Vec<char> {
    let mut names = Vec::new();
    for (_, result) in results(list).filter(|(_, result)| result.done()) {
        let Result { judge, settle, .. } = result;
        let found = named(judge, settle);
        match judge.kind {
            Kind::ReadNote if found == Some(path) && is_whole_json(judge) => names.push(path),
            Kind::WriteNote if judge.is_readable() && result.placed() == Some(path) => names.push(path),
            Kind::EditNote if found == Some(path) => names.extend([path, judge.args.title]),
            // What the answer names is where the note is now.
            Kind::MoveNote if settle.answer == Answer::Hits && judge.is_readable() && settle.title(judge) == path => {
                names.push(path);
                names.extend((!is_folder(judge)).then_some(judge.args.title));
            }
            _ => {}
        }
    }
    names
}

/// Whether a read shows the whole note and says which it is.
pub fn is_whole_json(judge: &Judge) -> bool {
    judge.kind == Kind::ReadNote && judge.args.form == Form::Plain && !judge.args.second
}

/// When the note at the path of a title was last deleted or moved away, or may have been.
pub fn path_gone(list: List<'_>, title: char) -> usize {
    let may_be =
        |gone: &&Gone| gone.folder || gone.paths.contains(&title) || gone.unplaced && gone.names.contains(&title);
    all_gone(list).iter().filter(may_be).map(|gone| gone.time).max().unwrap_or(0)
}

/// The same of the note that an identifier reaches.
pub fn identifier_gone(list: List<'_>, title: char) -> usize {
    let may_be = |gone: &&Gone| gone.folder || gone.names.contains(&title);
    all_gone(list).iter().filter(may_be).map(|gone| gone.time).max().unwrap_or(0)
}

/// Whether so many notes are gone that each counts as gone.
pub fn all_are_gone(list: List<'_>) -> bool {
    all_gone(list).iter().any(|gone| gone.everything)
}

/// When any note was last deleted or moved away, or may have been.
pub fn any_gone(list: List<'_>) -> usize {
    all_gone(list).iter().map(|gone| gone.time).max().unwrap_or(0)
}

/// The title of the path that an identifier reached when it was last read whole, if that still holds.
pub fn reached(list: List<'_>, judge: &Judge, projects: &[In]) -> Option<char> {
    let read = results(list).rev().find(|(_, result)| {
        let same = result.judge.args.name == judge.args.name && result.judge.args.title == judge.args.title;
        same && is_reached(result) && result.asked().iter().any(|project| projects.contains(project))
    });
    // Another read of the same identifier with another outcome has not taken it back.
    read.filter(|(time, _)| *time > names_changed(list)).and_then(|(_, result)| named(&result.judge, &result.settle))
}

/// Whether a read's identifier is a name of the note that its answer names.
pub fn is_reached(result: &Result) -> bool {
    is_whole_json(&result.judge) && named(&result.judge, &result.settle) == Some(result.judge.args.title)
}

/// Whether the server finds the note that a result names by this identifier through its permalink, and whether the identifier
/// is the permalink.
pub fn by_permalink(result: &Result) -> Option<bool> {
    let Result { judge, settle, .. } = result;
    if named(judge, settle) != Some(judge.args.title) {
        return None;
    }
    match judge.args.name {
        Name::Path => Some(false),
        Name::Permalink if !settle.names.work => Some(true),
        Name::Title | Name::Permalink | Name::Url => None,
    }
}
