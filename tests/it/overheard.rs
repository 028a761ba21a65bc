//! A model that is listened to, for every test that drives whole runs.

use spl::cancel::Cancel;
use spl::model::{Model, ModelError, Reply, Scripted, TurnRequest};

/// A model that plays a script and remembers what it was told.
pub(crate) struct Overheard {
    pub(crate) script: Scripted,
    pub(crate) told: Vec<TurnRequest>,
}

impl Model for Overheard {
    fn turn(
        &mut self,
        request: &TurnRequest,
        cancel: &Cancel,
        said: &mut dyn FnMut(&str),
    ) -> Result<Reply, ModelError> {
        self.told.push(request.clone());
        self.script.turn(request, cancel, said)
    }

    fn name(&self) -> &str {
        self.script.name()
    }
}
