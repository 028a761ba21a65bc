//! A result as hooks and the model read it (contract-polpo §6.2).

use std::borrow::Cow;

use super::bounds::RESULT_CHARS;

/// What stands at the end of a text that was cut, on a line of its own.
pub const TRUNCATED: &str = "\n[TRUNCATED]";

/// Returns a result in the form in which everybody reads it: lines end with a line feed, and what is
/// too long is cut.
pub fn normal_result(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") {
        Cow::Owned(cut_result(&text.replace("\r\n", "\n")).into_owned())
    } else {
        cut_result(text)
    }
}

/// Returns a result that is not too long.
pub fn cut_result(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(RESULT_CHARS) {
        Some((end, _)) => Cow::Owned([text.get(..end).unwrap_or_default(), TRUNCATED].concat()),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_kept_and_what_does_not_is_cut_at_a_character() {
        assert!(matches!(normal_result("a\rb\n"), Cow::Borrowed("a\rb\n")));
        assert_eq!(normal_result("a\r\nb\r\n"), "a\nb\n");
        let whole = "é".repeat(RESULT_CHARS);
        assert_eq!(normal_result(&whole), whole);
        assert_eq!(normal_result(&format!("{whole}x")), format!("{whole}\n[TRUNCATED]"));
        // Counted once the lines are as they should be.
        let lines = "\r\n".repeat(RESULT_CHARS);
        assert_eq!(normal_result(&lines), "\n".repeat(RESULT_CHARS));
    }
}
