//! Records of a trail: hostile texts are read, selected, replayed and added up, and nothing is counted that was not there.

use dsh_bmpp::audit::explain;
use dsh_bmpp::audit::record::{Record, texts};
use dsh_bmpp::audit::report::Adding;
use dsh_bmpp::audit::select::{Filter, Selection};
use dsh_bmpp::audit::trail::Tally;
use dsh_bmpp::audit::verify::Replay;
use serde_json::{Map, Value, json};

use super::draw::Draw;

const TOOLS: &[&str] = &[
    "bmpp__classify",
    "mcp__basic-memory__search_notes",
    "mcp__basic-memory__read_note",
    "mcp__basic-memory__write_note",
    "mcp__basic-memory__delete_note",
    "mcp__basic-memory__x",
    "mcp__x",
    "bash",
];

/// Each field with what it may hold.
const FIELDS: &[(&str, &[&str])] = &[
    ("session", &["s", "t", ""]),
    ("class", &["control", "read", "search", "write", "destructive", "unknown", "out-of-scope", "odd"]),
    ("place", &["agent", "no-agent", "unknown", "odd"]),
    ("facts", &["malformed", "creates", "changes", "odd"]),
    ("by", &["judged", "refused", "unapproved", "otherwise", "failed", "out-of-scope", "odd"]),
    ("at", &["pre-execute", "guard", "execute", "result"]),
    ("decision", &["allow", "deny", "odd"]),
    (
        "code",
        &["ALLOW_SIMPLE", "ALLOW_READ_ONLY", "ALLOW_CONTROL", "CLASSIFICATION_REQUIRED", "UNSAFE_NOTE_PATH", "ODD"],
    ),
    ("classification", &["unknown", "simple", "complex", "odd"]),
    ("lookup", &["none", "failed", "pending", "satisfied", "odd"]),
    ("enforcement", &["allowed", "denied", "asked", "overridden", "odd"]),
    ("outcome", &["not-reached", "failed", "succeeded", "unknown", "odd"]),
    ("happened", &["ran", "failed", "refused", "not-known"]),
    ("declared", &["simple", "complex", "odd"]),
    ("event", &["start", "seen", "end", "closed", "odd"]),
    ("mode", &["off", "audit", "enforce", "odd"]),
    ("profile", &["compat", "strict"]),
    ("host", &["0.1.0-rc.8", "x"]),
    ("policy", &["0.1.0", "0.1.0", "0.2.0"]),
    ("why", &["back-pressure", "storage", "odd"]),
];

const NUMBERS: &[u64] = &[0, 1, 2, 3, 5, 8, 4_294_967_295, 4_294_967_296, u64::MAX];

pub fn run(bytes: &[u8]) {
    let mut stored: Vec<String> = String::from_utf8_lossy(bytes).lines().map(str::to_owned).collect();
    let mut draw = Draw::new(bytes);
    for _ in 0..60 {
        if !draw.more() {
            break;
        }
        stored.push(record(&mut draw));
    }
    let filter = filter(&mut Draw::new(bytes));
    assert_eq!(through(&stored, &filter), through(&stored, &filter));
}

/// One record, as whole as the bytes say.
fn record(draw: &mut Draw<'_>) -> String {
    let mut map = Map::new();
    let kind = draw.one(&["load", "decision", "settlement", "turn", "unload", "lost", "dream"]);
    let seq = draw.one(NUMBERS);
    for (key, value) in [
        ("bmpp", json!(1 + u64::from(draw.once_in(16)))),
        ("kind", json!(kind)),
        ("load", json!(draw.one(&["l", "l", "m"]))),
        ("seq", json!(seq)),
        ("order", json!(draw.one(NUMBERS))),
        ("time", json!(draw.one(NUMBERS))),
        ("tool", json!(draw.one(TOOLS))),
        ("number", json!(draw.below(4))),
        ("turn", json!(draw.below(3))),
        ("step", json!(draw.below(4))),
        ("life", json!(draw.below(2))),
    ] {
        if !draw.once_in(32) {
            map.insert(key.to_owned(), value);
        }
    }
    for (key, values) in FIELDS {
        if !draw.once_in(8) {
            map.insert((*key).to_owned(), json!(draw.one(values)));
        }
    }
    for key in ["reached", "isError", "approved", "controlHidden", "canAsk"] {
        if draw.once_in(2) {
            map.insert(key.to_owned(), json!(draw.once_in(2)));
        }
    }
    for key in ["arrived", "from", "countedTurn"] {
        if draw.once_in(3) {
            map.insert(key.to_owned(), json!(draw.one(NUMBERS)));
        }
    }
    if draw.once_in(3) {
        let code = draw.one(&["UNSAFE_NOTE_PATH", "OVERWRITE_REQUIRES_READ", "ODD"]);
        map.insert("findings".to_owned(), json!([{ "code": code, "level": draw.one(&["warn", "deny", "odd"]) }]));
        map.insert("observations".to_owned(), json!([draw.one(&["RECALL_EMPTY", "OVERWRITE_REQUIRES_READ", "ODD"])]));
    }
    if kind == "load" {
        map.insert("config".to_owned(), draw.json(2, &["mode", "profile", "strict", "serverNames", "basic-memory"]));
    }
    if draw.once_in(16) {
        map.insert(draw.text(), draw.json(2, &[]));
    }
    let text = Value::Object(map).to_string();
    match draw.below(8) {
        0 => json!({ "bmpp": 1, "records": [text, draw.text()] }).to_string(),
        1 => format!("{{\"unit\":{{\"name\":\"bmpp_audit\"}},\"value\":{text}}}"),
        _ => text,
    }
}

fn filter(draw: &mut Draw<'_>) -> Filter {
    let mut filter = Filter::default();
    if draw.once_in(2) {
        filter.sessions.push(draw.one(&["s", ""]).to_owned());
    }
    if draw.once_in(2) {
        filter.codes.push(draw.one(&["CLASSIFICATION_REQUIRED", "RECALL_EMPTY"]).to_owned());
    }
    filter.since = draw.once_in(4).then_some(2);
    filter
}

/// What a verification and a report make of the texts, as JSON.
fn through(stored: &[String], filter: &Filter) -> (String, String, u64) {
    let (mut replay, mut adding) = (Replay::default(), Adding::new(limits()));
    let mut selection = Selection::new(filter);
    let (mut read, mut taken) = (0, 0);
    for text in stored {
        let _ = texts(text, &mut |text| {
            let Ok(record) = serde_json::from_str::<Record<'_>>(text) else { return };
            read += 1;
            replay.record(&record);
            adding.record(&record);
            taken += u64::from(selection.takes(&record));
            let _ = record.code.as_deref().and_then(explain::explain);
        });
    }
    let verification = replay.finish(Tally::default());
    let replayed: u64 = verification.followed + verification.not_replayed.values().sum::<u64>();
    assert!(replayed <= read, "more was replayed than read: {verification:?}");
    // A record can be in the wrong order and against the rules as well.
    assert!(verification.contradictions <= 2 * read, "{verification:?}");
    assert!(taken <= read && verification.first.is_some() == (verification.contradictions > 0));
    let report = adding.finish(Tally::default());
    let text = |value: Result<String, serde_json::Error>| value.expect("it can be written down");
    (text(serde_json::to_string(&verification)), text(serde_json::to_string(&report)), taken)
}

fn limits() -> dsh_bmpp::audit::report::Limits {
    dsh_bmpp::audit::report::Limits { sessions: 2, calls: 3, replay: false }
}
