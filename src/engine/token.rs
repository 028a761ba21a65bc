//! Bearers: who a secret belongs to.

use super::{Caller, Engine, EngineError, Scopes};
use crate::canon::hex;
use crate::identity::random_bytes;
use crate::store::{Token, TokenId};

/// A token with its secret: shown once, when it is made.
pub struct Minted {
    /// The bearer to put in a header.
    pub bearer: String,
    /// The id by which it can be revoked.
    pub id: TokenId,
}

/// The part of a bearer that is hashed: `spl_<env>_<account>_<secret>`.
fn secret_of(bearer: &str) -> Option<&str> {
    let (rest, secret) = bearer.rsplit_once('_')?;
    (rest.starts_with("spl_") && !secret.is_empty()).then_some(secret)
}

/// Returns the id of the token that a bearer holds, if it has the form of one.
pub(super) fn id_of(bearer: &str) -> Option<TokenId> {
    secret_of(bearer).map(TokenId::of_secret)
}

impl Engine {
    /// Makes a token with these scopes. Its secret is not stored.
    pub fn mint_token(&self, name: &str, scopes: &Scopes) -> Result<Minted, EngineError> {
        self.admit_home_token()?;
        let secret = hex(&random_bytes::<32>()?);
        let label: String =
            name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let bearer = format!("spl_prod_{label}_{secret}");
        let id = TokenId::of_secret(&secret);
        self.add_token(&id, name, scopes)?;
        Ok(Minted { bearer, id })
    }

    fn add_token(&self, id: &TokenId, name: &str, scopes: &Scopes) -> Result<(), EngineError> {
        let (id, name, scopes) = (id.clone(), name.to_owned(), scopes.to_string());
        self.store().write(move |tx| tx.add_token(&id, &name, &scopes))?;
        Ok(())
    }

    /// Makes sure that the store knows the admin token of the home. Not done before somebody uses
    /// it or has to do with tokens: who only opens a store, to verify it for example, changes nothing.
    fn admit_home_token(&self) -> Result<(), EngineError> {
        let Some(id) = &self.0.home_token else { return Ok(()) };
        let is_known = || self.store().read(|reader| Ok(reader.token(id)?.is_some()));
        if is_known()? {
            return Ok(());
        }
        let admin = Scopes::parse("admin").unwrap_or_default();
        match self.add_token(id, "admin", &admin) {
            // Another process may have been faster.
            Err(_) if is_known()? => Ok(()),
            added => added,
        }
    }

    /// Returns who holds this bearer; `None` if nobody does, or not any more.
    pub fn authenticate(&self, bearer: &str) -> Result<Option<Caller>, EngineError> {
        let Some(id) = id_of(bearer) else { return Ok(None) };
        let find = || self.store().read(|reader| reader.token(&id));
        let mut token = find()?;
        if token.is_none() && self.0.home_token.as_ref() == Some(&id) {
            self.admit_home_token()?;
            token = find()?;
        }
        let live = token.filter(|token| token.revoked_at.is_none());
        // Scopes were checked when the token was made; what does not read now allows nothing.
        Ok(live.map(|token| Caller::bearer(Scopes::parse(&token.scopes).unwrap_or_default())))
    }

    /// Returns every token, without secrets.
    pub fn tokens(&self) -> Result<Vec<Token>, EngineError> {
        self.admit_home_token()?;
        Ok(self.store().read(|reader| reader.tokens())?)
    }

    /// Revokes the live tokens with this name or id, and returns how many there were.
    pub fn revoke_tokens(&self, name_or_id: &str) -> Result<usize, EngineError> {
        self.admit_home_token()?;
        let name_or_id = name_or_id.to_owned();
        Ok(self.store().write(move |tx| tx.revoke_tokens(&name_or_id))?)
    }
}
