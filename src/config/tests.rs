use super::*;
use serde_json::json;

fn read(value: serde_json::Value) -> Result<Config, Vec<Problem>> {
    Config::read(&Raw::from(&value))
}

fn codes(value: serde_json::Value) -> Vec<(String, ProblemCode)> {
    let path = |p: &Problem| {
        p.path
            .iter()
            .map(|s| match s {
                Step::Key(k) => k.clone(),
                Step::Index(i) => i.to_string(),
            })
            .collect::<Vec<_>>()
            .join(".")
    };
    read(value).expect_err("a problem").iter().map(|p| (path(p), p.code)).collect()
}

#[test]
fn nothing_set_is_the_default() {
    assert_eq!(Config::read(&Raw::Undefined), Ok(Config::default()));
    assert_eq!(read(json!({})), Ok(Config::default()));
    let undefined = Raw::Object(vec![("mode".into(), Raw::Undefined), ("nonsense".into(), Raw::Undefined)]);
    assert_eq!(Config::read(&undefined), Ok(Config::default()));
}

#[test]
fn every_problem_is_reported_at_once() {
    let found = codes(json!({
        "mode": "enforced", "strict": true, "bogus": 1, "createRequiresSearch": "yes",
        "serverNames": [], "searchTools": ["search_notes", 5], "policyVersion": "9.9.9",
    }));
    let expected = [
        ("bogus", ProblemCode::UnknownKey),
        ("createRequiresSearch", ProblemCode::InvalidType),
        ("mode", ProblemCode::InvalidEnum),
        ("policyVersion", ProblemCode::InvalidEnum),
        ("searchTools.1", ProblemCode::InvalidType),
        ("serverNames", ProblemCode::InvalidLength),
        ("strict", ProblemCode::AmbiguousMode),
    ];
    for (path, code) in expected {
        assert!(found.contains(&(path.to_owned(), code)), "{path}: {found:?}");
    }
    assert_eq!(found.len(), expected.len());
}

#[test]
fn lists_that_contradict_are_refused() {
    let contradiction = |value, path: &str| {
        let found = codes(value);
        assert!(found.contains(&(path.to_owned(), ProblemCode::Contradiction)), "{found:?}");
    };
    contradiction(json!({"readTools": ["search_notes", "search", "build_context", "write_note"]}), "mutatingTools.0");
    contradiction(json!({"searchTools": ["list_directory", "grep2"]}), "searchTools.1");
    contradiction(json!({"mutatingTools": ["write_note", "delete_note"]}), "destructiveTools.1");
    contradiction(json!({"readTools": ["bmpp__classify"]}), "readTools.0");
    contradiction(json!({"searchTools": ["mcp__basic-memory__search_notes"]}), "searchTools.0");
}

#[test]
fn a_raw_value_that_is_no_object_is_refused() {
    for value in [json!(null), json!([]), json!("audit"), json!(1), json!(true)] {
        assert_eq!(codes(value), [(String::new(), ProblemCode::NotAnObject)]);
    }
    let function = Raw::Object(vec![("mode".into(), Raw::Other("a function"))]);
    assert_eq!(Config::read(&function).expect_err("refused").first().map(|p| p.code), Some(ProblemCode::InvalidType));
}

#[test]
fn a_typo_names_the_nearest_key() {
    for (typo, key) in [
        ("Mode", "mode"),
        ("profil", "profile"),
        ("serverName", "serverNames"),
        ("createRequireSearch", "createRequiresSearch"),
        ("allowUnverifiedHarnes", "allowUnverifiedHarness"),
        ("lookup_evidence", "lookupEvidence"),
    ] {
        let problems = read(json!({ typo: 1 })).expect_err("refused");
        assert_eq!(problems.first().and_then(|p| p.nearest), Some(key), "{typo}");
    }
    let problems = read(json!({ "somethingElse": 1 })).expect_err("refused");
    assert_eq!(problems.first().and_then(|p| p.nearest), None);
}

#[test]
fn strict_makes_destructive_calls_ask_and_changes_no_mode() {
    let strict = read(json!({"profile": "strict"})).expect("a configuration");
    let expected = Config {
        profile: Profile::Strict,
        destructive_asks: true,
        overwrite_requires_read: Level::Deny,
        secret_pattern_guard: Level::Deny,
        test_fixture_guard: Level::Deny,
        ..Config::default()
    };
    assert_eq!(strict, expected);
    // An explicit value wins, before and after the profile; an explicit undefined does not.
    for value in [
        json!({"secretPatternGuard": "off", "profile": "strict"}),
        json!({"profile": "strict", "secretPatternGuard": "off"}),
    ] {
        let mixed = read(value).expect("a configuration");
        assert_eq!(mixed, Config { secret_pattern_guard: Level::Off, ..expected.clone() });
    }
    let undefined = Raw::Object(vec![
        ("secretPatternGuard".into(), Raw::Undefined),
        ("profile".into(), Raw::Text("strict".into())),
    ]);
    assert_eq!(Config::read(&undefined), Ok(expected));
}

#[test]
fn a_destructive_list_may_be_empty() {
    assert_eq!(read(json!({"destructiveTools": []})).map(|c| c.destructive_tools), Ok(vec![]));
    for key in ["searchTools", "readTools", "mutatingTools", "serverNames"] {
        assert!(codes(json!({ key: [] })).contains(&(key.to_owned(), ProblemCode::InvalidLength)), "{key}");
    }
}

#[test]
fn a_list_has_its_end() {
    for key in
        ["serverNames", "searchTools", "readTools", "mutatingTools", "destructiveTools", "testFixtureAllowedPrefixes"]
    {
        let list = |length: usize| (0..length).map(|i| format!("n{i}")).collect::<Vec<_>>();
        let found = codes(json!({ key: list(257) }));
        assert_eq!(found.first(), Some(&(key.to_owned(), ProblemCode::InvalidLength)), "{key}");
        // Nothing more is said of what was not read.
        assert_eq!(found.iter().filter(|(at, _)| at.starts_with(key)).count(), 1, "{key}");
        // Alone such a list may contradict the others, but it is not too long.
        let most = read(json!({ key: list(256) })).err().unwrap_or_default();
        assert!(most.iter().all(|problem| problem.code != ProblemCode::InvalidLength), "{key}");
    }
}

#[test]
fn what_the_audit_keeps_is_read_and_bounded() {
    let read_ok = |value| read(value).expect("a configuration");
    let set = read_ok(json!({"auditLevel": "verbose", "pathRedaction": "hash", "auditMaxRecords": 0}));
    assert_eq!(
        (set.audit_level, set.path_redaction, set.audit_max_records),
        (AuditLevel::Verbose, PathRedaction::Hash, 0)
    );
    let default = Config::default();
    assert_eq!(
        (default.audit_level, default.path_redaction, default.audit_max_records),
        (AuditLevel::Decision, PathRedaction::Omit, 10_000)
    );
    assert_eq!(read_ok(json!({"auditMaxRecords": u32::MAX})).audit_max_records, u32::MAX);
    for bad in [json!(-1), json!(0.5), json!(4_294_967_296_u64)] {
        assert_eq!(
            codes(json!({ "auditMaxRecords": bad })),
            [("auditMaxRecords".to_owned(), ProblemCode::InvalidNumber)]
        );
    }
    assert_eq!(codes(json!({"auditMaxRecords": "7"})), [("auditMaxRecords".to_owned(), ProblemCode::InvalidType)]);
    assert_eq!(codes(json!({"auditLevel": false})), [("auditLevel".to_owned(), ProblemCode::InvalidType)]);
    assert_eq!(codes(json!({"pathRedaction": "plain"})), [("pathRedaction".to_owned(), ProblemCode::InvalidEnum)]);
}

#[test]
fn a_problem_shows_the_scalar_that_was_found_and_nothing_of_what_is_in_a_list_or_an_object() {
    let message = |value| {
        let problems = read(value).expect_err("refused");
        problems.first().map(|problem| problem.message.clone()).expect("a problem")
    };
    for (value, shown) in [
        (json!({"auditMaxRecords": -5}), "not -5;"),
        (json!({"auditMaxRecords": 0.5}), "not 0.5;"),
        (json!({"auditMaxRecords": 1e300}), "not 1e300;"),
        (json!({"auditMaxRecords": "7"}), "not the string \"7\""),
        (json!({"createRequiresSearch": "yes"}), "not the string \"yes\""),
        (json!({"createRequiresSearch": 1}), "not the number 1"),
        (json!({"createRequiresSearch": null}), "not null"),
        (json!({"mode": "enforced"}), "not \"enforced\""),
        (json!({"mode": true}), "not the boolean true"),
        (json!({"mode": false}), "not the boolean false"),
        (json!({"policyVersion": 1}), "not the number 1"),
        (json!({"serverNames": "bm"}), "not the string \"bm\""),
        (json!({"serverNames": ["a b"]}), "\"a b\""),
        (json!({"serverNames": [7]}), "not the number 7"),
        (json!({"serverNames": ["x".repeat(33)]}), "not 33 as \"xxx"),
        (json!({"readTools": ["bmpp__classify"]}), "\"bmpp__classify\""),
        (json!({"testFixtureAllowedPrefixes": [" / "]}), "\" / \""),
        (json!("audit"), "the string \"audit\""),
    ] {
        let message = message(value);
        assert!(message.contains(shown), "{message}");
    }
    for value in [json!({"mode": {"secret": "s3cret"}}), json!({"mode": ["s3cret"]}), json!(["s3cret"])] {
        assert!(!message(value.clone()).contains("s3cret"), "{value}");
    }
    let long = message(json!({"mode": "y".repeat(5000)}));
    assert!(long.chars().count() < 200, "{long}");
}

#[test]
fn the_name_of_a_problem_code_is_what_it_is_written_as() {
    for (name, code) in ProblemCode::VALUES {
        assert_eq!(serde_json::to_value(code).expect("a text"), json!(name));
    }
}
