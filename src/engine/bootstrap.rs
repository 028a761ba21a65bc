//! The first account of an instance (contract §2.9).

use super::{Engine, EngineError};

impl Engine {
    /// Returns whether anybody has an account: one is in the store, or the home has a token, which
    /// is one as soon as somebody uses it.
    pub fn has_accounts(&self) -> Result<bool, EngineError> {
        Ok(self.0.home_token.is_some() || self.store().read(|reader| reader.has_accounts())?)
    }
}
