//! What a session, and each event of it, is known by.
//!
//! Names follow from what a harness says alone, so processes that are started at the same moment for
//! two events of one session meet on one thread, and an event that is told twice is one event.

use super::{Event, Harness, Moment};
use crate::canon::{Digest, hash_of, hex};
use crate::record::{ActorId, ThreadId};

/// Returns the thread of a session, or of a subagent of it.
pub fn session_thread(harness: Harness, session_id: &str, agent_id: Option<&str>) -> ThreadId {
    let name = harness.name();
    let mut parts: Vec<&[u8]> =
        vec![b"session", &[0], name.as_bytes(), &[0], session_id.as_bytes()];
    if let Some(agent_id) = agent_id {
        parts.extend([&[0], agent_id.as_bytes()]);
    }
    let thread = format!("th_{}", hex(&hash_of(&parts)));
    // Hex is a name; the thread of the engine's own is only what the types ask for here.
    ThreadId::parse(&thread).unwrap_or_else(|_| ThreadId::config())
}

/// Returns who a harness's agent writes as.
pub fn agent_of(harness: Harness) -> ActorId {
    let actor = format!("did:sync:agent:{}", harness.name());
    ActorId::parse(&actor).unwrap_or_else(|_| ActorId::engine())
}

/// Returns what tells an event from the others on its thread: a call by its id, anything else by all
/// that was said of it.
pub(super) fn key_of(event: &Event) -> Digest {
    match &event.moment {
        Moment::Returned(call) => hash_of(&[b"call\0", call.call_id.as_bytes()]),
        _ => hash_of(&[b"event\0", event.name.as_bytes(), &[0], &event.digest]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_the_hash_of_its_names() {
        #[track_caller]
        fn check(harness: Harness, agent: Option<&str>, want: &str) {
            assert_eq!(session_thread(harness, "s1", agent).as_str(), format!("th_{want}"));
        }
        // printf 'session\0codex\0s1' | sha256sum
        check(
            Harness::Codex,
            None,
            "19ba59ce37d623039f428e22fdb4e3cf81a5a7ff8b149454aeddb0b13048c43a",
        );
        // printf 'session\0codex\0s1\0a1' | sha256sum
        check(
            Harness::Codex,
            Some("a1"),
            "ae69bbcec0536ce683a15a069217a3f8e5293a7e12bb08e06d3a215fb5bfca31",
        );
    }
}
