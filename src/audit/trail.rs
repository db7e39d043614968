//! Where a home's records are, and reading them as a stream.
//!
//! The host keeps the domain `bmpp_audit` in one of two layouts below its folder of storages: one file for the whole
//! domain, `bmpp_audit.json`, or one file per key, `bmpp_audit/events/<key>.json`. A home that outlived an upgrade of its
//! host has both. Both are replaced by renaming, so a file that is open is whole and stays so while a host goes on
//! writing; a file that goes in the middle of the reading is a record that was pruned.
//!
//! One thread reads, another takes apart; between them a bounded queue. Nothing is held but what is in that queue, and
//! what the visitor keeps.

use std::collections::VecDeque;
use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::record::{Kind, Record, SCHEMA, texts};

/// The storage domain.
pub const DOMAIN: &str = "bmpp_audit";
/// Its one table.
pub const TABLE: &str = "events";

/// Broken records that are named; more are only counted.
const NAMED: usize = 20;
/// Stored values, and bytes of them, that travel together from the reading thread.
const BATCH: usize = 256;
const BATCH_BYTES: usize = 1 << 20;
/// Batches that may wait.
const WAITING: usize = 4;

/// Where the records are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The file of the single-file layout, if there is one.
    pub file: Option<PathBuf>,
    /// The folder of the per-record layout, if there is one.
    pub folder: Option<PathBuf>,
}

impl Places {
    /// Looks below a folder of storages, which need not exist.
    #[must_use]
    pub fn below(storages: &Path) -> Places {
        let file = storages.join(format!("{DOMAIN}.json"));
        let folder = storages.join(DOMAIN).join(TABLE);
        Places { file: file.is_file().then_some(file), folder: folder.is_dir().then_some(folder) }
    }

    /// The layouts that were found, by their names.
    #[must_use]
    pub fn layouts(&self) -> Vec<&'static str> {
        let found = [(self.file.is_some(), "single"), (self.folder.is_some(), "per-record")];
        found.into_iter().filter(|(there, _)| *there).map(|(_, name)| name).collect()
    }
}

/// What was read, and what could not be.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Tally {
    /// Layouts that were found.
    pub layouts: Vec<&'static str>,
    /// Records that were read.
    pub records: u64,
    /// Records that could not be read.
    pub broken: u64,
    /// Where the first of them are, and what is wrong.
    pub broken_at: Vec<String>,
    /// Records of a later schema version or of a kind that this version does not know: skipped.
    pub later: u64,
    /// Bytes read.
    pub bytes: u64,
}

impl Tally {
    fn breaks(&mut self, at: &str, why: &dyn fmt::Display) {
        self.broken += 1;
        if self.broken_at.len() < NAMED {
            self.broken_at.push(format!("{at}: {why}"));
        }
    }
}

/// How far the reading is, in bytes or files of one layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Done.
    pub done: u64,
    /// Of this many.
    pub total: u64,
}

/// Takes what is read. Returns whether to go on.
pub trait Visit {
    /// One record with its JSON text.
    fn record(&mut self, record: &Record<'_>, text: &str) -> bool;
    /// Called now and then.
    fn progress(&mut self, _progress: Progress) {}
}

/// Reads every record below a folder of storages: the single-file layout first, since it is the older host's, then the
/// other by its keys, which ascend with time.
///
/// # Errors
/// Where a file or folder that is there cannot be read at all. What is wrong *in* one is in the tally.
pub fn read(places: &Places, visit: &mut dyn Visit) -> io::Result<Tally> {
    let mut tally = Tally { layouts: places.layouts(), ..Tally::default() };
    if let Some(path) = &places.file {
        let file = File::open(path)?;
        let total = file.metadata()?.len();
        let done = AtomicU64::new(0);
        let source = Counting { inner: file, done: &done };
        if !through(visit, &mut tally, (&done, total), |to| from_file(source, to))? {
            return Ok(tally);
        }
    }
    if let Some(folder) = &places.folder {
        let names = keys(folder)?;
        let total = names.len() as u64;
        let done = AtomicU64::new(0);
        through(visit, &mut tally, (&done, total), |to| {
            from_folder(folder, &names, &done, to);
            Ok(())
        })?;
    }
    Ok(tally)
}

/// Names of the files with a record, in order.
pub(super) fn keys(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder)? {
        if let Ok(name) = entry?.file_name().into_string()
            && name.strip_suffix(".json").is_some_and(is_key)
        {
            names.push(name);
        }
    }
    names.sort_unstable();
    Ok(names)
}

/// Whether a text can be a key: so a temporary file is none.
fn is_key(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
}

/// A stored value on its way, or what was found instead of one.
enum Piece {
    Value { key: String, text: Box<str> },
    Broken { at: String, why: String },
}

/// Collects pieces, so that the queue between the threads is not entered for each.
struct Sender {
    to: SyncSender<Vec<Piece>>,
    batch: Vec<Piece>,
    bytes: usize,
}

impl Sender {
    /// False where nobody takes any more.
    fn put(&mut self, piece: Piece) -> bool {
        if let Piece::Value { text, .. } = &piece {
            self.bytes += text.len();
        }
        self.batch.push(piece);
        self.batch.len() < BATCH && self.bytes < BATCH_BYTES || self.flush()
    }

    fn flush(&mut self) -> bool {
        self.bytes = 0;
        self.to.send(std::mem::take(&mut self.batch)).is_ok()
    }
}

/// Runs a reader in a thread of its own and hands what it sends to the visitor. Returns whether the visitor wants more.
fn through(
    visit: &mut dyn Visit,
    tally: &mut Tally,
    (done, total): (&AtomicU64, u64),
    reader: impl FnOnce(&mut Sender) -> io::Result<()> + Send,
) -> io::Result<bool> {
    std::thread::scope(|scope| {
        let (to, from) = sync_channel(WAITING);
        let reading = scope.spawn(move || {
            let mut sender = Sender { to, batch: Vec::new(), bytes: 0 };
            let outcome = reader(&mut sender);
            sender.flush();
            outcome
        });
        let wants_more = take(visit, tally, &from, &|| Progress { done: done.load(Ordering::Relaxed), total });
        // A reader that waits for room must find out that nobody takes any more.
        drop(from);
        match reading.join() {
            Ok(outcome) => outcome.map(|()| wants_more),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

fn take(
    visit: &mut dyn Visit,
    tally: &mut Tally,
    from: &Receiver<Vec<Piece>>,
    progress: &dyn Fn() -> Progress,
) -> bool {
    for batch in from {
        for piece in batch {
            match piece {
                Piece::Value { key, text } => {
                    if !value(&key, &text, visit, tally) {
                        return false;
                    }
                }
                Piece::Broken { at, why } => tally.breaks(&at, &why),
            }
        }
        visit.progress(progress());
    }
    true
}

/// Takes a stored value apart. Returns whether the visitor wants more.
fn value(key: &str, stored: &str, visit: &mut dyn Visit, tally: &mut Tally) -> bool {
    tally.bytes += stored.len() as u64;
    let mut wants_more = true;
    let mut position = 0_u64;
    let whole = texts(stored, &mut |text| {
        position += 1;
        if !wants_more {
            return;
        }
        match serde_json::from_str::<Record<'_>>(text) {
            Ok(record) if record.is_of_no_kind() => {
                let why = "it is of this version, which has no such kind of record";
                tally.breaks(&format!("{key}, record {position}"), &why);
            }
            Ok(record) if record.bmpp > SCHEMA || record.kind == Kind::Other => {
                tally.later += 1;
                wants_more = visit.record(&record, text);
            }
            Ok(record) => {
                tally.records += 1;
                wants_more = visit.record(&record, text);
            }
            Err(why) => tally.breaks(&format!("{key}, record {position}"), &why),
        }
    });
    if let Err(why) = whole {
        tally.breaks(key, &why);
    }
    wants_more
}

struct Counting<'a> {
    inner: File,
    done: &'a AtomicU64,
}

impl Read for Counting<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.done.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Reads the single-file layout: `{"unit":…,"global":…,"tables":{"events":{"<key>":<value>,…}}}`.
fn from_file(source: Counting<'_>, to: &mut Sender) -> io::Result<()> {
    let mut document = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 18, source));
    let mut path = VecDeque::from(["tables", TABLE]);
    let outcome = Within { path: &mut path, to }.deserialize(&mut document);
    match outcome {
        Err(error) if error.is_io() => Err(error.into()),
        Err(error) if !error.to_string().starts_with(STOPPED) => {
            to.put(Piece::Broken { at: format!("{DOMAIN}.json"), why: error.to_string() });
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What a visitor that wants no more ends the parsing with.
const STOPPED: &str = "the rest is not wanted";

/// Goes down a path of keys; at its end, sends each value. What is beside the path is skipped unread.
struct Within<'a> {
    path: &'a mut VecDeque<&'static str>,
    to: &'a mut Sender,
}

impl<'de> DeserializeSeed<'de> for Within<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Within<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the host's storage document")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let wanted = self.path.pop_front();
        while let Some(key) = map.next_key::<String>()? {
            match wanted {
                Some(wanted) if key == wanted => {
                    map.next_value_seed(Within { path: &mut *self.path, to: &mut *self.to })?;
                }
                Some(_) => {
                    map.next_value::<IgnoredAny>()?;
                }
                None => {
                    let text = Box::<RawValue>::into(map.next_value()?);
                    if !self.to.put(Piece::Value { key, text }) {
                        return Err(serde::de::Error::custom(STOPPED));
                    }
                }
            }
        }
        Ok(())
    }
}

/// Reads the per-record layout.
fn from_folder(folder: &Path, names: &[String], done: &AtomicU64, to: &mut Sender) {
    for name in names {
        let key = name.trim_end_matches(".json").to_owned();
        let wanted = match fs::read_to_string(folder.join(name)) {
            Ok(text) => to.put(Piece::Value { key, text: text.into_boxed_str() }),
            // It was pruned in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                to.put(Piece::Broken { at: key, why: "not text".to_owned() })
            }
            Err(error) => to.put(Piece::Broken { at: key, why: error.to_string() }),
        };
        if !wanted {
            break;
        }
        done.fetch_add(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use serde_json::json;

    /// Keeps the texts of all records.
    #[derive(Default)]
    struct Texts {
        seen: Vec<String>,
        limit: Option<usize>,
    }

    impl Visit for Texts {
        fn record(&mut self, _: &Record<'_>, text: &str) -> bool {
            self.seen.push(text.to_owned());
            self.limit.is_none_or(|limit| self.seen.len() < limit)
        }
    }

    /// A folder of its own that goes with it.
    pub(in crate::audit) struct Dir(PathBuf);

    impl Dir {
        pub(in crate::audit) fn new(name: &str) -> Dir {
            let path = std::env::temp_dir().join(format!("dsh-bmpp-trail-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            fs::create_dir_all(path.join(DOMAIN).join(TABLE)).expect("a folder");
            Dir(path)
        }

        pub(in crate::audit) fn path(&self) -> &Path {
            &self.0
        }

        pub(in crate::audit) fn single(&self, events: &serde_json::Value) {
            let document = json!({"unit": {"name": DOMAIN, "version": 1}, "global": null, "tables": {TABLE: events}});
            let text = serde_json::to_string_pretty(&document).expect("text");
            fs::write(self.0.join(format!("{DOMAIN}.json")), text).expect("written");
        }

        pub(in crate::audit) fn each(&self, key: &str, text: &str) {
            fs::write(self.0.join(DOMAIN).join(TABLE).join(format!("{key}.json")), text).expect("written");
        }
    }

    impl Drop for Dir {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    fn record(seq: u64) -> serde_json::Value {
        json!({"bmpp": 1, "kind": "turn", "load": "l", "seq": seq, "order": seq, "time": seq, "event": "start"})
    }

    fn chunk(of: &[u64]) -> serde_json::Value {
        json!({"bmpp": 1, "records": of.iter().map(|seq| record(*seq).to_string()).collect::<Vec<_>>()})
    }

    fn all(dir: &Dir) -> (Tally, Vec<String>) {
        let mut texts = Texts::default();
        let tally = read(&Places::below(dir.path()), &mut texts).expect("readable");
        (tally, texts.seen)
    }

    #[test]
    fn both_layouts_are_read_in_order() {
        let dir = Dir::new("both");
        dir.single(&json!({"b": chunk(&[1, 2]), "a": chunk(&[3])}));
        dir.each("2", &record(5).to_string());
        dir.each("1", &json!({"version": 1, "value": record(4)}).to_string());
        fs::write(dir.path().join(DOMAIN).join(TABLE).join(".6e.tmp"), "{").expect("written");
        let (tally, seen) = all(&dir);
        assert_eq!((tally.records, tally.broken, tally.layouts), (5, 0, vec!["single", "per-record"]));
        let seqs: Vec<_> =
            seen.iter().map(|t| serde_json::from_str::<Record<'_>>(t).map(|r| r.seq).expect("ok")).collect();
        // serde_json's map is sorted, a host's is in the order of writing: the file's order is what counts.
        assert_eq!(seqs, [3, 1, 2, 4, 5]);
    }

    #[test]
    fn what_is_broken_is_counted_and_named_and_the_rest_is_read() {
        let dir = Dir::new("broken");
        let odd =
            json!({"bmpp": 1, "records": [record(1).to_string(), "{\"bmpp\":1,\"kind\":\"tu", record(2).to_string()]});
        dir.single(&json!({"k1": odd, "k2": 5, "k3": {"bmpp": 9, "records": []}, "k4": chunk(&[3])}));
        dir.each("x", "{");
        fs::write(dir.path().join(DOMAIN).join(TABLE).join("y.json"), [0xff, 0xfe]).expect("written");
        dir.each("z", r#"{"bmpp":7,"kind":"dream","load":"l","seq":4,"order":4,"time":4}"#);
        let (tally, seen) = all(&dir);
        assert_eq!((tally.records, tally.broken, tally.later, seen.len()), (3, 5, 1, 4));
        assert!(tally.broken_at.iter().any(|at| at.starts_with("k1, record 2: ")), "{:?}", tally.broken_at);
        assert!(tally.broken_at.iter().any(|at| at == "y: not text"));
    }

    #[test]
    fn a_kind_that_this_version_does_not_have_is_broken_where_the_record_is_of_this_version() {
        let dir = Dir::new("kind");
        let of = |kind: &str, plugin: &str| {
            let mut record = record(1);
            record["kind"] = json!(kind);
            record["plugin"] = json!(plugin);
            record["policy"] = json!(crate::config::POLICY_VERSION);
            record.to_string()
        };
        let ours = env!("CARGO_PKG_VERSION");
        let records = [of("turn", ours), of("dream", "9.9.9"), of("trun", ours)];
        dir.single(&json!({"k": {"bmpp": 1, "records": records}}));
        let (tally, _) = all(&dir);
        assert_eq!((tally.records, tally.later, tally.broken), (1, 1, 1));
        assert_eq!(tally.broken_at, ["k, record 3: it is of this version, which has no such kind of record"]);
    }

    #[test]
    fn a_file_that_ends_too_early_gives_what_stands_before() {
        let dir = Dir::new("cut");
        dir.single(&json!({"a": chunk(&[1, 2]), "b": chunk(&[3])}));
        let path = dir.path().join(format!("{DOMAIN}.json"));
        let text = fs::read_to_string(&path).expect("text");
        fs::write(&path, &text[..text.find("\"b\"").expect("there") + 20]).expect("written");
        let (tally, seen) = all(&dir);
        assert_eq!((seen.len(), tally.broken), (2, 1));
    }

    #[test]
    fn a_visitor_that_wants_no_more_ends_the_reading() {
        let dir = Dir::new("stop");
        let values: serde_json::Map<_, _> = (1..3000).map(|seq| (format!("{seq:05}"), record(seq))).collect();
        dir.single(&values.into());
        let mut texts = Texts { limit: Some(3), ..Texts::default() };
        let tally = read(&Places::below(dir.path()), &mut texts).expect("readable");
        assert_eq!((texts.seen.len(), tally.broken), (3, 0));
    }

    #[test]
    fn no_home_is_an_empty_trail() {
        let tally = read(&Places::below(Path::new("/nonexistent/storages")), &mut Texts::default()).expect("nothing");
        assert_eq!(tally, Tally::default());
    }
}
