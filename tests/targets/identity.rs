//! Note identity: paths, permalinks and what an identifier says of a note.

use dsh_bmpp::guard::fixture::{AllowedFolders, has_label};
use dsh_bmpp::note::identifier::{KnownNote, Relation, relation};
use dsh_bmpp::note::path::{NotProven, Platform, Refusal, note_path, note_path_on};
use dsh_bmpp::note::permalink::{of_path, project_slug};
use dsh_bmpp::note::python::trim;
use dsh_bmpp::note::text::Text;

use super::draw::Draw;

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let (title, directory) = (Text::from_utf16(&draw.units()), Text::from_utf16(&draw.units()));
    let (project, identifier) = (draw.text(), Text::from_utf16(&draw.units()));
    texts(&title);
    texts(&identifier);
    if let Some(slug) = project_slug(&project) {
        is_slug(&slug);
    }
    let _ = has_label(&title);
    let folders = AllowedFolders::new([project.as_str()]);
    let _ = folders.allow_identifier(&identifier, Some(&project));
    let path = match note_path(&title, &directory) {
        Ok(path) => path,
        Err(refused) => {
            // A lone surrogate is never mapped to anything.
            let lone = title.has_lone_surrogate() || directory.has_lone_surrogate();
            assert_eq!(refused == Refusal::NotProven(NotProven::LoneSurrogate), lone);
            assert!(note_path_on(Platform::MacOs, &title, &directory).is_err() || !lone);
            return;
        }
    };
    let text = path.as_str();
    assert!(text.as_bytes().ends_with(b".md") && !text.starts_with('/'), "{text:?}");
    assert!(path.segments().all(|segment| !matches!(segment, "" | ".")), "{text:?}");
    assert_eq!(path.segments().collect::<Vec<_>>().join("/"), text);
    let permalink = path.permalink(&project);
    if let Some(permalink) = &permalink {
        is_slug(permalink);
        // A prefix is put in front once.
        let slug = project_slug(&project).expect("a proven permalink has a proven prefix");
        assert!(permalink.starts_with(&slug), "{permalink:?}");
    }
    if text.is_ascii() && !text.contains([':', '\\']) {
        assert!(of_path(text, None).is_some(), "{text:?} is ASCII and not known");
    }
    assert!(!folders.allow_path(text) || text.contains('/') || project.trim_matches(['/', '.']).is_empty());
    let title = title.as_str().unwrap_or_default();
    let note =
        KnownNote { file_path: text, permalink: permalink.as_deref(), title: Some(title), project: Some(&project) };
    // Whatever an identifier is, the note's own names reach it.
    let own = [Some(text), text.strip_suffix(".md"), permalink.as_deref(), Some(title)];
    for own in own.into_iter().flatten() {
        assert_ne!(relation(&Text::from(own), &note), Relation::Different, "{own:?} for {text:?}");
    }
    if relation(&identifier, &note) == Relation::Same {
        let given = trim(identifier.as_str().unwrap_or_default());
        let plain = given.strip_prefix("memory://").unwrap_or(given);
        assert_eq!(Some(plain), permalink.as_deref());
    }
}

/// A text is its code points.
fn texts(text: &Text<'_>) {
    assert_eq!(Text::from_code_points(text.code_points()), *text);
    assert_eq!(text.as_str().is_none(), text.has_lone_surrogate());
}

/// What a permalink is made of.
fn is_slug(slug: &str) {
    let known = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-./".contains(c) || c as u32 >= 0x2e80;
    assert!(slug.chars().all(known) && !slug.contains("--"), "{slug:?}");
}
