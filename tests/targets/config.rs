//! Reading a configuration: any value gives a configuration or problems, and each says the same twice.

use std::collections::BTreeSet;

use dsh_bmpp::compat::compatibility;
use dsh_bmpp::config::{Config, Raw};
use dsh_bmpp::policy::{DigestKey, Options, Policy};
use serde_json::Value;

use super::draw::Draw;

/// Keys, and values of theirs.
const KEYS: &[&str] = &[
    "mode",
    "profile",
    "serverNames",
    "searchTools",
    "readTools",
    "mutatingTools",
    "destructiveTools",
    "unknownMemoryToolPolicy",
    "createRequiresSearch",
    "overwriteRequiresRead",
    "duplicateWriteGuard",
    "pathGuard",
    "projectGuard",
    "secretPatternGuard",
    "testFixtureGuard",
    "testFixtureAllowedPrefixes",
    "overwriteDefault",
    "inspectContent",
    "lookupEvidence",
    "auditLevel",
    "pathRedaction",
    "auditMaxRecords",
    "policyVersion",
    "allowUnverifiedHarness",
    "strict",
    "gateScope",
    "preset",
    "profil",
    "mutateTools",
];
const WORDS: &[&str] = &[
    "off",
    "audit",
    "enforce",
    "compat",
    "strict",
    "warn",
    "deny",
    "heading",
    "flag",
    "decision",
    "verbose",
    "omit",
    "hash",
    "0.1.0",
    "basic-memory",
    "bm",
    "bm__x",
    "search_notes",
    "read_note",
    "write_note",
    "delete_note",
    "tests/",
    "/",
    "..",
    "mcp__x",
    "x y",
    "",
];

pub fn run(bytes: &[u8]) {
    // As text first, so that a dictionary of the fuzzer's helps.
    if let Ok(value) = serde_json::from_slice::<Value>(bytes) {
        read(&Raw::from(&value));
    }
    let mut draw = Draw::new(bytes);
    let raw = match draw.below(16) {
        0 => any(&mut draw, 3),
        _ => Raw::Object((0..draw.below(6)).map(|_| (key(&mut draw), value(&mut draw))).collect()),
    };
    read(&raw);
    let version = String::from_utf8_lossy(draw.rest()).into_owned();
    let standing = compatibility(Some(&version), false);
    assert_eq!(standing, compatibility(Some(&version), false));
}

fn key(draw: &mut Draw<'_>) -> String {
    if draw.once_in(16) { draw.text() } else { draw.one(KEYS).to_owned() }
}

fn value(draw: &mut Draw<'_>) -> Raw {
    match draw.below(8) {
        0 => any(draw, 2),
        1 => Raw::Bool(draw.once_in(2)),
        2 => Raw::List((0..draw.below(5)).map(|_| Raw::Text(draw.one(WORDS).to_owned())).collect()),
        3 => Raw::Number(draw.one(&[0.0, 1.0, -1.0, 0.5, f64::NAN, f64::INFINITY, 10000.0, 1e300])),
        _ => Raw::Text(draw.one(WORDS).to_owned()),
    }
}

fn any(draw: &mut Draw<'_>, depth: usize) -> Raw {
    match draw.below(9) {
        0 => Raw::Undefined,
        1 => Raw::Null,
        2 => Raw::Bool(draw.once_in(2)),
        3 => Raw::Number(f64::from_bits(u64::from(draw.word()) << 32 | u64::from(draw.word()))),
        4 => Raw::Other(draw.one(&["function", "symbol", "bigint", "circular"])),
        5 if depth > 0 => Raw::List((0..draw.below(4)).map(|_| any(draw, depth - 1)).collect()),
        6 if depth > 0 => Raw::Object((0..draw.below(4)).map(|_| (key(draw), any(draw, depth - 1))).collect()),
        _ => Raw::Text(draw.text()),
    }
}

fn read(raw: &Raw) {
    let first = Config::read(raw);
    match &first {
        Ok(config) => {
            // Lists that hold nothing, or contradict each other, are problems.
            let all = |list: &[String], of: &[String]| list.iter().all(|name| of.contains(name));
            assert!(!config.server_names.is_empty() && !config.search_tools.is_empty());
            assert!(
                all(&config.search_tools, &config.read_tools) && all(&config.destructive_tools, &config.mutating_tools)
            );
            assert!(!config.read_tools.iter().any(|name| config.mutating_tools.contains(name)));
            let names: BTreeSet<&String> = config.server_names.iter().collect();
            assert_eq!(names.len(), config.server_names.len());
            let namespace = config.namespace();
            for prefix in namespace.prefixes() {
                assert!(namespace.resolve(&format!("{prefix}write_note")).is_some());
            }
            let _ = Policy::new(Options::new(config, DigestKey([0; 16])));
        }
        Err(problems) => {
            assert!(!problems.is_empty());
            for problem in problems {
                assert!(!problem.message.is_empty() && serde_json::to_string(problem).is_ok());
            }
        }
    }
    assert_eq!(first, Config::read(raw));
}
