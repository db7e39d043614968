//! What a name says of the note that it may reach, as digests.
//!
//! The server compares permalinks by their slugs, paths up to case, `_` and `-`, and titles and paths exactly. All of these
//! are finer than the [`Words`] of a name, so names whose words differ cannot meet, but for a title or a permalink that was
//! set by hand. Where the words of a name are not proven, it may be any name.

use super::digest::{Digest, DigestKey, Digester};
use crate::note::identifier::as_reference;
use crate::note::permalink;
use crate::note::python::trim;
use crate::note::text::{CodePoint, Text};

/// The words of a path, a permalink or an identifier: of each segment what is left when everything that the server's rules
/// ignore is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    segments: Box<[Digest]>,
    /// All of it as one word: a title with a slash is a file name without.
    joined: Digest,
}

impl Words {
    /// The words of an identifier, without its wrapping. `None`: not proven.
    pub(super) fn of_identifier(key: &DigestKey, identifier: &Text<'_>) -> Option<Words> {
        // Without wrapping there is nothing to take off.
        let bytes = identifier.as_bytes();
        let wrapped = |byte: &u8| !matches!(byte, b' '..=b'~') || b":[|".contains(byte);
        if !bytes.iter().any(wrapped) {
            return Words::of(key, identifier.as_str()?);
        }
        let points: Vec<CodePoint> = identifier.code_points().collect();
        let reference: Option<String> = as_reference(&points).into_iter().map(char::from_u32).collect();
        Words::of(key, &reference?)
    }

    /// The words of a path, a permalink or a title. `None`: not proven.
    pub(super) fn of(key: &DigestKey, name: &str) -> Option<Words> {
        if name.is_ascii() {
            return Words::of_ascii(&mut |word| digest(key, word), name);
        }
        let name = trim(name).to_lowercase();
        let mut name = name.as_str();
        // A name can end like a file's without being one, and be a file's without ending so.
        while let Some(bare) = name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown")) {
            name = bare;
        }
        let mut segments = Vec::new();
        let mut all = String::new();
        for segment in name.split(['/', '\\']).filter(|segment| !matches!(*segment, "" | ".")) {
            // A title has a hyphen where the file name cannot have the character.
            let segment = segment.replace([':', '<', '>', '"', '|', '?', '*'], "-");
            let slug = permalink::of_path(&format!("{segment}.md"), None)?;
            let word: String = slug.chars().filter(|c| c.is_ascii_alphanumeric() || !c.is_ascii()).collect();
            if word.is_empty() {
                return None;
            }
            segments.push(digest(key, word.as_bytes()));
            all.push_str(&word);
        }
        (!segments.is_empty()).then(|| Words { segments: segments.into(), joined: digest(key, all.as_bytes()) })
    }

    /// The same of an ASCII name, of which the slug rule leaves the letters and digits.
    fn of_ascii(digest: &mut dyn FnMut(&[u8]) -> Digest, name: &str) -> Option<Words> {
        let mut name = trim(name);
        while let Some(bare) = without_ending(name, ".md").or_else(|| without_ending(name, ".markdown")) {
            name = bare;
        }
        let skipped = |segment: &&[u8]| matches!(*segment, b"" | b".");
        let parts = || name.as_bytes().split(|byte| matches!(byte, b'/' | b'\\')).filter(|part| !skipped(part));
        let mut segments = Vec::with_capacity(parts().count());
        let mut all = Vec::with_capacity(name.len() + 2);
        for segment in parts() {
            let start = all.len();
            for byte in segment {
                match IN_WORDS.get(usize::from(*byte)) {
                    Some(0) | None => {}
                    Some(kept) => all.push(*kept),
                }
            }
            // A name of dots has no ending for the rule, which makes a word of the one that it is given.
            if all.len() == start && segment.iter().all(|byte| *byte == b'.') {
                all.extend_from_slice(b"md");
            }
            let word = all.get(start..).filter(|word| !word.is_empty())?;
            segments.push(digest(word));
        }
        let joined = match segments.as_slice() {
            [] => return None,
            [only] => *only,
            _ => digest(&all),
        };
        Some(Words { segments: segments.into(), joined })
    }

    /// Whether it is one word, as a title is, which has no folder before it.
    pub(super) fn is_single(&self) -> bool {
        self.segments.len() == 1
    }

    /// Whether it is one word below this project.
    pub(super) fn is_single_below(&self, project: &Words) -> bool {
        self.segments.strip_prefix(&*project.segments).is_some_and(|below| below.len() == 1)
    }

    /// Whether both may be names of one note: the one ends as the other does, with folders or a project before it.
    pub(super) fn may_meet(&self, other: &Words) -> bool {
        let (short, long) = if self.segments.len() <= other.segments.len() { (self, other) } else { (other, self) };
        long.segments.ends_with(&short.segments)
            || long.segments.last() == Some(&short.joined)
            || short.segments.last() == Some(&long.joined)
    }

    /// Whether these words are all that the server needs to reach the note with this path and permalink, and no search: the
    /// path or the permalink, with or without the project in front.
    pub(super) fn reach(&self, path: Option<&Words>, permalink: Option<&Words>) -> bool {
        let is = |segments: Option<&[Digest]>| segments.is_some_and(|segments| *segments == *self.segments);
        let below = |words: &'_ Words| words.segments.get(1..).map(<[Digest]>::to_vec);
        is(path.map(|path| &*path.segments))
            || is(permalink.map(|permalink| &*permalink.segments))
            || is(permalink.and_then(below).as_deref())
            || path.is_some_and(|path| below(self).is_some_and(|own| *own == *path.segments))
    }

    /// Whether a note of this name may be in a folder of that one, with or without a project before either.
    pub(super) fn may_be_below(&self, folder: &Words) -> bool {
        let below = |name: &[Digest], folder: &[Digest]| name.len() > folder.len() && name.starts_with(folder);
        let tail = |segments: &'_ [Digest]| segments.get(1..).unwrap_or_default().to_vec();
        below(&self.segments, &folder.segments)
            || (folder.segments.len() > 1 && below(&self.segments, &tail(&folder.segments)))
            || below(&tail(&self.segments), &folder.segments)
    }
}

/// The words of several names of one note, which are mostly the same: each is digested once.
#[derive(Default)]
pub(super) struct KnownWords {
    text: Vec<u8>,
    words: Vec<(std::ops::Range<usize>, Digest)>,
}

impl KnownWords {
    pub(super) fn of(&mut self, key: &DigestKey, name: &str) -> Option<Words> {
        if !name.is_ascii() {
            return Words::of(key, name);
        }
        Words::of_ascii(&mut |word| self.digest(key, word), name)
    }

    fn digest(&mut self, key: &DigestKey, word: &[u8]) -> Digest {
        let known = self.words.iter().find(|(at, _)| self.text.get(at.clone()) == Some(word));
        if let Some((_, known)) = known {
            return *known;
        }
        let made = digest(key, word);
        let start = self.text.len();
        self.text.extend_from_slice(word);
        self.words.push((start..self.text.len(), made));
        made
    }
}

fn without_ending<'n>(name: &'n str, ending: &str) -> Option<&'n str> {
    let (bare, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
    end.eq_ignore_ascii_case(ending).then_some(bare)
}

/// What is left of an ASCII character in a word; 0 for nothing.
const IN_WORDS: [u8; 256] = {
    let mut kept = [0; 256];
    let mut byte = 0u8;
    while byte < 128 {
        if byte.is_ascii_alphanumeric() {
            kept[byte as usize] = byte.to_ascii_lowercase();
        }
        byte += 1;
    }
    kept
};

fn digest(key: &DigestKey, word: &[u8]) -> Digest {
    let mut digester = Digester::new(key);
    digester.bytes(b"word");
    digester.bytes(word);
    digester.finish()
}

/// Whether the server may take an identifier for an external id, which is any note's.
pub(super) fn may_be_id(identifier: &Text<'_>) -> bool {
    let hex = |byte: &&u8| byte.is_ascii_hexdigit();
    let text = identifier.as_bytes();
    let digits = text.iter().filter(hex).count();
    digits >= 32 && text.iter().filter(|byte| byte.is_ascii_alphanumeric()).count() <= digits + "urnuuidmemory".len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: DigestKey = DigestKey([1; 16]);

    fn words(name: &str) -> Words {
        Words::of_identifier(&KEY, &name.into()).unwrap()
    }

    #[test]
    fn every_spelling_of_a_note_meets_it() {
        let path = Words::of(&KEY, "notes/My Note.md").unwrap();
        for name in [
            "My Note",
            "my-note",
            "notes/my_note",
            "NOTES/MYNOTE.MD",
            "main/notes/my-note",
            "memory://main/notes/My Note.md",
            "[[My Note]]",
            "My Note|x",
            "main::notes/My Note",
            "./notes//My Note/",
            "notes\\My Note.md",
            " My Note ",
            "mý nóte",
        ] {
            assert!(words(name).may_meet(&path) && path.may_meet(&words(name)), "{name}");
        }
        for name in ["notes/other", "My Note 2", "other/my-note", "notes", "notes/my-note/x"] {
            assert!(!words(name).may_meet(&path), "{name}");
        }
        let mapped = Words::of(&KEY, "notes/a-b.md").unwrap();
        assert!(words("a/b").may_meet(&mapped) && words("a: b").may_meet(&mapped));
    }

    /// The server strips what Python calls white space from an identifier, and not from a title that ends with it.
    #[test]
    fn a_name_meets_itself_with_white_space_around_it() {
        for space in ["\u{1c}", "\u{1f}", "\u{85}", "\t"] {
            for name in ["a", "a.md", "é.md", "notes/a.markdown"] {
                let name = format!("{name}{space}");
                let as_identifier = Words::of_identifier(&KEY, &name.as_str().into()).unwrap();
                assert!(as_identifier.may_meet(&Words::of(&KEY, &name).unwrap()), "{name:?}");
            }
        }
    }

    #[test]
    fn ascii_names_as_all_others() {
        let slow = |name: &str| {
            let name = trim(name).to_lowercase();
            let mut name = name.as_str();
            while let Some(bare) = name.strip_suffix(".md").or_else(|| name.strip_suffix(".markdown")) {
                name = bare;
            }
            let (mut segments, mut all) = (Vec::new(), String::new());
            for segment in name.split(['/', '\\']).filter(|segment| !matches!(*segment, "" | ".")) {
                let segment = segment.replace([':', '<', '>', '"', '|', '?', '*'], "-");
                let slug = permalink::of_path(&format!("{segment}.md"), None)?;
                let word: String = slug.chars().filter(char::is_ascii_alphanumeric).collect();
                if word.is_empty() {
                    return None;
                }
                segments.push(digest(&KEY, word.as_bytes()));
                all.push_str(&word);
            }
            (!segments.is_empty()).then(|| Words { segments: segments.into(), joined: digest(&KEY, all.as_bytes()) })
        };
        let mut known = KnownWords::default();
        let parts =
            ["a", "B c", "x.md", "y.MD", "..", ".", "", "--", "v1.0", "it's", "a:b", "Z.markdown", "...", " q ", "\t"];
        for one in parts {
            for two in parts {
                for name in [format!("{one}/{two}"), format!("{one}{two}"), format!("{one}\\{two}.md")] {
                    assert_eq!(Words::of(&KEY, &name), slow(&name), "{name:?}");
                    assert_eq!(known.of(&KEY, &name), slow(&name), "{name:?}");
                }
            }
        }
    }

    #[test]
    fn what_reaches_a_note_without_a_search() {
        let path = Words::of(&KEY, "notes/a.md");
        let permalink = Words::of(&KEY, "main/custom");
        for name in ["main/notes/a", "notes/A.md", "custom", "main/custom"] {
            assert!(words(name).reach(path.as_ref(), permalink.as_ref()), "{name}");
        }
        for name in ["a", "x/main/notes/a", "notes/b", "main"] {
            assert!(!words(name).reach(path.as_ref(), permalink.as_ref()), "{name}");
        }
    }

    #[test]
    fn folders() {
        let below = |name: &str, folder: &str| words(name).may_be_below(&words(folder));
        assert!(below("notes/a", "notes") && below("notes/deep/a", "Notes/") && below("notes/a", "main/notes"));
        assert!(below("main/notes/a", "notes"));
        assert!(!below("notebook/a", "notes") && !below("notes", "notes") && !below("other/a", "notes"));
    }

    #[test]
    fn what_is_not_proven() {
        for name in ["Кириллица", "notes/ひらがな", "", "/", "🚀", "a/🚀"] {
            assert!(Words::of_identifier(&KEY, &name.into()).is_none(), "{name}");
        }
        assert!(Words::of_identifier(&KEY, &Text::from_utf16(&[0xD800])).is_none());
    }

    #[test]
    fn external_ids() {
        for id in [
            "6f1c7e0a-0000-4000-8000-000000000000",
            "6F1C7E0A000040008000000000000000",
            "{6f1c7e0a000040008000000000000000}",
            "urn:uuid:6f1c7e0a-0000-4000-8000-000000000000",
            " memory://6f1c7e0a-0000-4000-8000-000000000000",
        ] {
            assert!(may_be_id(&id.into()), "{id}");
        }
        for name in ["notes/alpha", "6f1c7e0a", "a note about 6f1c7e0a000040008000000000000000 and more of them"] {
            assert!(!may_be_id(&name.into()), "{name}");
        }
    }
}
