//! Bytes → events. What is drawn from one byte is drawn from bits apart, so that everything comes together with everything.

use std::collections::{BTreeMap, BTreeSet};

use dsh_bmpp::policy::Task;

use super::{Answer, Args, Event, Extra, Form, Judge, Kind, Name, Names, Place, Project, SLOTS, Settle};

/// One random event of a narrow script, before it is known what it means.
pub type Raw = (u8, u8, u8, u8);

/// One of a wide script: the last two bytes say on which server, in which project, under which name.
pub type Wide = (Raw, u8, u8);

/// Turns bytes into a script of one server, one project and one name for each note. Every session begins open, in turn 1
/// and step 1.
pub fn script(raw: &[Raw]) -> Vec<Event> {
    events(raw.iter().copied(), |judge, _, _| judge, |settle, _, _| settle, |_, _| (0, 0))
}

/// Turns bytes into a script of all that there is. Turns are longer, and most begin with a declaration, and a lookup where
/// that needs one.
pub fn wide_script(raw: &[Wide]) -> Vec<Event> {
    let bytes = |at: usize, _: Raw| raw.get(at).map_or((0, 0), |(_, e, f)| (*e, *f));
    let longer =
        raw.iter().map(|((what, a, b, c), _, f)| (*what, if *a >= 235 && *f >= 64 { 200 } else { *a }, *b, *c));
    let mut begun = BTreeSet::new();
    let mut all = Vec::new();
    for event in events(longer, widened, named, bytes) {
        if let Event::Judge(judge) = &event
            && judge.place == Place::Turn
            && begun.insert((judge.slot, judge.turn, all.len() - lasting(&all, judge.slot)))
            && judge.call % 8 != 7
        {
            all.extend(beginning(judge));
        }
        all.push(event);
    }
    all
}

/// How many events a turn of a session has had, by the script alone.
fn lasting(events: &[Event], slot: u8) -> usize {
    let ends = |event: &Event| event.slot() == slot && !matches!(event, Event::Judge(_) | Event::Settle(_));
    events.iter().rev().take_while(|event| !ends(event)).count()
}

/// A declaration that counts, and a lookup that was seen.
fn beginning(judge: &Judge) -> Vec<Event> {
    let Judge { slot, turn, call, .. } = *judge;
    let task = if call % 2 == 0 { Task::Simple } else { Task::Complex };
    let made = |number: u32, kind| {
        let call = 500_000 + 1000 * (turn % 100) + 2 * (call % 100) + number + 100_000_000 * u32::from(slot);
        let made = Judge { slot, call, kind, args: Args::PLAIN, place: Place::Turn, turn, step: 0, hidden: false };
        let (answer, names, declared) = (Answer::Hits, Names::ASKED, Some(task));
        let settle = Settle { slot, call, reached: true, is_error: false, answer, names, declared, step: 0 };
        [Event::Judge(made), Event::Settle(settle)]
    };
    let mut events = made(0, Kind::Classify).to_vec();
    if task == Task::Complex {
        let [search, mut result] = made(1, Kind::Search);
        match (call / 2 % 8, &mut result) {
            (0, _) => {}
            (1, _) => events.push(search),
            (2, Event::Settle(settle)) => {
                settle.answer = Answer::Failure;
                events.extend([search, result]);
            }
            _ => events.extend([search, result]),
        }
    }
    events
}

fn events(
    raw: impl Iterator<Item = Raw>,
    of_judge: impl Fn(Judge, u8, u8) -> Judge,
    of_settle: impl Fn(Settle, u8, u8) -> Settle,
    more: impl Fn(usize, Raw) -> (u8, u8),
) -> Vec<Event> {
    let mut events: Vec<Event> = (0..SLOTS).map(|slot| Event::Open { slot }).collect();
    let mut at: BTreeMap<u8, (u32, u32)> = (0..SLOTS).map(|slot| (slot, (1, 1))).collect();
    let mut calls: BTreeMap<u8, Vec<u32>> = BTreeMap::new();
    for (index, raw) in raw.enumerate() {
        let (what, kind, b, c) = raw;
        let (first, second) = more(index, raw);
        // Most of the events fall on one session, so that its turns get somewhere.
        let slot = if what < 190 { 0 } else { what % SLOTS };
        let (turn, step) = at[&slot];
        let known = calls.entry(slot).or_default();
        match kind {
            0..=104 => {
                let next = u32::from(slot) * 1_000_000 + u32::try_from(known.len()).unwrap_or_default();
                // Now and then a call is judged again.
                let call = if b % 16 == 7 { pick(known, b).unwrap_or(next) } else { next };
                known.push(call);
                events.push(Event::Judge(of_judge(judged(slot, call, turn, step, b, c), first, second)));
            }
            105..=199 => {
                if let Some(call) = pick(known, if b < 200 { 0 } else { b }) {
                    events.push(Event::Settle(of_settle(settled(slot, call, step, b, c), first, second)));
                }
            }
            200..=234 => drop(at.insert(slot, (turn, step + 1))),
            235..=239 => drop(at.insert(slot, (turn + 1, 1))),
            240..=244 => {
                at.insert(slot, (turn + u32::from(b % 2), 1));
                events.push(Event::EndTurn { slot });
            }
            245..=249 => events.push(Event::Close { slot }),
            250.. => events.push(Event::Open { slot }),
        }
    }
    events
}

/// One of the calls so far: 0 is the newest.
fn pick(calls: &[u32], back: u8) -> Option<u32> {
    let back = usize::from(back) % calls.len().max(1);
    calls.iter().rev().nth(back).copied()
}

fn judged(slot: u8, call: u32, turn: u32, step: u32, b: u8, c: u8) -> Judge {
    let kind = match b {
        0..=59 => Kind::Classify,
        60..=94 => Kind::Search,
        95..=104 => Kind::BuildContext,
        105..=144 => Kind::ReadNote,
        145..=189 => Kind::WriteNote,
        190..=224 => Kind::EditNote,
        225..=244 => Kind::DeleteNote,
        245.. => Kind::Rename,
    };
    let form = match c % 16 {
        // A narrow world has no folders.
        8..=13 if kind == Kind::DeleteNote => Form::Plain,
        0..=7 => Form::Plain,
        8..=13 => Form::Other,
        14 => Form::NoObject,
        _ => Form::TwoNames,
    };
    let extra = match (kind, b.wrapping_add(c) % 32) {
        (Kind::WriteNote, 0) => Extra::Unsafe,
        (Kind::WriteNote, 1) => Extra::Secret,
        (Kind::WriteNote, 2) => Extra::Fixture,
        _ => Extra::Nothing,
    };
    let args = Args { form, title: if b % 3 == 2 { 'B' } else { 'A' }, second: b % 4 == 3, extra, ..Args::PLAIN };
    let place = match c {
        240..=247 => Place::NoAgent,
        248.. => Place::Unknown,
        _ => Place::Turn,
    };
    Judge { slot, call, kind, args, place, turn, step, hidden: b % 32 == 31 }
}

/// The same call on some server, in some project, under some name, and by more tools.
fn widened(judge: Judge, e: u8, f: u8) -> Judge {
    let kind = match (judge.kind, f % 16) {
        (Kind::Classify, _) if !e.is_multiple_of(8) => {
            [Kind::WriteNote, Kind::EditNote, Kind::ReadNote][usize::from(f) % 3]
        }
        (Kind::DeleteNote, 0..=7) => Kind::MoveNote,
        (Kind::Rename, 0..=7) => Kind::CreateProject,
        (Kind::ReadNote, 0..=2) => Kind::ViewNote,
        (kind, _) => kind,
    };
    let project = [Project::None, Project::None, Project::None, Project::Main, Project::Main, Project::Work];
    let name = [Name::Title, Name::Title, Name::Path, Name::Path, Name::Permalink, Name::Permalink, Name::Url];
    let folder = matches!(kind, Kind::MoveNote | Kind::DeleteNote) && f / 16 == 15;
    let form = match judge.args.form {
        Form::Plain if folder => Form::Other,
        Form::Other if matches!(kind, Kind::MoveNote | Kind::DeleteNote) => Form::Plain,
        form => form,
    };
    let args = Args {
        form,
        title: if judge.args.title == 'A' && f % 8 == 7 { 'C' } else { judge.args.title },
        extra: if kind == Kind::WriteNote { judge.args.extra } else { Extra::Nothing },
        server: u8::from(kind != Kind::Classify && e / 16 >= 14),
        project: match form {
            Form::Plain | Form::Other => project[usize::from(e % 16) % project.len()],
            Form::NoObject | Form::TwoNames => Project::None,
        },
        name: name[usize::from(f / 2) % name.len()],
        ..judge.args
    };
    Judge { kind, args, ..judge }
}

fn settled(slot: u8, call: u32, step: u32, b: u8, c: u8) -> Settle {
    let answer = match c % 8 {
        0..=2 => Answer::Hits,
        3 => Answer::Nothing,
        4 => Answer::Odd,
        5 => Answer::ErrorField,
        _ => Answer::Failure,
    };
    let declared = match b % 8 {
        0..=3 => Some(Task::Complex),
        4..=6 => Some(Task::Simple),
        _ => None,
    };
    Settle {
        slot,
        call,
        reached: c < 230,
        is_error: (b >> 3) % 16 == 15,
        answer,
        names: Names::ASKED,
        declared,
        step: step + u32::from(c % 11 == 10),
    }
}

/// The same result, naming some note.
fn named(settle: Settle, e: u8, f: u8) -> Settle {
    // A wide world would be one of failures, if they were as frequent.
    let answer = if f.is_multiple_of(4) {
        settle.answer
    } else {
        [Answer::Hits, Answer::Hits, Answer::Nothing][usize::from(f) % 3]
    };
    Settle { answer, names: Names { other: e % 16 == 15, work: e / 16 >= 12 }, ..settle }
}
