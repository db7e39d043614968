use super::*;
use serde_json::{Value, json};

/// Builds a trail of one load and adds it up.
struct Trail {
    records: Vec<Value>,
    number: u32,
    mode: &'static str,
}

impl Trail {
    fn new(mode: &'static str) -> Trail {
        Trail { records: Vec::new(), number: 0, mode }
    }

    fn push(&mut self, more: Value) -> &mut Trail {
        let seq = self.records.len() as u64 + 1;
        let mut record = json!({"bmpp": 1, "load": "l", "seq": seq, "order": seq, "time": seq * 1000});
        if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
            record.extend(more);
        }
        self.records.push(record);
        self
    }

    fn turn(&mut self, session: &str, turn: u32) -> &mut Trail {
        self.push(json!({"kind": "turn", "session": session, "turn": turn, "event": "start"}))
    }

    /// A call with its result; denied and overridden ones by the mode.
    fn call(&mut self, at: (&str, u32, u32), tool: &str, class: &str, code: &str) -> &mut Trail {
        self.number += 1;
        let denied = !code.starts_with("ALLOW");
        let enforcement = match (denied, self.mode) {
            (true, "audit") => "overridden",
            (true, _) => "denied",
            _ => "allowed",
        };
        let (session, turn, step) = at;
        let name = if class == "control" { tool.to_owned() } else { format!("mcp__basic-memory__{tool}") };
        let place = json!({
            "session": session, "turn": turn, "step": step, "number": self.number, "tool": name, "class": class,
        });
        let with = |more: Value| {
            let mut record = place.clone();
            if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
                record.extend(more);
            }
            record
        };
        self.push(with(json!({
            "kind": "decision", "decision": if denied { "deny" } else { "allow" }, "code": code, "by": "judged",
            "enforcement": enforcement, "mode": self.mode,
        })));
        let refused = enforcement == "denied";
        let outcome = if refused { "not-reached" } else { "succeeded" };
        self.push(with(json!({
            "kind": "settlement", "outcome": outcome, "happened": if refused { "refused" } else { "ran" },
            "declared": if class == "control" { json!("simple") } else { Value::Null },
        })))
    }

    fn report(&self) -> Report {
        self.report_with(Limits::default())
    }

    fn report_with(&self, limits: Limits) -> Report {
        let mut adding = Adding::new(limits);
        for record in &self.records {
            let text = record.to_string();
            adding.record(&serde_json::from_str(&text).expect("a record"));
        }
        adding.finish(Tally { records: self.records.len() as u64, ..Tally::default() })
    }
}

#[test]
fn a_call_is_counted_once_by_its_last_decision() {
    let mut trail = Trail::new("enforce");
    trail.turn("s", 1).call(("s", 1, 1), "write_note", "write", "ALLOW_SIMPLE");
    let mut again = trail.records[1].clone();
    again["code"] = json!("CALL_NOT_JUDGED");
    again["decision"] = json!("deny");
    again["enforcement"] = json!("denied");
    again["seq"] = json!(3);
    trail.records.insert(2, again);
    let report = trail.report();
    assert_eq!((report.calls, report.writes, report.blocked.total(), report.turns_with_writes), (1, 1, 1, 1));
    assert_eq!(report.by_code.keys().collect::<Vec<_>>(), ["CALL_NOT_JUDGED"]);
    assert_eq!(report.readiness.step, Step::Mend);
}

#[test]
fn what_enforce_would_have_blocked_is_told_by_code_tool_session_and_day() {
    let mut trail = Trail::new("audit");
    trail.turn("a", 1);
    trail.call(("a", 1, 1), "write_note", "write", "CLASSIFICATION_REQUIRED");
    trail.call(("a", 1, 2), "edit_note", "write", "CLASSIFICATION_REQUIRED");
    trail.turn("b", 1);
    trail.call(("b", 1, 1), "bmpp__classify", "control", "ALLOW_CONTROL");
    trail.call(("b", 1, 2), "write_note", "write", "CREATE_REQUIRES_SEARCH");
    trail.call(("b", 1, 3), "write_note", "write", "ALLOW_RECALL_OK");
    let report = trail.report();
    assert_eq!(report.blocked, Blocked { overridden: 3, denied: 0, ran: 0 });
    assert_eq!(report.by_code["CLASSIFICATION_REQUIRED"].overridden, 2);
    assert_eq!(report.by_tool["write_note"].overridden, 2);
    assert_eq!(
        report.by_session,
        [
            ("a".into(), Blocked { overridden: 2, denied: 0, ran: 0 }),
            ("b".into(), Blocked { overridden: 1, denied: 0, ran: 0 })
        ]
    );
    assert_eq!(report.by_day, BTreeMap::from([(0, Day { writes: 4, blocked: 3, overridden: 3, ran: 0 })]));
    assert_eq!((report.never_classified, report.blocked_unclassified, report.turns), (1, 2, 2));
    // The model was told of none of it, so nothing is said of what it did next.
    assert!(report.followed.is_empty());
    assert_eq!(report.readiness.step, Step::Collect);
}

#[test]
fn the_next_step_is_that_of_the_mode_in_force() {
    let played = |modes: [&str; 2]| {
        let mut trail = Trail::new("enforce");
        trail.turn("s", 1);
        for step in 0..30 {
            trail.call(("s", 1, step), "write_note", "write", "ALLOW_SIMPLE");
        }
        let half = trail.records.len() / 2;
        for (index, record) in trail.records.iter_mut().enumerate() {
            record["mode"] = json!(modes[usize::from(index >= half)]);
        }
        trail.report().readiness
    };
    assert_eq!(played(["audit", "enforce"]).step, Step::Strict);
    let back = played(["enforce", "audit"]);
    assert_eq!((back.step, back.sentence.starts_with("Switch to enforce: ")), (Step::Enforce, true));
}

#[test]
fn strict_is_not_advised_where_nobody_answers() {
    let mut trail = Trail::new("enforce");
    trail.turn("s", 1);
    for step in 0..30 {
        trail.call(("s", 1, step), "write_note", "write", "ALLOW_SIMPLE");
    }
    let asked = trail.records.iter_mut().find(|record| record["kind"] == "decision").expect("a decision");
    asked["enforcement"] = json!("asked");
    let readiness = trail.report().readiness;
    assert_eq!((readiness.step, readiness.sentence.contains("stay in profile compat")), (Step::Stay, true));
}

#[test]
fn what_followed_on_a_denial_is_told_by_the_next_message() {
    let mut trail = Trail::new("enforce");
    // Told, and done: declared, then written.
    trail.turn("s", 1);
    trail.call(("s", 1, 1), "write_note", "write", "CLASSIFICATION_REQUIRED");
    trail.call(("s", 1, 2), "bmpp__classify", "control", "ALLOW_CONTROL");
    trail.call(("s", 1, 3), "write_note", "write", "ALLOW_SIMPLE");
    // Told, and something else done.
    trail.turn("s", 2);
    trail.call(("s", 2, 1), "write_note", "write", "CREATE_REQUIRES_SEARCH");
    trail.call(("s", 2, 1), "search_notes", "search", "ALLOW_READ_ONLY");
    trail.call(("s", 2, 2), "write_note", "write", "CREATE_REQUIRES_SEARCH");
    // Told, and given up.
    trail.turn("s", 3);
    trail.call(("s", 3, 1), "write_note", "write", "CLASSIFICATION_REQUIRED");
    let report = trail.report();
    let classify = Followed { told: 2, right_next: 1, nothing_more: 1, cured: 1, ..Followed::default() };
    assert_eq!(report.followed["CLASSIFICATION_REQUIRED"], classify);
    let search = Followed { told: 2, other_next: 1, nothing_more: 1, ..Followed::default() };
    assert_eq!(report.followed["CREATE_REQUIRES_SEARCH"], search);
}

#[test]
fn readiness_says_what_to_do_next() {
    let turns = |mode, code: &str, count: u32| {
        let mut trail = Trail::new(mode);
        for turn in 1..=count {
            trail.turn("s", turn);
            trail.call(("s", turn, 1), "write_note", "write", code);
        }
        trail.report().readiness
    };
    assert_eq!(Trail::new("audit").report().readiness.step, Step::Collect);
    assert_eq!(turns("audit", "ALLOW_SIMPLE", 19).step, Step::Collect);
    let ready = turns("audit", "ALLOW_SIMPLE", 30);
    assert_eq!(ready.step, Step::Enforce);
    assert_eq!(ready.sentence, "Switch to enforce: of 30 writes in 30 turns it would have blocked none.");
    // What is blocked only because nothing was declared is what the first denial cures.
    let untaught = turns("audit", "CLASSIFICATION_REQUIRED", 30);
    assert_eq!(untaught.step, Step::Enforce);
    assert!(untaught.sentence.contains("30 of them in turns that declared nothing"), "{}", untaught.sentence);
    assert_eq!(turns("audit", "UNKNOWN_MEMORY_TOOL", 30).step, Step::Mend);
    assert_eq!(turns("audit", "POLICY_INTERNAL_ERROR", 1).step, Step::Mend);
    assert_eq!(turns("enforce", "ALLOW_SIMPLE", 30).step, Step::Strict);
    assert_eq!(turns("enforce", "CLASSIFICATION_REQUIRED", 30).step, Step::Stay);
    let mut classified = Trail::new("audit");
    for turn in 1..=30 {
        classified.turn("s", turn);
        classified.call(("s", turn, 1), "bmpp__classify", "control", "ALLOW_CONTROL");
        classified.call(("s", turn, 2), "write_note", "write", "CREATE_REQUIRES_SEARCH");
    }
    assert_eq!(classified.report().readiness.step, Step::Stay);
    let mut lost = Trail::new("audit");
    lost.turn("s", 1).call(("s", 1, 1), "write_note", "write", "ALLOW_SIMPLE");
    lost.push(json!({"kind": "lost", "from": 4, "seq": 20, "why": "back-pressure"}));
    let report = lost.report();
    assert_eq!((report.lost, report.readiness.step), (17, Step::Mend));
    // A trail of which nothing can be read is not one in which nothing was judged.
    let broken = Adding::new(Limits::default()).finish(Tally { broken: 1, ..Tally::default() }).readiness;
    assert_eq!(broken.sentence, "Mend first: 1 record of this trail is lost or broken, too much to judge by.");
}

#[test]
fn the_timeline_keeps_the_last_sessions_and_calls() {
    let mut trail = Trail::new("audit");
    for session in 0..10 {
        let name = format!("s{session}");
        trail.turn(&name, 1);
        for step in 1..=5 {
            trail.call((&name, 1, step), "write_note", "write", "ALLOW_SIMPLE");
        }
    }
    assert!(trail.report().timeline.is_empty());
    let report = trail.report_with(Limits { sessions: 3, calls: 2, replay: false });
    let names: Vec<_> = report.timeline.iter().map(|line| line.session.as_str()).collect();
    assert_eq!((names, report.timeline_left_out), (vec!["s7", "s8", "s9"], 7));
    let line = &report.timeline[0];
    assert_eq!((line.calls.len(), line.left_out), (2, 3));
    assert_eq!(line.calls[1].happened.as_deref(), Some("ran"));
    assert_eq!(line.calls[1].step, Some(5));
}

#[test]
fn what_went_on_and_what_was_denied_are_counted_apart() {
    let mut trail = Trail::new("enforce");
    for turn in 1..=25 {
        trail.turn("s", turn).call(("s", turn, 1), "write_note", "write", "CLASSIFICATION_REQUIRED");
    }
    trail.mode = "audit";
    for turn in 26..=45 {
        trail.turn("s", turn).call(("s", turn, 1), "write_note", "write", "ALLOW_SIMPLE");
    }
    trail.turn("s", 46).call(("s", 46, 1), "write_note", "write", "CLASSIFICATION_REQUIRED");
    let report = trail.report();
    assert_eq!(report.blocked, Blocked { overridden: 1, denied: 25, ran: 0 });
    assert_eq!(report.by_day, BTreeMap::from([(0, Day { writes: 46, blocked: 26, overridden: 1, ran: 0 })]));
    // A share is one of the writes of its own mode.
    let of_mode = |writes, overridden, denied| Writes { writes, blocked: Blocked { overridden, denied, ran: 0 } };
    let by_mode = BTreeMap::from([("audit".into(), of_mode(21, 1, 0)), ("enforce".into(), of_mode(25, 0, 25))]);
    assert_eq!(report.writes_by_mode, by_mode);
    // The advice is about audit, so it counts what was judged in audit.
    let sentence = &report.readiness.sentence;
    assert!(sentence.starts_with("Switch to enforce: of 21 writes in 21 turns it would have blocked 1,"), "{sentence}");
    assert!(sentence.contains("(1 of them in turns that declared nothing"), "{sentence}");
}

#[test]
fn a_part_that_was_selected_by_what_was_decided_gives_no_advice() {
    let mut trail = Trail::new("audit");
    for turn in 1..=30 {
        trail.turn("s", turn).call(("s", turn, 1), "write_note", "write", "CLASSIFICATION_REQUIRED");
    }
    let readiness = |filter: Value, calls: bool| {
        let filter = serde_json::from_value(filter).expect("a filter");
        let mut adding = Adding::new(Limits::default()).selected_by(&filter);
        for record in trail.records.iter().filter(|_| calls) {
            adding.record(&serde_json::from_str(&record.to_string()).expect("a record"));
        }
        adding.finish(Tally { records: 90, ..Tally::default() }).readiness
    };
    assert_eq!(readiness(json!({}), true).step, Step::Enforce);
    assert_eq!(readiness(json!({"since": 1, "tools": ["write_note"]}), true).step, Step::Enforce);
    for filter in [json!({"codes": ["X"]}), json!({"decisions": ["deny"]}), json!({"enforcements": ["denied"]})] {
        let readiness = readiness(filter, true);
        assert_eq!((readiness.step, readiness.sentence.starts_with("No advice: ")), (Step::Part, true));
    }
    assert_eq!(readiness(json!({}), false).step, Step::Collect);
    assert_eq!(readiness(json!({"since": 1}), false).sentence, "Nothing that was judged fits what was asked for.");
}

#[test]
fn only_tools_that_may_be_there_are_to_be_put_on_a_list() {
    let calls = |mode, happened: &str, tools: &[&str]| {
        let mut trail = Trail::new(mode);
        trail.turn("s", 1);
        for (step, tool) in (1..).zip(tools) {
            trail.call(("s", 1, step), tool, "unknown", "UNKNOWN_MEMORY_TOOL");
        }
        for record in trail.records.iter_mut().filter(|record| record["kind"] == "settlement") {
            record["happened"] = json!(happened);
        }
        trail.report().readiness
    };
    let found = calls("audit", "ran", &["b", "d", "a", "b", "c"]);
    assert_eq!(found.step, Step::Mend);
    assert!(found.sentence.contains("5 calls of memory tools that are on no list (b, a, c, and 1 more)"), "{found:?}");
    // In audit nothing but the host itself refuses the call of a tool that it does not have.
    assert_eq!(calls("audit", "refused", &["made_up"]).step, Step::Collect);
    // In enforce the gate refused it before the host was asked.
    assert!(calls("enforce", "refused", &["notes_of"]).sentence.contains("(notes_of)"));
}

#[test]
fn what_ran_in_enforce_all_the_same_is_no_guess_at_what_enforce_would_do() {
    let mut trail = Trail::new("enforce");
    trail.turn("s", 1).call(("s", 1, 1), "write_note", "write", "ALLOW_SIMPLE");
    let mut otherwise = trail.records[1].clone();
    for (field, value) in [("code", "CALL_NOT_JUDGED"), ("decision", "deny"), ("enforcement", "overridden")] {
        otherwise[field] = json!(value);
    }
    otherwise["number"] = Value::Null;
    trail.records.insert(2, otherwise);
    let report = trail.report();
    assert_eq!(report.blocked, Blocked { overridden: 0, denied: 0, ran: 1 });
    assert_eq!(report.by_day[&0], Day { writes: 2, blocked: 1, overridden: 0, ran: 1 });
    assert!(report.followed.is_empty());
}

#[test]
fn the_advice_of_audit_says_nothing_of_what_enforce_denied_before() {
    let mut trail = Trail::new("enforce");
    trail.turn("s", 1).call(("s", 1, 1), "write_note", "write", "DUPLICATE_WRITE_SAME_TURN");
    trail.mode = "audit";
    for turn in 2..=30 {
        trail.turn("s", turn).call(("s", turn, 1), "write_note", "write", "ALLOW_SIMPLE");
    }
    trail.turn("s", 31).call(("s", 31, 1), "bmpp__classify", "control", "ALLOW_CONTROL");
    trail.call(("s", 31, 2), "write_note", "write", "CREATE_REQUIRES_SEARCH");
    let sentence = trail.report().readiness.sentence;
    assert!(sentence.ends_with("it would have blocked 1, each curable by one next call."), "{sentence}");
}

#[test]
fn too_few_writes_are_told_with_how_many_are_enough() {
    let mut trail = Trail::new("audit");
    trail.turn("s", 1).call(("s", 1, 1), "write_note", "write", "ALLOW_SIMPLE");
    let sentence = trail.report().readiness.sentence;
    assert_eq!(sentence, "Only 1 write so far: keep collecting before you decide; 20 are enough.");
}
