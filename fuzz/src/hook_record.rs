//! Hooks: the validator takes a whole hook or names one field.

use spl::canon::{Limits, Object, parse};
use spl::hook::{Hook, MAX_FIRES_PER_RUN, MAX_WHEN_BYTES};
use spl::record::{Act, ActorId, Draft, Reason, ThreadId};

/// Checks an envelope, or the body of one that is otherwise right.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(value) = parse(bytes, Limits::DOOR) else { return false };
    if let Ok(draft) = Draft::from_envelope(value.clone()) {
        return accepted(&draft);
    }
    let Some(body) = value.as_object() else { return false };
    accepted(&configuration(body.clone()))
}

fn configuration(body: Object) -> Draft {
    Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body)
}

fn accepted(draft: &Draft) -> bool {
    let hook = match Hook::check(draft) {
        Ok(hook) => hook,
        Err(error) => {
            // An unknown field may have any name, the empty one too.
            let named = !error.field.is_empty() || error.reason == Reason::UnknownField;
            assert!(named && !error.message.is_empty(), "{error:?}");
            assert!(error.message.chars().count() < 2000, "{error:?}");
            return false;
        }
    };
    assert!(draft.thread.is_config() && draft.act == Act::Learn);
    assert!(hook.when().source().len() <= MAX_WHEN_BYTES);
    assert!((1..=MAX_FIRES_PER_RUN).contains(&hook.max_fires_per_run()));
    true
}
