//! The wish that something long stop, shared by whoever wishes and whoever works.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::time::Stopwatch;

/// A flag that is raised once, by hand or when its time is up. Clones are the same flag.
#[derive(Debug, Clone, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    state: Mutex<State>,
    wakes: Condvar,
    /// When it is raised by itself.
    deadline: Option<Deadline>,
}

#[derive(Debug, Default)]
struct State {
    raised: bool,
    /// Whether what stops is to be taken up again.
    interrupted: bool,
    /// Flags that are raised with this one.
    children: Vec<Weak<Flag>>,
}

#[derive(Debug)]
struct Deadline {
    watch: Stopwatch,
    after: Duration,
}

impl Cancel {
    /// Returns a flag that is not raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a flag that is raised with this one, and at the latest after `at_most`. Raising it
    /// does not raise this one.
    #[must_use]
    pub fn within(&self, at_most: Duration) -> Self {
        let mut state = self.0.state();
        let child = Arc::new(Flag {
            state: Mutex::new(State { raised: state.raised, ..State::default() }),
            wakes: Condvar::new(),
            deadline: Some(Deadline { watch: Stopwatch::start(), after: at_most }),
        });
        state.children.retain(|child| child.strong_count() > 0);
        state.children.push(Arc::downgrade(&child));
        Self(child)
    }

    /// Raises the flag and wakes everyone who waits for it.
    pub fn cancel(&self) {
        self.0.raise();
    }

    /// Raises the flag for somebody who means to take up again what stops: it ends where it can go
    /// on from, and not for good.
    pub fn interrupt(&self) {
        {
            let mut state = self.0.state();
            state.interrupted = !state.raised;
        }
        self.cancel();
    }

    /// Tells whether this flag was first raised by [`Cancel::interrupt`].
    pub fn is_interrupted(&self) -> bool {
        self.0.state().interrupted
    }

    /// Tells whether the flag is raised.
    pub fn is_cancelled(&self) -> bool {
        self.0.time_left() == Some(Duration::ZERO) || self.0.state().raised
    }

    /// Waits until the flag is raised or `at_most` has passed, and tells whether it is raised.
    pub fn wait(&self, at_most: Duration) -> bool {
        let at_most = self.0.time_left().map_or(at_most, |left| left.min(at_most));
        let state = self.0.state();
        let waited = self.0.wakes.wait_timeout_while(state, at_most, |state| !state.raised);
        drop(waited);
        self.is_cancelled()
    }
}

impl Flag {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how long it is until the flag raises itself, if it does.
    fn time_left(&self) -> Option<Duration> {
        let Deadline { watch, after } = self.deadline.as_ref()?;
        Some(after.saturating_sub(watch.elapsed()))
    }

    fn raise(&self) {
        let children = {
            let mut state = self.state();
            state.raised = true;
            std::mem::take(&mut state.children)
        };
        self.wakes.notify_all();
        for child in children.iter().filter_map(Weak::upgrade) {
            child.raise();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_hours(1);

    #[test]
    fn a_raised_flag_wakes_who_waits_on_a_clone() {
        let cancel = Cancel::new();
        assert!(!cancel.wait(Duration::ZERO));
        let waiting = std::thread::spawn({
            let cancel = cancel.clone();
            move || cancel.wait(LONG)
        });
        cancel.cancel();
        assert!(waiting.join().expect("the waiter"));
        assert!(cancel.is_cancelled());
    }

    #[test]
    fn a_flag_with_a_deadline_is_raised_with_its_parent_and_not_the_other_way_round() {
        let parent = Cancel::new();
        let child = parent.within(LONG);
        let grandchild = child.within(LONG);
        let waiting = std::thread::spawn(move || grandchild.wait(LONG));
        child.cancel();
        assert!(waiting.join().expect("the waiter"));
        assert!(!parent.is_cancelled());
        let other = parent.within(LONG);
        assert!(!other.is_cancelled());
        parent.cancel();
        assert!(other.is_cancelled() && parent.within(LONG).is_cancelled());
    }

    #[test]
    fn a_flag_raises_itself_when_its_time_is_up() {
        let parent = Cancel::new();
        assert!(parent.within(Duration::ZERO).is_cancelled());
        assert!(parent.within(Duration::from_millis(1)).wait(LONG));
        assert!(!parent.is_cancelled());
    }
}
