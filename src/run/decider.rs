//! Who answers the question that a run asks.

use crate::engine::DecisionRequest;
use crate::record::RecordId;

/// Somebody who may be asked at once. Whoever answers does so through
/// [`Engine::decide`](crate::engine::Engine::decide), like everybody else.
pub trait Decider {
    /// Puts the question with the record `request`.
    fn decide(&mut self, request: RecordId, asked: &DecisionRequest) -> Decision;
}

/// What came of asking somebody at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The answer is durable.
    Made,
    /// Nobody has answered: the run parks.
    Open,
}

/// Nobody is there to be asked: the run parks until somebody decides.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nobody;

impl Decider for Nobody {
    fn decide(&mut self, _: RecordId, _: &DecisionRequest) -> Decision {
        Decision::Open
    }
}
