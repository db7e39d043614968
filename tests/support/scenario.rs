//! Scenarios: a configuration, and events in the order in which they happen, each with what it must bring.

use std::collections::HashMap;

use dsh_bmpp::argument::Arguments;
use dsh_bmpp::evidence::{Outcome, Status};
use dsh_bmpp::policy::{Arrival, Call, CallId, Options, Policy, Position, SessionId, Task, TurnId};
use dsh_bmpp::tool::Namespace;
use dsh_bmpp::verdict::Verdict;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Becomes, File, Report, check_becomes, classification, config, names, sorted, status};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    #[serde(default, rename = "why")]
    _why: Option<String>,
    #[serde(default = "empty")]
    config: Value,
    events: Vec<Event>,
}

fn empty() -> Value {
    json!({})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "do", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a few hundred of them")]
enum Event {
    Open {
        session: String,
    },
    Close {
        #[serde(default = "session")]
        session: String,
    },
    EndTurn {
        #[serde(default = "session")]
        session: String,
    },
    /// A declaration that is judged, runs and succeeds.
    Classify {
        task: Declared,
        #[serde(flatten)]
        place: Place,
        #[serde(default)]
        observations: Vec<String>,
    },
    Judge {
        call: String,
        tool: String,
        #[serde(default, deserialize_with = "given")]
        args: Option<Value>,
        #[serde(flatten)]
        place: Place,
        #[serde(default, rename = "controlHidden")]
        control_hidden: bool,
        expect: ExpectedVerdict,
    },
    Settle {
        call: String,
        #[serde(default = "session")]
        session: String,
        step: u32,
        #[serde(default = "yes")]
        reached: bool,
        #[serde(default, rename = "isError")]
        is_error: bool,
        declared: Option<Declared>,
        value: Option<String>,
        expect: ExpectedSettlement,
    },
    Holdings {
        expect: ExpectedHoldings,
    },
}

/// A key that is given, `null` too.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn session() -> String {
    "s".to_owned()
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Declared {
    Simple,
    Complex,
}

impl From<Declared> for Task {
    fn from(declared: Declared) -> Task {
        match declared {
            Declared::Simple => Task::Simple,
            Declared::Complex => Task::Complex,
        }
    }
}

#[derive(Deserialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the file")]
struct Place {
    #[serde(default = "session")]
    session: String,
    #[serde(default)]
    place: Where,
    #[serde(default = "first")]
    turn: u32,
    step: u32,
}

fn first() -> u32 {
    1
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Where {
    #[default]
    Host,
    Counted,
    Unknown,
    NoAgent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedVerdict {
    decision: String,
    code: String,
    classification: String,
    lookup: String,
    #[serde(default)]
    destructive: bool,
    #[serde(default)]
    observations: Vec<String>,
    becomes: Option<Becomes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedSettlement {
    outcome: Option<String>,
    #[serde(default)]
    observations: Vec<String>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
struct ExpectedHoldings {
    sessions: usize,
    turns: usize,
    calls: usize,
}

/// Plays every scenario of a file.
pub fn play_all(name: &'static str) {
    let file: File<Scenario> = super::read(name);
    let mut report = Report::new(name);
    let mut seen = std::collections::HashSet::new();
    for scenario in &file.vectors {
        assert!(seen.insert(&scenario.name), "{name}: two vectors are called \"{}\"", scenario.name);
        let mut stage = Stage::new(&scenario.config, &file.values);
        for (index, event) in scenario.events.iter().enumerate() {
            report.at(format!("\"{}\" > event {}{}", scenario.name, index + 1, label(event)));
            stage.play(event, &mut report);
        }
    }
    report.finish();
}

fn label(event: &Event) -> String {
    match event {
        Event::Judge { call, tool, .. } => format!(" (judge {call}, {tool})"),
        Event::Settle { call, .. } => format!(" (settle {call})"),
        Event::Classify { .. } => " (classify)".to_owned(),
        _ => String::new(),
    }
}

/// A policy, with the words that a scenario uses for its numbers.
struct Stage<'a> {
    namespace: Namespace,
    policy: Policy,
    sessions: HashMap<String, SessionId>,
    calls: HashMap<String, CallId>,
    values: &'a std::collections::BTreeMap<String, Value>,
}

impl<'a> Stage<'a> {
    fn new(raw: &Value, values: &'a std::collections::BTreeMap<String, Value>) -> Stage<'a> {
        let config = config(raw);
        Stage {
            namespace: config.namespace(),
            policy: Policy::new(Options::from(&config)),
            sessions: HashMap::new(),
            calls: HashMap::new(),
            values,
        }
    }

    /// A session is opened where it first appears.
    fn session(&mut self, name: &str) -> SessionId {
        *self.sessions.entry(name.to_owned()).or_insert_with(|| self.policy.open_session())
    }

    fn call(&mut self, name: &str) -> CallId {
        let next = CallId(u32::try_from(self.calls.len()).unwrap());
        *self.calls.entry(name.to_owned()).or_insert(next)
    }

    fn judge(
        &mut self,
        call: CallId,
        tool: &str,
        args: Option<&Value>,
        place: &Place,
        control_hidden: bool,
    ) -> Verdict {
        let tool = self.namespace.resolve(tool).unwrap_or_else(|| panic!("{tool} is not governed"));
        let position = match place.place {
            Where::NoAgent => Position::NoAgent,
            Where::Unknown => Position::Unknown,
            Where::Host => {
                Position::At { session: self.session(&place.session), turn: TurnId::Host(place.turn), step: place.step }
            }
            Where::Counted => {
                let turn = TurnId::Counted(place.turn);
                Position::At { session: self.session(&place.session), turn, step: place.step }
            }
        };
        let arguments = args.map_or(Arguments::NotAnObject, Arguments::from);
        let verdict = self.policy.judge(Call { id: call, tool, arguments, position, control_hidden });
        assert_eq!(Verdict::from_word(verdict.word()), Some(verdict), "the word is the verdict");
        verdict
    }

    fn play(&mut self, event: &Event, report: &mut Report) {
        match event {
            Event::Open { session } => {
                self.session(session);
            }
            Event::Close { session } => {
                let session = self.session(session);
                self.policy.close_session(session);
            }
            Event::EndTurn { session } => {
                let session = self.session(session);
                self.policy.end_turn(session);
            }
            Event::Classify { task, place, observations } => {
                let call = self.call(&format!("classify {}", self.calls.len()));
                let verdict = self.judge(call, "bmpp__classify", None, place, false);
                report.same("code", "ALLOW_CONTROL", verdict.code.name());
                let session = self.session(&place.session);
                let declared = Some((*task).into());
                let arrival =
                    Arrival { reached: true, is_error: false, status: Status::None, declared, step: place.step };
                let settled = self.policy.settle(session, call, &arrival);
                report.same("outcome", Some("succeeded"), settled.outcome.map(Outcome::name));
                report.same("observations", sorted(observations.clone()), names(settled.observations));
            }
            Event::Judge { call, tool, args, place, control_hidden, expect } => {
                let call = self.call(call);
                let verdict = self.judge(call, tool, args.as_ref(), place, *control_hidden);
                compare(report, expect, verdict);
            }
            Event::Settle { call, session, step, reached, is_error, declared, value, expect } => {
                let (call, session) = (self.call(call), self.session(session));
                let value = value
                    .as_ref()
                    .map(|name| self.values.get(name).unwrap_or_else(|| panic!("no value is called {name}")));
                let arrival = Arrival {
                    reached: *reached,
                    is_error: *is_error,
                    status: value.map_or(Status::None, status::of_value),
                    declared: declared.map(Task::from),
                    step: *step,
                };
                let settled = self.policy.settle(session, call, &arrival);
                report.same("outcome", expect.outcome.as_deref(), settled.outcome.map(Outcome::name));
                report.same("observations", sorted(expect.observations.clone()), names(settled.observations));
            }
            Event::Holdings { expect } => {
                let held = self.policy.holdings();
                let held = ExpectedHoldings { sessions: held.sessions, turns: held.turns, calls: held.calls };
                report.same("holdings", expect, &held);
            }
        }
    }
}

fn compare(report: &mut Report, expect: &ExpectedVerdict, verdict: Verdict) {
    report.same("code", expect.code.as_str(), verdict.code.name());
    report.same("decision", expect.decision.as_str(), if verdict.denies() { "deny" } else { "allow" });
    report.same("classification", expect.classification.as_str(), classification(verdict));
    report.same("lookup", expect.lookup.as_str(), verdict.recall.name());
    report.same("destructive", expect.destructive, verdict.destructive);
    report.same("observations", sorted(expect.observations.clone()), names(verdict.observations));
    if let Some(becomes) = &expect.becomes {
        check_becomes(report, verdict, becomes);
    }
}
