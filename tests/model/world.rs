//! The real policy, playing a script.

use std::collections::BTreeMap;

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::config::{Config, Level, LookupEvidence};
use dsh_bmpp::evidence::answer::Answer as Status;
use dsh_bmpp::policy::{
    Arrival, Call, CallId, DigestKey, Holdings, Options, Policy, Position, SessionId, Settled, TurnId,
};
use dsh_bmpp::tool::{Known, Namespace, Tool};
use dsh_bmpp::verdict::Verdict;
use serde_json::json;

use super::{Event, Judge, Kind, Place, SERVERS, Settle};

/// What an event brought.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Nothing,
    Verdict(Verdict),
    Settled(Settled),
}

impl Outcome {
    pub fn verdict(self) -> Option<Verdict> {
        match self {
            Outcome::Verdict(verdict) => Some(verdict),
            _ => None,
        }
    }
}

/// The options that change what the rules say.
pub fn every_option() -> impl Iterator<Item = Config> {
    let levels = [Level::Deny, Level::Warn, Level::Off];
    let guards = [(Level::Deny, true), (Level::Warn, true), (Level::Deny, false), (Level::Off, false)];
    levels.into_iter().flat_map(move |unknown_memory_tool_policy| {
        [true, false].into_iter().flat_map(move |create_requires_search| {
            [LookupEvidence::Heading, LookupEvidence::Flag].into_iter().flat_map(move |lookup_evidence| {
                guards.map(|(overwrite_requires_read, duplicate_write_guard)| Config {
                    unknown_memory_tool_policy,
                    create_requires_search,
                    lookup_evidence,
                    overwrite_requires_read,
                    secret_pattern_guard: overwrite_requires_read,
                    test_fixture_guard: overwrite_requires_read,
                    duplicate_write_guard,
                    ..Config::default()
                })
            })
        })
    })
}

/// Any combination of options that change what the rules say: each guard at a level of its own, drawn from two bytes.
pub fn wide_options(a: u8, b: u8) -> Config {
    let level = |n: u8| [Level::Deny, Level::Deny, Level::Warn, Level::Off][usize::from(n % 4)];
    Config {
        unknown_memory_tool_policy: level(a),
        overwrite_requires_read: level(a >> 2),
        project_guard: level(a >> 4),
        secret_pattern_guard: level(a >> 6),
        path_guard: level(b),
        test_fixture_guard: level(b >> 2),
        create_requires_search: b >> 4 & 1 == 0,
        duplicate_write_guard: b >> 5 & 3 != 0,
        lookup_evidence: if b >> 7 == 0 { LookupEvidence::Heading } else { LookupEvidence::Flag },
        ..Config::default()
    }
}

/// The real policy, playing a script.
pub struct World {
    namespace: Namespace,
    policy: Policy,
    /// The session that a slot has, or had last.
    sessions: BTreeMap<u8, SessionId>,
    /// What each call of a turn was judged as last, since an answer is one to a call.
    judged: BTreeMap<u32, Judge>,
    /// What is written into notes.
    pub texts: [String; 3],
}

impl World {
    pub fn new(config: &Config) -> World {
        World::keyed(config, [7; 16])
    }

    /// One whose digests have this key.
    pub fn keyed(config: &Config, key: [u8; 16]) -> World {
        World {
            namespace: Config { server_names: SERVERS.map(str::to_owned).to_vec(), ..Config::default() }.namespace(),
            policy: Policy::new(Options::new(config, DigestKey(key))),
            sessions: BTreeMap::new(),
            judged: BTreeMap::new(),
            texts: ["x", "y", "a"].map(str::to_owned),
        }
    }

    /// Plays a whole script and tells what each event brought.
    pub fn play_all(config: &Config, script: &[Event]) -> Vec<Outcome> {
        let mut world = World::new(config);
        script.iter().map(|event| world.play(event)).collect()
    }

    pub fn holdings(&self) -> Holdings {
        self.policy.holdings()
    }

    pub fn tool(&self, kind: Kind, server: u8) -> Tool {
        self.namespace.resolve(&kind.name(server)).unwrap_or_else(|| panic!("{kind:?} is governed"))
    }

    pub fn play(&mut self, event: &Event) -> Outcome {
        match event {
            Event::Open { slot } => {
                if let Some(before) = self.sessions.insert(*slot, self.policy.open_session()) {
                    self.policy.close_session(before);
                }
                Outcome::Nothing
            }
            Event::Close { slot } => {
                self.policy.close_session(self.sessions[slot]);
                Outcome::Nothing
            }
            Event::EndTurn { slot } => {
                self.policy.end_turn(self.sessions[slot]);
                Outcome::Nothing
            }
            Event::Judge(judge) => Outcome::Verdict(self.judge(judge)),
            Event::Settle(settle) => Outcome::Settled(self.settle(settle)),
        }
    }

    fn judge(&mut self, judge: &Judge) -> Verdict {
        if judge.place == Place::Turn {
            self.judged.insert(judge.call, *judge);
        }
        let tool = self.tool(judge.kind, judge.args.server);
        let arguments = Arguments::of(tool.known.map(Known::raw), &judge.args.value(judge.kind, &self.texts));
        let position = match judge.place {
            Place::NoAgent => Position::NoAgent,
            Place::Unknown => Position::Unknown,
            Place::Turn => {
                Position::At { session: self.sessions[&judge.slot], turn: TurnId::Host(judge.turn), step: judge.step }
            }
        };
        let (id, control_hidden) = (CallId(judge.call), judge.hidden);
        self.policy.judge(Call { id, tool, arguments: &arguments, position, control_hidden }).verdict
    }

    fn settle(&mut self, settle: &Settle) -> Settled {
        let judge = self.judged.get(&settle.call);
        let answer = judge.map_or(Status::Absent, |judge| {
            let tool = self.tool(judge.kind, judge.args.server).known.map(Known::raw);
            Status::of_result(tool, &json!(settle.answer.text(judge, settle)))
        });
        let arrival = Arrival {
            reached: settle.reached,
            is_error: settle.is_error,
            answer,
            declared: settle.declared,
            step: settle.step,
        };
        self.policy.settle(self.sessions[&settle.slot], CallId(settle.call), &arrival)
    }
}
