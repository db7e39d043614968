//! JS values → what the core reads of them.

use napi::bindgen_prelude::*;
use napi::{JsString, KeyCollectionMode, KeyConversion, KeyFilter, ValueType};

use crate::argument::given::{Arguments, DEPTH_MAX, Given, Json, VALUES_MAX};
use crate::config::Raw;
use crate::evidence::answer::{Answer, AnswerField, AnswerFields, FIELD_MAX, FIELDS, text_limit};
use crate::note::text::Text;
use crate::tool::{Known, Tool};

/// Levels of a configuration that are read: its keys, and the items of a list. Of what lies deeper the kind is enough to
/// refuse it, and following it would never end where a value holds itself.
const CONFIG_DEPTH_MAX: usize = 2;

/// A configuration value, whatever it is.
pub(super) fn raw(value: Unknown<'_>) -> Result<Raw> {
    raw_at(value, 0)
}

fn raw_at(value: Unknown<'_>, depth: usize) -> Result<Raw> {
    Ok(match value.get_type()? {
        ValueType::Undefined => Raw::Undefined,
        ValueType::Null => Raw::Null,
        ValueType::Boolean => Raw::Bool(bool::from_unknown(value)?),
        ValueType::Number => Raw::Number(f64::from_unknown(value)?),
        ValueType::String => Raw::Text(String::from_unknown(value)?),
        ValueType::Object => {
            let object = Object::from_unknown(value)?;
            let deep = depth >= CONFIG_DEPTH_MAX;
            if object.is_array()? {
                let length = if deep { 0 } else { object.get_array_length()? };
                let items: Result<Vec<Raw>> =
                    (0..length).map(|i| raw_at(object.get_element::<Unknown<'_>>(i)?, depth + 1)).collect();
                Raw::List(items?)
            } else {
                let mut entries = Vec::new();
                for key in if deep { Vec::new() } else { own_keys(&object)? } {
                    // By the key itself: as UTF-8 it may be another, or none.
                    let value = object.get_property_unchecked::<_, Unknown<'_>>(key)?;
                    entries.push((String::from_unknown(key.to_unknown())?, raw_at(value, depth + 1)?));
                }
                Raw::Object(entries)
            }
        }
        ValueType::Function => Raw::Other("a function"),
        ValueType::Symbol => Raw::Other("a symbol"),
        _ => Raw::Other("no plain value"),
    })
}

/// The own enumerable string keys, `__proto__` among them where it is one.
fn own_keys<'a>(object: &Object<'a>) -> Result<Vec<JsString<'a>>> {
    let names = object.get_all_property_names(
        KeyCollectionMode::OwnOnly,
        KeyFilter::Enumerable,
        KeyConversion::NumbersToStrings,
    )?;
    let length = names.get_array_length()?;
    let mut keys = Vec::with_capacity(length as usize);
    for i in 0..length {
        let key = names.get_element::<Unknown<'_>>(i)?;
        if key.get_type()? == ValueType::String {
            keys.push(JsString::from_unknown(key)?);
        }
    }
    Ok(keys)
}

/// The same as text. Lone surrogates do not survive that, and are in no name that a rule knows.
fn own_names(object: &Object<'_>) -> Result<Vec<String>> {
    own_keys(object)?.into_iter().map(|key| String::from_unknown(key.to_unknown())).collect()
}

/// A call's arguments: one object's own entries, sorted by the tool's table.
pub(super) fn arguments(tool: Tool, value: Unknown<'_>) -> Result<Arguments> {
    let raw = tool.known.map(Known::raw);
    let mut left = VALUES_MAX;
    Ok(match json(value, 0, &mut left)? {
        Some(Json::Object(entries)) => Arguments::Object(Given::of(raw, entries)),
        _ => Arguments::NotAnObject,
    })
}

/// A JSON value without loss, as far as it is read; `None` for what is no JSON. `left` counts the values that may still be
/// read.
fn json(value: Unknown<'_>, depth: usize, left: &mut usize) -> Result<Option<Json>> {
    if *left == 0 {
        return Ok(Some(Json::Beyond));
    }
    *left -= 1;
    Ok(Some(match value.get_type()? {
        ValueType::Null => Json::Null,
        ValueType::Boolean => Json::Bool(bool::from_unknown(value)?),
        ValueType::Number => Json::Number(f64::from_unknown(value)?),
        ValueType::String => Json::Text(text(value)?),
        ValueType::Object if depth >= DEPTH_MAX => Json::Beyond,
        ValueType::Object => {
            let object = Object::from_unknown(value)?;
            if object.is_array()? {
                let mut items = Vec::new();
                for i in 0..object.get_array_length()? {
                    if *left == 0 {
                        items.push(Json::Beyond);
                        break;
                    }
                    let Some(item) = json(object.get_element::<Unknown<'_>>(i)?, depth + 1, left)? else {
                        return Ok(None);
                    };
                    items.push(item);
                }
                Json::List(items)
            } else {
                let mut entries = Vec::new();
                for key in own_keys(&object)? {
                    // By the key itself: as UTF-8 it may be another, or none.
                    let value = object.get_property_unchecked::<_, Unknown<'_>>(key)?;
                    // What JSON leaves out is absent.
                    if value.get_type()? == ValueType::Undefined {
                        continue;
                    }
                    let Some(value) = json(value, depth + 1, left)? else { return Ok(None) };
                    entries.push((text(key.to_unknown())?, value));
                }
                Json::Object(entries)
            }
        }
        _ => return Ok(None),
    }))
}

/// Text as the UTF-16 that it is, lone surrogates included.
fn text(value: Unknown<'_>) -> Result<Text<'static>> {
    let utf16 = JsString::from_unknown(value)?.into_utf16()?;
    Ok(Text::from_utf16(units(utf16.as_slice())))
}

/// A string argument as the UTF-16 that it is.
pub(super) fn js_text(value: JsString<'_>) -> Result<Text<'static>> {
    Ok(Text::from_utf16(units(value.into_utf16()?.as_slice())))
}

/// The last unit is the terminator that napi appends: no part of the text.
fn units(with_terminator: &[u16]) -> &[u16] {
    with_terminator.split_last().map_or(&[][..], |(_, units)| units)
}

/// The status part of a result: `{content, structuredContent?}`, or the text of an error. The same walk as
/// [`Answer::of_result`] makes over JSON.
pub(super) fn answer(tool: Tool, value: Unknown<'_>) -> Result<Answer> {
    let limit = text_limit(tool.known.map(Known::raw));
    if value.get_type()? == ValueType::String {
        return text_answer(value, limit);
    }
    let Some(result) = object(value)? else { return Ok(Answer::Absent) };
    if let Some(structured) = property(&result, "structuredContent")? {
        // Unwrapped where `result` is the only key.
        let inner = match object(structured)? {
            Some(fields) if !fields.is_array()? && own_names(&fields)? == ["result"] => property(&fields, "result")?,
            _ => Some(structured),
        };
        return match inner {
            Some(inner) => value_answer(inner, limit),
            None => Ok(Answer::Absent),
        };
    }
    match property(&result, "content")? {
        Some(content) => value_answer(content, limit),
        None => Ok(Answer::Absent),
    }
}

fn value_answer(value: Unknown<'_>, limit: usize) -> Result<Answer> {
    Ok(match value.get_type()? {
        ValueType::Boolean => Answer::Bool(bool::from_unknown(value)?),
        ValueType::String => return text_answer(value, limit),
        ValueType::Object => {
            let fields = Object::from_unknown(value)?;
            if fields.is_array()? {
                return list_answer(&fields, limit);
            }
            let mut found = Vec::new();
            for name in FIELDS {
                let Some(value) = property(&fields, name)? else { continue };
                found.push((
                    *name,
                    match value.get_type()? {
                        ValueType::Null => continue,
                        ValueType::Boolean => AnswerField::Bool(bool::from_unknown(value)?),
                        ValueType::String => AnswerField::Text(head(value, FIELD_MAX)?),
                        ValueType::Object => {
                            let inner = Object::from_unknown(value)?;
                            match (inner.is_array()?, inner) {
                                (true, list) if list.get_array_length()? == 0 => AnswerField::EmptyList,
                                (true, _) => AnswerField::List,
                                (false, _) => AnswerField::Other,
                            }
                        }
                        _ => AnswerField::Other,
                    },
                ));
            }
            Answer::Object(AnswerFields(found))
        }
        _ => Answer::Absent,
    })
}

/// Content blocks: the first text speaks for all.
fn list_answer(list: &Object<'_>, limit: usize) -> Result<Answer> {
    if list.get_array_length()? == 0 {
        return Ok(Answer::List);
    }
    match object(list.get_element::<Unknown<'_>>(0)?)? {
        Some(block) => match property(&block, "text")? {
            Some(text) if text.get_type()? == ValueType::String => text_answer(text, limit),
            _ => Ok(Answer::List),
        },
        None => Ok(Answer::List),
    }
}

/// Only a text that may be JSON is taken over whole; of any other, the beginning.
fn text_answer(value: Unknown<'_>, limit: usize) -> Result<Answer> {
    let utf16 = JsString::from_unknown(value)?.into_utf16()?;
    let units = units(utf16.as_slice());
    let first = units.iter().find(|unit| !matches!(unit, 0x09 | 0x0a | 0x0d | 0x20));
    if first.is_some_and(|first| [u16::from(b'{'), u16::from(b'[')].contains(first)) {
        return Ok(Answer::of_text(&String::from_utf16_lossy(units), limit));
    }
    Ok(Answer::Text(beginning(units, limit)))
}

fn head(value: Unknown<'_>, limit: usize) -> Result<String> {
    let utf16 = JsString::from_unknown(value)?.into_utf16()?;
    Ok(beginning(units(utf16.as_slice()), limit))
}

/// The first characters; twice as many units, since one may take two.
fn beginning(units: &[u16], limit: usize) -> String {
    let head = units.get(..units.len().min(limit.saturating_mul(2))).unwrap_or_default();
    crate::evidence::answer::beginning(&String::from_utf16_lossy(head), limit)
}

fn object(value: Unknown<'_>) -> Result<Option<Object<'_>>> {
    Ok(if value.get_type()? == ValueType::Object { Some(Object::from_unknown(value)?) } else { None })
}

/// An own property that is not undefined.
fn property<'a>(object: &Object<'a>, key: &str) -> Result<Option<Unknown<'a>>> {
    if !object.has_own_property(key)? {
        return Ok(None);
    }
    let value = object.get_named_property_unchecked::<Unknown<'a>>(key)?;
    Ok(if value.get_type()? == ValueType::Undefined { None } else { Some(value) })
}
