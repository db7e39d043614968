//! Hash tables of the policy. Their keys are digests, which are spread already and under a key that nobody outside knows, and
//! numbers that the policy or the shim gives; so no second keyed hash is needed over them.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table whose keys spread by themselves.
pub(super) type Table<K, V> = HashMap<K, V, BuildHasherDefault<Spread>>;

/// Takes numbers as they are and mixes them once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Spread(u64);

/// An odd number without a pattern: the golden ratio in 64 bits.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Spread {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(MIX);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(u64::from(number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;
    use std::hash::Hash;

    /// Of a hash a table uses the low bits for the place and the seven highest to tell entries apart.
    #[test]
    fn numbers_in_a_row_are_spread() {
        let hash = |number: u32| {
            let mut spread = Spread::default();
            number.hash(&mut spread);
            spread.finish()
        };
        let places: HashSet<u64> = (0..1024).map(|number| hash(number) & 1023).collect();
        let marks: HashSet<u64> = (0..1024).map(|number| hash(number) >> 57).collect();
        assert!(places.len() > 600 && marks.len() > 100, "{} {}", places.len(), marks.len());
    }
}
