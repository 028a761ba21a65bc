//! What crosses a worker's socket: JSON values behind their length.

use std::io::{self, Read, Write};

use crate::canon::{Canonical, Limits, Value, parse};

/// The most bytes of one value: what a store takes of one record, and room for what is around it.
pub const MAX_FRAME_BYTES: usize = 8 * 1024 * 1024;

const CHUNK: usize = 16 * 1024;
const PREFIX: usize = 4;

/// Why there is no next value.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FrameError {
    /// The other end is closed.
    #[error("the other end is closed")]
    Closed,
    /// What was announced is more than is taken.
    #[error("{bytes} bytes were announced, and at most {MAX_FRAME_BYTES} are taken")]
    TooLarge {
        /// The length that was announced.
        bytes: usize,
    },
    /// What came is not JSON.
    #[error("what came is not JSON")]
    NotJson,
    /// The socket failed.
    #[error("the socket failed")]
    Io(#[from] io::Error),
}

/// Writes one value.
pub fn write_frame(to: &mut impl Write, value: &Value) -> Result<(), FrameError> {
    let text = Canonical::of(value).into_string();
    if text.len() > MAX_FRAME_BYTES {
        return Err(FrameError::TooLarge { bytes: text.len() });
    }
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    let mut bytes = length.to_be_bytes().to_vec();
    bytes.extend_from_slice(text.as_bytes());
    to.write_all(&bytes).and_then(|()| to.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => FrameError::Closed,
        _ => FrameError::Io(error),
    })
}

/// Reads values; what has come of the next one is kept from one look to the next.
#[derive(Debug, Default)]
pub struct FrameReader {
    got: Vec<u8>,
}

impl FrameReader {
    /// Returns a reader that has read nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Reads until a value is whole. `None` if the read time of the socket has passed before.
    ///
    /// Nothing is set aside for a length that is only announced.
    pub fn next(&mut self, from: &mut impl Read) -> Result<Option<Value>, FrameError> {
        let mut chunk = [0; CHUNK];
        loop {
            if let Some(value) = self.whole()? {
                return Ok(Some(value));
            }
            match from.read(&mut chunk) {
                Ok(0) => return Err(FrameError::Closed),
                Ok(len) => self.got.extend_from_slice(chunk.get(..len).unwrap_or_default()),
                Err(error) => match error.kind() {
                    io::ErrorKind::Interrupted => {}
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => return Ok(None),
                    io::ErrorKind::ConnectionReset => return Err(FrameError::Closed),
                    _ => return Err(error.into()),
                },
            }
        }
    }

    /// Takes the next value out, if it is there whole.
    fn whole(&mut self) -> Result<Option<Value>, FrameError> {
        let Some((prefix, rest)) = self.got.split_first_chunk::<PREFIX>() else { return Ok(None) };
        let bytes = usize::try_from(u32::from_be_bytes(*prefix)).unwrap_or(usize::MAX);
        if bytes > MAX_FRAME_BYTES {
            return Err(FrameError::TooLarge { bytes });
        }
        let Some(text) = rest.get(..bytes) else { return Ok(None) };
        let limits = Limits { bytes: MAX_FRAME_BYTES, ..Limits::STORED };
        let value = parse(text, limits).map_err(|_| FrameError::NotJson)?;
        self.got.drain(..PREFIX + bytes);
        Ok(Some(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    /// Gives one byte at a time, and between any two of them nothing.
    struct Dribble<'a>(&'a [u8], bool);

    impl Read for Dribble<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            self.1 = !self.1;
            if self.1 {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            let Some((first, rest)) = self.0.split_first() else { return Ok(0) };
            (to[0], self.0) = (*first, rest);
            Ok(1)
        }
    }

    #[test]
    fn a_value_that_comes_in_pieces_is_read_whole() {
        let sent = Value::from(object! { "a": 1, "b": "ü" });
        let mut bytes = Vec::new();
        write_frame(&mut bytes, &sent).expect("written");
        write_frame(&mut bytes, &Value::Null).expect("written");
        let (mut from, mut reader) = (Dribble(&bytes, false), FrameReader::new());
        let mut read = Vec::new();
        let end = loop {
            match reader.next(&mut from) {
                Ok(value) => read.extend(value),
                Err(error) => break error,
            }
        };
        assert_eq!(read, [sent, Value::Null]);
        assert!(matches!(end, FrameError::Closed));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let next = |bytes: &[u8]| FrameReader::new().next(&mut { bytes });
        assert!(matches!(next(b"\xff\xff\xff\xff"), Err(FrameError::TooLarge { .. })));
        assert!(matches!(next(b"\0\0\0\x02{]"), Err(FrameError::NotJson)));
        assert!(matches!(next(b"\0\0\0\x09{}"), Err(FrameError::Closed)));
    }
}
