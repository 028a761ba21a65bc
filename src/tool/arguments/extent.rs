//! How much a schema is once its references are followed.
//!
//! Twenty lines can say more than a machine can look at: ten definitions that each refer twice to
//! the next are a thousand. So a schema is followed beforehand, and one that does not end in time is
//! refused.

use serde_json::Value;

/// The most values that a schema may come to.
const VALUES: usize = 10_000;

/// The most values inside each other.
const LEVELS: usize = 400;

/// Keys under which a text is a reference.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// How much a schema is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Extent {
    /// How often it leads back into itself.
    circles: usize,
}

impl Extent {
    /// Follows `schema`, or says why that cannot be done.
    pub(super) fn of(schema: &Value) -> Result<Self, String> {
        let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or_default();
        let is_old = dialect.contains("draft-03") || dialect.contains("draft-04");
        let id = if is_old { "id" } else { "$id" };
        let mut walk = Walk { root: schema, id, path: Vec::new(), values: 0, circles: 0 };
        walk.visit(schema)?;
        Ok(Self { circles: walk.circles })
    }

    /// Tells whether all that is wrong with arguments that nest `levels` deep can be looked up. A
    /// schema that leads into itself twice is twice as much on each level.
    pub(super) fn can_be_told(self, levels: usize) -> bool {
        let levels = u32::try_from(levels).unwrap_or(u32::MAX);
        self.circles.checked_pow(levels).is_some_and(|times| times <= VALUES)
    }
}

struct Walk<'a> {
    root: &'a Value,
    /// The key that makes a schema one of its own.
    id: &'static str,
    /// The values that are being followed, by where they are.
    path: Vec<*const Value>,
    values: usize,
    circles: usize,
}

impl<'a> Walk<'a> {
    fn visit(&mut self, value: &'a Value) -> Result<(), String> {
        self.values += 1;
        if self.values > VALUES {
            return Err(format!("it comes to more than {VALUES} values"));
        }
        if self.path.contains(&std::ptr::from_ref(value)) {
            self.circles += 1;
            return Ok(());
        }
        if self.path.len() >= LEVELS {
            return Err(format!("it comes to more than {LEVELS} levels"));
        }
        match value {
            Value::Array(elements) => {
                self.inside(value, |walk| elements.iter().try_for_each(|one| walk.visit(one)))
            }
            Value::Object(members) => self.inside(value, |walk| {
                members.iter().try_for_each(|(key, member)| walk.member(key, member))
            }),
            _ => Ok(()),
        }
    }

    fn inside(
        &mut self,
        value: &'a Value,
        visit: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        self.path.push(std::ptr::from_ref(value));
        let visited = visit(self);
        self.path.pop();
        visited
    }

    fn member(&mut self, key: &str, member: &'a Value) -> Result<(), String> {
        let Value::String(text) = member else { return self.visit(member) };
        if REFERENCES.contains(&key) {
            let target = text.strip_prefix('#').and_then(|place| self.root.pointer(place));
            let target = target.ok_or("it refers to something that is not inside of it")?;
            return self.visit(target);
        }
        // A schema inside of another would give the references in it other roots.
        if key == self.id && self.path.len() > 1 {
            return Err("there is another schema inside of it".to_owned());
        }
        self.visit(member)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn definitions_that_double_are_refused() {
        let mut definitions = serde_json::Map::new();
        for n in 0..40 {
            let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
            definitions.insert(format!("d{n}"), json!({"anyOf": [next, next]}));
        }
        definitions.insert("d40".to_owned(), json!({"type": "string"}));
        let schema = json!({"$ref": "#/$defs/d0", "$defs": definitions});
        assert_eq!(Extent::of(&schema), Err("it comes to more than 10000 values".to_owned()));
    }

    #[test]
    fn what_cannot_be_followed_is_refused() {
        for reference in ["other.json", "#anchor", "#/%24defs/a", "#/nowhere", ""] {
            let schema = json!({"properties": {"a": {"$ref": reference}}, "$defs": {"a": {}}});
            assert!(Extent::of(&schema).is_err(), "{reference}");
        }
        let inner = json!({"$id": "http://a/", "properties": {"a": {"$id": "http://b/"}}});
        assert_eq!(Extent::of(&inner), Err("there is another schema inside of it".to_owned()));
        let chain = (0..500).fold(json!({}), |inner, _| json!({"not": inner}));
        assert_eq!(Extent::of(&chain), Err("it comes to more than 400 levels".to_owned()));
    }

    #[test]
    fn a_schema_that_leads_into_itself_can_be_told_as_deep_as_its_branches_let_it() {
        let branches = |n: usize| {
            let branches = vec![json!({"$ref": "#"}); n];
            Extent::of(&json!({"properties": {"a": {"anyOf": branches}}})).expect("followed")
        };
        assert!(branches(0).can_be_told(128) && branches(1).can_be_told(128));
        assert!(branches(2).can_be_told(13) && !branches(2).can_be_told(14));
        assert!(branches(10).can_be_told(4) && !branches(10).can_be_told(5));
        // A property may have any of these names.
        let named = json!({"properties": {"$ref": {"type": "string"}, "$id": {"type": "string"}}});
        assert!(Extent::of(&named).is_ok());
    }
}
