//! One pass over a text.

use std::iter;
use std::ops::Range;

use regex::Match;

use super::table::{BEARER, OPENERS, Token, URL_PASSWORD, looks_random, may_open};
use super::{Finding, assignment, pem};

/// The least length of what follows the word `bearer` when no header stands before it.
const BEARER_BYTES: usize = 16;

/// Returns what looks like a secret in `text`, in order and without overlaps.
pub fn find(text: &str) -> impl Iterator<Item = Finding> {
    // The pass goes on at `at`; what lies before `floor` has been found already.
    let (mut at, mut floor) = (0, 0);
    let may_open = may_open(text);
    iter::from_fn(move || {
        while may_open {
            let opener = OPENERS.find_at(text, at)?;
            at = opener.end();
            if let Some(finding) = look(text, opener, floor) {
                at = at.max(finding.range.end);
                floor = finding.range.end;
                return Some(finding);
            }
        }
        None
    })
}

/// Decides about what starts at `opener`.
fn look(text: &str, opener: Match<'_>, floor: usize) -> Option<Finding> {
    let start = opener.start() + lead(opener.as_str());
    let (range, opener) = (start..opener.end(), text.get(start..opener.end())?);
    if let Some(token) = Token::of(opener) {
        token.is(opener).then_some(Finding { label: token.label, range })
    } else if opener.starts_with("-----BEGIN") {
        pem::from_first_line(text, range)
    } else if opener.starts_with("-----END") {
        pem::from_last_line(text, range, floor)
    } else if opener.starts_with("://") {
        url_password(opener, start)
    } else if opener.starts_with("--") {
        assignment::after_flag(text, range.end)
    } else if opener.ends_with([':', '=', '>']) {
        assignment::after_key(text, range)
    } else {
        bearer(text, range.end)
    }
}

/// Returns the length of what stands for a line break, a character or a colour before a token.
fn lead(opener: &str) -> usize {
    match opener.bytes().next() {
        Some(b'\\') => 2,
        Some(b'%') => 3,
        Some(0x1b) => opener.find('m').map_or(0, |at| at + 1),
        _ => 0,
    }
}

fn url_password(opener: &str, start: usize) -> Option<Finding> {
    let (user, _) = opener.strip_prefix("://")?.split_once(':')?;
    let from = start + "://".len() + user.len() + ":".len();
    let to = start + opener.len() - "@".len();
    let password = opener.get(from - start..to - start)?;
    Some(Finding { label: label_of(password, URL_PASSWORD), range: from..to })
}

fn bearer(text: &str, from: usize) -> Option<Finding> {
    let range = from..from + credential_len(text.get(from..)?);
    let credential = text.get(range.clone())?;
    let good = credential.len() >= BEARER_BYTES && looks_random(credential);
    good.then(|| Finding { label: label_of(credential, BEARER), range })
}

/// Returns how many bytes of `text` may be a credential of an HTTP header.
fn credential_len(text: &str) -> usize {
    let part = |b: u8| b.is_ascii_alphanumeric() || b"-._~+/=".contains(&b);
    text.bytes().position(|b| !part(b)).unwrap_or(text.len())
}

/// Returns the label of `value`, if all of it is a secret known by its start, and `otherwise` if it
/// is not.
pub(super) fn label_of(value: &str, otherwise: &'static str) -> &'static str {
    let whole: Range<usize> = 0..value.len();
    OPENERS
        .find(value)
        .filter(|opener| opener.range() == whole)
        .and_then(|opener| Token::of(opener.as_str()).filter(|token| token.is(opener.as_str())))
        .map_or(otherwise, |token| token.label)
}
