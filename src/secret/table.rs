//! The table.

use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

pub(super) const ASSIGNMENT: &str = "assignment";
pub(super) const BEARER: &str = "bearer-token";
pub(super) const PRIVATE_KEY: &str = "private-key";
pub(super) const URL_PASSWORD: &str = "url-password";

/// A kind of secret that is known by how it starts.
pub(super) struct Token {
    pub(super) label: &'static str,
    /// The ways it starts; the longest of those that fit comes first in the table.
    starts: &'static [&'static str],
    /// What follows, as a regular expression. Without an upper bound even where the issuer has
    /// one: what is longer is masked whole, so that no tail of it stays.
    rest: &'static str,
    /// What else must hold, for a start that ordinary words have too.
    confirm: fn(&str) -> bool,
}

const TOKENS: &[Token] = &[
    token("jwt", &["eyJ"], r"[\w-]{8,}\.[\w-]*\.[\w-]{4,}(?:\.[\w-]+)*"),
    token("aws-key", &["AKIA", "ASIA"], r"[A-Z0-9]{16}\b"),
    token("anthropic-key", &["sk-ant-"], r"[\w-]{16,}"),
    token("openai-key", &["sk-proj-", "sk-svcacct-"], r"[\w-]{32,}"),
    Token { confirm: looks_random, ..token("openai-key", &["sk-"], r"[\w-]{32,}") },
    token("stripe-key", &["sk_live_", "sk_test_", "rk_live_", "rk_test_"], r"[A-Za-z0-9]{16,}"),
    token("api-key", &["sk_"], r"[0-9A-Fa-f]{40,}"),
    token("github-token", &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"], r"[A-Za-z0-9]{30,}"),
    token("github-token", &["github_pat_"], r"\w{22,}"),
    token("gitlab-token", &["glpat-"], r"[\w-]{20,}"),
    token("google-key", &["AIza"], r"[\w-]{35,}"),
    token(
        "slack-token",
        &["xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-"],
        r"[A-Za-z0-9-]{10,}",
    ),
    token("npm-token", &["npm_"], r"[A-Za-z0-9]{36,}"),
    token("hugging-face-token", &["hf_"], r"[A-Za-z0-9]{30,}"),
    // `spl_<env>_<id>_<secret>`. Identifiers may start alike, so the id or the secret must be one.
    Token {
        confirm: is_bearer_of_ours,
        ..token(
            "spl-token",
            &["spl_"],
            r#"[a-z]{2,16}_[A-Za-z0-9.-]{1,64}_(?u:[^\s"'`\\<>,;)}\]]{16,})"#,
        )
    },
];

/// Names whose values are secret. A key names a secret if it ends in one of them, `-`, `_` and case
/// aside: so `client_secret` and `refreshToken` need no line, and `max_tokens` has none. A `-`
/// here is where a key may have one.
pub(super) const NAMES: &[&str] = &[
    "authorization",
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api-key",
    "access-key",
    "private-key",
    "secret-key",
    "cookie",
];

/// Names whose values are secret in an object, and too common in prose and logs to go by there.
pub(super) const NAMES_IN_OBJECTS: &[&str] = &["connection-id"];

const fn token(label: &'static str, starts: &'static [&'static str], rest: &'static str) -> Token {
    Token { label, starts, rest, confirm: always }
}

const fn always(_: &str) -> bool {
    true
}

impl Token {
    /// Returns the kind that `text`, if the table matched it as a token, would be.
    pub(super) fn of(text: &str) -> Option<&'static Self> {
        TOKENS.iter().find(|token| token.starts.iter().any(|start| text.starts_with(start)))
    }

    /// Tells whether `text` is of this kind after all.
    pub(super) fn is(&self, text: &str) -> bool {
        (self.confirm)(text)
    }

    fn pattern(&self) -> String {
        format!("(?:{})(?:{})", self.starts.join("|"), self.rest)
    }
}

/// Everything at which a secret may start, in one automaton: one pass over a text decides for most
/// texts that there is nothing in it.
pub(super) static OPENERS: LazyLock<Regex> = LazyLock::new(|| {
    let tokens: Vec<String> = TOKENS.iter().map(Token::pattern).collect();
    let names: Vec<String> = NAMES.iter().map(|name| name.replace('-', "[_-]?")).collect();
    let names = names.join("|");
    compile(&[
        PEM_MARK.to_owned(),
        // A token starts where no word goes on, or after what stands for a line break or colour.
        format!(r"(?:\b|\\[nrt]|%[0-9A-Fa-f]{{2}}|\x1b\[[0-9;]{{0,16}}m)(?:{})", tokens.join("|")),
        r"(?i:\bbearer)[ \t]{1,4}".to_owned(),
        r#"://[\w.%+-]{0,64}:(?u:[^\s/@:"'`<>{}$\[][^\s/@:"'`<>]{2,})@"#.to_owned(),
        format!(r"(?i:--(?:[a-z0-9]{{1,16}}-){{0,3}}(?:{names})) "),
        format!(r#"(?i:{names})(?:\\{{0,3}}["'`])?\]?[ \t]{{0,8}}(?::=|=>|[:=])"#),
    ])
});

/// Tells whether there is anything in `text` without which no opener is found. To look for it takes a
/// fraction of what it takes to compile the automaton, which a process that lives for one call may
/// then never do.
pub(super) fn may_open(text: &str) -> bool {
    let stands = |needle: &str| memmem::find(text.as_bytes(), needle.as_bytes()).is_some();
    if stands("-----") || stands("://") && stands("@") {
        return true;
    }
    if TOKENS.iter().flat_map(|token| token.starts).any(|start| stands(start)) {
        return true;
    }
    let lower = text.to_ascii_lowercase();
    // A `-` in a name need not be there, so only what comes behind it is looked for.
    let ends = NAMES.iter().filter_map(|name| name.rsplit('-').next());
    ends.chain(["bearer"]).any(|end| memmem::find(lower.as_bytes(), end.as_bytes()).is_some())
}

/// The first or the last line of a private key in PEM form.
const PEM_MARK: &str = "-----(?:BEGIN|END) (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY(?: BLOCK)?-----";

pub(super) static PEM_MARKS: LazyLock<Regex> = LazyLock::new(|| compile(&[PEM_MARK.to_owned()]));

#[expect(clippy::expect_used, reason = "a constant pattern; the first test that masks compiles it")]
fn compile(alternatives: &[String]) -> Regex {
    Regex::new(&format!("(?-u:{})", alternatives.join("|"))).expect("BUG: the table must compile")
}

/// Tells a generated value from words: a long run of letters and digits without a break, or a
/// shorter one that mixes both.
pub(super) fn looks_random(text: &str) -> bool {
    text.split(|c: char| !c.is_ascii_alphanumeric()).any(|run| {
        run.len() >= 20
            || run.len() >= 10
                && run.bytes().any(|b| b.is_ascii_digit())
                && run.bytes().any(|b| b.is_ascii_alphabetic())
    })
}

fn is_bearer_of_ours(text: &str) -> bool {
    let mut parts = text.splitn(4, '_').skip(2);
    let (Some(id), Some(secret)) = (parts.next(), parts.next()) else { return false };
    id.starts_with("sa-") || looks_random(secret)
}
