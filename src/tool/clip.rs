//! A text of any length in bounded memory.

use std::fmt::Write;

use super::{Answer, Status};
use crate::hook::head;

/// The most bytes of an answer that are shown.
pub const SHOWN_BYTES: usize = 256 * 1024;

/// The most bytes of the head; what else is shown is the tail.
const HEAD: usize = SHOWN_BYTES / 2;

/// The bytes of the tail that are never let go. The head may end a few bytes early so as not to
/// break a character, and then a text that is just short enough needs them in the tail.
const TAIL: usize = SHOWN_BYTES - HEAD + 3;

/// Room for the line between head and tail.
const MARK: usize = 64;

/// Gathers a text piece by piece and keeps its head and its tail.
///
/// Bytes that are not UTF-8 become U+FFFD. A character that is cut in two by the end of a piece is
/// put together again.
#[derive(Debug, Default)]
pub struct Clip {
    head: String,
    /// Whether the head is full. What comes then goes to the tail, short as it may be.
    closed: bool,
    tail: String,
    /// The bytes of the whole text.
    len: u64,
    /// Whether a part was never read.
    skipped: bool,
    /// The start of a character whose end has not come yet.
    partial: Vec<u8>,
}

impl Clip {
    /// Returns an empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text.
    pub fn push(&mut self, text: &str) {
        self.flush();
        self.add(text);
    }

    /// Adds bytes that are or are not UTF-8.
    pub fn push_bytes(&mut self, mut bytes: &[u8]) {
        while !self.partial.is_empty()
            && let Some((next, rest)) = bytes.split_first()
        {
            let mut joined = std::mem::take(&mut self.partial);
            joined.push(*next);
            self.decode(&joined);
            bytes = rest;
        }
        self.decode(bytes);
    }

    /// Leaves out the next `bytes` of the text, which the caller does not have.
    pub fn skip(&mut self, bytes: u64) {
        self.len += bytes + self.partial.len() as u64;
        self.partial.clear();
        self.closed = true;
        self.skipped = true;
    }

    /// Starts a new line unless one has just started.
    pub fn end_line(&mut self) {
        self.flush();
        let text = if self.tail.is_empty() { &self.head } else { &self.tail };
        if !text.is_empty() && !text.ends_with('\n') {
            self.add("\n");
        }
    }

    /// Returns the number of bytes of the whole text.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Tells whether nothing was added.
    pub const fn is_empty(&self) -> bool {
        self.len == 0 && self.partial.is_empty()
    }

    /// Returns the answer that shows this text.
    pub fn into_answer(mut self, status: Status) -> Answer {
        self.flush();
        let head = head(&self.head).to_owned();
        Answer { status, shown: self.into_shown(), head, data: None, empty: false }
    }

    fn into_shown(self) -> String {
        let mut shown = self.head;
        if !self.skipped && self.len <= SHOWN_BYTES as u64 {
            shown.push_str(&self.tail);
            return shown;
        }
        let room = SHOWN_BYTES - shown.len() - MARK;
        let start = self.tail.ceil_char_boundary(self.tail.len().saturating_sub(room));
        let tail = self.tail.get(start..).unwrap_or_default();
        let left_out = self.len.saturating_sub((shown.len() + tail.len()) as u64);
        let line_break = if shown.is_empty() || shown.ends_with('\n') { "" } else { "\n" };
        // A `String` takes everything.
        let _ = writeln!(shown, "{line_break}[{left_out} bytes left out]");
        shown.push_str(tail);
        shown
    }

    fn decode(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let Err(error) = std::str::from_utf8(bytes).map(|text| self.add(text)) else { return };
            let (valid, rest) = bytes.split_at(error.valid_up_to());
            self.add(std::str::from_utf8(valid).unwrap_or_default());
            let Some(broken) = error.error_len() else {
                self.partial = rest.to_vec();
                return;
            };
            self.add("\u{fffd}");
            bytes = rest.get(broken..).unwrap_or_default();
        }
    }

    fn flush(&mut self) {
        if !self.partial.is_empty() {
            self.partial.clear();
            self.add("\u{fffd}");
        }
    }

    fn add(&mut self, text: &str) {
        self.len += text.len() as u64;
        let mut rest = text;
        if !self.closed {
            let fits = text.floor_char_boundary(HEAD - self.head.len());
            let (head, more) = text.split_at(fits);
            self.head.push_str(head);
            self.closed = !more.is_empty();
            rest = more;
        }
        if rest.len() > TAIL {
            self.tail.clear();
            rest = rest.get(rest.floor_char_boundary(rest.len() - TAIL)..).unwrap_or_default();
        }
        self.tail.push_str(rest);
        // Letting go costs a move of what stays, so it is done once in a while.
        if self.tail.len() > 2 * TAIL {
            self.tail.drain(..self.tail.floor_char_boundary(self.tail.len() - TAIL));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::CONTENT_CHARS;

    fn shown(pieces: &[&[u8]]) -> Answer {
        let mut clip = Clip::new();
        for piece in pieces {
            clip.push_bytes(piece);
        }
        clip.into_answer(Status::Ok)
    }

    #[test]
    fn a_text_that_fits_is_shown_whole() {
        for text in ["", "a", &"é".repeat(SHOWN_BYTES / 2), &"🦀".repeat(SHOWN_BYTES / 4)] {
            assert_eq!(shown(&[text.as_bytes()]).shown, text);
            // The head ends inside of a character, and the tail takes what it leaves.
            let odd = format!("a{}", text.get(4..).unwrap_or_default());
            assert_eq!(shown(&[odd.as_bytes()]).shown, odd);
        }
    }

    #[test]
    fn a_text_that_does_not_fit_keeps_both_ends() {
        for unit in ["a", "é", "🦀", "\0", "a🦀"] {
            let text = format!("start{}end", unit.repeat(SHOWN_BYTES));
            for pieces in [vec![text.as_bytes()], text.as_bytes().chunks(1021).collect()] {
                let shown = shown(&pieces).shown;
                assert!(shown.len() <= SHOWN_BYTES && shown.len() > SHOWN_BYTES - 256, "{unit:?}");
                let (head, rest) = shown.split_once("\n[").expect("a mark");
                let (count, tail) = rest.split_once(" bytes left out]\n").expect("a mark");
                let count: usize = count.parse().expect("a number");
                assert!(head.starts_with("start") && tail.ends_with("end"), "{unit:?}");
                assert_eq!(head.len() + count + tail.len(), text.len(), "{unit:?}");
            }
        }
    }

    #[test]
    fn a_character_may_come_in_two_pieces() {
        let text = "a🦀é€z".repeat(100);
        for size in 1..=5 {
            let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
            assert_eq!(shown(&pieces).shown, text, "in pieces of {size}");
        }
    }

    #[test]
    fn bytes_that_are_not_utf8_are_replaced_alike_in_any_pieces() {
        let bytes = b"\xffa\xf0\x9f\xa6\x80\xf0\x9f\xa6b\xc3\xe2\x82\x28\xed\xa0\x80\xf0\x9f";
        let whole = String::from_utf8_lossy(bytes);
        for size in 1..=bytes.len() {
            let pieces: Vec<&[u8]> = bytes.chunks(size).collect();
            assert_eq!(shown(&pieces).shown, whole, "in pieces of {size}");
        }
    }

    #[test]
    fn the_head_is_the_first_4096_characters() {
        for unit in ["a", "é", "🦀"] {
            let exact = unit.repeat(CONTENT_CHARS);
            assert_eq!(shown(&[exact.as_bytes()]).head, exact);
            let more = format!("{exact}🦀");
            assert_eq!(shown(&[more.as_bytes()]).head, exact);
            let long = unit.repeat(SHOWN_BYTES * 2);
            assert_eq!(shown(&[long.as_bytes()]).head, exact);
        }
        // The 4,096th character is an emoji of which only half has come.
        let half = [&[b'a'; CONTENT_CHARS - 1], "🦀".as_bytes().split_at(2).0].concat();
        let head = shown(&[&half]).head;
        assert_eq!(head.chars().count(), CONTENT_CHARS);
        assert!(head.ends_with("a\u{fffd}"));
    }

    #[test]
    fn what_was_skipped_is_counted() {
        let mut clip = Clip::new();
        clip.push_bytes(b"head\xf0\x9f");
        clip.skip(1_000_000);
        clip.push_bytes(b"tail");
        assert_eq!(clip.into_answer(Status::Ok).shown, "head\n[1000002 bytes left out]\ntail");
    }
}
