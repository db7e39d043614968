//! The arguments of one call, as they were given, sorted by what may be done with them.
//!
//! Values of the server's parameters are held under their canonical names. Note content is [`Sealed`]: it can be digested,
//! and looked at only by who holds an [`InspectContent`], which exists only where the configuration sets `inspectContent`.
//! A parameter that no table knows is sealed too, since what it holds is not known.

use std::rc::Rc;

use super::{Argument, Family, LaxBool, Role, doubled, lax_bool};
use crate::note::python::strip;
use crate::note::text::{CodePoint, Text};
use crate::policy::{Digester, EffectKeys};

/// A JSON value, without loss.
#[derive(Clone, PartialEq)]
pub enum Json {
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// A string.
    Text(Text<'static>),
    /// An array.
    List(Vec<Json>),
    /// An object's own entries, in order.
    Object(Vec<(Text<'static>, Json)>),
    /// What lies deeper than [`DEPTH_MAX`], or beyond [`VALUES_MAX`] values: that it is there is all that is known of it.
    Beyond,
}

/// Levels of a value that are read. No note needs as many, and following more would only cost.
pub const DEPTH_MAX: usize = 100;

/// Values of one call that are read, the nested ones counted. It bounds the time and memory of values that hold one another.
pub const VALUES_MAX: usize = 1_000_000;

/// The permission to look at note content. It can only be had from a configuration that sets `inspectContent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InspectContent(());

impl InspectContent {
    /// The permission, if the configuration gives it.
    pub(crate) const fn granted(set: bool) -> Option<InspectContent> {
        if set { Some(InspectContent(())) } else { None }
    }
}

/// Note content: nobody looks at it without a permission, other than to digest it.
pub struct Sealed(Json);

impl Sealed {
    /// The content, for who may look at it.
    #[must_use]
    pub fn open(&self, _: InspectContent) -> &Json {
        &self.0
    }

    /// Puts the content into a one-way digest.
    pub(crate) fn digest(&self, keys: &EffectKeys, into: &mut Digester) {
        match &self.0 {
            Json::Text(text) => into.long_text(keys, text),
            other => into.json(other),
        }
    }

    /// Whether it is this, as far as a default can be.
    pub(crate) fn is(&self, expected: &Json) -> bool {
        self.0 == *expected
    }

    /// Puts a section's heading into a one-way digest, as the server compares it: one without marks is of the second level,
    /// and white space around it does not matter.
    pub(crate) fn digest_heading(&self, into: &mut Digester) {
        match &self.0 {
            Json::Text(text) => {
                let mut points: Vec<CodePoint> = text.code_points().collect();
                if points.first() != Some(&CodePoint::from('#')) {
                    points.splice(0..0, "## ".chars().map(CodePoint::from));
                }
                into.text(&Text::from_code_points(strip(&points).iter().copied()));
            }
            other => into.json(other),
        }
    }
}

/// A value, and whether it may be looked at.
pub enum Held {
    /// A name, a path, a tag, a switch.
    Open(Json),
    /// Note content, or what is not known to be none.
    Sealed(Sealed),
}

impl Held {
    fn of(family: Option<&Family>, value: Json) -> Held {
        if family.is_some_and(|family| family.role != Role::Content) {
            Held::Open(value)
        } else {
            Held::Sealed(Sealed(value))
        }
    }
}

/// One argument.
#[derive(Clone, Copy)]
pub struct Entry<'a> {
    /// The server's parameter; `None` for a name that no release takes.
    pub family: Option<&'static Family>,
    /// The name that the call used.
    pub name: &'a Text<'static>,
    /// The value.
    pub held: &'a Held,
}

/// The names of a call's arguments, looked up in the tool's table once for all calls that have them.
pub struct Names {
    names: Vec<(Option<&'static Family>, Text<'static>)>,
    doubled: bool,
}

impl Names {
    /// Looks names up. `tool` is the server's own name of the tool.
    #[must_use]
    pub fn of(tool: Option<&str>, names: Vec<Text<'static>>) -> Names {
        let tool = tool.and_then(super::tool);
        let family = |name: &Text<'_>| match tool {
            Some(tool) => tool.family(name.as_str()?),
            // Of a tool that no table knows, a name means what it means on the tools that write.
            None => super::table::TOOLS.iter().find_map(|tool| tool.family(name.as_str()?)),
        };
        let doubled = tool.is_some_and(|tool| doubled(tool, names.iter().filter_map(Text::as_str)).is_some());
        Names { names: names.into_iter().map(|name| (family(&name), name)).collect(), doubled }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Bytes of the longest one.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.names.iter().map(|(_, name)| name.as_bytes().len()).max().unwrap_or_default()
    }
}

/// The arguments of a call: one JSON object.
pub struct Given {
    names: Rc<Names>,
    values: Vec<Held>,
}

impl std::fmt::Debug for Given {
    /// Never a value: arguments do not reach a log.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Given({} arguments)", self.values.len())
    }
}

impl Given {
    /// Sorts the own entries of a call's arguments. `tool` is the server's own name of the tool.
    #[must_use]
    pub fn of(tool: Option<&str>, object: Vec<(Text<'static>, Json)>) -> Given {
        let (names, values): (Vec<_>, Vec<_>) = object.into_iter().unzip();
        let names = Names::of(tool, names);
        let held = |(value, (family, _)): (Json, &(Option<&'static Family>, _))| Held::of(*family, value);
        let values = values.into_iter().zip(&names.names).map(held).collect();
        Given { names: Rc::new(names), values }
    }

    /// Arguments under names that were looked up before, each of them null. `values` is what [`Given::into_room`] has left of
    /// others under these names, or an empty list.
    #[must_use]
    pub fn under(names: &Rc<Names>, mut values: Vec<Held>) -> Given {
        if values.len() != names.len() {
            values.clear();
            values.extend(names.names.iter().map(|(family, _)| Held::of(*family, Json::Null)));
        }
        Given { names: Rc::clone(names), values }
    }

    /// Sets the value at this place; without effect where there is none.
    pub fn set(&mut self, index: usize, value: Json) {
        if let (Some(held), Some((family, _))) = (self.values.get_mut(index), self.names.names.get(index)) {
            *held = Held::of(*family, value);
        }
    }

    /// Sets a text as the value at this place; without effect where there is none.
    #[inline]
    pub fn set_text(&mut self, index: usize, text: Text<'static>) {
        // Where a text was the new one goes straight into its place: moving the value around it costs more than to read it.
        match self.values.get_mut(index) {
            Some(Held::Open(Json::Text(place)) | Held::Sealed(Sealed(Json::Text(place)))) => *place = text,
            _ => self.set(index, Json::Text(text)),
        }
    }

    /// What can be used for other arguments under these names. Nothing is left of the values: each text is empty, and what
    /// held it is handed over, emptied.
    pub fn into_room(mut self, mut take: impl FnMut(Vec<u8>)) -> Vec<Held> {
        // From the last one, so that who takes from the end of what was kept begins with the first.
        for held in self.values.iter_mut().rev() {
            match held {
                Held::Open(Json::Text(text)) | Held::Sealed(Sealed(Json::Text(text))) => {
                    take(std::mem::take(text).into_room());
                }
                Held::Open(value) | Held::Sealed(Sealed(value)) => *value = Json::Null,
            }
        }
        self.values
    }

    /// Whether one parameter is given under two names, which the server refuses.
    #[must_use]
    pub fn is_doubled(&self) -> bool {
        self.names.doubled
    }

    /// Every argument, in the order of the call.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        self.names.names.iter().zip(&self.values).map(|((family, name), held)| Entry { family: *family, name, held })
    }

    /// The value of a parameter by its canonical name, unless it is content.
    #[must_use]
    pub fn get(&self, parameter: &str) -> Option<&Json> {
        self.entries().find_map(|entry| match entry.held {
            Held::Open(value) if entry.family.is_some_and(|family| family.name == parameter) => Some(value),
            _ => None,
        })
    }

    /// The text of a parameter; `None` where it is absent, null or no text.
    #[must_use]
    pub fn text(&self, parameter: &str) -> Option<&Text<'static>> {
        match self.get(parameter)? {
            Json::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Whether a parameter is given with another value than null.
    #[must_use]
    pub fn names(&self, parameter: &str) -> bool {
        self.get(parameter).is_some_and(|value| *value != Json::Null)
    }

    /// A boolean parameter, as laxly as the server reads it.
    #[must_use]
    pub fn bool(&self, parameter: &str) -> LaxBool {
        lax_bool(self.get(parameter).map(Json::argument).as_ref())
    }
}

impl Json {
    /// The value as far as the server's lax rules need it.
    #[must_use]
    pub fn argument(&self) -> Argument<'_> {
        match self {
            Json::Null => Argument::Null,
            Json::Bool(value) => Argument::Bool(*value),
            Json::Number(value) => Argument::Number(*value),
            Json::Text(text) => Argument::Text(text.clone()),
            Json::List(_) | Json::Object(_) | Json::Beyond => Argument::Composite,
        }
    }

    /// Calls the function with every text in the value, keys included. Depth is bounded by [`DEPTH_MAX`].
    pub fn each_text(&self, visit: &mut dyn FnMut(&Text<'static>)) {
        match self {
            Json::Text(text) => visit(text),
            Json::List(items) => items.iter().for_each(|item| item.each_text(visit)),
            Json::Object(entries) => entries.iter().for_each(|(key, value)| {
                visit(key);
                value.each_text(visit);
            }),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::Beyond => {}
        }
    }

    /// The value of a `serde_json` value.
    #[must_use]
    pub fn from_serde(value: &serde_json::Value) -> Json {
        Json::from_serde_at(value, 0)
    }

    fn from_serde_at(value: &serde_json::Value, depth: usize) -> Json {
        use serde_json::Value;
        match value {
            Value::Null => Json::Null,
            Value::Bool(value) => Json::Bool(*value),
            Value::Number(number) => Json::Number(number.as_f64().unwrap_or(f64::NAN)),
            Value::String(text) => Json::Text(Text::from(text.clone())),
            Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => Json::Beyond,
            Value::Array(items) => Json::List(items.iter().map(|item| Json::from_serde_at(item, depth + 1)).collect()),
            Value::Object(map) => Json::Object(
                map.iter()
                    .map(|(key, value)| (Text::from(key.clone()), Json::from_serde_at(value, depth + 1)))
                    .collect(),
            ),
        }
    }
}

/// The arguments of a call.
#[derive(Debug)]
pub enum Arguments {
    /// Not one JSON object: text that did not parse, a list, null, nothing.
    NotAnObject,
    /// One JSON object.
    Object(Given),
}

impl Arguments {
    /// The arguments of a call of this tool, by the server's own name of it.
    #[must_use]
    pub fn of(tool: Option<&str>, value: &serde_json::Value) -> Arguments {
        match Json::from_serde(value) {
            Json::Object(entries) => Arguments::Object(Given::of(tool, entries)),
            _ => Arguments::NotAnObject,
        }
    }
}
