//! The mutation gate: the order of the checks on a call (spec section 6). The first that fails is the verdict.

use super::guards::{self, Findings};
use super::turn::{Turn, WriteRequest};
use super::{Classification, Connection, Options, Recall};
use crate::argument::given::{Arguments, Given};
use crate::config::Level;
use crate::reason::{Code, Observation};
use crate::tool::{Class, Known, Tool};

/// The code of a call that is always allowed: a read or the control tool.
pub(super) const fn free(tool: Tool) -> Code {
    match tool.class {
        Class::Control => Code::AllowControl,
        _ => Code::AllowReadOnly,
    }
}

/// What the gate says of a write.
pub(super) struct Decision {
    pub(super) code: Code,
    pub(super) findings: Findings,
    /// What the write would do, where its arguments could be read.
    pub(super) request: Option<WriteRequest>,
    pub(super) creates: bool,
}

/// Decides on a write of this step.
pub(super) fn decide(
    options: &Options,
    turn: &Turn,
    connection: &Connection,
    step: u32,
    tool: Tool,
    arguments: &Arguments,
) -> Decision {
    let mut findings = Findings::default();
    let given = match arguments {
        Arguments::Object(given) if !given.is_doubled() => given,
        _ => return Decision { code: Code::MalformedArguments, findings, request: None, creates: false },
    };
    let overwrites = guards::overwrites(options, given);
    let creates = tool.known == Some(Known::WriteNote) && !overwrites;
    let request = WriteRequest::of(&options.key, tool, given, overwrites);
    let code = first_failure(options, turn, connection, step, tool, given, &request, creates, &mut findings);
    Decision { code, findings, request: Some(request), creates }
}

#[allow(clippy::too_many_arguments, reason = "one value each of what a decision depends on")]
fn first_failure(
    options: &Options,
    turn: &Turn,
    connection: &Connection,
    step: u32,
    tool: Tool,
    given: &Given,
    request: &WriteRequest,
    creates: bool,
    findings: &mut Findings,
) -> Code {
    if tool.class == Class::Unknown {
        match options.unknown_memory_tool_policy {
            Level::Deny => return Code::UnknownMemoryTool,
            Level::Warn => findings.observed = findings.observed.with(Observation::UnknownMemoryTool),
            Level::Off => {}
        }
    }
    guards::paths(options, tool, given, findings);
    if let Some(denial) = findings.denial {
        return denial;
    }
    let code = match turn.classification() {
        Classification::Unknown => return Code::ClassificationRequired,
        Classification::Simple => Code::AllowSimple,
        Classification::Complex if creates && !options.create_requires_search => Code::AllowCreate,
        Classification::Complex => match turn.recall(step) {
            Recall::Satisfied => Code::AllowRecallOk,
            Recall::Pending => return Code::MemoryLookupPendingInBatch,
            Recall::Failed => return Code::MemoryLookupFailed,
            Recall::None if creates => return Code::CreateRequiresSearch,
            Recall::None => return Code::MemoryLookupRequired,
        },
    };
    guards::integrity(options, turn, connection, tool, given, request, findings);
    findings.denial.unwrap_or(code)
}
