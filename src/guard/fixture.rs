//! `testFixtureGuard`: a note that is labelled a test fixture stays in the folders that are meant for fixtures.
//!
//! The target is compared folder by folder on the path that the server derives, never as a string: `tests/../x` is not in
//! `tests/`, and neither is `tests-old/x`.

use crate::note::identifier::as_reference;
use crate::note::permalink::project_slug;
use crate::note::text::{CodePoint, Text};

/// The label, in any case.
pub const LABEL: &str = "[test-fixture]";

/// True where the text holds the label. Linear.
#[must_use]
pub fn has_label(text: &Text<'_>) -> bool {
    let label = LABEL.as_bytes();
    let bytes = text.as_bytes();
    if !bytes.contains(&b'[') {
        return false;
    }
    bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'[')
        .any(|(at, _)| bytes.get(at..at + label.len()).is_some_and(|found| found.eq_ignore_ascii_case(label)))
}

/// The folders that fixtures may be in (`testFixtureAllowedPrefixes`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedFolders {
    folders: Vec<Vec<String>>,
}

impl AllowedFolders {
    /// Reads the configured prefixes. A slash at either end does not matter; a prefix of nothing else is the project's root,
    /// which holds every note; one with a `..` allows nothing.
    #[must_use]
    pub fn new<'p>(prefixes: impl IntoIterator<Item = &'p str>) -> Self {
        let folders = prefixes
            .into_iter()
            .filter_map(segments)
            .map(|folder| folder.into_iter().map(str::to_owned).collect())
            .collect();
        AllowedFolders { folders }
    }

    /// True where the note at `path` (as `note::path` derives it, or as a result named it) is in an allowed folder.
    #[must_use]
    pub fn allow_path(&self, path: &str) -> bool {
        let Some(path) = segments(path) else {
            return false;
        };
        self.folders.iter().any(|folder| starts_with(&path, folder, |have, want| have == want))
    }

    /// True where an identifier of an edit or a move names a note in an allowed folder: by path or permalink, with or
    /// without the project's slug before it. A title says nothing of a folder, so it is never allowed.
    #[must_use]
    pub fn allow_identifier(&self, identifier: &Text<'_>, project: Option<&str>) -> bool {
        let points: Vec<CodePoint> = identifier.code_points().collect();
        let reference: String = as_reference(&points)
            .into_iter()
            .map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER))
            .collect();
        let Some(path) = segments(&reference) else {
            return false;
        };
        // In a permalink every segment is a slug.
        let same = |have: &str, want: &str| have == want || project_slug(want).as_deref() == Some(have);
        let project = project.and_then(project_slug);
        let own = path.split_first().filter(|(first, _)| project.as_deref() == Some(**first)).map(|(_, rest)| rest);
        [Some(path.as_slice()), own]
            .into_iter()
            .flatten()
            .any(|path| self.folders.iter().any(|folder| starts_with(path, folder, same)))
    }
}

/// Segments without empty and `.` ones. `None` where there is a `..`.
fn segments(path: &str) -> Option<Vec<&str>> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !matches!(*segment, "" | ".")).collect();
    (!segments.contains(&"..")).then_some(segments)
}

/// The note is below the folder: at least its own name comes after.
fn starts_with(path: &[&str], folder: &[String], same: impl Fn(&str, &str) -> bool) -> bool {
    path.len() > folder.len() && path.iter().zip(folder).all(|(have, want)| same(have, want))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_label_in_any_case_and_place() {
        for text in ["[test-fixture]", "x [Test-Fixture] y", "[[test-fixture]]"] {
            assert!(has_label(&text.into()), "{text}");
        }
        for text in ["", "test-fixture", "[test-fixture", "[test fixture]", "[test-fixtures]"] {
            assert!(!has_label(&text.into()), "{text}");
        }
    }

    #[test]
    fn paths_are_compared_by_folder() {
        let allowed = AllowedFolders::new(["tests/", "archive/policy-tests/"]);
        for path in ["tests/a.md", "tests/deep/a.md", "archive/policy-tests/a.md", "./tests//a.md"] {
            assert!(allowed.allow_path(path), "{path}");
        }
        for path in
            ["tests.md", "tests", "tests-old/a.md", "Tests/a.md", "tests/../a.md", "a/tests/a.md", "archive/a.md", ""]
        {
            assert!(!allowed.allow_path(path), "{path}");
        }
        assert!(!AllowedFolders::new([]).allow_path("tests/a.md"));
        assert!(!AllowedFolders::new(["../x"]).allow_path("x/a.md"));
        assert!(AllowedFolders::new(["/"]).allow_path("a.md"));
    }

    #[test]
    fn identifiers_are_compared_by_folder_and_slug() {
        let allowed = AllowedFolders::new(["tests", "Policy Tests"]);
        let allow = |identifier: &str| allowed.allow_identifier(&identifier.into(), Some("Main"));
        for identifier in [
            "tests/a",
            "main/tests/a",
            "memory://main/tests/a",
            "memory://tests/a.md",
            "policy-tests/a",
            "Policy Tests/a.md",
        ] {
            assert!(allow(identifier), "{identifier}");
        }
        for identifier in ["A title", "other/tests/a", "main/main/tests/a", "tests", "tests/../a", "testsx/a"] {
            assert!(!allow(identifier), "{identifier}");
        }
    }
}
