//! From words to the one JSON object that a harness takes.
//!
//! Nothing but the words stands in it: Codex drops the whole answer for one key that it does not
//! know, and a decision of any kind would be more than a hook may.

use super::{Event, Harness};
use crate::canon::{Canonical, Object};
use crate::object;

/// Returns the JSON object that puts `text` before the model of the harness of `event`, on one line.
pub fn answer(event: &Event, text: &str) -> String {
    Canonical::of_object(&object(event, text)).into_string()
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
