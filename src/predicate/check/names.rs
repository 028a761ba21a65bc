//! Names that do not exist, and what may have been meant.

use cel::common::ast::{Expr, IdedExpr};

use super::Checker;
use crate::predicate::bindings::{self, TYPES, VARIABLES};
use crate::predicate::error::{Flaw, PredicateError};
use crate::predicate::functions::{self, Form, MACROS};
use crate::predicate::suggest::nearest;
use crate::predicate::types::Shape;

/// The types whose names are paths.
const PATHS: [[&str; 3]; 2] =
    [["google", "protobuf", "Duration"], ["google", "protobuf", "Timestamp"]];

/// Tells whether a selection spells the name of a type.
pub(super) fn is_type(expr: &IdedExpr) -> bool {
    PATHS.iter().any(|path| spells(expr, path))
}

fn spells(expr: &IdedExpr, path: &[&str]) -> bool {
    let Some((last, before)) = path.split_last() else { return false };
    match &expr.expr {
        Expr::Ident(name) => before.is_empty() && name == last,
        Expr::Select(select) => {
            !select.test && select.field == *last && spells(&select.operand, before)
        }
        _ => false,
    }
}

impl Checker<'_> {
    pub(super) fn unknown_name(&self, expr: &IdedExpr, name: &str) -> PredicateError {
        let column = self.columns.of(expr);
        if let Some(refusal) = self.elsewhere(name) {
            return refusal.at(column);
        }
        let message = format!("there is no `{name}`");
        PredicateError::new(Flaw::UnknownName, message).at(column).hint(self.meant(name))
    }

    pub(super) fn unknown_field(
        &self,
        expr: &IdedExpr,
        shape: &Shape,
        field: &str,
    ) -> PredicateError {
        let names = || shape.fields.iter().map(|(name, _)| *name);
        let hint = match nearest(field, names()) {
            Some(near) => format!("did you mean `{}.{near}`?", shape.name),
            None => format!("`{}` has {}", shape.name, names().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("`{}` has no field `{field}`", shape.name);
        let column = match expr.expr {
            Expr::Select(_) => self.columns.of_field(expr, field),
            _ => self.columns.of(expr),
        };
        PredicateError::new(Flaw::UnknownField, message).at(column).hint(Some(hint))
    }

    pub(super) fn elsewhere(&self, name: &str) -> Option<PredicateError> {
        let contexts = bindings::elsewhere(name)?;
        let message = format!("`{name}` is for {contexts}, not for context {}", self.context);
        Some(PredicateError::new(Flaw::WrongContext, message))
    }

    /// Returns a hint at what may be meant by a variable that does not exist.
    fn meant(&self, name: &str) -> Option<String> {
        if let Some(path) = bindings::field_path(name, self.context) {
            return Some(format!("did you mean `{path}`?"));
        }
        if functions::all().any(|row| row.name == name) {
            return Some(format!("`{name}` is a function: `{name}()`"));
        }
        let local = self.scopes.iter().map(|(known, _)| known.as_str());
        let known = local.filter(|known| !known.starts_with('@'));
        let near =
            nearest(name, known.chain(VARIABLES.iter().copied()).chain(TYPES.iter().copied()));
        near.map(|near| format!("did you mean `{near}`?"))
            .or_else(|| nearest_function(name))
            .or_else(|| Some("put quotes around it if it is a text".to_owned()))
    }
}

/// Returns a hint at the function that may be meant.
pub(super) fn nearest_function(name: &str) -> Option<String> {
    let macros = MACROS.iter().map(|(known, _)| *known);
    let near = nearest(name, functions::all().map(|row| row.name).chain(macros))?;
    let method = functions::all().any(|row| row.name == near && row.form != Form::Function);
    let dot = if method { "." } else { "" };
    Some(format!("did you mean `{dot}{near}()`?"))
}
