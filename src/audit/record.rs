//! One record of a trail: schema version 1.
//!
//! A record is one JSON object of metadata. It holds no argument, no content and no user text; what the rules need to
//! know of a write's arguments is in it as the one word `facts`. Fields that this version does not know are kept by
//! whoever stores the record and skipped here, and so is a kind that it does not know.
//!
//! A stored value is either one record (a layout with a file for each key), or a chunk, `{"bmpp":1,"records":[…]}`, whose
//! entries are the records' JSON texts: a host that rewrites one file at every put must not be given a key per record.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Deserialize;
use serde::de::{Deserializer, Error as _, Visitor};

use crate::config::POLICY_VERSION;

/// The schema version that this crate writes about and reads.
pub const SCHEMA: u32 = 1;

/// A text that borrows from its source where it can: most of a record is text, and a trail has many records.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Text<'a>(Cow<'a, str>);

impl Deref for Text<'_> {
    type Target = str;
    fn deref(&self) -> &str {
        &self.0
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Text<'a>, D::Error> {
        struct Borrowing;
        impl<'de> Visitor<'de> for Borrowing {
            type Value = Text<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
            fn visit_string<E>(self, text: String) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text)))
            }
        }
        deserializer.deserialize_str(Borrowing)
    }
}

/// What a record is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The plugin was loaded: the first record of a load.
    Load,
    /// The plugin was unloaded in an orderly way. Only calls that were under way then have records behind it.
    Unload,
    /// A turn of a session began or ended, or a judged session ended.
    Turn,
    /// A call was judged, or refused at a door behind the judging.
    Decision,
    /// A call's result arrived.
    Settlement,
    /// Stands in place of records that could not be kept.
    Lost,
    /// A kind of a later version.
    Other,
}

impl<'de> Deserialize<'de> for Kind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Kind, D::Error> {
        Ok(match &*Text::deserialize(deserializer)? {
            "load" => Kind::Load,
            "unload" => Kind::Unload,
            "turn" => Kind::Turn,
            "decision" => Kind::Decision,
            "settlement" => Kind::Settlement,
            "lost" => Kind::Lost,
            _ => Kind::Other,
        })
    }
}

/// One finding of an integrity guard: a recorded input of the verdict, since what it was found in is not kept.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Finding<'a> {
    /// The guard's code.
    #[serde(borrow)]
    pub code: Text<'a>,
    /// The level that was in force: `warn` or `deny`.
    #[serde(borrow)]
    pub level: Text<'a>,
}

/// One record. Which optional fields it has depends on its kind (docs/AUDIT.md has the table); a field that is absent
/// and one that is null are the same.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "they are what the record says, not a state of ours")]
pub struct Record<'a> {
    /// Schema version.
    pub bmpp: u32,
    /// What it is about.
    pub kind: Kind,
    /// Identifies the load of the plugin that made it: random, never used twice.
    #[serde(borrow)]
    pub load: Text<'a>,
    /// Position among the records of its load, from 1 and without a gap.
    pub seq: u64,
    /// Position among the records of its session across restarts: ascends with time, and within a load always.
    pub order: u64,
    /// When it was made: milliseconds since 1970, by the machine's clock.
    pub time: u64,

    /// The host's session id; none for a call without an agent.
    #[serde(borrow, default)]
    pub session: Option<Text<'a>>,
    /// Tells lives of a session in one load apart: a resumed id has another. None while nothing of it was judged.
    #[serde(default)]
    pub life: Option<u32>,
    /// The host's turn number; none where it gave none.
    #[serde(default)]
    pub turn: Option<u32>,
    /// The turn number that was counted instead.
    #[serde(default)]
    pub counted_turn: Option<u32>,
    /// The step of the call.
    #[serde(default)]
    pub step: Option<u32>,
    /// The call's number in its load; none where the call was never judged.
    #[serde(default)]
    pub number: Option<u32>,
    /// The host's id of the call; not unique.
    #[serde(borrow, default)]
    pub call: Option<Text<'a>>,
    /// Public tool name.
    #[serde(borrow, default)]
    pub tool: Option<Text<'a>>,
    /// `control`, `read`, `search`, `write`, `destructive`, `unknown`; `out-of-scope` for a call that is not governed.
    #[serde(borrow, default)]
    pub class: Option<Text<'a>>,

    /// `agent`, `no-agent` or `unknown`.
    #[serde(borrow, default)]
    pub place: Option<Text<'a>>,
    /// Of a write's arguments: `malformed`, `creates` or `changes`.
    #[serde(borrow, default)]
    pub facts: Option<Text<'a>>,
    /// Whether the agent did not see the control tool.
    #[serde(default)]
    pub control_hidden: bool,
    /// Guard findings.
    #[serde(borrow, default)]
    pub findings: Vec<Finding<'a>>,
    /// What took the decision: `judged`, `refused`, `unapproved`, `otherwise`, `failed`, `out-of-scope`.
    #[serde(borrow, default)]
    pub by: Option<Text<'a>>,
    /// The stage at which it was taken.
    #[serde(borrow, default)]
    pub at: Option<Text<'a>>,
    /// `allow` or `deny`.
    #[serde(borrow, default)]
    pub decision: Option<Text<'a>>,
    /// The reason.
    #[serde(borrow, default)]
    pub code: Option<Text<'a>>,
    /// What was noticed besides.
    #[serde(borrow, default)]
    pub observations: Vec<Text<'a>>,
    /// The turn's classification at the judging.
    #[serde(borrow, default)]
    pub classification: Option<Text<'a>>,
    /// What the turn's lookups were worth to the call.
    #[serde(borrow, default)]
    pub lookup: Option<Text<'a>>,
    /// What the mode made of it: `allowed`, `denied`, `asked`, `overridden`.
    #[serde(borrow, default)]
    pub enforcement: Option<Text<'a>>,
    /// Whether a human could be asked.
    #[serde(default)]
    pub can_ask: bool,

    /// Whether the tool's body was reached.
    #[serde(default)]
    pub reached: bool,
    /// The result's error flag.
    #[serde(default)]
    pub is_error: bool,
    /// What became of the call: `not-reached`, `failed`, `succeeded`; none where its turn had ended.
    #[serde(borrow, default)]
    pub outcome: Option<Text<'a>>,
    /// The same in one word for people: `ran`, `failed`, `refused`, `not-known`.
    #[serde(borrow, default)]
    pub happened: Option<Text<'a>>,
    /// Whether a human approved the call.
    #[serde(default)]
    pub approved: bool,
    /// What the control tool's body received: `simple` or `complex`.
    #[serde(borrow, default)]
    pub declared: Option<Text<'a>>,
    /// The session's step when the result arrived.
    #[serde(default)]
    pub arrived: Option<u32>,

    /// Of a turn record: `start`, `seen` (under way when first seen), `end`, `closed` (the session ended).
    #[serde(borrow, default)]
    pub event: Option<Text<'a>>,

    /// The mode that applied.
    #[serde(borrow, default)]
    pub mode: Option<Text<'a>>,
    /// The profile.
    #[serde(borrow, default)]
    pub profile: Option<Text<'a>>,
    /// The host's version, where it could be found out.
    #[serde(borrow, default)]
    pub host: Option<Text<'a>>,
    /// The plugin's version.
    #[serde(borrow, default)]
    pub plugin: Option<Text<'a>>,
    /// The policy's version.
    #[serde(borrow, default)]
    pub policy: Option<Text<'a>>,
    /// Of a load record: the configuration as it was given, from which the rules' options follow.
    #[serde(default)]
    pub config: Option<serde_json::Value>,

    /// Of a record of kind `lost`: the first position it stands for; the last is `seq`.
    #[serde(default)]
    pub from: Option<u64>,
    /// Of a record of kind `lost`: why (`back-pressure`, `storage`).
    #[serde(borrow, default)]
    pub why: Option<Text<'a>>,
}

impl Record<'_> {
    /// The turn number, the host's or the counted one.
    #[must_use]
    pub fn any_turn(&self) -> Option<u32> {
        self.turn.or(self.counted_turn)
    }

    /// Whether the policy denied the call.
    #[must_use]
    pub fn denies(&self) -> bool {
        self.decision.as_deref() == Some("deny")
    }

    /// Whether the plugin that made the record has this version, and so this schema, these kinds and these keys.
    #[must_use]
    pub fn is_of_this_plugin(&self) -> bool {
        self.plugin.as_deref() == Some(env!("CARGO_PKG_VERSION")) && self.policy.as_deref() == Some(POLICY_VERSION)
    }

    /// Whether it is of this version and of no kind that this version has: damage, and no record of a later version.
    #[must_use]
    pub fn is_of_no_kind(&self) -> bool {
        self.kind == Kind::Other && self.bmpp <= SCHEMA && self.is_of_this_plugin()
    }

    /// The tool's name without its server's prefix.
    #[must_use]
    pub fn raw_tool(&self) -> &str {
        let name = self.tool.as_deref().unwrap_or_default();
        name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, raw)| raw)
    }
}

/// Levels at which a record is looked for in a stored document: hosts put a header of their own around a value.
const ENVELOPE_DEPTH: usize = 2;

/// Calls the function with each record text of a stored value: the value itself, the entries of a chunk, or the same
/// inside a host's envelope.
///
/// # Errors
/// What is wrong with a value that holds no record.
pub fn texts(value: &str, visit: &mut dyn FnMut(&str)) -> Result<(), serde_json::Error> {
    texts_at(value, ENVELOPE_DEPTH, visit)
}

fn texts_at(value: &str, depth: usize, visit: &mut dyn FnMut(&str)) -> Result<(), serde_json::Error> {
    #[derive(Deserialize)]
    struct Stored<'a> {
        bmpp: Option<u32>,
        #[serde(borrow)]
        records: Option<Vec<Text<'a>>>,
    }
    let stored: Stored<'_> = serde_json::from_str(value)?;
    match (stored.bmpp, stored.records) {
        (Some(_), None) => {
            visit(value);
            return Ok(());
        }
        (Some(SCHEMA), Some(records)) => {
            for text in &records {
                visit(text);
            }
            return Ok(());
        }
        (Some(_), Some(_)) => return Err(serde_json::Error::custom("a chunk of a later schema version")),
        (None, _) => {}
    }
    if depth > 0 {
        let fields: std::collections::BTreeMap<Text<'_>, &serde_json::value::RawValue> = serde_json::from_str(value)?;
        for inner in fields.values().map(|raw| raw.get()).filter(|raw| raw.starts_with('{')) {
            if texts_at(inner, depth - 1, visit).is_ok() {
                return Ok(());
            }
        }
    }
    Err(serde_json::Error::custom("no record in it"))
}

impl PartialOrd for Text<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text<'_> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(value: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        texts(value, &mut |text| found.push(text.to_owned())).map_err(|e| e.to_string())?;
        Ok(found)
    }

    #[test]
    fn a_record_is_found_bare_in_a_chunk_and_in_an_envelope() {
        let record =
            r#"{"bmpp":1,"kind":"turn","load":"l","seq":1,"order":5,"time":7,"event":"start","later":{"a":[1]}}"#;
        assert_eq!(all(record), Ok(vec![record.to_owned()]));
        let chunk = serde_json::json!({"bmpp": 1, "records": [record, record]}).to_string();
        assert_eq!(all(&chunk).map(|found| found.len()), Ok(2));
        for envelope in [
            format!(r#"{{"unit":{{"name":"bmpp_audit","version":1}},"value":{record}}}"#),
            format!(r#"{{"header":1,"record":{{"key":"k","value":{chunk}}}}}"#),
        ] {
            assert!(all(&envelope).is_ok_and(|found| found.iter().all(|text| text == record)), "{envelope}");
        }
        for none in ["{}", "[]", "5", r#"{"a":{"b":1}}"#, "{\"bmpp\":1,", r#"{"bmpp":2,"records":[]}"#] {
            assert!(all(none).is_err(), "{none}");
        }
        let parsed: Record<'_> = serde_json::from_str(record).expect("a record");
        assert_eq!((parsed.kind, parsed.seq, parsed.event.as_deref()), (Kind::Turn, 1, Some("start")));
    }

    #[test]
    fn a_kind_of_a_later_version_is_kept_apart_and_not_refused() {
        let later = r#"{"bmpp":2,"kind":"dream","load":"l","seq":1,"order":5,"time":7}"#;
        assert_eq!(serde_json::from_str::<Record<'_>>(later).map(|r| (r.bmpp, r.kind)).ok(), Some((2, Kind::Other)));
    }

    #[test]
    fn the_raw_name_is_what_stands_behind_the_server() {
        let with = |tool: &str| {
            let text = serde_json::json!({"bmpp": 1, "kind": "turn", "load": "l", "seq": 1, "order": 5, "time": 7, "tool": tool});
            let text = text.to_string();
            serde_json::from_str::<Record<'_>>(&text).map(|r| r.raw_tool().to_owned()).expect("a record")
        };
        assert_eq!(with("mcp__basic-memory__write_note"), "write_note");
        assert_eq!(with("bmpp__classify"), "bmpp__classify");
    }
}
