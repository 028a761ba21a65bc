//! The order in which conjuncts are evaluated: first those that tell soonest that a predicate
//! does not hold.
//!
//! CEL's `&&` is false where one side is, whatever the other side is, so the order changes no
//! value. It changes what is spent before a predicate says that it does not hold: what is
//! [read from it](super) is looked at before anything that could exhaust the budget.

use std::mem;

use cel::common::ast::{Expr, IdedExpr, operators};

use super::Rank;
use super::read::{is_chain, rank};
use crate::predicate::Context;
use crate::predicate::guard::MAX_DEPTH;
use crate::predicate::tree::children;

/// Moves the conjuncts that a selector reads to the front of their chains, also within the
/// branches of `||`. All others keep their order: whoever wrote them may have meant one to guard
/// the next.
///
/// Conjuncts change places and the operators between them stay, so a tree is as balanced as it
/// was. Where a tall conjunct would come to stand too deep, all stays as it was written.
pub(in crate::predicate) fn order(root: IdedExpr, context: Context) -> IdedExpr {
    let mut ordered = root.clone();
    sort(&mut ordered, context);
    if depth(&ordered) > MAX_DEPTH { root } else { ordered }
}

fn sort(expr: &mut IdedExpr, context: Context) {
    if is_chain(expr) {
        sort_chain(expr, context);
    } else if let Expr::Call(call) = &mut expr.expr
        && call.func_name == operators::LOGICAL_OR
    {
        call.args.iter_mut().for_each(|branch| sort(branch, context));
    }
}

fn sort_chain(expr: &mut IdedExpr, context: Context) {
    let mut slots = Vec::new();
    collect(expr, &mut slots);
    let mut conjuncts: Vec<IdedExpr> = slots.iter_mut().map(|slot| mem::take(*slot)).collect();
    for conjunct in &mut conjuncts {
        sort(conjunct, context);
    }
    conjuncts.sort_by_cached_key(|conjunct| {
        let rank = rank(conjunct, context);
        if rank.is_cheap() { rank } else { Rank::Unknown }
    });
    for (slot, conjunct) in slots.into_iter().zip(conjuncts) {
        *slot = conjunct;
    }
}

/// Collects the conjuncts of a chain, in the order of evaluation.
fn collect<'e>(expr: &'e mut IdedExpr, into: &mut Vec<&'e mut IdedExpr>) {
    if !is_chain(expr) {
        into.push(expr);
    } else if let Expr::Call(call) = &mut expr.expr {
        call.args.iter_mut().for_each(|side| collect(side, into));
    }
}

fn depth(expr: &IdedExpr) -> usize {
    let mut below = 0;
    children(expr, |child, _| below = below.max(depth(child)));
    below + 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::parse;

    /// Writes an expression with every operand of `&&` and `||` as the literal in it.
    fn shape(expr: &IdedExpr) -> String {
        match &expr.expr {
            Expr::Call(call) if call.func_name == operators::LOGICAL_AND => sides(call, "&"),
            Expr::Call(call) if call.func_name == operators::LOGICAL_OR => sides(call, "|"),
            Expr::Literal(literal) => {
                let value = literal.to_val();
                let text = value.downcast_ref::<cel::common::types::CelString<'_>>();
                text.map(|text| text.inner().to_owned()).unwrap_or_default()
            }
            _ => {
                let mut found = String::new();
                children(expr, |child, _| found.push_str(&shape(child)));
                found
            }
        }
    }

    fn sides(call: &cel::common::ast::CallExpr, sign: &str) -> String {
        let sides: Vec<String> = call.args.iter().map(shape).collect();
        format!("({})", sides.join(sign))
    }

    fn ordered(source: &str) -> (String, IdedExpr, IdedExpr) {
        let (parsed, _) = parse::parse(source).expect(source);
        let ordered = order(parsed.clone(), Context::Hook);
        (shape(&ordered), parsed, ordered)
    }

    #[test]
    fn what_a_selector_reads_comes_first() {
        for (source, want) in [
            ("record.act == 'x' && record.body.tool == 'a'", "(a&x)"),
            ("record.body.tool == 'a' && record.act == 'x'", "(a&x)"),
            (
                "record.act == 'x' && (record.actor == 'y' && (record.body.status == 's' && \
                 (record.body.content.contains('c') && resource.startsWith('r'))))",
                "(r&(s&(c&(x&y))))",
            ),
            // Two of one rank keep their order.
            ("record.act == 'x' && 'b' == resource && record.body.tool in ['a']", "((b&a)&x)"),
            // A branch that asks for nothing makes the whole ask for nothing.
            ("record.act == 'x' && (record.body.tool == 'a' || record.act == 'y')", "(x&(a|y))"),
            (
                "record.act == 'x' && \
                 (record.actor == 'y' && record.body.tool == 'a' || record.body.tool == 'b')",
                "(x&((a&y)|b))",
            ),
            // What is cheap whatever it says comes before what may be dear where it is true.
            (
                "(record.act == 'x' && record.body.tool == 'a' || record.body.tool == 'b') && \
                 (record.body.status == 's' || record.body.content.contains('c'))",
                "((s|c)&((a&x)|b))",
            ),
            // Only what decides is looked into.
            ("!(record.act == 'x' && record.body.tool == 'a')", "(x&a)"),
        ] {
            assert_eq!(ordered(source).0, want, "{source}");
        }
    }

    #[test]
    fn a_tall_conjunct_does_not_come_to_stand_too_deep() {
        let tall = format!("record.act == '{}'", "x'+'".repeat(28));
        let chain = "record.act == 'y' && ".repeat(7);
        let source = format!("{tall} && ({chain} record.body.tool == 'a')");
        let (_, parsed, ordered) = ordered(&source);
        assert_eq!((depth(&parsed), &ordered), (31, &parsed));
    }
}
