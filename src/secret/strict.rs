//! What Polpo packs call a secret wherever it stands, whatever stands around it (contract-polpo §9.2).
//!
//! The table decides by what a text looks like, since what the engine masks is gone for good. Here a
//! contract says which texts are secrets, so nothing is weighed. Upper bounds of the contract are
//! left out: what is longer is replaced whole, so that no tail of it stays.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::{Captures, Regex};

/// What a token of this kind may start after, where ordinary words have its start inside of them:
/// `task-`, `disk_`. The second part stands for a line break in a text that is escaped.
const LEAD: &str = r"(?P<lead>\b|\\[nrt]|%[0-9A-Fa-f]{2})";

static PATTERNS: LazyLock<Regex> = LazyLock::new(|| {
    let tokens = [
        "sk-[A-Za-z0-9_-]{32,}",
        "sk_[0-9A-Fa-f]{40,}",
        r"eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+",
    ];
    let kind = "(?:RSA |EC |OPENSSH )?PRIVATE KEY-----";
    compile(&[
        format!("{LEAD}(?:{})", tokens.join("|")),
        "gh[pousr]_[A-Za-z0-9]{30,}".to_owned(),
        "AKIA[A-Z0-9]{16,}".to_owned(),
        "xox[baprs]-[A-Za-z0-9-]{10,}".to_owned(),
        format!("-----BEGIN {kind}(?s:.)*?-----END {kind}"),
    ])
});

/// Returns `text` with each of these replaced by `mark`.
pub(super) fn replace<'t>(text: &'t str, mark: &str) -> Cow<'t, str> {
    PATTERNS.replace_all(text, |found: &Captures<'_>| {
        let lead = found.name("lead").map_or("", |lead| lead.as_str());
        format!("{lead}{mark}")
    })
}

#[expect(clippy::expect_used, reason = "a constant pattern; the first test compiles it")]
fn compile(alternatives: &[String]) -> Regex {
    Regex::new(&alternatives.join("|")).expect("BUG: the patterns must compile")
}
