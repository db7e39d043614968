//! Values out of bytes: the fuzzer's bytes decide, and once they are used up everything is the plainest there is.

use arbitrary::Unstructured;
use serde_json::{Map, Value};

/// A source of decisions.
pub struct Draw<'a>(Unstructured<'a>);

/// Texts that paths, identifiers and the server's rules stumble over.
const PIECES: &[&str] = &[
    "a",
    "b",
    "Main",
    "main",
    "notes",
    "tests",
    "My Note",
    "note",
    "n",
    "x",
    "d",
    ".md",
    ".markdown",
    "/",
    "//",
    "\\",
    ".",
    "..",
    "...",
    " ",
    "-",
    "_",
    ":",
    "::",
    "~",
    "~/",
    "C:/",
    "c:",
    "|",
    "[[",
    "]]",
    "memory://",
    "*",
    "?",
    "\"",
    "<",
    ">",
    "%2e",
    "\t",
    "\n",
    "\r",
    "\u{0}",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{a0}",
    "\u{ad}",
    "\u{200b}",
    "\u{200c}",
    "\u{200d}",
    "\u{202e}",
    "\u{2028}",
    "\u{2066}",
    "\u{fe0f}",
    "\u{feff}",
    "\u{e0001}",
    "\u{3000}",
    "\u{ff0e}",
    "\u{2025}",
    "\u{2215}",
    "\u{ff0f}",
    "é",
    "e\u{301}",
    "İ",
    "ı",
    "ſ",
    "ß",
    "K",
    "中",
    "🚀",
    "👍🏽",
    "К",
    "ひ",
    "\u{378}",
    "\u{1c89}",
    ".git",
    ".GIT",
    ".g\u{200b}it",
    ".ſsh",
    ".vscode",
    "node_modules",
    ".dsh",
    "con",
    "NUL.txt",
    "COM1",
    "com\u{b9}",
    "[test-fixture]",
    "-1",
    "1",
    "None",
    "null",
    "true",
    "6f1c7e0a-0000-4000-8000-000000000000",
    "project",
    "work",
];

impl<'a> Draw<'a> {
    pub fn new(bytes: &'a [u8]) -> Draw<'a> {
        Draw(Unstructured::new(bytes))
    }

    /// Whether there are bytes left.
    pub fn more(&self) -> bool {
        !self.0.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        self.0.arbitrary().unwrap_or(0)
    }

    pub fn word(&mut self) -> u32 {
        self.0.arbitrary().unwrap_or(0)
    }

    /// A number below `of`, which is no more than 256.
    pub fn below(&mut self, of: usize) -> usize {
        usize::from(self.byte()) % of.max(1)
    }

    /// True once in `of`.
    pub fn once_in(&mut self, of: usize) -> bool {
        self.below(of) == of - 1
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// The rest as it is.
    pub fn rest(self) -> &'a [u8] {
        self.0.take_rest()
    }

    /// A text of pieces and of letters that nobody thought of.
    pub fn text(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..self.below(6) {
            if self.once_in(4) {
                text.push(char::from_u32(self.word() % 0x11_0000).unwrap_or('\u{fffd}'));
            } else {
                text.push_str(self.one(PIECES));
            }
        }
        text
    }

    /// UTF-16 as JavaScript has it, lone surrogates included.
    pub fn units(&mut self) -> Vec<u16> {
        let mut units: Vec<u16> = self.text().encode_utf16().collect();
        if self.once_in(8) {
            let at = self.below(units.len() + 1);
            units.insert(at, 0xD7FE + u16::from(self.byte()) * 9);
        }
        units
    }

    /// Any JSON value, with keys and texts of the given words now and then.
    pub fn json(&mut self, depth: usize, words: &[&str]) -> Value {
        match self.below(if depth == 0 { 7 } else { 10 }) {
            0 => Value::Null,
            1 => Value::Bool(self.once_in(2)),
            2 => Value::from(self.one(&[0_i64, 1, -1, 2, 10, i64::MAX, i64::MIN])),
            3 => Value::from(self.one(&[0.5, -0.0, 1e300, 1.0, 9_007_199_254_740_993.0])),
            4 if !words.is_empty() => Value::from(self.one(words)),
            4..=6 => Value::from(self.text()),
            7 => Value::Array((0..self.below(4)).map(|_| self.json(depth - 1, words)).collect()),
            _ => {
                let mut map = Map::new();
                for _ in 0..self.below(5) {
                    let key =
                        if words.is_empty() || self.once_in(4) { self.text() } else { self.one(words).to_owned() };
                    let value = self.json(depth - 1, words);
                    map.insert(key, value);
                }
                Value::Object(map)
            }
        }
    }
}
