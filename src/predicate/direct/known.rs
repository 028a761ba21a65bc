//! Facts, and what is inside them.

use super::eval::{Outcome, Run};
use super::fault::Fault;
use super::node::Fact;
use super::value::{Shape, Value};
use crate::predicate::facts::BodyFacts;

impl<'a> Run<'a> {
    pub(super) fn fact_is(&mut self, fact: Fact, wanted: &'a str) -> Outcome<'a, bool> {
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
    fn fact_text(&self, fact: Fact) -> Option<&'a str> {
        let facts = self.question.facts;
        match (fact, facts.record.body) {
            (Fact::Tool, BodyFacts::Call { tool, .. }) => Some(tool),
            (Fact::Status, BodyFacts::Call { status, .. }) => Some(status),
            (Fact::Content, BodyFacts::Call { content, .. }) => Some(content),
            (Fact::Resource, _) => Some(facts.resource),
            (Fact::CurrentActor, _) => Some(facts.actor),
            (Fact::CurrentNamespace, _) => Some(facts.namespace),
            (Fact::Act, _) => Some(facts.record.act),
            (Fact::Actor, _) => Some(facts.record.actor),
            (Fact::Thread, _) => Some(facts.record.thread),
            (Fact::DataType, _) => Some(facts.record.data_type),
            _ => None,
        }
    }

    pub(super) fn fact(&self, fact: Fact) -> Outcome<'a> {
        if let Some(text) = self.fact_text(fact) {
            return Ok(Value::Text(text));
        }
        let facts = self.question.facts;
        let record = &facts.record;
        Ok(match fact {
            Fact::Record => Value::Shape(Shape::Record),
            Fact::Clock => Value::Int(record.clock),
            Fact::Parents => Value::Ids(record.parents),
            Fact::Body => match record.body {
                BodyFacts::Any(members) => Value::Members(members),
                BodyFacts::Call { .. } => Value::Shape(Shape::Body),
            },
            Fact::System => Value::Shape(Shape::System),
            Fact::Now => Value::Int(facts.now_secs),
            Fact::Nothing => Value::Elements(&[]),
            Fact::No => Value::Bool(false),
            _ => match record.body {
                BodyFacts::Call { args, .. } => Value::Members(args),
                BodyFacts::Any(members) => {
                    let name = match fact {
                        Fact::Tool => "tool",
                        Fact::Status => "status",
                        Fact::Content => "content",
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
            Value::Members(_) | Value::Shape(_) | Value::Map(_) => {
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
        let fact = |fact: Fact| self.fact(fact).ok();
        match shape {
            Shape::Record => match name {
                "act" => fact(Fact::Act),
                "actor" => fact(Fact::Actor),
                "thread" => fact(Fact::Thread),
                "data_type" => fact(Fact::DataType),
                "clock" => fact(Fact::Clock),
                "parents" => fact(Fact::Parents),
                "body" => fact(Fact::Body),
                _ => None,
            },
            Shape::Body => match name {
                "tool" => fact(Fact::Tool),
                "args" => fact(Fact::Args),
                "status" => fact(Fact::Status),
                "content" => fact(Fact::Content),
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
