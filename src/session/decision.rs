//! What of a session waits for a decision, and what policy hooks have decided about it.
//!
//! Policy hooks are asked by the process that the harness has started, in its own folder and before
//! anybody else is told: what they decide holds whether or not the event can be recorded. The record
//! of it goes with the event, in one commit.

use super::event::Reading;
use super::{Event, Payload, derive};
use crate::canon::{Object, Value};
use crate::object;
use crate::policy::audit::Blocked;
use crate::policy::{Block, Decision, Question, Scope, Seam, Source, Verdict, polyglot};
use crate::record::{ActorId, Draft, Namespace, ThreadId};

/// What waits for a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pending {
    /// A prompt that is about to open a turn.
    Prompt {
        /// The words, without what hooks have added to them before.
        text: String,
    },
    /// A call that is about to be made.
    Call(PendingCall),
}

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingCall {
    /// The tool, by its canonical name.
    pub tool: String,
    /// The harness's own arguments.
    pub input: Object,
    /// What tells it from others of the session.
    pub id: String,
}

/// What policy hooks have decided, where they had something to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decided {
    /// The prompt opens a turn, with these words.
    Added(String),
    /// It does not happen.
    Refused(Refusal),
}

/// Why something does not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Where, and why.
    pub block: Block,
    /// The hook that said so, if it was one.
    pub source: Option<Source>,
    /// The tool, by its canonical name; nothing for a prompt.
    pub tool: Option<String>,
    /// What tells the call from others of its session; nothing for a prompt.
    pub call: Option<String>,
}

impl Pending {
    /// Returns what waits for a decision at an event, if anything does. What a subagent is told is
    /// no prompt of a person's.
    pub fn of(payload: &Payload, event: &Event) -> Option<Self> {
        let (harness, session_id, name) = (event.harness, &*event.session_id, &*event.name);
        let reading = Reading { payload, harness, session_id, name };
        match harness.seam(name)? {
            Seam::Prompt if event.agent.is_none() => {
                Some(Self::Prompt { text: reading.prompt()?.into_owned() })
            }
            Seam::Before => {
                let call = derive::call(&reading, false)?;
                let (tool, input, id) = (call.canonical, call.args, call.call_id);
                Some(Self::Call(PendingCall { tool, input, id }))
            }
            _ => None,
        }
    }

    /// Returns what policy hooks are asked.
    pub fn question(&self) -> Question<'_> {
        match self {
            Self::Prompt { text } => Question::Prompt { text },
            Self::Call(call) => Question::Before { tool: &call.tool, input: &call.input },
        }
    }

    /// Returns what a verdict comes to. Only a prompt has something added to it.
    pub fn decided(&self, verdict: Verdict) -> Option<Decided> {
        let source = verdict.ran.last().map(|ran| ran.source.clone());
        match (verdict.decision, self) {
            (Decision::Block(block), _) => Some(self.refused(block, source)),
            (Decision::Proceed { context: Some(context) }, Self::Prompt { .. }) => {
                Some(Decided::Added(context))
            }
            (Decision::Proceed { .. }, _) => None,
        }
    }

    /// Returns the refusal of this.
    pub fn refused(&self, block: Block, source: Option<Source>) -> Decided {
        let (tool, call) = match self {
            Self::Prompt { .. } => (None, None),
            Self::Call(call) => (Some(call.tool.clone()), Some(call.id.clone())),
        };
        Decided::Refused(Refusal { block, source, tool, call })
    }
}

impl Refusal {
    /// Returns what is remembered of it in a session.
    pub fn blocked<'a>(
        &'a self,
        thread: &'a ThreadId,
        actor: &'a ActorId,
        namespace: &'a Namespace,
    ) -> Blocked<'a> {
        Blocked {
            block: &self.block,
            source: self.source.as_ref(),
            tool: self.tool.as_deref(),
            call: self.call.as_deref(),
            thread,
            actor,
            namespace,
        }
    }

    pub(super) fn to_draft(
        &self,
        thread: &ThreadId,
        actor: &ActorId,
        namespace: &Namespace,
    ) -> Draft {
        self.blocked(thread, actor, namespace).to_draft()
    }
}

/// The words for where something is refused. They are the dialect's, and one of the settings'.
const EVENTS: [&str; 3] = [
    polyglot::Event::PreToolUse.as_str(),
    polyglot::Event::UserPromptSubmit.as_str(),
    Refusal::BY_SETTINGS,
];

impl Refusal {
    /// The word for what the settings refuse by themselves.
    pub const BY_SETTINGS: &'static str = "permissions.deny";
}

impl Decided {
    /// Returns it as it travels to the server.
    pub(super) fn to_object(&self) -> Object {
        match self {
            Self::Added(context) => object! { "context": context.as_str() },
            Self::Refused(Refusal { block, source, tool, call }) => object! {
                "refused": object! {
                    "call": call.as_deref(),
                    "event": block.event,
                    "reason": block.reason.as_str(),
                    "seam": block.seam.as_str(),
                    "source": source.as_ref().map(|source| object! {
                        "path": source.path.to_string_lossy().into_owned(),
                        "position": source.position,
                        "scope": source.scope.as_str(),
                    }),
                    "tool": tool.as_deref(),
                },
            },
        }
    }

    /// Reads it there.
    pub(super) fn read(value: &Value) -> Option<Self> {
        if let Some(context) = value.get("context") {
            return context.as_str().map(|context| Self::Added(context.to_owned()));
        }
        let refused = value.get("refused")?;
        let text = |name: &str| refused.get(name).and_then(Value::as_str);
        let event = text("event")?;
        let event = EVENTS.into_iter().find(|known| *known == event)?;
        let source = match refused.get("source") {
            None | Some(Value::Null) => None,
            Some(source) => Some(read_source(source, event)?),
        };
        let block =
            Block { seam: Seam::parse(text("seam")?)?, event, reason: text("reason")?.to_owned() };
        let (tool, call) = (text("tool").map(str::to_owned), text("call").map(str::to_owned));
        Some(Self::Refused(Refusal { block, source, tool, call }))
    }
}

fn read_source(value: &Value, event: &'static str) -> Option<Source> {
    let scope = value.get("scope")?.as_str()?;
    Some(Source {
        path: value.get("path")?.as_str()?.into(),
        scope: [Scope::Global, Scope::Project].into_iter().find(|it| it.as_str() == scope)?,
        event,
        position: value.get("position")?.as_u64()?.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Harness;
    use super::*;

    fn pending(harness: Harness, payload: &str) -> Option<Pending> {
        let payload = Payload::read(payload.as_bytes()).expect("a payload");
        let event = Event::read(&payload, Some(harness)).expect("an event");
        Pending::of(&payload, &event)
    }

    fn call(tool: &str, command: &str, id: &str) -> Pending {
        let input = object! { "command": command };
        Pending::Call(PendingCall { tool: tool.into(), input, id: id.into() })
    }

    fn prompt(text: &str) -> Pending {
        Pending::Prompt { text: text.into() }
    }

    #[test]
    fn a_call_has_its_canonical_name_and_its_own_input() {
        for (harness, name, tool) in [
            (Harness::Claude, "PreToolUse", "Bash"),
            (Harness::Codex, "PreToolUse", "Bash"),
            (Harness::Qwen, "PreToolUse", "run_shell_command"),
            (Harness::Opencode, "tool.execute.before", "bash"),
        ] {
            let rest = r#""tool_input":{"command":"ls"},"tool_use_id":"c1""#;
            let payload = format!(
                r#"{{"session_id":"s","hook_event_name":"{name}","tool_name":"{tool}",{rest}}}"#
            );
            assert_eq!(pending(harness, &payload), Some(call("bash", "ls", "c1")), "{harness:?}");
        }
        let gemini = r#"{"session_id":"s","hook_event_name":"BeforeTool","timestamp":"t",
            "tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#;
        match pending(Harness::Gemini, gemini) {
            Some(Pending::Call(call)) => assert_eq!(call.tool, "bash"),
            other => panic!("{other:?}"),
        }
        assert_eq!(
            pending(Harness::Claude, r#"{"session_id":"s","hook_event_name":"PreToolUse"}"#),
            None
        );
    }

    #[test]
    fn a_prompt_is_what_the_person_said() {
        let said = |name: &str, more: &str| {
            format!(r#"{{"session_id":"s","hook_event_name":"{name}"{more}}}"#)
        };
        let long = "ä".repeat(100_000);
        let whole = said("UserPromptSubmit", &format!(r#","prompt":"{long}""#));
        assert_eq!(pending(Harness::Claude, &whole), Some(prompt(&long)));
        let added = said("BeforeAgent", r#","prompt":"<hook_context>x</hook_context>\n\nhi""#);
        assert_eq!(pending(Harness::Gemini, &added), Some(prompt("hi")));
        let again = said("UserPromptSubmit", r#","prompt":"""#);
        assert_eq!(pending(Harness::Qwen, &again), None);
        let inside = said("UserPromptSubmit", r#","prompt":"hi","agent_id":"a1""#);
        assert_eq!(pending(Harness::Codex, &inside), None);
        for name in ["PostToolUse", "Stop", "SessionStart", "PermissionRequest"] {
            assert_eq!(pending(Harness::Claude, &said(name, r#","prompt":"hi""#)), None, "{name}");
        }
    }

    #[test]
    fn a_decision_reads_back() {
        let block = Block { seam: Seam::Before, event: "preToolUse", reason: "no\n\"rm\"".into() };
        let source = Source {
            path: "/home/vera/.polyglot/settings.json".into(),
            scope: Scope::Global,
            event: "preToolUse",
            position: 3,
        };
        let by_hook = Refusal {
            block: block.clone(),
            source: Some(source),
            tool: Some("bash".into()),
            call: Some("c1".into()),
        };
        let by_settings = Refusal {
            block: Block { event: Refusal::BY_SETTINGS, ..block },
            source: None,
            tool: None,
            call: None,
        };
        for decided in [
            Decided::Added("frozen".into()),
            Decided::Refused(by_hook),
            Decided::Refused(by_settings),
        ] {
            assert_eq!(Decided::read(&decided.to_object().into()), Some(decided));
        }
        for odd in [
            Object::new(),
            object! { "context": 1 },
            object! { "refused": object! { "event": "other", "reason": "r", "seam": "before" } },
            object! { "refused": object! { "event": "preToolUse", "reason": "r", "seam": "x" } },
        ] {
            assert_eq!(Decided::read(&odd.into()), None);
        }
    }
}
