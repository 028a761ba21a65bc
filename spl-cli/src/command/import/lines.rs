//! Lines of any input, one at a time and none longer than a record can be.

use std::io::{self, BufRead, Read as _};

use spl::engine::MAX_IMPORT_LINE_BYTES;

/// What is said of a line that is longer.
pub(super) const TOO_LONG: &str = "the line is longer than any record";

/// A line.
pub(super) struct Line<'a> {
    /// Its number, from 1.
    pub(super) number: u64,
    /// All of it, without its end; `None` for one that is longer than any record, which was passed
    /// over.
    pub(super) text: Option<&'a [u8]>,
}

/// The lines of an input that say something.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    number: u64,
    bytes: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) const fn of(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0, bytes: 0 }
    }

    /// Returns how many bytes have been read.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the next line that is not blank; `None` at the end.
    pub(super) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            self.line.clear();
            // One more for the end of the line, and one that tells a longer one.
            let most = MAX_IMPORT_LINE_BYTES as u64 + 2;
            let read = self.input.by_ref().take(most).read_until(b'\n', &mut self.line)?;
            if read == 0 {
                return Ok(None);
            }
            self.number += 1;
            self.bytes += read as u64;
            let ended = self.line.last() == Some(&b'\n');
            if !ended && read as u64 == most {
                self.skip()?;
                return Ok(Some(Line { number: self.number, text: None }));
            }
            if !self.line.trim_ascii().is_empty() {
                let text = Some(self.line.trim_ascii());
                return Ok(Some(Line { number: self.number, text }));
            }
        }
    }

    /// Passes over the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        loop {
            let ready = self.input.fill_buf()?;
            let end = ready.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(ready.len(), |end| end + 1);
            let over = end.is_some() || ready.is_empty();
            self.input.consume(used);
            self.bytes += used as u64;
            if over {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_their_numbers_and_none_is_too_long() {
        let long = "x".repeat(MAX_IMPORT_LINE_BYTES + 2);
        let text = format!("one\n\n  \r\ntwo\r\n{long}yyy\nlast");
        let mut lines = Lines::of(io::BufReader::with_capacity(7, text.as_bytes()));
        let mut found = Vec::new();
        while let Some(line) = lines.next().expect("read") {
            let text = line.text.unwrap_or(b"(too long)");
            found.push((line.number, String::from_utf8_lossy(text).into_owned()));
        }
        let found: Vec<(u64, &str)> = found.iter().map(|(at, line)| (*at, line.as_str())).collect();
        assert_eq!(found, [(1, "one"), (4, "two"), (5, "(too long)"), (6, "last")]);
        assert_eq!(lines.bytes(), text.len() as u64);
    }
}
