//! The integrity guards: step 3 of the gate, and step 6. Simple releases the lookup, not the guards.
//!
//! Each guard answers whether it fires, and on which argument. What that means is the configured level's business: `warn`
//! observes under the guard's code, `deny` denies with it.

use super::memory::{Before, Known as KnownBy, Memory};
use super::names::Words;
use super::target::{Keys, Target};
use super::turn::{OpenCalls, WriteRequest};
use super::{Connection, Options};
use crate::argument::given::{Given, Held, InspectContent, Json};
use crate::argument::{LaxBool, Role};
use crate::config::Level;
use crate::guard::fixture;
use crate::guard::path::{PathArgument, check_path};
use crate::guard::secret::{SecretClass, find_secret};
use crate::note::python::trim;
use crate::note::text::{CodePoint, Text};
use crate::reason::{ArgumentName, Code, Observation, Observations};
use crate::tool::{Known, Tool};

/// What guards found on one call.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Findings {
    /// The first guard that denies.
    pub(super) denial: Option<Code>,
    /// The argument at fault, of the denial or of the last warning.
    pub(super) argument: Option<ArgumentName>,
    /// Guards that warn.
    pub(super) observed: Observations,
    /// The class of a secret that was found.
    pub(super) secret: Option<SecretClass>,
}

impl Findings {
    /// Applies a guard's level to what it found.
    fn add(&mut self, level: Level, code: Code, as_observation: Observation, argument: Option<ArgumentName>) {
        match level {
            Level::Off => {}
            Level::Warn => {
                self.observed = self.observed.with(as_observation);
                if self.denial.is_none() {
                    self.argument = argument.or(self.argument);
                }
            }
            Level::Deny => {
                if self.denial.is_none() {
                    self.denial = Some(code);
                    self.argument = argument;
                }
            }
        }
    }
}

/// The path guard, on every path-like argument.
pub(super) fn paths(options: &Options, tool: Tool, given: &Given, findings: &mut Findings) {
    if options.path_guard == Level::Off {
        return;
    }
    for entry in given.entries() {
        let (Some(family), Held::Open(Json::Text(text))) = (entry.family, entry.held) else { continue };
        let Some(argument) = PathArgument::from_name(family.name) else { continue };
        // A title is a path only where a file is made of it.
        if argument == PathArgument::Title && tool.known != Some(Known::WriteNote) {
            continue;
        }
        if check_path(argument, text).is_some() {
            let name = ArgumentName::of(family.name);
            findings.add(options.path_guard, Code::UnsafeNotePath, Observation::UnsafeNotePath, Some(name));
            return;
        }
    }
}

/// What the guards of step 6 look at.
pub(super) struct Facts<'a> {
    pub(super) memory: &'a Memory,
    pub(super) open: OpenCalls<'a>,
    pub(super) connection: &'a Connection,
    pub(super) step: u32,
    pub(super) tool: Tool,
    pub(super) given: &'a Given,
    pub(super) request: &'a WriteRequest,
}

/// The guards of step 6, in the order of the table.
pub(super) fn integrity(options: &Options, facts: &Facts<'_>, findings: &mut Findings) {
    let Facts { memory, open, connection, step, tool, given, request } = *facts;
    let keys = Keys { key: options.key(), current: Some(connection.current) };
    if options.overwrite_requires_read != Level::Off && replaces_unread(facts, &keys) {
        findings.add(
            options.overwrite_requires_read,
            Code::OverwriteRequiresRead,
            Observation::OverwriteRequiresRead,
            None,
        );
    }
    if connection.switched && takes_project(tool) && !request.names_project {
        findings.add(options.project_guard, Code::ProjectAmbiguous, Observation::ProjectAmbiguous, None);
    }
    // Tools that no table knows are not told apart.
    if options.duplicate_write_guard && tool.known.is_some() {
        let under_way = open.writes(tool.server, request.subject.effect);
        // What became of a project cannot be read in a note.
        let read = || (!matches!(request.target, Target::None)).then(|| known_by(&keys, request));
        let code = match memory.before(&request.subject, under_way, &read, step) {
            Before::No => None,
            Before::Done => Some(Code::DuplicateWriteSameTurn),
            Before::Unknown => Some(Code::WriteOutcomeUnknown),
        };
        if let Some(code) = code
            && findings.denial.is_none()
        {
            findings.denial = Some(code);
            findings.argument = None;
        }
    }
    if options.secret_pattern_guard != Level::Off
        && let Some((class, argument)) = inspected(given, options.inspect_content, |text| find_secret(text.as_bytes()))
    {
        findings.secret = Some(class);
        findings.add(
            options.secret_pattern_guard,
            Code::SecretPatternDetected,
            Observation::SecretPatternDetected,
            Some(argument),
        );
    }
    if options.test_fixture_guard != Level::Off
        && let Some(((), argument)) =
            inspected(given, options.inspect_content, |text| fixture::has_label(text).then_some(()))
        && !fixture_belongs(options, tool, given, request)
    {
        findings.add(
            options.test_fixture_guard,
            Code::TestFixtureLabelInProject,
            Observation::TestFixtureLabelInProject,
            Some(argument),
        );
    }
}

/// Whether the server's tool takes a project that the call could have named.
const fn takes_project(tool: Tool) -> bool {
    matches!(tool.known, Some(Known::WriteNote | Known::EditNote | Known::MoveNote | Known::DeleteNote))
}

/// The first finding in the texts that may be looked at: titles, paths, tags and metadata, and note content only with the
/// permission.
fn inspected<T>(
    given: &Given,
    permission: Option<InspectContent>,
    find: impl Fn(&Text<'_>) -> Option<T>,
) -> Option<(T, ArgumentName)> {
    given.entries().find_map(|entry| {
        let value = match (entry.held, entry.family.map(|family| family.role)) {
            (Held::Open(value), Some(Role::Title | Role::Path | Role::Metadata)) => value,
            (Held::Sealed(sealed), _) => sealed.open(permission?),
            _ => return None,
        };
        let mut found = None;
        let mut look = |text: &Text<'static>| {
            if found.is_none() {
                found = find(text);
            }
        };
        value.each_text(&mut look);
        // Metadata may be the text of an object: what is escaped in it means what the server makes of it.
        if let (Some(Role::Metadata), Json::Text(text)) = (entry.family.map(|family| family.role), value)
            && let Some(meant) = unescaped(text)
        {
            look(&meant);
        }
        Some((found?, ArgumentName::of(entry.family.map_or("", |family| family.name))))
    })
}

/// A text with what is escaped in it by the rules of JSON as it is meant; `None` where nothing is. It is not parsed, since no
/// two parsers take exactly the same texts.
fn unescaped(text: &Text<'_>) -> Option<Text<'static>> {
    if !text.as_bytes().contains(&b'\\') {
        return None;
    }
    let given: Vec<CodePoint> = text.code_points().collect();
    let at = |index: usize| given.get(index).copied().and_then(char::from_u32);
    let unit = |first: usize| {
        (first..first + 4).try_fold(0, |sum, index| {
            Some(sum << 4 | at(index)?.to_digit(16).and_then(|digit| u16::try_from(digit).ok())?)
        })
    };
    let mut units: Vec<u16> = Vec::with_capacity(given.len());
    let mut index = 0;
    while let Some(point) = given.get(index) {
        let escaped = match (at(index), at(index + 1)) {
            (Some('\\'), Some('u')) => unit(index + 2).map(|unit| (unit, 6)),
            (Some('\\'), Some(letter @ ('"' | '\\' | '/'))) => Some((letter as u16, 2)),
            (Some('\\'), Some(letter)) => {
                "bfnrt".find(letter).and_then(|of| b"\x08\x0c\n\r\t".get(of)).map(|b| ((*b).into(), 2))
            }
            _ => None,
        };
        match (escaped, char::from_u32(*point)) {
            (Some((unit, _)), _) => units.push(unit),
            (None, Some(character)) => units.extend_from_slice(character.encode_utf16(&mut [0; 2])),
            // A lone surrogate is one unit.
            (None, None) => units.extend(u16::try_from(*point)),
        }
        index += escaped.map_or(1, |(_, length)| length);
    }
    Some(Text::from_utf16(&units))
}

/// Whether the call would replace existing text of a note that is not proven read.
fn replaces_unread(facts: &Facts<'_>, keys: &Keys<'_>) -> bool {
    let Facts { memory, step, tool, request, .. } = *facts;
    match (tool.known, &request.target) {
        (Some(Known::WriteNote), Target::Path(path)) => {
            let gone = if memory.has_gone() {
                memory.gone(Some(keys.file_path(path.as_str())), Words::of(keys.key, path.as_str()).as_ref())
            } else {
                0
            };
            (request.replaces || gone != 0) && !memory.knows(&known_by(keys, request), gone, step)
        }
        // Where the note would land is not proven, so neither is that it was read.
        (Some(Known::WriteNote), _) => request.replaces || memory.gone(None, None) != 0,
        (Some(Known::EditNote), Target::Identifier(_)) => {
            let name = request.subject.identifier.as_ref().and_then(|named| named.words.as_ref());
            let gone = memory.gone(None, name);
            // A note that is not there has no text to replace: finding none lifts nothing then. The server would look for a
            // file of the name, which the read did not know of.
            if !request.replaces && gone == 0 {
                return false;
            }
            let by = known_by(keys, request);
            let absent = if request.replaces { Vec::new() } else { by.absent };
            !memory.knows(&KnownBy { absent, ..by }, gone, step)
        }
        (Some(Known::EditNote), _) => true,
        (Some(Known::MoveNote), _) => moves_to_gone(facts, keys),
        _ => false,
    }
}

/// Whether a move goes to a path that was deleted or moved away from in this turn.
fn moves_to_gone(facts: &Facts<'_>, keys: &Keys<'_>) -> bool {
    let Facts { memory, step, given, request, .. } = *facts;
    let text = |name| given.text(name).filter(|to| !to.is_empty());
    if !memory.has_gone() {
        return false;
    }
    let destination = match (text("destination_path"), text("destination_folder"), &request.target) {
        (Some(path), ..) => path.clone(),
        // The note keeps its file's name, which its identifier ends with where that is no title.
        (None, Some(folder), Target::Identifier(identifier)) => {
            let (folder, identifier) = (folder.as_str().unwrap_or_default(), identifier.as_str().unwrap_or_default());
            let name = trim(identifier).trim_end_matches('/').rsplit('/').next().unwrap_or_default();
            Text::from(format!("{}/{name}", trim(folder).trim_end_matches('/')))
        }
        _ => return false,
    };
    let path = destination.as_str().map(|path| keys.file_path(path));
    let gone = memory.gone(path, Words::of_identifier(keys.key, &destination).as_ref());
    let absent = destination.as_str().map_or_else(Vec::new, |path| keys.absent(path, &request.projects));
    gone != 0 && !memory.knows(&KnownBy { absent, ..KnownBy::default() }, gone, step)
}

/// Whether `write_note` replaces a note that exists, as the server reads the argument; what it would refuse counts as true.
pub(super) fn overwrites(options: &Options, given: &Given) -> bool {
    match given.bool("overwrite") {
        LaxBool::Absent => options.overwrite_default,
        read => read.may_be_true(options.overwrite_default),
    }
}

/// Whether `edit_note` replaces text. Operations are case-sensitive; one that is not known to only add counts as replacing.
/// Metadata takes the place of what the note's fields hold, whatever the operation is.
pub(super) fn edits_replace(given: &Given) -> bool {
    let adds = given.text("operation").and_then(|text| text.as_str()).is_some_and(adds);
    !adds || given.get("metadata").is_some_and(|metadata| !sets_nothing(metadata))
}

/// Whether an operation of `edit_note` only adds text.
pub(super) fn adds(operation: &str) -> bool {
    ["append", "prepend", "insert_before_section", "insert_after_section"].contains(&operation)
}

/// Whether a metadata argument sets no field: null, an empty object, or the text of one.
pub(super) fn sets_nothing(metadata: &Json) -> bool {
    match metadata {
        Json::Null => true,
        Json::Object(fields) => fields.is_empty(),
        Json::Text(text) => text.as_str().is_some_and(|text| text.split_whitespace().collect::<String>() == "{}"),
        Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Beyond => false,
    }
}

/// The keys under which reading the target, or finding it absent, is remembered.
pub(super) fn known_by(keys: &Keys<'_>, request: &WriteRequest) -> KnownBy {
    let projects = &request.projects;
    match &request.target {
        Target::Path(path) => KnownBy {
            path: keys.path(path, projects),
            identifier: Vec::new(),
            absent: keys.absent(path.as_str(), projects),
        },
        Target::Identifier(identifier) => {
            let same = keys.identifier(identifier, projects);
            KnownBy { path: Vec::new(), identifier: same.clone(), absent: same }
        }
        Target::Unproven { .. } | Target::None => KnownBy::default(),
    }
}

/// Whether a labelled fixture lands where fixtures belong. What is not proven to, does not.
fn fixture_belongs(options: &Options, tool: Tool, given: &Given, request: &WriteRequest) -> bool {
    let folders = &options.test_fixture_folders;
    match (tool.known, &request.target) {
        (_, Target::Path(path)) => folders.allow_path(path.as_str()),
        (Some(Known::MoveNote), _) => ["destination_path", "destination_folder"].iter().any(|name| {
            let to = given.text(name).and_then(|text| text.as_str()).filter(|to| !to.is_empty());
            // A folder is judged by a note in it.
            to.is_some_and(|to| {
                folders.allow_path(&format!("{to}{}", if *name == "destination_folder" { "/x.md" } else { "" }))
            })
        }),
        (_, Target::Identifier(identifier)) => folders.allow_identifier(identifier, request.projects.name()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_escaped_is_read_as_it_is_meant() {
        let meant = |text: &str| unescaped(&Text::from(text)).map(|text| text.as_str().map(str::to_owned));
        for (given, expected) in [
            (r"\u0041\/\\\u0022", r#"A/\""#),
            (r#"\b\f\n\r\t\""#, "\u{8}\u{c}\n\r\t\""),
            (r"a\uD83D\uDE00é😀", "a😀é😀"),
            // What escapes nothing stays as it is.
            (r"C:\x \u00 \u12G4 \", r"C:\x \u00 \u12G4 \"),
        ] {
            assert_eq!(meant(given), Some(Some(expected.to_owned())), "{given}");
        }
        assert_eq!(meant("nothing {\"is\": [1]}"), None);
        // A lone surrogate is no character, and hides nothing behind it.
        let lone = unescaped(&Text::from(r"\uD83D\u0041")).unwrap();
        assert!(lone.has_lone_surrogate() && lone.as_bytes().ends_with(b"A"));
        let raw = Text::from_code_points([0xD83D, 0x5C, 0x6E]);
        assert_eq!(unescaped(&raw).unwrap().code_points().collect::<Vec<_>>(), [0xD83D, 0xA]);
    }
}
