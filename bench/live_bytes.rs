//! How many bytes of the heap the core holds, by an allocator that counts: `cargo bench --bench live_bytes`. Prints JSON.
#![allow(missing_docs, clippy::unwrap_used, reason = "a measurement, not an interface")]

#[allow(dead_code, unreachable_pub, reason = "a module of several targets, as open as they need")]
mod support;

use std::alloc::System;

use cap::Cap;
use dsh_bmpp::policy::SessionId;
use support::Stage;

#[global_allocator]
static HEAP: Cap<System> = Cap::new(System, usize::MAX);

fn main() {
    // What cargo passes to every benchmark, and how many sessions.
    let count = |name: &str, default: usize| {
        let args: Vec<String> = std::env::args().collect();
        let at = args.iter().position(|arg| arg == name);
        at.and_then(|at| args.get(at + 1)?.parse().ok()).unwrap_or(default)
    };
    let (live, gone) = (count("--live", 100_000), count("--gone", 1_000_000));
    let mut stage = Stage::new();
    stage.earn();
    // The connection to the server is known from its first call on.
    let session = stage.policy.open_session();
    stage.five(session, 0);
    stage.policy.close_session(session);

    let before = HEAP.allocated();
    let sessions: Vec<SessionId> = (0..live).map(|_| stage.policy.open_session()).collect();
    for (index, session) in sessions.iter().enumerate() {
        stage.five(*session, index);
    }
    let held = HEAP.allocated() - before - sessions.capacity() * size_of::<SessionId>();
    for session in &sessions {
        stage.policy.close_session(*session);
    }
    drop(sessions);
    let after_crowd = HEAP.allocated();

    for index in 0..gone {
        let session = stage.policy.open_session();
        stage.five(session, index % 1000);
        stage.policy.close_session(session);
    }
    let after_all = HEAP.allocated();
    let each = held / live.max(1);
    println!(
        "{}",
        serde_json::json!({
            "live": live, "gone": gone, "each": each,
            "leftOfLive": after_crowd.abs_diff(before), "leftOfGone": after_all.abs_diff(before),
        })
    );
}
