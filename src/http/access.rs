//! Who makes a request.

use axum::http::{HeaderMap, HeaderName, header};

use super::ApiState;
use super::problem::Problem;
use crate::code::Code;
use crate::engine::{Caller, IngestError};
use crate::record::ActorId;

/// How a request proves who makes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// By being there: the socket, or the process itself, can only be reached by the user who owns
    /// the instance. Every caller is the operator.
    SameUser,
    /// By a bearer, over TCP on this port.
    Bearer {
        /// The port that a client has connected to.
        port: u16,
    },
    /// Not at all, over TCP on this port. Every caller is the operator.
    InsecureLocalhost {
        /// The port that a client has connected to.
        port: u16,
    },
}

impl Access {
    /// Returns the port, if a web page can reach it.
    pub(super) const fn port(self) -> Option<u16> {
        match self {
            Self::SameUser => None,
            Self::Bearer { port } | Self::InsecureLocalhost { port } => Some(port),
        }
    }
}

/// Whom a caller says it acts for (contract §2.1).
const ACTOR: HeaderName = HeaderName::from_static("x-syncropel-actor");

/// With the value `agent`, gives the standing of the operator up: what a command says that was
/// started inside a run or inside the session of a harness. It can only be less than it was.
const STANDING: HeaderName = HeaderName::from_static("x-spl-standing");

/// Returns who makes a request with these headers, and whom they act for. Asks the store.
///
/// Every refusal of a bearer is the same, so that nothing is learned about a token by guessing; and
/// so is every refusal of a claim.
pub(super) fn caller(state: &ApiState, headers: &HeaderMap) -> Result<Caller, Problem> {
    let caller = authenticated(state, headers)?;
    let mut claims = headers.get_all(ACTOR).iter();
    let Some(claim) = claims.next() else { return Ok(caller) };
    let actor = claim.to_str().ok().and_then(|claim| ActorId::parse(claim).ok());
    let (Some(actor), None) = (actor, claims.next()) else {
        return Err(Problem::invalid(ACTOR.as_str(), "`x-syncropel-actor` must be one DID"));
    };
    caller.claiming(actor).ok_or_else(|| IngestError::ActorClaim.into())
}

fn authenticated(state: &ApiState, headers: &HeaderMap) -> Result<Caller, Problem> {
    match state.access() {
        Access::SameUser | Access::InsecureLocalhost { .. } => {
            let agent = headers.get(STANDING).is_some_and(|standing| standing == "agent");
            Ok(if agent { Caller::agent() } else { Caller::operator() })
        }
        Access::Bearer { .. } => {
            let known = match bearer(headers) {
                Some(bearer) => state.engine().authenticate(bearer)?,
                None => None,
            };
            known.ok_or_else(|| {
                Problem::new(Code::AuthRequired, "this needs a valid bearer token")
                    .hint("Send `Authorization: Bearer <token>`; `spl token create` makes one.")
            })
        }
    }
}

/// Returns the bearer of a request: the one of `Authorization` if there is any such header, else
/// `x-api-key`, which the published clients send.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let only = |name| {
        let mut values = headers.get_all(name).iter();
        let value = values.next()?.to_str().ok()?;
        values.next().is_none().then_some(value)
    };
    if !headers.contains_key(header::AUTHORIZATION) {
        return only(HeaderName::from_static("x-api-key")).map(str::trim);
    }
    let (scheme, token) = only(header::AUTHORIZATION)?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}
