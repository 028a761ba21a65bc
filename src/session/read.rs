//! Reading the thread of a session.

use super::account::Account;
use crate::engine::{Engine, EngineError};
use crate::fold::Fold as _;
use crate::record::{Sequence, ThreadId};
use crate::store::ThreadRange;

/// How many records are read at once.
const PAGE: usize = 500;

/// Returns what the records of a thread add up to, and the last of them. Of a thread that is no
/// session's, that is an account without a charter.
pub fn account_of(engine: &Engine, thread: &ThreadId) -> Result<(Account, Sequence), EngineError> {
    Ok(engine.store().read(|reader| {
        let mut account = Account::default();
        let mut range = ThreadRange::default();
        loop {
            let (page, more) = reader.thread_page(thread, range, PAGE)?;
            for stored in &page {
                if stored.erased.is_none() {
                    account.evolve(&stored.received());
                }
                range.after = stored.sequence;
            }
            if !more {
                return Ok((account, range.after));
            }
        }
    })?)
}
