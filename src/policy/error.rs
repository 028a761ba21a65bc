//! Why settings are not taken.

use std::fmt;
use std::path::PathBuf;

use crate::code::{Code, Coded};

/// Settings that are not taken. Nothing begins with half of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingsError {
    /// The file.
    pub path: PathBuf,
    /// Where in it: `hooks.preToolUse[0].timeoutMs`. Empty, if it is the file as a whole.
    pub field: String,
    /// The stable word for what is wrong.
    pub reason: &'static str,
    /// What is wrong with that. No value of the file stands in it.
    pub message: String,
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, field, message, .. } = self;
        write!(f, "{}: ", path.display())?;
        if field.is_empty() { f.write_str(message) } else { write!(f, "`{field}` {message}") }
    }
}

impl SettingsError {
    /// The word for packs where runs do not ask them.
    pub const NOT_ASKED: &'static str = "packs_not_asked";
}

impl std::error::Error for SettingsError {}

impl Coded for SettingsError {
    fn code(&self) -> Code {
        Code::PolicyRefused
    }

    fn field(&self) -> Option<&str> {
        (!self.field.is_empty()).then_some(&self.field)
    }

    fn reason(&self) -> Option<&'static str> {
        Some(self.reason)
    }

    fn hint(&self) -> Option<String> {
        let path = self.path.display();
        Some(match self.reason {
            Self::NOT_ASKED => format!(
                "Move {path} away; `POLPO_RUNTIME_HOOKS=off` leaves out packs without a gate."
            ),
            _ => format!("Mend {path}, or move it away."),
        })
    }
}
