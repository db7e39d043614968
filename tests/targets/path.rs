//! The path guard: what it lets by is below the project's folder, in no reserved folder, and what its name looks like.

use dsh_bmpp::guard::path::{PathArgument, Unsafe, check_path};
use dsh_bmpp::note::path::{NotProven, Refusal, note_path};
use dsh_bmpp::note::python::{Alnum, is_alnum, is_space};
use dsh_bmpp::note::text::{CodePoint, Text};

use super::draw::Draw;

/// Of any argument: the answer is one of the table's, and the same again.
pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let argument = draw.one(&PathArgument::ALL);
    let keeps = draw.byte();
    let (title, directory) = (Text::from_utf16(&draw.units()), Text::from_utf16(&draw.units()));
    let raw = Text::from(String::from_utf8_lossy(draw.rest()).into_owned());
    for value in [&title, &directory, &raw] {
        let found = check_path(argument, value);
        assert!(found.is_none_or(|found| Unsafe::ALL.contains(&found)));
        assert_eq!(found, check_path(argument, value));
    }
    for directory in [&directory, &raw] {
        note_is_inside(&title, directory, keeps);
        folder_is_inside(directory);
        identifier_is_inside(directory, keeps);
    }
}

/// A note whose title and directory the guard lets by, where the server puts it: by the core's rule, and by a plain one
/// that keeps of the letters that no Python is sure of those that `keeps` says.
fn note_is_inside(title: &Text<'_>, directory: &Text<'_>, keeps: u8) {
    let safe = |argument, value: &Text<'_>| check_path(argument, value).is_none();
    if !safe(PathArgument::Directory, directory) || !safe(PathArgument::Title, title) {
        return;
    }
    let folder = as_written(directory, keeps);
    inside(&folder);
    match note_path(title, directory) {
        Ok(path) => {
            inside(path.as_str());
            assert!(path.as_str().as_bytes().ends_with(b".md") && !path.as_str().contains("//"));
            // `/` alone is the root, which the server knows before it strips anything.
            let root = directory.as_str() == Some("/");
            let plain: Vec<&str> = folder.split('/').filter(|s| !root && !matches!(*s, "" | ".")).collect();
            assert_eq!(path.directory(), plain.join("/"), "the folder by the plain rule");
        }
        Err(Refusal::NotProven(NotProven::LoneSurrogate)) => {
            assert!(title.has_lone_surrogate() || directory.has_lone_surrogate());
        }
        Err(_) => {}
    }
}

/// The strip rule once more, as plainly as it can be said, twice.
fn as_written(directory: &Text<'_>, keeps: u8) -> String {
    let points: Vec<CodePoint> = directory.code_points().collect();
    let once = |points: &[CodePoint]| -> Vec<CodePoint> {
        let mut points: Vec<CodePoint> = trimmed(points, is_space);
        if points.starts_with(&[CodePoint::from('.'), CodePoint::from('/')]) {
            points.drain(..2);
        }
        let kept = points.into_iter().filter(|point| {
            ". -_\\/".chars().any(|c| CodePoint::from(c) == *point)
                || match is_alnum(*point) {
                    Alnum::Yes => true,
                    Alnum::No => false,
                    Alnum::Unsure => keeps >> (*point % 8) & 1 == 1,
                }
        });
        let mut kept: Vec<CodePoint> = kept.collect();
        while kept.last().is_some_and(|last| is_space(*last)) {
            kept.pop();
        }
        let text: String = kept.iter().map(|point| char::from_u32(*point).unwrap_or('\u{fffd}')).collect();
        let mut text = text.replace('\\', "/");
        while text.contains("//") {
            text = text.replace("//", "/");
        }
        text.trim_matches('/').chars().map(CodePoint::from).collect()
    };
    once(&once(&points)).into_iter().filter_map(char::from_u32).collect()
}

fn trimmed(points: &[CodePoint], of: impl Fn(CodePoint) -> bool) -> Vec<CodePoint> {
    let mut points = points.to_vec();
    while points.last().is_some_and(|last| of(*last)) {
        points.pop();
    }
    while points.first().is_some_and(|first| of(*first)) {
        points.remove(0);
    }
    points
}

/// A move's destination is used as it is, outer space aside.
fn folder_is_inside(directory: &Text<'_>) {
    for argument in [PathArgument::DestinationPath, PathArgument::DestinationFolder] {
        if check_path(argument, directory).is_none()
            && let Some(text) = directory.as_str()
            && !(argument == PathArgument::DestinationFolder && text.trim() == "/")
        {
            let points: Vec<CodePoint> = text.chars().map(CodePoint::from).collect();
            let text: String = trimmed(&points, is_space).into_iter().filter_map(char::from_u32).collect();
            inside(&text);
            assert!(!text.contains(['\\', ':', '\0', '\u{202e}', '\u{200b}']), "{text:?}");
        }
    }
}

/// An edit makes a note that is not there, in the folder that its identifier names.
fn identifier_is_inside(identifier: &Text<'_>, keeps: u8) {
    if check_path(PathArgument::Identifier, identifier).is_some() {
        return;
    }
    let Some(text) = identifier.as_str() else { return };
    let plain = text.strip_prefix("memory://").unwrap_or(text);
    for form in [text, plain, plain.trim()] {
        let lexical = form.split(['/', '\\']).any(|segment| segment.trim() == "..");
        assert!(!lexical, "{text:?} goes up");
        if let Some((folder, _)) = form.rsplit_once('/') {
            inside(&as_written(&Text::from(folder), keeps));
        }
    }
}

/// Whether a path stays below the folder that it starts in, and out of folders that other programs trust.
pub fn inside(path: &str) {
    assert!(!path.starts_with('/') && path.split(['/', '\\']).next() != Some("~"), "{path:?}");
    for segment in path.split(['/', '\\']) {
        let bare = segment.trim().trim_end_matches(['.', ' ']);
        assert!(!(segment.trim().starts_with("..") && bare.is_empty()) || segment.trim().len() < 2, "{path:?} goes up");
        // With a space in front it is another folder.
        let lower = segment.trim_end_matches(['.', ' ']).to_ascii_lowercase();
        let reserved = [".git", ".ssh", ".aws", ".claude", ".vscode", ".cargo", "node_modules", ".dsh"];
        assert!(!reserved.contains(&lower.as_str()), "{path:?} is in a reserved folder");
    }
}
