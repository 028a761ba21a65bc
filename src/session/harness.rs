//! The harnesses whose events are understood, and what tells their payloads apart.

use super::Payload;
use super::event::{EVENT, TRANSCRIPT};
use crate::policy::Seam;
use crate::record::ActorId;

/// A program that runs an agent and tells its hooks what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harness {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode, through the plugin that is installed for it.
    Opencode,
}

/// The most that a harness hands on of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    /// So many units of UTF-16, which is what a harness written in JavaScript counts.
    Utf16(usize),
    /// So many bytes.
    Bytes(usize),
    /// Any length.
    None,
}

impl Harness {
    /// Every harness there is.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen, Self::Copilot, Self::Opencode];

    /// Returns the name, as on a command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|harness| harness.name() == name)
    }

    /// Returns who states what happens in a session of this harness.
    pub fn actor(self) -> ActorId {
        // The name holds nothing that an actor's may not.
        ActorId::parse(&format!("did:sync:agent:{}", self.name()))
            .unwrap_or_else(|_| ActorId::engine())
    }

    /// Returns the most that this harness hands on of one text. What is longer it moves into a
    /// file, of which the model sees a part.
    pub const fn cap(self) -> Cap {
        match self {
            Self::Claude => Cap::Utf16(10_000),
            // It counts 2,500 tokens of about four bytes. So many bytes were seen to arrive whole.
            Self::Codex => Cap::Bytes(9_000),
            // Of a result with its context it keeps the last 32,000. A sign may be escaped by four.
            Self::Gemini => Cap::Utf16(8_000),
            Self::Copilot => Cap::Bytes(10_000),
            Self::Qwen | Self::Opencode => Cap::None,
        }
    }

    /// Returns whether the model hears what is answered to an event of this name. Never at the end
    /// of a turn: there, words would keep the agent going.
    pub fn delivers(self, event: &str) -> bool {
        let heard: &[&str] = match self {
            Self::Claude | Self::Qwen => &[
                "SessionStart",
                "UserPromptSubmit",
                "PostToolUse",
                "PostToolUseFailure",
                "SubagentStart",
            ],
            Self::Codex => &["SessionStart", "UserPromptSubmit", "PostToolUse", "SubagentStart"],
            Self::Gemini => &["SessionStart", "BeforeAgent", "AfterTool"],
            Self::Copilot => {
                &["postToolUse", "postToolUseFailure", "PostToolUse", "PostToolUseFailure"]
            }
            Self::Opencode => &["tool.execute.after"],
        };
        heard.contains(&event)
    }

    /// Returns what policy hooks may decide about at an event of this name: a prompt, or a call before
    /// it is made. Copilot takes no decision about a prompt.
    pub fn seam(self, event: &str) -> Option<Seam> {
        let (prompt, before): (&[&str], &[&str]) = match self {
            Self::Claude | Self::Codex | Self::Qwen => (&["UserPromptSubmit"], &["PreToolUse"]),
            Self::Gemini => (&["BeforeAgent"], &["BeforeTool"]),
            Self::Copilot => (&[], &["preToolUse", "PreToolUse"]),
            Self::Opencode => (&["chat.message"], &["tool.execute.before"]),
        };
        if prompt.contains(&event) {
            return Some(Seam::Prompt);
        }
        before.contains(&event).then_some(Seam::Before)
    }

    /// How many seconds a harness is asked to wait for a decision.
    pub const DECISION_SECS: u32 = 60;

    /// Returns how many seconds this harness is asked to wait for a decision about an event. Where it
    /// waits for half a minute by itself, it is not asked to wait longer than that.
    pub fn decision_secs(self, event: &str) -> u32 {
        match (self, event) {
            (Self::Claude, "UserPromptSubmit") | (Self::Copilot, _) => 25,
            _ => Self::DECISION_SECS,
        }
    }

    /// Returns the harness that a payload looks as if it came from: by the name of its event, then
    /// by fields that one harness alone sends, then by the folder of its log, then by what is usual.
    pub fn detect(payload: &Payload) -> Self {
        let event = payload.word(EVENT).unwrap_or_default();
        of_event(event, payload)
            .or_else(|| of_fields(payload))
            .or_else(|| of_folder(payload))
            .or_else(|| of_habits(event, payload))
            .unwrap_or(Self::Claude)
    }
}

fn of_event(event: &str, payload: &Payload) -> Option<Harness> {
    match event {
        "BeforeAgent"
        | "AfterAgent"
        | "BeforeTool"
        | "AfterTool"
        | "BeforeModel"
        | "AfterModel"
        | "BeforeToolSelection"
        | "PreCompress" => Some(Harness::Gemini),
        "TodoCreated" | "TodoCompleted" | "SessionDelete" => Some(Harness::Qwen),
        "Interrupt" => Some(Harness::Codex),
        _ if event.contains('.') => Some(Harness::Opencode),
        // Another harness spells its events so as well, and its sessions are conversations.
        _ if event.starts_with(|first: char| first.is_ascii_lowercase()) => {
            payload.get(&["conversation_id"]).is_none().then_some(Harness::Copilot)
        }
        _ => None,
    }
}

fn of_fields(payload: &Payload) -> Option<Harness> {
    let has = |names: &[&str]| payload.get(names).is_some();
    let turn = payload.text(&["prompt_id"]).unwrap_or_default();
    if has(&["sessionID", "callID"]) {
        Some(Harness::Opencode)
    } else if has(&["tool_call_id", "submitted_prompt", "context_usage"])
        || turn.contains("########")
    {
        Some(Harness::Qwen)
    } else if has(&["turn_id"]) {
        Some(Harness::Codex)
    } else if has(&["mcp_context", "prompt_response"]) {
        Some(Harness::Gemini)
    } else if has(&["sessionId", "toolName", "toolArgs", "toolResult", "tool_result"]) {
        Some(Harness::Copilot)
    } else {
        None
    }
}

fn of_folder(payload: &Payload) -> Option<Harness> {
    let folders = payload.text(TRANSCRIPT)?.split(['/', '\\']);
    folders.into_iter().find_map(|folder| Harness::parse(folder.strip_prefix('.')?))
}

fn of_habits(event: &str, payload: &Payload) -> Option<Harness> {
    let has = |name: &str| payload.get(&[name]).is_some();
    if has("timestamp") {
        return Some(if has("permission_mode") {
            Harness::Qwen
        } else if has("transcript_path") {
            Harness::Gemini
        } else {
            Harness::Copilot
        });
    }
    // Claude Code names the model where a session starts, and its mode of permissions elsewhere.
    let starts = event == "SessionStart" || event.ends_with("ModelSwitch");
    (has("model") && (has("permission_mode") || !starts)).then_some(Harness::Codex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn detected(payload: &str, want: Harness) {
        let payload = Payload::read(payload.as_bytes()).expect("a payload");
        assert_eq!(Harness::detect(&payload), want);
    }

    #[test]
    fn the_event_tells_before_a_field_and_a_field_before_a_folder() {
        detected(r#"{"hook_event_name":"AfterTool","turn_id":"t"}"#, Harness::Gemini);
        detected(
            r#"{"hook_event_name":"Stop","turn_id":"t","transcript_path":"/h/.claude/p.jsonl"}"#,
            Harness::Codex,
        );
        detected(
            r#"{"hook_event_name":"SessionEnd","transcript_path":"/h/.codex/sessions/r.jsonl"}"#,
            Harness::Codex,
        );
        detected(
            r#"{"hook_event_name":"SessionEnd","transcript_path":"C:\\Users\\d\\.qwen\\c.jsonl"}"#,
            Harness::Qwen,
        );
        // A folder is named so, and not merely something in the path.
        detected(
            r#"{"hook_event_name":"SessionEnd","transcript_path":"/h/-dev-.codex-x/r.jsonl"}"#,
            Harness::Claude,
        );
        detected(r#"{"hook_event_name":"Stop"}"#, Harness::Claude);
        detected("{}", Harness::Claude);
    }

    #[test]
    fn habits_tell_where_nothing_else_does() {
        for (payload, want) in [
            (r#"{"hook_event_name":"SessionStart","timestamp":"t"}"#, Harness::Copilot),
            (
                r#"{"hook_event_name":"SessionStart","timestamp":"t","transcript_path":"/x"}"#,
                Harness::Gemini,
            ),
            (
                r#"{"hook_event_name":"Stop","timestamp":"t","permission_mode":"default"}"#,
                Harness::Qwen,
            ),
            (
                r#"{"hook_event_name":"SessionStart","model":"m","permission_mode":"default"}"#,
                Harness::Codex,
            ),
            (r#"{"hook_event_name":"SessionStart","model":"m"}"#, Harness::Claude),
            (r#"{"hook_event_name":"PreCompact","model":"m"}"#, Harness::Codex),
            (r#"{"event":"postToolUse","conversation_id":"c"}"#, Harness::Claude),
        ] {
            detected(payload, want);
        }
    }

    #[test]
    fn names_read_back() {
        for harness in Harness::ALL {
            assert_eq!(Harness::parse(harness.name()), Some(harness));
            let actor = format!("did:sync:agent:{}", harness.name());
            assert_eq!(harness.actor().as_str(), actor);
            for never in ["Stop", "SessionEnd", "agentStop", "AfterAgent", "session.idle", ""] {
                assert!(!harness.delivers(never), "{never}");
            }
        }
        assert_eq!(Harness::parse("Claude"), None);
    }
}
