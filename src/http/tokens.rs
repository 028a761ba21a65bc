//! Tokens (contract §2.9): only the operator sees, makes and revokes them; whoever holds one may give
//! it a new secret.

use super::ApiState;
use super::accounts::{env_tag, expires, read_scopes, stored, words};
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::Object;
use crate::engine::{AccountError, Minted, NewAccount, Wish};
use crate::object;
use crate::record::ShapeError;
use crate::store::TokenId;

/// `POST /v1/tokens`: of an account, or of a new one that has the token's name.
pub(super) fn create(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 5] = ["service_account_id", "name", "scopes", "env_tag", "expires"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let engine = state.engine();
    let name = text(request, "name")?;
    let scopes = words(request, "scopes")?;
    let wish = Wish { env: env_tag(request)?, expires: expires(request)?, ..Wish::default() };
    let minted = if let Some(account) = text(request, "service_account_id")? {
        let account = engine.find_account(account)?;
        let scopes = scopes.as_deref().map(read_scopes).transpose()?;
        let wish = Wish { name: name.map(str::to_owned), scopes, ..wish };
        engine.mint(&call.caller, &account.id, &wish)?
    } else {
        let name = name.ok_or_else(|| ShapeError::missing("name"))?;
        let scopes = scopes.ok_or_else(|| ShapeError::missing("scopes"))?;
        let new = NewAccount::named(name, read_scopes(&scopes)?);
        let (_, minted) = engine.create_account(&call.caller, new, Some(&wish))?;
        minted.ok_or_else(|| Problem::internal("a token was not made"))?
    };
    Ok(Answer::created(shown(state, minted)?))
}

/// `GET /v1/tokens`
pub(super) fn list(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(wire::list(state.engine().tokens()?.iter().map(wire::token).collect())))
}

/// `DELETE /v1/tokens/{id}`
pub(super) fn revoke(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let revoked = state.engine().revoke_tokens(&call.caller, &call.segment)?;
    if revoked == 0 {
        return Err(Problem::missing("there is no live token with this id or name"));
    }
    Ok(Answer::ok(object! {
        "object": "revoked_tokens",
        "id": call.segment.as_str(),
        "revoked": revoked,
    }))
}

/// `POST /v1/tokens/{id}/rotate`
pub(super) fn rotate(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let id = TokenId::parse(&call.segment).ok_or_else(|| {
        // Whether there is such a token is told to nobody else.
        if call.caller.is_operator() {
            AccountError::Unknown { what: "token" }
        } else {
            AccountError::NotSelf
        }
    })?;
    let minted = state.engine().rotate_token(&call.caller, &id)?;
    let mut object = shown(state, minted)?;
    object.insert("replaces".into(), id.as_str().into());
    Ok(Answer::ok(object))
}

/// Returns a token with its bearer, this once.
fn shown(state: &ApiState, minted: Minted) -> Result<Object, Problem> {
    let mut object = wire::token(&stored(state, &minted)?);
    object.insert("bearer".into(), minted.bearer.into());
    Ok(object)
}
