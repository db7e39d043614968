//! Random histories, played by the policy and by the naive model, which must never disagree.

use crate::model::runs::{difference, from_bytes, shrunk};

pub fn run(bytes: &[u8]) {
    let Some((options, script)) = from_bytes(bytes) else { return };
    if difference(&options, &script).is_some() {
        let shrunk = shrunk(&options, &script);
        panic!("{}", difference(&options, &shrunk).unwrap_or_default());
    }
}
