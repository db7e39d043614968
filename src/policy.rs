//! The policy: [`Policy::judge`] and [`Policy::settle`], its only two verbs.
//!
//! A call is judged before it runs, and settled when its result arrives. In between it is *open*, followed by its own
//! [`CallId`]. What a turn has earned is kept per session and turn, and goes with the turn. Nothing here has a clock, does
//! I/O or draws a random number, and mode and profile are unknown: the same events give the same verdicts everywhere.

mod gate;
mod turn;

use std::collections::HashMap;

pub use turn::{Classification, MAX_OPEN, Recall, Task};

use crate::argument::{Arguments, Facts};
use crate::config::{Config, Level, LookupEvidence};
use crate::evidence::{self, Outcome, Status};
use crate::reason::{Code, Observation, Observations};
use crate::tool::{Class, Tool};
use crate::verdict::Verdict;
use turn::{Open, Turn};

/// The policy's own number of a session, never used twice in a policy's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub u32);

/// The caller's number of a call, never used for two calls in a policy's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallId(pub u32);

/// Which turn of its session a call belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnId {
    /// The host's number.
    Host(u32),
    /// A number that the caller counted because the host gave none. Never equal to a host's number.
    Counted(u32),
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// It was made by no agent, so it has no turn.
    NoAgent,
    /// It was made by an agent, and where is not known.
    Unknown,
    /// In this step of this turn of this session.
    At {
        /// The session.
        session: SessionId,
        /// The turn.
        turn: TurnId,
        /// The step, by the host's number. Steps of a turn ascend.
        step: u32,
    },
}

/// A call that is about to run.
#[derive(Clone, Copy)]
pub struct Call<'a> {
    /// Its number. Judging a number again replaces what was known of it.
    pub id: CallId,
    /// The tool.
    pub tool: Tool,
    /// The arguments that would run; looked at for writes only.
    pub arguments: Arguments<'a>,
    /// Where it stands.
    pub position: Position,
    /// Whether the control tool is hidden from the agent.
    pub control_hidden: bool,
}

/// A call of which the arguments were read before: what a trail keeps of a call instead of its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadCall {
    /// Its number. Judging a number again replaces what was known of it.
    pub id: CallId,
    /// The tool.
    pub tool: Tool,
    /// What the rules need to know of a write's arguments; `None` for a call that is no write.
    pub facts: Option<Facts>,
    /// Where it stands.
    pub position: Position,
    /// Whether the control tool is hidden from the agent.
    pub control_hidden: bool,
}

impl From<Call<'_>> for ReadCall {
    fn from(call: Call<'_>) -> ReadCall {
        let Call { id, tool, arguments, position, control_hidden } = call;
        let facts = tool.class.writes().then(|| Facts::read(tool, arguments));
        ReadCall { id, tool, facts, position, control_hidden }
    }
}

/// A result that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whether the tool's body was reached.
    pub reached: bool,
    /// The result's error flag.
    pub is_error: bool,
    /// The status part of the result; looked at for lookups only.
    pub status: Status,
    /// What the control tool's body received, if it was usable.
    pub declared: Option<Task>,
    /// The session's step when the result arrived.
    pub step: u32,
}

/// What a result changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// What became of the call; `None` where it was not open any more, so that nothing changed.
    pub outcome: Option<Outcome>,
    /// What was noticed.
    pub observations: Observations,
}

impl Settled {
    const NOTHING: Settled = Settled { outcome: None, observations: Observations::NONE };

    /// As a word: outcome in bits 0..2 (3: nothing changed), observations in bits 16..32.
    #[must_use]
    pub fn word(self) -> u32 {
        self.outcome.map_or(3, |outcome| outcome as u32) | u32::from(self.observations.bits()) << 16
    }
}

/// The options that the rules depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What becomes of a tool of the namespace that is on no list.
    pub unknown_memory_tool_policy: Level,
    /// Whether a creating write in a complex turn needs a lookup.
    pub create_requires_search: bool,
    /// What proves that a lookup succeeded.
    pub lookup_evidence: LookupEvidence,
}

impl From<&Config> for Options {
    fn from(config: &Config) -> Options {
        Options {
            unknown_memory_tool_policy: config.unknown_memory_tool_policy,
            create_requires_search: config.create_requires_search,
            lookup_evidence: config.lookup_evidence,
        }
    }
}

/// The state of every session, and the rules.
#[derive(Debug)]
pub struct Policy {
    options: Options,
    sessions: HashMap<SessionId, Option<Turn>>,
    next_session: u32,
}

/// How much a policy holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Holdings {
    /// Open sessions.
    pub sessions: usize,
    /// Sessions with a turn.
    pub turns: usize,
    /// Calls whose result has not arrived.
    pub calls: usize,
}

impl Policy {
    /// A policy that has seen nothing.
    #[must_use]
    pub fn new(options: Options) -> Policy {
        Policy { options, sessions: HashMap::new(), next_session: 0 }
    }

    /// Begins to follow a session.
    pub fn open_session(&mut self) -> SessionId {
        let id = SessionId(self.next_session);
        self.next_session = self.next_session.wrapping_add(1);
        self.sessions.insert(id, None);
        id
    }

    /// Forgets a session with all that is known of it. Without effect for one that is not followed.
    pub fn close_session(&mut self, session: SessionId) {
        self.sessions.remove(&session);
    }

    /// Discards what the session's turn has earned. Without effect where there is no turn.
    pub fn end_turn(&mut self, session: SessionId) {
        if let Some(turn) = self.sessions.get_mut(&session) {
            *turn = None;
        }
    }

    /// How much is held.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        self.sessions.values().fold(Holdings::default(), |sum, turn| Holdings {
            sessions: sum.sessions + 1,
            turns: sum.turns + usize::from(turn.is_some()),
            calls: sum.calls + turn.as_ref().map_or(0, Turn::open_calls),
        })
    }

    /// Judges a call before it runs, and follows it from here to its result.
    pub fn judge(&mut self, call: Call<'_>) -> Verdict {
        self.judge_read(call.into())
    }

    /// Judges a call of which the arguments were read before: [`Policy::judge`] without the reading. A trail is replayed
    /// by it.
    pub fn judge_read(&mut self, call: ReadCall) -> Verdict {
        let tool = call.tool;
        let observed = Observations::NONE
            .with_if(tool.class == (Class::Read { search: false }), Observation::ReadOnlyNotRecall)
            .with_if(call.control_hidden, Observation::ControlHidden);
        let destructive = tool.class == (Class::Write { destructive: true });
        let placed = match call.position {
            Position::NoAgent => None,
            Position::Unknown => Some(None),
            // A session that is not followed any more is a position that is not known.
            Position::At { session, turn, step } => {
                Some(self.sessions.get_mut(&session).map(|slot| (Turn::entered(slot, turn), step)))
            }
        };
        let verdict = match placed {
            None => {
                let code = if tool.class.writes() { Code::AllowOutOfScope } else { gate::free(tool) };
                Verdict { observations: observed.with(Observation::NoAgentContext), ..Verdict::of(code) }
            }
            Some(None) => {
                let code = if tool.class.writes() { Code::CallNotJudged } else { gate::free(tool) };
                Verdict { observations: observed, ..Verdict::of(code) }
            }
            Some(Some((turn, step))) => {
                turn.drop_call(call.id);
                let (code, noticed) = gate::decide(self.options, turn, step, tool, call.facts);
                let verdict = Verdict {
                    code,
                    destructive: false,
                    classification: turn.classification(),
                    recall: turn.recall(step),
                    observations: noticed.map_or(observed, |o| observed.with(o)),
                };
                turn.follow(call.id, Open::of(tool.class, step));
                if code.denies() {
                    turn.denied();
                }
                verdict
            }
        };
        Verdict { destructive, ..verdict }
    }

    /// Takes note of a call's result. A result of a call that is not open, because its turn has ended or because it
    /// was settled before, changes nothing.
    pub fn settle(&mut self, session: SessionId, call: CallId, arrival: &Arrival) -> Settled {
        let evidence = self.options.lookup_evidence;
        self.settle_read(session, call, arrival, || evidence::lookup(arrival.is_error, &arrival.status, evidence))
    }

    /// Takes note of a result of which the status part was read before: [`Policy::settle`] without the reading. A trail
    /// is replayed by it. `lookup` says what the result proves, and is asked only where that matters.
    pub fn settle_read(
        &mut self,
        session: SessionId,
        call: CallId,
        arrival: &Arrival,
        lookup: impl FnOnce() -> (Outcome, Observations),
    ) -> Settled {
        match self.sessions.get_mut(&session) {
            Some(Some(turn)) => turn.settle(call, arrival, lookup).unwrap_or(Settled::NOTHING),
            _ => Settled::NOTHING,
        }
    }
}
