//! One load's replay: each decision and settlement held against the rules.

use std::collections::HashSet;

use super::super::record::Record;
use super::{Differs, Session};
use crate::config::{Config, LookupEvidence, POLICY_VERSION, Raw};
use crate::evidence::answer::Answer;
use crate::policy::{Arrival, CallId, DigestKey, Options, Outcome, Policy, Position, ReadCall, Reading, Task, TurnId};
use crate::reason::{Code, Observation, Observations};
use crate::tool::{Class, Namespace, Tool};
use crate::verdict::{Enforcement, Verdict, enforce};

pub(super) const OTHER_POLICY: &str = "made by another policy version";
pub(super) const NO_CONFIG: &str = "made with a configuration that this version does not read";
pub(super) const AFTER_GAP: &str = "behind a gap, before the session's next turn";
pub(super) const NOT_JUDGED: &str = "not a call of the policy";
pub(super) const OTHER_WORDS: &str = "in words of another version";

/// A replay digests nothing: what the guards found is a recorded input.
const NO_KEY: DigestKey = DigestKey([0; 16]);

/// One load's policy, with what its configuration says.
#[derive(Debug)]
pub(super) struct Rules {
    config: Config,
    namespace: Namespace,
    pub(super) policy: Policy,
    /// Calls that wait for a human's answer.
    asked: HashSet<u32>,
}

/// What came of one record.
pub(super) enum Checked {
    /// It follows.
    Follows,
    /// It follows, given what a guard found.
    OnFindings,
    /// It could not be replayed, for this reason.
    Skipped(&'static str),
}

impl Rules {
    /// The rules of a load record, or why they are not known.
    pub(super) fn of(record: &Record<'_>) -> Result<Rules, &'static str> {
        if record.policy.as_deref() != Some(POLICY_VERSION) {
            return Err(OTHER_POLICY);
        }
        let raw = record.config.as_ref().map_or(Raw::Undefined, Raw::from);
        let config = Config::read(&raw).map_err(|_| NO_CONFIG)?;
        let policy = Policy::new(Options::new(&config, NO_KEY));
        Ok(Rules { namespace: config.namespace(), policy, config, asked: HashSet::new() })
    }

    /// Holds a decision against the rules.
    pub(super) fn decision(&mut self, record: &Record<'_>, session: Option<&mut Session>) -> Result<Checked, Differs> {
        let enforcement = record.enforcement.as_deref().unwrap_or_default();
        let by = record.by.as_deref().unwrap_or_default();
        if by != "judged" {
            return self.at_a_door(record, by, enforcement);
        }
        let Some(number) = record.number else { return Ok(Checked::Skipped(NOT_JUDGED)) };
        let Some(tool) = self.tool(record)? else { return Ok(Checked::Skipped(NOT_JUDGED)) };
        let (Some(position), Some(reading)) = (self.position(record, session), reading(record, tool)) else {
            return Ok(Checked::Skipped(OTHER_WORDS));
        };
        let Ok(position) = position else { return Ok(Checked::Skipped(AFTER_GAP)) };
        // Judged in any case: what is said in words of another version is followed to its result all the same.
        let (verdict, finding) = (recorded_verdict(record), denied_by(record));
        let replayed = self.policy.judge_read(ReadCall {
            id: CallId(number),
            tool,
            reading,
            denied_by: finding.flatten(),
            warned: verdict.map_or(Observations::NONE, |verdict| verdict.observations.findings()),
            position,
            control_hidden: record.control_hidden,
        });
        let (Some(verdict), Some(_)) = (verdict, finding) else { return Ok(Checked::Skipped(OTHER_WORDS)) };
        let on_findings = !record.findings.is_empty();
        differ("code", verdict.code.name(), replayed.code.name())?;
        let decision = if verdict.denies() { "deny" } else { "allow" };
        differ("decision", record.decision.as_deref().unwrap_or_default(), decision)?;
        differ("classification", verdict.classification.name(), replayed.classification.name())?;
        differ("lookup", verdict.recall.name(), replayed.recall.name())?;
        differ("observations", &names(verdict.observations), &names(replayed.observations))?;
        let replayed = enforce(replayed, self.config.mode, self.config.destructive_asks, record.can_ask);
        differ("enforcement", enforcement, replayed.name())?;
        if replayed == Enforcement::Asked {
            self.asked.insert(number);
        } else {
            self.asked.remove(&number);
        }
        Ok(if on_findings { Checked::OnFindings } else { Checked::Follows })
    }

    /// Where a call stood, `Err` where its session is not known because of a gap, `None` in words of another version. A
    /// turn that cannot be followed is not known until the next one.
    fn position(&mut self, record: &Record<'_>, session: Option<&mut Session>) -> Option<Result<Position, ()>> {
        match (record.place.as_deref()?, session) {
            ("no-agent", _) => Some(Ok(Position::NoAgent)),
            ("unknown", _) => Some(Ok(Position::Unknown)),
            ("agent", Some(session)) => {
                if !session.known {
                    return Some(Err(()));
                }
                let host = record.turn.map(TurnId::Host);
                let turn = host.or(record.counted_turn.map(TurnId::Counted));
                let (Some(turn), Some(step)) = (turn, record.step) else {
                    session.known = false;
                    return None;
                };
                let id = *session.id.get_or_insert_with(|| self.policy.open_session());
                Some(Ok(Position::At { session: id, turn, step }))
            }
            _ => None,
        }
    }

    /// What was refused or found behind the judging.
    fn at_a_door(&mut self, record: &Record<'_>, by: &str, enforcement: &str) -> Result<Checked, Differs> {
        let Some(verdict) = recorded_verdict(record) else { return Ok(Checked::Skipped(OTHER_WORDS)) };
        match by {
            "refused" => {
                differ("code", verdict.code.name(), Code::CallNotJudged.name())?;
                differ("enforcement", enforcement, "denied")?;
            }
            "unapproved" => {
                let asked = record.number.is_some_and(|number| self.asked.remove(&number));
                differ("enforcement", enforcement, if asked { "denied" } else { "nothing was asked" })?;
            }
            "otherwise" => {
                differ("code", verdict.code.name(), Code::CallNotJudged.name())?;
                differ("enforcement", enforcement, "overridden")?;
            }
            // What met a gate that was going was not judged either, and that is no fault.
            "failed" if verdict.code == Code::PolicyReloading => {}
            "failed" => differ("code", verdict.code.name(), Code::PolicyInternalError.name())?,
            "out-of-scope" => differ("code", verdict.code.name(), Code::AllowOutOfScope.name())?,
            _ => return Ok(Checked::Skipped(OTHER_WORDS)),
        }
        Ok(Checked::Follows)
    }

    /// Holds a settlement against the rules.
    pub(super) fn settlement(
        &mut self,
        record: &Record<'_>,
        session: Option<&mut Session>,
    ) -> Result<Checked, Differs> {
        let Some(number) = record.number else { return Ok(Checked::Skipped(NOT_JUDGED)) };
        self.asked.remove(&number);
        let recorded = record.outcome.as_deref().unwrap_or("none");
        let outcome = Outcome::ALL.into_iter().find(|o| o.name() == recorded);
        if outcome.is_none() && recorded != "none" {
            return Ok(Checked::Skipped(OTHER_WORDS));
        }
        let Some(observations) = observations(record) else { return Ok(Checked::Skipped(OTHER_WORDS)) };
        let Some(session) = session else {
            // A call without a place has no turn in which it could count.
            differ("outcome", recorded, "none")?;
            return Ok(Checked::Follows);
        };
        if !session.known {
            return Ok(Checked::Skipped(AFTER_GAP));
        }
        let Some(id) = session.id else {
            differ("outcome", recorded, "none")?;
            return Ok(Checked::Follows);
        };
        let arrival = Arrival {
            reached: record.reached,
            is_error: record.is_error,
            answer: Answer::Absent,
            declared: match record.declared.as_deref() {
                Some("simple") => Some(Task::Simple),
                Some("complex") => Some(Task::Complex),
                _ => None,
            },
            step: record.arrived.unwrap_or_default(),
        };
        let by_flag = if record.is_error { Outcome::Failed } else { Outcome::Succeeded };
        let flag_alone = self.config.lookup_evidence == LookupEvidence::Flag;
        let settled = self.policy.settle_read(id, CallId(number), &arrival, |lookup| match outcome {
            // What the status part proved is a recorded input, as far as the flag leaves it open.
            Some(outcome) if may_be(outcome, record.is_error, lookup, flag_alone) => (outcome, observations),
            _ => (by_flag, Observations::NONE),
        });
        differ("outcome", recorded, settled.outcome.map_or("none", Outcome::name))?;
        differ("observations", &names(observations), &names(settled.observations))?;
        Ok(Checked::Follows)
    }

    /// The tool of a governed name. A name that is none in the host's alphabet was made to fit for the record, so where
    /// one of the two sides has the tool on no list, the record's class is believed.
    fn tool(&self, record: &Record<'_>) -> Result<Option<Tool>, Differs> {
        let (Some(name), Some(recorded)) = (record.tool.as_deref(), record.class.as_deref()) else { return Ok(None) };
        let Some(tool) = self.namespace.resolve(name) else { return Ok(None) };
        let Some(class) = Class::ALL.into_iter().find(|class| class.name() == recorded) else { return Ok(None) };
        if class != Class::Unknown && tool.class != Class::Unknown {
            differ("class", recorded, tool.class.name())?;
        }
        Ok(Some(Tool { class, ..tool }))
    }
}

/// Whether a result with this flag can have proved this.
fn may_be(outcome: Outcome, is_error: bool, lookup: bool, flag_alone: bool) -> bool {
    match (outcome, is_error) {
        (Outcome::NotReached, _) => false,
        // An error is never a success; whether a write was done all the same may not be known.
        (Outcome::Succeeded, is_error) => !is_error,
        (Outcome::Unknown, _) => !lookup,
        (Outcome::Failed, is_error) => is_error || !(lookup && flag_alone),
    }
}

/// What the record says of a write's arguments; `None` in words of another version.
#[allow(clippy::option_option, reason = "no reading, and one that cannot be understood, are two things")]
fn reading(record: &Record<'_>, tool: Tool) -> Option<Option<Reading>> {
    if !tool.class.writes() {
        return Some(None);
    }
    let facts = record.facts.as_deref()?;
    Reading::ALL.into_iter().find(|reading| reading.name() == facts).map(Some)
}

/// The guard that denied the call, by the recorded findings; `None` in words of another version.
#[allow(clippy::option_option, reason = "no guard, and one that is not known, are two things")]
fn denied_by(record: &Record<'_>) -> Option<Option<Code>> {
    let Some(finding) = record.findings.iter().find(|finding| &*finding.level == "deny") else { return Some(None) };
    Code::ALL.iter().find(|code| code.is_finding() && code.name() == &*finding.code).map(|code| Some(*code))
}

/// The verdict that a decision record states; `None` where it is in words of another version.
fn recorded_verdict(record: &Record<'_>) -> Option<Verdict> {
    let code = Code::ALL.iter().find(|code| Some(code.name()) == record.code.as_deref())?;
    let classification = record.classification.as_deref().unwrap_or("unknown");
    let lookup = record.lookup.as_deref().unwrap_or("none");
    Some(Verdict {
        code: *code,
        destructive: record.class.as_deref() == Some("destructive"),
        classification: crate::policy::Classification::ALL.into_iter().find(|c| c.name() == classification)?,
        recall: crate::policy::Recall::ALL.into_iter().find(|r| r.name() == lookup)?,
        argument: None,
        observations: observations(record)?,
    })
}

fn observations(record: &Record<'_>) -> Option<Observations> {
    record.observations.iter().try_fold(Observations::NONE, |set, name| {
        let observation = Observation::ALL.iter().find(|o| o.name() == &**name)?;
        Some(set.with(*observation))
    })
}

fn names(observations: Observations) -> String {
    observations.iter().map(Observation::name).collect::<Vec<_>>().join(", ")
}

fn differ(field: &'static str, recorded: &str, replayed: &str) -> Result<(), Differs> {
    if recorded == replayed { Ok(()) } else { Err((field, recorded.to_owned(), replayed.to_owned())) }
}
