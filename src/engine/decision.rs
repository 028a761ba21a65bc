//! Stub.
use super::{Engine, EngineError, RunSeat};
use crate::canon::Object;
use crate::record::RecordId;
/// Stub.
#[derive(Debug)]
pub struct DecisionRequest {
    /// Stub.
    pub question: String,
}
/// Stub.
#[derive(Debug)]
pub struct Decided;
impl Decided {
    /// Stub.
    pub fn in_words(&self) -> String {
        String::new()
    }
}
impl DecisionRequest {
    /// Stub.
    pub fn read(_: &Object) -> Result<Self, String> {
        Err("stub".into())
    }
}
impl Engine {
    /// Stub.
    pub fn request_decision(
        &self,
        _: &RunSeat,
        call: RecordId,
        _: &DecisionRequest,
    ) -> Result<RecordId, EngineError> {
        Ok(call)
    }
    /// Stub.
    pub fn decision(&self, _: RecordId) -> Result<Option<Decided>, EngineError> {
        Ok(None)
    }
    /// Stub.
    pub fn decision_request(&self, _: RecordId) -> Result<Option<DecisionRequest>, EngineError> {
        Ok(None)
    }
}
