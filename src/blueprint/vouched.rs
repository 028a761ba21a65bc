//! Who vouches for a blueprint.

use super::Blueprint;
use super::starter::is_starter;
use crate::engine::{Engine, EngineError};
use crate::identity::public_key_of;

/// Who vouches for a blueprint, so that it may bring more than content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voucher {
    /// The operator has signed it, whoever wrote it.
    Operator,
    /// Its author has, whom the operator trusts.
    Author,
    /// It came with this program and is as it was.
    Program,
}

impl Voucher {
    /// Returns the word in answers and records.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operator => "operator",
            Self::Author => "author",
            Self::Program => "program",
        }
    }
}

/// Who vouches for a blueprint, and why nobody does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Vouched {
    /// Somebody does.
    By(Voucher),
    /// Nobody does. The reason is one for people: `it is not signed`.
    Nobody(String),
}

impl Vouched {
    /// Returns who vouches, as a word.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::By(voucher) => voucher.as_str(),
            Self::Nobody(_) => "nobody",
        }
    }

    /// Works out who vouches for a blueprint whose signature was checked to be one over it.
    pub(super) fn of(engine: &Engine, blueprint: &Blueprint) -> Result<Self, EngineError> {
        if is_starter(blueprint) {
            return Ok(Self::By(Voucher::Program));
        }
        let Some(signature) = &blueprint.signature else {
            return Ok(Self::Nobody("it is not signed".into()));
        };
        if engine.whole().keyring().holds(&signature.key_id) {
            return Ok(Self::By(Voucher::Operator));
        }
        let live = engine.live()?;
        let name = blueprint.author.as_str();
        let shown: String = name.chars().take(64).collect();
        let nobody = |why: String| Ok(Self::Nobody(why));
        match live.config.blueprint_author(&blueprint.author) {
            None => nobody(format!("its author `{shown}` is not trusted here")),
            Some(author) if public_key_of(&signature.key_id) != Some(author.key) => {
                nobody(format!("it is signed with another key than the one of `{shown}`"))
            }
            Some(author) if !author.trusts(signature.signed_at) => {
                nobody(format!("`{shown}` was trusted no more when it was signed"))
            }
            Some(_) => Ok(Self::By(Voucher::Author)),
        }
    }
}
