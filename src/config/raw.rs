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
}

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
