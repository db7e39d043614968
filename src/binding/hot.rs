//! The two functions that every governed call goes through, registered by hand: arguments are taken as they are, and what a
//! call is given comes as values beside each other, under names that are known by a number. `docs/PERFORMANCE.md` says what
//! that gives. The same rules, the same boundary: each runs inside [`guarded`], and what they read is read as the general
//! functions read it, which tests hold against each other.
//!
//! All `unsafe` of this crate that no macro writes is here. What each call of the Node API needs is the same: an environment
//! and values that the runtime has just handed to the callback, on the thread that it runs on.

use std::cell::RefCell;
use std::ffi::CStr;
use std::ptr;
use std::rc::Rc;

use napi::bindgen_prelude::{Object, Result};
use napi::{JsError, JsValue as _, sys};

use super::state::{Fault, guarded, with};
use super::{arrival, judge_call, known};
use crate::argument::given::{Arguments, Given, Json, Names};
use crate::evidence::answer::{Answer, beginning, text_limit};
use crate::note::text::Text;
use crate::tool::{Class, Known};

/// Values that one call can hand over beside each other.
const VALUES_MAX: usize = 12;
/// Arguments of a hot function before the values.
const FIXED: usize = 8;

/// Lists of names that are kept for a policy. A model can make up as many as it likes; who comes later takes the general way.
const NAMES_MAX: usize = 1024;
/// Bytes of a name that is kept: no name of the server's is longer.
const NAME_MAX: usize = 192;

thread_local! {
    /// Where texts are read into before their length is known.
    static BUFFER: RefCell<Vec<u8>> = RefCell::new(vec![0; BUFFER_SIZE]);
}

/// Longer than nearly every text of a call.
const BUFFER_SIZE: usize = 64 * 1024;
/// Of a text whose beginning alone may matter so many bytes are read before it is known whether that is so.
const CHARACTER_MAX: usize = 4;

/// Lists of names that calls of one policy have had.
#[derive(Default)]
pub(super) struct Lists(Vec<Rc<Names>>);

impl Lists {
    /// Keeps a list and gives it a number; 0 where no more are kept, or where a call can have no such list.
    pub(super) fn keep(&mut self, names: Names) -> u32 {
        if names.len() > VALUES_MAX || self.0.len() >= NAMES_MAX || names.longest() > NAME_MAX {
            return 0;
        }
        self.0.push(Rc::new(names));
        u32::try_from(self.0.len()).unwrap_or(0)
    }

    fn get(&self, number: u32) -> Option<Rc<Names>> {
        self.0.get(usize::try_from(number).ok()?.checked_sub(1)?).cloned()
    }
}

/// Puts the two functions onto the module.
pub(super) fn register(exports: &Object<'_>) -> Result<()> {
    let env = exports.value().env;
    for (name, function) in [(c"judgeFlat", judge_flat as Callback), (c"settleText", settle_text as Callback)] {
        let mut made = ptr::null_mut();
        // SAFETY: `env` is the one that the module is being loaded in; the name is a C string of this binary, the function
        // is a plain function of it, and no data goes with it.
        check(unsafe {
            sys::napi_create_function(env, name.as_ptr(), -1, Some(function), ptr::null_mut(), &raw mut made)
        })?;
        // SAFETY: the object and the function are of this very call, and the name is a C string of this binary.
        check(unsafe { sys::napi_set_named_property(env, exports.raw(), name_of(name), made) })?;
    }
    Ok(())
}

type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

const fn name_of(name: &'static CStr) -> *const std::ffi::c_char {
    name.as_ptr()
}

/// `judgeFlat(policy, call, tool, place, session, turn, step, names, ...values)`: `judge` of arguments that are texts, numbers,
/// booleans and null, under the names with this number. Returns the verdict's word, with the facts of a write above it.
unsafe extern "C" fn judge_flat(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    entry(env, "judgeFlat", || {
        let call = Given8::of(env, info)?;
        let [policy, number, tool, place, session, turn, step, list] = call.numbers()?;
        let tool = known(tool)?;
        let arguments = if tool.class == Class::Control {
            Arguments::NotAnObject
        } else {
            let names = with(policy, |p| Ok(p.names.get(list)))?.ok_or(Fault::BadNames)?;
            let values = call.values().map(|value| flat(env, value)).collect::<Result<Vec<Json>>>()?;
            Arguments::Object(Given::under(&names, values).ok_or(Fault::BadNames)?)
        };
        let judged = judge_call(policy, number, tool, place, session, turn, step, &arguments)?;
        let facts = judged.reading.map_or(0, |reading| reading as u32);
        let above = facts | u32::from(judged.secret.is_some()) << SECRET_BIT;
        number_of(env, f64::from(judged.verdict.word()) + f64::from(above) * 4_294_967_296.0)
    })
}

/// Above the word: bits 0 and 1 are the facts, this one says that a secret was found.
const SECRET_BIT: u32 = 2;

/// `settleText(policy, session, call, tool, facts, step, text)`: `settle` with a value that is nothing but a text, or none.
unsafe extern "C" fn settle_text(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    entry(env, "settleText", || {
        let call = Given8::of(env, info)?;
        let [policy, session, number, tool, facts, step, ..] = call.numbers_of(6)?;
        let tool = known(tool)?;
        let answer = match tool.class {
            Class::Control => Answer::Absent,
            _ => text_answer(env, call.at(6), text_limit(tool.known.map(Known::raw)))?,
        };
        let settled = arrival(policy, session, number, facts, step, answer)?;
        number_of(env, f64::from(settled.word()))
    })
}

/// Runs a callback; a fault, or a panic, is thrown.
fn entry(env: sys::napi_env, name: &'static str, run: impl FnOnce() -> Result<sys::napi_value>) -> sys::napi_value {
    guarded(name, run).unwrap_or_else(|error| {
        // SAFETY: `env` is the one that the callback was called with.
        unsafe { JsError::from(error).throw_into(env) };
        ptr::null_mut()
    })
}

/// The arguments of one call of a hot function.
struct Given8 {
    env: sys::napi_env,
    values: [sys::napi_value; FIXED + VALUES_MAX],
    count: usize,
}

impl Given8 {
    fn of(env: sys::napi_env, info: sys::napi_callback_info) -> Result<Given8> {
        let mut values = [ptr::null_mut(); FIXED + VALUES_MAX];
        let mut count = values.len();
        // SAFETY: `info` is of the callback that runs; `count` says how many values there is room for, and is set to how many
        // there are; `this` and the data are not asked for.
        check(unsafe {
            sys::napi_get_cb_info(env, info, &raw mut count, values.as_mut_ptr(), ptr::null_mut(), ptr::null_mut())
        })?;
        if count > values.len() {
            return Err(Fault::BadRequest("more values than a call can hand over".to_owned()).into());
        }
        Ok(Given8 { env, values, count })
    }

    fn at(&self, index: usize) -> Option<sys::napi_value> {
        self.values.get(index).copied().filter(|_| index < self.count)
    }

    fn numbers(&self) -> Result<[u32; FIXED]> {
        self.numbers_of(FIXED)
    }

    /// The first arguments, which must be numbers.
    fn numbers_of(&self, wanted: usize) -> Result<[u32; FIXED]> {
        let mut numbers = [0; FIXED];
        for (index, number) in numbers.iter_mut().enumerate().take(wanted) {
            let value = self.at(index).ok_or_else(|| Fault::BadRequest("a number is missing".to_owned()))?;
            // SAFETY: the value is of the callback that runs.
            check(unsafe { sys::napi_get_value_uint32(self.env, value, number) })?;
        }
        Ok(numbers)
    }

    /// What comes after the numbers.
    fn values(&self) -> impl Iterator<Item = sys::napi_value> {
        self.values.iter().copied().take(self.count).skip(FIXED)
    }
}

fn check(status: sys::napi_status) -> Result<()> {
    if status == sys::Status::napi_ok {
        return Ok(());
    }
    Err(Fault::BadRequest(format!("the runtime answered with status {status}")).into())
}

fn number_of(env: sys::napi_env, number: f64) -> Result<sys::napi_value> {
    let mut made = ptr::null_mut();
    // SAFETY: `env` is of the callback that runs.
    check(unsafe { sys::napi_create_double(env, number, &raw mut made) })?;
    Ok(made)
}

fn type_of(env: sys::napi_env, value: sys::napi_value) -> Result<sys::napi_valuetype> {
    let mut kind = sys::ValueType::napi_undefined;
    // SAFETY: the value is of the callback that runs.
    check(unsafe { sys::napi_typeof(env, value, &raw mut kind) })?;
    Ok(kind)
}

/// A value that holds no others.
fn flat(env: sys::napi_env, value: sys::napi_value) -> Result<Json> {
    Ok(match type_of(env, value)? {
        sys::ValueType::napi_string => Json::Text(text(env, value)?),
        sys::ValueType::napi_null => Json::Null,
        sys::ValueType::napi_boolean => {
            let mut held = false;
            // SAFETY: the value is of the callback that runs, and was found to be a boolean.
            check(unsafe { sys::napi_get_value_bool(env, value, &raw mut held) })?;
            Json::Bool(held)
        }
        sys::ValueType::napi_number => {
            let mut held = 0.0;
            // SAFETY: the value is of the callback that runs, and was found to be a number.
            check(unsafe { sys::napi_get_value_double(env, value, &raw mut held) })?;
            Json::Number(held)
        }
        _ => return Err(Fault::BadNames.into()),
    })
}

/// Text without loss. As UTF-8, in which a lone surrogate is U+FFFD: where there is one of these it is read once more, as
/// UTF-16.
fn text(env: sys::napi_env, value: sys::napi_value) -> Result<Text<'static>> {
    let (bytes, _) = utf8(env, value, usize::MAX)?;
    let bytes = match Text::from_ascii(bytes) {
        Ok(text) => return Ok(text),
        Err(bytes) => bytes,
    };
    if bytes.windows(3).any(|three| three == [0xEF, 0xBF, 0xBD]) {
        return utf16(env, value);
    }
    String::from_utf8(bytes).map_or_else(|_| utf16(env, value), |text| Ok(Text::from(text)))
}

fn utf16(env: sys::napi_env, value: sys::napi_value) -> Result<Text<'static>> {
    let mut length = 0;
    // SAFETY: the value is of the callback that runs; without a buffer only the length is asked for.
    check(unsafe { sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut length) })?;
    let mut units = vec![0u16; length + 1];
    // SAFETY: the buffer has room for the text and the terminator that the runtime writes behind it.
    check(unsafe {
        sys::napi_get_value_string_utf16(env, value, units.as_mut_ptr().cast(), units.len(), &raw mut length)
    })?;
    Ok(Text::from_utf16(units.get(..length).unwrap_or_default()))
}

/// The text's bytes as UTF-8, so many of them at most and no part of a character, and whether that is all.
fn utf8(env: sys::napi_env, value: sys::napi_value, most: usize) -> Result<(Vec<u8>, bool)> {
    BUFFER.with_borrow_mut(|buffer| {
        let room = buffer.len().min(most.saturating_add(1));
        let mut length = 0;
        // SAFETY: the value is of the callback that runs; the buffer has that much room, the terminator counted.
        check(unsafe {
            sys::napi_get_value_string_utf8(env, value, buffer.as_mut_ptr().cast(), room, &raw mut length)
        })?;
        // A text that did not fit ends before the first character that has no room.
        let all = length + CHARACTER_MAX < room;
        if all || most < buffer.len() {
            return Ok((buffer.get(..length).unwrap_or_default().to_vec(), all));
        }
        // SAFETY: the value is of the callback that runs; without a buffer only the length is asked for.
        check(unsafe { sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut length) })?;
        let mut bytes = vec![0u8; length + 1];
        // SAFETY: the buffer has room for the text and the terminator that the runtime writes behind it.
        check(unsafe {
            sys::napi_get_value_string_utf8(env, value, bytes.as_mut_ptr().cast(), bytes.len(), &raw mut length)
        })?;
        bytes.truncate(length);
        Ok((bytes, true))
    })
}

/// The status part of an answer that is nothing but a text.
fn text_answer(env: sys::napi_env, value: Option<sys::napi_value>, limit: usize) -> Result<Answer> {
    let Some(value) = value else { return Ok(Answer::Absent) };
    match type_of(env, value)? {
        sys::ValueType::napi_string => {}
        sys::ValueType::napi_undefined => return Ok(Answer::Absent),
        _ => return Err(Fault::BadRequest("an answer that is no text".to_owned()).into()),
    }
    let (head, all) = utf8(env, value, limit * CHARACTER_MAX)?;
    let first = head.iter().find(|byte| !matches!(byte, b'\t' | b'\n' | b'\r' | b' '));
    match first {
        Some(b'{' | b'[') => {}
        Some(_) => return Ok(Answer::Text(beginning_of(head, limit))),
        None if all => return Ok(Answer::Text(beginning_of(head, limit))),
        None => {}
    }
    // It may be JSON, of which all must be read.
    let whole = if all { head } else { utf8(env, value, usize::MAX)?.0 };
    match String::from_utf8(whole) {
        Ok(text) => Ok(Answer::of_text(&text, limit)),
        Err(error) => Ok(Answer::of_text(&String::from_utf8_lossy(error.as_bytes()), limit)),
    }
}

fn beginning_of(bytes: Vec<u8>, limit: usize) -> String {
    let text = String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    if text.len() <= limit { text } else { beginning(&text, limit) }
}
