//! What is kept of text and values that a stranger chose the size of.

use crate::canon::{Object, Value, hash_of, hex};

/// The most characters of an id that is kept as it is.
pub(super) const MAX_ID_CHARS: usize = 256;

const MAX_TEXT_CHARS: usize = 2048;
const MAX_ENTRIES: usize = 64;
const MAX_LEVELS: usize = 8;
/// The most characters of all texts together.
const MAX_ALL_CHARS: usize = 64 * 1024;

/// Names that say who the person is, or what the process was started with.
const PERSONAL: &[&str] = &[
    "email",
    "env",
    "environ",
    "environment",
    "environmentvariables",
    "user",
    "useremail",
    "userid",
    "username",
];

/// Returns an id as it is recorded: one that is very long by its SHA-256.
pub(super) fn bounded_id(id: &str) -> String {
    if id.chars().nth(MAX_ID_CHARS).is_none() {
        return id.to_owned();
    }
    format!("sha256:{}", hex(&hash_of(&[id.as_bytes()])))
}

/// Returns the first `count` characters of `text`.
pub(super) fn first_chars(text: &str, count: usize) -> &str {
    match text.char_indices().nth(count) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// Returns `members` without what is personal and without what has been read under the first of
/// the names of each thing in `known`, cut to a size that a record has room for.
pub(super) fn of(members: &Object, known: &[&[&'static str]]) -> Object {
    let read: Vec<&str> = known
        .iter()
        .filter_map(|names| names.iter().find(|name| members.contains_key(**name)).copied())
        .collect();
    let others = members.iter().filter(|(name, _)| !read.contains(&name.as_str()));
    Kept { chars: MAX_ALL_CHARS }.members(others, 1)
}

struct Kept {
    chars: usize,
}

impl Kept {
    fn members<'m>(
        &mut self,
        members: impl Iterator<Item = (&'m String, &'m Value)>,
        level: usize,
    ) -> Object {
        let mut object = Object::new();
        for (name, value) in members.filter(|(name, _)| !is_personal(name)).take(MAX_ENTRIES) {
            if self.chars == 0 {
                break;
            }
            let name = self.text(name, MAX_ID_CHARS);
            object.insert(name, self.value(value, level));
        }
        object
    }

    fn elements(&mut self, elements: &[Value], level: usize) -> Vec<Value> {
        let mut list = Vec::new();
        for element in elements.iter().take(MAX_ENTRIES) {
            if self.chars == 0 {
                break;
            }
            list.push(self.value(element, level));
        }
        list
    }

    /// Every value takes something, so that their number is bounded as well.
    fn value(&mut self, value: &Value, level: usize) -> Value {
        self.take(4);
        match value {
            Value::Null | Value::Bool(_) => value.clone(),
            Value::Number(number) => {
                // A number has up to three hundred digits.
                let digits = number.to_string().len();
                if self.take(digits) < digits { Value::Null } else { value.clone() }
            }
            Value::String(text) => Value::String(self.text(text, MAX_TEXT_CHARS)),
            _ if level >= MAX_LEVELS => Value::Null,
            Value::Array(elements) => Value::Array(self.elements(elements, level + 1)),
            Value::Object(members) => Value::Object(self.members(members.iter(), level + 1)),
        }
    }

    fn text(&mut self, text: &str, most: usize) -> String {
        let text = first_chars(text, most);
        let kept = self.take(text.chars().count());
        first_chars(text, kept).to_owned()
    }

    /// Takes up to `wanted` characters from what is left, and returns how many.
    fn take(&mut self, wanted: usize) -> usize {
        let taken = wanted.min(self.chars);
        self.chars -= taken;
        taken
    }
}

fn is_personal(name: &str) -> bool {
    let plain: String =
        name.chars().filter(|char| char.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    PERSONAL.contains(&plain.as_str()) || plain.starts_with("account")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    #[test]
    fn what_is_personal_stays_out_at_every_level() {
        let members = object! {
            "session_id": "s",
            "message": "kept",
            "user_email": "x",
            "userEmail": "x",
            "Email": "x",
            "accountUuid": "x",
            "ENV": object! { "KEY": "x" },
            "inner": vec![Value::from(object! { "account": "x", "user": "x", "note": "kept" })],
        };
        let kept = Value::from(of(&members, &[&["session_id"]]));
        assert_eq!(kept.to_string(), r#"{"inner":[{"note":"kept"}],"message":"kept"}"#);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let many: Object = (0..1000).map(|at| (format!("k{at:04}"), Value::from(at))).collect();
        assert_eq!(of(&many, &[]).len(), MAX_ENTRIES);
        let long = object! { "text": "ä".repeat(5000) };
        let kept = of(&long, &[]);
        let text = kept.get("text").and_then(Value::as_str).expect("a text");
        assert_eq!(text.chars().count(), MAX_TEXT_CHARS);

        let mut deep = Value::from(1);
        for _ in 0..100 {
            deep = Value::from(object! { "in": deep });
        }
        let kept = Value::from(of(&object! { "deep": deep }, &[]));
        assert!(kept.nests_within(MAX_LEVELS) && !kept.nests_within(MAX_LEVELS - 1));

        let row =
            Value::from(vec![f64::MAX; 64].into_iter().map(Value::from_float).collect::<Vec<_>>());
        let square = Value::from(vec![row; 64]);
        let cube = Value::from(vec![square.clone(); 64]);
        let texts = Value::from(vec![Value::from("x".repeat(5000)); 64]);
        let all = object! { "a": cube, "b": square, "c": vec![texts; 64] };
        let len = Value::from(of(&all, &[])).to_string().len();
        assert!(len < 2 * MAX_ALL_CHARS, "{len}");
    }

    #[test]
    fn a_long_id_is_its_hash() {
        assert_eq!(bounded_id(&"i".repeat(256)), "i".repeat(256));
        let long = bounded_id(&"i".repeat(257));
        assert!(long.starts_with("sha256:") && long.len() == 71, "{long}");
        assert_ne!(long, bounded_id(&"i".repeat(258)));
    }
}
