//! How much a policy holds, whatever is done to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::config::Config;
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{
    Arrival, Call, CallId, DigestKey, Holdings, MAX_OPEN, Options, Outcome, Policy, Position, Recall, SessionId,
    Settled, TurnId,
};
use dsh_bmpp::verdict::Verdict;

struct Stage {
    config: Config,
    policy: Policy,
}

impl Stage {
    fn new() -> Stage {
        let config = Config::default();
        Stage { policy: Policy::new(Options::new(&config, DigestKey([7; 16]))), config }
    }

    fn judge(&mut self, session: SessionId, turn: u32, call: u32, raw: &str) -> Verdict {
        let tool = self.config.namespace().resolve(&format!("mcp__basic-memory__{raw}")).unwrap();
        let position = Position::At { session, turn: TurnId::Host(turn), step: 1 };
        let arguments = &Arguments::NotAnObject;
        self.policy.judge(Call { id: CallId(call), tool, arguments, position, control_hidden: false }).verdict
    }

    fn settle(&mut self, session: SessionId, call: u32) -> Settled {
        let answer = Answer::Text("# Search Results".to_owned());
        let arrival = Arrival { reached: true, is_error: false, answer, declared: None, step: 1 };
        self.policy.settle(session, CallId(call), &arrival)
    }
}

#[test]
fn ten_thousand_sessions_leave_nothing() {
    let mut stage = Stage::new();
    let mut ids = std::collections::HashSet::new();
    for round in 0..10_000 {
        let session = stage.policy.open_session();
        assert!(ids.insert(session), "a number of a session is used once");
        stage.judge(session, 1, round, "search_notes");
        stage.policy.close_session(session);
    }
    assert_eq!(stage.policy.holdings(), Holdings::default());
}

#[test]
fn ten_thousand_sessions_side_by_side_leave_nothing() {
    let mut stage = Stage::new();
    let sessions: Vec<SessionId> = (0..10_000).map(|_| stage.policy.open_session()).collect();
    for (session, call) in sessions.iter().zip(0..) {
        stage.judge(*session, 1, call, "search_notes");
    }
    assert_eq!(stage.policy.holdings(), Holdings { sessions: 10_000, turns: 10_000, calls: 10_000 });
    for session in sessions {
        stage.policy.close_session(session);
    }
    assert_eq!(stage.policy.holdings(), Holdings::default());
}

#[test]
fn turns_of_one_session_do_not_pile_up() {
    let mut stage = Stage::new();
    let session = stage.policy.open_session();
    for turn in 0..10_000 {
        stage.judge(session, turn, turn, "search_notes");
        assert_eq!(stage.policy.holdings(), Holdings { sessions: 1, turns: 1, calls: 1 });
    }
}

/// A result that never comes must not hold memory for ever, and giving a call up must not open anything.
#[test]
fn calls_without_a_result_are_given_up_oldest_first() {
    let mut stage = Stage::new();
    let session = stage.policy.open_session();
    let most = u32::try_from(MAX_OPEN).unwrap();
    for call in 0..most + 100 {
        stage.judge(session, 1, call, "search_notes");
        assert!(stage.policy.holdings().calls <= MAX_OPEN);
    }
    assert_eq!(stage.policy.holdings().calls, MAX_OPEN);
    assert_eq!(stage.settle(session, 99).outcome, None, "given up");
    assert_eq!(stage.settle(session, 100).outcome, Some(Outcome::Succeeded), "still followed");
}

/// Lookups that were given up are no lookups that run.
#[test]
fn a_lookup_that_was_given_up_does_not_keep_the_gate_waiting() {
    let mut stage = Stage::new();
    let session = stage.policy.open_session();
    stage.judge(session, 1, 0, "search_notes");
    let most = u32::try_from(MAX_OPEN).unwrap();
    let recall: Vec<Recall> = (1..=most + 1).map(|call| stage.judge(session, 1, call, "read_note").recall).collect();
    assert_eq!(recall.first(), Some(&Recall::Pending));
    assert_eq!(recall.last(), Some(&Recall::None));
}
