//! Which parts of an expression are worth showing.

use std::collections::HashMap;

use cel::common::ast::{Expr, IdedExpr, LiteralValue, operators};

use crate::predicate::parse::Columns;
use crate::predicate::tree::children;
use crate::predicate::tree::loops::Loop;
use crate::predicate::tree::spelling::spelled_within;

/// The most characters of a string in what is shown of the source.
const MAX_STRING: usize = 40;

/// The parts of an expression, each behind the one that it is a part of. The first is all of it.
pub(super) struct Outline(Vec<Part>);

pub(super) struct Part {
    id: u64,
    pub(super) source: String,
    pub(super) column: Option<usize>,
    pub(super) is_loop: bool,
    /// The variable of the loop that repeats it, if it is what a loop does each round.
    pub(super) variable: Option<String>,
    /// Whether it is the first thing that is done each round.
    pub(super) begins_round: bool,
    /// Where its own parts stand in the outline.
    pub(super) parts: Vec<usize>,
}

impl Outline {
    pub(super) fn of(root: &IdedExpr, columns: &Columns<'_>) -> Self {
        let mut drawing = Drawing { columns, parts: Vec::new(), variables: Vec::new() };
        drawing.part(root);
        Self(drawing.parts)
    }

    pub(super) fn part(&self, at: usize) -> &Part {
        static NOTHING: Part = Part {
            id: 0,
            source: String::new(),
            column: None,
            is_loop: false,
            variable: None,
            begins_round: false,
            parts: Vec::new(),
        };
        self.0.get(at).unwrap_or(&NOTHING)
    }

    /// Returns where each part stands, by its id.
    pub(super) fn watched(&self) -> HashMap<u64, usize> {
        self.0.iter().enumerate().map(|(at, part)| (part.id, at)).collect()
    }
}

struct Drawing<'e, 'c> {
    columns: &'c Columns<'c>,
    parts: Vec<Part>,
    /// The variables of the loops around.
    variables: Vec<&'e str>,
}

impl<'e> Drawing<'e, '_> {
    /// Adds `expr` and what is in it, and returns where it stands.
    fn part(&mut self, expr: &'e IdedExpr) -> usize {
        let at = self.parts.len();
        self.parts.push(Part {
            id: expr.id,
            source: spelled_within(expr, MAX_STRING),
            column: self.columns.of(expr),
            is_loop: matches!(expr.expr, Expr::Comprehension(_)),
            variable: None,
            begins_round: false,
            parts: Vec::new(),
        });
        let parts = match &expr.expr {
            Expr::Comprehension(all) => {
                Loop::of(all).map(|it| self.rounds(&it)).unwrap_or_default()
            }
            Expr::Call(call) if is_logical(&call.func_name) => {
                let mut operands = Vec::new();
                chain(expr, &call.func_name, &mut operands);
                operands.into_iter().filter_map(|operand| self.worth(operand)).collect()
            }
            _ if is_path(expr) => Vec::new(),
            _ => {
                let mut own = Vec::new();
                children(expr, |child, _| own.push(child));
                own.into_iter().filter_map(|child| self.worth(child)).collect()
            }
        };
        if let Some(part) = self.parts.get_mut(at) {
            part.parts = parts;
        }
        at
    }

    /// Adds `expr`, unless what it is can be read off the source or off the round.
    fn worth(&mut self, expr: &'e IdedExpr) -> Option<usize> {
        let known = match &expr.expr {
            Expr::Ident(name) => self.variables.contains(&name.as_str()),
            _ => is_constant(expr),
        };
        (!known).then(|| self.part(expr))
    }

    fn rounds(&mut self, it: &Loop<'e>) -> Vec<usize> {
        let mut own: Vec<usize> = self.worth(it.range).into_iter().collect();
        self.variables.push(it.variable);
        let mut begins_round = true;
        for repeated in it.parts.iter().filter(|part| !is_constant(part)) {
            let at = self.part(repeated);
            if let Some(part) = self.parts.get_mut(at) {
                part.variable = Some(it.variable.to_owned());
                part.begins_round = std::mem::take(&mut begins_round);
            }
            own.push(at);
        }
        self.variables.pop();
        own
    }
}

fn is_logical(name: &str) -> bool {
    matches!(name, operators::LOGICAL_AND | operators::LOGICAL_OR)
}

/// Finds the operands of a chain of one operator, however the parser balanced it.
fn chain<'e>(expr: &'e IdedExpr, name: &str, operands: &mut Vec<&'e IdedExpr>) {
    match &expr.expr {
        Expr::Call(call) if call.func_name == name => {
            call.args.iter().for_each(|operand| chain(operand, name, operands));
        }
        _ => operands.push(expr),
    }
}

/// Tells whether an expression looks something up and does nothing else.
fn is_path(expr: &IdedExpr) -> bool {
    match &expr.expr {
        Expr::Ident(_) => true,
        Expr::Select(select) => !select.test && is_path(&select.operand),
        Expr::Call(call) if call.func_name == operators::INDEX => match call.args.as_slice() {
            [of, by] => is_path(of) && is_constant(by),
            _ => false,
        },
        _ => false,
    }
}

/// Tells whether an expression is written out: it can be read where it stands.
fn is_constant(expr: &IdedExpr) -> bool {
    let own = match &expr.expr {
        Expr::Literal(LiteralValue::String(_)) => return true,
        Expr::Literal(_) | Expr::List(_) | Expr::Map(_) => true,
        Expr::Call(call) => call.func_name == operators::NEGATE,
        _ => false,
    };
    let mut constant = own;
    children(expr, |child, _| constant = constant && is_constant(child));
    constant
}
