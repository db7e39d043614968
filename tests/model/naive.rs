//! The rules once more, as naively as they can be said: a plain list of what happened in each session, and every
//! question answered by reading the list from the beginning. Written from the rules and not from the policy, so that
//! the two can disagree.

use std::collections::BTreeMap;

use dsh_bmpp::config::{Config, Level, LookupEvidence};
use dsh_bmpp::policy::{Outcome, Settled, Task};
use dsh_bmpp::reason::{Observation, Observations};
use dsh_bmpp::verdict::Verdict;

use super::notes::{self, Repeated};
use super::{Answer, Event, Extra, Form, Judge, Kind, Place, Settle};

/// What the model says of a judged call.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    pub code: &'static str,
    pub classification: &'static str,
    pub lookup: &'static str,
    pub destructive: bool,
    /// In alphabetical order.
    pub observations: Vec<&'static str>,
}

/// What it says of a result.
#[derive(Debug, PartialEq, Eq)]
pub struct Noted {
    pub outcome: Option<&'static str>,
    /// In alphabetical order.
    pub observations: Vec<&'static str>,
}

impl Said {
    pub fn of(verdict: Verdict) -> Said {
        Said {
            code: verdict.code.name(),
            classification: verdict.classification.name(),
            lookup: verdict.recall.name(),
            destructive: verdict.destructive,
            observations: names(verdict.observations),
        }
    }
}

impl Noted {
    pub fn of(settled: Settled) -> Noted {
        Noted { outcome: settled.outcome.map(Outcome::name), observations: names(settled.observations) }
    }
}

fn names(observations: Observations) -> Vec<&'static str> {
    let mut names: Vec<_> = observations.iter().map(Observation::name).collect();
    names.sort_unstable();
    names
}

/// Something that happened in the present turn of a session.
#[derive(Clone, Copy, Debug)]
pub enum Happened {
    /// `open`: its result has not come, and nothing took its place.
    Judged {
        judge: Judge,
        denied: bool,
        open: bool,
    },
    Settled {
        judge: Judge,
        settle: Settle,
    },
    /// In another session: names may mean other notes since.
    Elsewhere {
        judge: Judge,
        settle: Settle,
    },
}

#[derive(Debug, Default)]
struct Session {
    open: bool,
    turn: Option<u32>,
    list: Vec<Happened>,
}

#[derive(Debug)]
pub struct Model {
    config: Config,
    sessions: BTreeMap<u8, Session>,
}

impl Model {
    pub fn new(config: Config) -> Model {
        Model { config, sessions: BTreeMap::new() }
    }

    /// For events that bring nothing.
    pub fn play(&mut self, event: &Event) {
        let session = self.sessions.entry(event.slot()).or_default();
        match event {
            Event::Open { .. } => *session = Session { open: true, ..Session::default() },
            Event::Close { .. } => *session = Session::default(),
            Event::EndTurn { .. } => session.list.clear(),
            Event::Judge(_) | Event::Settle(_) => {}
        }
    }

    pub fn judge(&mut self, judge: &Judge) -> Said {
        let mut observations = Vec::new();
        if judge.hidden {
            observations.push("CONTROL_HIDDEN");
        }
        if judge.kind == Kind::ReadNote {
            observations.push("READ_ONLY_NOT_RECALL");
        }
        let destructive = judge.kind == Kind::DeleteNote;
        let session = self.sessions.entry(judge.slot).or_default();
        let nowhere = |write, mut observations: Vec<_>| {
            observations.sort_unstable();
            let code = if judge.kind.writes() { write } else { free(judge.kind) };
            Said { code, classification: "unknown", lookup: "none", destructive, observations }
        };
        if judge.place == Place::NoAgent {
            observations.push("NO_AGENT_CONTEXT");
            return nowhere("ALLOW_OUT_OF_SCOPE", observations);
        }
        if judge.place == Place::Unknown || !session.open {
            return nowhere("CALL_NOT_JUDGED", observations);
        }
        if session.turn != Some(judge.turn) {
            session.turn = Some(judge.turn);
            session.list.clear();
        }
        // A call that is judged again is not what it was.
        if let Some(before) = open(&session.list, judge.call) {
            strike(&mut session.list, before);
        }
        let classification = classification(&session.list);
        let lookup = lookup(&session.list, judge.step, self.config.lookup_evidence);
        let (mut code, warned) = gate(judge, classification, lookup, &self.config);
        observations.extend(warned.then_some("UNKNOWN_MEMORY_TOOL"));
        if judge.kind.writes() && code.starts_with("ALLOW") {
            for (found, guard) in guards(&session.list, judge, &self.config) {
                match found {
                    Level::Warn => observations.push(guard),
                    Level::Deny if code.starts_with("ALLOW") => code = guard,
                    _ => {}
                }
            }
        }
        observations.sort_unstable();
        session.list.push(Happened::Judged { judge: *judge, denied: !code.starts_with("ALLOW"), open: true });
        Said { code, classification, lookup, destructive, observations }
    }

    pub fn settle(&mut self, settle: &Settle) -> Noted {
        let evidence = self.config.lookup_evidence;
        let session = self.sessions.entry(settle.slot).or_default();
        let Some(index) = open(&session.list, settle.call) else {
            return Noted { outcome: None, observations: Vec::new() };
        };
        let Happened::Judged { judge, .. } = session.list[index] else { unreachable!("only judged calls are open") };
        if settle.reached && judge.kind.writes() {
            for (_, other) in self.sessions.iter_mut().filter(|(slot, _)| **slot != settle.slot) {
                other.list.push(Happened::Elsewhere { judge, settle: *settle });
            }
        }
        let session = self.sessions.entry(settle.slot).or_default();
        let before = classification(&session.list);
        let judge = strike(&mut session.list, index);
        session.list.push(Happened::Settled { judge, settle: *settle });
        if !settle.reached {
            return Noted { outcome: Some("not-reached"), observations: Vec::new() };
        }
        if judge.kind.looks_up() {
            let (outcome, observation) = proves(settle, evidence);
            return Noted { outcome: Some(outcome), observations: observation.into_iter().collect() };
        }
        if judge.kind != Kind::Classify {
            let (outcome, observation) = notes::became(&judge, settle);
            return Noted { outcome: Some(outcome), observations: observation.into_iter().collect() };
        }
        if settle.is_error || settle.declared.is_none() {
            return Noted { outcome: Some("failed"), observations: Vec::new() };
        }
        let mut observations = Vec::new();
        let after = classification(&session.list);
        if before != "unknown" && before != after {
            observations.push("RECLASSIFIED");
            let denied = session.list.iter().any(|h| matches!(h, Happened::Judged { denied: true, .. }));
            if after == "simple" && denied {
                observations.push("RECLASSIFIED_AFTER_DENIAL");
            }
        }
        Noted { outcome: Some("succeeded"), observations }
    }
}

/// Where on the list a call stands that was judged and has no result yet.
fn open(list: &[Happened], call: u32) -> Option<usize> {
    list.iter().position(|h| matches!(h, Happened::Judged { judge, open: true, .. } if judge.call == call))
}

/// Makes a call of the list one that is waited for no more. That it was denied stays known.
fn strike(list: &mut [Happened], index: usize) -> Judge {
    let Happened::Judged { judge, denied, .. } = list[index] else { unreachable!("only judged calls are open") };
    list[index] = Happened::Judged { judge, denied, open: false };
    judge
}

fn classification(list: &[Happened]) -> &'static str {
    let mut now = "unknown";
    for happened in list {
        if let Happened::Settled { judge, settle } = happened
            && judge.kind == Kind::Classify
            && settle.reached
            && !settle.is_error
        {
            match settle.declared {
                Some(Task::Simple) => now = "simple",
                Some(Task::Complex) => now = "complex",
                None => {}
            }
        }
    }
    now
}

fn lookup(list: &[Happened], step: u32, evidence: LookupEvidence) -> &'static str {
    let results = || {
        list.iter().filter_map(|happened| match happened {
            Happened::Settled { judge, settle } if judge.kind.looks_up() && settle.reached => Some((judge, settle)),
            _ => None,
        })
    };
    let succeeded = |settle: &Settle| proves(settle, evidence).0 == "succeeded";
    if results().any(|(judge, settle)| succeeded(settle) && judge.step < step && settle.step < step) {
        return "satisfied";
    }
    let running = list.iter().any(|h| matches!(h, Happened::Judged { judge, open: true, .. } if judge.kind.looks_up()));
    if running || results().any(|(_, settle)| succeeded(settle)) {
        return "pending";
    }
    if results().next().is_some() { "failed" } else { "none" }
}

fn proves(settle: &Settle, evidence: LookupEvidence) -> (&'static str, Option<&'static str>) {
    if settle.is_error {
        return ("failed", None);
    }
    match (evidence, settle.answer) {
        (LookupEvidence::Flag, _) | (_, Answer::Hits) => ("succeeded", None),
        (_, Answer::Nothing) => ("succeeded", Some("RECALL_EMPTY")),
        (_, Answer::Odd) => ("succeeded", Some("LOOKUP_HEADING_UNKNOWN")),
        (_, Answer::Failure | Answer::ErrorField) => ("failed", None),
    }
}

fn free(kind: Kind) -> &'static str {
    if kind == Kind::Classify { "ALLOW_CONTROL" } else { "ALLOW_READ_ONLY" }
}

/// What each integrity guard makes of a write, in their order; off where it finds nothing.
fn guards(list: &[Happened], judge: &Judge, config: &Config) -> Vec<(Level, &'static str)> {
    let found = |is: bool, level| if is { level } else { Level::Off };
    let unread = found(notes::replaces_unread(list, judge), config.overwrite_requires_read);
    let (repeated, code) = match notes::repeated(list, judge) {
        Repeated::No => (false, ""),
        Repeated::Done => (true, "DUPLICATE_WRITE_SAME_TURN"),
        Repeated::Unknown => (true, "WRITE_OUTCOME_UNKNOWN"),
    };
    let repeated = found(repeated && config.duplicate_write_guard, Level::Deny);
    let secret = found(judge.args.extra == Extra::Secret, config.secret_pattern_guard);
    let fixture = found(judge.args.extra == Extra::Fixture, config.test_fixture_guard);
    vec![
        (unread, "OVERWRITE_REQUIRES_READ"),
        (repeated, code),
        (secret, "SECRET_PATTERN_DETECTED"),
        (fixture, "TEST_FIXTURE_LABEL_IN_PROJECT"),
    ]
}

/// The order of the checks. The second value: an unknown tool was let on with a warning.
fn gate(judge: &Judge, classification: &str, lookup: &str, options: &Config) -> (&'static str, bool) {
    if !judge.kind.writes() {
        return (free(judge.kind), false);
    }
    let two_names = judge.args.form == Form::TwoNames && judge.kind != Kind::Rename;
    if judge.args.form == Form::NoObject || two_names {
        return ("MALFORMED_ARGUMENTS", false);
    }
    let unknown = judge.kind == Kind::Rename;
    if unknown && options.unknown_memory_tool_policy == Level::Deny {
        return ("UNKNOWN_MEMORY_TOOL", false);
    }
    let warned = unknown && options.unknown_memory_tool_policy == Level::Warn;
    if judge.args.extra == Extra::Unsafe {
        return ("UNSAFE_NOTE_PATH", warned);
    }
    let creates = judge.kind == Kind::WriteNote && judge.args.form != Form::Other;
    let code = match (classification, lookup) {
        ("unknown", _) => "CLASSIFICATION_REQUIRED",
        ("simple", _) => "ALLOW_SIMPLE",
        _ if creates && !options.create_requires_search => "ALLOW_CREATE",
        (_, "satisfied") => "ALLOW_RECALL_OK",
        (_, "pending") => "MEMORY_LOOKUP_PENDING_IN_BATCH",
        (_, "failed") => "MEMORY_LOOKUP_FAILED",
        _ if creates => "CREATE_REQUIRES_SEARCH",
        _ => "MEMORY_LOOKUP_REQUIRED",
    };
    (code, warned)
}
