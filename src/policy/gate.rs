//! The mutation gate: the order of the checks on a call (spec section 6). The first that fails is the verdict.

use super::guards::{self, Facts, Findings};
use super::notes::Notes;
use super::turn::{OpenCalls, WriteRequest};
use super::{Classification, Connection, Options, Reading, Recall};
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
    pub(super) reading: Reading,
}

/// What a decision depends on, besides the options and the call.
pub(super) struct State<'a> {
    pub(super) classification: Classification,
    pub(super) recall: Recall,
    pub(super) step: u32,
    pub(super) notes: &'a mut Notes,
    pub(super) open: OpenCalls<'a>,
    pub(super) connection: &'a Connection,
}

/// What is read of a write's arguments.
pub(super) fn reading(options: &Options, tool: Tool, arguments: &Arguments) -> Reading {
    match arguments {
        Arguments::Object(given) if !given.is_doubled() => reading_of(tool, guards::overwrites(options, given)),
        _ => Reading::Malformed,
    }
}

fn reading_of(tool: Tool, overwrites: bool) -> Reading {
    if tool.known == Some(Known::WriteNote) && !overwrites { Reading::Creates } else { Reading::Changes }
}

/// Decides on a write.
pub(super) fn decide(options: &Options, state: State<'_>, tool: Tool, arguments: &Arguments) -> Decision {
    let mut findings = Findings::default();
    let given = match arguments {
        Arguments::Object(given) if !given.is_doubled() => given,
        _ => {
            let reading = Reading::Malformed;
            return Decision { code: Code::MalformedArguments, findings, request: None, reading };
        }
    };
    let overwrites = guards::overwrites(options, given);
    let reading = reading_of(tool, overwrites);
    let request = WriteRequest::of(&options.keys, tool, given, overwrites);
    let State { classification, recall, step, notes, open, connection } = state;
    let creates = reading == Reading::Creates;
    let order = Order { options, class: tool.class, classification, recall, creates };
    let code = order.first_failure(
        &mut findings,
        |findings| guards::paths(options, tool, given, findings),
        |findings| {
            let effect = request.subject.effect;
            let is_new = matches!(tool.known, None | Some(Known::WriteNote)) && !overwrites;
            let memory = if is_new && open.writes(tool.server, effect).next().is_none() {
                notes.known_to_new(options.key(), &connection.news, &effect)
            } else {
                notes.known(options.key(), &connection.news)
            };
            let facts = Facts { memory, open, connection, step, tool, given, request: &request };
            guards::integrity(options, &facts, findings);
        },
    );
    Decision { code, findings, request: Some(request), reading }
}

/// The order of the checks on a write whose arguments could be read. What the guards find comes from whoever asks: from the
/// guards, or from a trail.
pub(super) struct Order<'a> {
    pub(super) options: &'a Options,
    pub(super) class: Class,
    pub(super) classification: Classification,
    pub(super) recall: Recall,
    pub(super) creates: bool,
}

impl Order<'_> {
    /// The first check that fails, or what allows the write.
    pub(super) fn first_failure(
        &self,
        findings: &mut Findings,
        paths: impl FnOnce(&mut Findings),
        integrity: impl FnOnce(&mut Findings),
    ) -> Code {
        let Order { options, class, classification, recall, creates } = *self;
        if class == Class::Unknown {
            match options.unknown_memory_tool_policy {
                Level::Deny => return Code::UnknownMemoryTool,
                Level::Warn => findings.observed = findings.observed.with(Observation::UnknownMemoryTool),
                Level::Off => {}
            }
        }
        paths(findings);
        if let Some(denial) = findings.denial {
            return denial;
        }
        let code = match classification {
            Classification::Unknown => return Code::ClassificationRequired,
            Classification::Simple => Code::AllowSimple,
            Classification::Complex if creates && !options.create_requires_search => Code::AllowCreate,
            Classification::Complex => match recall {
                Recall::Satisfied => Code::AllowRecallOk,
                Recall::Pending => return Code::MemoryLookupPendingInBatch,
                Recall::Failed => return Code::MemoryLookupFailed,
                Recall::None if creates => return Code::CreateRequiresSearch,
                Recall::None => return Code::MemoryLookupRequired,
            },
        };
        integrity(findings);
        findings.denial.unwrap_or(code)
    }
}
