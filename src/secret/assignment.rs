//! Values beside a key that names a secret: `password=…`, `"api_key": "…"`, `Authorization: …`.
//!
//! Source code is full of such keys, with an expression where a file of settings has a value. So a
//! value in quotes is taken unless it is plainly a reference or a sentence, and one without is
//! taken if it mixes letters and digits, or if it stands where only a file of settings has one.

use std::ops::Range;

use super::scan::label_of;
use super::table::{ASSIGNMENT, BEARER, looks_random};
use super::value::names_a_secret;
use super::{Finding, table};

/// The least length of a value.
const BYTES: usize = 8;

/// How much of a value is looked at to decide. Keeps many keys inside one long value from each
/// reading it to its end.
const DECIDED_BY: usize = 128;

/// How a key and its value are bound.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bond {
    /// `key=value`, as in an environment or a query.
    Tight,
    /// `key = value`.
    Spaced,
    /// `key: value`.
    Colon,
    /// `--key value`.
    Flag,
}

/// A key in a text, and where its value starts.
struct Key<'a> {
    text: &'a str,
    value_at: usize,
    bond: Bond,
    /// Whether a person may have made it up: digits alone, or a word.
    is_password: bool,
    /// Whether the value goes on to the end of the line, as in a header `Cookie`.
    takes_line: bool,
    /// Whether the value may have a word before it, as in a header `Authorization`.
    takes_scheme: bool,
}

/// Returns the secret after a key and its separator, which stand at `opener`.
pub(super) fn after_key(text: &str, opener: Range<usize>) -> Option<Finding> {
    let (key, rest) = (text.get(opener.clone())?, text.get(opener.end..)?);
    if rest.starts_with(['=', '~', ':']) && !key.ends_with('>') {
        return None;
    }
    let spaces = spaces(rest);
    let separator = key.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || "_-".contains(c));
    let bond = match separator {
        ":" if spaces > 0 => Bond::Colon,
        "=" | ":" if spaces == 0 => Bond::Tight,
        _ if key.ends_with(':') => Bond::Colon,
        _ => Bond::Spaced,
    };
    let named = |name: &str| key.get(..name.len()).is_some_and(|k| k.eq_ignore_ascii_case(name));
    let before = text.get(..opener.start)?;
    if named("token") && is_complaint(before) || separator.starts_with(']') && is_in_mark(before) {
        return None;
    }
    let annotated = if bond == Bond::Colon { type_annotation(rest) } else { None };
    Key {
        text,
        value_at: opener.end + annotated.unwrap_or(spaces),
        bond,
        is_password: named("pass"),
        takes_line: named("cookie"),
        takes_scheme: named("authorization"),
    }
    .secret()
}

/// Returns the secret after a flag `--password` and a space, which end at `value_at`.
pub(super) fn after_flag(text: &str, value_at: usize) -> Option<Finding> {
    Key {
        text,
        value_at,
        bond: Bond::Flag,
        is_password: false,
        takes_line: false,
        takes_scheme: false,
    }
    .secret()
}

impl Key<'_> {
    fn secret(&self) -> Option<Finding> {
        let rest = self.text.get(self.value_at..)?;
        let (quote, opened) = match Quote::opening(rest) {
            Some((quote, len)) => (Some(quote), len),
            None => (None, 0),
        };
        let scheme = rest.get(opened..).and_then(Scheme::of).filter(|_| self.takes_scheme);
        let from = self.value_at + opened + scheme.map_or(0, |scheme| scheme.len);
        let rest = self.text.get(from..)?;
        let near = rest.get(..rest.floor_char_boundary(DECIDED_BY))?;
        let value = near.get(..self.value_len(near, quote))?;
        let secret = value.len() >= BYTES
            && !is_placeholder(value)
            && match quote {
                _ if scheme.is_some() => true,
                Some(_) => quoted_is_secret(value),
                None => self.bare_is_secret(value, near.get(value.len()..)?),
            };
        if !secret {
            return None;
        }
        let range = from..from + self.value_len(rest, quote);
        let plain = if scheme.is_some_and(|s| s.is_bearer) { BEARER } else { ASSIGNMENT };
        Some(Finding { label: label_of(self.text.get(range.clone())?, plain), range })
    }

    fn value_len(&self, text: &str, quote: Option<Quote>) -> usize {
        match quote {
            Some(quote) => quote.content_len(text),
            None if self.takes_line => {
                text.find(['\n', '\r', '"', '\'', '\\']).unwrap_or(text.len())
            }
            None => text.find(ends_bare).unwrap_or(text.len()),
        }
    }

    /// Decides about a value without quotes, with `after` following it.
    fn bare_is_secret(&self, value: &str, after: &str) -> bool {
        if self.takes_line {
            let pair = value.split_once('=');
            return pair.is_some_and(|(name, value)| {
                !name.contains(char::is_whitespace) && !value.starts_with([' ', '='])
            });
        }
        if is_expression(value, after) || is_name(value) {
            return false;
        }
        if value.bytes().all(|b| b.is_ascii_digit() || b == b'.') {
            return self.is_password;
        }
        if mixes(value) {
            return true;
        }
        // Words. In code they are a variable or a type; in settings they stand alone.
        let alone = after.is_empty() || after.starts_with(['\n', '\r', '\\']);
        let cased = value
            .as_bytes()
            .windows(2)
            .any(|pair| matches!(pair, [a, b] if a.is_ascii_lowercase() && b.is_ascii_uppercase()));
        !cased
            && match self.bond {
                Bond::Tight => alone || after.starts_with([' ', '\t', '&', ';', '"', '\'', '<']),
                Bond::Colon => alone,
                Bond::Spaced => alone && self.is_password && !value.contains(['_', '.']),
                Bond::Flag => false,
            }
    }
}

/// A quote that a value stands in, itself inside of `depth` levels of escaping.
#[derive(Clone, Copy)]
struct Quote {
    quote: char,
    depth: usize,
}

impl Quote {
    /// Returns the quote that `text` starts with, and its length.
    fn opening(text: &str) -> Option<(Self, usize)> {
        let prefixes = text.bytes().take(2).take_while(|b| b"bBfFrRuU".contains(b)).count();
        let unprefixed = text.get(prefixes..)?;
        let depth = unprefixed.bytes().take(3).take_while(|b| *b == b'\\').count();
        let quote = unprefixed.get(depth..)?.chars().next()?;
        let quoted = matches!(quote, '"' | '\'' | '`');
        quoted.then_some((Self { quote, depth }, prefixes + depth + 1))
    }

    /// Returns how much of `text` is inside; a line break ends it too.
    fn content_len(self, text: &str) -> usize {
        let mut slashes = 0;
        for (at, c) in text.char_indices() {
            match c {
                '\n' | '\r' => return at,
                '\\' => slashes += 1,
                _ if c == self.quote && slashes <= self.depth => return at - slashes,
                _ => slashes = 0,
            }
        }
        text.len()
    }
}

/// The word before a credential in a header `Authorization`.
#[derive(Clone, Copy)]
struct Scheme {
    len: usize,
    is_bearer: bool,
}

impl Scheme {
    fn of(text: &str) -> Option<Self> {
        ["bearer", "basic", "token", "apikey", "digest", "negotiate"].into_iter().find_map(|name| {
            let word = text.get(..name.len())?;
            let spaces = spaces(text.get(name.len()..)?);
            (word.eq_ignore_ascii_case(name) && spaces > 0)
                .then_some(Self { len: name.len() + spaces, is_bearer: name == "bearer" })
        })
    }
}

/// Tells a parser's complaint about a token, `unexpected token: …`, by what stands before it.
fn is_complaint(before: &str) -> bool {
    const END: &str = "expected ";
    let tail = before.len().checked_sub(END.len()).and_then(|at| before.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case(END))
}

/// Tells whether a key is the last word of a mark, `[masked:github-token]`, and not a key.
fn is_in_mark(before: &str) -> bool {
    let label = before.trim_end_matches(|c: char| c.is_ascii_lowercase() || c == '-');
    label.ends_with("[masked:") || label.ends_with("[redacted:")
}

fn spaces(text: &str) -> usize {
    text.bytes().take(8).take_while(|b| matches!(b, b' ' | b'\t')).count()
}

/// Returns the length of a type and `=` between a key and a text in quotes: `: &str = "…"`.
fn type_annotation(text: &str) -> Option<usize> {
    let near = text.get(..text.floor_char_boundary(64))?;
    let (name, _) = near.split_once('=')?;
    let after = name.len() + 1 + spaces(near.get(name.len() + 1..)?);
    let is_type = |c: char| c.is_ascii_alphanumeric() || "&'_<>:[]| ".contains(c);
    let quoted = near.get(after..)?.starts_with(['"', '\'', '`']);
    (quoted && !name.trim().is_empty() && name.chars().all(is_type)).then_some(after)
}

fn ends_bare(c: char) -> bool {
    c.is_whitespace() || "\"'`,;&<>(){}[]|\\".contains(c)
}

/// Tells what stands for a value, a variable, a pattern, a mark of this module, dots or stars; or
/// what follows a quote that closes a text instead of opening one.
fn is_placeholder(value: &str) -> bool {
    let first = value.chars().next().unwrap_or(' ');
    let variable = value.strip_prefix('$').is_some_and(|name| {
        name.starts_with(['{', '(']) || name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    });
    variable
        || matches!(first, '{' | '<' | '[' | '%' | '*' | '#' | ',' | ';' | ')' | ']' | '}')
        || first.is_whitespace()
        || ["${", "#{", "{{", "$(", "[masked:"].iter().any(|start| value.contains(start))
        || value.chars().all(|c| c == first)
}

fn is_path_or_url(value: &str) -> bool {
    let scheme = value
        .split_once("://")
        .is_some_and(|(scheme, _)| scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+'));
    let rooted = ["/", "./", "../", "~/"].iter().any(|start| value.starts_with(start));
    let file = value.contains('/')
        && value.rsplit_once('.').is_some_and(|(_, kind)| (1..=5).contains(&kind.len()));
    scheme || (rooted || file) && !looks_random(value)
}

fn mixes(value: &str) -> bool {
    let wordy = |part: &str| {
        let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
        letters.bytes().all(|b| b.is_ascii_alphabetic()) && part.len() <= letters.len() + 2
    };
    value.bytes().any(|b| b.is_ascii_digit())
        && value.bytes().any(|b| b.is_ascii_alphabetic())
        && !(value.contains('_') && value.split('_').all(wordy))
}

/// Tells a name of a secret, `user_password` or `apiKey`, from a secret that ends like one.
fn is_name(value: &str) -> bool {
    let joined = |c: char| matches!(c, '-' | '_') || c.is_ascii_uppercase();
    names_a_secret(value) && (value.contains(joined) || table::NAMES.contains(&value))
}

fn quoted_is_secret(value: &str) -> bool {
    if is_path_or_url(value) || is_name(value) {
        return false;
    }
    !value.contains(char::is_whitespace) || !is_sentence(value)
}

/// Tells a sentence about a secret from a passphrase.
fn is_sentence(value: &str) -> bool {
    const WORDS: [&str; 12] = [
        "your", "the", "is", "must", "enter", "required", "invalid", "missing", "not", "for", "to",
        "expired",
    ];
    value.split(|c: char| !c.is_alphanumeric()).any(|word| {
        let word = word.to_lowercase();
        WORDS.contains(&word.as_str()) || table::NAMES.contains(&word.trim_end_matches('s'))
    })
}

/// Tells whether a value without quotes is an expression of a programming language, or a path.
fn is_expression(value: &str, after: &str) -> bool {
    let identifier = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let member = value.split(['.', '?']).filter(|part| !part.is_empty()).count() > 1
        && value.split(['.', '?']).all(|part| part.is_empty() || identifier(part))
        && !looks_random(value);
    let applied =
        after.starts_with(['(', '[', '{']) || after.starts_with('<') && !after.starts_with("</");
    member || applied || value.contains("::") || is_path_or_url(value)
}
