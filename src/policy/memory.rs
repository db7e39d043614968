//! What one turn knows of the notes of one server: what was read, what was found absent, what was written, and what is gone.
//!
//! Everything is held as keyed digests with the order in which it was learnt. All of it goes with the turn.

use std::collections::{BTreeMap, HashMap, VecDeque};

use super::CallId;
use super::digest::Digest;
use super::names::Words;
use super::target::{FilePath, Project};

/// Notes that one turn can remember as deleted or moved; beyond it, every note counts as gone.
const GONE_MAX: usize = 256;

/// Writes of one effect that are compared by name; older ones are found by their exact target only.
const COMPARED_MAX: usize = 256;

/// What one turn can remember of each kind. Beyond it, what is known is forgotten, so that it must be read again.
const REMEMBERED_MAX: usize = 16_384;

/// Something that was learnt, in order. Never 0.
pub(super) type Order = u64;

/// When something was proven, and the step whose messages the model sees it after; none where it need not see it, because
/// it wrote it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    order: Order,
    step: Option<u32>,
}

/// The last time of an earlier step, and the last time: proving again does not make unseen what was seen.
#[derive(Clone, Copy, Debug, Default)]
struct Times([Option<Seen>; 2]);

impl Times {
    fn add(&mut self, seen: Seen) {
        let [earlier, last] = &mut self.0;
        if last.is_some_and(|last| last.step != seen.step) {
            *earlier = *last;
        }
        *last = Some(seen);
    }

    /// Whether one of them came after `since` and was seen by a call of this step.
    fn has(&self, since: Order, step: u32) -> bool {
        self.0.iter().flatten().any(|seen| seen.order > since && seen.step.is_none_or(|seen| seen < step))
    }
}

/// What a write did, or may have done.
#[derive(Clone, Debug)]
pub(super) struct Written {
    pub(super) effect: Digest,
    pub(super) target: Digest,
    pub(super) project: Project,
    /// The file path that the result or the arguments named.
    pub(super) path: Option<FilePath>,
    /// That path, in each project that it is known to be in.
    pub(super) notes: Vec<Digest>,
    pub(super) permalink: Option<Digest>,
    /// Every name by which the note is known; `None` for one whose words are not proven.
    pub(super) names: Vec<Option<Words>>,
    /// Whether the note's title is among the names.
    pub(super) titled: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    order: Order,
    done: bool,
    written: Written,
}

/// A note, or a folder, that was deleted or moved away.
#[derive(Clone, Debug)]
struct Gone {
    order: Order,
    what: Removed,
}

/// What was deleted or moved away, by what is known of it.
#[derive(Clone, Debug)]
pub(super) enum Removed {
    /// A note by its path, and by every name that it is known by; `None` for one whose words are not proven.
    Note { path: Option<FilePath>, names: Vec<Option<Words>> },
    /// All notes in a folder.
    Folder(Option<Words>),
}

/// What a write is about, as far as the memory compares it.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) effect: Digest,
    pub(super) target: Digest,
    pub(super) project: Project,
    /// For a note by an identifier: what it may reach.
    pub(super) identifier: Option<Named>,
    /// Whether it adds to what is there, so that the same under another name of the note would add it twice. To delete or to
    /// move a note twice does nothing more.
    pub(super) adds_up: bool,
}

/// An identifier, as far as the memory compares it.
#[derive(Clone, Debug)]
pub(super) struct Named {
    /// The identifier, where the server would look it up as a permalink as it stands.
    pub(super) permalink: Digest,
    /// `None`: it may be any note's.
    pub(super) words: Option<Words>,
}

/// The keys under which a note may be known.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// Proves it where a result named its path.
    pub(super) path: Vec<Digest>,
    /// Proves it where the same identifier reached a note.
    pub(super) identifier: Vec<Digest>,
    /// Proves that there is none.
    pub(super) absent: Vec<Digest>,
}

/// Whether a write was made before in this turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// No, or what came since makes it another.
    No,
    /// It was done.
    Done,
    /// It may have been done: its outcome is not known, or not which note it was done to.
    Unknown,
}

/// Whether a write is about the same note as another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Same {
    No,
    Maybe,
    Yes,
}

/// What a turn knows of notes.
#[derive(Debug, Default)]
pub(super) struct Memory {
    order: Order,
    proven: HashMap<Digest, Times>,
    /// The same for identifiers that the server finds by the permalink of the note at this path.
    by_permalink: HashMap<Digest, (Times, FilePath)>,
    absent: HashMap<Digest, Order>,
    /// What path an identifier reached.
    reached: HashMap<Digest, (Order, FilePath)>,
    written: HashMap<Digest, VecDeque<Entry>>,
    writes: usize,
    /// Writes under way.
    running: BTreeMap<CallId, Entry>,
    exact: HashMap<(Digest, Digest), Order>,
    last_write: HashMap<Digest, Order>,
    /// When the note at a path, in whatever project, was last edited or overwritten.
    last_edit: HashMap<Digest, Order>,
    gone: Vec<Gone>,
    gone_overflow: Option<Order>,
    /// The last move, delete or project call that was done.
    barrier: Order,
    /// When identifiers may last have changed their meaning: an edit can change a title or a permalink.
    identifiers: Order,
    /// When a title may last have changed of which it is not known whose it is.
    titles: Order,
}

impl Memory {
    fn next(&mut self) -> Order {
        self.order += 1;
        self.order
    }

    /// A whole note was read, with its result in this step, or written, with no step: these are the ways to know it again.
    pub(super) fn prove(&mut self, keys: impl IntoIterator<Item = Digest>, step: Option<u32>) {
        let order = self.next();
        for key in keys {
            bounded(&mut self.proven).entry(key).or_default().add(Seen { order, step });
        }
    }

    /// The same of the note at this path, for identifiers that the server finds by its permalink.
    pub(super) fn prove_permalink(
        &mut self,
        keys: impl IntoIterator<Item = Digest>,
        path: FilePath,
        step: Option<u32>,
    ) {
        let order = self.next();
        for key in keys {
            let (times, of) = bounded(&mut self.by_permalink).entry(key).or_insert((Times::default(), path));
            if of.exact != path.exact {
                *times = Times::default();
            }
            *of = path;
            times.add(Seen { order, step });
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
        let found = |(times, path): &(Times, FilePath)| {
            let edited = self.last_edit.get(&path.exact).copied().unwrap_or_default();
            times.has(since.max(edited).max(self.titles), step)
        };
        proven(&keys.path, since)
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

    /// When a note that a path or an identifier may mean was last deleted or moved away; 0 if none was.
    pub(super) fn gone(&self, path: Option<FilePath>, name: Option<&Words>) -> Order {
        let overflow = self.gone_overflow.unwrap_or_default();
        let may_be = |gone: &&Gone| gone.what.may_be(path, name);
        self.gone.iter().filter(may_be).map(|gone| gone.order).max().unwrap_or_default().max(overflow)
    }

    /// A write is under way.
    pub(super) fn start(&mut self, call: CallId, written: Written) {
        let order = self.next();
        self.running.insert(call, Entry { order, done: false, written });
    }

    /// A write is under way no more.
    pub(super) fn stop(&mut self, call: CallId) {
        self.running.remove(&call);
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
        let same = self.written.entry(written.effect).or_default();
        if same.len() >= COMPARED_MAX {
            same.pop_front();
        }
        same.push_back(Entry { order, done, written });
    }

    /// Notes were moved away or deleted, or may have been.
    pub(super) fn remove(&mut self, what: Removed, done: bool) {
        self.switch(done);
        let order = self.titles;
        if self.gone.len() >= GONE_MAX {
            self.gone_overflow = Some(order);
        } else {
            self.gone.push(Gone { order, what });
        }
    }

    /// What names mean may be something else altogether now. `done`: what did it was done, and so is another write after it.
    pub(super) fn switch(&mut self, done: bool) {
        self.titles_change();
        if done {
            self.barrier = self.titles;
        }
    }

    /// Whether this very write was made before. The last one like it counts; `read` are the keys under which reading the
    /// target, or finding it absent, settles an unknown outcome.
    pub(super) fn before(&self, subject: &Subject, read: &Known, step: u32) -> Before {
        let under_way = self.running.values().filter(|entry| entry.written.effect == subject.effect);
        let done = self.written.get(&subject.effect);
        for entry in under_way.chain(done.into_iter().flatten().rev()) {
            match (self.same(entry, subject, &read.identifier), entry.done) {
                (Same::Yes, true) => return if self.in_force(entry) { Before::Done } else { Before::No },
                (Same::Yes, false) if self.knows(read, entry.order, step) => return Before::No,
                (Same::Yes, false) => return Before::Unknown,
                (Same::Maybe, true) if self.in_force(entry) => return Before::Unknown,
                (Same::Maybe, false) if !self.knows(read, entry.order, step) => return Before::Unknown,
                (Same::No | Same::Maybe, _) => {}
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
            return if path.exact == reached.exact { Same::Yes } else { Same::No };
        }
        if written.permalink == Some(named.permalink) {
            return Same::Yes;
        }
        let Some(words) = &named.words else { return Same::Maybe };
        let meets = written.names.iter().any(|name| name.as_ref().is_none_or(|name| name.may_meet(words)));
        // One word may be a title, and a title any note's.
        let titled = written.titled && entry.order > self.titles;
        if meets || (words.is_single() && !titled) { Same::Maybe } else { Same::No }
    }
}

impl Removed {
    /// Whether this may have been the note at a path, or that a name reached.
    fn may_be(&self, path: Option<FilePath>, name: Option<&Words>) -> bool {
        match (self, name) {
            (Removed::Note { path: Some(gone), .. }, _) if let Some(path) = path => path.folded == gone.folded,
            (Removed::Note { names, .. }, Some(name)) => {
                names.iter().any(|gone| gone.as_ref().is_none_or(|gone| gone.may_meet(name)))
            }
            (Removed::Folder(Some(folder)), Some(name)) => {
                // One word may be the title of a note in the folder.
                name.may_be_below(folder) || (path.is_none() && name.is_single())
            }
            _ => true,
        }
    }
}

/// A map that takes one more entry. One that is full is emptied first: what was known is not known any more.
fn bounded<K, V>(map: &mut HashMap<K, V>) -> &mut HashMap<K, V> {
    if map.len() >= REMEMBERED_MAX {
        map.clear();
    }
    map
}

#[cfg(test)]
mod tests;
