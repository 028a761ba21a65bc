//! How much there is: what predicates read as `system`.

use std::sync::PoisonError;

use super::{Engine, EngineError};
use crate::predicate::SystemFacts;
use crate::time::Timestamp;

/// How old the count of threads may be. Counting them walks an index from end to end.
const MAX_AGE_SECS: i64 = 60;

/// The count of threads, and when it was taken.
#[derive(Default)]
pub(super) struct Census {
    threads: i64,
    taken_at: Option<Timestamp>,
}

impl Engine {
    /// Returns what predicates read as `system`. The number of threads may be a minute old.
    pub(super) fn system(&self) -> Result<SystemFacts<'static>, EngineError> {
        let records_total = self.whole().read(|reader| reader.last())?.get();
        Ok(SystemFacts {
            uptime_secs: i64::try_from(self.uptime_secs()).unwrap_or(i64::MAX),
            records_total,
            threads_total: self.threads_total()?,
            daemon_version: env!("CARGO_PKG_VERSION"),
        })
    }

    fn threads_total(&self) -> Result<i64, EngineError> {
        let mut census = self.0.census.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.whole().now();
        let fresh = census
            .taken_at
            .is_some_and(|at| (0..MAX_AGE_SECS).contains(&(now.as_secs() - at.as_secs())));
        if !fresh {
            census.threads = self.whole().read(|reader| reader.thread_count())?;
            census.taken_at = Some(now);
        }
        Ok(census.threads)
    }
}
