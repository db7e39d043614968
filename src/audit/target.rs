//! What a record may hold of the note that a call is about: a short keyed hash, if the operator asks for it.
//!
//! The hash is for correlation alone: two records of one load with the same hash name the same note in the same way. The
//! key is the caller's and is not to be written anywhere: without it nobody can try names against a hash.

use std::hash::{BuildHasher, Hasher};

use crate::argument::given::Given;
use crate::tool::{Known, Tool};

/// The parameters by which a tool names a note, in the order in which they are taken together.
const fn naming(tool: Known) -> &'static [&'static str] {
    match tool {
        Known::WriteNote => &["directory", "title"],
        Known::EditNote | Known::MoveNote | Known::DeleteNote | Known::ReadNote | Known::ViewNote => &["identifier"],
        Known::ReadContent => &["path"],
        Known::BuildContext => &["url"],
        Known::Fetch => &["id"],
        _ => &[],
    }
}

/// The hash, twelve hexadecimal digits; `None` where the call names no note.
pub fn hash(key: &impl BuildHasher, tool: Tool, arguments: &Given) -> Option<String> {
    let names = naming(tool.known?);
    let mut hasher = key.build_hasher();
    let project = ["project", "project_id"].into_iter().find(|name| arguments.text(name).is_some());
    let mut any = false;
    for name in names.iter().copied().map(Some).chain([project]) {
        let given = name.and_then(|name| arguments.text(name));
        any |= given.is_some() && name.is_some_and(|name| names.contains(&name));
        // Length and a mark keep "a" + "bc" and "ab" + "c", and an absent and an empty one, apart.
        hasher.write_u8(u8::from(given.is_some()));
        let bytes = given.map_or(&[][..], |text| text.as_bytes());
        hasher.write_usize(bytes.len());
        hasher.write(bytes);
    }
    any.then(|| format!("{:012x}", hasher.finish() >> 16))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::argument::given::Arguments;
    use crate::tool::Class;
    use serde_json::json;
    use std::hash::RandomState;

    #[test]
    fn one_name_has_one_hash_and_another_key_another() {
        let key = RandomState::new();
        let of = |key: &RandomState, known, value: serde_json::Value| {
            let tool = Tool { class: Class::Unknown, known: Some(known), server: 0 };
            let Arguments::Object(given) = Arguments::of(Some(known.raw()), &value) else { panic!("an object") };
            hash(key, tool, &given)
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
