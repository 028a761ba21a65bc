//! Long strings, read piece by piece instead of byte by byte.
//!
//! A harness sends what a tool has printed as one string of JSON. The event parser looks at each byte
//! of it; here, pieces between escapes are found and copied whole. What a string may be is the parser's to
//! say, so whatever is not an ordinary long string is left to it.

use memchr::{memchr, memchr2};

/// A shorter string is not worth the looking.
const LONG: usize = 256;

/// Reads the string that `text` begins with, and returns it with the bytes that it takes there; `None`
/// if there is none, or if it is short, or holds anything that the parser would refuse.
pub(super) fn long_string(text: &str) -> Option<(String, usize)> {
    let inner = text.strip_prefix('"')?;
    if memchr(b'"', inner.as_bytes().get(..LONG)?).is_some() {
        return None;
    }
    let end = end_of(inner.as_bytes())?;
    let inner = inner.get(..end)?;
    if inner.bytes().any(|byte| byte < b' ') {
        return None;
    }
    Some((unescaped(inner)?, end + 2))
}

/// Returns where the string ends whose inside `bytes` begins with.
fn end_of(bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn unescaped(inner: &str) -> Option<String> {
    let mut text = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(at) = memchr(b'\\', rest.as_bytes()) {
        text.push_str(rest.get(..at)?);
        let (char, len) = escape(rest.get(at..)?)?;
        text.push(char);
        rest = rest.get(at + len..)?;
    }
    text.push_str(rest);
    Some(text)
}

/// Returns what the escape stands for that `text` begins with, and its bytes.
fn escape(text: &str) -> Option<(char, usize)> {
    let char = match text.as_bytes().get(1)? {
        b'"' => '"',
        b'\\' => '\\',
        b'/' => '/',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'u' => {
            let first = code_unit(text.as_bytes(), 0)?;
            if let Some(char) = char::from_u32(first) {
                return Some((char, ESCAPE));
            }
            let pair = [first, code_unit(text.as_bytes(), ESCAPE)?].map(u16::try_from);
            let [Ok(high), Ok(low)] = pair else { return None };
            let mut decoded = char::decode_utf16([high, low]);
            return Some((decoded.next()?.ok()?, 2 * ESCAPE));
        }
        _ => return None,
    };
    Some((char, 2))
}

/// The bytes of `\uXXXX`.
pub(super) const ESCAPE: usize = 6;

/// Returns what the escape at `at` stands for, if it is one of the form `\uXXXX`.
pub(super) fn code_unit(text: &[u8], at: usize) -> Option<u32> {
    let digits = text.get(at..at + ESCAPE)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(inner: &str) -> String {
        format!("{}{inner}", "a".repeat(LONG))
    }

    #[track_caller]
    fn reads(inner: &str, want: &str) {
        let inner = long(inner);
        let (text, bytes) = long_string(&format!("\"{inner}\", 1")).expect(want);
        assert_eq!((text, bytes), (long(want), inner.len() + 2));
    }

    #[test]
    fn escapes_are_what_they_stand_for() {
        reads("", "");
        reads(r"é \n\t\r\b\f\/\\", "é \n\t\r\u{8}\u{c}/\\");
        reads(r#"\"\u0041\u00e9\uD83D\uDE00\u0000"#, "\"Aé😀\0");
    }

    #[test]
    fn what_is_out_of_the_ordinary_is_the_parsers() {
        let short = "a".repeat(LONG - 1);
        for inner in [
            "\n",
            "\u{1}",
            r"\x",
            r"\u12",
            r"\u12g4",
            r"\ud800",
            r"\ud800 more",
            r"\ud800A",
            r"\udc00",
            r"\ud83d\n",
        ] {
            assert_eq!(long_string(&format!("\"{}\"", long(inner))), None, "{inner}");
        }
        for text in ["", "\"", "1", &format!("\"{short}\""), &format!("\"{}", long("")), "\"\\"] {
            assert_eq!(long_string(text), None, "{text}");
        }
        assert_eq!(long_string(&format!("\"{}\\", long(""))), None);
    }
}
