//! The URL and the headers of an `http` handler (contract §8.2, §10).

use std::collections::BTreeMap;

use url::{Host, Url};

use super::PackCode;
use super::address::{is_private_name, is_public};
use super::credential;
use super::place::Place;

const HANDLER: PackCode = PackCode::InvalidHandler;
const CREDENTIAL: PackCode = PackCode::InlineCredential;

/// The most headers of a handler.
const HEADERS: usize = 16;

/// The most characters of a URL.
const URL_CHARS: usize = 2048;

/// Reads a URL. Returns it as whoever connects would read it.
pub(super) fn url(place: &Place<'_>) -> Option<String> {
    let text = place.words(HANDLER, URL_CHARS)?;
    // A parser of URLs takes out or turns around what stands there.
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return place.refuse(HANDLER, "holds a character that no URL has");
    }
    let Ok(url) = Url::parse(text) else {
        return place.refuse(HANDLER, "is no URL");
    };
    if url.scheme() != "https" {
        return place.refuse(PackCode::InsecureUrl, "must be a URL of https");
    }
    if !text.get(..8).is_some_and(|start| start.eq_ignore_ascii_case("https://")) {
        return place.refuse(HANDLER, "must begin with `https://`");
    }
    let mut good = true;
    let mut refuse = |code, message: &str| {
        place.find(code, message);
        good = false;
    };
    let authority = text.get(8..).and_then(|rest| rest.split(['/', '?', '#']).next());
    // Also where both are empty, of which the parsed form shows nothing.
    if authority.is_some_and(|authority| authority.contains('@')) {
        refuse(CREDENTIAL, "must name no user; a credential belongs into a connection of the host");
    }
    if url.query_pairs().any(|(name, _)| credential::is_sensitive(&name)) {
        refuse(CREDENTIAL, "has a parameter with a name for secrets");
    }
    if url.fragment().is_some() {
        refuse(HANDLER, "must have no fragment");
    }
    let is_private = match url.host() {
        None => true,
        Some(Host::Domain(name)) => is_private_name(name),
        Some(Host::Ipv4(address)) => !is_public(address.into()),
        Some(Host::Ipv6(address)) => !is_public(address.into()),
    };
    if is_private {
        refuse(PackCode::PrivateHost, "names a host that is not public");
    }
    good.then(|| url.into())
}

/// Reads headers.
pub(super) fn headers(place: &Place<'_>) -> Option<BTreeMap<String, String>> {
    let members = place.object(HANDLER)?;
    if members.len() > HEADERS {
        place.find(PackCode::LimitExceeded, format!("has more than {HEADERS} headers"));
    }
    let mut headers = BTreeMap::new();
    for (name, member) in place.members() {
        credential::header(name, &member);
        let lower = name.to_ascii_lowercase();
        if !is_header_name(name) {
            member.find(HANDLER, "is no name of a header");
        } else if headers.contains_key(&lower) {
            member.find(HANDLER, "stands twice, but for the case of its letters");
        }
        let Some(value) = member.text(HANDLER) else { continue };
        if value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f) {
            member.find(HANDLER, "holds a character that no header has");
        }
        headers.insert(lower, value.to_owned());
    }
    Some(headers)
}

fn is_header_name(name: &str) -> bool {
    let is_of_one = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    !name.is_empty() && name.bytes().all(is_of_one)
}
