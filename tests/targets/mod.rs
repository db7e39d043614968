//! What the fuzzers do with bytes. One function for each target, which ends where something is not as it must be. `fuzz/`
//! feeds them what libFuzzer makes up, tests/corpora.rs what is kept.

pub mod answer;
pub mod config;
pub mod draw;
pub mod events;
pub mod identity;
pub mod oracle;
pub mod path;
pub mod records;
pub mod script;
pub mod secret;
pub mod trail;

/// Takes bytes that somebody made up.
pub type Target = fn(&[u8]);

/// Every target by its name: the fuzzer's command, and the folder of its inputs in `fuzz/seeds/`.
pub const TARGETS: &[(&str, Target)] = &[
    ("events", events::run),
    ("model", script::run),
    ("identity", identity::run),
    ("path", path::run),
    ("secret", secret::run),
    ("config", config::run),
    ("answer", answer::run),
    ("records", records::run),
    ("trail", trail::run),
];
