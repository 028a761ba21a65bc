//! What looks like a secret: one table, and a rendering for each dialect that hides it.
//!
//! Comes in: any text, or a value. Goes out: the same with each secret replaced by a mark that says
//! which kind stood there. What the engine itself writes is [`Rendering::Masked`]: tool results,
//! logs, errors.
//!
//! Two mistakes are possible. A secret that stays is in an immutable record; a mask too many makes
//! a log useless. So an entry of the table needs a prefix that nothing else has, or a key beside
//! the value, and beside a key the value still has to look like one: `token = lexer.next()` is
//! code. `fixtures/secret/` holds examples of both.
//!
//! **Invariant:** finding takes time linear in the text, whatever the text is.

mod assignment;
mod pem;
mod scan;
mod strict;
mod table;
mod value;

use std::borrow::Cow;
use std::ops::Range;

pub use scan::find;
pub use value::{ends_in_one_of, mask_value, names_a_secret, render_value};

/// What handlers of Polpo packs see in the place of a secret.
pub const REDACTED: &str = "[REDACTED]";

/// A place in a text that looks like a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The kind of secret, as in the mark that replaces it: `github-token`.
    pub label: &'static str,
    /// Where it stands, in bytes. A key beside it is outside.
    pub range: Range<usize>,
}

/// How the place of a secret is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rendering {
    /// `[masked:<label>]`: what the engine writes itself.
    Masked,
    /// `[REDACTED]`: what handlers of Polpo packs see.
    Polpo,
    /// `[redacted:<label>]`, and `[redacted]` for the value beside a key: what Polyglot hooks see.
    Polyglot,
}

impl Rendering {
    /// Returns what stands in the place of a secret of the kind `label`.
    pub fn mark(self, label: &str) -> Cow<'static, str> {
        match self {
            Self::Masked => Cow::Owned(format!("[masked:{label}]")),
            Self::Polpo => Cow::Borrowed(REDACTED),
            Self::Polyglot if label == table::ASSIGNMENT => Cow::Borrowed("[redacted]"),
            Self::Polyglot => Cow::Owned(format!("[redacted:{label}]")),
        }
    }
}

/// Returns `text` with every secret masked; without one, `text` itself.
pub fn mask(text: &str) -> Cow<'_, str> {
    render(text, Rendering::Masked)
}

/// Returns `text` with every secret replaced as `rendering` has it; without one, `text` itself.
pub fn render(text: &str, rendering: Rendering) -> Cow<'_, str> {
    match rendering {
        Rendering::Polpo => match strict::replace(text, &rendering.mark("")) {
            Cow::Borrowed(text) => replace(text, rendering),
            Cow::Owned(text) => Cow::Owned(replace(&text, rendering).into_owned()),
        },
        Rendering::Masked | Rendering::Polyglot => replace(text, rendering),
    }
}

/// Returns `text` with what the table finds replaced.
fn replace(text: &str, rendering: Rendering) -> Cow<'_, str> {
    let mut findings = find(text).peekable();
    if findings.peek().is_none() {
        return Cow::Borrowed(text);
    }
    let mut rendered = String::with_capacity(text.len());
    let mut kept_to = 0;
    for Finding { label, range } in findings {
        rendered.push_str(text.get(kept_to..range.start).unwrap_or_default());
        rendered.push_str(&rendering.mark(label));
        kept_to = range.end;
    }
    rendered.push_str(text.get(kept_to..).unwrap_or_default());
    Cow::Owned(rendered)
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::canon::{Limits, Value, parse};
    use crate::object;

    const MASKED: &str = include_str!("../fixtures/secret/masked.json");
    const KEPT: &str = include_str!("../fixtures/secret/kept.json");

    fn cases(fixture: &str) -> Vec<Value> {
        let cases = parse(fixture.as_bytes(), Limits::STORED).expect("a fixture");
        cases.as_array().expect("a list of cases").to_vec()
    }

    /// A text is in pieces where the whole would look like a leaked secret to who scans this tree.
    fn text(case: &Value, field: &str) -> String {
        match case.get(field).expect(field) {
            Value::Array(pieces) => pieces.iter().filter_map(Value::as_str).collect(),
            whole => whole.as_str().expect(field).to_owned(),
        }
    }

    #[test]
    fn what_is_a_secret_is_masked_and_nothing_around_it() {
        let cases = cases(MASKED);
        assert!(cases.len() > 40);
        for case in cases {
            let masked = mask(&text(&case, "text")).into_owned();
            assert_eq!(masked, text(&case, "masked"), "{}", text(&case, "name"));
            assert_eq!(mask(&masked), masked, "masked twice: {}", text(&case, "name"));
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for case in cases(KEPT) {
            let (name, text) = (text(&case, "name"), text(&case, "text"));
            assert_eq!(mask(&text), text, "{name}");
            assert!(matches!(mask(&text), Cow::Borrowed(_)), "{name} is copied");
        }
    }

    #[test]
    fn each_dialect_has_its_own_marks() {
        let text =
            ["password=hunter2hunter2 gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
        assert_eq!(render(&text, Rendering::Polpo), "password=[REDACTED] [REDACTED]");
        assert_eq!(
            render(&text, Rendering::Polyglot),
            "password=[redacted] [redacted:github-token]"
        );
    }

    #[test]
    fn a_string_under_a_key_that_names_a_secret_is_masked_whole() {
        let value = Value::from(object! {
            "note": "password=hunter2hunter2",
            "clientSecret": "two words",
            "X-Api-Key": "",
            "connection_id": "7",
            "maxTokens": "many",
            "tokens": 128,
            "token": object! { "kind": "plain", "password": Value::Null },
            "list": vec!["secret: supersecret"],
        });
        let masked = mask_value(&value);
        assert_eq!(
            masked.to_string(),
            r#"{"X-Api-Key":"[masked:assignment]","clientSecret":"[masked:assignment]","#
                .to_owned()
                + r#""connection_id":"[masked:assignment]","list":["secret: [masked:assignment]"],"#
                + r#""maxTokens":"many","note":"password=[masked:assignment]","#
                + r#""token":{"kind":"plain","password":null},"tokens":128}"#
        );
        assert_eq!(mask_value(&masked), masked);
    }

    /// Each of these made a search start over from every place where one could start.
    #[test]
    fn time_is_linear_in_a_hostile_text() {
        for piece in [
            "-----BEGIN PRIVATE KEY-----",
            "-----END PRIVATE KEY-----",
            "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAA1",
            "eyJAAAAAAAA-",
            "eyJAAAAAAAA.",
            "sk-",
            "spl_a_b_",
            "token=",
            "token=/a/",
            "token=\"",
            "password=\\",
            "Authorization:Bearer ",
            "--token ",
            "://a:",
            "A",
            "0é",
        ] {
            let text = piece.repeat(200_000 / piece.len());
            let masked = mask(&text).into_owned();
            assert_eq!(mask(&masked), masked, "{piece}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Findings are in order and at characters, and no surroundings hide a token.
        #[test]
        fn a_token_is_masked_between_anything(
            before in vec(select(&PIECES[..]), 0..12),
            after in vec(select(&PIECES[..]), 0..12),
        ) {
            let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
            let text = format!("{}\n{token}\n{}", before.concat(), after.concat());
            let mut end = 0;
            for Finding { range, .. } in find(&text) {
                prop_assert!(end <= range.start && range.start < range.end, "{range:?} in {text:?}");
                prop_assert!(text.get(range.clone()).is_some(), "{range:?} in {text:?}");
                end = range.end;
            }
            prop_assert!(!mask(&text).contains(&token), "{text:?}");
        }
    }

    proptest! {
        /// What is looked for first is in everything that the automaton finds.
        #[test]
        fn no_opener_is_passed_over(pieces in vec(select(&PIECES[..]), 0..12)) {
            let text = pieces.concat();
            prop_assert!(table::may_open(&text) || table::OPENERS.find(&text).is_none(), "{text:?}");
        }
    }

    const PIECES: [&str; 44] = [
        "password",
        "token",
        "Authorization",
        "cookie",
        "api_key",
        "=",
        ":",
        " = ",
        ": ",
        "=>",
        "\"",
        "'",
        "\\\"",
        "\\n",
        "\n",
        " ",
        "\\",
        "Bearer ",
        "Basic ",
        "--token ",
        "://me:",
        "@host",
        "ghp_",
        "sk-",
        "spl_prod_",
        "sa-x_",
        "eyJ",
        ".",
        "_",
        "-",
        "é",
        "🔑",
        "hunter2",
        "0123456789abcdefghij0123456789",
        "ABCDEFGHIJKLMNOP",
        "swordfish",
        "[",
        "]",
        "(",
        "${",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC",
        "[masked:assignment]",
    ];
}
