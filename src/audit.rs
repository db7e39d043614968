//! The trail: what the gate decided and what became of it, read back.
//!
//! The shim writes the records (js/audit-store.js), since only it can reach the host's storage. Everything else about
//! them is here: what a record is ([`record`]), where the records of a home are and how they are read ([`trail`]), which
//! of them are wanted ([`select`]), whether they follow from each other by the rules ([`verify`]), what they add up to
//! ([`report`]), what a code in them means ([`explain`]), and how old ones go ([`prune`]). [`target`] is what a record may hold of a
//! note's name.
//!
//! [`trail`] and [`prune`] are the two modules of the crate that touch files. Trails are read as a stream: a million
//! records take no more memory than ten thousand with as many sessions.

pub mod explain;
pub mod prune;
pub mod record;
pub mod report;
pub mod select;
pub mod target;
pub mod trail;
pub mod verify;
