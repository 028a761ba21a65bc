//! The loops that macros are written out as, read back.

use cel::common::ast::{ComprehensionExpr, Expr, IdedExpr, operators};

/// A loop, as it was written.
pub(in crate::predicate) struct Loop<'e> {
    /// The macro: `all`, `exists`, `exists_one`, `filter` or `map`.
    pub(in crate::predicate) name: &'static str,
    pub(in crate::predicate) range: &'e IdedExpr,
    pub(in crate::predicate) variable: &'e str,
    /// What is evaluated each round, in the order of the source.
    pub(in crate::predicate) parts: Vec<&'e IdedExpr>,
}

impl<'e> Loop<'e> {
    /// Reads a loop; `None` is one that no macro is written out as.
    pub(in crate::predicate) fn of(all: &'e ComprehensionExpr) -> Option<Self> {
        let (name, parts) = parts(all)?;
        Some(Self { name, range: &all.iter_range, variable: &all.iter_var, parts })
    }
}

fn parts(all: &ComprehensionExpr) -> Option<(&'static str, Vec<&IdedExpr>)> {
    let Expr::Call(step) = &all.loop_step.expr else { return None };
    let is_found = |expr: &IdedExpr| matches!(&expr.expr, Expr::Ident(it) if *it == all.accu_var);
    let collects = matches!(all.accu_init.expr, Expr::List(_));
    match (step.func_name.as_str(), step.args.as_slice()) {
        (operators::LOGICAL_AND, [found, it]) if is_found(found) => Some(("all", vec![it])),
        (operators::LOGICAL_OR, [found, it]) if is_found(found) => Some(("exists", vec![it])),
        (operators::ADD, [found, kept]) if is_found(found) && collects => {
            Some(("map", vec![element(kept)?]))
        }
        (operators::CONDITIONAL, [condition, kept, found]) if is_found(found) => {
            if !collects {
                return Some(("exists_one", vec![condition]));
            }
            let Expr::Call(kept) = &kept.expr else { return None };
            let [found, kept] = kept.args.as_slice() else { return None };
            let element = element(kept).filter(|_| is_found(found))?;
            match &element.expr {
                Expr::Ident(name) if *name == all.iter_var => Some(("filter", vec![condition])),
                _ => Some(("map", vec![condition, element])),
            }
        }
        _ => None,
    }
}

/// Returns the one element of the list that a round adds.
fn element(kept: &IdedExpr) -> Option<&IdedExpr> {
    match &kept.expr {
        Expr::List(list) => list.elements.first(),
        _ => None,
    }
}
