//! Patterns of names (contract §3).
//!
//! `*` is any run of characters, also of none and of slashes, `?` is one character, and everything
//! else is itself. The whole name is compared, and case is not.

/// A pattern of names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    written: String,
    folded: Vec<char>,
}

/// Why a text is no pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("is a pattern that matches nothing")]
pub struct PatternFault;

impl Pattern {
    /// Reads a pattern; space around it is not part of it.
    pub fn new(text: &str) -> Result<Self, PatternFault> {
        let written = text.trim();
        if written.is_empty() {
            return Err(PatternFault);
        }
        Ok(Self { written: written.to_owned(), folded: fold(written) })
    }

    /// Returns whether it names one name and no others.
    pub fn is_literal(&self) -> bool {
        !self.written.contains(['*', '?'])
    }

    /// Returns whether two patterns are written alike, case aside.
    pub fn is_same(&self, other: &Self) -> bool {
        self.folded == other.folded
    }

    /// Returns whether the whole of a name matches.
    ///
    /// Of several `*`, only the last one that was passed is ever widened, so that the time is bounded
    /// by the product of both lengths.
    pub fn matches(&self, name: &str) -> bool {
        let name = fold(name);
        let (mut at, mut in_name) = (0, 0);
        let mut star: Option<(usize, usize)> = None;
        while let Some(c) = name.get(in_name) {
            match self.folded.get(at) {
                Some('*') => {
                    star = Some((at, in_name));
                    at += 1;
                }
                Some(own) if *own == '?' || own == c => {
                    at += 1;
                    in_name += 1;
                }
                _ => {
                    let Some((of_star, taken)) = star else { return false };
                    star = Some((of_star, taken + 1));
                    (at, in_name) = (of_star + 1, taken + 1);
                }
            }
        }
        self.folded.iter().skip(at).all(|rest| *rest == '*')
    }
}

/// Returns the characters of a text without their case. Each stays one character, so that `?` is one.
fn fold(text: &str) -> Vec<char> {
    let lower = |c: char| {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(lower), None) => lower,
            _ => c,
        }
    };
    text.chars().map(lower).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Against the definition, which tries every way.
        #[test]
        fn a_pattern_matches_what_its_definition_says(
            pattern in "[ab?*]{1,8}",
            name in "[abAB]{0,8}",
        ) {
            fn is(pattern: &[u8], name: &[u8]) -> bool {
                match (pattern, name) {
                    ([], []) => true,
                    ([b'*', rest @ ..], _) => (0..=name.len()).any(|taken| is(rest, &name[taken..])),
                    ([b'?', rest @ ..], [_, name @ ..]) => is(rest, name),
                    ([c, rest @ ..], [first, name @ ..]) => {
                        c.eq_ignore_ascii_case(first) && is(rest, name)
                    }
                    _ => false,
                }
            }
            let read = Pattern::new(&pattern).expect("a pattern");
            prop_assert_eq!(read.matches(&name), is(pattern.as_bytes(), name.as_bytes()));
        }
    }

    #[test]
    fn a_hostile_pattern_takes_bounded_time() {
        let pattern = Pattern::new(&"*a".repeat(500)).expect("a pattern");
        assert!(!pattern.matches(&"a".repeat(499)));
        assert!(!pattern.matches(&format!("{}b", "a".repeat(5_000))));
    }
}
