//! A policy, and the calls that benchmarks and counts play on it.

use dsh_bmpp::argument::given::Arguments;
use dsh_bmpp::config::Config;
use dsh_bmpp::evidence::answer::Answer;
use dsh_bmpp::policy::{
    Arrival, Call, CallId, DigestKey, Judged, Options, Policy, Position, SessionId, Settled, Task, TurnId,
};
use dsh_bmpp::tool::{Namespace, Tool};
use serde_json::json;

/// As many characters of prose as asked for, which end in a number of their own.
pub fn prose(length: usize, index: usize) -> String {
    let end = format!(" {index}");
    let words = "The release went out on Friday after the second review. ";
    words.chars().cycle().take(length - end.len()).chain(end.chars()).collect()
}

/// Arguments of a write.
pub fn note(index: usize, length: usize) -> Arguments {
    let value = json!({
        "title": format!("Release notes {index}"),
        "directory": "projects/releases",
        "content": prose(length, index),
    });
    Arguments::of(Some("write_note"), &value)
}

/// What the server answers to it.
pub fn written(index: usize) -> Answer {
    Answer::Text(format!(
        "# Created note\nproject: main\nfile_path: projects/releases/Release notes {index}.md\n\
         permalink: main/projects/releases/release-notes-{index}\nchecksum: 6a1f3c5e"
    ))
}

/// Arguments of a whole read.
pub fn whole(index: usize) -> Arguments {
    let value = json!({
        "identifier": format!("projects/releases/release-notes-{index}"),
        "output_format": "json",
    });
    Arguments::of(Some("read_note"), &value)
}

/// What the server answers to it.
pub fn note_json(index: usize) -> Answer {
    Answer::of_text(&note_text(index), 80)
}

/// That as the text that it is.
pub fn note_text(index: usize) -> String {
    let text = json!({
        "title": format!("Release notes {index}"),
        "permalink": format!("main/projects/releases/release-notes-{index}"),
        "file_path": format!("projects/releases/Release notes {index}.md"),
        "content": prose(1024, index),
        "frontmatter": null,
    });
    text.to_string()
}

/// A policy with one session, which stands at a step of a turn.
pub struct Stage {
    /// The policy.
    pub policy: Policy,
    namespace: Namespace,
    /// The session whose calls are played.
    pub session: SessionId,
    calls: u32,
    turn: u32,
    step: u32,
}

impl Stage {
    /// With the default configuration.
    pub fn new() -> Stage {
        let config = Config::default();
        let mut policy = Policy::new(Options::new(&config, DigestKey([7; 16])));
        let session = policy.open_session();
        Stage { policy, namespace: config.namespace(), session, calls: 0, turn: 0, step: 1 }
    }

    /// Judges a call of this tool.
    pub fn judge(&mut self, raw: &str, arguments: &Arguments) -> Judged {
        let tool = self.namespace.resolve(&format!("mcp__basic-memory__{raw}")).unwrap();
        self.judge_tool(tool, arguments)
    }

    fn judge_tool(&mut self, tool: Tool, arguments: &Arguments) -> Judged {
        self.calls += 1;
        let position = Position::At { session: self.session, turn: TurnId::Host(self.turn), step: self.step };
        self.policy.judge(Call { id: CallId(self.calls), tool, arguments, position, control_hidden: false })
    }

    /// Settles the call that was judged last.
    pub fn settle(&mut self, answer: &Answer) -> Settled {
        let arrival = Arrival {
            reached: true,
            is_error: false,
            answer: answer.clone(),
            declared: Some(Task::Complex),
            step: self.step,
        };
        self.policy.settle(self.session, CallId(self.calls), &arrival)
    }

    /// A new turn that is complex and has looked memory up, in the step after it.
    pub fn earn(&mut self) {
        self.turn += 1;
        self.step = 1;
        self.judge_tool(Tool::CONTROL, &Arguments::NotAnObject);
        self.settle(&Answer::Absent);
        let query = Arguments::of(Some("search_notes"), &json!({"query": "releases"}));
        self.judge("search_notes", &query);
        self.settle(&Answer::Text("# Search Results: releases".to_owned()));
        self.step = 2;
    }

    /// The five calls of one session: a declaration, two lookups, a read and a write.
    pub fn five(&mut self, session: SessionId, index: usize) {
        self.session = session;
        self.earn();
        self.judge("search_notes", &Arguments::of(Some("search_notes"), &json!({"query": "notes"})));
        self.settle(&Answer::Text("# Search Results: notes".to_owned()));
        self.judge("read_note", &whole(index));
        self.settle(&note_json(index));
        self.judge("write_note", &note(index + 1, 200));
        self.settle(&written(index + 1));
    }
}
