//! Trust, folded from the verdicts in the store as they arrive (contract §8).

use std::sync::PoisonError;

use super::{Engine, EngineError};
use crate::record::{ActorId, RecordId};
use crate::trust::{KnownAuthors, Standing};

/// How many verdicts are read at once.
const PAGE: usize = 1000;

impl Engine {
    /// Returns how an actor stands in a domain now.
    pub fn standing(&self, actor: &ActorId, domain: &str) -> Result<Standing, EngineError> {
        let mut trusted = self.0.trust.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            let after = trusted.watermark();
            let page = self.store().read(|reader| {
                let (verdicts, more) = reader.verdicts(after, PAGE)?;
                let mut authors = KnownAuthors::default();
                for id in verdicts.iter().flat_map(|stored| judged(&stored.record)) {
                    if let Some((sequence, author)) = reader.author(id)? {
                        authors.add(id, sequence, author);
                    }
                }
                Ok((verdicts, authors, more))
            })?;
            let (verdicts, authors, more) = page;
            for stored in &verdicts {
                trusted.evolve(&stored.received(), &authors);
            }
            if !more {
                break;
            }
        }
        Ok(trusted.standing(actor, domain, self.store().now()))
    }
}

/// Returns the records that a verdict speaks of.
fn judged(record: &crate::record::Record) -> impl Iterator<Item = RecordId> + '_ {
    record.names("fulfills").chain(record.names("reviews"))
}
