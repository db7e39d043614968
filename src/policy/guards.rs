//! The integrity guards: step 3 of the gate, and step 6. Simple releases the lookup, not the guards.
//!
//! Each guard answers whether it fires, and on which argument. What that means is the configured level's business: `warn`
//! observes under the guard's code, `deny` denies with it.

use super::memory::{Before, Known as KnownBy};
use super::target::{Keys, Target};
use super::turn::{Turn, WriteRequest};
use super::{Connection, Options};
use crate::argument::given::{Given, Held, InspectContent, Json};
use crate::argument::{LaxBool, Role};
use crate::config::Level;
use crate::guard::fixture;
use crate::guard::path::{PathArgument, check_path};
use crate::guard::secret::{SecretClass, find_secret};
use crate::note::text::Text;
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
        let (Some(family), Held::Open(Json::Text(text))) = (entry.family, &entry.held) else { continue };
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

/// The guards of step 6, in the order of the table.
pub(super) fn integrity(
    options: &Options,
    turn: &Turn,
    connection: &Connection,
    tool: Tool,
    given: &Given,
    request: &WriteRequest,
    findings: &mut Findings,
) {
    let keys = Keys { key: &options.key, switches: connection.switches };
    if options.overwrite_requires_read != Level::Off && replaces_unread(options, turn, &keys, tool, given, request) {
        findings.add(
            options.overwrite_requires_read,
            Code::OverwriteRequiresRead,
            Observation::OverwriteRequiresRead,
            None,
        );
    }
    if connection.switched && takes_project(tool) && !request.projects.stated() && !request.switches {
        findings.add(options.project_guard, Code::ProjectAmbiguous, Observation::ProjectAmbiguous, None);
    }
    if options.duplicate_write_guard {
        let read = known_by(&keys, request);
        let code = match turn.memory.before(
            request.effect,
            &request.target,
            request.target_digest,
            &request.projects,
            &read,
        ) {
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
        let value = match (&entry.held, entry.family.map(|family| family.role)) {
            (Held::Open(value), Some(Role::Title | Role::Path | Role::Metadata)) => value,
            (Held::Sealed(sealed), _) => sealed.open(permission?),
            _ => return None,
        };
        let mut found = None;
        value.each_text(&mut |text| {
            if found.is_none() {
                found = find(text);
            }
        });
        Some((found?, ArgumentName::of(entry.family.map_or("", |family| family.name))))
    })
}

/// Whether the call would replace existing text of a note that is not proven read.
fn replaces_unread(
    options: &Options,
    turn: &Turn,
    keys: &Keys<'_>,
    tool: Tool,
    given: &Given,
    request: &WriteRequest,
) -> bool {
    let memory = &turn.memory;
    match (tool.known, &request.target) {
        (Some(Known::WriteNote), Target::Path(path)) => {
            let gone = memory.gone(path);
            if !overwrites(options, given) && gone == 0 {
                return false;
            }
            !memory.knows(&known_by(keys, request), gone)
        }
        // Where the note would land is not proven, so neither is that it was read.
        (Some(Known::WriteNote), _) => overwrites(options, given) || memory.anything_gone(),
        (Some(Known::EditNote), Target::Identifier(identifier)) => {
            let gone = memory.identifier_gone(identifier);
            if !edits_replace(given) && gone == 0 {
                return false;
            }
            !memory.knows(&known_by(keys, request), gone)
        }
        (Some(Known::EditNote), _) => true,
        (Some(Known::MoveNote), _) => match given.text("destination_path").filter(|to| !to.is_empty()) {
            Some(to) => {
                let gone = memory.identifier_gone(to);
                let absent = keys.identifier(to, &request.projects);
                gone != 0 && !memory.knows(&KnownBy { absent, ..KnownBy::default() }, gone)
            }
            None => false,
        },
        _ => false,
    }
}

/// Whether `write_note` replaces a note that exists, as the server reads the argument; what it would refuse counts as true.
pub(super) fn overwrites(options: &Options, given: &Given) -> bool {
    match given.bool("overwrite") {
        LaxBool::Absent => options.overwrite_default,
        read => read.may_be_true(options.overwrite_default),
    }
}

/// Whether `edit_note` replaces text. Operations are case-sensitive; one that is not known to only add counts as replacing.
pub(super) fn edits_replace(given: &Given) -> bool {
    const ADDS: [&str; 4] = ["append", "prepend", "insert_before_section", "insert_after_section"];
    !given.text("operation").and_then(|text| text.as_str()).is_some_and(|operation| ADDS.contains(&operation))
}

/// The keys under which reading the target, or finding it absent, is remembered.
pub(super) fn known_by(keys: &Keys<'_>, request: &WriteRequest) -> KnownBy {
    let projects = &request.projects;
    match &request.target {
        Target::Path(path) => KnownBy {
            path: keys.path(path, projects),
            identifier: Vec::new(),
            absent: keys.path_as_absent(path, projects),
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
