//! The place in an expression that a message is about.

/// How many characters of an expression are shown.
const WIDTH: usize = 72;

/// Returns the line of `expression` around a column, counted in characters from 0, with a caret
/// under it. What does not fit is cut off on either side.
pub(super) fn around(expression: &str, column: usize) -> String {
    let characters: Vec<char> = expression.chars().collect();
    let column = column.min(characters.len());
    let start = column.saturating_sub(WIDTH / 2);
    let end = characters.len().min(start + WIDTH);
    let cut_off = |cut: bool| if cut { "…" } else { "" };
    // Each character becomes one column, so that the caret stands where it should.
    let shown: String = characters
        .get(start..end)
        .unwrap_or_default()
        .iter()
        .map(|c| {
            if c.is_whitespace() {
                ' '
            } else if c.is_control() {
                '\u{fffd}'
            } else {
                *c
            }
        })
        .collect();
    let (before, after) = (cut_off(start > 0), cut_off(end < characters.len()));
    let indent = " ".repeat(column - start + before.chars().count());
    format!("{before}{shown}{after}\n{indent}^")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        assert_eq!(around("1 + x", 4), "1 + x\n    ^");
        assert_eq!(around("ä +", 3), "ä +\n   ^");
        assert_eq!(around("", 0), "\n^");
        assert_eq!(around("a\nb", 2), "a b\n  ^");
        assert_eq!(around("short", 99), "short\n     ^");
    }

    #[test]
    fn a_long_expression_is_cut_on_both_sides() {
        let long = format!("{}!{}", "a".repeat(100), "b".repeat(100));
        let around = around(&long, 100);
        let (line, caret) = around.split_once('\n').expect("two lines");
        assert_eq!(line.chars().nth(caret.len() - 1), Some('!'));
        assert!(line.starts_with('…') && line.ends_with('…'));
        assert_eq!(line.chars().count(), WIDTH + 2);
    }
}
