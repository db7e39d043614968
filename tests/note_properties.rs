//! What holds for every text.
#![allow(clippy::unwrap_used)]

use dsh_bmpp::evidence::{Value, judge};
use dsh_bmpp::guard::fixture::{AllowedFolders, has_label};
use dsh_bmpp::guard::path::{PathArgument, check_path};
use dsh_bmpp::note::identifier::{KnownNote, Relation, relation};
use dsh_bmpp::note::path::{Platform, note_path, note_path_on};
use dsh_bmpp::note::permalink::of_path;
use dsh_bmpp::note::text::Text;
use proptest::prelude::*;

/// Text with the characters that paths stumble over, well mixed.
fn path_text() -> impl Strategy<Value = String> {
    let character = prop_oneof![
        4 => "[a-cX-Z0-9]",
        3 => "[./ ]",
        2 => "[-_\\\\:~!?*'|]",
        1 => "[\\x00-\\x1f\\x7f\u{85}\u{a0}]",
        1 => prop::sample::select(vec!["é", "中", "🚀", "\u{301}", "\u{200d}", "\u{fe0f}", "\u{202e}", "．", "‥", "К"]).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
    ];
    prop::collection::vec(character, 0..24).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

    #[test]
    fn utf16_survives(units in prop::collection::vec(any::<u16>(), 0..64)) {
        let text = Text::from_utf16(&units);
        prop_assert_eq!(&Text::from_code_points(text.code_points()), &text);
        let back: Vec<u16> = text.code_points().flat_map(|point| match char::from_u32(point) {
            Some(character) => character.encode_utf16(&mut [0; 2]).to_vec(),
            None => vec![u16::try_from(point).unwrap()],
        }).collect();
        prop_assert_eq!(back, units);
    }

    #[test]
    fn different_utf16_is_different_text(a in prop::collection::vec(0xD7F0u16..0xE010, 0..4), b in prop::collection::vec(0xD7F0u16..0xE010, 0..4)) {
        prop_assert_eq!(Text::from_utf16(&a) == Text::from_utf16(&b), a == b);
    }

    #[test]
    fn a_path_has_the_form_that_others_rely_on(title in path_text(), directory in path_text()) {
        let (title, value) = (Text::from(title), Text::from(directory));
        if let Ok(path) = note_path(&title, &value) {
            prop_assert!(path.as_str().strip_suffix(".md").is_some());
            prop_assert!(!path.segments().any(|segment| matches!(segment, "" | ".")));
            if path.segments().any(|segment| segment == "..") {
                prop_assert!(check_path(PathArgument::Directory, &value).is_some());
            }
            if path.as_str().is_ascii() {
                prop_assert!(of_path(path.as_str(), None).is_some());
            }
        }
        let _ = note_path_on(Platform::MacOs, &title, &value);
    }

    #[test]
    fn a_safe_directory_and_title_stay_below_the_project(title in path_text(), directory in path_text()) {
        let (title, value) = (Text::from(title), Text::from(directory));
        let safe = check_path(PathArgument::Directory, &value).is_none() && check_path(PathArgument::Title, &title).is_none();
        if let (true, Ok(path)) = (safe, note_path(&title, &value)) {
            prop_assert!(!path.segments().any(|segment| segment.trim() == ".."));
            prop_assert!(!path.as_str().starts_with('/') && !path.as_str().contains(['\\', ':', '\0']));
            prop_assert!(path.segments().last().unwrap().len() <= 233);
        }
    }

    #[test]
    fn only_the_permalink_is_the_same(identifier in path_text(), permalink in "[a-z0-9/.-]{0,12}") {
        let note = KnownNote { file_path: "n/a.md", permalink: Some(&permalink), title: Some("a"), project: Some("main") };
        if relation(&identifier.as_str().into(), &note) == Relation::Same {
            let plain = identifier.trim();
            prop_assert!(plain == permalink || plain.strip_prefix("memory://") == Some(&permalink));
        }
    }

    #[test]
    fn a_names_own_spellings_are_never_different(title in "[A-Za-z0-9 _.-]{1,12}", directory in "[a-z0-9 _-]{0,8}") {
        let Ok(path) = note_path(&title.as_str().into(), &directory.as_str().into()) else { return Ok(()); };
        let Some(permalink) = path.permalink("main") else { return Ok(()); };
        let note = KnownNote { file_path: path.as_str(), permalink: Some(&permalink), title: Some(&title), project: Some("main") };
        let stem = path.as_str().strip_suffix(".md").unwrap();
        for name in [
            title.clone(), format!(" {title} "), format!("[[{title}]]"), path.as_str().to_owned(), stem.to_owned(),
            path.as_str().to_uppercase(), permalink.clone(), format!("memory://{permalink}"), format!("main/{}", path.as_str()),
            format!("main::{}", path.as_str()), format!("./{}", path.as_str()), format!("/{}", path.as_str()),
            stem.replace(' ', "_"), stem.replace(' ', "-"), of_path(path.as_str(), None).unwrap(),
        ] {
            prop_assert_ne!(relation(&name.as_str().into(), &note), Relation::Different, "{} for {}", name, path.as_str());
        }
    }

    #[test]
    fn nothing_panics(text in any::<String>(), units in prop::collection::vec(any::<u16>(), 0..32)) {
        let odd = Text::from_utf16(&units);
        let _ = (has_label(&odd), AllowedFolders::new([text.as_str()]).allow_identifier(&odd, Some(&text)));
        let _ = of_path(&text, Some(&text));
        for tool in ["write_note", "view_note", "delete_note", "search"] {
            let _ = judge(tool, false, Value::Text(&text));
        }
        let note = KnownNote { file_path: &text, permalink: Some(&text), title: Some(&text), project: Some(&text) };
        let _ = relation(&odd, &note);
    }
}
