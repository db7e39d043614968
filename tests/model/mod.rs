//! Random histories of several sessions, and the real policy playing them.
//!
//! Bytes are turned into a script of concrete events first, so that a property can filter, insert and permute events
//! before anything is played.

pub mod naive;

use std::collections::BTreeMap;

use dsh_bmpp::argument::Arguments;
use dsh_bmpp::config::{Config, Level, LookupEvidence};
use dsh_bmpp::evidence::status::of_text;
use dsh_bmpp::policy::{Arrival, Call, CallId, Holdings, Options, Policy, Position, SessionId, Settled, Task, TurnId};
use dsh_bmpp::tool::{Namespace, Tool};
use dsh_bmpp::verdict::Verdict;
use serde_json::{Value, json};

/// How many sessions a script has.
pub const SLOTS: u8 = 3;

/// One random event, before it is known what it means.
pub type Raw = (u8, u8, u8, u8);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Classify,
    Search,
    BuildContext,
    ReadNote,
    WriteNote,
    EditNote,
    DeleteNote,
    /// On no list.
    Rename,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Classify => "bmpp__classify",
            Kind::Search => "mcp__basic-memory__search_notes",
            Kind::BuildContext => "mcp__basic-memory__build_context",
            Kind::ReadNote => "mcp__basic-memory__read_note",
            Kind::WriteNote => "mcp__basic-memory__write_note",
            Kind::EditNote => "mcp__basic-memory__edit_note",
            Kind::DeleteNote => "mcp__basic-memory__delete_note",
            Kind::Rename => "mcp__basic-memory__rename_note",
        }
    }

    pub fn looks_up(self) -> bool {
        matches!(self, Kind::Search | Kind::BuildContext)
    }

    pub fn writes(self) -> bool {
        matches!(self, Kind::WriteNote | Kind::EditNote | Kind::DeleteNote | Kind::Rename)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Args {
    Plain,
    Overwrite,
    NoObject,
    TwoNames,
}

impl Args {
    fn value(self, kind: Kind) -> Value {
        match (self, kind) {
            (Args::Plain, _) => json!({ "title": "A", "directory": "d" }),
            (Args::Overwrite, _) => json!({ "title": "A", "directory": "d", "overwrite": "yes" }),
            (Args::NoObject, _) => json!("{\"title\":"),
            (Args::TwoNames, Kind::EditNote) => json!({ "find": "a", "old_text": "a" }),
            (Args::TwoNames, Kind::DeleteNote) => json!({ "is_dir": true, "is_directory": true }),
            (Args::TwoNames, _) => json!({ "folder": "d", "directory": "d" }),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Turn,
    NoAgent,
    Unknown,
}

/// What a lookup answers without the error flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Hits,
    Nothing,
    Failure,
    ErrorField,
    Odd,
}

impl Answer {
    pub fn text(self) -> &'static str {
        match self {
            Answer::Hits => "# Search Results: a",
            Answer::Nothing => "No results found for 'a' in project 'main'.",
            Answer::Failure => "# Search Failed",
            Answer::ErrorField => "{\"results\":[1],\"error\":\"Search failed\"}",
            Answer::Odd => "Something else",
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Open { slot: u8 },
    Close { slot: u8 },
    EndTurn { slot: u8 },
    Judge(Judge),
    Settle(Settle),
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judge {
    pub slot: u8,
    pub call: u32,
    pub kind: Kind,
    pub args: Args,
    pub place: Place,
    pub turn: u32,
    pub step: u32,
    pub hidden: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    pub slot: u8,
    pub call: u32,
    pub reached: bool,
    pub is_error: bool,
    pub answer: Answer,
    pub declared: Option<Task>,
    pub step: u32,
}

impl Event {
    pub fn slot(&self) -> u8 {
        match self {
            Event::Open { slot } | Event::Close { slot } | Event::EndTurn { slot } => *slot,
            Event::Judge(judge) => judge.slot,
            Event::Settle(settle) => settle.slot,
        }
    }
}

/// Turns bytes into a script. Every session begins open, in turn 1 and step 1. What is drawn from one byte is drawn from
/// bits apart, so that everything comes together with everything.
pub fn script(raw: &[Raw]) -> Vec<Event> {
    let mut events: Vec<Event> = (0..SLOTS).map(|slot| Event::Open { slot }).collect();
    let mut at: BTreeMap<u8, (u32, u32)> = (0..SLOTS).map(|slot| (slot, (1, 1))).collect();
    let mut calls: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    for &(what, a, b, c) in raw {
        // Most of the events fall on one session, so that its turns get somewhere.
        let slot = if what < 190 { 0 } else { what % SLOTS };
        let (turn, step) = at[&slot];
        let known = calls.entry(slot).or_default();
        match a {
            0..=104 => {
                let next = u32::from(slot) * 1_000_000 + u32::try_from(known.len()).unwrap_or_default();
                // Now and then a call is judged again.
                let call = if b % 16 == 7 { pick(known, b).unwrap_or(next) } else { next };
                known.push(call);
                events.push(Event::Judge(judged(slot, call, turn, step, b, c)));
            }
            105..=199 => {
                if let Some(call) = pick(known, if b < 200 { 0 } else { b }) {
                    events.push(Event::Settle(settled(slot, call, step, b, c)));
                }
            }
            200..=234 => drop(at.insert(slot, (turn, step + 1))),
            235..=239 => drop(at.insert(slot, (turn + 1, 1))),
            240..=244 => {
                at.insert(slot, (turn + u32::from(b % 2), 1));
                events.push(Event::EndTurn { slot });
            }
            245..=249 => events.push(Event::Close { slot }),
            250.. => events.push(Event::Open { slot }),
        }
    }
    events
}

/// One of the calls so far: 0 is the newest.
fn pick(calls: &[u32], back: u8) -> Option<u32> {
    let back = usize::from(back) % calls.len().max(1);
    calls.iter().rev().nth(back).copied()
}

fn judged(slot: u8, call: u32, turn: u32, step: u32, b: u8, c: u8) -> Judge {
    let kind = match b {
        0..=59 => Kind::Classify,
        60..=109 => Kind::Search,
        110..=129 => Kind::BuildContext,
        130..=144 => Kind::ReadNote,
        145..=199 => Kind::WriteNote,
        200..=219 => Kind::EditNote,
        220..=239 => Kind::DeleteNote,
        240.. => Kind::Rename,
    };
    let args = match c % 8 {
        0..=3 => Args::Plain,
        4..=5 => Args::Overwrite,
        6 => Args::NoObject,
        _ => Args::TwoNames,
    };
    let place = match c {
        240..=247 => Place::NoAgent,
        248.. => Place::Unknown,
        _ => Place::Turn,
    };
    Judge { slot, call, kind, args, place, turn, step, hidden: b % 32 == 31 }
}

fn settled(slot: u8, call: u32, step: u32, b: u8, c: u8) -> Settle {
    let answer = match c % 8 {
        0..=2 => Answer::Hits,
        3 => Answer::Nothing,
        4 => Answer::Odd,
        5 => Answer::ErrorField,
        _ => Answer::Failure,
    };
    let declared = match b % 8 {
        0..=3 => Some(Task::Complex),
        4..=6 => Some(Task::Simple),
        _ => None,
    };
    Settle {
        slot,
        call,
        reached: c < 230,
        is_error: (b >> 3) % 16 == 15,
        answer,
        declared,
        step: step + u32::from(c % 11 == 10),
    }
}

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
pub fn every_option() -> impl Iterator<Item = Options> {
    let levels = [Level::Deny, Level::Warn, Level::Off];
    levels.into_iter().flat_map(|unknown_memory_tool_policy| {
        [true, false].into_iter().flat_map(move |create_requires_search| {
            [LookupEvidence::Heading, LookupEvidence::Flag].map(|lookup_evidence| Options {
                unknown_memory_tool_policy,
                create_requires_search,
                lookup_evidence,
            })
        })
    })
}

/// The real policy, playing a script.
pub struct World {
    namespace: Namespace,
    policy: Policy,
    /// The session that a slot has, or had last.
    sessions: BTreeMap<u8, SessionId>,
}

impl World {
    pub fn new(options: Options) -> World {
        World { namespace: Config::default().namespace(), policy: Policy::new(options), sessions: BTreeMap::new() }
    }

    /// Plays a whole script and tells what each event brought.
    pub fn play_all(options: Options, script: &[Event]) -> Vec<Outcome> {
        let mut world = World::new(options);
        script.iter().map(|event| world.play(event)).collect()
    }

    pub fn holdings(&self) -> Holdings {
        self.policy.holdings()
    }

    pub fn tool(&self, kind: Kind) -> Tool {
        self.namespace.resolve(kind.name()).unwrap_or_else(|| panic!("{kind:?} is governed"))
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
        let args = judge.args.value(judge.kind);
        let position = match judge.place {
            Place::NoAgent => Position::NoAgent,
            Place::Unknown => Position::Unknown,
            Place::Turn => {
                Position::At { session: self.sessions[&judge.slot], turn: TurnId::Host(judge.turn), step: judge.step }
            }
        };
        self.policy.judge(Call {
            id: CallId(judge.call),
            tool: self.tool(judge.kind),
            arguments: Arguments::from(&args),
            position,
            control_hidden: judge.hidden,
        })
    }

    fn settle(&mut self, settle: &Settle) -> Settled {
        let arrival = Arrival {
            reached: settle.reached,
            is_error: settle.is_error,
            status: of_text(settle.answer.text()),
            declared: settle.declared,
            step: settle.step,
        };
        self.policy.settle(self.sessions[&settle.slot], CallId(settle.call), &arrival)
    }
}
