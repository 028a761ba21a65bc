//! JSON for people: indented, with short lists and objects on one line.

use spl::canon::{Object, Value};

use super::printable;

/// What fits on one line is left on one.
const LINE: usize = 72;

/// Returns `members` as indented JSON.
pub(crate) fn pretty(members: &Object) -> String {
    let mut out = String::new();
    write(&Value::from(members.clone()), 0, &mut out);
    out
}

fn write(value: &Value, depth: usize, out: &mut String) {
    let flat = value.to_string();
    if depth > 0 && flat.chars().count() + 2 * depth <= LINE {
        out.push_str(&printable(&flat));
        return;
    }
    match value {
        Value::Array(elements) => {
            write_items('[', elements.iter().map(|element| (None, element)), ']', depth, out);
        }
        Value::Object(members) => {
            let items = members.iter().map(|(key, value)| (Some(key.as_str()), value));
            write_items('{', items, '}', depth, out);
        }
        _ => out.push_str(&printable(&flat)),
    }
}

fn write_items<'a>(
    open: char,
    items: impl ExactSizeIterator<Item = (Option<&'a str>, &'a Value)>,
    close: char,
    depth: usize,
    out: &mut String,
) {
    let count = items.len();
    out.push(open);
    for (at, (key, value)) in items.enumerate() {
        out.push('\n');
        out.push_str(&"  ".repeat(depth + 1));
        if let Some(key) = key {
            out.push_str(&printable(&Value::from(key).to_string()));
            out.push_str(": ");
        }
        write(value, depth + 1, out);
        if at + 1 < count {
            out.push(',');
        }
    }
    if count > 0 {
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use spl::object;

    use super::*;

    #[test]
    fn short_things_stay_on_one_line() {
        let value = object! {
            "empty": Object::new(),
            "list": vec![1, 2, 3],
            "long": vec!["x".repeat(40), "y".repeat(40)],
        };
        insta::assert_snapshot!(pretty(&value), @r#"
        {
          "empty": {},
          "list": [1,2,3],
          "long": [
            "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy"
          ]
        }
        "#);
        assert_eq!(pretty(&Object::new()), "{}");
    }
}
