//! What stands in front of routes that need a caller: the first account, and whoever fails too often.
//!
//! Comes in: a request over some connection. Goes out: who makes it; or a refusal, which is the same
//! whatever was wrong. Only where bearers are asked for is anything counted: the socket and an insecure
//! port have nobody to keep out.

use axum::http::request::Parts;

use super::bootstrap::{self, BootstrapToken};
use super::limit::Peer;
use super::problem::Problem;
use super::{ApiState, access};
use crate::code::Code;
use crate::engine::Caller;

/// How a server is known, and what opens it the first time.
#[derive(Debug, Clone, Default)]
pub struct Front {
    names: Vec<String>,
    bootstrap: Option<BootstrapToken>,
}

impl Front {
    /// Returns this front for a server that others reach by these names: `spl.example` for itself
    /// and with the server's port, `spl.example:8443` as it is. They hold where bearers are asked for.
    #[must_use]
    pub fn known_as(self, names: Vec<String>) -> Self {
        Self { names, ..self }
    }

    /// Returns this front for a server whose first account is made by whoever has this token.
    #[must_use]
    pub fn opened_by(self, token: BootstrapToken) -> Self {
        Self { bootstrap: Some(token), ..self }
    }

    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    pub(super) fn bootstrap(&self) -> Option<&BootstrapToken> {
        self.bootstrap.as_ref()
    }
}

/// Returns who makes a request. Asks the store.
///
/// Only what fails is counted, and only what fails is refused for having failed too often: whoever
/// has a valid bearer does not pay for others behind the same address.
pub(super) fn caller(state: &ApiState, parts: &Parts) -> Result<Caller, Problem> {
    match access::caller(state, &parts.headers) {
        Ok(caller) if state.access().asks() => {
            state.requests().count(caller.name().to_owned(), state.up())?;
            Ok(caller)
        }
        Err(problem) if problem.code() == Code::AuthRequired => {
            if !state.engine().has_accounts()? {
                return Err(bootstrap::required());
            }
            if let Some(peer) = peer(state, parts) {
                state.failures().count(peer, state.up())?;
            }
            Err(problem)
        }
        known => known,
    }
}

/// Returns whose failures are counted; nobody's where bearers are not asked for, nor in this process.
pub(super) fn peer(state: &ApiState, parts: &Parts) -> Option<Peer> {
    parts.extensions.get::<Peer>().copied().filter(|_| state.access().asks())
}
