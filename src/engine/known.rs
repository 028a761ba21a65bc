//! What predicates may look up in the store: read when the first of them looks, and then kept.

use std::sync::OnceLock;

use super::{Engine, EngineError, RunSeat};
use crate::predicate::{System, SystemFacts, Trust};
use crate::trust::Standing;

/// What the predicates that are asked about one call may look up. Most look at nothing of it.
pub(super) struct Known<'a> {
    engine: &'a Engine,
    seat: &'a RunSeat,
    standing: OnceLock<Standing>,
    system: OnceLock<SystemFacts<'static>>,
    /// Why something could not be read. Whoever looked was told that there is nothing.
    failed: OnceLock<EngineError>,
}

impl<'a> Known<'a> {
    pub(super) fn new(engine: &'a Engine, seat: &'a RunSeat) -> Self {
        Self {
            engine,
            seat,
            standing: OnceLock::new(),
            system: OnceLock::new(),
            failed: OnceLock::new(),
        }
    }

    /// Returns `answer`, unless something that it may rest on could not be read.
    pub(super) fn vouch<T>(&mut self, answer: T) -> Result<T, EngineError> {
        self.failed.take().map_or(Ok(answer), Err)
    }

    fn standing(&self) -> Standing {
        *self.standing.get_or_init(|| {
            self.or_nothing(self.engine.whole_standing(&self.seat.actor, &self.seat.domain))
        })
    }

    fn or_nothing<T: Default>(&self, read: Result<T, EngineError>) -> T {
        read.unwrap_or_else(|error| {
            // The first error says enough.
            let _ = self.failed.set(error);
            T::default()
        })
    }
}

/// The trust in the run's own actor, in its own domain.
impl Trust for Known<'_> {
    fn score(&self, actor: &str, domain: &str) -> f64 {
        self.standing().score(actor, domain)
    }

    fn count(&self, actor: &str, domain: &str) -> i64 {
        self.standing().count(actor, domain)
    }
}

impl System for Known<'_> {
    fn read(&self) -> SystemFacts<'_> {
        *self.system.get_or_init(|| self.or_nothing(self.engine.system()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Hooks;
    use crate::record::{ActorId, Namespace, ThreadId};

    #[test]
    fn what_could_not_be_read_is_told_to_whoever_asked_for_the_answer() {
        let engine = Engine::in_memory().expect("an engine");
        let seat = RunSeat {
            thread: ThreadId::parse("th_run").expect("a thread"),
            life: 0,
            actor: ActorId::engine(),
            domain: "ops".into(),
            namespace: Namespace::root(),
            hooks: Hooks::Live,
        };
        let mut known = Known::new(&engine, &seat);
        assert_eq!((known.count("", ""), known.read().records_total), (0, 0));
        assert!(known.vouch(()).is_ok());
        let unread: Standing =
            known.or_nothing(Err(EngineError::ContendedClock { thread: "th_run".into() }));
        assert_eq!(unread, Standing::default());
        assert!(matches!(known.vouch(()), Err(EngineError::ContendedClock { .. })));
    }
}
