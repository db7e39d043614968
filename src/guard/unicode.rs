//! Unicode properties that the path guard needs and the standard library lacks.
//!
//! Three short tables; a test compares them with a second source, code point by code point.

use crate::note::python::in_ranges;
use crate::note::text::CodePoint;

/// `General_Category=Cc`: C0, DEL and C1.
pub(super) const fn is_control(point: CodePoint) -> bool {
    matches!(point, 0..=0x1F | 0x7F..=0x9F)
}

/// `Bidi_Control`: characters that reorder what a reader sees.
pub(super) const fn is_bidi(point: CodePoint) -> bool {
    matches!(point, 0x061C | 0x200E | 0x200F | 0x202A..=0x202E | 0x2066..=0x2069)
}

/// `Default_Ignorable_Code_Point`: nothing is drawn for it, so a name with it is not the name it looks like.
pub(super) fn is_default_ignorable(point: CodePoint) -> bool {
    in_ranges(&DEFAULT_IGNORABLE, point)
}

/// `Extended_Pictographic`: what can start an emoji sequence or follow a joiner in one.
pub(super) fn is_pictographic(point: CodePoint) -> bool {
    in_ranges(&EXTENDED_PICTOGRAPHIC, point)
}

/// `Emoji_Modifier`: the five skin tones.
pub(super) const fn is_skin_tone(point: CodePoint) -> bool {
    matches!(point, 0x1F3FB..=0x1F3FF)
}

const DEFAULT_IGNORABLE: [(CodePoint, CodePoint); 17] = [
    (0x00AD, 0x00AD),
    (0x034F, 0x034F),
    (0x061C, 0x061C),
    (0x115F, 0x1160),
    (0x17B4, 0x17B5),
    (0x180B, 0x180F),
    (0x200B, 0x200F),
    (0x202A, 0x202E),
    (0x2060, 0x206F),
    (0x3164, 0x3164),
    (0xFE00, 0xFE0F),
    (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0),
    (0xFFF0, 0xFFF8),
    (0x1BCA0, 0x1BCA3),
    (0x1D173, 0x1D17A),
    (0xE0000, 0xE0FFF),
];

#[rustfmt::skip]
const EXTENDED_PICTOGRAPHIC: [(CodePoint, CodePoint); 78] = [
    (0x00A9, 0x00A9), (0x00AE, 0x00AE), (0x203C, 0x203C), (0x2049, 0x2049), (0x2122, 0x2122), (0x2139, 0x2139),
    (0x2194, 0x2199), (0x21A9, 0x21AA), (0x231A, 0x231B), (0x2328, 0x2328), (0x2388, 0x2388), (0x23CF, 0x23CF),
    (0x23E9, 0x23F3), (0x23F8, 0x23FA), (0x24C2, 0x24C2), (0x25AA, 0x25AB), (0x25B6, 0x25B6), (0x25C0, 0x25C0),
    (0x25FB, 0x25FE), (0x2600, 0x2605), (0x2607, 0x2612), (0x2614, 0x2685), (0x2690, 0x2705), (0x2708, 0x2712),
    (0x2714, 0x2714), (0x2716, 0x2716), (0x271D, 0x271D), (0x2721, 0x2721), (0x2728, 0x2728), (0x2733, 0x2734),
    (0x2744, 0x2744), (0x2747, 0x2747), (0x274C, 0x274C), (0x274E, 0x274E), (0x2753, 0x2755), (0x2757, 0x2757),
    (0x2763, 0x2767), (0x2795, 0x2797), (0x27A1, 0x27A1), (0x27B0, 0x27B0), (0x27BF, 0x27BF), (0x2934, 0x2935),
    (0x2B05, 0x2B07), (0x2B1B, 0x2B1C), (0x2B50, 0x2B50), (0x2B55, 0x2B55), (0x3030, 0x3030), (0x303D, 0x303D),
    (0x3297, 0x3297), (0x3299, 0x3299), (0x1F000, 0x1F0FF), (0x1F10D, 0x1F10F), (0x1F12F, 0x1F12F),
    (0x1F16C, 0x1F171), (0x1F17E, 0x1F17F), (0x1F18E, 0x1F18E), (0x1F191, 0x1F19A), (0x1F1AD, 0x1F1E5),
    (0x1F201, 0x1F20F), (0x1F21A, 0x1F21A), (0x1F22F, 0x1F22F), (0x1F232, 0x1F23A), (0x1F23C, 0x1F23F),
    (0x1F249, 0x1F3FA), (0x1F400, 0x1F53D), (0x1F546, 0x1F64F), (0x1F680, 0x1F6FF), (0x1F774, 0x1F77F),
    (0x1F7D5, 0x1F7FF), (0x1F80C, 0x1F80F), (0x1F848, 0x1F84F), (0x1F85A, 0x1F85F), (0x1F888, 0x1F88F),
    (0x1F8AE, 0x1F8FF), (0x1F90C, 0x1F93A), (0x1F93C, 0x1F945), (0x1F947, 0x1FAFF), (0x1FC00, 0x1FFFD),
];

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::hir::{Class, HirKind};

    fn property(name: &str) -> Vec<(CodePoint, CodePoint)> {
        let hir = regex_syntax::parse(&format!(r"\p{{{name}}}")).unwrap();
        let HirKind::Class(Class::Unicode(class)) = hir.kind() else {
            panic!("{name} is no class");
        };
        class.ranges().iter().map(|range| (range.start().into(), range.end().into())).collect()
    }

    #[test]
    fn tables_agree_with_a_second_source() {
        assert_eq!(property("Default_Ignorable_Code_Point"), DEFAULT_IGNORABLE);
        assert_eq!(property("Extended_Pictographic"), EXTENDED_PICTOGRAPHIC);
        for (name, ours) in
            [("Bidi_Control", is_bidi as fn(CodePoint) -> bool), ("Emoji_Modifier", is_skin_tone), ("Cc", is_control)]
        {
            let ranges = property(name);
            for point in 0..0x110000 {
                assert_eq!(in_ranges(&ranges, point), ours(point), "{name} U+{point:04X}");
            }
        }
    }
}
