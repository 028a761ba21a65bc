//! Tokens (contract §2.9): only the operator sees, makes and revokes them.

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::engine::Scopes;
use crate::object;
use crate::record::{Reason, ShapeError};

/// The most characters in the name of a token.
const MAX_NAME_CHARS: usize = 64;

/// `POST /v1/tokens`
pub(super) fn create(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let request = members(&request, &["name", "scopes"])?;
    let (name, scopes) = (name(request)?, scopes(request)?);
    let minted = state.engine().mint_token(name, &scopes)?;
    let token = state.engine().store().read(|reader| reader.token(&minted.id))?;
    let token = token.ok_or_else(|| Problem::internal("a token that was made is not there"))?;
    let mut object = wire::token(&token);
    object.insert("bearer".into(), minted.bearer.into());
    Ok(Answer::created(object))
}

/// `GET /v1/tokens`
pub(super) fn list(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(wire::list(state.engine().tokens()?.iter().map(wire::token).collect())))
}

/// `DELETE /v1/tokens/{id}`
pub(super) fn revoke(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let revoked = state.engine().revoke_tokens(&call.segment)?;
    if revoked == 0 {
        return Err(Problem::missing("there is no live token with this id or name"));
    }
    Ok(Answer::ok(object! {
        "object": "revoked_tokens",
        "id": call.segment.as_str(),
        "revoked": revoked,
    }))
}

fn name(request: &Object) -> Result<&str, Problem> {
    let name = text(request, "name")?.ok_or_else(|| ShapeError::missing("name"))?;
    let length = name.chars().count();
    if name.trim().is_empty() || length > MAX_NAME_CHARS || name.chars().any(char::is_control) {
        let message =
            format!("`name` must be 1 to {MAX_NAME_CHARS} characters without control characters");
        return Err(ShapeError::new("name", Reason::BadValue, message).into());
    }
    Ok(name)
}

/// Reads the scopes: a list of words, or words with commas between them.
fn scopes(request: &Object) -> Result<Scopes, Problem> {
    const FIELD: &str = "scopes";
    let wrong_type =
        |got: &Value| ShapeError::wrong_type(FIELD, "a list of words", got.type_name());
    let words = match request.get(FIELD) {
        None => return Err(ShapeError::missing(FIELD).into()),
        Some(Value::String(words)) => words.clone(),
        Some(Value::Array(words)) => {
            let text = |word: &Value| match word {
                Value::String(text) => Ok(text.clone()),
                other => Err(wrong_type(other)),
            };
            words.iter().map(text).collect::<Result<Vec<_>, _>>()?.join(",")
        }
        Some(other) => return Err(wrong_type(other).into()),
    };
    let scopes = Scopes::parse(&words)
        .map_err(|error| ShapeError::new(FIELD, Reason::BadValue, error.to_string()))?;
    if scopes == Scopes::default() {
        let message = "`scopes` must name at least one scope";
        return Err(ShapeError::new(FIELD, Reason::BadValue, message).into());
    }
    Ok(scopes)
}
