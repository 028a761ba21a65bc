//! The engine: doors, the checks behind them in one visible list, and the live set that readers
//! share.
//!
//! Comes in: what a caller wants to write, and what a run has seen. Goes out: what was stored, and
//! the words that hooks have for it. Everything that writes a record goes through here; the faces
//! and the work loop are its callers.
//!
//! An engine may be opened on one home by any number of processes at once. Each learns of the
//! others' writes before it asks a hook (decision 1), so that a hook written from another terminal
//! speaks on the very next tool call of a run in this one.
//!
//! **Invariant:** the engine is the only caller of the store's append. Checks run in the order of
//! decision 20, and the order is written down once, in [`door`](Engine::ingest).

mod account;
mod actors;
mod author;
mod bootstrap;
mod caller;
mod candidates;
mod census;
mod compensation;
mod decision;
mod denial;
mod door;
mod driver;
mod erase;
mod error;
mod health;
mod home;
mod identity;
mod import;
mod known;
mod live;
mod namespace;
mod observe;
mod permit;
mod review;
mod scope;
mod seam;
mod settings;
mod signature;
mod together;
mod token;
mod trusted;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use account::{
    AccountError, MAX_ACCOUNT_NAME_CHARS, MAX_REASON_CHARS, NewAccount, SERVICE_ACCOUNT_KIND,
};
pub use actors::{Actors, MAX_ACTORS, UnknownActor};
pub use author::Author;
pub use bootstrap::{BOOTSTRAP_ACCOUNT, Bootstrapped};
pub use caller::Caller;
pub use candidates::Concerned;
pub use decision::{
    AskedFor, DECISION_KIND, DECISION_REQUEST_KIND, DecideError, Decided, DecisionAnswer,
    DecisionRequest, DecisionState, DecisionVerb, Expiry, Lesson, Swept,
};
pub use denial::{DENIAL_KIND, DENIAL_TOPIC, Denial, Due};
pub use door::Ingested;
pub use driver::{Driven, DriverLock};
pub use erase::{Erasure, ErasureRequest};
pub use error::{EngineError, IngestError};
pub use home::{Home, HomeError, KeyHolder, Made};
pub use identity::{Identity, IdentityError, KeyChange, KeyState, Recovered};
pub use import::{
    ImportError, ImportLine, Imported, MAX_IMPORT_LINE_BYTES, MAX_IMPORT_LINES, RefusedLine,
};
pub use live::Live;
pub use namespace::NamespaceChange;
pub use observe::{ObserveError, ObservedCall, Spoken};
pub use permit::{LockoutError, Preflight, Request};
pub use review::{MAX_NOTES_CHARS, Review, ReviewError, Reviewed};
pub use scope::{Grain, MAX_SCOPES, Place, Scope, Scopes, UnknownScope, Way};
pub use seam::{Heard, Hooks, RunSeat, ToolReturn};
pub(crate) use seam::{count_asked, observation};
pub use settings::{
    McpServer, McpTransport, ModelSettings, ProviderSettings, Rollout, RuntimeSettings, Settings,
    WireFormat,
};
pub(crate) use together::Together;
pub use token::{API_TOKEN_KIND, DEFAULT_ENV_TAG, Minted, Wish};

use crate::identity::{KeyPair, Keyring, random_bytes};
use crate::predicate::ExpressionCache;
use crate::store::{OpenError, Probe, Sight, Store, StoreOptions, TokenId};
use crate::time::{Stopwatch, TimeSource};

/// How to open an engine.
pub struct EngineOptions {
    /// Where the time comes from.
    pub time: TimeSource,
    /// Whether to fold the write-ahead log into the file on close, as a server does.
    pub checkpoint_on_close: bool,
    /// Told each stage of an append; for tests that stop a process there.
    pub probe: Option<Probe>,
    /// Another file than the home's own.
    pub store_path: Option<std::path::PathBuf>,
    /// Whether this process takes one event of a session and ends. It has the key of the instance
    /// alone, so nothing can be stated by its operator.
    pub brief: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            time: TimeSource::system(),
            checkpoint_on_close: false,
            probe: None,
            store_path: None,
            brief: false,
        }
    }
}

/// An open instance. Cheap to clone; all clones are one.
///
/// The second member is the store as this handle reads it: all of it, or what somebody may see. The
/// folds that all handles share, and the doors, read the whole one.
#[derive(Clone)]
pub struct Engine(Arc<Inner>, Store);

struct Inner {
    store: Store,
    /// Where it lives; `None` in memory.
    home: Option<Home>,
    /// The admin token of the home, which the store may not know yet.
    home_token: Option<TokenId>,
    expressions: Arc<ExpressionCache>,
    live: live::Refresher,
    trust: std::sync::Mutex<trusted::Counted>,
    census: std::sync::Mutex<census::Census>,
    drivers: driver::Drivers,
    skipped: permit::Skipped,
    operator: permit::Operator,
    denials: denial::Denials,
    ledger: std::sync::Mutex<decision::Ledger>,
    observed: std::sync::Mutex<observe::ExternalRuns>,
    ingested: AtomicU64,
    up: Stopwatch,
}

impl Engine {
    /// Opens the instance of a home, which must have been made. Nothing is written to a store that
    /// is there and up to date.
    pub fn open(home: &Home, options: EngineOptions) -> Result<Self, EngineError> {
        let brief = options.brief;
        identity::settle(home, brief)?;
        let keyring = if brief { home.instance_keyring()? } else { home.keyring()? };
        let keyring = match options.store_path {
            Some(_) => identity::knowing_former(home, keyring)?,
            None => keyring,
        };
        let path = match options.store_path {
            Some(path) if is_empty(&path) => {
                // A copy that was cut off to nothing is not one of a store without records.
                return Err(OpenError::NotAStore { path, what: "it is empty".into() }.into());
            }
            Some(path) => path,
            None => home.store_path(),
        };
        let store = Store::open(
            &path,
            StoreOptions {
                checkpoint_on_close: options.checkpoint_on_close,
                brief,
                probe: options.probe,
                ..StoreOptions::new(keyring, options.time)
            },
        )?;
        // Nobody comes to a brief engine with a token.
        let token = if brief { None } else { home.token()? };
        Ok(Self::over(store, Some(home), token.as_deref()))
    }

    /// Opens an instance in memory with keys of its own. It ends with the last clone.
    pub fn in_memory() -> Result<Self, EngineError> {
        let seed = random_bytes()?;
        let keyring = Keyring::new(KeyPair::from_seed(&seed));
        Self::in_memory_with(StoreOptions::new(keyring, TimeSource::system()))
    }

    /// Opens an instance in memory with these keys and this time.
    pub fn in_memory_with(options: StoreOptions) -> Result<Self, EngineError> {
        Ok(Self::over(Store::in_memory(options)?, None, None))
    }

    fn over(store: Store, home: Option<&Home>, token: Option<&str>) -> Self {
        let drivers = home.map(|home| driver::Drivers::in_folder(home.drivers_path()));
        let home_token = token.and_then(token::id_of);
        let seen = store.clone();
        let inner = Inner {
            store,
            home: home.cloned(),
            home_token,
            expressions: Arc::default(),
            live: live::Refresher::default(),
            trust: std::sync::Mutex::default(),
            census: std::sync::Mutex::default(),
            drivers: drivers.unwrap_or_default(),
            ledger: std::sync::Mutex::default(),
            observed: std::sync::Mutex::default(),
            skipped: permit::Skipped::default(),
            operator: permit::Operator::default(),
            denials: denial::Denials::default(),
            ingested: AtomicU64::new(0),
            up: Stopwatch::start(),
        };
        Self(Arc::new(inner), seen)
    }

    /// Ends a brief engine with its process, which closes nothing: what it has written is durable,
    /// and the kernel lets go of the rest for nothing.
    pub fn leave(self) {
        self.0.store.clone().leave();
    }

    /// Returns this instance as a caller sees it: what they may not read is not there.
    #[must_use]
    pub fn seen_by(&self, caller: &Caller) -> Self {
        Self(Arc::clone(&self.0), self.0.store.narrowed(caller.sight()))
    }

    /// Returns this instance as this handle sees it within a sight.
    ///
    /// A handle that sees a part already sees no more of it afterwards: then it stays as it is.
    #[must_use]
    pub(crate) fn seeing(&self, sight: Sight) -> Self {
        if self.1.is_narrowed() {
            return self.clone();
        }
        Self(Arc::clone(&self.0), self.0.store.narrowed(sight))
    }

    /// Returns where the instance lives; `None` for one in memory.
    pub fn home(&self) -> Option<&Home> {
        self.0.home.as_ref()
    }

    /// Returns the store, for reading, as this handle sees it.
    pub fn store(&self) -> &Store {
        &self.1
    }

    /// Returns the whole store: for what all handles share, and for what has a check of its own.
    pub(crate) fn whole(&self) -> &Store {
        &self.0.store
    }

    /// Returns the expressions that this engine has compiled: those of hooks, when they are written
    /// and when they are loaded, and those that somebody tried out.
    pub fn expressions(&self) -> &ExpressionCache {
        &self.0.expressions
    }
}

fn is_empty(path: &std::path::Path) -> bool {
    path.metadata().is_ok_and(|file| file.is_file() && file.len() == 0)
}
