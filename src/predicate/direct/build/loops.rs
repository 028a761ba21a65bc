//! The macros, recognized by what the parser has written them out as.

use cel::common::ast::{CallExpr, ComprehensionExpr, Expr, IdedExpr, LiteralValue, operators};

use super::Builder;
use crate::predicate::direct::MAX_LOCALS;
use crate::predicate::direct::node::{Collect, Loop, Node, Quantifier};
use crate::predicate::metered::rewrite::weight;

impl<'c> Builder<'c> {
    pub(super) fn comprehension(&mut self, all: &'c ComprehensionExpr) -> Option<Node> {
        let range = self.node(&all.iter_range)?;
        let weight = weight(&all.loop_step);
        let local = self.locals.len();
        if local == MAX_LOCALS {
            return None;
        }
        self.locals.push(&all.iter_var);
        let node = self.rounds(all, Rounds { range, weight, local });
        self.locals.truncate(local);
        node
    }

    fn rounds(&mut self, all: &'c ComprehensionExpr, rounds: Rounds) -> Option<Node> {
        let Expr::Call(step) = &all.loop_step.expr else { return None };
        let is_found =
            |expr: &IdedExpr| matches!(&expr.expr, Expr::Ident(it) if *it == all.accu_var);
        let quantifier = match (&all.accu_init.expr, step.func_name.as_str()) {
            (Expr::List(_), _) => return self.collect(all, step, rounds),
            (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_AND) => Quantifier::All,
            (Expr::Literal(LiteralValue::Boolean(_)), operators::LOGICAL_OR) => Quantifier::Exists,
            (Expr::Literal(LiteralValue::Int(_)), operators::CONDITIONAL) => Quantifier::ExistsOne,
            _ => return None,
        };
        let body = match (quantifier, step.args.as_slice()) {
            (Quantifier::ExistsOne, [body, _, found]) if is_found(found) => body,
            (Quantifier::All | Quantifier::Exists, [found, body]) if is_found(found) => body,
            _ => return None,
        };
        Some(Node::Quantify(quantifier, Box::new(rounds.of(self.node(body)?))))
    }

    fn collect(
        &mut self,
        all: &'c ComprehensionExpr,
        step: &'c CallExpr,
        rounds: Rounds,
    ) -> Option<Node> {
        let is_found =
            |expr: &IdedExpr| matches!(&expr.expr, Expr::Ident(it) if *it == all.accu_var);
        let (guard, step) = match (step.func_name.as_str(), step.args.as_slice()) {
            (operators::CONDITIONAL, [guard, step, found]) if is_found(found) => {
                let Expr::Call(step) = &step.expr else { return None };
                (Some(self.node(guard)?), step)
            }
            _ => (None, step),
        };
        let element = match (step.func_name.as_str(), step.args.as_slice()) {
            (operators::ADD, [found, IdedExpr { expr: Expr::List(list), .. }])
                if is_found(found) =>
            {
                list.elements.first()?
            }
            _ => return None,
        };
        let each = rounds.of(self.node(element)?);
        Some(Node::Collect(Box::new(Collect { each, guard })))
    }
}

/// A loop without its body.
struct Rounds {
    range: Node,
    weight: usize,
    local: usize,
}

impl Rounds {
    fn of(self, body: Node) -> Loop {
        Loop { range: self.range, local: self.local, weight: self.weight, body }
    }
}
