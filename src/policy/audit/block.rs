//! A block, as it is remembered: in the store always, and in the audit file if there is one.

use crate::object;
use crate::policy::{Block, Source, Verdict};
use crate::record::{Act, ActorId, Draft, Namespace, ThreadId};
use crate::secret::mask;

/// The kind of the record of a block.
const BLOCK_KIND: &str = "core.audit.policy.v1";

/// Its topic.
const BLOCK_TOPIC: &str = "policy_blocked";

/// The dialect in which the hooks are written that can block.
const DIALECT: &str = "polyglot";

/// A block, and where it happened.
#[derive(Debug, Clone, Copy)]
pub struct Blocked<'a> {
    /// The block.
    pub block: &'a Block,
    /// The hook that blocked, if one of them did.
    pub source: Option<&'a Source>,
    /// The tool of the call; nothing for a prompt.
    pub tool: Option<&'a str>,
    /// The id of the call; nothing for a prompt.
    pub call: Option<&'a str>,
    /// The run or session.
    pub thread: &'a ThreadId,
    /// Whose it is.
    pub actor: &'a ActorId,
    /// Where it stands.
    pub namespace: &'a Namespace,
}

impl<'a> Blocked<'a> {
    /// Returns the block of a prompt, if the verdict on it is one.
    pub fn prompt(
        verdict: &'a Verdict,
        thread: &'a ThreadId,
        actor: &'a ActorId,
        namespace: &'a Namespace,
    ) -> Option<Self> {
        let block = verdict.block()?;
        let source = verdict.ran.last().map(|ran| &ran.source);
        Some(Self { block, source, tool: None, call: None, thread, actor, namespace })
    }

    /// Returns the same of a call.
    #[must_use]
    pub const fn of_call(self, tool: &'a str, call: &'a str) -> Self {
        Self { tool: Some(tool), call: Some(call), ..self }
    }

    /// Returns the record of it, for the engine to write. What looks like a secret in the words of a
    /// hook is masked.
    pub fn to_draft(&self) -> Draft {
        let body = object! {
            "actor": self.actor.as_str(),
            "call_id": self.call,
            "dialect": DIALECT,
            "event": self.block.event,
            "kind": BLOCK_KIND,
            "namespace": self.namespace.as_str(),
            "reason": &*mask(&self.block.reason),
            "source": self.source.map(|source| mask(&source.to_string()).into_owned()),
            "thread": self.thread.as_str(),
            "tool": self.tool,
            "topic": BLOCK_TOPIC,
        };
        Draft::new(ThreadId::security(), ActorId::governance(), Act::Know, body)
    }
}
