//! Event streams: sessions, turns, calls with arguments and results of every tool on two servers, played by the policy and
//! held against what must never happen ([`super::oracle`]).

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::argument::{Family, Role, Shape, table::TOOLS};
use dsh_bmpp::config::{Config, Level, LookupEvidence};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{Arrival, Call, CallId, Position, SessionId, Task, TurnId};
use dsh_bmpp::tool::{Known, Namespace, Tool};
use serde_json::{Map, Value, json};

use super::draw::Draw;
use super::oracle::{Brought, Oracle};

const SESSIONS: usize = 3;
/// Events of one stream, so that one input cannot take for ever.
const LONGEST: usize = 400;

/// Titles, folders and names that are likely to meet.
const TITLES: &[&str] = &["A", "a", "B", "My Note", "d/A", "main", "[test-fixture] A", "..", "A\u{200b}"];
const FOLDERS: &[&str] = &["d", "D", "", "/", "main", "d/e", "tests", "../d", ".git", "d~", "\u{378}"];
const NAMES: &[&str] = &[
    "A",
    "a",
    "d/A.md",
    "d/a",
    "main/d/a",
    "memory://main/d/a",
    "memory://d/A",
    "main::d/a",
    "[[A]]",
    "./d/A.md",
    "d\\A",
    "B",
    "d/B.md",
    "main/d/b",
    "d",
    "work/d/a",
    "../x",
    "00000000-0000-4000-8000-000000000001",
    "ひ",
    "A/A",
];
const PROJECTS: &[&str] = &["main", "Main", "work", " work/", "", "Кириллица", "a.b"];
const CONTENTS: &[&str] =
    &["x", "y", "", "# A", "permalink: d/b", "title: B", "ghp_aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXyZ"];
const OPERATIONS: &[&str] =
    &["append", "prepend", "find_replace", "replace_section", "insert_before_section", "Append"];
const METADATA: &[&str] = &["a", "[test-fixture]", "https://alice:hunter2pass@host/x", "{}", " { } ", "{\"a\":1}"];

pub fn run(bytes: &[u8]) {
    let first = play(bytes, 1);
    // The key of the digests decides nothing, and the same events give the same words.
    assert_eq!(first, play(bytes, 2));
}

fn play(bytes: &[u8], key: u8) -> Vec<Brought> {
    let mut draw = Draw::new(bytes);
    let config = options(&mut draw);
    let mut stage = Stage {
        namespace: config.namespace(),
        oracle: Oracle::new(config, [key; 16]),
        slots: Vec::new(),
        calls: 0,
        brought: Vec::new(),
        again: None,
        draw,
    };
    for _ in 0..SESSIONS {
        let session = stage.oracle.open();
        stage.slots.push(Slot { session, turn: 1, step: 1, open: Vec::new() });
    }
    for _ in 0..LONGEST {
        if !stage.draw.more() {
            break;
        }
        stage.event();
    }
    stage.oracle.end();
    stage.brought
}

fn options(draw: &mut Draw<'_>) -> Config {
    let levels = [Level::Deny, Level::Warn, Level::Off];
    let usually = |draw: &mut Draw<'_>| if draw.once_in(3) { draw.one(&levels) } else { Level::Deny };
    let mut config = Config {
        server_names: ["basic-memory", "basic-memory__x"].map(str::to_owned).to_vec(),
        unknown_memory_tool_policy: draw.one(&levels),
        create_requires_search: !draw.once_in(4),
        overwrite_requires_read: usually(draw),
        duplicate_write_guard: !draw.once_in(4),
        path_guard: usually(draw),
        project_guard: draw.one(&levels),
        secret_pattern_guard: draw.one(&levels),
        test_fixture_guard: draw.one(&levels),
        overwrite_default: draw.once_in(4),
        inspect_content: draw.once_in(4),
        ..Config::default()
    };
    if draw.once_in(4) {
        config.lookup_evidence = LookupEvidence::Flag;
    }
    config
}

/// A session of the stream.
struct Slot {
    session: SessionId,
    turn: u32,
    step: u32,
    open: Vec<Made>,
}

/// A call that was made, to be settled or made again.
#[derive(Clone)]
struct Made {
    id: u32,
    tool: Tool,
    args: Value,
}

struct Stage<'a> {
    draw: Draw<'a>,
    namespace: Namespace,
    oracle: Oracle,
    slots: Vec<Slot>,
    calls: u32,
    brought: Vec<Brought>,
    /// A call that was just made and settled: once more is a duplicate.
    again: Option<(usize, Made)>,
}

impl Stage<'_> {
    fn event(&mut self) {
        // Most of the events fall on one session, so that its turns get somewhere.
        let at = if self.draw.once_in(4) { self.draw.below(SESSIONS) } else { 0 };
        let again = self.again.take();
        match self.draw.below(32) {
            0 => {
                let session = self.oracle.open();
                let before =
                    std::mem::replace(&mut self.slots[at], Slot { session, turn: 1, step: 1, open: Vec::new() });
                self.oracle.close(before.session);
            }
            1 => self.oracle.end_turn(self.slots[at].session),
            2 => {
                self.slots[at].turn += 1;
                self.slots[at].step = 1;
            }
            3..=7 => self.slots[at].step += 1,
            8..=10 if again.is_some() => {
                if let Some((at, made)) = again {
                    self.judge(at, made.tool, made.args, true);
                }
            }
            8..=19 => {
                let tool = self.tool();
                let args = arguments(&mut self.draw, tool);
                self.judge(at, tool, args, false);
            }
            _ => self.settle(at),
        }
    }

    fn tool(&mut self) -> Tool {
        let server = if self.draw.once_in(6) { "basic-memory__x" } else { "basic-memory" };
        let raw = match self.draw.below(16) {
            0..=2 => return Tool::CONTROL,
            3 => "search_notes",
            4 => "build_context",
            5 | 6 => "read_note",
            7 | 8 => "write_note",
            9 | 10 => "edit_note",
            11 => "delete_note",
            12 => "move_note",
            13 => self.draw.one(&["rename_note", "create_memory_project", "delete_project", "canvas"]),
            _ => {
                let (known, _) = self.draw.one(Known::ALL);
                known.raw()
            }
        };
        self.namespace.resolve(&format!("mcp__{server}__{raw}")).expect("governed")
    }

    /// `again`: the very same call was just done, or may have been.
    fn judge(&mut self, at: usize, tool: Tool, args: Value, again: bool) {
        let slot = &self.slots[at];
        let turn = TurnId::Host(slot.turn);
        let position = match self.draw.below(24) {
            _ if again => Position::At { session: slot.session, turn, step: slot.step },
            0 => Position::NoAgent,
            1 => Position::Unknown,
            2 => Position::At { session: slot.session, turn: TurnId::Counted(slot.turn), step: slot.step },
            3 => Position::At { session: SessionId(slot.session.0.wrapping_sub(1)), turn, step: slot.step },
            _ => Position::At { session: slot.session, turn, step: slot.step },
        };
        // Now and then a call is judged again.
        let id = match slot.open.last() {
            Some(made) if !again && self.draw.once_in(16) => made.id,
            _ => {
                self.calls += 1;
                self.calls
            }
        };
        let arguments = Arguments::of(tool.known.map(Known::raw), &args);
        let call = Call { id: CallId(id), tool, arguments: &arguments, position, control_hidden: self.draw.once_in(8) };
        let judged = self.oracle.judge(call);
        assert!(!again || judged.verdict.denies(), "{} made {args} twice: {judged:?}", tool_name(tool));
        self.brought.push(Brought::Word(judged.verdict.word()));
        let slot = &mut self.slots[at];
        slot.open.retain(|made| made.id != id);
        slot.open.push(Made { id, tool, args });
    }

    fn settle(&mut self, at: usize) {
        let slot = &mut self.slots[at];
        let made = if slot.open.is_empty() || self.draw.once_in(16) {
            let id = self.draw.word() % 64;
            Made { id, tool: Tool::CONTROL, args: Value::Null }
        } else {
            let back = if self.draw.once_in(3) { self.draw.below(slot.open.len()) } else { 0 };
            slot.open.remove(slot.open.len() - 1 - back)
        };
        let raw = made.tool.known.map(Known::raw);
        let (is_error, value) = result(&mut self.draw, made.tool, &made.args);
        let arrival = Arrival {
            reached: !self.draw.once_in(12),
            is_error,
            answer: Answer::of_result(raw, &value),
            declared: self.draw.one(&[Some(Task::Complex), Some(Task::Simple), None]),
            step: slot.step + u32::from(self.draw.once_in(12)),
        };
        let (session, id) = (slot.session, CallId(made.id));
        let (settled, repeats) = self.oracle.settle(session, id, &arrival);
        self.brought.push(Brought::Word(settled.word()));
        self.again = repeats.then_some((at, made));
    }
}

pub fn tool_name(tool: Tool) -> &'static str {
    tool.known.map_or("a tool", Known::raw)
}

/// Arguments of a tool, by its table, with what no table has.
fn arguments(draw: &mut Draw<'_>, tool: Tool) -> Value {
    if draw.once_in(32) {
        return draw.json(2, &["title", "identifier"]);
    }
    let raw = tool_name(tool);
    let families = TOOLS.iter().find(|known| known.name == raw).map_or(TOOLS[0].families, |known| known.families);
    let mut map = Map::new();
    for family in families {
        let required = matches!(family.omitted, dsh_bmpp::argument::Omitted::Required);
        if !(required && !draw.once_in(24) || draw.once_in(5)) {
            continue;
        }
        let alias = draw.once_in(8).then(|| family.aliases.first().copied()).flatten();
        map.insert(alias.unwrap_or(family.name).to_owned(), argument(draw, family));
        // Two names of one parameter.
        if draw.once_in(64) && !family.aliases.is_empty() {
            map.insert(draw.one(family.aliases).to_owned(), argument(draw, family));
        }
    }
    if draw.once_in(24) {
        map.insert(draw.text(), draw.json(1, &[]));
    }
    Value::Object(map)
}

fn argument(draw: &mut Draw<'_>, family: &Family) -> Value {
    if draw.once_in(24) {
        return draw.json(2, METADATA);
    }
    let text = match (family.role, family.name) {
        (_, "operation") => draw.one(OPERATIONS),
        (_, "output_format") => draw.one(&["json", "json", "text"]),
        (_, "directory" | "destination_folder") => draw.one(FOLDERS),
        (_, "destination_path") => draw.one(&["d/A.md", "d/B.md", "e/A.md", "../x.md", "d/a.md"]),
        (Role::Title, _) => draw.one(TITLES),
        (Role::Path, _) => draw.one(NAMES),
        (Role::Project, _) if family.shape == Shape::Text => draw.one(PROJECTS),
        (Role::Content, _) => draw.one(CONTENTS),
        (Role::Metadata, _) => {
            return if draw.once_in(2) { json!(draw.one(METADATA)) } else { json!({ "k": [draw.one(METADATA)] }) };
        }
        _ => match family.shape {
            Shape::Bool => {
                return draw
                    .one(&[json!(true), json!("yes"), json!(false), json!("off"), json!(2), Value::Null].each_ref())
                    .clone();
            }
            Shape::Integer => {
                return draw.one(&[json!(1), json!("1"), json!(2), json!(0), Value::Null].each_ref()).clone();
            }
            _ => draw.one(NAMES),
        },
    };
    json!(text)
}

/// A result of a call: of the server's forms, or anything.
fn result(draw: &mut Draw<'_>, tool: Tool, args: &Value) -> (bool, Value) {
    if draw.once_in(16) {
        return (draw.once_in(3), draw.json(3, &["error", "results", "file_path", "deleted", "structuredContent"]));
    }
    let text = |name: &str| args.get(name).and_then(Value::as_str).unwrap_or("A");
    let (title, path) = match tool.known {
        Some(Known::WriteNote) if draw.below(8) > 0 => {
            (text("title"), format!("{}/{}.md", text("directory"), text("title")))
        }
        _ => (draw.one(&["A", "B", "a"]), draw.one(&["d/A.md", "d/B.md", "D/a.md", "e/A.md"]).to_owned()),
    };
    let permalink = draw.one(&["main/d/a", "main/d/b", "d/a", "main/d/a-1", "custom", "None", "a\nchecksum: 0"]);
    let project = draw.one(&["main", "work", "main", "Main"]);
    let lines = format!("project: {project}\nfile_path: {path}\npermalink: {permalink}\nchecksum: 0123abcd\n");
    let note = json!({ "title": title, "permalink": permalink, "file_path": path });
    let with = |more: Value| {
        let mut note = note.clone();
        if let (Some(note), Value::Object(more)) = (note.as_object_mut(), more) {
            note.extend(more);
        }
        json!({ "structuredContent": { "result": note } })
    };
    let wrapped = |text: String| json!({ "structuredContent": { "result": text } });
    match draw.below(12) {
        0 => return (true, json!("MCP error -32001: Request timed out")),
        1 => return (true, json!("Error calling tool 'x': refused")),
        2 => return (false, wrapped("# Error\n\nno".to_owned())),
        3 => return (false, with(json!({ "error": draw.one(&["NOTE_NOT_FOUND", "EDIT_OUTCOME_UNKNOWN", "x"]) }))),
        _ => {}
    }
    let value = match (tool.known, draw.once_in(2)) {
        (Some(Known::ReadNote | Known::Cat), _) => match draw.below(4) {
            0 => json!({ "structuredContent": { "result": { "error": "NOTE_NOT_FOUND", "file_path": null } } }),
            1 => wrapped(format!("---\ntitle: {title}\n---\n")),
            _ => with(json!({})),
        },
        (Some(Known::WriteNote), true) => with(json!({ "action": draw.one(&["created", "updated"]) })),
        (Some(Known::WriteNote), false) => wrapped(format!("# {} note\n{lines}", draw.one(&["Created", "Updated"]))),
        (Some(Known::EditNote), true) => with(json!({ "operation": "append", "fileCreated": draw.once_in(2) })),
        (Some(Known::EditNote), false) => {
            wrapped(format!("# {} note (append)\n{lines}", draw.one(&["Created", "Edited"])))
        }
        (Some(Known::MoveNote), _) => with(json!({ "moved": !draw.once_in(3) })),
        (Some(Known::DeleteNote), true) => with(json!({ "deleted": !draw.once_in(3) })),
        (Some(Known::DeleteNote), false) => json!({ "structuredContent": { "result": true } }),
        (Some(Known::CreateMemoryProject | Known::DeleteProject), _) => wrapped("✓ Project 'x' made".to_owned()),
        (Some(Known::ViewNote), _) => wrapped("Note retrieved: x".to_owned()),
        (Some(Known::ReadContent), _) => json!({ "structuredContent": { "type": "text" } }),
        _ => wrapped(
            draw.one(&["# Search Results: x", "# Context: x", "No results found for 'x'", "# Search Failed", "Odd"])
                .to_owned(),
        ),
    };
    (draw.once_in(16), value)
}
