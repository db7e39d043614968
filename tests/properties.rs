//! What must never happen, over random histories: each test is one sentence that holds whatever the order of events.
//!
//! The histories are the same in every run. [`model`] makes them, and holds a second and naive policy to compare with.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

#[allow(dead_code, unreachable_pub, reason = "a module of several tests, as open as they need")]
mod model;

use std::collections::BTreeSet;

use dsh_bmpp::config::{Level, LookupEvidence};
use dsh_bmpp::policy::{Classification, Holdings, Outcome as Evidence, Task};
use dsh_bmpp::reason::{Code, Observation};
use dsh_bmpp::verdict::{Enforcement, Mode, Verdict, enforce};
use model::runs::{check, histories, options, played, results_of_the_turn};
use model::world::{Outcome, World};
use model::{Answer, Args, Event, Form, Judge, Kind, Names, Place, SLOTS, Settle};
use proptest::collection::vec;
use proptest::prelude::*;

/// A property of histories that never get anywhere is worth nothing.
#[test]
fn the_histories_reach_every_code_and_every_outcome() {
    let codes = std::cell::RefCell::new(BTreeSet::new());
    let settlements = std::cell::RefCell::new(BTreeSet::new());
    let observations = std::cell::RefCell::new(BTreeSet::new());
    check(0, 3000, &(options(), histories()), |(options, script)| {
        for outcome in World::play_all(&options, &script) {
            let seen = match outcome {
                Outcome::Verdict(verdict) => {
                    codes.borrow_mut().insert(verdict.code.name());
                    verdict.observations
                }
                Outcome::Settled(settled) => {
                    settlements.borrow_mut().insert(settled.outcome.map(Evidence::name));
                    settled.observations
                }
                Outcome::Nothing => continue,
            };
            observations.borrow_mut().extend(seen.iter().map(Observation::name));
        }
        Ok(())
    });
    // All but the last are the shim's to give, not the policy's; the last needs a second project, which this world has not.
    let never =
        ["APPROVAL_UNAVAILABLE", "POLICY_INTERNAL_ERROR", "POLICY_RELOADING", "POLICY_NOT_LOADED", "PROJECT_AMBIGUOUS"];
    let all: BTreeSet<_> = Code::ALL.iter().map(|code| code.name()).filter(|name| !never.contains(name)).collect();
    assert_eq!(codes.into_inner(), all);
    assert_eq!(settlements.into_inner().len(), 5);
    // The path guard denies here, and no permalink is a numbered one.
    let never = ["PROJECT_AMBIGUOUS", "UNSAFE_NOTE_PATH", "POSSIBLE_DUPLICATE_PERMALINK"];
    let all: BTreeSet<_> = Observation::ALL.iter().map(|o| o.name()).filter(|name| !never.contains(name)).collect();
    assert_eq!(observations.into_inner(), all);
}

/// Looks back from every allowed write to what allowed it.
#[test]
fn no_write_is_allowed_that_its_turn_has_not_earned() {
    check(2, 8000, &(options(), histories()), |(options, script)| {
        let played = played(&options, &script);
        for (now, (event, outcome)) in played.iter().enumerate() {
            let (Event::Judge(judge), Outcome::Verdict(verdict)) = (event, outcome) else { continue };
            if !judge.kind.writes() || verdict.denies() || judge.place == Place::NoAgent {
                continue;
            }
            let turn: Vec<_> = results_of_the_turn(&played[..now], judge).collect();
            let declared =
                turn.iter().rev().find_map(|(settle, of)| settle.declared.filter(|_| of.kind == Kind::Classify));
            prop_assert!(declared.is_some(), "allowed without an executed declaration");
            let creates = judge.kind == Kind::WriteNote && judge.args.form != Form::Other;
            let complex = declared == Some(Task::Complex);
            prop_assert_eq!(verdict.classification == Classification::Complex, complex);
            if complex && (options.create_requires_search || !creates) {
                let earlier = |step| step < judge.step;
                let seen = turn.iter().any(|(s, of)| of.kind.looks_up() && earlier(of.step) && earlier(s.step));
                prop_assert!(seen, "allowed without a lookup that succeeded in an earlier step");
            }
        }
        Ok(())
    });
}

#[test]
fn a_read_and_a_declaration_are_never_denied_and_an_unknown_tool_never_allowed() {
    check(3, 2000, &(options(), histories()), |(options, script)| {
        for (event, outcome) in played(&options, &script) {
            let (Event::Judge(judge), Outcome::Verdict(verdict)) = (event, outcome) else { continue };
            if !judge.kind.writes() {
                prop_assert!(!verdict.denies(), "{verdict:?}");
            }
            if judge.kind == Kind::Rename && options.unknown_memory_tool_policy == Level::Deny {
                prop_assert!(verdict.denies() || judge.place == Place::NoAgent, "{verdict:?}");
            }
        }
        Ok(())
    });
}

#[test]
fn a_verdict_is_its_word_and_only_enforce_denies_or_asks() {
    check(4, 2000, &(options(), histories()), |(options, script)| {
        for verdict in World::play_all(&options, &script).into_iter().filter_map(Outcome::verdict) {
            prop_assert_eq!(Verdict::from_word(verdict.word()), Some(verdict));
            for asks in [false, true] {
                for can_ask in [false, true] {
                    prop_assert_eq!(enforce(verdict, Mode::Off, asks, can_ask), Enforcement::Allowed);
                    let audit = enforce(verdict, Mode::Audit, asks, can_ask);
                    prop_assert!(matches!(audit, Enforcement::Allowed | Enforcement::Overridden));
                    let applied = enforce(verdict, Mode::Enforce, asks, can_ask);
                    prop_assert!(applied != Enforcement::Overridden);
                    prop_assert!(!verdict.denies() || applied != Enforcement::Allowed);
                }
            }
        }
        Ok(())
    });
}

/// Whatever the word, it is a verdict that gives the same word, or no verdict.
#[test]
fn no_word_is_mistaken() {
    check(5, 3000, &any::<u32>(), |word| {
        for word in [word, word & 0x0003_1fff, word & 0x00ff_1f3f] {
            if let Some(verdict) = Verdict::from_word(word) {
                prop_assert_eq!(verdict.word(), word);
            }
        }
        Ok(())
    });
}

#[test]
fn the_same_events_give_the_same_verdicts_whatever_came_before_them_elsewhere() {
    check(6, 1500, &(options(), histories(), 0usize..5), |(options, script, others)| {
        let first = World::play_all(&options, &script);
        let mut world = World::new(&options);
        for slot in SLOTS..SLOTS + u8::try_from(others).unwrap() {
            world.play(&Event::Open { slot });
            let (call, turn, step) = (u32::MAX - u32::from(slot), 1, 1);
            let (kind, args, place) = (Kind::Classify, Args::PLAIN, Place::Turn);
            world.play(&Event::Judge(Judge { slot, call, kind, args, place, turn, step, hidden: false }));
        }
        let second: Vec<_> = script.iter().map(|event| world.play(event)).collect();
        prop_assert_eq!(first, second);
        Ok(())
    });
}

/// But for their writes, after which the names of notes may mean others.
#[test]
fn a_session_does_not_notice_the_others() {
    check(7, 3000, &(options(), histories()), |(options, script)| {
        for slot in 0..SLOTS {
            let writes = |event: &Event| matches!(event, Event::Judge(judge) if judge.kind.writes());
            let beside: Vec<_> = script.iter().filter(|e| e.slot() == slot || !writes(e)).cloned().collect();
            let own: Vec<_> = script.iter().filter(|event| event.slot() == slot).cloned().collect();
            let alone = World::play_all(&options, &own);
            let together = played(&options, &beside);
            let beside: Vec<_> = together.iter().filter(|(event, _)| event.slot() == slot).map(|(_, o)| *o).collect();
            prop_assert_eq!(beside, alone, "session {}", slot);
        }
        Ok(())
    });
}

/// What other sessions write can only take away what a session knew: what is denied without them is denied beside them.
#[test]
fn what_others_write_opens_nothing() {
    check(12, 4000, &(options(), histories()), |(options, script)| {
        let together = played(&options, &script);
        let own: Vec<_> = script.iter().filter(|event| event.slot() == 0).cloned().collect();
        let beside = together.iter().filter(|(event, _)| event.slot() == 0).map(|(_, outcome)| *outcome);
        for (alone, beside) in World::play_all(&options, &own).into_iter().zip(beside) {
            if let (Some(alone), Some(beside)) = (alone.verdict(), beside.verdict()) {
                prop_assert!(beside.denies() || !alone.denies(), "{:?} instead of {:?}", beside, alone);
            }
        }
        Ok(())
    });
}

#[test]
fn nothing_is_held_of_what_is_over() {
    check(8, 1500, &(options(), histories()), |(options, script)| {
        let mut world = World::new(&options);
        let mut judged = 0;
        for event in &script {
            world.play(event);
            judged += usize::from(matches!(event, Event::Judge(_)));
            prop_assert!(world.holdings().calls <= judged && world.holdings().turns <= world.holdings().sessions);
        }
        for slot in 0..SLOTS {
            world.play(&Event::EndTurn { slot });
        }
        prop_assert_eq!((world.holdings().turns, world.holdings().calls), (0, 0));
        for slot in 0..SLOTS {
            world.play(&Event::Close { slot });
        }
        prop_assert_eq!(world.holdings(), Holdings::default());
        Ok(())
    });
}

/// After each end of a turn, every call of the session so far gets the best result there is.
#[test]
fn a_result_that_comes_after_its_turn_changes_nothing() {
    check(9, 3000, &(options(), histories()), |(options, script)| {
        let mut flooded = Vec::new();
        let mut late = Vec::new();
        for event in &script {
            flooded.push(event.clone());
            if !matches!(event, Event::EndTurn { .. } | Event::Close { .. } | Event::Open { .. }) {
                continue;
            }
            let calls = flooded.iter().filter_map(|e| match e {
                Event::Judge(judge) if judge.slot == event.slot() => Some(judge.call),
                _ => None,
            });
            for call in calls.collect::<Vec<_>>() {
                for task in [Task::Simple, Task::Complex] {
                    late.push(flooded.len());
                    flooded.push(best_result(event.slot(), call, task));
                }
            }
        }
        let mut outcomes = World::play_all(&options, &flooded);
        for index in late.into_iter().rev() {
            let Outcome::Settled(settled) = outcomes.remove(index) else { unreachable!("late results are settled") };
            prop_assert_eq!(settled.outcome, None);
        }
        prop_assert_eq!(outcomes, World::play_all(&options, &script));
        Ok(())
    });
}

fn best_result(slot: u8, call: u32, task: Task) -> Event {
    let (answer, declared) = (Answer::Hits, Some(task));
    Event::Settle(Settle { slot, call, reached: true, is_error: false, answer, names: Names::ASKED, declared, step: 0 })
}

/// A lookup that fails, put into a history anywhere, with its result anywhere after it or never.
#[test]
fn a_failing_lookup_neither_opens_nor_closes_the_gate() {
    let places = (any::<proptest::sample::Index>(), any::<proptest::sample::Index>());
    check(10, 6000, &(options(), histories(), places, 0u8..4), |(options, script, (at, until), how)| {
        let judges = script.iter().enumerate().filter(|(_, e)| matches!(e, Event::Judge(j) if j.place == Place::Turn));
        let judges: Vec<usize> = judges.map(|(index, _)| index).collect();
        if judges.is_empty() {
            return Ok(());
        }
        // Right before one of the judged calls, and in its place: so that it begins no turn of its own.
        let first = judges[at.index(judges.len())];
        let Event::Judge(next) = &script[first] else { unreachable!("an index of a judged call") };
        let extra = Judge { call: 900_000_000, kind: Kind::Search, args: Args::PLAIN, ..*next };
        let mut longer = script.clone();
        longer.insert(first, Event::Judge(extra));
        let mut inserted = vec![first];
        if how > 0 {
            let second = first + 1 + until.index(longer.len() - first);
            let (reached, is_error) = (how != 3, how == 2);
            let (slot, call, answer, declared, step) = (extra.slot, extra.call, Answer::Failure, None, extra.step);
            let is_error = is_error || options.lookup_evidence == LookupEvidence::Flag;
            let names = Names::ASKED;
            longer
                .insert(second, Event::Settle(Settle { slot, call, reached, is_error, answer, names, declared, step }));
            inserted.push(second);
        }
        let mut outcomes = World::play_all(&options, &longer);
        for index in inserted.into_iter().rev() {
            outcomes.remove(index);
        }
        for (with, without) in outcomes.iter().zip(World::play_all(&options, &script)) {
            if let (Some(with), Some(without)) = (with.verdict(), without.verdict()) {
                prop_assert_eq!(with.denies(), without.denies(), "{:?} instead of {:?}", with, without);
                prop_assert_eq!(with.classification, without.classification);
            }
        }
        Ok(())
    });
}

/// Some lookups of one step, in two orders of judging and two of settling, after the same history.
#[test]
fn the_order_of_lookups_of_a_step_makes_no_difference() {
    let answers = [Answer::Hits, Answer::Nothing, Answer::Failure, Answer::ErrorField, Answer::Odd];
    let lookups = vec((proptest::sample::select(answers.to_vec()), any::<bool>(), 0u8..8), 1..5);
    let shuffled = lookups.prop_flat_map(|lookups| {
        let order: Vec<usize> = (0..lookups.len()).collect();
        (Just(lookups), Just(order.clone()).prop_shuffle(), Just(order).prop_shuffle())
    });
    check(11, 6000, &(options(), histories(), shuffled), |(options, history, (lookups, judging, settling))| {
        let in_order: Vec<usize> = (0..lookups.len()).collect();
        let outcome = |judging: &[usize], settling: &[usize]| {
            let mut script = history.clone();
            script.extend(judging.iter().map(|index| Event::Judge(lookup(*index))));
            script.extend(settling.iter().map(|index| {
                let (answer, is_error, unreached) = lookups[*index];
                let (call, reached) = (lookup(*index).call, unreached != 0);
                Event::Settle(Settle {
                    slot: 0,
                    call,
                    reached,
                    is_error,
                    answer,
                    names: Names::ASKED,
                    declared: None,
                    step: STEP,
                })
            }));
            let batch = script.len();
            script
                .extend([STEP, STEP + 1].map(|step| Event::Judge(Judge { kind: Kind::WriteNote, step, ..lookup(99) })));
            World::play_all(&options, &script).split_off(batch)
        };
        prop_assert_eq!(outcome(&in_order, &in_order), outcome(&judging, &settling));
        Ok(())
    });
}

/// A step after every step of a history.
const STEP: u32 = 1000;

fn lookup(index: usize) -> Judge {
    let call = 900_000_000 + u32::try_from(index).unwrap();
    let (args, place, turn, step) = (Args::PLAIN, Place::Turn, 1, STEP);
    Judge { slot: 0, call, kind: Kind::Search, args, place, turn, step, hidden: false }
}
