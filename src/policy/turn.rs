//! What one turn has earned: its classification and its lookups, and the calls that are still open.

use std::collections::BTreeMap;

use super::{Arrival, CallId, Settled, TurnId};
use crate::evidence::Outcome;
use crate::reason::{Observation, Observations};
use crate::tool::Class;

/// Calls of one turn that may be open at once. Beyond it the oldest is given up, and its result will change nothing: a
/// result that never comes must not hold memory for ever.
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    /// A declaration.
    Control,
    /// A lookup, with the step it was made in.
    Lookup {
        /// The step.
        step: u32,
    },
    /// Any other call.
    Other,
}

impl Open {
    pub(super) const fn of(class: Class, step: u32) -> Open {
        match class {
            Class::Control => Open::Control,
            Class::Read { search: true } => Open::Lookup { step },
            _ => Open::Other,
        }
    }
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
    open: BTreeMap<CallId, Open>,
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
            open: BTreeMap::new(),
        }
    }

    /// The session's turn with this number. Another turn than the one before has earned nothing yet.
    pub(super) fn entered(slot: &mut Option<Turn>, id: TurnId) -> &mut Turn {
        if slot.as_ref().is_some_and(|turn| turn.id != id) {
            *slot = None;
        }
        slot.get_or_insert_with(|| Turn::new(id))
    }

    pub(super) fn classification(&self) -> Classification {
        self.classification
    }

    /// What the lookups are worth to a call of this step.
    pub(super) fn recall(&self, step: u32) -> Recall {
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
        self.open.len()
    }

    /// Follows a call to its result.
    pub(super) fn follow(&mut self, id: CallId, open: Open) {
        while self.open.len() >= MAX_OPEN {
            let Some((oldest, _)) = self.open.first_key_value() else { break };
            self.drop_call(*oldest);
        }
        self.running += usize::from(matches!(open, Open::Lookup { .. }));
        self.open.insert(id, open);
    }

    /// Follows a call no more.
    pub(super) fn drop_call(&mut self, id: CallId) -> Option<Open> {
        let open = self.open.remove(&id)?;
        self.running -= usize::from(matches!(open, Open::Lookup { .. }));
        Some(open)
    }

    /// Takes note of a result; `None` where the call is not open.
    pub(super) fn settle(
        &mut self,
        id: CallId,
        arrival: &Arrival,
        lookup: impl FnOnce() -> (Outcome, Observations),
    ) -> Option<Settled> {
        let open = self.drop_call(id)?;
        if !arrival.reached {
            // A denial, an abort before the body: nothing was proven, not even a failure.
            return Some(Settled { outcome: Some(Outcome::NotReached), observations: Observations::NONE });
        }
        let by_flag = if arrival.is_error { Outcome::Failed } else { Outcome::Succeeded };
        let (outcome, observations) = match open {
            Open::Other => (by_flag, Observations::NONE),
            Open::Control => match arrival.declared {
                Some(task) if !arrival.is_error => (by_flag, self.declare(task)),
                _ => (Outcome::Failed, Observations::NONE),
            },
            Open::Lookup { step } => {
                let (outcome, observations) = lookup();
                match outcome {
                    // The model sees a result with the step after the one in which it arrived, which for a lookup that
                    // its program did not wait for is a later one than the lookup's own.
                    Outcome::Succeeded => {
                        let seen = step.max(arrival.step);
                        self.succeeded = Some(self.succeeded.map_or(seen, |earliest| earliest.min(seen)));
                    }
                    Outcome::Failed => self.failed = true,
                    Outcome::NotReached => {}
                }
                (outcome, observations)
            }
        };
        Some(Settled { outcome: Some(outcome), observations })
    }

    /// Applies a declaration. What lookups have earned stays.
    fn declare(&mut self, task: Task) -> Observations {
        let before = std::mem::replace(&mut self.classification, task.into());
        let changed = before != Classification::Unknown && before != self.classification;
        Observations::NONE
            .with_if(changed, Observation::Reclassified)
            .with_if(changed && self.denied && task == Task::Simple, Observation::ReclassifiedAfterDenial)
    }
}
