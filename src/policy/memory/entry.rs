//! What the memory holds one by one, and what it is asked with.

use std::sync::Arc;

use super::super::digest::Digest;
use super::super::names::Words;
use super::super::target::{FilePath, Project};
use super::Order;

/// When something was proven, and the step whose messages the model sees it after; none where it need not see it, because
/// it wrote it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) order: Order,
    pub(super) step: Option<u32>,
}

/// When something was proven: what the turn wrote itself the last time, and of what it read the last time of an earlier step and
/// the last time. Proving again does not make unseen what was seen.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Times {
    written: Order,
    read: [Option<(Order, u32)>; 2],
}

impl Times {
    pub(super) fn add(&mut self, Seen { order, step }: Seen) {
        let Some(step) = step else {
            self.written = order;
            return;
        };
        let [earlier, last] = &mut self.read;
        if last.is_some_and(|(_, last)| last != step) {
            *earlier = *last;
        }
        *last = Some((order, step));
    }

    /// Whether one of them came after `since` and was seen by a call of this step.
    pub(super) fn has(&self, since: Order, step: u32) -> bool {
        self.written > since || self.read.iter().flatten().any(|(order, seen)| *order > since && *seen < step)
    }
}

/// An identifier that the server finds by the permalink of the note at a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByPermalink {
    pub(super) times: Times,
    /// The note's file path, as it is.
    pub(super) path: Digest,
    /// It is the permalink, which is unique, and not what becomes it.
    pub(super) exact: bool,
}

/// Names of one note; `None` for one whose words are not proven.
pub(in crate::policy) type Names = Vec<Option<Words>>;

/// What a write did, or may have done.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Written {
    pub(in crate::policy) effect: Digest,
    pub(in crate::policy) target: Digest,
    pub(in crate::policy) project: Project,
    /// The file path that the result or the arguments named, as it is.
    pub(in crate::policy) path: Option<Digest>,
    /// That path, in each project that it is known to be in.
    pub(in crate::policy) notes: Box<[Digest]>,
    pub(in crate::policy) permalink: Option<Digest>,
    /// Every name by which the note is known.
    pub(in crate::policy) names: Arc<Names>,
    /// Whether the note's title is among the names.
    pub(in crate::policy) titled: bool,
    /// The project's slug, where the answer or the call says it.
    pub(in crate::policy) in_project: Option<Box<Words>>,
}

impl Written {
    /// What is known of a write by its arguments alone, where these name no note that is there.
    pub(in crate::policy) fn of(effect: Digest, target: Digest, project: Project) -> Written {
        Written {
            effect,
            target,
            project,
            path: None,
            notes: Box::default(),
            permalink: None,
            names: Arc::default(),
            titled: false,
            in_project: None,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) order: Order,
    pub(super) done: bool,
    pub(super) written: Written,
}

/// A note, or a folder, that was deleted or moved away.
#[derive(Clone, Debug)]
pub(super) struct Gone {
    pub(super) order: Order,
    pub(super) what: Removed,
}

/// What was deleted or moved away, by what is known of it.
#[derive(Clone, Debug)]
pub(in crate::policy) enum Removed {
    /// A note by its path, and by every name that it is known by; `None` for one whose words are not proven.
    Note { path: Option<FilePath>, names: Vec<Option<Words>> },
    /// All notes in a folder.
    Folder(Option<Words>),
}

/// What a write is about, as far as the memory compares it.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Subject {
    pub(in crate::policy) effect: Digest,
    pub(in crate::policy) target: Digest,
    pub(in crate::policy) project: Project,
    /// For a note by an identifier: what it may reach.
    pub(in crate::policy) identifier: Option<Named>,
    /// Whether it adds to what is there, so that the same under another name of the note would add it twice. To delete or to
    /// move a note twice does nothing more.
    pub(in crate::policy) adds_up: bool,
}

impl Subject {
    /// Whether a write that is under way, and does the same, may do it to the same note: nobody knows yet what that one reaches.
    pub(super) fn may_be(&self, other: &Subject) -> bool {
        let differs = other.project.differs(&self.project);
        !differs && (other.target == self.target || (self.adds_up && self.identifier.is_some()))
    }
}

/// An identifier, as far as the memory compares it.
#[derive(Clone, Debug)]
pub(in crate::policy) struct Named {
    /// The identifier, where the server would look it up as a permalink as it stands.
    pub(in crate::policy) permalink: Digest,
    /// `None`: it may be any note's.
    pub(in crate::policy) words: Option<Words>,
}

/// The keys under which a note may be known.
#[derive(Debug, Default)]
pub(in crate::policy) struct Known {
    /// Proves it where a result named its path.
    pub(in crate::policy) path: Vec<Digest>,
    /// Proves it where the same identifier reached a note.
    pub(in crate::policy) identifier: Vec<Digest>,
    /// Proves that there is none.
    pub(in crate::policy) absent: Vec<Digest>,
}

/// Whether a write was made before in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::policy) enum Before {
    /// No, or what came since makes it another.
    No,
    /// It was done.
    Done,
    /// It may have been done: its outcome is not known, or not which note it was done to.
    Unknown,
}

/// Whether a write is about the same note as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Same {
    No,
    Maybe,
    Yes,
}

impl Removed {
    /// Whether this may have been the note at a path, or that a name reached.
    pub(super) fn may_be(&self, path: Option<FilePath>, name: Option<&Words>) -> bool {
        match (self, name) {
            (Removed::Note { path: Some(gone), .. }, _) if let Some(path) = path => path.folded == gone.folded,
            (Removed::Note { names, .. }, Some(name)) => names.iter().any(|gone| may_meet(gone.as_ref(), Some(name))),
            (Removed::Folder(Some(folder)), Some(name)) => {
                // One word may be the title of a note in the folder.
                name.may_be_below(folder) || (path.is_none() && name.is_single())
            }
            _ => true,
        }
    }
}

/// Whether two names may be those of one note; where the words of one are not proven, they may.
pub(super) fn may_meet(one: Option<&Words>, other: Option<&Words>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.may_meet(other),
        _ => true,
    }
}
