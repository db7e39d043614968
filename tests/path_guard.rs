//! `pathGuard` against its cases, and against cases generated from the server's strip rule.
#![allow(clippy::unwrap_used)]

use dsh_bmpp::guard::path::{PathArgument, Unsafe, check_path};
use dsh_bmpp::note::python::{Alnum, is_alnum};
use dsh_bmpp::note::text::Text;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Cases {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    argument: String,
    value: String,
    r#unsafe: bool,
    why: String,
}

#[test]
fn every_recorded_case() {
    let cases: Cases = serde_json::from_str(include_str!("cases/path-cases.json")).unwrap();
    assert!(cases.cases.len() >= 90, "{}", cases.cases.len());
    for case in cases.cases {
        let argument = PathArgument::from_name(&case.argument).unwrap();
        let found = check_path(argument, &case.value.as_str().into());
        assert_eq!(found.is_some(), case.r#unsafe, "{} {:?} ({}): {found:?}", case.argument, case.value, case.why);
    }
}

/// Characters that the strip rule drops from a directory, one of each kind and then all of ASCII.
fn stripped_characters() -> Vec<char> {
    let kinds = "\u{301}\u{94D}🚀¡†€\u{200B}\u{202E}\u{E000}\u{FFFD}«∀─☃\u{A0}\u{2028}．／‥";
    let dropped = |character: &char| {
        !matches!(character, '.' | ' ' | '-' | '_' | '\\' | '/') && is_alnum((*character).into()) != Alnum::Yes
    };
    (1..0x100u32).filter_map(char::from_u32).chain(kinds.chars()).filter(dropped).collect()
}

#[test]
fn a_dot_dot_that_stripping_makes_is_found() {
    let mut tried = 0;
    for junk in stripped_characters() {
        for segment in
            [format!("{junk}.."), format!(".{junk}."), format!("..{junk}"), format!("{junk}.{junk}.{junk}{junk}")]
        {
            for directory in [
                segment.clone(),
                format!("a/{segment}"),
                format!("{segment}/b"),
                format!("a/{segment}/../b").replace("../b", "b"),
                format!("{junk}/ {segment}/b"),
            ] {
                let value = Text::from(directory.clone());
                assert!(check_path(PathArgument::Directory, &value).is_some(), "{directory:?}");
                let identifier = Text::from(format!("{directory}/title"));
                assert!(check_path(PathArgument::Identifier, &identifier).is_some(), "{identifier:?} of {directory:?}");
                tried += 1;
            }
        }
    }
    assert!(tried > 2000, "{tried}");
}

#[test]
fn a_reserved_name_that_stripping_makes_is_found() {
    for junk in stripped_characters() {
        for directory in [format!(".g{junk}it"), format!("x/{junk}.GIT{junk}/y"), format!("node{junk}_modules")] {
            assert!(check_path(PathArgument::Directory, &directory.clone().into()).is_some(), "{directory:?}");
        }
    }
}

#[test]
fn what_is_merely_dropped_is_no_finding() {
    for character in "!#$%&'()+,;=@[]^`{}¡«🚀€☃\u{301}".chars() {
        let directory = format!("a{character}b/c{character}");
        assert_eq!(check_path(PathArgument::Directory, &directory.clone().into()), None, "{directory:?}");
    }
}

#[test]
fn the_reason_names_the_finding() {
    for (argument, value, expected) in [
        (PathArgument::Directory, "a/..", Unsafe::DotDot),
        (PathArgument::Directory, "/etc", Unsafe::Absolute),
        (PathArgument::Directory, "\\\\s\\x", Unsafe::Unc),
        (PathArgument::Directory, "c:x", Unsafe::Drive),
        (PathArgument::Directory, "~", Unsafe::Home),
        (PathArgument::Directory, ".g\u{131}t", Unsafe::Reserved),
        (PathArgument::Directory, "a\\b", Unsafe::Backslash),
        (PathArgument::Directory, "ab:c", Unsafe::Colon),
        (PathArgument::Directory, "a\tb", Unsafe::Control),
        (PathArgument::Directory, "a\u{200F}", Unsafe::Bidi),
        (PathArgument::Directory, "a\u{3164}", Unsafe::Ignorable),
        (PathArgument::Identifier, "memory:///etc/x", Unsafe::Absolute),
        (PathArgument::Identifier, "C:\\x", Unsafe::Drive),
        (PathArgument::Identifier, "~/x", Unsafe::Home),
        (PathArgument::Identifier, "main::../x", Unsafe::DotDot),
        (PathArgument::Identifier, "/", Unsafe::Absolute),
        (PathArgument::Title, " \u{3000}", Unsafe::Empty),
        (PathArgument::Title, "nul .txt", Unsafe::Device),
        (PathArgument::Title, "COM\u{B9}", Unsafe::Device),
        (PathArgument::Title, "1\u{FE0F}", Unsafe::Ignorable),
        (PathArgument::Title, "a\u{200D}", Unsafe::Ignorable),
        (PathArgument::ProjectPath, "~/x", Unsafe::Home),
        (PathArgument::ProjectPath, "/srv/.git", Unsafe::Reserved),
        (PathArgument::ProjectPath, "c:x", Unsafe::Drive),
    ] {
        assert_eq!(check_path(argument, &value.into()), Some(expected), "{argument:?} {value:?}");
    }
}

#[test]
fn ordinary_arguments_pass() {
    for (argument, value) in [
        (PathArgument::DestinationFolder, "/"),
        (PathArgument::Directory, " / "),
        (PathArgument::Identifier, "~tilde"),
        (PathArgument::Identifier, "What next..?"),
        (PathArgument::Identifier, "a/..b"),
        (PathArgument::Identifier, "\u{645}\u{6CC}\u{200C}\u{62E}"),
        (PathArgument::Title, "1\u{FE0F}\u{20E3} first"),
        (PathArgument::Title, "\u{1F3F3}\u{FE0F}\u{200D}\u{1F308} flag"),
        (PathArgument::Title, "\u{1F469}\u{1F3FD}\u{200D}\u{1F4BB} at work"),
        (PathArgument::Title, "\u{915}\u{94D}\u{200D}\u{937}"),
        (PathArgument::Title, "Console"),
        (PathArgument::Title, "COM10"),
        (PathArgument::Title, "-.-"),
        (PathArgument::ProjectPath, "C:\\notes"),
        (PathArgument::ProjectPath, "notes"),
    ] {
        assert_eq!(check_path(argument, &value.into()), None, "{argument:?} {value:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_judged(units in prop::collection::vec(any::<u16>(), 0..64)) {
        let text = Text::from_utf16(&units);
        for argument in PathArgument::ALL {
            let _ = check_path(argument, &text);
        }
    }

    #[test]
    fn a_dot_dot_segment_is_never_missed(before in "[a-z/ ]{0,8}", after in "[a-z/ .]{0,8}") {
        let directory = format!("{before}/../{after}");
        for argument in PathArgument::ALL {
            if argument != PathArgument::Title {
                prop_assert!(check_path(argument, &directory.as_str().into()).is_some());
            }
        }
    }
}
