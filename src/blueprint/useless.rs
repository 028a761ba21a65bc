//! What no blueprint may bring, whoever vouches for it.

use super::{Placed, Sort};
use crate::record::ShapeError;

/// Kinds of what this engine does not have: definitions of actors, and triggers.
const KINDS: [&str; 3] = ["core.actor.", "core.engine.actor_", "core.trigger."];

/// The topic of a trigger.
const TRIGGER_TOPIC: &str = "event_trigger";

/// The thread of definitions of actors.
const ACTORS_THREAD: &str = "th_actor_registry";

/// Refuses a seed that this engine has no use for, or that is the operator's own to write.
pub(super) fn check(placed: &Placed) -> Result<(), ShapeError> {
    let Placed { place, seed } = placed;
    let kind = seed.text("kind").unwrap_or_default();
    if let Some(known) = KINDS.iter().find(|known| kind.starts_with(**known)) {
        let what = known.trim_end_matches(['.', '_']);
        let message = format!("this engine has no use for records of `{what}`");
        return Err(place.refuse("body.kind", message));
    }
    if seed.text("topic") == Some(TRIGGER_TOPIC) {
        return Err(place.refuse("body.topic", "this engine has no triggers"));
    }
    if seed.thread.as_str() == ACTORS_THREAD {
        return Err(place.refuse("thread", "this engine has no definitions of actors"));
    }
    if kind == "core.erasure" {
        let message = "a blueprint adds: what is erased is the operator's to say";
        return Err(place.refuse("body.kind", message));
    }
    if seed.thread.is_config() && seed.sort() == Sort::Content {
        let message = "a blueprint configures by hooks and permission rules alone: what else is \
                       configured is the operator's to write";
        return Err(place.refuse("thread", message));
    }
    Ok(())
}
