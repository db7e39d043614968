//! `secretPatternGuard`: does a text hold something shaped like a secret?
//!
//! High-confidence shapes only: a fixed prefix, a character set, a length, and a boundary on both sides (the table in `shapes`), or a
//! context that leaves no doubt (a key block, a URL with a password, a `Bearer` value). Obvious placeholders are none. The
//! answer is a class; no part of the text leaves this module.
//!
//! Why by hand and not with a regular expression engine: all shapes start at a word's start, so one pass over the bytes with
//! a few table look-ups per word finds the few places where a shape can begin, and what is looked at there is not looked
//! at again. That makes the cost per byte nearly the same for prose and for text made to be slow, which neither a
//! backtracking engine nor a literal prefilter in front of an automaton gives, and it needs no start-up work, no
//! heap and no dependency.

mod context;
mod shapes;

use std::fmt;

use context::{bearer, private_key, telegram, url_password};
use shapes::{CANDIDATES, FLAGS, HEAD, PLACEHOLDER, Rule, SHAPES, SPECIAL, Shape, TAILS, WORD};

/// The kind of secret. Records hold this and nothing else of it; messages name only the argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SecretClass {
    /// A private key block (PEM, OpenSSH, PGP), with key material.
    PrivateKey,
    /// An age identity.
    AgeKey,
    /// An AWS access key id.
    AwsAccessKeyId,
    /// An AWS secret access key, named as such.
    AwsSecretKey,
    /// An Azure storage account key, named as such.
    AzureKey,
    /// A Google API key, OAuth token or client secret.
    Google,
    /// A GitHub token.
    GitHub,
    /// A GitLab token.
    GitLab,
    /// A Slack token or webhook.
    Slack,
    /// A Telegram bot token.
    Telegram,
    /// A key of a model provider (`OpenAI`, Anthropic, `DeepSeek`, …).
    ModelProvider,
    /// A token of a model or data hub.
    ModelHub,
    /// A live payment key.
    Payment,
    /// A package registry's token.
    Registry,
    /// A mail or telephony service's key.
    Messaging,
    /// A cloud, hosting or secret store's token.
    Cloud,
    /// A token of a work tool (tracker, design, monitoring).
    WorkTool,
    /// A signed JSON Web Token.
    Jwt,
    /// The value of a `Bearer` authorization.
    Bearer,
    /// A URL with a password.
    UrlPassword,
}

impl SecretClass {
    /// A stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PrivateKey => "private-key",
            Self::AgeKey => "age-key",
            Self::AwsAccessKeyId => "aws-access-key-id",
            Self::AwsSecretKey => "aws-secret-key",
            Self::AzureKey => "azure-key",
            Self::Google => "google",
            Self::GitHub => "github",
            Self::GitLab => "gitlab",
            Self::Slack => "slack",
            Self::Telegram => "telegram",
            Self::ModelProvider => "model-provider",
            Self::ModelHub => "model-hub",
            Self::Payment => "payment",
            Self::Registry => "registry",
            Self::Messaging => "messaging",
            Self::Cloud => "cloud",
            Self::WorkTool => "work-tool",
            Self::Jwt => "jwt",
            Self::Bearer => "bearer",
            Self::UrlPassword => "url-password",
        }
    }
}

impl fmt::Display for SecretClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The class of the first secret in `text` (UTF-8 or WTF-8 bytes). Linear time, no allocation.
#[must_use]
pub fn find_secret(text: &[u8]) -> Option<SecretClass> {
    let mut at = 0;
    // Whether the byte before `at` can be part of a word.
    let mut in_word = false;
    while let Some(&byte) = text.get(at) {
        let kind = flags(byte);
        if kind & WORD != 0 {
            if !in_word {
                // In text that is JSON itself, `\n` before a word is two characters.
                if matches!(byte, b'n' | b'r' | b't') && text.get(..at).is_some_and(|text| text.ends_with(b"\\")) {
                    at += 1;
                    continue;
                }
                match token_at(text, at) {
                    Step::Found(class) => return Some(class),
                    Step::Past(end) => {
                        // The last byte of what was looked at still decides whether a word starts here.
                        in_word = is_word(text, end - 1);
                        at = end;
                        continue;
                    }
                    Step::Nothing => {}
                }
            }
            in_word = true;
        } else {
            in_word = false;
            if kind & SPECIAL != 0 {
                let found = if byte == b'@' { url_password(text, at) } else { telegram(text, at) };
                if found.is_some() {
                    return found;
                }
            }
        }
        at += 1;
    }
    None
}

/// What was found at a word's start.
enum Step {
    Found(SecretClass),
    /// Nothing, and everything before this index was looked at.
    Past(usize),
    Nothing,
}

fn token_at(text: &[u8], at: usize) -> Step {
    // Nothing shorter than this is a secret.
    let Some(head) = text.get(at..).and_then(|rest| rest.first_chunk::<HEAD>()) else {
        return Step::Nothing;
    };
    let (front, back) = head.split_at(3);
    let all = |bytes: &[u8], tables: &[[u64; 256]]| {
        bytes.iter().zip(tables).fold(u64::MAX, |shapes, (byte, table)| shapes & table[usize::from(*byte)])
    };
    let (front_tables, back_tables) = CANDIDATES.split_at(3);
    let mut candidates = all(front, front_tables);
    // Nearly every word of a text ends here.
    if candidates == 0 {
        return Step::Nothing;
    }
    candidates &= all(back, back_tables);
    let mut past = 0;
    while candidates != 0 {
        let index = candidates.trailing_zeros() as usize;
        candidates &= candidates - 1;
        let (Some(shape), Some(&(tail, length))) = (SHAPES.get(index), TAILS.get(index)) else {
            break;
        };
        let body = text.get(at + length..).unwrap_or_default();
        let before_body = text.get(at + length - tail.len()..at + length).unwrap_or_default();
        // By hand: the tails are short, and most differ in the first byte.
        let same = tail.iter().zip(before_body).all(|(expected, byte)| expected == byte);
        if !same || before_body.len() != tail.len() {
            continue;
        }
        if !can_start(shape, body) {
            continue;
        }
        let before = text.get(..at).unwrap_or_default();
        let joined = matches!(before, [.., b'-' | b'.' | b'/' | b'@']);
        let armoured = before.ends_with(b"-----");
        if (shape.alone && joined) || (matches!(shape.rule, Rule::KeyBlock) && !armoured) {
            continue;
        }
        let (found, looked_at) = check(shape, body);
        if found {
            return Step::Found(shape.class);
        }
        past = past.max(at + length + looked_at);
    }
    if past > at { Step::Past(past) } else { Step::Nothing }
}

/// A look at a few bytes before a run is measured: the first four, and the last that it must have.
fn can_start(shape: &Shape, body: &[u8]) -> bool {
    let Rule::Run { of, min, .. } = shape.rule else {
        return true;
    };
    let fits = |byte: &u8| flags(*byte) & of != 0;
    body.get(min - 1).is_some_and(fits) && body.iter().take(4).all(fits)
}

/// Whether what follows a prefix makes it a secret, and how much of it was looked at.
fn check(shape: &Shape, body: &[u8]) -> (bool, usize) {
    match shape.rule {
        Rule::Run { of, min, max } => {
            let length = run(body, of);
            let token = body.get(..length).unwrap_or_default();
            // A token at the end of a sentence is followed by a full stop, which some sets contain.
            let trimmed = token.trim_ascii_end_matches(b".-_");
            let fits = |length: usize| (min..=max).contains(&length);
            let has = |of: u16| trimmed.iter().any(|byte| flags(*byte) & of != 0);
            let found = (fits(trimmed.len()) || fits(length))
                && body.get(length).is_none_or(|next| flags(*next) & WORD == 0)
                && shape.needs.iter().all(|of| has(*of))
                && !is_placeholder(token);
            (found, length)
        }
        Rule::Parts { of, lengths, between } => {
            let mut at = 0;
            for (index, (min, max)) in lengths.iter().enumerate() {
                if index > 0 {
                    if body.get(at) != Some(&between) {
                        return (false, at);
                    }
                    at += 1;
                }
                let length = run(body.get(at..).unwrap_or_default(), of);
                if !(*min..=*max).contains(&length) {
                    return (false, at + length);
                }
                at += length;
            }
            let token = body.get(..at).unwrap_or_default();
            (!is_placeholder(token), at)
        }
        Rule::Bearer => bearer(body),
        Rule::KeyBlock => (private_key(body), 0),
        Rule::Assigned { of, length } => {
            // `name = "value"`, `name: value`, `"name":"value"`.
            let gap = body.iter().take(8).take_while(|byte| b" \t\"'=:>".contains(byte)).count();
            let value = body.get(gap..).unwrap_or_default();
            let found = run(value, of);
            let token = value.get(..found).unwrap_or_default();
            (gap > 0 && found == length && !is_placeholder(token), gap + found)
        }
    }
}

/// Length of the longest prefix made of characters in `of`.
fn run(text: &[u8], of: u16) -> usize {
    text.iter().position(|byte| flags(*byte) & of == 0).unwrap_or(text.len())
}

/// Length of the longest prefix without characters in `of`.
fn run_until(text: &[u8], of: u16) -> usize {
    text.iter().position(|byte| flags(*byte) & of != 0).unwrap_or(text.len())
}

fn flags(byte: u8) -> u16 {
    FLAGS[usize::from(byte)]
}

fn is_word(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| flags(*byte) & WORD != 0)
}

/// Values that are written to be replaced ([`shapes::PLACEHOLDER`]): only what no generator would make.
fn is_placeholder(value: &[u8]) -> bool {
    let mut state = 0;
    for byte in value {
        state = (state << 1 | PLACEHOLDER.starts) & PLACEHOLDER.fits[usize::from(*byte)];
        if state & PLACEHOLDER.ends != 0 {
            return true;
        }
    }
    value.starts_with(b"<")
}

/// `trim_end_matches` for bytes.
trait TrimEnd {
    fn trim_ascii_end_matches(&self, of: &[u8]) -> &[u8];
}

impl TrimEnd for [u8] {
    fn trim_ascii_end_matches(&self, of: &[u8]) -> &[u8] {
        let end = self.iter().rposition(|byte| !of.contains(byte)).map_or(0, |last| last + 1);
        self.get(..end).unwrap_or_default()
    }
}
