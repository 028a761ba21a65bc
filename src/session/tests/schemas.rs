//! The schemas of what a session's thread holds.

use super::*;
use crate::canon::{Limits, parse};

/// Each describes the kind that its file is named after, and every field of it.
#[test]
fn a_schema_describes_the_kind_of_its_name() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/session");
    let schemas = files(&folder);
    assert_eq!(schemas.len(), 13);
    for (name, bytes) in schemas {
        let schema = parse(&bytes, Limits::STORED).expect(&name);
        let text = |field: &str| schema.get(field).and_then(Value::as_str);
        assert_eq!(text("$schema"), Some("https://json-schema.org/draft/2020-12/schema"));
        assert_eq!(text("title").map(|title| format!("{title}.json")), Some(name.clone()));
        let fields = schema.get("properties").and_then(Value::as_object).expect("properties");
        assert_eq!(fields["kind"].get("const").and_then(Value::as_str), text("title"));
        for (field, about) in fields.iter().filter(|(field, _)| *field != "kind") {
            let described = about.get("description").and_then(Value::as_str);
            assert!(described.is_some_and(|it| it.ends_with('.')), "{name}: {field}");
        }
        for field in schema.get("required").and_then(Value::as_array).expect("required") {
            assert!(fields.contains_key(field.as_str().expect("a name")), "{name}: {field}");
        }
    }
}
