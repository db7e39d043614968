//! Taking old records out of a trail that no host has open.
//!
//! The single file is written anew beside itself and put in place by renaming, as the host does it, so that a reader sees
//! the one or the other. A host that has the domain open holds all of it in memory and would bring everything back with
//! its next record; the caller sees to it that there is none.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::record::{Kind, Record, texts};
use super::trail::{self, DOMAIN, Places, Progress, TABLE, Tally, Visit};

/// What to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Request {
    /// The newest so many records.
    pub keep: Option<u64>,
    /// Records from this time on, in milliseconds since 1970.
    pub since: Option<u64>,
    /// Count only.
    pub dry_run: bool,
}

/// What was done, or would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Pruned {
    /// Records that went.
    pub removed: u64,
    /// Records that stayed.
    pub kept: u64,
    /// What was read.
    pub tally: Tally,
}

/// Takes out what the request does not keep. The record of a load stays as long as one of its records does, since
/// nothing of a load can be replayed without it. What cannot be read is left as it is.
///
/// # Errors
/// Where the trail cannot be read or written; then nothing of the single file has changed.
pub fn prune(places: &Places, request: Request, progress: &mut dyn FnMut(Progress)) -> io::Result<Pruned> {
    let mut census = Census { entries: Vec::new(), progress };
    let tally = trail::read(places, &mut census)?;
    let mut entries = census.entries;
    entries.sort_unstable_by_key(|entry| std::cmp::Reverse(entry.order));
    let wanted = request.keep.map_or(usize::MAX, |keep| usize::try_from(keep).unwrap_or(usize::MAX));
    let stays = |index: usize, entry: &Entry| index < wanted && request.since.is_none_or(|since| entry.time >= since);
    let loads: HashSet<u64> =
        entries.iter().enumerate().filter(|(index, entry)| stays(*index, entry)).map(|(_, entry)| entry.load).collect();
    let gone: HashSet<(u64, u64)> = entries
        .iter()
        .enumerate()
        .filter(|(index, entry)| !(stays(*index, entry) || entry.is_load && loads.contains(&entry.load)))
        .map(|(_, entry)| (entry.load, entry.seq))
        .collect();
    let goes = |text: &str| {
        serde_json::from_str::<Record<'_>>(text)
            .is_ok_and(|record| !record.is_of_no_kind() && gone.contains(&(load_number(&record.load), record.seq)))
    };
    // What goes is counted where it goes, also when nothing does: so a dry run says what a real one would, and fails as it.
    let mut removed = 0;
    if !gone.is_empty() {
        if let Some(path) = &places.file {
            removed += rewrite(path, &goes, request.dry_run)?;
        }
        if let Some(folder) = &places.folder {
            removed += sweep(folder, &goes, request.dry_run)?;
        }
    }
    Ok(Pruned { removed, kept: (entries.len() as u64).saturating_sub(removed), tally })
}

/// What must be known of a record to know whether it stays.
struct Entry {
    order: u64,
    time: u64,
    seq: u64,
    load: u64,
    is_load: bool,
}

struct Census<'a> {
    entries: Vec<Entry>,
    progress: &'a mut dyn FnMut(Progress),
}

impl Visit for Census<'_> {
    fn record(&mut self, record: &Record<'_>, _: &str) -> bool {
        self.entries.push(Entry {
            order: record.order,
            time: record.time,
            seq: record.seq,
            load: load_number(&record.load),
            is_load: record.kind == Kind::Load,
        });
        true
    }

    fn progress(&mut self, progress: Progress) {
        (self.progress)(progress);
    }
}

/// A load's id as a number: ids are random, and two that meet in 64 bits are not to be expected.
fn load_number(id: &str) -> u64 {
    use std::hash::{Hash as _, Hasher as _};
    let mut hasher = std::hash::DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// How many records of a stored value go, and what is left of it, if anything; `None` where nothing goes, or where it cannot
/// be read.
fn without(value: &str, goes: &dyn Fn(&str) -> bool) -> Option<(u64, Option<Box<RawValue>>)> {
    let (mut kept, mut went) = (Vec::new(), 0);
    texts(value, &mut |text| if goes(text) { went += 1 } else { kept.push(text.to_owned()) }).ok()?;
    if went == 0 {
        return None;
    }
    if kept.is_empty() {
        return Some((went, None));
    }
    let left = serde_json::value::to_raw_value(&Chunk { bmpp: super::record::SCHEMA, records: &kept }).ok()?;
    Some((went, Some(left)))
}

/// Several records under one key.
#[derive(Serialize)]
struct Chunk<'a> {
    bmpp: u32,
    records: &'a [String],
}

/// An object's entries in their order, each as it is written: what stays is not written otherwise.
struct Entries(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Entries {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Entries, D::Error> {
        struct Object;
        impl<'de> serde::de::Visitor<'de> for Object {
            type Value = Entries;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Entries, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Object)
    }
}

impl Serialize for Entries {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

/// Takes the records that go out of the single file, and says how many they are.
fn rewrite(path: &Path, goes: &dyn Fn(&str) -> bool, dry_run: bool) -> io::Result<u64> {
    #[derive(Deserialize)]
    struct Document {
        unit: Box<RawValue>,
        global: Option<Box<RawValue>>,
        tables: Entries,
    }
    let mut document: Document = serde_json::from_reader(BufReader::new(File::open(path)?)).map_err(io::Error::from)?;
    let mut removed = 0;
    for (_, table) in document.tables.0.iter_mut().filter(|(name, _)| name == TABLE) {
        let mut left = Vec::new();
        for (key, value) in serde_json::from_str::<Entries>(table.get())?.0 {
            let Some((went, rest)) = without(value.get(), goes) else {
                left.push((key, value));
                continue;
            };
            removed += went;
            left.extend(rest.map(|rest| (key, rest)));
        }
        *table = serde_json::value::to_raw_value(&Entries(left))?;
    }
    if dry_run || removed == 0 {
        return Ok(removed);
    }
    let beside = beside(path);
    let outcome = (|| {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut to = BufWriter::new(options.open(&beside)?);
        let global = document.global.as_deref().map_or("null", RawValue::get);
        write!(to, "{{\n  \"unit\": {},\n  \"global\": {global},\n  \"tables\": ", document.unit.get())?;
        serde_json::to_writer(&mut to, &document.tables).map_err(io::Error::from)?;
        to.write_all(b"\n}\n")?;
        let file = to.into_inner().map_err(std::io::IntoInnerError::into_error)?;
        file.sync_all()?;
        fs::rename(&beside, path)
    })();
    if outcome.is_err() {
        let _ = fs::remove_file(&beside);
    }
    outcome.map(|()| removed)
}

fn beside(path: &Path) -> PathBuf {
    path.with_file_name(format!(".{DOMAIN}.{}.tmp", std::process::id()))
}

/// Removes the files of which every record goes, and says how many records that are. A value that holds more than one is a
/// chunk that another layout left, in whatever its host put around it: it goes when all of it does.
fn sweep(folder: &Path, goes: &dyn Fn(&str) -> bool, dry_run: bool) -> io::Result<u64> {
    let mut removed = 0;
    for name in trail::keys(folder)? {
        let path = folder.join(name);
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some((went, None)) = without(&text, goes) else { continue };
        match if dry_run { Ok(()) } else { fs::remove_file(&path) } {
            Ok(()) => removed += went,
            // It went in the meantime.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(removed)
}

#[cfg(test)]
mod tests {
    use super::super::trail::tests::Dir;
    use super::*;
    use serde_json::json;

    fn record(load: &str, seq: u64, order: u64) -> String {
        let kind = if seq == 1 { "load" } else { "turn" };
        json!({"bmpp": 1, "kind": kind, "load": load, "seq": seq, "order": order, "time": order * 10}).to_string()
    }

    struct Orders(Vec<u64>);
    impl Visit for Orders {
        fn record(&mut self, record: &Record<'_>, _: &str) -> bool {
            self.0.push(record.order);
            true
        }
    }

    fn orders(dir: &Dir) -> Vec<u64> {
        let mut orders = Orders(Vec::new());
        trail::read(&Places::below(dir.path()), &mut orders).expect("readable");
        orders.0
    }

    fn filled(name: &str) -> Dir {
        let dir = Dir::new(name);
        let chunk = |records: &[String]| json!({"bmpp": 1, "records": records});
        dir.single(&json!({
            "a": chunk(&[record("x", 1, 1), record("x", 2, 2), record("x", 3, 3)]),
            "b": chunk(&[record("y", 1, 4), record("y", 2, 5)]),
            "odd": {"not": "ours"},
        }));
        dir.each("c", &record("z", 1, 6));
        dir.each("d", &record("z", 2, 7));
        dir.each("e", &record("z", 3, 8));
        dir
    }

    fn pruned(dir: &Dir, request: Request) -> (u64, u64) {
        let pruned = prune(&Places::below(dir.path()), request, &mut |_| {}).expect("pruned");
        (pruned.removed, pruned.kept)
    }

    #[test]
    fn the_newest_stay_and_the_load_record_with_them() {
        let dir = filled("prune-keep");
        let keep = |keep| Request { keep: Some(keep), ..Request::default() };
        assert_eq!(pruned(&dir, Request { dry_run: true, ..keep(4) }), (3, 5));
        assert_eq!(orders(&dir).len(), 8);
        assert_eq!(pruned(&dir, keep(4)), (3, 5));
        assert_eq!(orders(&dir), [4, 5, 6, 7, 8]);
        assert_eq!(pruned(&dir, keep(1)), (3, 2));
        assert_eq!(orders(&dir), [6, 8]);
        assert_eq!(pruned(&dir, keep(100)), (0, 2));
    }

    /// Found by the fuzzers: it was counted as removed and stayed.
    #[test]
    fn a_chunk_among_files_goes_when_all_of_it_does_and_is_counted_so() {
        let dir = Dir::new("prune-chunk");
        let chunk = json!({"bmpp": 1, "records": [record("x", 2, 1), record("x", 3, 2)]});
        dir.each("a", &json!({"unit": {"version": 1}, "value": chunk}).to_string());
        dir.each("b", &record("x", 4, 3));
        dir.each("c", "\"half of\":");
        let keep = |keep| Request { keep: Some(keep), ..Request::default() };
        for dry_run in [true, false] {
            assert_eq!(pruned(&dir, Request { dry_run, ..keep(2) }), (0, 3));
        }
        assert_eq!(orders(&dir), [1, 2, 3]);
        assert_eq!(pruned(&dir, keep(1)), (2, 1));
        assert_eq!(orders(&dir), [3]);
        // What cannot be read stays.
        assert!(dir.path().join(DOMAIN).join(TABLE).join("c.json").is_file());
    }

    /// Found by the fuzzers: a dry run promised what the real one refused.
    #[test]
    fn a_record_of_no_kind_stays_where_another_of_its_place_goes() {
        let dir = Dir::new("prune-kind");
        let policy = crate::config::POLICY_VERSION;
        let mut odd: serde_json::Value = serde_json::from_str(&record("x", 2, 1)).expect("a record");
        for (field, value) in [("kind", "trun"), ("plugin", env!("CARGO_PKG_VERSION")), ("policy", policy)] {
            odd[field] = json!(value);
        }
        dir.each("a", &record("x", 2, 1));
        dir.each("b", &odd.to_string());
        dir.each("c", &record("x", 3, 2));
        assert_eq!(pruned(&dir, Request { keep: Some(1), ..Request::default() }), (1, 1));
        assert!(dir.path().join(DOMAIN).join(TABLE).join("b.json").exists());
    }

    #[test]
    fn a_dry_run_fails_as_the_real_one_does() {
        let dir = Dir::new("prune-broken");
        let path = dir.path().join(format!("{DOMAIN}.json"));
        let broken = format!("{{\"tables\":{{\"events\":{{\"a\":{},5", record("x", 2, 1));
        fs::write(&path, &broken).expect("written");
        dir.each("b", &record("x", 3, 2));
        for dry_run in [true, false] {
            let request = Request { keep: Some(0), dry_run, ..Request::default() };
            assert!(prune(&Places::below(dir.path()), request, &mut |_| {}).is_err());
        }
        assert_eq!(fs::read_to_string(&path).expect("text"), broken);
        assert_eq!(orders(&dir), [1, 2]);
    }

    /// Found by the fuzzers: a value was read as a number of JavaScript's and written anew.
    #[test]
    fn what_stays_is_written_as_it_was() {
        let dir = Dir::new("prune-as-it-was");
        let path = dir.path().join(format!("{DOMAIN}.json"));
        let odd = "{ \"big\" : 123456789012345678901234567890, \"huge\": 1e999 }";
        let events = format!("{{\"b\":{},\"odd\":{odd},\"a\":{}}}", record("x", 2, 1), record("x", 3, 2));
        fs::write(&path, format!("{{\"unit\":1,\"tables\":{{\"other\":{odd},\"events\":{events}}}}}"))
            .expect("written");
        assert_eq!(pruned(&dir, Request { keep: Some(1), ..Request::default() }), (1, 1));
        let text = fs::read_to_string(&path).expect("text");
        assert_eq!(text.matches(odd).count(), 2, "{text}");
        assert_eq!(orders(&dir), [2]);
    }

    #[test]
    fn a_time_is_a_limit_and_what_is_not_ours_is_left() {
        let dir = filled("prune-since");
        assert_eq!(pruned(&dir, Request { since: Some(31), ..Request::default() }), (3, 5));
        let text = fs::read_to_string(dir.path().join(format!("{DOMAIN}.json"))).expect("text");
        assert!(text.contains("\"not\": \"ours\"") && text.contains("\"version\": 1"));
        assert_eq!(orders(&dir), [4, 5, 6, 7, 8]);
    }
}
