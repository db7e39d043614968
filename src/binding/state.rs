//! The policies of this thread, and the boundary that no panic crosses.

use std::cell::RefCell;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Once, OnceLock};

use crate::config::Config;
use crate::policy::{DigestKey, Judged, Options, Policy, SessionId};
use crate::tool::Namespace;

/// One policy with its configuration.
pub(super) struct Instance {
    pub(super) config: Config,
    pub(super) namespace: Namespace,
    pub(super) policy: Policy,
    /// The call that was judged last.
    pub(super) last: Option<Judged>,
    /// Names of arguments that calls have had.
    pub(super) names: super::hot::Lists,
    /// What arguments and answers are read into.
    pub(super) room: super::hot::Room,
    /// Key of the hashes of notes in records.
    pub(super) target_key: RandomState,
}

/// What can go wrong at the boundary without a bug of ours, but for the last.
#[derive(Debug, thiserror::Error)]
pub(super) enum Fault {
    #[error("no policy with this handle in this thread: it was dropped, or belongs to another thread")]
    NoPolicy,
    #[error("the configuration has problems: read them with readConfig")]
    BadConfig,
    #[error("not a tool number: it must come from toolId, and 0 is no tool")]
    BadTool,
    #[error("not the values of a list of names: the number comes from argumentNames, and each value holds no others")]
    BadNames,
    #[error("not a word of this version's vocabulary")]
    BadWord,
    #[error(
        "no path-like argument: it is one of directory, destination_path, destination_folder, identifier, title, \
         project_path"
    )]
    NoPathArgument,
    #[error("not what this function takes: {0}")]
    BadRequest(String),
    #[error("the trail cannot be read or written: {0}")]
    Trail(String),
    #[error("too many policies in this process")]
    TooMany,
    #[error("POLICY_INTERNAL_ERROR: {entry} panicked{place}")]
    Panic { entry: &'static str, place: String },
}

impl From<Fault> for napi::Error {
    fn from(fault: Fault) -> napi::Error {
        napi::Error::from_reason(fault.to_string())
    }
}

static NEXT: AtomicU32 = AtomicU32::new(1);

thread_local! {
    /// Few in number (one per loaded plugin row), so a list is searched.
    static POLICIES: RefCell<Vec<(u32, Instance)>> = const { RefCell::new(Vec::new()) };
    /// Where in this crate the last panic of the thread was.
    static PANICKED_AT: RefCell<String> = const { RefCell::new(String::new()) };
}

pub(super) fn create(config: Config) -> Result<u32, Fault> {
    let handle = NEXT
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |next| next.checked_add(1))
        .map_err(|_| Fault::TooMany)?;
    let policy = Policy::new(Options::new(&config, process_key()));
    let namespace = config.namespace();
    let (names, room, target_key) = (super::hot::Lists::default(), super::hot::Room::default(), RandomState::new());
    let instance = Instance { namespace, policy, config, last: None, names, room, target_key };
    POLICIES.with_borrow_mut(|policies| policies.push((handle, instance)));
    Ok(handle)
}

/// The key of this process's digests, drawn once from what the system gives the standard library's hash maps.
fn process_key() -> DigestKey {
    static KEY: OnceLock<DigestKey> = OnceLock::new();
    *KEY.get_or_init(|| {
        let random = || RandomState::new().build_hasher().finish().to_le_bytes();
        let mut key = [0; 16];
        let (low, high) = key.split_at_mut(8);
        low.copy_from_slice(&random());
        high.copy_from_slice(&random());
        DigestKey(key)
    })
}

pub(super) fn remove(handle: u32) {
    POLICIES.with_borrow_mut(|policies| policies.retain(|(h, _)| *h != handle));
}

/// Runs with the policy of a handle.
pub(super) fn with<T>(handle: u32, run: impl FnOnce(&mut Instance) -> napi::Result<T>) -> napi::Result<T> {
    POLICIES.with_borrow_mut(|policies| match policies.iter_mut().find(|(h, _)| *h == handle) {
        Some((_, instance)) => run(instance),
        None => Err(Fault::NoPolicy.into()),
    })
}

/// Runs something that changes a session's state. After a panic that state is not to be trusted: the turn is discarded,
/// so that it is unknown again, and the panic goes on to the boundary.
pub(super) fn trusting<T>(
    instance: &mut Instance,
    session: u32,
    run: impl FnOnce(&mut Instance) -> T,
) -> napi::Result<T> {
    match catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "faults")]
        faults::trip("policy");
        run(instance)
    })) {
        Ok(value) => Ok(value),
        Err(panic) => {
            instance.policy.end_turn(SessionId(session));
            std::panic::resume_unwind(panic)
        }
    }
}

/// Runs an entry of the addon; a panic in it becomes an error.
pub(super) fn guarded<T>(entry: &'static str, run: impl FnOnce() -> napi::Result<T>) -> napi::Result<T> {
    let caught = catch_unwind(AssertUnwindSafe(|| {
        #[cfg(feature = "faults")]
        faults::trip(entry);
        run()
    }));
    caught.unwrap_or_else(|_| {
        let place = PANICKED_AT.with_borrow_mut(std::mem::take);
        Err(Fault::Panic { entry, place }.into())
    })
}

/// Keeps a panic's message off standard error: it may quote what the policy must not repeat. Where in this crate it
/// happened is kept for the error.
pub(super) fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        std::panic::set_hook(Box::new(|info| {
            let place = info
                .location()
                .filter(|at| at.file().starts_with("src/"))
                .map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
            PANICKED_AT.with_borrow_mut(|kept| *kept = place);
        }));
    });
}

/// Panics on purpose, in builds for the tests of this boundary.
#[cfg(feature = "faults")]
pub(super) mod faults {
    use std::cell::RefCell;

    thread_local! {
        static ARMED: RefCell<Option<String>> = const { RefCell::new(None) };
    }

    pub(in super::super) fn arm(entry: String) {
        ARMED.set(Some(entry));
    }

    #[allow(clippy::panic, reason = "this is what it is for")]
    pub(super) fn trip(entry: &str) {
        let armed = ARMED.with_borrow_mut(|armed| armed.take_if(|name| name == entry).is_some());
        assert!(!armed, "injected");
    }
}
