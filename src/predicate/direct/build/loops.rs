//! Loops, as the macros that they were written as.

use cel::common::ast::ComprehensionExpr;

use super::Builder;
use crate::predicate::direct::MAX_LOCALS;
use crate::predicate::direct::node::{Collect, Loop, Node, Quantifier};
use crate::predicate::meter::round_units;
use crate::predicate::tree::loops::Loop as Written;

impl<'c> Builder<'c> {
    pub(super) fn comprehension(&mut self, all: &'c ComprehensionExpr) -> Option<Node> {
        let written = Written::of(all)?;
        let range = self.node(written.range)?;
        let local = self.locals.len();
        if local == MAX_LOCALS {
            return None;
        }
        self.locals.push(written.variable);
        let each = |body| Loop { range, local, units: round_units(&all.loop_step), body };
        let node = self.rounds(&written, local, each);
        self.locals.truncate(local);
        node
    }

    fn rounds(
        &mut self,
        written: &Written<'c>,
        local: usize,
        each: impl FnOnce(Node) -> Loop,
    ) -> Option<Node> {
        let quantifier = match (written.name, written.parts.as_slice()) {
            ("all", _) => Quantifier::All,
            ("exists", _) => Quantifier::Exists,
            ("exists_one", _) => Quantifier::ExistsOne,
            (_, parts) => {
                let (guard, element) = match (written.name, parts) {
                    ("filter", [guard]) => (Some(self.node(guard)?), Node::Local(local)),
                    ("map", [guard, element]) => (Some(self.node(guard)?), self.node(element)?),
                    ("map", [element]) => (None, self.node(element)?),
                    _ => return None,
                };
                return Some(Node::Collect(Box::new(Collect { each: each(element), guard })));
            }
        };
        let [body] = written.parts.as_slice() else { return None };
        Some(Node::Quantify(quantifier, Box::new(each(self.node(body)?))))
    }
}
