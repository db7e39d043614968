//! The secret guard: no text makes it fail, what it finds it finds in whatever stands around it, and a letter case or a
//! word beside it is no way to hide.

use dsh_bmpp::guard::fixture::has_label;
use dsh_bmpp::guard::secret::find_secret;
use dsh_bmpp::note::text::Text;

use super::draw::Draw;

/// Secrets that stand alone, each of its own class.
const SECRETS: &[&str] = &[
    "ghp_aB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXyZ",
    "AKIA2Q3R4S5T6U7V8W9X",
    "https://alice:hunter2pass@host/x",
    "glpat-aB3cD4eF5gH6iJ7kL8mN",
    "AIzaaB3cD4eF5gH6iJ7kL8mN9oP0qR1sT2uVwXy",
];

pub fn run(bytes: &[u8]) {
    let found = find_secret(bytes);
    assert!(found.is_none_or(|class| !class.name().is_empty()));
    assert_eq!(found, find_secret(bytes));
    let mut draw = Draw::new(bytes);
    let secret = draw.one(SECRETS);
    let (before, after) =
        (draw.one(&["", "\n", " ", "(", "\"", "= ", ", "]), draw.one(&["", "\n", " ", ")", "\"", ", "]));
    let rest = draw.rest();
    // What is found stays found with white space around it.
    if found.is_some() {
        let framed = [b"\n", bytes, b"\n"].concat();
        assert!(find_secret(&framed).is_some(), "hidden by a line break");
    }
    // Behind any text that ends a line, a secret is a secret.
    let text = [rest, b"\n", before.as_bytes(), secret.as_bytes(), after.as_bytes()].concat();
    assert!(
        find_secret(&text).is_some(),
        "{secret} is hidden by what stands before it: {:?}",
        String::from_utf8_lossy(&text)
    );
    let text = [before.as_bytes(), secret.as_bytes(), b"\n", rest].concat();
    assert!(
        find_secret(&text).is_some(),
        "{secret} is hidden by what stands behind it: {:?}",
        String::from_utf8_lossy(&text)
    );
    let text = String::from_utf8_lossy(bytes).into_owned();
    let plain = text.to_lowercase().contains("[test-fixture]");
    assert!(has_label(&Text::from(text.as_str())) == plain || !text.is_ascii());
}
