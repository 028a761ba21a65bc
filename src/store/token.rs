//! Bearer tokens: only the hash of a secret is kept.

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Reader, StoreError, Tx};
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
    /// What a person calls it.
    pub name: String,
    /// What it allows, comma-separated.
    pub scopes: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
}

const COLUMNS: &str = "id, name, scopes, created_at, revoked_at";

impl Tx<'_> {
    /// Adds a token.
    pub fn add_token(&mut self, id: &TokenId, name: &str, scopes: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO tokens (id, name, scopes, created_at) VALUES (?1, ?2, ?3, ?4)";
        let row = params![id.as_str(), name, scopes, self.now.as_millis()];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Revokes every live token with this name or this id, and returns how many there were.
    pub fn revoke_tokens(&mut self, name_or_id: &str) -> Result<usize, StoreError> {
        let sql = "UPDATE tokens SET revoked_at = ?2
                   WHERE (name = ?1 OR id = ?1) AND revoked_at IS NULL";
        let row = params![name_or_id, self.now.as_millis()];
        Ok(self.connection.prepare_cached(sql)?.execute(row)?)
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
}

fn token(row: &Row<'_>) -> rusqlite::Result<Token> {
    Ok(Token {
        id: TokenId(row.get(0)?),
        name: row.get(1)?,
        scopes: row.get(2)?,
        created_at: Timestamp::from_millis(row.get(3)?),
        revoked_at: row.get::<_, Option<i64>>(4)?.map(Timestamp::from_millis),
    })
}
