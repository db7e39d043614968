//! Text as it came from the runtime, without loss.
//!
//! A tool argument reaches the gate as UTF-16 (a JavaScript string, which may hold lone surrogates) or as UTF-8
//! (a recorded result, a configuration). Both must compare as what they are: turning a lone surrogate into U+FFFD
//! would make two different notes one. So text is held as **WTF-8**: UTF-8 in which a lone surrogate is written as the
//! three bytes that its number would have.
//!
//! Why WTF-8 and not `&[u16]`: a `&str` is WTF-8 already and is borrowed for nothing, ASCII costs one byte, byte
//! equality is code point equality, and every byte-wise algorithm (the secret matcher, `starts_with`, the 230-byte limit
//! on file names) works on it unchanged. The code points that [`Text::code_points`] yields are exactly those of a Python
//! `str` for the same JSON text, which is what the server's rules are written in.

use std::borrow::Cow;
use std::fmt;

use super::python;

/// A code point as Python sees it: any `u32` up to `0x10FFFF`, surrogates included.
pub type CodePoint = u32;

/// Lossless text: valid WTF-8, borrowed where it can be.
///
/// `Eq`, `Ord` and `Hash` compare code points (WTF-8 bytes sort in code point order). `Debug` prints the length only:
/// a text is an argument, and arguments never reach a log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Text<'a> {
    wtf8: Cow<'a, [u8]>,
}

impl fmt::Debug for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Text({} bytes)", self.wtf8.len())
    }
}

impl<'a> From<&'a str> for Text<'a> {
    fn from(text: &'a str) -> Self {
        Text { wtf8: Cow::Borrowed(text.as_bytes()) }
    }
}

impl From<String> for Text<'static> {
    fn from(text: String) -> Self {
        Text { wtf8: Cow::Owned(text.into_bytes()) }
    }
}

impl Text<'static> {
    /// Bytes that are ASCII.
    ///
    /// # Errors
    ///
    /// The bytes, where they are not.
    pub fn from_ascii(bytes: Vec<u8>) -> Result<Self, Vec<u8>> {
        if bytes.is_ascii() { Ok(Text { wtf8: Cow::Owned(bytes) }) } else { Err(bytes) }
    }

    /// The room that the text's bytes took, emptied.
    #[must_use]
    pub fn into_room(self) -> Vec<u8> {
        let mut room = match self.wtf8 {
            Cow::Owned(bytes) => bytes,
            Cow::Borrowed(_) => Vec::new(),
        };
        room.clear();
        room
    }

    /// Reads UTF-16 code units; surrogate pairs become one code point, lone surrogates stay what they are.
    #[must_use]
    pub fn from_utf16(units: &[u16]) -> Self {
        if units.iter().all(|unit| *unit < 0x80) {
            let ascii = units.iter().map(|unit| u8::try_from(*unit).unwrap_or_default()).collect();
            return Text { wtf8: Cow::Owned(ascii) };
        }
        let mut wtf8 = Vec::with_capacity(units.len() + units.len() / 8);
        for unit in char::decode_utf16(units.iter().copied()) {
            push_code_point(
                &mut wtf8,
                match unit {
                    Ok(character) => CodePoint::from(character),
                    Err(lone) => CodePoint::from(lone.unpaired_surrogate()),
                },
            );
        }
        Text { wtf8: Cow::Owned(wtf8) }
    }

    /// Collects code points. A high surrogate followed by a low one becomes the pair's code point, because both texts
    /// would be the same UTF-16; numbers above `0x10FFFF` cannot be text and are dropped.
    #[must_use]
    pub fn from_code_points(points: impl IntoIterator<Item = CodePoint>) -> Self {
        let mut wtf8 = Vec::new();
        let mut high: Option<CodePoint> = None;
        for point in points {
            if point > 0x10FFFF {
                continue;
            }
            if let Some(first) = high.take() {
                if is_low_surrogate(point) {
                    let pair = 0x10000 + ((first - 0xD800) << 10) + (point - 0xDC00);
                    push_code_point(&mut wtf8, pair);
                    continue;
                }
                push_code_point(&mut wtf8, first);
            }
            if is_high_surrogate(point) {
                high = Some(point);
            } else {
                push_code_point(&mut wtf8, point);
            }
        }
        if let Some(first) = high {
            push_code_point(&mut wtf8, first);
        }
        Text { wtf8: Cow::Owned(wtf8) }
    }
}

impl<'a> Text<'a> {
    /// The text of bytes that [`Text::as_bytes`] gave.
    pub(crate) const fn of_own_bytes(bytes: &'a [u8]) -> Text<'a> {
        Text { wtf8: Cow::Borrowed(bytes) }
    }
}

impl Text<'_> {
    /// The same text, held by this one.
    pub(crate) fn borrowed(&self) -> Text<'_> {
        Text { wtf8: Cow::Borrowed(&self.wtf8) }
    }

    /// The WTF-8 bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.wtf8
    }

    /// The text as `&str`, or `None` where it holds a lone surrogate.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.wtf8).ok()
    }

    /// True where the text holds a lone surrogate, which no UTF-8 file name and no JSON parser of the server accepts.
    #[must_use]
    pub fn has_lone_surrogate(&self) -> bool {
        self.as_str().is_none()
    }

    /// True for the empty text.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.wtf8.is_empty()
    }

    /// The bytes without what Python's `str.strip()` strips, where that is plain to see: `None` where the text begins or ends
    /// with a character that is not ASCII.
    #[must_use]
    pub fn stripped_ascii(&self) -> Option<&[u8]> {
        let kept = |byte: &u8| !python::is_space(CodePoint::from(*byte)) || !byte.is_ascii();
        let Some(start) = self.wtf8.iter().position(kept) else { return Some(&[]) };
        let end = self.wtf8.iter().rposition(kept)?;
        let stripped = self.wtf8.get(start..=end)?;
        let ascii = stripped.first()?.is_ascii() && stripped.last()?.is_ascii();
        ascii.then_some(stripped)
    }

    /// Code points in order, as Python's `str` would iterate.
    #[must_use]
    pub fn code_points(&self) -> CodePoints<'_> {
        CodePoints { rest: &self.wtf8 }
    }

    /// A copy that owns its bytes.
    #[must_use]
    pub fn to_owned_text(&self) -> Text<'static> {
        Text { wtf8: Cow::Owned(self.wtf8.to_vec()) }
    }
}

/// Iterator over the code points of a [`Text`].
#[derive(Clone)]
pub struct CodePoints<'a> {
    rest: &'a [u8],
}

impl Iterator for CodePoints<'_> {
    type Item = CodePoint;

    fn next(&mut self) -> Option<CodePoint> {
        let (point, rest) = match *self.rest {
            [] => return None,
            [a, ref rest @ ..] if a < 0x80 => (CodePoint::from(a), rest),
            [a, b, ref rest @ ..] if a < 0xE0 => (bits(a, 0x1F) << 6 | bits(b, 0x3F), rest),
            [a, b, c, ref rest @ ..] if a < 0xF0 => (bits(a, 0x0F) << 12 | bits(b, 0x3F) << 6 | bits(c, 0x3F), rest),
            [a, b, c, d, ref rest @ ..] => {
                (bits(a, 0x07) << 18 | bits(b, 0x3F) << 12 | bits(c, 0x3F) << 6 | bits(d, 0x3F), rest)
            }
            // A `Text` is valid WTF-8 by construction; this arm only makes the match total.
            [_, ref rest @ ..] => (0xFFFD, rest),
        };
        self.rest = rest;
        Some(point)
    }
}

const fn bits(byte: u8, mask: u8) -> CodePoint {
    (byte & mask) as CodePoint
}

/// True for U+D800 to U+DFFF.
#[must_use]
pub const fn is_surrogate(point: CodePoint) -> bool {
    matches!(point, 0xD800..=0xDFFF)
}

const fn is_high_surrogate(point: CodePoint) -> bool {
    matches!(point, 0xD800..=0xDBFF)
}

const fn is_low_surrogate(point: CodePoint) -> bool {
    matches!(point, 0xDC00..=0xDFFF)
}

/// Appends one code point as WTF-8.
fn push_code_point(wtf8: &mut Vec<u8>, point: CodePoint) {
    if let Some(character) = char::from_u32(point) {
        let mut buffer = [0; 4];
        wtf8.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
    } else if is_surrogate(point) {
        let low = |shift: u32| 0x80 | u8::try_from(point >> shift & 0x3F).unwrap_or(0);
        wtf8.extend_from_slice(&[0xED, low(6), low(0)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_stay_distinct() {
        let a = Text::from_utf16(&[0x61, 0xD800]);
        let b = Text::from_utf16(&[0x61, 0xD801]);
        let c = Text::from_utf16(&[0x61, 0xFFFD]);
        assert!(a != b && a != c && b != c);
        assert_eq!(a.code_points().collect::<Vec<_>>(), [0x61, 0xD800]);
        assert!(a.has_lone_surrogate() && a.as_str().is_none() && !c.has_lone_surrogate());
    }

    #[test]
    fn pairs_are_one_code_point_from_either_side() {
        let rocket = Text::from("\u{1F680}x");
        assert_eq!(Text::from_utf16(&[0xD83D, 0xDE80, 0x78]), rocket);
        assert_eq!(Text::from_code_points([0xD83D, 0xDE80, 0x78]), rocket);
        assert_eq!(rocket.code_points().collect::<Vec<_>>(), [0x1F680, 0x78]);
    }

    #[test]
    fn stripped_as_the_code_points_are() {
        for text in [
            "",
            " ",
            "a",
            " a b\u{1C}",
            "\n\t",
            "\u{85}a",
            "a\u{A0}",
            " \u{E9} ",
            "\u{1F}x\u{1F}",
            "\u{3000}",
            "x\u{E9}y ",
        ] {
            let text = Text::from(text);
            let points: Vec<CodePoint> = text.code_points().collect();
            let slow = Text::from_code_points(python::strip(&points).iter().copied());
            if let Some(fast) = text.stripped_ascii() {
                assert_eq!(fast, slow.as_bytes());
            } else {
                assert!(!slow.as_bytes().is_ascii() || !text.as_bytes().is_ascii());
            }
        }
    }

    #[test]
    fn debug_shows_no_text() {
        assert_eq!(format!("{:?}", Text::from("secret")), "Text(6 bytes)");
    }

    #[test]
    fn every_code_point_survives() {
        for point in (0..=0x10FFFF).filter(|point| point % 7 == 0 || *point < 0x300) {
            let text = Text::from_code_points([point]);
            assert_eq!(text.code_points().collect::<Vec<_>>(), [point]);
        }
    }
}
