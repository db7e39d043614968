//! Scenarios: a configuration, and events in the order in which they happen, each with what it must bring.

use dsh_bmpp::policy::Task;
use serde::Deserialize;
use serde_json::{Value, json};

use super::stage::Stage;
use super::{Becomes, File, Report};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    #[serde(default, rename = "why")]
    _why: Option<String>,
    #[serde(default = "empty")]
    config: Value,
    events: Vec<Event>,
}

fn empty() -> Value {
    json!({})
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, tag = "do", rename_all = "kebab-case")]
#[allow(clippy::large_enum_variant, reason = "a few hundred of them")]
pub enum Event {
    Open {
        session: String,
    },
    Close {
        #[serde(default = "session")]
        session: String,
    },
    EndTurn {
        #[serde(default = "session")]
        session: String,
    },
    /// A declaration that is judged, runs and succeeds.
    Classify {
        task: Declared,
        #[serde(flatten)]
        place: Place,
        #[serde(default)]
        observations: Vec<String>,
    },
    Judge {
        call: String,
        tool: String,
        #[serde(default, deserialize_with = "given")]
        args: Option<Value>,
        #[serde(flatten)]
        place: Place,
        #[serde(default, rename = "controlHidden")]
        control_hidden: bool,
        expect: ExpectedVerdict,
    },
    /// A call that is judged and, where there is an answer, has its result at once, in the same step.
    Call {
        call: Option<String>,
        tool: String,
        #[serde(default = "server")]
        server: String,
        #[serde(default = "empty")]
        args: Value,
        #[serde(flatten)]
        place: Place,
        code: String,
        #[serde(default)]
        observations: Vec<String>,
        argument: Option<String>,
        #[serde(rename = "secretClass")]
        secret_class: Option<String>,
        /// A value, or the name of one.
        answer: Option<Value>,
        /// The text of an error.
        error: Option<String>,
        #[serde(default = "yes")]
        reached: bool,
        outcome: Option<String>,
        #[serde(default)]
        noted: Vec<String>,
    },
    Settle {
        call: String,
        #[serde(default = "session")]
        session: String,
        step: u32,
        #[serde(default = "yes")]
        reached: bool,
        #[serde(default, rename = "isError")]
        is_error: bool,
        declared: Option<Declared>,
        value: Option<Value>,
        expect: ExpectedSettlement,
    },
    Holdings {
        expect: ExpectedHoldings,
    },
}

/// A key that is given, `null` too.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

fn session() -> String {
    "s".to_owned()
}

fn server() -> String {
    "basic-memory".to_owned()
}

fn yes() -> bool {
    true
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum Declared {
    Simple,
    Complex,
}

impl From<Declared> for Task {
    fn from(declared: Declared) -> Task {
        match declared {
            Declared::Simple => Task::Simple,
            Declared::Complex => Task::Complex,
        }
    }
}

#[derive(Deserialize)]
#[allow(clippy::struct_field_names, reason = "the names are those of the file")]
pub struct Place {
    #[serde(default = "session")]
    pub session: String,
    #[serde(default)]
    pub place: Where,
    #[serde(default = "first")]
    pub turn: u32,
    pub step: u32,
}

fn first() -> u32 {
    1
}

#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
pub enum Where {
    #[default]
    Host,
    Counted,
    Unknown,
    NoAgent,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedVerdict {
    pub decision: String,
    pub code: String,
    pub classification: String,
    pub lookup: String,
    #[serde(default)]
    pub destructive: bool,
    #[serde(default)]
    pub observations: Vec<String>,
    pub argument: Option<String>,
    #[serde(rename = "secretClass")]
    pub secret_class: Option<String>,
    pub becomes: Option<Becomes>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedSettlement {
    pub outcome: Option<String>,
    #[serde(default)]
    pub observations: Vec<String>,
}

#[derive(Deserialize, PartialEq, Debug)]
#[serde(deny_unknown_fields)]
pub struct ExpectedHoldings {
    pub sessions: usize,
    pub turns: usize,
    pub calls: usize,
}

/// Plays every scenario of a file.
pub fn play_all(name: &'static str) {
    let file: File<Scenario> = super::read(name);
    let mut report = Report::new(name);
    let mut seen = std::collections::HashSet::new();
    for scenario in &file.vectors {
        assert!(seen.insert(&scenario.name), "{name}: two vectors are called \"{}\"", scenario.name);
        let mut stage = Stage::new(&scenario.config, &file.values);
        for (index, event) in scenario.events.iter().enumerate() {
            report.at(format!("\"{}\" > event {}{}", scenario.name, index + 1, label(event)));
            stage.play(event, &mut report);
        }
    }
    report.finish();
}

fn label(event: &Event) -> String {
    match event {
        Event::Judge { call, tool, .. } => format!(" (judge {call}, {tool})"),
        Event::Settle { call, .. } => format!(" (settle {call})"),
        Event::Call { tool, args, .. } => format!(" (call {tool} {args})"),
        Event::Classify { .. } => " (classify)".to_owned(),
        _ => String::new(),
    }
}
