//! What a turn knows of notes, as naively as it can be said: by reading the list of what happened. The world has one
//! project, and each note one name that calls use, its title.

use super::naive::Happened;
use super::{Answer, Extra, Form, Judge, Kind, Settle};

/// Whether the same write was made before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeated {
    No,
    Done,
    Unknown,
}

/// What became of a call that is no lookup and no declaration, and what is observed of its answer.
pub fn became(judge: &Judge, settle: &Settle) -> (&'static str, Option<&'static str>) {
    let readable = !matches!(judge.args.form, Form::NoObject | Form::TwoNames);
    let unknown_heading = (!settle.is_error && settle.answer == Answer::Odd).then_some("LOOKUP_HEADING_UNKNOWN");
    match (judge.kind, settle.answer, settle.is_error) {
        // Nothing follows from a call that could not be read.
        (kind, _, is_error)
            if kind.writes() && !readable && !(kind == Kind::Rename && judge.args.form == Form::TwoNames) =>
        {
            (if is_error { "failed" } else { "succeeded" }, None)
        }
        (Kind::ReadNote, Answer::Hits | Answer::Odd, false) => ("succeeded", None),
        (Kind::ReadNote, ..) => ("failed", None),
        // Tools that no table knows: their flag. A success under the error flag is no answer of the server's.
        (Kind::Rename | Kind::EditNote, Answer::Nothing, true)
        | (Kind::Rename, _, true)
        | (Kind::EditNote, Answer::ErrorField, _)
        | (_, Answer::Hits | Answer::Odd, true) => ("unknown", None),
        (Kind::Rename, ..) | (Kind::EditNote, Answer::Nothing, false) | (_, Answer::Hits, false) => ("succeeded", None),
        (_, Answer::Odd, false) => ("succeeded", unknown_heading),
        _ => ("failed", None),
    }
}

/// The results of a list with their places, and what became of each call.
fn results(list: &[Happened]) -> impl DoubleEndedIterator<Item = (usize, &Judge, &Settle, &'static str)> {
    list.iter().enumerate().filter_map(|(at, happened)| match happened {
        Happened::Settled { judge, settle } if settle.reached => Some((at, judge, settle, became(judge, settle).0)),
        _ => None,
    })
}

/// The results of all sessions, as far as they may have changed what notes are called, with their places.
fn everywhere(list: &[Happened]) -> impl Iterator<Item = (usize, &Judge, &Settle, &'static str)> {
    list.iter().enumerate().filter_map(|(at, happened)| match happened {
        Happened::Settled { judge, settle } | Happened::Elsewhere { judge, settle } if settle.reached => {
            Some((at, judge, settle, became(judge, settle).0))
        }
        _ => None,
    })
}

/// When what a name means may last have changed; places count from 1. What another session makes may take a name.
fn last_renamed(list: &[Happened]) -> usize {
    let changes = |at: usize, judge: &Judge, outcome| {
        let elsewhere = matches!(list[at], Happened::Elsewhere { .. });
        let makes = elsewhere && judge.kind == Kind::WriteNote && readable(judge) && outcome == "succeeded";
        renames(judge, outcome) || removes(judge, outcome) || makes
    };
    everywhere(list)
        .filter(|(at, judge, _, outcome)| changes(*at, judge, outcome))
        .map(|(at, ..)| at + 1)
        .max()
        .unwrap_or(0)
}

fn readable(judge: &Judge) -> bool {
    !matches!(judge.args.form, Form::NoObject | Form::TwoNames)
}

/// Whether a call's result may have changed what notes are called: every edit, every overwrite that is done, and everything
/// of which nobody knows whether it was done.
fn renames(judge: &Judge, outcome: &str) -> bool {
    let edits = judge.kind == Kind::EditNote && matches!(outcome, "succeeded" | "unknown");
    let overwrites = judge.kind == Kind::WriteNote
        && (outcome == "unknown" || outcome == "succeeded" && judge.args.form == Form::Other);
    readable(judge) && (edits || overwrites)
}

/// Whether a call's result is that a note is gone, or may be.
fn removes(judge: &Judge, outcome: &str) -> bool {
    readable(judge) && judge.kind == Kind::DeleteNote && matches!(outcome, "succeeded" | "unknown")
}

/// Places count from 1, so that 0 is before everything.
fn last(list: &[Happened], of: impl Fn(&Judge, &str) -> bool) -> usize {
    results(list).filter(|(_, judge, _, outcome)| of(judge, outcome)).map(|(at, ..)| at + 1).max().unwrap_or(0)
}

/// When a note was last deleted, or may have been.
fn gone(list: &[Happened], title: char) -> usize {
    last(list, |judge, outcome| removes(judge, outcome) && judge.args.title == title)
}

/// Whether the path of a note is known to a call of this step, from after a place on.
fn path_is_known(list: &[Happened], title: char, after: usize, step: u32) -> bool {
    // Where another session deletes, another note may be at the path.
    let elsewhere = |at: usize| matches!(list[at], Happened::Elsewhere { .. });
    let removed = everywhere(list).filter(|(at, judge, _, outcome)| elsewhere(*at) && removes(judge, outcome));
    let after = after.max(removed.map(|(at, ..)| at + 1).max().unwrap_or(0));
    results(list).any(|(at, judge, settle, outcome)| {
        let seen = judge.step.max(settle.step) < step;
        let of_note = judge.args.title == title && readable(judge) && outcome == "succeeded" && at + 1 > after;
        of_note
            && match (judge.kind, settle.answer) {
                (Kind::ReadNote, Answer::Hits) => judge.args.form == Form::Plain && !judge.args.second && seen,
                (Kind::WriteNote, Answer::Hits) | (Kind::EditNote, Answer::Nothing) => true,
                // What was known before it stays known, and what was not yet seen stays unseen.
                (Kind::EditNote, Answer::Hits) => {
                    let before = &list[..at];
                    let gone = gone(before, title);
                    let known =
                        |step| path_is_known(before, title, gone, step) || name_is_known(before, title, gone, step);
                    known(settle.step) || known(u32::MAX) && settle.step < step
                }
                _ => false,
            }
    })
}

/// Whether a note is known by its name to a call of this step, from after a place on.
fn name_is_known(list: &[Happened], title: char, after: usize, step: u32) -> bool {
    let after = after.max(last_renamed(list));
    results(list).any(|(at, judge, settle, outcome)| {
        let whole = match (judge.args.form, settle.answer) {
            (Form::Plain, answer) => !judge.args.second && answer == Answer::Hits,
            (Form::Other, answer) => matches!(answer, Answer::Hits | Answer::Odd),
            _ => false,
        };
        let seen = judge.step.max(settle.step) < step;
        judge.kind == Kind::ReadNote
            && judge.args.title == title
            && outcome == "succeeded"
            && whole
            && seen
            && at + 1 > after
    })
}

/// Whether a name was found to be nobody's.
fn is_absent(list: &[Happened], title: char, after: usize) -> bool {
    let after = after.max(last_renamed(list));
    results(list).any(|(at, judge, settle, _)| {
        let missed = judge.args.form == Form::Plain && settle.answer == Answer::Nothing;
        judge.kind == Kind::ReadNote && judge.args.title == title && missed && at + 1 > after
    })
}

/// Whether a write replaces text of a note that was not read.
pub fn replaces_unread(list: &[Happened], write: &Judge) -> bool {
    let title = write.args.title;
    let gone = gone(list, title);
    let replaces = write.args.form == Form::Other;
    match write.kind {
        Kind::WriteNote => (replaces || gone > 0) && !path_is_known(list, title, gone, write.step),
        Kind::EditNote => {
            let known = name_is_known(list, title, gone, write.step);
            if replaces { !known } else { gone > 0 && !known && !is_absent(list, title, gone) }
        }
        _ => false,
    }
}

/// Whether the same write was made before.
pub fn repeated(list: &[Happened], write: &Judge) -> Repeated {
    if write.kind == Kind::Rename {
        return Repeated::No;
    }
    let effect = |judge: &Judge| {
        // What is written and how; a delete does one thing.
        let args = (judge.kind != Kind::DeleteNote).then_some((judge.args.form, judge.args.second));
        (judge.kind, args)
    };
    let alike = |judge: &Judge| {
        let form = |judge: &Judge| if judge.kind == Kind::WriteNote { None } else { Some(judge.args.form) };
        judge.kind == write.kind
            && if judge.kind == Kind::WriteNote {
                // Whether it overwrites is part of which note it is about, and of nothing else.
                judge.args.second == write.args.second && judge.args.extra == write.args.extra
            } else {
                effect(judge) == effect(write) && (judge.kind == Kind::DeleteNote || form(judge) == form(write))
            }
    };
    let same_note = |judge: &Judge| {
        judge.args.title == write.args.title && (judge.kind != Kind::WriteNote || judge.args.form == write.args.form)
    };
    // Whether reading the note has settled what became of it.
    let settled = |at: usize| match write.kind {
        Kind::WriteNote => path_is_known(list, write.args.title, at, write.step),
        _ => name_is_known(list, write.args.title, at, write.step) || is_absent(list, write.args.title, at),
    };
    let mut running: Vec<_> = list
        .iter()
        .enumerate()
        .filter_map(|(at, happened)| match happened {
            Happened::Judged { judge, denied: false, open: true } if judge.kind.writes() && readable(judge) => {
                Some((at, judge))
            }
            _ => None,
        })
        .filter(|(_, judge)| alike(judge))
        .collect();
    running.sort_by_key(|(_, judge)| judge.call);
    for (at, judge) in running {
        // Nothing is known of it but its name, and another name may be the same note's. Only what is added twice matters.
        if same_note(judge) {
            return if settled(at + 1) { Repeated::No } else { Repeated::Unknown };
        }
        if write.kind == Kind::EditNote && !settled(at + 1) {
            return Repeated::Unknown;
        }
    }
    for (at, judge, settle, outcome) in results(list).rev() {
        if !readable(judge) || !alike(judge) || !matches!(outcome, "succeeded" | "unknown") {
            continue;
        }
        let done = outcome == "succeeded";
        let lifted = in_between(list, at, judge, settle);
        if same_note(judge) {
            return match (done, lifted) {
                (true, false) => Repeated::Done,
                (true, true) => Repeated::No,
                _ if settled(at + 1) => Repeated::No,
                _ => Repeated::Unknown,
            };
        }
        if write.kind != Kind::EditNote {
            continue;
        }
        // By another name: the same note's, unless the answer said which note it was.
        let told = done && settle.answer != Answer::Odd && !title_may_have_changed(list, at);
        if !told && if done { !lifted } else { !settled(at + 1) } {
            return Repeated::Unknown;
        }
    }
    Repeated::No
}

/// Whether a write to the note, or a delete, was done after a place, so that the same write is another one.
fn in_between(list: &[Happened], at: usize, judge: &Judge, settle: &Settle) -> bool {
    results(list).any(|(later, other, answer, outcome)| {
        let writes = matches!(other.kind, Kind::WriteNote | Kind::EditNote | Kind::DeleteNote)
            && outcome == "succeeded"
            && readable(other)
            && other.args.title == judge.args.title
            && placed(other, answer)
            && placed(judge, settle);
        later > at && (writes || removes(other, outcome) && outcome == "succeeded")
    })
}

/// Whether a write's note is known by its path: the answer's, or of a `write_note` the arguments'.
fn placed(judge: &Judge, settle: &Settle) -> bool {
    (judge.kind == Kind::WriteNote && judge.args.extra != Extra::Unsafe) || settle.answer != Answer::Odd
}

/// Whether a title may have changed after a place, and nobody knows whose; or a note gone that had one.
fn title_may_have_changed(list: &[Happened], at: usize) -> bool {
    everywhere(list).any(|(later, judge, settle, outcome)| {
        let unknown = outcome == "unknown" && matches!(judge.kind, Kind::EditNote | Kind::WriteNote);
        let unplaced = outcome == "succeeded" && renames(judge, outcome) && !placed(judge, settle);
        later > at && (readable(judge) && (unknown || unplaced) || removes(judge, outcome))
    })
}
