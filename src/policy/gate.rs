//! The mutation gate: the order of the checks on a call (spec section 6). The first that fails is the verdict.

use super::turn::Turn;
use super::{Classification, Options, Recall};
use crate::argument::Facts;
use crate::config::Level;
use crate::reason::{Code, Observation};
use crate::tool::{Class, Tool};

/// The code of a call that is always allowed: a read or the control tool.
pub(super) const fn free(tool: Tool) -> Code {
    match tool.class {
        Class::Control => Code::AllowControl,
        _ => Code::AllowReadOnly,
    }
}

/// The code of a call of this step, and what was noticed on the way. `facts` are the arguments of a write; a call
/// without them is no write.
pub(super) fn decide(
    options: Options,
    turn: &Turn,
    step: u32,
    tool: Tool,
    facts: Option<Facts>,
) -> (Code, Option<Observation>) {
    let Some(facts) = facts else { return (free(tool), None) };
    let Facts::Read { creates } = facts else { return (Code::MalformedArguments, None) };
    let noticed = match (tool.class, options.unknown_memory_tool_policy) {
        (Class::Unknown, Level::Deny) => return (Code::UnknownMemoryTool, None),
        (Class::Unknown, Level::Warn) => Some(Observation::UnknownMemoryTool),
        _ => None,
    };
    let code = match turn.classification() {
        Classification::Unknown => Code::ClassificationRequired,
        Classification::Simple => Code::AllowSimple,
        Classification::Complex if creates && !options.create_requires_search => Code::AllowCreate,
        Classification::Complex => match turn.recall(step) {
            Recall::Satisfied => Code::AllowRecallOk,
            Recall::Pending => Code::MemoryLookupPendingInBatch,
            Recall::Failed => Code::MemoryLookupFailed,
            Recall::None if creates => Code::CreateRequiresSearch,
            Recall::None => Code::MemoryLookupRequired,
        },
    };
    (code, noticed)
}
