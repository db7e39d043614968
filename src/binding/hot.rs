//! The two functions that every governed call goes through, registered by hand. Numbers go through a frame, which is memory that
//! both sides see; what a call is given comes as values beside each other, under names that are known by a number.
//! `docs/PERFORMANCE.md` says what that gives. The same rules, the same boundary: each runs inside [`guarded`], and what they
//! read is read as the general functions read it, which tests hold against each other.
//!
//! All `unsafe` of this crate that no macro writes is here. What each call of the Node API needs is the same: an environment
//! and values that the runtime has just handed to the callback, on the thread that it runs on.

use std::borrow::Cow;
use std::ffi::CStr;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use napi::bindgen_prelude::{Object, Result};
use napi::{JsError, JsValue as _, sys};

use super::state::{Fault, guarded, with};
use super::{arrival, judge_call, known, settle_call};
use crate::argument::given::{Arguments, Given, Held, Json, Names};
use crate::evidence::answer::{Answer, beginning, text_limit};
use crate::note::text::Text;
use crate::tool::{Class, Known};

/// Values that one call can hand over beside each other.
const VALUES_MAX: usize = 12;

/// Lists of names that are kept for a policy. A model can make up as many as it likes; who comes later takes the general way.
const NAMES_MAX: usize = 1024;
/// Bytes of a name that is kept: no name of the server's is longer.
const NAME_MAX: usize = 192;

/// Bytes that are made room for before a text's length is known: longer than nearly every text of a call.
const ROOM: usize = 2048;
/// A text for which more room was made than this leaves none for the next.
const ROOM_MAX: usize = 32 * 1024;
/// Bytes of UTF-8 that a character takes at most.
const CHARACTER_MAX: usize = 4;
/// Bytes of UTF-8 that a unit of UTF-16 takes at most.
const UNIT_MAX: usize = 3;

/// Lists of names that calls of one policy have had.
#[derive(Default)]
pub(super) struct Lists(Vec<List>);

/// A list of names, and the places of values under it. Between two calls these hold nothing.
struct List {
    names: Rc<Names>,
    values: Vec<Held>,
}

impl Lists {
    /// Keeps a list and gives it a number; 0 where no more are kept, or where a call can have no such list.
    pub(super) fn keep(&mut self, names: Names) -> u32 {
        if names.len() > VALUES_MAX || self.0.len() >= NAMES_MAX || names.longest() > NAME_MAX {
            return 0;
        }
        self.0.push(List { names: Rc::new(names), values: Vec::new() });
        u32::try_from(self.0.len()).unwrap_or(0)
    }

    fn get(&mut self, number: u32) -> Result<&mut List> {
        let index = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        index.and_then(|index| self.0.get_mut(index)).ok_or_else(|| Fault::BadNames.into())
    }
}

/// What arguments and answers of one call after the other are read into, so that it is not made anew for each.
#[derive(Default)]
pub(super) struct Room {
    texts: Vec<Vec<u8>>,
    answer: Vec<u8>,
}

impl Room {
    /// Reads the values of a call, each of which holds no others.
    fn read(&mut self, env: sys::napi_env, list: &mut List, values: &[sys::napi_value]) -> Result<Given> {
        if values.len() != list.names.len() {
            return Err(Fault::BadNames.into());
        }
        let mut given = Given::under(&list.names, std::mem::take(&mut list.values));
        for (index, value) in values.iter().enumerate() {
            let mut room = self.texts.pop().unwrap_or_default();
            if let Some(is_all) = utf8(env, *value, &mut room, ROOM)? {
                given.set_text(index, text(env, *value, room, is_all)?);
            } else {
                self.texts.push(room);
                given.set(index, scalar(env, *value)?);
            }
        }
        Ok(given)
    }

    /// Keeps the room of what was judged.
    fn keep(&mut self, list: &mut List, given: Given) {
        let texts = &mut self.texts;
        list.values = given.into_room(|room| {
            if room.capacity() <= ROOM_MAX && texts.len() < VALUES_MAX {
                texts.push(room);
            }
        });
    }
}

/// Memory of both sides, for the numbers of a call and of its answer: there each costs next to nothing, as an argument ten times
/// as much. JS sees it as a list of doubles over a `SharedArrayBuffer`: nobody can detach or shrink that, so it lives as long
/// as the reference that [`register`] takes, which is as long as the environment does. Each environment has its own.
///
/// Whoever else gets hold of it can write into it, from another thread too; so what is in it is read as numbers that were
/// handed over, once, and is whole, since each is an atomic of its own.
#[derive(Clone, Copy)]
struct Frame<'a>(&'a [AtomicU64; Frame::LENGTH]);

impl Frame<'_> {
    const LENGTH: usize = Frame::ANSWER + 1;
    /// Numbers that every call has, at these places: policy, call, tool, session, step. Behind them a judging has place, turn
    /// and names, and a settlement its facts.
    const NUMBERS: usize = 8;
    /// Where the answer stands. JS puts -1 there before a call, which no answer is, so that none is taken for a later one's.
    const ANSWER: usize = Frame::NUMBERS;

    /// The first numbers.
    fn numbers<const WANTED: usize>(self) -> Result<[u32; WANTED]> {
        let mut numbers = [0; WANTED];
        for (number, place) in numbers.iter_mut().zip(self.0) {
            let held = f64::from_bits(place.load(Ordering::Relaxed));
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "what it does not hold is refused"
            )]
            let whole = held as u32;
            #[allow(clippy::float_cmp, reason = "whole numbers are exact")]
            if f64::from(whole) != held {
                return Err(Fault::BadRequest("a number is missing".to_owned()).into());
            }
            *number = whole;
        }
        Ok(numbers)
    }

    fn answer(self, number: f64) {
        if let Some(place) = self.0.last() {
            place.store(number.to_bits(), Ordering::Relaxed);
        }
    }
}

/// Puts the two functions onto the module, and `frame`, which gives the frame of this environment; `null` in a runtime that
/// cannot make one, where the general functions must be called.
pub(super) fn register(exports: &Object<'_>) -> Result<()> {
    let env = exports.value().env;
    let (memory, view) = make_frame(env).unwrap_or_else(|_| {
        let mut exception = ptr::null_mut();
        // SAFETY: `env` is the one that the module is being loaded in. What was thrown is of no more interest.
        unsafe { sys::napi_get_and_clear_last_exception(env, &raw mut exception) };
        (ptr::null_mut(), ptr::null_mut())
    });
    for (name, function, data) in [
        (c"judgeFlat", judge_flat as Callback, memory.cast()),
        (c"settleText", settle_text as Callback, memory.cast()),
        (c"frame", frame as Callback, view.cast()),
    ] {
        let mut made = ptr::null_mut();
        // SAFETY: `env` is the one that the module is being loaded in; the name is a C string of this binary, and the function
        // is a plain function of it. The data is the memory of the environment's frame, or the reference that keeps it: both
        // live as long as the environment.
        check(unsafe { sys::napi_create_function(env, name.as_ptr(), -1, Some(function), data, &raw mut made) })?;
        // SAFETY: the object and the function are of this very call, and the name is a C string of this binary.
        check(unsafe { sys::napi_set_named_property(env, exports.raw(), name.as_ptr(), made) })?;
    }
    Ok(())
}

/// Makes a frame, and a reference that keeps it until the environment ends.
fn make_frame(env: sys::napi_env) -> Result<(*mut [AtomicU64; Frame::LENGTH], sys::napi_ref)> {
    let mut size = ptr::null_mut();
    let bytes = u32::try_from(size_of::<[AtomicU64; Frame::LENGTH]>()).unwrap_or_default();
    // SAFETY: `env` is the one that the module is being loaded in.
    check(unsafe { sys::napi_create_uint32(env, bytes, &raw mut size) })?;
    let buffer = new(env, c"SharedArrayBuffer", size)?;
    let view = new(env, c"Float64Array", buffer)?;
    let (mut kind, mut length, mut memory) = (sys::TypedarrayType::int8_array, 0, ptr::null_mut());
    let mut buffer = ptr::null_mut();
    // SAFETY: `env` is the one that the module is being loaded in, and the value is of it. The place in the buffer is not
    // asked for.
    check(unsafe {
        sys::napi_get_typedarray_info(
            env,
            view,
            &raw mut kind,
            &raw mut length,
            &raw mut memory,
            &raw mut buffer,
            ptr::null_mut(),
        )
    })?;
    let mut is_detachable = true;
    // SAFETY: as above. Of a `SharedArrayBuffer` this says no.
    check(unsafe { sys::napi_is_arraybuffer(env, buffer, &raw mut is_detachable) })?;
    let memory = memory.cast::<[AtomicU64; Frame::LENGTH]>();
    // Whatever the globals have become, nothing else is a frame.
    let is_frame = kind == sys::TypedarrayType::float64_array && length == Frame::LENGTH;
    if !is_frame || is_detachable || memory.is_null() || !memory.is_aligned() {
        return Err(Fault::BadRequest("no frame".to_owned()).into());
    }
    let mut kept = ptr::null_mut();
    // SAFETY: as above. The reference is never given back: it ends with the environment.
    check(unsafe { sys::napi_create_reference(env, view, 1, &raw mut kept) })?;
    Ok((memory, kept))
}

/// `new` of a global class, with one argument.
fn new(env: sys::napi_env, class: &'static CStr, argument: sys::napi_value) -> Result<sys::napi_value> {
    let (mut global, mut made) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: `env` is the one that the module is being loaded in.
    check(unsafe { sys::napi_get_global(env, &raw mut global) })?;
    let mut constructor = ptr::null_mut();
    // SAFETY: the object is the one of the call before, and the name is a C string of this binary.
    check(unsafe { sys::napi_get_named_property(env, global, class.as_ptr(), &raw mut constructor) })?;
    // SAFETY: the constructor is of the call before, whatever it is; there is one argument, which is of this environment.
    check(unsafe { sys::napi_new_instance(env, constructor, 1, &raw const argument, &raw mut made) })?;
    Ok(made)
}

type Callback = unsafe extern "C" fn(sys::napi_env, sys::napi_callback_info) -> sys::napi_value;

/// `frame()`: the numbers of the two functions below, as `index.d.ts` says.
unsafe extern "C" fn frame(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let mut view = ptr::null_mut();
    let got = guarded("frame", || {
        let (_, data) = arguments::<0>(env, info)?;
        if data.is_null() {
            // SAFETY: `env` is the one that the callback was called with.
            return check(unsafe { sys::napi_get_null(env, &raw mut view) });
        }
        // SAFETY: the data is the reference that `register` took in this environment.
        check(unsafe { sys::napi_get_reference_value(env, data.cast(), &raw mut view) })
    });
    or_throw(env, got);
    view
}

/// `judgeFlat(...values)`: `judge` of arguments that are texts, numbers, booleans and null, under the names with the frame's
/// number. Answers with the verdict's word, and the facts of a write above it.
unsafe extern "C" fn judge_flat(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let done = guarded("judgeFlat", || {
        let (values, frame) = Values::<VALUES_MAX>::of(env, info)?;
        let [policy, number, tool, session, step, place, turn, list] = frame.numbers()?;
        let tool = known(tool)?;
        with(policy, |p| {
            let arguments = if tool.class == Class::Control {
                Arguments::NotAnObject
            } else {
                Arguments::Object(p.room.read(env, p.names.get(list)?, values.all())?)
            };
            let judged = judge_call(p, number, tool, place, session, turn, step, &arguments)?;
            if let Arguments::Object(given) = arguments {
                p.room.keep(p.names.get(list)?, given);
            }
            let facts = judged.reading.map_or(0, |reading| reading as u32);
            let above = facts | u32::from(judged.secret.is_some()) << SECRET_BIT;
            frame.answer(f64::from(judged.verdict.word()) + f64::from(above) * 4_294_967_296.0);
            Ok(())
        })
    });
    or_throw(env, done);
    ptr::null_mut()
}

/// Above the word: bits 0 and 1 are the facts, this one says that a secret was found.
const SECRET_BIT: u32 = 2;

/// `settleText(text)`: `settle` with a value that is nothing but a text, or none. Answers with the settlement's word.
unsafe extern "C" fn settle_text(env: sys::napi_env, info: sys::napi_callback_info) -> sys::napi_value {
    let done = guarded("settleText", || {
        let (values, frame) = Values::<1>::of(env, info)?;
        let [policy, number, tool, session, step, facts] = frame.numbers()?;
        let tool = known(tool)?;
        with(policy, |p| {
            let mut arrival = arrival(facts, step, Answer::Absent);
            if let (false, [value, ..]) = (tool.class == Class::Control, values.all()) {
                p.room.answer(env, *value, text_limit(tool.known.map(Known::raw)), &mut arrival.answer)?;
            }
            frame.answer(f64::from(settle_call(p, session, number, &arrival)?.word()));
            Ok(())
        })
    });
    or_throw(env, done);
    ptr::null_mut()
}

/// Throws a fault, or a panic.
fn or_throw(env: sys::napi_env, done: Result<()>) {
    if let Err(error) = done {
        // SAFETY: `env` is the one that the callback was called with.
        unsafe { JsError::from(error).throw_into(env) };
    }
}

/// The arguments of one call, and what its function was registered with.
fn arguments<const MAX: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> Result<(Values<MAX>, *mut std::ffi::c_void)> {
    let (mut values, mut count, mut data) = ([ptr::null_mut(); MAX], MAX, ptr::null_mut());
    // SAFETY: `info` is of the callback that runs; `count` says how many values there is room for, and is set to how many
    // there are; `this` is not asked for.
    check(unsafe {
        sys::napi_get_cb_info(env, info, &raw mut count, values.as_mut_ptr(), ptr::null_mut(), &raw mut data)
    })?;
    Ok((Values { values, count }, data))
}

/// The values that one call hands over.
struct Values<const MAX: usize> {
    values: [sys::napi_value; MAX],
    count: usize,
}

impl<const MAX: usize> Values<MAX> {
    /// The values of a call of one of the two functions, and its frame.
    fn of<'a>(env: sys::napi_env, info: sys::napi_callback_info) -> Result<(Values<MAX>, Frame<'a>)> {
        let (values, data) = arguments::<MAX>(env, info)?;
        if values.count > MAX {
            return Err(Fault::BadRequest("more values than a call can hand over".to_owned()).into());
        }
        // SAFETY: the data is null, or the memory of this environment's frame, which `make_frame` has looked at. It lives as
        // long as the environment, in which this callback runs; what is written into it from anywhere makes other numbers.
        let frame = unsafe { data.cast::<[AtomicU64; Frame::LENGTH]>().as_ref() };
        let frame = frame.ok_or_else(|| Fault::BadRequest("a call without a frame".to_owned()))?;
        Ok((values, Frame(frame)))
    }

    fn all(&self) -> &[sys::napi_value] {
        self.values.get(..self.count).unwrap_or_default()
    }
}

#[inline]
fn check(status: sys::napi_status) -> Result<()> {
    if status == sys::Status::napi_ok { Ok(()) } else { Err(refused(status)) }
}

#[cold]
fn refused(status: sys::napi_status) -> napi::Error {
    Fault::BadRequest(format!("the runtime answered with status {status}")).into()
}

fn type_of(env: sys::napi_env, value: sys::napi_value) -> Result<sys::napi_valuetype> {
    let mut kind = sys::ValueType::napi_undefined;
    // SAFETY: the value is of the callback that runs.
    check(unsafe { sys::napi_typeof(env, value, &raw mut kind) })?;
    Ok(kind)
}

/// A value that is no text and holds no others.
fn scalar(env: sys::napi_env, value: sys::napi_value) -> Result<Json> {
    Ok(match type_of(env, value)? {
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

/// The text of a value of which this much was read as UTF-8, without loss. In UTF-8 a lone surrogate is U+FFFD: where there is
/// one of these it is read once more, as UTF-16.
#[inline]
fn text(env: sys::napi_env, value: sys::napi_value, mut bytes: Vec<u8>, is_all: bool) -> Result<Text<'static>> {
    if !is_all {
        whole(env, value, &mut bytes)?;
    }
    match Text::from_ascii(bytes) {
        Ok(text) => Ok(text),
        Err(bytes) => beyond_ascii(env, value, bytes),
    }
}

fn beyond_ascii(env: sys::napi_env, value: sys::napi_value, bytes: Vec<u8>) -> Result<Text<'static>> {
    match String::from_utf8(bytes) {
        Ok(text) if !text.contains(char::REPLACEMENT_CHARACTER) => Ok(Text::from(text)),
        _ => utf16(env, value),
    }
}

fn utf16(env: sys::napi_env, value: sys::napi_value) -> Result<Text<'static>> {
    let mut length = units(env, value)?;
    let mut units = vec![0u16; length + 1];
    // SAFETY: the buffer has room for the text and the terminator that the runtime writes behind it.
    check(unsafe {
        sys::napi_get_value_string_utf16(env, value, units.as_mut_ptr().cast(), units.len(), &raw mut length)
    })?;
    Ok(Text::from_utf16(units.get(..length).unwrap_or_default()))
}

/// How many units of UTF-16 a text has. The runtime need not look at it for that.
fn units(env: sys::napi_env, value: sys::napi_value) -> Result<usize> {
    let mut length = 0;
    // SAFETY: the value is of the callback that runs; without a buffer only the length is asked for.
    check(unsafe { sys::napi_get_value_string_utf16(env, value, ptr::null_mut(), 0, &raw mut length) })?;
    Ok(length)
}

/// Reads a text as UTF-8 as far as there is room for it, which is made for so many bytes at least. Says whether that is all;
/// `None` for what is no text.
#[inline]
fn utf8(env: sys::napi_env, value: sys::napi_value, room: &mut Vec<u8>, least: usize) -> Result<Option<bool>> {
    room.clear();
    room.reserve(least);
    let (most, mut length) = (room.capacity(), 0);
    // SAFETY: the value is of the callback that runs; the buffer has that much room, the terminator counted.
    let status =
        unsafe { sys::napi_get_value_string_utf8(env, value, room.as_mut_ptr().cast(), most, &raw mut length) };
    if status == sys::Status::napi_string_expected {
        return Ok(None);
    }
    check(status)?;
    // SAFETY: the runtime has written so many bytes, which are no more than there is room for.
    unsafe { room.set_len(length.min(most)) };
    // A text that did not fit ends before the first character that has no room.
    Ok(Some(length + CHARACTER_MAX < most))
}

/// Reads all of a text as UTF-8, however long it is.
#[cold]
fn whole(env: sys::napi_env, value: sys::napi_value, room: &mut Vec<u8>) -> Result<()> {
    let mut length = units(env, value)? * UNIT_MAX;
    if length > ROOM_MAX * UNIT_MAX {
        // To count costs about as much as to read; here it may save more memory than that is worth.
        // SAFETY: the value is of the callback that runs; without a buffer only the length is asked for.
        check(unsafe { sys::napi_get_value_string_utf8(env, value, ptr::null_mut(), 0, &raw mut length) })?;
    }
    utf8(env, value, room, length + CHARACTER_MAX + 1)?;
    Ok(())
}

impl Room {
    /// The status part of an answer that is nothing but a text, put into its place; that is left as it is where there is no text.
    fn answer(&mut self, env: sys::napi_env, value: sys::napi_value, limit: usize, answer: &mut Answer) -> Result<()> {
        let room = &mut self.answer;
        let Some(is_all) = utf8(env, value, room, ROOM)? else {
            return match type_of(env, value)? {
                sys::ValueType::napi_undefined => Ok(()),
                _ => Err(Fault::BadRequest("an answer that is no text".to_owned()).into()),
            };
        };
        let first = room.iter().find(|byte| !matches!(byte, b'\t' | b'\n' | b'\r' | b' '));
        let may_be_json = first.map_or(!is_all, |byte| matches!(byte, b'{' | b'['));
        if may_be_json && !is_all {
            whole(env, value, room)?;
        } else if !is_all && room.len() < limit * CHARACTER_MAX {
            utf8(env, value, room, limit * CHARACTER_MAX + 1)?;
        }
        // Of ASCII so many bytes are so many characters: no more of it need be looked at.
        let read = match room.get(..limit) {
            Some(head) if !may_be_json && head.is_ascii() => head,
            _ => room.as_slice(),
        };
        let text = std::str::from_utf8(read).map_or_else(|_| String::from_utf8_lossy(read), Cow::Borrowed);
        if may_be_json {
            *answer = Answer::of_text(&text, limit);
        } else {
            *answer = Answer::Text(beginning(&text, limit));
        }
        drop(text);
        // Nothing of an answer is kept behind what was taken out of it.
        room.clear();
        if room.capacity() > ROOM_MAX {
            *room = Vec::new();
        }
        Ok(())
    }
}
