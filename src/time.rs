//! The time of day, as a value handed in; never the protocol's clock.
//!
//! **Invariant:** only this module asks the machine for the time. Everything else is given a
//! [`Timestamp`], or a [`TimeSource`] to ask.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// A point in time: milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    /// Returns the timestamp of `millis` since the epoch.
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The last one that can be written: 9999-12-31T23:59:59.999Z.
    pub const LAST: Self = Self(253_402_300_799_999);

    /// Reads a time such as `2026-11-30T13:37:00Z` (RFC 3339), with any offset.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse::<jiff::Timestamp>().ok().map(|at| Self(at.as_millisecond()))
    }

    /// Returns the milliseconds since the epoch.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns the whole seconds since the epoch.
    pub const fn as_secs(self) -> i64 {
        self.0.div_euclid(1000)
    }
}

/// `2026-11-30T13:37:00.000Z` (RFC 3339).
impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = jiff::Timestamp::from_second(self.as_secs()).map_err(|_| fmt::Error)?;
        write!(f, "{}.{:03}Z", seconds.strftime("%Y-%m-%dT%H:%M:%S"), self.0.rem_euclid(1000))
    }
}

/// Where the time comes from.
#[derive(Debug, Clone)]
pub struct TimeSource(Source);

#[derive(Debug, Clone)]
enum Source {
    System,
    Stepped { next: Arc<AtomicI64>, step_millis: i64 },
}

impl TimeSource {
    /// Returns the time of this machine.
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// Returns a time that starts at `start` and moves by `step_millis` each time it is asked.
    pub fn stepped(start: Timestamp, step_millis: i64) -> Self {
        Self(Source::Stepped { next: Arc::new(AtomicI64::new(start.0)), step_millis })
    }

    /// Returns the time now.
    #[expect(clippy::disallowed_methods, reason = "this module is where the time is asked")]
    pub fn now(&self) -> Timestamp {
        match &self.0 {
            Source::System => {
                let since_epoch =
                    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
                Timestamp(i64::try_from(since_epoch.as_millis()).unwrap_or(i64::MAX))
            }
            Source::Stepped { next, step_millis } => {
                Timestamp(next.fetch_add(*step_millis, Ordering::Relaxed))
            }
        }
    }
}

/// Measures how long something takes, unmoved by changes of the time of day.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts measuring.
    #[expect(clippy::disallowed_methods, reason = "this module is where the time is asked")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Returns the time since the start.
    pub fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_read_as_utc() {
        let text = |millis| Timestamp::from_millis(millis).to_string();
        assert_eq!(text(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(text(951_782_400_000), "2000-02-29T00:00:00.000Z");
        assert_eq!(text(1_796_045_823_007), "2026-11-30T13:37:03.007Z");
        assert_eq!(text(-1), "1969-12-31T23:59:59.999Z");
    }
}
