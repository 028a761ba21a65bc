//! Patterns of tool names, as minimatch reads them.

/// A pattern of tool names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// Reads a pattern.
    pub fn new(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }

    /// Returns the pattern as it was written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns whether the whole of a name matches.
    pub fn matches(&self, name: &str) -> bool {
        self.0 == name
    }
}
