//! What a code means to the operator who finds it in a trail.
//!
//! The codes themselves and what the model is told are [`crate::reason`]'s. Here is the other half: what happened, and
//! what there is to do. A test keeps the two complete.

use serde::Serialize;

use crate::config::Config;
use crate::reason::{Code, Context, Kind, Observation};
use crate::tool::Tool;

/// What there is to say of one code or observation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Explanation {
    /// Its name.
    pub name: &'static str,
    /// `allow`, `recoverable`, `terminal`, `observation`.
    pub kind: &'static str,
    /// The policy version in which it first appeared.
    pub since: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// What to do about it; none where there is nothing to do.
    pub advice: Option<&'static str>,
    /// What the model is told when a call is denied with it, with the default configuration.
    pub told: Option<String>,
    /// Whether it can also stand among the observations: a guard that only warns is observed under its own code.
    pub observed: bool,
}

/// Explains a code or an observation, whatever its case and whether words are joined by `_`, `-` or a space.
#[must_use]
pub fn explain(name: &str) -> Option<Explanation> {
    let wanted: String =
        name.trim().chars().map(|c| if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_uppercase() }).collect();
    let entry = ENTRIES.iter().find(|entry| entry.name == wanted)?;
    let code = Code::ALL.iter().find(|code| code.name() == entry.name);
    let observed = Observation::ALL.iter().any(|o| o.name() == entry.name);
    let kind = match code.map(|code| code.kind()) {
        Some(Kind::Allow) => "allow",
        Some(Kind::Recoverable) => "recoverable",
        Some(Kind::Terminal) => "terminal",
        None if observed => "observation",
        // A word of a later version of the policy than this crate's.
        None => return None,
    };
    let told = code.filter(|code| code.denies()).map(|code| {
        let config = Config::default();
        let words = config.words(&config.namespace(), Tool::CONTROL);
        let context = Context { words: &words, tool: None, argument: None, control_hidden: false };
        code.text(context)
    });
    Some(Explanation {
        name: entry.name,
        kind,
        since: entry.since,
        meaning: entry.meaning,
        advice: (!entry.advice.is_empty()).then_some(entry.advice),
        told,
        observed,
    })
}

/// Every name that can be explained.
pub fn names() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.name).filter(|name| explain(name).is_some())
}

struct Entry {
    name: &'static str,
    since: &'static str,
    meaning: &'static str,
    advice: &'static str,
}

const fn entry(name: &'static str, meaning: &'static str, advice: &'static str) -> Entry {
    Entry { name, since: "0.1.0", meaning, advice }
}

const ENTRIES: &[Entry] = &[
    entry(
        "ALLOW_OUT_OF_SCOPE",
        "The call is none that the policy decides: outside the governed namespace, or made by no agent.",
        "",
    ),
    entry("ALLOW_READ_ONLY", "A tool of the read list. Reads are never blocked.", ""),
    entry("ALLOW_CONTROL", "The model declared its turn with bmpp__classify.", ""),
    entry("ALLOW_SIMPLE", "A write in a turn that the model declared simple.", ""),
    entry(
        "ALLOW_RECALL_OK",
        "A write in a turn declared complex, after a lookup that succeeded in an earlier message, so that the model had \
         read its result.",
        "",
    ),
    entry(
        "ALLOW_CREATE",
        "A new note in a turn declared complex, let through because createRequiresSearch is false.",
        "",
    ),
    entry(
        "MALFORMED_ARGUMENTS",
        "The arguments of a write were no JSON object, or gave one parameter under two of its names. The server would have \
         run an empty call or refused it.",
        "Nothing, if it is rare: the model repeats the call. If it is frequent, look at what the model's provider does to \
         tool calls.",
    ),
    entry(
        "UNKNOWN_MEMORY_TOOL",
        "The tool belongs to the memory server and is on no list, so whether it changes memory is not known. As an \
         observation: unknownMemoryToolPolicy is warn, and the call was gated as a write.",
        "Put the tool's raw name under readTools or mutatingTools (both lists replace the defaults), or set \
         unknownMemoryToolPolicy.",
    ),
    entry(
        "UNSAFE_NOTE_PATH",
        "A title, directory, destination or identifier would leave the project, name a reserved folder or a device, or \
         hold characters that hide or reorder what people read.",
        "Look at the session: a model rarely does this on its own. pathGuard sets what happens.",
    ),
    entry(
        "CLASSIFICATION_REQUIRED",
        "A write in a turn in which the model had declared nothing.",
        "In audit this is the normal start, since no denial teaches the model. In enforce the denial itself tells it to \
         declare; if it is not followed, see that bmpp__classify is among the agent's tools.",
    ),
    entry(
        "MEMORY_LOOKUP_PENDING_IN_BATCH",
        "The turn's only lookup was made in the same message as the write, or in the same program, so the model had not \
         read its result.",
        "Nothing: the model repeats the write in its next message.",
    ),
    entry(
        "MEMORY_LOOKUP_FAILED",
        "Every lookup of the turn failed, so the model wrote without knowing what memory holds.",
        "If it is frequent, look at the memory server: its index may not be built, or the project may be a wrong one.",
    ),
    entry(
        "CREATE_REQUIRES_SEARCH",
        "A new note in a turn declared complex, without a search before.",
        "Nothing: the model is told to search. createRequiresSearch: false lets such writes through.",
    ),
    entry(
        "MEMORY_LOOKUP_REQUIRED",
        "A change of memory in a turn declared complex, without a lookup before.",
        "Nothing: the model is told to look first.",
    ),
    entry(
        "OVERWRITE_REQUIRES_READ",
        "Existing text would have been replaced, and the note was not proven read in this turn.",
        "Nothing: the model is told which read proves it. overwriteRequiresRead sets what happens.",
    ),
    entry(
        "PROJECT_AMBIGUOUS",
        "A write named no project, and an earlier call may have switched the one that the server uses.",
        "Name a default project in the agent's instructions, or give each project a server of its own. projectGuard sets \
         what happens.",
    ),
    entry(
        "DUPLICATE_WRITE_SAME_TURN",
        "The same write had been done in this turn already.",
        "Nothing: the note is there once. duplicateWriteGuard sets what happens.",
    ),
    entry(
        "WRITE_OUTCOME_UNKNOWN",
        "The same write had been tried in this turn with an unknown outcome (a timeout, an abort), so it may be done.",
        "Look at the memory server's timeouts; the model is told to read the note first.",
    ),
    entry(
        "SECRET_PATTERN_DETECTED",
        "A title, path, tag or metadata value has the shape of a secret. The record holds the kind of shape, never the \
         value.",
        "Treat the secret as leaked to the model's provider and replace it. secretPatternGuard sets what happens.",
    ),
    entry(
        "TEST_FIXTURE_LABEL_IN_PROJECT",
        "A note labelled [test-fixture] was to be written outside the places for such notes.",
        "Set testFixtureAllowedPrefixes to where your tests write.",
    ),
    entry(
        "CALL_NOT_JUDGED",
        "What ran, or was about to run, is not what was judged, or its place in the conversation is not known.",
        "Another plugin changes or moves memory calls. Find it: disable plugins one by one and look whether the code goes.",
    ),
    entry(
        "POLICY_INTERNAL_ERROR",
        "The policy failed on the call: a bug of this plugin. In enforce a governed write is then denied.",
        "Report it, with the plugin's version and the line on standard error.",
    ),
    entry(
        "APPROVAL_UNAVAILABLE",
        "A destructive call needed a human's approval under profile strict, and nobody could be asked.",
        "Run such tasks where a human can answer, or set profile: compat.",
    ),
    entry(
        "POLICY_RELOADING",
        "A write met the gate while it was exchanged, because its configuration was changed in a running process, or while \
         it was taken away. It was not judged and not run.",
        "Nothing: the model declares its turn again and repeats the call.",
    ),
    entry(
        "POLICY_NOT_LOADED",
        "The configuration was changed in a running process, and the gate could not be put up again with it. Until it can, \
         or until the row is taken away, writes are refused.",
        "Correct the row; the host's own output says what is wrong with it.",
    ),
    entry("RECALL_EMPTY", "A lookup ran and found nothing. It counts as a lookup.", ""),
    entry(
        "LOOKUP_HEADING_UNKNOWN",
        "A result began with a heading that is on no list, so it counted as its error flag says.",
        "If it is frequent, the memory server is newer than this plugin knows: look for an update.",
    ),
    entry("READ_ONLY_NOT_RECALL", "A read that is no search. It does not count as a lookup.", ""),
    entry("RECLASSIFIED", "The model declared its turn again, otherwise than before.", ""),
    entry(
        "RECLASSIFIED_AFTER_DENIAL",
        "The model turned a turn from complex to simple after a denial: it may be going round the lookup.",
        "Read the session. If it is frequent, say in the agent's instructions when a task is complex.",
    ),
    entry("NO_AGENT_CONTEXT", "A plugin made the call, not an agent, so there is no turn: allowed and recorded.", ""),
    entry(
        "CONTROL_HIDDEN",
        "The agent does not see bmpp__classify, so it cannot declare its turn and, in enforce, cannot write memory.",
        "If the agent should write, put bmpp__classify among its tools; else nothing: its parent must write.",
    ),
    entry(
        "POSSIBLE_DUPLICATE_PERMALINK",
        "A written note's permalink ends in -1, -2 …: the server found another note under that permalink.",
        "Look at both notes; one may be a copy.",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_and_observation_is_explained_once() {
        let mut seen = std::collections::HashSet::new();
        for entry in ENTRIES {
            assert!(seen.insert(entry.name), "{} stands twice", entry.name);
        }
        let codes = Code::ALL.iter().map(|code| code.name());
        for name in codes.chain(Observation::ALL.iter().map(|o| o.name())) {
            let explained = explain(name).expect(name);
            assert!(explained.meaning.ends_with('.') && !explained.meaning.contains("  "), "{name}");
        }
    }

    #[test]
    fn a_denial_is_explained_with_what_the_model_is_told() {
        let explained = explain(" create-requires search").expect("explained");
        assert_eq!((explained.name, explained.kind), ("CREATE_REQUIRES_SEARCH", "recoverable"));
        assert!(explained.told.is_some_and(|told| told.starts_with("CREATE_REQUIRES_SEARCH: ")));
        assert_eq!(explain("ALLOW_SIMPLE").and_then(|e| e.told), None);
        assert_eq!(explain("RECALL_EMPTY").map(|e| e.kind), Some("observation"));
        assert_eq!(explain("NO_SUCH_CODE"), None);
    }
}
