//! Reading a raw configuration: one table of keys, then what must hold between them.

use super::raw::{number, shown};
use super::{Config, POLICY_VERSION, Problem, ProblemCode, Raw, Step, Vocabulary};

/// Reads one key's value into the configuration, or reports what is wrong with it.
type Read = fn(&Raw, &mut Config, &mut Found<'_>);

/// Every key there is. A key is here only if it has an effect.
const KEYS: &[(&str, Read)] = &[
    ("mode", |raw, c, found| found.one_of(raw, &mut c.mode)),
    ("profile", |raw, c, found| found.one_of(raw, &mut c.profile)),
    ("serverNames", |raw, c, found| found.names(raw, &mut c.server_names, Naming::Server, Length::Some)),
    ("searchTools", |raw, c, found| found.names(raw, &mut c.search_tools, Naming::Tool, Length::Some)),
    ("readTools", |raw, c, found| found.names(raw, &mut c.read_tools, Naming::Tool, Length::Some)),
    ("mutatingTools", |raw, c, found| found.names(raw, &mut c.mutating_tools, Naming::Tool, Length::Some)),
    ("destructiveTools", |raw, c, found| found.names(raw, &mut c.destructive_tools, Naming::Tool, Length::Any)),
    ("unknownMemoryToolPolicy", |raw, c, found| found.one_of(raw, &mut c.unknown_memory_tool_policy)),
    ("createRequiresSearch", |raw, c, found| found.bool(raw, &mut c.create_requires_search)),
    ("overwriteRequiresRead", |raw, c, found| found.one_of(raw, &mut c.overwrite_requires_read)),
    ("duplicateWriteGuard", |raw, c, found| found.bool(raw, &mut c.duplicate_write_guard)),
    ("pathGuard", |raw, c, found| found.one_of(raw, &mut c.path_guard)),
    ("projectGuard", |raw, c, found| found.one_of(raw, &mut c.project_guard)),
    ("secretPatternGuard", |raw, c, found| found.one_of(raw, &mut c.secret_pattern_guard)),
    ("testFixtureGuard", |raw, c, found| found.one_of(raw, &mut c.test_fixture_guard)),
    ("testFixtureAllowedPrefixes", |raw, c, found| found.prefixes(raw, &mut c.test_fixture_allowed_prefixes)),
    ("overwriteDefault", |raw, c, found| found.bool(raw, &mut c.overwrite_default)),
    ("inspectContent", |raw, c, found| found.bool(raw, &mut c.inspect_content)),
    ("lookupEvidence", |raw, c, found| found.one_of(raw, &mut c.lookup_evidence)),
    ("auditLevel", |raw, c, found| found.one_of(raw, &mut c.audit_level)),
    ("pathRedaction", |raw, c, found| found.one_of(raw, &mut c.path_redaction)),
    ("auditMaxRecords", |raw, c, found| found.count(raw, &mut c.audit_max_records)),
    ("policyVersion", |raw, _, found| found.policy_version(raw)),
    ("allowUnverifiedHarness", |raw, c, found| found.bool(raw, &mut c.allow_unverified_harness)),
];

/// Keys of the original product that said mode or profile a second time.
const AMBIGUOUS: &[&str] = &["strict", "gateScope", "preset"];

/// Entries of one list. Every call looks through the servers, and no server publishes as many tools.
const LIST_MAX: usize = 256;
/// A server name as the host takes it, in characters.
const SERVER_NAME_MAX: usize = 32;
/// A public tool name as the host makes it, in characters.
const TOOL_NAME_MAX: usize = 64;

pub(super) fn config(raw: &Raw) -> Result<Config, Vec<Problem>> {
    let mut config = Config::default();
    let mut problems = Vec::new();
    let entries = match raw {
        Raw::Undefined => &[][..],
        Raw::Object(entries) => entries,
        other => {
            problems.push(Problem {
                path: Vec::new(),
                code: ProblemCode::NotAnObject,
                message: format!(
                    "the configuration must be an object of keys, but is {}; leave it out for the defaults",
                    other.found()
                ),
                nearest: None,
            });
            return Err(problems);
        }
    };
    // The profile first: what it stands for is a default, and an explicit value wins over it wherever it stands.
    let profile = entries.iter().rfind(|(key, _)| key == "profile").map(|(_, value)| value);
    if let Some(Raw::Text(text)) = profile
        && text == "strict"
    {
        config.resolve_strict();
    }
    // An explicit undefined is an absent key.
    for (key, value) in entries.iter().filter(|(_, value)| *value != Raw::Undefined) {
        match KEYS.iter().find(|(name, _)| name == key) {
            Some((name, read)) => read(value, &mut config, &mut Found { key: name, problems: &mut problems }),
            None => problems.push(unknown(key)),
        }
    }
    contradictions(&config, entries, &mut problems);
    if problems.is_empty() { Ok(config) } else { Err(problems) }
}

fn unknown(key: &str) -> Problem {
    let path = vec![Step::Key(key.to_owned())];
    if AMBIGUOUS.contains(&key) {
        return Problem {
            path,
            code: ProblemCode::AmbiguousMode,
            message: format!("`{key}` does not exist: say `mode` (off, audit, enforce) and `profile` (compat, strict)"),
            nearest: None,
        };
    }
    let nearest = nearest(key);
    let hint = nearest.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    Problem { path, code: ProblemCode::UnknownKey, message: format!("`{}` is no key{hint}", shown(key)), nearest }
}

/// The key that a typo was probably meant to be: at most a third of it wrong, and case aside.
fn nearest(key: &str) -> Option<&'static str> {
    // A key longer than twice the longest one is no typo, and measuring it would cost for nothing.
    if key.chars().count() > 48 {
        return None;
    }
    let wanted = key.to_lowercase();
    KEYS.iter()
        .map(|(name, _)| (distance(&wanted, &name.to_lowercase()), *name))
        .filter(|(d, name)| *d <= (name.len() / 3).max(1))
        .min()
        .map(|(_, name)| name)
}

/// Levenshtein's distance, in characters.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(&b) {
            let above = *cell;
            left = (diagonal + usize::from(from != *to)).min(above + 1).min(left + 1);
            diagonal = above;
            *cell = left;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Naming {
    Server,
    Tool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Length {
    Any,
    Some,
}

/// Collects the problems of one key.
struct Found<'a> {
    key: &'static str,
    problems: &'a mut Vec<Problem>,
}

impl Found<'_> {
    fn push(&mut self, index: Option<usize>, code: ProblemCode, message: String) {
        let mut path = vec![Step::Key(self.key.to_owned())];
        path.extend(index.map(Step::Index));
        self.problems.push(Problem { path, code, message, nearest: None });
    }

    fn wrong_type(&mut self, index: Option<usize>, wanted: &str, raw: &Raw) {
        let message = format!("`{}` takes {wanted}, not {}", self.key, raw.found());
        self.push(index, ProblemCode::InvalidType, message);
    }

    fn bool(&mut self, raw: &Raw, into: &mut bool) {
        match raw {
            Raw::Bool(value) => *into = *value,
            other => self.wrong_type(None, "true or false", other),
        }
    }

    fn count(&mut self, raw: &Raw, into: &mut u32) {
        match raw {
            // The range makes the conversion exact.
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked by the guard")]
            Raw::Number(value) if value.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(value) => {
                *into = *value as u32;
            }
            Raw::Number(value) => self.push(
                None,
                ProblemCode::InvalidNumber,
                format!("`{}` is a whole number from 0 to {}, not {}; 0 keeps all", self.key, u32::MAX, number(*value)),
            ),
            other => self.wrong_type(None, "a whole number", other),
        }
    }

    fn one_of<T: Vocabulary>(&mut self, raw: &Raw, into: &mut T) {
        let names = || T::VALUES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        match raw {
            Raw::Text(text) => match T::VALUES.iter().find(|(name, _)| name == text) {
                Some((_, value)) => *into = *value,
                None => self.push(
                    None,
                    ProblemCode::InvalidEnum,
                    format!("`{}` is one of {}, not \"{}\"", self.key, names(), shown(text)),
                ),
            },
            // YAML reads a bare `off` as false in some dialects: say so instead of only naming the type.
            Raw::Bool(false) if T::VALUES.iter().any(|(name, _)| *name == "off") => self.push(
                None,
                ProblemCode::InvalidType,
                format!(
                    "`{}` is one of {}, as a string, not the boolean false; write \"off\" in quotes",
                    self.key,
                    names()
                ),
            ),
            other => self.wrong_type(None, &format!("one of {}", names()), other),
        }
    }

    /// The entries of a list that is not too long.
    fn list<'r>(&mut self, raw: &'r Raw, wanted: &str) -> Option<&'r [Raw]> {
        match raw {
            Raw::List(items) if items.len() <= LIST_MAX => return Some(items),
            Raw::List(items) => {
                let message = format!("`{}` takes at most {LIST_MAX} entries, not {}", self.key, items.len());
                self.push(None, ProblemCode::InvalidLength, message);
            }
            other => self.wrong_type(None, wanted, other),
        }
        None
    }

    fn names(&mut self, raw: &Raw, into: &mut Vec<String>, naming: Naming, length: Length) {
        let Some(items) = self.list(raw, "a list of names") else { return };
        if items.is_empty() && length == Length::Some {
            self.push(None, ProblemCode::InvalidLength, format!("`{}` must name at least one", self.key));
        }
        let mut names: Vec<String> = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item {
                Raw::Text(name) => {
                    if self.name(index, name, naming) && !names.contains(name) {
                        names.push(name.clone());
                    }
                }
                other => self.wrong_type(Some(index), "a list of names", other),
            }
        }
        *into = names;
    }

    fn name(&mut self, index: usize, name: &str, naming: Naming) -> bool {
        let max = if naming == Naming::Server { SERVER_NAME_MAX } else { TOOL_NAME_MAX };
        let length = name.chars().count();
        let (code, message) = if length == 0 || length > max {
            let message =
                format!("a name in `{}` has 1 to {max} characters, not {length} as \"{}\" has", self.key, shown(name));
            (ProblemCode::InvalidLength, message)
        } else if naming == Naming::Tool && name.starts_with("bmpp__") {
            let message = format!("`{}` cannot list \"{}\": that is the policy's own tool", self.key, shown(name));
            (ProblemCode::Contradiction, message)
        } else if name.starts_with("mcp__") {
            (
                ProblemCode::Contradiction,
                format!("`{}` holds raw names: write the part after the last `__` of \"{}\"", self.key, shown(name)),
            )
        } else if naming == Naming::Server && !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            (
                ProblemCode::InvalidType,
                format!("\"{}\" can be no server name: the host takes letters, digits, `-` and `_`", shown(name)),
            )
        } else {
            return true;
        };
        self.push(Some(index), code, message);
        false
    }

    /// Folders, relative to a project. An empty one would be the whole project, and switch the guard off unseen.
    fn prefixes(&mut self, raw: &Raw, into: &mut Vec<String>) {
        let Some(items) = self.list(raw, "a list of folders") else { return };
        let mut prefixes = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            match item {
                Raw::Text(text) if text.trim_matches(['/', ' ']).is_empty() => self.push(
                    Some(index),
                    ProblemCode::InvalidLength,
                    format!(
                        "a folder in `{}` must name one, which \"{}\" does not; to allow every folder, set \
                         testFixtureGuard: off",
                        self.key,
                        shown(text)
                    ),
                ),
                Raw::Text(text) => prefixes.push(text.clone()),
                other => self.wrong_type(Some(index), "a list of folders", other),
            }
        }
        *into = prefixes;
    }

    fn policy_version(&mut self, raw: &Raw) {
        match raw {
            Raw::Text(version) if version == POLICY_VERSION => {}
            Raw::Text(version) => self.push(
                None,
                ProblemCode::InvalidEnum,
                format!(
                    "this package implements policy version {POLICY_VERSION}, and the configuration was written for \
                     \"{}\": read what changed, then set {POLICY_VERSION} or remove the key",
                    shown(version)
                ),
            ),
            other => self.wrong_type(None, "a version string", other),
        }
    }
}

/// What must hold between the lists, those that were set and those that stayed at their defaults alike.
fn contradictions(config: &Config, entries: &[(String, Raw)], problems: &mut Vec<Problem>) {
    let mut check = |key: &str, list: &[String], bad: &dyn Fn(&String) -> bool, why: &str| {
        for (index, name) in list.iter().enumerate().filter(|(_, name)| bad(name)) {
            // Where it stands in the list as written, which may say a name twice or hold what is no name.
            let written = entries.iter().find(|(k, _)| k == key).and_then(|(_, raw)| match raw {
                Raw::List(items) => items.iter().position(|item| *item == Raw::Text(name.clone())),
                _ => None,
            });
            problems.push(Problem {
                path: vec![Step::Key(key.to_owned()), Step::Index(written.unwrap_or(index))],
                code: ProblemCode::Contradiction,
                message: format!("\"{}\" in `{key}` {why}", shown(name)),
                nearest: None,
            });
        }
    };
    check(
        "mutatingTools",
        &config.mutating_tools,
        &|name| config.read_tools.contains(name),
        "is in `readTools` too: a tool either reads or writes",
    );
    check(
        "searchTools",
        &config.search_tools,
        &|name| !config.read_tools.contains(name),
        "is not in `readTools`: set both lists (a list that is not set has its default)",
    );
    check(
        "destructiveTools",
        &config.destructive_tools,
        &|name| !config.mutating_tools.contains(name),
        "is not in `mutatingTools`: set both lists (a list that is not set has its default)",
    );
}
