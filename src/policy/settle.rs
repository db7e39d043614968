//! What follows from a result: for lookups, for what the turn knows of notes, and for the connection's project.

use std::sync::Arc;

use super::digest::DigestKey;
use super::guards::known_by;
use super::memory::{Known as KnownBy, Memory, Subject, Written};
use super::notes::{Entry, Notes, Read, Wrote};
use super::record::{Renamed, gone_since, named_in, names, remove, renamed, written};
use super::target::{
    Keys, Named, NamedKeys, Project, ProjectArguments, Target, has_numbered_permalink, is_resolved_alike,
};
use super::turn::{Followed, Open, ReadRequest, Turn, WriteRequest};
use super::{Arrival, Connection, Options, Outcome, Settled};
use crate::config::LookupEvidence;
use crate::evidence::{self, Named as Told, Proof, Value};
use crate::note::text::Text;
use crate::reason::{Observation, Observations};
use crate::tool::Known;

/// How an error text begins that the server, or its framework, writes instead of doing the call. An error that begins
/// otherwise (a timeout, an abort, another plugin's block) does not say whether the call was done.
const REFUSALS: &[&str] = &["Error calling tool", "Unknown tool", "Input validation error", "Error executing tool"];

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
        keys: Keys { key: options.key(), current: undisturbed.then_some(connection.current) },
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
            // Where an operator lists a read as a search it is both, and proves what it has read all the same.
            if read.identifier.is_some() {
                settle_read(turn.notes(server).0, connection, &place, &read, arrival);
            }
            let (outcome, observations) = lookup(options.lookup_evidence, &read, arrival);
            match outcome {
                Outcome::Succeeded => turn.lookup_succeeded(read.step.max(arrival.step)),
                _ => turn.lookup_failed(),
            }
            (outcome, observations)
        }
        Open::Read(read) => settle_read(turn.notes(server).0, connection, &place, &read, arrival),
        Open::Write(write) => {
            let (notes, _) = turn.notes(server);
            let (outcome, observations, names) = settle_write(notes, connection, &place, &write, arrival);
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
        connection.own().filter(|_| !self.was_switched && !switches && self.keys.current.is_some())
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
    notes: &mut Notes,
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
    match finding.outcome {
        evidence::Outcome::Done if finding.known && read.proof != Proof::Nothing => {
            let proved = Read {
                proof: read.proof,
                identifier: read.identifier.as_ref().map(Text::borrowed),
                told: finding.named,
                current: keys.current,
                own: place.own(connection, read.switches),
                step: read.step.max(place.step),
            };
            if read.projects.stated_nothing() {
                notes.take_down(keys.key, &connection.news, &Entry::Read(proved));
            } else {
                self::read(notes.known(keys.key, &connection.news), keys.key, &read.projects, &proved);
            }
            (Outcome::Succeeded, observations)
        }
        evidence::Outcome::Done | evidence::Outcome::Empty => (Outcome::Succeeded, observations),
        evidence::Outcome::NotFound { sure } => {
            // In text mode the text is the note's own, and may say anything.
            if sure
                && read.json
                && let Some(identifier) = &read.identifier
            {
                notes.known(keys.key, &connection.news).miss(keys.identifier(identifier, &read.projects));
            }
            (Outcome::Failed, observations)
        }
        _ => (Outcome::Failed, observations),
    }
}

/// A whole note was read.
pub(super) fn read(memory: &mut Memory, key: &DigestKey, projects: &ProjectArguments, read: &Read<'_>) {
    let keys = Keys { key, current: read.current };
    let step = Some(read.step);
    let named = named(&read.told);
    let file = named.file_path.as_deref().filter(|_| read.proof == Proof::PathAndIdentifier);
    let file = file.map(|path| keys.file_path(path));
    let mut proven = Vec::new();
    if read.proof == Proof::PathAndIdentifier {
        let NamedKeys { paths, names: own_names } = keys.named(&named, projects, read.own);
        proven = paths;
        if let Some(file) = file {
            memory.name(file, &Arc::new(names(key, &named)));
            memory.prove_permalink(own_names, file, true, step);
        }
    }
    let reaches = |identifier: &Text<'_>| match read.proof {
        Proof::PathAndIdentifier => named.is_reached_by(key, identifier),
        Proof::Identifier => true,
        Proof::Nothing => false,
    };
    if let Some(identifier) = read.identifier.as_ref().filter(|id| is_resolved_alike(id) && reaches(id)) {
        let same = keys.identifier(identifier, projects);
        if let (Proof::PathAndIdentifier, Some(file)) = (read.proof, file) {
            memory.reach(same.iter().copied(), file);
            if named.is_found_by_permalink(identifier) {
                let exact = named.is_permalink(identifier);
                memory.prove_permalink(same.iter().copied(), file, exact, step);
            }
        }
        proven.extend(same);
    }
    if !proven.is_empty() {
        memory.prove(proven, step);
    }
}

fn settle_write(
    notes: &mut Notes,
    connection: &mut Connection,
    place: &Place<'_>,
    write: &WriteRequest,
    arrival: &Arrival,
) -> (Outcome, Observations, Option<Renamed>) {
    let key = place.keys.key;
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
    let mut told = finding.named;
    let observations = observations.with_if(has_numbered_permalink(&told), Observation::PossibleDuplicatePermalink);
    match outcome {
        Outcome::Succeeded => {
            if !write.switches && !place.was_switched && place.keys.current.is_some() {
                connection.learn_own(told.project);
            }
            let names_path = told.file_path.is_some();
            if let (false, Target::Path(path)) = (names_path, &write.target) {
                told.file_path = Some(path.as_str());
            }
            // What nobody knows counts as done, as its flag says, and proves nothing.
            let proves = finding.known.then(|| arrival.answer.value());
            let renamed = done(notes, connection, place, write, (&told, names_path), proves);
            (outcome, observations, renamed)
        }
        Outcome::Unknown => {
            let memory = notes.known(key, &connection.news);
            // What may be gone counts as gone, what may have another name as having it, and what may be written as not known.
            match write.known {
                Some(Known::MoveNote | Known::DeleteNote) => remove(memory, &place.keys, write, None, false),
                Some(Known::EditNote | Known::WriteNote) => Renamed::Any.tell(memory),
                Some(Known::CreateMemoryProject | Known::DeleteProject) => memory.switch(false),
                _ => {}
            }
            memory.write(written(write), false);
            (outcome, observations, renamed(write, None, outcome))
        }
        Outcome::Failed | Outcome::NotReached => (outcome, observations, None),
    }
}

/// A write is done, with what is known of the note and whether its answer names the path, and the answer where that is one that
/// the server is known to give.
fn done(
    notes: &mut Notes,
    connection: &Connection,
    place: &Place<'_>,
    write: &WriteRequest,
    (told, names_path): (&Told<'_>, bool),
    proves: Option<Value<'_>>,
) -> Option<Renamed> {
    let keys = place.keys(write.projects.stated(), write.routed);
    let own = place.own(connection, write.switches);
    if write.known == Some(Known::WriteNote) && !write.replaces {
        let Subject { effect, target, project, .. } = &write.subject;
        let (current, proves) = (keys.current, proves.is_some());
        let made = Wrote { effect: *effect, target: *target, told: *told, current, own, proves };
        // Of what only the arguments say digests are held, and no text.
        if write.projects.stated_nothing() && names_path {
            notes.take_down(keys.key, &connection.news, &Entry::Wrote(made));
        } else {
            self::made(notes.known(keys.key, &connection.news), keys.key, &write.projects, *project, &made);
        }
        return Some(Renamed::Created);
    }
    let named = named(told);
    let file = named.file_path.as_deref().map(|path| keys.file_path(path));
    let renamed = renamed(write, file, Outcome::Succeeded);
    let memory = notes.known(keys.key, &connection.news);
    let NamedKeys { paths: notes, names: own_names } = keys.named(&named, &write.projects, own);
    let record = named_in(&keys, written(write), &named, file, &notes);
    // What the result named, or the arguments: else nothing is known by name.
    let name = file.filter(|_| write.known != Some(Known::DeleteNote)).map(|file| (file, Arc::clone(&record.names)));
    match write.known {
        Some(Known::WriteNote) => {
            if let Some(renamed) = renamed {
                renamed.tell(memory);
            }
            memory.write(record, true);
            if proves.is_some()
                && let Some(file) = file
            {
                memory.prove(notes, None);
                memory.prove_permalink(own_names, file, true, None);
            }
        }
        Some(Known::EditNote) => {
            // An edit shows the model nothing of what was there before: what was known stays known, and only what the
            // edit itself created is known by it.
            let by = KnownBy { absent: Vec::new(), ..known_by(&keys, write) };
            let by = KnownBy { path: by.path.into_iter().chain(notes.iter().copied()).collect(), ..by };
            let made = proves.as_ref().is_some_and(created);
            // Not what was known of a note that is gone since.
            let gone = gone_since(memory, &keys, write, &named);
            let seen = made || memory.knows(&by, gone, place.step);
            let known = seen || memory.knows(&by, gone, u32::MAX);
            if let Some(renamed) = renamed {
                renamed.tell(memory);
            }
            memory.write(record, true);
            if known
                && proves.is_some()
                && let Some(file) = file
            {
                // What was read and not yet seen stays unseen.
                let step = (!seen).then_some(place.step);
                memory.prove(notes, step);
                memory.prove_permalink(own_names, file, true, step);
                if let Target::Identifier(identifier) = &write.target {
                    let same = keys.identifier(identifier, &write.projects);
                    if named.is_found_by_permalink(identifier) {
                        memory.prove_permalink(same, file, named.is_permalink(identifier), step);
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
    // Only now: where a note was moved to, none has gone by its names.
    if let Some((path, names)) = name {
        memory.name(path, &names);
    }
    renamed
}

/// A new note was written.
pub(super) fn made(
    memory: &mut Memory,
    key: &DigestKey,
    projects: &ProjectArguments,
    project: Project,
    wrote: &Wrote<'_>,
) {
    let keys = Keys { key, current: wrote.current };
    let named = named(&wrote.told);
    let file = named.file_path.as_deref().map(|path| keys.file_path(path));
    let NamedKeys { paths, names: own_names } = keys.named(&named, projects, wrote.own);
    let record = named_in(&keys, Written::of(wrote.effect, wrote.target, project), &named, file, &paths);
    let known = Arc::clone(&record.names);
    memory.write(record, true);
    if let Some(file) = file {
        if wrote.proves {
            memory.prove(paths, None);
            memory.prove_permalink(own_names, file, true, None);
        }
        memory.name(file, &known);
    }
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

fn named(told: &Told<'_>) -> Named {
    let own = |text: Option<&str>| text.map(str::to_owned);
    let Told { file_path, permalink, title, project } = *told;
    Named::new(own(file_path), own(permalink), own(title), own(project))
}
