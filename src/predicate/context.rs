//! Where a predicate is asked, and so what it may name.

use std::fmt;

/// The context that a predicate is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Context {
    /// The tool call that just returned: `record.body` is exactly `tool`, `args`, `status` and
    /// `content`, with their types.
    Hook,
    /// Any record that is about to be read or written: `record.body` may hold anything.
    Permission,
}

impl Context {
    /// Reads the name of a context.
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "hook" => Some(Self::Hook),
            "permission" => Some(Self::Permission),
            _ => None,
        }
    }

    /// Returns the name of the context.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hook => "hook",
            Self::Permission => "permission",
        }
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
