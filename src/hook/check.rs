//! The one validator for `core.hook.v1` (contract §5.2).

use super::near::nearest;
use super::{Builtin, DEFAULT_FIRES_PER_RUN, HOOK_KIND, HOOK_TOPIC, Hook, HookKey, Template};
use crate::canon::{Object, Value};
use crate::code::Coded;
use crate::predicate::{Context, ExpressionCache, Predicate, PredicateError};
use crate::record::{Act, CONFIG_THREAD, Draft, Reason, ShapeError, field};

/// Fields that would let a hook do more than add words, each with what it would do.
pub const FORBIDDEN_FIELDS: [(&str, &str); 6] = [
    ("priority", "go before other hooks"),
    ("action", "act on a call"),
    ("suppress", "hide anything"),
    ("replace", "replace anything"),
    ("order", "move other hooks"),
    ("instead_of", "stand in for anything"),
];

/// The most characters of a name.
pub const MAX_NAME_CHARS: usize = 128;

/// The most characters of a text.
pub const MAX_TEXT_CHARS: usize = 4096;

/// The most bytes of a predicate (decision 11).
pub const MAX_WHEN_BYTES: usize = 2048;

/// The highest cap.
pub const MAX_FIRES_PER_RUN: u32 = 1000;

/// What a writer may say, in the order of contract §5.2.
const FIELDS: [&str; 8] =
    ["kind", "topic", "name", "when", "text", "max_fires_per_run", "enabled", "namespace"];

/// What the published SDK adds to a body on its own.
const SDK_FIELDS: [&str; 2] = ["_v", "_refs"];

impl Hook {
    /// Checks a record that means to be a hook and compiles its predicate.
    ///
    /// The refusal names one field: a forbidden one before an unknown one, both before a wrong
    /// value. Fields of the body have their bare names, as `act` and `thread` have. A hook that is
    /// not enabled is checked like any other.
    pub fn check(draft: &Draft) -> Result<Self, ShapeError> {
        Self::check_with(draft, &ExpressionCache::default())
    }

    /// The same, with a predicate that may have been compiled before.
    pub fn check_with(draft: &Draft, expressions: &ExpressionCache) -> Result<Self, ShapeError> {
        let body = &draft.body;
        refuse_forbidden(body)?;
        refuse_unknown(body)?;
        word(body, "kind", HOOK_KIND)?;
        word(body, "topic", HOOK_TOPIC)?;
        learned_as_configuration(draft)?;
        sdk_fields(body)?;
        Ok(Self {
            key: HookKey { name: name(body)?.into(), namespace: field::namespace(draft)? },
            when: when(body, expressions)?,
            text: text(body)?,
            max_fires_per_run: max_fires_per_run(body)?,
            enabled: field::flag(body, "enabled", true)?,
        })
    }
}

fn refuse_forbidden(body: &Object) -> Result<(), ShapeError> {
    let Some((field, deed)) = FORBIDDEN_FIELDS.iter().find(|(name, _)| body.contains_key(*name))
    else {
        return Ok(());
    };
    let message = format!("`{field}` is not allowed: a hook only adds words, it cannot {deed}");
    Err(ShapeError::new(*field, Reason::ForbiddenField, message)
        .with_hint(format!("Leave `{field}` out.")))
}

fn refuse_unknown(body: &Object) -> Result<(), ShapeError> {
    let known =
        |key: &&String| FIELDS.contains(&key.as_str()) || SDK_FIELDS.contains(&key.as_str());
    let Some(unknown) = body.keys().find(|key| !known(key)) else { return Ok(()) };
    let cut: String = unknown.chars().take(64).collect();
    let message = format!("`{cut}` is not a field of a hook; the fields are {}", FIELDS.join(", "));
    let refusal = ShapeError::new(unknown.clone(), Reason::UnknownField, message);
    Err(match nearest(unknown, &FIELDS) {
        Some(field) => refusal.with_hint(format!("Did you mean `{field}`?")),
        None => refusal,
    })
}

/// Checks a field that has one value only.
fn word(body: &Object, field: &str, wanted: &str) -> Result<(), ShapeError> {
    let message = || format!("the `{field}` of a hook is `{wanted}`");
    match body.get(field) {
        Some(Value::String(got)) if got == wanted => Ok(()),
        Some(Value::String(_)) => Err(ShapeError::new(field, Reason::BadValue, message())),
        Some(other) => Err(ShapeError::wrong_type(field, "a string", other.type_name())),
        None => Err(ShapeError::new(
            field,
            Reason::MissingField,
            format!("`{field}` is missing: {}", message()),
        )),
    }
}

fn learned_as_configuration(draft: &Draft) -> Result<(), ShapeError> {
    if draft.act != Act::Learn {
        let message = format!("the `act` of a hook is `LEARN`, not `{}`", draft.act);
        return Err(ShapeError::new("act", Reason::BadValue, message));
    }
    if !draft.thread.is_config() {
        let message = format!("the `thread` of a hook is `{CONFIG_THREAD}`: no other is read");
        return Err(ShapeError::new("thread", Reason::BadValue, message));
    }
    Ok(())
}

fn sdk_fields(body: &Object) -> Result<(), ShapeError> {
    match body.get("_v") {
        None => {}
        Some(Value::Number(version)) if version.as_i64() == Some(1) => {}
        Some(Value::Number(_)) => {
            let message = "`_v` must be 1, the only version of a hook there is";
            return Err(ShapeError::new("_v", Reason::BadValue, message));
        }
        Some(other) => {
            return Err(ShapeError::wrong_type("_v", "the integer 1", other.type_name()));
        }
    }
    match body.get("_refs") {
        None | Some(Value::Array(_)) => Ok(()),
        Some(other) => Err(ShapeError::wrong_type("_refs", "a list", other.type_name())),
    }
}

fn name(body: &Object) -> Result<&str, ShapeError> {
    let name = field::name(body, "name", MAX_NAME_CHARS)?;
    if Builtin::named(name).is_some() {
        let message = format!("`{name}` is the name of a hook that is built in");
        return Err(ShapeError::new("name", Reason::BadValue, message));
    }
    Ok(name)
}

fn when(body: &Object, expressions: &ExpressionCache) -> Result<Predicate, ShapeError> {
    let source = field::text(body, "when")?;
    if source.len() > MAX_WHEN_BYTES {
        let message =
            format!("`when` must be at most {MAX_WHEN_BYTES} bytes of UTF-8, not {}", source.len());
        return Err(ShapeError::new("when", Reason::BadValue, message));
    }
    expressions.predicate(source, Context::Hook).map_err(|error| bad_cel(&error))
}

fn bad_cel(error: &PredicateError) -> ShapeError {
    ShapeError {
        field: "when".into(),
        reason: Reason::BadCel,
        message: error.to_string(),
        column: error.column(),
        hint: error.hint(),
    }
}

fn text(body: &Object) -> Result<Template, ShapeError> {
    let text = field::text(body, "text")?;
    let chars = text.chars().count();
    if chars > MAX_TEXT_CHARS {
        let message = format!("`text` must be at most {MAX_TEXT_CHARS} characters, not {chars}");
        return Err(ShapeError::new("text", Reason::BadValue, message));
    }
    Ok(Template::new(text))
}

fn max_fires_per_run(body: &Object) -> Result<u32, ShapeError> {
    const FIELD: &str = "max_fires_per_run";
    let Some(value) = body.get(FIELD) else { return Ok(DEFAULT_FIRES_PER_RUN) };
    let Value::Number(number) = value else {
        return Err(ShapeError::wrong_type(FIELD, "an integer", value.type_name()));
    };
    let cap = number.as_u64().and_then(|cap| u32::try_from(cap).ok());
    cap.filter(|cap| (1..=MAX_FIRES_PER_RUN).contains(cap)).ok_or_else(|| {
        let message = format!("`{FIELD}` must be an integer from 1 to {MAX_FIRES_PER_RUN}");
        ShapeError::new(FIELD, Reason::BadValue, message)
            .with_hint("To keep a hook silent, write it with `enabled` false.")
    })
}
