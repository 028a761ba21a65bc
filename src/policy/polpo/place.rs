//! A value of a file, where it stands, and what was found wrong so far.

use std::borrow::Cow;
use std::cell::RefCell;

use super::{Finding, PackCode};
use crate::canon::{Object, Step, Value};
use crate::secret::mask;

/// The most characters of a key in a path.
const KEY_CHARS: usize = 64;

/// The file as a whole.
pub(super) const ROOT: &str = "$";

/// What was found wrong so far.
#[derive(Debug, Default)]
pub(super) struct Findings(RefCell<Vec<Finding>>);

impl Findings {
    pub(super) fn add(&self, code: PackCode, path: &str, message: impl Into<String>) {
        let finding = Finding { code, path: path.to_owned(), message: message.into() };
        let mut findings = self.0.borrow_mut();
        // Two rules may say the same of one value.
        if !findings.iter().any(|other| other.code == code && other.path == path) {
            findings.push(finding);
        }
    }

    /// Returns whether there are errors among them.
    pub(super) fn refuse(&self) -> bool {
        self.0.borrow().iter().any(Finding::is_error)
    }

    pub(super) fn into_vec(self) -> Vec<Finding> {
        self.0.into_inner()
    }
}

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Place<'a> {
    /// `$.hooks[0]`
    pub(super) path: String,
    pub(super) value: &'a Value,
    findings: &'a Findings,
}

impl<'a> Place<'a> {
    pub(super) fn root(value: &'a Value, findings: &'a Findings) -> Self {
        Self { path: ROOT.to_owned(), value, findings }
    }

    /// Returns the member `key` of an object, if it is there.
    pub(super) fn member(&self, key: &str) -> Option<Self> {
        Some(self.at(with_key(&self.path, key), self.value.get(key)?))
    }

    /// Returns the members of an object; there are none of anything else.
    pub(super) fn members(&self) -> impl Iterator<Item = (&'a str, Self)> + '_ {
        let members = self.value.as_object().into_iter().flatten();
        members.map(|(key, value)| (key.as_str(), self.at(with_key(&self.path, key), value)))
    }

    /// Returns the elements of an array; there are none of anything else.
    pub(super) fn elements(&self) -> impl Iterator<Item = Self> + '_ {
        let elements = self.value.as_array().unwrap_or_default().iter().enumerate();
        elements.map(|(index, value)| self.at(format!("{}[{index}]", self.path), value))
    }

    fn at(&self, path: String, value: &'a Value) -> Self {
        Self { path, value, findings: self.findings }
    }

    /// Says what is wrong with the value.
    pub(super) fn find(&self, code: PackCode, message: impl Into<String>) {
        self.findings.add(code, &self.path, message);
    }

    /// Says what is wrong with the value, and that there is nothing to go on with.
    pub(super) fn refuse<T>(&self, code: PackCode, message: impl Into<String>) -> Option<T> {
        self.find(code, message);
        None
    }

    /// Says that an object lacks a member.
    pub(super) fn lacks<T>(&self, code: PackCode, key: &str) -> Option<T> {
        self.refuse(code, format!("there must be `{key}`"))
    }

    fn must_be<T>(&self, code: PackCode, wanted: &str) -> Option<T> {
        self.refuse(code, format!("must be {wanted}, and is {}", self.value.type_in_words()))
    }

    pub(super) fn object(&self, code: PackCode) -> Option<&'a Object> {
        self.value.as_object().or_else(|| self.must_be(code, "an object"))
    }

    pub(super) fn array(&self, code: PackCode) -> Option<&'a [Value]> {
        self.value.as_array().or_else(|| self.must_be(code, "an array"))
    }

    pub(super) fn text(&self, code: PackCode) -> Option<&'a str> {
        self.value.as_str().or_else(|| self.must_be(code, "a string"))
    }

    pub(super) fn flag(&self, code: PackCode) -> Option<bool> {
        self.value.as_bool().or_else(|| self.must_be(code, "true or false"))
    }

    /// Returns a text that has something in it besides space, and at most `most` characters.
    pub(super) fn words(&self, code: PackCode, most: usize) -> Option<&'a str> {
        let text = self.text(code)?;
        if text.trim().is_empty() {
            return self.refuse(code, "must not be empty");
        }
        if text.contains('\0') {
            return self.refuse(code, "must not hold a NUL character");
        }
        self.within(code, text, most)
    }

    /// Returns a text if it has at most `most` characters.
    pub(super) fn within(&self, code: PackCode, text: &'a str, most: usize) -> Option<&'a str> {
        if text.chars().count() > most {
            return self.refuse(code, format!("has more than {most} characters"));
        }
        Some(text)
    }

    /// Returns an integer of a range; another type is `wrong_type`, any other number `out_of_range`.
    pub(super) fn integer(
        &self,
        (wrong_type, out_of_range): (PackCode, PackCode),
        range: std::ops::RangeInclusive<i64>,
    ) -> Option<i64> {
        let wanted = format!("an integer from {} to {}", range.start(), range.end());
        match self.value {
            Value::Number(_) => {
                let integer = self.value.as_i64().filter(|integer| range.contains(integer));
                integer.or_else(|| self.refuse(out_of_range, format!("must be {wanted}")))
            }
            _ => self.must_be(wrong_type, &wanted),
        }
    }

    /// Returns which of several words a text is.
    pub(super) fn one_of<T: Copy>(
        &self,
        code: PackCode,
        all: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Option<T> {
        let text = self.text(code)?;
        all.iter().copied().find(|it| word(*it) == text).or_else(|| {
            let words: Vec<_> = all.iter().map(|it| format!("`{}`", word(*it))).collect();
            self.refuse(code, format!("must be one of {}", words.join(", ")))
        })
    }

    /// Says which members are not known here.
    pub(super) fn knows(&self, known: &[&str]) {
        for (_, member) in self.members().filter(|(key, _)| !known.contains(key)) {
            member.find(
                PackCode::UnknownField,
                format!("is not known here, unlike {}", known.join(", ")),
            );
        }
    }
}

/// Returns the path of a place that steps lead to.
pub(super) fn path_of(steps: &[Step]) -> String {
    steps.iter().fold(ROOT.to_owned(), |path, step| match step {
        Step::Key(key) => with_key(&path, key),
        Step::Index(index) => format!("{path}[{index}]"),
    })
}

/// Returns the path of a member. A key may be a secret that somebody has put in the wrong place.
pub(super) fn with_key(path: &str, key: &str) -> String {
    let is_letter = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
    let is_plain = key.starts_with(is_letter)
        && key.chars().count() <= KEY_CHARS
        && key.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    let key = mask(key);
    if is_plain && matches!(key, Cow::Borrowed(_)) {
        return format!("{path}.{key}");
    }
    let shown: String = key.chars().take(KEY_CHARS).collect();
    let cut = if shown.len() < key.len() { "…" } else { "" };
    format!("{path}[{}]", Value::from(shown + cut))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_a_place_and_no_secret() {
        let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
        for (key, path) in [
            ("id", "$.id".to_owned()),
            ("$schema", "$.$schema".to_owned()),
            ("a2", "$.a2".to_owned()),
            ("2a", "$[\"2a\"]".to_owned()),
            ("", "$[\"\"]".to_owned()),
            ("X-Build", "$[\"X-Build\"]".to_owned()),
            ("a\"b", "$[\"a\\\"b\"]".to_owned()),
            (&token, "$[\"[masked:github-token]\"]".to_owned()),
            (&"k".repeat(65), format!("$[\"{}…\"]", "k".repeat(64))),
        ] {
            assert_eq!(with_key(ROOT, key), path);
        }
    }
}
