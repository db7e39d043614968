//! What JS sees of the core's values: objects with readable names, made by `From` and never decided on here.

use napi::Either;
use napi::bindgen_prelude::Null;
use napi_derive::napi;

use super::state::Instance;
use crate::config::POLICY_VERSION;
use crate::config::{Config, Problem, Step};
use crate::note::path::note_path;
use crate::note::permalink;
use crate::note::text::Text;
use crate::policy::{Classification, Judged, Outcome, Reading, Recall, Settled, Task};
use crate::reason::{self, Code, Context, Kind, Observation, Observations};
use crate::tool::Known;
use crate::verdict::{Enforcement, Verdict};

/// A configuration, read.
#[napi(object)]
pub struct ConfigReading {
    /// Whether there is no problem.
    pub ok: bool,
    /// Everything that is wrong.
    pub problems: Vec<ConfigProblem>,
    /// `off`, `audit` or `enforce`; absent where there is a problem.
    pub mode: Option<String>,
    /// Whether an unverified host is allowed; false where there is a problem.
    pub allow_unverified_harness: bool,
}

/// One problem of a configuration.
#[napi(object)]
pub struct ConfigProblem {
    /// Keys and list positions from the root.
    #[napi(ts_type = "Array<string | number>")]
    pub path: Vec<Either<String, u32>>,
    /// Stable code.
    pub code: String,
    /// What is wrong and what to do.
    pub message: String,
    /// For a typo: the key that was probably meant.
    pub nearest: Option<String>,
}

impl From<Problem> for ConfigProblem {
    fn from(problem: Problem) -> ConfigProblem {
        let code = serde_json::to_value(problem.code).ok().and_then(|v| v.as_str().map(str::to_owned));
        ConfigProblem {
            path: problem
                .path
                .into_iter()
                .map(|step| match step {
                    Step::Key(key) => Either::A(key),
                    Step::Index(index) => Either::B(u32::try_from(index).unwrap_or(u32::MAX)),
                })
                .collect(),
            code: code.unwrap_or_default(),
            message: problem.message,
            nearest: problem.nearest.map(str::to_owned),
        }
    }
}

impl ConfigReading {
    pub(super) fn of(read: Result<Config, Vec<Problem>>) -> ConfigReading {
        match read {
            Ok(config) => ConfigReading {
                ok: true,
                problems: Vec::new(),
                mode: Some(name_of(config.mode)),
                allow_unverified_harness: config.allow_unverified_harness,
            },
            Err(problems) => ConfigReading {
                ok: false,
                problems: problems.into_iter().map(ConfigProblem::from).collect(),
                mode: None,
                allow_unverified_harness: false,
            },
        }
    }
}

/// What the shim must know of a policy.
#[napi(object)]
pub struct PolicyInfo {
    /// `off`, `audit` or `enforce`.
    pub mode: String,
    /// `compat` or `strict`.
    pub profile: String,
    /// Whether destructive calls need a human's approval.
    pub destructive_asks: bool,
    /// The governed servers.
    pub server_names: Vec<String>,
    /// Prefixes of governed tool names, besides the control tool's name.
    pub prefixes: Vec<String>,
    /// Raw names of the read list: what must go on even where a bug of ours keeps a call from being judged.
    pub read_tools: Vec<String>,
    /// `off`, `decision` or `verbose`.
    pub audit_level: String,
    /// `omit` or `hash`.
    pub path_redaction: String,
    /// How many records the audit keeps at most; 0: all.
    pub audit_max_records: u32,
    /// Version of the policy.
    pub policy_version: String,
}

impl PolicyInfo {
    pub(super) fn of(instance: &Instance) -> PolicyInfo {
        let config = &instance.config;
        PolicyInfo {
            mode: name_of(config.mode),
            profile: name_of(config.profile),
            destructive_asks: config.destructive_asks,
            server_names: config.server_names.clone(),
            prefixes: instance.namespace.prefixes().to_vec(),
            read_tools: config.read_tools.clone(),
            audit_level: name_of(config.audit_level),
            path_redaction: name_of(config.path_redaction),
            audit_max_records: config.audit_max_records,
            policy_version: POLICY_VERSION.to_owned(),
        }
    }
}

/// A verdict in readable form.
#[napi(object)]
pub struct Described {
    /// `allow` or `deny`.
    #[napi(ts_type = "'allow' | 'deny'")]
    pub decision: String,
    /// The reason code.
    pub code: String,
    /// Whether the tool is destructive.
    pub destructive: bool,
    /// `unknown`, `simple` or `complex`.
    pub classification: String,
    /// `none`, `failed`, `pending` or `satisfied`.
    pub lookup: String,
    /// The argument at fault, by the server's name of it.
    pub argument: Option<String>,
    /// What was noticed besides.
    pub observations: Vec<String>,
    /// What the integrity guards found, with the level that each has.
    pub findings: Vec<GuardFinding>,
}

/// What an integrity guard found.
#[napi(object)]
pub struct GuardFinding {
    /// The guard's code.
    pub code: String,
    /// `deny` or `warn`.
    pub level: String,
}

impl Described {
    pub(super) fn of(verdict: Verdict) -> Described {
        Described {
            decision: if verdict.denies() { "deny" } else { "allow" }.to_owned(),
            code: verdict.code.name().to_owned(),
            destructive: verdict.destructive,
            classification: verdict.classification.name().to_owned(),
            lookup: verdict.recall.name().to_owned(),
            argument: verdict.argument.map(|argument| argument.name().to_owned()),
            observations: names(verdict.observations),
            findings: findings(verdict),
        }
    }
}

fn findings(verdict: Verdict) -> Vec<GuardFinding> {
    let finding = |code: &str, level: &str| GuardFinding { code: code.to_owned(), level: level.to_owned() };
    let denied = verdict.code.is_finding().then(|| finding(verdict.code.name(), "deny"));
    let warned = verdict.observations.findings();
    denied.into_iter().chain(warned.iter().map(|o| finding(o.name(), "warn"))).collect()
}

/// What records want to know of a judged call, besides the verdict.
#[napi(object)]
pub struct JudgedDetail {
    /// The class of a secret that was found; never the secret.
    pub secret_class: Option<String>,
}

impl JudgedDetail {
    pub(super) fn of(judged: Judged) -> JudgedDetail {
        JudgedDetail { secret_class: judged.secret.map(|class| class.name().to_owned()) }
    }
}

/// A settlement in readable form.
#[napi(object)]
pub struct DescribedSettlement {
    /// `not-reached`, `failed`, `succeeded` or `unknown`; absent where the call was not open any more.
    pub outcome: Option<String>,
    /// What was noticed.
    pub observations: Vec<String>,
}

impl DescribedSettlement {
    pub(super) fn of(word: u32) -> Option<DescribedSettlement> {
        let settled = Settled::from_word(word)?;
        let outcome = settled.outcome.map(|outcome| outcome.name().to_owned());
        Some(DescribedSettlement { outcome, observations: names(settled.observations) })
    }
}

/// What is made of a host version.
#[napi(object)]
pub struct Compatibility {
    /// `inside`, `older`, `newer`, `unparsable` or `undetectable`.
    pub standing: String,
    /// Whether the project's suite ran on exactly this version.
    pub verified: bool,
    /// Whether the policy loads.
    pub activate: bool,
    /// Whether an operator must see the reason.
    pub loud: bool,
    /// The reason, one sentence.
    pub reason: String,
    /// The supported range.
    pub range: String,
    /// The versions that the suite ran on.
    pub verified_versions: Vec<String>,
}

impl From<crate::compat::Compatibility> for Compatibility {
    fn from(c: crate::compat::Compatibility) -> Compatibility {
        let standing = serde_json::to_value(c.standing).ok().and_then(|v| v.as_str().map(str::to_owned));
        Compatibility {
            standing: standing.unwrap_or_default(),
            verified: c.verified,
            activate: c.activate,
            loud: c.loud,
            reason: c.reason,
            range: crate::compat::RANGE.to_owned(),
            verified_versions: crate::compat::VERIFIED.iter().map(|v| (*v).to_owned()).collect(),
        }
    }
}

/// One reason code.
#[napi(object)]
pub struct CodeEntry {
    /// Its name.
    pub name: String,
    /// Its number in the verdict's word.
    pub number: u32,
    /// `allow`, `recoverable` or `terminal`.
    pub kind: String,
    /// What the model is told, with the default configuration.
    pub text: String,
}

/// Every word of the product.
#[napi(object)]
pub struct Vocabulary {
    pub codes: Vec<CodeEntry>,
    pub observations: Vec<String>,
    pub enforcements: Vec<String>,
    pub classifications: Vec<String>,
    pub lookups: Vec<String>,
    pub outcomes: Vec<String>,
    /// What is recorded of a write's arguments; the first, which is empty, of any other call.
    pub facts: Vec<String>,
    /// Raw names of the server's tools with their default classes.
    pub tools: Vec<ToolEntry>,
}

/// One tool that the policy knows.
#[napi(object)]
pub struct ToolEntry {
    /// The server's own name of it.
    pub name: String,
    /// Its default class.
    pub class: String,
}

impl Vocabulary {
    pub(super) fn whole() -> Vocabulary {
        let config = Config::default();
        let words = config.words(&config.namespace(), crate::tool::Tool::CONTROL);
        let context = Context { words: &words, tool: None, argument: None, control_hidden: false };
        let code = |code: &Code| CodeEntry {
            name: code.name().to_owned(),
            number: *code as u32,
            kind: match code.kind() {
                Kind::Allow => "allow",
                Kind::Recoverable => "recoverable",
                Kind::Terminal => "terminal",
            }
            .to_owned(),
            text: code.text(context),
        };
        Vocabulary {
            codes: Code::ALL.iter().map(code).collect(),
            observations: Observation::ALL.iter().map(|o| o.name().to_owned()).collect(),
            enforcements: Enforcement::ALL.iter().map(|e| e.name().to_owned()).collect(),
            classifications: Classification::ALL.iter().map(|c| c.name().to_owned()).collect(),
            lookups: Recall::ALL.iter().map(|r| r.name().to_owned()).collect(),
            facts: [""].into_iter().chain(Reading::ALL.map(Reading::name)).map(str::to_owned).collect(),
            outcomes: Outcome::ALL.iter().map(|o| o.name().to_owned()).collect(),
            tools: Known::ALL
                .iter()
                .map(|(known, class)| ToolEntry { name: known.raw().to_owned(), class: class.name().to_owned() })
                .collect(),
        }
    }
}

/// The control tool's name and texts.
#[napi(object)]
pub struct ControlTool {
    /// Public name.
    pub name: String,
    /// What a model reads of it.
    pub description: String,
    /// What it answers to arguments that declare nothing.
    pub malformed: String,
    /// What it answers to `{"task":"simple"}`.
    pub simple: String,
    /// What it answers to `{"task":"complex"}`.
    pub complex: String,
}

impl ControlTool {
    pub(super) fn new() -> ControlTool {
        ControlTool {
            name: reason::CONTROL_TOOL.to_owned(),
            description: reason::CONTROL_DESCRIPTION.to_owned(),
            malformed: reason::CONTROL_MALFORMED.to_owned(),
            simple: reason::control_accepted(Task::Simple).to_owned(),
            complex: reason::control_accepted(Task::Complex).to_owned(),
        }
    }
}

/// The names of a note that a call would write.
#[napi(object)]
pub struct NoteIdentity {
    /// Path below the project's folder; null where the server would refuse, or where it is not proven.
    #[napi(ts_type = "string | null")]
    pub file_path: Either<String, Null>,
    /// Permalink of a new note at that path; null where it is not proven.
    #[napi(ts_type = "string | null")]
    pub permalink: Either<String, Null>,
}

impl NoteIdentity {
    pub(super) fn of(title: &Text<'_>, directory: &Text<'_>, project: Option<&str>) -> NoteIdentity {
        let path = note_path(title, directory).ok();
        let permalink = path.as_ref().and_then(|path| permalink::of_path(path.as_str(), project));
        NoteIdentity { file_path: or_null(path.map(|path| path.as_str().to_owned())), permalink: or_null(permalink) }
    }
}

/// What the path guard says of one argument.
#[napi(object)]
pub struct PathCheck {
    /// Whether the guard fires.
    #[napi(js_name = "unsafe")]
    pub is_unsafe: bool,
    /// Why: a phrase that completes "the argument …"; null where it does not fire.
    #[napi(ts_type = "string | null")]
    pub why: Either<String, Null>,
}

impl PathCheck {
    pub(super) fn of(found: Option<crate::guard::path::Unsafe>) -> PathCheck {
        PathCheck { is_unsafe: found.is_some(), why: or_null(found.map(|found| found.why().to_owned())) }
    }
}

fn or_null(text: Option<String>) -> Either<String, Null> {
    text.map_or(Either::B(Null), Either::A)
}

/// How much a policy holds.
#[napi(object)]
pub struct Holdings {
    /// Open sessions.
    pub sessions: u32,
    /// Sessions with a turn.
    pub turns: u32,
    /// Calls whose result has not arrived.
    pub calls: u32,
}

impl From<crate::policy::Holdings> for Holdings {
    fn from(h: crate::policy::Holdings) -> Holdings {
        let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Holdings { sessions: number(h.sessions), turns: number(h.turns), calls: number(h.calls) }
    }
}

fn name_of<T: crate::config::Vocabulary + PartialEq>(value: T) -> String {
    T::VALUES.iter().find(|(_, v)| *v == value).map_or_else(String::new, |(name, _)| (*name).to_owned())
}

fn names(observations: Observations) -> Vec<String> {
    observations.iter().map(|o| o.name().to_owned()).collect()
}
