//! Service accounts: who comes in by a bearer.

use std::fmt;

use rusqlite::{OptionalExtension as _, Row, params};

use super::{Reader, StoreError, Tx};
use crate::record::ActorId;
use crate::time::Timestamp;

/// The most characters of an id.
const MAX_ID: usize = 64;

/// Names a service account: `sa-` and lower-case letters, digits and `-`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AccountId(String);

impl AccountId {
    /// Checks and takes an id.
    pub fn parse(text: &str) -> Option<Self> {
        let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        let rest = text.strip_prefix("sa-")?;
        let well_formed = !rest.is_empty() && text.len() <= MAX_ID && rest.bytes().all(good);
        well_formed.then(|| Self(text.into()))
    }

    /// Returns the id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the actor that the account is: `did:sync:system:<id>`.
    pub fn did(&self) -> ActorId {
        ActorId::of_account(&self.0)
    }
}

impl fmt::Display for AccountId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A service account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Its id.
    pub id: AccountId,
    /// What a person calls it.
    pub name: String,
    /// Where it belongs; nothing is decided by it.
    pub namespace: String,
    /// What its tokens may do, comma-separated.
    pub scopes: String,
    /// Whom it may speak as, comma-separated.
    pub actors: String,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was revoked, if it was.
    pub revoked_at: Option<Timestamp>,
    /// Why it was.
    pub reason: Option<String>,
}

const COLUMNS: &str = "id, name, namespace, scopes, actors, created_at, revoked_at, reason";

impl Tx<'_> {
    /// Adds an account; its time is that of this transaction.
    pub fn add_account(&mut self, account: &Account) -> Result<(), StoreError> {
        let sql = "INSERT INTO accounts (id, name, namespace, scopes, actors, created_at)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let Account { id, name, namespace, scopes, actors, .. } = account;
        let row = params![id.as_str(), name, namespace, scopes, actors, self.now.as_millis()];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Revokes an account, unless it is; returns whether it was live.
    pub fn revoke_account(
        &mut self,
        id: &AccountId,
        reason: Option<&str>,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE accounts SET revoked_at = ?2, reason = ?3
                   WHERE id = ?1 AND revoked_at IS NULL";
        let row = params![id.as_str(), self.now.as_millis(), reason];
        Ok(self.connection.prepare_cached(sql)?.execute(row)? > 0)
    }
}

impl Reader<'_> {
    /// Returns the account with this id, revoked or not.
    pub fn account(&self, id: &AccountId) -> Result<Option<Account>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM accounts WHERE id = ?1");
        Ok(self.connection.prepare_cached(&sql)?.query_row([id.as_str()], account).optional()?)
    }

    /// Returns whether there is an account, revoked or not.
    pub fn has_accounts(&self) -> Result<bool, StoreError> {
        let sql = "SELECT EXISTS (SELECT 1 FROM accounts)";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns every account, oldest first.
    pub fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM accounts ORDER BY created_at, name, id");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let accounts = statement.query_map([], account)?.collect::<Result<_, _>>()?;
        Ok(accounts)
    }
}

fn account(row: &Row<'_>) -> rusqlite::Result<Account> {
    let time = |millis: i64| Timestamp::from_millis(millis);
    Ok(Account {
        id: AccountId(row.get(0)?),
        name: row.get(1)?,
        namespace: row.get(2)?,
        scopes: row.get(3)?,
        actors: row.get(4)?,
        created_at: time(row.get(5)?),
        revoked_at: row.get::<_, Option<i64>>(6)?.map(time),
        reason: row.get(7)?,
    })
}
