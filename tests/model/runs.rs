//! Random histories, played, and looked back on.

use std::collections::BTreeMap;

use dsh_bmpp::config::Config as Options;
use dsh_bmpp::policy::Outcome as Evidence;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

use super::naive::{Model, Noted, Said};
use super::world::{Outcome, World, every_option, wide_options};
use super::{Event, Judge, Place, Raw, Settle, Wide, script, wide_script};

/// Runs a property on this many values of a strategy, the same in every run. `seed` differs from property to property.
pub fn check<S: Strategy>(seed: u8, cases: u32, strategy: &S, property: impl Fn(S::Value) -> TestCaseResult) {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
    if let Err(failure) = TestRunner::new_with_rng(config, rng).run(strategy, property) {
        panic!("{failure}");
    }
}

pub fn histories() -> impl Strategy<Value = Vec<Event>> {
    vec(any::<Raw>(), 0..50).prop_map(|raw| script(&raw))
}

pub fn options() -> impl Strategy<Value = Options> {
    proptest::sample::select(every_option().collect::<Vec<_>>())
}

pub fn played(options: &Options, script: &[Event]) -> Vec<(Event, Outcome)> {
    script.iter().cloned().zip(World::play_all(options, script)).collect()
}

/// The successful results of a judged call's turn, each with its own call as that was last judged in a turn.
pub fn results_of_the_turn<'a>(
    played: &'a [(Event, Outcome)],
    judge: &Judge,
) -> impl Iterator<Item = (&'a Settle, &'a Judge)> {
    let begins = |event: &Event| match event {
        Event::Open { .. } | Event::Close { .. } | Event::EndTurn { .. } => true,
        Event::Judge(other) => other.place == Place::Turn && other.turn != judge.turn,
        Event::Settle(_) => false,
    };
    let own = |event: &Event| event.slot() == judge.slot;
    let start = played.iter().rposition(|(event, _)| own(event) && begins(event)).unwrap_or_default();
    (start..played.len()).filter_map(|now| match &played[now] {
        (Event::Settle(settle), Outcome::Settled(settled)) if settled.outcome == Some(Evidence::Succeeded) => {
            let of = played[..now].iter().rev().find_map(|(event, _)| match event {
                Event::Judge(of) if of.call == settle.call && of.place == Place::Turn => Some(of),
                _ => None,
            });
            of.filter(|_| settle.slot == judge.slot && settle.reached && !settle.is_error).map(|of| (settle, of))
        }
        _ => None,
    })
}

/// Where the policy and the naive model first disagree on a history, told for a reader; `None` where they never do.
pub fn difference(options: &Options, script: &[Event]) -> Option<String> {
    let mut model = Model::new(options.clone());
    let mut world = World::new(options);
    for (at, event) in script.iter().enumerate() {
        let (expected, got) = match (event, world.play(event)) {
            (Event::Judge(judge), Outcome::Verdict(verdict)) => {
                (format!("{:?}", model.judge(judge)), format!("{:?}", Said::of(verdict)))
            }
            (Event::Settle(settle), Outcome::Settled(settled)) => {
                (format!("{:?}", model.settle(settle)), format!("{:?}", Noted::of(settled)))
            }
            _ => {
                model.play(event);
                continue;
            }
        };
        if expected != got {
            return Some(format!(
                "event {at}\n  the model:  {expected}\n  the policy: {got}\n{}",
                told(options, script, at)
            ));
        }
    }
    None
}

/// A history up to an event, a line for each.
fn told(options: &Options, script: &[Event], until: usize) -> String {
    let mut text = format!(
        "options: overwrite {:?}, project {:?}, path {:?}, duplicates {}, secrets {:?}, fixtures {:?}, unknown {:?}, evidence {:?}\n",
        options.overwrite_requires_read,
        options.project_guard,
        options.path_guard,
        options.duplicate_write_guard,
        options.secret_pattern_guard,
        options.test_fixture_guard,
        options.unknown_memory_tool_policy,
        options.lookup_evidence,
    );
    let mut judged: BTreeMap<u32, Judge> = BTreeMap::new();
    for (at, event) in script.iter().take(until + 1).enumerate() {
        let line = match event {
            Event::Judge(judge) => {
                judged.insert(judge.call, *judge);
                let args = judge.args.value(judge.kind, &["x", "y", "a"].map(str::to_owned));
                let Judge { slot, call, turn, step, place, .. } = judge;
                let name = judge.kind.name(judge.args.server);
                format!("session {slot} turn {turn} step {step} {place:?}: call {call} {name} {args}")
            }
            Event::Settle(settle) => {
                let Settle { slot, call, reached, is_error, declared, step, .. } = settle;
                let text = judged.get(call).map(|judge| settle.answer.text(judge, settle)).unwrap_or_default();
                format!(
                    "session {slot} step {step}: result of {call}, reached {reached}, error {is_error}, declared {declared:?}: {text:?}"
                )
            }
            other => format!("{other:?}"),
        };
        text.extend(["  ", &at.to_string(), ". ", &line, "\n"]);
    }
    text
}

/// The same history with events left out one by one, as long as there is a difference: what is left is needed.
pub fn shrunk(options: &Options, script: &[Event]) -> Vec<Event> {
    let mut script = script.to_vec();
    // Every session is opened first.
    let opened = usize::from(super::SLOTS);
    let mut size = script.len() / 2;
    while size > 0 {
        let mut at = script.len();
        while at > opened {
            let from = at.saturating_sub(size).max(opened);
            let without: Vec<Event> = script[..from].iter().chain(&script[at..]).cloned().collect();
            if difference(options, &without).is_some() {
                script = without;
            }
            at = from.min(script.len());
        }
        size /= 2;
    }
    script
}

/// A history of bytes: options from two, then six for each event.
pub fn from_bytes(bytes: &[u8]) -> Option<(Options, Vec<Event>)> {
    let [a, b, rest @ ..] = bytes else { return None };
    let raw: Vec<Wide> = rest.chunks_exact(6).take(400).map(|x| ((x[0], x[1], x[2], x[3]), x[4], x[5])).collect();
    Some((wide_options(*a, *b), wide_script(&raw)))
}
