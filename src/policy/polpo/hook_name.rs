//! Which hook it is.

use std::fmt;

use super::Selected;

/// Which hook it is: packs have names, and their hooks have ids of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookName {
    /// The pack.
    pub pack: String,
    /// The id in it.
    pub hook: String,
}

impl From<&Selected<'_>> for HookName {
    fn from(selected: &Selected<'_>) -> Self {
        Self { pack: selected.pack.name.to_string(), hook: selected.hook.id.clone() }
    }
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pack, self.hook)
    }
}
