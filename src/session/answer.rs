//! From words, or from a refusal, to the one JSON object that a harness takes.
//!
//! Nothing but that stands in it: Codex drops the whole answer for one key that it does not know.
//! Of the decisions that harnesses take there is one here, to refuse. To allow would skip what the
//! harness itself asks, and to ask is not taken by all of them.

use super::words::bounded;
use super::{Event, Harness};
use crate::canon::{Canonical, Object};
use crate::object;
use crate::policy::Seam;

/// Returns the JSON object that puts `text` before the model of the harness of `event`, on one line.
pub fn answer(event: &Event, text: &str) -> String {
    Canonical::of_object(&object(event, text)).into_string()
}

/// Returns the JSON object that refuses what an event of this harness is about to do, on one line;
/// nothing where the harness takes no refusal.
pub fn refusal(event: &Event, reason: &str) -> Option<String> {
    let reason = &*bounded(reason, event.harness.cap(), " [cut here]");
    let refused = match (event.harness.seam(&event.name)?, event.harness) {
        (_, Harness::Gemini) => object! { "decision": "deny", "reason": reason },
        (Seam::Before, Harness::Copilot) => object! {
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
        (Seam::Before, _) => object! {
            "hookSpecificOutput": object! {
                "hookEventName": &*event.name,
                "permissionDecision": "deny",
                "permissionDecisionReason": reason,
            },
        },
        _ => object! { "decision": "block", "reason": reason },
    };
    Some(Canonical::of_object(&refused).into_string())
}

fn object(event: &Event, text: &str) -> Object {
    match event.harness {
        Harness::Copilot => object! { "additionalContext": text },
        // The plugin for opencode reads what it has asked for in the words of the others.
        Harness::Claude | Harness::Codex | Harness::Gemini | Harness::Qwen | Harness::Opencode => {
            object! {
                "hookSpecificOutput": object! {
                    "additionalContext": text,
                    "hookEventName": &*event.name,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Payload;
    use super::*;

    #[track_caller]
    fn golden(harness: Harness, event: &str, want: &str) {
        let payload = object! { "session_id": "s", "hook_event_name": event, "tool_name": "t" };
        let event = Event::read(&Payload::of(payload), Some(harness)).expect("an event");
        assert_eq!(answer(&event, "a: \"b\"\n⚠"), want);
    }

    #[track_caller]
    fn refused(harness: Harness, event: &str, want: Option<&str>) {
        let payload = object! { "session_id": "s", "hook_event_name": event, "tool_name": "t" };
        let event = Event::read(&Payload::of(payload), Some(harness)).expect("an event");
        assert_eq!(refusal(&event, "no: \"b\"\n⚠").as_deref(), want, "{harness:?}");
    }

    #[test]
    fn each_harness_has_its_shape_of_a_refusal() {
        let call = |event: &str| {
            let decision = r#""permissionDecision":"deny","permissionDecisionReason""#;
            let reason = r#""no: \"b\"\n⚠""#;
            let name = format!(r#""hookEventName":"{event}""#);
            format!(r#"{{"hookSpecificOutput":{{{name},{decision}:{reason}}}}}"#)
        };
        let prompt = r#"{"decision":"block","reason":"no: \"b\"\n⚠"}"#;
        for harness in [Harness::Claude, Harness::Codex, Harness::Qwen] {
            refused(harness, "PreToolUse", Some(&call("PreToolUse")));
            refused(harness, "UserPromptSubmit", Some(prompt));
        }
        for event in ["BeforeTool", "BeforeAgent"] {
            let denied = r#"{"decision":"deny","reason":"no: \"b\"\n⚠"}"#;
            refused(Harness::Gemini, event, Some(denied));
        }
        refused(Harness::Opencode, "tool.execute.before", Some(&call("tool.execute.before")));
        refused(Harness::Opencode, "chat.message", Some(prompt));
        let copilot = r#"{"permissionDecision":"deny","permissionDecisionReason":"no: \"b\"\n⚠"}"#;
        refused(Harness::Copilot, "preToolUse", Some(copilot));
        refused(Harness::Copilot, "userPromptSubmitted", None);
    }

    /// Behind a tool, a decision would replace what it has answered.
    #[test]
    fn nothing_is_refused_elsewhere() {
        for harness in Harness::ALL {
            for event in ["PostToolUse", "AfterTool", "Stop", "SessionStart", "PermissionRequest"] {
                refused(harness, event, None);
            }
        }
    }

    #[test]
    fn each_harness_has_its_shape() {
        let shape = |event: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"additionalContext":"a: \"b\"\n⚠","hookEventName":"{event}"}}}}"#
            )
        };
        for harness in [Harness::Claude, Harness::Qwen] {
            for event in ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "SubagentStart"]
            {
                golden(harness, event, &shape(event));
            }
        }
        golden(Harness::Codex, "PostToolUse", &shape("PostToolUse"));
        golden(Harness::Gemini, "AfterTool", &shape("AfterTool"));
        golden(Harness::Gemini, "BeforeAgent", &shape("BeforeAgent"));
        golden(Harness::Opencode, "tool.execute.after", &shape("tool.execute.after"));
        for event in ["postToolUse", "postToolUseFailure", "PostToolUse"] {
            golden(Harness::Copilot, event, r#"{"additionalContext":"a: \"b\"\n⚠"}"#);
        }
    }
}
