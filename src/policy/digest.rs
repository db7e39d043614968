//! The keyed one-way digest under which a turn remembers what was written.
//!
//! Only the digest is held, never the arguments; the key is drawn per process by the caller, so that a digest says nothing
//! to who does not have it, and the turn's end drops the digests.

use std::hash::Hasher as _;

use siphasher::sip128::{Hasher128 as _, SipHasher13};

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

/// Bytes of a long text that become two words.
const BLOCK: usize = 1024;
/// Two words, of which one product is made.
const PAIR: usize = 2 * size_of::<u64>();

/// The keys of an effect's digest: that of all digests, and one number for each word of a block, drawn from it.
///
/// A long text is taken in by blocks: each is shortened to the sum of the products of its words, a number added to each
/// (the NH of UMAC, RFC 4418 section 5.2.2, in words of 64 bits). Two texts of one length shorten alike by a chance of 2⁻⁶⁴
/// for who does not know the numbers; what is short enters the digest as every value does, and so stays one-way.
pub(crate) struct EffectKeys {
    pub(crate) key: DigestKey,
    words: Box<[[u64; 2]; BLOCK / PAIR]>,
}

impl Clone for EffectKeys {
    fn clone(&self) -> EffectKeys {
        EffectKeys { key: self.key, words: self.words.clone() }
    }
}

impl std::fmt::Debug for EffectKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("EffectKeys")
    }
}

impl EffectKeys {
    pub(crate) fn of(key: DigestKey) -> EffectKeys {
        let words = std::array::from_fn(|pair| {
            let mut digester = Digester::new(&key);
            digester.headed(b'w', pair);
            let Digest(words) = digester.finish();
            words
        });
        EffectKeys { key, words: Box::new(words) }
    }

    /// A block in two words. What a short one lacks is zeros; how long a text is enters the digest before.
    fn shortened(&self, block: &[u8]) -> u128 {
        let product = |pair: &[u8; PAIR], [one, two]: &[u64; 2]| {
            let both = u128::from_le_bytes(*pair);
            #[allow(clippy::cast_possible_truncation, reason = "each half in turn")]
            let (first, second) = (both as u64, (both >> 64) as u64);
            u128::from(first.wrapping_add(*one)) * u128::from(second.wrapping_add(*two))
        };
        let (pairs, rest) = block.as_chunks::<PAIR>();
        let whole = pairs.iter().zip(self.words.iter());
        let mut sum = whole.fold(0u128, |sum, (pair, words)| sum.wrapping_add(product(pair, words)));
        if let (false, Some(words)) = (rest.is_empty(), self.words.get(pairs.len())) {
            let mut last = [0; PAIR];
            last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
            sum = sum.wrapping_add(product(&last, words));
        }
        sum
    }
}

/// A digest: equal for equal meanings, and for nothing else that one could find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digest([u64; 2]);

impl std::hash::Hash for Digest {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        state.write_u64(self.spread());
    }
}

impl Digest {
    /// For a hash table: a digest is as good as random, and its key is not known outside.
    pub(super) const fn spread(self) -> u64 {
        let Digest([spread, _]) = self;
        spread
    }

    pub(super) fn to_bytes(self) -> [u8; 16] {
        let Digest([one, two]) = self;
        (u128::from(one) | u128::from(two) << 64).to_le_bytes()
    }

    pub(super) const fn from_bytes(bytes: [u8; 16]) -> Digest {
        let both = u128::from_le_bytes(bytes);
        #[allow(clippy::cast_possible_truncation, reason = "each half in turn")]
        Digest([both as u64, (both >> 64) as u64])
    }
}

/// Bytes that are gathered before the hash function is called: most values are short, and a call costs more than they do.
const GATHERED: usize = 64;

/// Takes values in, each with its kind and length, so that no two sequences of values are taken in as the same bytes.
pub(crate) struct Digester {
    hasher: SipHasher13,
    gathered: [u8; GATHERED],
    length: usize,
}

impl Digester {
    pub(crate) fn new(key: &DigestKey) -> Digester {
        Digester { hasher: SipHasher13::new_with_key(&key.0), gathered: [0; GATHERED], length: 0 }
    }

    pub(crate) fn finish(mut self) -> Digest {
        self.flush();
        let hash = self.hasher.finish128();
        Digest([hash.h1, hash.h2])
    }

    fn flush(&mut self) {
        self.hasher.write(self.gathered.get(..self.length).unwrap_or_default());
        self.length = 0;
    }

    fn write(&mut self, bytes: &[u8]) {
        if bytes.len() > GATHERED - self.length {
            self.flush();
        }
        match self.gathered.get_mut(self.length..self.length + bytes.len()) {
            Some(room) => {
                room.copy_from_slice(bytes);
                self.length += bytes.len();
            }
            None => self.hasher.write(bytes),
        }
    }

    fn tag(&mut self, tag: u8) {
        self.write(&[tag]);
    }

    fn headed(&mut self, tag: u8, count: usize) {
        self.tag(tag);
        self.write(&(count as u64).to_le_bytes());
    }

    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        self.headed(b'b', bytes.len());
        self.write(bytes);
    }

    pub(crate) fn text(&mut self, text: &Text<'_>) {
        self.headed(b't', text.as_bytes().len());
        self.write(text.as_bytes());
    }

    /// A text that may be long.
    pub(crate) fn long_text(&mut self, keys: &EffectKeys, text: &Text<'_>) {
        let bytes = text.as_bytes();
        if bytes.len() <= GATHERED {
            return self.text(text);
        }
        self.headed(b'T', bytes.len());
        for block in bytes.chunks(BLOCK) {
            self.write(&keys.shortened(block).to_le_bytes());
        }
    }

    fn number(&mut self, number: f64) {
        self.tag(b'#');
        // `-0` and `0` are one number.
        self.write(&(if number == 0.0 { 0.0 } else { number }).to_bits().to_le_bytes());
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
                self.headed(b'[', items.len());
                for item in items {
                    self.json(item);
                }
            }
            Json::Object(entries) => {
                self.headed(b'{', entries.len());
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
/// server reads it. A parameter that is omitted, or given as what its omission means, is not there: the two are the same
/// write. How the answer looks and what must hold before (a checksum, a count) do not matter, nor does what an operation makes
/// no use of; `skip` names the parameters that say which note it is.
pub(crate) fn of_effect(keys: &EffectKeys, tool: &str, given: &Given, skip: &[&str]) -> Digest {
    let mut digester = Digester::new(&keys.key);
    digester.bytes(tool.as_bytes());
    let families = crate::argument::tool(tool).map_or(&[][..], |tool| tool.families);
    let unused = if tool == "edit_note" { unused(given) } else { &[] };
    let counts = |family: &Family| {
        family.role != Role::Presentation
            && !skip.contains(&family.name)
            && !PRECONDITIONS.contains(&family.name)
            && !unused.contains(&family.name)
    };
    let mut known: Vec<(usize, &Family, &Held)> = Vec::with_capacity(families.len());
    for entry in given.entries() {
        let Some(family) = entry.family.filter(|family| counts(family)) else { continue };
        let Some(at) = families.iter().position(|of| std::ptr::eq(of, family)) else { continue };
        // Of a parameter under two names the first counts; the server takes no such call.
        if !means_omitted(keys, family, entry.held) && known.iter().all(|(before, ..)| *before != at) {
            known.push((at, family, entry.held));
        }
    }
    known.sort_unstable_by_key(|(at, ..)| *at);
    for (_, family, held) in known {
        digester.bytes(family.name.as_bytes());
        match held {
            Held::Open(value) => meaning(&mut digester, family, value),
            Held::Sealed(sealed) if family.name == "section" => sealed.digest_heading(&mut digester),
            Held::Sealed(sealed) => sealed.digest(keys, &mut digester),
        }
    }
    let mut unknown: Vec<_> = given.entries().filter(|entry| entry.family.is_none()).collect();
    unknown.sort_by(|a, b| a.name.cmp(b.name));
    for entry in unknown {
        digester.text(entry.name);
        match entry.held {
            Held::Open(value) => digester.json(value),
            Held::Sealed(sealed) => sealed.digest(keys, &mut digester),
        }
    }
    digester.finish()
}

/// Whether a value means what its omission means: whether the two would be taken in alike.
fn means_omitted(keys: &EffectKeys, family: &Family, held: &Held) -> bool {
    match (family.omitted, held) {
        (_, Held::Open(Json::Null)) => true,
        (Omitted::Required | Omitted::Null, Held::Open(value)) => family.name == "metadata" && sets_no_fields(value),
        (Omitted::Required | Omitted::Null, Held::Sealed(sealed)) => sealed.is(&Json::Null),
        (Omitted::NullMeans(fixed) | Omitted::Means(fixed), _) => {
            let (mut given, mut omitted) = (Digester::new(&keys.key), Digester::new(&keys.key));
            match held {
                Held::Open(value) => meaning(&mut given, family, value),
                Held::Sealed(sealed) => sealed.digest(keys, &mut given),
            }
            match fixed {
                Fixed::Bool(value) => omitted.bool(value),
                #[allow(clippy::cast_precision_loss, reason = "the defaults are small")]
                Fixed::Integer(number) => omitted.number(number as f64),
                Fixed::Number(number) => omitted.number(number),
                Fixed::Text(text) => omitted.text(&Text::from(text)),
            }
            given.finish() == omitted.finish()
        }
    }
}

/// What must hold before a write is done. The same write with another of them is the same write.
const PRECONDITIONS: &[&str] = &["expected_checksum", "expected_replacements"];

/// The parameters of an edit that change nothing of what it does. An edit that adds text adds it whatever fields it sets
/// beside it; only where it adds none (an empty append is how fields alone are set) are they what it does.
fn unused(given: &Given) -> &'static [&'static str] {
    let content = given.entries().find(|entry| entry.family.is_some_and(|family| family.name == "content"));
    let adds_text = content.is_some_and(|entry| match entry.held {
        Held::Sealed(sealed) => !sealed.is(&Json::Text(Text::from(""))),
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

/// Metadata: an object, or the text of one.
fn fields(digester: &mut Digester, value: &Json) {
    digester.json(parsed(value).as_ref().unwrap_or(value));
}

/// Metadata without fields sets nothing.
fn sets_no_fields(value: &Json) -> bool {
    matches!(parsed(value).as_ref().unwrap_or(value), Json::Object(fields) if fields.is_empty())
}

fn parsed(value: &Json) -> Option<Json> {
    let Json::Text(text) = value else { return None };
    let parsed: Option<serde_json::Value> = text.as_str().and_then(|text| serde_json::from_str(text).ok());
    parsed.as_ref().map(Json::from_serde)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    fn long(keys: &EffectKeys, bytes: &[u8]) -> Digest {
        let mut digester = Digester::new(&keys.key);
        digester.long_text(keys, &Text::from_ascii(bytes.to_vec()).unwrap());
        digester.finish()
    }

    #[test]
    fn long_texts_differ_wherever_they_differ() {
        let keys = EffectKeys::of(DigestKey([6; 16]));
        let mut seen = HashSet::new();
        let mut texts = 0;
        let mut add = |bytes: &[u8]| {
            texts += 1;
            seen.insert(long(&keys, bytes));
            assert_eq!(seen.len(), texts, "{} bytes", bytes.len());
        };
        // Also of nothing but what a short block is filled up with.
        for length in (1..80).chain(BLOCK - 20..BLOCK + 20).chain(3 * BLOCK - 2..3 * BLOCK + 2) {
            add(&vec![b'\0'; length]);
            add(&vec![b'a'; length]);
        }
        for length in [65, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 9] {
            for at in 0..length {
                let mut bytes = vec![b'x'; length];
                bytes[at] = b'y';
                add(&bytes);
            }
        }
        // Two blocks, or two pairs of words, in the other order.
        let block = |byte: u8| vec![byte; BLOCK];
        add(&[block(b'1'), block(b'2')].concat());
        add(&[block(b'2'), block(b'1')].concat());
        add(&[[b'3'; PAIR], [b'4'; PAIR], [b'3'; PAIR], [b'4'; PAIR], [b'5'; PAIR]].concat());
        add(&[[b'4'; PAIR], [b'3'; PAIR], [b'3'; PAIR], [b'4'; PAIR], [b'5'; PAIR]].concat());
    }

    #[test]
    fn a_long_text_is_digested_under_the_key() {
        let text = [b'z'; 200];
        let of = |key: u8| long(&EffectKeys::of(DigestKey([key; 16])), &text);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let keys = EffectKeys::of(DigestKey([1; 16]));
        let distinct: HashSet<u64> = keys.words.iter().flatten().copied().collect();
        assert_eq!(distinct.len(), BLOCK / size_of::<u64>(), "each word has a number of its own");
        // By themselves the numbers decide too: the key of all other digests alone would not hide what is summed.
        let other = EffectKeys { key: keys.key, ..EffectKeys::of(DigestKey([2; 16])) };
        assert_ne!(long(&keys, &text), long(&other, &text));
    }
}
