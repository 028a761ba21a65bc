//! `POST /v1/bootstrap/service-account`: the first account of an instance (contract §2.9).
//!
//! Comes in: the token that the server was started with, and what the account is to be. Goes out: the
//! account, once. Without the right token the answer is the same 503, whether there is a token, an
//! account, or neither; with it, an instance that has an account says that it has one.

use axum::http::request::Parts;
use subtle::ConstantTimeEq as _;

use super::answer::Answer;
use super::call::{Call, members, text};
use super::endpoint::{Does, Endpoint, Method, Needs, Outcome};
use super::problem::Problem;
use super::{ApiState, access, accounts, front};
use crate::canon::{Digest, Object, hash_of};
use crate::code::Code;
use crate::engine::{AccountError, BOOTSTRAP_ACCOUNT, NewAccount, Scope};
use crate::object;
use crate::record::{Namespace, Reason, ShapeError};
use crate::store::{AccountId, TokenId};

/// What opens an instance that has no account: 16 to 256 printable ASCII characters, none of them at
/// an end a space. Only its SHA-256 is kept.
#[derive(Clone)]
pub struct BootstrapToken(Digest);

impl BootstrapToken {
    /// Reads a token; `None` if it is not one.
    pub fn parse(token: &str) -> Option<Self> {
        let printable = token.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        let is_one = (16..=256).contains(&token.len()) && printable && token.trim() == token;
        is_one.then(|| Self(hash_of(&[token.as_bytes()])))
    }

    /// Returns whether this is the token. Takes the same time whatever is presented of a length.
    fn is(&self, presented: &str) -> bool {
        self.0.ct_eq(&hash_of(&[presented.as_bytes()])).into()
    }
}

/// Shows nothing of it.
impl std::fmt::Debug for BootstrapToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("BootstrapToken")
    }
}

/// Returns what an instance without an account says to whoever needs one.
pub(super) fn required() -> Problem {
    let message =
        "the first account of an instance is made with the token that its server was started with";
    Problem::new(Code::BootstrapRequired, message)
        .hint("Start the server with SPL_BOOTSTRAP_TOKEN, and present it; or run `spl init` there.")
}

/// The route.
pub(super) const ENDPOINTS: &[Endpoint] = &[Endpoint {
    method: Method::Post,
    path: "/v1/bootstrap/service-account",
    name: "bootstrap_service_account",
    summary: "Makes the first account of an instance, once.",
    needs: Needs::Bootstrap,
    resource: None,
    query: &[],
    takes: Some("BootstrapRequest"),
    answers: &[Outcome::Json(201, "BootstrapResult")],
    does: Does::Answers(create),
}];

/// Lets whoever has the token through to an instance without an account. Asks the store.
///
/// Whoever has failed too often is refused before anything is compared, the right token or not.
pub(super) fn admit(state: &ApiState, parts: &Parts) -> Result<(), Problem> {
    let peer = front::peer(state, parts);
    if let Some(peer) = &peer {
        state.failures().check(peer, state.up())?;
    }
    let token = state.front().bootstrap();
    let presented = access::bearer(&parts.headers);
    if !token.zip(presented).is_some_and(|(token, presented)| token.is(presented)) {
        if let Some(peer) = peer {
            state.failures().count(peer, state.up())?;
        }
        return Err(required());
    }
    if state.engine().has_accounts()? { Err(closed()) } else { Ok(()) }
}

fn closed() -> Problem {
    Problem::new(Code::BootstrapClosed, "this instance has an account already")
        .hint("Use its bearer; the operator makes others with `spl service-account create`.")
}

/// `POST /v1/bootstrap/service-account`
fn create(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 5] =
        ["service_account_id", "display_name", "scopes", "namespace", "with_token"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let id = text(request, "service_account_id")?.unwrap_or(BOOTSTRAP_ACCOUNT);
    let account = AccountId::parse(id).ok_or_else(|| {
        let message = "`service_account_id` must be `sa-` and lower-case letters, digits and `-`";
        ShapeError::new("service_account_id", Reason::BadValue, message)
    })?;
    let name = text(request, "display_name")?.unwrap_or(id);
    let scopes = accounts::words(request, "scopes")?.unwrap_or_else(|| Scope::Admin.to_string());
    let namespace = text(request, "namespace")?.map(Namespace::parse).transpose();
    let namespace = namespace.map_err(|error| Problem::not_a_name("namespace", &error))?;
    let new = NewAccount {
        id: Some(account),
        namespace: namespace.unwrap_or_else(Namespace::root),
        ..NewAccount::named(name, accounts::read_scopes(&scopes)?)
    };
    let made = state.engine().bootstrap(new, brought(request)?).map_err(as_asked)?;
    let made = made.ok_or_else(closed)?;
    let mut object = object! {
        "object": "bootstrap_result",
        "service_account_id": made.account.as_str(),
        "sa_record_id": made.account_record,
        "namespace": made.namespace.as_str(),
        "token_id": made.token.as_str(),
        "token_record_id": made.token_record,
    };
    if let Some(bearer) = made.bearer {
        object.insert("bearer".into(), bearer.into());
    }
    Ok(Answer::created(object))
}

/// Names a field as it is called here.
fn as_asked(error: AccountError) -> AccountError {
    match error {
        AccountError::Shape(error) if error.field == "name" => {
            let message = error.message.replace("`name`", "`display_name`");
            ShapeError { field: "display_name".into(), message, ..error }.into()
        }
        error => error,
    }
}

/// Reads the token that a request brings, of which only the hash is known here, and what it is for.
/// When it was made is told by the time at which it arrives.
fn brought(request: &Object) -> Result<Option<(TokenId, Option<String>)>, Problem> {
    let Some(brought) = request.get("with_token") else { return Ok(None) };
    if brought.as_object().is_none() {
        let got = brought.type_name();
        return Err(ShapeError::wrong_type("with_token", "an object", got).into());
    }
    let brought = members(brought, &["token_id", "env_tag", "created_at"])?;
    text(brought, "created_at")?;
    let id = text(brought, "token_id")?.ok_or_else(|| ShapeError::missing("token_id"))?;
    let id = TokenId::parse(id).ok_or_else(|| {
        let message = "`token_id` must be the SHA-256 of a secret, as 64 lower-case hex digits";
        ShapeError::new("token_id", Reason::BadValue, message)
    })?;
    Ok(Some((id, text(brought, "env_tag")?.map(str::to_owned))))
}
