//! A value as it came from outside, before anything is known of it.

/// A raw value. What JSON cannot say (`undefined`, functions) has a form too, so that it is reported and not lost.
#[derive(Clone, Debug, PartialEq)]
pub enum Raw {
    /// Absent.
    Undefined,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// Any number, also one that is no integer or not finite.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Raw>),
    /// An object's own entries, in order.
    Object(Vec<(String, Raw)>),
    /// Something else; the word names it (`function`, `symbol`, `bigint`, `circular`, …).
    Other(&'static str),
}

impl Raw {
    /// What the value is, for a message.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Raw::Undefined => "undefined",
            Raw::Null => "null",
            Raw::Bool(_) => "a boolean",
            Raw::Number(_) => "a number",
            Raw::Text(_) => "a string",
            Raw::List(_) => "a list",
            Raw::Object(_) => "an object",
            Raw::Other(kind) => kind,
        }
    }

    /// What was found, for a message: a scalar with its value, which is the operator's own, anything else by its kind.
    #[must_use]
    pub fn found(&self) -> String {
        match self {
            Raw::Bool(value) => format!("the boolean {value}"),
            Raw::Number(value) => format!("the number {}", number(*value)),
            Raw::Text(text) => format!("the string \"{}\"", shown(text)),
            other => other.kind().to_owned(),
        }
    }
}

/// A number as a message shows it.
pub(super) fn number(value: f64) -> String {
    let text = value.to_string();
    if text.len() > DIGITS_MAX { format!("{value:e}") } else { text }
}

/// A text from outside, fit for one line of a message.
pub(super) fn shown(text: &str) -> String {
    let mut out: String = text.chars().take(SHOWN_MAX).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN_MAX).is_some() {
        out.push('…');
    }
    out
}

/// Characters of a text that a message shows.
const SHOWN_MAX: usize = 60;
/// Digits of a number that a message shows; one that needs more is shown by its power of ten.
const DIGITS_MAX: usize = 24;

impl From<&serde_json::Value> for Raw {
    fn from(value: &serde_json::Value) -> Raw {
        use serde_json::Value;
        match value {
            Value::Null => Raw::Null,
            Value::Bool(b) => Raw::Bool(*b),
            Value::Number(n) => Raw::Number(n.as_f64().unwrap_or(f64::NAN)),
            Value::String(s) => Raw::Text(s.clone()),
            Value::Array(list) => Raw::List(list.iter().map(Raw::from).collect()),
            Value::Object(map) => Raw::Object(map.iter().map(|(k, v)| (k.clone(), Raw::from(v))).collect()),
        }
    }
}
