//! Where in the files of a blueprint something stands.

use std::fmt;

use crate::record::{Reason, ShapeError};

/// A seed of a blueprint, or of one that it extends: `seeds[2]`, `extends[0].seeds[2]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Which of the files that were given beside the blueprint; `None` in the blueprint itself.
    pub extended: Option<usize>,
    /// Which of its seeds.
    pub seed: usize,
}

impl Place {
    /// Returns the path of a field of the seed.
    pub(super) fn field(&self, field: &str) -> String {
        format!("{self}.{field}")
    }

    /// Returns a refusal of the seed's envelope as one of the whole.
    pub(super) fn inside(&self, error: ShapeError) -> ShapeError {
        ShapeError { field: self.field(&error.field), ..error }
    }

    /// Returns the refusal of a field.
    pub(super) fn refuse(&self, field: &str, message: impl Into<String>) -> ShapeError {
        ShapeError::new(self.field(field), Reason::BadValue, message)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(extended) = self.extended {
            write!(f, "extends[{extended}].")?;
        }
        write!(f, "seeds[{}]", self.seed)
    }
}
