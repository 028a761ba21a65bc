//! What must not stand in a pack (contract §10).
//!
//! A credential belongs into a connection, where a host adds it and nothing else sees it. What is found
//! here is named by its place and never repeated.

use std::borrow::Cow;

use super::place::Place;
use super::{PackCode, redact};
use crate::secret::ends_in_one_of;

/// Headers that a pack may not set: they carry credentials, or are the host's to set.
const HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-auth-token",
    "x-access-token",
    "idempotency-key",
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "upgrade",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-real-ip",
];

/// Ends of names, in small letters and without `-` and `_`, under which secrets stand.
const SENSITIVE: &[&str] = &[
    "authorization",
    "password",
    "passwd",
    "secret",
    "token",
    "apikey",
    "accesskey",
    "privatekey",
    "cookie",
    "connectionid",
];

/// Keys of a handler that would be credentials, in small letters.
const KEYS: &[&str] = &[
    "clientid",
    "clientsecret",
    "apikey",
    "accesstoken",
    "refreshtoken",
    "secretref",
    "bearertoken",
];

const CREDENTIAL: PackCode = PackCode::InlineCredential;
const HINT: &str = "a credential belongs into a connection of the host";

/// Looks at every string of a file, and at everything that a handler says.
pub(super) fn look(root: &Place<'_>) {
    strings(root);
    let hooks = root.member("hooks");
    let hooks = hooks.iter().flat_map(Place::elements);
    hooks.filter_map(|hook| hook.member("handler")).for_each(|handler| keys(&handler));
}

fn strings(place: &Place<'_>) {
    if place.value.as_str().is_some_and(is_secret) {
        place.find(CREDENTIAL, format!("holds what looks like a secret; {HINT}"));
    }
    place.elements().for_each(|element| strings(&element));
    place.members().for_each(|(_, member)| strings(&member));
}

/// Tells whether a text holds a secret: one that the engine masks anywhere, or one that handlers would
/// not see.
fn is_secret(text: &str) -> bool {
    matches!(redact(text), Cow::Owned(_))
}

fn keys(place: &Place<'_>) {
    for (key, member) in place.members() {
        if KEYS.contains(&key.to_lowercase().as_str()) {
            member.find(CREDENTIAL, format!("has the name of a credential; {HINT}"));
        }
        keys(&member);
    }
    place.elements().for_each(|element| keys(&element));
}

/// Looks at the input of a tool: a text under a name for secrets is one.
pub(super) fn input(place: &Place<'_>) {
    for (key, member) in place.members() {
        if is_sensitive(key) && member.value.as_str().is_some_and(|text| !text.is_empty()) {
            member.find(CREDENTIAL, format!("stands under a name for secrets; {HINT}"));
        }
        input(&member);
    }
    place.elements().for_each(|element| input(&element));
}

/// Looks at a header.
pub(super) fn header(name: &str, place: &Place<'_>) {
    let lower = name.to_ascii_lowercase();
    let is_refused = HEADERS.contains(&lower.as_str())
        || ["proxy-", "sec-"].iter().any(|start| lower.starts_with(start));
    if is_refused || is_sensitive(name) {
        place.find(CREDENTIAL, format!("is a header that a pack may not set; {HINT}"));
    }
}

/// Looks at a variable.
pub(super) fn variable(name: &str, place: &Place<'_>) {
    let upper = name.to_ascii_uppercase();
    if upper.starts_with("POLPO_") {
        place.find(CREDENTIAL, "is the name of a variable that the host sets");
        return;
    }
    let is_secret = ["TOKEN", "_KEY"].iter().any(|end| upper.ends_with(end))
        || ["SECRET", "PASSWORD", "CREDENTIAL"].iter().any(|part| upper.contains(part))
        || upper == "DATABASE_URL";
    if is_secret {
        place.find(CREDENTIAL, format!("is the name of a secret variable; {HINT}"));
    }
}

/// Looks at the text of a command.
pub(super) fn command(text: &str, place: &Place<'_>) {
    if states_authorization(text) || passes_user(text) {
        place.find(CREDENTIAL, format!("authenticates by itself; {HINT}"));
    }
}

/// Returns whether a name is one for secrets (contract §9.2).
pub(super) fn is_sensitive(name: &str) -> bool {
    ends_in_one_of(name, SENSITIVE)
}

/// Tells whether a command has `Authorization:` with a value.
fn states_authorization(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    lower.match_indices("authorization").any(|(at, word)| {
        let rest = lower.get(at + word.len()..).unwrap_or_default().trim_start();
        let value = rest.strip_prefix(':').map(str::trim_start);
        value.is_some_and(|value| !value.is_empty() && !value.starts_with(['"', '\'']))
    })
}

/// Tells whether a command has an argument such as `-u user:pass`. Two numbers are a user and a group.
fn passes_user(text: &str) -> bool {
    const OPTIONS: [&str; 4] = ["-u", "--user", "-U", "--proxy-user"];
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        let value = match word.split_once('=') {
            Some((option, value)) if OPTIONS.contains(&option) => Some(value),
            _ if OPTIONS.contains(&word) => words.peek().copied(),
            _ => None,
        };
        let value = value.map(|value| value.trim_matches(['"', '\'']));
        let is_pair = value.and_then(|value| value.split_once(':')).is_some_and(|(user, pass)| {
            let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
            let is_group = is_number(user) && is_number(pass);
            !(user.is_empty() || pass.is_empty() || is_group)
        });
        if is_pair {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_that_authenticate_by_themselves_are_known() {
        for text in [
            "curl -H 'Authorization: Basic x' https://a",
            "curl -H \"authorization :Bearer\t$T\" https://a",
            "curl -u me:pw https://a",
            "curl --user 'me:pw' https://a",
            "curl --user=me:pw https://a",
        ] {
            assert!(states_authorization(text) || passes_user(text), "{text}");
        }
        for text in [
            "curl -H 'Authorization:' https://a",
            "docker run -u 1000:1000 image",
            "sort -u a b",
            "grep Authorization file",
            "node check.mjs -u me",
        ] {
            assert!(!states_authorization(text) && !passes_user(text), "{text}");
        }
    }

    #[test]
    fn names_for_secrets_are_known_by_their_end() {
        for name in [
            "token",
            "X-My-Token",
            "clientSecret",
            "API_KEY",
            "connection-id",
            "to\u{212a}en",
            "\u{17f}ecret",
        ] {
            assert!(is_sensitive(name), "{name}");
        }
        for name in ["tokens", "maxTokens", "secretary", "key"] {
            assert!(!is_sensitive(name), "{name}");
        }
    }
}
