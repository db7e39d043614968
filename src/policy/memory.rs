//! What one turn knows of notes: what was read, what was found absent, what was written, and what is gone.
//!
//! Everything is held as keyed digests with the order in which it was learnt, but for names that a *result* gave to notes
//! that were written, which are needed to tell whether another spelling means the same note. All of it goes with the turn.

use std::collections::HashMap;

use super::digest::Digest;
use super::target::{Named, ProjectArguments, Target, identifier_reaches};
use crate::note::identifier::Relation;
use crate::note::path::NotePath;
use crate::note::text::Text;

/// Notes that one turn can remember as deleted or moved; beyond it, every note counts as gone.
const GONE_MAX: usize = 256;

/// Writes of one effect that are compared by name; older ones are found by their exact target only.
const COMPARED_MAX: usize = 256;

/// Something that was learnt, in order. Never 0.
pub(super) type Order = u64;

/// A write whose outcome is known to be done, or not known at all.
#[derive(Clone, Debug)]
struct Written {
    order: Order,
    target: Digest,
    projects: ProjectArguments,
    named: Named,
    done: bool,
}

/// A note that was deleted or moved away.
#[derive(Clone, Debug)]
struct Gone {
    order: Order,
    identifier: Text<'static>,
    path: Option<String>,
    directory: bool,
}

/// What a turn knows of notes.
#[derive(Debug, Default)]
pub(super) struct Memory {
    order: Order,
    proven: HashMap<Digest, Order>,
    absent: HashMap<Digest, Order>,
    written: HashMap<Digest, Vec<Written>>,
    exact: HashMap<(Digest, Digest), Order>,
    last_write: HashMap<String, Order>,
    gone: Vec<Gone>,
    gone_overflow: Option<Order>,
    /// The last move, delete or project call that was done.
    barrier: Order,
    /// When identifiers may last have changed their meaning: an edit can change a title or a permalink.
    identifiers: Order,
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
    /// It was tried, and whether it was done is not known.
    Unknown,
}

impl Memory {
    fn next(&mut self) -> Order {
        self.order += 1;
        self.order
    }

    /// A whole note was read, or written: these are the ways to know it again.
    pub(super) fn prove(&mut self, keys: impl IntoIterator<Item = Digest>) {
        let order = self.next();
        self.proven.extend(keys.into_iter().map(|key| (key, order)));
    }

    /// A note was looked for under exactly these names, and is not there.
    pub(super) fn miss(&mut self, keys: impl IntoIterator<Item = Digest>) {
        let order = self.next();
        self.absent.extend(keys.into_iter().map(|key| (key, order)));
    }

    /// Whether one of the keys was proven, or found absent, after `since`. What was learnt under an identifier counts only
    /// from when identifiers last changed their meaning.
    pub(super) fn knows(&self, keys: &Known, since: Order) -> bool {
        let after = |map: &HashMap<Digest, Order>, keys: &[Digest], since: Order| {
            keys.iter().any(|key| map.get(key).is_some_and(|at| *at > since))
        };
        let meant = since.max(self.identifiers);
        after(&self.proven, &keys.path, since)
            || after(&self.proven, &keys.identifier, meant)
            || after(&self.absent, &keys.absent, meant)
    }

    /// When the note at a path was last deleted or moved away, as far as it cannot be ruled out; 0 if it was not.
    pub(super) fn gone(&self, path: &NotePath) -> Order {
        let overflow = self.gone_overflow.unwrap_or_default();
        self.gone.iter().filter(|gone| gone.may_be(path)).map(|gone| gone.order).max().unwrap_or_default().max(overflow)
    }

    /// A note was edited, and titles and permalinks may be others now.
    pub(super) fn identifiers_change(&mut self) {
        self.identifiers = self.next();
    }

    /// When a note that an identifier may reach was last deleted or moved away; 0 if none was.
    pub(super) fn identifier_gone(&self, identifier: &Text<'_>) -> Order {
        let overflow = self.gone_overflow.unwrap_or_default();
        let may_be = |gone: &&Gone| gone.directory || may_be_same(&gone.identifier, gone.path.as_deref(), identifier);
        self.gone.iter().filter(may_be).map(|gone| gone.order).max().unwrap_or_default().max(overflow)
    }

    /// Whether anything at all was deleted or moved away.
    pub(super) fn anything_gone(&self) -> bool {
        !self.gone.is_empty() || self.gone_overflow.is_some()
    }

    /// A write with this effect on this target is done, or nobody knows whether it is.
    pub(super) fn write(
        &mut self,
        effect: Digest,
        target: Digest,
        projects: ProjectArguments,
        named: Named,
        done: bool,
    ) {
        let order = self.next();
        if done && let Some(path) = named.file_path.clone() {
            self.last_write.insert(path, order);
        }
        self.exact.insert((effect, target), order);
        let same = self.written.entry(effect).or_default();
        if same.len() >= COMPARED_MAX {
            same.remove(0);
        }
        same.push(Written { order, target, projects, named, done });
    }

    /// A note was moved away or deleted.
    pub(super) fn remove(&mut self, identifier: Text<'static>, path: Option<String>, directory: bool) {
        let order = self.next();
        self.barrier = order;
        self.identifiers = order;
        if self.gone.len() >= GONE_MAX {
            self.gone_overflow = Some(order);
        } else {
            self.gone.push(Gone { order, identifier, path, directory });
        }
    }

    /// Projects changed: what identifiers mean may have changed with them.
    pub(super) fn switch(&mut self) {
        self.barrier = self.next();
        self.identifiers = self.barrier;
    }

    /// Whether this very write was made before. The last one like it counts; `read` are the keys under which reading the
    /// target, or finding it absent, settles an unknown outcome.
    pub(super) fn before(
        &self,
        effect: Digest,
        target: &Target,
        target_digest: Digest,
        projects: &ProjectArguments,
        read: &Known,
    ) -> Before {
        let Some(same) = self.written.get(&effect) else { return Before::No };
        let is_same = |written: &&Written| {
            written.target == target_digest && !written.projects.differ(projects)
                || (!written.projects.differ(projects)
                    && written.named.file_path.is_some()
                    && matches!(target, Target::Identifier(_))
                    && target.relation(&written.named) != Relation::Different)
        };
        let Some(last) = same.iter().rev().find(is_same) else {
            // Beyond what is compared by name, the exact target is still known.
            return match self.exact.get(&(effect, target_digest)) {
                Some(order) if same.len() >= COMPARED_MAX && *order > self.barrier => Before::Done,
                _ => Before::No,
            };
        };
        if !last.done {
            return if self.knows(read, last.order) { Before::No } else { Before::Unknown };
        }
        let overwritten = last
            .named
            .file_path
            .as_ref()
            .and_then(|path| self.last_write.get(path))
            .is_some_and(|order| *order > last.order);
        if overwritten || self.barrier > last.order { Before::No } else { Before::Done }
    }
}

/// Whether an identifier may reach the note that another identifier reached. Different names in the last segment are
/// different notes; what cannot be told from the text may be the same.
fn may_be_same(gone: &Text<'_>, path: Option<&str>, identifier: &Text<'_>) -> bool {
    let tail = |text: &str| {
        let name = text.trim().rsplit(['/', ':']).next().unwrap_or_default().to_owned();
        let name = name.trim_end_matches(']').split('|').next().unwrap_or_default().to_owned();
        crate::note::permalink::of_path(&format!("{}.md", name.strip_suffix(".md").unwrap_or(&name)), None)
    };
    let Some(wanted) = identifier.as_str() else { return true };
    let names = [path, gone.as_str()];
    if gone.as_str().is_none() || looks_like_uuid(wanted) || gone.as_str().is_some_and(looks_like_uuid) {
        return true;
    }
    names.into_iter().flatten().any(|name| match (tail(name), tail(wanted)) {
        (Some(a), Some(b)) => a == b,
        _ => true,
    })
}

fn looks_like_uuid(text: &str) -> bool {
    let hex = text.trim().bytes().filter(u8::is_ascii_hexdigit).count();
    hex == 32 && text.trim().bytes().all(|b| b.is_ascii_hexdigit() || b == b'-')
}

impl Gone {
    /// Whether this may have been the note at the path.
    fn may_be(&self, path: &NotePath) -> bool {
        let text = path.as_str();
        if self.directory {
            // A folder by any spelling: what cannot be a part of it is ruled out by its first letters.
            let Some(folder) = self.identifier.as_str().map(|f| f.trim().trim_matches('/')) else { return true };
            return folder.is_empty()
                || text.get(..folder.len()).is_some_and(|start| start.eq_ignore_ascii_case(folder))
                || !folder.is_ascii()
                || folder.contains("://");
        }
        match &self.path {
            Some(gone) => gone == text,
            None => identifier_reaches(&self.identifier, path) != Relation::Different,
        }
    }
}
