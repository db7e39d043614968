//! Note identity against the rows that were recorded on the live server.
#![allow(clippy::unwrap_used, clippy::panic)]

use dsh_bmpp::note::path::{NotProven, Refusal, note_path};
use serde::Deserialize;

#[derive(Deserialize)]
struct Table {
    rows: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    n: u32,
    title: String,
    directory: String,
    outcome: String,
    file_path: Option<String>,
    permalink: Option<String>,
}

#[test]
fn every_recorded_row() {
    let table: Table = serde_json::from_str(include_str!("cases/identity.json")).unwrap();
    let (mut paths, mut permalinks, mut refused) = (0, 0, 0);
    for row in &table.rows {
        let path = note_path(&row.title.as_str().into(), &row.directory.as_str().into());
        let case = format!("row {}: {:?} in {:?}", row.n, row.title, row.directory);
        match (row.outcome.as_str(), path) {
            ("created", Ok(path)) => {
                let expected = row.file_path.as_deref().unwrap();
                if row.n == 145 {
                    // `main` was there, so `Main` became `main`.
                    assert!(path.as_str().eq_ignore_ascii_case(expected), "{case}");
                    continue;
                }
                assert_eq!(path.as_str(), expected, "{case}");
                paths += 1;
                // A folder named like the project has the prefix already.
                if let Some(permalink) = path.permalink("main") {
                    assert_eq!(Some(permalink.as_str()), row.permalink.as_deref(), "{case}");
                    permalinks += 1;
                } else {
                    assert!(!path.as_str().is_ascii(), "{case}");
                }
            }
            // The file system refused the name; what it takes is not known here.
            ("refused", Err(Refusal::NotProven(NotProven::LongName))) if row.n == 153 => {}
            ("refused", Err(Refusal::Refused(_))) => refused += 1,
            (_, other) => panic!("{case}: {other:?}"),
        }
    }
    println!("{paths} paths, {permalinks} permalinks, {refused} refusals of {} rows", table.rows.len());
    assert!(paths >= 95 && permalinks >= 85 && refused >= 14);
}
