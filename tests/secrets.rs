//! `secretPatternGuard` on its corpus: precision and recall are both one, and stay so.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::BTreeMap;

use dsh_bmpp::guard::secret::find_secret;
use proptest::prelude::*;
use serde::Deserialize;

#[derive(Deserialize)]
struct Corpus {
    r#true: Vec<Case>,
    r#false: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    parts: Vec<Part>,
    class: Option<String>,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Part {
    Text(String),
    Random(BTreeMap<String, usize>),
}

/// Draws characters so that every set has a digit and both cases early, as real tokens of this length do.
fn draw(set: &str, length: usize, seed: &mut u64) -> String {
    let of = match set {
        "alnum" => "aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXyZzYxWvUtSrQpOnMlKjIhGfEdCbA",
        "hex" => "0a1b2c3d4e5f6789",
        "upper" => "A2B3C4D5E6F7GHIJKLMNOPQRSTUVWXYZ",
        "upperhex" => "0A1B2C3D4E5F6789",
        "url64" => "aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXyZ-_zYxWvUtSrQpOnMlKjIhGfEdCbA",
        "base64" => "aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXyZ+/zYxWvUtSrQpOnMlKjIhGfEdCbA",
        "digit" => "1234567890",
        "lower" => "abcdefghijklmnopqrstuvwxyz",
        "bech32" => "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L",
        "bech32lower" => "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
        "crockford" => "0123456789ABCDEFGHJKMNPQRSTVWXYZ",
        other => panic!("no set {other}"),
    };
    let of: Vec<char> = of.chars().collect();
    (0..length)
        .map(|at| {
            *seed ^= *seed << 13;
            *seed ^= *seed >> 7;
            *seed ^= *seed << 17;
            // The first three characters are one of each kind, in every set that has them.
            let at = if at < 3 { at } else { usize::try_from(*seed % of.len() as u64).unwrap() };
            of[at]
        })
        .collect()
}

fn build(case: &Case, seed: u64) -> String {
    let mut seed = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    case.parts
        .iter()
        .map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Random(random) => random.iter().map(|(set, length)| draw(set, *length, &mut seed)).collect(),
        })
        .collect()
}

fn corpus() -> Corpus {
    serde_json::from_str(include_str!("cases/secrets.json")).unwrap()
}

#[test]
fn precision_and_recall_are_one() {
    let corpus = corpus();
    assert!(corpus.r#true.len() >= 60 && corpus.r#false.len() >= 120);
    let (mut hits, mut missed, mut wrong) = (0u32, Vec::new(), Vec::new());
    // Each case with several draws, so that no single lucky draw carries it.
    for seed in 1..=20 {
        for case in &corpus.r#true {
            let text = build(case, seed);
            match find_secret(text.as_bytes()) {
                Some(class) if Some(class.name()) == case.class.as_deref() => hits += 1,
                other => missed.push(format!("{:?} as {other:?}: {text}", case.class)),
            }
        }
        for case in &corpus.r#false {
            let text = build(case, seed);
            if let Some(class) = find_secret(text.as_bytes()) {
                wrong.push(format!("{:?} as {class}: {text}", case.why));
            }
        }
    }
    missed.truncate(10);
    wrong.truncate(10);
    assert!(missed.is_empty() && wrong.is_empty(), "missed {missed:#?}\nwrong {wrong:#?}");
    println!(
        "{} true and {} false cases, 20 draws each: {hits} found; precision 1.0, recall 1.0",
        corpus.r#true.len(),
        corpus.r#false.len()
    );
}

#[test]
fn a_secret_is_found_wherever_it_stands() {
    let corpus = corpus();
    for (before, after) in [
        ("", ""),
        ("key=", ""),
        ("\"", "\""),
        ("see: ", ". Then"),
        ("(", ")"),
        ("中", "中"),
        ("a\nb ", "\nc"),
        ("\u{200B}", "\u{200B}"),
        ("https://example.org/ ", ", and more"),
        ("\\n", "\\n"),
    ] {
        for case in &corpus.r#true {
            let secret = build(case, 3);
            // What follows must not be part of an armoured block's next line.
            let text = format!("{before}{secret}{after}");
            assert!(find_secret(text.as_bytes()).is_some(), "{:?} in {before:?}…{after:?}: {text}", case.class);
        }
    }
}

#[test]
fn two_texts_in_one_are_both_looked_at() {
    let corpus = corpus();
    for innocent in &corpus.r#false {
        let before = build(innocent, 5);
        // A text that ends inside a word or an armour would join with what follows.
        let text = format!("{before} \n{}", build(&corpus.r#true[0], 5));
        assert!(find_secret(text.as_bytes()).is_some(), "after {:?}: {text}", innocent.why);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_judged(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = find_secret(&bytes);
    }

    #[test]
    fn shape_shaped_bytes_are_judged(parts in prop::collection::vec("(sk-|ghp_|eyJ|Bearer |://|a:b@|[.:_-]|[A-Za-z0-9]{1,12}|-----BEGIN |PRIVATE KEY-----|\n)", 0..40)) {
        let _ = find_secret(parts.concat().as_bytes());
    }
}
