//! What follows from a result: for lookups, for what the turn knows of notes, and for the connection's project.

use super::guards::known_by;
use super::memory::{Known as KnownBy, Order};
use super::target::{Keys, Named, Target};
use super::turn::{Open, ReadRequest, Turn, WriteRequest};
use super::{Arrival, Connection, Options, Outcome, Settled};
use crate::config::LookupEvidence;
use crate::evidence::{self, Finding, Proof, Value};
use crate::note::text::Text;
use crate::reason::{Observation, Observations};
use crate::tool::Known;

/// How an error text begins that the server, or its framework, writes instead of doing the call. An error that begins
/// otherwise (a timeout, an abort, another plugin's block) does not say whether the call was done.
const REFUSALS: &[&str] = &["Error calling tool", "Unknown tool", "Input validation error", "Error executing tool"];

/// Settles a call that was open.
pub(super) fn settle(
    options: &Options,
    turn: &mut Turn,
    connection: &mut Connection,
    open: Open,
    arrival: &Arrival,
) -> Settled {
    if !arrival.reached {
        // A denial, an abort before the body: nothing was proven, not even a failure.
        return Settled { outcome: Some(Outcome::NotReached), observations: Observations::NONE };
    }
    let was_switched = connection.switched;
    if open.may_switch() {
        connection.switches += 1;
        connection.switched = true;
    }
    let keys = Keys { key: &options.key, switches: connection.switches };
    let by_flag = if arrival.is_error { Outcome::Failed } else { Outcome::Succeeded };
    let (outcome, observations) = match open {
        Open::Other => (by_flag, Observations::NONE),
        Open::Control => match arrival.declared {
            Some(task) if !arrival.is_error => (Outcome::Succeeded, turn.declare(task)),
            _ => (Outcome::Failed, Observations::NONE),
        },
        Open::Lookup { step, read } => {
            let (outcome, observations) = lookup(options.lookup_evidence, &read, arrival);
            match outcome {
                Outcome::Succeeded => turn.lookup_succeeded(step.max(arrival.step)),
                _ => turn.lookup_failed(),
            }
            (outcome, observations)
        }
        Open::Read(read) => settle_read(turn, &keys, was_switched, &read, arrival),
        Open::Write(write) => settle_write(turn, &keys, was_switched, &write, arrival),
    };
    Settled { outcome: Some(outcome), observations }
}

/// What a lookup's result proves. A search tool that no table knows is judged as the server's own search is.
fn lookup(evidence: LookupEvidence, read: &ReadRequest, arrival: &Arrival) -> (Outcome, Observations) {
    if evidence == LookupEvidence::Flag {
        return (if arrival.is_error { Outcome::Failed } else { Outcome::Succeeded }, Observations::NONE);
    }
    let raw = read.known.map_or(Known::SearchNotes.raw(), Known::raw);
    let finding = evidence::judge(raw, arrival.is_error, arrival.answer.value());
    let unknown = Observations::NONE.with_if(!finding.known && !arrival.is_error, Observation::LookupHeadingUnknown);
    match finding.outcome {
        evidence::Outcome::Done => (Outcome::Succeeded, unknown),
        evidence::Outcome::Empty => (Outcome::Succeeded, unknown.with(Observation::RecallEmpty)),
        _ => (Outcome::Failed, unknown),
    }
}

fn settle_read(
    turn: &mut Turn,
    keys: &Keys<'_>,
    was_switched: bool,
    read: &ReadRequest,
    arrival: &Arrival,
) -> (Outcome, Observations) {
    let raw = read.known.map_or("", Known::raw);
    let finding = evidence::judge(raw, arrival.is_error, arrival.answer.value());
    // Only tools of the table have headings that could be unknown.
    let tabled = evidence::table::entry(raw).is_some();
    let observations =
        Observations::NONE.with_if(tabled && !finding.known && !arrival.is_error, Observation::LookupHeadingUnknown);
    let identifier = read.identifier.as_ref();
    match finding.outcome {
        evidence::Outcome::Done if finding.known => {
            let mut proven = Vec::new();
            if read.proof == Proof::PathAndIdentifier {
                proven.extend(keys.named(&named(&finding), &read.projects, was_switched));
            }
            if read.proof != Proof::Nothing
                && let Some(identifier) = identifier
            {
                proven.extend(keys.identifier(identifier, &read.projects));
            }
            if !proven.is_empty() {
                turn.memory.prove(proven);
            }
            (Outcome::Succeeded, observations)
        }
        evidence::Outcome::Done | evidence::Outcome::Empty => (Outcome::Succeeded, observations),
        evidence::Outcome::NotFound { sure } => {
            if sure && let Some(identifier) = identifier {
                turn.memory.miss(keys.identifier(identifier, &read.projects));
            }
            (Outcome::Failed, observations)
        }
        _ => (Outcome::Failed, observations),
    }
}

fn settle_write(
    turn: &mut Turn,
    keys: &Keys<'_>,
    was_switched: bool,
    write: &WriteRequest,
    arrival: &Arrival,
) -> (Outcome, Observations) {
    let raw = write.known.map_or("", Known::raw);
    let finding = evidence::judge(raw, arrival.is_error, arrival.answer.value());
    let tabled = evidence::table::entry(raw).is_some();
    let unknown = tabled && !finding.known && !arrival.is_error;
    let observations = Observations::NONE.with_if(unknown, Observation::LookupHeadingUnknown);
    let outcome = match finding.outcome {
        evidence::Outcome::Done => Outcome::Succeeded,
        evidence::Outcome::Partly | evidence::Outcome::Unknown => Outcome::Unknown,
        _ if arrival.is_error && !finding.known && !is_refusal(arrival.answer.value()) => Outcome::Unknown,
        _ => Outcome::Failed,
    };
    let named = named(&finding);
    let numbered = named.has_numbered_permalink();
    match outcome {
        Outcome::Succeeded => done(turn, keys, was_switched, write, named, &arrival.answer.value()),
        Outcome::Unknown => {
            // What may be gone counts as gone, and what may be written as not known.
            if matches!(write.known, Some(Known::MoveNote | Known::DeleteNote)) {
                remove(turn, write, None);
            }
            remember(turn, write, Named::default(), false);
        }
        Outcome::Failed | Outcome::NotReached => {}
    }
    (outcome, observations.with_if(numbered, Observation::PossibleDuplicatePermalink))
}

/// A write is done.
fn done(
    turn: &mut Turn,
    keys: &Keys<'_>,
    was_switched: bool,
    write: &WriteRequest,
    mut named: Named,
    value: &Value<'_>,
) {
    if named.file_path.is_none()
        && let Target::Path(path) = &write.target
    {
        named.file_path = Some(path.as_str().to_owned());
    }
    match write.known {
        Some(Known::WriteNote) => {
            // Content can set a permalink, so what it replaced may have had another.
            if write.replaces {
                turn.memory.identifiers_change();
            }
            remember(turn, write, named.clone(), true);
            turn.memory.prove(keys.named(&named, &write.projects, was_switched));
        }
        Some(Known::EditNote) => {
            let named_keys = keys.named(&named, &write.projects, was_switched);
            // An edit shows the model nothing of what was there before: what was known stays known, and only what the
            // edit itself created is known by it.
            let known = created(value) || turn.memory.knows(&known_by(keys, write), Order::default()) || {
                let by_path = KnownBy { path: named_keys.clone(), ..KnownBy::default() };
                turn.memory.knows(&by_path, Order::default())
            };
            // Replaced text can be a title or a permalink.
            if write.replaces {
                turn.memory.identifiers_change();
            }
            remember(turn, write, named.clone(), true);
            if known {
                let identifier = match &write.target {
                    Target::Identifier(text) if !write.replaces || names_exactly(text, &named) => {
                        keys.identifier(text, &write.projects)
                    }
                    _ => Vec::new(),
                };
                turn.memory.prove(named_keys.into_iter().chain(identifier));
            }
        }
        Some(Known::MoveNote) => {
            remove(turn, write, None);
            remember(turn, write, Named::default(), true);
        }
        Some(Known::DeleteNote) => {
            remove(turn, write, named.file_path.clone());
            remember(turn, write, named, true);
        }
        Some(Known::CreateMemoryProject | Known::DeleteProject) => {
            turn.memory.switch();
            remember(turn, write, Named::default(), true);
        }
        _ => remember(turn, write, named, true),
    }
}

fn remember(turn: &mut Turn, write: &WriteRequest, named: Named, done: bool) {
    turn.memory.write(write.effect, write.target_digest, write.projects.clone(), named, done);
}

fn remove(turn: &mut Turn, write: &WriteRequest, path: Option<String>) {
    if let Target::Identifier(identifier) = &write.target {
        turn.memory.remove(identifier.clone(), path, write.directory);
    }
}

/// Whether an identifier is the note's path or permalink as the result has them, so that it still reaches the note after an
/// edit that may have changed its title.
fn names_exactly(identifier: &Text<'_>, named: &Named) -> bool {
    let Some(identifier) = identifier.as_str() else { return false };
    let path = named.file_path.as_deref();
    path == Some(identifier)
        || path.and_then(|path| path.strip_suffix(".md")) == Some(identifier)
        || named.permalink.as_deref() == Some(identifier)
}

/// Whether an edit says that it made the note.
fn created(value: &Value<'_>) -> bool {
    match value {
        Value::Object(object) => object.field("fileCreated") == evidence::Field::Bool(true),
        Value::Text(text) => text.starts_with("# Created note ("),
        _ => false,
    }
}

fn is_refusal(value: Value<'_>) -> bool {
    let Value::Text(text) = value else { return false };
    let counted = text.trim_start_matches(|c: char| c.is_ascii_digit());
    REFUSALS.iter().any(|start| text.starts_with(start))
        || (counted.len() < text.len() && counted.starts_with(" validation error"))
}

fn named(finding: &Finding<'_>) -> Named {
    let own = |text: Option<&str>| text.map(str::to_owned);
    Named {
        file_path: own(finding.named.file_path),
        permalink: own(finding.named.permalink),
        title: own(finding.named.title),
    }
}
