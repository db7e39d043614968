//! The verdict as one 32-bit word, and what the mode makes of it.
//!
//! ```text
//! bits  0..6   code (its number in the table of reason codes)
//! bit   6      the call is destructive
//! bits  7..9   the turn's classification when the call was judged
//! bits  9..11  what the turn's lookups were worth to the call
//! bits 11..16  the argument at fault, 0 for none
//! bits 16..32  observations, one bit each
//! ```
//!
//! The word knows nothing of mode and profile. [`enforce`] is the one place where they meet.

use crate::policy::{Classification, Recall};
use crate::reason::{ArgumentName, Code, Observations};

const CODE: u32 = 0x3f;
const DESTRUCTIVE: u32 = 1 << 6;
const CLASSIFICATION_AT: u32 = 7;
const RECALL_AT: u32 = 9;
const ARGUMENT_AT: u32 = 11;

/// What the policy says of one call: one code, and observations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Verdict {
    /// The reason.
    pub code: Code,
    /// Whether the call is of a destructive tool.
    pub destructive: bool,
    /// How the turn was classified; unknown for a call without a turn.
    pub classification: Classification,
    /// What the turn's lookups were worth to a call of this step; none for a call without a turn.
    pub recall: Recall,
    /// The argument at fault, where a guard that looks at arguments found something.
    pub argument: Option<ArgumentName>,
    /// What was noticed besides.
    pub observations: Observations,
}

impl Verdict {
    /// A verdict with no observation, on a call that is not destructive and has no turn.
    #[must_use]
    pub const fn of(code: Code) -> Verdict {
        Verdict {
            code,
            destructive: false,
            classification: Classification::Unknown,
            recall: Recall::None,
            argument: None,
            observations: Observations::NONE,
        }
    }

    /// Whether the policy denies the call.
    #[must_use]
    pub const fn denies(self) -> bool {
        self.code.denies()
    }

    /// The verdict as a word.
    #[must_use]
    pub const fn word(self) -> u32 {
        let argument = match self.argument {
            Some(argument) => argument as u32,
            None => 0,
        };
        self.code as u32
            | if self.destructive { DESTRUCTIVE } else { 0 }
            | (self.classification as u32) << CLASSIFICATION_AT
            | (self.recall as u32) << RECALL_AT
            | argument << ARGUMENT_AT
            | (self.observations.bits() as u32) << 16
    }

    /// The verdict of a word; `None` for a word that [`Verdict::word`] never gives.
    #[must_use]
    pub fn from_word(word: u32) -> Option<Verdict> {
        let argument = match (word >> ARGUMENT_AT & 0x1f) as u8 {
            0 => None,
            number => Some(ArgumentName::from_number(number)?),
        };
        Some(Verdict {
            code: Code::from_number((word & CODE) as u8)?,
            argument,
            destructive: word & DESTRUCTIVE != 0,
            classification: *Classification::ALL.get((word >> CLASSIFICATION_AT & 3) as usize)?,
            recall: *Recall::ALL.get((word >> RECALL_AT & 3) as usize)?,
            observations: Observations::from_bits((word >> 16) as u16)?,
        })
    }
}

/// Whether decisions are taken and applied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Registers nothing and decides nothing.
    Off,
    /// Decides and records, never denies or asks.
    #[default]
    Audit,
    /// Decides and applies.
    Enforce,
}

/// What becomes of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Enforcement {
    /// It goes on.
    Allowed = 0,
    /// It is denied.
    Denied = 1,
    /// A human is asked.
    Asked = 2,
    /// It goes on although the verdict denies: the mode is audit, or it ran otherwise than judged.
    Overridden = 3,
}

impl Enforcement {
    /// Every enforcement, in the order of the numbers.
    pub const ALL: [Enforcement; 4] =
        [Enforcement::Allowed, Enforcement::Denied, Enforcement::Asked, Enforcement::Overridden];

    /// The stable name, as records carry it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Enforcement::Allowed => "allowed",
            Enforcement::Denied => "denied",
            Enforcement::Asked => "asked",
            Enforcement::Overridden => "overridden",
        }
    }
}

/// Maps a verdict to what becomes of the call.
///
/// `destructive_asks` is the profile, resolved: destructive calls need a human's approval. `can_ask` is whether one can
/// be asked now. What is always denied, and what the policy does not decide, is never put to a human.
#[must_use]
pub const fn enforce(verdict: Verdict, mode: Mode, destructive_asks: bool, can_ask: bool) -> Enforcement {
    match mode {
        Mode::Audit if verdict.denies() => Enforcement::Overridden,
        Mode::Off | Mode::Audit => Enforcement::Allowed,
        Mode::Enforce => {
            if needs_approval(verdict, destructive_asks) {
                if can_ask { Enforcement::Asked } else { Enforcement::Denied }
            } else if verdict.denies() {
                Enforcement::Denied
            } else {
                Enforcement::Allowed
            }
        }
    }
}

/// The code that a denied call's text begins with: the verdict's own, or that approval cannot be had.
#[must_use]
pub const fn denial_code(verdict: Verdict, destructive_asks: bool) -> Code {
    if needs_approval(verdict, destructive_asks) { Code::ApprovalUnavailable } else { verdict.code }
}

const fn needs_approval(verdict: Verdict, destructive_asks: bool) -> bool {
    verdict.destructive && destructive_asks && verdict.code.may_ask()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reason::Observation;

    #[test]
    fn every_number_fits_its_bits() {
        assert!(Code::ALL.iter().all(|code| (*code as u32) <= CODE));
        assert!(ArgumentName::ALL.iter().all(|argument| (1..32).contains(&(*argument as u32))));
    }

    #[test]
    fn a_word_is_the_verdict() {
        for code in Code::ALL {
            for destructive in [false, true] {
                for (o, classification) in Observation::ALL.iter().zip(Classification::ALL.iter().cycle()) {
                    for recall in Recall::ALL {
                        let observations = Observations::NONE.with(*o);
                        let argument = (!destructive).then_some(ArgumentName::Other);
                        let classification = *classification;
                        let verdict =
                            Verdict { code: *code, destructive, classification, recall, argument, observations };
                        assert_eq!(Verdict::from_word(verdict.word()), Some(verdict));
                    }
                }
            }
        }
        for word in [6, 0x3f, 3 << 7, 13 << 11, 30 << 11, 1 << 31, u32::MAX] {
            assert_eq!(Verdict::from_word(word), None, "{word:#x}");
        }
    }

    /// The whole table, written out from the rule in words: audit and off deny and ask nothing; enforce denies what the
    /// verdict denies; a destructive call under the strict profile is asked, or denied where nobody can be asked, but
    /// for what is always denied and what is no call of a turn.
    #[test]
    fn every_combination_is_enforced_as_the_rule_says() {
        for code in Code::ALL {
            for destructive in [false, true] {
                let verdict = Verdict { destructive, ..Verdict::of(*code) };
                for asks in [false, true] {
                    for can in [false, true] {
                        assert_eq!(enforce(verdict, Mode::Off, asks, can), Enforcement::Allowed);
                        let audit = enforce(verdict, Mode::Audit, asks, can);
                        assert_eq!(audit == Enforcement::Overridden, code.denies());
                        assert!(matches!(audit, Enforcement::Allowed | Enforcement::Overridden));
                        let expected = if destructive && asks && code.may_ask() {
                            if can { Enforcement::Asked } else { Enforcement::Denied }
                        } else if code.denies() {
                            Enforcement::Denied
                        } else {
                            Enforcement::Allowed
                        };
                        assert_eq!(enforce(verdict, Mode::Enforce, asks, can), expected);
                        if expected == Enforcement::Denied {
                            assert!(denial_code(verdict, asks).denies());
                        }
                    }
                }
            }
        }
        for always in [
            Code::MalformedArguments,
            Code::UnknownMemoryTool,
            Code::PolicyInternalError,
            Code::PolicyReloading,
            Code::PolicyNotLoaded,
            Code::CallNotJudged,
        ] {
            let verdict = Verdict { destructive: true, ..Verdict::of(always) };
            assert_eq!(enforce(verdict, Mode::Enforce, true, true), Enforcement::Denied);
        }
    }
}
