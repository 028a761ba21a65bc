//! From a checked expression to the tree that is evaluated directly.

mod loops;
mod words;

use std::sync::Arc;

use cel::common::ast::{
    CallExpr, EntryExpr, Expr, IdedExpr, LiteralValue, MapExpr, SelectExpr, operators,
};
use memchr::memmem::Finder;

use super::node::{FactName, Literal, Node, OfTexts, Trusted};
use crate::predicate::check::Checked;
use crate::predicate::check::bindings::Names;
use crate::predicate::check::functions::Plan;
use crate::predicate::check::types::Type;
use crate::predicate::context::Context;
use words::{arithmetic, conversion, literal, literals, order, texts, type_name};

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
            (Names::Of(_), "record") => Some(FactName::Record),
            (Names::Of(_), "resource") => Some(FactName::Resource),
            (Names::Of(_), "system") => Some(FactName::System),
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
    fn fact(&self, of: &Node, field: &str) -> Option<FactName> {
        let Node::Fact(of) = of else { return None };
        match (of, field) {
            (FactName::Record, "act") => Some(FactName::Act),
            (FactName::Record, "actor") => Some(FactName::Actor),
            (FactName::Record, "thread") => Some(FactName::Thread),
            (FactName::Record, "data_type") => Some(FactName::DataType),
            (FactName::Record, "clock") => Some(FactName::Clock),
            (FactName::Record, "parents") => Some(FactName::Parents),
            (FactName::Record, "body") => Some(FactName::Body),
            (FactName::Body, _) if !matches!(self.names, Names::Of(Context::Hook)) => None,
            (FactName::Body, "tool") => Some(FactName::Tool),
            (FactName::Body, "args") => Some(FactName::Args),
            (FactName::Body, "status") => Some(FactName::Status),
            (FactName::Body, "content") => Some(FactName::Content),
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
                "@current_actor" => FactName::CurrentActor,
                "@current_namespace" => FactName::CurrentNamespace,
                "@now" => FactName::Now,
                "@nothing" => FactName::Nothing,
                "@no" => FactName::No,
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
}

impl FactName {
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
