//! Whether a turn knows a note: whether it read it, wrote it, or found that it is not there.

use super::answer::named;
use super::notes::{self, In, List, Result, by_permalink, is_reached, is_whole_json, results};
use super::{Answer, Extra, Form, Judge, Kind, Name};

/// What a note is asked for by.
#[derive(Clone, Copy, Debug, Default)]
pub struct Asked {
    /// The title of its path.
    pub path: Option<char>,
    /// Its identifier.
    pub identifier: Option<(Name, char)>,
    /// An identifier that would find it, so that finding nothing says that it is not there.
    pub absent: Option<(Name, char)>,
}

impl Asked {
    /// What a write's note is known by.
    pub fn of(write: &Judge) -> Asked {
        let title = write.args.title;
        match write.kind {
            Kind::WriteNote if write.args.extra == Extra::Unsafe => Asked::default(),
            Kind::WriteNote => Asked { path: Some(title), identifier: None, absent: Some((Name::Path, title)) },
            _ if write.kind.identifies() && !notes::is_folder(write) => {
                let named = Some((write.args.name, title));
                Asked { path: None, identifier: named, absent: named }
            }
            _ => Asked::default(),
        }
    }
}

/// Whether a note is known to a call of this step, by what came after `since`.
pub fn knows(list: List<'_>, asked: Asked, projects: &[In], since: usize, step: u32) -> bool {
    let meant = since.max(notes::names_changed(list));
    asked.path.is_some_and(|title| {
        let since = since.max(notes::removed_elsewhere(list));
        results(list).any(|(time, result)| proof(time, since) && proves_path(result, title, projects, step))
    }) || asked.identifier.is_some_and(|identifier| {
        results(list).any(|(time, result)| proof(time, meant) && proves_identifier(result, identifier, projects, step))
            || proven_by_permalink(list, identifier, projects, since, step)
    }) || asked.absent.is_some_and(|identifier| {
        results(list).any(|(time, result)| proof(time, meant) && is_missed(result, identifier, projects))
    })
}

/// What a result proves comes right after what it changes.
fn proof(time: usize, since: usize) -> bool {
    time + 1 > since
}

fn meets(ours: &[In], theirs: &[In]) -> bool {
    ours.iter().any(|project| theirs.contains(project))
}

/// Whether a read's result was there before a call of this step was made.
fn is_seen(result: &Result, step: u32) -> bool {
    result.judge.step.max(result.settle.step) < step
}

/// Whether what the turn wrote by this result it knows: what a `write_note` wrote, what an edit made, and what an edit found
/// known.
fn knows_what_it_wrote(result: &Result, step: u32) -> bool {
    match (result.judge.kind, result.settle.answer) {
        (Kind::WriteNote, Answer::Hits) => true,
        (Kind::EditNote, Answer::Hits | Answer::Nothing) => match result.known {
            Some(true) => true,
            Some(false) => result.settle.step < step,
            None => false,
        },
        _ => false,
    }
}

fn proves_path(result: &Result, title: char, projects: &[In], step: u32) -> bool {
    let Result { judge, settle, .. } = result;
    named(judge, settle) == Some(title)
        && meets(&result.projects(), projects)
        && (is_whole_json(judge) && is_seen(result, step) || knows_what_it_wrote(result, step))
}

/// A whole read with exactly this identifier, which shows the note that an edit with it would reach.
fn proves_identifier(result: &Result, identifier: (Name, char), projects: &[In], step: u32) -> bool {
    let Result { judge, settle, .. } = result;
    let whole = match (judge.kind, judge.args.form, settle.answer) {
        (Kind::ReadNote, Form::Plain, _) => is_reached(result),
        (Kind::ReadNote, Form::Other, answer) => matches!(answer, Answer::Hits | Answer::Odd),
        (Kind::ViewNote, Form::Plain | Form::Other, answer) => answer == Answer::Hits,
        _ => false,
    };
    whole
        && result.done()
        && (judge.args.name, judge.args.title) == identifier
        && meets(&result.asked(), projects)
        && is_seen(result, step)
}

/// One way in which a result says that an identifier finds the note of a title by its permalink.
fn permalinks(result: &Result, identifier: (Name, char), projects: &[In]) -> Vec<(char, bool)> {
    let Result { judge, settle, .. } = result;
    let Some(title) = named(judge, settle) else { return Vec::new() };
    let proves = is_whole_json(judge) || knows_what_it_wrote(result, u32::MAX);
    let mut ways = Vec::new();
    // The permalink as the answer has it.
    let own = (Name::Permalink, title) == identifier && !settle.names.work && meets(&result.projects(), projects);
    if proves && own {
        ways.push((title, true));
    }
    // What the call named it by, where that becomes the permalink.
    let called = (judge.args.name, judge.args.title) == identifier && judge.kind.identifies();
    if proves && called && meets(&result.asked(), projects) {
        ways.extend(by_permalink(result).map(|exact| (title, exact)));
    }
    ways
}

fn proven_by_permalink(list: List<'_>, identifier: (Name, char), projects: &[In], since: usize, step: u32) -> bool {
    projects.iter().any(|project| {
        let project = std::slice::from_ref(project);
        let ways: Vec<_> = results(list)
            .flat_map(|(time, result)| {
                permalinks(result, identifier, project).into_iter().map(move |way| (time, result, way))
            })
            .collect();
        // What was said of another note, or less exactly, is of no account once it is said of this one.
        let Some((_, _, said)) = ways.last().copied() else { return false };
        let taken = if said.1 { 0 } else { notes::names_taken(list) };
        let since = since.max(taken).max(notes::any_renamed(list)).max(notes::edited(list, said.0));
        ways.iter().rev().take_while(|(_, _, way)| *way == said).any(|(time, result, _)| {
            let seen =
                if result.judge.kind.reads() { is_seen(result, step) } else { knows_what_it_wrote(result, step) };
            proof(*time, since) && seen
        })
    })
}

/// The JSON answer that there is no such note.
fn is_missed(result: &Result, identifier: (Name, char), projects: &[In]) -> bool {
    let Result { judge, settle, .. } = result;
    judge.kind == Kind::ReadNote
        && judge.args.form == Form::Plain
        && settle.answer == Answer::Nothing
        && (judge.args.name, judge.args.title) == identifier
        && meets(&result.asked(), projects)
}

/// Of an edit that was done: `None` where its note was not known, else whether what was known was seen.
pub fn edit_found(list: List<'_>, edit: &Result) -> Option<bool> {
    let Result { judge, settle, .. } = edit;
    let title = named(judge, settle).filter(|_| judge.kind == Kind::EditNote)?;
    if settle.answer == Answer::Nothing {
        // It made the note.
        return Some(true);
    }
    let gone = notes::identifier_gone(list, judge.args.title).max(notes::path_gone(list, title));
    let path = Asked { path: Some(title), ..Asked::default() };
    let identifier = Asked { identifier: Some((judge.args.name, judge.args.title)), ..Asked::default() };
    let at =
        |step| knows(list, path, &edit.projects(), gone, step) || knows(list, identifier, &edit.asked(), gone, step);
    if at(settle.step) { Some(true) } else { at(u32::MAX).then_some(false) }
}

/// Whether a write replaces text of a note that was not read.
pub fn replaces_unread(list: List<'_>, write: &Judge, current: usize) -> bool {
    let Judge { args, step, .. } = *write;
    let projects = notes::asked(write, Some(current));
    let asked = Asked::of(write);
    let replaces = args.form == Form::Other;
    match write.kind {
        // Where the note would land is not proven.
        Kind::WriteNote if args.extra == Extra::Unsafe => replaces || notes::any_gone(list) > 0,
        Kind::WriteNote => {
            let gone = notes::path_gone(list, args.title);
            (replaces || gone > 0) && !knows(list, asked, &projects, gone, step)
        }
        Kind::EditNote => {
            let gone = notes::identifier_gone(list, args.title);
            // That there is none lifts no replacing edit.
            let asked = Asked { absent: asked.absent.filter(|_| !replaces), ..asked };
            (replaces || gone > 0) && !knows(list, asked, &projects, gone, step)
        }
        Kind::MoveNote if notes::is_folder(write) => notes::all_are_gone(list),
        Kind::MoveNote => {
            let (to, since) = (args.destination(), notes::path_gone(list, args.destination()));
            let absent = Asked { absent: Some((Name::Path, to)), ..Asked::default() };
            since > 0 && !knows(list, absent, &projects, since, step)
        }
        _ => false,
    }
}
