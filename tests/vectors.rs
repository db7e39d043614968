//! Every vector of `tests/vectors` against the core, without Node. The addon runs the same files in
//! `__test__/addon/vectors.test.js`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

#[allow(unreachable_pub, reason = "a module of a test is as open as the test needs")]
mod support;

use support::{scenario, tables};

#[test]
fn gate() {
    scenario::play_all("gate.json");
}

#[test]
fn classification() {
    scenario::play_all("classification.json");
}

#[test]
fn guards() {
    scenario::play_all("guards.json");
}

#[test]
fn overwrite() {
    scenario::play_all("overwrite.json");
}

#[test]
fn duplicate() {
    scenario::play_all("duplicate.json");
}

#[test]
fn project() {
    scenario::play_all("project.json");
}

#[test]
fn arguments() {
    tables::arguments();
}

#[test]
fn evidence() {
    tables::evidence();
}

#[test]
fn enforcement() {
    tables::enforcement();
}

#[test]
fn tools() {
    tables::tools();
}

#[test]
fn config() {
    tables::configurations();
}

#[test]
fn compat() {
    tables::host_versions();
}

#[test]
fn approval() {
    tables::approval_reasons();
}

/// A file that no test reads proves nothing.
#[test]
fn every_file_of_vectors_is_run() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors");
    let mut files: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "README.md")
        .collect();
    files.sort();
    let run = [
        "approval",
        "arguments",
        "classification",
        "compat",
        "config",
        "duplicate",
        "enforcement",
        "evidence",
        "gate",
        "guards",
        "overwrite",
        "project",
        "tools",
    ];
    assert_eq!(files, run.map(|name| format!("{name}.json")));
}
