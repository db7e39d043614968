//! A raw value → [`Config`], or every problem at once.
//!
//! One table of keys says what each may be. Nothing is guessed: an unknown key, a wrong type and lists that contradict
//! each other are all reported together, each with its path, a stable code, a sentence and, for a typo, the nearest
//! key. The profile is resolved here into options; after this, nothing but records knows of it.

mod raw;
mod read;

pub use raw::Raw;

use crate::reason::Words;
use crate::tool::{Known, Lists, Namespace, Tool};
use crate::verdict::Mode;

/// The policy version this crate implements. A configuration can pin it.
pub const POLICY_VERSION: &str = "0.1.0";

/// How strict the options that were not set are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Profile {
    /// What operators of the original expect.
    #[default]
    Compat,
    /// Three guards deny instead of warning, and destructive calls ask a human.
    Strict,
}

/// What to do where something is found that may be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Level {
    /// Nothing.
    Off,
    /// Allow, and observe.
    Warn,
    /// Deny.
    Deny,
}

/// What proves that a lookup succeeded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LookupEvidence {
    /// The error flag, and the status part that the server itself writes.
    #[default]
    Heading,
    /// The error flag alone.
    Flag,
}

/// What the audit keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AuditLevel {
    /// Nothing is persisted.
    Off,
    /// Every governed call.
    #[default]
    Decision,
    /// Calls outside the namespace too.
    Verbose,
}

/// What the audit keeps of the note that a call is about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PathRedaction {
    /// Nothing.
    #[default]
    Omit,
    /// A short hash under a key that is never written, so that records of one load can be told to be of one note.
    Hash,
}

/// The name of each value of a closed vocabulary, for configuration and records.
pub trait Vocabulary: Sized + Copy + 'static {
    /// Every value with its name.
    const VALUES: &'static [(&'static str, Self)];
}

impl Vocabulary for Mode {
    const VALUES: &'static [(&'static str, Mode)] =
        &[("off", Mode::Off), ("audit", Mode::Audit), ("enforce", Mode::Enforce)];
}
impl Vocabulary for Profile {
    const VALUES: &'static [(&'static str, Profile)] = &[("compat", Profile::Compat), ("strict", Profile::Strict)];
}
impl Vocabulary for Level {
    const VALUES: &'static [(&'static str, Level)] =
        &[("off", Level::Off), ("warn", Level::Warn), ("deny", Level::Deny)];
}
impl Vocabulary for AuditLevel {
    const VALUES: &'static [(&'static str, AuditLevel)] =
        &[("off", AuditLevel::Off), ("decision", AuditLevel::Decision), ("verbose", AuditLevel::Verbose)];
}
impl Vocabulary for PathRedaction {
    const VALUES: &'static [(&'static str, PathRedaction)] =
        &[("omit", PathRedaction::Omit), ("hash", PathRedaction::Hash)];
}
impl Vocabulary for LookupEvidence {
    const VALUES: &'static [(&'static str, LookupEvidence)] =
        &[("heading", LookupEvidence::Heading), ("flag", LookupEvidence::Flag)];
}

/// A configuration that holds together.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools, reason = "each is a key of the configuration")]
pub struct Config {
    /// Whether decisions are taken and applied.
    pub mode: Mode,
    /// Only for records: what it stands for is resolved into the options below.
    pub profile: Profile,
    /// Names of the governed MCP servers.
    pub server_names: Vec<String>,
    /// Raw names whose success is a recall; all of them are in `read_tools`.
    pub search_tools: Vec<String>,
    /// Raw names that only read.
    pub read_tools: Vec<String>,
    /// Raw names that change memory.
    pub mutating_tools: Vec<String>,
    /// Raw names that destroy memory; all of them are in `mutating_tools`.
    pub destructive_tools: Vec<String>,
    /// What becomes of a tool of the namespace that is on no list.
    pub unknown_memory_tool_policy: Level,
    /// Whether a creating write in a complex turn needs a lookup.
    pub create_requires_search: bool,
    /// What becomes of a write that replaces text of a note that was not read.
    pub overwrite_requires_read: Level,
    /// Whether a write that was done in the turn may not be done again.
    pub duplicate_write_guard: bool,
    /// What becomes of an unsafe path.
    pub path_guard: Level,
    /// What becomes of a write that names no project on a connection that may have been switched.
    pub project_guard: Level,
    /// What becomes of a secret in an inspected argument.
    pub secret_pattern_guard: Level,
    /// What becomes of a test fixture among real notes.
    pub test_fixture_guard: Level,
    /// Folders where test fixtures belong.
    pub test_fixture_allowed_prefixes: Vec<String>,
    /// Whether the server takes an omitted `overwrite` as true.
    pub overwrite_default: bool,
    /// Whether the secret and fixture guards look at note content too.
    pub inspect_content: bool,
    /// What proves that a lookup succeeded.
    pub lookup_evidence: LookupEvidence,
    /// What the audit keeps.
    pub audit_level: AuditLevel,
    /// What the audit keeps of the note that a call is about.
    pub path_redaction: PathRedaction,
    /// How many records the audit keeps at most; 0: all.
    pub audit_max_records: u32,
    /// Load on a host version that the project did not verify.
    pub allow_unverified_harness: bool,
    /// Destructive calls ask a human: what `profile: strict` stands for.
    pub destructive_asks: bool,
}

impl Default for Config {
    fn default() -> Config {
        use crate::tool::Class;
        let class = |wanted: fn(crate::tool::Class) -> bool| -> Vec<String> {
            Known::ALL.iter().filter(|(_, c)| wanted(*c)).map(|(k, _)| k.raw().to_owned()).collect()
        };
        Config {
            mode: Mode::default(),
            profile: Profile::default(),
            server_names: vec!["basic-memory".to_owned()],
            search_tools: class(|c| matches!(c, Class::Read { search: true })),
            read_tools: class(|c| matches!(c, Class::Read { .. })),
            mutating_tools: class(|c| matches!(c, Class::Write { .. })),
            destructive_tools: class(|c| matches!(c, Class::Write { destructive: true })),
            unknown_memory_tool_policy: Level::Deny,
            create_requires_search: true,
            overwrite_requires_read: Level::Warn,
            duplicate_write_guard: true,
            path_guard: Level::Deny,
            project_guard: Level::Warn,
            secret_pattern_guard: Level::Warn,
            test_fixture_guard: Level::Warn,
            test_fixture_allowed_prefixes: vec!["tests/".to_owned(), "archive/policy-tests/".to_owned()],
            overwrite_default: false,
            inspect_content: false,
            lookup_evidence: LookupEvidence::default(),
            audit_level: AuditLevel::default(),
            path_redaction: PathRedaction::default(),
            audit_max_records: 10_000,
            allow_unverified_harness: false,
            destructive_asks: false,
        }
    }
}

impl Config {
    /// What `profile: strict` stands for; nothing else differs.
    fn resolve_strict(&mut self) {
        self.overwrite_requires_read = Level::Deny;
        self.secret_pattern_guard = Level::Deny;
        self.test_fixture_guard = Level::Deny;
        self.destructive_asks = true;
    }

    /// Reads a raw value. An absent configuration (`undefined`) is the default one.
    ///
    /// # Errors
    /// Every problem of the value, in the order of the keys.
    pub fn read(raw: &Raw) -> Result<Config, Vec<Problem>> {
        read::config(raw)
    }

    /// The governed namespace of the lists.
    #[must_use]
    pub fn namespace(&self) -> Namespace {
        Namespace::new(Lists {
            servers: &self.server_names,
            read: &self.read_tools,
            search: &self.search_tools,
            write: &self.mutating_tools,
            destructive: &self.destructive_tools,
        })
    }

    /// What denial texts name of the server of a tool.
    #[must_use]
    pub fn words(&self, namespace: &Namespace, tool: Tool) -> Words {
        // A folder is the operator's own text: cut, and on one line.
        let fixtures = self
            .test_fixture_allowed_prefixes
            .first()
            .map(|folder| folder.chars().take(60).flat_map(char::escape_debug).collect());
        Words { fixtures, ..namespace.words(tool) }
    }
}

/// One problem of a configuration.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Where: keys and list positions from the root.
    pub path: Vec<Step>,
    /// Stable code.
    pub code: ProblemCode,
    /// What is wrong and what to do.
    pub message: String,
    /// For an unknown key that looks like a typo: the key that was probably meant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nearest: Option<&'static str>,
}

/// One step of a path into a configuration.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(untagged)]
pub enum Step {
    /// A key of an object.
    Key(String),
    /// A position in a list, from 0.
    Index(usize),
}

/// Stable codes of configuration problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ProblemCode {
    /// The configuration is no object.
    NotAnObject,
    /// A key that does not exist.
    UnknownKey,
    /// A key of the original product that would be a second way to say mode or profile.
    AmbiguousMode,
    /// Not one of the values that the key takes.
    InvalidEnum,
    /// A value of another type.
    InvalidType,
    /// A number out of range.
    InvalidNumber,
    /// A list or string that is too short or too long.
    InvalidLength,
    /// Values that cannot hold together.
    Contradiction,
}

impl Vocabulary for ProblemCode {
    const VALUES: &'static [(&'static str, ProblemCode)] = &[
        ("NOT_AN_OBJECT", ProblemCode::NotAnObject),
        ("UNKNOWN_KEY", ProblemCode::UnknownKey),
        ("AMBIGUOUS_MODE", ProblemCode::AmbiguousMode),
        ("INVALID_ENUM", ProblemCode::InvalidEnum),
        ("INVALID_TYPE", ProblemCode::InvalidType),
        ("INVALID_NUMBER", ProblemCode::InvalidNumber),
        ("INVALID_LENGTH", ProblemCode::InvalidLength),
        ("CONTRADICTION", ProblemCode::Contradiction),
    ];
}

#[cfg(test)]
mod tests;
