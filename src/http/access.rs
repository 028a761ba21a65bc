//! Who makes a request.

use axum::http::{HeaderMap, HeaderName, header};

use super::ApiState;
use super::permit;
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
    /// Returns whether bearers are asked for.
    pub(super) const fn asks(self) -> bool {
        matches!(self, Self::Bearer { .. })
    }

    /// Returns the port, if a web page can reach it.
    pub(super) const fn port(self) -> Option<u16> {
        match self {
            Self::SameUser => None,
            Self::Bearer { port } | Self::InsecureLocalhost { port } => Some(port),
        }
    }
}

/// The header of a request that comes from the shell of an agent: what a command says that was
/// started inside a run or inside the session of a harness. Its value is the variable that marks that
/// shell. It can only lower what the caller may.
pub const AGENT_HEADER: &str = "x-syncropel-agent";

/// Whom a caller says it acts for (contract §2.1).
pub(super) const ACTOR: HeaderName = HeaderName::from_static("x-syncropel-actor");

/// Returns who makes a request with these headers, and whom they act for. Asks the store.
///
/// Every refusal of a bearer is the same, so that nothing is learned about a token by guessing; and
/// so is every refusal of a claim.
pub(super) fn caller(state: &ApiState, headers: &HeaderMap) -> Result<Caller, Problem> {
    let caller = authenticated(state, headers)?;
    let caller = if headers.contains_key(AGENT_HEADER) { caller.lowered() } else { caller };
    let mut claims = headers.get_all(ACTOR).iter();
    let Some(claim) = claims.next() else { return Ok(caller) };
    let actor = claim.to_str().ok().and_then(|claim| ActorId::parse(claim).ok());
    let (Some(actor), None) = (actor, claims.next()) else {
        return Err(Problem::invalid(ACTOR.as_str(), "`x-syncropel-actor` must be one DID"));
    };
    let name = caller.name().to_owned();
    caller.claiming(actor).ok_or_else(|| {
        permit::note_claim(state, &name, claim);
        IngestError::ActorClaim.into()
    })
}

fn authenticated(state: &ApiState, headers: &HeaderMap) -> Result<Caller, Problem> {
    match state.access() {
        Access::SameUser | Access::InsecureLocalhost { .. } => Ok(Caller::operator()),
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
pub(super) fn bearer(headers: &HeaderMap) -> Option<&str> {
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
