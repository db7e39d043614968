//! What one turn knows of the notes of one server: what was read, what was found absent, what was written, and what is gone.
//!
//! Everything is held as keyed digests with the order in which it was learnt. All of it goes with the turn.

use std::collections::VecDeque;
use std::sync::Arc;

mod entry;
mod news;

use super::digest::Digest;
use super::names::Words;
use super::small::Small;
use super::target::FilePath;
pub(super) use entry::{Before, Known, Named, Names, Removed, Subject, Written};
use entry::{ByPermalink, Entry, Gone, Same, Seen, Times};
pub(super) use news::{Heard, News};

/// Notes that one turn can remember as deleted or moved; beyond it, every note counts as gone.
const GONE_MAX: usize = 256;

/// Writes of one effect that are compared by name; older ones are found by their exact target only.
const COMPARED_MAX: usize = 256;

/// Names of one note that are remembered; beyond it, any name may be one of it.
const NAMES_MAX: usize = 16;

/// What one turn can remember of each kind. Beyond it, what is known is forgotten, so that it must be read again.
const REMEMBERED_MAX: usize = 16_384;

/// Something that was learnt, in order. Never 0. Should a turn ever learn more, what comes then counts as not later than the
/// last, and so as not known.
pub(super) type Order = u32;

/// What a turn knows of notes.
#[derive(Debug)]
pub(super) struct Memory {
    order: Order,
    proven: Small<Digest, Times>,
    /// The same for identifiers that the server finds by the permalink of a note.
    by_permalink: Small<Digest, ByPermalink>,
    absent: Small<Digest, Order>,
    /// What path an identifier reached.
    reached: Small<Digest, (Order, FilePath)>,
    written: Small<Digest, VecDeque<Box<Entry>>>,
    writes: usize,
    exact: Small<(Digest, Digest), Order>,
    last_write: Small<Digest, Order>,
    /// When the note at a path, in whatever project, was last edited or overwritten.
    last_edit: Small<Digest, Order>,
    /// The names by which notes are known, by their paths.
    names: Small<Digest, (FilePath, Arc<Names>)>,
    gone: Vec<Gone>,
    gone_overflow: Option<Order>,
    /// The last move, delete or project call that was done.
    barrier: Order,
    /// When identifiers may last have changed their meaning: an edit can change a title or a permalink.
    identifiers: Order,
    /// When a title may last have changed of which it is not known whose it is.
    titles: Order,
    /// When another session may last have given a note a name that others are found by.
    captured: Order,
    /// When another session may last have moved or deleted notes, so that another note may be at a path.
    elsewhere: Order,
}

impl Memory {
    /// A turn that has learnt nothing.
    pub(super) const NOTHING: Memory = Memory {
        order: 0,
        proven: Small::NONE,
        by_permalink: Small::NONE,
        absent: Small::NONE,
        reached: Small::NONE,
        written: Small::NONE,
        writes: 0,
        exact: Small::NONE,
        last_write: Small::NONE,
        last_edit: Small::NONE,
        names: Small::NONE,
        gone: Vec::new(),
        gone_overflow: None,
        barrier: 0,
        identifiers: 0,
        titles: 0,
        captured: 0,
        elsewhere: 0,
    };

    /// What is learnt from here on comes after this.
    pub(super) fn enter(&mut self, order: Order) {
        self.order = self.order.max(order);
    }

    fn next(&mut self) -> Order {
        self.order = self.order.saturating_add(1);
        self.order
    }

    /// Takes note of what other sessions have done since.
    pub(super) fn hear(&mut self, heard: &Heard) {
        // One order for all of it, since nothing was learnt in between.
        let order = self.next();
        for path in &heard.edits {
            bounded(&mut self.last_edit).insert(path.exact, order);
        }
        if heard.titles {
            self.titles = order;
        }
        if heard.removed {
            self.elsewhere = order;
        }
        // A name that was given may be one by which another note was found, but for a permalink as it stands.
        self.captured = order;
        self.identifiers = order;
    }

    /// A whole note was read, with its result in this step, or written, with no step: these are the ways to know it again.
    pub(super) fn prove(&mut self, keys: impl IntoIterator<Item = Digest>, step: Option<u32>) {
        let order = self.next();
        for key in keys {
            bounded(&mut self.proven).or_insert_with(key, Times::default).add(Seen { order, step });
        }
    }

    /// The same of the note at this path, for identifiers that the server finds by its permalink. `exact`: they are it.
    pub(super) fn prove_permalink(
        &mut self,
        keys: impl IntoIterator<Item = Digest>,
        path: FilePath,
        exact: bool,
        step: Option<u32>,
    ) {
        let order = self.next();
        for key in keys {
            let new = ByPermalink { times: Times::default(), path: path.exact, exact };
            let known = bounded(&mut self.by_permalink).or_insert_with(key, || new);
            if known.path != path.exact || known.exact != exact {
                *known = new;
            }
            known.times.add(Seen { order, step });
        }
    }

    /// A note was looked for under exactly these names, and is not there.
    pub(super) fn miss(&mut self, keys: impl IntoIterator<Item = Digest>) {
        let order = self.next();
        bounded(&mut self.absent).extend(keys.into_iter().map(|key| (key, order)));
    }

    /// These identifiers reached the note at this path.
    pub(super) fn reach(&mut self, keys: impl IntoIterator<Item = Digest>, path: FilePath) {
        let order = self.next();
        bounded(&mut self.reached).extend(keys.into_iter().map(|key| (key, (order, path))));
    }

    /// The path that one of these identifiers reaches, if that was learnt since identifiers last changed their meaning.
    pub(super) fn path_of(&self, identifier: &[Digest]) -> Option<FilePath> {
        let known = identifier.iter().filter_map(|key| self.reached.get(key)).max_by_key(|(order, _)| *order)?;
        (known.0 > self.identifiers).then_some(known.1)
    }

    /// Whether one of the keys was proven after `since` and seen by a call of this step, or found absent after `since`. What
    /// was learnt under an identifier counts only from when identifiers last changed their meaning.
    pub(super) fn knows(&self, keys: &Known, since: Order, step: u32) -> bool {
        let meant = since.max(self.identifiers);
        let proven = |keys: &[Digest], since: Order| {
            keys.iter().filter_map(|key| self.proven.get(key)).any(|times| times.has(since, step))
        };
        let found = |known: &ByPermalink| {
            let edited = self.last_edit.get(&known.path).copied().unwrap_or_default();
            let captured = if known.exact { 0 } else { self.captured };
            known.times.has(since.max(edited).max(captured).max(self.titles), step)
        };
        proven(&keys.path, since.max(self.elsewhere))
            || proven(&keys.identifier, meant)
            || keys.identifier.iter().filter_map(|key| self.by_permalink.get(key)).any(found)
            || keys.absent.iter().any(|key| self.absent.get(key).is_some_and(|at| *at > meant))
    }

    /// The note at this path was edited: its title and its permalink may be others now, and titles can be found by others.
    pub(super) fn edited(&mut self, path: FilePath) {
        self.identifiers = self.next();
        bounded(&mut self.last_edit).insert(path.exact, self.identifiers);
    }

    /// A note was edited, or may have been, and which one is not known.
    pub(super) fn titles_change(&mut self) {
        self.identifiers = self.next();
        self.titles = self.identifiers;
    }

    /// Whether any note was deleted or moved away.
    pub(super) fn has_gone(&self) -> bool {
        !self.gone.is_empty() || self.gone_overflow.is_some()
    }

    /// Whether a write that does this was done, or may have been.
    pub(super) fn has_done(&self, effect: &Digest) -> bool {
        self.written.get(effect).is_some()
    }

    /// When a note that a path or an identifier may mean was last deleted or moved away; 0 if none was.
    pub(super) fn gone(&self, path: Option<FilePath>, name: Option<&Words>) -> Order {
        let overflow = self.gone_overflow.unwrap_or_default();
        let may_be = |gone: &&Gone| gone.what.may_be(path, name);
        self.gone.iter().filter(may_be).map(|gone| gone.order).max().unwrap_or_default().max(overflow)
    }

    /// A write is done, or nobody knows whether it is.
    pub(super) fn write(&mut self, written: Written, done: bool) {
        let order = self.next();
        if done {
            bounded(&mut self.last_write).extend(written.notes.iter().map(|note| (*note, order)));
            bounded(&mut self.exact).insert((written.effect, written.target), order);
        }
        if self.writes >= REMEMBERED_MAX {
            self.written.clear();
            self.writes = 0;
        }
        self.writes += 1;
        let same = self.written.or_insert_with(written.effect, VecDeque::new);
        if same.len() >= COMPARED_MAX {
            same.pop_front();
        }
        same.push_back(Box::new(Entry { order, done, written }));
    }

    /// The note at this path is known by these names.
    pub(super) fn name(&mut self, path: FilePath, names: &Arc<Names>) {
        let full = self.names.len() >= REMEMBERED_MAX && self.names.get(&path.exact).is_none();
        if full {
            return;
        }
        let (_, known) = self.names.or_insert_with(path.exact, || (path, Arc::clone(names)));
        if !Arc::ptr_eq(known, names) {
            let known = Arc::make_mut(known);
            for name in names.iter() {
                if known.len() < NAMES_MAX && !known.contains(name) {
                    known.push(name.clone());
                }
            }
        }
    }

    /// Notes were moved away or deleted, or may have been.
    pub(super) fn remove(&mut self, what: Removed, done: bool) {
        self.switch(done);
        let order = self.titles;
        let mut all = vec![what];
        if let Some(Removed::Note { path: None, names }) = all.first() {
            // What it was called can be another name of a note whose path is known.
            let meets = |known: &Option<Words>| names.iter().any(|gone| entry::may_meet(gone.as_ref(), known.as_ref()));
            let known = self.names.values().filter(|(_, known)| known.len() >= NAMES_MAX || known.iter().any(meets));
            let gone = known.map(|(path, _)| Removed::Note { path: Some(*path), names: Vec::new() });
            let gone: Vec<Removed> = gone.collect();
            all.extend(gone);
        }
        if self.gone.len() + all.len() > GONE_MAX || self.names.len() >= REMEMBERED_MAX {
            self.gone_overflow = Some(order);
        } else {
            self.gone.extend(all.into_iter().map(|what| Gone { order, what }));
        }
    }

    /// What names mean may be something else altogether now. `done`: what did it was done, and so is another write after it.
    pub(super) fn switch(&mut self, done: bool) {
        self.titles_change();
        if done {
            self.barrier = self.titles;
        }
    }

    /// Whether this very write was made before. The last one like it that was done counts; `under_way` are those that do the same
    /// and whose results have not come, `read` the keys under which reading the target, or finding it absent, settles an unknown
    /// outcome; none where nothing can be read of it, so that what is not known denies nothing, and hides nothing that was done.
    pub(super) fn before<'w>(
        &self,
        subject: &Subject,
        under_way: impl Iterator<Item = (&'w Subject, Order)>,
        read: &dyn Fn() -> Option<Known>,
        step: u32,
    ) -> Before {
        let done = self.written.get(&subject.effect);
        // Nearly every write is another one than those before.
        let mut under_way = under_way.peekable();
        if done.is_none() && under_way.peek().is_none() {
            return Before::No;
        }
        let read = read();
        let settled = |since| read.as_ref().is_none_or(|read| self.knows(read, since, step));
        let identifier = read.as_ref().map_or(&[][..], |read| &read.identifier);
        for (other, order) in under_way {
            if subject.may_be(other) && !settled(order) {
                return Before::Unknown;
            }
        }
        for entry in done.into_iter().flatten().rev() {
            match (self.same(entry, subject, identifier), entry.done) {
                (Same::Yes, true) => return if self.in_force(entry) { Before::Done } else { Before::No },
                (Same::Maybe, true) if self.in_force(entry) => return Before::Unknown,
                (Same::Yes | Same::Maybe, false) if !settled(entry.order) => return Before::Unknown,
                // What became of it was read. Another one may have been done all the same.
                _ => {}
            }
        }
        // Beyond what is compared by name, the exact target is still known.
        let full = done.is_some_and(|done| done.len() >= COMPARED_MAX);
        match self.exact.get(&(subject.effect, subject.target)) {
            Some(order) if full && *order > self.barrier => Before::Done,
            _ => Before::No,
        }
    }

    /// Whether nothing came since that would make the same write another one.
    fn in_force(&self, entry: &Entry) -> bool {
        let overwritten =
            entry.written.notes.iter().any(|note| self.last_write.get(note).is_some_and(|order| *order > entry.order));
        !overwritten && self.barrier <= entry.order
    }

    /// Whether an earlier write was about the note that this one is about.
    fn same(&self, entry: &Entry, subject: &Subject, identifier: &[Digest]) -> Same {
        let written = &entry.written;
        if written.project.differs(&subject.project) {
            return Same::No;
        }
        if written.target == subject.target {
            return Same::Yes;
        }
        let Some(named) = subject.identifier.as_ref().filter(|_| subject.adds_up) else { return Same::No };
        if let (Some(path), Some(reached)) = (written.path, self.path_of(identifier)) {
            return if path == reached.exact { Same::Yes } else { Same::No };
        }
        if written.permalink == Some(named.permalink) {
            return Same::Yes;
        }
        // Without an answer that names the note nobody knows what it is called: content can set any permalink.
        let (Some(words), Some(_)) = (&named.words, written.path) else { return Same::Maybe };
        let meets = written.names.iter().any(|name| entry::may_meet(name.as_ref(), Some(words)));
        // One word may be a title, and a title any note's; also with the project in front.
        let titled = written.titled && entry.order > self.titles;
        let single =
            words.is_single() || written.in_project.as_deref().is_some_and(|project| words.is_single_below(project));
        if meets || (single && !titled) { Same::Maybe } else { Same::No }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::NOTHING
    }
}

/// A map that takes one more entry. One that is full is emptied first: what was known is not known any more.
fn bounded<K: Copy + Eq + std::hash::Hash, V>(map: &mut Small<K, V>) -> &mut Small<K, V> {
    if map.len() >= REMEMBERED_MAX {
        map.clear();
    }
    map
}

#[cfg(test)]
mod tests;
