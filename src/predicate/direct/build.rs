//! From a checked expression to the tree that is evaluated directly.

use std::sync::Arc;

use cel::common::ast::{
    CallExpr, ComprehensionExpr, EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, SelectExpr,
    operators,
};
use memchr::memmem::Finder;

use super::MAX_LOCALS;
use super::node::{
    Arithmetic, Collect, Conversion, Fact, Literal, Loop, Node, OfTexts, Order, Quantifier, Trusted,
};
use crate::predicate::bindings::Names;
use crate::predicate::check::Checked;
use crate::predicate::context::Context;
use crate::predicate::functions::Plan;
use crate::predicate::rewrite::weight;
use crate::predicate::types::Type;

/// Returns the tree of `root`; `None` if it has parts that are not evaluated directly.
pub(super) fn build(root: &IdedExpr, checked: &Checked, names: &Names) -> Option<Node> {
    Builder { checked, names, locals: Vec::new() }.node(root)
}

struct Builder<'c> {
    checked: &'c Checked,
    names: &'c Names,
    /// The variables of the loops around, innermost last.
    locals: Vec<&'c str>,
}

impl<'c> Builder<'c> {
    fn node(&mut self, expr: &'c IdedExpr) -> Option<Node> {
        // Points and lengths of time are rare, and their rules are many.
        if matches!(self.checked.type_of(expr), Type::Timestamp | Type::Duration) {
            return None;
        }
        if let Some(name) = self.checked.name_of(expr.id) {
            return self.named(name);
        }
        match &expr.expr {
            Expr::Literal(value) => Some(Node::Literal(literal(value))),
            Expr::Ident(name) => self.name(name),
            Expr::Select(select) => self.select(select),
            Expr::Call(call) => self.call(expr, call),
            Expr::List(list) => Some(Node::List(self.nodes(&list.elements)?)),
            Expr::Map(map) => self.map(map),
            Expr::Comprehension(all) => self.comprehension(all),
            Expr::Struct(_) | Expr::Unspecified => None,
        }
    }

    fn nodes(&mut self, exprs: &'c [IdedExpr]) -> Option<Box<[Node]>> {
        exprs.iter().map(|expr| self.node(expr)).collect()
    }

    fn boxed(&mut self, expr: &'c IdedExpr) -> Option<Box<Node>> {
        self.node(expr).map(Box::new)
    }

    fn pair(&mut self, one: &'c IdedExpr, two: &'c IdedExpr) -> Option<Box<[Node; 2]>> {
        Some(Box::new([self.node(one)?, self.node(two)?]))
    }

    fn name(&self, name: &str) -> Option<Node> {
        if let Some(local) = self.locals.iter().rposition(|known| *known == name) {
            return Some(Node::Local(local));
        }
        let name = name.strip_prefix('.').unwrap_or(name);
        let fact = match (self.names, name) {
            (Names::Of(_), "record") => Some(Fact::Record),
            (Names::Of(_), "resource") => Some(Fact::Resource),
            (Names::Of(_), "system") => Some(Fact::System),
            _ => None,
        };
        fact.map(Node::Fact).or_else(|| self.named(name))
    }

    /// Returns the type that has this name. Whatever else was declared is bound to values of the
    /// other evaluator.
    fn named(&self, name: &str) -> Option<Node> {
        match self.names {
            Names::Declared(environment) if environment.variable(name).is_some() => None,
            _ => type_name(name).map(|name| Node::Literal(Literal::Type(name))),
        }
    }

    fn select(&mut self, select: &'c SelectExpr) -> Option<Node> {
        let of = self.node(&select.operand)?;
        if select.test {
            return Some(Node::Has(Box::new(of), select.field.as_str().into()));
        }
        Some(match self.fact(&of, &select.field) {
            Some(fact) => Node::Fact(fact),
            None => Node::Field(Box::new(of), select.field.as_str().into()),
        })
    }

    /// Returns the fact that a field of another is, if that is known now.
    fn fact(&self, of: &Node, field: &str) -> Option<Fact> {
        let Node::Fact(of) = of else { return None };
        match (of, field) {
            (Fact::Record, "act") => Some(Fact::Act),
            (Fact::Record, "actor") => Some(Fact::Actor),
            (Fact::Record, "thread") => Some(Fact::Thread),
            (Fact::Record, "data_type") => Some(Fact::DataType),
            (Fact::Record, "clock") => Some(Fact::Clock),
            (Fact::Record, "parents") => Some(Fact::Parents),
            (Fact::Record, "body") => Some(Fact::Body),
            (Fact::Body, _) if !matches!(self.names, Names::Of(Context::Hook)) => None,
            (Fact::Body, "tool") => Some(Fact::Tool),
            (Fact::Body, "args") => Some(Fact::Args),
            (Fact::Body, "status") => Some(Fact::Status),
            (Fact::Body, "content") => Some(Fact::Content),
            _ => None,
        }
    }

    fn call(&mut self, expr: &'c IdedExpr, call: &'c CallExpr) -> Option<Node> {
        if let Some(plan) = self.checked.plan_of(expr.id) {
            return self.function(expr, call, plan);
        }
        let name = call.func_name.as_str();
        Some(match (name, call.args.as_slice()) {
            (operators::LOGICAL_AND | operators::LOGICAL_OR, [_, _]) => {
                let mut sides = Vec::new();
                self.chain(name, expr, &mut sides)?;
                let sides = sides.into();
                if name == operators::LOGICAL_AND { Node::All(sides) } else { Node::Any(sides) }
            }
            (operators::CONDITIONAL, [condition, yes, no]) => {
                Node::If(Box::new([self.node(condition)?, self.node(yes)?, self.node(no)?]))
            }
            (operators::LOGICAL_NOT, [only]) => Node::Not(self.boxed(only)?),
            (operators::NEGATE, [only]) => Node::Negate(self.boxed(only)?),
            (operators::INDEX, [of, index]) => Node::Index(self.pair(of, index)?),
            (operators::IN, [wanted, within]) => self.within(wanted, within)?,
            (operators::EQUALS, [one, two]) => self.equal(one, two, false)?,
            (operators::NOT_EQUALS, [one, two]) => self.equal(one, two, true)?,
            (name, [one, two]) => match (order(name), arithmetic(name)) {
                (Some(order), _) => Node::Order(order, self.pair(one, two)?),
                (_, Some(arithmetic)) => Node::Arithmetic(arithmetic, self.pair(one, two)?),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Collects the sides of `a && b && c`, however they are paired: evaluating them one after the
    /// other is the same.
    fn chain(&mut self, name: &str, expr: &'c IdedExpr, sides: &mut Vec<Node>) -> Option<()> {
        match &expr.expr {
            Expr::Call(call) if call.func_name == name && call.args.len() == 2 => {
                call.args.iter().try_for_each(|side| self.chain(name, side, sides))
            }
            _ => {
                sides.push(self.node(expr)?);
                Some(())
            }
        }
    }

    fn equal(&mut self, one: &'c IdedExpr, two: &'c IdedExpr, negated: bool) -> Option<Node> {
        let sides = self.pair(one, two)?;
        Some(match *sides {
            [Node::Fact(fact), Node::Literal(Literal::Text(text))]
            | [Node::Literal(Literal::Text(text)), Node::Fact(fact)]
                if fact.is_text() =>
            {
                Node::Is(fact, text, negated)
            }
            sides => Node::Equal(Box::new(sides), negated),
        })
    }

    fn within(&mut self, wanted: &'c IdedExpr, within: &'c IdedExpr) -> Option<Node> {
        let wanted = self.node(wanted)?;
        let Some(literals) = literals(within) else {
            return Some(Node::In(Box::new([wanted, self.node(within)?])));
        };
        if let Node::Fact(fact) = wanted
            && fact.is_text()
            && let Some(texts) = texts(&literals)
        {
            return Some(Node::IsOneOf(fact, texts));
        }
        Some(Node::InLiterals(Box::new(wanted), literals))
    }

    fn function(&mut self, expr: &'c IdedExpr, call: &'c CallExpr, plan: Plan) -> Option<Node> {
        let args: Vec<&'c IdedExpr> =
            call.target.as_deref().into_iter().chain(&call.args).collect();
        Some(match (plan, args.as_slice()) {
            (Plan::Own("@size"), [only]) => Node::Size(self.boxed(only)?),
            (Plan::Own("@contains"), [text, part]) => match &part.expr {
                Expr::Literal(LiteralValue::String(part)) => {
                    let finder = Finder::new(part.inner()).into_owned();
                    Node::Finds(self.boxed(text)?, Box::new(finder))
                }
                _ => Node::OfTexts(OfTexts::Contains, self.pair(text, part)?),
            },
            (Plan::Own("@starts_with"), [text, part]) => {
                Node::OfTexts(OfTexts::StartsWith, self.pair(text, part)?)
            }
            (Plan::Own("@ends_with"), [text, part]) => {
                Node::OfTexts(OfTexts::EndsWith, self.pair(text, part)?)
            }
            (Plan::Matches, [text, _]) => {
                let pattern = self.checked.patterns.get(self.checked.pattern_of(expr.id)?)?;
                Node::Matches(self.boxed(text)?, Arc::clone(pattern))
            }
            (Plan::Converts, [only]) if call.target.is_none() => {
                Node::Convert(conversion(&call.func_name)?, self.boxed(only)?)
            }
            (Plan::Free, [only]) => match call.func_name.trim_start_matches('.') {
                "dyn" => self.node(only)?,
                "type" => Node::TypeOf(self.boxed(only)?),
                _ => return None,
            },
            (Plan::Fact(name), []) => Node::Fact(match name {
                "@current_actor" => Fact::CurrentActor,
                "@current_namespace" => Fact::CurrentNamespace,
                "@now" => Fact::Now,
                "@nothing" => Fact::Nothing,
                "@no" => Fact::No,
                _ => return None,
            }),
            (Plan::Ask("@trust"), [actor, domain]) => {
                Node::Trust(Trusted::Score, self.pair(actor, domain)?)
            }
            (Plan::Ask("@trust_count"), [actor, domain]) => {
                Node::Trust(Trusted::Count, self.pair(actor, domain)?)
            }
            (Plan::Ask("@task"), [alias]) => Node::Task(self.boxed(alias)?),
            (Plan::Ask("@fanout_status"), [thread]) => Node::Fanout(self.boxed(thread)?),
            _ => return None,
        })
    }

    fn map(&mut self, map: &'c MapExpr) -> Option<Node> {
        let entries = map.entries.iter().map(|entry| match &entry.expr {
            EntryExpr::MapEntry(entry) if !entry.optional => {
                Some((self.node(&entry.key)?, self.node(&entry.value)?))
            }
            _ => None,
        });
        Some(Node::Map(entries.collect::<Option<_>>()?))
    }

    /// Recognizes what each macro is written out as.
    fn comprehension(&mut self, all: &'c ComprehensionExpr) -> Option<Node> {
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

impl Fact {
    /// Tells whether the fact is a text, whatever the facts are.
    const fn is_text(self) -> bool {
        matches!(
            self,
            Self::Act
                | Self::Actor
                | Self::Thread
                | Self::DataType
                | Self::Tool
                | Self::Status
                | Self::Content
                | Self::Resource
                | Self::CurrentActor
                | Self::CurrentNamespace
        )
    }
}

fn literal(value: &LiteralValue) -> Literal {
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
fn literals(expr: &IdedExpr) -> Option<Box<[Literal]>> {
    let Expr::List(list) = &expr.expr else { return None };
    let element = |expr: &IdedExpr| match &expr.expr {
        Expr::Literal(value) => Some(literal(value)),
        _ => None,
    };
    list.elements.iter().map(element).collect()
}

fn texts(literals: &[Literal]) -> Option<Box<[Box<str>]>> {
    let text = |literal: &Literal| match literal {
        Literal::Text(text) => Some(text.clone()),
        _ => None,
    };
    literals.iter().map(text).collect()
}

fn type_name(name: &str) -> Option<&'static str> {
    const NAMES: [&str; 10] =
        ["bool", "bytes", "double", "int", "list", "map", "null_type", "string", "type", "uint"];
    NAMES.into_iter().find(|known| *known == name)
}

fn order(name: &str) -> Option<Order> {
    Some(match name {
        operators::LESS => Order::Less,
        operators::LESS_EQUALS => Order::AtMost,
        operators::GREATER => Order::Greater,
        operators::GREATER_EQUALS => Order::AtLeast,
        _ => return None,
    })
}

fn arithmetic(name: &str) -> Option<Arithmetic> {
    Some(match name {
        operators::ADD => Arithmetic::Add,
        operators::SUBSTRACT => Arithmetic::Subtract,
        operators::MULTIPLY => Arithmetic::Multiply,
        operators::DIVIDE => Arithmetic::Divide,
        operators::MODULO => Arithmetic::Remainder,
        _ => return None,
    })
}

fn conversion(name: &str) -> Option<Conversion> {
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
