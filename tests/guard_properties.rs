//! What must never happen, over random histories: what the integrity guards must never let on, and what they must not look at.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends where something is not as it must be"
)]

#[allow(dead_code, unreachable_pub, reason = "a module of several tests, as open as they need")]
mod model;

use dsh_bmpp::config::{Config as Options, Level};
use model::runs::{check, histories, options, played, results_of_the_turn};
use model::world::{Outcome, World};
use model::{Answer, Event, Form, Kind, Place};
use proptest::prelude::*;

/// Looks back from every allowed write that replaces text to what the turn had read or written of that note.
#[test]
fn no_text_is_replaced_that_the_turn_does_not_know() {
    let deny = |options: &Options| options.overwrite_requires_read == Level::Deny;
    check(13, 6000, &(options().prop_filter("deny", deny), histories()), |(options, script)| {
        let played = played(&options, &script);
        for (now, (event, outcome)) in played.iter().enumerate() {
            let (Event::Judge(judge), Outcome::Verdict(verdict)) = (event, outcome) else { continue };
            let replaces = judge.args.form == Form::Other && matches!(judge.kind, Kind::WriteNote | Kind::EditNote);
            if !replaces || verdict.denies() || judge.place != Place::Turn {
                continue;
            }
            let knows = results_of_the_turn(&played[..now], judge).any(|(settle, of)| {
                let seen = of.step < judge.step && settle.step < judge.step;
                of.args.title == judge.args.title
                    && match of.kind {
                        // In JSON mode, or for an edit under the same name.
                        Kind::ReadNote => {
                            seen && (of.args.form == Form::Plain && !of.args.second
                                || of.args.form == Form::Other && judge.kind == Kind::EditNote)
                        }
                        Kind::WriteNote => settle.answer == Answer::Hits,
                        Kind::EditNote => settle.answer == Answer::Nothing,
                        _ => false,
                    }
            });
            prop_assert!(knows, "{judge:?} is allowed and the note unread");
        }
        Ok(())
    });
}

#[test]
fn guards_say_nothing_of_reads_and_declarations() {
    check(14, 3000, &(options(), histories()), |(options, script)| {
        let without = Options {
            overwrite_requires_read: Level::Off,
            duplicate_write_guard: false,
            path_guard: Level::Off,
            project_guard: Level::Off,
            secret_pattern_guard: Level::Off,
            test_fixture_guard: Level::Off,
            ..options.clone()
        };
        let unguarded = World::play_all(&without, &script);
        for ((event, guarded), unguarded) in played(&options, &script).into_iter().zip(unguarded) {
            let (Event::Judge(judge), Outcome::Verdict(verdict)) = (&event, guarded) else { continue };
            if !judge.kind.writes() {
                prop_assert_eq!(Some(verdict), unguarded.verdict());
                prop_assert_eq!(verdict.argument, None);
            } else if let Some(unguarded) = unguarded.verdict() {
                // A guard denies more, and allows nothing that would be denied without it.
                prop_assert!(verdict.denies() || !unguarded.denies());
            }
        }
        Ok(())
    });
}

/// What content there is: secrets, fixtures, paths, headings of the server, JSON, and anything.
fn texts() -> impl Strategy<Value = [String; 3]> {
    let odd = [
        "https://alice:hunter2pass@host/x",
        "-----BEGIN PRIVATE KEY-----",
        "[test-fixture]",
        "../../etc/passwd",
        "# Search Failed",
        "{\"error\":\"NOTE_NOT_FOUND\"}",
        "permalink: main/d/b",
        "title: B",
        "overwrite",
        "\u{202e}\u{0}",
        " x",
        "A",
    ];
    let one = prop_oneof![proptest::sample::select(odd.map(str::to_owned).to_vec()), "[ -~]{1,40}", any::<String>()];
    // Which texts are the same is part of what is judged, and whether there is any.
    (one.clone(), one.clone(), one)
        .prop_map(|(first, second, third)| [first, second, third])
        .prop_filter("two texts", |[first, second, old]| {
            first != second && ![first, second, old].iter().any(|t| t.is_empty())
        })
}

#[test]
fn content_is_not_looked_at() {
    check(15, 4000, &(options(), histories(), texts()), |(options, script, texts)| {
        let mut world = World::new(&options);
        world.texts = texts;
        let other: Vec<_> = script.iter().map(|event| world.play(event)).collect();
        prop_assert_eq!(other, World::play_all(&options, &script));
        Ok(())
    });
}

/// The same with the permission, so that the test before can fail.
#[test]
fn content_is_looked_at_where_the_configuration_says_so() {
    let options = Options { inspect_content: true, secret_pattern_guard: Level::Deny, ..Options::default() };
    let differs = std::cell::Cell::new(0);
    check(16, 1500, &histories(), |script| {
        let mut world = World::new(&options);
        world.texts[0] = "see https://alice:hunter2pass@host/x".to_owned();
        let other: Vec<_> = script.iter().map(|event| world.play(event)).collect();
        differs.set(differs.get() + usize::from(other != World::play_all(&options, &script)));
        Ok(())
    });
    assert!(differs.get() > 50, "{}", differs.get());
}

#[test]
fn the_key_of_the_digests_decides_nothing() {
    check(17, 2000, &(options(), histories(), any::<[u8; 16]>()), |(options, script, key)| {
        let mut world = World::keyed(&options, key);
        let other: Vec<_> = script.iter().map(|event| world.play(event)).collect();
        prop_assert_eq!(other, World::play_all(&options, &script));
        Ok(())
    });
}
