//! One evaluation of a tree.

use super::MAX_LOCALS;
use super::fault::Fault;
use super::node::{FactName, Literal, Node, OfTexts, Trusted};
use super::value::{Shape, TypeName, Value};
use crate::predicate::meter::{ELEMENT, Spent, TRUST_UNITS};
use crate::predicate::question::Question;

pub(super) type Outcome<'a, T = Value<'a>> = Result<T, Fault<'a>>;

/// An evaluation that is under way.
pub(super) struct Walk<'a> {
    pub(super) question: &'a Question<'a>,
    pub(super) spent: Spent,
    /// The variables of loops.
    pub(super) locals: [Value<'a>; MAX_LOCALS],
}

impl<'a> Walk<'a> {
    pub(super) fn new(question: &'a Question<'a>) -> Self {
        Self { question, spent: Spent::default(), locals: [Value::Null, Value::Null] }
    }

    /// Evaluates what should be true or false.
    pub(super) fn holds(&mut self, node: &'a Node) -> Outcome<'a, bool> {
        match node {
            Node::All(sides) => self.sides(sides, false),
            Node::Any(sides) => self.sides(sides, true),
            Node::Not(only) => self.holds(only).map(|bool| !bool),
            Node::Is(fact, text, negated) => {
                self.fact_is(*fact, text).map(|equal| equal != *negated)
            }
            Node::IsOneOf(fact, texts) => {
                for text in texts {
                    self.spent.handle(ELEMENT)?;
                    if self.fact_is(*fact, text)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Node::Equal(sides, negated) => {
                let [one, two] = self.both(sides)?;
                self.equal(&one, &two).map(|equal| equal != *negated)
            }
            Node::Order(order, sides) => {
                let [one, two] = self.both(sides)?;
                self.in_order(*order, &one, &two)
            }
            Node::In(sides) => {
                let [wanted, within] = self.both(sides)?;
                self.is_in(&wanted, &within)
            }
            Node::InLiterals(wanted, literals) => {
                let wanted = self.value(wanted)?;
                for literal in literals {
                    self.spent.handle(ELEMENT)?;
                    if self.equal(&literal.value(), &wanted)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Node::Has(of, name) => {
                let of = self.value(of)?;
                match self.field(&of, name) {
                    Ok(_) => Ok(true),
                    Err(Fault::NoField(_)) => Ok(false),
                    Err(fault) => Err(fault),
                }
            }
            Node::OfTexts(what, sides) => self.of_texts(*what, sides),
            Node::Finds(text, finder) => {
                let text = self.read(text)?;
                let Some(text) = text.as_text() else {
                    let wanted = TypeName::Text;
                    return Err(Fault::NotBothTaken("contains", text.type_of(), wanted));
                };
                self.spent.handle(text.len() + finder.needle().len())?;
                Ok(finder.find(text.as_bytes()).is_some())
            }
            Node::Matches(text, pattern) => {
                let is_content = matches!(**text, Node::Fact(FactName::Content));
                let text = self.read(text)?;
                let Some(text) = text.as_text() else {
                    return Err(Fault::NotTaken("matches", text.type_of()));
                };
                self.spent.handle(text.len().saturating_mul(pattern.weight()))?;
                let occurs = || pattern.occurs_in(text);
                Ok(if is_content { self.question.found(pattern, occurs) } else { occurs() })
            }
            Node::Quantify(quantifier, all) => self.quantify(*quantifier, all),
            Node::Literal(Literal::Bool(bool)) => Ok(*bool),
            _ => match self.value(node)? {
                Value::Bool(bool) => Ok(bool),
                other => Err(Fault::NotBool(other.type_of())),
            },
        }
    }

    /// Evaluates what may have any value.
    pub(super) fn value(&mut self, node: &'a Node) -> Outcome<'a> {
        match node {
            Node::Literal(literal) => Ok(literal.value()),
            Node::Fact(fact) => self.fact(*fact),
            Node::Local(local) => Ok(self.locals.get(*local).cloned().unwrap_or(Value::Null)),
            Node::Field(of, name) => {
                let of = self.value(of)?;
                self.field(&of, name)
            }
            Node::Index(sides) => {
                let [of, index] = self.both(sides)?;
                self.element(&of, &index)
            }
            Node::If(parts) => {
                let [condition, yes, no] = &**parts;
                let node = if self.holds(condition)? { yes } else { no };
                self.value(node)
            }
            Node::Negate(only) => match self.value(only)? {
                Value::Int(int) => int.checked_neg().map(Value::Int).ok_or(Fault::OutOfRange),
                Value::Double(double) => Ok(Value::Double(-double)),
                other => Err(Fault::NotTaken("-", other.type_of())),
            },
            Node::Arithmetic(arithmetic, sides) => {
                let [one, two] = self.both(sides)?;
                self.arithmetic(*arithmetic, &one, &two)
            }
            Node::Size(only) => {
                let only = self.value(only)?;
                self.size(&only)
            }
            Node::List(elements) => self.list(elements),
            Node::Map(entries) => self.map(entries),
            Node::Convert(conversion, only) => {
                let only = self.value(only)?;
                self.convert(*conversion, only)
            }
            Node::TypeOf(only) => {
                self.value(only).map(|value| Value::Type(value.type_of().as_str()))
            }
            Node::Trust(what, sides) => self.trust(*what, sides),
            Node::Task(alias) => {
                self.text_handled("task", alias)?;
                Ok(Value::Shape(Shape::Task))
            }
            Node::Fanout(thread) => {
                self.text_handled("fanout_status", thread)?;
                Ok(Value::Text("none"))
            }
            Node::Collect(all) => self.collect(all),
            _ => self.holds(node).map(Value::Bool),
        }
    }

    /// Evaluates `a && b && c` or `a || b || c`: the first side that `decides` is the result,
    /// whatever faults stand before it.
    fn sides(&mut self, sides: &'a [Node], decides: bool) -> Outcome<'a, bool> {
        let mut fault = None;
        for side in sides {
            match self.holds(side) {
                Ok(bool) if bool == decides => return Ok(decides),
                Ok(_) => {}
                Err(Fault::Stopped) => return Err(Fault::Stopped),
                Err(new) => fault = fault.or(Some(new)),
            }
        }
        fault.map_or(Ok(!decides), Err)
    }

    pub(super) fn both(&mut self, sides: &'a [Node; 2]) -> Outcome<'a, [Value<'a>; 2]> {
        let [one, two] = sides;
        Ok([self.value(one)?, self.value(two)?])
    }

    /// Evaluates what should be a text. Most are facts or written out, and need no value.
    fn read(&mut self, node: &'a Node) -> Outcome<'a, Read<'a>> {
        let known = match node {
            Node::Fact(fact) => self.fact_text(*fact),
            Node::Literal(Literal::Text(text)) => Some(&**text),
            _ => None,
        };
        match known {
            Some(text) => Ok(Read::Text(text)),
            None => self.value(node).map(Read::Value),
        }
    }

    fn of_texts(&mut self, what: OfTexts, sides: &'a [Node; 2]) -> Outcome<'a, bool> {
        let name = match what {
            OfTexts::Contains => "contains",
            OfTexts::StartsWith => "startsWith",
            OfTexts::EndsWith => "endsWith",
        };
        let [one, two] = sides;
        let (one, two) = (self.read(one)?, self.read(two)?);
        let (Some(one), Some(two)) = (one.as_text(), two.as_text()) else {
            return Err(Fault::NotBothTaken(name, one.type_of(), two.type_of()));
        };
        self.spent.handle(match what {
            OfTexts::Contains => one.len() + two.len(),
            OfTexts::StartsWith | OfTexts::EndsWith => one.len().min(two.len()),
        })?;
        Ok(match what {
            OfTexts::Contains => one.contains(two),
            OfTexts::StartsWith => one.starts_with(two),
            OfTexts::EndsWith => one.ends_with(two),
        })
    }

    fn trust(&mut self, what: Trusted, sides: &'a [Node; 2]) -> Outcome<'a> {
        let [actor, domain] = sides;
        let function = match what {
            Trusted::Score => "trust",
            Trusted::Count => "trust_count",
        };
        let actor = self.text_handled(function, actor)?;
        let actor = actor.as_text().unwrap_or_default();
        self.spent.build(actor.len())?;
        let domain = self.text_handled(function, domain)?;
        let domain = domain.as_text().unwrap_or_default();
        self.spent.work(TRUST_UNITS)?;
        let trust = self.question.facts.trust;
        Ok(match what {
            Trusted::Score => Value::Double(trust.score(actor, domain)),
            Trusted::Count => Value::Int(trust.count(actor, domain)),
        })
    }

    /// Returns a text that a function was given, counted as handled.
    fn text_handled(&mut self, function: &'static str, node: &'a Node) -> Outcome<'a, Read<'a>> {
        let read = self.read(node)?;
        let Some(text) = read.as_text() else {
            return Err(Fault::NotTaken(function, read.type_of()));
        };
        self.spent.handle(text.len())?;
        Ok(read)
    }
}

/// What should be a text.
enum Read<'a> {
    Text(&'a str),
    Value(Value<'a>),
}

impl Read<'_> {
    fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Value(value) => value.as_text(),
        }
    }

    const fn type_of(&self) -> TypeName {
        match self {
            Self::Text(_) => TypeName::Text,
            Self::Value(value) => value.type_of(),
        }
    }
}
