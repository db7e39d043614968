//! The last sessions, call by call, for a page that people look at.

use std::collections::{HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use super::super::record::Record;

/// How much of a timeline is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The last so many sessions; 0: no timeline.
    pub sessions: usize,
    /// The last so many calls of each.
    pub calls: usize,
    /// Whether the whole trail is replayed too, to tell of what does not follow in it.
    pub replay: bool,
}

/// One session of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Line {
    /// The session.
    pub session: String,
    /// Its last calls.
    pub calls: VecDeque<Cell>,
    /// How many there were before these.
    pub left_out: u64,
}

/// One call of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// When it was judged, in milliseconds since 1970.
    pub time: u64,
    /// Turn.
    pub turn: Option<u32>,
    /// Step.
    pub step: Option<u32>,
    /// Raw tool name.
    pub tool: String,
    /// Class.
    pub class: String,
    /// Code.
    pub code: String,
    /// `allow` or `deny`.
    pub decision: String,
    /// Enforcement.
    pub enforcement: String,
    /// The mode it was judged in.
    pub mode: String,
    /// Classification of the turn.
    pub classification: String,
    /// What became of it.
    pub happened: Option<String>,
    #[serde(skip)]
    load: Box<str>,
    #[serde(skip)]
    number: Option<u32>,
}

#[derive(Debug, Default)]
pub(super) struct Timeline {
    limits: Limits,
    lines: HashMap<Box<str>, (u64, Line)>,
    clock: u64,
    left_out: u64,
}

impl Timeline {
    pub(super) fn new(limits: Limits) -> Timeline {
        Timeline { limits, ..Timeline::default() }
    }

    pub(super) fn decision(&mut self, record: &Record<'_>, first: bool) {
        let Some(session) = record.session.as_deref() else { return };
        if self.limits.sessions == 0 {
            return;
        }
        self.clock += 1;
        let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
        let cell = Cell {
            time: record.time,
            turn: record.any_turn(),
            step: record.step,
            tool: record.raw_tool().to_owned(),
            class: text(record.class.as_deref()),
            code: text(record.code.as_deref()),
            decision: text(record.decision.as_deref()),
            enforcement: text(record.enforcement.as_deref()),
            mode: text(record.mode.as_deref()),
            classification: text(record.classification.as_deref()),
            happened: None,
            load: Box::from(&*record.load),
            number: record.number,
        };
        if !self.lines.contains_key(session) {
            self.make_room();
            let line = Line { session: session.to_owned(), ..Line::default() };
            self.lines.insert(Box::from(session), (0, line));
        }
        let Some((used, line)) = self.lines.get_mut(session) else { return };
        *used = self.clock;
        if !first
            && let Some(before) = line.calls.iter_mut().rev().find(|c| c.number == record.number && c.load == cell.load)
        {
            *before = cell;
            return;
        }
        if line.calls.len() >= self.limits.calls {
            line.calls.pop_front();
            line.left_out += 1;
        }
        line.calls.push_back(cell);
    }

    pub(super) fn settlement(&mut self, record: &Record<'_>) {
        let line = record.session.as_deref().and_then(|session| self.lines.get_mut(session));
        let Some((_, line)) = line else { return };
        let mut recent = line.calls.iter_mut().rev();
        if let Some(cell) = recent.find(|c| c.number == record.number && *c.load == *record.load) {
            cell.happened = record.happened.as_deref().map(str::to_owned);
        }
    }

    /// Half of the sessions that are held go at once, those that were quiet longest.
    fn make_room(&mut self) {
        if self.lines.len() < self.limits.sessions * 2 {
            return;
        }
        let mut used: Vec<u64> = self.lines.values().map(|(used, _)| *used).collect();
        used.sort_unstable();
        let keep_from = used.get(used.len() - self.limits.sessions).copied().unwrap_or_default();
        let before = self.lines.len();
        self.lines.retain(|_, (used, _)| *used >= keep_from);
        self.left_out += (before - self.lines.len()) as u64;
    }

    /// The lines, the one with the latest call last, and how many sessions are not among them.
    pub(super) fn finish(self) -> (Vec<Line>, u64) {
        let mut lines: Vec<_> = self.lines.into_values().collect();
        lines.sort_unstable_by_key(|(used, _)| *used);
        let over = lines.len().saturating_sub(self.limits.sessions);
        lines.drain(..over);
        (lines.into_iter().map(|(_, line)| line).collect(), self.left_out + over as u64)
    }
}
