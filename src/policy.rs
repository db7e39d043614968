//! The policy: [`Policy::judge`] and [`Policy::settle`], its only two verbs.
//!
//! A call is judged before it runs, and settled when its result arrives. In between it is *open*, followed by its own
//! [`CallId`]. What a turn has earned is kept per session and turn, and goes with the turn. Nothing here has a clock, does
//! I/O or draws a random number, and mode and profile are unknown: the same events give the same verdicts everywhere.

mod digest;
mod gate;
mod guards;
mod memory;
mod names;
mod notes;
mod record;
mod replay;
mod request;
mod settle;
mod small;
mod spread;
mod target;
mod turn;

pub use digest::DigestKey;
pub(crate) use digest::{Digester, EffectKeys};
pub use replay::ReadCall;
pub use target::Named;
pub use turn::{Classification, MAX_OPEN, Recall, Task};

use crate::argument::given::{Arguments, InspectContent};
use crate::config::{Config, Level, LookupEvidence};
use crate::evidence::answer::Answer;
use crate::guard::fixture::AllowedFolders;
use crate::guard::secret::SecretClass;
use crate::note::permalink::project_slug;
use crate::reason::{Code, Observation, Observations};
use crate::tool::{Class, Tool};
use crate::verdict::Verdict;
use memory::News;
use spread::Table;
use turn::{Followed, Open, ReadRequest, Turn};

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
    /// The arguments that would run.
    pub arguments: &'a Arguments,
    /// Where it stands.
    pub position: Position,
    /// Whether the control tool is hidden from the agent.
    pub control_hidden: bool,
}

/// What the gate reads of a write's arguments, apart from what the guards look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Reading {
    /// No JSON object, or one parameter under two names.
    Malformed = 1,
    /// A `write_note` that replaces nothing.
    Creates = 2,
    /// Any other write.
    Changes = 3,
}

impl Reading {
    /// Every reading, in the order of the numbers.
    pub const ALL: [Reading; 3] = [Reading::Malformed, Reading::Creates, Reading::Changes];

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Reading::Malformed => "malformed",
            Reading::Creates => "creates",
            Reading::Changes => "changes",
        }
    }
}

/// A verdict, with what records want to know besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// The verdict.
    pub verdict: Verdict,
    /// What was read of a write's arguments; `None` for a call that is no write.
    pub reading: Option<Reading>,
    /// The class of a secret that was found; never the secret.
    pub secret: Option<SecretClass>,
}

/// A result that arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Whether the tool's body was reached.
    pub reached: bool,
    /// The result's error flag.
    pub is_error: bool,
    /// The status part of the result.
    pub answer: Answer,
    /// What the control tool's body received, if it was usable.
    pub declared: Option<Task>,
    /// The session's step when the result arrived.
    pub step: u32,
}

impl Arrival {
    /// Stands for the result of a call that is not waited for any more: it may have run, and nothing is known of it.
    const fn lost(step: u32) -> Arrival {
        Arrival { reached: true, is_error: true, answer: Answer::Absent, declared: None, step }
    }
}

/// What became of a call, by its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Outcome {
    /// The body was not reached: the result proves nothing.
    NotReached = 0,
    /// It failed.
    Failed = 1,
    /// It succeeded.
    Succeeded = 2,
    /// It may or may not have been done.
    Unknown = 3,
}

impl Outcome {
    /// Every outcome, in the order of the numbers.
    pub const ALL: [Outcome; 4] = [Outcome::NotReached, Outcome::Failed, Outcome::Succeeded, Outcome::Unknown];

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::NotReached => "not-reached",
            Outcome::Failed => "failed",
            Outcome::Succeeded => "succeeded",
            Outcome::Unknown => "unknown",
        }
    }
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
    /// Stands for no outcome in a word.
    const NO_OUTCOME: u32 = 7;

    const NOTHING: Settled = Settled { outcome: None, observations: Observations::NONE };

    /// As a word: outcome in bits 0..3 (7: nothing changed), observations in bits 16..32.
    #[must_use]
    pub fn word(self) -> u32 {
        self.outcome.map_or(Settled::NO_OUTCOME, |outcome| outcome as u32) | u32::from(self.observations.bits()) << 16
    }

    /// The settlement of a word; `None` for one that [`Settled::word`] never gives.
    #[must_use]
    pub fn from_word(word: u32) -> Option<Settled> {
        let outcome = match word & 0xffff {
            Settled::NO_OUTCOME => None,
            number => Some(*Outcome::ALL.get(number as usize)?),
        };
        Some(Settled { outcome, observations: Observations::from_bits((word >> 16) as u16)? })
    }
}

/// The options that the rules depend on, and the key of the digests.
#[derive(Clone, Debug)]
pub struct Options {
    unknown_memory_tool_policy: Level,
    create_requires_search: bool,
    lookup_evidence: LookupEvidence,
    overwrite_requires_read: Level,
    duplicate_write_guard: bool,
    path_guard: Level,
    project_guard: Level,
    secret_pattern_guard: Level,
    test_fixture_guard: Level,
    test_fixture_folders: AllowedFolders,
    overwrite_default: bool,
    /// The permission to look at note content. Only a configuration gives it.
    inspect_content: Option<InspectContent>,
    keys: EffectKeys,
}

impl Options {
    /// The options of a configuration. The key is drawn by the caller, once per process.
    #[must_use]
    pub fn new(config: &Config, key: DigestKey) -> Options {
        Options {
            unknown_memory_tool_policy: config.unknown_memory_tool_policy,
            create_requires_search: config.create_requires_search,
            lookup_evidence: config.lookup_evidence,
            overwrite_requires_read: config.overwrite_requires_read,
            duplicate_write_guard: config.duplicate_write_guard,
            path_guard: config.path_guard,
            project_guard: config.project_guard,
            secret_pattern_guard: config.secret_pattern_guard,
            test_fixture_guard: config.test_fixture_guard,
            test_fixture_folders: AllowedFolders::new(config.test_fixture_allowed_prefixes.iter().map(String::as_str)),
            overwrite_default: config.overwrite_default,
            inspect_content: InspectContent::granted(config.inspect_content),
            keys: EffectKeys::of(key),
        }
    }

    const fn key(&self) -> &DigestKey {
        &self.keys.key
    }
}

/// What is known of the connection to one server. All agents of the process share it.
#[derive(Clone, Debug, Default)]
struct Connection {
    /// Stands for the current project: another number after every call that may have switched it.
    current: u64,
    /// Numbers given so far.
    numbers: u64,
    /// Whether a settled call ever may have switched it.
    switched: bool,
    /// The project that the server has said it uses where none is named and nothing was switched.
    own: Option<Own>,
    /// What its writes did to the names of notes.
    news: News,
}

/// A project, as the server names it, and its slug.
#[derive(Clone, Debug)]
struct Own {
    name: String,
    slug: String,
}

impl Connection {
    /// The slug of the project that the server uses where none is named, as far as it has said so.
    fn own(&self) -> Option<&str> {
        self.own.as_ref().map(|own| own.slug.as_str())
    }

    /// The server has said that it used this project where none was named.
    fn learn_own(&mut self, project: Option<&str>) {
        let Some(name) = project.filter(|name| self.own.as_ref().is_none_or(|own| own.name != *name)) else { return };
        if let Some(slug) = project_slug(name) {
            self.own = Some(Own { name: name.to_owned(), slug });
        }
    }

    /// From here on another project may be the current one.
    fn switch(&mut self) {
        self.numbers += 1;
        self.current = self.numbers;
    }
}

/// The state of every session, and the rules.
#[derive(Debug)]
pub struct Policy {
    options: Options,
    sessions: Table<SessionId, Option<Box<Turn>>>,
    connections: Table<u16, Connection>,
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
        Policy { options, sessions: Table::default(), connections: Table::default(), next_session: 0 }
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
        if let Some(turn) = self.sessions.remove(&session).flatten() {
            Policy::leave(&self.options, &mut self.connections, turn);
        }
        // A table does not give back by itself what it once held.
        if self.sessions.len() * 4 <= self.sessions.capacity() {
            self.sessions.shrink_to(self.sessions.len() * 2);
        }
    }

    /// Discards what the session's turn has earned. Without effect where there is no turn.
    pub fn end_turn(&mut self, session: SessionId) {
        if let Some(turn) = self.sessions.get_mut(&session).and_then(Option::take) {
            Policy::leave(&self.options, &mut self.connections, turn);
        }
    }

    /// How much is held.
    #[must_use]
    pub fn holdings(&self) -> Holdings {
        self.sessions.values().fold(Holdings::default(), |sum, turn| Holdings {
            sessions: sum.sessions + 1,
            turns: sum.turns + usize::from(turn.is_some()),
            calls: sum.calls + turn.as_ref().map_or(0, |turn| turn.open_calls()),
        })
    }

    /// Judges a call before it runs, and follows it from here to its result.
    pub fn judge(&mut self, call: Call<'_>) -> Judged {
        let tool = call.tool;
        let observed = Observations::NONE
            .with_if(tool.class == (Class::Read { search: false }), Observation::ReadOnlyNotRecall)
            .with_if(call.control_hidden, Observation::ControlHidden);
        let destructive = tool.class == (Class::Write { destructive: true });
        let without_turn = |code, observations| Judged {
            verdict: Verdict { destructive, observations, ..Verdict::of(code) },
            reading: tool.class.writes().then(|| gate::reading(&self.options, tool, call.arguments)),
            secret: None,
        };
        let (session, turn, step) = match call.position {
            Position::NoAgent => {
                let code = if tool.class.writes() { Code::AllowOutOfScope } else { gate::free(tool) };
                return without_turn(code, observed.with(Observation::NoAgentContext));
            }
            Position::At { session, turn, step } if self.sessions.contains_key(&session) => (session, turn, step),
            // A session that is not followed any more is a position that is not known.
            Position::Unknown | Position::At { .. } => {
                let code = if tool.class.writes() { Code::CallNotJudged } else { gate::free(tool) };
                return without_turn(code, observed);
            }
        };
        let slot = self.sessions.entry(session).or_default();
        if let Some(before) = Turn::left(slot, turn) {
            Policy::leave(&self.options, &mut self.connections, before);
        }
        let turn = Turn::entered(slot, turn);
        turn.take(call.id);
        let connection = self.connections.entry(tool.server).or_default();
        let mut judged = Judged {
            verdict: Verdict {
                code: gate::free(tool),
                destructive,
                classification: turn.classification(),
                recall: turn.recall(step),
                argument: None,
                observations: observed,
            },
            reading: None,
            secret: None,
        };
        let mut open = if tool.class.writes() {
            let (classification, recall) = (judged.verdict.classification, judged.verdict.recall);
            let (notes, open) = turn.notes(tool.server);
            let state = gate::State { classification, recall, step, notes, open, connection };
            let decision = gate::decide(&self.options, state, tool, call.arguments);
            judged.verdict.code = decision.code;
            judged.verdict.argument = decision.findings.argument;
            judged.verdict.observations = observed.and(decision.findings.observed);
            judged.secret = decision.findings.secret;
            judged.reading = Some(decision.reading);
            decision.request.map_or(Open::Other, |request| Open::Write(Box::new(request)))
        } else {
            Policy::followed_read(tool, step, call.arguments)
        };
        // From here on the connection may be on its way to another project.
        let before = connection.current;
        if open.may_switch() {
            connection.switch();
        }
        if judged.verdict.denies() {
            turn.denied();
        } else if let Open::Write(write) = &mut open {
            write.begun = turn.notes(tool.server).0.begin();
        }
        let followed = Followed { server: tool.server, before, current: connection.current, open };
        while let Some(lost) = turn.give_up(MAX_OPEN - 1) {
            Policy::arrive(&self.options, &mut self.connections, turn, lost, &Arrival::lost(step));
        }
        turn.follow(call.id, followed);
        judged
    }

    fn followed_read(tool: Tool, step: u32, arguments: &Arguments) -> Open {
        let given = match arguments {
            Arguments::Object(given) if !given.is_doubled() => Some(given),
            _ => None,
        };
        match tool.class {
            Class::Control => Open::Control,
            Class::Read { search: true } => Open::Lookup(Box::new(ReadRequest::of(tool, given, step))),
            _ => Open::Read(Box::new(ReadRequest::of(tool, given, step))),
        }
    }

    /// Takes note of a call's result. A result of a call that is not open, because its turn has ended or because it
    /// was settled before, changes nothing.
    pub fn settle(&mut self, session: SessionId, call: CallId, arrival: &Arrival) -> Settled {
        let Some(Some(turn)) = self.sessions.get_mut(&session) else { return Settled::NOTHING };
        let Some(followed) = turn.take(call) else { return Settled::NOTHING };
        Policy::arrive(&self.options, &mut self.connections, turn, followed, arrival)
    }

    /// A turn is over, and with it what it has earned. The result of a call that still runs will change nothing; but the call
    /// may have switched the connection, and changed notes that other sessions know.
    #[cold]
    #[inline(never)]
    fn leave(options: &Options, connections: &mut Table<u16, Connection>, mut turn: Box<Turn>) {
        while let Some(lost) = turn.give_up(0) {
            Policy::arrive(options, connections, &mut turn, lost, &Arrival::lost(0));
        }
    }

    /// Settles a call that is followed no more, and lets other sessions hear of it.
    fn arrive(
        options: &Options,
        connections: &mut Table<u16, Connection>,
        turn: &mut Turn,
        followed: Followed,
        arrival: &Arrival,
    ) -> Settled {
        let server = followed.server;
        let connection = connections.entry(server).or_default();
        let (settled, renamed) = settle::settle(options, turn, connection, followed, arrival);
        if let Some(renamed) = renamed {
            let (notes, _) = turn.notes(server);
            notes.listen(options.key(), &connection.news);
            renamed.spread(&mut connection.news);
            // What it did itself it knows.
            notes.told(&connection.news);
        }
        settled
    }
}
