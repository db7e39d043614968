//! A table that is a short list while it is small. Most turns know few notes, and there may be many turns: a list of three takes
//! a tenth of a hash table's memory, and is searched as fast.

use std::collections::hash_map::Entry;
use std::hash::Hash;

use super::digest::Digest;
use super::spread::Table;

/// Entries that are a list.
const FEW: usize = 8;
#[derive(Debug)]
enum Held<K, V> {
    Few(Vec<(K, V)>),
    // Boxed: a turn that holds many notes holds one pointer more, all others three words less.
    #[allow(clippy::box_collection, reason = "the table is the larger of the two, and the rarer")]
    Many(Box<Table<K, V>>),
}

/// A table of a turn.
#[derive(Debug)]
pub(super) struct Small<K, V>(Held<K, V>);

impl<K, V> Small<K, V> {
    /// Without entries.
    pub(super) const NONE: Small<K, V> = Small(Held::Few(Vec::new()));
}

impl<K, V> Default for Small<K, V> {
    fn default() -> Small<K, V> {
        Small::NONE
    }
}

impl<K: Eq + Hash + Copy, V> Small<K, V> {
    pub(super) fn get(&self, key: &K) -> Option<&V> {
        match &self.0 {
            Held::Few(list) => list.iter().find(|(of, _)| of == key).map(|(_, value)| value),
            Held::Many(table) => table.get(key),
        }
    }

    fn get_mut(&mut self, key: &K) -> Option<&mut V> {
        match &mut self.0 {
            Held::Few(list) => list.iter_mut().find(|(of, _)| of == key).map(|(_, value)| value),
            Held::Many(table) => table.get_mut(key),
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.0 {
            Held::Few(list) => list.len(),
            Held::Many(table) => table.len(),
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Small::default();
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &V> {
        let (few, many) = match &self.0 {
            Held::Few(list) => (Some(list.iter().map(|(_, value)| value)), None),
            Held::Many(table) => (None, Some(table.values())),
        };
        few.into_iter().flatten().chain(many.into_iter().flatten())
    }

    /// Puts a value in place of the one with this key, or beside the others.
    pub(super) fn insert(&mut self, key: K, value: V) {
        match self.get_mut(&key) {
            Some(held) => *held = value,
            None => _ = self.or_insert_with(key, || value),
        }
    }

    /// The value of a key, made where there is none.
    pub(super) fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if matches!(&self.0, Held::Few(list) if list.len() >= FEW) && self.get(&key).is_none() {
            self.outgrow();
        }
        match &mut self.0 {
            Held::Few(list) => {
                let at = list.iter().position(|(of, _)| *of == key).unwrap_or_else(|| {
                    // One by one: it stays short, and many turns hold no more.
                    list.reserve_exact(1);
                    list.push((key, make()));
                    list.len() - 1
                });
                #[allow(clippy::indexing_slicing, reason = "it was found or added")]
                &mut list[at].1
            }
            Held::Many(table) => table.entry(key).or_insert_with(make),
        }
    }

    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        entries.into_iter().for_each(|(key, value)| self.insert(key, value));
    }

    /// The list becomes a table.
    fn outgrow(&mut self) {
        if let Held::Few(list) = &mut self.0 {
            let table = std::mem::take(list).into_iter().collect();
            self.0 = Held::Many(Box::new(table));
        }
    }
}

/// Digests, each as often as it was put in, by their first halves: it says of none that it is not there which is, and by chance
/// of one that it is which is not.
#[derive(Debug)]
pub(super) enum Marks {
    Few(Vec<u64>),
    #[allow(clippy::box_collection, reason = "the rarer of the two")]
    Many(Box<Table<u64, u32>>),
}

impl Default for Marks {
    fn default() -> Marks {
        Marks::Few(Vec::new())
    }
}

impl Marks {
    pub(super) fn has(&self, digest: Digest) -> bool {
        match self {
            Marks::Few(list) => list.contains(&digest.spread()),
            Marks::Many(table) => table.contains_key(&digest.spread()),
        }
    }

    pub(super) fn add(&mut self, digest: Digest) {
        match self {
            Marks::Few(list) if list.len() < FEW => {
                list.reserve_exact(1);
                list.push(digest.spread());
            }
            Marks::Few(list) => {
                let mut table = Table::default();
                for mark in list.iter().chain([&digest.spread()]) {
                    *table.entry(*mark).or_default() += 1;
                }
                *self = Marks::Many(Box::new(table));
            }
            Marks::Many(table) => *table.entry(digest.spread()).or_default() += 1,
        }
    }

    /// Takes out one that was put in.
    pub(super) fn remove(&mut self, digest: Digest) {
        match self {
            Marks::Few(list) => {
                if let Some(at) = list.iter().position(|mark| *mark == digest.spread()) {
                    list.swap_remove(at);
                }
            }
            Marks::Many(table) => {
                if let Entry::Occupied(mut held) = table.entry(digest.spread()) {
                    *held.get_mut() -= 1;
                    if *held.get() == 0 {
                        held.remove();
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::digest::{DigestKey, Digester};
    use std::collections::BTreeMap;

    #[test]
    fn marks_are_there_as_long_as_they_were_put_in_more_often_than_taken_out() {
        let digest = |number: u32| {
            let mut digester = Digester::new(&DigestKey([5; 16]));
            digester.bytes(&number.to_le_bytes());
            digester.finish()
        };
        let mut marks = Marks::default();
        let mut counts = [0u32; 40];
        for step in 0..2000u32 {
            // Few, then many, then fewer again.
            let number = step.wrapping_mul(step + 7) % if step < 100 { 3 } else { 40 };
            let count = &mut counts[number as usize];
            if *count > 0 && (step % 3 == 0 || step > 1200) {
                marks.remove(digest(number));
                *count -= 1;
            } else {
                marks.add(digest(number));
                *count += 1;
            }
            for (number, count) in (0..).zip(counts) {
                assert_eq!(marks.has(digest(number)), count > 0, "{number} at {step}");
            }
        }
        marks.remove(digest(99));
    }

    #[test]
    fn is_a_table_whatever_its_size() {
        let mut small: Small<u32, u32> = Small::default();
        let mut table: BTreeMap<u32, u32> = BTreeMap::new();
        for step in 0..200u32 {
            let key = step.wrapping_mul(7) % 23;
            match step % 4 {
                0 => {
                    small.insert(key, step);
                    table.insert(key, step);
                }
                1 => {
                    *small.or_insert_with(key, || 1) += 1;
                    *table.entry(key).or_insert(1) += 1;
                }
                2 => {
                    small.extend([(key, step), (key + 1, step)]);
                    table.extend([(key, step), (key + 1, step)]);
                }
                _ => {}
            }
            assert_eq!(small.len(), table.len());
            assert!((0..30).all(|key| small.get(&key) == table.get(&key)), "step {step}");
            let mut values: Vec<u32> = small.values().copied().collect();
            let mut expected: Vec<u32> = table.values().copied().collect();
            values.sort_unstable();
            expected.sort_unstable();
            assert_eq!(values, expected);
            if step == 120 {
                small.clear();
                table.clear();
            }
        }
    }
}
