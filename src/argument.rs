//! Tool arguments as Basic Memory reads them: names, aliases, defaults and lax values.
//!
//! The server takes several names for one argument (`folder` is `directory`) and refuses a call that has two of them. It
//! reads `"yes"` as true and `"10"` as ten (pydantic's lax mode). A gate that reads arguments more strictly than the server
//! does lets through what it does not recognise, so both are data here: [`table`] holds every tool of 0.24.1 with the
//! aliases of every release since 0.13, the functions below hold the value rules.

pub mod given;
pub mod table;

use crate::note::text::Text;

/// What an argument is for, which decides who may look at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// Names a file, a folder or a note: `pathGuard` looks at it.
    Path,
    /// A note's title: part of the path as well.
    Title,
    /// Routes the call to a project (`project`, `project_id`, `workspace`, and `project_name` of the project tools).
    Project,
    /// Tags, `note_type` and metadata: inspected by the secret and fixture guards.
    Metadata,
    /// Text that goes into a note, or is compared with a note's text. Nobody looks at it, other than to digest it, unless
    /// `inspectContent` is set.
    Content,
    /// Changes what the call does.
    Behaviour,
    /// Changes only how the answer looks: two calls that differ in it alone are the same write.
    Presentation,
    /// What a read or a search looks for and how much of it it returns.
    Query,
}

/// What the server makes of an omitted argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Omitted {
    /// It refuses the call.
    Required,
    /// `None`; a null means the same.
    Null,
    /// `None`, and null, and the function then takes this instead. An explicit value of this kind is the same call.
    NullMeans(Fixed),
    /// This value; a null is refused.
    Means(Fixed),
}

/// A default value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fixed {
    /// A boolean.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// A number.
    Number(f64),
    /// A string.
    Text(&'static str),
}

/// How the server reads a value that is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A string; anything else is refused.
    Text,
    /// By [`lax_bool`].
    Bool,
    /// By [`lax_integer`].
    Integer,
    /// A list, an object, a number, or several of these and a string.
    Other,
}

/// One argument with all its names.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name in the server's schema.
    pub name: &'static str,
    /// Further names that some release takes.
    pub aliases: &'static [&'static str],
    /// What it is for.
    pub role: Role,
    /// How a value is read.
    pub shape: Shape,
    /// What omission means.
    pub omitted: Omitted,
}

impl Family {
    /// True where `name` is one of the family's names. Names are case-sensitive.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.name == name || self.aliases.contains(&name)
    }
}

/// A tool and its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    /// The raw name, without the `mcp__<server>__` prefix.
    pub name: &'static str,
    /// Every argument that some release takes.
    pub families: &'static [Family],
}

impl Tool {
    /// The argument that goes by `name`, be it the canonical one or an alias.
    #[must_use]
    pub fn family(&self, name: &str) -> Option<&'static Family> {
        self.families.iter().find(|family| family.has(name))
    }
}

/// The tool called `name`, or `None` for a tool that no release of Basic Memory has.
#[must_use]
pub fn tool(name: &str) -> Option<&'static Tool> {
    table::TOOLS.iter().find(|tool| tool.name == name)
}

/// The first argument of a call that is given under two names, which the server refuses, whatever the values are. `names`
/// are the call's argument names. `None`: no such argument.
#[must_use]
pub fn doubled<'n>(tool: &Tool, names: impl IntoIterator<Item = &'n str>) -> Option<&'static Family> {
    // A tool has at most some twenty arguments; one bit each.
    let mut seen = 0u64;
    for name in names {
        if let Some(at) = tool.families.iter().position(|family| family.has(name)) {
            let bit = 1u64.checked_shl(u32::try_from(at).unwrap_or(u32::MAX)).unwrap_or(0);
            if seen & bit != 0 {
                return tool.families.get(at);
            }
            seen |= bit;
        }
    }
    None
}

/// One argument's value, as far as the rules here need it.
#[derive(Clone, Debug, PartialEq)]
pub enum Argument<'a> {
    /// JSON null.
    Null,
    /// A JSON boolean.
    Bool(bool),
    /// A JSON number. (JavaScript and JSON agree on doubles; `1` and `1.0` are one value.)
    Number(f64),
    /// A JSON string.
    Text(Text<'a>),
    /// An array or an object.
    Composite,
}

/// A boolean argument as the server reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaxBool {
    /// Omitted or null.
    Absent,
    /// Read as true.
    True,
    /// Read as false.
    False,
    /// Refused by the server. A guard takes it for true: a later release may accept it.
    Invalid,
}

impl LaxBool {
    /// True unless the server certainly reads false: `absent` says what omission means.
    #[must_use]
    pub const fn may_be_true(self, absent: bool) -> bool {
        match self {
            Self::Absent => absent,
            Self::True | Self::Invalid => true,
            Self::False => false,
        }
    }
}

/// Reads a boolean as pydantic 2 does in lax mode (found by running 2.14.4 on every form below, in Python and JSON input):
/// booleans; the numbers 1 and 0, `1.0` and `-0.0` included; and the words `1 t true y yes on`, `0 f false n no off` in any
/// ASCII case, with nothing around them. Everything else, `""` and `2` too, is refused.
#[must_use]
pub fn lax_bool(value: Option<&Argument<'_>>) -> LaxBool {
    let known = |known: Option<bool>| match known {
        Some(true) => LaxBool::True,
        Some(false) => LaxBool::False,
        None => LaxBool::Invalid,
    };
    match value {
        None | Some(Argument::Null) => LaxBool::Absent,
        Some(Argument::Bool(value)) => known(Some(*value)),
        // Both numbers are exact in a double.
        Some(Argument::Number(1.0)) => LaxBool::True,
        Some(Argument::Number(0.0)) => LaxBool::False,
        Some(Argument::Number(_) | Argument::Composite) => LaxBool::Invalid,
        Some(Argument::Text(text)) => {
            let is_one_of =
                |words: &[&str]| words.iter().any(|word| text.as_bytes().eq_ignore_ascii_case(word.as_bytes()));
            if is_one_of(&["1", "t", "true", "y", "yes", "on"]) {
                LaxBool::True
            } else if is_one_of(&["0", "f", "false", "n", "no", "off"]) {
                LaxBool::False
            } else {
                LaxBool::Invalid
            }
        }
    }
}

/// Reads a whole number as pydantic 2 does in lax mode: whole numbers; booleans as 1 and 0; and strings of ASCII digits
/// with an optional sign, single `_` between digits, a fraction of zeros, and white space around it. `None`: refused, or
/// too large to matter.
#[must_use]
pub fn lax_integer(value: &Argument<'_>) -> Option<i64> {
    match value {
        Argument::Bool(value) => Some(i64::from(*value)),
        Argument::Number(value) => {
            // Beyond 2^53 a double is no longer one whole number.
            let exact = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
            #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and in range")]
            exact.then_some(*value as i64)
        }
        Argument::Text(text) => parse_integer(text.as_str()?),
        Argument::Null | Argument::Composite => None,
    }
}

fn parse_integer(text: &str) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, text.get(1..)?),
        b'+' => (false, text.get(1..)?),
        _ => (false, text),
    };
    let whole = match digits.split_once('.') {
        Some((whole, zeros)) if !zeros.is_empty() && zeros.bytes().all(|byte| byte == b'0') => whole,
        Some(_) => return None,
        None => digits,
    };
    if whole.split('_').any(|group| group.is_empty() || !group.bytes().all(|byte| byte.is_ascii_digit())) {
        return None;
    }
    let value: i64 = whole.replace('_', "").parse().ok()?;
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Argument<'_> {
        Argument::Text(value.into())
    }

    #[test]
    fn booleans_as_pydantic_reads_them() {
        for value in ["1", "t", "T", "true", "True", "tRuE", "y", "yes", "yEs", "on", "ON"] {
            assert_eq!(lax_bool(Some(&text(value))), LaxBool::True, "{value}");
        }
        for value in ["0", "f", "false", "FALSE", "n", "no", "off", "OFF"] {
            assert_eq!(lax_bool(Some(&text(value))), LaxBool::False, "{value}");
        }
        for value in ["", " true", "true ", "1.0", "01", "+1", "null", "force", "enabled", "ｔrue", "on\u{130}"] {
            assert_eq!(lax_bool(Some(&text(value))), LaxBool::Invalid, "{value:?}");
        }
        for (value, expected) in [
            (Argument::Bool(true), LaxBool::True),
            (Argument::Bool(false), LaxBool::False),
            (Argument::Number(1.0), LaxBool::True),
            (Argument::Number(-0.0), LaxBool::False),
            (Argument::Number(2.0), LaxBool::Invalid),
            (Argument::Number(f64::NAN), LaxBool::Invalid),
            (Argument::Null, LaxBool::Absent),
            (Argument::Composite, LaxBool::Invalid),
        ] {
            assert_eq!(lax_bool(Some(&value)), expected, "{value:?}");
        }
        assert_eq!(lax_bool(None), LaxBool::Absent);
        assert!(LaxBool::Absent.may_be_true(true) && !LaxBool::Absent.may_be_true(false));
        assert!(LaxBool::Invalid.may_be_true(false) && !LaxBool::False.may_be_true(true));
    }

    #[test]
    fn integers_as_pydantic_reads_them() {
        for (value, expected) in [
            ("1", 1),
            ("+1", 1),
            ("-1", -1),
            (" 1 ", 1),
            ("1.00", 1),
            ("01", 1),
            ("1_0", 10),
            ("-0", 0),
            ("\u{A0}1", 1),
        ] {
            assert_eq!(lax_integer(&text(value)), Some(expected), "{value:?}");
        }
        for value in ["", "1.", "1.5", "1__0", "_1", "1_", "1e0", "１", "0x1", "- 1", ".0", "1.0_0", "1 0"] {
            assert_eq!(lax_integer(&text(value)), None, "{value:?}");
        }
        assert_eq!(lax_integer(&Argument::Bool(true)), Some(1));
        assert_eq!(lax_integer(&Argument::Number(3.0)), Some(3));
        assert_eq!(lax_integer(&Argument::Number(1.5)), None);
    }

    #[test]
    fn two_names_of_one_argument() {
        let write = tool("write_note").unwrap();
        assert_eq!(doubled(write, ["title", "folder", "content", "dir"]).unwrap().name, "directory");
        assert_eq!(doubled(write, ["title", "title"]).unwrap().name, "title");
        assert!(doubled(write, ["title", "folder", "unknown", "unknown"]).is_none());
        assert!(tool("write_notes").is_none() && write.family("Directory").is_none());
    }

    #[test]
    fn names_are_unique_in_a_tool() {
        for tool in table::TOOLS {
            assert!(tool.families.len() <= 64, "{}: one bit each", tool.name);
            let mut names: Vec<&str> =
                tool.families.iter().flat_map(|family| family.aliases.iter().copied().chain([family.name])).collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", tool.name);
        }
    }
}
