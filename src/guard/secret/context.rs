//! Secrets that their surroundings give away: a key block, a URL with a password, a `Bearer` value, a bot's id.

use super::shapes::{AUTHORITY_END, BASE64, DIGIT, LETTER, TOKEN68};
use super::{SecretClass, flags, is_placeholder, is_word, run, run_until};

/// `Bearer`, white space, and a value that is no word: a run of 16 letters and digits mixed, or a UUID.
pub(super) fn bearer(body: &[u8]) -> (bool, usize) {
    let gap = body.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
    let value = body.get(gap..).unwrap_or_default();
    let length = run(value, TOKEN68);
    if length < 20 {
        return (false, gap + length);
    }
    let value = value.get(..length).unwrap_or_default();
    // The full stop of a sentence is no part of it.
    let value = value.strip_suffix(b".").unwrap_or(value);
    let random = |part: &[u8]| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        part.len() >= 16 && digits >= 2 && digits < part.len()
    };
    let mixed = value.split(|byte| !byte.is_ascii_alphanumeric()).any(random);
    let uuid = value.len() == 36
        && value.split(|byte| *byte == b'-').map(<[u8]>::len).eq([8, 4, 4, 4, 12])
        && value.iter().all(|byte| *byte == b'-' || byte.is_ascii_hexdigit());
    let found = gap > 0 && value.len() >= 20 && (mixed || uuid) && !is_placeholder(value);
    (found, gap + length)
}

/// `scheme://user:password@host`, at the first `@`. Looks back no further than the `@` or the delimiter before.
pub(super) fn url_password(text: &[u8], sign: usize) -> Option<SecretClass> {
    let (before, after) = text.split_at_checked(sign)?;
    let stop = |byte: &u8| flags(*byte) & AUTHORITY_END != 0 || *byte == b'@';
    // A password has three characters at least; most texts with an `@` end here.
    if before.iter().rev().take(3).any(|byte| *byte == b':' || stop(byte)) {
        return None;
    }
    let colon = before.iter().rposition(|byte| *byte == b':' || stop(byte))?;
    if before.get(colon) != Some(&b':') {
        return None;
    }
    let slash = before.get(..colon)?.iter().rposition(stop)?;
    let scheme = before.get(..=slash)?.strip_suffix(b"://")?;
    let user = before.get(slash + 1..colon)?;
    // A password may hold an `@` itself: the last one before the host counts.
    let authority = after.get(..run_until(after, AUTHORITY_END))?;
    let last = sign + authority.iter().rposition(|byte| *byte == b'@')?;
    let password = text.get(colon + 1..last)?;
    let host = text.get(last + 1)?;
    let found = scheme.last().is_some_and(u8::is_ascii_alphanumeric)
        && (host.is_ascii_alphanumeric() || *host == b'[')
        // `postgres:postgres` is how every tutorial starts its database.
        && !password.eq_ignore_ascii_case(user)
        && !is_name(password)
        && !is_variable(password)
        && !is_placeholder(password);
    found.then_some(SecretClass::UrlPassword)
}

/// Words that stand for a password.
fn is_name(value: &[u8]) -> bool {
    const NAMES: [&[u8]; 11] = [
        b"password",
        b"passwd",
        b"pass",
        b"pwd",
        b"secret",
        b"token",
        b"user",
        b"username",
        b"api_key",
        b"apikey",
        b"key",
    ];
    value.len() <= 8 && NAMES.iter().any(|name| value.eq_ignore_ascii_case(name))
}

/// `$NAME`, `${NAME}`, `{{name}}`, `%s`, `[name]`: filled in later.
fn is_variable(value: &[u8]) -> bool {
    matches!(value, [b'$' | b'{' | b'[' | b'%' | b'(' | b':', ..])
        && !matches!(value, [b'%', hex, ..] if hex.is_ascii_hexdigit())
}

/// `12345678:AA…`, at the colon.
pub(super) fn telegram(text: &[u8], colon: usize) -> Option<SecretClass> {
    if !text.get(colon.checked_sub(1)?)?.is_ascii_digit() {
        return None;
    }
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

/// A key block, behind `-----BEGIN `: the armour alone is only text about keys, so key material must follow.
pub(super) fn private_key(body: &[u8]) -> bool {
    let label = body
        .iter()
        .take(48)
        .take_while(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || **byte == b' ')
        .count();
    let Some((label, rest)) = body.split_at_checked(label) else {
        return false;
    };
    let private = label.ends_with(b"PRIVATE KEY") || label.ends_with(b"PRIVATE KEY BLOCK");
    let Some(mut rest) = rest.strip_prefix(b"-----").filter(|_| private) else {
        return false;
    };
    // A few header lines (`Proc-Type: …`, `Version: …`) may stand before the key.
    for _ in 0..8 {
        rest = skip_breaks(rest);
        let line = run(rest, LETTER | DIGIT | BASE64);
        if line >= 40 {
            return !is_placeholder(rest.get(..line).unwrap_or_default());
        }
        // The next armour ends this one; it is looked at on its own.
        if rest.starts_with(b"-") {
            return false;
        }
        let Some(end) = rest.iter().take(128).position(|byte| *byte == b'\n') else {
            return false;
        };
        rest = rest.get(end..).unwrap_or_default();
    }
    false
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
