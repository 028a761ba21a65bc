//! Hash levels: how alike two records are (contract §1.5, as the published client computes them).

use super::Draft;
use crate::canon::{Canonical, Digest, Object, Value};
use crate::object;

/// The four digests of a record, from the narrowest to the widest: equal at one level implies equal
/// at the levels after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HashLevels {
    /// Shapes, operation, act and parameters.
    pub exact: Digest,
    /// Shapes, operation, act and domain.
    pub structural: Digest,
    /// Shapes and act.
    pub flow: Digest,
    /// Shapes alone.
    pub intent: Digest,
}

impl HashLevels {
    /// Returns the levels of a draft. They do not depend on who wrote it, where, or when.
    pub fn of(draft: &Draft) -> Self {
        let text = |key: &str, default: &str| {
            draft.body.get(key).cloned().unwrap_or_else(|| default.into())
        };
        let shape_in = text("input_shape", "VOID");
        let shape_out = text("output_shape", "VOID");
        let operation = text("operation", &draft.act.as_str().to_ascii_lowercase());
        let domain = text("domain", "");
        let params: Object = draft
            .body
            .iter()
            .filter(|(key, _)| {
                !matches!(key.as_str(), "operation" | "input_shape" | "output_shape")
            })
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let level = |extra: Object| {
            let mut members = object! { "in": shape_in.clone(), "out": shape_out.clone() };
            members.extend(extra);
            Canonical::of_object(&members).sha256()
        };
        let act = Value::from(draft.act.as_str());
        Self {
            exact: level(object! { "op": operation.clone(), "p": act.clone(), "params": params }),
            structural: level(object! { "d": domain, "op": operation, "p": act.clone() }),
            flow: level(object! { "p": act }),
            intent: level(Object::new()),
        }
    }
}
