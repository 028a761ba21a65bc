//! What is written out, and what the names of operators and types stand for.

use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use crate::predicate::direct::node::{Arithmetic, Conversion, Literal, Order};

pub(super) fn literal(value: &LiteralValue) -> Literal {
    match value {
        LiteralValue::Boolean(bool) => Literal::Bool(*bool.inner()),
        LiteralValue::Bytes(bytes) => Literal::Bytes(bytes.inner().into()),
        LiteralValue::Double(double) => Literal::Double(*double.inner()),
        LiteralValue::Int(int) => Literal::Int(*int.inner()),
        LiteralValue::Null => Literal::Null,
        LiteralValue::String(text) => Literal::Text(text.inner().into()),
        LiteralValue::UInt(uint) => Literal::Uint(*uint.inner()),
    }
}

/// Returns the elements of a list that is written out in full.
pub(super) fn literals(expr: &IdedExpr) -> Option<Box<[Literal]>> {
    let Expr::List(list) = &expr.expr else { return None };
    let element = |expr: &IdedExpr| match &expr.expr {
        Expr::Literal(value) => Some(literal(value)),
        _ => None,
    };
    list.elements.iter().map(element).collect()
}

pub(super) fn texts(literals: &[Literal]) -> Option<Box<[Box<str>]>> {
    let text = |literal: &Literal| match literal {
        Literal::Text(text) => Some(text.clone()),
        _ => None,
    };
    literals.iter().map(text).collect()
}

pub(super) fn type_name(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 10] =
        ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
    NAMES.into_iter().find(|known| *known == name)
}

pub(super) fn order(name: &str) -> Option<Order> {
    Some(match name {
        operators::LESS => Order::Less,
        operators::LESS_EQUALS => Order::AtMost,
        operators::GREATER => Order::Greater,
        operators::GREATER_EQUALS => Order::AtLeast,
        _ => return None,
    })
}

pub(super) fn arithmetic(name: &str) -> Option<Arithmetic> {
    Some(match name {
        operators::ADD => Arithmetic::Add,
        operators::SUBSTRACT => Arithmetic::Subtract,
        operators::MULTIPLY => Arithmetic::Multiply,
        operators::DIVIDE => Arithmetic::Divide,
        operators::MODULO => Arithmetic::Remainder,
        _ => return None,
    })
}

pub(super) fn conversion(name: &str) -> Option<Conversion> {
    Some(match name.trim_start_matches('.') {
        "string" => Conversion::Text,
        "int" => Conversion::Int,
        "uint" => Conversion::Uint,
        "double" => Conversion::Double,
        "bool" => Conversion::Bool,
        "bytes" => Conversion::Bytes,
        _ => return None,
    })
}
