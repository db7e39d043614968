//! Which records are wanted.

use std::collections::HashSet;

use serde::Deserialize;

use super::record::{Kind, Record};

/// What a record must be to be selected. Every list that is given must hold the record's value; an empty one asks for
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Filter {
    /// Session ids, or how they begin.
    pub sessions: Vec<String>,
    /// Turn numbers, the host's or counted.
    pub turns: Vec<u32>,
    /// Not before: milliseconds since 1970.
    pub since: Option<u64>,
    /// Before: milliseconds since 1970.
    pub until: Option<u64>,
    /// Tool names, public or raw.
    pub tools: Vec<String>,
    /// Codes, of the verdict or observed.
    pub codes: Vec<String>,
    /// `allow`, `deny`.
    pub decisions: Vec<String>,
    /// `allowed`, `denied`, `asked`, `overridden`.
    pub enforcements: Vec<String>,
}

impl Filter {
    /// Whether nothing is asked for.
    #[must_use]
    pub fn is_open(&self) -> bool {
        *self == Filter::default()
    }

    /// Whether something is asked for that only a decision has.
    #[must_use]
    pub fn of_decisions(&self) -> bool {
        !(self.codes.is_empty() && self.decisions.is_empty() && self.enforcements.is_empty())
    }

    /// Whether the record is of the sessions, turns and time that are wanted.
    #[must_use]
    pub fn places(&self, record: &Record<'_>) -> bool {
        let session = || {
            let id = record.session.as_deref();
            id.is_some_and(|id| self.sessions.iter().any(|wanted| id.starts_with(wanted.as_str())))
        };
        (self.sessions.is_empty() || session())
            && (self.turns.is_empty() || record.any_turn().is_some_and(|turn| self.turns.contains(&turn)))
            && self.since.is_none_or(|since| record.time >= since)
            && self.until.is_none_or(|until| record.time < until)
    }

    fn tool(&self, record: &Record<'_>) -> bool {
        self.tools.is_empty()
            || record
                .tool
                .as_deref()
                .is_some_and(|name| self.tools.iter().any(|wanted| wanted == name || wanted == record.raw_tool()))
    }

    fn decision(&self, record: &Record<'_>) -> bool {
        let one_of = |list: &[String], value: Option<&str>| {
            list.is_empty() || value.is_some_and(|value| list.iter().any(|wanted| wanted == value))
        };
        let codes =
            || record.code.iter().chain(&record.observations).any(|code| self.codes.iter().any(|c| **c == **code));
        (self.codes.is_empty() || codes())
            && one_of(&self.decisions, record.decision.as_deref())
            && one_of(&self.enforcements, record.enforcement.as_deref())
    }
}

/// Selects records as they go by. The settlement of a selected decision is selected with it.
#[derive(Debug)]
pub struct Selection<'f> {
    filter: &'f Filter,
    open: HashSet<(Box<str>, u32)>,
}

impl<'f> Selection<'f> {
    /// Nothing has gone by yet.
    #[must_use]
    pub fn new(filter: &'f Filter) -> Selection<'f> {
        Selection { filter, open: HashSet::new() }
    }

    /// Whether this record is selected.
    pub fn takes(&mut self, record: &Record<'_>) -> bool {
        let filter = self.filter;
        if !filter.places(record) || !filter.tool(record) {
            return false;
        }
        if !filter.of_decisions() {
            return true;
        }
        let call = || record.number.map(|number| (Box::from(&*record.load), number));
        match record.kind {
            Kind::Decision => {
                let taken = filter.decision(record);
                if taken && let Some(call) = call() {
                    self.open.insert(call);
                }
                taken
            }
            // What a result brought to light is observed on the settlement alone.
            Kind::Settlement => call().is_some_and(|call| self.open.remove(&call)) || filter.decision(record),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn record(more: &Value) -> String {
        let mut record = json!({
            "bmpp": 1, "kind": "decision", "load": "l", "seq": 1, "order": 1, "time": 1000, "session": "session-1",
            "turn": 3, "number": 7, "tool": "mcp__basic-memory__write_note", "decision": "deny",
            "code": "CLASSIFICATION_REQUIRED", "observations": ["CONTROL_HIDDEN"], "enforcement": "overridden",
        });
        if let (Some(record), Some(more)) = (record.as_object_mut(), more.as_object()) {
            record.extend(more.clone());
        }
        record.to_string()
    }

    fn taken(filter: &Value, records: &[Value]) -> Vec<bool> {
        let filter: Filter = serde_json::from_value(filter.clone()).expect("a filter");
        let mut selection = Selection::new(&filter);
        records.iter().map(|r| selection.takes(&serde_json::from_str(&record(r)).expect("a record"))).collect()
    }

    #[test]
    fn each_filter_takes_what_it_names_and_nothing_else() {
        for (filter, other) in [
            (json!({"sessions": ["session-1"]}), json!({"session": "session-2"})),
            (json!({"sessions": ["sess"]}), json!({"session": null})),
            (json!({"turns": [1, 3]}), json!({"turn": 2})),
            (json!({"since": 1000}), json!({"time": 999})),
            (json!({"until": 1001}), json!({"time": 1001})),
            (json!({"tools": ["write_note"]}), json!({"tool": "mcp__basic-memory__write_notes"})),
            (json!({"tools": ["mcp__basic-memory__write_note"]}), json!({"tool": "bmpp__classify"})),
            (json!({"codes": ["CLASSIFICATION_REQUIRED"]}), json!({"code": "ALLOW_SIMPLE"})),
            (json!({"codes": ["CONTROL_HIDDEN"]}), json!({"observations": []})),
            (json!({"decisions": ["deny"]}), json!({"decision": "allow"})),
            (json!({"enforcements": ["overridden"]}), json!({"enforcement": "denied"})),
        ] {
            assert_eq!(taken(&filter, &[json!({}), other]), [true, false], "{filter}");
        }
        assert_eq!(taken(&json!({"turns": [4]}), &[json!({"turn": null, "countedTurn": 4})]), [true]);
    }

    #[test]
    fn a_settlement_goes_with_its_decision() {
        let with = |observations: &[&str]| {
            json!({
                "kind": "settlement", "code": null, "decision": null, "enforcement": null, "observations": observations,
            })
        };
        let settlement = with(&[]);
        let mut other = with(&[]);
        other["number"] = json!(8);
        let turn = json!({"kind": "turn", "code": null, "number": null});
        let filter = json!({"codes": ["CLASSIFICATION_REQUIRED"]});
        assert_eq!(taken(&filter, &[json!({}), turn.clone(), other.clone(), settlement]), [true, false, false, true]);
        // What a result brought to light is observed on the settlement alone.
        let filter = json!({"codes": ["RECALL_EMPTY"]});
        assert_eq!(taken(&filter, &[json!({}), with(&["RECALL_EMPTY"]), other.clone()]), [false, true, false]);
        assert_eq!(taken(&json!({}), &[turn, other]), [true, true]);
    }
}
