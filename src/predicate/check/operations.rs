//! The types that operators take and give.

use cel::common::ast::{Expr, IdedExpr, operators};

use super::types::Type;
use super::{Checker, Checks};
use crate::predicate::error::PredicateError;

/// Every operator of two operands that evaluates both, as it is written.
const BINARY: &[(&str, &str)] = &[
    (operators::EQUALS, "=="),
    (operators::NOT_EQUALS, "!="),
    (operators::LESS, "<"),
    (operators::LESS_EQUALS, "<="),
    (operators::GREATER, ">"),
    (operators::GREATER_EQUALS, ">="),
    (operators::IN, "in"),
    (operators::ADD, "+"),
    (operators::SUBSTRACT, "-"),
    (operators::MULTIPLY, "*"),
    (operators::DIVIDE, "/"),
    (operators::MODULO, "%"),
];

pub(super) fn is_binary(name: &str) -> bool {
    BINARY.iter().any(|(known, _)| *known == name)
}

/// Returns an operator as it is written.
pub(in crate::predicate) fn written(name: &str) -> &str {
    match name {
        operators::CONDITIONAL => "?:",
        operators::LOGICAL_AND => "&&",
        operators::LOGICAL_OR => "||",
        operators::LOGICAL_NOT => "!",
        operators::NEGATE => "-",
        operators::INDEX => "[]",
        "_._" => ".",
        name => BINARY.iter().find(|(known, _)| *known == name).map_or(name, |(_, text)| text),
    }
}

impl Checker<'_> {
    pub(super) fn binary(
        &mut self,
        expr: &IdedExpr,
        name: &str,
        left: &IdedExpr,
        right: &IdedExpr,
    ) -> Checks {
        let (one, two) = (self.expr(left)?, self.expr(right)?);
        let gives = match name {
            operators::EQUALS | operators::NOT_EQUALS => one.may_equal(two).then_some(Type::Bool),
            operators::LESS
            | operators::LESS_EQUALS
            | operators::GREATER
            | operators::GREATER_EQUALS => {
                let ordered = one.is_ordered() && two.is_ordered() && one.may_equal(two);
                ordered.then_some(Type::Bool)
            }
            operators::IN => two
                .may_be(Type::List)
                .then_some(Type::Bool)
                .or_else(|| two.may_be(Type::Map).then_some(Type::Bool)),
            _ => arithmetic(name, one, two),
        };
        gives.ok_or_else(|| {
            let (one, two) = (one.name(), two.name());
            let message = match written(name) {
                "+" => format!("cannot add {one} and {two}"),
                "==" | "!=" => format!("{one} is never equal to {two}"),
                "in" => format!("cannot look for anything in {two}"),
                sign => format!("`{sign}` does not take {one} and {two}"),
            };
            let hint = numbers_do_not_mix(name, one, two);
            self.clash(expr, message).hint(hint)
        })
    }

    pub(super) fn unary(&mut self, expr: &IdedExpr, name: &str, only: &IdedExpr) -> Checks {
        let ty = self.expr(only)?;
        let fits = match name {
            operators::LOGICAL_NOT => ty.may_be(Type::Bool),
            _ => matches!(ty, Type::Dyn | Type::Int | Type::Double),
        };
        if fits {
            return Ok(ty);
        }
        Err(self.clash(expr, format!("`{}` does not take {}", written(name), ty.name())))
    }

    pub(super) fn logical(&mut self, name: &str, left: &IdedExpr, right: &IdedExpr) -> Checks {
        // What `all` and `exists` are written out as, so what stands right is their condition.
        let by_loop = is_accumulator(left);
        for side in [left, right] {
            let ty = self.expr(side)?;
            if !ty.may_be(Type::Bool) {
                return Err(self.not_a_condition(side, ty, (!by_loop).then_some(name)));
            }
        }
        Ok(Type::Bool)
    }

    pub(super) fn conditional(
        &mut self,
        condition: &IdedExpr,
        yes: &IdedExpr,
        no: &IdedExpr,
    ) -> Checks {
        let ty = self.expr(condition)?;
        if !ty.may_be(Type::Bool) {
            let by_loop = is_accumulator(no);
            let name = (!by_loop).then_some(operators::CONDITIONAL);
            return Err(self.not_a_condition(condition, ty, name));
        }
        Ok(self.expr(yes)?.or(self.expr(no)?))
    }

    fn not_a_condition(&self, expr: &IdedExpr, ty: Type, name: Option<&str>) -> PredicateError {
        let ty = ty.name();
        let message = match name {
            Some(name) => format!("`{}` takes bool, not {ty}", written(name)),
            None => format!("the condition of a loop must be bool, not {ty}"),
        };
        self.clash(expr, message)
    }
}

/// Tells whether an expression is what a loop has found so far, which cannot be written.
fn is_accumulator(expr: &IdedExpr) -> bool {
    matches!(&expr.expr, Expr::Ident(name) if name.starts_with('@'))
}

/// Returns the type of a sum, difference, product, quotient or remainder, if there is one.
fn arithmetic(name: &str, one: Type, two: Type) -> Option<Type> {
    let sum = name == operators::ADD;
    let difference = name == operators::SUBSTRACT;
    match (one, two) {
        (Type::Dyn, Type::Dyn) => Some(Type::Dyn),
        (Type::Dyn, known) | (known, Type::Dyn) => {
            // The known side may still be one that the operator never takes.
            let possible = arithmetic(name, known, known).is_some()
                || ((sum || difference) && known == Type::Timestamp);
            possible.then_some(Type::Dyn)
        }
        (Type::Int, Type::Int) | (Type::Uint, Type::Uint) => Some(one),
        (Type::Double, Type::Double) if name != operators::MODULO => Some(one),
        (Type::Text, Type::Text) | (Type::Bytes, Type::Bytes) | (Type::List, Type::List) if sum => {
            Some(one)
        }
        (Type::Duration | Type::Timestamp, Type::Duration) if sum || difference => Some(one),
        (Type::Duration, Type::Timestamp) if sum => Some(two),
        (Type::Timestamp, Type::Timestamp) if difference => Some(Type::Duration),
        _ => None,
    }
}

fn numbers_do_not_mix(name: &str, one: &str, two: &str) -> Option<String> {
    let number = |ty: &str| matches!(ty, "int" | "uint" | "double");
    let mixed = one != two && number(one) && number(two) && is_binary(name);
    mixed.then(|| format!("convert one side: `{one}(…)` or `{two}(…)`"))
}
