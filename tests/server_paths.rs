//! The path rules against the installed server's own functions.
//!
//! Runs where the project's set-up has installed Basic Memory, or where `BM_SERVER_PYTHON` names the Python of another
//! installation; says so and passes elsewhere.
//! `BM_CASES` (default 6000) and `BM_SEED` (default 1) choose the generated set.
#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use dsh_bmpp::guard::path::{PathArgument, check_path};
use dsh_bmpp::note::path::{Refusal, note_path};
use dsh_bmpp::note::python::{Alnum, is_alnum, is_space};
use dsh_bmpp::note::text::{CodePoint, Text};
use serde_json::{Value, json};

/// xorshift64*: the same cases for the same seed on every machine.
struct Random {
    state: u64,
    /// Nothing but ASCII for this case: the share that must be known completely.
    ascii: bool,
}

impl Random {
    fn new(seed: u64) -> Self {
        Random { state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1, ascii: false }
    }

    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).unwrap()
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// One character: half ordinary, the rest what paths and slugs stumble over, and now and then anything at all.
    fn character(&mut self) -> char {
        match self.below(if self.ascii { 13 } else { 20 }) {
            0..=7 => self.pick(&['a', 'b', 'Z', 'Q', 'x', '3', 'M', 'n', 'o', 't', 'e', '9']),
            8 => ' ',
            9 => '/',
            10 => '.',
            11 => self.pick(&['-', '_', '\'', ':', '\\', '~', '\t', '\n', '\u{1C}', '\u{7F}']),
            12 => char::from_u32(0x20 + u32::try_from(self.below(0x5F)).unwrap()).unwrap(),
            13 => self.pick(&['é', 'Ü', 'ñ', 'ß', '中', '目', '　', '！', '，', 'ｱ', '～', 'Å', 'ﬁ', '²', '½']),
            14 => {
                self.pick(&['🚀', '⚡', '\u{FE0F}', '\u{200D}', '\u{200B}', '\u{202E}', '\u{301}', '\u{308}', '\u{A0}'])
            }
            15 => self.pick(&['К', 'и', 'か', 'ナ', '한', 'ไ', 'ह', '\u{93F}', 'Ω', 'α', 'ש', 'ع']),
            16 => {
                self.pick(&['–', '—', '’', '“', '…', '\u{3000}', '．', '／', '‥', '\u{378}', '\u{2EBF0}', '\u{FFFF}'])
            }
            17 => char::from_u32(0xA0 + u32::try_from(self.below(0x1B0)).unwrap()).unwrap(),
            18 => char::from_u32(0x3000 + u32::try_from(self.below(0x7000)).unwrap()).unwrap(),
            _ => char::from_u32(u32::try_from(self.below(0x110000)).unwrap()).unwrap_or('\u{E000}'),
        }
    }

    fn text(&mut self, longest: usize) -> String {
        let length = self.below(longest + 1);
        (0..length).map(|_| self.character()).collect()
    }

    /// Folders, some of them with dots and characters that the strip rule drops.
    fn directory(&mut self) -> String {
        let segments = self.below(4);
        let mut out = self.pick(&["", "", "", "", "", "", "./", " ", "/", "main/"]).to_owned();
        for at in 0..=segments {
            if at > 0 {
                out.push_str(self.pick(&["/", "/", "/", "/", "//", "\\", "/ "]));
            }
            match self.below(8) {
                0 => {
                    let junk: &[char] = if self.ascii {
                        &['!', '?', ':', '\u{7F}', ' ', '.']
                    } else {
                        &['!', '?', '\u{301}', '🚀', '\u{200B}', ' ']
                    };
                    let junk: String = (0..self.below(3)).map(|_| self.pick(junk)).collect();
                    let at = self.below(3);
                    let mut dots = String::from("..");
                    dots.insert_str(at.min(2), &junk);
                    out.push_str(&dots);
                }
                1 => {
                    out.push_str(self.pick(&[".git", "node_modules", ".", "x.md", "Notes", "main"]));
                }
                _ => out.push_str(&self.text(6)),
            }
        }
        out
    }
}

fn points(text: &str) -> Vec<CodePoint> {
    text.chars().map(CodePoint::from).collect()
}

fn string(value: &Value) -> String {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|point| char::from_u32(u32::try_from(point.as_u64().unwrap()).unwrap()).unwrap())
        .collect()
}

/// All answers, or `None` where no server is installed.
fn ask(questions: &[Value]) -> Option<Vec<Value>> {
    // What the project's set-up installs, unless another is named.
    let installed = concat!(env!("CARGO_MANIFEST_DIR"), "/hosts/basic-memory/.root/venv/bin/python");
    let python = std::env::var("BM_SERVER_PYTHON").unwrap_or_else(|_| installed.to_owned());
    if !std::path::Path::new(&python).exists() {
        eprintln!("no Basic Memory is installed: the server's functions were not asked");
        return None;
    }
    let mut child = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/server_paths.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the server's Python starts");
    let mut input = child.stdin.take().unwrap();
    let mut lines = String::new();
    for question in questions {
        lines.push_str(&question.to_string());
        lines.push('\n');
    }
    let writer = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    let answers: Vec<Value> =
        String::from_utf8(output.stdout).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), questions.len());
    Some(answers)
}

fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|value| value.parse().ok()).unwrap_or(default)
}

#[test]
fn paths_and_permalinks_agree() {
    let (count, seed) = (setting("BM_CASES", 6_000), setting("BM_SEED", 1));
    let mut random = Random::new(seed);
    let projects = ["main", "My Notes", "TEST-project", "Café", "x"];
    let cases: Vec<(String, String, &str)> = (0..count)
        .map(|at| {
            random.ascii = at % 5 < 2;
            (random.text(14), random.directory(), random.pick(&projects))
        })
        .collect();
    let questions: Vec<Value> = cases
        .iter()
        .map(|(title, directory, project)| {
            json!({"ask": "path", "title": points(title), "directory": points(directory), "project": project})
        })
        .collect();
    let Some(answers) = ask(&questions) else {
        return;
    };

    let (mut refused, mut unproven, mut paths, mut permalinks, mut ascii, mut ascii_known, mut left) =
        (0, 0, 0, 0, 0, 0, 0);
    for ((title, directory, project), answer) in cases.iter().zip(&answers) {
        let case = format!("{title:?} in {directory:?} of {project}: {answer}");
        assert!(answer.get("failed").is_none(), "{case}");
        let value = Text::from(directory.as_str());
        if answer.get("outside") == Some(&Value::Bool(true)) {
            left += 1;
            assert!(check_path(PathArgument::Directory, &value).is_some(), "leaves the project: {case}");
        }
        let ours = note_path(&title.as_str().into(), &value);
        match ours {
            Err(Refusal::Refused(why)) => {
                refused += 1;
                assert!(answer.get("refused").is_some(), "{why:?}: {case}");
            }
            Err(Refusal::NotProven(_)) => unproven += 1,
            Ok(path) => {
                paths += 1;
                assert!(answer.get("refused").is_none(), "{path:?}: {case}");
                assert_eq!(path.as_str(), string(&answer["file_path"]), "{case}");
                let is_ascii = path.as_str().is_ascii();
                ascii += u32::from(is_ascii);
                if let Some(permalink) = path.permalink(project) {
                    permalinks += 1;
                    ascii_known += u32::from(is_ascii);
                    assert_eq!(permalink, string(&answer["permalink"]), "{case}");
                } else {
                    assert!(!is_ascii, "ASCII is always known: {case}");
                }
            }
        }
    }
    println!(
        "seed {seed}, {count} cases: {refused} refused by both, {unproven} not proven, {paths} paths agree ({ascii} ASCII), \
         {permalinks} permalinks agree ({ascii_known} ASCII), {left} leave the project and are found"
    );
    assert!(left > 0 || count < 5000, "the generator made no case that leaves the project");
}

#[test]
fn nothing_that_edit_creates_or_move_reaches_leaves_unseen() {
    let (count, seed) = (setting("BM_CASES", 6_000) / 2, setting("BM_SEED", 1));
    let mut random = Random::new(seed ^ 0xE517);
    let wraps: [(&str, &str); 6] =
        [("", ""), ("", ""), ("memory://", ""), ("memory://main/", ""), ("[[", "]]"), ("main::", "")];
    let mut questions = Vec::new();
    let mut arguments = Vec::new();
    for at in 0..count {
        let mut value = random.directory();
        let argument = match at % 3 {
            0 => {
                let (before, after) = random.pick(&wraps);
                value = format!("{before}{value}/{}{after}", random.text(4));
                questions.push(json!({"ask": "edit", "identifier": points(&value)}));
                PathArgument::Identifier
            }
            1 => {
                questions.push(json!({"ask": "move", "destination": points(&value)}));
                PathArgument::DestinationPath
            }
            _ => {
                questions.push(json!({"ask": "move", "destination": points(&value), "folder": true}));
                PathArgument::DestinationFolder
            }
        };
        arguments.push((argument, value));
    }
    let Some(answers) = ask(&questions) else {
        return;
    };
    let (mut left, mut dots) = (0, 0);
    for ((argument, value), answer) in arguments.iter().zip(&answers) {
        let case = format!("{argument:?} {value:?}: {answer}");
        assert!(answer.get("failed").is_none(), "{case}");
        let mut files: Vec<(String, bool)> = Vec::new();
        if let Some(path) = answer.get("file_path") {
            files.push((string(path), answer["outside"] == true));
        }
        for file in answer.get("files").and_then(Value::as_array).into_iter().flatten() {
            files.push((string(&file[0]), file[1] == true));
        }
        for (file, outside) in files {
            let has_dot_dot = file.split('/').any(|segment| segment == "..");
            left += u32::from(outside);
            dots += u32::from(has_dot_dot);
            if outside || has_dot_dot {
                assert!(check_path(*argument, &value.as_str().into()).is_some(), "{case}");
            }
        }
    }
    println!("seed {seed}, {count} cases: {dots} results with a `..` segment, {left} outside the project, all found");
}

#[test]
fn every_code_point_is_as_python_has_it() {
    let questions: Vec<Value> = (0..0x110)
        .map(|block| json!({"ask": "codepoints", "first": block << 12, "last": (block << 12) + 0xFFF}))
        .collect();
    let Some(answers) = ask(&questions) else {
        return;
    };
    let mut unsure = 0;
    let rows = answers.iter().flat_map(|answer| answer["rows"].as_array().unwrap());
    for (point, row) in (0..0x110000).zip(rows) {
        match is_alnum(point) {
            Alnum::Yes => assert_eq!(row[0], true, "U+{point:04X}"),
            Alnum::No => assert_eq!(row[0], false, "U+{point:04X}"),
            Alnum::Unsure => unsure += 1,
        }
        assert_eq!(row[1], is_space(point), "U+{point:04X}");
    }
    println!("0x110000 code points: isalnum and isspace agree, {unsure} left unsure");
}

/// Every code point on its own, between letters, after a capital and beside an ideograph: the four places where the slug
/// rule treats it differently.
#[test]
fn every_known_transliteration_is_the_servers() {
    if ask(&[]).is_none() {
        return;
    }
    let mut known = Vec::new();
    for character in (0..0x110000).filter_map(char::from_u32).filter(|character| !matches!(character, '/' | '\0')) {
        for text in [format!("a{character}B"), format!("中{character}b"), format!("X{character}")] {
            let path = format!("{text}.md");
            if let Some(slug) = dsh_bmpp::note::permalink::of_path(&path, None) {
                known.push((text, slug));
            }
        }
    }
    let questions: Vec<Value> = known.iter().map(|(text, _)| json!({"ask": "slug", "text": points(text)})).collect();
    let Some(answers) = ask(&questions) else {
        return;
    };
    for ((text, slug), answer) in known.iter().zip(&answers) {
        assert_eq!(*slug, string(&answer["slug"]), "{text:?}");
    }
    println!("{} texts with a known slug agree ({} code points)", known.len(), known.len() / 3);
}
