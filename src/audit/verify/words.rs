//! The words of a record: each field that says something in one word takes it from a closed list.
//!
//! A record of this policy version can hold no other word, so one that does is damaged. Words of another version are none
//! of these either, and no damage: which version a record is of is not asked here.

use super::super::record::{Record, Text};
use crate::config::{Level, Profile, Vocabulary};
use crate::policy::{Classification, Outcome, Reading, Recall};
use crate::reason::{Code, Observation};
use crate::tool::Class;
use crate::verdict::{Enforcement, Mode};

type Known = fn(&str) -> bool;

/// The first field that holds no word of this version, and what it holds. Those come first without which a call cannot
/// be judged again.
pub(super) fn strange<'r>(record: &'r Record<'_>) -> Option<(&'static str, &'r str)> {
    let fields: [(&'static str, Option<&'r Text<'_>>, Known); 16] = [
        ("by", record.by.as_ref(), |word| {
            matches!(word, "judged" | "refused" | "unapproved" | "otherwise" | "failed" | "out-of-scope")
        }),
        ("class", record.class.as_ref(), |word| {
            word == "out-of-scope" || Class::ALL.iter().any(|class| class.name() == word)
        }),
        ("place", record.place.as_ref(), |word| matches!(word, "agent" | "no-agent" | "unknown")),
        ("facts", record.facts.as_ref(), |word| Reading::ALL.iter().any(|reading| reading.name() == word)),
        ("code", record.code.as_ref(), code),
        ("decision", record.decision.as_ref(), |word| matches!(word, "allow" | "deny")),
        ("classification", record.classification.as_ref(), |word| {
            Classification::ALL.iter().any(|classification| classification.name() == word)
        }),
        ("lookup", record.lookup.as_ref(), |word| Recall::ALL.iter().any(|recall| recall.name() == word)),
        ("enforcement", record.enforcement.as_ref(), |word| Enforcement::ALL.iter().any(|e| e.name() == word)),
        ("at", record.at.as_ref(), |word| matches!(word, "pre-execute" | "guard" | "execute" | "result")),
        ("mode", record.mode.as_ref(), named::<Mode>),
        ("profile", record.profile.as_ref(), named::<Profile>),
        ("outcome", record.outcome.as_ref(), |word| Outcome::ALL.iter().any(|outcome| outcome.name() == word)),
        ("happened", record.happened.as_ref(), |word| matches!(word, "ran" | "failed" | "refused" | "not-known")),
        ("declared", record.declared.as_ref(), |word| matches!(word, "simple" | "complex")),
        ("event", record.event.as_ref(), |word| matches!(word, "start" | "seen" | "end" | "closed")),
    ];
    let single = fields.into_iter().filter_map(|(field, word, known)| Some((field, &**word?, known)));
    let observed = record.observations.iter().map(|word| ("observations", &**word, observation as Known));
    let found = record.findings.iter().flat_map(|finding| {
        [("findings", &*finding.code, code as Known), ("findings", &*finding.level, named::<Level> as Known)]
    });
    let mut words = single.chain(observed).chain(found);
    words.find(|(_, word, known)| !known(word)).map(|(field, word, _)| (field, word))
}

/// The first field that is not there, of those without which a decision or settlement cannot be replayed.
pub(super) fn missing(record: &Record<'_>) -> &'static str {
    let there = [
        ("by", record.by.is_some()),
        ("class", record.class.is_some()),
        ("place", record.place.is_some()),
        ("life", record.life.is_some()),
        ("turn", record.any_turn().is_some()),
        ("step", record.step.is_some()),
        ("code", record.code.is_some()),
    ];
    there.into_iter().find(|(_, there)| !there).map_or("facts", |(field, _)| field)
}

fn code(word: &str) -> bool {
    Code::ALL.iter().any(|code| code.name() == word)
}

fn observation(word: &str) -> bool {
    Observation::ALL.iter().any(|observation| observation.name() == word)
}

fn named<T: Vocabulary>(word: &str) -> bool {
    T::VALUES.iter().any(|(name, _)| *name == word)
}
