//! What kind of sandbox is to be had here.

use std::path::Path;

use super::{Enforced, Place, SandboxError, Tried, Way, start};
use crate::canon::Object;
use crate::object;

/// What came of trying each way, with a place that holds nothing.
#[derive(Debug)]
pub struct Probe {
    /// The ways that work, the best first.
    pub works: Vec<Enforced>,
    /// The ways that do not, and why.
    pub fails: Vec<Tried>,
}

impl Probe {
    /// Tries every way. `stager` is the executable that calls [`stage`](super::stage()).
    pub fn look(stager: &Path) -> Result<Self, SandboxError> {
        let mut probe = Self { works: Vec::new(), fails: Vec::new() };
        for way in Way::ALL {
            match start(stager, &Place::bare(), &[], &[*way]) {
                Ok(worker) => probe.works.push(worker.enforced()),
                Err(SandboxError::Unavailable { tried }) => probe.fails.extend(tried),
                Err(error) => return Err(error),
            }
        }
        Ok(probe)
    }

    /// Returns the way that is used, or the refusal.
    pub fn best(self) -> Result<Enforced, SandboxError> {
        let unavailable = SandboxError::Unavailable { tried: self.fails };
        self.works.into_iter().next().ok_or(unavailable)
    }
}

impl Enforced {
    /// Returns it as programs read it.
    pub fn to_object(self) -> Object {
        object! { "landlock": self.landlock.to_string(), "way": self.way.as_str() }
    }
}
