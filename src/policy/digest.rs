//! The keyed one-way digest under which a turn remembers what was written.
//!
//! Only the digest is held, never the arguments; the key is drawn per process by the caller, so that a digest says nothing
//! to who does not have it, and the turn's end drops the digests.

use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher24};

use crate::argument::given::{Given, Held, Json};
use crate::argument::{Family, Fixed, LaxBool, Omitted, Role, Shape, lax_bool, lax_integer};
use crate::note::text::Text;

/// The key of a process's digests. 128 random bits.
#[derive(Clone, Copy)]
pub struct DigestKey(pub [u8; 16]);

impl std::fmt::Debug for DigestKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("DigestKey")
    }
}

/// A digest: equal for equal meanings, and for nothing else that one could find.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Digest(u128);

/// Takes values in, each with its kind and length, so that no two sequences of values are taken in as the same bytes.
pub(crate) struct Digester(SipHasher24);

impl Digester {
    pub(crate) fn new(key: &DigestKey) -> Digester {
        Digester(SipHasher24::new_with_key(&key.0))
    }

    pub(crate) fn finish(&self) -> Digest {
        Digest(self.0.finish128().as_u128())
    }

    fn tag(&mut self, tag: u8) {
        self.0.write(&[tag]);
    }

    fn count(&mut self, count: usize) {
        self.0.write(&(count as u64).to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.tag(b'b');
        self.count(bytes.len());
        self.0.write(bytes);
    }

    pub(crate) fn text(&mut self, text: &Text<'_>) {
        self.tag(b't');
        self.count(text.as_bytes().len());
        self.0.write(text.as_bytes());
    }

    fn number(&mut self, number: f64) {
        self.tag(b'#');
        // `-0` and `0` are one number.
        self.0.write(&(if number == 0.0 { 0.0 } else { number }).to_bits().to_le_bytes());
    }

    fn bool(&mut self, value: bool) {
        self.tag(if value { b'1' } else { b'0' });
    }

    fn nothing(&mut self) {
        self.tag(b'-');
    }

    /// A JSON value; the order of an object's keys does not matter.
    pub(crate) fn json(&mut self, value: &Json) {
        match value {
            Json::Null => self.nothing(),
            // Two writes that differ only beyond what is read count as one, which is the stricter reading.
            Json::Beyond => self.tag(b'>'),
            Json::Bool(value) => self.bool(*value),
            Json::Number(number) => self.number(*number),
            Json::Text(text) => self.text(text),
            Json::List(items) => {
                self.tag(b'[');
                self.count(items.len());
                for item in items {
                    self.json(item);
                }
            }
            Json::Object(entries) => {
                self.tag(b'{');
                self.count(entries.len());
                let mut sorted: Vec<_> = entries.iter().collect();
                sorted.sort_by(|(a, _), (b, _)| a.cmp(b));
                for (key, value) in sorted {
                    self.text(key);
                    self.json(value);
                }
            }
        }
    }
}

/// Digests what a write does, apart from the note that it does it to: the parameters by their canonical names, each as the
/// server reads it, an omitted one as its default. How the answer looks and what must hold before (a checksum, a count) do not
/// matter, nor does what an operation makes no use of; `skip` names the parameters that say which note it is.
pub(crate) fn of_effect(key: &DigestKey, tool: &str, given: &Given, skip: &[&str]) -> Digest {
    let mut digester = Digester::new(key);
    digester.bytes(tool.as_bytes());
    let families = crate::argument::tool(tool).map_or(&[][..], |tool| tool.families);
    let held = |name: &str| given.entries().find(|entry| entry.family.is_some_and(|f| f.name == name)).map(|e| &e.held);
    let unused = if tool == "edit_note" { unused(key, given, held("content")) } else { &[] };
    let counts = |family: &&Family| {
        family.role != Role::Presentation
            && !skip.contains(&family.name)
            && !PRECONDITIONS.contains(&family.name)
            && !unused.contains(&family.name)
    };
    for family in families.iter().filter(counts) {
        digester.bytes(family.name.as_bytes());
        match held(family.name) {
            Some(Held::Open(value)) if *value != Json::Null => meaning(&mut digester, family, value),
            Some(Held::Sealed(sealed)) if family.name == "section" => sealed.digest_heading(&mut digester),
            Some(Held::Sealed(sealed)) => sealed.digest(&mut digester),
            _ => omitted(&mut digester, family),
        }
    }
    let mut unknown: Vec<_> = given.entries().filter(|entry| entry.family.is_none()).collect();
    unknown.sort_by(|a, b| a.name.cmp(&b.name));
    for entry in unknown {
        digester.text(&entry.name);
        match &entry.held {
            Held::Open(value) => digester.json(value),
            Held::Sealed(sealed) => sealed.digest(&mut digester),
        }
    }
    digester.finish()
}

/// What must hold before a write is done. The same write with another of them is the same write.
const PRECONDITIONS: &[&str] = &["expected_checksum", "expected_replacements"];

/// The parameters of an edit that change nothing of what it does. An edit that adds text adds it whatever fields it sets
/// beside it; only where it adds none (an empty append is how fields alone are set) are they what it does.
fn unused(key: &DigestKey, given: &Given, content: Option<&Held>) -> &'static [&'static str] {
    let digested = |write: &dyn Fn(&mut Digester)| {
        let mut digester = Digester::new(key);
        write(&mut digester);
        digester.finish()
    };
    let nothing = digested(&|into| into.text(&Text::from("")));
    let adds_text = content.is_some_and(|held| match held {
        Held::Sealed(sealed) => digested(&|into| sealed.digest(into)) != nothing,
        Held::Open(_) => true,
    });
    match (given.text("operation").and_then(|text| text.as_str()), adds_text) {
        (Some("append" | "prepend"), true) => &["section", "find_text", "replace_subsections", "metadata"],
        (Some("append" | "prepend"), false) => &["section", "find_text", "replace_subsections"],
        (Some("insert_before_section" | "insert_after_section"), true) => {
            &["find_text", "replace_subsections", "metadata"]
        }
        (Some("insert_before_section" | "insert_after_section"), false) => &["find_text", "replace_subsections"],
        (Some("find_replace"), _) => &["section", "replace_subsections"],
        (Some("replace_section"), _) => &["find_text"],
        _ => &[],
    }
}

/// A value as the server reads it.
fn meaning(digester: &mut Digester, family: &Family, value: &Json) {
    if family.name == "metadata" {
        return fields(digester, value);
    }
    match family.shape {
        Shape::Bool => match lax_bool(Some(&value.argument())) {
            LaxBool::True => digester.bool(true),
            LaxBool::False => digester.bool(false),
            LaxBool::Absent | LaxBool::Invalid => digester.json(value),
        },
        Shape::Integer => match lax_integer(&value.argument()) {
            #[allow(clippy::cast_precision_loss, reason = "a number beyond 2^53 is read as none")]
            Some(number) => digester.number(number as f64),
            None => digester.json(value),
        },
        Shape::Text | Shape::Other => digester.json(value),
    }
}

/// Metadata: an object, or the text of one; one without fields sets nothing.
fn fields(digester: &mut Digester, value: &Json) {
    let parsed = match value {
        Json::Text(text) => text.as_str().and_then(|text| serde_json::from_str(text).ok()),
        _ => None,
    };
    match parsed.as_ref().map(Json::from_serde).as_ref().unwrap_or(value) {
        Json::Object(fields) if fields.is_empty() => digester.nothing(),
        value => digester.json(value),
    }
}

/// What omission means.
fn omitted(digester: &mut Digester, family: &Family) {
    match family.omitted {
        Omitted::Required | Omitted::Null => digester.nothing(),
        Omitted::NullMeans(value) | Omitted::Means(value) => match value {
            Fixed::Bool(value) => digester.bool(value),
            #[allow(clippy::cast_precision_loss, reason = "the defaults are small")]
            Fixed::Integer(number) => digester.number(number as f64),
            Fixed::Number(number) => digester.number(number),
            Fixed::Text(text) => digester.text(&Text::from(text)),
        },
    }
}
