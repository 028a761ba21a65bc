//! The wish that something long stop, shared by whoever wishes and whoever works.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// A flag that is raised once. Clones are the same flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    raised: Mutex<bool>,
    wakes: Condvar,
}

impl Cancel {
    /// Returns a flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Raises the flag and wakes everyone who waits for it.
    pub fn cancel(&self) {
        *self.0.raised.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.wakes.notify_all();
    }

    /// Tells whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        *self.0.raised.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the flag is raised or `at_most` has passed, and tells whether it is raised.
    pub fn wait(&self, at_most: Duration) -> bool {
        let raised = self.0.raised.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.0.wakes.wait_timeout_while(raised, at_most, |raised| !*raised);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_raised_flag_wakes_who_waits_on_a_clone() {
        let cancel = Cancel::new();
        assert!(!cancel.wait(Duration::ZERO));
        let waiting = std::thread::spawn({
            let cancel = cancel.clone();
            move || cancel.wait(Duration::from_hours(1))
        });
        cancel.cancel();
        assert!(waiting.join().expect("the waiter"));
        assert!(cancel.is_cancelled());
    }
}
