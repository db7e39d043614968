//! What a write does to what is known of notes: as which write it is remembered, and whose names it changes.

use std::sync::Arc;

use super::Outcome;
use super::digest::{Digest, DigestKey};
use super::memory::{Memory, News, Order, Removed, Subject, Written};
use super::names::{KnownWords, Words};
use super::target::{FilePath, Keys, Named, Target};
use super::turn::WriteRequest;
use crate::tool::Known;

/// What a write did to the names of notes, for all who know notes by them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Renamed {
    /// There is a new note.
    Created,
    /// The note at this path may be called otherwise.
    Note(FilePath),
    /// Any note may be.
    Any,
    /// Notes are gone from where they were, or may be.
    Removed,
}

impl Renamed {
    /// Tells it to the memory of the turn that did it. What it made it knows.
    pub(super) fn tell(self, memory: &mut Memory) {
        match self {
            Renamed::Created => {}
            Renamed::Note(path) => memory.edited(path),
            Renamed::Any | Renamed::Removed => memory.titles_change(),
        }
    }

    /// Tells it to the other sessions: a name by which one of them knows a note may be another note's from here on.
    pub(super) fn spread(self, news: &mut News) {
        match self {
            Renamed::Created => news.created(),
            Renamed::Note(path) => news.edited(path),
            Renamed::Any => news.retitled(),
            Renamed::Removed => news.removed(),
        }
    }
}

/// What a write that was done, or may have been, did to the names of notes. Replaced text can be a title or a permalink, a first
/// heading that changes takes the title with it, and content can set a permalink.
/// `path` is the note's, where it is known.
pub(super) fn renamed(write: &WriteRequest, path: Option<FilePath>, outcome: Outcome) -> Option<Renamed> {
    match write.known {
        Some(Known::WriteNote) if outcome == Outcome::Succeeded && !write.replaces => Some(Renamed::Created),
        Some(Known::WriteNote | Known::EditNote) if outcome == Outcome::Succeeded => {
            Some(path.map_or(Renamed::Any, Renamed::Note))
        }
        Some(Known::WriteNote | Known::EditNote) => Some(Renamed::Any),
        Some(_) => Some(Renamed::Removed),
        None => None,
    }
}

/// A write as the memory compares it, by its arguments alone.
pub(super) fn written(write: &WriteRequest) -> Written {
    let Subject { effect, target, project, identifier, .. } = &write.subject;
    let names = identifier.iter().map(|named| named.words.clone()).collect();
    Written { names: Arc::new(names), ..Written::of(*effect, *target, *project) }
}

/// The same with what the result named.
pub(super) fn named_in(
    keys: &Keys<'_>,
    mut written: Written,
    named: &Named,
    file: Option<FilePath>,
    notes: &[Digest],
) -> Written {
    let Some(path) = named.file_path.as_deref() else { return written };
    let mut known = KnownWords::default();
    let mut words = |name: &str| known.of(keys.key, name);
    let (own, permalink) = (words(path), named.permalink.as_deref().map(&mut words));
    // An identifier of one word that is neither the path nor the permalink is the title, since nothing else is left.
    let is_title = written.names.first().and_then(Option::as_ref).is_some_and(|identifier| {
        identifier.is_single() && !identifier.reach(own.as_ref(), permalink.as_ref().and_then(Option::as_ref))
    });
    written.titled = named.title.is_some() || is_title;
    written.in_project = named.project.as_deref().and_then(&mut words).map(Box::new);
    // What the identifier was is of no account where it may have been an external id.
    let given = written.names.iter().filter(|name| name.is_some()).cloned();
    let title = named.title.as_deref().map(words);
    written.names = Arc::new(given.chain([own]).chain(permalink).chain(title).collect());
    written.path = file.map(|file| file.exact);
    written.permalink = named.permalink.as_deref().map(|permalink| keys.permalink(permalink.as_bytes()));
    written.notes = notes.into();
    written
}

/// Every name that a result has for its note.
pub(super) fn names(key: &DigestKey, named: &Named) -> Vec<Option<Words>> {
    let all = [named.file_path.as_deref(), named.permalink.as_deref(), named.title.as_deref()];
    let mut known = KnownWords::default();
    all.into_iter().flatten().map(|name| known.of(key, name)).collect()
}

/// When the note of an edit, or one of its names, was last deleted or moved away.
pub(super) fn gone_since(memory: &Memory, keys: &Keys<'_>, write: &WriteRequest, named: &Named) -> Order {
    let by_name = memory.gone(None, write.subject.identifier.as_ref().and_then(|named| named.words.as_ref()));
    let by_path = named
        .file_path
        .as_deref()
        .map_or(0, |path| memory.gone(Some(keys.file_path(path)), Words::of(keys.key, path).as_ref()));
    by_name.max(by_path)
}

/// Notes are gone, or may be: the note at a path that the result named, or whatever the identifier reached.
pub(super) fn remove(memory: &mut Memory, keys: &Keys<'_>, write: &WriteRequest, path: Option<&str>, done: bool) {
    let Target::Identifier(identifier) = &write.target else { return };
    let given = write.subject.identifier.as_ref().and_then(|named| named.words.clone());
    let removed = if write.directory {
        Removed::Folder(Words::of_identifier(keys.key, identifier))
    } else {
        let reached = memory.path_of(&keys.identifier(identifier, &write.projects));
        Removed::Note {
            path: path.map(|path| keys.file_path(path)).or(reached),
            names: match path {
                Some(path) => std::iter::once(Words::of(keys.key, path)).chain(given.map(Some)).collect(),
                None => vec![given],
            },
        }
    };
    memory.remove(removed, done);
}
