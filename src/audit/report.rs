//! What a trail adds up to: the answer to "should I switch to enforce?".
//!
//! A *call* is counted once, by the last decision on it. A call counts as *blocked* where the policy denied it; in audit it
//! went on all the same, which is told apart wherever it is counted: the report says what `enforce` would have blocked. What a model did after a
//! denial is told only of denials that it was told of, since in audit nothing teaches it.

mod readiness;
mod timeline;
mod turn;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::record::{Kind, Record, SCHEMA};
use super::select::Filter;
use super::trail::Tally;
use super::verify::Verification;
use crate::reason::Code;
pub use readiness::{Readiness, Step};
use timeline::Timeline;
pub use timeline::{Cell, Limits, Line};
pub use turn::Followed;
use turn::TurnState;

/// Sessions that are named in a list.
const LISTED: usize = 20;
/// Milliseconds of a day.
const DAY: u64 = 86_400_000;

/// Calls that the policy denied, by what became of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Blocked {
    /// They went on: the mode was audit.
    pub overridden: u64,
    /// They were denied, or a human was asked.
    pub denied: u64,
    /// They went on although the mode was enforce: what ran was not what was judged, or could not be judged.
    pub ran: u64,
}

/// What became of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fate {
    Overridden,
    Denied,
    Ran,
}

impl Fate {
    /// Of a call that the policy denied; none of any other.
    fn of(record: &Record<'_>) -> Option<Fate> {
        let enforcement = record.enforcement.as_deref();
        (record.denies() || enforcement == Some("denied")).then_some(match (enforcement, record.mode.as_deref()) {
            (Some("overridden"), Some("enforce")) => Fate::Ran,
            (Some("overridden"), _) => Fate::Overridden,
            _ => Fate::Denied,
        })
    }
}

impl Blocked {
    fn add(&mut self, fate: Fate) {
        *match fate {
            Fate::Overridden => &mut self.overridden,
            Fate::Denied => &mut self.denied,
            Fate::Ran => &mut self.ran,
        } += 1;
    }

    /// All.
    #[must_use]
    pub const fn total(self) -> u64 {
        self.overridden + self.denied + self.ran
    }
}

/// The writes of one mode. A share of what was blocked is one of these, never of the writes of another mode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Writes {
    /// Writes judged.
    pub writes: u64,
    /// Of these, those that the policy denied.
    pub blocked: Blocked,
}

/// What a trail adds up to.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Time of the first record, in milliseconds since 1970.
    pub first: Option<u64>,
    /// Time of the last.
    pub last: Option<u64>,
    /// Days (UTC) with a governed call.
    pub days: u64,
    /// Loads of the plugin.
    pub loads: u64,
    /// Calls by the mode they were judged in.
    pub modes: BTreeMap<String, u64>,
    /// Writes by the mode they were judged in.
    pub writes_by_mode: BTreeMap<String, Writes>,
    /// Whether the newest decision was made in `enforce`.
    #[serde(skip)]
    pub enforces: bool,
    /// How the records were selected.
    #[serde(skip)]
    pub selected: Selected,
    /// Of the writes, the turns with them and the calls blocked in turns that declared nothing: those in audit.
    #[serde(skip)]
    pub audited: Audited,
    /// Host versions seen.
    pub hosts: BTreeSet<String>,
    /// Sessions with a record.
    pub sessions: u64,
    /// Turns that began.
    pub turns: u64,
    /// Turns with a write.
    pub turns_with_writes: u64,
    /// Governed calls.
    pub calls: u64,
    /// Governed calls by class.
    pub classes: BTreeMap<String, u64>,
    /// Writes: calls that change memory as far as is known.
    pub writes: u64,
    /// Destructive calls: under `profile: strict` each would ask a human.
    pub destructive: u64,
    /// Calls that the policy denied.
    pub blocked: Blocked,
    /// The same by code.
    pub by_code: BTreeMap<String, Blocked>,
    /// Tools on no list that were denied for it, by raw name; not those that are known not to be there.
    pub unlisted: BTreeMap<String, u64>,
    /// By raw tool name.
    pub by_tool: BTreeMap<String, Blocked>,
    /// By day (UTC), as days since 1970, with all writes of the day.
    pub by_day: BTreeMap<u64, Day>,
    /// The sessions with most of them.
    pub by_session: Vec<(String, Blocked)>,
    /// Guard codes that were observed and not denied.
    pub warned: BTreeMap<String, u64>,
    /// What was observed besides.
    pub observed: BTreeMap<String, u64>,
    /// What became of the calls: `ran`, `failed`, `refused`, `not-known`, `no-result`.
    pub happened: BTreeMap<String, u64>,
    /// Lookups that ran, by outcome.
    pub lookups: BTreeMap<String, u64>,
    /// Calls that were put to a human, and how many were approved.
    pub asked: u64,
    /// Of these, approved.
    pub approved: u64,
    /// What followed on denials that the model was told of, by code.
    pub followed: BTreeMap<String, Followed>,
    /// Turns with a write in which nothing was declared.
    pub never_classified: u64,
    /// Calls that the policy denied in such turns.
    pub blocked_unclassified: u64,
    /// Turns that turned from complex to simple after a denial.
    pub simple_after_denial: u64,
    /// Records that could not be kept, by the records that stand for them.
    pub lost: u64,
    /// Records that do not follow from those before them, where the trail was replayed: of all of it, not of a part.
    pub contradictions: u64,
    /// Records of this version that hold what this version does not write, where the trail was replayed.
    pub damaged: u64,
    /// What to do next.
    pub readiness: Readiness,
    /// The last sessions, oldest first.
    pub timeline: Vec<Line>,
    /// Sessions that are not in the timeline.
    pub timeline_left_out: u64,
    /// What was read.
    pub tally: Tally,
}

/// One day.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Day {
    /// Writes judged.
    pub writes: u64,
    /// Calls that the policy denied.
    pub blocked: u64,
    /// Of these, those that went on: the mode was audit.
    pub overridden: u64,
    /// Of these, those that went on although the mode was enforce.
    pub ran: u64,
}

/// How the records of a report were selected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selected {
    /// Not at all: it is the whole trail.
    #[default]
    Whole,
    /// By where and when: what is left stands for a part of the work.
    Places,
    /// By what was decided: what is left stands for nothing.
    Decisions,
}

/// What was judged in audit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Audited {
    /// Writes.
    pub writes: u64,
    /// Turns with one.
    pub turns: u64,
    /// Calls that the policy denied in turns that declared nothing.
    pub unclassified: u64,
}

/// Adds records up as they go by.
#[derive(Debug, Default)]
pub struct Adding {
    report: Report,
    loads: HashMap<Box<str>, Load>,
    /// Loads that ended.
    ended: u64,
    sessions: HashMap<Box<str>, Blocked>,
    timeline: Timeline,
}

/// What is open of one load.
#[derive(Debug, Default)]
struct Load {
    /// Calls without a result.
    calls: HashMap<u32, Call>,
    turns: HashMap<Box<str>, TurnState>,
}

/// A call between its last decision and its result.
#[derive(Clone, Debug)]
struct Call {
    class: Box<str>,
    tool: Box<str>,
    code: Box<str>,
    mode: Box<str>,
    session: Option<Box<str>>,
    day: u64,
    /// What became of it, if the policy denied it.
    blocked: Option<Fate>,
    asked: bool,
}

impl Call {
    fn of(record: &Record<'_>) -> Call {
        let text = |text: Option<&str>| Box::from(text.unwrap_or_default());
        Call {
            class: text(record.class.as_deref()),
            tool: Box::from(record.raw_tool()),
            code: text(record.code.as_deref()),
            mode: text(record.mode.as_deref()),
            session: record.session.as_deref().map(Box::from),
            day: record.time / DAY,
            blocked: Fate::of(record),
            asked: record.enforcement.as_deref() == Some("asked"),
        }
    }
}

impl Adding {
    /// Nothing has gone by yet.
    #[must_use]
    pub fn new(limits: Limits) -> Adding {
        Adding { timeline: Timeline::new(limits), ..Adding::default() }
    }

    /// What is to come was selected by this.
    #[must_use]
    pub fn selected_by(mut self, filter: &Filter) -> Adding {
        self.report.selected = if filter.is_open() {
            Selected::Whole
        } else if filter.of_decisions() {
            Selected::Decisions
        } else {
            Selected::Places
        };
        self
    }

    /// The trail was replayed, all of it.
    #[must_use]
    pub fn replayed(mut self, found: &Verification) -> Adding {
        self.report.contradictions = found.contradictions;
        self.report.damaged = found.damaged;
        self
    }

    /// Takes the next record.
    pub fn record(&mut self, record: &Record<'_>) {
        if record.bmpp > SCHEMA {
            return;
        }
        let report = &mut self.report;
        report.first = Some(report.first.map_or(record.time, |first| first.min(record.time)));
        report.last = Some(report.last.map_or(record.time, |last| last.max(record.time)));
        if let Some(session) = record.session.as_deref()
            && !self.sessions.contains_key(session)
        {
            self.sessions.insert(Box::from(session), Blocked::default());
        }
        if record.kind == Kind::Unload {
            if let Some(load) = self.loads.remove(&*record.load) {
                self.ended += 1;
                self.end(load);
            }
            return;
        }
        if !self.loads.contains_key(&*record.load) {
            self.loads.insert(Box::from(&*record.load), Load::default());
        }
        match record.kind {
            Kind::Decision => self.decision(record),
            Kind::Settlement => self.settlement(record),
            Kind::Turn => self.turn(record),
            Kind::Lost => {
                let more = record.seq.saturating_sub(record.from.unwrap_or(record.seq));
                self.report.lost = self.report.lost.saturating_add(more).saturating_add(1);
            }
            Kind::Load => {
                if let Some(host) = record.host.as_deref() {
                    self.report.hosts.insert(host.to_owned());
                }
            }
            Kind::Unload | Kind::Other => {}
        }
    }

    /// What it all adds up to.
    #[must_use]
    pub fn finish(mut self, tally: Tally) -> Report {
        let loads = std::mem::take(&mut self.loads);
        self.report.loads = self.ended + loads.len() as u64;
        for load in loads.into_values() {
            self.end(load);
        }
        let mut report = self.report;
        report.sessions = self.sessions.len() as u64;
        report.days = report.by_day.len() as u64;
        let mut blocked: Vec<_> = self.sessions.into_iter().filter(|(_, b)| b.total() > 0).collect();
        blocked.sort_unstable_by(|(a, x), (b, y)| y.total().cmp(&x.total()).then_with(|| a.cmp(b)));
        blocked.truncate(LISTED);
        report.by_session = blocked.into_iter().map(|(id, count)| (id.into(), count)).collect();
        (report.timeline, report.timeline_left_out) = self.timeline.finish();
        report.tally = tally;
        report.readiness = Readiness::of(&report);
        report
    }

    fn end(&mut self, load: Load) {
        for call in load.calls.into_values() {
            self.count(call, None);
        }
        for turn in load.turns.into_values() {
            turn.close(&mut self.report);
        }
    }

    fn decision(&mut self, record: &Record<'_>) {
        if record.class.as_deref() == Some("out-of-scope") {
            add(&mut self.report.classes, "out-of-scope");
            return;
        }
        self.report.enforces = record.mode.as_deref() == Some("enforce");
        for observation in &record.observations {
            // A guard that only warns is observed under its own code.
            let guard = Code::ALL.iter().any(|code| code.name() == &**observation);
            add(if guard { &mut self.report.warned } else { &mut self.report.observed }, observation);
        }
        let call = Call::of(record);
        let Some(load) = self.loads.get_mut(&*record.load) else { return };
        // A call that is judged again is still one call, and was put to a human if it ever was.
        let before = record.number.and_then(|number| load.calls.remove(&number));
        let first = before.is_none();
        let newly_blocked = call.blocked.filter(|_| before.as_ref().is_none_or(|before| before.blocked.is_none()));
        let asked = call.asked || before.is_some_and(|before| before.asked);
        if let Some(session) = record.session.as_deref() {
            let turn = load.turn(session, record, &mut self.report);
            if first {
                turn.next_call(record);
            }
            if let Some(fate) = newly_blocked {
                turn.blocked(record, fate);
            }
        }
        self.timeline.decision(record, first);
        let call = Call { asked, ..call };
        match (record.number, self.loads.get_mut(&*record.load)) {
            (Some(number), Some(load)) => {
                load.calls.insert(number, call);
            }
            _ => self.count(call, None),
        }
    }

    fn settlement(&mut self, record: &Record<'_>) {
        let observed = record.observations.iter();
        observed.for_each(|observation| add(&mut self.report.observed, observation));
        if record.class.as_deref() == Some("search") {
            add(&mut self.report.lookups, record.outcome.as_deref().unwrap_or("not-known"));
        }
        let Some(load) = self.loads.get_mut(&*record.load) else { return };
        if let Some(session) = record.session.as_deref() {
            load.turn(session, record, &mut self.report).settled(record);
        }
        self.report.approved += u64::from(record.approved);
        self.timeline.settlement(record);
        if let Some(call) = record.number.and_then(|number| load.calls.remove(&number)) {
            self.count(call, Some(record.happened.as_deref().unwrap_or("not-known")));
        }
    }

    fn turn(&mut self, record: &Record<'_>) {
        let (Some(session), Some(load)) = (record.session.as_deref(), self.loads.get_mut(&*record.load)) else {
            return;
        };
        if let Some(turn) = load.turns.remove(session) {
            turn.close(&mut self.report);
        }
        if matches!(record.event.as_deref(), Some("start" | "seen")) {
            self.report.turns += 1;
            load.turns.insert(Box::from(session), TurnState::new(record.any_turn()));
        }
    }

    /// Counts a call that is over, or will never have a result.
    fn count(&mut self, call: Call, happened: Option<&str>) {
        let report = &mut self.report;
        report.calls += 1;
        report.asked += u64::from(call.asked);
        add(&mut report.classes, &call.class);
        add(&mut report.modes, &call.mode);
        add(&mut report.happened, happened.unwrap_or("no-result"));
        let day = report.by_day.entry(call.day).or_default();
        if writes(&call.class) {
            let of_mode = report.writes_by_mode.entry(call.mode.as_ref().to_owned()).or_default();
            of_mode.writes += 1;
            if let Some(fate) = call.blocked {
                of_mode.blocked.add(fate);
            }
            report.writes += 1;
            report.audited.writes += u64::from(&*call.mode == "audit");
            day.writes += 1;
        }
        report.destructive += u64::from(&*call.class == "destructive");
        let Some(fate) = call.blocked else { return };
        let overridden = fate == Fate::Overridden;
        day.blocked += 1;
        day.overridden += u64::from(overridden);
        day.ran += u64::from(fate == Fate::Ran);
        report.blocked.add(fate);
        // A tool that the host does not have was made up by a model. Where nothing denied the call, its result shows it: the
        // call reached no tool.
        if &*call.code == Code::UnknownMemoryTool.name() && !(overridden && happened == Some("refused")) {
            add(&mut report.unlisted, &call.tool);
        }
        report.by_code.entry(call.code.into()).or_default().add(fate);
        report.by_tool.entry(call.tool.into()).or_default().add(fate);
        if let Some(count) = call.session.and_then(|session| self.sessions.get_mut(&session)) {
            count.add(fate);
        }
    }
}

impl Load {
    /// The turn of a record. One of which the beginning is not in the trail begins with it.
    fn turn(&mut self, session: &str, record: &Record<'_>, report: &mut Report) -> &mut TurnState {
        let id = record.any_turn();
        if let Some(turn) = self.turns.remove(session) {
            if turn.id == id {
                return self.turns.entry(Box::from(session)).or_insert(turn);
            }
            // A result that arrives after its turn belongs to none.
            if record.kind == Kind::Settlement {
                return self.turns.entry(Box::from(session)).or_insert(turn);
            }
            turn.close(report);
        }
        report.turns += u64::from(record.kind == Kind::Decision);
        self.turns.entry(Box::from(session)).or_insert_with(|| TurnState::new(id))
    }
}

/// Whether a call of this class changes memory, as far as is known.
fn writes(class: &str) -> bool {
    matches!(class, "write" | "destructive" | "unknown")
}

fn add(counts: &mut BTreeMap<String, u64>, name: &str) {
    match counts.get_mut(name) {
        Some(count) => *count += 1,
        None => {
            counts.insert(name.to_owned(), 1);
        }
    }
}

#[cfg(test)]
mod tests;
