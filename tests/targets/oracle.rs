//! What must hold of every stream of events, whatever is in it: said plainly, and kept apart from how the policy says it.

use std::collections::BTreeMap;

use dsh_bmpp::approval;
use dsh_bmpp::argument::given::{Arguments, Held, Json};
use dsh_bmpp::config::{Config, Level};
use dsh_bmpp::guard::path::{PathArgument, check_path};
use dsh_bmpp::policy::{
    Arrival, Call, CallId, Classification, DigestKey, Holdings, Judged, Options, Outcome, Policy, Position, ReadCall,
    Reading, Recall, SessionId, Settled, Task, TurnId,
};
use dsh_bmpp::reason::{Code, Context, Observation};
use dsh_bmpp::tool::{Class, Known, Tool};
use dsh_bmpp::verdict::{Enforcement, Mode, Verdict, enforce};

/// What an event brought.
#[derive(Debug, PartialEq, Eq)]
pub enum Brought {
    /// A verdict's word, or a settlement's.
    Word(u32),
}

/// What is known of a call that is open.
#[derive(Clone, Copy)]
struct Open {
    tool: Tool,
    step: u32,
    judged: Judged,
    /// It is about a note, so that what became of it can be read.
    about_a_note: bool,
}

/// What a turn has earned, as the events say it.
struct Turn {
    id: TurnId,
    declared: Option<Task>,
    /// The later of the two steps of each lookup that succeeded.
    lookups: Vec<u32>,
    open: BTreeMap<u32, Open>,
}

/// The policy, a second one that is fed with what was read, and the plain truth.
pub struct Oracle {
    config: Config,
    policy: Policy,
    replay: Policy,
    sessions: BTreeMap<u32, Option<Turn>>,
}

impl Oracle {
    pub fn new(config: Config, key: [u8; 16]) -> Oracle {
        let policy = || Policy::new(Options::new(&config, DigestKey(key)));
        let (policy, replay) = (policy(), policy());
        Oracle { config, policy, replay, sessions: BTreeMap::new() }
    }

    pub fn open(&mut self) -> SessionId {
        let session = self.policy.open_session();
        assert_eq!(session, self.replay.open_session());
        assert!(self.sessions.insert(session.0, None).is_none(), "a session's number is used twice");
        session
    }

    pub fn close(&mut self, session: SessionId) {
        self.policy.close_session(session);
        self.replay.close_session(session);
        self.sessions.remove(&session.0);
        self.holds();
    }

    pub fn end_turn(&mut self, session: SessionId) {
        self.policy.end_turn(session);
        self.replay.end_turn(session);
        if let Some(turn) = self.sessions.get_mut(&session.0) {
            *turn = None;
        }
        self.holds();
    }

    /// Everything ends.
    pub fn end(&mut self) {
        for session in self.sessions.keys().copied().collect::<Vec<_>>() {
            self.end_turn(SessionId(session));
            self.close(SessionId(session));
        }
        assert_eq!(self.policy.holdings(), Holdings::default());
    }

    /// Nothing more is held than what is open.
    fn holds(&self) {
        let turns = || self.sessions.values().flatten();
        let held = Holdings {
            sessions: self.sessions.len(),
            turns: turns().count(),
            calls: turns().map(|turn| turn.open.len()).sum(),
        };
        assert_eq!(self.policy.holdings(), held);
    }

    pub fn judge(&mut self, call: Call<'_>) -> Judged {
        let judged = self.policy.judge(call);
        let verdict = judged.verdict;
        assert_eq!(Verdict::from_word(verdict.word()), Some(verdict));
        self.replays(&call, judged);
        texts(&self.config, &call, verdict);
        let writes = call.tool.class.writes();
        assert!(writes || !verdict.denies(), "a read is denied: {verdict:?}");
        assert_eq!(writes, judged.reading.is_some());
        let followed = match call.position {
            Position::At { session, turn, step } if self.sessions.contains_key(&session.0) => {
                Some((session, turn, step))
            }
            _ => None,
        };
        let Some((session, turn, step)) = followed else {
            let code = match (writes, call.position) {
                (true, Position::NoAgent) => Code::AllowOutOfScope,
                (true, _) => Code::CallNotJudged,
                (false, _) if call.tool == Tool::CONTROL => Code::AllowControl,
                (false, _) => Code::AllowReadOnly,
            };
            assert_eq!(verdict.code, code);
            return judged;
        };
        let slot = self.sessions.entry(session.0).or_default();
        if slot.as_ref().is_none_or(|known| known.id != turn) {
            *slot = Some(Turn { id: turn, declared: None, lookups: Vec::new(), open: BTreeMap::new() });
        }
        let turn = slot.as_mut().expect("just made");
        turn.open.remove(&call.id.0);
        let declared = turn.declared.map_or(Classification::Unknown, Classification::from);
        assert_eq!(verdict.classification, declared);
        let seen = turn.lookups.iter().any(|lookup| *lookup < step);
        assert_eq!(verdict.recall == Recall::Satisfied, seen);
        if writes && !verdict.denies() {
            earned(&self.config, &call, judged, declared, seen);
        }
        let about_a_note = match call.arguments {
            Arguments::Object(given) => ["identifier", "title"].iter().any(|name| given.text(name).is_some()),
            Arguments::NotAnObject => false,
        };
        turn.open.insert(call.id.0, Open { tool: call.tool, step, judged, about_a_note });
        self.holds();
        judged
    }

    /// The same from what was read, as a trail is replayed.
    fn replays(&mut self, call: &Call<'_>, judged: Judged) {
        let verdict = judged.verdict;
        let denied_by = (verdict.denies() && verdict.code.is_finding()).then_some(verdict.code);
        let replayed = self.replay.judge_read(ReadCall {
            id: call.id,
            tool: call.tool,
            reading: judged.reading,
            denied_by,
            warned: verdict.observations.findings(),
            position: call.position,
            control_hidden: call.control_hidden,
        });
        assert_eq!(Verdict { argument: None, ..verdict }, replayed);
    }

    /// The settlement, and whether the same call at once would be the same write.
    pub fn settle(&mut self, session: SessionId, call: CallId, arrival: &Arrival) -> (Settled, bool) {
        let open =
            self.sessions.get_mut(&session.0).and_then(Option::as_mut).and_then(|turn| turn.open.remove(&call.0));
        let settled = self.policy.settle(session, call, arrival);
        assert_eq!(Settled::from_word(settled.word()), Some(settled));
        let proven = (settled.outcome.unwrap_or(Outcome::Failed), settled.observations);
        assert_eq!(self.replay.settle_read(session, call, arrival, |_| proven), settled, "a replay settles otherwise");
        assert_eq!(self.policy.settle(session, call, arrival).outcome, None, "settled twice");
        let Some(open) = open else {
            assert_eq!(settled.outcome, None, "a call that is not open is settled");
            return (settled, false);
        };
        let outcome = settled.outcome.expect("an open call has an outcome");
        assert_eq!(outcome == Outcome::NotReached, !arrival.reached);
        let turn = self.sessions.get_mut(&session.0).and_then(Option::as_mut).expect("the call was open in it");
        match open.tool.class {
            Class::Control => {
                let counts = arrival.reached && !arrival.is_error && arrival.declared.is_some();
                assert_eq!(outcome == Outcome::Succeeded, counts);
                if counts {
                    let changed = turn.declared.is_some() && turn.declared != arrival.declared;
                    assert_eq!(settled.observations.has(Observation::Reclassified), changed);
                    turn.declared = arrival.declared;
                }
            }
            Class::Read { search: true } if outcome == Outcome::Succeeded => {
                assert!(arrival.reached && !arrival.is_error, "a failed lookup counts");
                turn.lookups.push(open.step.max(arrival.step));
            }
            _ => {}
        }
        self.holds();
        let repeats = match outcome {
            Outcome::Succeeded => true,
            Outcome::Unknown => open.about_a_note,
            _ => false,
        };
        let readable = !matches!(open.judged.reading, None | Some(Reading::Malformed));
        let known = open.tool.known.is_some() && open.tool.class.writes() && self.config.duplicate_write_guard;
        (settled, repeats && known && readable && !open.judged.verdict.denies())
    }
}

/// What an allowed write must have.
fn earned(config: &Config, call: &Call<'_>, judged: Judged, declared: Classification, seen: bool) {
    let creates = judged.reading == Some(Reading::Creates);
    assert_ne!(declared, Classification::Unknown, "a write of a turn that is not classified");
    assert_ne!(judged.reading, Some(Reading::Malformed));
    if declared == Classification::Complex && (config.create_requires_search || !creates) {
        assert!(seen, "a write of a complex turn without a lookup that was seen");
    }
    if call.tool.class == Class::Unknown {
        assert_ne!(config.unknown_memory_tool_policy, Level::Deny);
    }
    let Arguments::Object(given) = call.arguments else { panic!("a write without arguments is allowed") };
    assert!(!given.is_doubled());
    if config.path_guard != Level::Deny {
        return;
    }
    for entry in given.entries() {
        let (Some(family), Held::Open(Json::Text(text))) = (entry.family, &entry.held) else { continue };
        let Some(argument) = PathArgument::from_name(family.name) else { continue };
        let file = argument != PathArgument::Title || call.tool.known == Some(Known::WriteNote);
        assert!(!file || check_path(argument, text).is_none(), "an unsafe {} is allowed", family.name);
    }
}

/// Texts and enforcements of a verdict.
fn texts(config: &Config, call: &Call<'_>, verdict: Verdict) {
    let words = config.words(&config.namespace(), call.tool);
    let context = Context {
        words: &words,
        tool: call.tool.known,
        argument: verdict.argument,
        control_hidden: call.control_hidden,
    };
    if verdict.denies() {
        assert!(verdict.code.text(context).starts_with(&format!("{}: ", verdict.code.name())));
    }
    for can_ask in [false, true] {
        for asks in [false, true] {
            assert_ne!(enforce(verdict, Mode::Audit, asks, can_ask), Enforcement::Denied);
            let enforced = enforce(verdict, Mode::Enforce, asks, can_ask);
            assert!(!verdict.denies() || matches!(enforced, Enforcement::Denied | Enforcement::Asked));
            assert!(can_ask && asks && verdict.destructive || enforced != Enforcement::Asked);
        }
    }
    if let Arguments::Object(given) = call.arguments {
        let shown = approval::reason("mcp__basic-memory__delete_note", Some(given), Some(verdict.code));
        assert!(!shown.chars().any(char::is_control), "{shown:?}");
    }
}
