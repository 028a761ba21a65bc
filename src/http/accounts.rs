//! Service accounts and their tokens (contract §2.9): only the operator sees, makes and revokes them;
//! a key is also rotated by whoever holds it.

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, flag, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::engine::{AccountError, Actors, Expiry, Minted, NewAccount, Scopes, Wish};
use crate::object;
use crate::record::{Namespace, Reason, ShapeError};
use crate::store::{AccountId, Token};

/// What an account may do if nobody says.
const DEFAULT_SCOPES: &str = "records:read,records:write";

/// `POST /v1/service-accounts`
pub(super) fn create(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 8] =
        ["id", "name", "scopes", "actors", "namespace", "with_token", "env_tag", "expires"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let id = text(request, "id")?.map(|id| {
        AccountId::parse(id).ok_or_else(|| {
            let message = "`id` must be `sa-` and lower-case letters, digits and `-`";
            ShapeError::new("id", Reason::BadValue, message)
        })
    });
    let namespace = text(request, "namespace")?.map(Namespace::parse).transpose();
    let new = NewAccount {
        id: id.transpose()?,
        name: text(request, "name")?.ok_or_else(|| ShapeError::missing("name"))?.to_owned(),
        namespace: namespace
            .map_err(|error| Problem::not_a_name("namespace", &error))?
            .unwrap_or_else(Namespace::root),
        scopes: match words(request, "scopes")? {
            Some(words) => read_scopes(&words)?,
            None => read_scopes(DEFAULT_SCOPES)?,
        },
        actors: match words(request, "actors")? {
            Some(words) => Actors::parse(&words)
                .map_err(|error| ShapeError::new("actors", Reason::BadValue, error.to_string()))?,
            None => Actors::default(),
        },
    };
    let wish = Wish { env: env_tag(request)?, expires: expires(request)?, ..Wish::default() };
    let with_token = !request.contains_key("with_token") || flag(request, "with_token")?;
    let wish = with_token.then_some(wish);
    let (account, minted) = state.engine().create_account(&call.caller, new, wish.as_ref())?;
    let mut object = wire::account(&account);
    if let Some(minted) = minted {
        object.insert("api_key".into(), minted.bearer.into());
        object.insert("token_id".into(), minted.id.as_str().into());
    }
    Ok(Answer::created(object))
}

/// `GET /v1/service-accounts`
pub(super) fn list(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(wire::list(state.engine().accounts()?.iter().map(wire::account).collect())))
}

/// `GET /v1/service-accounts/{id}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let account = state.engine().find_account(&call.segment)?;
    let of_it = |token: &Token| token.account == account.id.as_str();
    let tokens = state.engine().tokens()?;
    let tokens: Vec<Object> = tokens.iter().filter(|it| of_it(it)).map(wire::token).collect();
    let mut object = wire::account(&account);
    object.insert("tokens".into(), tokens.into());
    Ok(Answer::ok(object))
}

/// `DELETE /v1/service-accounts/{id}`
pub(super) fn revoke(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let account = state.engine().find_account(&call.segment)?;
    let reason = call.query.get("reason");
    let tokens = state.engine().revoke_account(&call.caller, &account.id, reason)?;
    Ok(Answer::ok(object! {
        "object": "revoked_service_account",
        "id": account.id.as_str(),
        "status": "revoked",
        "tokens_revoked": tokens,
    }))
}

/// `POST /v1/service-accounts/{id}/rotate-key`
pub(super) fn rotate(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let engine = state.engine();
    let id = match AccountId::parse(&call.segment) {
        Some(id) => id,
        // Whether there is such an account is told to nobody else.
        None if !call.caller.is_operator() => return Err(AccountError::NotSelf.into()),
        None => engine.find_account(&call.segment)?.id,
    };
    let minted = engine.rotate_account(&call.caller, &id)?;
    let token = stored(state, &minted)?;
    Ok(Answer::ok(object! {
        "object": "rotated_key",
        "id": id.as_str(),
        "api_key": minted.bearer,
        "token_id": minted.id.as_str(),
        "expires_at": token.expires_at.map(|at| at.to_string()),
    }))
}

/// Returns a token that was stored a moment ago.
pub(super) fn stored(state: &ApiState, minted: &Minted) -> Result<Token, Problem> {
    let token = state.engine().token(&minted.id)?;
    token.ok_or_else(|| Problem::internal("a token that was made is not there"))
}

/// Reads a list of words: a list, or text with commas between them.
pub(super) fn words(request: &Object, field: &str) -> Result<Option<String>, ShapeError> {
    let wrong_type =
        |got: &Value| ShapeError::wrong_type(field, "a list of words", got.type_name());
    match request.get(field) {
        None => Ok(None),
        Some(Value::String(words)) => Ok(Some(words.clone())),
        Some(Value::Array(words)) => {
            let word = |word: &Value| match word {
                Value::String(text) if text.contains(',') => {
                    let message = format!("a word of `{field}` has no comma");
                    Err(ShapeError::new(field, Reason::BadValue, message))
                }
                Value::String(text) => Ok(text.clone()),
                other => Err(wrong_type(other)),
            };
            Ok(Some(words.iter().map(word).collect::<Result<Vec<_>, _>>()?.join(",")))
        }
        Some(other) => Err(wrong_type(other)),
    }
}

/// Reads scopes, of which there must be one at least.
pub(super) fn read_scopes(words: &str) -> Result<Scopes, ShapeError> {
    let bad = |message: String| ShapeError::new("scopes", Reason::BadValue, message);
    let scopes = Scopes::parse(words).map_err(|error| bad(error.to_string()))?;
    if scopes.is_empty() {
        return Err(bad("`scopes` must name at least one scope".into()));
    }
    Ok(scopes)
}

pub(super) fn env_tag(request: &Object) -> Result<Option<String>, Problem> {
    Ok(text(request, "env_tag")?.map(str::to_owned))
}

pub(super) fn expires(request: &Object) -> Result<Option<Expiry>, Problem> {
    Ok(text(request, "expires")?.map(Expiry::parse).transpose()?)
}
