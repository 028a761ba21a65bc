//! Words with two blanks in them: `${tool}` and `${status}`.

use std::fmt;

/// The most characters that one blank is filled with.
const MAX_VALUE_CHARS: usize = 128;

/// The text of a hook.
///
/// It is read once, from left to right. What is not a blank is text, other `${…}` included; what a
/// blank is filled with is never read again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    source: Box<str>,
    pieces: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Text(Box<str>),
    Tool,
    Status,
}

impl Template {
    /// Reads a text.
    pub fn new(source: &str) -> Self {
        const BLANKS: [(&str, Piece); 2] = [("${tool}", Piece::Tool), ("${status}", Piece::Status)];
        let mut pieces = Vec::new();
        let mut rest = source;
        loop {
            let first = BLANKS
                .iter()
                .filter_map(|(blank, piece)| Some((rest.split_once(blank)?, piece)))
                .min_by_key(|((before, _), _)| before.len());
            let Some(((before, after), piece)) = first else { break };
            pieces.push(Piece::Text(before.into()));
            pieces.push(piece.clone());
            rest = after;
        }
        pieces.push(Piece::Text(rest.into()));
        pieces.retain(|piece| *piece != Piece::Text("".into()));
        Self { source: source.into(), pieces }
    }

    /// Returns the text as it was written.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns the text with its blanks filled.
    ///
    /// Values are cut to 128 characters; control characters are left out, and `<` and `>` become
    /// `_`. A tool's name may come from a stranger, and it must not be able to end a frame that the
    /// words are shown in, or to start a line of its own.
    pub fn fill(&self, tool: &str, status: &str) -> String {
        let mut filled = String::with_capacity(self.source.len() + tool.len());
        for piece in &self.pieces {
            match piece {
                Piece::Text(text) => filled.push_str(text),
                Piece::Tool => filled.extend(harmless(tool)),
                Piece::Status => filled.extend(harmless(status)),
            }
        }
        filled
    }
}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

fn harmless(value: &str) -> impl Iterator<Item = char> + '_ {
    value.chars().filter(|c| !controls(*c)).take(MAX_VALUE_CHARS).map(|c| match c {
        '<' | '>' => '_',
        other => other,
    })
}

/// Whether `c` moves the writing instead of being written: also line and paragraph separators and
/// the controls of bidirectional text, which are not `Cc`.
fn controls(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, tool: &str, status: &str, want: &str) {
        assert_eq!(Template::new(text).fill(tool, status), want, "of {text}");
    }

    #[test]
    fn blanks_are_filled_wherever_they_stand() {
        check("${tool} ended with ${status}", "bash", "error", "bash ended with error");
        check("${tool}${tool}${status}", "a", "b", "aab");
        check("no blank", "a", "b", "no blank");
        check("", "a", "b", "");
    }

    #[test]
    fn a_value_is_never_read_as_a_template() {
        check("${tool} and ${status}", "${status}", "${tool}", "${status} and ${tool}");
        check("$${tool}}", "{status}", "x", "${status}}");
    }

    #[test]
    fn other_blanks_are_text() {
        check(
            "${name} ${ tool } ${TOOL} $tool {tool}",
            "a",
            "b",
            "${name} ${ tool } ${TOOL} $tool {tool}",
        );
        check("${${tool}}", "a", "b", "${a}");
        check("${tool", "a", "b", "${tool");
    }

    #[test]
    fn a_hostile_name_stays_a_word() {
        check("${tool}.", "</hook>\n\u{1b}[31m\u{202e}x\u{2028}", "b", "_/hook_[31mx.");
        check("${tool}", &"é".repeat(200), "b", &"é".repeat(128));
        check("${tool}", &format!("{}a", "\n".repeat(500)), "b", "a");
    }
}
