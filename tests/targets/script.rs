//! Random histories, played by the policy and by the naive model, which must never disagree.

use crate::model;

pub fn run(bytes: &[u8]) {
    let Some((first, rest)) = bytes.split_first() else { return };
    let (_, options) = model::runs::differs(*first, rest).unwrap_or_default();
    assert!(options.is_empty(), "{options}");
}
