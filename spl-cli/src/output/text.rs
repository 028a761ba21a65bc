//! Text from records, made fit for a terminal.

use std::borrow::Cow;

/// Returns `text` without anything that a terminal would act on: control characters, and the marks
/// that reorder what stands around them, are spelled out.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push('⏎'),
            '\t' => out.push(' '),
            c if acts(c) => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Tells whether a terminal would act on `c` instead of showing it.
pub(crate) fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns the first `width` characters of one line of `text`, with a mark where it was cut.
pub(crate) fn cut(text: &str, width: usize) -> String {
    let text = printable(text);
    if text.chars().count() <= width {
        return text.into_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// Returns as much of an id as a person compares. Any prefix that is unique is taken back.
pub(crate) fn short(id: &str) -> String {
    printable(id.get(..12).unwrap_or(id)).into_owned()
}

/// Returns a count of things: `1 record`, `2 records`.
pub(crate) fn plural(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Quotes an argument as one would type it.
pub(crate) fn quote(argument: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        return argument.to_owned();
    }
    format!("'{}'", argument.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_that_it_would_act_on() {
        assert_eq!(printable("a\u{1b}[2Jb"), "a\\u{1b}[2Jb");
        assert_eq!(printable("a\u{9b}2J\u{7f}\u{202e}"), "a\\u{9b}2J\\u{7f}\\u{202e}");
        assert_eq!(printable("two\nlines"), "two⏎lines");
        assert!(matches!(printable("plain ünïcode 😀"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_cut_counts_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöüß", 3), "äö…");
    }
}
