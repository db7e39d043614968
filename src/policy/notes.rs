//! What one turn has learnt of the notes of one server, most of it only taken down.
//!
//! Nearly every write makes a new note, and what was learnt of other notes decides nothing of it. So what a whole read or a
//! new note proves is appended to a journal, and worked out when a rule asks for it: then [`Memory`] is told all of it, in the
//! order in which it was learnt.

use super::digest::{Digest, DigestKey};
use super::memory::{Memory, News, Order};
use super::settle;
use super::target::{Project, ProjectArguments};
use journal::Journal;
pub(super) use journal::{Entry, Read, Wrote};

mod journal;

/// Entries and bytes that a journal holds before it is worked out unasked. They bound what has to be worked out at once.
const ENTRIES_MAX: u32 = 4096;
const SIZE_MAX: usize = 1 << 20;

static NOTHING: Memory = Memory::NOTHING;

/// Orders that one entry, or one settling, may use: more than any does.
const ORDERS_BITS: u32 = 4;

/// What a turn has learnt of the notes of one server.
#[derive(Debug, Default)]
pub(super) struct Notes {
    journal: Journal,
    memory: Option<Box<Memory>>,
    /// Counts what was learnt or begun.
    moment: u32,
    /// How far the news of other sessions has been heard.
    heard: u64,
}

impl Notes {
    /// The next moment, later than all before.
    fn next(&mut self) -> u32 {
        self.moment = self.moment.saturating_add(1);
        self.moment
    }

    /// A write begins. Returns when, which is never 0.
    pub(super) fn begin(&mut self) -> Order {
        order_of(self.next())
    }

    /// All that is known, what other sessions did included.
    pub(super) fn known(&mut self, key: &DigestKey, news: &News) -> &mut Memory {
        self.listen(key, news);
        self.work_out(key);
        let order = order_of(self.next());
        let memory = self.memory.get_or_insert_default();
        memory.enter(order);
        memory
    }

    /// What is known to decide on a new note, by a write that does this. All that is known, where it can matter: the journal
    /// holds nothing that is gone, and nothing else of other notes decides on a new one.
    pub(super) fn known_to_new(&mut self, key: &DigestKey, news: &News, effect: &Digest) -> &Memory {
        let matters = |memory: &Memory| memory.has_gone() || memory.has_done(effect);
        if self.journal.has(effect) || self.memory.as_deref().is_some_and(matters) {
            return self.known(key, news);
        }
        self.memory.as_deref().unwrap_or(&NOTHING)
    }

    /// Takes down what was learnt.
    pub(super) fn take_down(&mut self, key: &DigestKey, news: &News, entry: &Entry<'_>) {
        self.listen(key, news);
        let moment = self.next();
        self.push(key, moment, entry);
    }

    fn push(&mut self, key: &DigestKey, moment: u32, entry: &Entry<'_>) {
        if self.journal.entries() >= ENTRIES_MAX || self.journal.size() >= SIZE_MAX {
            self.work_out(key);
        }
        self.journal.push(moment, entry);
    }

    /// Takes note of what other sessions have done since. Before anything else is learnt, so that it is as if each had been told
    /// at once.
    pub(super) fn listen(&mut self, key: &DigestKey, news: &News) {
        let since = std::mem::replace(&mut self.heard, news.last());
        // Who knows nothing has nothing that could have changed.
        if since == news.last() || (self.journal.is_empty() && self.memory.is_none()) {
            return;
        }
        let moment = self.next();
        self.push(key, moment, &Entry::Heard(news.since(since)));
    }

    /// The turn's own write was told to all, and nothing else since it last listened.
    pub(super) fn told(&mut self, news: &News) {
        self.heard = news.last();
    }

    /// Tells the memory what was taken down.
    fn work_out(&mut self, key: &DigestKey) {
        if self.journal.is_empty() {
            return;
        }
        let none = ProjectArguments::default();
        let journal = std::mem::take(&mut self.journal);
        let memory = self.memory.get_or_insert_default();
        journal.each(|moment, entry| {
            memory.enter(order_of(moment));
            match entry {
                Entry::Read(read) => settle::read(memory, key, &none, &read),
                Entry::Wrote(wrote) => settle::made(memory, key, &none, Project::default(), &wrote),
                Entry::Heard(heard) => memory.hear(&heard),
            }
        });
    }
}

/// The first order of a moment. Should there ever be more moments than orders, what comes then counts as not later.
const fn order_of(moment: u32) -> Order {
    moment.saturating_mul(1 << ORDERS_BITS)
}
