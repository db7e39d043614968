//! The integrity guards that look at arguments alone. Each answers "what is wrong, if anything" without naming a value.
//!
//! | module | guard | question |
//! |---|---|---|
//! | [`path`] | `pathGuard` | does a path leave the project, reach a trusted folder, or deceive? |
//! | [`secret`] | `secretPatternGuard` | does a text hold something shaped like a secret? |
//! | [`fixture`] | `testFixtureGuard` | is a test fixture about to land among real notes? |

pub mod fixture;
pub mod path;
pub mod secret;
mod title;
mod unicode;
