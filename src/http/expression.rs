//! `POST /v1/expr/eval`: an expression, tried out over a record that the request brings along
//! (contract §2.7, §4.1).
//!
//! **Invariant:** nothing is stored, and nothing of the store is read but trust and counts. The
//! budget of an evaluation ends it, so the time that a request grants can only be the shorter one.

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::{Object, Value};
use crate::code::Code;
use crate::engine::Engine;
use crate::hook::head;
use crate::object;
use crate::predicate::{BodyFacts, Context, Facts, RecordFacts, SystemFacts, Trust};
use crate::record::{Act, ActorId, DataType, Reason, RecordId, ShapeError};
use crate::time::Stopwatch;

/// The contexts that the protocol has and this instance evaluates nothing in.
const NOT_OFFERED: [&str; 8] =
    ["trigger", "routing", "precondition", "fold_rule", "health_check", "decision", "aitl", "join"];

/// The longest time that a request may grant.
const MAX_TIMEOUT_MS: u64 = 60_000;

/// `POST /v1/expr/eval`
pub(super) fn evaluate(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 6] =
        ["context", "explain", "expression", "record", "resource", "timeout_ms"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let context = context(request)?;
    let source = text(request, "expression")?.ok_or_else(|| ShapeError::missing("expression"))?;
    let timeout_ms = timeout_ms(request)?;
    let explain = explain(request)?;
    let given = Given::read(request, context)?;
    let expression = state
        .engine()
        .expressions()
        .expression(source, context)
        .map_err(|error| Problem::of(&error).at("expression"))?;
    let (result, elapsed, explanation) = given.facts(context, state.engine(), |facts| {
        let took = Stopwatch::start();
        let result = expression.evaluate(facts);
        (result, took.elapsed(), explain.then(|| wire::explanation(&expression.explain(facts))))
    })?;
    if timeout_ms.is_some_and(|limit| elapsed.as_millis() > u128::from(limit)) {
        return Err(Problem::new(Code::RequestTimeout, "the evaluation took longer than granted"));
    }
    let mut answer = object! {
        "object": "evaluation",
        "context": context.as_str(),
        "elapsed_us": u64::try_from(elapsed.as_micros()).unwrap_or(u64::MAX),
    };
    match (result, explanation) {
        (Ok(result), explanation) => {
            answer.insert("result".into(), result.into_json());
            answer.extend(explanation.map(|it| ("explanation".to_owned(), it.into())));
        }
        // Whoever wants to know why is told why, and not refused: in the words of the explanation.
        (Err(failure), Some(explanation)) => {
            let message = explanation.get("message").cloned();
            let message = message.unwrap_or_else(|| failure.to_string().into());
            answer.insert("failure".into(), message);
            answer.insert("explanation".into(), explanation.into());
        }
        (Err(failure), None) => {
            return Err(Problem::new(Code::InvalidBody, failure.to_string())
                .at("expression")
                .because("evaluation_failed"));
        }
    }
    Ok(Answer::ok(answer))
}

fn context(request: &Object) -> Result<Context, Problem> {
    const FIELD: &str = "context";
    let name = text(request, FIELD)?.ok_or_else(|| ShapeError::missing(FIELD))?;
    Context::parse(name).ok_or_else(|| {
        let message = if NOT_OFFERED.contains(&name) {
            format!("nothing is evaluated in the context `{name}` here; use `hook` or `permission`")
        } else {
            "`context` must be `hook` or `permission`".to_owned()
        };
        ShapeError::new(FIELD, Reason::BadValue, message).into()
    })
}

fn timeout_ms(request: &Object) -> Result<Option<u64>, Problem> {
    const FIELD: &str = "timeout_ms";
    let Some(value) = request.get(FIELD) else { return Ok(None) };
    let good = value.as_u64().filter(|limit| (1..=MAX_TIMEOUT_MS).contains(limit));
    good.map(Some).ok_or_else(|| {
        let message = format!("`{FIELD}` must be an integer from 1 to {MAX_TIMEOUT_MS}");
        ShapeError::new(FIELD, Reason::BadValue, message).into()
    })
}

fn explain(request: &Object) -> Result<bool, Problem> {
    match request.get("explain") {
        None => Ok(false),
        Some(Value::Bool(explain)) => Ok(*explain),
        Some(other) => {
            Err(ShapeError::wrong_type("explain", "true or false", other.type_name()).into())
        }
    }
}

/// What the request brings along. Whatever it leaves out has a default.
struct Given<'a> {
    body: &'a Object,
    act: &'a str,
    actor: &'a str,
    thread: &'a str,
    data_type: &'a str,
    clock: i64,
    parents: Vec<RecordId>,
    namespace: &'a str,
    resource: String,
}

static NOTHING: Object = Object::new();

impl<'a> Given<'a> {
    fn read(request: &'a Object, context: Context) -> Result<Self, Problem> {
        let record = inner(request, "record", "record")?;
        let body = inner(record, "body", "record.body")?;
        let act = if context == Context::Hook { Act::Call } else { Act::Know };
        let resource = match text(request, "resource")? {
            Some(resource) => resource.to_owned(),
            None if context == Context::Hook => {
                format!("tool:{}", within(body, "tool", "record.body.tool")?)
            }
            None => "record_write".to_owned(),
        };
        Ok(Self {
            body,
            act: or(within(record, "act", "record.act")?, act.as_str()),
            actor: within(record, "actor", "record.actor")?,
            thread: within(record, "thread", "record.thread")?,
            data_type: or(
                within(record, "data_type", "record.data_type")?,
                DataType::Scalar.as_str(),
            ),
            clock: clock(record)?,
            parents: parents(record)?,
            namespace: or(within(body, "namespace", "record.body.namespace")?, "default"),
            resource,
        })
    }

    /// Calls `ask` with these facts.
    fn facts<T>(
        &self,
        context: Context,
        engine: &Engine,
        ask: impl FnOnce(&Facts<'_>) -> T,
    ) -> Result<T, Problem> {
        let body = match context {
            Context::Hook => BodyFacts::Call {
                tool: within(self.body, "tool", "record.body.tool")?,
                args: inner(self.body, "args", "record.body.args")?,
                status: within(self.body, "status", "record.body.status")?,
                content: head(within(self.body, "content", "record.body.content")?),
            },
            Context::Permission => BodyFacts::Any(self.body),
        };
        let known = Known { engine, only: (context == Context::Hook).then_some(self.actor) };
        let records_total = engine.store().read(|reader| reader.last())?.get();
        let uptime_secs = i64::try_from(engine.uptime_secs()).unwrap_or(i64::MAX);
        Ok(ask(&Facts {
            record: RecordFacts {
                act: self.act,
                actor: self.actor,
                thread: self.thread,
                data_type: self.data_type,
                clock: self.clock,
                parents: &self.parents,
                body,
            },
            resource: &self.resource,
            actor: self.actor,
            namespace: self.namespace,
            trust: &known,
            now_secs: engine.store().now().as_secs(),
            system: &SystemFacts {
                uptime_secs,
                records_total,
                daemon_version: env!("CARGO_PKG_VERSION"),
                ..SystemFacts::default()
            },
        }))
    }
}

/// Trust as the store knows it; in a hook, only the trust in the actor that runs.
struct Known<'a> {
    engine: &'a Engine,
    only: Option<&'a str>,
}

impl Known<'_> {
    fn standing(&self, actor: &str, domain: &str) -> Option<crate::trust::Standing> {
        if self.only.is_some_and(|only| only != actor) {
            return None;
        }
        self.engine.standing(&ActorId::parse(actor).ok()?, domain).ok()
    }
}

impl Trust for Known<'_> {
    fn score(&self, actor: &str, domain: &str) -> f64 {
        self.standing(actor, domain).map_or(0.0, |standing| standing.score)
    }

    fn count(&self, actor: &str, domain: &str) -> i64 {
        let count = self.standing(actor, domain).map_or(0, |standing| standing.count);
        i64::try_from(count).unwrap_or(i64::MAX)
    }
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.is_empty() { default } else { text }
}

fn within<'a>(members: &'a Object, key: &str, field: &str) -> Result<&'a str, Problem> {
    match members.get(key) {
        None => Ok(""),
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(ShapeError::wrong_type(field, "a string", other.type_name()).into()),
    }
}

fn inner<'a>(members: &'a Object, key: &str, field: &str) -> Result<&'a Object, Problem> {
    match members.get(key) {
        None => Ok(&NOTHING),
        Some(Value::Object(inner)) => Ok(inner),
        Some(other) => Err(ShapeError::wrong_type(field, "an object", other.type_name()).into()),
    }
}

fn clock(record: &Object) -> Result<i64, Problem> {
    match record.get("clock") {
        None => Ok(0),
        Some(value) => value.as_i64().ok_or_else(|| {
            ShapeError::wrong_type("record.clock", "a 64-bit integer", value.type_name()).into()
        }),
    }
}

fn parents(record: &Object) -> Result<Vec<RecordId>, Problem> {
    let wrong = || {
        let message = "`record.parents` must be a list of record ids";
        Problem::from(ShapeError::new("record.parents", Reason::BadValue, message))
    };
    let Some(value) = record.get("parents") else { return Ok(Vec::new()) };
    let read = |parent: &Value| parent.as_str().and_then(RecordId::parse).ok_or_else(wrong);
    value.as_array().ok_or_else(wrong)?.iter().map(read).collect()
}
