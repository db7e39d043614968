//! The status part of a result, taken out of the result and owned.
//!
//! Whoever has the result (the binding, a recorded trail, a test) takes out what [`FIELDS`] and [`text_limit`] name, and
//! nothing else crosses over.

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::{Field, Fields, Value};

/// The fields of a structured value that a rule or an identity may look at.
pub const FIELDS: &[&str] = &[
    "error",
    "results",
    "nodes",
    "projects",
    "workspaces",
    "action",
    "moved",
    "deleted",
    "created",
    "operation",
    "type",
    "note_type",
    "title",
    "text",
    "file_path",
    "permalink",
    "fileCreated",
    "is_directory",
];

/// Characters of a heading that can matter: longer than every heading in the table.
const HEADING_MAX: usize = 80;

/// Characters of a field's text that can matter: a path can be long.
pub const FIELD_MAX: usize = 4096;

/// Characters of a text answer that are taken over, by the server's own name of the tool: of a write the lines under its
/// heading, of `view_note` the frame around the note, of any other the heading alone.
#[must_use]
pub fn text_limit(tool: Option<&str>) -> usize {
    match tool {
        Some("write_note" | "edit_note") => 16 * 1024,
        Some("view_note") => 1024,
        _ => HEADING_MAX,
    }
}

/// An owned [`Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerField {
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(String),
    /// A list with nothing in it.
    EmptyList,
    /// A list with something in it.
    List,
    /// A number or an object.
    Other,
}

/// An owned [`Value`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Nothing was there.
    Absent,
    /// The beginning of a text.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// A list.
    List,
    /// An object's fields, those that are not null.
    Object(AnswerFields),
}

/// The fields of a structured answer that are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AnswerFields(pub Vec<(&'static str, AnswerField)>);

impl Fields for AnswerFields {
    fn field(&self, name: &str) -> Field<'_> {
        match self.0.iter().find(|(field, _)| *field == name).map(|(_, value)| value) {
            None => Field::Null,
            Some(AnswerField::Bool(value)) => Field::Bool(*value),
            Some(AnswerField::Text(text)) => Field::Text(text),
            Some(AnswerField::EmptyList) => Field::EmptyList,
            Some(AnswerField::List) => Field::List,
            Some(AnswerField::Other) => Field::Other,
        }
    }
}

impl Answer {
    /// The answer as the rules look at it.
    #[must_use]
    pub fn value(&self) -> Value<'_> {
        match self {
            Answer::Absent => Value::Absent,
            Answer::Text(text) => Value::Text(text),
            Answer::Bool(value) => Value::Bool(*value),
            Answer::List => Value::List,
            Answer::Object(fields) => Value::Object(fields),
        }
    }

    /// The status part of a result as the host's bridge delivers it: `{content, structuredContent?}`, or the text of an
    /// error. The same walk that the binding makes over JS values.
    #[must_use]
    pub fn of_result(tool: Option<&str>, result: &serde_json::Value) -> Answer {
        use serde_json::Value as Json;
        let limit = text_limit(tool);
        match result {
            Json::String(text) => Answer::of_text(text, limit),
            Json::Object(result) => {
                let structured = result.get("structuredContent").map(|structured| match structured {
                    Json::Object(fields) if fields.len() == 1 => fields.get("result").unwrap_or(structured),
                    other => other,
                });
                match (structured, result.get("content")) {
                    (Some(value), _) => Answer::of_json(value, limit),
                    (None, Some(content)) => Answer::of_json(content, limit),
                    (None, None) => Answer::Absent,
                }
            }
            _ => Answer::Absent,
        }
    }

    fn of_json(value: &serde_json::Value, limit: usize) -> Answer {
        use serde_json::Value as Json;
        match value {
            Json::Null | Json::Number(_) => Answer::Absent,
            Json::Bool(value) => Answer::Bool(*value),
            Json::String(text) => Answer::of_text(text, limit),
            // Content blocks: the first text speaks for all.
            Json::Array(items) => match items.first().and_then(|item| item.get("text")) {
                Some(Json::String(text)) => Answer::of_text(text, limit),
                _ => Answer::List,
            },
            Json::Object(object) => Answer::Object(AnswerFields(
                FIELDS
                    .iter()
                    .filter_map(|name| {
                        let field = match object.get(*name)? {
                            Json::Null => return None,
                            Json::Bool(value) => AnswerField::Bool(*value),
                            Json::String(text) => AnswerField::Text(beginning(text, FIELD_MAX)),
                            Json::Array(items) if items.is_empty() => AnswerField::EmptyList,
                            Json::Array(_) => AnswerField::List,
                            Json::Number(_) | Json::Object(_) => AnswerField::Other,
                        };
                        Some((*name, field))
                    })
                    .collect(),
            )),
        }
    }

    /// Of a text: one that is a JSON object, or a list of one text block, is read as that. Nothing of it is kept but the
    /// fields, and nothing nested is followed, however deep it is.
    #[must_use]
    pub fn of_text(text: &str, limit: usize) -> Answer {
        let head = |text: &str| Answer::Text(beginning(text, limit));
        match text.trim_start().chars().next() {
            Some('{') => serde_json::from_str(text).map_or_else(|_| head(text), Answer::Object),
            Some('[') => match serde_json::from_str::<[Block; 1]>(text) {
                // Once: a text in a text in a text is nobody's answer.
                Ok([block]) if block.text.trim_start().starts_with('{') => {
                    serde_json::from_str(&block.text).map_or_else(|_| head(&block.text), Answer::Object)
                }
                Ok([block]) => head(&block.text),
                Err(_) if serde_json::from_str::<Vec<IgnoredAny>>(text).is_ok() => Answer::List,
                Err(_) => head(text),
            },
            _ => head(text),
        }
    }
}

/// The first characters of a text.
#[must_use]
pub fn beginning(text: &str, limit: usize) -> String {
    // As many bytes hold no more characters.
    let end = if text.len() <= limit { None } else { text.char_indices().nth(limit) };
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text).to_owned()
}

/// One text block of a list.
#[derive(serde::Deserialize)]
struct Block {
    text: String,
}

/// Reads the fields of an object that are looked at, and skips everything else without building it.
impl<'de> serde::Deserialize<'de> for AnswerFields {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<AnswerFields, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = AnswerFields;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<AnswerFields, A::Error> {
                let mut fields = AnswerFields::default();
                while let Some(Key(name)) = map.next_key()? {
                    let Some(name) = name else {
                        map.next_value::<IgnoredAny>()?;
                        continue;
                    };
                    // Of a key that stands twice the last value counts, as for every JSON parser in this path.
                    fields.0.retain(|(field, _)| *field != name);
                    if let OneField(Some(field)) = map.next_value()? {
                        fields.0.push((name, field));
                    }
                }
                Ok(fields)
            }
        }
        deserializer.deserialize_map(Object)
    }
}

/// A field's name; `None` for one that is not looked at.
struct Key(Option<&'static str>);

impl<'de> serde::Deserialize<'de> for Key {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Key, D::Error> {
        struct Name;
        impl Visitor<'_> for Name {
            type Value = Key;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a name")
            }

            fn visit_str<E>(self, name: &str) -> Result<Key, E> {
                Ok(Key(FIELDS.iter().find(|field| **field == name).copied()))
            }
        }
        deserializer.deserialize_str(Name)
    }
}

/// One field's value; `None` for null.
struct OneField(Option<AnswerField>);

impl<'de> serde::Deserialize<'de> for OneField {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<OneField, D::Error> {
        struct Any;
        impl<'de> Visitor<'de> for Any {
            type Value = OneField;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("any value")
            }

            fn visit_unit<E>(self) -> Result<OneField, E> {
                Ok(OneField(None))
            }

            fn visit_bool<E>(self, value: bool) -> Result<OneField, E> {
                Ok(OneField(Some(AnswerField::Bool(value))))
            }

            fn visit_str<E>(self, text: &str) -> Result<OneField, E> {
                Ok(OneField(Some(AnswerField::Text(beginning(text, FIELD_MAX)))))
            }

            fn visit_i64<E>(self, _: i64) -> Result<OneField, E> {
                Ok(OneField(Some(AnswerField::Other)))
            }

            fn visit_u64<E>(self, _: u64) -> Result<OneField, E> {
                Ok(OneField(Some(AnswerField::Other)))
            }

            fn visit_f64<E>(self, _: f64) -> Result<OneField, E> {
                Ok(OneField(Some(AnswerField::Other)))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<OneField, A::Error> {
                let mut list = AnswerField::EmptyList;
                while items.next_element::<IgnoredAny>()?.is_some() {
                    list = AnswerField::List;
                }
                Ok(OneField(Some(list)))
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OneField, A::Error> {
                while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
                Ok(OneField(Some(AnswerField::Other)))
            }
        }
        deserializer.deserialize_any(Any)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::table::{Mark, TABLE};

    #[test]
    fn every_field_that_a_rule_looks_at_is_taken_out_of_a_result() {
        for rule in TABLE.iter().flat_map(|entry| entry.rules) {
            for mark in rule.marks {
                let (Mark::Word(name, _)
                | Mark::Opens(name, _)
                | Mark::Flag(name, _)
                | Mark::Has(name)
                | Mark::Lacks(name)
                | Mark::Items(name)
                | Mark::NoItems(name)) = mark
                else {
                    continue;
                };
                assert!(FIELDS.contains(name), "{name}");
            }
        }
    }

    #[test]
    fn every_start_of_a_text_fits_into_what_is_taken_over() {
        for entry in TABLE {
            for mark in entry.rules.iter().flat_map(|rule| rule.marks) {
                if let Mark::Starts(start) | Mark::Heads(start) = mark {
                    assert!(start.chars().count() < text_limit(Some(entry.tool)), "{start}");
                }
            }
        }
    }
}
