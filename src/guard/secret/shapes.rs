//! The table of shapes: prefix, character set, length.
//!
//! Lengths are those that the issuers document or that their tokens have; where a length may grow, only the minimum is
//! fixed. A prefix starts with a letter or digit; `[ab]` in it stands for either byte.

use super::SecretClass;
use super::SecretClass::{
    AgeKey, AwsAccessKeyId, AwsSecretKey, AzureKey, Bearer, Cloud, GitHub, GitLab, Google, Jwt, Messaging, ModelHub,
    ModelProvider, Payment, PrivateKey, Registry, Slack, WorkTool,
};

/// `0` to `9`.
pub(super) const DIGIT: u16 = 1 << 0;
const LOWER_HEX: u16 = 1 << 1;
const LOWER_REST: u16 = 1 << 2;
const UPPER_HEX: u16 = 1 << 3;
const UPPER_REST: u16 = 1 << 4;
const UNDERSCORE: u16 = 1 << 5;
const HYPHEN: u16 = 1 << 6;
const DOT: u16 = 1 << 7;
/// `+`, `/` and `=`.
pub(super) const BASE64: u16 = 1 << 8;
const TILDE: u16 = 1 << 9;
/// Bytes outside words that may belong to a secret known by its surroundings.
pub(super) const SPECIAL: u16 = 1 << 10;
/// Bytes that end the authority of a URL.
pub(super) const AUTHORITY_END: u16 = 1 << 11;
/// `a` to `z`.
const LOWER: u16 = LOWER_HEX | LOWER_REST;
/// `A` to `Z`.
const UPPER: u16 = UPPER_HEX | UPPER_REST;
/// Letters.
pub(super) const LETTER: u16 = LOWER | UPPER;
/// Lower-case hexadecimal digits.
const HEX: u16 = DIGIT | LOWER_HEX;
const ALNUM: u16 = LETTER | DIGIT;
/// What makes a word: a shape starts where no such byte is before it.
pub(super) const WORD: u16 = ALNUM | UNDERSCORE;
const URL64: u16 = WORD | HYPHEN;
/// What a `Bearer` value is made of.
pub(super) const TOKEN68: u16 = URL64 | DOT | TILDE | BASE64;

/// The sets that each byte is in.
pub(super) const FLAGS: [u16; 256] = {
    let mut flags = [0; 256];
    let mut at = 0u8;
    while at < 128 {
        flags[at as usize] = match at {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => LOWER_HEX,
            b'g'..=b'z' => LOWER_REST,
            b'A'..=b'F' => UPPER_HEX,
            b'G'..=b'Z' => UPPER_REST,
            b'_' => UNDERSCORE,
            b'-' => HYPHEN,
            b'.' => DOT,
            b'~' => TILDE,
            b'+' | b'/' | b'=' => BASE64,
            _ => 0,
        };
        if matches!(at, b'@' | b':') {
            flags[at as usize] |= SPECIAL;
        }
        if at.is_ascii_whitespace()
            || matches!(at, b'/' | b'?' | b'#' | b'"' | b'\'' | b'<' | b'>' | b'`' | b'|' | b'\\' | b',' | b';')
        {
            flags[at as usize] |= AUTHORITY_END;
        }
        at += 1;
    }
    flags
};

/// What must follow a prefix.
pub(super) enum Rule {
    /// One run of these characters, this long, and no word character behind it.
    Run { of: u16, min: usize, max: usize },
    /// Runs of these lengths with one byte between them.
    Parts { of: u16, lengths: &'static [(usize, usize)], between: u8 },
    /// White space and a value.
    Bearer,
    /// The armour of a private key, hyphens before it, and key material.
    KeyBlock,
    /// `=` or `:`, quotes, and a run of exactly this length.
    Assigned { of: u16, length: usize },
}

/// One shape.
pub(super) struct Shape {
    pub(super) class: SecretClass,
    pub(super) prefix: &'static str,
    pub(super) rule: Rule,
    /// Sets of which the run must have a character each.
    pub(super) needs: &'static [u16],
    /// Not behind a hyphen, a dot, a slash or an at sign: the prefix is short enough to be part of a name.
    pub(super) alone: bool,
}

const ANY: usize = 4096;
const MIXED: &[u16] = &[DIGIT, LETTER];
const MIXED_CASE: &[u16] = &[LOWER, UPPER];

const fn run(class: SecretClass, prefix: &'static str, of: u16, min: usize, max: usize) -> Shape {
    needs(class, prefix, of, min, max, &[])
}

const fn needs(
    class: SecretClass,
    prefix: &'static str,
    of: u16,
    min: usize,
    max: usize,
    needs: &'static [u16],
) -> Shape {
    Shape { class, prefix, rule: Rule::Run { of, min, max }, needs, alone: false }
}

const fn alone(mut shape: Shape) -> Shape {
    shape.alone = true;
    shape
}

const fn parts(
    class: SecretClass,
    prefix: &'static str,
    of: u16,
    lengths: &'static [(usize, usize)],
    between: u8,
) -> Shape {
    Shape { class, prefix, rule: Rule::Parts { of, lengths, between }, needs: &[], alone: false }
}

const fn ruled(class: SecretClass, prefix: &'static str, rule: Rule) -> Shape {
    Shape { class, prefix, rule, needs: &[], alone: false }
}

/// `aws_secret_access_key = …`.
const fn aws_secret(name: &'static str) -> Shape {
    Shape {
        class: AwsSecretKey,
        prefix: name,
        rule: Rule::Assigned { of: ALNUM | BASE64, length: 40 },
        needs: &[],
        alone: false,
    }
}

/// All shapes. Where two prefixes match at one place, the earlier row is tried first.
#[rustfmt::skip]
pub(super) const SHAPES: &[Shape] = &[
    run(GitHub, "gh[oprsu]_", ALNUM, 36, 255),
    run(GitHub, "github_pat_", WORD, 70, 255),
    run(GitLab, "glpat-", URL64 | DOT, 20, 320),
    run(GitLab, "gldt-", URL64, 20, 320),
    run(GitLab, "glrt-", URL64 | DOT, 20, 320),
    run(GitLab, "glptt-", URL64, 40, 320),
    run(GitLab, "glcbt-", URL64, 20, 320),
    run(AwsAccessKeyId, "A[KS]IA", UPPER | DIGIT, 16, 16),
    aws_secret("aws_secret_access_key"),
    aws_secret("AWS_SECRET_ACCESS_KEY"),
    aws_secret("[Ss]ecretAccessKey"),
    ruled(AzureKey, "AccountKey", Rule::Assigned { of: ALNUM | BASE64, length: 88 }),
    run(AgeKey, "AGE-SECRET-KEY-1", UPPER | DIGIT, 58, 58),
    run(Google, "AIza", URL64, 35, 35),
    needs(Google, "ya29.", URL64, 30, ANY, MIXED),
    run(Google, "GOCSPX-", URL64, 28, 28),
    needs(Slack, "xox[abeprs]-", ALNUM | HYPHEN, 24, 400, MIXED),
    needs(Slack, "xapp-", ALNUM | HYPHEN, 40, 400, MIXED),
    parts(Slack, "hooks.slack.com/services/", ALNUM, &[(8, 14), (8, 14), (20, 32)], b'/'),
    run(ModelProvider, "sk-ant-", URL64, 24, 255),
    needs(ModelProvider, "sk-proj-", URL64, 40, 255, MIXED),
    needs(ModelProvider, "sk-svcacct-", URL64, 40, 255, MIXED),
    needs(ModelProvider, "sk-admin-", URL64, 40, 255, MIXED),
    run(ModelProvider, "sk-or-v1-", HEX, 64, 64),
    alone(needs(ModelProvider, "sk-", ALNUM, 32, 128, MIXED)),
    run(ModelProvider, "gsk_", ALNUM, 52, 52),
    run(ModelProvider, "xai-", ALNUM, 80, 80),
    run(ModelProvider, "pplx-", ALNUM, 48, 56),
    needs(ModelHub, "hf_", ALNUM, 34, 40, MIXED_CASE),
    run(ModelHub, "r8_", ALNUM, 37, 40),
    needs(ModelHub, "dapi", HEX, 32, 32, MIXED),
    run(Payment, "[rs]k_live_", ALNUM, 24, 255),
    needs(Payment, "whsec_", ALNUM, 32, 64, MIXED),
    run(Payment, "sq0csp-", URL64, 43, 43),
    run(Payment, "shpat_", HEX | UPPER_HEX, 32, 32),
    run(Payment, "shpss_", HEX | UPPER_HEX, 32, 32),
    needs(Registry, "npm_", ALNUM, 36, 36, MIXED_CASE),
    needs(Registry, "pypi-", URL64, 60, 255, MIXED_CASE),
    run(Registry, "rubygems_", HEX, 48, 48),
    run(Registry, "dckr_pat_", URL64, 27, 36),
    parts(Messaging, "SG.", URL64, &[(22, 22), (43, 43)], b'.'),
    needs(Messaging, "SK", HEX, 32, 32, MIXED),
    run(Cloud, "do[opr]_v1_", HEX, 64, 64),
    needs(Cloud, "hvs.", URL64, 24, 200, MIXED),
    needs(Cloud, "hvb.", URL64, 100, 300, MIXED),
    needs(Cloud, "tskey-auth-", ALNUM | HYPHEN, 20, 100, MIXED),
    run(Cloud, "sbp_", HEX, 40, 40),
    run(WorkTool, "lin_api_", ALNUM, 40, 40),
    needs(WorkTool, "ntn_", ALNUM, 46, 46, MIXED),
    run(WorkTool, "figd_", URL64, 40, 44),
    parts(WorkTool, "glsa_", ALNUM, &[(32, 32), (8, 8)], b'_'),
    needs(WorkTool, "NRAK-", UPPER | DIGIT, 27, 27, MIXED),
    parts(WorkTool, "PMAK-", HEX, &[(24, 24), (34, 34)], b'-'),
    needs(WorkTool, "ATATT3", URL64 | BASE64, 100, 400, MIXED),
    parts(Jwt, "eyJ", URL64, &[(10, ANY), (12, ANY), (20, ANY)], b'.'),
    ruled(PrivateKey, "BEGIN ", Rule::KeyBlock),
    ruled(Bearer, "[Bb][Ee][Aa][Rr][Ee][Rr]", Rule::Bearer),
];

/// How many bytes at a word's start the tables decide.
pub(super) const HEAD: usize = 8;

impl Shape {
    /// Length of the prefix in bytes of text.
    pub(super) const fn prefix_length(&self) -> usize {
        let bytes = self.prefix.as_bytes();
        let (mut at, mut length, mut inside) = (0, 0, false);
        while at < bytes.len() {
            match bytes[at] {
                b'[' => inside = true,
                b']' => {
                    inside = false;
                    length += 1;
                }
                _ if inside => {}
                _ => length += 1,
            }
            at += 1;
        }
        length
    }

    /// What follows the bytes that the tables decide; it has no alternatives.
    pub(super) const fn tail(&self) -> &'static [u8] {
        let mut rest = self.prefix.as_bytes();
        let mut positions = 0;
        let mut inside = false;
        while let [byte, after @ ..] = rest {
            if positions == HEAD {
                break;
            }
            match *byte {
                b'[' => inside = true,
                b']' => inside = false,
                _ => {}
            }
            if !inside {
                positions += 1;
            }
            rest = after;
        }
        rest
    }

    /// The set that must go on behind a prefix shorter than the tables. `None`: anything may.
    const fn first_of_body(&self) -> Option<u16> {
        match self.rule {
            Rule::Run { of, .. } | Rule::Parts { of, .. } => Some(of),
            Rule::Assigned { .. } | Rule::Bearer | Rule::KeyBlock => None,
        }
    }
}

/// For each of the first bytes at a word's start: the shapes that can have this byte there, one bit each.
pub(super) const CANDIDATES: [[u64; 256]; HEAD] = {
    assert!(SHAPES.len() <= 64, "one bit each");
    let mut tables = [[0; 256]; HEAD];
    let mut shape = 0;
    while shape < SHAPES.len() {
        let prefix = SHAPES[shape].prefix.as_bytes();
        let (mut at, mut position, mut inside) = (0, 0, false);
        while at < prefix.len() && position < HEAD {
            match prefix[at] {
                b'[' => inside = true,
                b']' => {
                    inside = false;
                    position += 1;
                }
                byte => {
                    tables[position][byte as usize] |= 1 << shape;
                    if !inside {
                        position += 1;
                    }
                }
            }
            at += 1;
        }
        while position < HEAD {
            let mut byte = 0;
            while byte < 256 {
                let may_go_on = match SHAPES[shape].first_of_body() {
                    Some(of) => FLAGS[byte] & of != 0,
                    None => true,
                };
                if may_go_on {
                    tables[position][byte] |= 1 << shape;
                }
                byte += 1;
            }
            position += 1;
        }
        shape += 1;
    }
    tables
};

/// Tails and prefix lengths, so that nothing is parsed while a text is read.
pub(super) const TAILS: [(&[u8], usize); SHAPES.len()] = {
    let mut tails = [(&[] as &[u8], 0); SHAPES.len()];
    let mut shape = 0;
    while shape < SHAPES.len() {
        tails[shape] = (SHAPES[shape].tail(), SHAPES[shape].prefix_length());
        shape += 1;
    }
    tails
};

/// What marks a value that is written to be replaced: words in any case, and six characters in a row of those that masks
/// are made of. `[ab]` stands for either byte.
const PLACEHOLDERS: [&str; 7] = [
    "changeme",
    "dummy",
    "example",
    "placeholder",
    "redacted",
    "your[-_tk]",
    "[x*.#0_-][x*.#0_-][x*.#0_-][x*.#0_-][x*.#0_-][x*.#0_-]",
];

/// A bit-parallel matcher for [`PLACEHOLDERS`]: one shift, one or and one and per byte, whatever the text.
pub(super) struct Matcher {
    /// The first position of each pattern.
    pub(super) starts: u64,
    /// The last position of each pattern.
    pub(super) ends: u64,
    /// The positions that each byte fits.
    pub(super) fits: [u64; 256],
}

pub(super) const PLACEHOLDER: Matcher = {
    let mut matcher = Matcher { starts: 0, ends: 0, fits: [0; 256] };
    let mut position = 0;
    let mut pattern = 0;
    while pattern < PLACEHOLDERS.len() {
        matcher.starts |= 1 << position;
        let bytes = PLACEHOLDERS[pattern].as_bytes();
        let (mut at, mut inside) = (0, false);
        while at < bytes.len() {
            match bytes[at] {
                b'[' => inside = true,
                b']' => {
                    inside = false;
                    position += 1;
                }
                byte => {
                    matcher.fits[byte as usize] |= 1 << position;
                    matcher.fits[byte.to_ascii_uppercase() as usize] |= 1 << position;
                    if !inside {
                        position += 1;
                    }
                }
            }
            at += 1;
        }
        matcher.ends |= 1 << (position - 1);
        pattern += 1;
    }
    matcher
};
