//! What a word means to the operator who meets it: a code of a verdict, an observation, a problem of a configuration,
//! a word of a record.
//!
//! The codes themselves and what the model is told are [`crate::reason`]'s. Here is the other half: what happened, and
//! what there is to do. Tests keep it complete.

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
    /// `allow`, `recoverable`, `terminal`, `observation`; `problem` of a configuration; `word` of a record.
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

/// Explains a word, whatever its case and whether its parts are joined by `_`, `-` or a space.
#[must_use]
pub fn explain(name: &str) -> Option<Explanation> {
    let plain = |text: &str| -> String {
        text.trim().chars().map(|c| if matches!(c, '-' | ' ') { '_' } else { c.to_ascii_uppercase() }).collect()
    };
    let wanted = plain(name);
    let (of, entry) =
        ALL.iter().find_map(|(of, list)| list.iter().find(|entry| plain(entry.name) == wanted).map(|e| (*of, e)))?;
    let code = Code::ALL.iter().find(|code| code.name() == entry.name);
    let observed = Observation::ALL.iter().any(|o| o.name() == entry.name);
    let kind = match (of, code.map(|code| code.kind())) {
        (Of::Problem, _) => "problem",
        (Of::Word, _) => "word",
        (Of::Verdict, Some(Kind::Allow)) => "allow",
        (Of::Verdict, Some(Kind::Recoverable)) => "recoverable",
        (Of::Verdict, Some(Kind::Terminal)) => "terminal",
        (Of::Verdict, None) if observed => "observation",
        // A word of a later version of the policy than this crate's.
        (Of::Verdict, None) => return None,
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
    let entries = ALL.iter().flat_map(|(_, entries)| entries.iter());
    entries.map(|entry| entry.name).filter(|name| explain(name).is_some())
}

#[derive(Clone, Copy)]
enum Of {
    /// A code of a verdict, or an observation.
    Verdict,
    /// A problem of a configuration.
    Problem,
    /// A word of a record.
    Word,
}

const ALL: [(Of, &[Entry]); 3] = [(Of::Verdict, ENTRIES), (Of::Problem, PROBLEMS), (Of::Word, WORDS)];

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
        "A governed write that no agent made, so that it has no turn: it is let through, no guard looks at it, and it is \
         observed as NO_AGENT_CONTEXT. With auditLevel verbose also any call outside the governed namespace, of the class \
         out-of-scope.",
        "Of a governed write: see which plugin calls memory by itself. Of a call outside the namespace: nothing.",
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

const PROBLEMS: &[Entry] = &[
    entry(
        "NOT_AN_OBJECT",
        "A problem of the configuration: it is no object of keys.",
        "Write keys with values under the row's config, or leave config out for the defaults.",
    ),
    entry(
        "UNKNOWN_KEY",
        "A problem of the configuration: no key has this name.",
        "Correct the name: the message has the nearest key, where there is one. The README has every key.",
    ),
    entry(
        "AMBIGUOUS_MODE",
        "A problem of the configuration: strict, gateScope or preset would say mode or profile a second time.",
        "Say mode (off, audit, enforce) and profile (compat, strict).",
    ),
    entry(
        "INVALID_ENUM",
        "A problem of the configuration: the value is none of those that the key takes.",
        "Take one of those that the message names.",
    ),
    entry(
        "INVALID_TYPE",
        "A problem of the configuration: the value has a type that the key does not take.",
        "Write what the message asks for. A bare off can be read as false: write \"off\".",
    ),
    entry(
        "INVALID_NUMBER",
        "A problem of the configuration: the number is out of range, or no whole one.",
        "Take a number from the range that the message names.",
    ),
    entry(
        "INVALID_LENGTH",
        "A problem of the configuration: a list or a name is empty where it must not be, or too long.",
        "Keep to the length that the message names.",
    ),
    entry(
        "CONTRADICTION",
        "A problem of the configuration: lists that cannot hold together, a public name where a raw one belongs, \
         or a name of the policy's own.",
        "Set the lists together: one that is not set has its default.",
    ),
];

const fn word(name: &'static str, meaning: &'static str) -> Entry {
    entry(name, meaning, "")
}

/// The words of records and configurations. One that stands in more than one field is told once, with each of them.
const WORDS: &[Entry] = &[
    word("allowed", "Enforcement: the call was let through."),
    word("denied", "Enforcement: the call was denied, and the model was told why."),
    word(
        "asked",
        "Enforcement: the host was asked for a human's approval. Where nobody is there to answer, as in the headless \
         profile, the host itself refuses. The settlement's `approved` says whether a human let the call through.",
    ),
    word(
        "overridden",
        "Enforcement: the call went on although the verdict denies. In audit that is every call that enforce would have \
         denied. In either mode it is, as CALL_NOT_JUDGED, a call that ran in another form than was judged or was not \
         judged at all, and, as POLICY_INTERNAL_ERROR or POLICY_RELOADING, one that could not be judged and was let on.",
    ),
    word("allow", "Decision: the verdict lets the call through."),
    word(
        "deny",
        "Decision: the verdict is against the call; the enforcement says what the mode made of that. As a guard's \
         level: what it finds is denied.",
    ),
    word("warn", "A guard's level: what it finds is observed, and the call is not denied for it."),
    word("off", "Mode: nothing is registered, decided or recorded. As a level: the guard looks at nothing."),
    word("audit", "Mode: every call is decided and recorded, and none is denied."),
    word("enforce", "Mode: every call is decided and recorded, and what the verdict denies is denied."),
    word("compat", "Profile: three guards warn, and no human is asked."),
    word("strict", "Profile: three guards deny instead of warning, and in enforce a destructive call asks a human."),
    word("ran", "What happened: the call ran, and was done as far as its result says."),
    word(
        "refused",
        "What happened: the call did not reach the tool. The gate, another plugin, a human or the host turned it \
         away.",
    ),
    word("not-known", "What happened: the call may or may not have been done, or ran otherwise than judged."),
    word("no-result", "What happened, in a report: no result of the call is in the trail."),
    word("not-reached", "Outcome: the tool's body did not run, so that nothing is proven, not even a failure."),
    word("succeeded", "Outcome: it was done, by what the result proves."),
    word(
        "failed",
        "Outcome, and what happened: the call failed, or the server refused it, in whatever form. As the state of \
         the lookups: every lookup of the turn failed. As what took a decision: the policy itself, by a bug.",
    ),
    word(
        "unknown",
        "Outcome: a write that may or may not have been done, such as after a timeout. As a classification: the \
         model declared nothing in the turn. As a class: a tool of the namespace that is on no list. As a place: \
         where the call stands is not known.",
    ),
    word("simple", "Classification: the model declared that the turn's task needs no lookup."),
    word("complex", "Classification: the model declared that the turn's task needs a lookup before a write."),
    word("none", "Lookups of the turn: there was none that proves anything."),
    word(
        "pending",
        "Lookups of the turn: one runs, or succeeded in this very step, so that the model has not read its \
         result.",
    ),
    word("satisfied", "Lookups of the turn: one succeeded in an earlier step."),
    word("malformed", "Facts of a write: its arguments were no JSON object, or gave one parameter under two names."),
    word("creates", "Facts of a write: it creates a note."),
    word("changes", "Facts of a write: it changes what is there."),
    word("control", "Class: the control tool bmpp__classify."),
    word("read", "Class: a tool that only reads."),
    word("search", "Class: a tool whose success is a lookup."),
    word("write", "Class: a tool that changes memory."),
    word("destructive", "Class: a tool that destroys memory."),
    word("out-of-scope", "Class, and what took a decision: the call is outside the governed namespace."),
    word("pre-execute", "Stage of a decision: before the call, where the host asks."),
    word("guard", "Stage of a decision: the host's guard, behind every other listener."),
    word("execute", "Stage of a decision: right at the tool's body."),
    word("result", "Stage of a decision: when the result arrived."),
    word("judged", "What took a decision: the policy."),
    word("unapproved", "What took a decision: a call that asks reached the guard without an approval of its own."),
    word("otherwise", "What took a decision: what ran, or was about to run, is not what was judged."),
    word("agent", "Place: an agent made the call."),
    word("no-agent", "Place: a plugin made the call, and no agent."),
    word("start", "Event: a turn began."),
    word("seen", "Event: a turn was under way when it was first seen."),
    word("end", "Event: a turn ended."),
    word("closed", "Event: a session ended."),
    word("back-pressure", "Why records were lost: the storage did not keep up."),
    word("storage", "Why records were lost: there was no storage, or it failed."),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Level, ProblemCode, Profile, Vocabulary};
    use crate::policy::{Classification, Outcome, Reading, Recall};
    use crate::tool::Class;
    use crate::verdict::{Enforcement, Mode};

    #[test]
    fn every_code_and_observation_is_explained_once() {
        let mut seen = std::collections::HashSet::new();
        for entry in ALL.iter().flat_map(|(_, entries)| entries.iter()) {
            let plain = entry.name.to_ascii_uppercase().replace('-', "_");
            assert!(seen.insert(plain), "{} stands twice", entry.name);
        }
        let codes = Code::ALL.iter().map(|code| code.name());
        for name in codes.chain(Observation::ALL.iter().map(|o| o.name())) {
            let explained = explain(name).expect(name);
            assert!(explained.meaning.ends_with('.') && !explained.meaning.contains("  "), "{name}");
        }
    }

    #[test]
    fn problems_of_a_configuration_and_words_of_a_record_are_explained() {
        fn named<T: Vocabulary>() -> impl Iterator<Item = &'static str> {
            T::VALUES.iter().map(|(name, _)| *name)
        }
        for name in named::<ProblemCode>() {
            let explained = explain(name).expect(name);
            assert!(explained.kind == "problem" && explained.advice.is_some(), "{name}");
        }
        let words = (Enforcement::ALL.iter().map(|e| e.name()))
            .chain(Outcome::ALL.iter().map(|o| o.name()))
            .chain(Classification::ALL.iter().map(|c| c.name()))
            .chain(Recall::ALL.iter().map(|r| r.name()))
            .chain(Reading::ALL.iter().map(|r| r.name()))
            .chain(Class::ALL.iter().map(|c| c.name()))
            .chain(named::<Mode>())
            .chain(named::<Profile>())
            .chain(named::<Level>());
        for name in words {
            assert_eq!(explain(name).map(|e| e.kind), Some("word"), "{name}");
        }
        assert_eq!(explain("Not known").map(|e| e.name), Some("not-known"));
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
