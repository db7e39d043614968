//! The mutation gate: the order of the checks on a call (spec section 6). The first that fails is the verdict.

use super::guards::{self, Facts, Findings};
use super::memory::Memory;
use super::turn::WriteRequest;
use super::{Classification, Connection, Options, Recall};
use crate::argument::given::Arguments;
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

/// What a decision depends on, besides the options and the call.
pub(super) struct State<'a> {
    pub(super) classification: Classification,
    pub(super) recall: Recall,
    pub(super) step: u32,
    pub(super) memory: &'a Memory,
    pub(super) connection: &'a Connection,
}

/// Decides on a write.
pub(super) fn decide(options: &Options, state: &State<'_>, tool: Tool, arguments: &Arguments) -> Decision {
    let mut findings = Findings::default();
    let given = match arguments {
        Arguments::Object(given) if !given.is_doubled() => given,
        _ => return Decision { code: Code::MalformedArguments, findings, request: None, creates: false },
    };
    let overwrites = guards::overwrites(options, given);
    let creates = tool.known == Some(Known::WriteNote) && !overwrites;
    let request = WriteRequest::of(&options.key, tool, given, overwrites);
    let facts =
        Facts { memory: state.memory, connection: state.connection, step: state.step, tool, given, request: &request };
    let code = first_failure(options, state, &facts, creates, &mut findings);
    Decision { code, findings, request: Some(request), creates }
}

fn first_failure(
    options: &Options,
    state: &State<'_>,
    facts: &Facts<'_>,
    creates: bool,
    findings: &mut Findings,
) -> Code {
    if facts.tool.class == Class::Unknown {
        match options.unknown_memory_tool_policy {
            Level::Deny => return Code::UnknownMemoryTool,
            Level::Warn => findings.observed = findings.observed.with(Observation::UnknownMemoryTool),
            Level::Off => {}
        }
    }
    guards::paths(options, facts.tool, facts.given, findings);
    if let Some(denial) = findings.denial {
        return denial;
    }
    let code = match state.classification {
        Classification::Unknown => return Code::ClassificationRequired,
        Classification::Simple => Code::AllowSimple,
        Classification::Complex if creates && !options.create_requires_search => Code::AllowCreate,
        Classification::Complex => match state.recall {
            Recall::Satisfied => Code::AllowRecallOk,
            Recall::Pending => return Code::MemoryLookupPendingInBatch,
            Recall::Failed => return Code::MemoryLookupFailed,
            Recall::None if creates => return Code::CreateRequiresSearch,
            Recall::None => return Code::MemoryLookupRequired,
        },
    };
    guards::integrity(options, facts, findings);
    findings.denial.unwrap_or(code)
}
