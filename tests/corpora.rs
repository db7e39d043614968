//! What is kept of the fuzzers' inputs, played through the same functions: `fuzz/seeds/<target>/`, the smallest set that
//! reaches what was reached, and every input that ever found something, under the name of what it found.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

#[allow(dead_code, unreachable_pub, reason = "a module of several tests, as open as they need")]
mod model;
#[allow(unreachable_pub, reason = "a module of a test is as open as the test needs")]
mod targets;

use std::path::{Path, PathBuf};

use targets::TARGETS;

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds")
}

/// Plays the inputs of one target, each on its own, so that the failure says which it was.
fn play(name: &str) {
    let (_, target) = TARGETS.iter().find(|(target, _)| *target == name).expect("a target");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(seeds().join(name)).expect("a folder of inputs").map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "{name} has {} inputs", files.len());
    let failed: Vec<&PathBuf> = files
        .iter()
        .filter(|file| {
            let bytes = std::fs::read(file).unwrap();
            std::panic::catch_unwind(|| target(&bytes)).is_err()
        })
        .collect();
    assert!(failed.is_empty(), "{failed:?}");
    target(&[]);
}

macro_rules! corpora {
    ($($name:ident)*) => {
        $(#[test] fn $name() { play(stringify!($name)); })*

        #[test]
        fn every_target_is_played_and_has_a_fuzzer() {
            let played = [$(stringify!($name)),*];
            let names: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
            assert_eq!(names, played);
            for name in names {
                let fuzzer = seeds().with_file_name("fuzz_targets").join(format!("{name}.rs"));
                assert!(fuzzer.is_file(), "{name} has no fuzzer");
            }
            let folders = std::fs::read_dir(seeds()).unwrap().count();
            assert_eq!(folders, TARGETS.len(), "a folder of inputs without a target");
        }
    };
}

corpora! { events model identity path secret config answer records trail }
