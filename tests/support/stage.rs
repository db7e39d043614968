//! A policy that plays the events of a scenario.

use std::collections::HashMap;

use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::guard::secret::SecretClass;
use dsh_bmpp::policy::{Arrival, Call, CallId, Judged, Options, Outcome, Policy, Position, SessionId, Task, TurnId};
use dsh_bmpp::reason::ArgumentName;
use dsh_bmpp::tool::{Namespace, Tool};
use dsh_bmpp::verdict::Verdict;
use serde_json::Value;

use super::scenario::{Declared, Event, ExpectedHoldings, ExpectedVerdict, Place, Where};
use super::{KEY, Report, answer, arguments, check_becomes, classification, config, names, sorted};

/// A policy, with the words that a scenario uses for its numbers.
pub struct Stage<'a> {
    namespace: Namespace,
    policy: Policy,
    sessions: HashMap<String, SessionId>,
    calls: HashMap<String, (CallId, Option<Tool>)>,
    values: &'a std::collections::BTreeMap<String, Value>,
}

impl<'a> Stage<'a> {
    pub fn new(raw: &Value, values: &'a std::collections::BTreeMap<String, Value>) -> Stage<'a> {
        let config = config(raw);
        Stage {
            namespace: config.namespace(),
            policy: Policy::new(Options::new(&config, KEY)),
            sessions: HashMap::new(),
            calls: HashMap::new(),
            values,
        }
    }

    /// A session is opened where it first appears.
    fn session(&mut self, name: &str) -> SessionId {
        *self.sessions.entry(name.to_owned()).or_insert_with(|| self.policy.open_session())
    }

    fn call(&mut self, name: &str) -> (CallId, Option<Tool>) {
        let next = CallId(u32::try_from(self.calls.len()).unwrap());
        *self.calls.entry(name.to_owned()).or_insert((next, None))
    }

    fn judge(&mut self, call: &str, tool: &str, args: Option<&Value>, place: &Place, control_hidden: bool) -> Judged {
        let tool = self.namespace.resolve(tool).unwrap_or_else(|| panic!("{tool} is not governed"));
        let (id, _) = self.call(call);
        self.calls.insert(call.to_owned(), (id, Some(tool)));
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
        let arguments = arguments(tool, args);
        let judged = self.policy.judge(Call { id, tool, arguments: &arguments, position, control_hidden });
        assert_eq!(Verdict::from_word(judged.verdict.word()), Some(judged.verdict), "the word is the verdict");
        judged
    }

    fn settle(&mut self, report: &mut Report, call: &str, session: &str, arrived: Arrived<'_>) {
        let ((id, tool), session) = (self.call(call), self.session(session));
        let value = arrived.value.map(|value| match value {
            Value::String(name) => self.values.get(name).unwrap_or_else(|| panic!("no value is called {name}")),
            value => value,
        });
        let arrival = Arrival {
            reached: arrived.reached,
            is_error: arrived.is_error,
            answer: match (tool, arrived.error) {
                (Some(tool), Some(error)) => answer(tool, Some(&Value::from(error))),
                (Some(tool), None) => answer(tool, value),
                (None, _) => Answer::Absent,
            },
            declared: arrived.declared.map(Task::from),
            step: arrived.step,
        };
        let settled = self.policy.settle(session, id, &arrival);
        report.same("outcome", arrived.outcome, settled.outcome.map(Outcome::name));
        report.same("noted", sorted(arrived.observations.to_vec()), names(settled.observations));
    }

    pub fn play(&mut self, event: &Event, report: &mut Report) {
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
                let call = format!("classify {}", self.calls.len());
                let judged = self.judge(&call, "bmpp__classify", None, place, false);
                report.same("code", "ALLOW_CONTROL", judged.verdict.code.name());
                let arrived = Arrived { declared: Some(*task), observations, ..Arrived::good(place.step) };
                self.settle(report, &call, &place.session, arrived);
            }
            Event::Judge { call, tool, args, place, control_hidden, expect } => {
                let judged = self.judge(call, tool, args.as_ref(), place, *control_hidden);
                compare(report, expect, judged);
            }
            Event::Call {
                call,
                tool,
                server,
                args,
                place,
                code,
                observations,
                argument,
                secret_class,
                answer,
                error,
                reached,
                outcome,
                noted,
            } => {
                let call = call.clone().unwrap_or_else(|| format!("call {}", self.calls.len()));
                let judged = self.judge(&call, &format!("mcp__{server}__{tool}"), Some(args), place, false);
                report.same("code", code.as_str(), judged.verdict.code.name());
                report.same("observations", sorted(observations.clone()), names(judged.verdict.observations));
                compare_details(report, argument.as_deref(), secret_class.as_deref(), judged);
                if answer.is_none() && error.is_none() && *reached {
                    return;
                }
                let arrived = Arrived {
                    reached: *reached,
                    is_error: error.is_some() || !reached,
                    value: answer.as_ref(),
                    error: error.as_deref(),
                    outcome: Some(outcome.as_deref().unwrap_or("succeeded")),
                    observations: noted,
                    ..Arrived::good(place.step)
                };
                self.settle(report, &call, &place.session, arrived);
            }
            Event::Settle { call, session, step, reached, is_error, declared, value, expect } => {
                let arrived = Arrived {
                    reached: *reached,
                    is_error: *is_error,
                    declared: *declared,
                    value: value.as_ref(),
                    outcome: expect.outcome.as_deref(),
                    observations: &expect.observations,
                    ..Arrived::good(*step)
                };
                self.settle(report, call, session, arrived);
            }
            Event::Holdings { expect } => {
                let held = self.policy.holdings();
                let held = ExpectedHoldings { sessions: held.sessions, turns: held.turns, calls: held.calls };
                report.same("holdings", expect, &held);
            }
        }
    }
}

/// A result, and what must come of it.
#[derive(Clone, Copy)]
struct Arrived<'a> {
    reached: bool,
    is_error: bool,
    declared: Option<Declared>,
    value: Option<&'a Value>,
    error: Option<&'a str>,
    step: u32,
    outcome: Option<&'a str>,
    observations: &'a [String],
}

impl Arrived<'_> {
    const fn good(step: u32) -> Arrived<'static> {
        Arrived {
            reached: true,
            is_error: false,
            declared: None,
            value: None,
            error: None,
            step,
            outcome: Some("succeeded"),
            observations: &[],
        }
    }
}

fn compare(report: &mut Report, expect: &ExpectedVerdict, judged: Judged) {
    let verdict = judged.verdict;
    report.same("code", expect.code.as_str(), verdict.code.name());
    report.same("decision", expect.decision.as_str(), if verdict.denies() { "deny" } else { "allow" });
    report.same("classification", expect.classification.as_str(), classification(verdict));
    report.same("lookup", expect.lookup.as_str(), verdict.recall.name());
    report.same("destructive", expect.destructive, verdict.destructive);
    report.same("observations", sorted(expect.observations.clone()), names(verdict.observations));
    compare_details(report, expect.argument.as_deref(), expect.secret_class.as_deref(), judged);
    if let Some(becomes) = &expect.becomes {
        check_becomes(report, verdict, becomes);
    }
}

fn compare_details(report: &mut Report, argument: Option<&str>, secret: Option<&str>, judged: Judged) {
    report.same("argument", argument, judged.verdict.argument.map(ArgumentName::name));
    report.same("secretClass", secret, judged.secret.map(SecretClass::name));
}
