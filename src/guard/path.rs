//! `pathGuard`: would a path argument leave its project, reach a folder that other programs trust, or make a file that is
//! not what its name looks like?
//!
//! Every argument is judged as it was given and as the server will have it after its own mapping and stripping, because the
//! server checks a directory *before* it strips characters from it. Pure text: no disk, no symbolic links.

use unicode_normalization::UnicodeNormalization;

use super::title::{DEVICE_MAX, check_title};
use super::unicode::{is_bidi, is_control, is_default_ignorable};
use crate::note::identifier::as_reference;
use crate::note::path::{directory_at_worst, is_dot_dot, is_separator, plain_directory, plain_title};
use crate::note::python::strip;
use crate::note::text::{CodePoint, Text};

/// Longest title in bytes, after the server's mapping. The server writes to a temporary file whose name is 22 bytes longer
/// than `title.md`; a longer note is reported as created and never reaches the disk (facts 4.1.7).
pub const TITLE_MAX: usize = 230;

/// Folders that other programs read commands, keys or code from.
const RESERVED: [&str; 16] = [
    ".git",
    ".ssh",
    ".aws",
    ".gnupg",
    ".husky",
    ".githooks",
    ".dsh",
    ".zcode",
    ".claude",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".cargo",
    ".yarn",
    ".mvn",
    "node_modules",
];

/// A path-like argument of a write tool, by its canonical name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathArgument {
    /// `directory` of `write_note`.
    Directory,
    /// `destination_path` of `move_note`.
    DestinationPath,
    /// `destination_folder` of `move_note`.
    DestinationFolder,
    /// `identifier` of `edit_note`, `move_note` and `delete_note`.
    Identifier,
    /// `title` of `write_note`, as far as it becomes a file name.
    Title,
    /// `project_path` of `create_memory_project`.
    ProjectPath,
}

impl PathArgument {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Directory,
        Self::DestinationPath,
        Self::DestinationFolder,
        Self::Identifier,
        Self::Title,
        Self::ProjectPath,
    ];

    /// The canonical name, as the server's schema has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Directory => "directory",
            Self::DestinationPath => "destination_path",
            Self::DestinationFolder => "destination_folder",
            Self::Identifier => "identifier",
            Self::Title => "title",
            Self::ProjectPath => "project_path",
        }
    }

    /// The argument called `name` on any write tool, aliases included (`folder`, `to`, …).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "directory" | "folder" | "dir" | "path" => Self::Directory,
            "destination_path" | "dest_path" | "new_path" | "to" | "destination" => Self::DestinationPath,
            "destination_folder" | "dest_folder" | "to_folder" => Self::DestinationFolder,
            "identifier" => Self::Identifier,
            "title" => Self::Title,
            "project_path" => Self::ProjectPath,
            _ => return None,
        })
    }
}

/// Why a path is unsafe. Holds no part of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unsafe {
    /// A `..` segment, as given or once the server has stripped it.
    DotDot,
    /// Starts at the root of the file system.
    Absolute,
    /// Starts with a drive letter.
    Drive,
    /// A network path (`\\server\share`).
    Unc,
    /// Starts at somebody's home folder.
    Home,
    /// A segment that other programs trust.
    Reserved,
    /// A backslash, which is a separator on some systems.
    Backslash,
    /// A colon, which opens an alternate stream on some systems.
    Colon,
    /// A control character.
    Control,
    /// A character that changes the direction of text.
    Bidi,
    /// A character that shows nothing.
    Ignorable,
    /// Nothing is left of the title.
    Empty,
    /// The title is longer than [`TITLE_MAX`].
    TooLong,
    /// The title is a Windows device.
    Device,
}

impl Unsafe {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::DotDot,
        Self::Absolute,
        Self::Drive,
        Self::Unc,
        Self::Home,
        Self::Reserved,
        Self::Backslash,
        Self::Colon,
        Self::Control,
        Self::Bidi,
        Self::Ignorable,
        Self::Empty,
        Self::TooLong,
        Self::Device,
    ];

    /// A stable phrase that completes "the argument …".
    #[must_use]
    pub const fn why(self) -> &'static str {
        match self {
            Self::DotDot => "has a `..` segment",
            Self::Absolute => "is an absolute path",
            Self::Drive => "starts with a drive letter",
            Self::Unc => "is a network path",
            Self::Home => "is a path in a home folder",
            Self::Reserved => "has a reserved folder name",
            Self::Backslash => "has a backslash",
            Self::Colon => "has a colon",
            Self::Control => "has a control character",
            Self::Bidi => "has a character that changes the direction of text",
            Self::Ignorable => "has an invisible character",
            Self::Empty => "leaves no file name",
            Self::TooLong => "is too long for a file name",
            Self::Device => "is the name of a device on Windows",
        }
    }
}

/// Judges one argument. `None`: nothing found. Linear in the length of `value`.
#[must_use]
pub fn check_path(argument: PathArgument, value: &Text<'_>) -> Option<Unsafe> {
    if is_plain(argument, value) {
        return None;
    }
    let points: Vec<CodePoint> = value.code_points().collect();
    match argument {
        PathArgument::Title => check_title(&points),
        PathArgument::Directory => check_folder(&points, Root::Allowed).or_else(|| check_stripped(&points)),
        PathArgument::DestinationFolder => check_folder(&points, Root::Allowed),
        PathArgument::DestinationPath => check_folder(&points, Root::Refused),
        PathArgument::Identifier => check_identifier(&points),
        PathArgument::ProjectPath => check_project_path(&points),
    }
}

/// Whether nothing can be found, as is plain to see of nearly every value: words, in folders that are not reserved.
fn is_plain(argument: PathArgument, value: &Text<'_>) -> bool {
    match argument {
        // A device has a short name, with or without an ending.
        PathArgument::Title => plain_title(value).is_some_and(|title| {
            let stem = title.as_bytes().split(|byte| *byte == b'.').next().unwrap_or_default();
            stem.trim_ascii_end().len() > DEVICE_MAX
        }),
        PathArgument::ProjectPath => false,
        _ => plain_directory(value).is_some_and(|path| {
            // Without a dot no other reserved name can be among the folders.
            let mut folders = path.as_bytes().split(|byte| *byte == b'/');
            !folders.any(|folder| folder.trim_ascii_end().eq_ignore_ascii_case(b"node_modules"))
        }),
    }
}

/// Whether a lone `/` is the project's root.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    Allowed,
    Refused,
}

fn check_folder(points: &[CodePoint], root: Root) -> Option<Unsafe> {
    if let Some(found) = check_characters(points) {
        return Some(found);
    }
    // The server strips outer white space before it looks at the path's start.
    let trimmed = strip(points);
    if root == Root::Allowed && trimmed == ['/' as CodePoint] {
        return None;
    }
    if let Some(found) = check_start(trimmed) {
        return Some(found);
    }
    if has(trimmed, '\\') {
        return Some(Unsafe::Backslash);
    }
    if has(trimmed, ':') {
        return Some(Unsafe::Colon);
    }
    check_segments(trimmed)
}

/// The form that the server makes of a directory, pass by pass (`note::path` says why there are two).
fn check_stripped(points: &[CodePoint]) -> Option<Unsafe> {
    let first = directory_at_worst(points);
    check_segments(&first).or_else(|| check_segments(&directory_at_worst(&first)))
}

fn check_identifier(points: &[CodePoint]) -> Option<Unsafe> {
    let given = strip(points);
    let reference = as_reference(given);
    let unwrapped = (reference != given).then_some(reference.as_slice());
    for form in std::iter::once(given).chain(unwrapped) {
        let start = match check_start(form) {
            // `C: drive` and `~tilde` are titles; a path has a separator.
            Some(Unsafe::Drive) => form.get(2).is_some_and(|third| is_separator(*third)),
            Some(Unsafe::Home) => form.len() == 1 || form.iter().any(|point| is_separator(*point)),
            Some(_) => true,
            None => false,
        };
        if start {
            return check_start(form);
        }
        if let Some(found) = check_segments(form) {
            return Some(found);
        }
        // `edit_note` makes a missing note: what is before the last slash becomes its directory.
        let folder = form
            .iter()
            .rposition(|point| *point == CodePoint::from('/'))
            .and_then(|slash| form.get(..slash))
            .unwrap_or_default();
        if let Some(found) = check_stripped(folder) {
            return Some(found);
        }
    }
    None
}

fn check_project_path(points: &[CodePoint]) -> Option<Unsafe> {
    if let Some(found) = check_characters(points) {
        return Some(found);
    }
    let trimmed = strip(points);
    match check_start(trimmed) {
        // A project's folder is absolute by nature; on Windows that is a drive and a separator.
        Some(Unsafe::Absolute) | None => {}
        Some(Unsafe::Drive) if trimmed.get(2).is_some_and(|third| is_separator(*third)) => {}
        found => return found,
    }
    check_segments(trimmed)
}

/// How a path may start so that it is not below the project's folder.
fn check_start(path: &[CodePoint]) -> Option<Unsafe> {
    let at = |index: usize| path.get(index).copied().and_then(char::from_u32);
    match (at(0), at(1)) {
        (Some('\\'), Some('\\')) | (Some('/'), Some('/')) => Some(Unsafe::Unc),
        (Some('/' | '\\'), _) => Some(Unsafe::Absolute),
        (Some('~'), _) => Some(Unsafe::Home),
        (Some(letter), Some(':')) if letter.is_ascii_alphabetic() => Some(Unsafe::Drive),
        _ => None,
    }
}

/// Characters that no folder name should have, because what is shown and what is stored differ.
fn check_characters(points: &[CodePoint]) -> Option<Unsafe> {
    points.iter().find_map(|point| match *point {
        point if is_control(point) => Some(Unsafe::Control),
        point if is_bidi(point) => Some(Unsafe::Bidi),
        point if is_default_ignorable(point) => Some(Unsafe::Ignorable),
        _ => None,
    })
}

fn check_segments(path: &[CodePoint]) -> Option<Unsafe> {
    // Outer spaces do not make it another folder everywhere, so ` ..` counts as well.
    if path.split(|point| is_separator(*point)).any(|segment| is_dot_dot(strip(segment))) {
        return Some(Unsafe::DotDot);
    }
    has_reserved_segment(path).then_some(Unsafe::Reserved)
}

/// Compares segments as the file systems in use fold names: any case, compatibility forms, invisible characters ignored,
/// trailing dots and spaces trimmed.
fn has_reserved_segment(path: &[CodePoint]) -> bool {
    if path.iter().all(|point| *point < 0x80) {
        // Nothing to fold but case: no allocation for the paths that nearly every call has.
        return path.split(|point| is_separator(*point)).any(is_reserved_ascii);
    }
    let folded: String = path
        .iter()
        .filter(|point| !is_default_ignorable(**point))
        .map(|point| char::from_u32(*point).unwrap_or(char::REPLACEMENT_CHARACTER))
        .nfkc()
        // Upper case first: the file systems that ignore case fold to it, and `ı` becomes an `i` only that way.
        .flat_map(char::to_uppercase)
        .flat_map(char::to_lowercase)
        .collect();
    folded
        .split(['/', '\\'])
        .map(|segment| segment.trim_end_matches(['.', ' ']))
        .any(|segment| RESERVED.contains(&segment))
}

fn is_reserved_ascii(segment: &[CodePoint]) -> bool {
    let trimmed = [CodePoint::from('.'), CodePoint::from(' ')];
    let end = segment.iter().rposition(|point| !trimmed.contains(point)).map_or(0, |last| last + 1);
    let segment = segment.get(..end).unwrap_or_default();
    RESERVED.iter().any(|name| {
        segment.len() == name.len()
            && segment.iter().zip(name.bytes()).all(|(point, byte)| {
                char::from_u32(*point).is_some_and(|have| have.eq_ignore_ascii_case(&char::from(byte)))
            })
    })
}

fn has(points: &[CodePoint], character: char) -> bool {
    points.contains(&CodePoint::from(character))
}
