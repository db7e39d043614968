//! The vocabulary of reasons: codes, observations and what the model is told. One table each, and no other place.
//!
//! A [`Code`] is the one reason of a verdict. An [`Observation`] is something worth recording that did not decide.
//! A code is never reworded or reused: a changed meaning gets a new code with a new number, since trails outlive
//! versions.

use std::fmt::Write as _;

use crate::tool::Known;

/// What a code means for the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The call may go on.
    Allow,
    /// The call is denied, and one next call of the model cures it. The text names that call.
    Recoverable,
    /// The call is denied, and no call of this model cures it. The text says so, and not to retry.
    Terminal,
}

macro_rules! codes {
    ($( $(#[$doc:meta])* $variant:ident = $number:literal, $name:literal, $kind:ident, ask: $ask:literal; )*) => {
        /// The reason of a verdict. The numbers are part of the verdict word and never change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Code { $( $(#[$doc])* $variant = $number, )* }

        impl Code {
            /// Every code, in the order of the numbers.
            pub const ALL: &'static [Code] = &[$( Code::$variant, )*];

            /// The stable name, as it stands in texts, records and docs.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Code::$variant => $name, )* }
            }

            /// Allow, or a denial that can or cannot be cured.
            #[must_use]
            pub const fn kind(self) -> Kind {
                match self { $( Code::$variant => Kind::$kind, )* }
            }

            /// Whether a destructive call with this verdict may be put to a human instead (spec section 9). False for
            /// what is always denied, and for calls that the policy does not decide.
            #[must_use]
            pub const fn may_ask(self) -> bool {
                match self { $( Code::$variant => $ask, )* }
            }

            /// The code with this number, if there is one.
            #[must_use]
            pub const fn from_number(number: u8) -> Option<Code> {
                match number { $( $number => Some(Code::$variant), )* _ => None }
            }
        }
    };
}

codes! {
    /// Not a call that the policy decides: a governed write that no agent made, or a call outside the namespace.
    AllowOutOfScope = 0, "ALLOW_OUT_OF_SCOPE", Allow, ask: false;
    /// A tool of the read list.
    AllowReadOnly = 1, "ALLOW_READ_ONLY", Allow, ask: false;
    /// The control tool.
    AllowControl = 2, "ALLOW_CONTROL", Allow, ask: false;
    /// A write in a turn classified simple.
    AllowSimple = 3, "ALLOW_SIMPLE", Allow, ask: true;
    /// A write in a complex turn, after a lookup that succeeded in an earlier step.
    AllowRecallOk = 4, "ALLOW_RECALL_OK", Allow, ask: true;
    /// A creating write in a complex turn, where `createRequiresSearch` is false.
    AllowCreate = 5, "ALLOW_CREATE", Allow, ask: true;
    /// The arguments are no JSON object, or give one parameter under two names.
    MalformedArguments = 16, "MALFORMED_ARGUMENTS", Recoverable, ask: false;
    /// In the namespace, on no list, and `unknownMemoryToolPolicy` is `deny`. As an observation: it is `warn`.
    UnknownMemoryTool = 17, "UNKNOWN_MEMORY_TOOL", Terminal, ask: false;
    /// A write in a turn that is not classified.
    ClassificationRequired = 18, "CLASSIFICATION_REQUIRED", Recoverable, ask: true;
    /// The only lookups are running or of this very step: the model has not seen a result.
    MemoryLookupPendingInBatch = 19, "MEMORY_LOOKUP_PENDING_IN_BATCH", Recoverable, ask: true;
    /// Every lookup of the turn failed.
    MemoryLookupFailed = 20, "MEMORY_LOOKUP_FAILED", Recoverable, ask: true;
    /// A creating write in a complex turn without a lookup.
    CreateRequiresSearch = 21, "CREATE_REQUIRES_SEARCH", Recoverable, ask: true;
    /// Any other write in a complex turn without a lookup.
    MemoryLookupRequired = 22, "MEMORY_LOOKUP_REQUIRED", Recoverable, ask: true;
    /// A path argument leaves its project, reaches a folder that other programs trust, or deceives.
    UnsafeNotePath = 32, "UNSAFE_NOTE_PATH", Recoverable, ask: false;
    /// Existing text would be replaced, and the note is not proven read in this turn.
    OverwriteRequiresRead = 33, "OVERWRITE_REQUIRES_READ", Recoverable, ask: true;
    /// The call names no project, and the connection may have been switched to another one.
    ProjectAmbiguous = 34, "PROJECT_AMBIGUOUS", Recoverable, ask: true;
    /// The very same write was done in this turn.
    DuplicateWriteSameTurn = 35, "DUPLICATE_WRITE_SAME_TURN", Terminal, ask: true;
    /// The same write was made or tried in this turn, and whether it was done, or done to this note, is not known.
    WriteOutcomeUnknown = 36, "WRITE_OUTCOME_UNKNOWN", Recoverable, ask: true;
    /// An inspected argument holds something shaped like a secret.
    SecretPatternDetected = 37, "SECRET_PATTERN_DETECTED", Recoverable, ask: true;
    /// A note labelled as a test fixture would land among real notes.
    TestFixtureLabelInProject = 38, "TEST_FIXTURE_LABEL_IN_PROJECT", Recoverable, ask: true;
    /// The call's position is unknown, or what would run is not what was judged.
    CallNotJudged = 48, "CALL_NOT_JUDGED", Terminal, ask: false;
    /// A bug of ours. In enforce a governed write is denied with it.
    PolicyInternalError = 49, "POLICY_INTERNAL_ERROR", Terminal, ask: false;
    /// A destructive call needs a human's approval, and none can be asked here.
    ApprovalUnavailable = 50, "APPROVAL_UNAVAILABLE", Terminal, ask: false;
    /// The gate was taken away or exchanged while the call was under way. Given by the shim.
    PolicyReloading = 51, "POLICY_RELOADING", Recoverable, ask: false;
    /// The gate could not be put up again, and the door stays shut. Given by the shim.
    PolicyNotLoaded = 52, "POLICY_NOT_LOADED", Terminal, ask: false;
}

impl Code {
    /// Whether an integrity guard decides with this code: a finding about what the call would write.
    #[must_use]
    pub const fn is_finding(self) -> bool {
        matches!(self as u8, 32..48)
    }

    /// Whether a verdict with this code denies the call.
    #[must_use]
    pub const fn denies(self) -> bool {
        !matches!(self.kind(), Kind::Allow)
    }
}

macro_rules! observations {
    ($( $(#[$doc:meta])* $variant:ident = $bit:literal, $name:literal; )*) => {
        /// Something worth recording that decides nothing. The value is its bit in a set.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Observation { $( $(#[$doc])* $variant = $bit, )* }

        impl Observation {
            /// Every observation, in the order of the bits.
            pub const ALL: &'static [Observation] = &[$( Observation::$variant, )*];

            /// The stable name.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( Observation::$variant => $name, )* }
            }
        }
    };
}

observations! {
    /// A lookup succeeded and found nothing.
    RecallEmpty = 0, "RECALL_EMPTY";
    /// A lookup's answer begins with a heading on no list: it counts as its error flag says.
    LookupHeadingUnknown = 1, "LOOKUP_HEADING_UNKNOWN";
    /// A read that is no search: allowed, and no recall.
    ReadOnlyNotRecall = 2, "READ_ONLY_NOT_RECALL";
    /// A declaration changed an earlier one of the turn.
    Reclassified = 3, "RECLASSIFIED";
    /// A turn with a denial was turned from complex to simple.
    ReclassifiedAfterDenial = 4, "RECLASSIFIED_AFTER_DENIAL";
    /// The call was made by no agent, so it has no turn.
    NoAgentContext = 5, "NO_AGENT_CONTEXT";
    /// The control tool is not visible to the agent that made the call.
    ControlHidden = 6, "CONTROL_HIDDEN";
    /// An unknown tool of the namespace, let on by `unknownMemoryToolPolicy: warn`.
    UnknownMemoryTool = 7, "UNKNOWN_MEMORY_TOOL";
    /// `pathGuard: warn` found something.
    UnsafeNotePath = 8, "UNSAFE_NOTE_PATH";
    /// `overwriteRequiresRead: warn` found something.
    OverwriteRequiresRead = 9, "OVERWRITE_REQUIRES_READ";
    /// `projectGuard: warn` found something.
    ProjectAmbiguous = 10, "PROJECT_AMBIGUOUS";
    /// `secretPatternGuard: warn` found something.
    SecretPatternDetected = 11, "SECRET_PATTERN_DETECTED";
    /// `testFixtureGuard: warn` found something.
    TestFixtureLabelInProject = 12, "TEST_FIXTURE_LABEL_IN_PROJECT";
    /// A settled write's permalink is a numbered one: there may be another note of the name.
    PossibleDuplicatePermalink = 13, "POSSIBLE_DUPLICATE_PERMALINK";
}

impl Observation {
    /// Whether an integrity guard that warns observes it.
    #[must_use]
    pub const fn is_finding(self) -> bool {
        matches!(
            self,
            Observation::UnsafeNotePath
                | Observation::OverwriteRequiresRead
                | Observation::ProjectAmbiguous
                | Observation::SecretPatternDetected
                | Observation::TestFixtureLabelInProject
        )
    }
}

/// A set of observations: one bit each, 16 at most.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Observations(u16);

impl Observations {
    /// No observation.
    pub const NONE: Observations = Observations(0);

    /// This set and one more.
    #[must_use]
    pub const fn with(self, observation: Observation) -> Observations {
        Observations(self.0 | 1 << observation as u8)
    }

    /// This set, and one more if the condition holds.
    #[must_use]
    pub const fn with_if(self, condition: bool, observation: Observation) -> Observations {
        if condition { self.with(observation) } else { self }
    }

    /// Both sets.
    #[must_use]
    pub const fn and(self, other: Observations) -> Observations {
        Observations(self.0 | other.0)
    }

    /// Whether the observation is in the set.
    #[must_use]
    pub const fn has(self, observation: Observation) -> bool {
        self.0 & 1 << observation as u8 != 0
    }

    /// The observations of the set, in the order of their bits.
    pub fn iter(self) -> impl Iterator<Item = Observation> {
        Observation::ALL.iter().copied().filter(move |o| self.has(*o))
    }

    /// The observations of the integrity guards alone.
    #[must_use]
    pub fn findings(self) -> Observations {
        self.iter().filter(|o| o.is_finding()).fold(Observations::NONE, Observations::with)
    }

    /// The bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// The set with these bits; `None` where a bit names no observation.
    #[must_use]
    pub fn from_bits(bits: u16) -> Option<Observations> {
        let known = Observation::ALL.iter().fold(0, |all, o| all | 1 << *o as u8);
        (bits & !known == 0).then_some(Observations(bits))
    }
}

impl std::fmt::Debug for Observations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.iter().map(Observation::name)).finish()
    }
}

macro_rules! argument_names {
    ($( $variant:ident = $number:literal, $name:literal; )*) => {
        /// A parameter that can be at fault, by the server's name of it. The numbers are part of the verdict word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum ArgumentName { $( #[doc = concat!("`", $name, "`")] $variant = $number, )* }

        impl ArgumentName {
            /// Every parameter that can be at fault.
            pub const ALL: &'static [ArgumentName] = &[$( ArgumentName::$variant, )*];

            /// The server's name of it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $( ArgumentName::$variant => $name, )* }
            }

            /// The parameter with this number, if there is one.
            #[must_use]
            pub const fn from_number(number: u8) -> Option<ArgumentName> {
                match number { $( $number => Some(ArgumentName::$variant), )* _ => None }
            }

            /// The parameter of this name; what has no name here is one of the others.
            #[must_use]
            pub fn of(name: &str) -> ArgumentName {
                match name { $( $name => ArgumentName::$variant, )* _ => ArgumentName::Other }
            }
        }
    };
}

argument_names! {
    Title = 1, "title";
    Directory = 2, "directory";
    Identifier = 3, "identifier";
    DestinationPath = 4, "destination_path";
    DestinationFolder = 5, "destination_folder";
    ProjectPath = 6, "project_path";
    Tags = 7, "tags";
    Metadata = 8, "metadata";
    NoteType = 9, "note_type";
    Content = 10, "content";
    FindText = 11, "find_text";
    Section = 12, "section";
    Other = 31, "another argument";
}

/// What denial texts name of one server: public names of tools that are on the operator's lists, and a folder of the
/// configuration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// The tool to search with, for example `mcp__basic-memory__search_notes`.
    pub search: String,
    /// Which tool that is; `None` for one that the policy does not know.
    pub searches_with: Option<Known>,
    /// The tool that follows a known note, where it is on the search list and not the one to search with.
    pub follow: Option<String>,
    /// The tool to read a note with, where it is on the read list.
    pub read: Option<String>,
    /// A folder for fixtures, where one is allowed.
    pub fixtures: Option<String>,
}

impl Words {
    /// How a text asks for a search: the words behind "call".
    fn search_for_the_subject(&self) -> String {
        let Words { search, .. } = self;
        match self.searches_with {
            Some(Known::SearchNotes | Known::Search) => format!("{search} with the subject as \"query\""),
            Some(Known::BuildContext) => format!("{search} with the note that may cover the subject as \"url\""),
            _ => format!("{search} for the subject"),
        }
    }

    /// How a text asks for another search after one that failed.
    fn search_again(&self) -> String {
        let Words { search, .. } = self;
        match self.searches_with {
            Some(Known::SearchNotes) => format!(
                "{search} again with other words as \"query\", with \"search_type\":\"text\" and, if the project was at \
                 fault, with the right \"project\""
            ),
            Some(Known::Search) => format!("{search} again with other words as \"query\""),
            Some(Known::BuildContext) => format!("{search} again with another note as \"url\""),
            _ => format!("{search} again with other words"),
        }
    }
}

/// What a denial text may say of the call: which tool it is, which argument is at fault, and whether the agent sees the
/// control tool. Nothing of a call's arguments can get into a text, since no text takes any.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// What the text may name.
    pub words: &'a Words,
    /// The tool that was called; `None` where the text is not of one call, or of a tool that the policy does not know.
    pub tool: Option<Known>,
    /// The argument at fault, by the server's name of it, where there is one.
    pub argument: Option<ArgumentName>,
    /// The agent does not see the control tool (a filtered subagent), and its turn is not classified.
    pub control_hidden: bool,
}

impl Context<'_> {
    /// What cures a call that is denied before the classification is asked for. It cures nothing where the call would then be
    /// denied for that.
    const fn or_parent(self, cure: &str) -> &str {
        if self.control_hidden { PARENT_MUST } else { cure }
    }

    /// How a text asks for a read of the call's note: the words behind "call".
    fn read_the_note(&self, read: &str) -> String {
        let identifier = match self.tool {
            Some(Known::WriteNote) => "the note's path, directory/title.md, as \"identifier\"",
            Some(_) => "the same \"identifier\"",
            None => {
                "the note as \"identifier\" (for write_note its path, directory/title.md; for others the same identifier)"
            }
        };
        format!("{read} with {identifier}, the same project and \"output_format\":\"json\"")
    }
}

/// What an agent is told that cannot classify, of a write that comes no further than that.
const PARENT_MUST: &str = "bmpp__classify is not available to this agent, so this agent cannot write memory. Do not \
retry: report what should be remembered to the parent agent, which must write it.";

/// The public name of the control tool.
pub const CONTROL_TOOL: &str = "bmpp__classify";

/// What the control tool's description says to a model. It carries the whole lesson, since in audit no denial teaches.
pub const CONTROL_DESCRIPTION: &str = "Declare how this turn uses long-term memory. Call it once per user request, \
before the first tool call that writes to memory (write_note, edit_note, move_note, delete_note and the like); reading \
and searching memory need no declaration. task \"simple\": the write needs no knowledge of what memory already holds, \
for example a note that the user dictated; it may follow in the same message. task \"complex\": notes may already cover \
the subject, so memory must be searched first; then search (search_notes, for example), read the result, and write in \
a later message. If in doubt, declare complex. A write without a declaration, or in a complex turn without a search \
that succeeded, may be refused. A declaration ends with its turn. Call again if the task turns out otherwise: the last \
declaration counts, and lookups already made in the turn stay valid.";

/// What the control tool answers to arguments that declare nothing.
pub const CONTROL_MALFORMED: &str = "MALFORMED_ARGUMENTS: bmpp__classify takes exactly one parameter, task, which is \
\"simple\" or \"complex\". Nothing was declared. Call it again with {\"task\":\"simple\"} or {\"task\":\"complex\"}.";

/// What the control tool answers to a usable declaration.
#[must_use]
pub const fn control_accepted(task: crate::policy::Task) -> &'static str {
    match task {
        crate::policy::Task::Simple => "This turn is classified simple: memory may be written without a lookup.",
        crate::policy::Task::Complex => {
            "This turn is classified complex: search memory, read the result, and write in a later message."
        }
    }
}

impl Code {
    /// What the model is told when a call is denied with this code: the code, the missing precondition and the exact
    /// next call, or that there is none. Never empty. For an allowing code, the plain name.
    #[must_use]
    #[allow(clippy::too_many_lines, reason = "one table, one text each")]
    pub fn text(self, context: Context<'_>) -> String {
        let Context { words, .. } = context;
        let argument = context.argument.map_or("an argument", ArgumentName::name);
        let mut text = format!("{}: ", self.name());
        let written = match self {
            Code::AllowOutOfScope
            | Code::AllowReadOnly
            | Code::AllowControl
            | Code::AllowSimple
            | Code::AllowRecallOk
            | Code::AllowCreate => return self.name().to_owned(),
            Code::MalformedArguments => write!(
                text,
                "the arguments are not one JSON object, or they give one parameter twice under different names (such \
                 as directory and folder). Nothing was written. {}",
                context.or_parent(
                    "Repeat this call with one JSON object that names each parameter once, as the tool's schema spells \
                     it."
                )
            ),
            Code::UnknownMemoryTool => write!(
                text,
                "this tool belongs to the memory server, but the memory policy has it on no list, so what it changes \
                 is not known. Do not retry: use another memory tool, or tell the user. An operator can put the tool's \
                 name under readTools or mutatingTools, or set unknownMemoryToolPolicy."
            ),
            Code::ClassificationRequired if context.control_hidden => {
                write!(text, "this turn is not classified. {PARENT_MUST}")
            }
            Code::ClassificationRequired => write!(
                text,
                "this turn is not classified. If the write needs no knowledge of what memory already holds, call \
                 {CONTROL_TOOL} with {{\"task\":\"simple\"}}, then repeat this call. If notes may already cover the \
                 subject, call {CONTROL_TOOL} with {{\"task\":\"complex\"}}, call {}, read the result, then repeat this \
                 call in a later message.",
                words.search_for_the_subject()
            ),
            Code::MemoryLookupPendingInBatch => write!(
                text,
                "a memory lookup runs in the same message (or the same run_code program) as this write, so its result \
                 has not been seen. Read the lookup's result, then repeat this call in a later message."
            ),
            Code::MemoryLookupFailed => write!(
                text,
                "every memory lookup of this turn failed, so what memory holds is not known. Call {}{}; read the \
                 result, then repeat this call in a later message.",
                words.search_again(),
                words.follow.as_ref().map_or_else(String::new, |tool| format!(", or follow a known note with {tool}"))
            ),
            Code::CreateRequiresSearch => write!(
                text,
                "this turn is complex and memory has not been searched, so a note on the subject may exist already. \
                 Call {}, read the result, then in a later message repeat this call or edit the note that was found.",
                words.search_for_the_subject()
            ),
            Code::MemoryLookupRequired => write!(
                text,
                "this turn is complex and memory has not been looked up. Call {}, read the result, then repeat this \
                 call in a later message.",
                words.search_for_the_subject()
            ),
            Code::UnsafeNotePath => write!(
                text,
                "\"{argument}\" names a place that notes must not be written to or read as: outside the project, in a \
                 reserved folder, or with characters that mislead. Nothing was written. {}",
                context.or_parent(match context.argument {
                    Some(ArgumentName::Title) => {
                        "Repeat this call with a title of visible letters, such as Weekly plan."
                    }
                    Some(ArgumentName::ProjectPath) => {
                        "Repeat this call with an absolute path of visible letters, such as /srv/notes."
                    }
                    _ => "Repeat this call with a plain relative path of visible letters, such as notes/topic.",
                })
            ),
            Code::OverwriteRequiresRead => text.write_str(&overwrite(context)),
            Code::ProjectAmbiguous => write!(
                text,
                "no project is named, and an earlier call may have switched this connection to another project. Repeat \
                 this call with \"project\" set to the project that is meant."
            ),
            Code::DuplicateWriteSameTurn => write!(
                text,
                "this very write was already done in this turn; the note holds it. Do not retry: go on with the task, \
                 or write something else."
            ),
            Code::WriteOutcomeUnknown => match &words.read {
                Some(read) => write!(
                    text,
                    "this write was made or tried before in this turn, and whether the note holds it is not known. Call \
                     {}, and read the result; if the note does not hold it yet, repeat this call in a later message.",
                    context.read_the_note(read)
                ),
                None => write!(
                    text,
                    "this write was made or tried before in this turn, and whether the note holds it is not known; no \
                     tool that would tell is on the memory policy's lists. Do not retry: tell the user to look at the \
                     note."
                ),
            },
            Code::SecretPatternDetected => write!(
                text,
                "\"{argument}\" holds something shaped like a secret (a key, a token or a password). Memory is no place \
                 for secrets. Remove it or name only where it is kept, then repeat this call."
            ),
            Code::TestFixtureLabelInProject => write!(
                text,
                "\"{argument}\" carries the label [test-fixture], and the note would land among real notes. Repeat this \
                 call without the label{}.",
                words
                    .fixtures
                    .as_ref()
                    .map_or_else(String::new, |folder| format!(", or, where it is a fixture, in the folder {folder}"))
            ),
            Code::CallNotJudged => write!(
                text,
                "what would run is not what the memory policy judged, or the call's place in the conversation is not \
                 known, so it was not run. Do not retry: tell the user that another plugin changes or misplaces memory \
                 calls."
            ),
            Code::PolicyInternalError => write!(
                text,
                "the memory policy failed on this call, so it was not run. This is a fault of the policy and not of \
                 the call. Do not retry: tell the user."
            ),
            Code::ApprovalUnavailable => write!(
                text,
                "this call destroys memory and needs a human's approval, which is not available here. Do not retry: \
                 tell the user what should be removed."
            ),
            Code::PolicyReloading => write!(
                text,
                "the memory policy was being loaded anew when this call came, so it was not run, and what this turn had \
                 declared and looked up counts no more. Call {CONTROL_TOOL} again (and, for \"complex\", search again), \
                 then repeat this call in a later message."
            ),
            Code::PolicyNotLoaded => write!(
                text,
                "the memory policy could not be loaded again after its configuration was changed, so nothing can be \
                 written to memory. Do not retry: tell the user that the policy's configuration must be mended."
            ),
        };
        debug_assert!(written.is_ok(), "writing into a String cannot fail");
        text
    }

    /// Whether the denial text with this context tells the model of a cure. Hiding the control tool takes the cure
    /// away, and so does a list without the tool that would tell.
    #[must_use]
    pub const fn recoverable(self, context: Context<'_>) -> bool {
        match self {
            Code::MalformedArguments | Code::UnsafeNotePath | Code::ClassificationRequired => !context.control_hidden,
            Code::WriteOutcomeUnknown => context.words.read.is_some(),
            _ => matches!(self.kind(), Kind::Recoverable),
        }
    }
}

/// The ways out of a write that would replace unread text: a read that proves it, or to replace nothing.
fn overwrite(context: Context<'_>) -> String {
    let unread = "this call would replace text of a note that was not read in this turn.";
    let add = "use operation append, without metadata";
    let Some(read) = &context.words.read else {
        return format!(
            "{unread} Repeat this call so that it replaces nothing: {}.",
            match context.tool {
                Some(Known::WriteNote) => "leave overwrite out, or use another title",
                Some(Known::EditNote) => add,
                Some(Known::MoveNote) => "use another destination",
                _ => "leave overwrite out, or use edit_note with operation append and without metadata",
            }
        );
    };
    let reading = context.read_the_note(read);
    match context.tool {
        Some(Known::WriteNote) => format!(
            "{unread} Call {reading}; read the result, then repeat this call in a later message, under another title if \
             the read found a note at another path. Or replace nothing: leave overwrite out."
        ),
        Some(Known::EditNote) => format!(
            "{unread} Call {reading}; read the result, then repeat this call in a later message. Or replace nothing: \
             {add}."
        ),
        Some(Known::MoveNote) => format!(
            "this call moves a note to a path that was deleted or moved away in this turn. Call {read} with the \
             destination as \"identifier\", the same project and \"output_format\":\"json\"; if it finds no note, repeat \
             this call in a later message, else repeat it with another destination."
        ),
        _ => format!(
            "{unread} Call {reading}; read the result, then repeat this call in a later message. Or replace nothing: \
             leave overwrite out, or use edit_note with operation append and without metadata."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words() -> Words {
        Words {
            search: "mcp__basic-memory__search_notes".to_owned(),
            searches_with: Some(Known::SearchNotes),
            follow: Some("mcp__basic-memory__build_context".to_owned()),
            read: Some("mcp__basic-memory__read_note".to_owned()),
            fixtures: Some("tests/".to_owned()),
        }
    }

    /// The longest and the shortest words that there can be, and what else a text depends on.
    fn each_context(mut look: impl FnMut(Context<'_>)) {
        let few = Words { searches_with: None, follow: None, read: None, fixtures: None, ..words() };
        let other = |with| Words { searches_with: Some(with), ..words() };
        for words in [words(), few, other(Known::Search), other(Known::BuildContext)] {
            for tool in [None, Some(Known::WriteNote), Some(Known::EditNote), Some(Known::MoveNote)] {
                for control_hidden in [false, true] {
                    look(Context { words: &words, tool, argument: Some(ArgumentName::Directory), control_hidden });
                }
            }
        }
    }

    #[test]
    fn numbers_and_names_are_unique_and_found_again() {
        let mut names = std::collections::HashSet::new();
        for code in Code::ALL {
            assert_eq!(Code::from_number(*code as u8), Some(*code));
            assert!(names.insert(code.name()), "{} stands twice", code.name());
        }
        let mut bits = std::collections::HashSet::new();
        for o in Observation::ALL {
            assert!((*o as u8) < 16 && bits.insert(*o as u8), "{} has no bit of its own", o.name());
        }
    }

    #[test]
    fn a_denial_text_begins_with_its_code_and_says_whether_to_retry() {
        each_context(|context| {
            for code in Code::ALL.iter().filter(|c| c.denies()) {
                let text = code.text(context);
                assert!(text.starts_with(&format!("{}: ", code.name())), "{text}");
                assert_eq!(text.contains("Do not retry"), !code.recoverable(context), "{text}");
                assert_eq!(text.to_lowercase().contains("epeat this call"), code.recoverable(context), "{text}");
                assert!(
                    !text.contains("  ") && !text.contains(" ;") && text.ends_with('.'),
                    "a broken line in: {text}"
                );
                assert!(text.len() <= 500, "{} characters: {text}", text.len());
            }
        });
    }

    #[test]
    fn an_unknown_bit_is_no_observation() {
        assert_eq!(Observations::from_bits(1 << 15), None);
        let set = Observations::NONE.with(Observation::Reclassified).with(Observation::RecallEmpty);
        assert_eq!(Observations::from_bits(set.bits()), Some(set));
    }
}
