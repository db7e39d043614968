//! What the targets do is in tests/targets/, where `cargo test` plays what is kept of their inputs.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a fuzzer ends where something is wrong")]

#[allow(dead_code, unreachable_pub, reason = "a module of several tests, as open as they need")]
#[path = "../tests/model/mod.rs"]
pub mod model;
#[path = "../tests/targets/mod.rs"]
pub mod targets;
