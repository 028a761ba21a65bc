//! What a run is asked to do.

use crate::canon::hash_of;
use crate::canon::hex;
use crate::record::{ActorId, NameError, Namespace, ThreadId};

/// What a run is asked to do, and within which bounds. It does not change while the run lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSpec {
    /// The loop thread: the name of the run.
    pub thread: ThreadId,
    /// Who runs.
    pub actor: ActorId,
    /// What is to be reached, in words.
    pub goal: String,
    /// Where it runs; hooks of this namespace and those above it speak.
    pub namespace: Namespace,
    /// What the work is trusted under.
    pub domain: String,
    /// The model's name, for the records.
    pub model: String,
    /// The most turns.
    pub max_turns: u32,
}

impl RunSpec {
    /// The turns of a run that does not say how many.
    pub const DEFAULT_MAX_TURNS: u32 = 20;

    /// Returns the loop thread of a run of `actor` for `goal`, made unique by `nonce`.
    pub fn mint_thread(actor: &ActorId, goal: &str, nonce: &[u8]) -> Result<ThreadId, NameError> {
        let digest = hash_of(&[
            b"work-loop\0",
            actor.as_str().as_bytes(),
            b"\0",
            goal.as_bytes(),
            b"\0",
            nonce,
        ]);
        ThreadId::parse(&format!("th_{}", hex(&digest)))
    }
}
