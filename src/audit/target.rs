//! What a record may hold of the note that a call is about: a short keyed hash, if the operator asks for it.
//!
//! The hash is for correlation alone: two records of one load with the same hash name the same file path, or name a note by
//! the same identifier. The key is the caller's and is not to be written anywhere: without it nobody can try names against
//! a hash.

use std::hash::{BuildHasher, Hasher};

use crate::argument::given::Given;
use crate::note::path::note_path;
use crate::tool::{Known, Tool};

/// The parameter by which a tool names a note.
const fn naming(tool: Known) -> Option<&'static str> {
    match tool {
        Known::EditNote | Known::MoveNote | Known::DeleteNote | Known::ReadNote | Known::ViewNote => Some("identifier"),
        Known::ReadContent => Some("path"),
        Known::BuildContext => Some("url"),
        Known::Fetch => Some("id"),
        _ => None,
    }
}

/// The hash, twelve hexadecimal digits; `None` where the call names no note, or none whose path is proven.
pub fn hash(key: &impl BuildHasher, tool: Tool, given: &Given) -> Option<String> {
    let known = tool.known?;
    let mut hasher = key.build_hasher();
    // Length and a mark keep "a" + "bc" and "ab" + "c", and an absent and an empty one, apart.
    let mut add = |text: Option<&[u8]>| {
        let bytes = text.unwrap_or_default();
        hasher.write_u8(u8::from(text.is_some()));
        hasher.write_usize(bytes.len());
        hasher.write(bytes);
    };
    if known == Known::WriteNote {
        let path = note_path(given.text("title")?, given.text("directory")?).ok()?;
        add(Some(path.as_str().as_bytes()));
    } else {
        add(Some(given.text(naming(known)?)?.as_bytes()));
    }
    for project in ["project", "project_id"] {
        add(given.text(project).map(crate::note::text::Text::as_bytes));
    }
    Some(format!("{:012x}", hasher.finish() >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::given::Arguments;
    use crate::tool::Class;
    use serde_json::json;
    use std::hash::RandomState;

    fn of(key: &RandomState, known: Known, value: &serde_json::Value) -> Option<String> {
        let tool = Tool { class: Class::Unknown, known: Some(known), server: 0 };
        match Arguments::of(Some(known.raw()), value) {
            Arguments::Object(given) => hash(key, tool, &given),
            Arguments::NotAnObject => None,
        }
    }

    #[test]
    fn one_path_has_one_hash_and_another_key_another() {
        let key = RandomState::new();
        let write = |directory: &str, title: &str| json!({"directory": directory, "title": title, "content": "x"});
        let first = of(&key, Known::WriteNote, &write("a", "bc"));
        assert_eq!(first.as_ref().map(String::len), Some(12));
        let other_names = json!({"folder": "a/", "title": "bc", "content": "other"});
        assert_eq!(first, of(&key, Known::WriteNote, &other_names));
        assert_eq!(first, of(&key, Known::ReadNote, &json!({"identifier": "a/bc.md"})));
        assert_ne!(first, of(&key, Known::WriteNote, &write("ab", "c")));
        assert_ne!(first, of(&key, Known::WriteNote, &json!({"directory": "a", "title": "bc", "project": "p"})));
        assert_ne!(first, of(&RandomState::new(), Known::WriteNote, &write("a", "bc")));
        assert_eq!(of(&key, Known::ReadNote, &json!({"project": "p"})), None);
        assert_eq!(of(&key, Known::SearchNotes, &json!({"query": "a"})), None);
        assert_eq!(of(&key, Known::WriteNote, &write("../a", "bc")), None);
    }
}
