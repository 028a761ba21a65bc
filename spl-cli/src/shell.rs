//! Whose shell a command was typed in: a person's, or an agent's.
//!
//! A run and the harnesses of agents mark the commands that they start by a variable. In such a
//! shell the command does not act as the operator, so that no agent teaches all others by accident.
//! Whoever sits at the terminal may say that it is them after all (`--as-operator`).
//!
//! The mark is a habit and no proof: a process can take it off. What keeps an agent from the
//! instance is the sandbox.

use std::fs::OpenOptions;
use std::io::{self, BufRead as _, BufReader, Write as _};

use spl::code::Code;
use spl::tool::RUN_VARIABLE;

use crate::failure::{Exit, Failure};
use crate::home;

/// The variables that mark the shell of an agent, whatever they say, and who sets them.
const MARKS: &[(&str, &str)] = &[
    (RUN_VARIABLE, "a run of this instance"),
    ("CLAUDECODE", "Claude Code"),
    ("CODEX_THREAD_ID", "Codex"),
    ("CODEX_SANDBOX", "Codex, confined"),
    ("CODEX_SANDBOX_NETWORK_DISABLED", "Codex, without a network"),
    ("GEMINI_CLI", "Gemini CLI"),
    ("QWEN_CODE", "Qwen Code"),
    ("OPENCODE", "opencode"),
    ("COPILOT_CLI", "Copilot CLI"),
    ("CURSOR_AGENT", "Cursor"),
    ("AI_AGENT", "any agent that follows the convention"),
];

/// Where whoever sits at the terminal is asked, however the standard streams are tied.
const TERMINAL: &str = "/dev/tty";

/// A shell that is an agent's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AgentShell {
    /// The variable that says so.
    pub(crate) mark: &'static str,
    /// Who sets it.
    by: &'static str,
}

impl AgentShell {
    /// Looks whether this is one.
    pub(crate) fn look() -> Option<Self> {
        let marked = |(mark, _): &&(&str, &str)| home::set(mark).is_some();
        MARKS.iter().find(marked).map(|&(mark, by)| Self { mark, by })
    }

    /// Asks whoever sits at the terminal whether it is them. Without a terminal it is not.
    pub(crate) fn confirm_operator(self) -> Result<(), Failure> {
        match self.ask() {
            Ok(line) if line.trim() == "yes" => Ok(()),
            Ok(_) => Err(self.refused("`--as-operator` was not confirmed")),
            Err(_) => {
                Err(self.refused("`--as-operator` is confirmed on a terminal, and there is none"))
            }
        }
    }

    fn ask(self) -> io::Result<String> {
        let mut terminal = OpenOptions::new().read(true).write(true).open(TERMINAL)?;
        let Self { mark, by } = self;
        let question = format!(
            "{mark} is set, so this is the shell of an agent ({by}).\n\
             Type yes to act as the operator: "
        );
        terminal.write_all(question.as_bytes())?;
        let mut line = String::new();
        BufReader::new(terminal).read_line(&mut line)?;
        Ok(line)
    }

    fn refused(self, message: &str) -> Failure {
        let hint = format!("{} is set: this is the shell of an agent.", self.mark);
        Failure::new(Exit::Auth, Code::ConfigWriteDenied.as_str(), message).with_hint(hint)
    }

    /// Returns what to do about a refusal that a person's shell would not have met.
    pub(crate) fn hint(self) -> String {
        let Self { mark, by } = self;
        format!(
            "{mark} is set, so this is the shell of an agent ({by}) and not the operator's. At a \
             terminal, --as-operator says otherwise."
        )
    }
}
