//! `secretPatternGuard`: does a text hold something shaped like a secret?
//!
//! High-confidence shapes only: a fixed prefix, a character set, a length, and a boundary on both sides ([`shapes`]), or a
//! context that leaves no doubt (a key block, a URL with a password, a `Bearer` value). Obvious placeholders are none. The
//! answer is a class; no part of the text leaves this module.
//!
//! Why by hand and not with a regular expression engine: all shapes start at a word's start, so one pass over the bytes with
//! three table look-ups per word finds the few places where a shape can begin, and what is looked at there is not looked
//! at again. That makes the cost per byte nearly the same for prose and for text made to be slow, which neither a
//! backtracking engine nor a literal prefilter in front of an automaton gives, and it needs no start-up work, no
//! heap and no dependency.

mod shapes;

use std::fmt;

use shapes::{CANDIDATES, DIGIT, FLAGS, LETTER, Rule, SHAPES, Shape, WORD};

/// The kind of secret. Audit and messages hold this and nothing else.
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
        if flags(byte) & WORD != 0 {
            if !in_word {
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
            let found = match byte {
                b':' => url_password(text, at).or_else(|| telegram(text, at)),
                b'-' => private_key(text, at),
                _ => None,
            };
            if found.is_some() {
                return found;
            }
            in_word = false;
            // In text that is JSON itself, `\n` before a word is two characters.
            if byte == b'\\' && matches!(text.get(at + 1), Some(b'n' | b't' | b'r')) {
                at += 1;
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
    let key = |offset: usize| usize::from(text.get(at + offset).copied().unwrap_or(0));
    let [first, second, third] = &CANDIDATES;
    let mut candidates = first[key(0)] & second[key(1)] & third[key(2)];
    let mut past = 0;
    while candidates != 0 {
        let shape = &SHAPES[candidates.trailing_zeros() as usize];
        candidates &= candidates - 1;
        let Some(body) = text.get(at..).and_then(|rest| rest.strip_prefix(shape.prefix.as_bytes())) else {
            continue;
        };
        let before = at.checked_sub(1).and_then(|at| text.get(at));
        if shape.alone && matches!(before, Some(b'-' | b'.' | b'/' | b'@')) {
            continue;
        }
        let (found, looked_at) = check(shape, body);
        if found {
            return Step::Found(shape.class);
        }
        past = past.max(at + shape.prefix.len() + looked_at);
    }
    if past > at { Step::Past(past) } else { Step::Nothing }
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
                && !body.get(length).is_some_and(|next| flags(*next) & WORD != 0)
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

fn flags(byte: u8) -> u16 {
    FLAGS[usize::from(byte)]
}

fn is_word(text: &[u8], at: usize) -> bool {
    text.get(at).is_some_and(|byte| flags(*byte) & WORD != 0)
}

/// `Bearer`, white space, and a value that is no word: a run of 16 letters and digits mixed, or a UUID.
fn bearer(body: &[u8]) -> (bool, usize) {
    let gap = body.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let value = body.get(gap..).unwrap_or_default();
    let length = value
        .iter()
        .position(|byte| !(byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte)))
        .unwrap_or(value.len());
    let value = value.get(..length).unwrap_or_default();
    let random = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        part.len() >= 16 && digits >= 2 && digits < part.len()
    };
    let mixed = value.split(|byte| !byte.is_ascii_alphanumeric()).any(random);
    let uuid = value.len() == 36
        && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
        && value.iter().all(|byte| *byte == b'-' || byte.is_ascii_hexdigit());
    let found = gap > 0 && length >= 20 && (mixed || uuid) && !is_placeholder(value);
    (found, gap + length)
}

/// `scheme://user:password@host`, at the colon of the scheme.
fn url_password(text: &[u8], colon: usize) -> Option<SecretClass> {
    let rest = text.get(colon..)?.strip_prefix(b"://")?;
    if !colon.checked_sub(1).is_some_and(|before| text.get(before).is_some_and(u8::is_ascii_alphanumeric)) {
        return None;
    }
    let end = rest
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || b"/?#\"'<>`|\\,;".contains(byte))
        .unwrap_or(rest.len());
    let authority = rest.get(..end)?;
    let sign = authority.iter().rposition(|byte| *byte == b'@')?;
    let (credentials, host) = (authority.get(..sign)?, authority.get(sign + 1..)?);
    let separator = credentials.iter().position(|byte| *byte == b':')?;
    let (user, password) = (credentials.get(..separator)?, credentials.get(separator + 1..)?);
    let named = [
        b"password".as_slice(),
        b"passwd",
        b"pass",
        b"pwd",
        b"pw",
        b"secret",
        b"token",
        b"user",
        b"username",
        b"api_key",
        b"apikey",
        b"key",
    ];
    let plain = |known: &&[u8]| password.eq_ignore_ascii_case(known);
    let found = password.len() >= 3
        && host.first().is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'[')
        // `postgres:postgres` is how every tutorial starts its database.
        && !password.eq_ignore_ascii_case(user)
        && !named.iter().any(plain)
        && !is_variable(password)
        && !is_placeholder(password);
    found.then_some(SecretClass::UrlPassword)
}

/// `$NAME`, `${NAME}`, `{{name}}`, `%s`, `[name]`: filled in later.
fn is_variable(value: &[u8]) -> bool {
    matches!(value, [b'$' | b'{' | b'[' | b'%' | b'(' | b':', ..])
        && !matches!(value, [b'%', hex, ..] if hex.is_ascii_hexdigit())
}

/// `12345678:AA…`, at the colon.
fn telegram(text: &[u8], colon: usize) -> Option<SecretClass> {
    let body = text.get(colon + 1..)?;
    let digits = text.get(..colon)?.iter().rev().take(11).take_while(|byte| byte.is_ascii_digit()).count();
    let before = colon.checked_sub(digits + 1).is_some_and(|before| is_word(text, before));
    let found = body.starts_with(b"AA")
        && (8..=10).contains(&digits)
        && !before
        && body.iter().take(36).take_while(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(byte)).count() == 35
        && !is_placeholder(body.get(..35)?);
    found.then_some(SecretClass::Telegram)
}

/// A key block, at its first hyphen: the armour alone is only text about keys, so key material must follow.
fn private_key(text: &[u8], at: usize) -> Option<SecretClass> {
    let rest = text.get(at..)?.strip_prefix(b"-----BEGIN ")?;
    let label = rest
        .iter()
        .take(48)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ')
        .count();
    let (label, mut rest) = rest.split_at_checked(label)?;
    if !label.ends_with(b"PRIVATE KEY") && !label.ends_with(b"PRIVATE KEY BLOCK") {
        return None;
    }
    rest = rest.strip_prefix(b"-----")?;
    // A few header lines (`Proc-Type: …`, `Version: …`) may stand before the key.
    for _ in 0..8 {
        rest = skip_breaks(rest);
        let line = run(rest, LETTER | DIGIT | shapes::BASE64);
        if line >= 40 {
            let line = rest.get(..line)?;
            return (!is_placeholder(line)).then_some(SecretClass::PrivateKey);
        }
        let break_at = rest.iter().take(128).position(|byte| *byte == b'\n')?;
        rest = rest.get(break_at..)?;
    }
    None
}

/// Line breaks, real ones and those that JSON writes as two characters.
fn skip_breaks(mut text: &[u8]) -> &[u8] {
    loop {
        text = match text {
            [b'\n' | b'\r' | b' ' | b'\t', rest @ ..] | [b'\\', b'n' | b'r', rest @ ..] => rest,
            _ => return text,
        };
    }
}

/// Values that are written to be replaced. Only what no generator would make: masks of one character, and words.
fn is_placeholder(value: &[u8]) -> bool {
    const MASK: usize = 6;
    const WORDS: [&[u8]; 9] =
        [b"example", b"placeholder", b"redacted", b"changeme", b"your_", b"your-", b"yourt", b"yourk", b"dummy"];
    let masked = |window: &[u8]| {
        window.first().is_some_and(|first| b"xX*.0-_#".contains(first) && window.iter().all(|byte| byte == first))
    };
    if value.windows(MASK).any(masked) {
        return true;
    }
    value.starts_with(b"<") || WORDS.iter().any(|word| contains_ignoring_case(value, word))
}

fn contains_ignoring_case(value: &[u8], word: &[u8]) -> bool {
    value.windows(word.len()).any(|window| window.eq_ignore_ascii_case(word))
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
