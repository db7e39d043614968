//! What a result proves.
//!
//! The server reports a failed search, a missing note and many refusals as ordinary text with the error flag false, so
//! the flag alone proves little. What it does write itself is the *status part*: the heading at the very start of a
//! text, or the fields `error` and `results` of a structured value. That part, and nothing else of a result, is compared
//! with the fixed lists below. Headings are the server's of 0.23.2 and 0.24.1.

use crate::config::LookupEvidence;
use crate::reason::{Observation, Observations};

/// Characters of a text that can matter: longer than every heading on the lists.
pub const HEADING_MAX: usize = 64;

/// The status part of a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// There is none: no text and no structured value.
    None,
    /// The beginning of a text answer, [`HEADING_MAX`] characters at most.
    Heading(String),
    /// A structured answer.
    Fields {
        /// It has an `error` that is not null.
        error: bool,
        /// What its `results` is.
        results: Results,
    },
}

/// The `results` field of a structured answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Results {
    /// There is none, or it is no list.
    Missing,
    /// A list without an item.
    Empty,
    /// A list with at least one.
    Some,
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
}

impl Outcome {
    /// Every outcome, in the order of the numbers.
    pub const ALL: [Outcome; 3] = [Outcome::NotReached, Outcome::Failed, Outcome::Succeeded];

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Outcome::NotReached => "not-reached",
            Outcome::Failed => "failed",
            Outcome::Succeeded => "succeeded",
        }
    }
}

/// What a heading says of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// It found something.
    Found,
    /// It ran, and there is nothing.
    Nothing,
    /// It failed, whatever the error flag says.
    Failure,
}

/// How a lookup's text answer begins, and what that means. The first entry that fits counts.
pub const LOOKUP_HEADINGS: &[(&str, Meaning)] = &[
    // search_notes and search, text
    ("# Search Results", Meaning::Found),
    ("No results found for ", Meaning::Nothing),
    // build_context, text
    ("# Context: ", Meaning::Found),
    // Failures, each with the error flag false on some release
    ("# Search Failed", Meaning::Failure),
    ("# Search Complete - No Results Found", Meaning::Failure),
    ("# No Search Criteria", Meaning::Failure),
    ("# Project Index Required", Meaning::Failure),
    ("# Note Not Found", Meaning::Failure),
    ("# Error", Meaning::Failure),
    ("Error: ", Meaning::Failure),
    ("Error calling tool", Meaning::Failure),
];

/// What a lookup's result proves, and what is worth recording of it.
#[must_use]
pub fn lookup(is_error: bool, status: &Status, evidence: LookupEvidence) -> (Outcome, Observations) {
    let by_flag = if is_error { Outcome::Failed } else { Outcome::Succeeded };
    if is_error || evidence == LookupEvidence::Flag {
        return (by_flag, Observations::NONE);
    }
    let meaning = match status {
        Status::None | Status::Fields { error: false, results: Results::Missing } => None,
        Status::Fields { error: true, .. } => Some(Meaning::Failure),
        Status::Fields { results: Results::Some, .. } => Some(Meaning::Found),
        Status::Fields { results: Results::Empty, .. } => Some(Meaning::Nothing),
        Status::Heading(text) => {
            // One answer of the server begins with a line break.
            let text = text.trim_start();
            LOOKUP_HEADINGS.iter().find(|(heading, _)| text.starts_with(heading)).map(|(_, meaning)| *meaning)
        }
    };
    match meaning {
        Some(Meaning::Found) => (Outcome::Succeeded, Observations::NONE),
        Some(Meaning::Nothing) => (Outcome::Succeeded, Observations::NONE.with(Observation::RecallEmpty)),
        Some(Meaning::Failure) => (Outcome::Failed, Observations::NONE),
        None => (by_flag, Observations::NONE.with(Observation::LookupHeadingUnknown)),
    }
}

/// The status part of a result's value, as the host's MCP bridge delivers it: `{content, structuredContent?}`.
pub mod status {
    use super::{HEADING_MAX, Results, Status};
    use serde::Deserialize;
    use serde::de::IgnoredAny;

    /// How a text begins that may be JSON. Any other is looked at no further than its heading.
    pub const JSON_BEGINS: [char; 2] = ['{', '['];

    /// Of a text: a text that is one JSON object counts as structured, and so does one that is a list of one text block
    /// holding such a text, which is how `search` answers.
    #[must_use]
    pub fn of_text(text: &str) -> Status {
        object(text).or_else(|| object(&only_block(text)?.text)).unwrap_or_else(|| {
            let heading = text.chars().take(HEADING_MAX).collect();
            Status::Heading(heading)
        })
    }

    /// The fields are read from an object only: serde would take them from a list too, by position.
    fn object(text: &str) -> Option<Status> {
        let fields = text.trim_start().starts_with('{').then(|| serde_json::from_str::<Fields>(text).ok())?;
        fields.map(|fields| fields.status())
    }

    fn only_block(text: &str) -> Option<Block> {
        let blocks = text.trim_start().starts_with('[').then(|| serde_json::from_str::<[Block; 1]>(text).ok())?;
        blocks.map(|[block]| block)
    }

    /// One text block of a list.
    #[derive(Deserialize)]
    struct Block {
        text: String,
    }

    /// The two fields of a structured answer that are looked at; everything else is skipped unread.
    #[derive(Deserialize)]
    struct Fields {
        #[serde(default)]
        error: Option<IgnoredAny>,
        #[serde(default)]
        results: Option<List>,
    }

    impl Fields {
        fn status(&self) -> Status {
            let results = match self.results {
                None | Some(List::Other) => Results::Missing,
                Some(List::Empty) => Results::Empty,
                Some(List::Some) => Results::Some,
            };
            Status::Fields { error: self.error.is_some(), results }
        }
    }

    /// How long a list is, without its items.
    enum List {
        Other,
        Empty,
        Some,
    }

    impl<'de> Deserialize<'de> for List {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<List, D::Error> {
            deserializer.deserialize_any(ListVisitor)
        }
    }

    struct ListVisitor;

    impl<'de> serde::de::Visitor<'de> for ListVisitor {
        type Value = List;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("any value")
        }

        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<List, A::Error> {
            let mut list = List::Empty;
            while seq.next_element::<IgnoredAny>()?.is_some() {
                list = List::Some;
            }
            Ok(list)
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<List, A::Error> {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            Ok(List::Other)
        }

        fn visit_bool<E>(self, _: bool) -> Result<List, E> {
            Ok(List::Other)
        }

        fn visit_i64<E>(self, _: i64) -> Result<List, E> {
            Ok(List::Other)
        }

        fn visit_u64<E>(self, _: u64) -> Result<List, E> {
            Ok(List::Other)
        }

        fn visit_f64<E>(self, _: f64) -> Result<List, E> {
            Ok(List::Other)
        }

        fn visit_str<E>(self, _: &str) -> Result<List, E> {
            Ok(List::Other)
        }

        fn visit_unit<E>(self) -> Result<List, E> {
            Ok(List::Other)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> (Outcome, Observations) {
        lookup(false, &status::of_text(text), LookupEvidence::Heading)
    }

    const EMPTY: Observations = Observations::NONE.with(Observation::RecallEmpty);
    const UNKNOWN: Observations = Observations::NONE.with(Observation::LookupHeadingUnknown);

    #[test]
    fn a_heading_beats_the_flag() {
        assert_eq!(text("# Search Results: x\n\n### T"), (Outcome::Succeeded, Observations::NONE));
        assert_eq!(text("No results found for 'x' in project 'main'."), (Outcome::Succeeded, EMPTY));
        for failure in [
            "# Search Failed\n\n...",
            "# Search Failed - Service Temporarily Unavailable",
            "# Search Complete - No Results Found",
            "# No Search Criteria",
            "# Project Index Required",
            "\n# Note Not Found in main: \"x\"",
            "# Error\n\nInvalid path",
            "Error: unexpected",
        ] {
            assert_eq!(text(failure).0, Outcome::Failed, "{failure}");
            assert_eq!(
                lookup(false, &status::of_text(failure), LookupEvidence::Flag).0,
                Outcome::Succeeded,
                "{failure}"
            );
        }
        assert_eq!(text("something else"), (Outcome::Succeeded, UNKNOWN));
        assert_eq!(lookup(false, &Status::None, LookupEvidence::Heading), (Outcome::Succeeded, UNKNOWN));
    }

    #[test]
    fn the_error_flag_is_always_a_failure() {
        for evidence in [LookupEvidence::Heading, LookupEvidence::Flag] {
            assert_eq!(lookup(true, &status::of_text("# Search Results: x"), evidence).0, Outcome::Failed);
        }
    }

    #[test]
    fn a_structured_text_is_read_by_its_fields() {
        assert_eq!(text(r#"{"results":[{"error":"in a hit"}],"total":1}"#), (Outcome::Succeeded, Observations::NONE));
        assert_eq!(text(r#"{"results":[],"total":0}"#), (Outcome::Succeeded, EMPTY));
        assert_eq!(text(r#"{"results":[],"error":"Unsupported MCP client"}"#).0, Outcome::Failed);
        assert_eq!(text(r#"{"results":[1],"error":null}"#).0, Outcome::Succeeded);
        for odd in [
            r#"{"a":1}"#,
            r#"{"results":5}"#,
            r#"{"results":{"a":[1]}}"#,
            r#"{"results":"x"}"#,
            r#"{"results":true}"#,
            r#"{"results":null}"#,
        ] {
            assert_eq!(text(odd), (Outcome::Succeeded, UNKNOWN), "{odd}");
        }
        // Not JSON after all: a text like any other.
        assert_eq!(text("{ not json"), (Outcome::Succeeded, UNKNOWN));
    }

    #[test]
    fn headings_fit_into_what_is_kept_of_a_text() {
        assert!(LOOKUP_HEADINGS.iter().all(|(heading, _)| heading.chars().count() < HEADING_MAX));
    }
}
