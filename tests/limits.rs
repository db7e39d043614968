//! How much a policy holds, whatever is done to it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

use dsh_bmpp::argument::given::{Arguments, Given, Json};
use dsh_bmpp::config::{Config, Level};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{
    Arrival, Call, CallId, DigestKey, Holdings, MAX_OPEN, Options, Outcome, Policy, Position, Recall, SessionId,
    Settled, Task, TurnId,
};
use dsh_bmpp::reason::Code;
use dsh_bmpp::verdict::Verdict;

struct Stage {
    config: Config,
    policy: Policy,
}

impl Stage {
    fn new() -> Stage {
        Stage::of(Config::default())
    }

    fn of(config: Config) -> Stage {
        Stage { policy: Policy::new(Options::new(&config, DigestKey([7; 16]))), config }
    }

    fn judge(&mut self, session: SessionId, turn: u32, call: u32, raw: &str) -> Verdict {
        let tool = self.config.namespace().resolve(&format!("mcp__basic-memory__{raw}")).unwrap();
        let position = Position::At { session, turn: TurnId::Host(turn), step: 1 };
        let arguments = &Arguments::NotAnObject;
        self.policy.judge(Call { id: CallId(call), tool, arguments, position, control_hidden: false }).verdict
    }

    /// Judges a call of the first turn with these texts as its arguments, and says the code.
    fn given(&mut self, session: SessionId, call: u32, raw: &str, texts: &[(&str, &str)]) -> Code {
        let tool = self.config.namespace().resolve(&format!("mcp__basic-memory__{raw}")).unwrap();
        let entries =
            texts.iter().map(|(name, text)| ((*name).to_owned().into(), Json::Text((*text).to_owned().into())));
        let arguments = &Arguments::Object(Given::of(Some(raw), entries.collect()));
        let position = Position::At { session, turn: TurnId::Host(1), step: 1 };
        self.policy.judge(Call { id: CallId(call), tool, arguments, position, control_hidden: false }).verdict.code
    }

    fn declare(&mut self, session: SessionId, call: u32, task: Task) {
        let tool = self.config.namespace().resolve("bmpp__classify").unwrap();
        let position = Position::At { session, turn: TurnId::Host(1), step: 1 };
        let arguments = &Arguments::NotAnObject;
        self.policy.judge(Call { id: CallId(call), tool, arguments, position, control_hidden: false });
        let arrival = Arrival { reached: true, is_error: false, answer: Answer::Absent, declared: Some(task), step: 1 };
        self.policy.settle(session, CallId(call), &arrival);
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

/// Nobody knows what became of a write that was given up: it must not be made again as if it had never been.
#[test]
fn a_write_that_was_given_up_may_be_done() {
    let note: &[(&str, &str)] = &[("title", "Plans"), ("directory", "notes"), ("content", "text")];
    let removal: &[(&str, &str)] = &[("identifier", "notes/plans")];
    let switching: &[(&str, &str)] =
        &[("title", "Other"), ("directory", "notes"), ("content", "text"), ("project", "work")];
    let elsewhere: &[(&str, &str)] = &[("identifier", "a"), ("project", "work")];
    for (lost, args, then, args_then, code) in [
        ("write_note", note, "write_note", note, Code::WriteOutcomeUnknown),
        ("write_note", switching, "write_note", note, Code::ProjectAmbiguous),
        ("read_note", elsewhere, "write_note", note, Code::ProjectAmbiguous),
        ("delete_note", removal, "delete_note", removal, Code::WriteOutcomeUnknown),
    ] {
        let mut stage = Stage::of(Config { project_guard: Level::Deny, ..Config::default() });
        let session = stage.policy.open_session();
        stage.declare(session, 0, Task::Simple);
        stage.given(session, 1, lost, args);
        let most = u32::try_from(MAX_OPEN).unwrap();
        for call in 2..most + 2 {
            stage.judge(session, 1, call, "list_directory");
        }
        assert_eq!(stage.given(session, most + 2, then, args_then), code, "{lost}, then {then}");
        assert_eq!(stage.settle(session, 1).outcome, None, "given up");
    }
}

/// A write that was denied did not run, so giving it up leaves nothing behind.
#[test]
fn a_denied_write_that_was_given_up_is_not_done() {
    let note: &[(&str, &str)] = &[("title", "Plans"), ("directory", "notes"), ("content", "text")];
    let mut stage = Stage::new();
    let session = stage.policy.open_session();
    assert_eq!(stage.given(session, 1, "write_note", note), Code::ClassificationRequired);
    let most = u32::try_from(MAX_OPEN).unwrap();
    for call in 2..most + 2 {
        stage.judge(session, 1, call, "list_directory");
    }
    stage.declare(session, most + 2, Task::Simple);
    assert_eq!(stage.given(session, most + 3, "write_note", note), Code::AllowSimple);
}

#[test]
fn of_what_only_the_arguments_of_a_write_say_no_text_is_held() {
    let mut stage = Stage::new();
    let session = stage.policy.open_session();
    stage.declare(session, 1, Task::Simple);
    let held = |stage: &Stage, text: &str| {
        let bytes: Vec<String> = text.bytes().map(|byte| byte.to_string()).collect();
        format!("{:?}", stage.policy).contains(&bytes.join(", "))
    };
    let note = [("title", "Qzjxkv"), ("directory", "wvut"), ("content", "nothing else")];
    assert_eq!(stage.given(session, 2, "write_note", &note), Code::AllowSimple);
    let settle = |stage: &mut Stage, answer: &str| {
        let answer = Answer::Text(answer.to_owned());
        let arrival = Arrival { reached: true, is_error: false, answer, declared: None, step: 1 };
        stage.policy.settle(session, CallId(2), &arrival)
    };
    assert_eq!(settle(&mut stage, "# Created note").outcome, Some(Outcome::Succeeded));
    for text in ["Qzjxkv", "wvut", "nothing else"] {
        assert!(!held(&stage, text), "{text}");
    }
    // What an answer calls the note is held, so that this test sees what is held at all.
    assert_eq!(stage.given(session, 2, "write_note", &[note[0], note[1], ("content", "2")]), Code::AllowSimple);
    let named =
        "# Created note\nproject: main\nfile_path: wvut/Qzjxkv.md\npermalink: main/wvut/qzjxkv\nchecksum: 6a1f3c5e";
    assert_eq!(settle(&mut stage, named).outcome, Some(Outcome::Succeeded));
    assert!(held(&stage, "wvut/Qzjxkv.md") && !held(&stage, "nothing else"));
}
