//! A call's arguments, as far as a decision needs them, read as the server reads them.
//!
//! The server takes several names for one parameter and refuses a call that uses two of them; its booleans are lax. The
//! tables here restate that. A value is looked at only where a rule names its parameter: [`Object::scalar`] is the one
//! way to a value, and it is never called for a note's content.

use crate::tool::{Known, Tool};

/// One JSON value, as far as a rule may need to know it.
#[derive(Clone, Debug, PartialEq)]
pub enum Scalar {
    /// The parameter is not given.
    Absent,
    /// `null`.
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list or an object.
    Compound,
}

/// The own entries of an arguments object.
pub trait Object {
    /// Calls the function with each own key.
    fn each_key(&self, visit: &mut dyn FnMut(&str));
    /// The value under a key.
    fn scalar(&self, key: &str) -> Scalar;
}

/// The arguments of a call.
#[derive(Clone, Copy)]
pub enum Arguments<'a> {
    /// Not one JSON object: text that did not parse, a list, null, nothing.
    NotAnObject,
    /// One JSON object.
    Object(&'a dyn Object),
}

/// What the gate needs to know of a write's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Facts {
    /// They are no JSON object, or give one parameter twice under different names.
    Malformed,
    /// They can be read.
    Read {
        /// The call is a `write_note` that replaces nothing.
        creates: bool,
    },
}

impl Facts {
    /// Reads the arguments of a call of this tool.
    #[must_use]
    pub fn read(tool: Tool, arguments: Arguments<'_>) -> Facts {
        let Arguments::Object(object) = arguments else { return Facts::Malformed };
        if let Some(known) = tool.known
            && repeats(known, object)
        {
            return Facts::Malformed;
        }
        let overwrites = || OVERWRITE.iter().any(|name| lax_true(&object.scalar(name)));
        Facts::Read { creates: tool.known == Some(Known::WriteNote) && !overwrites() }
    }
}

/// One parameter of a tool with the other names that the server takes for it.
type Family = &'static [&'static str];

/// Says that a note that exists is replaced. The other names are those of 0.21.0 to 0.21.3; a later server refuses them.
const OVERWRITE: Family = &["overwrite", "force", "replace"];

/// Parameters of the write tools that have more than one name; the first is the schema's. Source: the server's releases
/// 0.21 to 0.24.1, where aliases exist.
const fn families(tool: Known) -> &'static [Family] {
    match tool {
        Known::WriteNote => &[&["directory", "folder", "dir", "path"], OVERWRITE],
        Known::EditNote => &[
            &["content", "new_content", "replacement", "replace_with"],
            &["section", "section_heading", "heading"],
            &["find_text", "find", "old_text", "old_content", "search"],
        ],
        Known::MoveNote => &[
            &["destination_path", "dest_path", "new_path", "to", "destination"],
            &["destination_folder", "dest_folder", "to_folder"],
            &["is_directory", "is_dir"],
        ],
        Known::DeleteNote => &[&["is_directory", "is_dir"]],
        _ => &[],
    }
}

/// Whether two names of one parameter are given.
fn repeats(tool: Known, object: &dyn Object) -> bool {
    let families = families(tool);
    if families.is_empty() {
        return false;
    }
    let mut seen = 0u32;
    let mut repeated = false;
    object.each_key(&mut |key| {
        if let Some(family) = families.iter().position(|family| family.contains(&key)) {
            repeated |= seen & 1 << family != 0;
            seen |= 1 << family;
        }
    });
    repeated
}

/// Whether the server may take the value as true. Its booleans are lax; what is on neither of its lists it refuses, and
/// counts here as true, which is the stricter reading.
fn lax_true(value: &Scalar) -> bool {
    match value {
        Scalar::Absent | Scalar::Null => false,
        Scalar::Bool(value) => *value,
        Scalar::Number(value) => *value != 0.0,
        Scalar::Text(text) => !["false", "f", "no", "n", "off", "0"].iter().any(|no| text.eq_ignore_ascii_case(no)),
        Scalar::Compound => true,
    }
}

impl Object for serde_json::Map<String, serde_json::Value> {
    fn each_key(&self, visit: &mut dyn FnMut(&str)) {
        self.keys().for_each(|key| visit(key));
    }

    fn scalar(&self, key: &str) -> Scalar {
        use serde_json::Value;
        match self.get(key) {
            None => Scalar::Absent,
            Some(Value::Null) => Scalar::Null,
            Some(Value::Bool(value)) => Scalar::Bool(*value),
            Some(Value::Number(value)) => Scalar::Number(value.as_f64().unwrap_or(f64::NAN)),
            Some(Value::String(text)) => Scalar::Text(text.clone()),
            Some(Value::Array(_) | Value::Object(_)) => Scalar::Compound,
        }
    }
}

impl<'a> From<&'a serde_json::Value> for Arguments<'a> {
    fn from(value: &'a serde_json::Value) -> Arguments<'a> {
        match value {
            serde_json::Value::Object(map) => Arguments::Object(map),
            _ => Arguments::NotAnObject,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Class;
    use serde_json::json;

    fn facts(known: Known, value: &serde_json::Value) -> Facts {
        let tool = Tool { class: Class::Write { destructive: false }, known: Some(known), server: 0 };
        Facts::read(tool, Arguments::from(value))
    }

    #[test]
    fn what_is_no_object_is_malformed() {
        for value in [json!("{\"title\":"), json!([1, 2]), json!(null), json!(5), json!(true)] {
            assert_eq!(facts(Known::WriteNote, &value), Facts::Malformed, "{value}");
        }
        assert_eq!(facts(Known::WriteNote, &json!({})), Facts::Read { creates: true });
    }

    #[test]
    fn two_names_of_one_parameter_are_malformed_whichever_two() {
        for (known, _) in Known::ALL {
            for family in families(*known) {
                for a in *family {
                    assert_ne!(facts(*known, &json!({ *a: "x", "project": "main" })), Facts::Malformed);
                    for b in family.iter().filter(|b| b != &a) {
                        assert_eq!(facts(*known, &json!({ *a: "x", *b: "x" })), Facts::Malformed, "{a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn overwrite_is_read_as_laxly_as_the_server_reads_it() {
        for yes in
            [json!(true), json!(1), json!("true"), json!("True"), json!("yes"), json!("1"), json!("on"), json!("y")]
        {
            assert_eq!(facts(Known::WriteNote, &json!({"overwrite": yes})), Facts::Read { creates: false }, "{yes}");
        }
        for no in [json!(false), json!(null), json!(0), json!("false"), json!("0"), json!("No"), json!("off")] {
            assert_eq!(facts(Known::WriteNote, &json!({"overwrite": no})), Facts::Read { creates: true }, "{no}");
        }
        // The server refuses these, so nothing is created: the stricter reading costs nothing.
        for odd in [json!("force"), json!([]), json!({}), json!(" true ")] {
            assert_eq!(facts(Known::WriteNote, &json!({"overwrite": odd})), Facts::Read { creates: false }, "{odd}");
        }
        assert_eq!(facts(Known::EditNote, &json!({})), Facts::Read { creates: false });
    }
}
