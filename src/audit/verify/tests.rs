use super::rules::{NO_CONFIG, OTHER_POLICY, OTHER_WORDS};
use super::*;
use crate::audit::record::Record;
use crate::config::{Config, POLICY_VERSION, Raw};
use crate::evidence::answer::Answer;
use crate::policy::{Arrival, CallId, DigestKey, Options, Outcome, Policy, Position, ReadCall, Reading, Task, TurnId};
use crate::reason::{Observation, Observations};
use crate::tool::Tool;
use crate::verdict::enforce;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A policy that decides, and the records that a shim would make of it.
struct World {
    config: Config,
    policy: Policy,
    session: Option<SessionId>,
    records: Vec<Value>,
    calls: u32,
    turn: u32,
    step: u32,
    open: Vec<(u32, Tool, &'static str)>,
}

const SESSION: &str = "session-1";

impl World {
    fn new(config: &Value) -> World {
        let read = Config::read(&Raw::from(config)).expect("a configuration");
        let mut world = World {
            policy: Policy::new(Options::new(&read, DigestKey([0; 16]))),
            config: read,
            session: None,
            records: Vec::new(),
            calls: 0,
            turn: 0,
            step: 0,
            open: Vec::new(),
        };
        world.push(json!({"kind": "load", "policy": POLICY_VERSION, "plugin": "0.1.0", "config": config}));
        world.turn("start");
        world
    }

    fn push(&mut self, more: Value) {
        let seq = self.records.len() as u64 + 1;
        let mut record = json!({"bmpp": 1, "load": "l", "seq": seq, "order": seq * 10, "time": seq});
        if let (Some(record), Value::Object(more)) = (record.as_object_mut(), more) {
            record.extend(more);
        }
        self.records.push(record);
    }

    fn turn(&mut self, event: &str) {
        if event == "start" {
            self.turn += 1;
            self.step = 1;
        }
        let life = self.session.map(|id| id.0);
        if let Some(id) = self.session {
            if event == "closed" {
                self.policy.close_session(id);
                self.session = None;
            } else {
                self.policy.end_turn(id);
            }
        }
        self.push(json!({"kind": "turn", "session": SESSION, "life": life, "turn": self.turn, "event": event}));
    }

    fn judge(&mut self, raw: &'static str, reading: Option<Reading>, can_ask: bool) {
        self.calls += 1;
        let name = if raw == "bmpp__classify" { raw.to_owned() } else { format!("mcp__basic-memory__{raw}") };
        let tool = self.config.namespace().resolve(&name).expect("governed");
        let policy = &mut self.policy;
        let session = *self.session.get_or_insert_with(|| policy.open_session());
        let position = Position::At { session, turn: TurnId::Host(self.turn), step: self.step };
        let verdict = self.policy.judge_read(ReadCall {
            id: CallId(self.calls),
            tool,
            reading: reading.filter(|_| tool.class.writes()),
            denied_by: None,
            warned: Observations::NONE,
            position,
            control_hidden: false,
        });
        let facts = reading.filter(|_| tool.class.writes()).map(Reading::name);
        let enforcement = enforce(verdict, self.config.mode, self.config.destructive_asks, can_ask);
        self.push(json!({
            "kind": "decision", "session": SESSION, "life": session.0, "turn": self.turn, "step": self.step, "number": self.calls,
            "call": "c", "tool": name, "class": tool.class.name(), "place": "agent", "facts": facts, "by": "judged",
            "at": "pre-execute", "decision": if verdict.denies() { "deny" } else { "allow" },
            "code": verdict.code.name(), "observations": verdict.observations.iter().map(Observation::name).collect::<Vec<_>>(),
            "classification": verdict.classification.name(), "lookup": verdict.recall.name(),
            "enforcement": enforcement.name(), "canAsk": can_ask, "mode": "enforce",
        }));
        self.open.push((self.calls, tool, raw));
    }

    fn settle(&mut self, index: usize, reached: bool, is_error: bool, empty: bool, task: Option<Task>) {
        if self.open.is_empty() {
            return;
        }
        let (number, tool, _) = self.open.remove(index % self.open.len());
        let arrival = Arrival { reached, is_error, answer: Answer::Absent, declared: task, step: self.step };
        let proof = if is_error { Outcome::Failed } else { Outcome::Succeeded };
        let seen = Observations::NONE.with_if(empty && !is_error, Observation::RecallEmpty);
        let settled = match self.session {
            Some(id) => self.policy.settle_read(id, CallId(number), &arrival, |_| (proof, seen)),
            None => Policy::new(Options::new(&self.config, DigestKey([0; 16]))).settle(
                SessionId(0),
                CallId(number),
                &arrival,
            ),
        };
        self.push(json!({
            "kind": "settlement", "session": SESSION, "life": self.session.map(|id| id.0), "turn": self.turn, "step": self.step, "number": number,
            "tool": "t", "class": tool.class.name(), "reached": reached, "isError": is_error,
            "outcome": settled.outcome.map(Outcome::name), "arrived": self.step,
            "observations": settled.observations.iter().map(Observation::name).collect::<Vec<_>>(),
            "declared": task.map(|task| if task == Task::Simple { "simple" } else { "complex" }),
        }));
    }
}

fn replay<'a>(records: impl IntoIterator<Item = &'a Value>) -> Verification {
    let mut replay = Replay::default();
    for record in records {
        let text = record.to_string();
        replay.record(&serde_json::from_str::<Record<'_>>(&text).expect("a record"));
    }
    replay.finish(Tally::default())
}

#[derive(Clone, Debug)]
enum Event {
    Judge(usize, u8, bool),
    Settle(usize, bool, bool, bool, u8),
    Step,
    Turn(usize),
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        4 => (0usize..7, 0u8..3, any::<bool>()).prop_map(|(tool, facts, ask)| Event::Judge(tool, facts, ask)),
        4 => (any::<usize>(), prop::bool::weighted(0.9), prop::bool::weighted(0.2), any::<bool>(), 0u8..3)
            .prop_map(|(i, reached, error, empty, task)| Event::Settle(i, reached, error, empty, task)),
        2 => Just(Event::Step),
        1 => (0usize..4).prop_map(Event::Turn),
    ];
    prop::collection::vec(event, 1..60)
}

fn world(config: &Value, events: &[Event]) -> World {
    let tools =
        ["bmpp__classify", "search_notes", "read_note", "write_note", "edit_note", "delete_note", "brand_new_tool"];
    let readings = Reading::ALL;
    let tasks = [None, Some(Task::Simple), Some(Task::Complex)];
    let mut world = World::new(config);
    for event in events {
        match *event {
            Event::Judge(tool, fact, ask) => world.judge(tools[tool], Some(readings[usize::from(fact)]), ask),
            Event::Settle(index, reached, error, empty, task) => {
                let control = world.open.get(index % world.open.len().max(1)).is_some_and(|o| o.2 == "bmpp__classify");
                world.settle(index, reached, error, empty, tasks[usize::from(task)].filter(|_| control));
            }
            Event::Step => world.step += 1,
            Event::Turn(which) => {
                let event = ["start", "end", "closed", "start"][which];
                world.turn(event);
                if event == "closed" {
                    // Another life of the session begins with a turn of its own.
                    world.turn("seen");
                }
            }
        }
    }
    world
}

const CONFIGS: &[&str] = &[
    r#"{"mode":"enforce"}"#,
    r#"{"mode":"enforce","profile":"strict","unknownMemoryToolPolicy":"warn"}"#,
    r#"{"mode":"audit","createRequiresSearch":false,"lookupEvidence":"heading"}"#,
];

proptest! {
    #[test]
    fn what_the_policy_decided_follows(events in events(), config in 0usize..3) {
        let config: Value = serde_json::from_str(CONFIGS[config]).expect("a configuration");
        let world = world(&config, &events);
        let found = replay(&world.records);
        prop_assert_eq!(&found.first, &None);
        prop_assert_eq!(found.gaps, 0);
        prop_assert!(found.not_replayed.is_empty());
    }

    /// Whatever is missing, what is left never contradicts; and how much is missing is known.
    #[test]
    fn what_is_missing_is_a_gap_and_no_contradiction(
        events in events(), config in 0usize..3, from in 0usize..40, length in 1usize..10, marked: bool,
    ) {
        let config: Value = serde_json::from_str(CONFIGS[config]).expect("a configuration");
        let mut records = world(&config, &events).records;
        let from = (1 + from).min(records.len());
        let to = (from + length).min(records.len());
        let gone = records.splice(from..to, []).count();
        if marked && gone > 0 {
            let lost = json!({
                "bmpp": 1, "kind": "lost", "load": "l", "seq": to, "order": to * 10, "time": 1, "from": from + 1,
                "why": "back-pressure",
            });
            records.insert(from, lost);
        }
        let found = replay(&records);
        prop_assert_eq!(&found.first, &None);
        let told = marked || to < records.len() + gone;
        prop_assert_eq!(found.missing, if told { gone as u64 } else { 0 });
    }

    /// A verdict that was changed afterwards is found.
    #[test]
    fn a_changed_verdict_is_found(events in events(), config in 0usize..3, at in any::<usize>()) {
        let config: Value = serde_json::from_str(CONFIGS[config]).expect("a configuration");
        let mut records = world(&config, &events).records;
        let decisions: Vec<usize> =
            (0..records.len()).filter(|i| records[*i]["kind"] == "decision").collect();
        prop_assume!(!decisions.is_empty());
        let at = decisions[at % decisions.len()];
        let was = records[at]["code"].as_str().unwrap_or_default().to_owned();
        records[at]["code"] = json!(if was == "ALLOW_SIMPLE" { "ALLOW_RECALL_OK" } else { "ALLOW_SIMPLE" });
        let first = replay(&records).first.expect("found");
        prop_assert_eq!((first.seq, first.field), (at as u64 + 1, "code"));
        prop_assert_eq!(first.replayed, was);
    }
}

fn one(events: &[Event]) -> Vec<Value> {
    world(&json!({"mode": "enforce"}), events).records
}

const COMPLEX_WRITE: &[Event] = &[
    Event::Judge(0, 0, false),
    Event::Settle(0, true, false, false, 2),
    Event::Judge(1, 0, false),
    Event::Settle(0, true, false, false, 0),
    Event::Step,
    Event::Judge(3, 1, false),
    Event::Settle(0, true, false, false, 0),
];

#[test]
fn each_changed_field_is_found_and_named() {
    let records = one(COMPLEX_WRITE);
    assert_eq!(replay(&records).first, None);
    let write = records.len() - 2;
    assert_eq!(records[write]["code"], "ALLOW_RECALL_OK");
    for (at, field, value, named) in [
        (write, "enforcement", json!("denied"), "enforcement"),
        (write, "decision", json!("deny"), "decision"),
        (write, "classification", json!("simple"), "classification"),
        (write, "lookup", json!("none"), "lookup"),
        (write, "observations", json!(["CONTROL_HIDDEN"]), "observations"),
        (write, "class", json!("read"), "class"),
        (write, "facts", json!("malformed"), "code"),
        (write, "order", json!(1), "order"),
        (write + 1, "outcome", json!(null), "outcome"),
        // Where the search's outcome is changed, it is the write that no longer follows.
        (write - 1, "outcome", json!("failed"), "code"),
        (3, "declared", json!("simple"), "classification"),
    ] {
        let mut changed = records.clone();
        changed[at][field] = value;
        let first = replay(&changed).first.expect(field);
        assert_eq!(first.field, named, "{field}");
        assert_ne!(first.recorded, first.replayed);
    }
}

#[test]
fn a_guards_finding_is_believed_and_counted() {
    let mut records = one(COMPLEX_WRITE);
    let write = records.len() - 2;
    records[write]["findings"] = json!([{"code": "UNSAFE_NOTE_PATH", "level": "deny"}]);
    for (field, value) in [("code", "UNSAFE_NOTE_PATH"), ("decision", "deny"), ("enforcement", "denied")] {
        records[write][field] = json!(value);
    }
    let found = replay(&records);
    assert_eq!((found.first, found.on_findings), (None, 1));
}

#[test]
fn what_cannot_be_replayed_is_said_and_is_no_contradiction() {
    let records = one(COMPLEX_WRITE);
    let skipped = |records: &[Value]| {
        let found = replay(records);
        assert_eq!(found.first, None);
        (found.not_replayed.keys().copied().collect::<Vec<_>>(), found.gaps)
    };
    assert_eq!(skipped(&records[1..]), (vec![NO_LOAD], 1));
    let mut other = records.clone();
    other[0]["policy"] = json!("9.9.9");
    assert_eq!(skipped(&other), (vec![OTHER_POLICY], 0));
    let mut other = records.clone();
    other[0]["config"] = json!({"mode": "enforce", "aKeyOfTomorrow": 1});
    other[0]["plugin"] = json!("9.9.9");
    assert_eq!(skipped(&other), (vec![NO_CONFIG], 0));
    let mut other = records.clone();
    let write = records.len() - 2;
    other[write]["code"] = json!("A_CODE_OF_TOMORROW");
    other[write]["policy"] = json!("9.9.9");
    assert_eq!(skipped(&other), (vec![OTHER_WORDS], 0));
    let mut later = records;
    let seq = later.len() + 1;
    later.push(json!({"bmpp": 2, "kind": "dream", "load": "l", "seq": seq, "order": 1000, "time": 1}));
    assert_eq!(skipped(&later), (vec![], 0));
}

/// A word that no record of this version can hold is no word of another version.
#[test]
fn a_word_that_this_version_does_not_have_is_damage_in_a_record_of_this_version() {
    let records = one(COMPLEX_WRITE);
    let write = records.len() - 2;
    let begun = 1;
    for (at, field, word) in [
        (write, "by", "jugded"),
        (write, "class", "wriet"),
        (write, "place", "agnet"),
        (write, "facts", "craetes"),
        (write, "code", "CREATE_REQUIRES_SERCH"),
        (write, "decision", "dney"),
        (write, "classification", "complexe"),
        (write, "lookup", "satisfeid"),
        (write, "enforcement", "alowed"),
        (write, "at", "pre-exceute"),
        (write, "mode", "enfroce"),
        (write, "profile", "comapt"),
        (write + 1, "outcome", "suceeded"),
        (write + 1, "happened", "rna"),
        (3, "declared", "complexe"),
        (begun, "event", "strat"),
    ] {
        for policy in [Value::Null, json!(POLICY_VERSION)] {
            let mut changed = records.clone();
            changed[at][field] = json!(word);
            changed[at]["policy"] = policy;
            let found = replay(&changed);
            assert_eq!(found.damaged, 1, "{field}");
            let damage = &found.damaged_at[0];
            assert_eq!((damage.seq, damage.field, damage.word.as_deref()), (at as u64 + 1, field, Some(word)));
            // What hangs on it is not made out to contradict.
            assert_eq!(found.contradictions, 0, "{field}: {:?}", found.first);
            assert!(!found.not_replayed.contains_key(OTHER_WORDS), "{field}");
        }
    }
    for (field, value) in [
        ("observations", json!(["RECALL_EMTPY"])),
        ("findings", json!([{"code": "UNSAFE_NOTE_PAHT", "level": "warn"}])),
        ("findings", json!([{"code": "UNSAFE_NOTE_PATH", "level": "wran"}])),
    ] {
        let mut changed = records.clone();
        changed[write][field] = value;
        let found = replay(&changed);
        assert_eq!((found.damaged, found.contradictions, found.damaged_at[0].field), (1, 0, field));
    }
    for field in ["place", "turn", "step", "code", "facts"] {
        let mut changed = records.clone();
        changed[write][field] = Value::Null;
        let found = replay(&changed);
        assert_eq!((found.damaged, found.contradictions), (1, 0), "{field}: {found:?}");
        assert_eq!((found.damaged_at[0].field, found.damaged_at[0].word.as_deref()), (field, None));
    }
    // Where the load's own record is not there, a record says itself what it is of.
    let mut alone = records[1..].to_vec();
    let last = alone.len() - 2;
    alone[last]["code"] = json!("CREATE_REQUIRES_SERCH");
    assert_eq!(replay(&alone).damaged, 0);
    alone[last]["policy"] = json!(POLICY_VERSION);
    assert_eq!(replay(&alone).damaged, 1);
    // The plugin loaded with its configuration, so that it reads it.
    let mut config = records;
    config[0]["config"] = json!({"mdoe": "enforce"});
    let found = replay(&config);
    assert_eq!((found.damaged, found.damaged_at[0].field), (1, "config"));
    assert!(found.damaged_at[0].word.as_deref().is_some_and(|why| why.contains("mdoe")), "{found:?}");
}

#[test]
fn an_end_is_an_end_and_a_repeated_record_is_counted() {
    let mut records = one(COMPLEX_WRITE);
    assert_eq!(replay(&records).without_end, 1);
    let seq = records.len() + 1;
    let unload = json!({"bmpp": 1, "kind": "unload", "load": "l", "seq": seq, "order": 10_000, "time": 1});
    records.push(unload);
    let found = replay(&records);
    assert_eq!((found.without_end, found.repeated), (0, 0));
    let twice: Vec<_> = records.iter().chain(&records).collect();
    let found = replay(twice);
    assert_eq!((found.first, found.repeated), (None, records.len() as u64));
    let mut after = records[1].clone();
    after["seq"] = json!(seq + 1);
    after["order"] = json!(20_000);
    records.push(after);
    let found = replay(&records);
    assert_eq!((found.first, found.not_replayed), (None, BTreeMap::from([(AFTER_END, 1)])));
}

#[test]
fn numbers_that_nobody_writes_do_no_harm() {
    for (from, seq) in [(100, 5), (0, u64::MAX), (u64::MAX, u64::MAX)] {
        let lost = json!({"bmpp": 1, "kind": "lost", "load": "l", "seq": seq, "order": u64::MAX, "time": u64::MAX, "from": from});
        let mut records = one(COMPLEX_WRITE);
        records.insert(1, lost);
        assert!(replay(&records).gaps > 0);
    }
}

#[test]
fn doors_behind_the_judging_are_held_to_their_rules() {
    let strict = json!({"mode": "enforce", "profile": "strict"});
    let mut world = World::new(&strict);
    world.judge("bmpp__classify", None, false);
    world.settle(0, true, false, false, Some(Task::Simple));
    world.judge("delete_note", Some(Reading::Changes), true);
    let asked = world.records.last().cloned().expect("there");
    assert_eq!(asked["enforcement"], "asked");
    let door = |by: &str, code: &str, enforcement: &str, observations: &Value| {
        let mut record = asked.clone();
        for (field, value) in
            [("by", by), ("at", "guard"), ("code", code), ("enforcement", enforcement), ("decision", "deny")]
        {
            record[field] = json!(value);
        }
        record["observations"] = observations.clone();
        record["seq"] = json!(world.records.len() + 1);
        record["order"] = json!(9_999);
        record
    };
    let with = |record: Value| {
        let records: Vec<_> = world.records.iter().chain([&record]).cloned().collect();
        replay(&records).first.map(|first| first.field)
    };
    assert_eq!(with(door("unapproved", "ALLOW_SIMPLE", "denied", &json!([]))), None);
    assert_eq!(with(door("unapproved", "ALLOW_SIMPLE", "allowed", &json!([]))), Some("enforcement"));
    assert_eq!(with(door("refused", "CALL_NOT_JUDGED", "denied", &json!([]))), None);
    assert_eq!(with(door("refused", "ALLOW_SIMPLE", "denied", &json!([]))), Some("code"));
    assert_eq!(with(door("otherwise", "CALL_NOT_JUDGED", "overridden", &json!([]))), None);
    assert_eq!(with(door("failed", "POLICY_INTERNAL_ERROR", "denied", &json!([]))), None);
    assert_eq!(with(door("failed", "POLICY_RELOADING", "denied", &json!([]))), None);
    assert_eq!(with(door("failed", "ALLOW_SIMPLE", "denied", &json!([]))), Some("code"));
}
