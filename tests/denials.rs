//! What a model reads of a denial: it names the code, the cure and nothing of the call.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::config::{Config, Raw};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{Arrival, Call, CallId, DigestKey, Options, Policy, Position, SessionId, Task, TurnId};
use dsh_bmpp::reason::{ArgumentName, CONTROL_TOOL, Code, Context, Kind, Observation};
use dsh_bmpp::tool::{Known, Namespace, Tool};
use dsh_bmpp::verdict::{Verdict, denial_code};
use serde_json::{Map, Value, json};

const SEARCH: &str = "mcp__basic-memory__search_notes";

const READ: &str = "mcp__basic-memory__read_note";

fn text(code: Code, control_hidden: bool) -> String {
    text_of(code, control_hidden, None)
}

fn text_of(code: Code, control_hidden: bool, argument: Option<ArgumentName>) -> String {
    text_for(None, code, control_hidden, argument)
}

fn text_for(tool: Option<Known>, code: Code, control_hidden: bool, argument: Option<ArgumentName>) -> String {
    let config = Config::default();
    let words = config.words(&config.namespace(), Tool::CONTROL);
    code.text(Context { words: &words, tool, argument, control_hidden })
}

fn denying() -> impl Iterator<Item = Code> {
    Code::ALL.iter().copied().filter(|code| code.denies())
}

#[test]
fn a_denial_begins_with_its_code_and_says_what_is_missing() {
    for code in denying() {
        for hidden in [false, true] {
            let text = text(code, hidden);
            let said = text.strip_prefix(code.name()).and_then(|rest| rest.strip_prefix(": ")).unwrap_or_default();
            assert!(said.len() > 40, "{text:?}");
            assert!(text.is_ascii() && !text.contains(['\n', '\r', '\t']), "one plain line: {text:?}");
            assert!(!text.contains("/src/") && !text.contains(".rs"), "no trace: {text:?}");
        }
    }
}

#[test]
fn a_terminal_denial_says_not_to_retry_and_a_recoverable_one_to_repeat_the_call() {
    for code in denying() {
        let text = text(code, false);
        let terminal = code.kind() == Kind::Terminal;
        assert_eq!(text.contains("Do not retry"), terminal, "{text}");
        assert_eq!(text.to_lowercase().contains("repeat this call"), !terminal, "{text}");
    }
}

/// The exact next call, in the words that a model can use.
#[test]
fn a_recoverable_denial_names_the_next_call() {
    let names = |code: Code, parts: &[&str]| {
        let text = text(code, false);
        assert!(parts.iter().all(|part| text.contains(part)), "{parts:?} in {text}");
    };
    names(Code::ClassificationRequired, &[CONTROL_TOOL, r#"{"task":"simple"}"#, r#"{"task":"complex"}"#]);
    names(Code::CreateRequiresSearch, &[SEARCH, "later message"]);
    names(Code::MemoryLookupRequired, &[SEARCH, "later message"]);
    names(Code::MemoryLookupPendingInBatch, &["run_code", "later message"]);
    // The ways out of a failed lookup: other words, keyword search, following a known note, the right project.
    names(Code::MemoryLookupFailed, &[SEARCH, "other words", r#""search_type":"text""#, "build_context", "project"]);
    names(Code::MalformedArguments, &["one JSON object", "each parameter once"]);
    names(Code::UnknownMemoryTool, &["readTools", "mutatingTools", "unknownMemoryToolPolicy"]);
    // The ways out of an overwrite: to read it, or not to overwrite.
    let read =
        [READ, r#""output_format":"json""#, "same project", "same identifier", "directory/title.md", "later message"];
    names(Code::OverwriteRequiresRead, &read);
    names(Code::OverwriteRequiresRead, &["leave overwrite out", "append"]);
    names(Code::WriteOutcomeUnknown, &read);
    // A reload takes away what the turn had earned, so that the declaration comes first.
    names(Code::PolicyReloading, &[CONTROL_TOOL, "search again", "later message"]);
    names(Code::ProjectAmbiguous, &[r#""project""#]);
    names(Code::DuplicateWriteSameTurn, &["already done"]);
}

/// The guards that look at arguments name the argument, and no other text does.
#[test]
fn a_denial_names_the_argument_at_fault() {
    for argument in ArgumentName::ALL {
        let quoted = format!("\"{}\"", argument.name());
        for code in denying() {
            let names = text_of(code, false, Some(*argument)).starts_with(&format!("{}: {quoted} ", code.name()));
            let looks =
                matches!(code, Code::UnsafeNotePath | Code::SecretPatternDetected | Code::TestFixtureLabelInProject);
            assert_eq!(names, looks, "{code:?} and {quoted}");
        }
    }
    let text = |argument| text_of(Code::UnsafeNotePath, false, Some(argument));
    assert!(text(ArgumentName::ProjectPath).contains("absolute path") && text(ArgumentName::Title).contains("a title"));
    assert!(text(ArgumentName::Directory).contains("relative path"));
}

#[test]
fn an_agent_that_cannot_classify_is_told_that_its_parent_must() {
    let text = text(Code::ClassificationRequired, true);
    assert!(
        text.contains("this agent cannot write memory") && text.contains("parent") && text.contains("Do not retry")
    );
    assert!(!text.contains(r#"{"task""#), "no call that cannot be made: {text}");
}

/// What is denied before the classification is asked for would be denied for that next: no call of this agent cures it.
#[test]
fn an_agent_that_cannot_classify_is_told_so_of_what_is_denied_before() {
    for code in denying() {
        let before = matches!(code, Code::MalformedArguments | Code::UnsafeNotePath | Code::ClassificationRequired);
        let (hidden, seen) = (text(code, true), text(code, false));
        assert_eq!(hidden.contains("this agent cannot write memory"), before, "{hidden}");
        assert_eq!(hidden == seen, !before, "{hidden}");
        if before {
            assert!(
                hidden.contains("parent agent, which must write it") && !hidden.contains("epeat this call"),
                "{hidden}"
            );
        }
    }
    assert!(text_of(Code::UnsafeNotePath, true, Some(ArgumentName::Title)).contains("\"title\" names a place"));
}

/// The texts of a server's calls name tools of that server that the operator has listed, with the arguments that they take.
#[test]
fn a_text_names_no_tool_that_the_operator_does_not_have() {
    let told = |lists: Value, name: &str, code: Code| {
        let mut raw = json!({ "serverNames": ["bm", "bm__x"] });
        raw.as_object_mut().unwrap().extend(lists.as_object().unwrap().clone());
        let config = Config::read(&Raw::from(&raw)).unwrap();
        let namespace = config.namespace();
        let tool = namespace.resolve(name).unwrap();
        let words = config.words(&namespace, tool);
        let context = Context { words: &words, tool: tool.known, argument: None, control_hidden: false };
        let text = code.text(context);
        assert_eq!(text.contains("Do not retry"), !code.recoverable(context), "{text}");
        text
    };
    let own = json!({ "readTools": ["scan", "peek"], "searchTools": ["scan"] });
    for (name, server) in [("mcp__bm__write_note", "mcp__bm__"), ("mcp__bm__x__write_note", "mcp__bm__x__")] {
        for code in denying() {
            let text = told(own.clone(), name, code);
            for word in text.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-') {
                if word.starts_with("mcp__") {
                    assert_eq!(word, format!("{server}scan"), "{text}");
                }
            }
            for other in ["search_notes", "build_context", "read_note"] {
                assert!(!text.contains(other), "{other} in {text}");
            }
        }
        let search = |code| told(own.clone(), name, code);
        assert!(search(Code::CreateRequiresSearch).contains(&format!("Call {server}scan for the subject, read")));
        assert!(search(Code::MemoryLookupFailed).contains(&format!("Call {server}scan again with other words;")));
        assert!(search(Code::OverwriteRequiresRead).contains("leave overwrite out"));
        assert!(search(Code::WriteOutcomeUnknown).contains("Do not retry"));
    }
    let with = |search: &str, code| {
        let lists = json!({ "readTools": [search, "read_note"], "searchTools": [search] });
        told(lists, "mcp__bm__edit_note", code)
    };
    assert!(with("search", Code::MemoryLookupFailed).contains("mcp__bm__search again with other words as \"query\";"));
    assert!(with("build_context", Code::MemoryLookupRequired).contains("subject as \"url\", read"));
    assert!(!with("search", Code::MemoryLookupFailed).contains("build_context"));
    assert!(with("search", Code::WriteOutcomeUnknown).contains("Call mcp__bm__read_note with the same \"identifier\""));
}

/// A text for one tool asks for what that tool's note is read by.
#[test]
fn a_read_is_asked_for_by_what_the_tool_names_its_note_by() {
    let read = |tool| text_for(Some(tool), Code::OverwriteRequiresRead, false, None);
    let (write, edit, moved) = (read(Known::WriteNote), read(Known::EditNote), read(Known::MoveNote));
    assert!(write.contains("directory/title.md") && !write.contains("append") && write.contains("another title"));
    assert!(edit.contains("the same \"identifier\"") && edit.contains("append") && !edit.contains("overwrite out"));
    assert!(moved.contains("the destination as \"identifier\"") && moved.contains("another destination"));
    for text in [write, edit, moved] {
        assert!(text.contains(READ) && text.contains("\"output_format\":\"json\"") && text.contains("later message"));
    }
}

#[test]
fn a_fixture_is_told_of_the_first_folder_that_is_allowed() {
    let told = |folders: Value| {
        let config = Config::read(&Raw::from(&json!({ "testFixtureAllowedPrefixes": folders }))).unwrap();
        let words = config.words(&config.namespace(), Tool::CONTROL);
        Code::TestFixtureLabelInProject.text(Context {
            words: &words,
            tool: None,
            argument: Some(ArgumentName::Title),
            control_hidden: false,
        })
    };
    assert!(told(json!(["qa/fixtures", "tests/"])).ends_with("in the folder qa/fixtures."));
    assert!(told(json!([])).ends_with("Repeat this call without the label."));
    assert!(told(json!(["a\nb"])).ends_with("in the folder a\\nb."));
}

const MARKER: &str = "MARKER-7c1e";

/// Every argument that any write tool of any release takes, and one that none takes: all of them hold the marker, and
/// one is called by it.
fn marked() -> Map<String, Value> {
    let names = "title content directory folder dir path project workspace project_id project_name project_path tags \
        note_type metadata overwrite expected_checksum output_format identifier operation new_content replacement \
        replace_with section section_heading heading find_text find old_text old_content search expected_replacements \
        replace_subsections destination_path dest_path new_path to destination destination_folder dest_folder to_folder \
        is_directory is_dir set_default delete_notes force replace";
    let mut all: Map<String, Value> = names.split_whitespace().map(|name| (name.to_owned(), json!(MARKER))).collect();
    all.insert("metadata".to_owned(), json!({ MARKER: [MARKER] }));
    all.insert(MARKER.to_owned(), json!(MARKER));
    all
}

/// What the guards fire at, with the marker in the very argument at fault.
fn at_fault() -> Vec<Value> {
    let secret = format!("https://alice:{MARKER}@host/x");
    let write = |more: Value| {
        let mut args = json!({ "title": MARKER, "directory": MARKER, "content": MARKER });
        args.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        args
    };
    let mut args: Vec<Value> = [
        json!({ "overwrite": true }),
        json!({ "directory": format!("../{MARKER}") }),
        json!({ "title": format!("{MARKER}\u{7}") }),
        json!({ "tags": [secret] }),
        json!({ "metadata": { secret.as_str(): MARKER } }),
        json!({ "tags": [format!("[test-fixture] {MARKER}")] }),
    ]
    .into_iter()
    .map(write)
    .collect();
    args.push(json!({ "identifier": format!("{MARKER}/../x"), "destination_path": format!("/{MARKER}") }));
    args.push(json!({ "identifier": MARKER, "operation": "append", "content": MARKER }));
    args.push(json!({ "project_name": MARKER, "project_path": format!("~/{MARKER}") }));
    args
}

/// One argument of [`marked`] at a time, all at once, what guards fire at, and what is no object.
fn all_marked_arguments() -> Vec<Value> {
    let all = marked();
    let single = all.iter().map(|(name, value)| json!({ name: value }));
    let nothing_to_map = [json!(MARKER), json!([MARKER]), json!(format!("{{\"title\":\"{MARKER}"))];
    single.chain([Value::Object(all.clone())]).chain(at_fault()).chain(nothing_to_map).collect()
}

/// A session in a state of its turn, and the words that its calls get.
struct Stage {
    namespace: Namespace,
    policy: Policy,
    session: SessionId,
    calls: u32,
}

impl Stage {
    fn new(options: &Value) -> Stage {
        let config = Config::read(&Raw::from(options)).unwrap();
        let mut policy = Policy::new(Options::new(&config, DigestKey([7; 16])));
        let session = policy.open_session();
        Stage { namespace: config.namespace(), policy, session, calls: 0 }
    }

    fn judge(&mut self, name: &str, args: &Value, step: u32, control_hidden: bool) -> (CallId, Verdict) {
        self.calls += 1;
        let position = Position::At { session: self.session, turn: TurnId::Host(1), step };
        let (id, tool) = (CallId(self.calls), self.namespace.resolve(name).unwrap());
        let arguments = Arguments::of(tool.known.map(Known::raw), args);
        (id, self.policy.judge(Call { id, tool, arguments: &arguments, position, control_hidden }).verdict)
    }

    fn settle(&mut self, call: CallId, answer: Answer, declared: Option<Task>) {
        let arrival = Arrival { reached: true, is_error: false, answer, declared, step: 1 };
        self.policy.settle(self.session, call, &arrival);
    }

    fn classified(mut self, task: Task) -> Stage {
        let (call, _) = self.judge(CONTROL_TOOL, &json!({ "task": MARKER }), 1, false);
        self.settle(call, Answer::Absent, Some(task));
        self
    }

    fn looked_up(self, answer: Option<&str>) -> Stage {
        self.looked_up_in(None, answer)
    }

    fn looked_up_in(mut self, project: Option<&str>, answer: Option<&str>) -> Stage {
        let (call, _) = self.judge(SEARCH, &json!({ "query": MARKER, "project": project }), 1, false);
        if let Some(answer) = answer {
            self.settle(call, Answer::of_result(None, &json!(answer)), None);
        }
        self
    }
}

/// Every state of a turn that a write can meet.
fn stages() -> Vec<Stage> {
    let hits = format!("# Search Results: {MARKER}\n\n### {MARKER}");
    let failed = format!("# Search Failed\n\n{MARKER}");
    let new = || Stage::new(&json!({}));
    vec![
        new(),
        new().classified(Task::Simple),
        new().classified(Task::Complex),
        new().classified(Task::Complex).looked_up(None),
        new().classified(Task::Complex).looked_up(Some(&failed)),
        new().classified(Task::Complex).looked_up(Some(&hits)),
        Stage::new(&json!({ "unknownMemoryToolPolicy": "warn" })),
        Stage::new(&json!({ "createRequiresSearch": false })).classified(Task::Complex),
        Stage::new(&json!({ "profile": "strict" })).classified(Task::Simple),
        Stage::new(&json!({ "profile": "strict", "inspectContent": true })).classified(Task::Simple),
        Stage::new(&json!({ "projectGuard": "deny" })).classified(Task::Simple).looked_up_in(Some(MARKER), Some(&hits)),
    ]
}

/// Every text that there can be with the default lists.
fn every_text() -> std::collections::HashSet<String> {
    let tools: Vec<_> = Known::ALL.iter().map(|(known, _)| Some(*known)).chain([None]).collect();
    let arguments: Vec<_> = ArgumentName::ALL.iter().copied().map(Some).chain([None]).collect();
    let mut texts = std::collections::HashSet::new();
    for code in Code::ALL {
        for tool in &tools {
            for argument in &arguments {
                texts.extend([false, true].map(|hidden| text_for(*tool, *code, hidden, *argument)));
            }
        }
    }
    texts
}

/// Marks every argument of every write, in every state of a turn and with every answer of a lookup: the marker is in no
/// text, and neither it nor its absence changes more than the code.
#[test]
fn no_denial_holds_anything_of_a_call() {
    let writes: Vec<String> = Known::ALL
        .iter()
        .filter(|(_, class)| class.writes())
        .map(|(known, _)| known.raw().to_owned())
        .chain(["rename_note".to_owned(), format!("x_{MARKER}")])
        .collect();
    let fixed = every_text();
    let mut codes = std::collections::BTreeSet::new();
    for mut stage in stages() {
        for raw in &writes {
            let known = stage.namespace.resolve(&format!("mcp__basic-memory__{raw}")).unwrap().known;
            for args in all_marked_arguments() {
                for (step, hidden) in [(1, false), (2, true)] {
                    let (call, verdict) = stage.judge(&format!("mcp__basic-memory__{raw}"), &args, step, hidden);
                    codes.insert(verdict.code.name());
                    // Some are done, and some still run when the same call comes again.
                    if !verdict.denies() && raw != "move_note" {
                        stage.settle(call, Answer::Text(format!("# Edited note ({MARKER})")), None);
                    }
                    for asks in [false, true] {
                        let code = denial_code(verdict, asks);
                        let control_hidden = verdict.observations.has(Observation::ControlHidden);
                        let argument = verdict.argument;
                        let said = text_for(known, code, control_hidden, argument);
                        assert!(!said.contains(MARKER), "{said}");
                        // A text is one of a fixed few, so there is no room in it for anything of a call.
                        assert!(fixed.contains(&said), "{said}");
                    }
                    assert!(!format!("{verdict:?}").contains(MARKER));
                    assert_eq!(Verdict::from_word(verdict.word()), Some(verdict));
                }
            }
        }
    }
    let never = ["ALLOW_OUT_OF_SCOPE", "ALLOW_READ_ONLY", "ALLOW_CONTROL", "CALL_NOT_JUDGED"];
    let not_ours = ["POLICY_INTERNAL_ERROR", "APPROVAL_UNAVAILABLE", "POLICY_RELOADING", "POLICY_NOT_LOADED"];
    let expected =
        Code::ALL.iter().map(|code| code.name()).filter(|name| !never.contains(name) && !not_ours.contains(name));
    assert_eq!(codes, expected.collect());
}

/// What is kept of a turn holds nothing of its calls either.
#[test]
fn a_policy_holds_nothing_of_what_it_judged() {
    for mut stage in stages() {
        for args in all_marked_arguments() {
            stage.judge("mcp__basic-memory__write_note", &args, 1, false);
        }
        assert!(!format!("{:?}", stage.policy).contains(MARKER));
    }
}
