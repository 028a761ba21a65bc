//! Bearers: who a secret belongs to, how one is made, replaced and taken back.
//!
//! A bearer is `spl_<env>_<account>_<secret>`. Of the secret only the SHA-256 is kept, which is the id
//! of the token too. A token has the scopes that its account had when it was made, or fewer.

use std::fmt;

use super::account::{
    AccountError, actors_of, check_name, note, note_account, operator_only, words,
};
use super::decision::Expiry;
use super::{Actors, Caller, Engine, EngineError, Scopes};
use crate::canon::{Object, hex};
use crate::identity::random_bytes;
use crate::object;
use crate::record::{Reason, RecordId, ShapeError};
use crate::secret::mask;
use crate::store::{Account, AccountId, StoreError, Token, TokenId, Tx};
use crate::time::Timestamp;

/// The kind of the record of what happened to a token.
pub const API_TOKEN_KIND: &str = "core.api_token.v1";

/// The account of the admin token that lies in the home.
const HOME_ACCOUNT: &str = "sa-admin";

/// The word for what a bearer is used for, if nobody says.
pub const DEFAULT_ENV_TAG: &str = "prod";

/// The most characters of that word.
const MAX_ENV_CHARS: usize = 16;

/// A token with its secret: shown once, when it is made.
#[derive(Clone)]
pub struct Minted {
    /// The bearer to put in a header.
    pub bearer: String,
    /// The id by which it can be revoked.
    pub id: TokenId,
}

impl fmt::Debug for Minted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Minted").field("id", &self.id).finish_non_exhaustive()
    }
}

/// What a token is to be.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    /// What a person calls it; the name of its account if there is none.
    pub name: Option<String>,
    /// What it may do, no more than its account may; all of that if there are none.
    pub scopes: Option<Scopes>,
    /// What it is used for: `prod` if nobody says.
    pub env: Option<String>,
    /// When it expires.
    pub expires: Option<Expiry>,
}

/// A token that is about to be stored, with its secret.
pub(super) struct Mint {
    token: Token,
    bearer: String,
    namespace: String,
}

/// The part of a bearer that is hashed.
fn secret_of(bearer: &str) -> Option<&str> {
    let (rest, secret) = bearer.rsplit_once('_')?;
    (rest.starts_with("spl_") && !secret.is_empty()).then_some(secret)
}

/// Returns the id of the token that a bearer holds, if it has the form of one.
pub(super) fn id_of(bearer: &str) -> Option<TokenId> {
    secret_of(bearer).map(TokenId::of_secret)
}

/// Returns a bearer with a new secret, and the id of its token.
pub(super) fn new_bearer(env: &str, account: &str) -> Result<(String, TokenId), EngineError> {
    let secret = hex(&random_bytes::<32>()?);
    let id = TokenId::of_secret(&secret);
    Ok((format!("spl_{env}_{account}_{secret}"), id))
}

/// Checks the word for what a bearer is used for.
pub(super) fn check_env(env: &str) -> Result<(), ShapeError> {
    let good = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if !env.is_empty() && env.len() <= MAX_ENV_CHARS && env.bytes().all(good) {
        return Ok(());
    }
    let message =
        format!("`env_tag` must be 1 to {MAX_ENV_CHARS} lower-case letters, digits and `-`");
    Err(ShapeError::new("env_tag", Reason::BadValue, message))
}

impl Mint {
    /// Makes a token of an account, which is still to be stored.
    pub(super) fn of(wish: &Wish, account: &Account, now: Timestamp) -> Result<Self, AccountError> {
        let name = wish.name.as_deref().unwrap_or(&account.name);
        check_name("name", name)?;
        let scopes = match &wish.scopes {
            None => account.scopes.clone(),
            Some(scopes) => {
                let most = Scopes::parse(&account.scopes).unwrap_or_default();
                if scopes.is_empty() || !scopes.within(&most) {
                    let message = "`scopes` must be some of what the account may do";
                    return Err(ShapeError::new("scopes", Reason::BadValue, message).into());
                }
                scopes.to_string()
            }
        };
        let expires_at = wish.expires.map(|expiry| expiry.from(now)).transpose()?;
        let env = wish.env.as_deref().unwrap_or(DEFAULT_ENV_TAG);
        check_env(env)?;
        Ok(Self::with(account, name, scopes, expires_at, env)?)
    }

    /// Makes the token that takes the place of another: of the same account, with the same scopes,
    /// and no longer than that one.
    fn instead_of(old: &Token, account: &Account) -> Result<Self, EngineError> {
        let (name, scopes) = (old.name.as_str(), old.scopes.clone());
        Self::with(account, name, scopes, old.expires_at, &old.env)
    }

    fn with(
        account: &Account,
        name: &str,
        scopes: String,
        expires_at: Option<Timestamp>,
        env: &str,
    ) -> Result<Self, EngineError> {
        let (bearer, id) = new_bearer(env, account.id.as_str())?;
        let token = Token {
            id,
            account: account.id.to_string(),
            name: name.to_owned(),
            env: env.to_owned(),
            scopes,
            created_at: Timestamp::default(),
            expires_at,
            revoked_at: None,
        };
        Ok(Self { token, bearer, namespace: account.namespace.clone() })
    }

    /// Returns what is shown, once.
    pub(super) fn minted(&self) -> Minted {
        Minted { bearer: self.bearer.clone(), id: self.token.id.clone() }
    }

    /// Stores the token, and writes down that it was made.
    pub(super) fn write(&self, tx: &mut Tx<'_>, by: &str) -> Result<(), EngineError> {
        self.write_as(tx, "minted", None, by)
    }

    fn write_as(
        &self,
        tx: &mut Tx<'_>,
        event: &str,
        replaces: Option<&TokenId>,
        by: &str,
    ) -> Result<(), EngineError> {
        tx.add_token(&self.token)?;
        let replaces = replaces.map(TokenId::as_str);
        let more = object! { "replaces": replaces };
        note_token(tx, &self.token, &self.namespace, event, by, more).map(drop)
    }
}

/// Writes down what happened to a token.
pub(super) fn note_token(
    tx: &mut Tx<'_>,
    token: &Token,
    namespace: &str,
    event: &str,
    by: &str,
    more: Object,
) -> Result<RecordId, EngineError> {
    let mut body = object! {
        "by": by,
        "env_tag": token.env.as_str(),
        "event": event,
        "expires_at": token.expires_at.map(|at| at.to_string()),
        "kind": API_TOKEN_KIND,
        "name": &*mask(&token.name),
        "namespace": namespace,
        "scopes": words(&token.scopes),
        "service_account_id": token.account.as_str(),
        "token_id": token.id.as_str(),
    };
    body.extend(more);
    note(tx, namespace, body)
}

impl Engine {
    /// Makes a token with these scopes, of an account of its own that has this name and may speak as
    /// every actor but those of the system. Its secret is not stored.
    pub fn mint_token(&self, name: &str, scopes: &Scopes) -> Result<Minted, AccountError> {
        let account = super::NewAccount::named(name, scopes.clone());
        let wish = Wish::default();
        let (_, minted) = self.create_account(&Caller::operator(), account, Some(&wish))?;
        minted.ok_or(AccountError::Unknown { what: "token" })
    }

    /// Makes a token of an account. Its secret is not stored.
    pub fn mint(
        &self,
        caller: &Caller,
        account: &AccountId,
        wish: &Wish,
    ) -> Result<Minted, AccountError> {
        operator_only(caller)?;
        self.admit_home_token()?;
        let account = self.live_account(account)?;
        let mint = Mint::of(wish, &account, self.whole().now())?;
        let (minted, by) = (mint.minted(), caller.name().to_owned());
        self.whole().write(move |tx| {
            still_live(tx, &account.id)?;
            Ok::<_, AccountError>(mint.write(tx, &by)?)
        })?;
        Ok(minted)
    }

    /// Gives a token a new secret: a new token of the same account, with the same scopes and the same
    /// end, takes its place, and the old one opens nothing from then on. Only whoever holds it, and
    /// the operator, may.
    pub fn rotate_token(&self, caller: &Caller, id: &TokenId) -> Result<Minted, AccountError> {
        if !caller.is_operator() && caller.token() != Some(id) {
            return Err(AccountError::NotSelf);
        }
        self.admit_home_token()?;
        let now = self.whole().now();
        let old = self.whole().read(|reader| reader.token(id))?;
        let old = old.filter(|token| token.is_live(now));
        let old = old.ok_or(AccountError::Unknown { what: "token" })?;
        let account = AccountId::parse(&old.account);
        let account = account.ok_or(AccountError::Unknown { what: "service account" })?;
        let account = self.live_account(&account)?;
        let mint = Mint::instead_of(&old, &account)?;
        self.replace(caller, vec![old], account, mint)
    }

    /// Gives an account a new key: one token with all of its scopes takes the place of every token
    /// that it has. Only whoever holds one of them, and the operator, may; and nobody gets more, or
    /// for longer, than the token that they came with.
    pub fn rotate_account(&self, caller: &Caller, id: &AccountId) -> Result<Minted, AccountError> {
        let own = caller.account() == Some(id);
        if !caller.is_operator() && !own {
            return Err(AccountError::NotSelf);
        }
        self.admit_home_token()?;
        let account = self.live_account(id)?;
        let old = self.whole().read(|reader| reader.tokens_of(id))?;
        let held = old.iter().find(|token| own && caller.token() == Some(&token.id));
        let mint = match held {
            Some(held) => Mint::instead_of(held, &account)?,
            None => Mint::of(&Wish::default(), &account, self.whole().now())?,
        };
        self.replace(caller, old, account, mint)
    }

    fn replace(
        &self,
        caller: &Caller,
        old: Vec<Token>,
        account: Account,
        mint: Mint,
    ) -> Result<Minted, AccountError> {
        let (minted, by) = (mint.minted(), caller.name().to_owned());
        let of_home = old.iter().any(|token| self.is_of_home(&token.id));
        self.whole().write(move |tx| {
            still_live(tx, &account.id)?;
            let mut replaced = None;
            for token in &old {
                // Whoever was faster has a new secret already; there are no two in its place.
                if !tx.revoke_token(&token.id)? {
                    return Err(AccountError::Unknown { what: "token" });
                }
                replaced = Some(&token.id);
                if old.len() > 1 {
                    note_token(tx, token, &account.namespace, "revoked", &by, Object::new())?;
                }
            }
            Ok(mint.write_as(tx, "rotated", replaced, &by)?)
        })?;
        if let Some(home) = self.home().filter(|_| of_home) {
            home.keep_token(&minted.bearer).map_err(EngineError::from)?;
        }
        Ok(minted)
    }

    /// Returns whether the home holds the bearer of this token.
    fn is_of_home(&self, id: &TokenId) -> bool {
        let held = self.home().and_then(|home| home.token().ok().flatten());
        held.as_deref().and_then(id_of).is_some_and(|held| held == *id)
    }

    fn live_account(&self, id: &AccountId) -> Result<Account, AccountError> {
        let account = self.whole().read(|reader| reader.account(id))?;
        account
            .filter(|account| account.revoked_at.is_none())
            .ok_or(AccountError::Unknown { what: "service account" })
    }

    /// Makes sure that the store knows the admin token of the home. Not done before somebody uses
    /// it or has to do with tokens: who only opens a store, to verify it for example, changes nothing.
    pub(super) fn admit_home_token(&self) -> Result<(), EngineError> {
        let Some(id) = self.0.home_token.clone() else { return Ok(()) };
        if self.whole().read(|reader| Ok(reader.token(&id)?.is_some()))? {
            return Ok(());
        }
        self.whole().write(move |tx| {
            // Another process may have been faster.
            if tx.reader().token(&id)?.is_some() {
                return Ok(());
            }
            let account = home_account(tx, &id)?;
            let token = Token {
                account: account.id.to_string(),
                name: "admin".into(),
                env: DEFAULT_ENV_TAG.into(),
                scopes: account.scopes.clone(),
                created_at: tx.now(),
                expires_at: None,
                revoked_at: None,
                id,
            };
            tx.add_token(&token)?;
            note_token(tx, &token, &account.namespace, "minted", "operator", Object::new())?;
            Ok(())
        })
    }

    /// Returns who holds this bearer; `None` if nobody does, or not any more: if the token was
    /// revoked or has expired, or its account was revoked.
    pub fn authenticate(&self, bearer: &str) -> Result<Option<Caller>, EngineError> {
        let Some(id) = id_of(bearer) else { return Ok(None) };
        let find = || {
            self.whole().read(|reader| {
                let Some(token) = reader.token(&id)? else { return Ok(None) };
                let account = match AccountId::parse(&token.account) {
                    Some(account) => reader.account(&account)?,
                    None => None,
                };
                Ok(Some((token, account)))
            })
        };
        let mut found = find()?;
        if found.is_none() && self.0.home_token.as_ref() == Some(&id) {
            self.admit_home_token()?;
            found = find()?;
        }
        let Some((token, Some(account))) = found else { return Ok(None) };
        if account.revoked_at.is_some() || !token.is_live(self.whole().now()) {
            return Ok(None);
        }
        // Scopes were checked when the token was made; what does not read now allows nothing.
        let scopes = Scopes::parse(&token.scopes).unwrap_or_default();
        Ok(Some(Caller::holder(account.id.clone(), token.id, scopes, actors_of(&account))))
    }

    /// Returns every token, without secrets.
    pub fn tokens(&self) -> Result<Vec<Token>, EngineError> {
        self.admit_home_token()?;
        Ok(self.whole().read(|reader| reader.tokens())?)
    }

    /// Returns the token with this id, revoked or not.
    pub fn token(&self, id: &TokenId) -> Result<Option<Token>, EngineError> {
        Ok(self.whole().read(|reader| reader.token(id))?)
    }

    /// Revokes the live tokens with this name or id, and returns how many there were.
    pub fn revoke_tokens(&self, caller: &Caller, name_or_id: &str) -> Result<usize, AccountError> {
        operator_only(caller)?;
        self.admit_home_token()?;
        let (wanted, by) = (name_or_id.to_owned(), caller.name().to_owned());
        self.whole().write(move |tx| {
            let tokens = tx.reader().tokens()?;
            let named = |token: &&Token| token.name == wanted || token.id.as_str() == wanted;
            let mut revoked = 0;
            for token in tokens.iter().filter(named) {
                if tx.revoke_token(&token.id)? {
                    let namespace = namespace_of(tx, token)?;
                    note_token(tx, token, &namespace, "revoked", &by, Object::new())?;
                    revoked += 1;
                }
            }
            Ok(revoked)
        })
    }
}

/// Returns the account of the home's admin token, made if it is not there. One that was revoked
/// stays so; the next token of the home has one of its own.
fn home_account(tx: &mut Tx<'_>, token: &TokenId) -> Result<Account, EngineError> {
    let of_token = format!("sa-{}", token.as_str().chars().take(16).collect::<String>());
    for id in [HOME_ACCOUNT, &of_token] {
        let Some(id) = AccountId::parse(id) else { continue };
        match tx.reader().account(&id)? {
            Some(account) if account.revoked_at.is_some() => {}
            Some(account) => return Ok(account),
            None => {
                let account = Account {
                    id,
                    name: "admin".into(),
                    namespace: "default".into(),
                    scopes: super::Scope::Admin.to_string(),
                    actors: Actors::every().to_string(),
                    created_at: tx.now(),
                    revoked_at: None,
                    reason: None,
                };
                tx.add_account(&account)?;
                note_account(tx, &account, "created", "operator", Object::new())?;
                return Ok(account);
            }
        }
    }
    Err(StoreError::Damaged {
        sequence: 0,
        what: "the account of the home's token was revoked, and the token was not".into(),
    }
    .into())
}

fn still_live(tx: &Tx<'_>, id: &AccountId) -> Result<(), AccountError> {
    let account = tx.reader().account(id)?;
    let live = account.is_some_and(|account| account.revoked_at.is_none());
    live.then_some(()).ok_or(AccountError::Unknown { what: "service account" })
}

fn namespace_of(tx: &Tx<'_>, token: &Token) -> Result<String, StoreError> {
    let account = match AccountId::parse(&token.account) {
        Some(id) => tx.reader().account(&id)?,
        None => None,
    };
    Ok(account.map_or_else(|| "default".to_owned(), |account| account.namespace))
}
