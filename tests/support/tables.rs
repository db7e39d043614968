//! The files whose vectors are rows of a table. Each row is put through the two verbs where that is how it shows.

use dsh_bmpp::approval;
use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::compat::compatibility;
use dsh_bmpp::config::{Config, Problem, Profile, Raw, Step, Vocabulary};
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{Arrival, Call, CallId, Options, Outcome, Policy, Position, SessionId, Task, TurnId};
use dsh_bmpp::tool::{Namespace, Tool};
use dsh_bmpp::verdict::{Mode, Verdict};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};

use super::{
    Becomes, KEY, Report, answer, arguments as read_arguments, check_becomes, code, config, names, read, sorted,
    text_code,
};

const WRITE: &str = "mcp__basic-memory__write_note";

/// A policy with one session, in whose first turn things happen.
struct Turn {
    namespace: Namespace,
    policy: Policy,
    session: SessionId,
    calls: u32,
}

impl Turn {
    fn new(raw: &Value) -> Turn {
        let config = config(raw);
        let mut policy = Policy::new(Options::new(&config, KEY));
        let session = policy.open_session();
        Turn { namespace: config.namespace(), policy, session, calls: 0 }
    }

    fn judge(&mut self, name: &str, args: &Value, step: u32) -> (CallId, Verdict) {
        let id = CallId(self.calls);
        self.calls += 1;
        let tool = self.namespace.resolve(name).unwrap_or_else(|| panic!("{name} is not governed"));
        let position = Position::At { session: self.session, turn: TurnId::Host(1), step };
        let arguments = read_arguments(tool, Some(args));
        let call = Call { id, tool, arguments: &arguments, position, control_hidden: false };
        (id, self.policy.judge(call).verdict)
    }

    fn classify(&mut self, task: Task) {
        let (id, _) = self.judge("bmpp__classify", &json!({}), 1);
        let declared = Some(task);
        let arrival = Arrival { reached: true, is_error: false, answer: Answer::Absent, declared, step: 1 };
        self.policy.settle(self.session, id, &arrival);
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ArgumentRow {
    name: String,
    tool: String,
    args: Value,
    reads: Reading,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "kebab-case")]
enum Reading {
    Malformed,
    Creates,
    Writes,
    /// The server refuses the call, so which of the two other readings is taken does not matter.
    Refused,
}

pub fn arguments() {
    let file = read::<ArgumentRow>("arguments.json");
    let mut report = Report::new("arguments.json");
    unique(file.vectors.iter().map(|row| &row.name));
    for row in &file.vectors {
        // An unknown tool's arguments are read too, and its policy is not what is asked here.
        let mut turn = Turn::new(&json!({ "unknownMemoryToolPolicy": "off" }));
        report.at(format!("\"{}\", unclassified", row.name));
        let (_, verdict) = turn.judge(&row.tool, &row.args, 1);
        let malformed = matches!(row.reads, Reading::Malformed);
        let expected = if malformed { "MALFORMED_ARGUMENTS" } else { "CLASSIFICATION_REQUIRED" };
        report.same("code", expected, verdict.code.name());

        turn.classify(Task::Complex);
        report.at(format!("\"{}\", complex without a lookup", row.name));
        let (_, verdict) = turn.judge(&row.tool, &row.args, 1);
        match row.reads {
            Reading::Malformed => report.same("code", "MALFORMED_ARGUMENTS", verdict.code.name()),
            Reading::Creates => report.same("code", "CREATE_REQUIRES_SEARCH", verdict.code.name()),
            Reading::Writes => report.same("code", "MEMORY_LOOKUP_REQUIRED", verdict.code.name()),
            Reading::Refused => report.same("denies", true, verdict.denies()),
        }

        turn.classify(Task::Simple);
        report.at(format!("\"{}\", simple", row.name));
        let (_, verdict) = turn.judge(&row.tool, &row.args, 1);
        report.same("denies", malformed, verdict.denies());
    }
    report.finish();
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceRow {
    name: String,
    tool: String,
    value: Value,
    outcome: String,
    #[serde(default)]
    observations: Vec<String>,
}

pub fn evidence() {
    let file = read::<EvidenceRow>("evidence.json");
    let mut report = Report::new("evidence.json");
    unique(file.vectors.iter().map(|row| &row.name));
    for row in &file.vectors {
        for (evidence, is_error) in [("heading", false), ("heading", true), ("flag", false), ("flag", true)] {
            report.at(format!("\"{}\", {evidence}, error flag {is_error}", row.name));
            // The row tells what the default makes of a result without the error flag; the flag always means failure,
            // and with `flag` nothing else means anything.
            let (outcome, observations) = match (evidence, is_error) {
                ("heading", false) => (row.outcome.as_str(), row.observations.clone()),
                (_, true) => ("failed", Vec::new()),
                _ => ("succeeded", Vec::new()),
            };
            let mut turn = Turn::new(&json!({ "lookupEvidence": evidence }));
            turn.classify(Task::Complex);
            let name = format!("mcp__basic-memory__{}", row.tool);
            let (lookup, _) = turn.judge(&name, &json!({}), 1);
            let answer = answer(turn.namespace.resolve(&name).unwrap(), Some(&row.value));
            let arrival = Arrival { reached: true, is_error, answer, declared: None, step: 1 };
            let settled = turn.policy.settle(turn.session, lookup, &arrival);
            report.same("outcome", Some(outcome), settled.outcome.map(Outcome::name));
            report.same("observations", sorted(observations), names(settled.observations));
            let (_, verdict) = turn.judge(WRITE, &json!({ "title": "A" }), 2);
            let gate = if outcome == "succeeded" { "ALLOW_RECALL_OK" } else { "MEMORY_LOOKUP_FAILED" };
            report.same("a write in the next step", gate, verdict.code.name());
        }
    }
    report.finish();
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EnforcementRow {
    code: String,
    destructive: bool,
    becomes: Becomes,
    /// The code that the text of a denial begins with, for each profile that denies.
    #[serde(default)]
    text: BTreeMap<String, String>,
}

pub fn enforcement() {
    let file = read::<EnforcementRow>("enforcement.json");
    let mut report = Report::new("enforcement.json");
    unique(file.vectors.iter().map(|row| (&row.code, row.destructive)));
    for row in &file.vectors {
        report.at(format!("{}, destructive: {}", row.code, row.destructive));
        let verdict = Verdict { destructive: row.destructive, ..Verdict::of(code(&row.code)) };
        check_becomes(&mut report, verdict, &row.becomes);
        for (profile, expected) in &row.text {
            report.same(&format!("text ({profile})"), expected.as_str(), text_code(verdict, profile == "strict"));
        }
    }
    let all = dsh_bmpp::reason::Code::ALL.len() * 2;
    report.at("the table");
    report.same("rows", all, file.vectors.len());
    report.finish();
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolRow {
    name: String,
    #[serde(default)]
    config: Option<Value>,
    names: BTreeMap<String, Option<String>>,
}

pub fn tools() {
    let file = read::<ToolRow>("tools.json");
    let mut report = Report::new("tools.json");
    unique(file.vectors.iter().map(|row| &row.name));
    for row in &file.vectors {
        let namespace = config(row.config.as_ref().unwrap_or(&json!({}))).namespace();
        for (name, expected) in &row.names {
            report.at(format!("\"{}\" > {name:?}", row.name));
            let tool = namespace.resolve(name);
            report.same("class", expected.as_deref(), tool.map(|tool| tool.class.name()));
            report.same("the tool of its number", tool, tool.and_then(|tool| Tool::from_id(tool.id())));
        }
    }
    report.finish();
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigRow {
    name: String,
    config: Value,
    accepted: Option<Accepted>,
    problems: Option<Vec<ExpectedProblem>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Accepted {
    mode: Option<String>,
    profile: Option<String>,
    destructive_asks: Option<bool>,
    server_names: Option<Vec<String>>,
    allow_unverified_harness: Option<bool>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExpectedProblem {
    path: Vec<Value>,
    code: String,
    nearest: Option<String>,
}

pub fn configurations() {
    let file = read::<ConfigRow>("config.json");
    let mut report = Report::new("config.json");
    unique(file.vectors.iter().map(|row| &row.name));
    for row in &file.vectors {
        report.at(format!("\"{}\"", row.name));
        match (Config::read(&Raw::from(&row.config)), &row.accepted, &row.problems) {
            (Ok(config), Some(accepted), None) => check_accepted(&mut report, &config, accepted),
            (Err(problems), None, Some(expected)) => check_problems(&mut report, &problems, expected),
            (Ok(_), None, _) => report.same("accepted", false, true),
            (Err(problems), ..) => report.same("problems", Vec::new(), problems),
            (Ok(_), Some(_), Some(_)) => panic!("{}: accepted and refused at once", row.name),
        }
    }
    report.finish();
}

fn check_accepted(report: &mut Report, config: &Config, expected: &Accepted) {
    let mode = name_of(config.mode, Mode::VALUES);
    let profile = name_of(config.profile, Profile::VALUES);
    report.same("mode", expected.mode.as_deref().unwrap_or(mode), mode);
    report.same("profile", expected.profile.as_deref().unwrap_or(profile), profile);
    report.same(
        "destructiveAsks",
        expected.destructive_asks.unwrap_or(config.destructive_asks),
        config.destructive_asks,
    );
    report.same("serverNames", expected.server_names.as_ref().unwrap_or(&config.server_names), &config.server_names);
    let allow = config.allow_unverified_harness;
    report.same("allowUnverifiedHarness", expected.allow_unverified_harness.unwrap_or(allow), allow);
}

fn name_of<T: PartialEq + Copy>(value: T, names: &[(&'static str, T)]) -> &'static str {
    names.iter().find(|(_, other)| *other == value).unwrap().0
}

fn check_problems(report: &mut Report, problems: &[Problem], expected: &[ExpectedProblem]) {
    for problem in problems {
        report.same("a message", true, !problem.message.is_empty() && !problem.message.contains('\n'));
    }
    let line = |path: &[Value], code: &str, nearest: Option<&str>| format!("{} {code} {nearest:?}", json!(path));
    let got = problems.iter().map(|problem| {
        let path: Vec<Value> = problem
            .path
            .iter()
            .map(|step| match step {
                Step::Key(key) => json!(key),
                Step::Index(index) => json!(index),
            })
            .collect();
        line(&path, json!(problem.code).as_str().unwrap(), problem.nearest)
    });
    let wanted = expected.iter().map(|problem| line(&problem.path, &problem.code, problem.nearest.as_deref()));
    report.same("problems", sorted(wanted.collect()), sorted(got.collect()));
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
#[allow(clippy::struct_excessive_bools, reason = "the row of a table")]
struct CompatRow {
    version: Option<String>,
    allow_unverified: bool,
    standing: String,
    activate: bool,
    loud: bool,
    verified: bool,
}

pub fn host_versions() {
    let file = read::<CompatRow>("compat.json");
    let mut report = Report::new("compat.json");
    unique(file.vectors.iter().map(|row| (&row.version, row.allow_unverified)));
    for row in &file.vectors {
        report.at(format!("{:?}, allowUnverified: {}", row.version, row.allow_unverified));
        let got = compatibility(row.version.as_deref(), row.allow_unverified);
        report.same("standing", json!(row.standing), json!(got.standing));
        report.same("activate", row.activate, got.activate);
        report.same("loud", row.loud, got.loud);
        report.same("verified", row.verified, got.verified);
        report.same("the reason is one line", true, !got.reason.is_empty() && !got.reason.contains('\n'));
        if !row.activate {
            report.same("the reason names the way out", true, got.reason.contains("allowUnverifiedHarness"));
        }
    }
    report.finish();
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ApprovalRow {
    name: String,
    tool: String,
    args: Value,
    unmet: Option<String>,
    contains: Vec<String>,
    #[serde(default)]
    lacks: Vec<String>,
}

pub fn approval_reasons() {
    let file = read::<ApprovalRow>("approval.json");
    let mut report = Report::new("approval.json");
    unique(file.vectors.iter().map(|row| &row.name));
    for row in &file.vectors {
        report.at(format!("\"{}\"", row.name));
        let tool = Config::default().namespace().resolve(&row.tool).unwrap();
        let arguments = read_arguments(tool, Some(&row.args));
        let given = match &arguments {
            Arguments::Object(given) => Some(given),
            Arguments::NotAnObject => None,
        };
        let text = approval::reason(&row.tool, given, row.unmet.as_deref().map(code));
        for part in &row.contains {
            report.same(&format!("{text:?} has {part:?}"), true, text.contains(part));
        }
        for part in &row.lacks {
            report.same(&format!("{text:?} has {part:?}"), false, text.contains(part));
        }
    }
    report.finish();
}

fn unique<T: std::hash::Hash + Eq + std::fmt::Debug>(names: impl Iterator<Item = T>) {
    let mut seen = HashSet::new();
    for name in names {
        let text = format!("{name:?}");
        assert!(seen.insert(name), "two vectors are called {text}");
    }
}
