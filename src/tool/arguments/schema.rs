//! A JSON Schema that somebody else wrote, compiled once.

use jsonschema::{PatternOptions, Validator};

use super::extent::Extent;
use super::{accepted, short};
use crate::canon::{Object, Value};
use crate::tool::ToolSpec;

/// The most bytes of a schema.
const SCHEMA_BYTES: usize = 256 * 1024;

/// How far a pattern may go back and try again, before it counts as not fitting.
const BACKTRACKS: usize = 100_000;

/// The most bytes that a compiled pattern may take.
const PATTERN_BYTES: usize = 1 << 20;

/// The levels of arguments beyond which nobody counts.
const DEEPEST: usize = 200;

/// The most characters of what a value is said to be.
const SAID_CHARS: usize = 300;

/// A schema of arguments. It reaches for nothing: a reference to another document is refused.
#[derive(Debug)]
pub(in crate::tool) struct Schema {
    validator: Validator,
    extent: Extent,
}

impl Schema {
    /// Compiles the schema of `spec`, or says why it is none.
    pub(in crate::tool) fn compile(spec: &ToolSpec) -> Result<Self, String> {
        let text = spec.parameters.to_string();
        if text.len() > SCHEMA_BYTES {
            return Err(format!("its schema is larger than {SCHEMA_BYTES} bytes"));
        }
        let none = |error: &dyn std::fmt::Display| format!("its schema is none: {}", said(error));
        let schema = serde_json::from_str(&text).map_err(|error| none(&error))?;
        let extent = Extent::of(&schema).map_err(|why| none(&why))?;
        let patterns =
            PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS).size_limit(PATTERN_BYTES);
        let compiled =
            jsonschema::options().offline().with_pattern_options(patterns).build(&schema);
        let validator = compiled.map_err(|error| none(&error))?;
        Ok(Self { validator, extent })
    }

    /// Checks `arguments` and says what is wrong with the first that does not fit.
    ///
    /// The friendlier words of the plain check are preferred, where it finds what is wrong.
    pub(in crate::tool) fn check(&self, spec: &ToolSpec, arguments: &Object) -> Result<(), String> {
        let value = Value::Object(arguments.clone()).to_string();
        let value: serde_json::Value = serde_json::from_str(&value).map_err(|e| e.to_string())?;
        // Whether they fit is found in time, since what was looked at once is remembered.
        if self.validator.is_valid(&value) {
            return Ok(());
        }
        super::check(spec, arguments)?;
        // What is wrong is gathered from every branch of a branch.
        let levels = levels(arguments);
        if !self.extent.can_be_told(levels) {
            return Err(format!(
                "`{}` cannot take these arguments, which nest {levels} levels deep; pass simpler ones",
                spec.name
            ));
        }
        let Err(error) = self.validator.validate(&value) else { return Ok(()) };
        let at = error.instance_path().to_string();
        let place = if at.is_empty() { "the arguments".to_owned() } else { at };
        let nothing = Object::new();
        let properties = spec.parameters.get("properties").and_then(Value::as_object);
        let accepted = accepted(spec, properties.unwrap_or(&nothing));
        Err(format!("`{}` cannot take {}: {}; {accepted}", spec.name, short(&place), said(&error)))
    }
}

/// Returns how many levels of values stand inside each other.
fn levels(arguments: &Object) -> usize {
    let fits = |levels: &usize| arguments.values().all(|value| value.nests_within(*levels));
    (0..DEEPEST).find(fits).unwrap_or(DEEPEST) + 1
}

fn said(error: &dyn std::fmt::Display) -> String {
    let said = error.to_string();
    let mut short: String = said.chars().take(SAID_CHARS).collect();
    if short.len() < said.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    fn spec(parameters: Object) -> ToolSpec {
        let parameters = Value::Object(parameters);
        ToolSpec { name: "t".into(), description: String::new(), parameters }
    }

    #[track_caller]
    fn refuses(parameters: Object, arguments: &Object, wanted: &str) {
        let spec = spec(parameters);
        let error = Schema::compile(&spec).expect("a schema").check(&spec, arguments);
        let error = error.expect_err("refused");
        assert!(error.contains(wanted), "{error}");
    }

    #[test]
    fn a_schema_that_reaches_out_is_refused() {
        for reference in ["https://example.org/s.json", "file:///etc/passwd", "other.json"] {
            let spec = spec(object! {
                "type": "object",
                "properties": object! { "a": object! { "$ref": reference } },
            });
            let error = Schema::compile(&spec).expect_err(reference);
            assert!(error.starts_with("its schema is none: "), "{error}");
        }
    }

    #[test]
    fn a_schema_that_is_none_is_refused() {
        let odd = object! { "type": "no such type" };
        assert!(Schema::compile(&spec(odd)).is_err());
        let large = object! { "type": "object", "description": "x".repeat(SCHEMA_BYTES) };
        assert!(Schema::compile(&spec(large)).expect_err("refused").contains("larger"));
    }

    #[test]
    fn what_the_plain_check_knows_is_said_in_its_words() {
        refuses(
            object! {
                "type": "object",
                "properties": object! { "n": object! { "type": "integer" } },
                "required": vec!["n"],
            },
            &Object::new(),
            "`t` needs `n`; it takes `n` (integer)",
        );
    }

    #[test]
    fn what_the_plain_check_does_not_know_is_checked_too() {
        let item = object! { "type": "string", "pattern": "^[a-z]+$" };
        let list = object! { "type": "array", "items": item, "minItems": 1 };
        let schema = object! { "type": "object", "properties": object! { "names": list.clone() } };
        refuses(schema.clone(), &object! { "names": Vec::<&str>::new() }, "cannot take /names: ");
        refuses(schema, &object! { "names": vec!["a", "B"] }, "cannot take /names/1: ");
        let local = object! {
            "type": "object",
            "$defs": object! { "p": object! { "type": "integer" } },
            "properties": object! { "x": object! { "$ref": "#/$defs/p" } },
        };
        refuses(local, &object! { "x": "no" }, "cannot take /x: ");
    }

    #[test]
    fn a_name_that_a_pattern_allows_is_taken() {
        let spec = spec(object! {
            "type": "object",
            "patternProperties": object! { "^x-": object! { "type": "string" } },
            "additionalProperties": false,
        });
        let schema = Schema::compile(&spec).expect("a schema");
        assert_eq!(schema.check(&spec, &object! { "x-a": "b" }), Ok(()));
        assert!(schema.check(&spec, &object! { "y": "b" }).is_err());
    }

    #[test]
    fn a_schema_that_branches_on_each_level_answers_in_time() {
        let again = || object! { "$ref": "#" };
        let branches = object! { "anyOf": vec![again(), again(), again()] };
        let spec = spec(object! {
            "type": "object",
            "properties": object! { "a": branches },
            "additionalProperties": false,
        });
        let schema = Schema::compile(&spec).expect("a schema");
        let nested = |levels: usize, inmost: Object| {
            (0..levels).fold(inmost, |inner, _| object! { "a": inner })
        };
        // Three to the power of 40 would not end.
        assert_eq!(schema.check(&spec, &nested(40, Object::new())), Ok(()));
        let deep = schema.check(&spec, &nested(40, object! { "b": 1 })).expect_err("refused");
        assert!(deep.contains("pass simpler ones"), "{deep}");
        let flat = schema.check(&spec, &nested(2, object! { "b": 1 })).expect_err("refused");
        assert!(flat.starts_with("`t` cannot take /a"), "{flat}");
    }

    #[test]
    fn a_schema_that_leads_into_itself_at_once_is_no_trap() {
        let circle = spec(object! { "type": "object", "$ref": "#", "maxProperties": 1 });
        let schema = Schema::compile(&circle).expect("a schema");
        assert_eq!(schema.check(&circle, &object! { "a": 1 }), Ok(()));
        assert!(schema.check(&circle, &object! { "a": 1, "b": 2 }).is_err());
    }

    #[test]
    fn a_pattern_that_takes_for_ever_does_not_fit() {
        let spec = spec(object! {
            "type": "object",
            "properties": object! {
                "s": object! { "type": "string", "pattern": "^(a+)+(?=b)c$" },
            },
        });
        let schema = Schema::compile(&spec).expect("a schema");
        assert!(schema.check(&spec, &object! { "s": "a".repeat(64) }).is_err());
    }
}
