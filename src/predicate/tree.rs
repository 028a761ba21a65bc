//! Expressions as the parser gives them, walked and read back.

pub(super) mod loops;
pub(super) mod spelling;

use cel::common::ast::{EntryExpr, Expr, IdedEntryExpr, IdedExpr};

/// How a part of an expression is evaluated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// Over and over, by a loop.
    Repeated,
    /// At most once each time the whole is.
    Once,
}

/// Calls `each` with the direct parts of an expression, in the order of the source.
pub(super) fn children<'e>(expr: &'e IdedExpr, mut each: impl FnMut(&'e IdedExpr, Part)) {
    match &expr.expr {
        Expr::Unspecified | Expr::Ident(_) | Expr::Literal(_) => {}
        Expr::Call(call) => {
            call.target.iter().for_each(|target| each(target, Part::Once));
            call.args.iter().for_each(|arg| each(arg, Part::Once));
        }
        Expr::Select(select) => each(&select.operand, Part::Once),
        Expr::List(list) => {
            list.elements.iter().for_each(|element| each(element, Part::Once));
        }
        Expr::Map(map) => {
            entries(&map.entries, |expr| each(expr, Part::Once));
        }
        Expr::Struct(message) => {
            entries(&message.entries, |expr| each(expr, Part::Once));
        }
        Expr::Comprehension(all) => {
            each(&all.iter_range, Part::Once);
            each(&all.accu_init, Part::Once);
            each(&all.loop_cond, Part::Repeated);
            each(&all.loop_step, Part::Repeated);
            each(&all.result, Part::Once);
        }
    }
}

fn entries<'e>(entries: &'e [IdedEntryExpr], mut each: impl FnMut(&'e IdedExpr)) {
    for entry in entries {
        match &entry.expr {
            EntryExpr::MapEntry(entry) => {
                each(&entry.key);
                each(&entry.value);
            }
            EntryExpr::StructField(field) => each(&field.value),
        }
    }
}
