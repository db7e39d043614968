//! Reads the vectors and plays them against the core. What a file may hold is told in `vectors/README.md`.

pub mod scenario;
pub mod stage;
pub mod tables;

use std::collections::BTreeMap;
use std::path::Path;

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::config::{Config, Raw};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{Classification, DigestKey};
use dsh_bmpp::reason::{Code, Observations};
use dsh_bmpp::tool::{Known, Tool};
use dsh_bmpp::verdict::{Mode, Verdict, denial_code, enforce};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One file of vectors.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File<V> {
    /// What the file is about; for readers.
    #[serde(rename = "about")]
    _about: String,
    /// Result values that events name.
    #[serde(default)]
    pub values: BTreeMap<String, Value>,
    pub vectors: Vec<V>,
}

pub fn read<V: DeserializeOwned>(file: &str) -> File<V> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// Collects what is not as a vector says, so that one run shows all of it.
pub struct Report {
    file: &'static str,
    place: String,
    wrong: Vec<String>,
    checks: usize,
}

impl Report {
    pub fn new(file: &'static str) -> Report {
        Report { file, place: String::new(), wrong: Vec::new(), checks: 0 }
    }

    /// What the next comparisons are about.
    pub fn at(&mut self, place: impl Into<String>) {
        self.place = place.into();
    }

    #[allow(clippy::needless_pass_by_value, reason = "most callers have the values at hand, not references")]
    pub fn same<T: PartialEq + std::fmt::Debug>(&mut self, what: &str, expected: T, got: T) {
        self.checks += 1;
        if expected != got {
            let (file, place) = (self.file, &self.place);
            self.wrong
                .push(format!("{file} > {place}\n    {what}: expected {expected:?}\n    {what}:      got {got:?}"));
        }
    }

    /// Fails with everything that was wrong, and where nothing was compared at all.
    pub fn finish(self) {
        assert!(self.wrong.is_empty(), "{} wrong:\n{}", self.wrong.len(), self.wrong.join("\n"));
        assert!(self.checks > 0, "{}: no vector", self.file);
    }
}

/// The key of the digests. Which one it is makes no difference to any vector.
pub const KEY: DigestKey = DigestKey([7; 16]);

/// The arguments of a call, as the addon reads them; `None`: none at all.
pub fn arguments(tool: Tool, args: Option<&Value>) -> Arguments {
    args.map_or(Arguments::NotAnObject, |args| Arguments::of(tool.known.map(Known::raw), args))
}

/// The status part of a result's value, as the addon takes it out of a JS value.
pub fn answer(tool: Tool, value: Option<&Value>) -> Answer {
    value.map_or(Answer::Absent, |value| Answer::of_result(tool.known.map(Known::raw), value))
}

/// The configuration of a vector, which must be a good one.
pub fn config(raw: &Value) -> Config {
    Config::read(&Raw::from(raw)).unwrap_or_else(|problems| panic!("a configuration with problems: {problems:?}"))
}

pub fn code(name: &str) -> Code {
    *Code::ALL.iter().find(|code| code.name() == name).unwrap_or_else(|| panic!("{name} is no code"))
}

pub fn classification(verdict: Verdict) -> &'static str {
    let Verdict { classification, .. } = verdict;
    Classification::name(classification)
}

pub fn names(observations: Observations) -> Vec<String> {
    let mut names: Vec<String> = observations.iter().map(|o| o.name().to_owned()).collect();
    names.sort();
    names
}

pub fn sorted(mut list: Vec<String>) -> Vec<String> {
    list.sort();
    list
}

/// What a verdict becomes in every mode and profile: `strictAsk` where a human can be asked, `strict` where not.
#[derive(Clone, Deserialize, PartialEq, Eq, Debug)]
#[serde(deny_unknown_fields)]
pub struct Becomes {
    off: String,
    audit: String,
    compat: String,
    strict: String,
    #[serde(rename = "strictAsk")]
    strict_ask: String,
}

/// Compares what the mode makes of a verdict in all twelve combinations of mode, profile and whether one can ask.
pub fn check_becomes(report: &mut Report, verdict: Verdict, becomes: &Becomes) {
    for strict in [false, true] {
        for can_ask in [false, true] {
            for (mode, name) in [(Mode::Off, "off"), (Mode::Audit, "audit"), (Mode::Enforce, "enforce")] {
                let expected = match (mode, strict, can_ask) {
                    (Mode::Off, ..) => &becomes.off,
                    (Mode::Audit, ..) => &becomes.audit,
                    (Mode::Enforce, false, _) => &becomes.compat,
                    (Mode::Enforce, true, false) => &becomes.strict,
                    (Mode::Enforce, true, true) => &becomes.strict_ask,
                };
                let what =
                    format!("becomes ({name}, {}, can ask: {can_ask})", if strict { "strict" } else { "compat" });
                report.same(&what, expected.as_str(), enforce(verdict, mode, strict, can_ask).name());
            }
        }
    }
}

/// The code that a denied call's text begins with, under a profile.
pub fn text_code(verdict: Verdict, strict: bool) -> &'static str {
    denial_code(verdict, strict).name()
}
