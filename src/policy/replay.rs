//! Judging and settling without the reading: how a trail, which keeps no arguments and no results, is put through the same
//! rules. What the guards found and what a result proved are recorded inputs.

use super::gate::{self, Order};
use super::guards::Findings;
use super::turn::{Followed, Open, Turn};
use super::{Arrival, CallId, Outcome, Policy, Position, Reading, SessionId, Settled};
use crate::reason::{Code, Observation, Observations};
use crate::tool::{Class, Tool};
use crate::verdict::Verdict;

/// A call of which everything was read before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadCall {
    /// Its number. Judging a number again replaces what was known of it.
    pub id: CallId,
    /// The tool.
    pub tool: Tool,
    /// What was read of a write's arguments; `None` for a call that is no write.
    pub reading: Option<Reading>,
    /// The code of the integrity guard that denied it, if one did.
    pub denied_by: Option<Code>,
    /// The guards that warned.
    pub warned: Observations,
    /// Where it stands.
    pub position: Position,
    /// Whether the control tool is hidden from the agent.
    pub control_hidden: bool,
}

impl Policy {
    /// [`Policy::judge`] of a call of which everything was read before.
    pub fn judge_read(&mut self, call: ReadCall) -> Verdict {
        let ReadCall { id, tool, reading, denied_by, warned, position, control_hidden } = call;
        let observed = Observations::NONE
            .with_if(tool.class == (Class::Read { search: false }), Observation::ReadOnlyNotRecall)
            .with_if(control_hidden, Observation::ControlHidden);
        let destructive = tool.class == (Class::Write { destructive: true });
        let without_turn = |code, observations| Verdict { destructive, observations, ..Verdict::of(code) };
        let (session, turn, step) = match position {
            Position::NoAgent => {
                let code = if tool.class.writes() { Code::AllowOutOfScope } else { gate::free(tool) };
                return without_turn(code, observed.with(Observation::NoAgentContext));
            }
            Position::At { session, turn, step } if self.sessions.contains_key(&session) => (session, turn, step),
            Position::Unknown | Position::At { .. } => {
                let code = if tool.class.writes() { Code::CallNotJudged } else { gate::free(tool) };
                return without_turn(code, observed);
            }
        };
        let turn = Turn::entered(self.sessions.entry(session).or_default(), turn);
        turn.take(id);
        let (classification, recall) = (turn.classification(), turn.recall(step));
        let mut findings = Findings::default();
        let code = match reading {
            _ if !tool.class.writes() => gate::free(tool),
            None | Some(Reading::Malformed) => Code::MalformedArguments,
            Some(reading) => {
                let creates = reading == Reading::Creates;
                let order = Order { options: &self.options, class: tool.class, classification, recall, creates };
                let path = denied_by.filter(|code| *code == Code::UnsafeNotePath);
                order.first_failure(
                    &mut findings,
                    |findings| findings.denial = path,
                    |findings| findings.denial = denied_by.filter(|code| *code != Code::UnsafeNotePath),
                )
            }
        };
        let open = Open::Recorded { class: tool.class, step };
        turn.follow(id, Followed { server: tool.server, before: 0, current: 0, open });
        if code.denies() {
            turn.denied();
        }
        let observations = observed.and(findings.observed).and(warned);
        Verdict { code, destructive, classification, recall, argument: None, observations }
    }

    /// [`Policy::settle`] of a call that [`Policy::judge_read`] judged. `proven` says what the result proved, and is asked
    /// where its status part was looked at: with true for a lookup, with false for any other read or write.
    pub fn settle_read(
        &mut self,
        session: SessionId,
        call: CallId,
        arrival: &Arrival,
        proven: impl FnOnce(bool) -> (Outcome, Observations),
    ) -> Settled {
        let Some(Some(turn)) = self.sessions.get_mut(&session) else { return Settled::NOTHING };
        let Some(Followed { open: Open::Recorded { class, step }, .. }) = turn.take(call) else {
            return Settled::NOTHING;
        };
        if !arrival.reached {
            return Settled { outcome: Some(Outcome::NotReached), observations: Observations::NONE };
        }
        let (outcome, observations) = match class {
            Class::Control => match arrival.declared {
                Some(task) if !arrival.is_error => (Outcome::Succeeded, turn.declare(task)),
                _ => (Outcome::Failed, Observations::NONE),
            },
            Class::Read { search: true } => {
                let (outcome, observations) = proven(true);
                match outcome {
                    Outcome::Succeeded => turn.lookup_succeeded(step.max(arrival.step)),
                    _ => turn.lookup_failed(),
                }
                (outcome, observations)
            }
            _ => proven(false),
        };
        Settled { outcome: Some(outcome), observations }
    }
}
