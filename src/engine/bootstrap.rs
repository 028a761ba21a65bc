//! The first account of an instance (contract §2.9).
//!
//! Comes in: what the account is to be. Goes out: the account and its token, in one commit, if there
//! has never been another. The door in front of this asks for the word that opens it.

use super::account::{AccountError, NewAccount, note_account};
use super::token::{DEFAULT_ENV_TAG, check_env, new_bearer, note_token};
use super::{Engine, EngineError};
use crate::canon::Object;
use crate::record::RecordId;
use crate::store::{Account, AccountId, Token, TokenId};
use crate::time::Timestamp;

/// The id of the first account, if nobody gives it another.
pub const BOOTSTRAP_ACCOUNT: &str = "sa-bootstrap-env";

/// Who has made an account that nobody could make.
const BY: &str = "bootstrap";

/// The first account.
#[derive(Debug, Clone)]
pub struct Bootstrapped {
    /// Its id.
    pub account: AccountId,
    /// Where it belongs.
    pub namespace: String,
    /// The record that says that it was made.
    pub account_record: RecordId,
    /// The id of its token.
    pub token: TokenId,
    /// The record that says that it was made.
    pub token_record: RecordId,
    /// The bearer, if the secret was made here.
    pub bearer: Option<String>,
}

impl Engine {
    /// Returns whether anybody has or has had an account: one is in the store, or the home has a
    /// token, which is one as soon as somebody uses it.
    pub fn has_accounts(&self) -> Result<bool, EngineError> {
        Ok(self.0.home_token.is_some() || self.whole().read(|reader| reader.has_accounts())?)
    }

    /// Makes the first account with a token of all its scopes: with a new secret, or with one that is
    /// known elsewhere and of which `brought` is the id and the word for what it is used for. `None`
    /// if there is, or was, an account.
    pub fn bootstrap(
        &self,
        new: NewAccount,
        brought: Option<(TokenId, Option<String>)>,
    ) -> Result<Option<Bootstrapped>, AccountError> {
        if self.0.home_token.is_some() {
            return Ok(None);
        }
        let account = new.into_account()?;
        let (env, id, bearer) = if let Some((id, env)) = brought {
            (env.unwrap_or_else(|| DEFAULT_ENV_TAG.into()), id, None)
        } else {
            let (bearer, id) = new_bearer(DEFAULT_ENV_TAG, account.id.as_str())?;
            (DEFAULT_ENV_TAG.into(), id, Some(bearer))
        };
        check_env(&env)?;
        let token = Token {
            id,
            account: account.id.to_string(),
            name: account.name.clone(),
            env,
            scopes: account.scopes.clone(),
            created_at: Timestamp::default(),
            expires_at: None,
            revoked_at: None,
        };
        self.whole().write(move |tx| {
            if tx.reader().has_accounts()? {
                return Ok(None);
            }
            tx.add_account(&account)?;
            let account_record = note_account(tx, &account, "created", BY, Object::new())?;
            tx.add_token(&token)?;
            let Account { id, namespace, .. } = account;
            let token_record = note_token(tx, &token, &namespace, "minted", BY, Object::new())?;
            Ok(Some(Bootstrapped {
                account: id,
                namespace,
                account_record,
                token: token.id,
                token_record,
                bearer,
            }))
        })
    }
}
