//! Why a record has no effect on the configuration.

use crate::code::{Code, Coded};
use crate::record::{Reason, RecordId, ShapeError};

/// A record of the configuration that was refused at load, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The record.
    pub record_id: RecordId,
    /// The stable code.
    pub code: Code,
    /// The field that is wrong, if it is one field.
    pub field: Option<String>,
    /// The stable word for what is wrong.
    pub reason: &'static str,
    /// One sentence for people.
    pub message: String,
    /// Where in the field, counted in characters from 0.
    pub column: Option<usize>,
    /// What to do next.
    pub hint: Option<String>,
}

impl Refusal {
    /// The word for a record that was taken over from another store.
    pub const IMPORTED: &str = "imported";

    pub(super) fn shape(record_id: RecordId, error: ShapeError) -> Self {
        Self {
            record_id,
            code: error.code(),
            reason: error.reason.as_str(),
            field: Some(error.field),
            message: error.message,
            column: error.column,
            hint: error.hint,
        }
    }

    pub(super) fn near_miss(record_id: RecordId, field: &str, message: String) -> Self {
        Self::shape(record_id, ShapeError::new(field, Reason::BadValue, message))
    }

    pub(super) fn imported(record_id: RecordId, what: &str) -> Self {
        Self {
            record_id,
            code: Code::ConfigWriteDenied,
            field: None,
            reason: Self::IMPORTED,
            message: format!("{what} that was imported from another store is kept and not loaded"),
            column: None,
            hint: Some(format!("To let it hold here: `spl import --adopt {record_id}`.")),
        }
    }
}
