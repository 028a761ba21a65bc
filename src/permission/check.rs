//! The validator for `core.permission_rule.v1` (contract §3.3), and that of the switch.

use super::{
    Action, PERMISSION_RULE_KIND, PERMISSION_RULE_TOPIC, PERMISSIONS_ENABLED_TOPIC, PermissionRule,
    RuleKey,
};
use crate::canon::{Object, Value};
use crate::code::Coded;
use crate::predicate::{Context, ExpressionCache, Predicate};
use crate::record::{Draft, Namespace, Reason, ShapeError, field};

/// The most characters of the name of a rule.
pub const MAX_RULE_NAME_CHARS: usize = 128;

/// What a writer may say. A misspelt field would be a rule that does something else, so no other is
/// taken.
const FIELDS: [&str; 9] = [
    "kind",
    "topic",
    "name",
    "namespace",
    "expression",
    "action",
    "priority",
    "enabled",
    "description",
];

/// What the published SDK adds to a body on its own.
const SDK_FIELDS: [&str; 2] = ["_v", "_refs"];

/// Returns whether a record of the configuration means to be a permission rule: by its kind or by
/// its topic.
pub fn is_permission_rule(draft: &Draft) -> bool {
    draft.thread.is_config()
        && (draft.kind() == Some(PERMISSION_RULE_KIND)
            || draft.topic() == Some(PERMISSION_RULE_TOPIC))
}

/// Returns whether a record of the configuration means to put the rules in force or out of it.
pub fn is_permission_switch(draft: &Draft) -> bool {
    draft.thread.is_config() && draft.topic() == Some(PERMISSIONS_ENABLED_TOPIC)
}

/// Reads the switch: whether the rules are in force from here on.
pub fn check_switch(draft: &Draft) -> Result<bool, ShapeError> {
    field::learned(draft)?;
    if !draft.body.contains_key("enabled") {
        return Err(ShapeError::missing("enabled"));
    }
    field::flag(&draft.body, "enabled", false)
}

impl PermissionRule {
    /// Checks a record that means to be a rule and compiles its predicate.
    ///
    /// The refusal names one field, of the body by its bare name.
    pub fn check(draft: &Draft, expressions: &ExpressionCache) -> Result<Self, ShapeError> {
        let shape = Shape::read(draft)?;
        let expression =
            expressions.predicate(shape.expression, Context::Permission).map_err(|error| {
                ShapeError {
                    field: "expression".into(),
                    reason: Reason::BadCel,
                    message: error.to_string(),
                    column: error.column(),
                    hint: error.hint(),
                }
            })?;
        Ok(shape.rule(expression))
    }

    /// Checks everything but the predicate: what a door asks for. A predicate that does not compile
    /// is stored, skipped and reported (contract §10, C11).
    pub fn check_shape(draft: &Draft) -> Result<(), ShapeError> {
        Shape::read(draft).map(drop)
    }
}

/// A rule without its predicate.
struct Shape<'a> {
    name: &'a str,
    namespace: Namespace,
    expression: &'a str,
    action: Action,
    priority: i64,
    enabled: bool,
}

impl<'a> Shape<'a> {
    fn read(draft: &'a Draft) -> Result<Self, ShapeError> {
        let body = &draft.body;
        refuse_unknown(body)?;
        word(body, "kind", PERMISSION_RULE_KIND)?;
        word(body, "topic", PERMISSION_RULE_TOPIC)?;
        field::learned(draft)?;
        Ok(Self {
            name: field::name(body, "name", MAX_RULE_NAME_CHARS)?,
            namespace: field::namespace(draft)?,
            expression: field::text(body, "expression")?,
            action: action(body)?,
            priority: priority(body)?,
            enabled: field::flag(body, "enabled", true)?,
        })
    }

    fn rule(self, expression: Predicate) -> PermissionRule {
        PermissionRule {
            key: RuleKey { namespace: self.namespace, name: self.name.into() },
            expression,
            action: self.action,
            priority: self.priority,
            enabled: self.enabled,
        }
    }
}

fn refuse_unknown(body: &Object) -> Result<(), ShapeError> {
    let known =
        |key: &&String| FIELDS.contains(&key.as_str()) || SDK_FIELDS.contains(&key.as_str());
    let Some(unknown) = body.keys().find(|key| !known(key)) else { return Ok(()) };
    let cut: String = unknown.chars().take(64).collect();
    let fields = FIELDS.join(", ");
    let message = format!("`{cut}` is not a field of a permission rule; the fields are {fields}");
    Err(ShapeError::new(unknown.clone(), Reason::UnknownField, message))
}

/// Checks a field that has one value only, where it is there: either of the two says what the
/// record is.
fn word(body: &Object, field: &str, wanted: &str) -> Result<(), ShapeError> {
    match body.get(field) {
        None => Ok(()),
        Some(Value::String(got)) if got == wanted => Ok(()),
        Some(Value::String(_)) => {
            let message = format!("the `{field}` of a permission rule is `{wanted}`");
            Err(ShapeError::new(field, Reason::BadValue, message))
        }
        Some(other) => Err(ShapeError::wrong_type(field, "a string", other.type_name())),
    }
}

fn action(body: &Object) -> Result<Action, ShapeError> {
    let word = field::text(body, "action")?;
    Action::parse(word).ok_or_else(|| {
        let message = "`action` must be `allow` or `deny`";
        ShapeError::new("action", Reason::BadValue, message)
    })
}

fn priority(body: &Object) -> Result<i64, ShapeError> {
    const FIELD: &str = "priority";
    match body.get(FIELD) {
        None => Ok(0),
        Some(Value::Number(number)) => number.as_i64().ok_or_else(|| {
            let message = "`priority` must be an integer that fits 64 bits";
            ShapeError::new(FIELD, Reason::BadValue, message)
        }),
        Some(other) => Err(ShapeError::wrong_type(FIELD, "an integer", other.type_name())),
    }
}
