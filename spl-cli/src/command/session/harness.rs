//! The harnesses that hooks can be installed into: where each reads its settings, which events it
//! is asked to tell of, how long it may wait for us, and what it takes for a settings file.

use std::env;
use std::path::{Path, PathBuf};

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

/// An event that a harness is asked to tell of, and how long it waits for us: in the harness's own
/// unit.
pub(super) type Event = (&'static str, u32);

/// Seconds. An answer takes milliseconds; this is for a machine that has just woken up.
const CLAUDE: &[Event] = &[
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
const CODEX: &[Event] = &[
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
const GEMINI: &[Event] = &[
    ("SessionStart", 10_000),
    ("BeforeAgent", 10_000),
    ("AfterTool", 10_000),
    ("AfterAgent", 10_000),
    ("SessionEnd", 10_000),
];

/// The parts of the plugin that stand for events, which has its own limit of time.
const OPENCODE: &[Event] = &[
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

    /// Returns the events that it is asked to tell of.
    pub(super) const fn events(self) -> &'static [Event] {
        match self {
            // Below a thousand, Qwen Code counts seconds as well.
            Self::Claude | Self::Qwen => CLAUDE,
            Self::Codex => CODEX,
            Self::Gemini => GEMINI,
            Self::Opencode => OPENCODE,
        }
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
        for harness in Harness::ALL {
            for (event, timeout) in harness.events() {
                let seconds = match harness {
                    Harness::Gemini => timeout / 1000,
                    _ => *timeout,
                };
                let most = if (harness, *event) == (Harness::Codex, "SessionEnd") { 3 } else { 10 };
                assert_eq!(seconds, most, "{harness:?} {event}");
            }
        }
    }
}
