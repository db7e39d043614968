//! Random histories, played, and looked back on.

use dsh_bmpp::config::Config as Options;
use dsh_bmpp::policy::Outcome as Evidence;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestCaseResult, TestRng, TestRunner};

use super::naive::{Model, Noted, Said};
use super::world::{Outcome, World, every_option};
use super::{Event, Judge, Place, Raw, Settle, script};

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

/// Where the policy and the naive model disagree on a history, and which history it is.
pub fn differs(options: u8, bytes: &[u8]) -> Option<(usize, String)> {
    let all: Vec<Options> = every_option().collect();
    let options = &all[usize::from(options) % all.len()];
    let raw: Vec<Raw> = bytes.chunks_exact(4).take(400).map(|four| (four[0], four[1], four[2], four[3])).collect();
    let script = script(&raw);
    let mut model = Model::new(options.clone());
    for (at, (event, outcome)) in played(options, &script).into_iter().enumerate() {
        let (expected, got) = match (&event, outcome) {
            (Event::Judge(judge), Outcome::Verdict(verdict)) => {
                (format!("{:?}", model.judge(judge)), format!("{:?}", Said::of(verdict)))
            }
            (Event::Settle(settle), Outcome::Settled(settled)) => {
                (format!("{:?}", model.settle(settle)), format!("{:?}", Noted::of(settled)))
            }
            _ => {
                model.play(&event);
                continue;
            }
        };
        if expected != got {
            return Some((
                at,
                format!("event {at}: {event:?}\n  the model {expected}\n  the policy {got}\n{script:#?}"),
            ));
        }
    }
    None
}
