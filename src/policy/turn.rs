//! What one turn has earned: its classification, its lookups and what it knows of notes, and the calls that are still open.

use std::collections::VecDeque;

use super::digest::Digest;
use super::memory::{Order, Subject};
use super::notes::Notes;
use super::small::Marks;
use super::target::{ProjectArguments, Target};
use super::{CallId, TurnId};
use crate::note::text::Text;
use crate::reason::{Observation, Observations};
use crate::tool::{Class, Known};

/// Calls of one turn that may be open at once. Beyond it the oldest is given up, and its result will change nothing: a
/// result that never comes must not hold memory for ever. Of a write that ran nobody then knows what became of it.
pub const MAX_OPEN: usize = 4096;

/// What a model can declare a turn to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Task {
    /// The writes need no knowledge of what memory holds.
    Simple,
    /// Memory must be looked up first.
    Complex,
}

/// How a turn is classified.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Classification {
    /// Not yet: the start of every turn.
    #[default]
    Unknown = 0,
    /// Declared simple.
    Simple = 1,
    /// Declared complex.
    Complex = 2,
}

impl Classification {
    /// Every classification, in the order of the numbers.
    pub const ALL: [Classification; 3] = [Classification::Unknown, Classification::Simple, Classification::Complex];

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Classification::Unknown => "unknown",
            Classification::Simple => "simple",
            Classification::Complex => "complex",
        }
    }
}

impl From<Task> for Classification {
    fn from(task: Task) -> Classification {
        match task {
            Task::Simple => Classification::Simple,
            Task::Complex => Classification::Complex,
        }
    }
}

/// What a turn's lookups are worth to a call of a certain step. One success in an earlier step is enough, whatever
/// other lookups did or do, in any order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Recall {
    /// No lookup that proves anything.
    #[default]
    None = 0,
    /// Every lookup failed.
    Failed = 1,
    /// A lookup runs, or succeeded in this very step: the model has not seen a result.
    Pending = 2,
    /// A lookup succeeded in an earlier step.
    Satisfied = 3,
}

impl Recall {
    /// Every state, in the order of the numbers.
    pub const ALL: [Recall; 4] = [Recall::None, Recall::Failed, Recall::Pending, Recall::Satisfied];

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Recall::None => "none",
            Recall::Failed => "failed",
            Recall::Pending => "pending",
            Recall::Satisfied => "satisfied",
        }
    }
}

/// A call between judging and result.
#[derive(Debug)]
pub(super) enum Open {
    /// A declaration.
    Control,
    /// A lookup.
    Lookup(Box<ReadRequest>),
    /// Any other read.
    Read(Box<ReadRequest>),
    /// A write whose arguments could be read.
    Write(Box<WriteRequest>),
    /// A write whose arguments could not be read, or a call that nothing follows from.
    Other,
    /// A call of a trail, of which nothing but this is kept.
    Recorded {
        /// The tool's class.
        class: Class,
        /// The step it was made in.
        step: u32,
    },
}

impl Open {
    /// Whether the call may switch the connection to another project.
    pub(super) fn may_switch(&self) -> bool {
        match self {
            Open::Lookup(read) | Open::Read(read) => read.switches,
            Open::Write(write) => write.switches,
            Open::Control | Open::Other | Open::Recorded { .. } => false,
        }
    }

    /// A write that was let run.
    fn begun(&self) -> Option<&WriteRequest> {
        match self {
            Open::Write(write) if write.begun != 0 => Some(write),
            _ => None,
        }
    }

    /// Whether its success is a recall.
    fn is_lookup(&self) -> bool {
        matches!(self, Open::Lookup(_) | Open::Recorded { class: Class::Read { search: true }, .. })
    }
}

/// What a read asked for, as far as its result can prove something.
#[derive(Debug)]
pub(super) struct ReadRequest {
    pub(super) known: Option<Known>,
    pub(super) step: u32,
    pub(super) proof: crate::evidence::Proof,
    pub(super) identifier: Option<Text<'static>>,
    /// It asks for an answer in JSON, whose fields are the server's own words.
    pub(super) json: bool,
    pub(super) projects: ProjectArguments,
    /// It may switch the connection to another project.
    pub(super) switches: bool,
    /// Its identifier itself may route it.
    pub(super) routed: bool,
}

/// What a write would do.
#[derive(Debug)]
#[allow(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(super) struct WriteRequest {
    pub(super) known: Option<Known>,
    pub(super) subject: Subject,
    pub(super) target: Target,
    pub(super) projects: ProjectArguments,
    /// When it was let run; 0 while it was not.
    pub(super) begun: Order,
    pub(super) directory: bool,
    /// It replaces text of a note that exists: an overwrite, or an edit that does not only add.
    pub(super) replaces: bool,
    /// It may switch the connection to another project.
    pub(super) switches: bool,
    /// Its identifier itself may route it.
    pub(super) routed: bool,
    /// It says which project it means: by an argument, or in front of its identifier.
    pub(super) names_project: bool,
}

/// A call of a turn whose result has not arrived.
#[derive(Debug)]
pub(super) struct Followed {
    /// Index of its server.
    pub(super) server: u16,
    /// What stood for the connection's current project before the call was judged.
    pub(super) before: u64,
    /// What stands for it while the call runs, as long as no other call switches it.
    pub(super) current: u64,
    pub(super) open: Open,
}

/// One turn of one session.
#[derive(Debug)]
pub(super) struct Turn {
    id: TurnId,
    classification: Classification,
    denied: bool,
    /// The earliest step in which the result of a successful lookup had arrived.
    succeeded: Option<u32>,
    failed: bool,
    running: usize,
    /// The open call that was judged last: mostly the only one.
    last: Option<(CallId, Followed)>,
    /// All others, by their numbers, which ascend as calls are judged.
    open: VecDeque<(CallId, Followed)>,
    /// What the writes among these do that were let run.
    under_way: Marks,
    /// What was learnt of the notes of each server, by its index. There are few, and most turns know one or none.
    notes: Vec<(u16, Notes)>,
}

/// The calls of a turn whose results have not arrived.
#[derive(Clone, Copy)]
pub(super) struct OpenCalls<'t> {
    last: Option<&'t (CallId, Followed)>,
    before: &'t VecDeque<(CallId, Followed)>,
    under_way: &'t Marks,
}

impl<'t> OpenCalls<'t> {
    /// The writes to a server that were let run and do this, each with when it was.
    pub(super) fn writes(self, server: u16, effect: Digest) -> impl Iterator<Item = (&'t Subject, Order)> {
        // Mostly there is none, however many calls are open.
        let before = self.under_way.has(effect).then_some(self.before);
        before.into_iter().flatten().chain(self.last).filter_map(move |(_, call)| match call.open.begun() {
            Some(write) if call.server == server && write.subject.effect == effect => {
                Some((&write.subject, write.begun))
            }
            _ => None,
        })
    }
}

impl Turn {
    fn new(id: TurnId) -> Turn {
        Turn {
            id,
            classification: Classification::Unknown,
            denied: false,
            succeeded: None,
            failed: false,
            running: 0,
            last: None,
            open: VecDeque::new(),
            under_way: Marks::default(),
            notes: Vec::new(),
        }
    }

    /// The session's turn, if it has another number: it is over.
    pub(super) fn left(slot: &mut Option<Box<Turn>>, id: TurnId) -> Option<Box<Turn>> {
        slot.take_if(|turn| turn.id != id)
    }

    /// The session's turn with this number. Another turn than the one before has earned nothing yet.
    pub(super) fn entered(slot: &mut Option<Box<Turn>>, id: TurnId) -> &mut Turn {
        Turn::left(slot, id);
        slot.get_or_insert_with(|| Box::new(Turn::new(id)))
    }

    pub(super) const fn classification(&self) -> Classification {
        self.classification
    }

    /// What the lookups are worth to a call of this step.
    pub(super) const fn recall(&self, step: u32) -> Recall {
        match self.succeeded {
            Some(earliest) if earliest < step => Recall::Satisfied,
            Some(_) => Recall::Pending,
            None if self.running > 0 => Recall::Pending,
            None if self.failed => Recall::Failed,
            None => Recall::None,
        }
    }

    /// Takes note that a call of this turn was denied by the policy.
    pub(super) fn denied(&mut self) {
        self.denied = true;
    }

    pub(super) fn open_calls(&self) -> usize {
        self.open.len() + usize::from(self.last.is_some())
    }

    /// What the turn has learnt of the notes of a server, and the calls that are open.
    pub(super) fn notes(&mut self, server: u16) -> (&mut Notes, OpenCalls<'_>) {
        let at = self.notes.iter().position(|(of, _)| *of == server).unwrap_or_else(|| {
            self.notes.reserve_exact(1);
            self.notes.push((server, Notes::default()));
            self.notes.len() - 1
        });
        #[allow(clippy::indexing_slicing, reason = "it was found or put there")]
        let (_, notes) = &mut self.notes[at];
        (notes, OpenCalls { last: self.last.as_ref(), before: &self.open, under_way: &self.under_way })
    }

    /// Gives up the oldest calls until no more than so many are left. What is given up is returned where it may have changed
    /// something: a write that was let run, or a read that may have switched the connection.
    pub(super) fn give_up(&mut self, left: usize) -> Option<Followed> {
        while self.open_calls() > left {
            let oldest = self.open.front().into_iter().chain(&self.last).map(|(id, _)| *id).min()?;
            let call = self.take(oldest)?;
            let is_write = matches!(call.open, Open::Write(_));
            if call.open.begun().is_some() || (call.open.may_switch() && !is_write) {
                return Some(call);
            }
        }
        None
    }

    /// Follows a call to its result. There must be room for it.
    pub(super) fn follow(&mut self, id: CallId, call: Followed) {
        self.running += usize::from(call.open.is_lookup());
        let Some(before) = self.last.replace((id, call)) else { return };
        if let Some(write) = before.1.open.begun() {
            self.under_way.add(write.subject.effect);
        }
        // Numbers ascend, so the place is the end.
        match self.place(before.0) {
            Ok(at) | Err(at) => self.open.insert(at, before),
        }
    }

    /// Follows a call no more.
    pub(super) fn take(&mut self, id: CallId) -> Option<Followed> {
        let (_, call) = if let Some(last) = self.last.take_if(|(last, _)| *last == id) {
            last
        } else {
            let at = self.place(id).ok()?;
            let call = self.open.remove(at)?;
            if let Some(write) = call.1.open.begun() {
                self.under_way.remove(write.subject.effect);
            }
            call
        };
        self.running -= usize::from(call.open.is_lookup());
        Some(call)
    }

    /// Where a call is among the open ones before the last, or would be.
    fn place(&self, id: CallId) -> Result<usize, usize> {
        match self.open.back() {
            None => Err(0),
            Some((last, _)) if *last < id => Err(self.open.len()),
            Some(_) => self.open.binary_search_by_key(&id, |(of, _)| *of),
        }
    }

    /// A lookup succeeded, and its result arrived in this step. The model sees it with the next one, which for a lookup
    /// that its program did not wait for is a later one than the lookup's own.
    pub(super) fn lookup_succeeded(&mut self, step: u32) {
        self.succeeded = Some(self.succeeded.map_or(step, |earliest| earliest.min(step)));
    }

    /// A lookup failed.
    pub(super) fn lookup_failed(&mut self) {
        self.failed = true;
    }

    /// Applies a declaration. What lookups have earned stays.
    pub(super) fn declare(&mut self, task: Task) -> Observations {
        let before = std::mem::replace(&mut self.classification, task.into());
        let changed = before != Classification::Unknown && before != self.classification;
        Observations::NONE
            .with_if(changed, Observation::Reclassified)
            .with_if(changed && self.denied && task == Task::Simple, Observation::ReclassifiedAfterDenial)
    }
}
