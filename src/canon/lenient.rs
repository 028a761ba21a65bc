//! From bytes to a value, repairing what a canonical form cannot hold.
//!
//! For what programs of others send, which must be understood as far as it can be. Nothing that a
//! caller means to be hashed or signed as it stands is read here: that is [`parse`](super::parse()).

use std::borrow::Cow;

use json_event_parser::{JsonEvent, JsonSyntaxError, LowLevelJsonParser, LowLevelJsonParserResult};
use memchr::memchr;

use super::long::{ESCAPE, code_unit, long_string};
use super::{Limits, Number, Object, ParseError, Value};

/// The most values below the top level. A value takes ten times the room of its text, so that a
/// few megabytes of zeros could ask for a gigabyte.
const MAX_VALUES: usize = 1 << 20;

/// So many characters of an integer are never beyond a float.
const SURELY_A_FLOAT: usize = 300;

/// Reads one JSON value from all of `bytes` and repairs it where it can be.
///
/// A byte order mark in front is skipped. Bytes that are not UTF-8 and halves of surrogate pairs
/// become U+FFFD. Of a key that stands twice the last value counts. A number beyond a float is the
/// largest float of its sign. What nests deeper than the limit is `null`, and what comes below the
/// top level after a million values is left out. Everything else that is not JSON is refused.
pub fn parse_leniently(bytes: &[u8], limits: Limits) -> Result<Value, ParseError> {
    let text = repaired(bytes, limits)?;
    let mut reader = Reader::new(&text, limits);
    let first = reader.next()?;
    let value = reader.value(first, 0)?;
    // Reads the end, or whatever stands where the end should be.
    reader.next()?;
    Ok(value)
}

/// Reads an object as [`parse_leniently`] does, and returns its members as they stand there, also
/// those whose names stand twice. Each value has the limits that it would have by itself.
pub fn parse_members_leniently(
    bytes: &[u8],
    limits: Limits,
) -> Result<Vec<(String, Value)>, ParseError> {
    let text = repaired(bytes, limits)?;
    let mut reader = Reader::new(&text, limits);
    if reader.next()? != JsonEvent::StartObject {
        return Err(ParseError::Syntax { message: "an object was expected".into(), offset: 0 });
    }
    let mut members = Vec::new();
    while let JsonEvent::ObjectKey(key) = reader.next()? {
        let event = reader.next_value()?;
        members.push((key.into_owned(), reader.value(event, 0)?));
    }
    reader.next()?;
    Ok(members)
}

/// Returns the text that bytes are meant to be.
fn repaired(bytes: &[u8], limits: Limits) -> Result<Cow<'_, str>, ParseError> {
    if bytes.len() > limits.bytes {
        return Err(ParseError::TooLarge { len: bytes.len(), limit: limits.bytes });
    }
    // Mending looks at one piece after another; most texts are whole, which is found out faster.
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    };
    let halves = lone_surrogates(text.as_bytes());
    if halves.is_empty() {
        return Ok(text);
    }
    let mut repaired = String::with_capacity(text.len());
    let mut kept_to = 0;
    for at in halves {
        repaired.push_str(text.get(kept_to..at).unwrap_or_default());
        repaired.push_str("\\ufffd");
        kept_to = at + ESCAPE;
    }
    repaired.push_str(text.get(kept_to..).unwrap_or_default());
    Ok(Cow::Owned(repaired))
}

/// Returns where the escapes of halves of surrogate pairs begin that have no other half. Outside of
/// a string a backslash is an error, whatever follows it, so strings need not be told apart.
fn lone_surrogates(text: &[u8]) -> Vec<usize> {
    let mut lone = Vec::new();
    let mut at = 0;
    while let Some(next) = text.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += next;
        match code_unit(text, at) {
            Some(0xd800..=0xdbff)
                if matches!(code_unit(text, at + ESCAPE), Some(0xdc00..=0xdfff)) =>
            {
                at += 2 * ESCAPE;
            }
            Some(0xd800..=0xdfff) => {
                lone.push(at);
                at += ESCAPE;
            }
            Some(_) => at += ESCAPE,
            // The backslash, and what it escapes.
            None => at += 2,
        }
    }
    lone
}

struct Reader<'a> {
    parser: LowLevelJsonParser,
    rest: &'a str,
    /// The bytes of the text that the parser was not given.
    kept_back: u64,
    depth: usize,
    /// How many values may still be taken.
    left: usize,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, limits: Limits) -> Self {
        // What is too deep is read over, to any depth; a level takes one byte.
        let parser = LowLevelJsonParser::new().with_max_stack_size(usize::MAX);
        Self { parser, rest: text, kept_back: 0, depth: limits.depth, left: MAX_VALUES }
    }

    fn next(&mut self) -> Result<JsonEvent<'a>, ParseError> {
        let LowLevelJsonParserResult { consumed_bytes, event } =
            self.parser.parse_next(self.rest.as_bytes(), true);
        self.rest = self.rest.get(consumed_bytes..).unwrap_or_default();
        self.read(event)
    }

    /// Reads the event that begins a value, or ends an array. A long string is read past the parser,
    /// which is told of an empty one in its place.
    fn next_value(&mut self) -> Result<JsonEvent<'a>, ParseError> {
        let before = self.rest.find(|c| !" \t\r\n:,".contains(c)).unwrap_or(0);
        let (before, value) = self.rest.split_at_checked(before).unwrap_or_default();
        let Some((text, bytes)) = long_string(value) else { return self.next() };
        let told = self.parser.parse_next(before.as_bytes(), false);
        if told.event.is_some() {
            return self.read(told.event);
        }
        let event = self.parser.parse_next(b"\"\"", false).event;
        self.kept_back += (before.len() - told.consumed_bytes + bytes - 2) as u64;
        self.rest = value.get(bytes..).unwrap_or_default();
        match self.read(event)? {
            JsonEvent::String(_) => Ok(JsonEvent::String(text.into())),
            other => Ok(other),
        }
    }

    fn read<'e>(
        &self,
        event: Option<Result<JsonEvent<'e>, JsonSyntaxError>>,
    ) -> Result<JsonEvent<'e>, ParseError> {
        match event {
            Some(Ok(event)) => Ok(event),
            Some(Err(error)) => Err(ParseError::Syntax {
                message: error.message().to_owned(),
                offset: error.location().start.offset + self.kept_back,
            }),
            None => Err(ParseError::Syntax { message: "it ends early".into(), offset: 0 }),
        }
    }

    fn value(&mut self, event: JsonEvent<'a>, level: usize) -> Result<Value, ParseError> {
        Ok(match event {
            JsonEvent::Null => Value::Null,
            JsonEvent::Boolean(bool) => Value::Bool(bool),
            JsonEvent::String(text) => Value::String(text.into_owned()),
            JsonEvent::Number(token) => number(&token),
            JsonEvent::StartArray | JsonEvent::StartObject
                if level >= self.depth || self.left == 0 =>
            {
                self.skip()?
            }
            JsonEvent::StartArray => self.array(level + 1)?,
            JsonEvent::StartObject => self.object(level + 1)?,
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

    /// Reads to the end of an array or an object that has begun.
    fn skip(&mut self) -> Result<Value, ParseError> {
        let mut open: usize = 1;
        while open > 0 {
            match self.next()? {
                JsonEvent::StartArray | JsonEvent::StartObject => open += 1,
                JsonEvent::EndArray | JsonEvent::EndObject => open -= 1,
                _ => {}
            }
        }
        Ok(Value::Null)
    }

    /// Returns whether one more value may be taken at `level`.
    const fn takes(&mut self, level: usize) -> bool {
        let takes = self.left > 0 || level == 1;
        self.left = self.left.saturating_sub(1);
        takes
    }

    fn array(&mut self, level: usize) -> Result<Value, ParseError> {
        let mut elements = Vec::new();
        loop {
            match self.next_value()? {
                JsonEvent::EndArray => return Ok(Value::Array(elements)),
                event => {
                    let value = self.value(event, level)?;
                    if self.takes(level) {
                        elements.push(value);
                    }
                }
            }
        }
    }

    fn object(&mut self, level: usize) -> Result<Value, ParseError> {
        let mut members = Object::new();
        loop {
            match self.next()? {
                JsonEvent::ObjectKey(key) => {
                    let event = self.next_value()?;
                    let value = self.value(event, level)?;
                    if self.takes(level) {
                        members.insert(key.into_owned(), value);
                    }
                }
                _ => return Ok(Value::Object(members)),
            }
        }
    }
}

fn number(token: &str) -> Value {
    let within = |number: &Number| token.len() < SURELY_A_FLOAT || number.to_f64().is_finite();
    match Number::from_token(token).ok().filter(within) {
        Some(number) => Value::Number(number),
        None if token.starts_with('-') => Value::from_float(f64::MIN),
        None => Value::from_float(f64::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { bytes: 1 << 24, depth: 128 };

    #[track_caller]
    fn reads(bytes: impl AsRef<[u8]>, want: &str) {
        let bytes = bytes.as_ref();
        let shown = String::from_utf8_lossy(bytes).chars().take(80).collect::<String>();
        let value = parse_leniently(bytes, LIMITS).expect(&shown);
        assert_eq!(value.to_string(), want, "{shown}");
    }

    #[test]
    fn what_is_not_unicode_is_replaced() {
        reads(b"\"a\xffb\"", "\"a\u{fffd}b\"");
        reads(b"{\"a\xe2\x82\":1}", "{\"a\u{fffd}\":1}");
        reads(r#""\ud800""#, "\"\u{fffd}\"");
        reads(r#"["\udc00 and more"]"#, "[\"\u{fffd} and more\"]");
        reads(r#""\uD83D\uDE00""#, "\"😀\"");
        reads(r#""\ud800\ud83d\ude00""#, "\"\u{fffd}😀\"");
        reads(r#""\ud83d\u0041""#, "\"\u{fffd}A\"");
        reads(r#""\ud83d\n""#, "\"\u{fffd}\\n\"");
        // A backslash that is escaped itself escapes nothing.
        reads(r#""\\ud800""#, r#""\\ud800""#);
        reads(r#""\\\ud800""#, "\"\\\\\u{fffd}\"");
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        reads("\u{feff}{}", "{}");
        reads("\u{feff} [1]", "[1]");
    }

    #[test]
    fn the_last_of_two_keys_counts() {
        reads(r#"{"a":1,"b":2,"\u0061":3}"#, r#"{"a":3,"b":2}"#);
    }

    #[test]
    fn numbers_beyond_a_float_are_its_largest() {
        let largest = Value::from_float(f64::MAX).to_string();
        for token in ["1e309", "1E400", "123456e99999"] {
            reads(token, &largest);
            reads(format!("-{token}"), &format!("-{largest}"));
        }
        reads("9".repeat(309), &largest);
        reads("9".repeat(1 << 20), &largest);
        reads("9".repeat(308), &"9".repeat(308));
        reads("1e-400", "0");
    }

    #[test]
    fn what_is_too_deep_is_null() {
        let nested = |levels: usize, inner: &str| "[".repeat(levels) + inner + &"]".repeat(levels);
        reads(nested(128, "1"), &nested(128, "1"));
        reads(nested(129, "1"), &nested(128, "null"));
        reads(nested(1_000_000, r#"{"a":[1],"b":"]"}"#), &nested(128, "null"));
        let members = r#"{"a":"#.repeat(200) + "1" + &"}".repeat(200);
        reads(members, &(r#"{"a":"#.repeat(128) + "null" + &"}".repeat(128)));
    }

    #[test]
    fn values_are_counted_below_the_top_level() {
        let text = format!(r#"{{"list":[{}1],"last":"here","more":[2]}}"#, "0,".repeat(1 << 20));
        let value = parse_leniently(text.as_bytes(), LIMITS).expect("an object");
        let list = value.get("list").and_then(Value::as_array).expect("a list");
        assert_eq!(list.len(), 1 << 20);
        assert_eq!(value.get("last").and_then(Value::as_str), Some("here"));
        assert_eq!(value.get("more"), Some(&Value::Null));
    }

    #[test]
    fn what_is_not_one_value_is_refused() {
        for text in [
            "",
            " ",
            "{",
            "[1,",
            "nul",
            "NaN",
            "-",
            "01",
            "1.",
            "{} {}",
            "[1,]",
            "{\"a\":1,}",
            "{'a':1}",
            "{\"a\" 1}",
            "// c\n{}",
            "\"\\x\"",
            "\"\\u12\"",
            "\"\n\"",
            "\"\\ud800",
            "\\ud800",
            "\u{fffd}",
            "[[[",
            "]",
        ] {
            let error = parse_leniently(text.as_bytes(), LIMITS).expect_err(text);
            assert!(matches!(error, ParseError::Syntax { .. }), "{text}: {error:?}");
        }
        for deep in ["[".repeat(300), "[".repeat(200_000), "{\"a\":[".repeat(70_000)] {
            assert!(parse_leniently(deep.as_bytes(), LIMITS).is_err());
        }
        let small = Limits { bytes: 3, depth: 1 };
        assert_eq!(parse_leniently(b"[11]", small), Err(ParseError::TooLarge { len: 4, limit: 3 }));
    }

    /// Long strings take a way of their own, and what stands around them does not.
    #[test]
    fn a_long_string_is_a_string_like_any_other() {
        let long = "line\\n\\u00e9 ".repeat(100);
        let texts = |string: &str| {
            let (a, b) = (format!("\"{string}\""), format!("\r\n\t {{ \"k\" : \"{string}\" }} "));
            let c = format!("[{a},{a} , {a}\t,[{b}],1]");
            let wrong = [
                format!("[{a} {a}]"),
                format!("[,{a}]"),
                format!("[{a},,{a}]"),
                format!("[{a}:{a}]"),
                format!("{{\"k\"{a}}}"),
                format!("{{\"k\":,{a}}}"),
                format!("{{\"k\":{a},{a}}}"),
                format!("{{\"k\":{a}:1}}"),
                format!("{{{a}}}"),
                format!("[{a}"),
                format!("[{a}]]"),
            ];
            ([a, b, c], wrong)
        };
        let ((right, wrong), (short_right, short_wrong)) = (texts(&long), texts("s"));
        for (text, short) in right.iter().zip(&short_right) {
            let value = parse_leniently(text.as_bytes(), LIMITS).expect(short);
            assert_eq!(Ok(value), super::super::parse(text.as_bytes(), LIMITS), "{short}");
        }
        for (text, short) in wrong.iter().zip(&short_wrong) {
            let error = |text: &str| match parse_leniently(text.as_bytes(), LIMITS) {
                Err(ParseError::Syntax { message, offset }) => (message, offset),
                other => panic!("{short}: {other:?}"),
            };
            let (message, offset) = error(text);
            assert_eq!(message, error(short).0, "{short}");
            assert!(usize::try_from(offset).expect("small") <= text.len(), "{short}");
        }
    }

    #[test]
    fn members_are_told_apart() {
        let members =
            parse_members_leniently(br#"{"a":1,"b":{"c":1,"c":2},"a":[3]}"#, LIMITS).expect("all");
        let shown: Vec<String> =
            members.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(shown, ["a=1", r#"b={"c":2}"#, "a=[3]"]);
        for text in ["", "[]", "1", "{}x", "{\"a\":1", "{} , \"b\":1}"] {
            assert!(parse_members_leniently(text.as_bytes(), LIMITS).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_strict_json_is_read_as_it_is() {
        for text in [
            r#"{"a":[1,-2.5,1e-7,true,null,"\u00e9\n\"\\"],"":{}}"#,
            "18446744073709551616",
            "\"\"",
        ] {
            let strict = super::super::parse(text.as_bytes(), LIMITS);
            assert_eq!(parse_leniently(text.as_bytes(), LIMITS), strict);
        }
    }
}
