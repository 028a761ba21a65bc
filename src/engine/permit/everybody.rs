//! What a permission rule may look up.

use std::sync::OnceLock;

use super::{Engine, EngineError};
use crate::predicate::{System, SystemFacts, Trust};
use crate::record::ActorId;

/// What a permission rule may look up: of every actor, since it is the operator's own.
pub(super) struct Everybody<'a> {
    engine: &'a Engine,
    system: OnceLock<SystemFacts<'static>>,
    /// Why something could not be read. Whoever looked was told that there is nothing.
    failed: OnceLock<EngineError>,
}

impl<'a> Everybody<'a> {
    pub(super) const fn of(engine: &'a Engine) -> Self {
        Self { engine, system: OnceLock::new(), failed: OnceLock::new() }
    }

    /// Returns `answer`, unless something that led to it could not be read.
    pub(super) fn vouch<T>(self, answer: T) -> Result<T, EngineError> {
        self.failed.into_inner().map_or(Ok(answer), Err)
    }

    fn or_nothing<T: Default>(&self, read: Result<T, EngineError>) -> T {
        read.unwrap_or_else(|error| {
            // The first error says enough.
            let _ = self.failed.set(error);
            T::default()
        })
    }

    fn standing(&self, actor: &str, domain: &str) -> crate::trust::Standing {
        // What is no name of an actor has no verdicts.
        let Ok(actor) = ActorId::parse(actor) else { return crate::trust::Standing::default() };
        self.or_nothing(self.engine.whole_standing(&actor, domain))
    }
}

impl Trust for Everybody<'_> {
    fn score(&self, actor: &str, domain: &str) -> f64 {
        self.standing(actor, domain).score
    }

    fn count(&self, actor: &str, domain: &str) -> i64 {
        self.standing(actor, domain).count(actor, domain)
    }
}

impl System for Everybody<'_> {
    fn read(&self) -> SystemFacts<'_> {
        *self.system.get_or_init(|| self.or_nothing(self.engine.system()))
    }
}
