//! Whether the records of a trail follow from each other by the rules.
//!
//! Each load of the plugin had a policy of its own, so each is replayed by one: the very [`Policy`] that decides, with
//! the configuration of the load record, fed with what the records say came in. What comes out must be what the records
//! say came out. What a record can only take from outside (a write's `facts`, a guard's finding, what a result's status
//! part proved, whether a human could be asked) is a recorded input and is believed.
//!
//! Records that are not there are a *gap*, told by the position that each record has in its load. What stood in a gap
//! may have changed a turn, so a session is replayed again only from where its next turn begins or its last one ended.
//! A gap is no contradiction.
//!
//! A record of this policy version that holds a word which this version does not have is *damaged*: no such word was ever
//! written. What it said is not known, so the trail is not verified then, as where a record cannot be read.

mod rules;
mod words;

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::record::{Kind, Record, SCHEMA};
use super::trail::Tally;
use crate::config::{Config, POLICY_VERSION, Raw};
use crate::policy::SessionId;
use rules::{Checked, NO_CONFIG, OTHER_WORDS, Rules};

/// Gaps that are named; more are only counted.
const NAMED: usize = 50;
/// Damaged records that are named.
const DAMAGED_NAMED: usize = 20;

/// What became of a replay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Loads of the plugin that have records.
    pub loads: u64,
    /// Decisions and settlements that follow from what stands before them.
    pub followed: u64,
    /// Decisions and settlements that could not be replayed, by why.
    pub not_replayed: BTreeMap<&'static str, u64>,
    /// Decisions that rest on guard findings, which are recorded inputs.
    pub on_findings: u64,
    /// Records that do not follow.
    pub contradictions: u64,
    /// The first of them.
    pub first: Option<Contradiction>,
    /// Records of this version that hold what this version does not write.
    pub damaged: u64,
    /// The first of them.
    pub damaged_at: Vec<Damage>,
    /// Gaps in the records of a load.
    pub gaps: u64,
    /// Records that are not there.
    pub missing: u64,
    /// The first of the gaps.
    pub gaps_at: Vec<Gap>,
    /// Records that were there more than once.
    pub repeated: u64,
    /// Loads that have no orderly end: they still run, or their process was killed.
    pub without_end: u64,
    /// What was read.
    pub tally: Tally,
}

/// A record that does not follow from those before it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Contradiction {
    /// The load.
    pub load: String,
    /// Its position there.
    pub seq: u64,
    /// Its order.
    pub order: u64,
    /// Its time.
    pub time: u64,
    /// The session, if it has one.
    pub session: Option<String>,
    /// The turn, if it has one.
    pub turn: Option<u32>,
    /// The tool, if it has one.
    pub tool: Option<String>,
    /// The field in which the two sides differ.
    pub field: &'static str,
    /// What the record says.
    pub recorded: String,
    /// What follows by the rules.
    pub replayed: String,
}

/// A record of this version that holds what this version does not write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Damage {
    /// The load.
    pub load: String,
    /// Its position there.
    pub seq: u64,
    /// Its time.
    pub time: u64,
    /// The session, if it has one.
    pub session: Option<String>,
    /// The turn, if it has one.
    pub turn: Option<u32>,
    /// The field that cannot be understood.
    pub field: &'static str,
    /// What stands in it; none where nothing does.
    pub word: Option<String>,
}

/// Records of a load that are not there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Gap {
    /// The load.
    pub load: String,
    /// First missing position.
    pub from: u64,
    /// Last missing position.
    pub to: u64,
    /// Why, if a record says so: `back-pressure`, `storage`. Else `beginning` (pruned, or lost) or `unknown`.
    pub why: String,
}

/// One difference: the field, what the record says, what follows.
type Differs = (&'static str, String, String);

/// Replays records as they go by.
#[derive(Debug, Default)]
pub struct Replay {
    loads: HashMap<Box<str>, Load>,
    /// Loads that ended: only their last position is kept, to know a repeated record.
    ended: HashMap<Box<str>, u64>,
    found: Verification,
}

impl Replay {
    /// Takes the next record.
    pub fn record(&mut self, record: &Record<'_>) {
        if let Some(last) = self.ended.get_mut(&*record.load) {
            if record.seq <= *last {
                self.found.repeated += 1;
            } else {
                *last = record.seq;
                self.found.skip(AFTER_END);
            }
            return;
        }
        if !self.loads.contains_key(&*record.load) {
            self.found.loads += 1;
            self.loads.insert(Box::from(&*record.load), Load::default());
        }
        let Some(load) = self.loads.get_mut(&*record.load) else { return };
        if !load.takes_position(record, &mut self.found) || record.bmpp > SCHEMA {
            return;
        }
        match load.replay(record, &mut self.found) {
            Ok(()) => {}
            Err(differs) => self.found.contradict(record, differs),
        }
        if record.kind == Kind::Unload
            && let Some((name, load)) = self.loads.remove_entry(&*record.load)
        {
            self.ended.insert(name, load.seq);
        }
    }

    /// What came of it.
    #[must_use]
    pub fn finish(self, tally: Tally) -> Verification {
        Verification { without_end: self.loads.len() as u64, tally, ..self.found }
    }
}

impl Verification {
    fn contradict(&mut self, record: &Record<'_>, (field, recorded, replayed): Differs) {
        self.contradictions += 1;
        self.first.get_or_insert_with(|| Contradiction {
            load: record.load.to_string(),
            seq: record.seq,
            order: record.order,
            time: record.time,
            session: record.session.as_deref().map(str::to_owned),
            turn: record.any_turn(),
            tool: record.tool.as_deref().map(str::to_owned),
            field,
            recorded,
            replayed,
        });
    }

    fn damage(&mut self, record: &Record<'_>, field: &'static str, word: Option<&str>) {
        self.damaged += 1;
        if self.damaged_at.len() < DAMAGED_NAMED {
            self.damaged_at.push(Damage {
                load: record.load.to_string(),
                seq: record.seq,
                time: record.time,
                session: record.session.as_deref().map(str::to_owned),
                turn: record.any_turn(),
                field,
                word: word.map(str::to_owned),
            });
        }
    }

    fn gap(&mut self, record: &Record<'_>, from: u64, to: u64, why: &str) {
        self.gaps += 1;
        self.missing = self.missing.saturating_add(to.saturating_sub(from).saturating_add(1));
        if self.gaps_at.len() < NAMED {
            self.gaps_at.push(Gap { load: record.load.to_string(), from, to, why: why.to_owned() });
        }
    }

    fn skip(&mut self, why: &'static str) {
        *self.not_replayed.entry(why).or_default() += 1;
    }
}

const NO_LOAD: &str = "the load's own record is not there, so its configuration is not known";
const AFTER_END: &str = "of calls that were under way when the plugin was unloaded";

/// One load of the plugin.
#[derive(Debug)]
struct Load {
    seq: u64,
    order: u64,
    rules: Result<Rules, &'static str>,
    sessions: HashMap<u32, Session>,
    /// After a gap, a session that was not seen before may have been judged in it, but for these, which were seen to begin
    /// a turn with nothing judged.
    gap: Option<HashSet<Box<str>>>,
}

impl Default for Load {
    fn default() -> Load {
        Load { seq: 0, order: 0, rules: Err(NO_LOAD), sessions: HashMap::new(), gap: None }
    }
}

/// A session of a load.
#[derive(Debug, Default)]
struct Session {
    /// Its number in the policy, while it is open there.
    id: Option<SessionId>,
    /// Whether everything since its turn began has been seen.
    known: bool,
}

impl Load {
    /// Looks at the record's position. False where the record was there before.
    fn takes_position(&mut self, record: &Record<'_>, found: &mut Verification) -> bool {
        if record.seq <= self.seq {
            found.repeated += 1;
            return false;
        }
        let (first, why) = match record.kind {
            Kind::Lost => (record.from.unwrap_or(record.seq).min(record.seq), record.why.as_deref()),
            _ => (record.seq, None),
        };
        let expected = self.seq.saturating_add(1);
        if first > expected {
            // Pruning leaves a load's own record, which is its first, as long as any of its others stays.
            found.gap(record, expected, first - 1, if self.seq <= 1 { "beginning" } else { "unknown" });
            self.forget();
        }
        if record.kind == Kind::Lost {
            found.gap(record, first.max(expected), record.seq, why.unwrap_or("unknown"));
            self.forget();
        }
        if record.order <= self.order && self.seq > 0 {
            let replayed = format!("more than {}", self.order);
            found.contradict(record, ("order", record.order.to_string(), replayed));
        }
        self.seq = record.seq;
        self.order = record.order.max(self.order);
        true
    }

    /// After a gap no session's turn is known.
    fn forget(&mut self) {
        self.gap = Some(HashSet::new());
        self.sessions.values_mut().for_each(|session| session.known = false);
    }

    fn replay(&mut self, record: &Record<'_>, found: &mut Verification) -> Result<(), Differs> {
        let ours = record.policy.as_deref().map_or(self.rules.is_ok(), |policy| policy == POLICY_VERSION);
        let strange = if ours { words::strange(record) } else { None };
        match record.kind {
            Kind::Load => {
                self.rules = Rules::of(record);
                if let Some((field, word)) = strange {
                    found.damage(record, field, Some(word));
                } else if matches!(&self.rules, Err(why) if *why == NO_CONFIG) && record.is_of_this_plugin() {
                    // The very plugin that loaded with it reads it no more.
                    let problem = record.config.as_ref().and_then(|raw| Config::read(&Raw::from(raw)).err());
                    let problem = problem.and_then(|problems| problems.into_iter().next());
                    found.damage(record, "config", problem.map(|problem| problem.message).as_deref());
                }
                Ok(())
            }
            Kind::Turn => {
                if let Some((field, word)) = strange {
                    found.damage(record, field, Some(word));
                }
                self.turn(record);
                Ok(())
            }
            Kind::Decision | Kind::Settlement => {
                if let (Some((field, word)), Err(_)) = (strange, &self.rules) {
                    found.damage(record, field, Some(word));
                    return Ok(());
                }
                let rules = match &mut self.rules {
                    Ok(rules) => rules,
                    Err(why) => {
                        found.skip(why);
                        return Ok(());
                    }
                };
                let mut session = record.life.map(|life| {
                    let begun = |gap: &HashSet<Box<str>>| record.session.as_deref().is_some_and(|id| gap.contains(id));
                    let known = self.gap.as_ref().is_none_or(begun);
                    self.sessions.entry(life).or_insert(Session { id: None, known })
                });
                let checked = if record.kind == Kind::Decision {
                    rules.decision(record, session.as_deref_mut())
                } else {
                    rules.settlement(record, session.as_deref_mut())
                };
                let damage = match (strange, &checked) {
                    (Some((field, word)), _) => Some((field, Some(word))),
                    (None, Ok(Checked::Skipped(why))) if ours && *why == OTHER_WORDS => {
                        Some((words::missing(record), None))
                    }
                    _ => None,
                };
                if let Some((field, word)) = damage {
                    found.damage(record, field, word);
                    // With any other damage the call was judged, or its result taken, all the same.
                    if (word.is_none()
                        || matches!(field, "by" | "class" | "place" | "facts" | "outcome" | "declared")
                        || record.kind == Kind::Settlement && field == "observations")
                        && let Some(session) = session
                    {
                        session.known = false;
                    }
                    return Ok(());
                }
                match checked {
                    Ok(Checked::Follows) => found.followed += 1,
                    Ok(Checked::OnFindings) => {
                        found.followed += 1;
                        found.on_findings += 1;
                    }
                    Ok(Checked::Skipped(why)) => found.skip(why),
                    Err(differs) => return Err(differs),
                }
                Ok(())
            }
            Kind::Unload | Kind::Lost | Kind::Other => Ok(()),
        }
    }

    fn turn(&mut self, record: &Record<'_>) {
        let Ok(rules) = &mut self.rules else { return };
        let Some(life) = record.life else {
            if let (Some(gap), Some(id)) = (&mut self.gap, record.session.as_deref()) {
                gap.insert(Box::from(id));
            }
            return;
        };
        if record.event.as_deref() == Some("closed") {
            // No life comes back, but a late result may still arrive, and counts for nothing.
            let session = self.sessions.entry(life).or_insert(Session { id: None, known: true });
            session.known = true;
            if let Some(number) = session.id.take() {
                rules.policy.close_session(number);
            }
            if self.gap.is_none() {
                self.sessions.remove(&life);
            }
            return;
        }
        let session = self.sessions.entry(life).or_insert(Session { id: None, known: true });
        session.known = true;
        if let Some(number) = session.id {
            rules.policy.end_turn(number);
        }
    }
}

#[cfg(test)]
mod tests;
