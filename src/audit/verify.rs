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

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use super::record::{Kind, Record, SCHEMA};
use super::trail::Tally;
use crate::argument::Facts;
use crate::config::{Config, LookupEvidence, POLICY_VERSION, Raw};
use crate::evidence::{Outcome, Status};
use crate::policy::{Arrival, CallId, Options, Policy, Position, ReadCall, SessionId, Task, TurnId};
use crate::reason::{Code, Observation, Observations};
use crate::tool::{Namespace, Tool};
use crate::verdict::{Enforcement, Verdict, enforce};

/// Gaps that are named; more are only counted.
const NAMED: usize = 50;

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

    fn gap(&mut self, record: &Record<'_>, from: u64, to: u64, why: &str) {
        self.gaps += 1;
        self.missing += to - from + 1;
        if self.gaps_at.len() < NAMED {
            self.gaps_at.push(Gap { load: record.load.to_string(), from, to, why: why.to_owned() });
        }
    }

    fn skip(&mut self, why: &'static str) {
        *self.not_replayed.entry(why).or_default() += 1;
    }
}

const NO_LOAD: &str = "the load's own record is not there, so its configuration is not known";
const OTHER_POLICY: &str = "made by another policy version";
const NO_CONFIG: &str = "made with a configuration that this version does not read";
const AFTER_GAP: &str = "behind a gap, before the session's next turn";
const AFTER_END: &str = "of calls that were under way when the plugin was unloaded";
const NOT_JUDGED: &str = "not a call of the policy";
const OTHER_WORDS: &str = "in words of another version";

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

#[derive(Debug)]
struct Rules {
    config: Config,
    namespace: Namespace,
    policy: Policy,
    /// Calls that wait for a human's answer.
    asked: HashSet<u32>,
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
            Kind::Lost => (record.from.unwrap_or(record.seq), record.why.as_deref()),
            _ => (record.seq, None),
        };
        let expected = self.seq + 1;
        if first > expected {
            found.gap(record, expected, first - 1, if self.seq == 0 { "beginning" } else { "unknown" });
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
        match record.kind {
            Kind::Load => {
                self.rules = Rules::of(record);
                Ok(())
            }
            Kind::Turn => {
                self.turn(record);
                Ok(())
            }
            Kind::Decision | Kind::Settlement => {
                let rules = match &mut self.rules {
                    Ok(rules) => rules,
                    Err(why) => {
                        found.skip(why);
                        return Ok(());
                    }
                };
                let session = record.life.map(|life| {
                    let begun = |gap: &HashSet<Box<str>>| record.session.as_deref().is_some_and(|id| gap.contains(id));
                    let known = self.gap.as_ref().is_none_or(begun);
                    self.sessions.entry(life).or_insert(Session { id: None, known })
                });
                let checked = if record.kind == Kind::Decision {
                    rules.decision(record, session)
                } else {
                    rules.settlement(record, session)
                };
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

enum Checked {
    Follows,
    OnFindings,
    Skipped(&'static str),
}

impl Rules {
    fn of(record: &Record<'_>) -> Result<Rules, &'static str> {
        if record.policy.as_deref() != Some(POLICY_VERSION) {
            return Err(OTHER_POLICY);
        }
        let raw = record.config.as_ref().map_or(Raw::Undefined, Raw::from);
        let config = Config::read(&raw).map_err(|_| NO_CONFIG)?;
        let policy = Policy::new(Options::from(&config));
        Ok(Rules { namespace: config.namespace(), policy, config, asked: HashSet::new() })
    }

    fn decision(&mut self, record: &Record<'_>, session: Option<&mut Session>) -> Result<Checked, Differs> {
        let enforcement = record.enforcement.as_deref().unwrap_or_default();
        let by = record.by.as_deref().unwrap_or_default();
        if by != "judged" {
            return self.at_a_door(record, by, enforcement);
        }
        let Some(tool) = self.tool(record) else { return Ok(Checked::Skipped(NOT_JUDGED)) };
        let Some(number) = record.number else { return Ok(Checked::Skipped(NOT_JUDGED)) };
        differ("class", record.class.as_deref().unwrap_or_default(), tool.class.name())?;
        let (Some(position), Some(facts)) = (self.position(record, session), facts(record, tool)) else {
            return Ok(Checked::Skipped(OTHER_WORDS));
        };
        let Ok(position) = position else { return Ok(Checked::Skipped(AFTER_GAP)) };
        let control_hidden = record.control_hidden;
        let replayed = self.policy.judge_read(ReadCall { id: CallId(number), tool, facts, position, control_hidden });
        let Some(verdict) = recorded_verdict(record) else { return Ok(Checked::Skipped(OTHER_WORDS)) };
        let on_findings = !record.findings.is_empty();
        let decided_by_finding = record.findings.iter().any(|f| &*f.level == "deny" && *f.code == *verdict.code.name());
        if !decided_by_finding {
            differ("code", verdict.code.name(), replayed.code.name())?;
        }
        let decision = if verdict.denies() { "deny" } else { "allow" };
        differ("decision", record.decision.as_deref().unwrap_or_default(), decision)?;
        differ("classification", verdict.classification.name(), replayed.classification.name())?;
        differ("lookup", verdict.recall.name(), replayed.recall.name())?;
        if !on_findings {
            differ("observations", &names(verdict.observations), &names(replayed.observations))?;
        }
        // The code that stands in the record is what was enforced, whichever side decided it.
        let enforced = Verdict { code: verdict.code, destructive: replayed.destructive, ..replayed };
        let replayed = enforce(enforced, self.config.mode, self.config.destructive_asks, record.can_ask);
        differ("enforcement", enforcement, replayed.name())?;
        if replayed == Enforcement::Asked {
            self.asked.insert(number);
        } else {
            self.asked.remove(&number);
        }
        Ok(if on_findings { Checked::OnFindings } else { Checked::Follows })
    }

    /// Where a call stood, `Err` where its session is not known because of a gap, `None` in words of another version. A
    /// turn that cannot be followed is not known until the next one.
    fn position(&mut self, record: &Record<'_>, session: Option<&mut Session>) -> Option<Result<Position, ()>> {
        match (record.place.as_deref()?, session) {
            ("no-agent", _) => Some(Ok(Position::NoAgent)),
            ("unknown", _) => Some(Ok(Position::Unknown)),
            ("agent", Some(session)) => {
                if !session.known {
                    return Some(Err(()));
                }
                let host = record.turn.map(TurnId::Host);
                let turn = host.or(record.counted_turn.map(TurnId::Counted));
                let (Some(turn), Some(step)) = (turn, record.step) else {
                    session.known = false;
                    return None;
                };
                let id = *session.id.get_or_insert_with(|| self.policy.open_session());
                Some(Ok(Position::At { session: id, turn, step }))
            }
            _ => None,
        }
    }

    /// What was refused or found behind the judging.
    fn at_a_door(&mut self, record: &Record<'_>, by: &str, enforcement: &str) -> Result<Checked, Differs> {
        let Some(verdict) = recorded_verdict(record) else { return Ok(Checked::Skipped(OTHER_WORDS)) };
        match by {
            "refused" => {
                differ("code", verdict.code.name(), Code::CallNotJudged.name())?;
                differ("enforcement", enforcement, "denied")?;
            }
            "unapproved" => {
                let asked = record.number.is_some_and(|number| self.asked.remove(&number));
                differ("enforcement", enforcement, if asked { "denied" } else { "nothing was asked" })?;
            }
            "otherwise" => {
                differ("code", verdict.code.name(), Code::CallNotJudged.name())?;
                differ("enforcement", enforcement, "overridden")?;
            }
            "failed" => differ("code", verdict.code.name(), Code::PolicyInternalError.name())?,
            "out-of-scope" => differ("code", verdict.code.name(), Code::AllowOutOfScope.name())?,
            _ => return Ok(Checked::Skipped(OTHER_WORDS)),
        }
        Ok(Checked::Follows)
    }

    fn settlement(&mut self, record: &Record<'_>, session: Option<&mut Session>) -> Result<Checked, Differs> {
        let Some(number) = record.number else { return Ok(Checked::Skipped(NOT_JUDGED)) };
        self.asked.remove(&number);
        let recorded = record.outcome.as_deref().unwrap_or("none");
        let outcome = Outcome::ALL.into_iter().find(|o| o.name() == recorded);
        if outcome.is_none() && recorded != "none" {
            return Ok(Checked::Skipped(OTHER_WORDS));
        }
        let Some(observations) = observations(record) else { return Ok(Checked::Skipped(OTHER_WORDS)) };
        let Some(session) = session else {
            // A call without a place has no turn in which it could count.
            differ("outcome", recorded, "none")?;
            return Ok(Checked::Follows);
        };
        if !session.known {
            return Ok(Checked::Skipped(AFTER_GAP));
        }
        let Some(id) = session.id else {
            differ("outcome", recorded, "none")?;
            return Ok(Checked::Follows);
        };
        let arrival = Arrival {
            reached: record.reached,
            is_error: record.is_error,
            status: Status::None,
            declared: match record.declared.as_deref() {
                Some("simple") => Some(Task::Simple),
                Some("complex") => Some(Task::Complex),
                _ => None,
            },
            step: record.arrived.unwrap_or_default(),
        };
        let by_flag = if record.is_error { Outcome::Failed } else { Outcome::Succeeded };
        let by_flag_alone = record.is_error || self.config.lookup_evidence == LookupEvidence::Flag;
        let settled = self.policy.settle_read(id, CallId(number), &arrival, || match outcome {
            // What the status part proved is a recorded input, where it was looked at.
            Some(outcome @ (Outcome::Failed | Outcome::Succeeded)) if !by_flag_alone => (outcome, observations),
            _ => (by_flag, Observations::NONE),
        });
        differ("outcome", recorded, settled.outcome.map_or("none", Outcome::name))?;
        differ("observations", &names(observations), &names(settled.observations))?;
        Ok(Checked::Follows)
    }

    /// The tool of a governed name.
    fn tool(&self, record: &Record<'_>) -> Option<Tool> {
        self.namespace.resolve(record.tool.as_deref()?)
    }
}

/// What the record says of a write's arguments; `None` in words of another version.
#[allow(clippy::option_option, reason = "no facts, and facts that cannot be read, are two things")]
fn facts(record: &Record<'_>, tool: Tool) -> Option<Option<Facts>> {
    if !tool.class.writes() {
        return Some(None);
    }
    match record.facts.as_deref()? {
        "malformed" => Some(Some(Facts::Malformed)),
        "creates" => Some(Some(Facts::Read { creates: true })),
        "changes" => Some(Some(Facts::Read { creates: false })),
        _ => None,
    }
}

/// The verdict that a decision record states; `None` where it is in words of another version.
fn recorded_verdict(record: &Record<'_>) -> Option<Verdict> {
    let code = Code::ALL.iter().find(|code| Some(code.name()) == record.code.as_deref())?;
    let classification = record.classification.as_deref().unwrap_or("unknown");
    let lookup = record.lookup.as_deref().unwrap_or("none");
    Some(Verdict {
        code: *code,
        destructive: record.class.as_deref() == Some("destructive"),
        classification: crate::policy::Classification::ALL.into_iter().find(|c| c.name() == classification)?,
        recall: crate::policy::Recall::ALL.into_iter().find(|r| r.name() == lookup)?,
        observations: observations(record)?,
    })
}

fn observations(record: &Record<'_>) -> Option<Observations> {
    record.observations.iter().try_fold(Observations::NONE, |set, name| {
        let observation = Observation::ALL.iter().find(|o| o.name() == &**name)?;
        Some(set.with(*observation))
    })
}

fn names(observations: Observations) -> String {
    observations.iter().map(Observation::name).collect::<Vec<_>>().join(", ")
}

fn differ(field: &'static str, recorded: &str, replayed: &str) -> Result<(), Differs> {
    if recorded == replayed { Ok(()) } else { Err((field, recorded.to_owned(), replayed.to_owned())) }
}

#[cfg(test)]
mod tests;
