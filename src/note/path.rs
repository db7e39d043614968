//! `(title, directory)` → file path, as Basic Memory 0.23 and 0.24 make it.
//!
//! The rule is restated from facts/basic-memory.md 4.1 and held against the real server's functions in tests. What
//! depends on the disk is not decided here: a folder may take the casing of an existing one (`Main` becomes `main`), a
//! symbolic link in the directory may make the server refuse. What depends on the server's settings is not either:
//! `kebab_filenames` (off by default) gives file names that are slugs.

use std::fmt;

use unicode_normalization::UnicodeNormalization;

use super::permalink;
use super::python::{self, Alnum};
use super::text::{CodePoint, Text};

/// Longest folder or file name, in bytes, on the file systems in use.
const NAME_MAX: usize = 255;

/// Longest path, in bytes, that every system in use takes (macOS's limit; the project's own folder comes on top).
const PATH_MAX: usize = 1024;

/// Where the server runs, as far as the path depends on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Platform {
    /// Linux and Windows: NFC and NFD spellings are two files.
    #[default]
    Other,
    /// macOS: the server puts every path in NFC first.
    MacOs,
}

/// The file of a note, relative to its project's folder.
///
/// `Debug` prints the length only: a path is an argument, and arguments never reach a log.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NotePath {
    path: String,
}

impl fmt::Debug for NotePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NotePath({} bytes)", self.path.len())
    }
}

impl NotePath {
    /// The path with `/` between segments, ending in `.md`: `notes/My Note.md`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.path
    }

    /// The segments, the file name last. A `..` can be among them: see `guard::path`.
    pub fn segments(&self) -> impl Iterator<Item = &str> {
        self.path.split('/')
    }

    /// The folder, `""` for the project's root.
    #[must_use]
    pub fn directory(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(directory, _)| directory)
    }

    /// The permalink of a new note at this path, prefixed with `project`'s slug, or `None` where it is not proven.
    /// See [`permalink::of_path`] for what "not proven" covers.
    #[must_use]
    pub fn permalink(&self, project: &str) -> Option<String> {
        permalink::of_path(&self.path, Some(project))
    }
}

/// Why there is no path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The server refuses the call before it writes.
    Refused(Refused),
    /// The server may accept it, but where the note lands is not proven.
    NotProven(NotProven),
}

/// What the server refuses, whatever is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The directory has a `~`.
    Tilde,
    /// A segment of the directory is `..`, or `..` followed by dots and spaces only.
    DotDot,
    /// The directory starts with `/` or `\`, or has `:` as its second character.
    Absolute,
    /// The directory has a control character below U+0020 other than tab.
    Control,
    /// The title is made of white space only.
    BlankTitle,
}

/// What depends on something that the gate does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotProven {
    /// A lone surrogate, which the server's JSON parser does not take.
    LoneSurrogate,
    /// A code point whose `isalnum` depends on the server's Python.
    UnicodeVersion,
    /// A folder name longer than 255 bytes or a path longer than 1024: refused or not, by the file system.
    LongName,
}

/// The file path of `write_note(title, directory)` on Linux and Windows. See [`note_path_on`].
///
/// # Errors
///
/// [`Refusal`] where the server would refuse, or where the path is not proven.
pub fn note_path(title: &Text<'_>, directory: &Text<'_>) -> Result<NotePath, Refusal> {
    note_path_on(Platform::Other, title, directory)
}

/// The file path of `write_note(title, directory)`, or of the note that `edit_note` creates in `directory`.
///
/// # Errors
///
/// [`Refusal`] where the server would refuse, or where the path is not proven.
pub fn note_path_on(platform: Platform, title: &Text<'_>, directory: &Text<'_>) -> Result<NotePath, Refusal> {
    if let (Some(title), Some(directory)) = (plain_title(title), plain_directory(directory)) {
        return Ok(NotePath { path: [directory, "/", title, ".md"].concat() });
    }
    if title.has_lone_surrogate() || directory.has_lone_surrogate() {
        return Err(Refusal::NotProven(NotProven::LoneSurrogate));
    }
    let title: Vec<CodePoint> = title.code_points().collect();
    let mut directory: Vec<CodePoint> = directory.code_points().collect();
    // `/` means the root, and is recognised before the directory is checked.
    if directory == ['/' as CodePoint] {
        directory.clear();
    }
    check_directory(&directory).map_err(Refusal::Refused)?;
    if !title.is_empty() && python::strip(&title).is_empty() {
        return Err(Refusal::Refused(Refused::BlankTitle));
    }
    if platform == Platform::MacOs {
        directory = nfc(&directory);
    }
    let folder = directory_as_written(&directory).ok_or(Refusal::NotProven(NotProven::UnicodeVersion))?;

    let mut path = join(&folder, &file_name(&title));
    if platform == Platform::MacOs {
        path = path.nfc().collect();
    }
    let path = NotePath { path };
    let long_folder = path.directory().split('/').any(|name| name.len() > NAME_MAX);
    if long_folder || path.directory().len() > PATH_MAX {
        return Err(Refusal::NotProven(NotProven::LongName));
    }
    Ok(path)
}

/// Longest name that is looked at as a plain one: no limit of a file system is near.
const PLAIN_MAX: usize = 200;

/// A title that the rules leave as it is, as nearly every title: `None` says nothing.
pub(crate) fn plain_title<'t>(title: &'t Text<'_>) -> Option<&'t str> {
    plain(title, &IN_TITLE, b'-')
}

/// A directory, or a path of folders, that the rules leave as it is: words in any number of folders, no dots.
pub(crate) fn plain_directory<'t>(directory: &'t Text<'_>) -> Option<&'t str> {
    plain(directory, &IN_DIRECTORY, b'/')
}

/// A text of these bytes, with a letter or digit at both ends, in which one of them never stands twice in a row.
fn plain<'t>(text: &'t Text<'_>, of: &[bool; 256], once: u8) -> Option<&'t str> {
    let bytes = text.as_bytes();
    if bytes.len() > PLAIN_MAX || !bytes.first()?.is_ascii_alphanumeric() || !bytes.last()?.is_ascii_alphanumeric() {
        return None;
    }
    let mut before = 0;
    for byte in bytes {
        if !of.get(usize::from(*byte)).copied().unwrap_or(false) || (*byte == once && before == once) {
            return None;
        }
        before = *byte;
    }
    text.as_str()
}

/// Every printing ASCII character that the rule for titles does not replace by a hyphen, and the hyphen.
const IN_TITLE: [bool; 256] = table(b"/\\<>:\"|?*", true);
/// Letters, digits and the characters between the words and folders of a directory that every rule keeps.
const IN_DIRECTORY: [bool; 256] = table(b" -_/", false);

/// Letters and digits, and of the other printing ASCII characters these alone, or all but these.
const fn table(these: &[u8], but: bool) -> [bool; 256] {
    let mut table = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        let mut named = false;
        let mut at = 0;
        while at < these.len() {
            named |= these[at] == byte;
            at += 1;
        }
        table[byte as usize] = byte.is_ascii_alphanumeric() || named != but;
        byte += 1;
    }
    table
}

/// What the server checks on the directory before it changes anything (facts 4.3).
pub(crate) fn check_directory(directory: &[CodePoint]) -> Result<(), Refused> {
    let is = |point: Option<&CodePoint>, character: char| point == Some(&CodePoint::from(character));
    if directory.contains(&CodePoint::from('~')) {
        return Err(Refused::Tilde);
    }
    if directory.split(|point| is_separator(*point)).any(is_dot_dot) {
        return Err(Refused::DotDot);
    }
    if directory.first().is_some_and(|first| is_separator(*first)) || is(directory.get(1), ':') {
        return Err(Refused::Absolute);
    }
    let control = |point: &CodePoint| *point < 0x20 && *point != 0x09;
    // White space only is stripped to nothing later and passes, control characters in it included.
    if !python::strip(directory).is_empty() && directory.iter().any(control) {
        return Err(Refused::Control);
    }
    Ok(())
}

/// A segment that the server takes for "one folder up": `..`, or `..` followed by dots and spaces, which Windows trims.
pub(crate) fn is_dot_dot(segment: &[CodePoint]) -> bool {
    const DOT: CodePoint = '.' as CodePoint;
    matches!(segment, [DOT, DOT, rest @ ..] if rest.iter().all(|point| [DOT, ' ' as CodePoint].contains(point)))
}

/// True for `/` and `\`.
pub(crate) const fn is_separator(point: CodePoint) -> bool {
    point == '/' as CodePoint || point == '\\' as CodePoint
}

/// The directory as it reaches the file system. `None`: not proven.
///
/// The server strips it when the tool builds the note and once more when its API reads it back; a space or a `./` that the
/// first pass uncovers goes in the second.
fn directory_as_written(directory: &[CodePoint]) -> Option<Vec<CodePoint>> {
    let first = strip_directory(directory, is_kept)?;
    strip_directory(&first, is_kept)
}

/// One pass of the strip rule, for a guard: what no Python is sure to keep is dropped, since a `..` only ever appears by
/// dropping.
pub(crate) fn directory_at_worst(directory: &[CodePoint]) -> Vec<CodePoint> {
    strip_directory(directory, |point| Some(is_kept(point).unwrap_or(false))).unwrap_or_default()
}

/// Whether the strip rule keeps a code point. `None` where it depends on the server's Python.
fn is_kept(point: CodePoint) -> Option<bool> {
    match char::from_u32(point) {
        Some('.' | ' ' | '-' | '_' | '\\' | '/') => Some(true),
        _ => match python::is_alnum(point) {
            Alnum::Yes => Some(true),
            Alnum::No => Some(false),
            Alnum::Unsure => None,
        },
    }
}

/// One pass of the strip rule (facts 4.1.2). `None` where `is_kept` says so of a code point.
fn strip_directory(directory: &[CodePoint], is_kept: impl Fn(CodePoint) -> Option<bool>) -> Option<Vec<CodePoint>> {
    let mut directory = python::strip(directory);
    if let [dot, slash, rest @ ..] = directory
        && (*dot, *slash) == ('.' as CodePoint, '/' as CodePoint)
    {
        directory = rest;
    }
    let mut kept = Vec::with_capacity(directory.len());
    for point in directory.iter().copied() {
        if is_kept(point)? {
            kept.push(point);
        }
    }
    let mut stripped: Vec<CodePoint> = Vec::with_capacity(kept.len());
    for point in python::strip_right(&kept).iter().copied() {
        if !is_separator(point) {
            stripped.push(point);
        } else if stripped.last() != Some(&CodePoint::from('/')) {
            stripped.push(CodePoint::from('/'));
        }
    }
    Some(python::strip_matching(&stripped, is_separator).to_vec())
}

/// The title as it reaches the file name, without `.md` (facts 4.1.3).
pub(crate) fn title_as_written(title: &[CodePoint]) -> Vec<CodePoint> {
    const HYPHEN: CodePoint = '-' as CodePoint;
    let mut mapped: Vec<CodePoint> = Vec::with_capacity(title.len());
    for point in title.iter().copied() {
        let replaced =
            matches!(char::from_u32(point), Some('/' | '\\' | '<' | '>' | ':' | '"' | '|' | '?' | '*' | '-'));
        if !replaced {
            mapped.push(point);
        } else if mapped.last() != Some(&HYPHEN) {
            mapped.push(HYPHEN);
        }
    }
    let without_dots = python::strip_matching(&mapped, |point| point == CodePoint::from('.'));
    python::strip_matching(without_dots, |point| point == HYPHEN).to_vec()
}

fn file_name(title: &[CodePoint]) -> Vec<CodePoint> {
    let mut name = title_as_written(title);
    name.extend(".md".chars().map(CodePoint::from));
    name
}

/// Joins and drops empty and `.` segments, as `pathlib` does; `..` stays.
fn join(folder: &[CodePoint], name: &[CodePoint]) -> String {
    let mut path = String::with_capacity(folder.len() + name.len() + 1);
    let folders = folder.split(|point| *point == CodePoint::from('/'));
    for segment in folders.chain([name]) {
        if segment.is_empty() || segment == ['.' as CodePoint] {
            continue;
        }
        if !path.is_empty() {
            path.push('/');
        }
        path.extend(segment.iter().filter_map(|point| char::from_u32(*point)));
    }
    path
}

fn nfc(points: &[CodePoint]) -> Vec<CodePoint> {
    points.iter().filter_map(|point| char::from_u32(*point)).nfc().map(CodePoint::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(title: &str, directory: &str) -> Result<String, Refusal> {
        note_path(&title.into(), &directory.into()).map(|path| path.as_str().to_owned())
    }

    #[test]
    fn the_rule_by_example() {
        for (title, directory, expected) in [
            ("My Note", "notes", "notes/My Note.md"),
            ("a/b: c?", "/", "a-b- c.md"),
            ("..hidden", "x", "x/hidden.md"),
            ("...", "x", "x/.md"),
            ("-.-", "", "..md"),
            ("N", " ././R&D \\\\ x/ /", "RD / x/N.md"),
        ] {
            assert_eq!(path(title, directory).as_deref(), Ok(expected), "{title:?} in {directory:?}");
        }
    }

    #[test]
    fn both_passes_of_the_strip_rule_count() {
        // The first pass leaves a trailing space behind the slash that it strips; the second takes it.
        assert_eq!(path("N", "a/ /").as_deref(), Ok("a/N.md"));
        assert_eq!(path("N", "!/ x").as_deref(), Ok("x/N.md"));
    }

    #[test]
    fn what_the_server_refuses() {
        for (directory, why) in [
            ("a~b", Refused::Tilde),
            ("a/..", Refused::DotDot),
            ("a/.. .", Refused::DotDot),
            ("//", Refused::Absolute),
            ("\\a", Refused::Absolute),
            ("c:x", Refused::Absolute),
            ("a\u{1}", Refused::Control),
        ] {
            assert_eq!(path("N", directory), Err(Refusal::Refused(why)), "{directory:?}");
        }
        assert_eq!(path(" \t", "x"), Err(Refusal::Refused(Refused::BlankTitle)));
        assert_eq!(path("N", " \u{1F}\n").as_deref(), Ok("N.md"), "white space only is the root");
    }

    #[test]
    fn what_is_not_proven() {
        let lone = Text::from_utf16(&[0xD800]);
        assert_eq!(note_path(&lone, &"x".into()), Err(Refusal::NotProven(NotProven::LoneSurrogate)));
        assert_eq!(path("N", "a\u{378}"), Err(Refusal::NotProven(NotProven::UnicodeVersion)));
        assert_eq!(path("N", &"x".repeat(256)), Err(Refusal::NotProven(NotProven::LongName)));
    }

    #[test]
    fn only_macos_composes() {
        let (title, directory) = ("Cafe\u{301}".into(), "n\u{303}andu\u{301}".into());
        let on = |platform| note_path_on(platform, &title, &directory).map(|path| path.path);
        assert_eq!(on(Platform::Other).as_deref(), Ok("nandu/Cafe\u{301}.md"));
        assert_eq!(on(Platform::MacOs).as_deref(), Ok("ñandú/Café.md"));
    }
}
