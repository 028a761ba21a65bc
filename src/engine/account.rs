//! Service accounts: who comes in by a bearer, what they may do and whom they may speak as.
//!
//! What happens to an account or to a token is a record of the engine's as well, on the thread
//! `api_tokens_<namespace>`, in the commit in which it happens. No secret stands there.

use super::actors::{Actors, MAX_ACTORS};
use super::token::{Mint, Minted, Wish};
use super::{Author, Caller, Engine, EngineError, IngestError, Scope, Scopes};
use crate::canon::{Object, hex};
use crate::code::{Code, Coded};
use crate::identity::{RandomError, random_bytes};
use crate::object;
use crate::record::{Act, ActorId, Draft, Namespace, Reason, RecordId, ShapeError, ThreadId};
use crate::secret::mask;
use crate::store::{Account, AccountId, AppendError, StoreError, Tx};
use crate::time::Timestamp;

/// The kind of the record of what happened to an account.
pub const SERVICE_ACCOUNT_KIND: &str = "core.service_account.v1";

/// The most characters in the name of an account or of a token.
pub const MAX_ACCOUNT_NAME_CHARS: usize = 64;

/// The most characters of the reason why an account was revoked.
pub const MAX_REASON_CHARS: usize = 1024;

/// What an account is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewAccount {
    /// Its id; one is made up if there is none.
    pub id: Option<AccountId>,
    /// What a person calls it.
    pub name: String,
    /// Where it belongs. Nothing is decided by it; its records stand there.
    pub namespace: Namespace,
    /// What its tokens may do.
    pub scopes: Scopes,
    /// Whom it may speak as.
    pub actors: Actors,
}

/// Why nothing was done about an account or a token.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccountError {
    /// There is none, or it was revoked.
    #[error("there is no live {what} with this id or name")]
    Unknown {
        /// What was looked for.
        what: &'static str,
    },
    /// Several have this name.
    #[error("more than one live service account has this name")]
    Ambiguous,
    /// There has been one with this id.
    #[error("there is, or was, a service account with this id")]
    Taken,
    /// A token is rotated by whoever holds it, or by the operator.
    #[error("a key is rotated by whoever holds it, or by the operator")]
    NotSelf,
    /// The request violates its shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The caller may not.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for AccountError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<AppendError> for AccountError {
    fn from(error: AppendError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<RandomError> for AccountError {
    fn from(error: RandomError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for AccountError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::NotFound,
            Self::Ambiguous | Self::Taken => Code::InvalidBody,
            Self::NotSelf => Code::RotateNotSelf,
            Self::Shape(error) => error.code(),
            Self::Ingest(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Ambiguous => Some("service_account_id"),
            Self::Taken => Some("id"),
            Self::Shape(error) => error.field(),
            _ => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Ambiguous | Self::Taken => Some(Reason::BadValue.as_str()),
            Self::Shape(error) => error.reason(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { .. } => {
                Some("See `spl service-account list` and `spl token list`.".into())
            }
            Self::Ambiguous => Some("Say which by its id; see `spl service-account list`.".into()),
            Self::Taken | Self::NotSelf => None,
            Self::Shape(error) => error.hint(),
            Self::Ingest(error) => error.hint(),
            Self::Engine(error) => error.hint(),
        }
    }
}

impl NewAccount {
    /// Returns the account of this name that may speak as every actor but those of the system.
    pub fn named(name: &str, scopes: Scopes) -> Self {
        let (namespace, actors) = (Namespace::root(), Actors::every());
        Self { id: None, name: name.to_owned(), namespace, scopes, actors }
    }

    /// Returns the account, if it is what one must be.
    pub(super) fn into_account(self) -> Result<Account, AccountError> {
        self.check()?;
        Ok(Account {
            id: self.id.map_or_else(made_up, Ok)?,
            name: self.name,
            namespace: self.namespace.to_string(),
            scopes: self.scopes.to_string(),
            actors: self.actors.to_string(),
            created_at: Timestamp::default(),
            revoked_at: None,
            reason: None,
        })
    }

    /// Checks what an account must be.
    fn check(&self) -> Result<(), ShapeError> {
        check_name("name", &self.name)?;
        if self.scopes.is_empty() {
            let message = "`scopes` must name at least one scope";
            return Err(ShapeError::new("scopes", Reason::BadValue, message));
        }
        let own = self.id.as_ref().map(AccountId::did);
        let system = self.actors.system().filter(|actor| own.as_ref() != Some(actor));
        if system.is_some() && !self.scopes.is_admin() {
            let message = "`actors` may name a part of the system only beside the scope `admin`";
            return Err(ShapeError::new("actors", Reason::BadValue, message));
        }
        Ok(())
    }
}

/// Checks the name of an account or of a token.
pub(super) fn check_name(field: &str, name: &str) -> Result<(), ShapeError> {
    let length = name.chars().count();
    let most = MAX_ACCOUNT_NAME_CHARS;
    if name.trim().is_empty() || length > most || name.chars().any(char::is_control) {
        let message =
            format!("`{field}` must be 1 to {most} characters without control characters");
        return Err(ShapeError::new(field, Reason::BadValue, message));
    }
    Ok(())
}

/// Lets nobody but the operator through.
pub(super) fn operator_only(caller: &Caller) -> Result<(), IngestError> {
    if caller.is_operator() { Ok(()) } else { Err(IngestError::Scope { needed: Scope::Admin }) }
}

impl Engine {
    /// Makes an account, and a token of it if one is wished for, in one commit.
    pub fn create_account(
        &self,
        caller: &Caller,
        new: NewAccount,
        wish: Option<&Wish>,
    ) -> Result<(Account, Option<Minted>), AccountError> {
        operator_only(caller)?;
        self.admit_home_token()?;
        let namespace = new.namespace.clone();
        let account = new.into_account()?;
        self.enter_namespace(&namespace)?;
        let mint = wish.map(|wish| Mint::of(wish, &account, self.whole().now())).transpose()?;
        let by = caller.name().to_owned();
        let minted = mint.as_ref().map(Mint::minted);
        let account = self.whole().write(move |tx| {
            if tx.reader().account(&account.id)?.is_some() {
                return Err(AccountError::Taken);
            }
            tx.add_account(&account)?;
            let account = tx.reader().account(&account.id)?.unwrap_or(account);
            note_account(tx, &account, "created", &by, Object::new())?;
            if let Some(mint) = mint {
                mint.write(tx, &by)?;
            }
            Ok::<_, AccountError>(account)
        })?;
        Ok((account, minted))
    }

    /// Revokes an account: each of its tokens opens nothing from then on. Returns how many of them
    /// were live.
    pub fn revoke_account(
        &self,
        caller: &Caller,
        id: &AccountId,
        reason: Option<&str>,
    ) -> Result<usize, AccountError> {
        operator_only(caller)?;
        if reason.is_some_and(|it| it.chars().count() > MAX_REASON_CHARS) {
            let message = format!("`reason` has at most {MAX_REASON_CHARS} characters");
            return Err(ShapeError::new("reason", Reason::BadValue, message).into());
        }
        self.admit_home_token()?;
        let (id, by) = (id.clone(), caller.name().to_owned());
        let reason = reason.map(|reason| mask(reason).into_owned());
        self.whole().write(move |tx| {
            if !tx.revoke_account(&id, reason.as_deref())? {
                return Err(AccountError::Unknown { what: "service account" });
            }
            let tokens = tx.reader().tokens_of(&id)?;
            let now = tx.now();
            let live = tokens.iter().filter(|token| token.is_live(now)).count();
            for token in &tokens {
                tx.revoke_token(&token.id)?;
            }
            if let Some(account) = tx.reader().account(&id)? {
                let tokens: Vec<&str> = tokens.iter().map(|token| token.id.as_str()).collect();
                let more = object! { "reason": reason.as_deref(), "tokens": tokens };
                note_account(tx, &account, "revoked", &by, more)?;
            }
            Ok(live)
        })
    }

    /// Returns every account, revoked ones too, oldest first.
    pub fn accounts(&self) -> Result<Vec<Account>, EngineError> {
        self.admit_home_token()?;
        Ok(self.whole().read(|reader| reader.accounts())?)
    }

    /// Returns the account with this id, or the only live one with this name; if none of that name is
    /// live, the newest.
    pub fn find_account(&self, id_or_name: &str) -> Result<Account, AccountError> {
        let accounts = self.accounts()?;
        if let Some(account) = accounts.iter().find(|it| it.id.as_str() == id_or_name) {
            return Ok(account.clone());
        }
        let named = || accounts.iter().filter(|it| it.name == id_or_name);
        let mut live = named().filter(|it| it.revoked_at.is_none());
        match (live.next(), live.next()) {
            (Some(account), None) => Ok(account.clone()),
            (Some(_), Some(_)) => Err(AccountError::Ambiguous),
            (None, _) => {
                let newest = named().next_back().cloned();
                newest.ok_or(AccountError::Unknown { what: "service account" })
            }
        }
    }
}

/// Returns an id that nobody has.
fn made_up() -> Result<AccountId, AccountError> {
    let id = format!("sa-{}", hex(&random_bytes::<8>()?));
    AccountId::parse(&id).ok_or(AccountError::Unknown { what: "service account" })
}

/// Writes down what happened to an account.
pub(super) fn note_account(
    tx: &mut Tx<'_>,
    account: &Account,
    event: &str,
    by: &str,
    more: Object,
) -> Result<RecordId, EngineError> {
    let mut body = object! {
        "actors": words(&account.actors),
        "by": by,
        "did": &account.id.did(),
        "event": event,
        "kind": SERVICE_ACCOUNT_KIND,
        "name": &*mask(&account.name),
        "namespace": account.namespace.as_str(),
        "scopes": words(&account.scopes),
        "service_account_id": account.id.as_str(),
    };
    body.extend(more);
    note(tx, &account.namespace, body)
}

/// Writes a record on the thread of accounts and tokens of a namespace.
pub(super) fn note(
    tx: &mut Tx<'_>,
    namespace: &str,
    body: Object,
) -> Result<RecordId, EngineError> {
    // A namespace was checked when it came in, and fits into a name.
    let thread =
        ThreadId::parse(&format!("api_tokens_{namespace}")).unwrap_or_else(|_| ThreadId::config());
    let draft = Draft::new(thread, ActorId::engine(), Act::Know, body);
    Ok(Author::over(tx).write(draft)?.id())
}

/// Returns the words between commas, as a list.
pub(super) fn words(csv: &str) -> Vec<&str> {
    csv.split(',').filter(|word| !word.is_empty()).collect()
}

/// Returns the actors of an account. What does not read allows nobody but the account itself.
pub(super) fn actors_of(account: &Account) -> Actors {
    debug_assert!(words(&account.actors).len() <= MAX_ACTORS + 1);
    Actors::parse(&account.actors).unwrap_or_default()
}
