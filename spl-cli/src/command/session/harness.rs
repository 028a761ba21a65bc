//! The harnesses that hooks can be installed into: where each reads its settings, which events it
//! is asked to tell of, how long it may wait for us, and what it takes for a settings file.

use std::env;
use std::path::{Path, PathBuf};

use spl::session;

use super::settings::Syntax;

/// A harness whose settings we know how to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub(crate) enum Harness {
    /// Claude Code
    Claude,
    /// Codex CLI
    Codex,
    /// Gemini CLI
    Gemini,
    /// Qwen Code
    Qwen,
    /// opencode
    Opencode,
}

/// An event that a harness is asked to tell of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Event {
    /// Its name.
    pub(super) name: &'static str,
    /// How long the harness waits for us, in its own unit.
    pub(super) timeout: u32,
    /// Whether policy hooks decide about it.
    pub(super) decides: bool,
}

/// A name, and how long the harness waits.
type Row = (&'static str, u32);

/// Seconds. An answer takes milliseconds; this is for a machine that has just woken up.
const CLAUDE: &[Row] = &[
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("PostToolUse", 10),
    ("PostToolUseFailure", 10),
    ("SubagentStart", 10),
    ("SubagentStop", 10),
    ("PreCompact", 10),
    ("Stop", 10),
    ("StopFailure", 10),
    ("SessionEnd", 10),
];

/// Seconds. Codex waits at most three for the end of a session, and says so over a longer time.
const CODEX: &[Row] = &[
    ("SessionStart", 10),
    ("UserPromptSubmit", 10),
    ("PostToolUse", 10),
    ("SubagentStart", 10),
    ("SubagentStop", 10),
    ("PreCompact", 10),
    ("Stop", 10),
    ("SessionEnd", 3),
];

/// Milliseconds. `PreCompress` comes before every request to the model, so it is left out.
const GEMINI: &[Row] = &[
    ("SessionStart", 10_000),
    ("BeforeAgent", 10_000),
    ("AfterTool", 10_000),
    ("AfterAgent", 10_000),
    ("SessionEnd", 10_000),
];

/// The parts of the plugin that stand for events, which has its own limit of time.
const OPENCODE: &[Row] = &[
    ("session.created", 10),
    ("chat.message", 10),
    ("tool.execute.after", 10),
    ("session.idle", 10),
];

impl Harness {
    /// Every one of them.
    pub(super) const ALL: [Self; 5] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen, Self::Opencode];

    /// Returns the name on a command line and in records.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the name that a person knows it by.
    pub(super) const fn title(self) -> &'static str {
        match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex CLI",
            Self::Gemini => "Gemini CLI",
            Self::Qwen => "Qwen Code",
            Self::Opencode => "opencode",
        }
    }

    /// Returns the name of its program.
    pub(super) const fn program(self) -> &'static str {
        self.name()
    }

    /// Returns the events that it is asked to tell of. `deciding`, it is asked to wait for policy
    /// hooks too: before a call, which it is not asked about otherwise, and at a prompt.
    pub(super) fn events(self, deciding: bool) -> Vec<Event> {
        let rows = match self {
            // Below a thousand, Qwen Code counts seconds as well.
            Self::Claude | Self::Qwen => CLAUDE,
            Self::Codex => CODEX,
            Self::Gemini => GEMINI,
            Self::Opencode => OPENCODE,
        };
        let recorded = |(name, timeout)| Event { name, timeout, decides: false };
        let mut events: Vec<Event> = rows.iter().copied().map(recorded).collect();
        for name in self.decided().into_iter().filter(|_| deciding) {
            let decided = Event { name, timeout: self.wait(name), decides: true };
            match events.iter_mut().find(|event| event.name == name) {
                Some(event) => *event = decided,
                None => events.push(decided),
            }
        }
        events
    }

    /// Returns the events that policy hooks decide about: a prompt, and a call before it is made.
    pub(super) const fn decided(self) -> [&'static str; 2] {
        match self {
            Self::Claude | Self::Codex | Self::Qwen => ["UserPromptSubmit", "PreToolUse"],
            Self::Gemini => ["BeforeAgent", "BeforeTool"],
            Self::Opencode => ["chat.message", "tool.execute.before"],
        }
    }

    /// Returns how long it waits for a decision, in its own unit.
    fn wait(self, event: &str) -> u32 {
        let seconds = session::Harness::parse(self.name())
            .map_or(session::Harness::DECISION_SECS, |harness| harness.decision_secs(event));
        if self == Self::Gemini { seconds * 1000 } else { seconds }
    }

    /// Returns what it takes for a settings file.
    pub(super) const fn syntax(self) -> Syntax {
        match self {
            Self::Claude | Self::Qwen => Syntax { mark: true, comments: true },
            Self::Gemini => Syntax { mark: false, comments: true },
            Self::Codex | Self::Opencode => Syntax { mark: false, comments: false },
        }
    }

    /// Returns the folder of the user's settings, if there is a folder of the user.
    pub(super) fn folder(self) -> Option<PathBuf> {
        let (variable, below) = match self {
            Self::Claude => (Some("CLAUDE_CONFIG_DIR"), ".claude"),
            Self::Codex => (Some("CODEX_HOME"), ".codex"),
            Self::Gemini => (None, ".gemini"),
            Self::Qwen => (Some("QWEN_HOME"), ".qwen"),
            Self::Opencode => {
                let moved = set("XDG_CONFIG_HOME");
                let folder = moved.or_else(|| Some(user()?.join(".config")))?;
                return Some(folder.join("opencode"));
            }
        };
        let moved = variable.and_then(set);
        moved.or_else(|| Some(user()?.join(below)))
    }

    /// Returns the file with the user's hooks below that folder.
    pub(super) fn file(self) -> &'static Path {
        Path::new(match self {
            Self::Claude | Self::Gemini | Self::Qwen => "settings.json",
            Self::Codex => "hooks.json",
            Self::Opencode => "plugins/spl.js",
        })
    }

    /// Returns what a person has to do before the hooks are run.
    pub(super) const fn to_do(self) -> &'static str {
        match self {
            Self::Claude => {
                "Nothing: Claude Code reads the file again by itself. It runs no hooks in a folder \
                 whose trust dialog is not accepted."
            }
            Self::Codex => {
                "Start `codex` and accept the hooks in `/hooks`: until then Codex runs none of \
                 them, and does not say so."
            }
            Self::Gemini => {
                "Start `gemini` anew, in a folder that it trusts: elsewhere it stops, or leaves \
                 hooks out."
            }
            Self::Qwen => {
                "Start `qwen` anew: a session that is open keeps the hooks it began with."
            }
            Self::Opencode => "Start `opencode` anew: it reads its plugins when it starts.",
        }
    }
}

/// Returns the user's own folder.
pub(super) fn user() -> Option<PathBuf> {
    crate::home::folder()
}

fn set(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time in the wrong unit ends each hook before it has answered, and nobody is told.
    #[test]
    fn each_harness_waits_in_its_own_unit() {
        for (harness, deciding) in Harness::ALL.into_iter().flat_map(|it| [(it, false), (it, true)])
        {
            for Event { name, timeout, decides } in harness.events(deciding) {
                let seconds = match harness {
                    Harness::Gemini => timeout / 1000,
                    _ => timeout,
                };
                let most = match (harness, name) {
                    (Harness::Claude, "UserPromptSubmit") if decides => 25,
                    _ if decides => 60,
                    (Harness::Codex, "SessionEnd") => 3,
                    _ => 10,
                };
                assert_eq!(seconds, most, "{harness:?} {name}");
                assert_eq!(decides, deciding && harness.decided().contains(&name), "{name}");
            }
        }
    }

    /// What is installed for a decision is what the hook process takes for one.
    #[test]
    fn a_decision_is_asked_for_where_one_is_given() {
        for harness in Harness::ALL {
            let heard = session::Harness::parse(harness.name()).expect("a harness");
            for Event { name, decides, .. } in harness.events(true) {
                assert_eq!(heard.seam(name).is_some(), decides, "{harness:?} {name}");
            }
        }
    }
}
