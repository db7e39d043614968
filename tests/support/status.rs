//! The status part of a result's value, as the addon takes it out of a JS value: spec section 7, "where the value is".

use dsh_bmpp::evidence::status::of_text;
use dsh_bmpp::evidence::{Results, Status};
use serde_json::Value;

/// Of the value of a result, `{content, structuredContent?}`.
pub fn of_value(value: &Value) -> Status {
    match value.get("structuredContent") {
        // Unwrapped where `result` is the only key.
        Some(Value::Object(fields)) if fields.len() == 1 && fields.contains_key("result") => answer(&fields["result"]),
        Some(structured) => answer(structured),
        None => match value.get("content") {
            Some(blocks @ Value::Array(_)) => answer(blocks),
            _ => Status::None,
        },
    }
}

fn answer(value: &Value) -> Status {
    match value {
        Value::String(text) => of_text(text),
        Value::Array(blocks) => match blocks.first().and_then(|block| block.get("text")) {
            Some(Value::String(text)) => of_text(text),
            _ => Status::None,
        },
        Value::Object(fields) => Status::Fields {
            error: fields.get("error").is_some_and(|error| !error.is_null()),
            results: match fields.get("results") {
                Some(Value::Array(list)) if list.is_empty() => Results::Empty,
                Some(Value::Array(_)) => Results::Some,
                _ => Results::Missing,
            },
        },
        _ => Status::None,
    }
}
