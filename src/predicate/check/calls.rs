//! Calls of functions.

use std::sync::Arc;

use cel::common::ast::{CallExpr, Expr, IdedExpr, LiteralValue};

use super::functions::{self, Form, Function, MACROS, Plan};
use super::types::Type;
use super::{Checker, Checks};
use crate::predicate::error::{Flaw, PredicateError};
use crate::predicate::guard::{MAX_PATTERNS_BYTES, MAX_WIDE_CLASSES};
use crate::predicate::pattern::{Pattern, wide_classes};

impl Checker<'_> {
    pub(super) fn function(&mut self, expr: &IdedExpr, call: &CallExpr) -> Checks {
        let name = call.func_name.strip_prefix('.').unwrap_or(&call.func_name);
        // Holds where the call is refused and the expression is compiled all the same.
        self.found.plans.insert(expr.id, Plan::Absent);
        let named: Vec<&Function> =
            functions::of(self.names).filter(|row| row.name == name).collect();
        let arguments: Vec<&IdedExpr> =
            call.target.as_deref().into_iter().chain(&call.args).collect();
        if named.is_empty() {
            // A target that does not exist is the more likely mistake.
            call.target.as_deref().map(|target| self.expr(target)).transpose()?;
            return Err(self.no_such_function(expr, name));
        }
        let fitting: Vec<&Function> = named
            .iter()
            .filter(|row| row.fits(call.target.is_some(), arguments.len()))
            .copied()
            .collect();
        if fitting.is_empty() {
            return Err(self.wrong_arguments(expr, name, &named));
        }
        let types = arguments.iter().map(|arg| self.expr(arg)).collect::<Result<Vec<_>, _>>()?;
        let Some(row) = fitting.iter().find(|row| row.clash(&types).is_none()) else {
            let plan = fitting.first().map_or(Plan::Absent, |row| row.plan);
            self.found.plans.insert(expr.id, plan);
            return Err(self.wrong_types(expr, call, &fitting, &types));
        };
        if row.plan == Plan::Matches {
            self.pattern(expr, &arguments)?;
        }
        self.found.plans.insert(expr.id, row.plan);
        Ok(row.gives)
    }

    fn pattern(&mut self, expr: &IdedExpr, args: &[&IdedExpr]) -> Result<(), PredicateError> {
        let Some(pattern) = args.get(1) else { return Ok(()) };
        let column = self.columns.of(pattern);
        let Expr::Literal(LiteralValue::String(text)) = &pattern.expr else {
            let message = "the pattern of `matches` must be written out as a string";
            return Err(PredicateError::new(Flaw::DynamicPattern, message)
                .at(column)
                .hint(Some("to look for a text that is not a pattern use `contains`".to_owned())));
        };
        let too_large = |message| PredicateError::new(Flaw::PatternTooLarge, message).at(column);
        self.wide_classes += wide_classes(text.inner());
        if self.wide_classes > MAX_WIDE_CLASSES {
            let message =
                format!("more than {MAX_WIDE_CLASSES} classes like `\\w` in all patterns");
            return Err(too_large(message));
        }
        let compiled = Pattern::of(text.inner()).map_err(|error| error.at(column))?;
        let patterns = &mut self.found.patterns;
        let at = patterns.iter().position(|known| Arc::ptr_eq(known, &compiled));
        self.found.matches.insert(expr.id, at.unwrap_or(patterns.len()));
        if at.is_none() {
            patterns.push(compiled);
        }
        if patterns.iter().map(|pattern| pattern.bytes()).sum::<usize>() > MAX_PATTERNS_BYTES {
            let most = MAX_PATTERNS_BYTES / 1024;
            return Err(too_large(format!("the patterns together need more than {most} KiB")));
        }
        Ok(())
    }

    fn wrong_arguments(&self, expr: &IdedExpr, name: &str, named: &[&Function]) -> PredicateError {
        let ways: Vec<String> = named.iter().flat_map(|row| usages(row)).collect();
        let message = format!("`{name}` is called as {}", ways.join(" or "));
        PredicateError::new(Flaw::WrongArguments, message).at(self.columns.of_function(expr, name))
    }

    fn wrong_types(
        &self,
        expr: &IdedExpr,
        call: &CallExpr,
        fitting: &[&Function],
        types: &[Type],
    ) -> PredicateError {
        let name = call.func_name.as_str();
        let column = self.columns.of_function(expr, name);
        let Some((row, at)) = fitting.first().and_then(|row| Some((row, row.clash(types)?))) else {
            return PredicateError::new(Flaw::TypeClash, format!("`{name}` does not take these"))
                .at(column);
        };
        let given = types.get(at).map_or("dyn", |ty| ty.name());
        let wanted: Vec<&str> = row
            .takes
            .get(at)
            .into_iter()
            .flat_map(|takes| takes.iter())
            .map(|ty| ty.name())
            .collect();
        let verb = if at == 0 && call.target.is_some() { "is called on" } else { "takes" };
        let message = format!("`{name}` {verb} {}, not {given}", wanted.join(" or "));
        PredicateError::new(Flaw::TypeClash, message).at(column)
    }

    fn no_such_function(&self, expr: &IdedExpr, name: &str) -> PredicateError {
        let column = self.columns.of_function(expr, name);
        if let Some((_, usage)) = MACROS.iter().find(|(known, _)| *known == name) {
            let message = format!("`{name}` is called as `{usage}`");
            return PredicateError::new(Flaw::WrongArguments, message).at(column);
        }
        if let Some(refusal) = self.elsewhere(name) {
            return refusal.at(column);
        }
        PredicateError::new(Flaw::UnknownFunction, format!("there is no function `{name}`"))
            .at(column)
            .hint(self.nearest_function(name))
    }
}

/// Returns how a function is called, in every way.
fn usages(row: &Function) -> Vec<String> {
    let values: Vec<&str> = ["x", "y", "z"].into_iter().take(row.takes.len()).collect();
    let function = format!("`{}({})`", row.name, values.join(", "));
    let method = values
        .split_first()
        .map(|(target, rest)| format!("`{target}.{}({})`", row.name, rest.join(", ")));
    match row.form {
        Form::Function => vec![function],
        Form::Method => method.into_iter().collect(),
        Form::Either => method.into_iter().chain([function]).collect(),
    }
}
