//! The policy against a second, naive one ([`model::naive`]): written from the rules, and answering every question by reading
//! what happened from the beginning. The two must never disagree.
//!
//! A default run takes seconds. `NAIVE_EVENTS` asks for more, `NAIVE_SEED` for others:
//! `NAIVE_EVENTS=10000000 cargo test --release --test naive -- --nocapture`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

#[allow(dead_code, unreachable_pub, reason = "a module of several tests, as open as they need")]
mod model;

use std::collections::BTreeMap;

use model::runs::{difference, from_bytes, shrunk};
use model::world::{Outcome, World};
use model::{Answer, Args, Event, Judge, Kind, Names, Place, SLOTS, Settle};

const EVENTS: u64 = 150_000;

fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.replace('_', "").parse().expect("a number"))
}

/// Raw events of one history; a few turns.
const LENGTH: usize = 60;

/// splitmix64: the same numbers for the same seed, on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        std::iter::repeat_with(|| self.next().to_le_bytes()).flatten().take(count).collect()
    }
}

#[test]
fn the_policy_and_the_naive_model_never_disagree() {
    let (events, seed) = (number("NAIVE_EVENTS", EVENTS), number("NAIVE_SEED", 1));
    let mut random = Random(seed);
    let (mut played, mut histories) = (0, 0);
    let mut codes: BTreeMap<&str, u64> = BTreeMap::new();
    while played < events {
        let bytes = random.bytes(2 + 6 * LENGTH);
        let (options, script) = from_bytes(&bytes).unwrap();
        if difference(&options, &script).is_some() {
            let shrunk = shrunk(&options, &script);
            panic!("history {histories} of seed {seed}, {}", difference(&options, &shrunk).unwrap());
        }
        if histories % 16 == 0 {
            for verdict in World::play_all(&options, &script).into_iter().filter_map(Outcome::verdict) {
                *codes.entry(verdict.code.name()).or_default() += 1;
            }
        }
        played += script.len() as u64;
        histories += 1;
    }
    println!("{played} events of {histories} histories of seed {seed}, no difference");
    println!("of one history in sixteen: {codes:?}");
    // Histories that never get anywhere say nothing.
    assert!(codes.len() >= 18 || played < EVENTS, "{codes:?}");
}

/// Turns in which so many notes are deleted that the policy cannot remember them one by one: from there on each counts as
/// gone.
#[test]
fn nor_do_they_where_too_much_is_gone_to_be_remembered() {
    let mut random = Random(number("NAIVE_SEED", 1));
    for many in [253, 254, 255, 256, 257, 258, 259, 300] {
        let bytes = random.bytes(2 + 6 * LENGTH);
        let (options, script) = from_bytes(&bytes).unwrap();
        let turns = |event: &Event| !matches!(event, Event::EndTurn { .. } | Event::Close { .. } | Event::Open { .. });
        let first = |event: &Event| match event {
            Event::Judge(judge) => Event::Judge(Judge { turn: 1, step: judge.step + 1, ..*judge }),
            Event::Settle(settle) => Event::Settle(Settle { step: settle.step + 1, ..*settle }),
            other => other.clone(),
        };
        let opened = (0..SLOTS).map(|slot| Event::Open { slot });
        let gone = (0..many).flat_map(|number| deletion(900_000_000 + number));
        let rest = script.iter().filter(|event| turns(event)).map(first);
        let script: Vec<Event> = opened.chain(gone).chain(rest).collect();
        if let Some(difference) = difference(&options, &script) {
            panic!("{many}: {difference}");
        }
    }
}

/// A note of some name is deleted, and the answer names none.
fn deletion(call: u32) -> [Event; 2] {
    let title = ['A', 'B', 'C'][call as usize % 3];
    let args = Args { title, ..Args::PLAIN };
    let (slot, kind, place, hidden) = (0, Kind::DeleteNote, Place::Turn, false);
    let judge = Judge { slot, call, kind, args, place, turn: 1, step: 1, hidden };
    let (reached, is_error, answer, declared, step) = (true, false, Answer::Odd, None, 1);
    let settle = Settle { slot, call, reached, is_error, answer, names: Names::ASKED, declared, step };
    [Event::Judge(judge), Event::Settle(settle)]
}
