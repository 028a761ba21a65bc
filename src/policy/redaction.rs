//! What settings say of secrets in the results of tools.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use crate::secret::{Rendering, find};

/// What is done about secrets in results.
#[derive(Debug, Clone, Default)]
pub struct Redaction {
    /// What happens to what looks like one.
    pub mode: Mode,
    /// What looks like one, beside what always does.
    pub extra: Vec<ExtraPattern>,
}

/// What happens to what looks like a secret in a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// It is not looked for.
    Off,
    /// It is told of, and stays.
    #[default]
    Warn,
    /// A mark stands in its place.
    Redact,
}

/// A kind of secret that the settings name.
#[derive(Debug, Clone)]
pub struct ExtraPattern {
    /// The kind, as in the mark.
    pub label: String,
    /// What it looks like.
    pub regex: Regex,
}

impl Redaction {
    /// Returns a text as whoever reads it sees it.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.mode != Mode::Redact {
            return Cow::Borrowed(text);
        }
        let mut findings = self.find(text);
        if findings.is_empty() {
            return Cow::Borrowed(text);
        }
        // Of two that overlap, the one that begins first has its mark, and both are gone.
        findings.sort_by(|(a, _), (b, _)| (a.start, b.end).cmp(&(b.start, a.end)));
        let mut shown = String::with_capacity(text.len());
        let mut kept_to = 0;
        for (range, label) in findings {
            if range.start >= kept_to {
                shown.push_str(text.get(kept_to..range.start).unwrap_or_default());
                shown.push_str(&Rendering::Polyglot.mark(label));
            }
            kept_to = kept_to.max(range.end);
        }
        shown.push_str(text.get(kept_to..).unwrap_or_default());
        Cow::Owned(shown)
    }

    /// Returns the kind of each place in a text that looks like a secret.
    pub fn kinds_in(&self, text: &str) -> Vec<&str> {
        if self.mode == Mode::Off {
            return Vec::new();
        }
        self.find(text).into_iter().map(|(_, label)| label).collect()
    }

    fn find(&self, text: &str) -> Vec<(Range<usize>, &str)> {
        let mut found: Vec<_> = find(text).map(|it| (it.range, it.label)).collect();
        for ExtraPattern { label, regex } in &self.extra {
            let matches = regex.find_iter(text).filter(|it| !it.is_empty());
            found.extend(matches.map(|it| (it.range(), label.as_str())));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redaction(mode: Mode, patterns: &[(&str, &str)]) -> Redaction {
        let extra = patterns.iter().map(|(label, regex)| ExtraPattern {
            label: (*label).to_owned(),
            regex: Regex::new(regex).expect("a pattern"),
        });
        Redaction { mode, extra: extra.collect() }
    }

    fn key() -> String {
        ["AKIA", "ABCDEFGHIJKLMNOP"].concat()
    }

    #[test]
    fn only_redacting_changes_a_text() {
        let text = format!("id {} end", key());
        for mode in [Mode::Off, Mode::Warn] {
            let redaction = redaction(mode, &[("word", "end")]);
            assert!(matches!(redaction.shown(&text), Cow::Borrowed(_)));
        }
        let redacting = redaction(Mode::Redact, &[("word", "end")]);
        assert_eq!(redacting.shown(&text), "id [redacted:aws-key] [redacted:word]");
        assert!(matches!(redacting.shown("nothing"), Cow::Borrowed(_)));
        assert!(redaction(Mode::Off, &[("word", "end")]).kinds_in(&text).is_empty());
        let warning = redaction(Mode::Warn, &[("word", "end")]);
        assert_eq!(warning.kinds_in(&text), ["aws-key", "word"]);
    }

    #[test]
    fn what_overlaps_is_gone_with_one_mark() {
        let redaction = redaction(Mode::Redact, &[("ab", "ab"), ("bcd", "bcd"), ("nothing", "x*")]);
        assert_eq!(redaction.shown("-abcd-bcd-"), "-[redacted:ab]-[redacted:bcd]-");
    }
}
