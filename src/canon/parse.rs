//! From bytes to a value, refusing what a canonical form cannot hold.

use json_event_parser::{JsonEvent, SliceJsonParser};

use super::{Number, Object, Value};

/// How much a reader takes.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The most bytes of input.
    pub bytes: usize,
    /// The most levels of arrays and objects inside each other.
    pub depth: usize,
}

impl Limits {
    /// What a door takes (decision 21): 4 MiB, 128 levels.
    pub const DOOR: Self = Self { bytes: 4 * 1024 * 1024, depth: 128 };

    /// What is read back from the store or built by the engine itself: any length. A record's body
    /// nests one level deeper than the body that was posted for it.
    pub const STORED: Self = Self { bytes: usize::MAX, depth: 160 };
}

/// Why bytes are not a JSON value that can be canonical.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// More bytes than allowed.
    #[error("{len} bytes, and at most {limit} are taken")]
    TooLarge {
        /// The bytes there were.
        len: usize,
        /// The most that are taken.
        limit: usize,
    },
    /// Not JSON.
    #[error("not JSON: {message} at byte {offset}")]
    Syntax {
        /// What the parser expected.
        message: String,
        /// Where, counted from 0.
        offset: u64,
    },
    /// Not UTF-8.
    #[error("not UTF-8 at byte {offset}")]
    NotUtf8 {
        /// Where, counted from 0.
        offset: usize,
    },
    /// A `\ud800` escape without its other half.
    #[error("a lone surrogate cannot be encoded as UTF-8 (near byte {offset})")]
    LoneSurrogate {
        /// Where, counted from 0.
        offset: u64,
    },
    /// The same key twice in one object.
    #[error("the key `{key}` stands twice in one object")]
    DuplicateKey {
        /// The key.
        key: String,
        /// Where that object stands, from the outermost value on.
        within: Vec<Step>,
    },
    /// A float that rounds to infinity.
    #[error("the number `{token}` is beyond the range of a 64-bit float")]
    NumberOutOfRange {
        /// The number as written, cut to 32 characters.
        token: String,
    },
    /// Too many levels inside each other.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// The most levels that are taken.
        limit: usize,
    },
}

/// One step from a value to one inside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// To the member of this name.
    Key(String),
    /// To the element at this index.
    Index(usize),
}

impl ParseError {
    /// Returns the error as whoever holds the value around it has it.
    fn inside(mut self, step: impl FnOnce() -> Step) -> Self {
        if let Self::DuplicateKey { within, .. } = &mut self {
            within.insert(0, step());
        }
        self
    }
}

/// Reads one JSON value from all of `bytes`.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Value, ParseError> {
    if bytes.len() > limits.bytes {
        return Err(ParseError::TooLarge { len: bytes.len(), limit: limits.bytes });
    }
    if let Err(error) = std::str::from_utf8(bytes) {
        return Err(ParseError::NotUtf8 { offset: error.valid_up_to() });
    }
    let mut reader = Reader { parser: SliceJsonParser::new(bytes), bytes, depth: limits.depth };
    let first = reader.next()?;
    let value = reader.value(first, 0)?;
    // Reads the end, or whatever stands where the end should be.
    reader.next()?;
    Ok(value)
}

struct Reader<'a> {
    parser: SliceJsonParser<'a>,
    bytes: &'a [u8],
    depth: usize,
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Result<JsonEvent<'a>, ParseError> {
        self.parser.parse_next().map_err(|error| {
            let offset = error.location().start.offset;
            if error.message().contains("surrogate") || self.ends_in_lone_surrogate() {
                return ParseError::LoneSurrogate { offset };
            }
            ParseError::Syntax { message: error.message().to_owned(), offset }
        })
    }

    /// Tells a lone surrogate from an early end. The parser looks for the other half six bytes
    /// ahead, and near the end of its input it runs out of bytes before it can say what is wrong;
    /// some padding and a closing quote let it say so.
    fn ends_in_lone_surrogate(&self) -> bool {
        let mut padded = self.bytes.to_vec();
        padded.extend_from_slice(b"            \"");
        let mut parser = SliceJsonParser::new(&padded);
        loop {
            match parser.parse_next() {
                Ok(JsonEvent::Eof) => return false,
                Ok(_) => {}
                Err(error) => return error.message().contains("surrogate"),
            }
        }
    }

    fn value(&mut self, event: JsonEvent<'a>, level: usize) -> Result<Value, ParseError> {
        Ok(match event {
            JsonEvent::Null => Value::Null,
            JsonEvent::Boolean(bool) => Value::Bool(bool),
            JsonEvent::String(text) => Value::String(text.into_owned()),
            JsonEvent::Number(token) => Value::Number(number(&token)?),
            JsonEvent::StartArray => self.array(self.deeper(level)?)?,
            JsonEvent::StartObject => self.object(self.deeper(level)?)?,
            JsonEvent::EndArray
            | JsonEvent::EndObject
            | JsonEvent::ObjectKey(_)
            | JsonEvent::Eof => {
                return Err(ParseError::Syntax {
                    message: "a value was expected".into(),
                    offset: 0,
                });
            }
        })
    }

    const fn deeper(&self, level: usize) -> Result<usize, ParseError> {
        if level >= self.depth {
            return Err(ParseError::TooDeep { limit: self.depth });
        }
        Ok(level + 1)
    }

    fn array(&mut self, level: usize) -> Result<Value, ParseError> {
        let mut elements = Vec::new();
        loop {
            match self.next()? {
                JsonEvent::EndArray => return Ok(Value::Array(elements)),
                event => {
                    let index = elements.len();
                    let inside = |error: ParseError| error.inside(|| Step::Index(index));
                    elements.push(self.value(event, level).map_err(inside)?);
                }
            }
        }
    }

    fn object(&mut self, level: usize) -> Result<Value, ParseError> {
        let mut members = Object::new();
        loop {
            match self.next()? {
                JsonEvent::ObjectKey(key) => {
                    let event = self.next()?;
                    let inside = |error: ParseError| error.inside(|| Step::Key(key.to_string()));
                    let value = self.value(event, level).map_err(inside)?;
                    if members.contains_key(key.as_ref()) {
                        let (key, within) = (key.into_owned(), Vec::new());
                        return Err(ParseError::DuplicateKey { key, within });
                    }
                    members.insert(key.into_owned(), value);
                }
                _ => return Ok(Value::Object(members)),
            }
        }
    }
}

fn number(token: &str) -> Result<Number, ParseError> {
    Number::from_token(token)
        .map_err(|_| ParseError::NumberOutOfRange { token: token.chars().take(32).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(text: &str) -> ParseError {
        parse(text.as_bytes(), Limits::DOOR).expect_err(text)
    }

    #[test]
    fn lone_surrogates_are_named_wherever_they_stand() {
        for text in [
            r#"{"a":"\ud800"}"#,
            r#""\ud800""#,
            r#"["\udc00 and some more text after it"]"#,
            r#"{"a":"\ud800\u0041","b":"a long tail so that nothing ends early"}"#,
        ] {
            assert!(matches!(refused(text), ParseError::LoneSurrogate { .. }), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[1,",
            "nul",
            "NaN",
            "[NaN]",
            "Infinity",
            "-",
            "01",
            "1.",
            "{} {}",
            "[1,]",
            "{\"a\":1,}",
        ] {
            assert!(
                matches!(refused(text), ParseError::Syntax { .. }),
                "{text}: {:?}",
                refused(text)
            );
        }
    }

    #[test]
    fn a_key_may_stand_once() {
        let twice = |within: Vec<Step>| ParseError::DuplicateKey { key: "a".into(), within };
        assert_eq!(refused(r#"{"a":1,"a":1}"#), twice(vec![]));
        assert_eq!(refused(r#"{"a":1,"\u0061":2}"#), twice(vec![]));
        let steps = vec![Step::Key("b".into()), Step::Index(1), Step::Key("c".into())];
        assert_eq!(refused(r#"{"b":[0,{"c":{"a":1,"a":1}}]}"#), twice(steps));
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(parse(nested(128).as_bytes(), Limits::DOOR).is_ok());
        assert_eq!(refused(&nested(129)), ParseError::TooDeep { limit: 128 });
        assert_eq!(refused(&nested(100_000)), ParseError::TooDeep { limit: 128 });
    }

    #[test]
    fn another_library_has_no_private_keys_here() {
        let text = r#"{"$serde_json::private::Number":"12"}"#;
        let value = parse(text.as_bytes(), Limits::DOOR).expect("an ordinary object");
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn bytes_that_are_not_utf8_are_refused() {
        assert_eq!(parse(b"\"a\xff\"", Limits::DOOR), Err(ParseError::NotUtf8 { offset: 2 }));
    }
}
