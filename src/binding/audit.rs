//! The trail for JS: reading, replaying, adding up and explaining it are the crate's work; what crosses over is JSON text.
//!
//! Reading runs in the caller's thread and calls back as it goes, so that a command can show how far it is. A callback
//! that throws ends the reading with its exception.

use std::path::Path;

use napi::bindgen_prelude::*;
use napi_derive::napi;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::state::{Fault, guarded};
use crate::audit::explain::{self, Explanation};
use crate::audit::prune;
use crate::audit::record::Record;
use crate::audit::report::{Adding, Limits};
use crate::audit::select::{Filter, Selection};
use crate::audit::trail::{self, Places, Progress, Tally, Visit};
use crate::audit::verify::Replay;

/// Bytes of lines that are handed over at once.
const LINES_BYTES: usize = 1 << 16;

type OnProgress<'a> = Function<'a, FnArgs<(f64, f64)>, ()>;
type OnLines<'a> = Function<'a, String, bool>;

/// Selects records of the trail below a folder of storages and hands their JSON texts to `onLines`, many at once, one a
/// line, until it returns false. Returns what was read, as JSON.
#[napi]
pub fn audit_select(
    storages: String,
    filter: String,
    on_lines: OnLines<'_>,
    on_progress: OnProgress<'_>,
) -> Result<String> {
    guarded("auditSelect", || {
        let filter: Filter = asked(&filter)?;
        let mut selection = Selection::new(&filter);
        let mut lines = String::new();
        let mut failure = None;
        let mut hand_over = |lines: &mut String| match on_lines.call(std::mem::take(lines)) {
            Ok(more) => more,
            Err(error) => {
                failure = Some(error);
                false
            }
        };
        let mut more = true;
        let tally = walk(&storages, &on_progress, &mut |record, text| {
            if selection.takes(record) {
                push_line(&mut lines, text);
            }
            if lines.len() >= LINES_BYTES {
                more = hand_over(&mut lines);
            }
            more
        })?;
        if more && !lines.is_empty() {
            hand_over(&mut lines);
        }
        failure.map_or_else(|| told(&tally), Err)
    })
}

/// Adds the trail up, as JSON. `limits` says how much is wanted: `{sessions, calls}` of a timeline, and with `replay` what
/// does not follow in the whole trail.
#[napi]
pub fn audit_report(storages: String, filter: String, limits: String, on_progress: OnProgress<'_>) -> Result<String> {
    guarded("auditReport", || {
        let filter: Filter = asked(&filter)?;
        let limits: Limits = asked(&limits)?;
        let mut selection = Selection::new(&filter);
        let mut adding = Adding::new(limits).selected_by(&filter);
        let mut replay = Replay::default();
        let tally = walk(&storages, &on_progress, &mut |record, _| {
            if limits.replay {
                replay.record(record);
            }
            if filter.is_open() || selection.takes(record) {
                adding.record(record);
            }
            true
        })?;
        told(&adding.replayed(&replay.finish(Tally::default())).finish(tally))
    })
}

/// Replays the trail by the rules and returns what came of it, as JSON.
#[napi]
pub fn audit_verify(storages: String, on_progress: OnProgress<'_>) -> Result<String> {
    guarded("auditVerify", || {
        let mut replay = Replay::default();
        let tally = walk(&storages, &on_progress, &mut |record, _| {
            replay.record(record);
            true
        })?;
        told(&replay.finish(tally))
    })
}

/// Takes old records out: `request` is `{keep?, since?, dryRun}`. Returns what was done, as JSON. Nobody may have the
/// trail open.
#[napi]
pub fn audit_prune(storages: String, request: String, on_progress: OnProgress<'_>) -> Result<String> {
    guarded("auditPrune", || {
        let request = asked(&request)?;
        let mut failure = None;
        let places = Places::below(Path::new(&storages));
        let pruned = prune::prune(&places, request, &mut |progress| show(&on_progress, progress, &mut failure));
        failure.map_or_else(|| told(&pruned.map_err(unreadable)?), Err)
    })
}

/// What a code, an observation, a problem of a configuration or a word of a record means; `null` for one that this version
/// does not know.
#[napi]
pub fn explain_code(name: String) -> Result<Option<CodeExplanation>> {
    guarded("explainCode", || Ok(explain::explain(&name).map(CodeExplanation::from)))
}

/// Every word that can be explained.
#[napi]
pub fn explained_codes() -> Result<Vec<String>> {
    guarded("explainedCodes", || Ok(explain::names().map(str::to_owned).collect()))
}

/// What a word means.
#[napi(object)]
pub struct CodeExplanation {
    /// Its name.
    pub name: String,
    /// `allow`, `recoverable`, `terminal`, `observation`, `problem` or `word`.
    pub kind: String,
    /// The policy version in which it first appeared.
    pub since: String,
    /// What it means.
    pub meaning: String,
    /// What to do about it.
    pub advice: Option<String>,
    /// What the model is told when a call is denied with it.
    pub told: Option<String>,
    /// Whether it can also stand among the observations.
    pub observed: bool,
}

impl From<Explanation> for CodeExplanation {
    fn from(e: Explanation) -> CodeExplanation {
        CodeExplanation {
            name: e.name.to_owned(),
            kind: e.kind.to_owned(),
            since: e.since.to_owned(),
            meaning: e.meaning.to_owned(),
            advice: e.advice.map(str::to_owned),
            told: e.told,
            observed: e.observed,
        }
    }
}

/// Goes through the trail below a folder.
fn walk(
    storages: &str,
    on_progress: &OnProgress<'_>,
    take: &mut dyn FnMut(&Record<'_>, &str) -> bool,
) -> Result<Tally> {
    struct Walk<'a, 'f> {
        take: &'a mut dyn FnMut(&Record<'_>, &str) -> bool,
        on_progress: &'a OnProgress<'f>,
        failure: Option<Error>,
    }
    impl Visit for Walk<'_, '_> {
        fn record(&mut self, record: &Record<'_>, text: &str) -> bool {
            self.failure.is_none() && (self.take)(record, text)
        }
        fn progress(&mut self, progress: Progress) {
            show(self.on_progress, progress, &mut self.failure);
        }
    }
    let mut walk = Walk { take, on_progress, failure: None };
    let tally = trail::read(&Places::below(Path::new(storages)), &mut walk);
    match walk.failure {
        Some(error) => Err(error),
        None => tally.map_err(unreadable),
    }
}

#[allow(clippy::cast_precision_loss, reason = "a bar on a screen")]
fn show(on_progress: &OnProgress<'_>, progress: Progress, failure: &mut Option<Error>) {
    if failure.is_none()
        && let Err(error) = on_progress.call((progress.done as f64, progress.total as f64).into())
    {
        *failure = Some(error);
    }
}

/// A record's text on one line: a host may have laid it out over several.
fn push_line(lines: &mut String, text: &str) {
    if text.contains(['\n', '\r']) {
        match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) => lines.push_str(&value.to_string()),
            Err(_) => return,
        }
    } else {
        lines.push_str(text);
    }
    lines.push('\n');
}

fn asked<T: DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Fault::BadRequest(error.to_string()).into())
}

fn told(value: &impl Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Fault::BadRequest(error.to_string()).into())
}

fn unreadable(error: std::io::Error) -> Error {
    Fault::Trail(error.to_string()).into()
}
