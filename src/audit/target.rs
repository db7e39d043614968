//! What a record may hold of the note that a call is about: a short keyed hash, if the operator asks for it.
//!
//! The hash is for correlation alone: two records of one load with the same hash name the same note in the same way. The
//! key is the caller's and is not to be written anywhere: without it nobody can try names against a hash.

use std::hash::{BuildHasher, Hasher};

use crate::argument::{Object, Scalar};
use crate::tool::{Known, Tool};

/// The parameters by which a tool names a note, in the order in which they are taken together. The first list of which
/// one is given counts.
const fn naming(tool: Known) -> &'static [&'static [&'static str]] {
    match tool {
        Known::WriteNote => &[&["directory", "folder", "dir", "path"], &["title"]],
        Known::EditNote | Known::MoveNote | Known::DeleteNote | Known::ReadNote | Known::ViewNote => &[&["identifier"]],
        Known::ReadContent => &[&["path"]],
        Known::BuildContext => &[&["url"]],
        Known::Fetch => &[&["id"]],
        _ => &[],
    }
}

/// The hash, twelve hexadecimal digits; `None` where the call names no note.
pub fn hash(key: &impl BuildHasher, tool: Tool, arguments: &dyn Object) -> Option<String> {
    let families = naming(tool.known?);
    let mut hasher = key.build_hasher();
    let mut any = false;
    for family in families.iter().chain([&["project", "project_id"][..]].iter()) {
        let given = family.iter().find_map(|name| match arguments.scalar(name) {
            Scalar::Text(text) => Some(text),
            _ => None,
        });
        any |= given.is_some() && families.contains(family);
        // Length and a mark keep "a" + "bc" and "ab" + "c", and an absent and an empty one, apart.
        hasher.write_u8(u8::from(given.is_some()));
        let text = given.unwrap_or_default();
        hasher.write_usize(text.len());
        hasher.write(text.as_bytes());
    }
    any.then(|| format!("{:012x}", hasher.finish() >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Class;
    use serde_json::json;
    use std::hash::RandomState;

    #[test]
    fn one_name_has_one_hash_and_another_key_another() {
        let key = RandomState::new();
        let of = |key: &RandomState, known, value: serde_json::Value| {
            let tool = Tool { class: Class::Unknown, known: Some(known), server: 0 };
            hash(key, tool, value.as_object().expect("an object"))
        };
        let write = |directory: &str, title: &str| json!({"directory": directory, "title": title, "content": "x"});
        let first = of(&key, Known::WriteNote, write("a", "bc"));
        assert_eq!(first.as_ref().map(String::len), Some(12));
        assert_eq!(first, of(&key, Known::WriteNote, json!({"folder": "a", "title": "bc", "content": "other"})));
        assert_ne!(first, of(&key, Known::WriteNote, write("ab", "c")));
        assert_ne!(first, of(&key, Known::WriteNote, json!({"directory": "a", "title": "bc", "project": "p"})));
        assert_ne!(first, of(&RandomState::new(), Known::WriteNote, write("a", "bc")));
        assert!(of(&key, Known::ReadNote, json!({"identifier": "a"})).is_some());
        assert_eq!(of(&key, Known::ReadNote, json!({"project": "p"})), None);
        assert_eq!(of(&key, Known::SearchNotes, json!({"query": "a"})), None);
    }
}
