//! The place in an expression that a message is about.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::output::acts;

/// How many columns of a terminal an expression is shown in.
const WIDTH: usize = 72;

/// Returns the line of `expression` that has a column, counted in characters from 0, and a caret
/// under it. What does not fit is cut off on either side.
pub(crate) fn around(expression: &str, column: usize) -> String {
    let (line, column) = line_of(expression, column);
    let shown: Vec<char> = line.chars().map(as_shown).collect();
    let mut at = column.min(shown.len());
    // A mark stands on the letter before it.
    while at > 0 && shown.get(at).is_some_and(|c| c.width() == Some(0)) {
        at -= 1;
    }
    let (before, after) = shown.split_at(at);
    // What the other side leaves is there for this one.
    let right = fitting(after.iter(), WIDTH / 2);
    let right: String = after.iter().take(right).collect();
    let kept_before = fitting(before.iter().rev(), WIDTH - right.width());
    let before: String = before.iter().skip(at - kept_before).collect();
    let kept_after = fitting(after.iter(), WIDTH - before.width());
    let after: String = after.iter().take(kept_after).collect();
    let cut_off = |cut: bool| if cut { "…" } else { "" };
    let begins = cut_off(kept_before < at);
    let ends = cut_off(at + kept_after < shown.len());
    let indent = " ".repeat(begins.width() + before.width());
    format!("{begins}{before}{after}{ends}\n{indent}^")
}

/// Finds the line of a column, and the column in it.
fn line_of(expression: &str, column: usize) -> (&str, usize) {
    let mut column = column;
    for line in expression.split('\n') {
        let characters = line.chars().count();
        if column <= characters {
            return (line, column);
        }
        column -= characters + 1;
    }
    (expression.rsplit('\n').next().unwrap_or_default(), usize::MAX)
}

/// One column for what has none of its own, and nothing that the terminal would act on.
fn as_shown(c: char) -> char {
    match c {
        c if c.is_whitespace() => ' ',
        c if acts(c) => '\u{fffd}',
        c => c,
    }
}

/// Counts how many of the characters fit.
fn fitting<'c>(characters: impl Iterator<Item = &'c char>, width: usize) -> usize {
    let mut text = String::new();
    let fits = |c: &&char| {
        text.push(**c);
        text.width() <= width
    };
    characters.take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        assert_eq!(around("1 + x", 4), "1 + x\n    ^");
        assert_eq!(around("ä +", 3), "ä +\n   ^");
        assert_eq!(around("", 0), "\n^");
        assert_eq!(around("short", 99), "short\n     ^");
        assert_eq!(around("\t\t1 +\u{1b}[2J", 4), "  1 +\u{fffd}[2J\n    ^");
    }

    #[test]
    fn wide_letters_take_two_columns_and_marks_none() {
        assert_eq!(around("'日本' + 1", 5), "'日本' + 1\n       ^");
        assert_eq!(around("'e\u{301}' + 1", 5), "'e\u{301}' + 1\n    ^");
        assert_eq!(around("'e\u{301}'", 2), "'e\u{301}'\n ^");
        assert_eq!(around("'👩‍👩‍👧' + 1", 8), "'👩‍👩‍👧' + 1\n     ^");
    }

    #[test]
    fn of_several_lines_the_right_one_is_shown() {
        assert_eq!(around("a &&\nb + &&\nc", 9), "b + &&\n    ^");
        assert_eq!(around("a\nb", 1), "a\n ^");
        assert_eq!(around("a\nb", 2), "b\n^");
        assert_eq!(around("a\n", 2), "\n^");
    }

    #[test]
    fn what_fits_is_not_cut() {
        let line = format!("{}!{}", "a".repeat(60), "b".repeat(11));
        assert_eq!(around(&line, 60), format!("{line}\n{}^", " ".repeat(60)));
        let line = format!("{}!", "a".repeat(100));
        let shown = format!("…{}!\n{}^", "a".repeat(71), " ".repeat(72));
        assert_eq!(around(&line, 100), shown);
    }

    #[test]
    fn a_long_expression_is_cut_on_both_sides() {
        for letter in ["a", "日"] {
            let long = format!("{}!{}", letter.repeat(100), letter.repeat(100));
            let around = around(&long, 100);
            let (line, caret) = around.split_once('\n').expect("two lines");
            let (before, _) = line.split_once('!').expect("the place");
            assert_eq!(before.width(), caret.len() - 1);
            assert!(line.starts_with('…') && line.ends_with('…'));
            assert!(line.width() <= WIDTH + 2 && line.width() > WIDTH - 2, "{line}");
        }
    }
}
