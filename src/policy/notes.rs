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
        // Whoever listens too seldom does not hear of single edits any more.
        self.listen(key, news);
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

#[cfg(test)]
mod tests {
    use super::super::memory::{Before, Known, Subject, Written};
    use super::super::target::{FilePath, Keys};
    use super::*;
    use crate::evidence::{Named as Told, Proof};
    use crate::note::path::note_path;
    use crate::note::text::Text;

    const KEY: DigestKey = DigestKey([4; 16]);
    const KEYS: Keys<'static> = Keys { key: &KEY, current: Some(0) };
    const PATHS: [&str; 4] = ["notes/a.md", "notes/b.md", "notes/c.md", "other/a.md"];
    const PERMALINKS: [&str; 4] = ["main/notes/a", "main/notes/b", "main/notes/c", "main/other/a"];

    fn digest(text: &str) -> Digest {
        KEYS.permalink(text.as_bytes())
    }

    fn path(note: usize) -> FilePath {
        KEYS.file_path(PATHS[note])
    }

    fn told(note: usize) -> Told<'static> {
        Told { file_path: Some(PATHS[note]), permalink: Some(PERMALINKS[note]), title: Some("A note"), project: None }
    }

    /// What a random step does to a turn's notes, and to the news of all.
    fn step(notes: &mut Notes, news: &mut News, step: u32, random: u32) {
        let note = (random >> 8) as usize % PATHS.len();
        match random % 9 {
            0..=2 => {
                let identifier = Some(Text::from(PERMALINKS[note]));
                let proof = if random & 64 == 0 { Proof::PathAndIdentifier } else { Proof::Identifier };
                let read = Read { proof, identifier, told: told(note), current: Some(0), own: Some("main"), step };
                notes.take_down(&KEY, news, &Entry::Read(read));
            }
            3 | 4 => {
                let (effect, target) = (digest(PATHS[random as usize >> 4 & 3]), digest(PATHS[note]));
                let proves = random & 64 == 0;
                let wrote = Wrote { effect, target, told: told(note), current: Some(0), own: None, proves };
                notes.take_down(&KEY, news, &Entry::Wrote(wrote));
            }
            5 => news.edited(path(note)),
            6 => news.created(),
            7 if random & 64 == 0 => news.removed(),
            7 => news.retitled(),
            _ if random & 64 == 0 => notes.known(&KEY, news).edited(path(note)),
            _ => {
                let written = Written::of(digest(PATHS[note]), digest(PATHS[0]), Project::default());
                notes.known(&KEY, news).write(written, random & 128 == 0);
            }
        }
    }

    /// All that rules ask of a memory.
    fn answers(memory: &Memory, step: u32) -> Vec<String> {
        let mut answers = Vec::new();
        for note in 0..PATHS.len() {
            let identifier = KEYS.identifier(&PERMALINKS[note].into(), &ProjectArguments::default());
            let (folder, file) = PATHS[note].split_once('/').unwrap();
            let path = note_path(&file.strip_suffix(".md").unwrap().into(), &folder.into()).unwrap();
            let path = KEYS.path(&path, &ProjectArguments::default());
            let none = Known::default();
            for (by, known) in [("path", Known { path, ..none }), ("name", Known { identifier, ..Known::default() })] {
                answers.push(format!("{note} by {by}: {}", memory.knows(&known, 0, step)));
            }
            for target in PATHS {
                let subject = Subject {
                    effect: digest(PATHS[note]),
                    target: digest(target),
                    project: Project::default(),
                    identifier: None,
                    adds_up: false,
                };
                let before = memory.before(&subject, std::iter::empty(), &|| Some(Known::default()), step);
                answers.push(format!("{note} on {target}: {before:?}"));
            }
        }
        answers
    }

    #[test]
    fn what_is_taken_down_is_known_as_if_it_had_been_told_at_once() {
        let mut random = 1u32;
        let mut seen = std::collections::BTreeMap::new();
        for _ in 0..3000 {
            let (mut late, mut at_once) = (Notes::default(), Notes::default());
            let (mut news, mut same_news) = (News::default(), News::default());
            for at in 0..12 {
                random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                step(&mut late, &mut news, at / 2, random >> 8);
                step(&mut at_once, &mut same_news, at / 2, random >> 8);
                at_once.known(&KEY, &same_news);
            }
            let late = answers(late.known(&KEY, &news), 5);
            assert_eq!(late, answers(at_once.known(&KEY, &same_news), 5));
            for answer in late {
                *seen.entry(answer).or_insert(0) += 1;
            }
        }
        assert!(seen.values().all(|count| *count > 20), "each answer is given: {seen:?}");
        for answer in ["true", "false", "No", "Done", "Unknown"] {
            assert!(seen.keys().any(|seen| seen.ends_with(answer)), "{answer}: {seen:?}");
        }
    }

    #[test]
    fn a_new_note_asks_for_what_can_matter_to_it() {
        let (mut notes, news) = (Notes::default(), News::default());
        let (effect, other) = (digest("one"), digest("two"));
        let wrote = Wrote { effect, target: digest("t"), told: told(0), current: Some(0), own: None, proves: true };
        notes.take_down(&KEY, &news, &Entry::Wrote(wrote));
        assert!(!notes.known_to_new(&KEY, &news, &other).has_done(&effect), "it is only taken down");
        assert!(notes.known_to_new(&KEY, &news, &effect).has_done(&effect));
        assert!(notes.journal.is_empty());
        let subject =
            Subject { effect, target: digest("t"), project: Project::default(), identifier: None, adds_up: false };
        let memory = notes.known_to_new(&KEY, &news, &effect);
        assert_eq!(memory.before(&subject, std::iter::empty(), &|| Some(Known::default()), 1), Before::Done);
    }

    #[test]
    fn judging_a_new_note_is_listening_too() {
        let (mut notes, mut news) = (Notes::default(), News::default());
        let identifier = Some(Text::from(PERMALINKS[0]));
        let proof = Proof::PathAndIdentifier;
        let read = Read { proof, identifier, told: told(0), current: Some(0), own: Some("main"), step: 1 };
        notes.take_down(&KEY, &news, &Entry::Read(read));
        // More than are told one by one, but not since the last new note.
        for edits in [600, 600] {
            (0..edits).for_each(|_| news.edited(path(1)));
            notes.known_to_new(&KEY, &news, &digest("new"));
        }
        let identifier = KEYS.identifier(&PERMALINKS[0].into(), &ProjectArguments::default());
        let known = Known { identifier, ..Known::default() };
        assert!(notes.known(&KEY, &news).knows(&known, 0, 2));
    }

    #[test]
    fn a_journal_does_not_grow_for_ever() {
        let mut notes = Notes::default();
        let mut news = News::default();
        for at in 0..3 * ENTRIES_MAX {
            let read = Read {
                proof: Proof::PathAndIdentifier,
                identifier: None,
                told: told(0),
                current: Some(0),
                own: None,
                step: at,
            };
            notes.take_down(&KEY, &news, &Entry::Read(read));
            assert!(notes.journal.entries() <= ENTRIES_MAX);
        }
        // Of other sessions it may hear much at once.
        for _ in 0..200 {
            for note in 0..1000 {
                news.edited(path(note % PATHS.len()));
            }
            notes.listen(&KEY, &news);
            assert!(notes.journal.size() <= SIZE_MAX + 1024 * 33);
        }
    }
}
