//! Names that do not exist, and what may have been meant.

use cel::common::ast::{Expr, IdedExpr};

use super::Checker;
use super::bindings::TYPES;
use super::functions::{self, Form, MACROS};
use super::suggest::nearest;
use super::types::{Shape, Type};
use crate::predicate::error::{Flaw, PredicateError};

/// Returns the name that an expression spells, in parts: `a.b.c`.
fn spelled(expr: &IdedExpr) -> Option<String> {
    match &expr.expr {
        Expr::Ident(name) => Some(name.clone()),
        // A field in backquotes may have dots of its own.
        Expr::Select(select) if !select.test && !select.field.contains('.') => {
            let mut name = spelled(&select.operand)?;
            name.push('.');
            name.push_str(&select.field);
            Some(name)
        }
        _ => None,
    }
}

impl Checker<'_> {
    /// Returns the type of what a name of one or several parts stands for.
    pub(super) fn named(&mut self, expr: &IdedExpr) -> Option<Type> {
        let name = spelled(expr)?;
        let first = name.split('.').next().unwrap_or(&name);
        // A dot in front skips the variables of loops, and leaves no first part.
        if let Some((_, ty)) = self.scopes.iter().rev().find(|(known, _)| known == first) {
            return (first == name).then_some(*ty);
        }
        let meaning = self.names.find(&name)?;
        if let Some(full_name) = meaning.full_name {
            self.found.names.insert(expr.id, full_name);
        }
        Some(meaning.ty)
    }

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
        let (context, contexts) = self.names.elsewhere(name)?;
        let message = format!("`{name}` is for {contexts}, not for context {context}");
        Some(PredicateError::new(Flaw::WrongContext, message))
    }

    /// Returns a hint at what may be meant by a variable that does not exist.
    fn meant(&self, name: &str) -> Option<String> {
        if let Some(path) = self.names.field_path(name) {
            return Some(format!("did you mean `{path}`?"));
        }
        if functions::of(self.names).any(|row| row.name == name) {
            return Some(format!("`{name}` is a function: `{name}()`"));
        }
        let local = self.scopes.iter().map(|(known, _)| known.as_str());
        let known = local.filter(|known| !known.starts_with('@'));
        let variables = self.names.variables();
        let near = nearest(name, known.chain(variables).chain(TYPES.iter().copied()));
        near.map(|near| format!("did you mean `{near}`?"))
            .or_else(|| self.nearest_function(name))
            .or_else(|| Some("put quotes around it if it is a text".to_owned()))
    }

    /// Returns a hint at the function that may be meant.
    pub(super) fn nearest_function(&self, name: &str) -> Option<String> {
        let macros = MACROS.iter().map(|(known, _)| *known);
        let all = || functions::of(self.names);
        let near = nearest(name, all().map(|row| row.name).chain(macros))?;
        let method = all().any(|row| row.name == near && row.form != Form::Function);
        let dot = if method { "." } else { "" };
        Some(format!("did you mean `{dot}{near}()`?"))
    }
}
