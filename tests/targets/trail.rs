//! A home's trail on disk: whatever its files hold is read to the end, counted, and pruned without touching what cannot be
//! read.

use std::fs;
use std::path::{Path, PathBuf};

use dsh_bmpp::audit::prune::{Request, prune};
use dsh_bmpp::audit::record::Record;
use dsh_bmpp::audit::trail::{DOMAIN, Places, TABLE, Tally, Visit, read};

use super::draw::Draw;

/// A folder of its own that goes with it.
struct Home(PathBuf);

impl Home {
    fn new() -> Home {
        let thread = format!("{:?}", std::thread::current().id()).replace(|c: char| !c.is_ascii_digit(), "");
        let path = std::env::temp_dir().join(format!("dsh-bmpp-fuzz-{}-{thread}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(path.join(DOMAIN).join(TABLE)).expect("a folder");
        Home(path)
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Counts what it is shown.
#[derive(Default)]
struct Count {
    seen: u64,
    limit: Option<u64>,
}

impl Visit for Count {
    fn record(&mut self, _: &Record<'_>, text: &str) -> bool {
        assert!(text.starts_with(['{', ' ', '\n', '\t', '\r']), "{text:?}");
        self.seen += 1;
        self.limit.is_none_or(|limit| self.seen < limit)
    }
}

/// What a trail holds, and how many records were shown.
fn count(storages: &Path, limit: Option<u64>) -> (Tally, u64) {
    let mut count = Count { seen: 0, limit };
    let tally = read(&Places::below(storages), &mut count).expect("what is there can be read");
    (tally, count.seen)
}

pub fn run(bytes: &[u8]) {
    let mut draw = Draw::new(bytes);
    let (layout, keep, limit) = (draw.below(4), u64::from(draw.byte()) % 8, u64::from(draw.byte()) % 8 + 1);
    let rest = draw.rest();
    let home = Home::new();
    let parts: Vec<&[u8]> = rest.split(|byte| *byte == 0xff).take(12).collect();
    let mut parts = parts.into_iter();
    if layout != 1 {
        let single = parts.next().unwrap_or_default();
        // Half of the inputs are the events of a document that is as it must be.
        let document = match layout {
            0 => [b"{\"unit\":{\"name\":\"bmpp_audit\"},\"global\":null,\"tables\":{\"events\":{", single, b"}}}"]
                .concat(),
            _ => single.to_vec(),
        };
        fs::write(home.0.join(format!("{DOMAIN}.json")), document).expect("written");
    }
    for (at, part) in parts.enumerate() {
        fs::write(home.0.join(DOMAIN).join(TABLE).join(format!("{at:03}.json")), part).expect("written");
    }
    let (tally, seen) = count(&home.0, None);
    assert_eq!(tally.records + tally.later, seen);
    assert_eq!(tally.broken == 0, tally.broken_at.is_empty());
    assert_eq!(count(&home.0, None).0, tally);
    // Who wants no more is not asked again.
    assert_eq!(count(&home.0, Some(limit)).1, seen.min(limit));

    // What cannot be taken apart is not pruned, and a dry run says so too.
    let request = Request { keep: Some(keep), since: None, dry_run: true };
    let would = prune(&Places::below(&home.0), request, &mut |_| {}).map(|pruned| (pruned.removed, pruned.kept)).ok();
    assert_eq!(count(&home.0, None).0, tally, "a dry run changes something");
    let request = Request { dry_run: false, ..request };
    let did = prune(&Places::below(&home.0), request, &mut |_| {}).map(|pruned| (pruned.removed, pruned.kept)).ok();
    assert_eq!(would, did);
    let (after, left) = count(&home.0, None);
    match did {
        None => assert_eq!(after, tally, "a prune that failed changes something"),
        Some((removed, kept)) => {
            assert_eq!((removed + kept, left), (seen, kept), "{tally:?} became {after:?}");
            assert_eq!(after.broken, tally.broken, "what could not be read is not left as it was");
        }
    }
}
