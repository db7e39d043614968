//! JS values → what the core reads of them.

use napi::bindgen_prelude::*;
use napi::{JsString, KeyCollectionMode, KeyConversion, KeyFilter, ValueType};

use crate::argument::{Object as ArgumentObject, Scalar};
use crate::config::Raw;
use crate::evidence::{HEADING_MAX, Results, Status, status as of};

/// Levels of a configuration that are read: its keys, and the items of a list. Of what lies deeper the kind is enough to
/// refuse it, and following it would never end where a value holds itself.
const DEPTH_MAX: usize = 2;

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
            let deep = depth >= DEPTH_MAX;
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

/// A call's arguments, where they are one object and no list.
pub(super) struct PlainObject<'a>(Object<'a>);

impl<'a> PlainObject<'a> {
    pub(super) fn of(value: Unknown<'a>) -> Result<Option<PlainObject<'a>>> {
        if value.get_type()? != ValueType::Object {
            return Ok(None);
        }
        let object = Object::from_unknown(value)?;
        Ok(if object.is_array()? { None } else { Some(PlainObject(object)) })
    }

    fn value(&self, key: &str) -> Result<Scalar> {
        if !self.0.has_own_property(key)? {
            return Ok(Scalar::Absent);
        }
        let value = self.0.get_named_property_unchecked::<Unknown<'_>>(key)?;
        Ok(match value.get_type()? {
            ValueType::Undefined => Scalar::Absent,
            ValueType::Null => Scalar::Null,
            ValueType::Boolean => Scalar::Bool(bool::from_unknown(value)?),
            ValueType::Number => Scalar::Number(f64::from_unknown(value)?),
            ValueType::String => Scalar::Text(String::from_unknown(value)?),
            _ => Scalar::Compound,
        })
    }
}

impl ArgumentObject for PlainObject<'_> {
    fn each_key(&self, visit: &mut dyn FnMut(&str)) {
        for key in own_names(&self.0).unwrap_or_default() {
            visit(&key);
        }
    }

    /// A value that cannot be read (which plain data cannot be) counts as one of no plain kind.
    fn scalar(&self, key: &str) -> Scalar {
        self.value(key).unwrap_or(Scalar::Compound)
    }
}

/// The status part of a result's value.
pub(super) fn status(value: Unknown<'_>) -> Result<Status> {
    let Some(value) = object(value)? else { return Ok(Status::None) };
    if let Some(structured) = property(&value, "structuredContent")? {
        // Unwrapped where `result` is the only key.
        let inner = match object(structured)? {
            Some(fields) if own_names(&fields)? == ["result"] => property(&fields, "result")?,
            _ => Some(structured),
        };
        if let Some(inner) = inner {
            return structured_status(inner);
        }
    }
    match property(&value, "content")? {
        Some(content) => list_status(content),
        None => Ok(Status::None),
    }
}

fn structured_status(value: Unknown<'_>) -> Result<Status> {
    match value.get_type()? {
        ValueType::String => text_status(value),
        ValueType::Object => {
            let fields = Object::from_unknown(value)?;
            if fields.is_array()? {
                return list_status(value);
            }
            let error = match property(&fields, "error")? {
                Some(error) => !matches!(error.get_type()?, ValueType::Undefined | ValueType::Null),
                None => false,
            };
            let results = match property(&fields, "results")? {
                Some(list) => match object(list)? {
                    Some(list) if list.is_array()? && list.get_array_length()? == 0 => Results::Empty,
                    Some(list) if list.is_array()? => Results::Some,
                    _ => Results::Missing,
                },
                None => Results::Missing,
            };
            Ok(Status::Fields { error, results })
        }
        _ => Ok(Status::None),
    }
}

/// A list of content blocks: its first text, whole only where it is the one block and may hold JSON.
fn list_status(value: Unknown<'_>) -> Result<Status> {
    let Some(list) = object(value)? else { return Ok(Status::None) };
    if !list.is_array()? || list.get_array_length()? == 0 {
        return Ok(Status::None);
    }
    match object(list.get_element::<Unknown<'_>>(0)?)? {
        Some(block) => match property(&block, "text")? {
            Some(text) if text.get_type()? == ValueType::String => text_status(text),
            _ => Ok(Status::None),
        },
        None => Ok(Status::None),
    }
}

/// Only a text that may be JSON is taken over whole; of any other, the beginning.
fn text_status(value: Unknown<'_>) -> Result<Status> {
    let text = JsString::from_unknown(value)?.into_utf16()?;
    // The last unit is the terminator that napi appends: no part of the text, and behind a JSON document an error.
    let units = text.as_slice().split_last().map_or(&[][..], |(_, units)| units);
    let first = units.iter().find(|unit| !matches!(unit, 0x09 | 0x0a | 0x0d | 0x20));
    if first.is_some_and(|first| of::JSON_BEGINS.iter().any(|begin| u32::from(*first) == u32::from(*begin))) {
        return Ok(of::of_text(&String::from_utf16_lossy(units)));
    }
    // Twice the characters, since one may take two units.
    let head = units.get(..units.len().min(HEADING_MAX * 2)).unwrap_or_default();
    Ok(Status::Heading(String::from_utf16_lossy(head).chars().take(HEADING_MAX).collect()))
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
