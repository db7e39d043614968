//! What follows from a result: for lookups, for what the turn knows of notes, and for the connection's project.

use super::digest::{Digest, DigestKey};
use super::guards::known_by;
use super::memory::{Known as KnownBy, Memory, Order, Removed, Written};
use super::names::Words;
use super::target::{FilePath, Keys, Named, Target, is_resolved_alike};
use super::turn::{Followed, Open, ReadRequest, Turn, WriteRequest};
use super::{Arrival, Connection, Options, Outcome, Settled};
use crate::config::LookupEvidence;
use crate::evidence::{self, Finding, Proof, Value};
use crate::note::text::Text;
use crate::reason::{Observation, Observations};
use crate::tool::Known;

/// How an error text begins that the server, or its framework, writes instead of doing the call. An error that begins
/// otherwise (a timeout, an abort, another plugin's block) does not say whether the call was done.
const REFUSALS: &[&str] = &["Error calling tool", "Unknown tool", "Input validation error", "Error executing tool"];

/// What a write did to the names of notes, for all who know notes by them.
#[derive(Clone, Copy, Debug)]
pub(super) enum Renamed {
    /// The note at this path may be called otherwise.
    Note(FilePath),
    /// Any note may be.
    Any,
}

impl Renamed {
    /// Tells it to a turn's memory.
    pub(super) fn tell(self, memory: &mut Memory) {
        match self {
            Renamed::Note(path) => memory.edited(path),
            Renamed::Any => memory.titles_change(),
        }
    }
}

/// Settles a call that was open, and says what it did to the names of notes.
pub(super) fn settle(
    options: &Options,
    turn: &mut Turn,
    connection: &mut Connection,
    followed: Followed,
    arrival: &Arrival,
) -> (Settled, Option<Renamed>) {
    if !arrival.reached {
        // It did not run, so it switched nothing.
        if connection.current == followed.current {
            connection.current = followed.before;
        }
        // A denial, an abort before the body: nothing was proven, not even a failure.
        return (Settled { outcome: Some(Outcome::NotReached), observations: Observations::NONE }, None);
    }
    let Followed { server, current, open, .. } = followed;
    // Where another call may have switched the connection meanwhile, nobody knows where this one went.
    let undisturbed = connection.current == current;
    let was_switched = connection.switched;
    if open.may_switch() {
        connection.switch();
        connection.switched = true;
    }
    let place = Place {
        keys: Keys { key: &options.key, current: undisturbed.then_some(connection.current) },
        was_switched,
        step: arrival.step,
    };
    let by_flag = if arrival.is_error { Outcome::Failed } else { Outcome::Succeeded };
    let mut renamed = None;
    let (outcome, observations) = match open {
        Open::Other | Open::Recorded { .. } => (by_flag, Observations::NONE),
        Open::Control => match arrival.declared {
            Some(task) if !arrival.is_error => (Outcome::Succeeded, turn.declare(task)),
            _ => (Outcome::Failed, Observations::NONE),
        },
        Open::Lookup(read) => {
            let (outcome, observations) = lookup(options.lookup_evidence, &read, arrival);
            match outcome {
                Outcome::Succeeded => turn.lookup_succeeded(read.step.max(arrival.step)),
                _ => turn.lookup_failed(),
            }
            (outcome, observations)
        }
        Open::Read(read) => settle_read(turn.memory(server), connection, &place, &read, arrival),
        Open::Write(write) => {
            let (outcome, observations, names) = settle_write(turn.memory(server), connection, &place, &write, arrival);
            renamed = names;
            (outcome, observations)
        }
    };
    (Settled { outcome: Some(outcome), observations }, renamed)
}

/// Where a result came from, as far as it can be told.
struct Place<'a> {
    keys: Keys<'a>,
    /// Whether the connection may have been switched before.
    was_switched: bool,
    step: u32,
}

impl<'a> Place<'a> {
    /// The keys for a call that named a project while its identifier names one too: which of the two is current then is not
    /// known.
    fn keys(&self, stated: bool, routed: bool) -> Keys<'a> {
        Keys { key: self.keys.key, current: self.keys.current.filter(|_| !(stated && routed)) }
    }

    /// The project that the server is known to use where none is named, for a result that may be of it.
    fn own<'c>(&self, connection: &'c Connection, switches: bool) -> Option<&'c str> {
        connection.own.as_deref().filter(|_| !self.was_switched && !switches && self.keys.current.is_some())
    }
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
    memory: &mut Memory,
    connection: &Connection,
    place: &Place<'_>,
    read: &ReadRequest,
    arrival: &Arrival,
) -> (Outcome, Observations) {
    let raw = read.known.map_or("", Known::raw);
    let finding = evidence::judge(raw, arrival.is_error, arrival.answer.value());
    // Only tools of the table have headings that could be unknown.
    let tabled = evidence::table::entry(raw).is_some();
    let observations =
        Observations::NONE.with_if(tabled && !finding.known && !arrival.is_error, Observation::LookupHeadingUnknown);
    let keys = place.keys(read.projects.stated(), read.routed);
    let identifier = read.identifier.as_ref();
    match finding.outcome {
        evidence::Outcome::Done if finding.known => {
            let step = Some(read.step.max(place.step));
            let named = named(&finding);
            let mut proven = Vec::new();
            if read.proof == Proof::PathAndIdentifier {
                let own = place.own(connection, read.switches);
                proven.extend(keys.notes(&named, &read.projects, own));
                if let Some(path) = named.file_path.as_deref() {
                    let own_names = keys.own_names(&named, &read.projects, own);
                    memory.prove_permalink(own_names, keys.file_path(path), step);
                }
            }
            let reaches = match read.proof {
                Proof::PathAndIdentifier => {
                    |named: &Named, key: &DigestKey, id: &Text<'_>| named.is_reached_by(key, id)
                }
                Proof::Identifier => |_: &Named, _: &DigestKey, _: &Text<'_>| true,
                Proof::Nothing => |_: &Named, _: &DigestKey, _: &Text<'_>| false,
            };
            if let Some(identifier) = identifier.filter(|id| is_resolved_alike(id) && reaches(&named, keys.key, id)) {
                let same = keys.identifier(identifier, &read.projects);
                if let (Proof::PathAndIdentifier, Some(path)) = (read.proof, named.file_path.as_deref()) {
                    memory.reach(same.iter().copied(), keys.file_path(path));
                    if named.is_found_by_permalink(identifier) {
                        memory.prove_permalink(same.iter().copied(), keys.file_path(path), step);
                    }
                }
                proven.extend(same);
            }
            if !proven.is_empty() {
                memory.prove(proven, step);
            }
            (Outcome::Succeeded, observations)
        }
        evidence::Outcome::Done | evidence::Outcome::Empty => (Outcome::Succeeded, observations),
        evidence::Outcome::NotFound { sure } => {
            if sure && let Some(identifier) = identifier {
                memory.miss(keys.identifier(identifier, &read.projects));
            }
            (Outcome::Failed, observations)
        }
        _ => (Outcome::Failed, observations),
    }
}

fn settle_write(
    memory: &mut Memory,
    connection: &mut Connection,
    place: &Place<'_>,
    write: &WriteRequest,
    arrival: &Arrival,
) -> (Outcome, Observations, Option<Renamed>) {
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
    let renamed = match outcome {
        Outcome::Succeeded | Outcome::Unknown => renamed(&place.keys, write, &named, outcome),
        Outcome::Failed | Outcome::NotReached => None,
    };
    match outcome {
        Outcome::Succeeded => {
            if !write.switches && !place.was_switched && place.keys.current.is_some() {
                connection.own = named.project_slug().or(connection.own.take());
            }
            // What nobody knows counts as done, as its flag says, and proves nothing.
            let proves = finding.known.then(|| arrival.answer.value());
            done(memory, connection, place, write, named, proves);
        }
        Outcome::Unknown => {
            // What may be gone counts as gone, what may have another name as having it, and what may be written as not known.
            match write.known {
                Some(Known::MoveNote | Known::DeleteNote) => remove(memory, &place.keys, write, None, false),
                Some(Known::EditNote | Known::WriteNote) => Renamed::Any.tell(memory),
                Some(Known::CreateMemoryProject | Known::DeleteProject) => memory.switch(false),
                _ => {}
            }
            memory.write(written(write), false);
        }
        Outcome::Failed | Outcome::NotReached => {}
    }
    (outcome, observations.with_if(numbered, Observation::PossibleDuplicatePermalink), renamed)
}

/// What a write that was done, or may have been, did to the names of notes. Replaced text can be a title or a permalink, a first
/// heading that changes takes the title with it, and content can set a permalink.
fn renamed(keys: &Keys<'_>, write: &WriteRequest, named: &Named, outcome: Outcome) -> Option<Renamed> {
    let of_target = match &write.target {
        Target::Path(path) => Some(path.as_str()),
        _ => None,
    };
    let path = named.file_path.as_deref().or(of_target).map(|path| keys.file_path(path));
    match write.known {
        Some(Known::WriteNote) if outcome == Outcome::Succeeded && !write.replaces => None,
        Some(Known::WriteNote | Known::EditNote) if outcome == Outcome::Succeeded => {
            Some(path.map_or(Renamed::Any, Renamed::Note))
        }
        Some(_) => Some(Renamed::Any),
        None => None,
    }
}

/// A write is done. `proves` is its answer where that is one that the server is known to give.
fn done(
    memory: &mut Memory,
    connection: &Connection,
    place: &Place<'_>,
    write: &WriteRequest,
    mut named: Named,
    proves: Option<Value<'_>>,
) {
    if named.file_path.is_none()
        && let Target::Path(path) = &write.target
    {
        named.file_path = Some(path.as_str().to_owned());
    }
    let keys = place.keys(write.projects.stated(), write.routed);
    let own = place.own(connection, write.switches);
    let notes = keys.notes(&named, &write.projects, own);
    let own_names = keys.own_names(&named, &write.projects, own);
    let record = named_in(&keys, written(write), &named, &notes);
    match write.known {
        Some(Known::WriteNote) => {
            if let Some(renamed) = renamed(&keys, write, &named, Outcome::Succeeded) {
                renamed.tell(memory);
            }
            memory.write(record, true);
            if proves.is_some()
                && let Some(path) = named.file_path.as_deref()
            {
                memory.prove(notes, None);
                memory.prove_permalink(own_names, keys.file_path(path), None);
            }
        }
        Some(Known::EditNote) => {
            // An edit shows the model nothing of what was there before: what was known stays known, and only what the
            // edit itself created is known by it.
            let by = KnownBy { absent: Vec::new(), ..known_by(&keys, write) };
            let by = KnownBy { path: by.path.into_iter().chain(notes.iter().copied()).collect(), ..by };
            let made = proves.as_ref().is_some_and(created);
            let seen = made || memory.knows(&by, Order::default(), place.step);
            let known = seen || memory.knows(&by, Order::default(), u32::MAX);
            if let Some(renamed) = renamed(&keys, write, &named, Outcome::Succeeded) {
                renamed.tell(memory);
            }
            memory.write(record, true);
            if known
                && proves.is_some()
                && let Some(path) = named.file_path.as_deref()
            {
                // What was read and not yet seen stays unseen.
                let step = (!seen).then_some(place.step);
                memory.prove(notes, step);
                memory.prove_permalink(own_names, keys.file_path(path), step);
                if let Target::Identifier(identifier) = &write.target {
                    let same = keys.identifier(identifier, &write.projects);
                    if named.is_found_by_permalink(identifier) {
                        memory.prove_permalink(same, keys.file_path(path), step);
                    } else if named.is_still_called(identifier) {
                        memory.prove(same, step);
                    }
                }
            }
        }
        Some(Known::MoveNote) => {
            // What the result names is where the note is now.
            remove(memory, &keys, write, None, true);
            memory.write(written(write), true);
        }
        Some(Known::DeleteNote) => {
            remove(memory, &keys, write, named.file_path.as_deref(), true);
            memory.write(record, true);
        }
        Some(Known::CreateMemoryProject | Known::DeleteProject) => {
            memory.switch(true);
            memory.write(record, true);
        }
        _ => memory.write(record, true),
    }
}
/// A write as the memory compares it, by its arguments alone.
pub(super) fn written(write: &WriteRequest) -> Written {
    Written {
        effect: write.subject.effect,
        target: write.subject.target,
        project: write.subject.project,
        path: None,
        notes: Vec::new(),
        permalink: None,
        names: write.subject.identifier.iter().map(|named| named.words.clone()).collect(),
        titled: false,
    }
}

/// The same with what the result named.
fn named_in(keys: &Keys<'_>, mut written: Written, named: &Named, notes: &[Digest]) -> Written {
    let Some(path) = named.file_path.as_deref() else { return written };
    let words = |name: &str| Words::of(keys.key, name);
    let (own, permalink) = (words(path), named.permalink.as_deref().map(words));
    // An identifier of one word that is neither the path nor the permalink is the title, since nothing else is left.
    let is_title = written.names.first().and_then(Option::as_ref).is_some_and(|identifier| {
        identifier.is_single() && !identifier.reach(own.as_ref(), permalink.as_ref().and_then(Option::as_ref))
    });
    written.titled = named.title.is_some() || is_title;
    // What the identifier was is of no account where it may have been an external id.
    written.names.retain(Option::is_some);
    written.names.push(own);
    written.names.extend(permalink);
    written.names.extend(named.title.as_deref().map(words));
    written.path = Some(keys.file_path(path));
    written.permalink = named.permalink.as_deref().map(|permalink| keys.permalink(permalink.as_bytes()));
    written.notes = notes.to_vec();
    written
}

/// Notes are gone, or may be: the note at a path that the result named, or whatever the identifier reached.
fn remove(memory: &mut Memory, keys: &Keys<'_>, write: &WriteRequest, path: Option<&str>, done: bool) {
    let Target::Identifier(identifier) = &write.target else { return };
    let given = write.subject.identifier.as_ref().and_then(|named| named.words.clone());
    let removed = if write.directory {
        Removed::Folder(Words::of_identifier(keys.key, identifier))
    } else {
        let reached = memory.path_of(&keys.identifier(identifier, &write.projects));
        Removed::Note {
            path: path.map(|path| keys.file_path(path)).or(reached),
            names: match path {
                Some(path) => std::iter::once(Words::of(keys.key, path)).chain(given.map(Some)).collect(),
                None => vec![given],
            },
        }
    };
    memory.remove(removed, done);
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
        project: own(finding.named.project),
    }
}
