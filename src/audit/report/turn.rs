//! One turn of a report: what was declared in it, and what followed on its denials.

use serde::Serialize;

use super::super::record::Record;
use super::{Fate, Report, writes};
use crate::reason::{Code, Kind as CodeKind, Observation};

/// What followed on denials that the model was told of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Followed {
    /// Denials that the model was told of.
    pub told: u64,
    /// The next call of a later message was the one that the denial names.
    pub right_next: u64,
    /// It was another one.
    pub other_next: u64,
    /// There was no further governed call in the turn.
    pub nothing_more: u64,
    /// The same tool was called again later in the turn and was let through.
    pub cured: u64,
}

#[derive(Debug)]
pub(super) struct TurnState {
    pub(super) id: Option<u32>,
    writes: u64,
    /// Of these, those judged in audit.
    audited: u64,
    blocked: u64,
    /// Of these, those that went on.
    overridden: u64,
    declared: bool,
    simple_after_denial: bool,
    denials: Vec<Denial>,
}

/// A denial that the model was told of.
#[derive(Debug)]
struct Denial {
    code: Code,
    tool: Box<str>,
    step: u32,
    next: Option<bool>,
    cured: bool,
}

/// Denials of one turn that are followed; a turn that goes on being denied says nothing new.
const FOLLOWED_MAX: usize = 100;

impl TurnState {
    pub(super) fn new(id: Option<u32>) -> TurnState {
        TurnState {
            id,
            writes: 0,
            audited: 0,
            blocked: 0,
            overridden: 0,
            declared: false,
            simple_after_denial: false,
            denials: Vec::new(),
        }
    }

    /// A call was judged for the first time.
    pub(super) fn next_call(&mut self, record: &Record<'_>) {
        let class = record.class.as_deref().unwrap_or_default();
        self.writes += u64::from(writes(class));
        self.audited += u64::from(writes(class) && record.mode.as_deref() == Some("audit"));
        let Some(step) = record.step else { return };
        let passes = matches!(record.enforcement.as_deref(), Some("allowed" | "asked"));
        // What stands in the message of the denied call itself is no answer to the denial.
        for denial in self.denials.iter_mut().filter(|denial| denial.step < step) {
            let same = record.raw_tool() == &*denial.tool;
            if denial.next.is_none() {
                denial.next = Some(match denial.code {
                    Code::ClassificationRequired => class == "control",
                    Code::MemoryLookupFailed | Code::CreateRequiresSearch | Code::MemoryLookupRequired => {
                        class == "search"
                    }
                    _ => same || class == "read",
                });
            }
            denial.cured |= same && passes;
        }
    }

    /// The policy denied a call.
    pub(super) fn blocked(&mut self, record: &Record<'_>, fate: Fate) {
        self.blocked += 1;
        self.overridden += u64::from(fate == Fate::Overridden);
        let code = Code::ALL.iter().find(|code| Some(code.name()) == record.code.as_deref());
        if let (true, Some(code), Some(step)) = (fate == Fate::Denied, code, record.step)
            && code.kind() == CodeKind::Recoverable
            && self.denials.len() < FOLLOWED_MAX
        {
            let tool = Box::from(record.raw_tool());
            self.denials.push(Denial { code: *code, tool, step, next: None, cured: false });
        }
    }

    /// A call's result arrived.
    pub(super) fn settled(&mut self, record: &Record<'_>) {
        let succeeded = record.outcome.as_deref() == Some("succeeded");
        self.declared |= succeeded && record.declared.is_some();
        let after_denial = Observation::ReclassifiedAfterDenial.name();
        self.simple_after_denial |= record.observations.iter().any(|o| &**o == after_denial);
    }

    /// The turn is over.
    pub(super) fn close(self, report: &mut Report) {
        report.turns_with_writes += u64::from(self.writes > 0);
        report.audited.turns += u64::from(self.audited > 0);
        report.simple_after_denial += u64::from(self.simple_after_denial);
        if self.writes > 0 && !self.declared {
            report.never_classified += 1;
            report.blocked_unclassified += self.blocked;
            report.audited.unclassified += self.overridden;
        }
        for denial in self.denials {
            let count = report.followed.entry(denial.code.name().to_owned()).or_default();
            count.told += 1;
            count.cured += u64::from(denial.cured);
            match denial.next {
                Some(true) => count.right_next += 1,
                Some(false) => count.other_next += 1,
                None => count.nothing_more += 1,
            }
        }
    }
}
