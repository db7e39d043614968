//! The answer in one sentence: what the next step of a roll-out is, and why.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Report, Selected};
use crate::reason::{Code, Kind};

/// Writes below which a trail says too little.
const WRITES_MIN: u64 = 20;
/// Of the denials that were told, this part must have been cured before more is enforced: per cent.
const CURED_MIN: u64 = 70;
/// Of the writes, this part at most may be blocked for want of a lookup before enforce is advised: per cent.
const BLOCKED_MAX: u64 = 50;

/// What to do next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// Too little is known.
    #[default]
    Collect,
    /// Something must be mended first.
    Mend,
    /// Go from audit to enforce.
    Enforce,
    /// Enforce works: strict may come next.
    Strict,
    /// Stay where you are.
    Stay,
    /// Nothing follows from a part.
    Part,
}

/// The advice.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// What to do next.
    pub step: Step,
    /// One sentence for a human.
    pub sentence: String,
}

impl Readiness {
    pub(super) fn of(report: &Report) -> Readiness {
        if report.selected != Selected::Whole && report.calls == 0 && report.tally.records > 0 {
            let sentence = "Nothing that was judged fits what was asked for.".to_owned();
            return Readiness { step: Step::Part, sentence };
        }
        if report.selected == Selected::Decisions {
            let sentence =
                "No advice: these records were selected by what was decided, and nothing follows from such a \
                            part. Without --code, --decision and --enforcement the advice is here."
                    .to_owned();
            return Readiness { step: Step::Part, sentence };
        }
        // A trail that cannot be read looks like one in which nothing was judged.
        let (step, sentence) = if let Some(found) = mend(report) {
            (Step::Mend, found)
        } else if report.calls == 0 {
            (Step::Collect, "Nothing was judged yet: use the agent as you do every day and come back.".to_owned())
        } else if report.writes < WRITES_MIN {
            let more = format!("keep collecting before you decide; {WRITES_MIN} are enough");
            (Step::Collect, format!("Only {} so far: {more}.", count(report.writes, "write")))
        } else if report.enforces {
            in_enforce(report)
        } else {
            in_audit(report)
        };
        Readiness { step, sentence }
    }
}

/// What stands in the way of any further step.
fn mend(report: &Report) -> Option<String> {
    let blocked = |code: Code| report.by_code.get(code.name()).map_or(0, |b| b.total());
    let internal = blocked(Code::PolicyInternalError);
    if internal > 0 {
        let calls = count(internal, "call");
        return Some(format!("Mend first: the policy itself failed on {calls}; report it with the plugin's version."));
    }
    let moved = blocked(Code::CallNotJudged);
    if moved > 0 {
        return Some(format!(
            "Mend first: {} ran or would have run otherwise than judged, so another plugin changes memory calls; find \
             it before you enforce.",
            count(moved, "call")
        ));
    }
    let unknown: u64 = report.unlisted.values().sum();
    if unknown > 0 {
        return Some(format!(
            "Mend first: {} of memory tools that are on no list ({}), which enforce denies for good; put those that the \
             server has under readTools or mutatingTools, and pay no heed to a name that a model made up.",
            count(unknown, "call"),
            most(&report.unlisted)
        ));
    }
    let missing = report.lost.saturating_add(report.tally.broken);
    (missing.saturating_mul(20) > report.tally.records).then(|| {
        let (are, many) = if missing == 1 { ("is", "too much") } else { ("are", "too many") };
        format!("Mend first: {} of this trail {are} lost or broken, {many} to judge by.", count(missing, "record"))
    })
}

fn in_audit(report: &Report) -> (Step, String) {
    // What was judged in enforce before says nothing of what enforce would have blocked in audit.
    let blocked = report.blocked.overridden;
    let audited = report.audited;
    let (writes, turns) = (count(audited.writes, "write"), count(audited.turns, "turn"));
    let taught = audited.unclassified;
    let others = blocked.saturating_sub(taught);
    let terminal = terminal(report);
    if blocked == 0 {
        return (Step::Enforce, format!("Switch to enforce: of {writes} in {turns} it would have blocked none."));
    }
    let would = format!("of {writes} in {turns} it would have blocked {blocked}");
    let unclassified = format!(
        "{taught} of them in turns that declared nothing, which audit never teaches and the first denial in enforce does"
    );
    if others * 100 > audited.writes * BLOCKED_MAX {
        let sentence = format!(
            "Stay in audit: {would}, {others} of them although the turn was classified, so models here do not look \
             before they write yet."
        );
        return (Step::Stay, sentence);
    }
    let cure = if terminal == 0 { "each curable by one next call" } else { "most curable by one next call" };
    let sentence = if taught == 0 {
        format!("Switch to enforce: {would}, {cure}.")
    } else {
        format!("Switch to enforce: {would}, {cure} ({unclassified}).")
    };
    (Step::Enforce, sentence)
}

fn in_enforce(report: &Report) -> (Step, String) {
    let told: u64 = report.followed.values().map(|f| f.told).sum();
    let cured: u64 = report.followed.values().map(|f| f.cured).sum();
    let unanswered = report.asked > 0 && report.approved == 0;
    let next = if unanswered { "stay in profile compat, since no human answered" } else { "consider profile strict" };
    let step = if unanswered { Step::Stay } else { Step::Strict };
    if told == 0 {
        return (step, format!("Enforce works: no write had to be denied in it so far; {next}."));
    }
    let share = cured * 100 / told;
    if share >= CURED_MIN {
        let sentence = format!(
            "Enforce works: after {share} % of {} the model did what was asked for and was let through; {next}.",
            count(told, "denial")
        );
        return (step, sentence);
    }
    let sentence = format!(
        "Stay in enforce and look closer: only after {share} % of {} was the same tool let through later in the turn; \
         read the sessions below.",
        count(told, "denial")
    );
    (Step::Stay, sentence)
}

/// Calls of audit that would be denied, and that no next call of the model would have cured.
fn terminal(report: &Report) -> u64 {
    let of = |name: &str| Code::ALL.iter().find(|code| code.name() == name).map(|code| code.kind());
    report.by_code.iter().filter(|(name, _)| of(name) == Some(Kind::Terminal)).map(|(_, b)| b.overridden).sum()
}

/// Names that are told; of more, only how many.
const NAMED: usize = 3;

/// The names that were counted most.
fn most(counts: &BTreeMap<String, u64>) -> String {
    let mut names: Vec<_> = counts.iter().collect();
    names.sort_by(|(a, x), (b, y)| y.cmp(x).then_with(|| a.cmp(b)));
    let mut told: Vec<_> = names.iter().take(NAMED).map(|(name, _)| name.as_str()).collect();
    let rest = names.len().saturating_sub(NAMED);
    let more = format!("and {rest} more");
    if rest > 0 {
        told.push(&more);
    }
    told.join(", ")
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
