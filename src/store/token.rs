//! Bearer tokens: only the hash of a secret is kept.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{AccountId, Reader, StoreError, Tx};
use crate::canon::{hash_of, hex};
use crate::time::Timestamp;

/// Names a token by the SHA-256 of its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenId(String);

impl TokenId {
    /// Returns the id of the token with this secret.
    pub fn of_secret(secret: &str) -> Self {
        Self(hex(&hash_of(&[secret.as_bytes()])))
    }

    /// Checks and takes an id: 64 hex characters.
    pub fn parse(text: &str) -> Option<Self> {
        let hex = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        (text.len() == 64 && text.bytes().all(hex)).then(|| Self(text.into()))
    }

    /// Returns the id as 64 hex characters.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A token, without its secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Its id.
    pub id: TokenId,
    /// Whose it is, in the form of an [`AccountId`].
    pub account: String,
    /// What a person calls it.
    pub name: String,
    /// What it is used for; a word of its bearer.
    pub env: String,
    /// What it allows, comma-separated: what its account had when it was made, or less.
    pub scopes: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it expires; the first moment at which it opens nothing.
    pub expires_at: Option<Timestamp>,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

const COLUMNS: &str = "id, account, name, env, scopes, created_at, expires_at, revoked_at";

impl Token {
    /// Returns whether it opens anything now, as far as it decides it itself.
    pub fn is_live(&self, now: Timestamp) -> bool {
        self.revoked_at.is_none() && self.expires_at.is_none_or(|at| now < at)
    }
}

impl Tx<'_> {
    /// Adds a token; its time is that of this transaction.
    pub fn add_token(&mut self, token: &Token) -> Result<(), StoreError> {
        let sql = "INSERT INTO tokens (id, account, name, env, scopes, created_at, expires_at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        let Token { id, account, name, env, scopes, expires_at, .. } = token;
        let expires_at = expires_at.map(Timestamp::as_millis);
        let row =
            params![id.as_str(), account, name, env, scopes, self.now.as_millis(), expires_at];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Revokes a token, unless it is; returns whether it was live.
    pub fn revoke_token(&mut self, id: &TokenId) -> Result<bool, StoreError> {
        let sql = "UPDATE tokens SET revoked_at = ?2 WHERE id = ?1 AND revoked_at IS NULL";
        let row = params![id.as_str(), self.now.as_millis()];
        Ok(self.connection.prepare_cached(sql)?.execute(row)? > 0)
    }
}

impl Reader<'_> {
    /// Returns the token with this id, revoked or not.
    pub fn token(&self, id: &TokenId) -> Result<Option<Token>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM tokens WHERE id = ?1");
        Ok(self.connection.prepare_cached(&sql)?.query_row([id.as_str()], token).optional()?)
    }

    /// Returns every token, oldest first.
    pub fn tokens(&self) -> Result<Vec<Token>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM tokens ORDER BY created_at, name, id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let tokens = statement.query_map([], token)?.collect::<Result<_, _>>()?;
        Ok(tokens)
    }

    /// Returns the tokens of an account that nobody has revoked, oldest first.
    pub fn tokens_of(&self, account: &AccountId) -> Result<Vec<Token>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM tokens WHERE account = ?1 AND revoked_at IS NULL
             ORDER BY created_at, name, id"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let tokens = statement.query_map([account.as_str()], token)?.collect::<Result<_, _>>()?;
        Ok(tokens)
    }
}

fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    let time = |at: Option<i64>| at.map(Timestamp::from_millis);
    Ok(Token {
        id: TokenId(row.get(0)?),
        account: row.get(1)?,
        name: row.get(2)?,
        env: row.get(3)?,
        scopes: row.get(4)?,
        created_at: Timestamp::from_millis(row.get(5)?),
        expires_at: time(row.get(6)?),
        revoked_at: time(row.get(7)?),
    })
}
