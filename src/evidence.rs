//! What a tool's result proves.
//!
//! Basic Memory reports most failures as ordinary text with the error flag false, so the flag alone proves little. A result
//! is judged by its flag *and* by its status part: the fixed heading that the server writes, a few fields of a structured
//! value, and the lines right under a write's heading. [`table`] holds what is known, tool by tool; nothing else of a
//! result is looked at.
//!
//! Where the value is found: `structuredContent.result` where that is the only key, `structuredContent` itself for the tools
//! that answer bare ([`Place::Bare`]), the JSON in the only text item for `search` and `fetch` ([`Place::TextItem`]), and,
//! where there is no structured content at all (every refusal), the text, parsed if it is a JSON object.

pub mod answer;
pub mod table;

use crate::argument::{Argument, LaxBool, lax_bool, lax_integer};
use crate::note::text::Text;
use table::{Mark, Rule};

/// A field of a structured value, as far as a rule may look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field<'a> {
    /// Not there, or null.
    Null,
    /// A boolean.
    Bool(bool),
    /// A string.
    Text(&'a str),
    /// A list with nothing in it.
    EmptyList,
    /// A list with something in it.
    List,
    /// A number or an object.
    Other,
}

/// A JSON object, asked field by field.
pub trait Fields {
    /// The field called `name`.
    fn field(&self, name: &str) -> Field<'_>;
}

/// The value of a result, taken from where [`Place`] says.
#[derive(Clone, Copy)]
pub enum Value<'a> {
    /// Nothing was there.
    Absent,
    /// A string. Only its start is looked at.
    Text(&'a str),
    /// A boolean (`delete_note`).
    Bool(bool),
    /// A list.
    List,
    /// An object.
    Object(&'a dyn Fields),
}

/// Where a tool puts its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// `structuredContent.result`.
    Wrapped,
    /// `structuredContent`.
    Bare,
    /// `structuredContent.result` is a list whose only item holds JSON in `text`.
    TextItem,
}

/// What a result says of its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// A lookup found something, a read returned a note, a write was done.
    Done,
    /// A lookup worked and found nothing.
    Empty,
    /// There is no such note. Sure only where the server answers so for a confirmed miss and for nothing else (`read_note`
    /// in JSON mode); text mode dresses a failed look-up as a miss as well.
    NotFound {
        /// Whether absence is proven.
        sure: bool,
    },
    /// Nothing was done.
    Failed,
    /// Some of several files were changed, or a note landed elsewhere.
    Partly,
    /// It may have been done.
    Unknown,
}

/// The fields of a result that name a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    /// Path below the project's folder, as stored.
    pub file_path: Option<&'a str>,
    /// The note's permalink.
    pub permalink: Option<&'a str>,
    /// The note's title. No text result has it.
    pub title: Option<&'a str>,
    /// The project's name. Only the text result of a write has it.
    pub project: Option<&'a str>,
}

/// A judged result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Finding<'a> {
    /// What it proves.
    pub outcome: Outcome,
    /// Whether a rule knew it. If not, the flag decided.
    pub known: bool,
    /// The note that it names.
    pub named: Named<'a>,
}

/// Judges a result by its flag and its status part.
#[must_use]
pub fn judge<'a>(tool: &str, is_error: bool, value: Value<'a>) -> Finding<'a> {
    let rule = table::rules(tool).find(|rule| rule.marks.iter().all(|mark| holds(*mark, value)));
    let success = |outcome| matches!(outcome, Outcome::Done | Outcome::Empty);
    let (outcome, known) = match rule {
        // A heading of success under a raised flag is not the server's own: the flag wins.
        Some(Rule { outcome, .. }) if is_error && success(*outcome) => (Outcome::Failed, false),
        Some(Rule { outcome, .. }) => (*outcome, true),
        None if is_error => (Outcome::Failed, false),
        None => (Outcome::Done, false),
    };
    let named = if outcome == Outcome::Done { named(tool, value) } else { Named::default() };
    Finding { outcome, known, named }
}

fn holds(mark: Mark, value: Value<'_>) -> bool {
    let field = |name| match value {
        Value::Object(object) => object.field(name),
        _ => Field::Null,
    };
    match (mark, value) {
        (Mark::Starts(start), Value::Text(text)) => text.starts_with(start),
        (Mark::Heads(start), Value::Text(text)) => text.trim_start().starts_with(start),
        (Mark::WrapsError, Value::Text(text)) => wraps_error(text),
        (Mark::AnyText, Value::Text(_)) | (Mark::AnyList, Value::List) => true,
        (Mark::Is(expected), Value::Bool(found)) => expected == found,
        (Mark::Is(expected), Value::Text(text)) => text == if expected { "true" } else { "false" },
        (Mark::Word(name, expected), Value::Object(_)) => field(name) == Field::Text(expected),
        (Mark::Opens(name, start), Value::Object(_)) => {
            matches!(field(name), Field::Text(text) if text.trim_start().starts_with(start))
        }
        (Mark::Flag(name, expected), Value::Object(_)) => field(name) == Field::Bool(expected),
        (Mark::Has(name), Value::Object(_)) => field(name) != Field::Null,
        (Mark::Lacks(name), Value::Object(_)) => field(name) == Field::Null,
        (Mark::Items(name), Value::Object(_)) => field(name) == Field::List,
        (Mark::NoItems(name), Value::Object(_)) => field(name) == Field::EmptyList,
        _ => false,
    }
}

/// `view_note` wraps the refusal of a path as if it were the note: 0.24 between `<note>` tags, 0.23 between rules and
/// indented.
fn wraps_error(text: &str) -> bool {
    let body = text.split_once("Content:\n").map_or("", |(_, rest)| rest).trim_start();
    let body = body.strip_prefix("<note>").or_else(|| body.strip_prefix("---")).unwrap_or(body);
    body.trim_start().starts_with("# Error\n\nIdentifier '")
}

fn named<'a>(tool: &str, value: Value<'a>) -> Named<'a> {
    match value {
        Value::Object(object) => {
            let text = |name| match object.field(name) {
                Field::Text(text) => Some(text),
                _ => None,
            };
            if matches!(tool, "read_note" | "cat" | "write_note" | "edit_note" | "move_note" | "delete_note") {
                Named {
                    file_path: text("file_path"),
                    permalink: text("permalink"),
                    title: text("title"),
                    project: None,
                }
            } else {
                Named::default()
            }
        }
        Value::Text(text) if matches!(tool, "write_note" | "edit_note") => status_lines(text).unwrap_or_default(),
        _ => Named::default(),
    }
}

/// A text's lines, which are short: one look at each byte is less than the standard search takes to begin.
struct Lines<'t>(Option<&'t str>);

impl<'t> Iterator for Lines<'t> {
    type Item = &'t str;

    fn next(&mut self) -> Option<&'t str> {
        let rest = self.0?;
        let end = rest.bytes().position(|byte| byte == b'\n');
        let (line, after) = end.map_or((rest, None), |end| (rest.get(..end).unwrap_or(rest), rest.get(end + 1..)));
        self.0 = after;
        Some(line.strip_suffix('\r').filter(|_| end.is_some()).unwrap_or(line))
    }
}

/// The four lines under the heading of a write, in the server's order.
///
/// A path may hold line breaks (where `pathGuard` is off), and could then forge the lines that follow it. The real ones
/// still come after the forged ones, so a second `checksum:` line voids the block.
fn status_lines(text: &str) -> Option<Named<'_>> {
    let mut lines = Lines(Some(text));
    lines.next()?;
    let mut line = |label: &str| lines.next()?.strip_prefix(label);
    let project = line("project: ")?;
    let file_path = line("file_path: ")?;
    let permalink = line("permalink: ")?;
    let checksum = line("checksum: ")?;
    let hex = checksum.len() == 8 && checksum.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !(hex || checksum == "unknown") || lines.any(|line| line.starts_with("checksum: ")) {
        return None;
    }
    Some(Named {
        file_path: Some(file_path),
        permalink: Some(permalink).filter(|permalink| *permalink != "None"),
        title: None,
        project: Some(project),
    })
}

/// What a successful whole read proves to have been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The note at the result's `file_path`, and what the same identifier reaches again.
    PathAndIdentifier,
    /// Only what exactly the same identifier, with the same project arguments, reaches again.
    Identifier,
    /// Nothing: no whole read, or no telling what of.
    Nothing,
}

/// Whether an `output_format` is the one in which every answer is an object of the server's own fields.
#[must_use]
pub fn asks_for_json(output_format: Option<&Argument<'_>>) -> bool {
    matches!(output_format, Some(Argument::Text(mode)) if *mode == Text::from("json"))
}

/// What a call of a read tool proves if it succeeds: whether it asks for the whole note, and whether its result or its
/// identifier names it. `get` gives an argument by its canonical name, aliases resolved.
///
/// - `read_note` in JSON mode names the file; in text mode it returns the bare note.
/// - `view_note` and `read_content` return the whole note and name nothing.
/// - `cat` names the file, but with the project's prefix where the identifier routed it there; only an identifier without
///   a slash cannot route.
/// - `fetch` refuses every client but one, `build_context` and the searches cut what they show.
#[must_use]
pub fn proof_of<'a>(tool: &str, get: impl Fn(&str) -> Option<Argument<'a>>) -> Proof {
    let given = |name: &str| !matches!(get(name), None | Some(Argument::Null));
    let first_page = || get("page").is_none_or(|page| lax_integer(&page) == Some(1));
    let (identifier, whole, names_path) = match tool {
        "read_note" => {
            let content = matches!(lax_bool(get("include_content").as_ref()), LaxBool::Absent | LaxBool::True);
            let json = asks_for_json(get("output_format").as_ref());
            let whole = content && !given("start_line") && !given("end_line") && first_page();
            ("identifier", whole, json)
        }
        "view_note" => ("identifier", first_page(), false),
        "read_content" => ("path", true, false),
        "cat" => {
            let cut = ["start_line", "end_line", "section", "max_tokens"];
            ("identifier", !cut.into_iter().any(given), true)
        }
        _ => return Proof::Nothing,
    };
    let Some(Argument::Text(identifier)) = get(identifier) else {
        return Proof::Nothing;
    };
    let mut points = identifier.code_points();
    // A line break in an identifier could fake the frame that `view_note` puts around a note.
    let odd = points.clone().any(|point| point < 0x20);
    let routes = points.any(|point| point == u32::from('/') || point == u32::from(':'));
    match (whole && !odd, names_path) {
        (false, _) => Proof::Nothing,
        (true, _) if tool == "cat" && routes => Proof::Nothing,
        (true, true) => Proof::PathAndIdentifier,
        (true, false) => Proof::Identifier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_of_the_standard_library() {
        let parts = ["", "a", "\n", "\r\n", "\r", "é\n", "checksum: x"];
        for one in parts {
            for two in parts {
                for three in parts {
                    let text = format!("{one}{two}{three}");
                    let all: Vec<&str> = Lines(Some(&text)).collect();
                    // An end without a line behind it is one empty line more, which says nothing.
                    let expected: Vec<&str> = text.lines().chain(text.ends_with('\n').then_some("")).collect();
                    let expected = if text.is_empty() { vec![""] } else { expected };
                    assert_eq!(all, expected, "{text:?}");
                }
            }
        }
    }
}
