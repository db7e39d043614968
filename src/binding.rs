//! The Node binding: thin, no decision and no string table of its own.
//!
//! Expected outcomes are values: a verdict is a word, a bad configuration is a list of problems. What throws is a
//! misuse (a handle that does not exist) or a bug. Every entry runs inside [`guarded`], so that a panic becomes an
//! error that begins with `POLICY_INTERNAL_ERROR` and never ends the process.
//!
//! State lives per thread, since each worker thread is an environment of its own; handles are unique in the process, so
//! that a handle of another thread or of another copy of the addon's loader is not found instead of mistaken.

#![allow(clippy::needless_pass_by_value, reason = "napi hands values over")]
#![allow(unsafe_code, reason = "the macros of napi-derive expand to the unsafe calls of the Node API")]
#![allow(
    missing_docs,
    unreachable_pub,
    reason = "the macros generate items; what JS sees is documented where it stands"
)]
#![cfg_attr(test, allow(dead_code, reason = "the macros register nothing in a test build, where nobody calls it"))]

mod audit;
mod describe;
mod hot;
mod state;
mod value;

use napi::JsString;
use napi::bindgen_prelude::*;
use napi_derive::napi;

use crate::argument::given::{Arguments, Names};
use crate::config::Config;
use crate::evidence::answer::Answer;
use crate::guard::path::PathArgument;
use crate::policy::{Arrival, Call, CallId, Classification, Judged, Position, SessionId, Settled, Task, TurnId};
use crate::reason::{Code, Context};
use crate::tool::{Class, Known, Tool};
use crate::verdict::{Verdict, denial_code, enforce};
use describe::{
    Compatibility, ConfigReading, ControlTool, Described, DescribedSettlement, Holdings, JudgedDetail, NoteIdentity,
    PathCheck, PolicyInfo, Vocabulary,
};
use state::{Fault, Instance, guarded, with};

#[napi(module_exports)]
pub fn init(exports: Object<'_>) -> Result<()> {
    state::quiet_panics();
    hot::register(&exports)
}

/// Version of the crate this addon was built from; equal to the package's.
#[napi]
pub fn addon_version() -> Result<String> {
    guarded("addonVersion", || Ok(env!("CARGO_PKG_VERSION").to_owned()))
}

/// Does nothing. It is the unit in which benchmarks count what a call of this addon costs: an empty function, in the build
/// that ships.
#[napi]
pub fn nothing() -> Result<()> {
    guarded("nothing", || Ok(()))
}

/// Reads a configuration. Never throws on a bad one: `problems` lists everything that is wrong with it.
#[napi]
pub fn read_config(#[napi(ts_arg_type = "unknown")] raw: Unknown<'_>) -> Result<ConfigReading> {
    guarded("readConfig", || Ok(ConfigReading::of(Config::read(&value::raw(raw)?))))
}

/// Creates a policy of a configuration and returns its handle, for this thread.
/// Throws where the configuration has problems: read it with `readConfig` first.
#[napi]
pub fn create_policy(#[napi(ts_arg_type = "unknown")] raw: Unknown<'_>) -> Result<u32> {
    guarded("createPolicy", || {
        let config = Config::read(&value::raw(raw)?).map_err(|_| Fault::BadConfig)?;
        Ok(state::create(config)?)
    })
}

/// Frees a policy with all that it holds. Without effect for a handle that is not open.
#[napi]
pub fn drop_policy(policy: u32) -> Result<()> {
    guarded("dropPolicy", || {
        state::remove(policy);
        Ok(())
    })
}

/// What the shim must know of a policy's configuration.
#[napi]
pub fn policy_info(policy: u32) -> Result<PolicyInfo> {
    guarded("policyInfo", || with(policy, |p| Ok(PolicyInfo::of(p))))
}

/// The tool of a public name, as a number; 0 where the name is not governed.
#[napi]
pub fn tool_id(policy: u32, name: String) -> Result<u32> {
    guarded("toolId", || with(policy, |p| Ok(p.namespace.resolve(&name).map_or(0, Tool::id))))
}

/// Class of a tool number: `control`, `read`, `search`, `write`, `destructive`, `unknown`.
#[napi]
pub fn tool_class(tool: u32) -> Result<String> {
    guarded("toolClass", || Ok(known(tool)?.class.name().to_owned()))
}

/// Begins to follow a session and returns its number.
#[napi]
pub fn open_session(policy: u32) -> Result<u32> {
    guarded("openSession", || with(policy, |p| Ok(p.policy.open_session().0)))
}

/// Forgets a session.
#[napi]
pub fn close_session(policy: u32, session: u32) -> Result<()> {
    guarded("closeSession", || {
        with(policy, |p| {
            p.policy.close_session(SessionId(session));
            Ok(())
        })
    })
}

/// Discards what the session's turn has earned: at its end, and when a new one begins.
#[napi]
pub fn end_turn(policy: u32, session: u32) -> Result<()> {
    guarded("endTurn", || {
        with(policy, |p| {
            p.policy.end_turn(SessionId(session));
            Ok(())
        })
    })
}

/// Where a call stands, as the `place` argument of `judge`.
#[napi]
pub const PLACE_NO_AGENT: u32 = 0;
/// Made by an agent, and where is not known.
#[napi]
pub const PLACE_UNKNOWN: u32 = 1;
/// In a turn with the host's number.
#[napi]
pub const PLACE_HOST_TURN: u32 = 2;
/// In a turn that was counted because the host gave no number.
#[napi]
pub const PLACE_COUNTED_TURN: u32 = 3;
/// Added to the place: the agent does not see the control tool.
#[napi]
pub const PLACE_CONTROL_HIDDEN: u32 = 4;

/// Judges a call and returns the verdict's word.
///
/// `call` is the caller's number of the call, `tool` comes from `toolId`, `place` is one of the `PLACE_` constants.
/// `args` are the arguments that would run, and must be plain data. Note content among them is digested and not looked
/// at, unless the configuration sets `inspectContent`.
#[napi]
#[allow(clippy::too_many_arguments, reason = "one crossing with small integers is what makes this cheap")]
pub fn judge(
    policy: u32,
    call: u32,
    tool: u32,
    place: u32,
    session: u32,
    turn: u32,
    step: u32,
    #[napi(ts_arg_type = "unknown")] args: Unknown<'_>,
) -> Result<u32> {
    guarded("judge", || {
        let tool = known(tool)?;
        let arguments = match tool.class {
            Class::Control => Arguments::NotAnObject,
            _ => value::arguments(tool, args)?,
        };
        with(policy, |p| Ok(judge_call(p, call, tool, place, session, turn, step, &arguments)?.verdict.word()))
    })
}

#[allow(clippy::too_many_arguments, reason = "as the two entries have them")]
fn judge_call(
    policy: &mut Instance,
    call: u32,
    tool: Tool,
    place: u32,
    session: u32,
    turn: u32,
    step: u32,
    arguments: &Arguments,
) -> Result<Judged> {
    let position = match place & 3 {
        PLACE_NO_AGENT => Position::NoAgent,
        PLACE_UNKNOWN => Position::Unknown,
        number => Position::At {
            session: SessionId(session),
            turn: if number == PLACE_HOST_TURN { TurnId::Host(turn) } else { TurnId::Counted(turn) },
            step,
        },
    };
    let control_hidden = place & PLACE_CONTROL_HIDDEN != 0;
    let judged = state::trusting(policy, session, |p| {
        p.policy.judge(Call { id: CallId(call), tool, arguments, position, control_hidden })
    })?;
    policy.last = Some(judged);
    Ok(judged)
}

/// Keeps a list of argument names for `judgeFlat`, and returns its number; 0 where it is not kept, and `judge` must be called.
#[napi]
pub fn argument_names(policy: u32, tool: u32, names: Vec<JsString<'_>>) -> Result<u32> {
    guarded("argumentNames", || {
        let tool = known(tool)?;
        let names = names.into_iter().map(value::js_text).collect::<Result<Vec<_>>>()?;
        with(policy, |p| Ok(p.names.keep(Names::of(tool.known.map(Known::raw), names))))
    })
}

/// `settle`'s `facts`: the tool's body was reached.
#[napi]
pub const FACT_REACHED: u32 = 1;
/// The result's error flag is set.
#[napi]
pub const FACT_ERROR: u32 = 2;
/// The control tool's body received `simple`.
#[napi]
pub const FACT_DECLARED_SIMPLE: u32 = 4;
/// The control tool's body received `complex`.
#[napi]
pub const FACT_DECLARED_COMPLEX: u32 = 8;

/// What records want to know of the call that was judged last, besides the verdict.
#[napi]
pub fn last_judged(policy: u32) -> Result<Option<JudgedDetail>> {
    guarded("lastJudged", || with(policy, |p| Ok(p.last.map(JudgedDetail::of))))
}

/// What the policy's last judging read of the arguments, as far as a record keeps it: an index into the vocabulary's
/// facts, 0 for a call that is no write.
#[napi]
pub fn judged_facts(policy: u32) -> Result<u32> {
    guarded("judgedFacts", || {
        with(policy, |p| Ok(p.last.and_then(|judged| judged.reading).map_or(0, |reading| reading as u32)))
    })
}

/// A short hash of what a call names as its note, in hex; `null` where it names none. Under a key that is drawn for each
/// policy and never leaves it, so hashes of one load can be compared and nothing can be found out from one.
#[napi]
pub fn target_hash(
    policy: u32,
    tool: u32,
    #[napi(ts_arg_type = "unknown")] args: Unknown<'_>,
) -> Result<Option<String>> {
    guarded("targetHash", || {
        let tool = known(tool)?;
        let Arguments::Object(given) = value::arguments(tool, args)? else { return Ok(None) };
        with(policy, |p| Ok(crate::audit::target::hash(&p.target_key, tool, &given)))
    })
}

/// Settles a call whose result arrived in this step of the session, and returns the settlement's word.
///
/// `value` is the result's value, `{content, structuredContent?}`, or the text of an error. Only its status part is looked
/// at: the heading, the fields that say what became of the call, and those that name the note.
#[napi]
pub fn settle(
    policy: u32,
    session: u32,
    call: u32,
    tool: u32,
    facts: u32,
    step: u32,
    #[napi(ts_arg_type = "unknown")] value: Unknown<'_>,
) -> Result<u32> {
    guarded("settle", || {
        let tool = known(tool)?;
        let answer = if tool.class == Class::Control { Answer::Absent } else { value::answer(tool, value)? };
        let arrival = arrival(facts, step, answer);
        with(policy, |p| Ok(settle_call(p, session, call, &arrival)?.word()))
    })
}

/// A result that arrived, as far as numbers tell of it.
fn arrival(facts: u32, step: u32, answer: Answer) -> Arrival {
    Arrival {
        reached: facts & FACT_REACHED != 0,
        is_error: facts & FACT_ERROR != 0,
        answer,
        declared: match facts & (FACT_DECLARED_SIMPLE | FACT_DECLARED_COMPLEX) {
            FACT_DECLARED_SIMPLE => Some(Task::Simple),
            FACT_DECLARED_COMPLEX => Some(Task::Complex),
            _ => None,
        },
        step,
    }
}

fn settle_call(policy: &mut Instance, session: u32, call: u32, arrival: &Arrival) -> Result<Settled> {
    state::trusting(policy, session, |p| p.policy.settle(SessionId(session), CallId(call), arrival))
}

/// What becomes of a call with this verdict: an index into the vocabulary's enforcements.
#[napi]
pub fn enforcement(policy: u32, word: u32, can_ask: bool) -> Result<u32> {
    guarded("enforcement", || {
        let verdict = verdict(word)?;
        with(policy, |p| Ok(enforce(verdict, p.config.mode, p.config.destructive_asks, can_ask) as u32))
    })
}

/// What the model is told when a call of this tool with this verdict is denied. Never empty; begins with the code.
#[napi]
pub fn denial_text(policy: u32, word: u32, tool: u32) -> Result<String> {
    guarded("denialText", || {
        let verdict = verdict(word)?;
        let tool = known(tool)?;
        with(policy, |p| {
            let code = denial_code(verdict, p.config.destructive_asks);
            let code = if code.denies() { code } else { Code::CallNotJudged };
            let control_hidden = verdict.observations.has(crate::reason::Observation::ControlHidden)
                && verdict.classification == Classification::Unknown;
            let words = p.config.words(&p.namespace, tool);
            let argument = verdict.argument;
            Ok(code.text(Context { words: &words, tool: tool.known, argument, control_hidden }))
        })
    })
}

/// The word of a verdict that has no more to say than this code; for what the shim itself must refuse.
#[napi]
pub fn word_of_code(name: String) -> Result<u32> {
    guarded("wordOfCode", || {
        let code = Code::ALL.iter().find(|code| code.name() == name).ok_or(Fault::BadWord)?;
        Ok(Verdict::of(*code).word())
    })
}

/// What a human reads who is asked to approve the call.
#[napi]
pub fn approval_reason(
    name: String,
    tool: u32,
    word: u32,
    #[napi(ts_arg_type = "unknown")] args: Unknown<'_>,
) -> Result<String> {
    guarded("approvalReason", || {
        let verdict = verdict(word)?;
        let unmet = verdict.denies().then_some(verdict.code);
        let tool = known(tool)?;
        Ok(match value::arguments(tool, args)? {
            Arguments::Object(given) => crate::approval::reason(&name, Some(&given), unmet),
            Arguments::NotAnObject => crate::approval::reason(&name, None, unmet),
        })
    })
}

/// A verdict's word in readable form.
#[napi]
pub fn describe(word: u32) -> Result<Described> {
    guarded("describe", || Ok(Described::of(verdict(word)?)))
}

/// A settlement's word in readable form.
#[napi]
pub fn describe_settlement(word: u32) -> Result<DescribedSettlement> {
    guarded("describeSettlement", || DescribedSettlement::of(word).ok_or_else(|| Fault::BadWord.into()))
}

/// Judges a host version; `null` where it could not be found out.
#[napi]
pub fn compatibility(version: Option<String>, allow_unverified: bool) -> Result<Compatibility> {
    guarded("compatibility", || Ok(crate::compat::compatibility(version.as_deref(), allow_unverified).into()))
}

/// Every word of the product: codes, observations, classes, states.
#[napi]
pub fn vocabulary() -> Result<Vocabulary> {
    guarded("vocabulary", || Ok(Vocabulary::whole()))
}

/// The control tool's name and texts.
#[napi]
pub fn control_tool() -> Result<ControlTool> {
    guarded("controlTool", || Ok(ControlTool::new()))
}

/// The names that Basic Memory gives to the note of a `write_note` call, as far as they do not depend on what is on disk:
/// `filePath` is null where the server would refuse the call or the path is not proven, `permalink` where it is not
/// proven. Without a project, the permalink is that of a server that puts no project before it.
#[napi]
pub fn note_identity(title: JsString<'_>, directory: JsString<'_>, project: Option<String>) -> Result<NoteIdentity> {
    guarded("noteIdentity", || {
        Ok(NoteIdentity::of(&value::js_text(title)?, &value::js_text(directory)?, project.as_deref()))
    })
}

/// What `pathGuard` says of one path-like argument of a write: `directory`, `destination_path`, `destination_folder`,
/// `identifier`, `title`, `project_path`, or another name that the server takes for one of them. Throws on any other.
#[napi]
pub fn check_path(argument: String, value: JsString<'_>) -> Result<PathCheck> {
    guarded("checkPath", || {
        let argument = PathArgument::from_name(&argument).ok_or(Fault::NoPathArgument)?;
        Ok(PathCheck::of(crate::guard::path::check_path(argument, &value::js_text(value)?)))
    })
}

/// How much a policy holds: for tests and for operators who look for a leak.
#[napi]
pub fn holdings(policy: u32) -> Result<Holdings> {
    guarded("holdings", || with(policy, |p| Ok(p.policy.holdings().into())))
}

/// Makes the next call of the named entry panic. Only in builds with the feature `faults`.
#[cfg(feature = "faults")]
#[napi]
pub fn inject_panic(entry: String) {
    state::faults::arm(entry);
}

fn known(tool: u32) -> Result<Tool> {
    Tool::from_id(tool).ok_or_else(|| Fault::BadTool.into())
}

fn verdict(word: u32) -> Result<Verdict> {
    Verdict::from_word(word).ok_or_else(|| Fault::BadWord.into())
}
