//! A model that tries everything: random calls of several sessions against a memory server that resolves names as the real
//! one does ([`notebook`]), through the policy as `enforce` and `strict` have it. What the server really did is looked at, so
//! that no opinion of the policy's is trusted.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

#[allow(unreachable_pub, reason = "a module of a test is as open as the test needs")]
mod notebook;

use std::collections::{BTreeMap, HashMap};

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::config::{Config, Raw};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{Arrival, Call, CallId, DigestKey, Options, Policy, Position, SessionId, Task, TurnId};
use dsh_bmpp::tool::{Known, Namespace};
use notebook::{Done, PROJECTS, Server};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config as Runner, RngAlgorithm, TestCaseResult, TestRng, TestRunner};
use serde_json::{Value, json};

const SESSIONS: u8 = 2;

/// One random event, before it is known what it means.
type Bytes = [u8; 7];

/// What one turn of a session has really done.
#[derive(Default)]
struct Truth {
    /// Notes whose text the model knows, with the step in which it was read; none for what it wrote itself.
    known: HashMap<usize, Option<u32>>,
    /// What was added to which note, and whether its outcome was told.
    added: HashMap<(usize, String), bool>,
}

struct Session {
    id: SessionId,
    turn: u32,
    step: u32,
    truth: Truth,
}

struct World {
    namespace: Namespace,
    policy: Policy,
    sessions: BTreeMap<u8, Session>,
    server: Server,
    calls: u32,
    /// Codes that were seen, to know that the world gets somewhere.
    codes: BTreeMap<&'static str, usize>,
}

impl World {
    fn new() -> World {
        let config = Config::read(&Raw::from(&json!({ "profile": "strict" }))).unwrap();
        let mut world = World {
            namespace: config.namespace(),
            policy: Policy::new(Options::new(&config, DigestKey([9; 16]))),
            sessions: BTreeMap::new(),
            server: Server::default(),
            calls: 0,
            codes: BTreeMap::new(),
        };
        for slot in 0..SESSIONS {
            let id = world.policy.open_session();
            world.sessions.insert(slot, Session { id, turn: 0, step: 0, truth: Truth::default() });
            world.new_turn(slot);
        }
        world
    }

    fn new_turn(&mut self, slot: u8) {
        let session = self.sessions.get_mut(&slot).unwrap();
        session.turn += 1;
        session.step = 1;
        session.truth = Truth::default();
        let (call, _, _) = self.judge(slot, "bmpp__classify", &json!({}));
        let arrival =
            Arrival { reached: true, is_error: false, answer: Answer::Absent, declared: Some(Task::Simple), step: 1 };
        self.policy.settle(self.sessions[&slot].id, call, &arrival);
    }

    fn judge(&mut self, slot: u8, name: &str, args: &Value) -> (CallId, Option<Known>, &'static str) {
        self.calls += 1;
        let session = &self.sessions[&slot];
        let tool = self.namespace.resolve(name).unwrap();
        let position = Position::At { session: session.id, turn: TurnId::Host(session.turn), step: session.step };
        let arguments = Arguments::of(tool.known.map(Known::raw), args);
        let id = CallId(self.calls);
        let judged = self.policy.judge(Call { id, tool, arguments: &arguments, position, control_hidden: false });
        (id, tool.known, judged.verdict.code.name())
    }

    /// A call from judging to result. What it really did must be earned.
    fn call(&mut self, slot: u8, raw: &str, args: &Value, lost: bool) -> TestCaseResult {
        let (id, known, code) = self.judge(slot, &format!("mcp__basic-memory__{raw}"), args);
        *self.codes.entry(code).or_default() += 1;
        let session = self.sessions.get_mut(&slot).unwrap();
        let (step, id_of) = (session.step, session.id);
        let settle = |policy: &mut Policy, reached: bool, is_error: bool, text: &str| {
            let answer = Answer::of_result(known.map(Known::raw), &json!(text));
            policy.settle(id_of, id, &Arrival { reached, is_error, answer, declared: None, step });
        };
        if !code.starts_with("ALLOW") {
            settle(&mut self.policy, false, true, "denied");
            return Ok(());
        }
        let notes_before = self.server.notes.clone();
        let done = match raw {
            "read_note" => self.server.read_note(args),
            "write_note" => self.server.write_note(args),
            "edit_note" => self.server.edit_note(args),
            "move_note" => self.server.move_note(args),
            _ => self.server.delete_note(args),
        };
        let truth = &mut session.truth;
        if let Some(note) = done.note.and_then(|at| self.server.notes.get(at)) {
            let was = notes_before.iter().find(|before| before.id == note.id);
            let was_read = truth.known.get(&note.id).is_some_and(|seen| seen.is_none_or(|seen| seen < step));
            prop_assert!(!done.replaced || was_read, "{raw} {args} replaced text of {was:?}, unread");
            match raw {
                "read_note" => {
                    let seen = truth.known.entry(note.id).or_insert(Some(step));
                    *seen = seen.map(|seen| seen.min(step));
                    truth.added.retain(|(id, _), told| *id != note.id || *told);
                }
                "write_note" => drop(truth.known.insert(note.id, None)),
                "edit_note" if done.created => drop(truth.known.insert(note.id, None)),
                _ => {}
            }
        }
        record(truth, raw, args, &done, &self.server, lost)?;
        if matches!(raw, "move_note" | "delete_note") && done.note.is_some() {
            // After it the same is another write, whoever made it.
            self.sessions.values_mut().for_each(|session| session.truth.added.clear());
        }
        let (is_error, text) =
            if lost { (true, "MCP error -32001: Request timed out") } else { (done.is_error, done.answer.as_str()) };
        settle(&mut self.policy, true, is_error, text);
        Ok(())
    }
}

/// Keeps what was added to which note. The same is not added twice while nothing came between.
fn record(truth: &mut Truth, raw: &str, args: &Value, done: &Done, server: &Server, lost: bool) -> TestCaseResult {
    let Some(note) = done.note.and_then(|at| server.notes.get(at)) else { return Ok(()) };
    if raw == "edit_note" && args["operation"] == "find_replace" {
        truth.added.retain(|(id, _), _| *id != note.id);
    } else if raw == "edit_note" {
        let what = (note.id, format!("{} {}", args["operation"], args["content"]));
        prop_assert!(!truth.added.contains_key(&what), "{args} was added twice to {note:?}");
        truth.added.retain(|(id, _), _| *id != note.id);
        truth.added.insert(what, !lost);
    } else if raw == "write_note" {
        truth.added.retain(|(id, _), _| *id != note.id);
    }
    Ok(())
}

/// Turns bytes into a call, with names that are likely to meet.
fn play(world: &mut World, bytes: Bytes) -> TestCaseResult {
    let [what, who, which, spelling, a, b, c] = bytes;
    let slot = u8::from(who >= 200);
    match what {
        0..=34 => {
            world.sessions.get_mut(&slot).unwrap().step += 1;
            return Ok(());
        }
        35..=39 => {
            world.new_turn(slot);
            return Ok(());
        }
        _ => {}
    }
    let identifier = spelled(&world.server, which, spelling);
    let mut args = serde_json::Map::new();
    let mut put = |name: &str, value: Value| drop(args.insert(name.to_owned(), value));
    match a % 8 {
        0 | 1 => put("project", json!(["main", "work", "Main", " work/", "", "nope"][usize::from(b % 6)])),
        _ => {}
    }
    if a % 16 >= 8 {
        put("output_format", json!("json"));
    }
    let titles = ["A", "B", "a", "T", "main", "d"];
    let folders = ["", "d", "D", "main", "work", "main/d"];
    let contents = [
        "x",
        "x",
        "x",
        "x",
        "x",
        "y",
        "# A",
        "# T",
        "permalink: d/a",
        "permalink: main/d/b",
        "permalink: work/d/a",
        "permalink: t",
        "title: A",
        "title: T",
    ];
    let content = contents[usize::from(c) % contents.len()];
    let lost = b > 240;
    match what {
        40..=104 => {
            put("identifier", json!(identifier));
            world.call(slot, "read_note", &Value::Object(args), lost)
        }
        105..=154 => {
            put("title", json!(titles[usize::from(which) % titles.len()]));
            put("directory", json!(folders[usize::from(spelling) % folders.len()]));
            put("content", json!(content));
            if b % 4 != 0 {
                put("overwrite", json!(true));
            }
            world.call(slot, "write_note", &Value::Object(args), lost)
        }
        155..=229 => {
            put("identifier", json!(identifier));
            put("content", json!(content));
            let operation = ["append", "prepend", "find_replace", "find_replace"][usize::from(b % 4)];
            put("operation", json!(operation));
            if operation == "find_replace" {
                put("find_text", json!("text"));
            }
            if c % 16 == 15 {
                put("metadata", json!({ "status": c }));
            }
            world.call(slot, "edit_note", &Value::Object(args), lost)
        }
        230..=244 => {
            put("identifier", json!(identifier));
            let (folder, title) = (folders[usize::from(b) % folders.len()], titles[usize::from(c) % titles.len()]);
            put("destination_path", json!(format!("{folder}/{title}.md").trim_start_matches('/')));
            world.call(slot, "move_note", &Value::Object(args), lost)
        }
        _ => {
            put("identifier", json!(identifier));
            world.call(slot, "delete_note", &Value::Object(args), lost)
        }
    }
}

/// A name of one of the notes that are there, or one that may come to be a note's.
fn spelled(server: &Server, which: u8, how: u8) -> String {
    let Some(note) = server.notes.get(usize::from(which) % (server.notes.len() + 1)) else {
        return ["A", "T", "t", "d/a", "main/d/b", "d/A.md", "main/main/d/a", "work/d/a"][usize::from(how) % 8]
            .to_owned();
    };
    let (path, project) = (note.path.as_str(), PROJECTS[note.project]);
    let bare = path.strip_suffix(".md").unwrap_or(path);
    match how % 20 {
        0..=2 => note.title.clone(),
        3 | 4 => note.permalink.clone(),
        5 => path.to_owned(),
        6 => bare.to_owned(),
        7 => note.permalink.split_once('/').map_or(note.permalink.clone(), |(_, below)| below.to_owned()),
        8 => format!("memory://{}", note.permalink),
        9 => format!("memory://{project}/{path}"),
        10 => note.title.to_uppercase(),
        11 => path.to_uppercase(),
        12 => path.replace('/', "\\"),
        13 => note.external_id(),
        14 => format!("{project}/{path}"),
        15 => format!("[[{}]]", note.title),
        16 => format!(" {bare} "),
        17 => format!("./{path}"),
        18 => format!("memory://{bare}"),
        _ => format!("{project}/{bare}"),
    }
}

fn run(seed: u8, cases: u32, length: usize, property: impl Fn(Vec<Bytes>) -> TestCaseResult) {
    let config = Runner { cases, failure_persistence: None, max_shrink_iters: 20_000, ..Runner::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    if let Err(failure) = TestRunner::new_with_rng(config, rng).run(&vec(any::<Bytes>(), 0..length), property) {
        panic!("{failure}");
    }
}

#[test]
fn no_unread_note_is_overwritten_or_has_its_text_replaced_and_nothing_is_added_twice() {
    let codes = std::cell::RefCell::new(BTreeMap::new());
    run(1, 12_000, 70, |script| {
        let mut world = World::new();
        for bytes in script {
            play(&mut world, bytes)?;
        }
        for (code, count) in world.codes {
            *codes.borrow_mut().entry(code).or_default() += count;
        }
        Ok(())
    });
    // A world in which everything is denied, or nothing, proves nothing.
    let codes: BTreeMap<&str, usize> = codes.into_inner();
    for code in ["ALLOW_SIMPLE", "OVERWRITE_REQUIRES_READ", "DUPLICATE_WRITE_SAME_TURN", "WRITE_OUTCOME_UNKNOWN"] {
        assert!(codes.get(code).is_some_and(|count| *count > 100), "{codes:?}");
    }
}
