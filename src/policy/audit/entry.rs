//! What a line of the audit file says.

use super::Blocked;
use crate::canon::{Canonical, Object, Value, hash_of, hex};
use crate::object;
use crate::secret::{mask, mask_value};

/// What happened.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'a> {
    /// A turn begins.
    TurnStart {
        /// Its number, from 1.
        turn: u32,
    },
    /// The model calls a tool.
    ToolCall {
        /// The tool.
        tool: &'a str,
        /// What it is called with.
        args: &'a Object,
    },
    /// A tool has answered.
    ToolResult {
        /// The tool.
        tool: &'a str,
        /// What the model reads; for a block, what it reads instead.
        text: &'a str,
        /// Whether the call failed.
        failed: bool,
    },
    /// The answer of a tool holds what looks like secrets.
    ContentFindings {
        /// The tool.
        tool: &'a str,
        /// Their kinds, one for each that was found.
        labels: &'a [&'a str],
    },
    /// It was decided whether a call is made, before policy hooks were asked.
    PermissionDecision {
        /// The tool.
        tool: &'a str,
        /// Whether it may be.
        allowed: bool,
        /// Why not.
        reason: Option<&'a str>,
    },
    /// A turn has cost this.
    Usage {
        /// The tokens that were read.
        input_tokens: u64,
        /// The tokens that were written.
        output_tokens: u64,
    },
    /// The run is over.
    AgentStop {
        /// How it ended.
        reason: &'a str,
    },
    /// A call could not be read.
    ToolParseError {
        /// The tool.
        tool: &'a str,
        /// What is wrong with it.
        reason: &'a str,
    },
    /// A policy hook has blocked.
    HookBlocked(&'a Blocked<'a>),
}

impl Entry<'_> {
    /// Returns the word of the file for it.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::TurnStart { .. } => "turn_start",
            Self::ToolCall { .. } => "tool_call",
            Self::ToolResult { .. } => "tool_result",
            Self::ContentFindings { .. } => "content_findings",
            Self::PermissionDecision { .. } => "permission_decision",
            Self::Usage { .. } => "usage",
            Self::AgentStop { .. } => "agent_stop",
            Self::ToolParseError { .. } => "tool_parse_error",
            Self::HookBlocked(_) => "hook_blocked",
        }
    }

    /// Returns what the line says beside what every line says. Words of others are masked.
    pub(super) fn fields(&self, hash_args: bool) -> Object {
        match *self {
            Self::TurnStart { turn } => object! { "turn": turn },
            Self::ToolCall { tool, args } => {
                let mut fields = object! { "argsHash": args_hash(args), "toolName": tool };
                if !hash_args {
                    fields.insert("args".into(), mask_value(&Value::from(args.clone())));
                }
                fields
            }
            Self::ToolResult { tool, text, failed } => object! {
                "isError": failed,
                "resultBytes": text.len(),
                "resultHash": marked_hash(text.as_bytes()),
                "toolName": tool,
            },
            Self::ContentFindings { tool, labels } => object! {
                "findings": labels.to_vec(),
                "toolName": tool,
            },
            Self::PermissionDecision { tool, allowed, reason } => object! {
                "decision": if allowed { "allow" } else { "deny" },
                "reason": reason.map(|reason| mask(reason).into_owned()),
                "toolName": tool,
            },
            Self::Usage { input_tokens, output_tokens } => object! {
                "inputTokens": input_tokens,
                "outputTokens": output_tokens,
            },
            Self::AgentStop { reason } => object! { "reason": &*mask(reason) },
            Self::ToolParseError { tool, reason } => object! {
                "reason": &*mask(reason),
                "toolName": tool,
            },
            Self::HookBlocked(blocked) => object! {
                "event": blocked.block.event,
                "reason": &*mask(&blocked.block.reason),
                "toolCallId": blocked.call,
                "toolName": blocked.tool,
            },
        }
    }
}

/// Returns the hash of arguments: over their compact text with sorted keys, which for everything but
/// unusual numbers is the canonical text.
fn args_hash(args: &Object) -> String {
    marked_hash(Canonical::of_object(args).as_str().as_bytes())
}

fn marked_hash(bytes: &[u8]) -> String {
    format!("sha256:{}", hex(&hash_of(&[bytes])))
}
