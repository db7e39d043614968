//! The answer in one sentence: what the next step of a roll-out is, and why.

use serde::Serialize;

use super::Report;
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
        // A trail that cannot be read looks like one in which nothing was judged.
        let (step, sentence) = if let Some(found) = mend(report) {
            (Step::Mend, found)
        } else if report.calls == 0 {
            (Step::Collect, "Nothing was judged yet: use the agent as you do every day and come back.".to_owned())
        } else if report.writes < WRITES_MIN {
            let more = "keep collecting before you decide";
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
    let unknown = blocked(Code::UnknownMemoryTool);
    if unknown > 0 {
        return Some(format!(
            "Mend first: {} of memory tools that are on no list would be denied for good; put their names under \
             readTools or mutatingTools.",
            count(unknown, "call")
        ));
    }
    let missing = report.lost.saturating_add(report.tally.broken);
    (missing.saturating_mul(20) > report.tally.records).then(|| {
        let (are, many) = if missing == 1 { ("is", "too much") } else { ("are", "too many") };
        format!("Mend first: {} of this trail {are} lost or broken, {many} to judge by.", count(missing, "record"))
    })
}

fn in_audit(report: &Report) -> (Step, String) {
    let blocked = report.blocked.overridden;
    let (writes, turns) = (count(report.writes, "write"), count(report.turns_with_writes, "turn"));
    let taught = report.blocked_unclassified;
    let others = blocked.saturating_sub(taught);
    let terminal = terminal(report);
    if blocked == 0 {
        return (Step::Enforce, format!("Switch to enforce: of {writes} in {turns} it would have blocked none."));
    }
    let would = format!("of {writes} in {turns} it would have blocked {blocked}");
    let unclassified = format!(
        "{taught} of them in turns that declared nothing, which audit never teaches and the first denial in enforce does"
    );
    if others * 100 > report.writes * BLOCKED_MAX {
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

/// Denied calls that no next call of the model would have cured.
fn terminal(report: &Report) -> u64 {
    let of = |name: &str| Code::ALL.iter().find(|code| code.name() == name).map(|code| code.kind());
    report.by_code.iter().filter(|(name, _)| of(name) == Some(Kind::Terminal)).map(|(_, b)| b.total()).sum()
}

fn count(number: u64, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
