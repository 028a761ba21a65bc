//! Private keys in PEM form: whole, cut off at the end, or cut off at the start.

use std::ops::Range;

use super::Finding;
use super::table::{PEM_MARKS, PRIVATE_KEY};

/// The most bytes between the first and the last line of a key. A 16,384-bit RSA key has 13 KiB.
const WINDOW: usize = 32 * 1024;

/// The least length of a word that may be part of a key: the start or the end of a line.
const WORD: usize = 16;

/// The length from which on no digit is asked for. A whole line of PEM has 64 or more.
const LINE: usize = 40;

/// How many other words may stand between two of a key: headers, or what a listing puts in front of
/// each line.
const STRAY: usize = 4;

/// Returns the key whose first line, `mark`, stands in `text`.
///
/// Without a last line nearby, the key goes on as long as the words look like one. A first line
/// with no such word after it is only talked about.
pub(super) fn from_first_line(text: &str, mark: Range<usize>) -> Option<Finding> {
    let window_end = text.floor_char_boundary(mark.end.saturating_add(WINDOW));
    let window = text.get(mark.end..window_end)?;
    let next = PEM_MARKS.find(window);
    let inside = window.get(..next.map_or(window.len(), |next| next.start()))?;
    let last_line = next.filter(|next| next.as_str().starts_with("-----END"));
    let end = match last_line {
        Some(line) => {
            words(inside).find(|word| is_key_text(word, inside))?;
            line.end()
        }
        None => extent(words(inside), inside)?.end,
    };
    Some(Finding { label: PRIVATE_KEY, range: mark.start..mark.end + end })
}

/// Returns the key whose last line, `mark`, stands in `text` and whose first line is not there;
/// nothing before `floor` is part of it.
pub(super) fn from_last_line(text: &str, mark: Range<usize>, floor: usize) -> Option<Finding> {
    let from = text.ceil_char_boundary(mark.start.saturating_sub(WINDOW).max(floor));
    let before = text.get(from..mark.start)?;
    let start = extent(words_backwards(before), before)?.start;
    Some(Finding { label: PRIVATE_KEY, range: from + start..mark.end })
}

/// Returns from where to where the words of a key go, in the direction of the iterator.
fn extent(words: impl Iterator<Item = Range<usize>>, text: &str) -> Option<Range<usize>> {
    let mut extent: Option<Range<usize>> = None;
    let mut stray = 0;
    for word in words {
        let is_last_line = extent.is_some() && stray == 0 && is_short_line(&word, text);
        if is_key_text(&word, text) || is_last_line {
            stray = 0;
            extent = Some(extent.map_or(word.clone(), |extent| {
                extent.start.min(word.start)..extent.end.max(word.end)
            }));
        } else {
            stray += 1;
            if stray > STRAY || text.get(word).is_some_and(|word| word.contains("-----")) {
                break;
            }
        }
    }
    extent
}

fn is_base64(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

/// Tells a piece of a key from a long word.
fn is_key_text(word: &Range<usize>, text: &str) -> bool {
    text.get(word.clone()).is_some_and(|word| {
        let mixed = word.len() >= LINE || word.bytes().any(|b| b.is_ascii_digit());
        word.len() >= WORD && mixed && is_base64(word)
    })
}

/// Tells whether `word` is alone on its line, as what is left over for the last line of a key is.
fn is_short_line(word: &Range<usize>, text: &str) -> bool {
    let breaks_before = text.get(..word.start).is_some_and(|t| t.ends_with(['\n', 'n']));
    let breaks_after =
        text.get(word.end..).is_some_and(|t| t.is_empty() || t.starts_with(['\n', '\r', '\\']));
    breaks_before && breaks_after && text.get(word.clone()).is_some_and(is_base64)
}

/// Returns the words of `text`: what stands between spaces, quotes, and line breaks, also those
/// that are written as `\n`.
fn words(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = text.get(at..)?;
            let gap = gap_at_start(rest);
            if gap > 0 {
                at += gap;
                continue;
            }
            let len = rest.find(is_gap).unwrap_or(rest.len());
            let word = at..at + len;
            at += len;
            return (len > 0).then_some(word);
        }
    })
}

fn words_backwards(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut end = text.len();
    std::iter::from_fn(move || {
        let kept = text.get(..end)?.trim_end_matches(is_gap);
        let start = kept.rfind(is_gap).map_or(0, |at| at + 1);
        end = start;
        // What follows a backslash belongs to the escape, not to the word.
        let escaped = kept.get(..start).is_some_and(|t| t.ends_with('\\'));
        let start = start + usize::from(escaped && kept.len() > start);
        (start < kept.len()).then_some(start..kept.len())
    })
}

/// All of them are one byte long.
const fn is_gap(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r' | '\\' | '"' | '\'' | '`' | ',')
}

fn gap_at_start(text: &str) -> usize {
    let mut chars = text.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), Some('n' | 'r' | 't')) => 2,
        (Some(c), _) if is_gap(c) => 1,
        _ => 0,
    }
}
