//! Names and types, checked before anything is evaluated.
//!
//! The checker knows the types of the bindings and of what is made of them, and treats the rest as
//! `dyn`. What it refuses could never give an answer; what it passes may still fail.

pub(super) mod bindings;
mod calls;
pub(super) mod functions;
mod names;
mod operations;
pub(super) mod suggest;
pub(super) mod types;

use std::collections::HashMap;
use std::sync::Arc;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, SelectExpr, operators,
};

use super::error::{Flaw, PredicateError};
use super::parse::Columns;
use super::pattern::Pattern;
use super::tree::children;
use bindings::Names;
use functions::Plan;
use types::Type;

pub(super) use operations::written;

/// What checking found out about the nodes of an expression, by their ids.
#[derive(Default)]
pub(super) struct Checked {
    types: HashMap<u64, Type>,
    plans: HashMap<u64, Plan>,
    matches: HashMap<u64, usize>,
    names: HashMap<u64, String>,
    /// The patterns of `matches`.
    pub(super) patterns: Vec<Arc<Pattern>>,
}

impl Checked {
    /// Returns the type of an expression.
    pub(super) fn type_of(&self, expr: &IdedExpr) -> Type {
        self.types.get(&expr.id).copied().unwrap_or(Type::Dyn)
    }

    /// Returns how a call is carried out; `None` is an operator.
    pub(super) fn plan_of(&self, id: u64) -> Option<Plan> {
        self.plans.get(&id).copied()
    }

    /// Returns which of the patterns a call of `matches` searches for.
    pub(super) fn pattern_of(&self, id: u64) -> Option<usize> {
        self.matches.get(&id).copied()
    }

    /// Returns the full name of what a node stands for, if that is not just what was written.
    pub(super) fn name_of(&self, id: u64) -> Option<&str> {
        self.names.get(&id).map(String::as_str)
    }
}

/// Checks `root` against `names` and returns its type.
pub(super) fn check(
    root: &IdedExpr,
    names: &Names,
    columns: &Columns<'_>,
) -> Result<(Type, Checked), PredicateError> {
    let (scopes, found) = (Vec::new(), Checked::default());
    let mut checker = Checker { names, columns, scopes, wide_classes: 0, found };
    let ty = checker.expr(root)?;
    Ok((ty, checker.found))
}

/// Refuses an expression of type `ty` that should be a predicate.
pub(super) fn must_be_bool(
    root: &IdedExpr,
    ty: Type,
    columns: &Columns<'_>,
) -> Result<(), PredicateError> {
    if ty.may_be(Type::Bool) {
        return Ok(());
    }
    let message = format!("the result is {}, and a predicate must be bool", ty.name());
    Err(PredicateError::new(Flaw::NotBoolean, message).at(columns.of(root)))
}

struct Checker<'c> {
    names: &'c Names,
    columns: &'c Columns<'c>,
    /// The variables of the loops around, innermost last.
    scopes: Vec<(String, Type)>,
    /// How many there are in the patterns so far.
    wide_classes: usize,
    found: Checked,
}

type Checks = Result<Type, PredicateError>;

impl Checker<'_> {
    fn expr(&mut self, expr: &IdedExpr) -> Checks {
        let ty = match self.part(expr) {
            Err(error) if self.names.are_unchecked() && fails_when_evaluated(error.flaw) => {
                self.rest(expr)?;
                Type::Dyn
            }
            checked => checked?,
        };
        self.found.types.insert(expr.id, ty);
        Ok(ty)
    }

    /// Checks the parts of a refused expression that were not reached: what they are decides how
    /// they are metered.
    fn rest(&mut self, expr: &IdedExpr) -> Result<(), PredicateError> {
        let mut rest = Vec::new();
        children(expr, |child, _| rest.push(child));
        rest.retain(|child| !self.found.types.contains_key(&child.id));
        rest.into_iter().try_for_each(|child| self.expr(child).map(|_| ()))
    }

    fn part(&mut self, expr: &IdedExpr) -> Checks {
        Ok(match &expr.expr {
            Expr::Unspecified => return Err(self.unsupported(expr, "this expression")),
            Expr::Struct(_) => return Err(self.unsupported(expr, "a message")),
            Expr::Literal(literal) => of_literal(literal),
            Expr::Ident(name) => self.named(expr).ok_or_else(|| self.unknown_name(expr, name))?,
            Expr::Select(select) => self.select(expr, select)?,
            Expr::Call(call) => self.call(expr, call)?,
            Expr::List(list) => {
                for element in &list.elements {
                    self.expr(element)?;
                }
                Type::List
            }
            Expr::Map(map) => {
                for entry in &map.entries {
                    self.entry(&entry.expr)?;
                }
                Type::Map
            }
            Expr::Comprehension(all) => self.comprehension(expr, all)?,
        })
    }

    fn entry(&mut self, entry: &EntryExpr) -> Result<(), PredicateError> {
        let EntryExpr::MapEntry(entry) = entry else { return Ok(()) };
        let key = self.expr(&entry.key)?;
        self.expr(&entry.value)?;
        if matches!(key, Type::Dyn | Type::Bool | Type::Int | Type::Uint | Type::Text) {
            return Ok(());
        }
        Err(self.clash(&entry.key, format!("a key cannot be {}", key.name())))
    }

    fn call(&mut self, expr: &IdedExpr, call: &CallExpr) -> Checks {
        let operation = match (call.func_name.as_str(), call.args.as_slice()) {
            (operators::CONDITIONAL, [condition, yes, no]) => {
                self.conditional(condition, yes, no)?
            }
            (name @ (operators::LOGICAL_AND | operators::LOGICAL_OR), [left, right]) => {
                self.logical(name, left, right)?
            }
            (operators::INDEX, [target, index]) => self.index(expr, target, index)?,
            (name, [left, right]) if operations::is_binary(name) => {
                self.binary(expr, name, left, right)?
            }
            (operators::NOT_STRICTLY_FALSE, [only]) => {
                self.expr(only)?;
                Type::Bool
            }
            (name @ (operators::LOGICAL_NOT | operators::NEGATE), [only]) => {
                self.unary(expr, name, only)?
            }
            _ => return self.function(expr, call),
        };
        Ok(operation)
    }

    fn select(&mut self, expr: &IdedExpr, select: &SelectExpr) -> Checks {
        if let Some(ty) = self.named(expr) {
            return Ok(ty);
        }
        let operand = self.expr(&select.operand)?;
        let ty = self.field(expr, operand, &select.field)?;
        Ok(if select.test { Type::Bool } else { ty })
    }

    fn field(&self, expr: &IdedExpr, operand: Type, field: &str) -> Checks {
        match operand {
            Type::Dyn | Type::Map => Ok(Type::Dyn),
            Type::Shape(shape) => {
                shape.field(field).ok_or_else(|| self.unknown_field(expr, shape, field))
            }
            other => {
                let message = format!("{} has no field `{field}`", other.name());
                let column = self.columns.of_field(expr, field);
                Err(PredicateError::new(Flaw::TypeClash, message).at(column))
            }
        }
    }

    fn index(&mut self, expr: &IdedExpr, target: &IdedExpr, index: &IdedExpr) -> Checks {
        let (of, by) = (self.expr(target)?, self.expr(index)?);
        if let (Type::Shape(_), Expr::Literal(LiteralValue::String(key))) = (of, &index.expr) {
            return self.field(index, of, key.inner());
        }
        let fits = match of {
            Type::Dyn => true,
            Type::List => by == Type::Dyn || by.is_number(),
            Type::Map | Type::Shape(_) => {
                matches!(by, Type::Dyn | Type::Text | Type::Bool) || by.is_number()
            }
            _ => false,
        };
        if fits {
            return Ok(Type::Dyn);
        }
        Err(self.clash(expr, format!("{} cannot be indexed by {}", of.name(), by.name())))
    }

    fn comprehension(&mut self, expr: &IdedExpr, all: &ComprehensionExpr) -> Checks {
        let over = self.expr(&all.iter_range)?;
        let element = match over {
            Type::Shape(_) => Type::Text,
            Type::Dyn | Type::List | Type::Map => Type::Dyn,
            other => {
                return Err(self.clash(expr, format!("{} cannot be looped over", other.name())));
            }
        };
        if all.iter_var.starts_with('.') || all.iter_var2.is_some() {
            return Err(self.unsupported(expr, "a loop variable like this"));
        }
        let accumulator = self.expr(&all.accu_init)?;
        let outside = self.scopes.len();
        self.scopes.push((all.accu_var.clone(), accumulator));
        self.scopes.push((all.iter_var.clone(), element));
        self.expr(&all.loop_cond)?;
        self.expr(&all.loop_step)?;
        let result = self.expr(&all.result)?;
        self.scopes.truncate(outside);
        Ok(result)
    }

    fn unsupported(&self, expr: &IdedExpr, what: &str) -> PredicateError {
        PredicateError::new(Flaw::Unsupported, format!("{what} is not supported"))
            .at(self.columns.of(expr))
    }

    fn clash(&self, expr: &IdedExpr, message: String) -> PredicateError {
        PredicateError::new(Flaw::TypeClash, message).at(self.columns.of(expr))
    }
}

/// Tells whether an expression with this flaw has a way to fail when it is evaluated.
const fn fails_when_evaluated(flaw: Flaw) -> bool {
    use Flaw::{TypeClash, UnknownFunction, UnknownName, WrongArguments};
    matches!(flaw, TypeClash | UnknownFunction | UnknownName | WrongArguments)
}

const fn of_literal(literal: &LiteralValue) -> Type {
    match literal {
        LiteralValue::Boolean(_) => Type::Bool,
        LiteralValue::Bytes(_) => Type::Bytes,
        LiteralValue::Double(_) => Type::Double,
        LiteralValue::Int(_) => Type::Int,
        LiteralValue::Null => Type::Null,
        LiteralValue::String(_) => Type::Text,
        LiteralValue::UInt(_) => Type::Uint,
    }
}
