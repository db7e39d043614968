//! What the core holds, by an allocator that counts: nothing is left of what is gone, and a turn has an end however long it is.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends where something is not as it must be")]

#[path = "../bench/support/mod.rs"]
#[allow(dead_code, unreachable_pub, reason = "a module of several targets, as open as they need")]
mod support;

use std::alloc::System;

use cap::Cap;
use support::Stage;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

/// Writes in which each kind of knowledge comes to its bound several times, each at another time than the others.
const HALF: usize = 5 * 16_384;

// Without the test harness, whose threads would be counted too.
fn main() {
    sessions_that_are_gone_leave_not_a_byte();
    a_turn_without_end_holds_no_more_and_no_more();
}

/// A stage on which a session was opened, used and closed: what belongs to the policy itself is there.
fn used() -> Stage {
    let mut stage = Stage::new();
    stage.earn();
    let session = stage.policy.open_session();
    stage.five(session, 0);
    stage.policy.close_session(session);
    stage
}

fn sessions_that_are_gone_leave_not_a_byte() {
    let mut stage = used();
    let before = HEAP.allocated();
    for live in [1, 2000, 3, 500] {
        let sessions: Vec<_> = (0..live).map(|_| stage.policy.open_session()).collect();
        for (index, session) in sessions.iter().enumerate() {
            stage.five(*session, index);
        }
        assert!(HEAP.allocated() > before + live * 100, "{live} sessions are held");
        for session in sessions {
            stage.policy.close_session(session);
        }
        assert_eq!(HEAP.allocated(), before, "after {live} sessions side by side");
    }
    for index in 0..5000 {
        let session = stage.policy.open_session();
        stage.five(session, index);
        stage.policy.close_session(session);
    }
    assert_eq!(HEAP.allocated(), before, "after sessions one by one");
}

/// Beyond what a turn may hold of each kind it forgets, so that the second half holds no more than the first did.
fn a_turn_without_end_holds_no_more_and_no_more() {
    let mut stage = used();
    stage.session = stage.policy.open_session();
    stage.earn();
    let before = HEAP.allocated();
    let mut most = [0; 2];
    for (half, most) in most.iter_mut().enumerate() {
        for index in half * HALF..(half + 1) * HALF {
            stage.judge("write_note", &support::note(index, 64));
            stage.settle(&support::written(index));
            *most = HEAP.allocated().max(*most);
        }
    }
    let [first, second] = most;
    assert!(second <= first + first / 20, "{first} bytes, then {second}");
    assert!(first - before < 64 << 20, "{first} bytes");
    stage.policy.end_turn(stage.session);
    stage.policy.close_session(stage.session);
    assert!(HEAP.allocated() < before, "the turn's end lets go of all of it");
}
