//! What handlers, records and traces see instead of secrets (contract-polpo §9.2).

use std::borrow::Cow;

use crate::canon::{Object, Value};
pub use crate::secret::REDACTED;
use crate::secret::{Rendering, render, render_value};

/// Returns `text` with every secret replaced.
pub fn redact(text: &str) -> Cow<'_, str> {
    render(text, Rendering::Polpo)
}

/// Returns `value` with every secret in a string replaced, and every string under a key that names a
/// secret. Keys are kept.
pub fn redact_value(value: &Value) -> Value {
    render_value(value, Rendering::Polpo)
}

/// Returns whether `changed`, which a handler made of `original` with its secrets replaced, would put
/// what stands for a secret where a secret was.
///
/// Which of the marks came from where cannot be told: a handler may move texts. So where something
/// was replaced, no mark may be in what comes back; where nothing was, a mark is a text like any other.
pub fn replaces_a_secret(original: &Object, changed: &Object) -> bool {
    changed.values().any(holds_mark) && {
        let original = Value::Object(original.clone());
        redact_value(&original) != original
    }
}

fn holds_mark(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REDACTED),
        Value::Array(elements) => elements.iter().any(holds_mark),
        Value::Object(members) => members.values().any(holds_mark),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;
    use proptest::sample::select;

    use super::*;
    use crate::object;

    fn of(start: &str, unit: char, count: usize) -> String {
        format!("{start}{}", unit.to_string().repeat(count))
    }

    #[test]
    fn every_pattern_of_the_contract_holds_at_its_least_length() {
        let mut secrets = Vec::new();
        for start in ["ghp_", "gho_", "ghu_", "ghs_", "ghr_"] {
            secrets.push((of(start, 'a', 30), of(start, 'a', 29)));
        }
        for start in ["xoxb-", "xoxa-", "xoxp-", "xoxr-", "xoxs-"] {
            secrets.push((of(start, '1', 10), of(start, '1', 9)));
        }
        for start in ["sk-", "sk-proj-", "sk-svcacct-"] {
            secrets.push((of(start, '-', 32), of(start, '-', 20)));
        }
        secrets.push((of("AKIA", 'Q', 16), of("AKIA", 'Q', 15)));
        secrets.push((of("sk_", 'f', 40), of("sk_", 'f', 39)));
        secrets.push(("eyJh.e30.c2ln".to_owned(), "eyJh.e30".to_owned()));
        for kind in ["", "RSA ", "EC ", "OPENSSH "] {
            let block =
                format!("-----BEGIN {kind}PRIVATE KEY-----\nx\n-----END {kind}PRIVATE KEY-----");
            secrets.push((block, format!("-----BEGIN {kind}PUBLIC KEY-----\nx")));
        }
        for (secret, none) in secrets {
            for (before, after) in [("", ""), ("it is ", "."), ("x=\"", "\"\n")] {
                let text = format!("{before}{secret}{after}");
                assert_eq!(redact(&text), format!("{before}{REDACTED}{after}"));
                let text = format!("{before}{none}{after}");
                assert_eq!(redact(&text), text);
            }
        }
    }

    #[test]
    fn a_token_may_be_glued_to_something_and_a_word_is_none() {
        let token = of("ghp_", 'a', 300);
        assert_eq!(redact(&format!("my_{token}")), "my_[REDACTED]");
        for text in [
            "task-management-system-for-everyone-and-nobody",
            "disk_da39a3ee5e6b4b0d3255bfef95601890afd80709",
            "keyJson.parse.value",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn a_string_under_a_key_that_names_a_secret_is_replaced() {
        for key in [
            "authorization",
            "Proxy-Authorization",
            "password",
            "db_passwd",
            "Secret",
            "token",
            "API_KEY",
            "x-api-key",
            "accessKey",
            "PRIVATE-KEY",
            "Cookie",
            "set-cookie",
            "clientSecret",
            "refresh_token",
            "connectionId",
            "to\u{212a}en",
            "\u{17f}ecret",
        ] {
            let value = Value::Object(Object::from([(key.to_owned(), Value::from("plain"))]));
            assert_eq!(
                redact_value(&value).get(key).and_then(Value::as_str),
                Some(REDACTED),
                "{key}"
            );
        }
        let kept = Value::from(object! {
            "maxTokens": "a", "tokens": "b", "secretary": "c", "token": 5, "cookie": vec!["d"],
        });
        assert_eq!(redact_value(&kept), kept);
    }

    #[test]
    fn a_mark_may_not_come_back_where_a_secret_was() {
        let secret = object! { "command": format!("curl -H {}", of("ghp_", 'a', 36)) };
        let plain = object! { "command": "echo [REDACTED]" };
        assert!(replaces_a_secret(&secret, &object! { "command": "curl -H [REDACTED]" }));
        assert!(replaces_a_secret(&secret, &object! { "other": vec!["a [REDACTED] b"] }));
        assert!(!replaces_a_secret(&secret, &object! { "command": "curl" }));
        assert!(!replaces_a_secret(&plain, &object! { "command": "echo [REDACTED] x" }));
        let under_key = object! { "token": "hunter2" };
        assert!(replaces_a_secret(&under_key, &object! { "token": "[REDACTED]" }));
    }

    const PIECES: [&str; 22] = [
        "ghp_",
        "sk-",
        "sk_",
        "eyJ",
        "AKIA",
        "xoxb-",
        ".",
        "_",
        "-",
        " ",
        "\n",
        "\\n",
        "é",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "0123456789abcdef0123456789abcdef01234567",
        "QQQQQQQQQQQQQQQQ",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "password=",
        "[REDACTED]",
        "token: ",
        "hunter2hunter2",
    ];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Nothing around a token hides it, not even what it is glued to.
        #[test]
        fn a_token_is_replaced_between_anything(
            before in vec(select(&PIECES[..]), 0..12),
            after in vec(select(&PIECES[..]), 0..12),
        ) {
            let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
            let text = [before.concat(), token.clone(), after.concat()].concat();
            prop_assert!(!redact(&text).contains(&token), "{text:?}");
        }
    }
}
