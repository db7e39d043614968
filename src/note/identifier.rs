//! What an identifier (`edit_note`, `read_note`, `move_note`, `delete_note`) says of the note that it will reach.
//!
//! The server resolves an identifier against its whole index: external id, exact permalink, slug, exact title, path, path
//! plus `.md`, a unique spelling variant of a path, in this order (facts 4.4). A path can therefore name *another* note
//! than the one at that path, and so can a title. Nothing here resolves; [`relation`] only says what follows from a
//! result that named a note, and its middle answer is "unknown".

use super::permalink::project_slug;
use super::python::{strip, trim};
use super::text::{CodePoint, Text};

/// A note as a structured result named it.
#[derive(Clone, Copy, Debug)]
pub struct KnownNote<'a> {
    /// `file_path` of the result.
    pub file_path: &'a str,
    /// `permalink` of the result.
    pub permalink: Option<&'a str>,
    /// `title` of the result. Without it an identifier cannot be told to be another note's.
    pub title: Option<&'a str>,
    /// The project's name or slug, where it is known.
    pub project: Option<&'a str>,
}

/// How an identifier stands to a known note, in the same project, while nothing else was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// It reaches exactly that note: it is its permalink, which the server looks up first and which is unique.
    Same,
    /// It cannot reach that note under any rule of the server.
    Different,
    /// Either is possible.
    Unknown,
}

/// Compares an identifier with a note that a result named. Linear in the lengths.
///
/// [`Relation::Same`] holds as long as the call names the same project as the call whose result this was, and no move, no
/// deletion and no change of a permalink came in between. It is a weaker statement than "the same identifier again", which
/// the caller checks by equality.
#[must_use]
pub fn relation(identifier: &Text<'_>, note: &KnownNote<'_>) -> Relation {
    let points: Vec<CodePoint> = identifier.code_points().collect();
    let given = strip(&points);
    if looks_like_uuid(given) {
        return Relation::Unknown;
    }
    if is_exact_permalink(given, note) {
        return Relation::Same;
    }
    if cannot_reach(given, note) { Relation::Different } else { Relation::Unknown }
}

/// The identifier without its wrapping, as the server unwraps it: outer white space, `memory://`, `[[…]]`, an alias after
/// `|`, and `project::note` written as `project/note`.
pub(crate) fn as_reference(identifier: &[CodePoint]) -> Vec<CodePoint> {
    let mut inner = strip(identifier);
    inner = without_prefix(inner, "memory://").unwrap_or(inner);
    if let Some(rest) = without_prefix(inner, "[[")
        && let [link @ .., close, end] = rest
        && [*close, *end] == [CodePoint::from(']'); 2]
    {
        inner = link;
    }
    let target = inner.split(|point| *point == CodePoint::from('|')).next();
    inner = strip(target.unwrap_or_default());
    let colon = CodePoint::from(':');
    let Some(at) = inner.windows(2).position(|pair| pair == [colon, colon]) else {
        return inner.to_vec();
    };
    let (project, rest) = inner.split_at(at);
    let slash = CodePoint::from('/');
    let mut reference = project.to_vec();
    reference.push(slash);
    reference.extend(rest.iter().skip(2).skip_while(|point| **point == slash));
    reference
}

fn without_prefix<'a>(points: &'a [CodePoint], prefix: &str) -> Option<&'a [CodePoint]> {
    let length = prefix.len();
    let starts = points.len() >= length
        && points.iter().copied().zip(prefix.chars()).all(|(point, character)| point == CodePoint::from(character));
    if starts { points.get(length..) } else { None }
}

/// The identifier is the note's own permalink, in a form that the server does not rewrite before it looks it up.
fn is_exact_permalink(given: &[CodePoint], note: &KnownNote<'_>) -> bool {
    let Some(permalink) = note.permalink.filter(|permalink| is_plain(permalink)) else {
        return false;
    };
    let equals = |points: &[CodePoint]| points.iter().copied().eq(permalink.chars().map(CodePoint::from));
    match without_prefix(given, "memory://") {
        None => equals(given),
        // A memory URL routes by its first segment, so that must be the project's own slug.
        Some(path) => {
            let own = note
                .project
                .and_then(project_slug)
                .is_some_and(|slug| permalink.strip_prefix(slug.as_str()).is_some_and(|rest| rest.starts_with('/')));
            own && equals(path)
        }
    }
}

/// A permalink that is looked up as written: plain ASCII words, no wrapping, no path syntax.
fn is_plain(permalink: &str) -> bool {
    !permalink.is_empty()
        && permalink.split('/').all(|segment| !segment.trim_matches('.').is_empty())
        && permalink.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_./".contains(&byte))
}

/// No rule of the server leads from the identifier to the note. Only for ASCII: case folding and transliteration of other
/// text would need the server's tables.
fn cannot_reach(given: &[CodePoint], note: &KnownNote<'_>) -> bool {
    let (Some(title), Some(permalink)) = (note.title, note.permalink) else {
        return false;
    };
    let Some(project) = note.project.and_then(project_slug) else {
        return false;
    };
    let names = [note.file_path, permalink, title];
    // Behind a slash at the end an extension may be a folder's or the note's.
    if given.last() == Some(&CodePoint::from('/')) {
        return false;
    }
    if !given.iter().all(|point| *point < 0x80) || !names.iter().all(|name| name.is_ascii()) {
        return false;
    }
    let ascii = |points: &[CodePoint]| -> String { points.iter().filter_map(|point| char::from_u32(*point)).collect() };
    let forms = [ascii(given), ascii(&as_reference(given))];
    let project = format!("{}/", skeleton(&project));
    // Every rule compares slugs, titles, paths, or paths up to case and `_`. All of them are finer than the skeleton, so
    // names whose skeletons differ cannot meet. What begins like the project may be its prefix or a folder of that name.
    let inner = |name: &str| name.strip_prefix(project.as_str()).map(str::to_owned);
    let known = names.map(skeleton);
    let meets = |form: &str| known.iter().any(|name| name == form || inner(name).as_deref() == Some(form));
    !forms.iter().map(|form| skeleton(form)).any(|form| meets(&form) || inner(&form).is_some_and(|form| meets(&form)))
}

/// What is left of a name when everything that any rule of the server ignores is gone.
fn skeleton(name: &str) -> String {
    let name = trim(name).trim_matches('/');
    let lower = name.to_ascii_lowercase();
    let mut stem = lower.as_str();
    // A path without its ending can end like one, with something behind it that a rule ignores.
    loop {
        let bare = stem.trim_end_matches(|end: char| end != '/' && !end.is_ascii_alphanumeric());
        let Some(rest) = bare.strip_suffix(".md").or_else(|| bare.strip_suffix(".markdown")) else { break };
        stem = rest;
    }
    let mut out = String::with_capacity(stem.len());
    for segment in stem.split('/') {
        let words: String = segment.chars().filter(char::is_ascii_alphanumeric).collect();
        if words.is_empty() {
            continue;
        }
        if !out.is_empty() {
            out.push('/');
        }
        out.push_str(&words);
    }
    out
}

/// Python's `uuid.UUID` takes 32 digits with or without hyphens, braces and `urn:uuid:`. Anything near that is taken for
/// one, since the server tries external ids first.
fn looks_like_uuid(given: &[CodePoint]) -> bool {
    let text: String =
        given.iter().map(|point| char::from_u32(*point).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    let digits = text.replace("memory://", "").replace("urn:", "").replace("uuid:", "");
    let digits = digits.trim_matches(['{', '}', '[', ']']).replace('-', "");
    digits.chars().count() == 32
        && digits.chars().all(|digit| !digit.is_ascii() || digit.is_ascii_hexdigit() || "_x+ ".contains(digit))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: KnownNote<'_> = KnownNote {
        file_path: "n/My Note.md",
        permalink: Some("main/n/my-note"),
        title: Some("My Note"),
        project: Some("main"),
    };

    #[test]
    fn only_the_permalink_is_the_same() {
        for same in ["main/n/my-note", " main/n/my-note ", "memory://main/n/my-note"] {
            assert_eq!(relation(&same.into(), &NOTE), Relation::Same, "{same}");
        }
    }

    #[test]
    fn every_name_of_the_note_is_at_least_possible() {
        for name in [
            "My Note",
            "  My Note ",
            "[[My Note]]",
            "My Note|x",
            "n/My Note.md",
            "n/My Note",
            "n/my note.md",
            "N/MY NOTE.MD",
            "N/MY-NOTE",
            "n/My_Note.md",
            "n/My  Note",
            "n/MyNote",
            "n/My Note/",
            "n/My Note.markdown",
            "./n/My Note.md",
            "n//My Note.md",
            "n/my-note",
            "MAIN/N/MY-NOTE",
            "main/n/My Note.md",
            "main::n/My Note.md",
            "memory://n/my-note",
            "memory://main/n/My Note.md",
            "memory://main/My Note",
            "my note",
            "/n/My Note.md",
            "6f1c7e0a-0000-4000-8000-000000000000",
            "Заметка",
            "{6F1C7E0A000040008000000000000000}",
        ] {
            assert_eq!(relation(&name.into(), &NOTE), Relation::Unknown, "{name}");
        }
    }

    /// The server strips what Python calls white space, which is more than Rust does.
    #[test]
    fn white_space_is_what_the_server_strips() {
        for space in ["\u{1c}", "\u{1f}", " ", "\t"] {
            for ending in ["", ".md", ".markdown"] {
                let title = format!("a{ending}{space}");
                let bare = format!("{ending}{space}");
                for title in [title.as_str(), bare.as_str()] {
                    let note = KnownNote { title: Some(title), ..NOTE };
                    assert_eq!(relation(&title.into(), &note), Relation::Unknown, "{title:?}");
                }
            }
        }
    }

    #[test]
    fn a_path_without_its_ending_can_end_like_one() {
        for path in ["a.markdown.md", "a.md.md", "n/.markdown.md", "n/a.md.markdown.md"] {
            reaches_itself(path, "main");
        }
        for ignored in ["\u{1f}", " ", "-", "_", ".", "...", "- ."] {
            for path in ["a.markdown", "a.md", "n/.markdown", "n/a.md.markdown"] {
                reaches_itself(&format!("{path}{ignored}.md"), "main");
            }
        }
    }

    /// A folder may be called like the project, whose prefix is then there or not.
    #[test]
    fn a_folder_can_be_called_like_the_project() {
        for path in ["main/x.md", "main/main/x.md", "main.md", "x/main.md", "main/x.markdown\u{1f}.md"] {
            reaches_itself(path, "main");
        }
        let note = KnownNote {
            file_path: "main/a.md",
            permalink: Some("main/main/a"),
            title: Some("t"),
            project: Some("main"),
        };
        for (name, expected) in [
            ("main/a", Relation::Unknown),
            ("main/main/a", Relation::Same),
            ("a", Relation::Unknown),
            ("main/main/main/a", Relation::Unknown),
            ("x/a", Relation::Different),
            ("main/b", Relation::Different),
            ("main", Relation::Different),
        ] {
            assert_eq!(relation(&name.into(), &note), expected, "{name}");
        }
    }

    fn reaches_itself(path: &str, project: &str) {
        let permalink = format!("{project}/{}", super::super::permalink::of_path(path, None).unwrap());
        for title in ["x", path.rsplit('/').next().unwrap()] {
            let note =
                KnownNote { file_path: path, permalink: Some(&permalink), title: Some(title), project: Some(project) };
            let bare = path.strip_suffix(".md").unwrap();
            for name in [path, bare, title, &permalink] {
                assert_ne!(relation(&name.into(), &note), Relation::Different, "{name:?} for {path:?}");
            }
        }
    }

    #[test]
    fn another_name_is_another_note() {
        for other in ["n/Other.md", "My Note 2", "x/my-note", "memory://main/n/my-notes", "n/My Note.txt"] {
            assert_eq!(relation(&other.into(), &NOTE), Relation::Different, "{other}");
        }
        let untitled = KnownNote { title: None, ..NOTE };
        assert_eq!(relation(&"n/Other.md".into(), &untitled), Relation::Unknown, "it may be the title");
    }

    #[test]
    fn references_are_unwrapped() {
        for (identifier, expected) in [
            (" memory://main/x ", "main/x"),
            ("[[a b|c]]", "a b"),
            ("main:://../x", "main/../x"),
            ("a|b", "a"),
            ("[[a]", "[[a]"),
        ] {
            let points: Vec<CodePoint> = identifier.chars().map(CodePoint::from).collect();
            let reference: String = as_reference(&points).into_iter().filter_map(char::from_u32).collect();
            assert_eq!(reference, expected);
        }
    }
}
