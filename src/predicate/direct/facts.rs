//! Facts, and what is inside them.

use super::eval::{Outcome, Walk};
use super::fault::Fault;
use super::node::FactName;
use super::value::{Shape, Value};
use crate::predicate::facts::BodyFacts;

impl<'a> Walk<'a> {
    pub(super) fn fact_is(&mut self, fact: FactName, wanted: &'a str) -> Outcome<'a, bool> {
        if let Some(text) = self.fact_text(fact) {
            self.spent.handle(text.len().min(wanted.len()))?;
            return Ok(text == wanted);
        }
        // Where the facts are not a returned call, a body may hold anything.
        let other = self.fact(fact)?;
        self.equal(&other, &Value::Text(wanted))
    }

    /// Returns a fact that is a text.
    #[inline]
    pub(super) fn fact_text(&self, fact: FactName) -> Option<&'a str> {
        let facts = self.question.facts;
        match (fact, facts.record.body) {
            (FactName::Tool, BodyFacts::Call { tool, .. }) => Some(tool),
            (FactName::Status, BodyFacts::Call { status, .. }) => Some(status),
            (FactName::Content, BodyFacts::Call { content, .. }) => Some(content),
            (FactName::Resource, _) => Some(facts.resource),
            (FactName::CurrentActor, _) => Some(facts.actor),
            (FactName::CurrentNamespace, _) => Some(facts.namespace),
            (FactName::Act, _) => Some(facts.record.act),
            (FactName::Actor, _) => Some(facts.record.actor),
            (FactName::Thread, _) => Some(facts.record.thread),
            (FactName::DataType, _) => Some(facts.record.data_type),
            _ => None,
        }
    }

    pub(super) fn fact(&self, fact: FactName) -> Outcome<'a> {
        if let Some(text) = self.fact_text(fact) {
            return Ok(Value::Text(text));
        }
        let facts = self.question.facts;
        let record = &facts.record;
        Ok(match fact {
            FactName::Record => Value::Shape(Shape::Record),
            FactName::Clock => Value::Int(record.clock),
            FactName::Parents => Value::Ids(record.parents),
            FactName::Body => match record.body {
                BodyFacts::Any(members) => Value::Members(members),
                BodyFacts::Call { .. } => Value::Shape(Shape::Body),
            },
            FactName::System => Value::Shape(Shape::System),
            FactName::Now => Value::Int(facts.now_secs),
            FactName::Nothing => Value::Elements(&[]),
            FactName::No => Value::Bool(false),
            _ => match record.body {
                BodyFacts::Call { args, .. } => Value::Members(args),
                BodyFacts::Any(members) => {
                    let name = match fact {
                        FactName::Tool => "tool",
                        FactName::Status => "status",
                        FactName::Content => "content",
                        _ => "args",
                    };
                    members.get(name).map(Value::of).ok_or(Fault::NoField(name))?
                }
            },
        })
    }

    /// Returns a field of a map.
    pub(super) fn field(&mut self, of: &Value<'a>, name: &'a str) -> Outcome<'a> {
        match of {
            Value::Members(members) => {
                self.spent.look_up(name.len())?;
                members.get(name).map(Value::of).ok_or(Fault::NoField(name))
            }
            Value::Shape(_) | Value::Map(_) => {
                self.spent.look_up(name.len())?;
                self.member(of, &Value::Text(name)).ok_or(Fault::NoField(name))
            }
            other => Err(Fault::NotTaken(".", other.type_of())),
        }
    }

    /// Returns the value of a key in a map, if there is one.
    pub(super) fn member(&self, of: &Value<'a>, key: &Value<'_>) -> Option<Value<'a>> {
        match of {
            Value::Members(members) => members.get(key.as_text()?).map(Value::of),
            Value::Shape(shape) => self.shape_field(*shape, key.as_text()?),
            Value::Map(entries) => {
                let wanted = key.as_key()?;
                let found =
                    entries.binary_search_by(|(held, _)| held.as_key().cmp(&Some(wanted))).ok()?;
                entries.get(found).map(|(_, value)| value.clone())
            }
            _ => None,
        }
    }

    fn shape_field(&self, shape: Shape, name: &str) -> Option<Value<'a>> {
        let fact = |fact: FactName| self.fact(fact).ok();
        match shape {
            Shape::Record => match name {
                "act" => fact(FactName::Act),
                "actor" => fact(FactName::Actor),
                "thread" => fact(FactName::Thread),
                "data_type" => fact(FactName::DataType),
                "clock" => fact(FactName::Clock),
                "parents" => fact(FactName::Parents),
                "body" => fact(FactName::Body),
                _ => None,
            },
            Shape::Body => match name {
                "tool" => fact(FactName::Tool),
                "args" => fact(FactName::Args),
                "status" => fact(FactName::Status),
                "content" => fact(FactName::Content),
                _ => None,
            },
            Shape::System => {
                let system = self.question.system();
                Some(match name {
                    "uptime_secs" => Value::Int(system.uptime_secs),
                    "records_total" => Value::Int(system.records_total),
                    "threads_total" => Value::Int(system.threads_total),
                    "daemon_version" => Value::Text(system.daemon_version),
                    "active_dispatches" => Value::Elements(&[]),
                    "today" => Value::Shape(Shape::Today),
                    _ => return None,
                })
            }
            Shape::Today => Some(match name {
                "dispatches" | "tasks_completed" => Value::Int(0),
                "cost_usd" => Value::Double(0.0),
                _ => return None,
            }),
            Shape::Task => Some(match name {
                "status" | "priority" | "assigned_to" => Value::Text(""),
                "age_secs" => Value::Int(0),
                "cost_usd" => Value::Double(0.0),
                "exists" => Value::Bool(false),
                _ => return None,
            }),
        }
    }
}
