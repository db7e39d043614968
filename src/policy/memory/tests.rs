use super::*;
use crate::policy::digest::{DigestKey, Digester};
use crate::policy::target::Project;

fn digest(number: u32) -> Digest {
    let mut digester = Digester::new(&DigestKey([3; 16]));
    digester.bytes(&number.to_le_bytes());
    digester.finish()
}

fn path(number: u32) -> FilePath {
    FilePath { exact: digest(number), folded: digest(number) }
}

fn written(effect: u32, target: u32) -> Written {
    Written {
        effect: digest(effect),
        target: digest(target),
        project: Project::default(),
        path: Some(path(target).exact),
        notes: [digest(target)].into(),
        permalink: None,
        names: Arc::default(),
        titled: false,
        in_project: None,
    }
}

fn before(memory: &Memory, effect: u32, target: u32) -> Before {
    let subject = Subject {
        effect: digest(effect),
        target: digest(target),
        project: Project::default(),
        identifier: None,
        adds_up: false,
    };
    memory.before(&subject, std::iter::empty(), &|| Some(Known::default()), 9)
}

fn by_path(number: u32) -> Known {
    Known { path: vec![digest(number)], ..Known::default() }
}

const MANY: u32 = 50_000;

#[test]
fn what_is_remembered_is_bounded_and_what_is_forgotten_is_not_known() {
    assert!(MANY as usize > 3 * REMEMBERED_MAX);
    let mut memory = Memory::default();
    for number in 0..MANY {
        memory.prove([digest(number)], Some(1));
        memory.prove_permalink([digest(number)], path(number), true, Some(1));
        memory.miss([digest(number)]);
        memory.reach([digest(number)], path(number));
        memory.edited(path(number));
        memory.write(written(number, number), true);
        memory.remove(Removed::Note { path: Some(path(number)), names: Vec::new() }, true);
    }
    let sizes = [
        memory.proven.len(),
        memory.by_permalink.len(),
        memory.absent.len(),
        memory.reached.len(),
        memory.last_edit.len(),
        memory.last_write.len(),
        memory.exact.len(),
        memory.written.values().map(VecDeque::len).sum(),
    ];
    assert!(sizes.iter().all(|size| *size <= REMEMBERED_MAX), "{sizes:?}");
    assert!(memory.gone.len() <= GONE_MAX);
    assert!(!memory.knows(&by_path(0), 0, 9), "forgotten, so not known");
    assert!(memory.knows(&by_path(MANY - 1), 0, 9));
    // Beyond what can be remembered of deletions, every note counts as gone.
    assert_eq!(memory.gone(Some(path(MANY + 1)), None), memory.barrier);
}

#[test]
fn writes_of_one_effect_are_found_by_their_exact_target_however_many_they_are() {
    let mut memory = Memory::default();
    for target in 0..1000 {
        memory.write(written(0, target), true);
    }
    assert_eq!(memory.written.get(&digest(0)).map(VecDeque::len), Some(COMPARED_MAX));
    assert_eq!(before(&memory, 0, 0), Before::Done);
    assert_eq!(before(&memory, 0, 999), Before::Done);
    assert_eq!(before(&memory, 0, 1000), Before::No);
    assert_eq!(before(&memory, 1, 0), Before::No);
}

#[test]
fn proving_again_does_not_make_unseen_what_was_seen() {
    let mut memory = Memory::default();
    for step in [1, 4, 4, 5] {
        memory.prove([digest(0)], Some(step));
    }
    assert!(memory.knows(&by_path(0), 0, 5), "of step 4");
    assert!(!memory.knows(&by_path(0), 0, 4), "only the last two steps are kept");
    let since = memory.order;
    assert!(!memory.knows(&by_path(0), since, 9));
    memory.prove([digest(0)], None);
    assert!(memory.knows(&by_path(0), since, 0), "what the model wrote it need not see");
    for step in [7, 8, 9] {
        memory.prove([digest(0)], Some(step));
        assert!(memory.knows(&by_path(0), since, 0), "nor is that lost by reading it again");
    }
}

#[test]
fn a_write_that_is_under_way_may_be_the_same_until_its_note_is_read() {
    let mut memory = Memory::default();
    let subject = |target: u32, identifier: bool| Subject {
        effect: digest(0),
        target: digest(target),
        project: Project::default(),
        identifier: identifier.then(|| Named { permalink: digest(9), words: None }),
        adds_up: identifier,
    };
    let before = |memory: &Memory, one: &Subject, other: &Subject| {
        memory.before(one, [(other, 16)].into_iter(), &|| Some(by_path(0)), 9)
    };
    assert_eq!(before(&memory, &subject(0, false), &subject(0, false)), Before::Unknown);
    assert_eq!(before(&memory, &subject(0, false), &subject(1, false)), Before::No);
    assert_eq!(before(&memory, &subject(0, true), &subject(1, true)), Before::Unknown, "whatever it reaches");
    memory.enter(16);
    memory.prove([digest(0)], Some(1));
    assert_eq!(before(&memory, &subject(0, false), &subject(0, false)), Before::No);
}
