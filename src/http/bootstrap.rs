//! `POST /v1/bootstrap/service-account`: the first account of an instance (contract §2.9).
//!
//! Comes in: the token that the server was started with, and what the account is to be. Goes out: the
//! account, once. Without the right token the answer is the same 503, whether there is a token, an
//! account, or neither; with it, an instance that has an account says that it has one.

use axum::http::request::Parts;
use subtle::ConstantTimeEq as _;

use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::{ApiState, access, front};
use crate::canon::{Digest, hash_of};
use crate::code::Code;

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
