//! The few `str` methods of Python that the server's rules are made of, with Python's meaning.
//!
//! Rust's `char::is_alphanumeric` and `str::trim` are close and wrong: the server keeps `²`, drops combining marks that
//! Rust calls alphabetic, and strips U+001C. The tables come from Python itself (`tools/generate_unicode.py`).

use super::text::CodePoint;
use super::unicode_tables::{ALNUM, UNSURE};

/// What `str.isalnum` says of one code point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Alnum {
    /// True in every Python that the server may run on.
    Yes,
    /// False in every one.
    No,
    /// It depends on the Unicode version of that Python (15.0 in 3.12, 15.1 in 3.13, 16.0 in 3.14), or the code point is
    /// unassigned and a later version may make it a letter.
    Unsure,
}

/// `str.isalnum` of a single code point.
#[must_use]
pub fn is_alnum(point: CodePoint) -> Alnum {
    if point < 0x80 {
        let letter = u8::try_from(point).is_ok_and(|byte| byte.is_ascii_alphanumeric());
        return if letter { Alnum::Yes } else { Alnum::No };
    }
    if in_ranges(&ALNUM, point) {
        Alnum::Yes
    } else if in_ranges(&UNSURE, point) {
        Alnum::Unsure
    } else {
        Alnum::No
    }
}

/// `str.isspace` of a single code point, which is what `str.strip()` strips.
#[must_use]
pub const fn is_space(point: CodePoint) -> bool {
    matches!(
        point,
        0x09..=0x0D
            | 0x1C..=0x20
            | 0x85
            | 0xA0
            | 0x1680
            | 0x2000..=0x200A
            | 0x2028
            | 0x2029
            | 0x202F
            | 0x205F
            | 0x3000
    )
}

/// `str.strip()` of a text without lone surrogates.
#[must_use]
pub fn trim(text: &str) -> &str {
    text.trim_matches(|character| is_space(CodePoint::from(character)))
}

/// `str.strip()`.
#[must_use]
pub fn strip(points: &[CodePoint]) -> &[CodePoint] {
    strip_matching(points, is_space)
}

/// `str.rstrip()`.
#[must_use]
pub fn strip_right(points: &[CodePoint]) -> &[CodePoint] {
    let end = points.iter().rposition(|point| !is_space(*point)).map_or(0, |last| last + 1);
    points.get(..end).unwrap_or_default()
}

/// `str.strip(characters)` with the characters that `of` accepts.
#[must_use]
pub fn strip_matching(points: &[CodePoint], of: impl Fn(CodePoint) -> bool) -> &[CodePoint] {
    let Some(start) = points.iter().position(|point| !of(*point)) else {
        return &[];
    };
    let end = points.iter().rposition(|point| !of(*point)).map_or(start, |last| last + 1);
    points.get(start..end).unwrap_or_default()
}

/// Binary search in sorted, inclusive ranges.
pub(crate) fn in_ranges(ranges: &[(CodePoint, CodePoint)], point: CodePoint) -> bool {
    ranges
        .binary_search_by(|&(first, last)| {
            if last < point {
                std::cmp::Ordering::Less
            } else if first > point {
                std::cmp::Ordering::Greater
            } else {
                std::cmp::Ordering::Equal
            }
        })
        .is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_rust_and_python_differ() {
        for yes in ['²', '½', 'é', '中', '٣', 'Ⅷ'] {
            assert_eq!(is_alnum(yes.into()), Alnum::Yes, "{yes}");
        }
        // Rust calls these alphabetic; Python drops them, so a Hindi folder loses its vowel signs.
        for no in ['\u{93F}', '\u{345}', '🚀', 'ⓘ', '\u{E000}', '\u{FFFF}'] {
            assert_eq!(is_alnum(no.into()), Alnum::No, "{no}");
        }
        assert_eq!(is_alnum(0x378), Alnum::Unsure, "unassigned");
        assert_eq!(is_alnum(0x2EBF0), Alnum::Unsure, "a letter from Unicode 15.1 on");
        assert_eq!(is_alnum(0xD800), Alnum::No, "lone surrogate");
    }

    #[test]
    fn stripping() {
        let points = |text: &str| text.chars().map(CodePoint::from).collect::<Vec<_>>();
        assert_eq!(strip(&points("\u{1C} a b\u{A0}\n")), points("a b"));
        assert_eq!(strip(&points("\u{1F}\u{3000}")), points(""));
        assert_eq!(strip_right(&points(" a ")), points(" a"));
        assert_eq!(strip(&points("\u{200B}a")), points("\u{200B}a"), "not a space");
    }
}
