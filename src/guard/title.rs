//! The title's part of `pathGuard`: a title becomes one file name, so what matters is what that name looks like.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::path::{TITLE_MAX, Unsafe};
use super::unicode::{is_bidi, is_control, is_default_ignorable, is_pictographic, is_skin_tone};
use crate::note::path::title_as_written;
use crate::note::python::strip;
use crate::note::text::{CodePoint, Text};

/// Judges a title after the server's mapping.
pub(super) fn check_title(points: &[CodePoint]) -> Option<Unsafe> {
    let title = title_as_written(points);
    if strip(&title).is_empty() {
        return Some(Unsafe::Empty);
    }
    let text = Text::from_code_points(title.iter().copied());
    if text.as_bytes().len() > TITLE_MAX {
        return Some(Unsafe::TooLong);
    }
    let found = title.iter().enumerate().find_map(|(at, point)| match *point {
        point if is_control(point) => Some(Unsafe::Control),
        point if is_bidi(point) => Some(Unsafe::Bidi),
        point if is_default_ignorable(point) && !is_orthography(&title, at) => Some(Unsafe::Ignorable),
        _ => None,
    });
    found.or_else(|| is_device(&title).then_some(Unsafe::Device))
}

/// Whether the invisible character at `at` is part of ordinary writing: a variation selector or a joiner inside an emoji
/// sequence, or a (non-)joiner between letters, as Persian and the Indic scripts need it.
fn is_orthography(title: &[CodePoint], at: usize) -> bool {
    const ZWNJ: CodePoint = 0x200C;
    const ZWJ: CodePoint = 0x200D;
    const KEYCAP: CodePoint = 0x20E3;
    let (before, after) = title.split_at(at);
    let next = after.get(1).copied();
    let last = before.last().copied();
    match after.first().copied() {
        Some(0xFE0E | 0xFE0F) => match last {
            // `1`, VS16, keycap is an emoji; `1`, VS16 alone only looks like a `1`.
            Some(0x23 | 0x2A | 0x30..=0x39) => next == Some(KEYCAP),
            Some(last) => is_pictographic(last),
            None => false,
        },
        Some(ZWJ) if joins_emoji(before, next) => true,
        Some(ZWNJ | ZWJ) => {
            // A virama or another mark may stand between the letter and the joiner.
            let letter = before.iter().rev().find(|point| !is_mark(**point));
            letter.is_some_and(|point| is_letter(*point)) && next.is_some_and(is_letter)
        }
        _ => false,
    }
}

fn joins_emoji(before: &[CodePoint], next: Option<CodePoint>) -> bool {
    let base = match before {
        [.., base, 0xFE0F] => Some(*base),
        [.., base, tone] if is_skin_tone(*tone) => Some(*base),
        [.., base] => Some(*base),
        [] => None,
    };
    base.is_some_and(is_pictographic) && next.is_some_and(is_pictographic)
}

fn is_letter(point: CodePoint) -> bool {
    char::from_u32(point).is_some_and(char::is_alphabetic)
}

fn is_mark(point: CodePoint) -> bool {
    char::from_u32(point).is_some_and(is_combining_mark)
}

/// Letters of the longest device's name.
pub(super) const DEVICE_MAX: usize = "CONOUT$".len();

/// Windows opens a device for `CON`, and for `con.anything`.
fn is_device(title: &[CodePoint]) -> bool {
    let name: String = title
        .iter()
        .map(|point| char::from_u32(*point).unwrap_or(char::REPLACEMENT_CHARACTER))
        .nfkc()
        .flat_map(char::to_uppercase)
        .collect();
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ');
    match stem {
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$" => true,
        _ => stem
            .strip_prefix("COM")
            .or_else(|| stem.strip_prefix("LPT"))
            .is_some_and(|port| matches!(port.as_bytes(), [b'1'..=b'9'])),
    }
}
