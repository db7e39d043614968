//! The status part of a result: any value gives an answer of bounded size, in text and in JSON the same, and the evidence
//! table has one opinion of it.

use dsh_bmpp::evidence::answer::{Answer, AnswerField, FIELD_MAX, FIELDS, text_limit};
use dsh_bmpp::evidence::table::{Mark, TABLE};
use dsh_bmpp::evidence::{Outcome, judge, proof_of};
use serde_json::{Value, json};

use super::draw::Draw;

/// Words of the table that a value may hold.
fn words(entry: usize) -> Vec<&'static str> {
    let marks = TABLE[entry].rules.iter().flat_map(|rule| rule.marks);
    let words = marks.flat_map(|mark| match mark {
        Mark::Starts(text) | Mark::Heads(text) => vec![*text],
        Mark::Word(name, text) | Mark::Opens(name, text) => vec![*name, *text],
        Mark::Has(name) | Mark::Lacks(name) | Mark::Items(name) | Mark::NoItems(name) | Mark::Flag(name, _) => {
            vec![*name]
        }
        _ => Vec::new(),
    });
    words.chain(["file_path", "permalink", "title", "structuredContent", "content", "result", "text", "type"]).collect()
}

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let entry = draw.below(TABLE.len());
    let tool = TABLE[entry].tool;
    let is_error = draw.once_in(4);
    let words = words(entry);
    let value = match draw.below(4) {
        0 => draw.json(4, &words),
        1 => json!({ "structuredContent": draw.json(3, &words), "content": draw.json(2, &words) }),
        2 => json!({ "content": [{ "type": "text", "text": text(&mut draw, &words) }] }),
        _ => json!({ "structuredContent": { "result": draw.json(3, &words) } }),
    };
    check(tool, is_error, &value);
    let rest = draw.rest();
    let text = String::from_utf8_lossy(rest);
    check(tool, is_error, &json!(text));
    if let Ok(value) = serde_json::from_slice::<Value>(rest) {
        check(tool, is_error, &value);
        // The same object as text and as it is.
        if value.is_object() {
            let structured = Answer::of_result(Some(tool), &json!({ "structuredContent": { "result": value } }));
            let written =
                Answer::of_result(Some(tool), &json!({ "content": [{ "type": "text", "text": value.to_string() }] }));
            assert_eq!(structured, written, "{value}");
        }
    }
    let argument = |value: &Value| dsh_bmpp::argument::given::Json::from_serde(value);
    let given = argument(&draw_args(bytes));
    let _ = proof_of(tool, |_| Some(given.argument()));
}

fn draw_args(bytes: &[u8]) -> Value {
    Draw::new(bytes).json(2, &["json", "identifier", "1"])
}

fn text(draw: &mut Draw<'_>, words: &[&str]) -> String {
    let mut text = String::new();
    for _ in 0..draw.below(5) {
        match draw.below(4) {
            0 => text.push('\n'),
            1 => text.push_str(&draw.text()),
            2 => text.push_str("project: main\nfile_path: a.md\npermalink: main/a\nchecksum: 0123abcd\n"),
            _ => text.push_str(draw.one(words)),
        }
    }
    if draw.once_in(8) { draw.json(2, words).to_string() } else { text }
}

fn check(tool: &str, is_error: bool, value: &Value) {
    let answer = Answer::of_result(Some(tool), value);
    assert_eq!(answer, Answer::of_result(Some(tool), value));
    match &answer {
        Answer::Text(text) => assert!(text.chars().count() <= text_limit(Some(tool))),
        Answer::Object(fields) => {
            for (at, (name, field)) in fields.0.iter().enumerate() {
                assert!(FIELDS.contains(name) && fields.0.iter().take(at).all(|(before, _)| before != name));
                assert!(!matches!(field, AnswerField::Text(text) if text.chars().count() > FIELD_MAX));
            }
        }
        Answer::Absent | Answer::Bool(_) | Answer::List => {}
    }
    let finding = judge(tool, is_error, answer.value());
    // The flag is never talked away.
    if is_error {
        assert!(!matches!(finding.outcome, Outcome::Done | Outcome::Empty), "{tool} {value}");
    }
    // An object with an error is no success; only a note is named that something was done to.
    if let Answer::Object(fields) = &answer
        && fields.0.iter().any(|(name, _)| *name == "error")
        && dsh_bmpp::evidence::table::entry(tool)
            .is_some_and(|entry| tool != "view_note" && tool != "man" || entry.rules.is_empty())
    {
        assert!(!matches!(finding.outcome, Outcome::Done | Outcome::Empty), "{tool} {value}");
    }
    if finding.outcome != Outcome::Done {
        assert_eq!(finding.named, dsh_bmpp::evidence::Named::default());
    }
}
