//! A table that is a short list while it is small. Most turns know few notes, and there may be many turns: a list of three takes
//! a tenth of a hash table's memory, and is searched as fast.

use super::spread::Table;
use std::hash::Hash;

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

impl<K, V> Default for Small<K, V> {
    fn default() -> Small<K, V> {
        Small(Held::Few(Vec::new()))
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
            None => self.add(key, value),
        }
    }

    /// The value of a key, made where there is none.
    pub(super) fn or_insert_with(&mut self, key: K, make: impl FnOnce() -> V) -> &mut V {
        if self.get(&key).is_none() {
            self.add(key, make());
        }
        match &mut self.0 {
            Held::Few(list) => {
                let at = list.iter().position(|(of, _)| *of == key).unwrap_or_default();
                #[allow(clippy::indexing_slicing, reason = "it was found or added")]
                &mut list[at].1
            }
            #[allow(clippy::expect_used, reason = "it was found or added")]
            Held::Many(table) => table.get_mut(&key).expect("it was added"),
        }
    }

    pub(super) fn extend(&mut self, entries: impl IntoIterator<Item = (K, V)>) {
        entries.into_iter().for_each(|(key, value)| self.insert(key, value));
    }

    /// Adds a key that is not there.
    fn add(&mut self, key: K, value: V) {
        match &mut self.0 {
            Held::Few(list) if list.len() < FEW => {
                // One by one: it stays short, and many turns hold no more.
                list.reserve_exact(1);
                list.push((key, value));
            }
            Held::Few(list) => {
                let mut table: Table<K, V> = std::mem::take(list).into_iter().collect();
                table.insert(key, value);
                self.0 = Held::Many(Box::new(table));
            }
            Held::Many(table) => {
                table.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

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
