//! What a human reads who is asked to approve a destructive call.
//!
//! This is the one text that holds values of arguments, since a human cannot approve what they cannot see. It goes to
//! the host's approval request and nowhere else: not into a record, not into a denial.

use crate::argument::given::{Given, Json};
use crate::note::text::Text;
use crate::reason::Code;

/// Characters of one value that are shown.
pub const VALUE_MAX: usize = 200;

/// The parameters that say what would be destroyed, and how they are called in the text.
const SHOWN: &[(&str, &[&str])] = &[
    ("identifier", &["identifier"]),
    ("title", &["title"]),
    ("directory", &["directory"]),
    ("destination", &["destination_path", "destination_folder"]),
    ("is_directory", &["is_directory"]),
    ("delete_notes", &["delete_notes"]),
    ("project", &["project", "project_name", "project_id"]),
];

/// The reason of an approval request: the tool, what it would act on, and the unmet precondition if there is one.
/// Values are escaped and cut at [`VALUE_MAX`] characters.
#[must_use]
pub fn reason(tool: &str, arguments: Option<&Given>, unmet: Option<Code>) -> String {
    let mut text = format!("{} destroys memory", escaped(&Text::from(tool)));
    let mut say = |part: std::fmt::Arguments<'_>| {
        // Writing into a String cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut text, part);
    };
    for (label, names) in SHOWN {
        for name in *names {
            let shown = match arguments.and_then(|given| given.get(name)) {
                None | Some(Json::Null) => continue,
                Some(Json::Bool(value)) => value.to_string(),
                Some(Json::Number(value)) => value.to_string(),
                Some(Json::Text(value)) => format!("\"{}\"", escaped(value)),
                Some(Json::List(_) | Json::Object(_) | Json::Beyond) => "(not a plain value)".to_owned(),
            };
            say(format_args!(", {label}: {shown}"));
        }
    }
    match unmet {
        Some(code) => say(format_args!(". The memory policy's precondition is not met: {}.", code.name())),
        None => say(format_args!(".")),
    }
    text
}

/// One line of visible text: what could break the line, hide or reorder what a human reads is written as its number.
fn escaped(text: &Text<'_>) -> String {
    let mut out = String::new();
    // What is no character at all shows as the replacement character's number.
    let mut characters = text.code_points().map(|point| char::from_u32(point).unwrap_or(char::REPLACEMENT_CHARACTER));
    for c in characters.by_ref().take(VALUE_MAX) {
        match c {
            '"' | '\\' => {
                out.push('\\');
                out.push(c);
            }
            ' ' => out.push(c),
            c if c.is_control() || c.is_whitespace() || hides(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    if characters.next().is_some() {
        out.push('…');
    }
    out
}

/// Characters that show nothing, or change the order of what is shown: bidirectional controls, joiners, fillers, tags,
/// variation selectors, and what stands for a character that could not be read.
const fn hides(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffd}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::given::Arguments;
    use serde_json::json;

    fn of(arguments: &serde_json::Value, unmet: Option<Code>) -> String {
        let tool = if arguments.get("project_name").is_some() { "delete_project" } else { "delete_note" };
        let arguments = Arguments::of(Some(tool), arguments);
        let Arguments::Object(given) = &arguments else { panic!("an object") };
        reason("mcp__basic-memory__delete_note", Some(given), unmet)
    }

    #[test]
    fn it_names_what_would_be_destroyed() {
        let text =
            of(&json!({"identifier": "notes/a", "is_dir": true, "project": "main", "content": "never shown"}), None);
        assert_eq!(
            text,
            "mcp__basic-memory__delete_note destroys memory, identifier: \"notes/a\", is_directory: true, project: \"main\"."
        );
        let text = of(&json!({"project_name": "p", "delete_notes": "true"}), Some(Code::ClassificationRequired));
        assert!(text.contains("delete_notes: \"true\"") && text.contains("not met: CLASSIFICATION_REQUIRED."));
    }

    #[test]
    fn a_value_cannot_break_the_line_hide_or_run_on() {
        let text = of(&json!({"identifier": format!("a\n\u{202e}\u{200b}\"\\{}", "x".repeat(500))}), None);
        assert!(text.contains(r#""a\u{a}\u{202e}\u{200b}\"\\xxx"#), "{text}");
        assert!(!text.chars().any(|c| c.is_control() || hides(c)));
        assert!(text.contains("…\"") && text.matches('x').count() == VALUE_MAX - 6);
    }
}
