//! Whether the same write was made before in this turn.

use super::answer::named;
use super::known::{Asked, knows};
use super::notes::{self, Happened, In, List, Result, reached, results};
use super::{Args, Extra, Form, Judge, Kind, Name, Project};

/// Whether the same write was made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    No,
    Done,
    Unknown,
}

/// Whether two writes do the same, whatever note they do it to.
fn alike(one: &Judge, other: &Judge) -> bool {
    let (a, b) = (one.args, other.args);
    one.kind == other.kind
        && match one.kind {
            // Whether it overwrites is part of which note it is about. A folder is no part of what is written.
            Kind::WriteNote => a.second == b.second && tags(a.extra) == tags(b.extra),
            Kind::EditNote => a.form == b.form && a.second == b.second,
            Kind::MoveNote => a.form == b.form && (a.form == Form::Other || a.destination() == b.destination()),
            Kind::DeleteNote => a.form == b.form,
            Kind::CreateProject => {
                let told = |of: Args| (of.form != Form::TwoNames).then_some((of.title, of.project));
                told(a) == told(b)
            }
            _ => false,
        }
}

fn tags(extra: Extra) -> Extra {
    if extra == Extra::Unsafe { Extra::Nothing } else { extra }
}

/// Whether two alike writes name the same note in the same words.
fn same_target(one: &Judge, other: &Judge) -> bool {
    let (a, b) = (one.args, other.args);
    match one.kind {
        Kind::WriteNote => {
            let path = |extra: Extra| extra == Extra::Unsafe;
            a.title == b.title && a.form == b.form && path(a.extra) == path(b.extra)
        }
        Kind::CreateProject => true,
        _ if notes::is_folder(one) => true,
        _ => (a.name, a.title) == (b.name, b.title),
    }
}

enum Same {
    No,
    Maybe,
    Yes,
}

/// Whether a write is about the note of an earlier one. `done`: its result, where it was done.
fn same(list: List<'_>, earlier: &Judge, done: Option<(usize, &Result)>, write: &Judge, projects: &[In]) -> Same {
    let (a, b) = (earlier.args, write.args);
    if a.project != Project::None && b.project != Project::None && a.project != b.project {
        return Same::No;
    }
    if same_target(earlier, write) {
        return Same::Yes;
    }
    // To make, to move or to delete a note twice does nothing more; to add to it does.
    if write.kind != Kind::EditNote {
        return Same::No;
    }
    // Without an answer that names the note nobody knows which it was.
    let Some((time, result, title)) =
        done.and_then(|(time, result)| named(&result.judge, &result.settle).map(|title| (time, result, title)))
    else {
        return Same::Maybe;
    };
    if let Some(reached) = reached(list, write, projects) {
        return if reached == title { Same::Yes } else { Same::No };
    }
    if matches!(b.name, Name::Permalink | Name::Url) && b.title == title && !result.settle.names.work {
        return Same::Yes;
    }
    let meets = b.title == title || b.title == a.title;
    // A title may be any note's, unless the note's own title is known.
    let titled = a.name == Name::Title && time + 1 > notes::any_renamed(list);
    if meets || b.name == Name::Title && !titled { Same::Maybe } else { Same::No }
}

pub fn repeated(list: List<'_>, write: &Judge, current: usize) -> Repeated {
    if !matches!(write.kind, Kind::WriteNote | Kind::EditNote | Kind::MoveNote | Kind::DeleteNote | Kind::CreateProject)
    {
        return Repeated::No;
    }
    let projects = notes::asked(write, Some(current));
    // Whether reading the note has settled what became of it. What became of a project cannot be read, and counts for nothing.
    let settled =
        |since| write.kind == Kind::CreateProject || knows(list, Asked::of(write), &projects, since, write.step);
    for (at, happened) in list.iter().enumerate() {
        let Happened::Judged { judge, denied: false, open: true, .. } = happened else { continue };
        if !judge.kind.writes() || !judge.is_readable() || !alike(judge, write) {
            continue;
        }
        if !matches!(same(list, judge, None, write, &projects), Same::No) && !settled(notes::time(at)) {
            return Repeated::Unknown;
        }
    }
    for (time, result) in results(list).rev() {
        if !result.judge.is_readable() || !alike(&result.judge, write) || !result.may_be_done() {
            continue;
        }
        let done = result.done();
        let same = same(list, &result.judge, done.then_some((time, result)), write, &projects);
        match (same, done) {
            (Same::Yes, true) => return if in_force(list, time, result) { Repeated::Done } else { Repeated::No },
            (Same::Maybe, true) if in_force(list, time, result) => return Repeated::Unknown,
            (Same::Yes | Same::Maybe, false) if !settled(time + 1) => return Repeated::Unknown,
            _ => {}
        }
    }
    Repeated::No
}

/// Whether nothing came since that makes the same write another one: no other write to the note, no move, no deletion and
/// no project call.
fn in_force(list: List<'_>, time: usize, result: &Result) -> bool {
    let overwritten = results(list).any(|(later, other)| {
        let writes = matches!(other.judge.kind, Kind::WriteNote | Kind::EditNote | Kind::DeleteNote);
        later > time
            && writes
            && other.judge.is_readable()
            && other.placed().is_some()
            && other.placed() == result.placed()
            && other.projects().iter().any(|project| result.projects().contains(project))
    });
    !overwritten && notes::barrier(list) <= time
}
