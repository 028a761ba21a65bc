//! What a record of the configuration states, once it was read.

use std::sync::Arc;

use super::author::BlueprintAuthor;
use super::origins::CorsOrigins;
use super::tier::{Assigned, Tier};
use super::transport::Transport;
use crate::hook::{Hook, InForce};
use crate::permission::{PermissionRule, check_switch};
use crate::predicate::ExpressionCache;
use crate::record::{Draft, RecordId, ShapeError};

/// Something that records of the configuration state, of which the newest good one is current.
pub(super) trait Item: Clone {
    /// What it is, for people.
    const WHAT: &'static str;

    /// Reads the item that the record of this id states.
    fn read(
        draft: &Draft,
        record_id: RecordId,
        expressions: &ExpressionCache,
    ) -> Result<Self, ShapeError>;

    /// Returns the record it was read from.
    fn record_id(&self) -> Option<RecordId>;
}

impl Item for InForce {
    const WHAT: &'static str = "a hook";

    fn read(
        draft: &Draft,
        record_id: RecordId,
        expressions: &ExpressionCache,
    ) -> Result<Self, ShapeError> {
        let hook = Arc::new(Hook::check_with(draft, expressions)?);
        Ok(Self { hook, record_id: Some(record_id) })
    }

    fn record_id(&self) -> Option<RecordId> {
        self.record_id
    }
}

/// A value and the record that states it.
#[derive(Debug, Clone)]
pub(super) struct Stated<T> {
    pub(super) value: T,
    pub(super) record_id: RecordId,
}

/// A value that a record states.
pub(super) trait Setting: Clone {
    const WHAT: &'static str;

    fn read(draft: &Draft, expressions: &ExpressionCache) -> Result<Self, ShapeError>;
}

impl<T: Setting> Item for Stated<T> {
    const WHAT: &'static str = T::WHAT;

    fn read(
        draft: &Draft,
        record_id: RecordId,
        expressions: &ExpressionCache,
    ) -> Result<Self, ShapeError> {
        Ok(Self { value: T::read(draft, expressions)?, record_id })
    }

    fn record_id(&self) -> Option<RecordId> {
        Some(self.record_id)
    }
}

impl Setting for Arc<PermissionRule> {
    const WHAT: &'static str = "a permission rule";

    fn read(draft: &Draft, expressions: &ExpressionCache) -> Result<Self, ShapeError> {
        PermissionRule::check(draft, expressions).map(Arc::new)
    }
}

/// Whether permission rules are in force.
#[derive(Debug, Clone, Copy)]
pub(super) struct Switch(pub(super) bool);

impl Setting for Switch {
    const WHAT: &'static str = "a switch";

    fn read(draft: &Draft, _: &ExpressionCache) -> Result<Self, ShapeError> {
        check_switch(draft).map(Self)
    }
}

impl Setting for Arc<Tier> {
    const WHAT: &'static str = "a tier";

    fn read(draft: &Draft, _: &ExpressionCache) -> Result<Self, ShapeError> {
        Tier::read(draft).map(Self::new)
    }
}

impl Setting for Assigned {
    const WHAT: &'static str = "the tier of an actor";

    fn read(draft: &Draft, _: &ExpressionCache) -> Result<Self, ShapeError> {
        Self::read(draft)
    }
}

impl Setting for Arc<BlueprintAuthor> {
    const WHAT: &'static str = "an author of blueprints";

    fn read(draft: &Draft, _: &ExpressionCache) -> Result<Self, ShapeError> {
        BlueprintAuthor::check(draft).map(Self::new)
    }
}

impl Setting for CorsOrigins {
    const WHAT: &'static str = "a list of origins";

    fn read(draft: &Draft, _: &ExpressionCache) -> Result<Self, ShapeError> {
        Self::check(draft)
    }
}

impl Setting for Transport {
    const WHAT: &'static str = "a transport";

    fn read(draft: &Draft, _: &ExpressionCache) -> Result<Self, ShapeError> {
        crate::record::field::learned(draft)?;
        Ok(Self::read(draft))
    }
}
