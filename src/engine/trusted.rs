//! Trust, folded from the verdicts in the store as they arrive (contract §8).

use std::ops::Deref;
use std::sync::{MutexGuard, PoisonError};

use super::{Engine, EngineError};
use crate::canon::Object;
use crate::object;
use crate::record::{ActorId, RecordId};
use crate::store::Store;
use crate::trust::{KnownAuthors, Standing, TrustFold, Verdict, rounded};

/// How many verdicts are read at once.
const PAGE: usize = 1000;

/// The fold of the verdicts, and how many records had been erased when it was last looked at.
#[derive(Default)]
pub(super) struct Counted {
    fold: TrustFold,
    erasures: i64,
}

impl Engine {
    /// Returns how an actor stands in a domain now, by what this handle sees.
    pub fn standing(&self, actor: &ActorId, domain: &str) -> Result<Standing, EngineError> {
        Ok(self.trusted()?.standing(actor, domain, self.store().now()))
    }

    /// Returns how an actor stands in a domain now, by all there is: what predicates are told.
    pub(super) fn whole_standing(
        &self,
        actor: &ActorId,
        domain: &str,
    ) -> Result<Standing, EngineError> {
        Ok(self.shared_trust()?.fold.standing(actor, domain, self.whole().now()))
    }

    /// Returns the rows of `GET /v1/trust`: every actor and domain that there is a verdict for, or
    /// those of one actor, or of one domain, in the order of their names.
    pub fn trust_rows(
        &self,
        actor: Option<&str>,
        domain: Option<&str>,
    ) -> Result<Vec<Object>, EngineError> {
        let wanted = |wanted: Option<&str>, got: &str| wanted.is_none_or(|wanted| wanted == got);
        let trusted = self.trusted()?;
        let standings = trusted.standings(self.store().now());
        let rows = standings
            .filter(|(of, within, _)| wanted(actor, of.as_str()) && wanted(domain, within))
            .map(|(of, within, standing)| trust_row(of, within, standing));
        Ok(rows.collect())
    }

    /// Returns the body of `GET /v1/governance/trust/{actor}/{domain}`: one standing, and the
    /// verdicts that it rests on, oldest first, with what each weighs now.
    pub fn trust_in(&self, actor: &ActorId, domain: &str) -> Result<Object, EngineError> {
        let now = self.store().now();
        let trusted = self.trusted()?;
        let shown = |verdict: &Verdict| {
            object! {
                "evaluator": &verdict.evaluator,
                "imported": verdict.imported,
                "received_at": verdict.received_at.to_string(),
                "record_id": verdict.record,
                "verdict": if verdict.accepts { "accept" } else { "reject" },
                "weight": rounded(verdict.weight(now).unwrap_or_default()),
            }
        };
        let mut row = trust_row(actor, domain, trusted.standing(actor, domain, now));
        let history: Vec<Object> = trusted.verdicts(actor, domain).iter().map(shown).collect();
        row.insert("history".into(), history.into());
        Ok(row)
    }

    /// Returns the fold, brought up to date with what any process has written. Whoever sees a part of
    /// the store is told of the trust that this part is evidence for.
    fn trusted(&self) -> Result<Trusted<'_>, EngineError> {
        if !self.store().is_narrowed() {
            return Ok(Trusted::Shared(self.shared_trust()?));
        }
        let mut own = Counted::default();
        catch_up(&mut own, self.store())?;
        Ok(Trusted::Own(own.fold))
    }

    fn shared_trust(&self) -> Result<MutexGuard<'_, Counted>, EngineError> {
        let mut shared = self.0.trust.lock().unwrap_or_else(PoisonError::into_inner);
        catch_up(&mut shared, self.whole())?;
        Ok(shared)
    }
}

/// Adds the verdicts that have arrived since.
fn catch_up(counted: &mut Counted, store: &Store) -> Result<(), EngineError> {
    let Counted { fold: trusted, erasures } = counted;
    loop {
        let page = store.read(|reader| {
            // What was erased may have been counted before.
            let now = reader.erasures()?;
            if std::mem::replace(erasures, now) != now {
                *trusted = TrustFold::default();
            }
            let after = trusted.watermark();
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
            return Ok(());
        }
    }
}

/// The fold that all share, or one over what somebody may see.
enum Trusted<'a> {
    Shared(MutexGuard<'a, Counted>),
    Own(TrustFold),
}

impl Deref for Trusted<'_> {
    type Target = TrustFold;

    fn deref(&self) -> &TrustFold {
        match self {
            Self::Shared(shared) => &shared.fold,
            Self::Own(own) => own,
        }
    }
}

fn trust_row(actor: &ActorId, domain: &str, standing: Standing) -> Object {
    object! {
        "actor": actor,
        "domain": domain,
        "object": "trust",
        "samples": standing.count,
        "score": standing.shown_score(),
    }
}

/// Returns the records that a verdict speaks of.
fn judged(record: &crate::record::Record) -> impl Iterator<Item = RecordId> + '_ {
    record.names("fulfills").chain(record.names("reviews"))
}
