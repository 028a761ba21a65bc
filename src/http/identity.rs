//! `GET /v1/identity`: who a caller is to this instance (contract §2.9).

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use crate::canon::{Object, Value, hash_of, hex};
use crate::engine::Engine;
use crate::object;
use crate::record::ActorId;

/// `GET /v1/identity`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let (engine, caller) = (state.engine(), &call.caller);
    let mut identity = object! {
        "object": "identity",
        "class": class(call),
        "is_authenticated": true,
        "scopes": caller.scope_words(),
        "service_account_id": caller.account().map(ToString::to_string),
        "token_id": caller.token().map(|token| token.as_str().to_owned()),
    };
    let token = caller.token().map(|token| engine.token(token)).transpose()?.flatten();
    let expires_at = token.as_ref().and_then(|token| token.expires_at).map(|at| at.to_string());
    identity.insert("expires_at".into(), expires_at.into());
    let name = token.map(|token| token.name);
    identity.extend(match caller.acting() {
        Some(acting) => named(acting, name, None),
        None if caller.is_operator() => operator(engine)?,
        None => named(&ActorId::engine(), name, None),
    });
    Ok(Answer::ok(identity))
}

fn class(call: &Call) -> &'static str {
    match (call.caller.is_operator(), call.caller.account()) {
        (true, _) => "operator",
        (false, Some(_)) => "service_account",
        (false, None) => "agent",
    }
}

/// Returns who the operator of this instance is: the actor of its settings, and their key.
fn operator(engine: &Engine) -> Result<Object, Problem> {
    let Some(home) = engine.home() else {
        return Ok(named(&ActorId::engine(), None, None));
    };
    let actor = home.settings()?.identity.actor;
    let actor = ActorId::parse(&actor).map_err(|error| Problem::not_a_name("actor", &error))?;
    let did = engine.store().keyring().signer_of(actor.as_str()).did().to_owned();
    let path = home.operator_key_path();
    Ok(named(&actor, None, Some((did, path.display().to_string()))))
}

fn named(actor: &ActorId, name: Option<String>, key: Option<(String, String)>) -> Object {
    let last = actor.as_str().rsplit(':').next().unwrap_or_default().to_owned();
    let (did, path) = match key {
        Some((did, path)) => (did, Some(path)),
        None => (actor.to_string(), None),
    };
    let fingerprint = path.as_ref().map(|_| hex(&hash_of(&[did.as_bytes()])));
    let method = did.split(':').nth(1).map(str::to_owned);
    object! {
        "actor": actor,
        "did": did.as_str(),
        "display_name": name.unwrap_or(last),
        "key_fingerprint": fingerprint,
        "key_path": path.map_or(Value::Null, Value::from),
        "method": method,
    }
}
