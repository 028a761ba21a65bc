//! What a pack may be called (contract §2.1).

use std::fmt;

/// The name of a pack: one segment of a path, from the stem of its file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackName(String);

/// Why a text is no such name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be one segment of a path: not empty, no space around it, no slash, no control character"
)]
pub struct NameFault;

impl PackName {
    /// Reads a name.
    pub fn parse(text: &str) -> Result<Self, NameFault> {
        let is_segment = !text.is_empty()
            && text.trim() == text
            && !matches!(text, "." | "..")
            && !text.contains(['/', '\\'])
            && !text.chars().any(char::is_control);
        if is_segment { Ok(Self(text.to_owned())) } else { Err(NameFault) }
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_segment() {
        for good in ["quality", "Quality 2", "a.b", "...", "grün"] {
            assert_eq!(PackName::parse(good).expect(good).as_str(), good);
        }
        for bad in ["", " ", ".", "..", "a/b", "a\\b", "a\nb", " a", "a ", "a\u{7f}"] {
            assert_eq!(PackName::parse(bad), Err(NameFault), "{bad:?}");
        }
    }
}
