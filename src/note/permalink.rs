//! File path → permalink, where it is exactly known.
//!
//! The server transliterates to ASCII with the table of a library (Unidecode). That table is not rebuilt here. Known are
//! the code points below, each of which the tests compare with the real function one by one:
//!
//! - ASCII;
//! - Latin letters whose canonical decomposition is an ASCII letter and combining marks (`é` → `e`), and a few more (`ß`);
//! - common punctuation (dashes, quotation marks, ellipsis, no-break space);
//! - CJK ideographs and symbols, which the server keeps, and full-width forms, which it then drops;
//! - symbols and emoji that it drops.
//!
//! Everything else (Cyrillic, Greek, kana, hangul, …) is **not proven**: `None`, never a guess.
//!
//! A permalink is what a *new* note gets. It is not where content sets its own, not after a move (a note keeps the old
//! one), not where the permalink is taken (`-1`), and not under `permalinks_include_project: false` (no prefix).

use unicode_normalization::{UnicodeNormalization, is_nfc};

/// How one code point enters the slug, before the ASCII clean-up.
enum Entry {
    /// Itself: ASCII, or a CJK ideograph or symbol.
    Keep(char),
    /// These ASCII characters.
    As(&'static str),
    /// Nothing.
    Drop,
}

/// The permalink of a new note at `path`, prefixed with the slug of the project named `project`, or without a prefix.
/// `None`: not proven. That covers every path that is not in the form of [`super::path::NotePath`]: ending in `.md`, without
/// `:` and `\`, without empty and `.` segments (the server asks its host's tables what other endings mean).
///
/// The prefix is not repeated: `main/n.md` in project `main` is `main/n`.
#[must_use]
pub fn of_path(path: &str, project: Option<&str>) -> Option<String> {
    if path.contains([':', '\\']) || path.split('/').any(|segment| matches!(segment, "" | ".")) {
        return None;
    }
    let slug = slug(without_extension(path)?)?;
    let Some(project) = project else {
        return Some(slug);
    };
    let prefix = project_slug(project)?;
    let prefixed = slug.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    Some(if prefixed { slug } else { format!("{prefix}/{slug}") })
}

/// Whether a permalink is the one that [`of_path`] makes of this path, or that with anything in front that ends with a slash.
#[must_use]
pub fn ends_with_own(permalink: &str, path: &str) -> bool {
    let ends_with =
        |own: &str| permalink.strip_suffix(own).is_some_and(|before| before.is_empty() || before.ends_with('/'));
    plain_own(permalink, path).unwrap_or_else(|| of_path(path, None).is_some_and(|own| ends_with(&own)))
}

/// The same for a path whose slug has a character for each of its own, and nearly every path's has; `None` for any other.
fn plain_own(permalink: &str, path: &str) -> Option<bool> {
    let base = path.strip_suffix(".md")?.as_bytes();
    let mut before = b'/';
    let mut is_own = true;
    let before_own = permalink.len().checked_sub(base.len());
    let tail = before_own.and_then(|at| permalink.as_bytes().get(at..)).unwrap_or_default();
    for (at, byte) in base.iter().enumerate() {
        let slugged = match byte {
            b'a'..=b'z' | b'0'..=b'9' => *byte,
            b'A'..=b'Z' if !matches!(before, b'a'..=b'z' | b'0'..=b'9') => byte.to_ascii_lowercase(),
            b' ' | b'-' | b'_' if before.is_ascii_alphanumeric() => b'-',
            b'/' if before.is_ascii_alphanumeric() => b'/',
            _ => return None,
        };
        is_own &= tail.get(at) == Some(&slugged);
        before = *byte;
    }
    before
        .is_ascii_alphanumeric()
        .then(|| is_own && before_own.is_some_and(|at| at == 0 || permalink.as_bytes().get(at - 1) == Some(&b'/')))
}

/// The slug of a project's name, which is its permalink: `My Docs` → `my-docs`. `None`: not proven, also for names with
/// `.`, `:`, `/` or `\`, where the server looks for a file extension by tables of its host.
#[must_use]
pub fn project_slug(name: &str) -> Option<String> {
    if name.is_empty() || name.contains(['.', ':', '/', '\\']) {
        return None;
    }
    slug(name)
}

/// Cuts `.md`, but not from a name that is nothing else: `x/.md` and `..md` have no extension for Python.
fn without_extension(path: &str) -> Option<&str> {
    let base = path.strip_suffix(".md")?;
    let name = base.rsplit('/').next().unwrap_or_default();
    let only_dots = name.bytes().all(|byte| byte == b'.');
    Some(if only_dots { path } else { base })
}

/// The slug rule (facts 4.2) on text without an extension. Linear in its length.
///
/// Servers from 0.24 on put the text in NFC first, 0.23 does not: known is only what both make of it.
fn slug(text: &str) -> Option<String> {
    if text.is_ascii() {
        // It is composed, and each character is kept as it is.
        let mut out = Slug::default();
        out.text.reserve(text.len() + 8);
        text.chars().for_each(|character| out.push(character));
        return Some(out.finish());
    }
    let composed = transliterate(text.nfc())?;
    if is_nfc(text) {
        return Some(composed);
    }
    transliterate(text.chars()).filter(|as_given| *as_given == composed)
}

fn transliterate(text: impl Iterator<Item = char>) -> Option<String> {
    let mut out = Slug::default();
    for character in text {
        match entry(character)? {
            Entry::Keep(kept) => out.push(kept),
            Entry::As(ascii) => ascii.chars().for_each(|part| out.push(part)),
            Entry::Drop => {}
        }
    }
    Some(out.finish())
}

/// Builds a slug from transliterated characters: hyphens between words, lower case, nothing but `[a-z0-9./-]` and CJK.
#[derive(Default)]
struct Slug {
    text: String,
    /// The character before, as it was transliterated: word boundaries are seen before anything is replaced.
    before: Option<char>,
}

impl Slug {
    fn push(&mut self, character: char) {
        if self.before.is_some_and(|before| is_word_boundary(before, character)) {
            self.hyphen();
        }
        self.before = Some(character);
        match character {
            '\'' => {}
            '/' => {
                self.end_segment();
                self.text.push('/');
            }
            'a'..='z' | 'A'..='Z' | '0'..='9' | '.' => {
                self.text.push(character.to_ascii_lowercase());
            }
            cjk if is_kept_cjk(cjk) => self.text.push(cjk),
            _ => self.hyphen(),
        }
    }

    /// A hyphen, but never two in a row and never at the start of a segment.
    fn hyphen(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with(['-', '/']) {
            self.text.push('-');
        }
    }

    fn end_segment(&mut self) {
        if self.text.ends_with('-') {
            self.text.pop();
        }
    }

    fn finish(mut self) -> String {
        self.end_segment();
        self.text
    }
}

/// camelCase, and the seam between CJK and Latin.
const fn is_word_boundary(before: char, after: char) -> bool {
    (matches!(before, 'a'..='z' | '0'..='9') && after.is_ascii_uppercase())
        || (is_kept_cjk(before) && after.is_ascii_alphanumeric())
        || (before.is_ascii_alphanumeric() && is_kept_cjk(after))
}

/// CJK symbols and punctuation, extension A, unified ideographs.
const fn is_kept_cjk(character: char) -> bool {
    matches!(character, '\u{3000}'..='\u{303F}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}')
}

/// Code points that the server's table has nothing for.
const fn is_dropped(character: char) -> bool {
    matches!(
        character,
        '\u{80}'..='\u{9F}'
            | '\u{AD}'
            | '\u{300}'..='\u{362}'
            | '\u{200C}'..='\u{200F}'
            | '\u{202A}'..='\u{202E}'
            | '\u{2060}'..='\u{206F}'
            | '\u{25F8}'..='\u{2653}'
            | '\u{2668}'..='\u{266E}'
            | '\u{2670}'..='\u{2730}'
            | '\u{2732}'..='\u{2757}'
            | '\u{2759}'..='\u{275B}'
            | '\u{2763}'..='\u{27BF}'
            | '\u{2B05}'..='\u{2B55}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{FEFF}'
            | '\u{FF00}'..='\u{FFEF}'
            | '\u{1F300}'..='\u{1F66F}'
            | '\u{1F680}'..='\u{1FAFF}'
    )
}

fn entry(character: char) -> Option<Entry> {
    if character.is_ascii() || is_kept_cjk(character) {
        return Some(Entry::Keep(character));
    }
    if is_dropped(character) {
        return Some(Entry::Drop);
    }
    let ascii = match character {
        '\u{A0}' | '\u{2000}'..='\u{200B}' | '\u{202F}' => " ",
        '\u{2010}'..='\u{2013}' => "-",
        '—' | '―' => "--",
        '‘' | '’' | '‛' => "'",
        '“' | '”' => "\"",
        '„' => ",,",
        '…' => "...",
        '•' | '·' => "*",
        '¡' => "!",
        '¿' => "?",
        '«' => "<<",
        '»' => ">>",
        'ß' => "ss",
        'Æ' => "AE",
        'æ' => "ae",
        'Œ' => "OE",
        'œ' => "oe",
        'Ø' => "O",
        'ø' => "o",
        'Đ' | 'Ð' => "D",
        'đ' | 'ð' => "d",
        'Ł' => "L",
        'ł' => "l",
        'Þ' => "Th",
        'þ' => "th",
        'ı' => "i",
        _ => return latin_base(character).map(Entry::Keep),
    };
    Some(Entry::As(ascii))
}

/// The ASCII letter under the marks of a precomposed Latin letter.
fn latin_base(character: char) -> Option<char> {
    if !matches!(character, '\u{C0}'..='\u{24F}' | '\u{1E00}'..='\u{1EFF}') {
        return None;
    }
    let mut decomposed = std::iter::once(character).nfd();
    let base = decomposed.next().filter(char::is_ascii_alphabetic)?;
    let mut marks = 0;
    for mark in decomposed {
        if !matches!(mark, '\u{300}'..='\u{36F}') {
            return None;
        }
        marks += 1;
    }
    (marks > 0).then_some(base)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_example() {
        for (path, expected) in [
            ("t/My Note.md", "main/t/my-note"),
            ("t/CamelCaseTitle.md", "main/t/camel-case-title"),
            ("t/HTTPServer API.md", "main/t/httpserver-api"),
            ("t/Version 2.0.0.md", "main/t/version-2.0.0"),
            ("t/file.md.md", "main/t/file.md"),
            ("t/.md", "main/t/.md"),
            ("..md", "main/..md"),
            ("t/Don't stop.md", "main/t/dont-stop"),
            ("t/don\u{2019}t.md", "main/t/dont"),
            ("t/C++ & C#.md", "main/t/c-c"),
            ("t/⚡\u{FE0F}.md", "main/t/"),
            ("t/mixed中文English.md", "main/t/mixed-中文-english"),
            ("t/全角，标点！.md", "main/t/全角标点"),
            ("t/Cafe\u{301} Über.md", "main/t/cafe-uber"),
            ("main/n.md", "main/n"),
            ("mainx/n.md", "main/mainx/n"),
        ] {
            assert_eq!(of_path(path, Some("Main")).as_deref(), Some(expected), "{path}");
        }
    }

    #[test]
    fn what_is_not_proven() {
        for path in
            ["t/Кириллица.md", "t/ひらがな.md", "t/ⓘ.md", "t/\u{E000}.md", "t/a", "t/a.txt", "a:b.md", "a//b.md"]
        {
            assert_eq!(of_path(path, None), None, "{path}");
        }
        for project in ["", "v1.0", "a/b", "a\\b", "Проект"] {
            assert_eq!(of_path("n.md", Some(project)), None, "{project}");
        }
    }
}
