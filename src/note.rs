//! Basic Memory's note identity: what a call's arguments say of the note that it touches.
//!
//! Three names of one note, and how far each can be trusted:
//!
//! | name | example | derived by |
//! |---|---|---|
//! | file path | `notes/My Note.md` | [`path`]: exact, from title and directory |
//! | permalink | `main/notes/my-note` | [`permalink`]: of a new note, where the transliteration is proven |
//! | identifier | `memory://main/notes/my-note` | [`identifier`]: what a caller passes; resolved by the server, never guessed |
//!
//! [`text`] holds arguments without loss, [`python`] the string methods that the server's rules use.

pub mod identifier;
pub mod path;
pub mod permalink;
pub mod python;
pub mod text;
mod unicode_tables;
