//! What a call asks for, read from its arguments once, when it is judged.

use super::digest::{self, DigestKey, Digester, EffectKeys};
use super::memory::{Named, Subject};
use super::names::{Words, may_be_id};
use super::target::{Keys, ProjectArguments, Target};
use super::turn::{ReadRequest, WriteRequest};
use crate::argument::given::{Entry, Given, Held, Json};
use crate::evidence::{asks_for_json, proof_of};
use crate::note::python;
use crate::note::text::{CodePoint, Text};
use crate::tool::{Known, Tool};

impl ReadRequest {
    pub(super) fn of(tool: Tool, given: Option<&Given>, step: u32) -> ReadRequest {
        let raw = tool.known.map_or("", Known::raw);
        let Some(given) = given else {
            return ReadRequest {
                known: tool.known,
                step,
                proof: crate::evidence::Proof::Nothing,
                identifier: None,
                json: false,
                projects: ProjectArguments::default(),
                switches: false,
                routed: false,
            };
        };
        let projects = ProjectArguments::of(given);
        let identifier = match tool.known {
            Some(Known::ReadContent) => given.text("path"),
            _ => given.text("identifier"),
        };
        ReadRequest {
            known: tool.known,
            step,
            proof: proof_of(raw, |name| given.get(name).map(Json::argument)),
            identifier: identifier.cloned(),
            json: asks_for_json(given.get("output_format").map(Json::argument).as_ref()),
            switches: projects.routed() || routes(given, true),
            routed: routes(given, false),
            projects,
        }
    }
}

/// Parameters that say which note a write is about; they are not part of what it does to it.
const TARGET: &[&str] = &["title", "directory", "identifier", "project", "project_id", "workspace", "overwrite"];

impl WriteRequest {
    pub(super) fn of(keys: &EffectKeys, tool: Tool, given: &Given, overwrites: bool) -> WriteRequest {
        let key = &keys.key;
        let raw = tool.known.map_or("", Known::raw);
        let target = Target::of(tool.known, given);
        let mut digester = Digester::new(key);
        target.digest(&mut digester);
        digester.bytes(&[u8::from(overwrites)]);
        // A project call is about a project: all its arguments are what it does.
        let skip = if matches!(target, Target::None) { &[][..] } else { TARGET };
        let projects = ProjectArguments::of(given);
        let routed = routes(given, false);
        let is_project_call = matches!(tool.known, Some(Known::CreateMemoryProject | Known::DeleteProject));
        WriteRequest {
            known: tool.known,
            subject: Subject {
                effect: digest::of_effect(keys, raw, given, skip),
                target: digester.finish(),
                project: projects.compared(key),
                identifier: match &target {
                    Target::Identifier(identifier) => Some(identity(key, identifier)),
                    _ => None,
                },
                adds_up: tool.known == Some(Known::EditNote),
            },
            target,
            begun: 0,
            replaces: match tool.known {
                Some(Known::WriteNote) => overwrites,
                Some(Known::EditNote) => super::guards::edits_replace(given),
                _ => false,
            },
            directory: matches!(tool.known, Some(Known::MoveNote | Known::DeleteNote))
                && given.bool("is_directory").may_be_true(false),
            switches: is_project_call || projects.routed() || routed,
            routed,
            names_project: projects.stated() || routed && in_identifier(given, names_project),
            projects,
        }
    }
}

/// What an identifier may reach.
fn identity(key: &DigestKey, identifier: &Text<'_>) -> Named {
    if let Some(stripped) = identifier.stripped_ascii() {
        let plain = stripped.strip_prefix(b"memory://").unwrap_or(stripped);
        return Named {
            permalink: Keys { key, current: None }.permalink(plain),
            words: if may_be_id(identifier) { None } else { Words::of_identifier(key, identifier) },
        };
    }
    let points: Vec<CodePoint> = identifier.code_points().collect();
    let stripped = python::strip(&points);
    let url: Vec<CodePoint> = "memory://".chars().map(CodePoint::from).collect();
    let plain = Text::from_code_points(stripped.strip_prefix(url.as_slice()).unwrap_or(stripped).iter().copied());
    Named {
        permalink: Keys { key, current: None }.permalink(plain.as_bytes()),
        words: if may_be_id(identifier) { None } else { Words::of_identifier(key, identifier) },
    }
}

/// Whether an identifier, a path or a query may route the call to another project: by a `memory://` URL, and of a read by a
/// plain one with a slash too.
fn routes(given: &Given, read: bool) -> bool {
    in_identifier(given, |bytes| {
        bytes.starts_with(b"memory://") || (read && bytes.contains(&b'/')) || bytes.windows(2).any(|pair| pair == b"::")
    })
}

/// Whether an identifier that may route a call names a project: a URL does so by what is in front of its first slash.
fn names_project(identifier: &[u8]) -> bool {
    match identifier.strip_prefix(b"memory://") {
        Some(rest) => rest.iter().position(|byte| *byte == b'/').is_some_and(|slash| slash > 0),
        None => true,
    }
}

/// Whether this holds of an identifier, a path or a query, without the white space around it.
fn in_identifier(given: &Given, holds: impl Fn(&[u8]) -> bool) -> bool {
    let named = |entry: &Entry<'_>| {
        entry.family.is_some_and(|family| matches!(family.name, "identifier" | "path" | "query" | "url" | "id"))
    };
    given.entries().filter(named).any(|entry| {
        let Held::Open(Json::Text(text)) = entry.held else { return false };
        text.stripped_ascii().map_or_else(
            || {
                let points: Vec<CodePoint> = text.code_points().collect();
                holds(Text::from_code_points(python::strip(&points).iter().copied()).as_bytes())
            },
            &holds,
        )
    })
}
