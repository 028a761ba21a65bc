//! `GET /v1/identity`: who a caller is to this instance (contract §2.9).

use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use super::{Access, ApiState};
use crate::canon::{Object, hash_of, hex};
use crate::engine::{Caller, Engine, Home};
use crate::object;
use crate::record::ActorId;

/// `GET /v1/identity`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let (engine, caller) = (state.engine(), &call.caller);
    let token = caller.token().map(|token| engine.token(token)).transpose()?.flatten();
    let expires_at = token.as_ref().and_then(|token| token.expires_at).map(|at| at.to_string());
    let mut identity = object! {
        "object": "identity",
        "class": class(caller),
        "expires_at": expires_at,
        "is_authenticated": !matches!(state.access(), Access::InsecureLocalhost { .. }),
        "scopes": caller.scope_words(),
        "service_account_id": caller.account().map(ToString::to_string),
        "token_id": caller.token().map(|token| token.as_str().to_owned()),
    };
    let home = engine.home().filter(|_| caller.is_operator());
    identity.extend(match (caller.acting(), home) {
        (Some(acting), _) => named(Some(acting), token.map(|token| token.name)),
        (None, Some(home)) => owner(engine, home)?,
        (None, None) => named(None, None),
    });
    Ok(Answer::ok(identity))
}

fn class(caller: &Caller) -> &'static str {
    match (caller.is_operator(), caller.account()) {
        (true, _) => "operator",
        (false, Some(_)) => "service_account",
        (false, None) => "agent",
    }
}

/// Returns who the owner of this instance is: the actor of its settings, and their key.
fn owner(engine: &Engine, home: &Home) -> Result<Object, Problem> {
    let actor = home.settings()?.identity.actor;
    let actor = ActorId::parse(&actor).map_err(|error| Problem::not_a_name("actor", &error))?;
    let mut owner = named(Some(&actor), None);
    if home.has_operator_key() {
        let did = engine.store().keyring().signer_of(actor.as_str()).did();
        owner.extend(object! {
            "did": did,
            "key_fingerprint": hex(&hash_of(&[did.as_bytes()])),
            "key_path": home.operator_key_path().display().to_string(),
            "method": method(did),
        });
    }
    Ok(owner)
}

fn named(actor: Option<&ActorId>, name: Option<String>) -> Object {
    let actor = actor.map(ActorId::as_str);
    let last = || actor.and_then(|actor| actor.rsplit(':').next()).map(str::to_owned);
    object! {
        "actor": actor,
        "did": actor,
        "display_name": name.or_else(last),
        "key_fingerprint": None::<&str>,
        "key_path": None::<&str>,
        "method": actor.and_then(method),
    }
}

/// Returns the method of a DID.
fn method(did: &str) -> Option<&str> {
    did.strip_prefix("did:")?.split(':').next()
}
