//! Which project the connection to a server is at, as far as it can be told. All sessions share it.

use std::collections::BTreeMap;

use super::{Judge, Kind, Name, Project};

/// Something that happened on a connection.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// A call that may switch it is under way.
    Begun(u64),
    /// It came back from its body.
    Switched,
    /// It never reached its body.
    Undone(u64),
}

/// The list of what happened, and the project that the server was last seen to use where none is named.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    list: Vec<Step>,
    begun: u64,
    pub own: Option<Project>,
}

/// Whether a call may switch the connection: it names a project, or its identifier may.
pub fn may_switch(judge: &Judge) -> bool {
    if !judge.is_readable() || judge.kind == Kind::Classify {
        return false;
    }
    judge.kind == Kind::CreateProject || says_where(judge) || judge.kind.reads() && has_slash(judge)
}

/// Whether a call says itself where it goes: by an argument or by a URL.
pub fn says_where(judge: &Judge) -> bool {
    judge.args.project != Project::None || is_url(judge)
}

/// Whether its identifier is a URL, which names a project.
pub fn is_url(judge: &Judge) -> bool {
    judge.kind.identifies() && judge.args.name == Name::Url && !super::notes::is_folder(judge)
}

fn has_slash(judge: &Judge) -> bool {
    judge.args.name != Name::Title
}

impl Connection {
    /// A call that may switch the connection begins; the number is its own.
    pub fn begin(&mut self) -> u64 {
        self.begun += 1;
        self.list.push(Step::Begun(self.begun));
        self.begun
    }

    pub fn end(&mut self, begun: Option<u64>, reached: bool) {
        match begun {
            Some(_) if reached => self.list.push(Step::Switched),
            Some(begun) => self.list.push(Step::Undone(begun)),
            None => {}
        }
    }

    /// Whether it ever may have been switched.
    pub fn was_switched(&self) -> bool {
        self.list.iter().any(|step| matches!(step, Step::Switched))
    }

    /// Stands for the current project: the place of the step that led there, counted from 1, or 0 for the start. A call that
    /// never reached its body leads back to where it began, if nothing came between.
    pub fn current(&self) -> usize {
        let mut now = 0;
        let mut before: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        for (at, step) in self.list.iter().enumerate() {
            match step {
                Step::Begun(call) => {
                    before.insert(*call, (now, at + 1));
                    now = at + 1;
                }
                Step::Switched => now = at + 1,
                Step::Undone(call) if before[call].1 == now => now = before[call].0,
                Step::Undone(_) => {}
            }
        }
        now
    }
}
