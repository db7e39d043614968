//! The rules once more, as naively as they can be said: a plain list of what happened in each session, and every
//! question answered by reading the list from the beginning. Written from the rules and not from the policy, so that
//! the two can disagree.

use std::collections::BTreeMap;

use dsh_bmpp::config::{Config, Level, LookupEvidence};
use dsh_bmpp::policy::{Outcome, Settled, Task};
use dsh_bmpp::reason::{ArgumentName, Observation, Observations};
use dsh_bmpp::verdict::Verdict;

use super::connection::{Connection, may_switch, says_where};
use super::notes::{Happened, List, Result};
use super::repeated::{Repeated, repeated};
use super::{Answer, Event, Extra, Form, Judge, Kind, Names, Place, Project, Settle, answer, known};

/// What the model says of a judged call.
#[derive(Debug, PartialEq, Eq)]
pub struct Said {
    pub code: &'static str,
    pub classification: &'static str,
    pub lookup: &'static str,
    pub destructive: bool,
    /// The argument at fault.
    pub argument: Option<&'static str>,
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
            argument: verdict.argument.map(ArgumentName::name),
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
    connections: BTreeMap<u8, Connection>,
}

impl Model {
    pub fn new(config: Config) -> Model {
        Model { config, sessions: BTreeMap::new(), connections: BTreeMap::new() }
    }

    /// For events that bring nothing.
    pub fn play(&mut self, event: &Event) {
        if matches!(event, Event::Open { .. } | Event::Close { .. } | Event::EndTurn { .. }) {
            self.leave(event.slot());
        }
        let session = self.sessions.entry(event.slot()).or_default();
        match event {
            Event::Open { .. } => *session = Session { open: true, ..Session::default() },
            Event::Close { .. } => *session = Session::default(),
            Event::EndTurn { .. } | Event::Judge(_) | Event::Settle(_) => {}
        }
    }

    /// A turn is over. What still ran then may have been done, and nobody will hear of it.
    fn leave(&mut self, slot: u8) {
        let list = std::mem::take(&mut self.sessions.entry(slot).or_default().list);
        for happened in list {
            let Happened::Judged { judge, denied: false, open: true, switches, .. } = happened else { continue };
            if judge.kind.writes() && !judge.is_readable() {
                continue;
            }
            self.connections.entry(judge.args.server).or_default().end(switches, true);
            if judge.kind.writes() {
                let settle = Settle {
                    slot,
                    call: judge.call,
                    reached: true,
                    is_error: true,
                    answer: Answer::Odd,
                    names: Names::ASKED,
                    declared: None,
                    step: 0,
                };
                self.spread(&Result { judge, settle, current: None, own: None, known: None });
            }
        }
    }

    /// Lets the other sessions hear of a write.
    fn spread(&mut self, result: &Result) {
        for (_, other) in self.sessions.iter_mut().filter(|(slot, _)| **slot != result.settle.slot) {
            other.list.push(Happened::Elsewhere(result.clone()));
        }
    }

    pub fn judge(&mut self, judge: &Judge) -> Said {
        let mut said = Said {
            code: "",
            classification: "unknown",
            lookup: "none",
            destructive: judge.kind == Kind::DeleteNote,
            argument: None,
            observations: Vec::new(),
        };
        said.observations.extend(judge.hidden.then_some("CONTROL_HIDDEN"));
        said.observations.extend(judge.kind.reads().then_some("READ_ONLY_NOT_RECALL"));
        let session = self.sessions.entry(judge.slot).or_default();
        if judge.place != Place::Turn || !session.open {
            let no_agent = judge.place == Place::NoAgent;
            said.observations.extend(no_agent.then_some("NO_AGENT_CONTEXT"));
            said.observations.sort_unstable();
            said.code = match (judge.kind.writes(), no_agent) {
                (true, true) => "ALLOW_OUT_OF_SCOPE",
                (true, false) => "CALL_NOT_JUDGED",
                (false, _) => free(judge.kind),
            };
            return said;
        }
        if session.turn != Some(judge.turn) {
            self.leave(judge.slot);
        }
        let session = self.sessions.entry(judge.slot).or_default();
        session.turn = Some(judge.turn);
        // A call that is judged again is not what it was.
        if let Some(before) = open(&session.list, judge.call) {
            strike(&mut session.list, before);
        }
        let connection = self.connections.entry(judge.args.server).or_default();
        said.classification = classification(&session.list);
        said.lookup = lookup(&session.list, judge.step, self.config.lookup_evidence);
        said.code = free(judge.kind);
        if judge.kind.writes() {
            gate(judge, &mut said, &self.config);
            // A guard that denies before, and what the turn has not earned, are reason enough.
            if said.code.starts_with("ALLOW") {
                let list = of_server(&session.list, judge.args.server);
                for guard in guards(&list, judge, connection, &self.config) {
                    guard.tell(&mut said);
                }
            }
        }
        said.observations.sort_unstable();
        let switches = may_switch(judge).then(|| connection.begin());
        let (denied, current) = (!said.code.starts_with("ALLOW"), connection.current());
        session.list.push(Happened::Judged { judge: *judge, denied, open: true, current, switches });
        said
    }

    pub fn settle(&mut self, settle: &Settle) -> Noted {
        let evidence = self.config.lookup_evidence;
        let session = self.sessions.entry(settle.slot).or_default();
        let Some(index) = open(&session.list, settle.call) else {
            return Noted { outcome: None, observations: Vec::new() };
        };
        let before = classification(&session.list);
        let (judge, current, switches) = strike(&mut session.list, index);
        let connection = self.connections.entry(judge.args.server).or_default();
        let undisturbed = connection.current() == current;
        let was_switched = connection.was_switched();
        connection.end(switches, settle.reached);
        let mut result = Result { judge, settle: *settle, current: None, own: None, known: None };
        result.current = undisturbed.then(|| connection.current());
        // What the server says where nothing said where to go is its own project.
        if settle.reached && undisturbed && !was_switched && switches.is_none() {
            let says = matches!(judge.kind, Kind::WriteNote | Kind::EditNote);
            if says && answer::named(&judge, settle).is_some() {
                connection.own = Some(if settle.names.work { Project::Work } else { Project::Main });
            }
            result.own = connection.own;
        }
        result.known = known::edit_found(&of_server(&session.list, judge.args.server), &result);
        if settle.reached && judge.kind.writes() {
            self.spread(&result);
        }
        let session = self.sessions.entry(settle.slot).or_default();
        session.list.push(Happened::Settled(result));
        if !settle.reached {
            return Noted { outcome: Some("not-reached"), observations: Vec::new() };
        }
        if judge.kind.looks_up() {
            let (outcome, observation) = proves(settle, evidence);
            return Noted { outcome: Some(outcome), observations: observation.into_iter().collect() };
        }
        if judge.kind != Kind::Classify {
            let (outcome, observation) = answer::became(&judge, settle);
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

/// What of a list is about one server.
fn of_server(list: &[Happened], server: u8) -> Vec<&Happened> {
    list.iter()
        .filter(|happened| match happened {
            Happened::Judged { judge, .. } => judge.args.server == server,
            Happened::Settled(result) | Happened::Elsewhere(result) => result.judge.args.server == server,
        })
        .collect()
}

/// Where on the list a call stands that was judged and has no result yet.
fn open(list: &[Happened], call: u32) -> Option<usize> {
    list.iter().position(|h| matches!(h, Happened::Judged { judge, open: true, .. } if judge.call == call))
}

/// Makes a call of the list one that is waited for no more. That it was denied stays known.
fn strike(list: &mut [Happened], index: usize) -> (Judge, usize, Option<u64>) {
    let Happened::Judged { judge, open, current, switches, .. } = &mut list[index] else {
        unreachable!("only judged calls are open")
    };
    *open = false;
    (*judge, *current, *switches)
}

fn results(list: &[Happened]) -> impl Iterator<Item = &Result> {
    list.iter().filter_map(|happened| match happened {
        Happened::Settled(result) if result.settle.reached => Some(result),
        _ => None,
    })
}

fn classification(list: &[Happened]) -> &'static str {
    let declared = results(list).filter(|result| result.judge.kind == Kind::Classify && !result.settle.is_error);
    match declared.filter_map(|result| result.settle.declared).last() {
        Some(Task::Simple) => "simple",
        Some(Task::Complex) => "complex",
        None => "unknown",
    }
}

fn lookup(list: &[Happened], step: u32, evidence: LookupEvidence) -> &'static str {
    let lookups = || results(list).filter(|result| result.judge.kind.looks_up());
    let succeeded = |result: &&Result| proves(&result.settle, evidence).0 == "succeeded";
    if lookups().filter(succeeded).any(|result| result.judge.step < step && result.settle.step < step) {
        return "satisfied";
    }
    let running = list.iter().any(|h| matches!(h, Happened::Judged { judge, open: true, .. } if judge.kind.looks_up()));
    if running || lookups().any(|result| succeeded(&result)) {
        return "pending";
    }
    if lookups().next().is_some() { "failed" } else { "none" }
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

/// A guard that fires, or does not.
struct Guard {
    fires: bool,
    level: Level,
    code: &'static str,
    argument: Option<&'static str>,
}

impl Guard {
    /// A warning is observed, the first that denies gives the code. The argument is the denial's, or the last warning's.
    fn tell(&self, said: &mut Said) {
        let denied = !said.code.is_empty() && !said.code.starts_with("ALLOW");
        match (self.fires, self.level) {
            (true, Level::Warn) => {
                said.observations.push(self.code);
                if !denied {
                    said.argument = self.argument.or(said.argument);
                }
            }
            (true, Level::Deny) if !denied => {
                said.code = self.code;
                said.argument = self.argument;
            }
            _ => {}
        }
    }
}

/// The integrity guards, in their order.
fn guards(list: List<'_>, judge: &Judge, connection: &Connection, config: &Config) -> Vec<Guard> {
    let current = connection.current();
    let takes_project = matches!(judge.kind, Kind::WriteNote | Kind::EditNote | Kind::MoveNote | Kind::DeleteNote);
    let (repeated, code) = match repeated(list, judge, current) {
        Repeated::No => (false, ""),
        Repeated::Done => (true, "DUPLICATE_WRITE_SAME_TURN"),
        Repeated::Unknown => (true, "WRITE_OUTCOME_UNKNOWN"),
    };
    vec![
        Guard {
            fires: known::replaces_unread(list, judge, current),
            level: config.overwrite_requires_read,
            code: "OVERWRITE_REQUIRES_READ",
            argument: None,
        },
        Guard {
            fires: takes_project && connection.was_switched() && !says_where(judge),
            level: config.project_guard,
            code: "PROJECT_AMBIGUOUS",
            argument: None,
        },
        Guard { fires: repeated && config.duplicate_write_guard, level: Level::Deny, code, argument: None },
        Guard {
            fires: judge.args.extra == Extra::Secret,
            level: config.secret_pattern_guard,
            code: "SECRET_PATTERN_DETECTED",
            argument: Some("tags"),
        },
        Guard {
            fires: judge.args.extra == Extra::Fixture,
            level: config.test_fixture_guard,
            code: "TEST_FIXTURE_LABEL_IN_PROJECT",
            argument: Some("tags"),
        },
    ]
}

/// The order of the checks on a write.
fn gate(judge: &Judge, said: &mut Said, options: &Config) {
    said.code = "";
    if !judge.is_readable() {
        said.code = "MALFORMED_ARGUMENTS";
        return;
    }
    if judge.kind == Kind::Rename {
        match options.unknown_memory_tool_policy {
            Level::Deny => {
                said.code = "UNKNOWN_MEMORY_TOOL";
                return;
            }
            Level::Warn => said.observations.push("UNKNOWN_MEMORY_TOOL"),
            Level::Off => {}
        }
    }
    let (fires, argument) = (judge.args.extra == Extra::Unsafe, Some("directory"));
    Guard { fires, level: options.path_guard, code: "UNSAFE_NOTE_PATH", argument }.tell(said);
    if !said.code.is_empty() {
        return;
    }
    let creates = judge.kind == Kind::WriteNote && judge.args.form != Form::Other;
    said.code = match (said.classification, said.lookup) {
        ("unknown", _) => "CLASSIFICATION_REQUIRED",
        ("simple", _) => "ALLOW_SIMPLE",
        _ if creates && !options.create_requires_search => "ALLOW_CREATE",
        (_, "satisfied") => "ALLOW_RECALL_OK",
        (_, "pending") => "MEMORY_LOOKUP_PENDING_IN_BATCH",
        (_, "failed") => "MEMORY_LOOKUP_FAILED",
        _ if creates => "CREATE_REQUIRES_SEARCH",
        _ => "MEMORY_LOOKUP_REQUIRED",
    };
}
