//! dsh-bmpp: a memory-policy gate for the `DeepSeek` Harness.
//!
//! # Words
//!
//! A **turn** is one user request and all that follows until the agent stops; a **step** is one model call and the tool
//! calls of that one message. A **lookup** (or recall) is a search tool's call; a **write** is a call that changes
//! memory. A turn is **classified** simple or complex by the model; a write in a complex turn needs a lookup that
//! succeeded in an earlier step. The **verdict** says what the policy thinks of one call, and knows nothing of the mode;
//! the **enforcement** is what the mode makes of it. A call is **settled** when its result arrives.
//!
//! # Where to start
//!
//! [`policy`] is the heart: [`policy::Policy::judge`] and [`policy::Policy::settle`]. Around it:
//!
//! | module | what it is for |
//! |---|---|
//! | [`tool`] | tool names → class and id |
//! | [`argument`] | a call's arguments, read as the server reads them |
//! | [`evidence`] | what a result proves |
//! | [`reason`] | codes, observations and their texts: the one table |
//! | [`verdict`] | the verdict as one word, and enforcement |
//! | [`approval`] | what a human reads who is asked |
//! | [`config`] | a raw value → a configuration, or every problem at once |
//! | [`compat`] | host versions |
//! | [`audit`] | the trail: records read back, replayed, added up |
//! | [`note`] | note identity: the names of a note |
//! | [`guard`] | the integrity guards that look at arguments alone |
//!
//! Everything outside `binding` is pure: no clock, no I/O, no globals, no Node. The one exception is reading and pruning
//! the files of a trail, in [`audit::trail`] and [`audit::prune`].

// A test may end where something is not as it must be; what ships may not.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::needless_pass_by_value))]

pub mod approval;
pub mod argument;
pub mod audit;
pub mod compat;
pub mod config;
pub mod evidence;
pub mod guard;
pub mod note;
pub mod policy;
pub mod reason;
pub mod tool;
pub mod verdict;

#[cfg(feature = "node")]
mod binding;
