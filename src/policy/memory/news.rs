//! What the writes of all sessions did to the names of notes, for the memories of other sessions: one number for each, and what
//! they came to. A write costs the same however many sessions there are; each hears of it when it is asked the next time.

use std::collections::VecDeque;

use super::super::target::FilePath;

/// Edits that are told one by one. Who has not listened for longer takes any title for changed.
const EDITS_MAX: usize = 1024;

/// The writes to the notes of one server, in order.
#[derive(Clone, Debug, Default)]
pub(in crate::policy) struct News {
    /// The number of the last one.
    last: u64,
    /// The last after which any title may be another.
    titles: u64,
    /// The last that moved or deleted notes.
    removed: u64,
    edits: VecDeque<(u64, FilePath)>,
    /// The last edit that is not among them any more.
    forgotten: u64,
}

impl News {
    /// There is a new note, whose names may have been those of others.
    pub(in crate::policy) fn created(&mut self) {
        self.last += 1;
    }

    /// The note at this path may be called otherwise.
    pub(in crate::policy) fn edited(&mut self, path: FilePath) {
        self.last += 1;
        if self.edits.len() >= EDITS_MAX
            && let Some((number, _)) = self.edits.pop_front()
        {
            self.forgotten = number;
        }
        self.edits.push_back((self.last, path));
    }

    /// Any note may be.
    pub(in crate::policy) fn retitled(&mut self) {
        self.last += 1;
        self.titles = self.last;
    }

    /// Notes are gone from where they were, or may be.
    pub(in crate::policy) fn removed(&mut self) {
        self.retitled();
        self.removed = self.last;
    }

    /// The number of the last one.
    pub(in crate::policy) const fn last(&self) -> u64 {
        self.last
    }

    /// What came after this one.
    pub(in crate::policy) fn since(&self, since: u64) -> Heard {
        let start = self.edits.partition_point(|(number, _)| *number <= since);
        let all_known = self.forgotten <= since;
        Heard {
            titles: self.titles > since || !all_known,
            removed: self.removed > since,
            edits: if all_known { self.edits.iter().skip(start).map(|(_, path)| *path).collect() } else { Vec::new() },
        }
    }
}

/// What other sessions did to the names of notes. That they did anything can have given a note any name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::policy) struct Heard {
    /// Any title may be another.
    pub(in crate::policy) titles: bool,
    /// Notes may be gone from where they were.
    pub(in crate::policy) removed: bool,
    /// The notes that were edited.
    pub(in crate::policy) edits: Vec<FilePath>,
}
